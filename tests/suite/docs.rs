//! The generated pages are what the tables say.

use mcp_postmortem::explain;

use super::run::{expect_file, root};

#[test]
fn generated_pages_are_current() {
    let docs = root().join("docs");
    expect_file(&docs.join("formats.md"), &explain::formats_page());
    expect_file(&docs.join("rules.md"), &explain::rules_page());
    expect_file(&docs.join("cli.md"), &mcp_postmortem::cli::cli_page());
}

#[test]
fn the_readme_shows_real_output() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = readme.split("<!-- output -->\n```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let real = super::run::stdout(&root(), &["analyze", "samples/cases/stdio-sigkill-after-outbound/input"]);
    assert_eq!(shown.trim_end(), real.trim_end());
}

/// Words that the example uses and nobody knows from elsewhere.
#[test]
fn the_readme_explains_its_words_and_how_to_install() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let behind = readme.split("<!-- output -->").nth(1).and_then(|rest| rest.splitn(3, "```").nth(2)).unwrap();
    for word in
        ["*run*", "*witness*", "*corroborated*", "*Unexplained*", "`c3`", "`S1`", "`path#12`", "cargo install --path ."]
    {
        assert!(behind.contains(word), "{word}");
    }
}
