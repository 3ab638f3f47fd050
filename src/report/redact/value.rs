//! How far the value behind a key reaches, and whether it is a secret at all.
//!
//! It does not look for keys.

use super::scan::{self, Quote};
use super::secrets::Value;
use super::shape::is_mixed;
use super::words::{HARMLESS_VALUES, IS_PROSE, LIST_SCHEMES, ONE_WORD_SCHEMES, PROSE_VALUES, is_one_of};
use super::{Found, Scan, mask_end};

/// What is known about a value from its key and separator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'k> {
    /// The kind of secret.
    pub(super) kind: &'static str,
    /// How far it reaches.
    pub(super) value: Value,
    /// The key as written.
    pub(super) key: &'k str,
    /// Where it stands.
    pub(super) start: usize,
    /// A quote that opened just before the key and still holds the value: `-H 'Cookie: …'`.
    pub(super) around: Option<Quote>,
    /// The key begins its line, and a colon or an equals sign between blanks follows.
    pub(super) line: bool,
    /// A separator stands between key and value.
    pub(super) separated: bool,
    /// The value must look opaque to count.
    pub(super) doubtful: bool,
    /// A colon separates key and value, as in a header.
    pub(super) colon: bool,
    /// A sentence says what the key is.
    pub(super) prose: bool,
}

/// Words of a password that has blanks, behind its first.
const PHRASE_WORDS: usize = 12;

