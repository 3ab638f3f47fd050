//! Takes terminal escape sequences out of text (ECMA-48, and the string sequences of xterm). Does not interpret them.

use bumpalo::{Bump, collections::String};

const ESC: char = '\u{1b}';

/// The text without escape sequences: CSI (colors, cursor), OSC (titles, links), APC, DCS, PM and SOS strings, and
/// single ones. A sequence that does not end is dropped up to the end of the line. Text without ESC is returned as it is.
pub fn strip<'a>(text: &'a str, arena: &'a Bump) -> &'a str {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return text;
    }
    let mut out = String::with_capacity_in(text.len(), arena);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(ESC) {
        out.push_str(before);
        rest = behind(after);
    }
    out.push_str(rest);
    out.into_bump_str()
}

/// What follows a sequence, given what follows its ESC.
fn behind(after: &str) -> &str {
    after.get(length(after.as_bytes())..).unwrap_or_default()
}

/// How long a sequence is, given what follows its ESC.
pub fn length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'[') => 1 + parameters(&bytes[1..]),
        Some(b']' | b'_' | b'P' | b'^' | b'X') => string(bytes),
        // Intermediates, then one final byte: character sets and the like.
        Some(0x20..=0x2f) => {
            let middle = bytes.iter().take_while(|byte| matches!(byte, 0x20..=0x2f)).count();
            middle + usize::from(bytes.get(middle).is_some_and(|byte| matches!(byte, 0x30..=0x7e)))
        }
        Some(0x30..=0x7e) => 1,
        Some(_) | None => 0,
    }
}

/// The length of what follows CSI: parameters and intermediates, then one final byte. Anything else is no part of it.
pub fn parameters(bytes: &[u8]) -> usize {
    let middle = bytes.iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
    middle + usize::from(bytes.get(middle).is_some_and(|byte| matches!(byte, 0x40..=0x7e)))
}

/// The length of a string sequence: to BEL or ST, else to the end of the line.
fn string(bytes: &[u8]) -> usize {
    match memchr::memchr3(0x07, 0x1b, b'\n', bytes) {
        Some(end) if bytes[end] == 0x07 => end + 1,
        Some(end) if bytes[end] == 0x1b && bytes.get(end + 1) == Some(&b'\\') => end + 2,
        Some(end) => end,
        None => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;
    use proptest::prelude::{prop_assert, proptest};

    use super::strip;

    #[test]
    fn sequences_are_taken_out() {
        let arena = Bump::new();
        for (text, want) in [
            ("plain", "plain"),
            ("\u{1b}[32mINFO\u{1b}[0m: \u{1b}[1;38;5;9mx", "INFO: x"),
            ("\u{1b}]8;;http://a/b\u{1b}\\link\u{1b}]8;;\u{7}!", "link!"),
            ("a\u{1b}_payload\u{1b}\\b\u{1b}Pq\u{1b}\\c", "abc"),
            ("a\u{1b}(Bb\u{1b}7c\u{1b}=d", "abcd"),
            ("torn\u{1b}[31", "torn"),
            ("torn\u{1b}]0;title\nnext", "torn\nnext"),
            ("\u{1b}", ""),
            ("\u{1b}[\u{e9}t\u{e9} \u{1b}\u{e9}", "\u{e9}t\u{e9} \u{e9}"),
            ("\u{1b}\u{1b}[0mx", "x"),
        ] {
            assert_eq!(strip(text, &arena), want, "{text:?}");
        }
    }

    #[test]
    fn text_without_escapes_is_not_copied() {
        let arena = Bump::new();
        let text = "nothing to do";
        assert!(std::ptr::eq(strip(text, &arena), text));
    }

    proptest! {
        #[test]
        fn no_escape_survives(text in "[a\u{e9}\u{1b}\\[\\]_0;m\u{7}\\\\\n(B]{0,40}") {
            let arena = Bump::new();
            let stripped = strip(&text, &arena);
            prop_assert!(!stripped.contains(super::ESC));
            prop_assert!(stripped.len() <= text.len());
        }
    }
}
