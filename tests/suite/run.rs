//! Runs the program as a user would, in a clean environment.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// The folder of the project.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program with an empty environment, in `folder`.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-postmortem"));
    command.env_clear().current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs the program and takes what it prints.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    program(folder).args(arguments).output().unwrap()
}

/// What the program prints to standard output.
pub(crate) fn stdout(folder: &Path, arguments: &[&str]) -> String {
    String::from_utf8(run(folder, arguments).stdout).unwrap()
}

/// The JSON report of an input, all calls listed.
pub(crate) fn report(folder: &Path, input: &str) -> Value {
    let output = run(folder, &["analyze", input, "--output", "json", "--calls", "all"]);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The JSON report of one file with this content.
pub(crate) fn report_of(name: &str, content: impl AsRef<[u8]>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), content).unwrap();
    report(folder.path(), name)
}

/// The calls of a report.
pub(crate) fn calls(report: &Value) -> &[Value] {
    report["calls"].as_array().map_or(&[], Vec::as_slice)
}

/// Whether expected files are to be written.
pub(crate) fn updating() -> bool {
    std::env::var_os("UPDATE_EXPECTED").is_some()
}

/// Compares with a file, or writes it.
pub(crate) fn expect_file(path: &Path, actual: &str) {
    if updating() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(path)
        .unwrap_or_else(|_| panic!("{} is missing; UPDATE_EXPECTED=1 cargo test writes it", path.display()));
    let difference = expected.lines().zip(actual.lines()).enumerate().find(|(_, (want, got))| want != got);
    if let Some((line, (want, got))) = difference {
        panic!("{} line {}:\n  expected: {want}\n  actual:   {got}", path.display(), line + 1);
    }
    assert_eq!(expected.len(), actual.len(), "{}: one is longer than the other", path.display());
}

/// The sorted sub-folders of a folder.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}
