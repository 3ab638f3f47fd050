//! A text as the eye reads it: a token with a color change in it is a token like any other, and so is a key in full-width
//! or accented letters.
//!
//! It knows nothing of secrets, and takes nothing out of what is printed: that stays visible.

use std::borrow::Cow;

use super::{MASK, scan, unescape::Plain};
use crate::{report::escape, wrap::ansi};

/// The text as a terminal shows it: without escape sequences, raw or written out, without characters that have no
/// shape, and in plain letters. None where it reads so already.
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
        let Some((end, letter)) = reads(text, at, char) else { continue };
        out.push_str(text.get(done..at)?);
        shifts.push((out.len(), end - out.len() - usize::from(letter.is_some())));
        out.extend(letter);
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
    bytes.iter().any(|byte| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | b'%' | b'\\' | b'^' | 127..))
}

/// The end of what begins here and reads otherwise than it is written, and the letter it reads as, if any.
fn reads(text: &str, at: usize, char: char) -> Option<(usize, Option<char>)> {
    if let Some(end) = unseen(text, at, char) {
        return Some((end, None));
    }
    let (char, end) = written_char(text, at).or((!char.is_ascii()).then_some((char, at + char.len_utf8())))?;
    // A mark that is put on the letter before it.
    let hidden = escape::is_hidden(char) || matches!(char, '\u{300}'..='\u{36f}');
    let letter = if hidden { None } else { Some(plain_letter(char)?) };
    Some((end, letter))
}

/// A full-width character in its common width, a letter of Latin-1 without its accent.
fn plain_letter(char: char) -> Option<char> {
    let full_width = |char: char| char::from_u32(u32::from(char).checked_sub(0xfee0)?);
    Some(match char {
        '\u{ff01}'..='\u{ff5e}' => full_width(char)?,
        'À'..='Å' => 'A',
        'Ç' => 'C',
        'È'..='Ë' => 'E',
        'Ì'..='Ï' => 'I',
        'Ñ' => 'N',
        'Ò'..='Ö' => 'O',
        'Ù'..='Ü' => 'U',
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        _ => return None,
    })
}

/// A character beyond ASCII that is written as `\u200b`, behind any number of backslashes, or as `%E2%80%8B`; its end.
fn written_char(text: &str, at: usize) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    let (char, end) = match bytes.get(at)? {
        b'\\' => {
            let start = scan::spelled(bytes, at, b"\\u")?;
            let digits = text.get(start..start + 4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
            (char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, start + 4)
        }
        b'%' => {
            let mut encoded = [0; 4];
            let mut length = 0;
            for (index, place) in encoded.iter_mut().enumerate() {
                let start = at + 3 * index;
                let Some(digits) = text.get(start..start + 3).and_then(|part| part.strip_prefix('%')) else { break };
                let Ok(byte) = u8::from_str_radix(digits, 16) else { break };
                (*place, length) = (byte, index + 1);
            }
            let one = |length: usize| str::from_utf8(encoded.get(..length)?).ok()?.chars().next();
            let char = (2..=length).find_map(one)?;
            (char, at + 3 * char.len_utf8())
        }
        _ => return None,
    };
    (!char.is_ascii()).then_some((char, end))
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
            (r"to\u200bken\\u00ad to%E2%80%8Bken", "token token"),
            ("ｔｏｋｅｎ＝x contraseña contrasen\u{303}a", "token=x contrasena contrasena"),
            (r"\uff54oken contrase\u00f1a contrase%C3%B1a", "token contrasena contrasena"),
            ("a\x1b]8;;https://x.test\x07b\x1b[redacted:token]", "ab[redacted:token]"),
        ] {
            assert_eq!(shown(text).map(|plain| plain.text.into_owned()).as_deref(), Some(reads), "{text:?}");
        }
        for text in ["", "plain", "ß – ✅\n\t", r"C:\new \n \u00df ^a [0m 100% %C3 %41%2"] {
            assert!(shown(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn places_lead_back() {
        let text = "ß\x1b[31mab\x1b[0mcｄe";
        let plain = shown(text).expect("escapes");
        assert_eq!(plain.text, "ßabcde");
        assert_eq!([2, 3, 4, 5, 6, 7].map(|at| plain.written(at)), [2, 8, 9, 14, 17, 18]);
    }
}
