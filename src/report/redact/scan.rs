//! Small byte scanners for text in any state of escaping: quotes, blanks, masks, identifiers.
//!
//! They know nothing of secrets. All positions are byte offsets that fall on ASCII characters or on the end.

/// How a string is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A quote character behind this many backslashes: 0, 1, 3, 7 for a JSON string 0 to 3 levels deep.
    Plain { quote: u8, level: usize },
    /// A quote written as an escape or entity.
    Encoded(&'static [u8]),
}

/// An opening or closing quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) mark: Mark,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Quotes as percent encoding, JSON or JavaScript escape, HTML entity.
static ENCODED_QUOTES: &[&[u8]] =
    &[b"%22", b"%27", b"u0022", b"u0027", b"x22", b"x27", b"&quot;", b"&#34;", b"&#39;", b"&apos;"];

/// Compares without regard to ASCII case.
pub(super) fn starts_with(bytes: &[u8], at: usize, text: &[u8]) -> bool {
    at.checked_add(text.len()).and_then(|end| bytes.get(at..end)).is_some_and(|part| part.eq_ignore_ascii_case(text))
}

/// The end of a spelling at this place. One that begins with a backslash may have more of them, as nested JSON does.
pub(super) fn spelled(bytes: &[u8], at: usize, text: &[u8]) -> Option<usize> {
    let (start, text) = match text {
        [b'\\', rest @ ..] => (at + slashes_at(bytes, at).max(1), rest),
        _ => (at, text),
    };
    let escaped = start == at || bytes.get(at) == Some(&b'\\');
    (escaped && starts_with(bytes, start, text)).then_some(start + text.len())
}

/// The number of backslashes that end just before `at`.
pub(super) fn slashes_before(bytes: &[u8], at: usize) -> usize {
    bytes.get(..at).map_or(0, |head| head.iter().rev().take_while(|&&byte| byte == b'\\').count())
}

/// The number of backslashes from `at`.
pub(super) fn slashes_at(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).map_or(0, |tail| tail.iter().take(64).take_while(|&&byte| byte == b'\\').count())
}

/// A quote, with its backslashes, at this place.
pub(super) fn quote_at(bytes: &[u8], at: usize) -> Option<Quote> {
    let level = slashes_at(bytes, at);
    let end = at + level;
    match *bytes.get(end)? {
        quote @ (b'"' | b'\'' | b'`') => Some(Quote { mark: Mark::Plain { quote, level }, start: at, end: end + 1 }),
        b'%' | b'&' | b'u' | b'x' => {
            let text = *ENCODED_QUOTES.iter().find(|text| starts_with(bytes, end, text))?;
            let escape = matches!(text.first(), Some(b'u' | b'x'));
            (escape == (level > 0)).then_some(Quote { mark: Mark::Encoded(text), start: at, end: end + text.len() })
        }
        _ => None,
    }
}

/// A quote that ends just before `at`.
pub(super) fn quote_before(bytes: &[u8], at: usize) -> Option<Quote> {
    let last = at.checked_sub(1)?;
    if let Some(&quote @ (b'"' | b'\'' | b'`')) = bytes.get(last) {
        let level = slashes_before(bytes, last);
        return Some(Quote { mark: Mark::Plain { quote, level }, start: last - level, end: at });
    }
    ENCODED_QUOTES.iter().find_map(|text| {
        let start = at.checked_sub(text.len()).filter(|&start| starts_with(bytes, start, text))?;
        let level = slashes_before(bytes, start);
        let escape = matches!(text.first(), Some(b'u' | b'x'));
        (escape == (level > 0)).then_some(Quote { mark: Mark::Encoded(text), start: start - level, end: at })
    })
}

/// Whether a quote behind this many backslashes ends a string of this level.
///
/// A string at level `k` writes its own backslash as `2(k+1)` of them and its own quote as `2k+1` and the quote.
fn closes(level: usize, slashes: usize) -> bool {
    slashes % (2 * level + 2) <= level
}

