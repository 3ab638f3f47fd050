//! Letters that are written as escapes: `"pass\u0077ord"` is a key of JSON like any other.
//!
//! It knows nothing of secrets. Quotes, blanks and separators keep their spelling: `scan` and `keyed` know them escaped.

use std::borrow::Cow;

use super::scan;

/// A text as it reads, and how to get back to how it was written.
#[derive(Debug)]
pub(super) struct Plain<'t> {
    /// The text as it reads.
    pub(super) text: Cow<'t, str>,
    /// Places in the plain text, and how much longer the text was that leads up to what follows each.
    pub(super) shifts: Vec<(usize, usize)>,
}

impl Plain<'_> {
    /// The place in the text as it was written. What lies in the middle of an escape begins with it.
    pub(super) fn written(&self, at: usize) -> usize {
        let known = self.shifts.partition_point(|(place, _)| *place < at);
        at + known.checked_sub(1).and_then(|last| self.shifts.get(last)).map_or(0, |(_, longer)| *longer)
    }
}

/// The text with its escaped letters written plainly. None where there are none, as nearly always.
pub(super) fn plain(text: &str) -> Option<Plain<'_>> {
    let bytes = text.as_bytes();
    if !has_letters(bytes) {
        return None;
    }
    let mut out = String::new();
    let mut shifts = Vec::new();
    let mut done = 0;
    for at in memchr::memchr2_iter(b'\\', b'%', bytes) {
        if at < done {
            continue;
        }
        let Some((letter, end)) = letter(bytes, at) else { continue };
        out.push_str(text.get(done..at)?);
        shifts.push((out.len(), end - out.len() - 1));
        out.push(char::from(letter));
        done = end;
    }
    out.push_str(text.get(done..)?);
    Some(Plain { text: Cow::Owned(out), shifts })
}

/// The text as whoever takes the URL reads it: with every percent-encoded character of ASCII. None where only letters are
/// encoded, which [`plain`] reads.
pub(super) fn percent(text: &str) -> Option<Plain<'_>> {
    let bytes = text.as_bytes();
    let sign = |at: usize| encoded(bytes, at).is_some_and(|byte| !scan::is_key_byte(byte));
    if !memchr::memchr_iter(b'%', bytes).any(sign) {
        return None;
    }
    let mut out = String::new();
    let mut shifts = Vec::new();
    let mut done = 0;
    for at in memchr::memchr_iter(b'%', bytes) {
        let Some(byte) = encoded(bytes, at).filter(|_| at >= done) else { continue };
        out.push_str(text.get(done..at)?);
        shifts.push((out.len(), at + 2 - out.len()));
        out.push(char::from(byte));
        done = at + 3;
    }
    out.push_str(text.get(done..)?);
    Some(Plain { text: Cow::Owned(out), shifts })
}

/// The character of ASCII that `%XX` stands for here. Control characters other than blanks are no text.
fn encoded(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let byte = u8::try_from(digit(at + 1)? * 16 + digit(at + 2)?).ok()?;
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~').then_some(byte)
}

/// Whether a letter is written as an escape anywhere. Quick, since whole logs are asked.
fn has_letters(bytes: &[u8]) -> bool {
    let unicode = || memchr::memmem::find_iter(bytes, b"u00").filter_map(|at| at.checked_sub(1));
    let hexadecimal = || memchr::memmem::find_iter(bytes, b"\\x");
    let is = |at: usize| letter(bytes, at).is_some();
    unicode().any(is) || hexadecimal().any(is) || memchr::memchr_iter(b'%', bytes).any(is)
}

/// The letter of an escape that begins here, and its end: `\u0077` behind any number of backslashes, as nested JSON has
/// them, `\x77`, `%77`.
fn letter(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let escapes: [&[u8]; 3] = [b"\\u00", b"\\x", b"%"];
    let start = escapes.iter().find_map(|escape| scan::spelled(bytes, at, escape))?;
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let letter = u8::try_from(digit(start)? * 16 + digit(start + 1)?).ok()?;
    scan::is_key_byte(letter).then_some((letter, start + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_and_nothing_else() {
        for (text, reads) in
            [(r#"{"pass\u0077ord":1}"#, r#"{"password":1}"#), (r"a\\u005fb\x63%64", "a_bcd"), (r"%2D\u002d", "--")]
        {
            assert_eq!(plain(text).map(|plain| plain.text.into_owned()).as_deref(), Some(reads));
        }
        for text in ["", "plain", r"\u0022 \u00e9 \n %22 %zz \x1b[m 100% \u00", r"\\"] {
            assert!(plain(text).is_none(), "{text}");
        }
    }

    #[test]
    fn urls_are_read_as_their_reader_does() {
        let text = "z=curl%20-u%20a%3Ab%2Fé%0a%00%zz%2";
        let plain = percent(text).expect("escapes");
        assert_eq!(plain.text, "z=curl -u a:b/é\n%00%zz%2");
        assert_eq!((plain.written(6), plain.written(7), plain.written(plain.text.len())), (6, 9, text.len()));
        for text in ["", "100%", "%41%2D", "%C3%A9"] {
            assert!(percent(text).is_none(), "{text}");
        }
    }

    #[test]
    fn places_lead_back() {
        let text = r"é\u0061b\x63d";
        let plain = plain(text).expect("escapes");
        assert_eq!(plain.text, "éabcd");
        let places: Vec<usize> = [0, 2, 3, 4, 5, 6].map(|at| plain.written(at)).to_vec();
        assert_eq!(places, [0, 2, 8, 9, 13, 14]);
        assert_eq!(plain.written(plain.text.len()), text.len());
    }
}
