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

/// What the README shows behind a mark.
fn shown(mark: &str) -> String {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let begin = format!("<!-- {mark} -->\n```text\n");
    let shown = readme.split(&begin).nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    shown.trim_end().to_owned()
}

#[test]
fn the_readme_shows_real_output() {
    let sigkill = "samples/cases/stdio-sigkill-after-outbound/input";
    let real = |arguments: &[&str]| super::run::stdout(&root(), arguments).trim_end().to_owned();
    assert_eq!(shown("output"), real(&["analyze", sigkill]));
    assert_eq!(shown("timeline"), real(&["timeline", "--call", "c3", sigkill]));
    let whole = real(&["explain", "c3", "samples/cases/http-503-on-call-no-retry/input"]);
    let shown = shown("explain");
    assert!(whole.ends_with(&shown) && shown.starts_with("THE WORLDS THAT REMAIN\n"), "{whole}");
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