/// The closing quote of a string whose opening quote is given. None where the text is cut before it.
pub(super) fn closing(bytes: &[u8], open: Quote) -> Option<Quote> {
    match open.mark {
        Mark::Plain { quote, level } => memchr::memchr_iter(quote, bytes.get(open.end..)?).find_map(|found| {
            let at = open.end + found;
            let slashes = slashes_before(bytes, at).min(at - open.end);
            closes(level, slashes).then(|| Quote {
                mark: Mark::Plain { quote, level: slashes.min(level) },
                start: at - slashes.min(level),
                end: at + 1,
            })
        }),
        Mark::Encoded(text) => memchr::memchr_iter(*text.first()?, bytes.get(open.end..)?).find_map(|found| {
            let at = open.end + found;
            let slashes = slashes_before(bytes, at).min(at - open.end);
            starts_with(bytes, at, text).then(|| Quote { mark: open.mark, start: at - slashes, end: at + text.len() })
        }),
    }
}

/// The end of an escape character that is written out: `\x1b`, `\u001b`, `\u{1b}`, `\033`, `\33`, `\e`.
pub(super) fn written_escape(bytes: &[u8], at: usize) -> Option<usize> {
    let name = at + slashes_at(bytes, at);
    let names: [&[u8]; 6] = [b"x1b", b"u001b", b"u{1b}", b"033", b"33", b"e"];
    let text = names.into_iter().find(|text| name > at && starts_with(bytes, name, text))?;
    Some(name + text.len())
}

/// The end of a terminal escape sequence (ECMA-48 CSI) that begins here, raw or written as `\x1b[` or `\u001b[`.
fn escape_sequence(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = match bytes.get(at)? {
        0x1b => at + 1,
        b'\\' => written_escape(bytes, at)?,
        _ => return None,
    };
    if bytes.get(end) != Some(&b'[') {
        return None;
    }
    end += 1;
    while matches!(bytes.get(end), Some(b'0'..=b'9' | b';' | b':' | b'?')) {
        end += 1;
    }
    bytes.get(end).filter(|byte| byte.is_ascii_alphabetic()).map(|_| end + 1)
}

/// An escaped line end or tab at this place: backslashes and `n`, `r` or `t`. Gives its end.
pub(super) fn escaped_blank(bytes: &[u8], at: usize) -> Option<usize> {
    let name = at + slashes_at(bytes, at);
    (name > at && matches!(bytes.get(name), Some(b'n' | b'r' | b't'))).then_some(name + 1)
}

/// Skips blanks, raw and escaped, and terminal escapes. Tells whether a line end was among them.
pub(super) fn blanks(bytes: &[u8], mut at: usize) -> (usize, bool) {
    let mut broken = false;
    loop {
        at = match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r') => at + 1,
            Some(b'\n') => {
                broken = true;
                at + 1
            }
            Some(b'%') if starts_with(bytes, at, b"%20") => at + 3,
            Some(b'\\' | 0x1b) => match (escape_sequence(bytes, at), escaped_blank(bytes, at)) {
                (Some(end), _) => end,
                (None, Some(end)) => {
                    broken |= bytes.get(end - 1) != Some(&b't');
                    end
                }
                (None, None) => return (at, broken),
            },
            _ => return (at, broken),
        };
    }
}

/// Skips blanks to the left.
pub(super) fn blanks_before(bytes: &[u8], at: usize) -> usize {
    let head = bytes.get(..at).unwrap_or_default();
    at - head.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
}

