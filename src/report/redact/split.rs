//! The rest of a secret whose quotes end before it does: `"abc" + "def"`, `'abc'def`, `"abc""def"`.
//!
//! It does not find secrets: it goes on where one was found.

use std::sync::LazyLock;

use regex::bytes::Regex;
use rustc_hash::FxHashSet;

use super::{Found, Scan, regex, value::is_opaque};

/// From the end of a string to the next one that is joined to it, and what that holds.
static JOINED: LazyLock<Regex> = LazyLock::new(|| {
    let quote = r#"\\*["'`]"#;
    regex(&format!(r#"\A{quote}\s*(?:[+.&]|\\\r?\n)\s*[bfru]?{quote}([^"'`\\\r\n]+)"#))
});

/// Two strings beside each other, which C and Python join.
static BESIDE: LazyLock<Regex> = LazyLock::new(|| regex(r#"\A\\*["'`]\s+\\*["'`]([^"'`\\\s]+)\\*["'`]"#));

/// What is glued to a string, as a shell joins it, or behind a quote that stands twice for one.
static GLUED: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\A(?:["'`]|["'`]{2,3})([A-Za-z0-9_!$*@#~^-][^\s"'`,;:(){}\[\]<>\\&=]*)"#));

impl Scan<'_> {
    /// Goes on behind the quote after each secret.
    pub(super) fn split(&mut self) {
        let mut at = 0;
        // Many secrets may lead to the same string, which goes on once.
        let mut seen = FxHashSet::default();
        while let Some(found) = self.found.get(at).copied() {
            at += 1;
            let rest = self.bytes.get(found.end..).unwrap_or_default();
            if !matches!(rest.first(), Some(b'"' | b'\'' | b'`' | b'\\')) || !seen.insert(found.end) {
                continue;
            }
            let opaque = |part: &[u8]| str::from_utf8(part).is_ok_and(is_opaque);
            let part = [&*JOINED, &*GLUED].into_iter().find_map(|pattern| pattern.captures(rest)?.get(1));
            let beside = || BESIDE.captures(rest)?.get(1).filter(|part| opaque(part.as_bytes()));
            if let Some(part) = part.or_else(beside) {
                let (start, end) = (found.end + part.start(), found.end + part.end());
                if self.text.get(start..end).is_some() {
                    self.found.push(Found { start, end, ..found });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    #[test]
    fn the_second_half_is_masked_too() {
        for (text, masked) in [
            (
                "password=\"sword\" + \"fish\" + 'x1';",
                "password=\"[redacted:password]\" + \"[redacted:password]\" + '[redacted:password]';",
            ),
            ("password='sword'fish n", "password='[redacted:password]'[redacted:password] n"),
            ("password=\"sword\"\"fish\"", "password=\"[redacted:password]\"\"[redacted:password]\""),
            ("token=\"Zq7xKp29\" \"LmVt83RwYs40\"", "token=\"[redacted:token]\" \"[redacted:token]\""),
        ] {
            assert_eq!(redact(text), masked);
            assert_eq!(redact(masked), masked);
        }
        for text in [
            "{\"token\":null,\"a\":\"b\"}",
            "password=\"[redacted:password]\" \"the file\"",
            "{'token': '[redacted:token]', 'b': 'c'}",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
