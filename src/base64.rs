//! Base64 (RFC 4648) as it stands in logs: in HAR bodies, `Mcp-Name` headers, ids of spans, keys of JSON. Both alphabets,
//! padding optional, line ends skipped. Decodes only.

use bumpalo::{Bump, collections::Vec as ArenaVec};

/// The bytes that `text` encodes; `None` where it is no base64.
pub(crate) fn decode<'a>(text: &str, arena: &'a Bump) -> Option<&'a [u8]> {
    let mut bytes = ArenaVec::with_capacity_in(text.len() / 4 * 3 + 3, arena);
    let (mut bits, mut held, mut padding) = (0_u32, 0_u32, false);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                padding = true;
                continue;
            }
            _ if byte.is_ascii_whitespace() => continue,
            _ => return None,
        };
        if padding {
            return None;
        }
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xFF) as u8);
        }
    }
    // A single letter is left over: no encoder writes that.
    (held != 6).then(|| bytes.into_bump_slice() as &[u8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_encoders_write() {
        let arena = Bump::new();
        assert_eq!(decode("eyJhIjoxfQ==", &arena), Some(b"{\"a\":1}".as_slice()));
        assert_eq!(decode("eyJh\r\nIjoxfQ", &arena), Some(b"{\"a\":1}".as_slice()));
        assert_eq!(decode("-_-_", &arena), decode("+/+/", &arena));
        assert_eq!(decode("", &arena), Some(b"".as_slice()));
        for wrong in ["{\"a\":1}", "eyJ=a", "e"] {
            assert_eq!(decode(wrong, &arena), None, "{wrong}");
        }
    }
}
