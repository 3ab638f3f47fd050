//! Keys that are written in base64: `{"cGFzc3dvcmQ=": "…"}` names a password like any other.
//!
//! It knows nothing of values, and decodes no secrets.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::unescape::Plain;
use super::{keyed, regex, scan};

/// A word that may be a key in base64, and a separator or a quote behind it.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{6,64})(={0,2})(?:\\*["'`]|\s?[:=]|%22|%27|%3[AaDd])"#)
});

/// The text with such keys decoded. None where there are none, as nearly always.
pub(super) fn names(text: &str) -> Option<Plain<'_>> {
    let mut out = String::new();
    let mut shifts = Vec::new();
    let mut done = 0;
    for found in WORDS.captures_iter(text.as_bytes()) {
        let (Some(word), Some(padding)) = (found.get(1), found.get(2)) else { continue };
        let Some(name) = decoded(word.as_bytes()).filter(|name| keyed::may_name(name)) else { continue };
        let needed = (4 - word.len() % 4) % 4;
        let end = word.end() + padding.len().min(needed);
        out.push_str(text.get(done..word.start())?);
        out.push_str(&name);
        shifts.push((out.len(), end - out.len()));
        done = end;
    }
    if shifts.is_empty() {
        return None;
    }
    out.push_str(text.get(done..)?);
    Some(Plain { text: Cow::Owned(out), shifts })
}

/// What a word of base64 (RFC 4648 4) stands for, where that may be a key.
fn decoded(word: &[u8]) -> Option<String> {
    let mut name = String::new();
    let (mut bits, mut n_bits) = (0_u32, 0);
    for byte in word {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            let byte = u8::try_from(bits >> n_bits & 0xff).ok()?;
            name.push(scan::is_key_byte(byte).then_some(char::from(byte))?);
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::super::redact;
    use super::*;

    #[test]
    fn keys_in_base64_are_read() {
        let reads = |text| names(text).map(|plain| plain.text.into_owned());
        assert_eq!(reads("{\"cGFzc3dvcmQ=\":1}").as_deref(), Some("{\"password\":1}"));
        for text in ["", "plain=1", "{\"password\":\"YWJj\"}", "cGFzc3dvcmQ", "bm90aGluZw==:1"] {
            assert!(reads(text).is_none(), "{text}");
        }
        for (text, masked) in [
            ("{\"cGFzc3dvcmQ=\":\"swordfish\",\"n\":1}", "{\"cGFzc3dvcmQ=\":\"[redacted:password]\",\"n\":1}"),
            ("YXBpX2tleQ==: swordfish", "YXBpX2tleQ==: [redacted:api-key]"),
            ("?cGFzc3dvcmQ=swordfish&n=1", "?cGFzc3dvcmQ=[redacted:password]&n=1"),
            ("cGFzc3dvcmQ%3Dswordfish", "cGFzc3dvcmQ%3D[redacted:password]"),
        ] {
            assert_eq!(redact(text), masked);
            assert_eq!(redact(masked), masked);
        }
    }
}
