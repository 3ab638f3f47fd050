//! Trace and span ids, hexadecimal of either case or base64.
//!
//! Knows nothing about spans.

use bumpalo::Bump;

use crate::base64;

/// A trace id as 32 hexadecimal digits in lower case; all zeros is none.
pub(super) fn trace<'a>(text: &'a str, arena: &'a Bump) -> Option<&'a str> {
    let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id: &'a str = match text.len() {
        32 if hex && text.bytes().any(|byte| byte.is_ascii_uppercase()) => arena.alloc_str(&text.to_ascii_lowercase()),
        32 if hex => text,
        22 | 24 => arena.alloc_str(&format!("{:032x}", u128::from_be_bytes(decoded(text, arena)?))),
        _ => return None,
    };
    id.bytes().any(|byte| byte != b'0').then_some(id)
}

/// A span id as a number; 0 where there is none.
pub(super) fn span(text: &str) -> u64 {
    match text.len() {
        16 => u64::from_str_radix(text, 16).unwrap_or(0),
        11 | 12 => decoded(text, &Bump::new()).map_or(0, u64::from_be_bytes),
        _ => 0,
    }
}

/// The bytes that an id in base64 stands for, if it is as long.
fn decoded<const LENGTH: usize>(text: &str, arena: &Bump) -> Option<[u8; LENGTH]> {
    base64::decode(text, arena)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_either_spelling_are_equal() {
        let arena = Bump::new();
        let hex = "b100a36c23302b0bfcb53e32d8a0f41f";
        assert_eq!(trace(&hex.to_ascii_uppercase(), &arena), Some(hex));
        assert_eq!(trace("sQCjbCMwKwv8tT4y2KD0Hw==", &arena), Some(hex));
        assert_eq!(trace("00000000000000000000000000000000", &arena), None);
        assert_eq!(trace("", &arena), None);
        assert_eq!(span("39FA504a2ed67f56"), 0x39fa_504a_2ed6_7f56);
        assert_eq!(span("OfpQSi7Wf1Y="), 0x39fa_504a_2ed6_7f56);
        assert_eq!(span(""), 0);
        assert_eq!(span("gggggggggggggggg"), 0);
    }
}
