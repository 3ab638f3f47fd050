//! What a pattern of the table cannot say about a text that it found.
//!
//! It does not search.

use super::words::{BEARER_PROSE, CHALLENGE_PARAMETERS, is_one_of};

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

/// The value of `-p`, which is a port, a path or a name for most commands: with capitals and digits.
pub(super) fn is_password_like(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && word.len() >= 8
        && is_given(word)
        && !word.contains(['/', '.', ':', '=', ','])
}

/// The path of a web hook: a part of it is opaque. Words between dashes and hooks of React are none.
pub(super) fn is_hook(path: &str) -> bool {
    let is_token = |part: &str| {
        let dashed = part.contains(['-', '_']) && !part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let letter = part.bytes().any(|byte| byte.is_ascii_alphabetic());
        letter && super::value::is_opaque(part) && !part.starts_with("use") && (!dashed || is_mixed(part))
    };
    path.split(['/', '\\', '%']).any(|part| is_token(part.trim_start_matches("2F")))
}

/// The same where the text was cut inside it.
pub(super) fn is_cut_hook(path: &str) -> bool {
    path.split(['/', '\\']).next_back().is_some_and(|part| is_mixed(part) && !part.starts_with("use"))
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
