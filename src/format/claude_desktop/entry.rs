//! The lines behind a tagged line: which ones continue it, and which ones the server wrote to its stderr.
//!
//! Claude Desktop copies the child's stderr into `mcp-server-NAME.log` without any mark. Does not read what they say.

use crate::inspect::Nesting;

/// Tells continuation lines from stderr lines, in the order of the lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continuation {
    /// The object that the tagged line opened.
    nesting: Nesting,
    /// The tagged line is an error: stack frames may follow it.
    frames: bool,
}

impl Continuation {
    /// Behind a tagged line of which `suffix` is the piece that may open an object.
    pub(super) fn new(suffix: &str, error: bool) -> Self {
        let mut nesting = Nesting::default();
        nesting.read(suffix);
        Self { nesting, frames: error }
    }

    /// Whether the line belongs to the tagged line. Lines must be asked for in their order.
    pub(super) fn owns(&mut self, line: &str) -> bool {
        if self.nesting.is_open() {
            if self.nesting.in_template() || fits(line, self.nesting.depth()) {
                self.nesting.read(line);
                return true;
            }
            return false;
        }
        if self.frames && is_frame(line) || is_orphan(line) {
            return true;
        }
        self.frames = false;
        false
    }

    /// The object was never closed.
    pub(super) fn is_open(&self) -> bool {
        self.nesting.is_open()
    }
}

/// Whether a line can stand inside an object of that depth: both `util.inspect` and pretty JSON indent by two, one
/// level more for the pieces of a long string. What the server prints in between mostly begins in the first column.
fn fits(line: &str, depth: usize) -> bool {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let closes = rest.starts_with(['}', ']']);
    let within = (1..=depth.saturating_mul(2).saturating_add(2)).contains(&indent);
    (closes || within || is_frame(line)) && !rest.starts_with("File \"") && !rest.starts_with("| ")
}

/// A frame of a JavaScript stack.
fn is_frame(line: &str) -> bool {
    line.strip_prefix("    ").is_some_and(|rest| rest.trim_start().starts_with("at "))
}

/// The rest of an object that a tagged line of another writer interrupted.
fn is_orphan(line: &str) -> bool {
    let rest = line.trim();
    if rest == "}" {
        return true;
    }
    line.starts_with("  ")
        && (["metadata: {", "context: '", "stack: '", "stack: `"].iter().any(|start| rest.starts_with(start))
            || rest.starts_with('\'') && (rest.ends_with("' +") || rest.ends_with('\''))
            || rest.bytes().all(|byte| matches!(byte, b'}' | b']' | b',')))
}

/// Parts a message from what the log adds to it.
///
/// Second part: the piece that may open an object of several lines, empty where nothing of the kind follows.
/// Writers: up to mid 2025 ` {"context":…}` or ` {}`; later ` { metadata: undefined }`, a `util.inspect` block, and at
/// times an unused `%o`.
pub(super) fn part(message: &str) -> (&str, &str) {
    let message = message.trim_end();
    let message = message.strip_suffix(" %o").unwrap_or(message).trim_end();
    if let Some(text) = bare(message) {
        return (text, "");
    }
    let start = [" { metadata:", " {\"context\":", " {\"metadata\":", " { context:"]
        .iter()
        .filter_map(|start| message.find(start))
        .min();
    let start = start.unwrap_or_else(|| match message.trim_end_matches(['{', '[']).len() {
        // Only brackets that stand alone open a block.
        cut if cut == 0 || message[..cut].ends_with(' ') => cut,
        _ => message.len(),
    });
    (message[..start].trim_end(), &message[start..])
}

/// The message without a suffix that says nothing; `None` where it has no such suffix.
pub(super) fn bare(message: &str) -> Option<&str> {
    message.strip_suffix(" { metadata: undefined }").or_else(|| message.strip_suffix(" {}")).map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stderr(first: &str, error: bool, rest: &'static str) -> (Vec<&'static str>, bool) {
        let mut owner = Continuation::new(part(first).1, error);
        let lines = rest.lines().filter(|line| !owner.owns(line)).collect();
        (lines, owner.is_open())
    }

    #[test]
    fn parts_the_suffixes_of_all_generations() {
        let text = "Server transport closed";
        for suffix in ["", " {}", " { metadata: undefined }", " { metadata: undefined } %o", " %o"] {
            assert_eq!(part(&format!("{text}{suffix}")), (text, ""), "{suffix}");
        }
        assert_eq!(part("write EPIPE {"), ("write EPIPE", "{"));
        assert_eq!(part("["), ("", "["));
        assert_eq!(part(r#"x {"context":"a","stack":"b"}"#), ("x", r#" {"context":"a","stack":"b"}"#));
        // Part of the text, not a suffix.
        assert_eq!(part("Unexpected token {"), ("Unexpected token", "{"));
        assert_eq!(part("no f({"), ("no f({", ""));
    }

    #[test]
    fn an_inspected_block_is_not_stderr() {
        let block = "  metadata: {\n    context: 'connection',\n    stack: 'Error: spawn npx ENOENT\\n' +\n      '    at x {\\n' +\n      \"    at it's [\"\n  }\n}\nafter";
        assert_eq!(stderr("spawn npx ENOENT {", true, block), (vec!["after"], false));
        let block = "  metadata: {\n    stack: `Error: {\nat column one\n    at y`\n  }\n}\nafter";
        assert_eq!(stderr("x {", true, block), (vec!["after"], false));
    }

    #[test]
    fn stderr_inside_a_block_is_found() {
        let block = "  metadata: {\nnpm warn deprecated x\n    context: 'a'\nTraceback (most recent call last):\n  File \"x\", line 1\n  }\n}";
        let want = vec!["npm warn deprecated x", "Traceback (most recent call last):", "  File \"x\", line 1"];
        assert_eq!(stderr("x {", true, block), (want, false));
    }

    #[test]
    fn a_block_that_never_closes_is_told_and_swallows_no_stderr() {
        assert_eq!(stderr("x {", true, "  metadata: {\nstarting"), (vec!["starting"], true));
    }

    #[test]
    fn frames_continue_an_error_only() {
        let frames = "    at a (b.js:1:2)\nnode:internal/x\n    at c (d.js:1:2)";
        assert_eq!(stderr("boom", true, frames).0, ["node:internal/x", "    at c (d.js:1:2)"]);
        assert_eq!(stderr("fine", false, frames).0.len(), 3);
    }

    #[test]
    fn a_schema_complaint_may_be_followed_by_a_block() {
        let block = "  {\n    \"code\": \"invalid_union\",\n    \"path\": []\n  }\n] {\n  metadata: {\n    context: 'x'\n  }\n}\nafter";
        assert_eq!(stderr("[", true, block), (vec!["after"], false));
    }

    #[test]
    fn the_rest_of_an_interrupted_block_is_not_stderr() {
        let rest =
            "    context: 'connection',\n    stack: 'Error: spawn npx ENOENT\\n' +\n      '    at x'\n  }\n}\nafter";
        assert_eq!(stderr("Server transport closed { metadata: undefined }", false, rest).0, ["after"]);
    }
}
