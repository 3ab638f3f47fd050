//! Secrets that show what they are by themselves: prefixed tokens, JSON Web Tokens, private keys, URLs with passwords.
//!
//! It does not look at keys.

use super::scan;
use super::secrets::{Body, Prefix, Value, name};
use super::value::{self, Context};
use super::words::BEARER_PROSE;
use super::{Found, Scan, mask_end};

/// A URL's authority or an address longer than this is not looked at as a whole.
const REACH: usize = 2048;

/// A byte of base64 in either alphabet.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// A byte of the part of an e-mail address before the `@`.
fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+') || byte >= 0x80
}

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Wide => is_base64(byte) || matches!(byte, b'.' | b'~'),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Mixed => byte.is_ascii_alphanumeric(),
        }
    }
}

impl Scan<'_> {
    /// Records a token. A token that touches further masks or tokens is joined with them later.
    fn token(&mut self, start: usize, end: usize, kind: &'static str) {
        self.found.push(Found { start, end, kind, sure: true });
    }

    /// A token with a public prefix at `at`.
    pub(super) fn prefixed(&mut self, kind: &'static str, prefix: &Prefix, at: usize) {
        let start = at + prefix.text.len();
        let goes_on = self.bytes.get(self.token_end).is_some_and(|byte| prefix.body.has(*byte));
        let inside = start <= self.token_end && !goes_on;
        let dull = start < self.dull_end && prefix.word && prefix.body == Body::Url;
        if inside || dull || self.text.get(at..start) != Some(prefix.text) {
            return;
        }
        if prefix.word && !scan::starts_word(self.bytes, at) {
            return;
        }
        let end = scan::run(self.bytes, start, |byte| prefix.body.has(byte));
        let body = self.text.get(start..end).unwrap_or_default();
        let least = if end == self.bytes.len() { prefix.least.min(4) } else { prefix.least };
        let telling = body.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if body.len() < least || (prefix.word && !telling) {
            if prefix.body == Body::Url {
                self.dull_end = end;
            }
            return;
        }
        self.token_end = end;
        self.token(start, end, kind);
    }

    /// `Bearer TOKEN` outside a header, but neither prose nor a challenge (`Bearer realm="…"`).
    pub(super) fn bearer(&mut self, at: usize, to: usize) {
        if !scan::starts_word(self.bytes, at) {
            return;
        }
        let Some(start) = self.credentials(to) else { return };
        let end = self.word_end(start);
        let word = self.text.get(start..end).unwrap_or_default();
        let name = scan::run(self.bytes, start, |byte| byte.is_ascii_alphabetic() || byte == b'_');
        let challenge =
            name > start && self.bytes.get(name) == Some(&b'=') && scan::quote_at(self.bytes, name + 1).is_some();
        if challenge || value::is_one_of(word, BEARER_PROSE) || !word.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return;
        }
        self.consider(start, end, context(name::BEARER), false);
    }

    /// `Basic BASE64` outside a header, where it can be decoded to `user:password` or looks so.
    pub(super) fn basic(&mut self, at: usize, to: usize) {
        if !scan::starts_word(self.bytes, at) {
            return;
        }
        let Some(start) = self.credentials(to) else { return };
        let end = scan::run(self.bytes, start, is_base64);
        let word = self.bytes.get(start..end).unwrap_or_default();
        let humps = word.iter().skip(1).any(u8::is_ascii_uppercase) && word.iter().any(u8::is_ascii_lowercase);
        let encoded = word.len() >= 8 && (humps || word.ends_with(b"=") || word.iter().any(u8::is_ascii_digit));
        if encoded || (word.len() >= 4 && holds_colon(word)) {
            self.token(start, end, name::BASIC);
        }
    }

    /// A UUID or 32 hexadecimal digits that prose soon after the word "session" names.
    pub(super) fn session(&mut self, to: usize) {
        let mut at = to;
        let limit = (to + 80).min(self.bytes.len());
        while at < limit {
            let end = scan::run(self.bytes, at, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
            if is_session_id(self.bytes.get(at..end).unwrap_or_default()) {
                self.found.push(Found { start: at, end, kind: name::SESSION, sure: true });
                return;
            }
            let gap = |byte| matches!(byte, b' ' | b'.' | b'(' | b')' | b'>' | b',' | b'_');
            let next = scan::run(self.bytes, end, gap);
            if next == at {
                return;
            }
            at = next;
        }
    }

    /// The start of the credentials behind a scheme that ends at `at`.
    fn credentials(&self, at: usize) -> Option<usize> {
        if self.bytes.get(at) == Some(&b'+') {
            return Some(at + 1);
        }
        if let Some(end) = scan::spelled(self.bytes, at, b"\\u0020") {
            return Some(end);
        }
        let (next, broken) = scan::blanks(self.bytes, at);
        (next > at && !broken && mask_end(self.text, next).is_none()).then_some(next)
    }

    /// A JSON Web Token, or the beginning of one that was cut. `eyJ` is base64 of `{"`.
    pub(super) fn jwt(&mut self, at: usize, to: usize) {
        if at < self.jwt_end || self.text.get(at..to) != Some("eyJ") {
            return;
        }
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=');
        let end = scan::run(self.bytes, to, is_part);
        self.jwt_end = end;
        if end - to < 4 {
            return;
        }
        let body = self.bytes.get(to..end).unwrap_or_default();
        let cut = end == self.bytes.len() || self.bytes.get(end..).is_some_and(|rest| rest.starts_with("…".as_bytes()));
        if memchr::memchr(b'.', body).is_some_and(|dot| dot >= 4) || cut {
            self.token(to, end, name::JWT);
        }
    }

    /// The body of a PEM private key: up to its end mark, else to the end of the string or text around it.
    pub(super) fn private_key(&mut self, at: usize, to: usize) {
        let label = self.text.get(to..).unwrap_or_default();
        let label = label.get(..label.find("-----").unwrap_or(label.len())).unwrap_or_default();
        if label.len() > 64 || !label.contains("PRIVATE KEY") || at < self.key_end {
            return;
        }
        let start = (to + label.len() + 5).min(self.bytes.len());
        let rest = self.text.get(start..).unwrap_or_default();
        let end = rest
            .find("-----END")
            .or_else(|| rest.find(['"', '\'', '`', '<']))
            .map_or(self.bytes.len(), |end| start + end);
        self.key_end = end;
        let body = self.text.get(start..end).unwrap_or_default();
        let trimmed = body.trim_end_matches('\\').len();
        if !super::is_masked(body) && !body.trim_matches(['\\', 'n', 'r', ' ', '\n', '\r']).is_empty() {
            self.token(start, start + trimmed, name::PRIVATE_KEY);
        }
    }

    /// The end mark of a PEM private key whose beginning is missing.
    pub(super) fn private_key_tail(&mut self, at: usize, to: usize) {
        let label = self.bytes.get(to..(to + 64).min(self.bytes.len())).unwrap_or_default();
        if at <= self.key_end || memchr::memmem::find(label, b"PRIVATE KEY").is_none() {
            return;
        }
        let head = self.bytes.get(self.key_end..at).unwrap_or_default();
        let body = |byte: &u8| is_base64(*byte) || matches!(byte, b'\\' | b'\n' | b'\r' | b' ');
        let start = at - head.iter().rev().take_while(|byte| body(byte)).count();
        self.key_end = at;
        let text = self.text.get(start..at).unwrap_or_default();
        if text.bytes().filter(|byte| is_base64(*byte)).count() >= 8 {
            self.token(start, at, name::PRIVATE_KEY);
        }
    }

    /// A line of nothing but base64 in the width that PEM (64) and OpenSSH (70) use, mixed case and digits: keys that
    /// were logged line by line have nothing else to be known by.
    pub(super) fn private_key_lines(&mut self) {
        let mut from = 0;
        while from < self.bytes.len() {
            let end = memchr::memchr(b'\n', self.bytes.get(from..).unwrap_or_default())
                .map_or(self.bytes.len(), |n| from + n);
            let line = self.text.get(from..end).unwrap_or_default();
            let body = line.trim();
            let has = |is: fn(&u8) -> bool| body.as_bytes().iter().any(is);
            if matches!(body.len(), 64 | 70)
                && body.bytes().all(|byte| is_base64(byte) && !matches!(byte, b'-' | b'_'))
                && has(u8::is_ascii_lowercase)
                && has(u8::is_ascii_uppercase)
                && has(u8::is_ascii_digit)
            {
                let start = from + (line.len() - line.trim_start().len());
                self.found.push(Found { start, end: start + body.len(), kind: name::PRIVATE_KEY, sure: false });
            }
            from = end + 1;
        }
    }

    /// The same behind `:\/\/`, as PHP and some loggers write a slash in JSON.
    pub(super) fn escaped_url(&mut self, at: usize) {
        let second = scan::spelled(self.bytes, at, b"\\/").and_then(|at| scan::spelled(self.bytes, at, b"\\/"));
        if let Some(to) = second {
            self.url(to);
        }
    }

    /// The password of `scheme://user:password@host`, or a token in place of the user.
    pub(super) fn url(&mut self, to: usize) {
        let is_word = |byte: u8| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
        let limit = (to + REACH).min(self.bytes.len());
        let word_end = scan::run(self.bytes.get(..limit).unwrap_or_default(), to, is_word);
        let word = self.bytes.get(to..word_end).unwrap_or_default();
        let authority = word.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(word.len());
        let part = word.get(..authority).unwrap_or_default();
        if part.first() == Some(&b'[') {
            return;
        }
        let colon = memchr::memchr(b':', part);
        let at = memchr::memrchr(b'@', part).or_else(|| {
            // A password with a slash in it: what follows the colon is then no port.
            let colon = colon?;
            let digits = part.get(colon + 1..)?.iter().all(u8::is_ascii_digit);
            if digits && !part.ends_with(b":") {
                None
            } else {
                memchr::memchr(b'@', word.get(colon..)?).map(|n| colon + n)
            }
        });
        let cut = word_end == limit;
        match (colon, at) {
            (Some(colon), Some(at)) if colon < at => self.consider(to + colon + 1, to + at, password(), true),
            (Some(colon), None) if cut && !part.get(colon + 1..).unwrap_or_default().iter().all(u8::is_ascii_digit) => {
                let from = self.found.len();
                self.consider(to + colon + 1, word_end, password(), false);
                self.found.iter_mut().skip(from).for_each(|found| found.sure = false);
            }
            (_, Some(at)) if value::is_opaque(self.text.get(to..to + at).unwrap_or_default()) => {
                self.consider(to, to + at, password(), false);
            }
            _ => {}
        }
    }

    /// The password of `curl -u user:password`.
    pub(super) fn user_option(&mut self, at: usize, to: usize) {
        let head = self.bytes.get(at.saturating_sub(REACH)..at).unwrap_or_default();
        if memchr::memmem::find(head, b"curl").is_none() {
            return;
        }
        let open = scan::quote_at(self.bytes, to);
        let start = open.map_or(to, |open| open.end);
        let close = open.and_then(|open| scan::closing(self.bytes, open));
        let end = close.map_or_else(|| self.word_end(start), |close| close.start);
        let colon = memchr::memchr(b':', self.bytes.get(start..end).unwrap_or_default());
        if let Some(colon) = colon {
            let context = Context { kind: "password", ..password() };
            self.consider(start + colon + 1, end, context, open.is_some());
        }
    }

    /// An e-mail address around an `@`, plain or encoded.
    pub(super) fn email(&mut self, at: usize, to: usize) {
        let head = self.bytes.get(..at).unwrap_or_default();
        let local = head.iter().rev().take(64).take_while(|byte| is_local(**byte)).count();
        let start = scan::strip_escape(self.bytes, at - local).min(at);
        let Some(local) = self.text.get(start..at) else { return };
        let limit = (to + 255).min(self.bytes.len());
        let end =
            scan::run(self.bytes, to, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')).min(limit);
        let domain = self.text.get(to..end).unwrap_or_default().trim_end_matches(['.', '-']);
        let Some((host, top)) = domain.rsplit_once('.') else { return };
        let version = host
            .split('.')
            .next()
            .is_some_and(|label| label.trim_start_matches('v').bytes().all(|byte| byte.is_ascii_digit()));
        let unit =
            ["service", "socket", "timer", "target", "mount", "py", "js", "ts", "json", "mjs", "cjs"].contains(&top);
        let letters = top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic());
        if letters && !version && !unit && !local.trim_matches('.').is_empty() && local != "git" {
            self.found.push(Found { start, end: to + domain.len(), kind: name::EMAIL, sure: true });
        }
    }

    /// `123456789:AA…`: the id of a bot, a colon (perhaps encoded) and its token.
    pub(super) fn telegram(&mut self, at: usize, to: usize) {
        let head = self.bytes.get(..at).unwrap_or_default();
        let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let start = to - 2;
        let end = scan::run(self.bytes, start, |byte| Body::Url.has(byte));
        let cut = end == self.bytes.len() && end - start >= 6;
        if self.text.get(start..to) == Some("AA") && (6..=12).contains(&digits) && (cut || end - start >= 30) {
            self.token(start, end, name::TELEGRAM);
        }
    }

    /// Three parts of base64, the first of a number: two letters that only digits encode to begin it.
    pub(super) fn discord(&mut self, at: usize) {
        let first = self.bytes.get(at..at + 3).unwrap_or_default();
        let digits =
            matches!(first, [b'M' | b'N' | b'O', b'D' | b'T' | b'j' | b'z', third] if b"AEIMQUYcgk".contains(third));
        if !digits || at < self.token_end || !scan::starts_word(self.bytes, at) {
            return;
        }
        let end = scan::run(self.bytes, at, |byte| Body::Url.has(byte) || byte == b'.');
        let text = self.text.get(at..end).unwrap_or_default();
        let mut parts = text.split('.');
        let sizes = [parts.next(), parts.next(), parts.next()].map(|part| part.map_or(0, str::len));
        let cut = end == self.bytes.len();
        if (20..=40).contains(&sizes[0]) && (5..=8).contains(&sizes[1]) && (sizes[2] >= 20 || cut) {
            self.token_end = end;
            self.token(at, end, name::DISCORD);
        }
    }
}

