//! What a terminal acts on and does not show: a token with a color change in it is a token like any other.
//!
//! It knows nothing of secrets, and takes nothing out of what is printed: that stays visible.

use std::borrow::Cow;

use super::{MASK, scan, unescape::Plain};
use crate::{report::escape, wrap::ansi};

/// The text as a terminal shows it: without escape sequences, raw or written out, and without characters that have no
/// shape. None where there are none.
pub(super) fn shown(text: &str) -> Option<Plain<'_>> {
    if !may_hide(text.as_bytes()) {
        return None;
    }
    let mut out = String::new();
    let mut shifts = Vec::new();
    let mut done = 0;
    for (at, char) in text.char_indices() {
        if at < done {
            continue;
        }
        let Some(end) = unseen(text, at, char) else { continue };
        out.push_str(text.get(done..at)?);
        shifts.push((out.len(), end - out.len()));
        done = end;
    }
    if shifts.is_empty() {
        return None;
    }
    out.push_str(text.get(done..)?);
    Some(Plain { text: Cow::Owned(out), shifts })
}

/// Whether there are escape sequences in a long text. Quick, since whole logs are asked.
pub(super) fn has_sequences(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr(0x1b, bytes).is_some() || memchr::memmem::find(bytes, b"u001b[").is_some()
}

/// Most text is ASCII without any of these.
fn may_hide(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | b'\\' | b'^' | 127..))
}

/// The end of what begins here and is not shown.
fn unseen(text: &str, at: usize, char: char) -> Option<usize> {
    let behind = at + char.len_utf8();
    let rest = text.as_bytes().get(behind..)?;
    match char {
        '\u{1b}' => Some(behind + behind_escape(rest)),
        '\u{9b}' => Some(behind + ansi::parameters(rest)),
        // As `cat -v` and this program itself write an escape.
        '^' if rest.starts_with(b"[[") => Some(behind + 1 + behind_escape(&rest[1..])),
        '␛' if rest.starts_with(b"[") => Some(behind + behind_escape(rest)),
        '\\' => {
            let end = scan::written_escape(text.as_bytes(), at)?;
            let rest = text.as_bytes().get(end..)?;
            rest.starts_with(b"[").then(|| end + behind_escape(rest))
        }
        '\n' | '\r' | '\t' => None,
        char => escape::is_hidden(char).then_some(behind),
    }
}

/// The length of the sequence behind an escape. A mask is none, whatever it stands behind.
fn behind_escape(rest: &[u8]) -> usize {
    if rest.starts_with(MASK.as_bytes()) { 0 } else { ansi::length(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_is_passed_over() {
        for (text, reads) in [
            ("to\x1b[31mken\x1b[0m", "token"),
            (r"to\x1b[1;31mken\\u001b[0m \33[m\u{1b}[2K!", "token !"),
            ("to\u{200b}ken\u{ad} \u{9b}31mx\u{8}", "token x"),
            ("to^[[31mken ␛[0mx", "token x"),
            ("a\x1b]8;;https://x.test\x07b\x1b[redacted:token]", "ab[redacted:token]"),
        ] {
            assert_eq!(shown(text).map(|plain| plain.text.into_owned()).as_deref(), Some(reads), "{text:?}");
        }
        for text in ["", "plain", "é – ✅\n\t", r"C:\new \n \u00e9 ^a [0m"] {
            assert!(shown(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn places_lead_back() {
        let text = "é\x1b[31mab\x1b[0mc";
        let plain = shown(text).expect("escapes");
        assert_eq!(plain.text, "éabc");
        assert_eq!([2, 3, 4, 5].map(|at| plain.written(at)), [2, 8, 9, 14]);
    }
}
