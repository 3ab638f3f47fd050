//! Invariants of the source tree, as ordinary tests.

use std::{fs, path::PathBuf};

use mcp_postmortem::{
    correlate::{Call, Contact, Sighting, Told},
    event::{Event, Origin},
};

use super::run::root;

/// The modules in their order: each imports only from those before it, and from itself.
const ORDER: &[&str] = &[
    "time",
    "error",
    "event",
    "notice",
    "symbol",
    "record",
    "base64",
    "frame",
    "launcher",
    "netloc",
    "signal",
    "wording",
    "jsonrpc",
    "json",
    "sse",
    "phase",
    "inspect",
    "clue",
    "wrap",
    "format",
    "source",
    "assemble",
    "correlate",
    "judge",
    "report",
    "analyze",
    "explain",
    "fail_on",
    "progress",
    "cli",
];

fn files(folder: PathBuf, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn source_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(root().join("src"), &mut found);
    found
}

/// The text of a file without its tests.
fn code(path: &PathBuf) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned()
}

/// The modules of this program that a text names: `crate::a::B`, and each member of `crate::{a::B, c::{D, E}}`.
fn imported(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(members(group)),
            None => names.push(first_name(rest)),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The first name of each member of a group, whose opening brace is behind us.
fn members(group: &str) -> Vec<String> {
    let mut names = vec![first_name(group.trim_start())];
    let mut depth = 0;
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(first_name(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    names
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '_').collect()
}

#[test]
fn imports_are_seen_however_they_are_written() {
    let code = "use crate::{a::B, c::{D, self}, e};\nuse crate::f;\nuse crate::{\n    g::{\n        H,\n    },\n    i::J,\n};\nfn k() { crate::l::m() }";
    assert_eq!(imported(code), ["a", "c", "e", "f", "g", "i", "l"]);
}

#[test]
fn a_module_imports_only_from_modules_before_it() {
    for path in source_files() {
        let relative = path.strip_prefix(root().join("src")).unwrap().to_owned();
        let module =
            relative.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if matches!(module.as_str(), "lib" | "main") || relative.to_str().unwrap().contains("tests") {
            continue;
        }
        let place = |name: &str| ORDER.iter().position(|known| *known == name);
        let own = place(&module).unwrap_or_else(|| panic!("{module} has no place in the order"));
        let later: Vec<String> =
            imported(&code(&path)).into_iter().filter(|name| place(name).is_some_and(|index| index > own)).collect();
        assert!(later.is_empty(), "{}: {module} imports {later:?}, which come later", relative.display());
    }
}

#[test]
fn files_stay_readable() {
    // Longer for a reason: vocabularies and tables that would read worse in pieces.
    const LONG: &[&str] = &["correlate/facts.rs", "report/redact/secrets.rs"];
    for path in source_files().into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let relative = path.strip_prefix(root().join("src")).unwrap().to_str().unwrap().to_owned();
        let lines = code(&path).lines().count();
        assert!(lines <= 480 || LONG.contains(&relative.as_str()), "{relative} has {lines} lines");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for path in source_files().into_iter().filter(|path| !path.ends_with("tests.rs")) {
        assert!(fs::read_to_string(&path).unwrap().starts_with("//! "), "{}", path.display());
    }
}

/// Documents that are named in code or comments are there to be read.
#[test]
fn every_document_that_is_named_exists() {
    for path in source_files() {
        let text = fs::read_to_string(&path).unwrap();
        for (end, _) in text.match_indices(".md`") {
            let name = text[..end].rsplit('`').next().unwrap();
            let there = ["docs", "."].iter().any(|folder| root().join(folder).join(format!("{name}.md")).is_file());
            assert!(there, "{} names {name}.md", path.display());
        }
    }
}

#[test]
fn facts_stay_small() {
    assert_eq!(size_of::<Origin>(), 16);
    assert_eq!(size_of::<Option<Origin>>(), 16);
    assert!(size_of::<Call>() <= 192, "{}", size_of::<Call>());
    assert!(size_of::<Sighting>() <= 48, "{}", size_of::<Sighting>());
    assert!(size_of::<Told>() <= 64, "{}", size_of::<Told>());
    assert!(size_of::<Contact>() <= 200, "{}", size_of::<Contact>());
    assert!(size_of::<Event<'_>>() <= 384, "{}", size_of::<Event<'_>>());
}

#[test]
fn nothing_names_a_machine() {
    let mut found = source_files();
    files(root().join("tests"), &mut found);
    let home = std::env::home_dir().filter(|home| home.components().count() > 1);
    let words: Vec<String> =
        [Some(root()), home].into_iter().flatten().map(|path| format!("{}/", path.display())).collect();
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        for word in &words {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
    }
}
