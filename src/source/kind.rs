//! What the first bytes of an input say it is: text and its charset, an archive, or nothing this tool reads. Names of
//! files decide nothing. Opens nothing.

/// How many bytes decide.
pub(super) const PEEK: usize = 8 << 10;

/// How text is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Utf8,
    Utf16Le,
    Utf16Be,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Empty,
    Text(Charset),
    Gzip,
    Zstd,
    Zip,
    Tar,
    /// May hold evidence, but is not opened.
    Unsupported(&'static str),
    /// Is known to hold no log.
    Binary(&'static str),
}

/// Beginnings of files that may hold evidence and have to be unpacked or exported by hand.
const UNSUPPORTED: &[(&[u8], &str)] = &[
    (b"\xfd7zXZ\0", "xz compression is not supported: unpack it first"),
    (b"\x04\x22\x4d\x18", "lz4 compression is not supported: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "7z archives are not supported: unpack it first"),
    (b"Rar!\x1a\x07", "rar archives are not supported: unpack it first"),
    (b"SQLite format 3\0", "an SQLite database is not read: export its rows as text"),
    (b"\xd4\xc3\xb2\xa1", CAPTURE),
    (b"\xa1\xb2\xc3\xd4", CAPTURE),
    (b"\x4d\x3c\xb2\xa1", CAPTURE),
    (b"\xa1\xb2\x3c\x4d", CAPTURE),
    (b"\x0a\x0d\x0d\x0a", CAPTURE),
    (b"LPKSHHRH", "a systemd journal is not read: export it with `journalctl`"),
    (b"ElfFile\0", "a Windows event log is not read: export it as text"),
];

/// What is no text and nothing that is known.
const UNKNOWN: &str = "binary content of an unknown kind";

const CAPTURE: &str = "a packet capture is not read: export it as HAR or text";

/// Files that hold no log: what they are, where their mark stands, and the mark. Only these may be left out without a
/// doubt: what else looks binary may be a log with holes, or one that is written in a way that is not known here.
const NO_LOG: &[(&str, usize, &[u8])] = &[
    ("a PNG image", 0, b"\x89PNG\r\n\x1a\n"),
    ("a JPEG image", 0, b"\xff\xd8\xff"),
    ("a GIF image", 0, b"GIF87a"),
    ("a GIF image", 0, b"GIF89a"),
    ("a WebP image", 8, b"WEBPVP8"),
    ("an icon", 0, b"\0\0\x01\0"),
    ("a PDF document", 0, b"%PDF-"),
    ("an ELF program", 0, b"\x7fELF"),
    ("a WebAssembly module", 0, b"\0asm"),
    ("a Java class or a Mach-O program", 0, b"\xca\xfe\xba\xbe"),
    ("a Mach-O program", 0, b"\xcf\xfa\xed\xfe"),
    ("a Mach-O program", 0, b"\xce\xfa\xed\xfe"),
    ("a font", 0, b"wOFF\0\x01\0\0"),
    ("a font", 0, b"wOFFOTTO"),
    ("a font", 0, b"wOF2\0\x01\0\0"),
    ("a font", 0, b"wOF2OTTO"),
    ("a font", 0, b"OTTO\0"),
    ("a font", 0, b"\0\x01\0\0\0"),
    ("a WebM video", 0, b"\x1a\x45\xdf\xa3"),
];

/// A file that is known to hold no log, by its first bytes.
fn no_log(head: &[u8]) -> Option<&'static str> {
    let at = |offset: usize, mark: &[u8]| head.get(offset..).is_some_and(|rest| rest.starts_with(mark));
    let known = NO_LOG.iter().find(|(_, offset, mark)| at(*offset, mark)).map(|(name, ..)| *name);
    // A few letters are no mark: the header that they begin has to hold as well.
    let video = head.first() == Some(&0) && at(4, b"ftyp");
    let bitmap = at(0, b"BM") && at(6, &[0; 4]) && at(15, &[0; 3]);
    let program = at(0, b"MZ") && at(0x40, b"\x0e\x1f\xba\x0e");
    let compiled = at(2, b"\r\n") && at(5, &[0; 3]) && at(16, b"\xe3");
    known
        .or_else(|| video.then_some("an MP4 video"))
        .or_else(|| bitmap.then_some("a bitmap image"))
        .or_else(|| program.then_some("a Windows program"))
        .or_else(|| compiled.then_some("compiled Python"))
}

/// What an input that begins with these bytes is.
pub(super) fn kind(head: &[u8]) -> Kind {
    if head.is_empty() {
        return Kind::Empty;
    }
    if head.starts_with(b"\x1f\x8b\x08") {
        return Kind::Gzip;
    }
    if is_zstd(head) {
        return Kind::Zstd;
    }
    if [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"].iter().any(|magic| head.starts_with(*magic)) {
        return Kind::Zip;
    }
    if is_tar(head) {
        return Kind::Tar;
    }
    if let Some((_, reason)) = UNSUPPORTED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Kind::Unsupported(reason);
    }
    if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
        return Kind::Unsupported("bzip2 compression is not supported: unpack it first");
    }
    if let Some(reason) = no_log(head) {
        return Kind::Binary(reason);
    }
    text(head)
}

/// A frame, or a skippable frame as the parallel and the seekable variants write first (RFC 8878, 3.1).
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(b"\x28\xb5\x2f\xfd")
        || (head.get(1..4) == Some(b"\x2a\x4d\x18") && head.first().is_some_and(|byte| byte & 0xf0 == 0x50))
}