impl Scan<'_> {
    /// Masks the value that begins after the blanks at `at`.
    pub(super) fn value(&mut self, at: usize, context: Context<'_>) {
        let (mut at, mut broken) = scan::blanks(self.bytes, at);
        if context.value == Value::Id {
            // rich (Python) prints `module.py:157` at the right edge, between the lines of a wrapped message.
            let place_end = self.word_end(at);
            if self.text.get(at..place_end).is_some_and(is_source_place) {
                (at, broken) = scan::blanks(self.bytes, place_end);
            }
        }
        if context.value == Value::Bag && context.separated && broken && self.is_list_item(at) {
            return self.items(at, context);
        }
        let doubtful = context.doubtful || broken || (context.value == Value::Id && !context.separated);
        self.item(at, Context { doubtful, ..context }, 0);
    }

    /// One value: quoted, wrapped in a call, a list, or plain.
    pub(super) fn item(&mut self, at: usize, context: Context<'_>, depth: usize) {
        let prefixed = matches!(self.bytes.get(at), Some(b'b' | b'B' | b'r' | b'u' | b'f'));
        let open = if prefixed { scan::quote_at(self.bytes, at + 1) } else { None };
        if let Some(open) = open.or_else(|| scan::quote_at(self.bytes, at)) {
            // A quoted value on the next line is still a value.
            let doubtful = match context.value {
                Value::Opaque => true,
                Value::Signed => context.doubtful,
                _ => context.doubtful && !context.separated,
            };
            self.quoted(open, Context { doubtful, ..context });
            return;
        }
        match self.bytes.get(at) {
            Some(b'[') if mask_end(self.text, at).is_none() => self.list(at, context, depth),
            Some(b'{') if matches!(context.value, Value::Line | Value::Bag) => self.container(at, context),
            Some(b'{') if self.next_member(at + 1) || self.bytes.get(at + 1) == Some(&b'}') => {
                if let Some(next) = self.pair(at + 1).filter(|_| depth < 3) {
                    self.item(scan::blanks(self.bytes, next).0, context, depth + 1);
                }
            }
            Some(b'|' | b'>') if self.block(at, context) => {}
            _ => match self.wrapped(at) {
                Some(open) => self.quoted(open, context),
                None => self.plain(at, context),
            },
        }
    }

    /// The quote inside `Some("…")`, `SecretStr('…')`, `HeaderValue(b"…")`.
    fn wrapped(&self, mut at: usize) -> Option<Quote> {
        for _ in 0..3 {
            let end = scan::run(self.bytes, at, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if end == at || end - at > 40 || self.bytes.get(end) != Some(&b'(') {
                return None;
            }
            at = end + 1;
            let prefix = usize::from(self.bytes.get(at) == Some(&b'b'));
            if let Some(open) = scan::quote_at(self.bytes, at + prefix) {
                return Some(open);
            }
        }
        None
    }

    pub(super) fn quoted(&mut self, open: Quote, context: Context<'_>) {
        let close = scan::closing(self.bytes, open);
        let end = close.map_or(self.bytes.len(), |close| close.start);
        let start = if context.value == Value::Header { self.after_scheme(open.end, end).0 } else { open.end };
        self.consider(start, end, context, true);
    }

    fn plain(&mut self, at: usize, context: Context<'_>) {
        if at < self.plain_end {
            // Already inside a value without quotes, which ends where this one would.
            return;
        }
        let (start, end) = match context.value {
            Value::Header if !context.prose => {
                let (start, list) = self.after_scheme(at, self.bytes.len());
                let open = scan::quote_at(self.bytes, start).filter(|_| start > at);
                if let Some(open) = open.filter(|open| context.around.is_none_or(|around| around.mark != open.mark)) {
                    return self.quoted(open, Context { value: Value::Word, ..context });
                }
                let whole = list || (start == at && (context.line || context.separated));
                (start, if whole { self.rest_end(start, context.around) } else { self.word_end(start) })
            }
            Value::Line if !context.prose => (at, self.rest_end(at, context.around)),
            _ if context.prose => (at, self.word_end(at)),
            Value::Phrase if context.line => (at, self.rest_end(at, context.around)),
            Value::Phrase if context.separated => (at, self.phrase_end(at, context)),
            // Prose goes on behind a colon.
            Value::Id if !context.separated => {
                let end = self.word_end(at);
                let word = self.bytes.get(at..end).unwrap_or_default();
                (at, memchr::memchr(b':', word).map_or(end, |colon| at + colon))
            }
            _ => (at, self.word_end(at)),
        };
        let word_end = self.word_end(start);
        let first = self.text.get(start..word_end).unwrap_or_default();
        let option = !context.separated && first.starts_with("--");
        if option || is_one_of(first, &PROSE_VALUES) || (context.prose && is_one_of(first, &IS_PROSE)) {
            return;
        }
        let n_found = self.found.len();
        self.consider(start, end, context, false);
        if self.found.len() > n_found {
            self.plain_end = self.plain_end.max(end);
        } else if context.separated && is_placeholder(first) {
            self.beside_placeholder(start, word_end, context);
        }
    }

    /// The end of a value that may hold blanks: up to the semicolon in a connection string, and behind a colon the words
    /// that begin nothing else.
    fn phrase_end(&self, at: usize, context: Context<'_>) -> usize {
        let mut end = self.word_end(at);
        if is_placeholder(self.text.get(at..end).unwrap_or_default()) {
            return end;
        }
        if !context.colon {
            let before = self.bytes.get(..context.start).unwrap_or_default().trim_ascii_end();
            if before.last() != Some(&b';') || self.bytes.get(end) != Some(&b' ') {
                return end;
            }
            let rest = self.rest_end(at, context.around);
            let stop = |from: usize| memchr::memchr(b';', self.bytes.get(from..rest)?).map(|stop| from + stop);
            let glued = before.len() == context.start;
            return stop(end).or(glued.then_some(rest)).map_or(end, |stop| stop.max(end));
        }
        for _ in 0..PHRASE_WORDS {
            let next = scan::run(self.bytes, end, |byte| byte == b' ');
            let word = self.bytes.get(next..self.word_end(next)).unwrap_or_default();
            let begins = word.first().is_some_and(u8::is_ascii_alphanumeric);
            let after = self.bytes.get(next + word.len());
            if next == end || !begins || word.contains(&b'=') || word.contains(&b':') || after == Some(&b':') {
                break;
            }
            end = next + word.len();
        }
        end
    }

    /// `X-Api-Key: ${KEY} real`: what stands beside a placeholder may be what was meant.
    fn beside_placeholder(&mut self, start: usize, word_end: usize, context: Context<'_>) {
        let (next, broken) = scan::blanks(self.bytes, word_end);
        if next == word_end || broken {
            return;
        }
        let word = self.text.get(next..self.word_end(next)).unwrap_or_default();
        let word = word.split("://").next().unwrap_or_default();
        // Glued to the colon, as arguments of `mcp-remote` are written, the placeholder begins no sentence.
        let glued = start > 0 && self.bytes.get(start - 1) == Some(&b':');
        let odd = || is_odd(word) || (glued || self.ends_here(next + word.len())) && is_no_remark(word);
        if context.colon && odd() {
            self.consider(next, next + word.len(), Context { doubtful: false, ..context }, false);
        } else if is_opaque(word) {
            self.consider(next, next + word.len(), context, false);
        }
    }

    /// Whether the line or the string around ends at this place.
    fn ends_here(&self, at: usize) -> bool {
        scan::line_end(self.bytes, at) == at || scan::quote_at(self.bytes, at).is_some()
    }

    /// Skips the name of an authentication scheme. Tells whether a list of parameters follows.
    fn after_scheme(&self, at: usize, end: usize) -> (usize, bool) {
        let name_end = scan::run(self.bytes, at, |byte| byte.is_ascii_alphanumeric() || byte == b'-').min(end);
        let name = self.text.get(at..name_end).unwrap_or_default();
        let (mut next, _) = scan::blanks(self.bytes, name_end);
        if self.bytes.get(name_end) == Some(&b'+') {
            next = name_end + 1;
        } else if let Some(end) = scan::spelled(self.bytes, name_end, b"\\u0020") {
            next = end;
        }
        let list = is_one_of(name, &LIST_SCHEMES);
        if next > name_end && next <= end && (list || is_one_of(name, &ONE_WORD_SCHEMES)) {
            (next, list)
        } else {
            (at, false)
        }
    }

    /// The end of a word without quotes.
    pub(super) fn word_end(&self, start: usize) -> usize {
        let mut at = start;
        let mut masked = start;
        while let Some(&byte) = self.bytes.get(at) {
            if let Some(end) = mask_end(self.text, at) {
                at = end;
                masked = end;
                continue;
            }
            if byte <= b' ' || byte == 0x7f || self.is_word_edge(at, byte) {
                break;
            }
            at += 1;
        }
        self.trim(start.max(masked), at)
    }

    /// Whether a character that may also belong to a secret ends the word here, judged by what follows it.
    fn is_word_edge(&self, at: usize, byte: u8) -> bool {
        let bytes = self.bytes;
        match byte {
            b'"' | b'\'' | b'`' | b'%' | b'\\' => {
                if let Some(quote) = scan::quote_at(bytes, at) {
                    return !bytes.get(quote.end).is_some_and(u8::is_ascii_alphanumeric);
                }
                let ampersand = [b"%26".as_slice(), b"\\u0026", b"%0A", b"%0D"];
                ampersand.iter().any(|text| scan::spelled(bytes, at, text).is_some())
                    || scan::escaped_blank(bytes, at).is_some()
            }
            b'<' => matches!(bytes.get(at + 1), Some(b'/')) || scan::starts_with(bytes, at, b"<br"),
            b'&' => {
                scan::starts_with(bytes, at, b"&amp;")
                    || scan::quote_at(bytes, at).is_some()
                    || self.next_member(at + 1)
            }
            b',' | b';' => self.next_member(at + 1),
            _ => false,
        }
    }

    /// Whether the next member of a list begins here: the end, a blank, a quote, or `name=`, `name:`.
    fn next_member(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'&' | b'\\' | b'{' | b'[') => true,
            _ => {
                let end = scan::run(self.bytes, at, scan::is_key_byte).min(at + 48);
                let (next, _) = scan::blanks(self.bytes, end);
                end > at && (matches!(self.bytes.get(next), Some(b'=' | b':')))
            }
        }
    }

    /// Gives back punctuation that belongs to the sentence or structure around the value, never beyond `from`.
    fn trim(&self, from: usize, mut end: usize) -> usize {
        while end > from {
            let inside = self.bytes.get(from..end - 1).unwrap_or_default();
            let open = match self.bytes.get(end - 1) {
                Some(b',' | b';' | b'.' | b':') => None,
                Some(b')') => Some(b'('),
                Some(b']') => Some(b'['),
                Some(b'}') => Some(b'{'),
                Some(b'>') => Some(b'<'),
                _ => return end,
            };
            if open.is_some_and(|open| memchr::memchr(open, inside).is_some()) {
                return end;
            }
            end -= 1;
        }
        end
    }

    /// The end of the line, or of the string or structure around it.
    fn rest_end(&self, start: usize, around: Option<Quote>) -> usize {
        let mut end = scan::line_end(self.bytes, start);
        if let Some(close) = around.and_then(|around| {
            scan::closing(self.bytes, Quote { mark: around.mark, start, end: start }).filter(|close| close.start < end)
        }) {
            end = close.start;
        } else if around.is_none() {
            let line = self.bytes.get(start..end).unwrap_or_default();
            let edge = memchr::memchr3_iter(b'"', b'\'', b'%', line).map(|found| start + found).find_map(|at| {
                let quote = scan::quote_at(self.bytes, at - scan::slashes_before(self.bytes, at).min(at - start))?;
                self.is_structure(quote.end).then_some(quote.start)
            });
            end = edge.unwrap_or(end);
        }
        let blank = self.bytes.get(start..end).unwrap_or_default();
        end -= blank.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        let masked = self.text.get(start..end).and_then(|text| text.rfind("[redacted:")).map(|at| start + at);
        let masked = masked.and_then(|at| mask_end(self.text, at)).unwrap_or(start);
        self.trim(masked, end)
    }

    /// What follows the closing quote of a string in JSON or a list.
    fn is_structure(&self, at: usize) -> bool {
        let (next, _) = scan::blanks(self.bytes, at);
        match self.bytes.get(next) {
            None | Some(b'}' | b']' | b')') => true,
            Some(b',') => scan::quote_at(self.bytes, scan::blanks(self.bytes, next + 1).0).is_some(),
            _ => false,
        }
    }

    /// Records the value unless it is masked already, empty, a placeholder, or says something else.
    pub(super) fn consider(&mut self, start: usize, end: usize, context: Context<'_>, quoted: bool) {
        let Some(value) = self.text.get(start..end) else { return };
        if value.trim().is_empty() || super::is_masked(value) || is_placeholder(value) {
            return;
        }
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        let count = match context.value {
            Value::Bag => true,
            Value::Digits | Value::Phrase => value.len() <= 3,
            _ => value.len() <= 3 || (value.len() <= 6 && !quoted),
        };
        let key = context.key.to_ascii_lowercase();
        let path = key.ends_with("pwd") && value.starts_with(['/', '.', '~', '\\']);
        // `?code=EUR`, `?key=name`: too short for anything that opens a door, unless it was cut.
        let cut = end == self.bytes.len() && (context.separated || quoted || key.starts_with("--"));
        let word = context.value == Value::Query && value.len() < 6 && !cut;
        let word = word && value.bytes().all(|byte| byte.is_ascii_alphabetic());
        if (digits && count)
            || word
            || path
            || (context.doubtful && !is_opaque(value) && !(cut && value.len() >= 4 && is_mixed(value)))
            || (context.prose && !quoted && context.kind != "password" && !super::shape::is_telling(value))
            || is_code(value, context, quoted)
        {
            return;
        }
        let telling = value.bytes().any(|byte| !byte.is_ascii_lowercase() && byte != b' ');
        let sure = !context.doubtful
            && value.len() >= 6
            && (telling || quoted)
            && !(quoted && value.contains(' ') && context.value == Value::Word);
        self.found.push(Found { start, end, kind: context.kind, sure });
    }
}

