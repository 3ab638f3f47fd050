//! What a pattern of the table cannot say about a text that it found, and the one shape that is no pattern.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::secrets::name;
use super::words::{BEARER_PROSE, CHALLENGE_PARAMETERS, is_one_of};
use super::{Found, Scan};

static BEGIN_PRIVATE_KEY: LazyLock<Regex> =
    LazyLock::new(|| super::regex(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}(?:-----)?"));

/// The pattern says it all.
pub(super) fn is_anything(_: &str) -> bool {
    true
}

/// With a digit or a capital, as prose has none in the middle.
pub(super) fn is_telling(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// With letters of both cases and digits.
pub(super) fn is_mixed(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
}

/// Neither prose nor the parameter of a challenge (`Bearer realm="…"`, RFC 6750 3), which needs no quotes.
pub(super) fn is_bearer(word: &str) -> bool {
    let parameter = word.split_once('=').is_some_and(|(name, _)| is_one_of(name, &CHALLENGE_PARAMETERS));
    !parameter && !is_one_of(word.trim_end_matches('='), &BEARER_PROSE)
}

/// A signature, in hexadecimal or base64: with digits and letters. Prose has no digits, a number no letters.
pub(super) fn is_signature(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Base64 rather than the word after "basic" in prose.
pub(super) fn is_basic(word: &str) -> bool {
    let bytes = word.as_bytes();
    let humps = bytes.iter().skip(1).any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase);
    let digit = bytes.iter().any(u8::is_ascii_digit);
    if bytes.len() < 8 { humps && bytes.len().is_multiple_of(4) } else { humps || digit || bytes.ends_with(b"=") }
}

/// More than a line end before the end mark of a key.
pub(super) fn is_key_tail(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_alphanumeric).count() >= 8
}

/// Neither a port, nor a path, nor the name of a database: with a digit or a capital.
pub(super) fn is_option_value(word: &str) -> bool {
    let word = word.trim_end_matches([';', ',', '.', ')']);
    let port = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-' | b'/'));
    !port && !word.starts_with(['/', '.', '~', '$', '<', '*']) && word.bytes().any(|byte| !byte.is_ascii_lowercase())
}

/// What stands before `@` in the address of a database, not the end of a mask.
pub(super) fn is_no_mask_end(text: &str) -> bool {
    let kind = text.strip_suffix(']');
    !kind.is_some_and(|kind| super::SECRETS.iter().any(|secret| secret.name == kind))
}

/// The value of an option that can be nothing but a password, unless the shell is to fill it in.
pub(super) fn is_given(word: &str) -> bool {
    !word.starts_with(['$', '<', '*', '%'])
}

/// The same where a number is a port, and where the option may be the beginning of a longer one: `-print`.
pub(super) fn is_glued_value(word: &str) -> bool {
    let port = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-' | b'/'));
    let longer = ["ort", "rint", "ath", "rofile", "assword", "ass", "id", "refix", "retty", "roto", "rotocol", "lugin"];
    is_given(word) && !port && !longer.contains(&word.trim_end_matches([';', ',', '.']))
}

/// The same where a short word is a name.
pub(super) fn is_long_value(word: &str) -> bool {
    word.len() >= 8 && is_glued_value(word) && !word.starts_with(['/', '.', '~'])
}

/// A key that shows no service, with a digit or a capital: the keys of Anthropic are another kind.
pub(super) fn is_key_without_name(text: &str) -> bool {
    is_telling(text) && !text.starts_with("ant-")
}

/// An address of a person: no version of a package, no unit of systemd, not the user of a repository.
pub(super) fn is_address(text: &str) -> bool {
    let Some(at) = text.find(['@', '%', '\\']) else { return false };
    let (local, domain) = text.split_at(at);
    let domain = domain.trim_start_matches(['@', '%', '\\']);
    let domain = domain.strip_prefix("40").or_else(|| domain.strip_prefix("u0040")).unwrap_or(domain);
    let first = domain.split('.').next().unwrap_or_default().trim_start_matches('v');
    let top = domain.rsplit('.').next().unwrap_or_default();
    let unit = ["service", "socket", "timer", "target", "mount", "py", "js", "ts", "json", "mjs", "cjs"].contains(&top);
    !unit && local != "git" && !local.trim_matches('.').is_empty() && first.bytes().any(|byte| !byte.is_ascii_digit())
}

impl Scan<'_> {
    /// The body of a PEM private key: up to its end mark, else to the end of the string or text around it.
    pub(super) fn private_keys(&mut self) {
        let mut done = 0;
        let mut last_end = None;
        for begin in BEGIN_PRIVATE_KEY.find_iter(self.bytes) {
            let rest = &self.text[begin.end()..];
            let last = *last_end.get_or_insert_with(|| self.text.rfind("-----END").unwrap_or_default());
            if begin.start() < done || rest.is_empty() {
                continue;
            }
            let end = if last >= begin.end() { rest.find("-----END") } else { rest.find(['"', '\'', '`', '<']) };
            done = end.map_or(self.text.len(), |end| begin.end() + end);
            let body = self.text[begin.end()..done].trim_end_matches('\\');
            if !super::is_masked(body) && !body.trim_matches(['\\', 'n', 'r', ' ', '\n', '\r']).is_empty() {
                let (start, end) = (begin.end(), begin.end() + body.len());
                self.found.push(Found { start, end, kind: name::PRIVATE_KEY, sure: true });
            }
        }
    }
}