/// A byte of a key: `api_key`, `X-Api-Key`, `mcp.session.id`.
pub(super) fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Moves the start of a word past the rest of an escape that was glued to it: `\n`, `\u000a`, `%0A`, `ESC [ 3 m`.
pub(super) fn strip_escape(bytes: &[u8], start: usize) -> usize {
    let Some(before) = start.checked_sub(1).and_then(|at| bytes.get(at)) else { return start };
    let word = bytes.get(start..).unwrap_or_default();
    let hex =
        |from: usize, n: usize| word.get(from..from + n).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    match before {
        b'\\' => match word.first() {
            Some(b'n' | b'r' | b't' | b'f' | b'b') => start + 1,
            Some(b'u') if hex(1, 4) => start + 5,
            Some(b'x') if hex(1, 2) => start + 3,
            _ => start,
        },
        b'%' if word.starts_with(b"25") && hex(2, 2) => start + 4,
        b'%' if hex(0, 2) => start + 2,
        b'[' => {
            let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let sequence = word.get(digits) == Some(&b'm') && is_escape_start(bytes, start - 1);
            if sequence { start + digits + 1 } else { start }
        }
        b';' => {
            // The middle of `ESC [ 1 ; 3 2 m`.
            let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let bracket = bytes.get(..start).unwrap_or_default();
            let back = bracket.iter().rev().take(12).take_while(|b| b.is_ascii_digit() || **b == b';').count();
            let open = start.checked_sub(back + 1).filter(|&open| bytes.get(open) == Some(&b'['));
            let sequence = word.get(digits) == Some(&b'm') && open.is_some_and(|open| is_escape_start(bytes, open));
            if sequence { start + digits + 1 } else { start }
        }
        _ => start,
    }
}

/// Whether the bracket at this place follows an escape character, raw or written.
fn is_escape_start(bytes: &[u8], bracket: usize) -> bool {
    let head = bytes.get(..bracket).unwrap_or_default();
    head.ends_with(b"\x1b") || head.ends_with(b"x1b") || head.ends_with(b"u001b") || head.ends_with(b"033")
}

/// The end of the run of bytes that satisfy `is`.
pub(super) fn run(bytes: &[u8], from: usize, is: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).map_or(from, |tail| from + tail.iter().take_while(|byte| is(**byte)).count())
}

/// The end of the raw or escaped line that `at` is in.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    let tail = bytes.get(at..).unwrap_or_default();
    let found = memchr::memchr3_iter(b'\n', b'\r', b'\\', tail).find(|&found| match tail.get(found) {
        Some(b'\\') => escaped_blank(tail, found).is_some_and(|end| tail.get(end - 1) != Some(&b't')),
        _ => true,
    });
    at + found.unwrap_or(tail.len())
}

/// The place behind the raw or escaped line end at this place.
pub(super) fn line_break(bytes: &[u8], at: usize) -> Option<usize> {
    let one = |at: usize, raw: u8, name: u8| match bytes.get(at)? {
        byte if *byte == raw => Some(at + 1),
        b'\\' => escaped_blank(bytes, at).filter(|end| bytes.get(end - 1) == Some(&name)),
        _ => None,
    };
    let at = one(at, b'\r', b'r').unwrap_or(at);
    one(at, b'\n', b'n')
}

/// The start of the raw or escaped line that `at` is in.
pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    let head = bytes.get(..at).unwrap_or_default();
    let ends = memchr::memchr2_iter(b'\n', b'n', head).rev();
    let mut ends = ends.filter(|&end| head.get(end) == Some(&b'\n') || slashes_before(head, end) > 0);
    ends.next().map_or(0, |end| end + 1)
}

/// Whether only blanks, list dashes and the arrows of curl stand before `at` on its line.
pub(super) fn begins_line(bytes: &[u8], at: usize) -> bool {
    let head = bytes.get(..at).unwrap_or_default();
    let back = head.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'<' | b'>' | b'-' | b'*')).count();
    let rest = head.get(..head.len() - back).unwrap_or_default();
    match rest.last() {
        None | Some(b'\n' | b'\r') => true,
        Some(b'n' | b'r') => slashes_before(bytes, rest.len() - 1) > 0,
        _ => false,
    }
}
