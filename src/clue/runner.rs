//! What package runners, container engines and shells print before a server runs.
//!
//! Proves that the runner started, never that the server did.

use super::{Clue, scan};
use crate::{
    event::{Kind, Remark, RemarkKind},
    record::{Body, Sink},
};

/// Lines of npx, npm, uv, uvx, pip, docker and shells.
pub(super) static CLUE: Clue = Clue {
    name: "package-runner",
    title: "Package runners and shells: busy downloading, or failed to find or start the server",
    doc: "\
## What it means
The first process is a wrapper: npx, npm, uv, uvx, pip, docker or a shell. While it downloads, no server runs: the client's \
time for the handshake is running already. `npm error code E404`, `No solution found`, `executable file not found in $PATH` \
and `command not found` mean that the server was never started.
## How it is recognized
By the fixed beginnings of these tools' lines.
## What it is not
The wrapper's start and exit are not the server's. `npm warn` is chatter. A shell inside a tool may print the same words.
## What to do
Install the package before; give the full path of the executable; check the name and the PATH that the client passes on.
",
    needles: &[
        "npm ERR!",
        "npm error",
        "npm warn",
        "npm WARN",
        "npx: installed ",
        "Need to install the following packages",
        " packages in ",
        "Installed 1 package in ",
        "Downloading ",
        "Collecting ",
        "Unable to find image ",
        ": Pulling from ",
        "No solution found",
        "Could not find a version that satisfies",
        "No matching distribution found",
        "error: Failed to spawn: ",
        "docker: Error response from daemon",
        "Cannot connect to the Docker daemon",
        "executable file not found in $PATH",
        "command not found",
        ": not found",
        "No such file or directory",
        "can't open file ",
        "is not recognized as an internal or external command",
    ],
    read,
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let text = text.trim();
    match npm(text) {
        Some(None) => return true,
        Some(Some(remark)) => return push(remark, body, sink),
        None => {}
    }
    if let Some(name) = busy(text) {
        return push(Remark { name, ..scan::remark(RemarkKind::RunnerBusy) }, body, sink);
    }
    match failed(text).or_else(|| shell(text)) {
        Some(name) => push(Remark { name, ..scan::remark(RemarkKind::RunnerFailed) }, body, sink),
        None => false,
    }
}

fn push<'a>(remark: Remark<'a>, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    sink.push(body.event(Kind::Remark(remark)));
    true
}

/// npm 6 to 11. One failure prints many lines; the one with the code counts.
fn npm(text: &str) -> Option<Option<Remark<'_>>> {
    if text.starts_with("npm warn") || text.starts_with("npm WARN") {
        return Some(None);
    }
    let rest = text.strip_prefix("npm ERR! ").or_else(|| text.strip_prefix("npm error "))?;
    let code = rest.strip_prefix("code ").map(str::trim);
    Some(code.map(|code| Remark {
        number: code.strip_prefix('E').and_then(scan::integer),
        name: Some(code),
        ..scan::remark(RemarkKind::RunnerFailed)
    }))
}

/// A runner at work; the package or image where it is named.
fn busy(text: &str) -> Option<Option<&str>> {
    if let Some(rest) = text.strip_prefix("Unable to find image ") {
        return Some(scan::quoted(rest));
    }
    let works = ["Installed ", "Resolved ", "Prepared ", "Audited ", "added "].iter().any(|verb| {
        text.strip_prefix(verb).is_some_and(|rest| scan::integer(rest).is_some() && rest.contains(" package"))
    }) || text.starts_with("npx: installed ")
        || text.starts_with("Need to install the following packages");
    if works {
        return Some(None);
    }
    for verb in ["Downloading ", "Collecting "] {
        // uv: `Downloading numpy (16.2MiB)`; pip: `Downloading x-1.0-py3-none-any.whl (12 kB)`, `Collecting x`.
        if let Some(rest) = text.strip_prefix(verb) {
            let sized = rest.ends_with(')') && rest.contains('(') || verb == "Collecting " && !rest.contains(' ');
            return sized.then(|| scan::name(rest));
        }
    }
    let (tag, rest) = text.split_once(": Pulling from ")?;
    (!tag.contains(' ')).then(|| scan::name(rest))
}