/// `api_key=api_key`, `token=self.token`, `os.environ["TOKEN"]`: source code, as tracebacks quote it.
fn is_code(value: &str, context: Context<'_>, quoted: bool) -> bool {
    if quoted || context.value == Value::Phrase && !value.contains('.') {
        return false;
    }
    let last = value.rsplit('.').next().unwrap_or_default();
    last == context.key
        || value.starts_with("os.environ")
        || value.starts_with("os.getenv(")
        || value.starts_with("process.env")
}

/// No word of prose: a digit, or a capital that does not begin it. No pair of key and value either.
fn is_odd(word: &str) -> bool {
    let odd = |(at, byte): (usize, u8)| byte.is_ascii_digit() || at > 0 && byte.is_ascii_uppercase();
    word.len() >= 4 && word.bytes().enumerate().any(odd) && !word.contains(['=', ':'])
}

/// A word that says nothing about the value before it: `missing` does.
fn is_no_remark(word: &str) -> bool {
    let remark = is_one_of(word, &PROSE_VALUES) || is_one_of(word, &IS_PROSE);
    word.len() >= 4 && !remark && !word.starts_with('-') && !word.contains(['=', ':'])
}

/// `module.py:157`.
fn is_source_place(word: &str) -> bool {
    let line = word.split_once(".py:").map(|(_, line)| line);
    line.is_some_and(|line| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What stands where a secret would: `null`, `${TOKEN}`, `<token>`, `***`, `[MASKED]`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let name = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b':' | b'.'))
            && text.len() <= 40
    };
    let inside = |open: &str, close: &str| value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if is_one_of(value, &HARMLESS_VALUES) || value.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'-' | b'_')) {
        return true;
    }
    let same = value.chars().all(|char| matches!(char, 'x' | 'X' | '•' | '…' | '█'));
    let variable = value
        .strip_prefix('$')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'));
    same || variable
        || inside("${", "}").or_else(|| inside("{{", "}}")).or_else(|| inside("$(", ")")).is_some_and(name)
        || inside("{", "}").is_some_and(|text| name(text) && !text.bytes().any(|byte| byte.is_ascii_digit()))
        || inside("<", ">").is_some_and(|text| name(text) && !text.bytes().any(|byte| byte.is_ascii_digit()))
        || inside("%", "%").is_some_and(|text| name(text) && !text.bytes().any(|byte| byte.is_ascii_lowercase()))
        || inside("[", "]").is_some_and(|text| is_one_of(text, &HARMLESS_VALUES))
}

/// Without blanks and long, with a digit, or shorter in mixed case: an id or a token rather than a word.
pub(super) fn is_opaque(value: &str) -> bool {
    let byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/=.~".contains(&byte);
    (value.len() >= 12 && value.bytes().any(|byte| byte.is_ascii_digit()) || value.len() >= 8 && is_mixed(value))
        && !value.starts_with(['/', '.', '~'])
        && value.bytes().all(byte)
}
