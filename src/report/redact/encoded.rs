//! Keys that are written in base64: `{"cGFzc3dvcmQ=": "…"}` names a password like any other.
//!
//! It knows nothing of values, and decodes no secrets.

use std::borrow::Cow;
use std::sync::LazyLock;

use bumpalo::Bump;
use regex::bytes::Regex;

use super::unescape::Plain;
use super::{keyed, regex, scan};
use crate::base64;

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
        let Some(name) = text.get(word.range()).and_then(decoded).filter(|name| keyed::may_name(name)) else {
            continue;
        };
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

/// What a word of base64 stands for, where that may be a key.
fn decoded(word: &str) -> Option<String> {
    let arena = Bump::new();
    let name = base64::decode(word, &arena)?;
    let is_key = name.iter().all(|byte| scan::is_key_byte(*byte));
    is_key.then(|| name.iter().copied().map(char::from).collect())
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