/// A runner that gave up.
fn failed(text: &str) -> Option<Option<&str>> {
    const STARTS: [&str; 5] = [
        "× No solution found",
        "No solution found",
        "ERROR: Could not find a version that satisfies",
        "ERROR: No matching distribution found",
        "error: Failed to spawn: ",
    ];
    for start in STARTS {
        if let Some(rest) = text.strip_prefix(start) {
            return Some(scan::quoted(rest.trim_start()));
        }
    }
    let docker = text.starts_with("docker: Error response from daemon")
        || text.contains("Cannot connect to the Docker daemon")
            && (text.starts_with("docker: ") || text.starts_with("Cannot"));
    if docker {
        return Some(Some("docker"));
    }
    let (before, _) = scan::find(text, ": executable file not found in $PATH")
        .or_else(|| text.split_once(": executable file not found in $PATH"))?;
    Some(before.rsplit('"').nth(1))
}

/// A shell, `env`, `exec` or an interpreter that did not find its program. Only at the beginning of a line.
fn shell(text: &str) -> Option<Option<&str>> {
    const SHELLS: [&str; 9] =
        ["bash: ", "sh: ", "zsh: ", "dash: ", "/bin/sh: ", "/bin/bash: ", "env: ", "/usr/bin/env: ", "exec: "];
    if text.contains("is not recognized as an internal or external command") {
        return Some(scan::quoted(text));
    }
    if let Some((before, _)) = text.split_once(": can't open file ") {
        return (!before.contains(' ')).then(|| text.split_once("file ").and_then(|(_, rest)| scan::quoted(rest)));
    }
    let rest = SHELLS.iter().find_map(|shell| text.strip_prefix(shell))?;
    if let Some(name) = rest.strip_prefix("command not found: ") {
        return Some(scan::name(name));
    }
    let end =
        [": command not found", ": not found", ": No such file or directory"].iter().find_map(|end| rest.find(end))?;
    let name = rest[..end].rsplit(": ").next().unwrap_or("").trim_matches(['\'', '"', '‘', '’']);
    Some(Some(name).filter(|name| !name.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::{only, remark_of, told};

    #[test]
    fn a_busy_runner_is_no_server() {
        for (text, name) in [
            ("Installed 34 packages in 120ms", None),
            ("Downloading numpy (16.2MiB)", Some("numpy")),
            ("Unable to find image 'mcp/fetch:latest' locally", Some("mcp/fetch:latest")),
            ("latest: Pulling from mcp/fetch", Some("mcp/fetch")),
        ] {
            only(text, |event| {
                let remark = remark_of(event);
                assert_eq!((remark.kind, remark.name), (RemarkKind::RunnerBusy, name), "{text}");
            });
        }
    }

    #[test]
    fn a_failed_runner_names_what_it_missed() {
        for (text, name) in [
            ("npm error code E404", Some("E404")),
            ("npm ERR! code ENOENT", Some("ENOENT")),
            ("bash: uvx: command not found", Some("uvx")),
            ("/bin/sh: 1: node: not found", Some("node")),
            ("env: ‘node’: No such file or directory", Some("node")),
            ("exec: \"uvx\": executable file not found in $PATH", Some("uvx")),
            ("python: can't open file '/srv/x.py': [Errno 2] No such file or directory", Some("/srv/x.py")),
        ] {
            only(text, |event| {
                let remark = remark_of(event);
                assert_eq!((remark.kind, remark.name), (RemarkKind::RunnerFailed, name), "{text}");
            });
        }
    }

    #[test]
    fn chatter_is_understood_and_sentences_are_left_alone() {
        told("npm warn deprecated x@1.0.0", None, |events| assert!(events.is_empty()));
        told("npm error 404 Not Found", None, |events| assert!(events.is_empty()));
        for text in [
            "FileNotFoundError: [Errno 2] No such file or directory: 'x'",
            "issue 7: not found",
            "Collecting the results",
        ] {
            only(text, |event| assert!(matches!(event.kind, Kind::Text(_)), "{event:?}"));
        }
    }
}