/// A UUID, or the same without hyphens as Python's `uuid4().hex` writes it.
fn is_session_id(word: &[u8]) -> bool {
    let hyphens = |at: &usize| matches!(at, 8 | 13 | 18 | 23);
    match word.len() {
        32 => word.iter().all(u8::is_ascii_hexdigit),
        36 => word
            .iter()
            .enumerate()
            .all(|(at, byte)| if hyphens(&at) { *byte == b'-' } else { byte.is_ascii_hexdigit() }),
        _ => false,
    }
}

/// How a word outside any key is judged.
fn context(kind: &'static str) -> Context<'static> {
    Context { kind, value: Value::Phrase, key: "", around: None, line: false, separated: true, doubtful: false }
}

fn password() -> Context<'static> {
    context(name::URL_PASSWORD)
}

/// Whether base64 decodes to printable text with a colon in it. Stops at the first character of another alphabet.
fn holds_colon(word: &[u8]) -> bool {
    let mut bits = 0_u32;
    let mut n_bits = 0_u32;
    let mut colon = false;
    for byte in word {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = (bits << 6) | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            let decoded = (bits >> n_bits) & 0xff;
            bits &= (1 << n_bits) - 1;
            if !(0x20..0x7f).contains(&decoded) {
                return false;
            }
            colon |= decoded == u32::from(b':');
        }
    }
    colon
}
