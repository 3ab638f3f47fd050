//! Finds where secrets stand in a long text without trying every pattern on every byte.
//!
//! The words that stand right before secrets are looked for all at once; only the text around one of them is examined.

use super::{SECRETS, anchors, find, unescape, unseen};

/// How much is examined before a word and behind it, within its line.
const BEFORE: usize = 128;
/// See [`BEFORE`].
const BEHIND: usize = 1024;

/// Where secrets begin that should not stand in a log, and that leave little doubt. Several close to each other on one
/// line may count as one: a line is examined in pieces.
pub fn leaks(text: &str) -> Vec<usize> {
    let mut places = places(text);
    let shown = if unseen::has_sequences(text) { unseen::shown(text) } else { None };
    for plain in [unescape::plain(text), unescape::percent(text), shown].into_iter().flatten() {
        places.extend(self::places(&plain.text).into_iter().map(|at| plain.written(at)));
    }
    places.sort_unstable();
    places.dedup();
    places
}

fn places(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut done = 0;
    anchors::each(text, |anchor| {
        if anchor >= done {
            let (start, end) = around(text, anchor);
            done = end;
            places.extend(first_leak(&text[start..end]).map(|at| start + at));
        }
    });
    places
}

/// The part of a line around this place.
fn around(text: &str, at: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let floor = (at.saturating_sub(BEFORE)..=at).find(|&at| text.is_char_boundary(at)).unwrap_or(at);
    let ceiling = (at..=text.len().min(at + BEHIND)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(at);
    let start = memchr::memrchr(b'\n', &bytes[floor..at]).map_or(floor, |line| floor + line + 1);
    let end = memchr::memchr(b'\n', &bytes[at..ceiling]).map_or(ceiling, |line| at + line);
    (start, end)
}

fn first_leak(text: &str) -> Option<usize> {
    let leak = |kind: &str| SECRETS.iter().any(|secret| secret.name == kind && secret.leak);
    find(text).into_iter().find(|found| found.sure && leak(found.kind)).map(|found| found.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_line_by_line() {
        let secret = "Zq7xKp29Lm4vTb8wRs3nYd6c";
        let text = format!(
            "ordinary line\nAuthorization: Bearer {secret}\n{}sk-ant-{secret} é\npassword: none\n",
            "é".repeat(90)
        );
        let places = leaks(&text);
        let lines: Vec<usize> = places.iter().map(|at| text[..*at].matches('\n').count()).collect();
        assert_eq!(lines, [1, 2]);
        assert!(leaks("bob@example.com Mcp-Session-Id: 4f2a0c7e9b1d4e6f8a0b2c4d6e8f0a1b").is_empty());
    }
}