/// The checksum of the first header is right (POSIX pax, ustar; also of archives before them, which have no magic).
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512) else { return false };
    let written = header[148..156]
        .iter()
        .skip_while(|byte| **byte == b' ')
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0_u32, |sum, byte| sum.wrapping_mul(8).wrapping_add(u32::from(byte - b'0')));
    let field = 148..156;
    let sum: u32 = header
        .iter()
        .enumerate()
        .map(|(index, byte)| u32::from(if field.contains(&index) { b' ' } else { *byte }))
        .sum();
    header[0] != 0 && written == sum
}

/// Text, unless too many bytes are none: a log in which a server printed a NUL byte is still a log.
fn text(head: &[u8]) -> Kind {
    match head {
        [0xff, 0xfe, ..] => return Kind::Text(Charset::Utf16Le),
        [0xfe, 0xff, ..] => return Kind::Text(Charset::Utf16Be),
        _ => {}
    }
    // A log that is cut while its writer keeps the old place begins with a hole.
    let hole = head.iter().take_while(|byte| **byte == 0).count();
    if hole > 1 {
        return if hole < head.len() { text(&head[hole..]) } else { Kind::Text(Charset::Utf8) };
    }
    let nuls = |parity: usize| head.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    if even + odd == 0 {
        return Kind::Text(Charset::Utf8);
    }
    // Western text in UTF-16 has a NUL in nearly every second byte and in none of the others.
    let pairs = head.len() / 2;
    if pairs > 1 && odd * 2 > pairs && even * 20 < pairs {
        return Kind::Text(Charset::Utf16Le);
    }
    if pairs > 1 && even * 2 > pairs && odd * 20 < pairs {
        return Kind::Text(Charset::Utf16Be);
    }
    let controls = head.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31)).count();
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    if (controls + invalid) * 10 > head.len() { Kind::Unsupported(UNKNOWN) } else { Kind::Text(Charset::Utf8) }
}

#[cfg(test)]
mod tests {
    use super::{Charset, Kind, PEEK, UNKNOWN, kind};

    fn utf16(text: &str, encode: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(encode).collect()
    }

    #[test]
    fn text_is_told_from_binary() {
        assert_eq!(kind(b""), Kind::Empty);
        assert_eq!(kind(b"plain"), Kind::Text(Charset::Utf8));
        assert_eq!(kind(b"caf\xe9 in Latin-1, with one \0 byte"), Kind::Text(Charset::Utf8));
        assert_eq!(kind(&[0, 1, 2, 0, 0, 5, b'a', 0xff, 0xfe]), Kind::Unsupported(UNKNOWN));
        assert_eq!(kind(&[b"a log\n".repeat(40), vec![0; 60]].concat()), Kind::Unsupported(UNKNOWN), "it may be a log");
        assert_eq!(kind(b"\0\0\0\0a log behind a hole\n"), Kind::Text(Charset::Utf8));
        assert_eq!(kind(&[0; PEEK]), Kind::Text(Charset::Utf8));
        assert_eq!(kind(b"\x89PNG\r\n\x1a\nIHDR"), Kind::Binary("a PNG image"));
        for head in [
            &b"RIFF\x10\0\0\0WEBPVP8 "[..],
            b"\0\0\x01\0\x01\0",
            b"BM\x36\0\x0c\0\0\0\0\0\x36\0\0\0\x28\0\0\0",
            b"\0\0\0\x18ftypmp42\0",
            b"\xcb\r\r\n\0\0\0\0\x10\x11\x12\x66\x01\0\0\0\xe3",
            b"wOF2\0\x01\0\0",
        ] {
            assert!(matches!(kind(head), Kind::Binary(_)), "{head:?}");
        }
        assert_eq!(kind(b"BM 2026-07-22 MZ ftyp"), Kind::Text(Charset::Utf8));
        assert!(matches!(kind(b"SQLite format 3\0\x10"), Kind::Unsupported(_)), "it may hold evidence");
        assert!(matches!(kind(b"LPKSHHRH\0"), Kind::Unsupported(_)));
        assert_eq!(kind(b"BZ history of a project"), Kind::Text(Charset::Utf8));
    }

    #[test]
    fn utf16_is_found_with_and_without_mark() {
        assert_eq!(kind(&utf16("\u{feff}log", u16::to_le_bytes)), Kind::Text(Charset::Utf16Le));
        assert_eq!(kind(&utf16("\u{feff}log", u16::to_be_bytes)), Kind::Text(Charset::Utf16Be));
        assert_eq!(kind(&utf16("gr\u{fc}n \u{2026} log\n", u16::to_le_bytes)), Kind::Text(Charset::Utf16Le));
        assert_eq!(kind(&utf16("gr\u{fc}n log\n", u16::to_be_bytes)), Kind::Text(Charset::Utf16Be));
    }

    #[test]
    fn archives_are_found_by_their_bytes() {
        let mut header = tar::Header::new_old();
        header.set_size(3);
        header.set_path("a.log").expect("a short path");
        header.set_cksum();
        assert_eq!(kind(header.as_bytes()), Kind::Tar, "before ustar");
        assert_eq!(kind(&[0; 1024]), Kind::Text(Charset::Utf8));
        assert_eq!(kind(b"\x53\x2a\x4d\x18\x01\0\0\0x\x28\xb5\x2f\xfd"), Kind::Zstd, "behind a skippable frame");
        assert!(matches!(kind(b"BZh91AY&SY..."), Kind::Unsupported(_)));
        assert_eq!(kind(b"PK\x05\x06"), Kind::Zip);
    }
}
