//! The one gate that masks secrets in text from a log, before it is cut, escaped or printed.
//!
//! It does not neutralize markup: that is `escape`. A table of kinds ([`SECRETS`]) drives it: patterns of what shows by
//! itself that it is a secret, and keys whose value is one. How far such a value reaches, in whatever state of
//! escaping, is no pattern; that is `value`.
//!
//! What is masked reads `[redacted:KIND]`; key, scheme and public prefix stay. When in doubt it masks too much.
//! Masking twice changes nothing more, and a secret that the end of the text cut is still masked.

mod anchors;
mod block;
mod container;
mod csv;
mod encoded;
mod keyed;
mod leaks;
mod pem;
mod proof;
mod scan;
mod secrets;
mod shape;
mod split;
#[cfg(test)]
mod tests;
mod unescape;
mod unseen;
mod value;
mod words;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

pub use leaks::leaks;
pub use secrets::{Key, SECRETS, Secret, Shape, Value};

use super::escape::visible;
use secrets::name;

/// More text than this is dropped before anything looks at it.
const QUOTE_REACH: usize = 64 * 1024;

/// After so many rounds without rest the text is written to fool us, and nothing of it is shown.
const ROUNDS: usize = 12;

/// The beginning of every mask.
const MASK: &str = "[redacted:";

/// A secret in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The name of its kind in [`SECRETS`].
    pub kind: &'static str,
    /// Its shape or the notation around it leaves little doubt. The others are masked all the same.
    pub sure: bool,
}

/// The patterns of the table, and which of them occur in a text at all.
struct Shapes {
    any: RegexSet,
    each: Vec<(&'static str, Shape, Regex)>,
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let shapes = || SECRETS.iter().flat_map(|secret| secret.shapes.iter().map(|shape| (secret.name, *shape)));
    let any = RegexSetBuilder::new(shapes().map(|(_, shape)| shape.pattern)).unicode(false).build();
    Shapes {
        any: any.expect("the table holds patterns only"),
        each: shapes().map(|(kind, shape)| (kind, shape, regex(shape.pattern))).collect(),
    }
});

/// A pattern over bytes: text may be cut anywhere, and everything that matters here is ASCII.
fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the program holds patterns only")
}

/// One walk over a text.
struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    found: Vec<Found>,
    /// The end of the last value without quotes. What begins inside it ends where it does.
    plain_end: usize,
    container_end: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), found: Vec::new(), plain_end: 0, container_end: 0 }
    }

    fn walk(mut self) -> Vec<Found> {
        for index in SHAPES.any.matches(self.bytes) {
            let (kind, shape, regex) = &SHAPES.each[index];
            for captures in regex.captures_iter(self.bytes) {
                for group in captures.iter().skip(usize::from(captures.len() > 1)).flatten() {
                    let text = self.text.get(group.range()).unwrap_or_default();
                    if !text.is_empty() && !is_masked(text) && !value::is_placeholder(text) && (shape.check)(text) {
                        self.found.push(Found { start: group.start(), end: group.end(), kind, sure: true });
                    }
                }
            }
        }
        self.private_keys();
        self.proofs();
        self.keys();
        self.tables();
        self.split();
        self.found
    }
}

/// Sorts what was found and joins what overlaps, so that no part of a secret stays between two masks.
fn merged(text: &str, mut all: Vec<Found>) -> Vec<Found> {
    // The end of a password before `@host` looks like an address. What remains of one is found in the next round.
    let others: Vec<Found> = all.iter().copied().filter(|found| found.kind != name::EMAIL).collect();
    all.retain(|found| {
        found.kind != name::EMAIL || !others.iter().any(|other| found.start < other.end && other.start < found.end)
    });
    all.sort_by(|a, b| (a.start, b.end, a.kind).cmp(&(b.start, a.end, b.kind)));
    let mut merged: Vec<Found> = Vec::with_capacity(all.len());
    for found in all {
        let Some(last) = merged.last_mut().filter(|last| found.start < last.end) else {
            merged.push(found);
            continue;
        };
        let prefix = text.get(last.start..found.start).unwrap_or_default();
        if found.end == last.end && is_public_prefix(prefix) {
            // The token names its service, the key only that there is a secret.
            *last = Found { sure: last.sure || found.sure, ..found };
            continue;
        }
        last.end = last.end.max(found.end);
        last.sure |= found.sure;
    }
    merged
}

/// Finds the secrets of a text, in order and apart from each other.
///
/// For callers that replace them with something else than [`redact`] does. Replacing may uncover more: search again.
pub fn find(text: &str) -> Vec<Found> {
    let mut found = walk(text);
    if let Some(shown) = unseen::shown(text) {
        found.extend(walk(&shown.text).into_iter().map(|secret| written(&shown, secret)));
    }
    merged(text, found)
}

/// The secrets of a text as it is written, and as it reads with its escaped letters, and as a URL.
fn walk(text: &str) -> Vec<Found> {
    let mut found = Scan::new(text).walk();
    for plain in [unescape::plain(text), unescape::percent(text), encoded::names(text)].into_iter().flatten() {
        found.extend(Scan::new(&plain.text).walk().into_iter().map(|secret| written(&plain, secret)));
    }
    found
}

/// Where a secret stands in the text as it was written.
fn written(plain: &unescape::Plain<'_>, secret: Found) -> Found {
    Found { start: plain.written(secret.start), end: plain.written(secret.end), ..secret }
}

/// Masks the secrets in any text that comes out of a log.
///
/// It works until nothing is left to mask, so that masking the result again changes nothing.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = mask(text, &found);
    for _ in 0..ROUNDS {
        found = find(&masked);
        if found.is_empty() {
            return Cow::Owned(masked);
        }
        masked = mask(&masked, &found);
    }
    Cow::Borrowed("[redacted:secret]")
}

fn mask(text: &str, found: &[Found]) -> String {
    let mut out = String::with_capacity(text.len() + 24 * found.len());
    let mut from = 0;
    for secret in found {
        out.push_str(text.get(from..secret.start).unwrap_or_default());
        out.extend([MASK, secret.kind, "]"]);
        from = secret.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The text of a record as the report quotes it: masked, on one line, at most `limit` characters with `…` for the rest.
///
/// Masking comes before cutting, since a cut secret is harder to know. Text beyond 64 KiB is dropped unseen.
pub fn quote(text: &str, limit: usize) -> String {
    let reach = (0..=QUOTE_REACH.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    let (head, rest) = text.split_at(reach);
    let masked = redact(head);
    let shown = visible(&masked);
    let n_chars = shown.chars().take(limit.saturating_add(1)).count();
    if n_chars <= limit && rest.is_empty() {
        return shown.into_owned();
    }
    let mut out: String = shown.chars().take(limit.saturating_sub(1)).collect();
    if limit > 0 {
        out.push('…');
    }
    out
}

/// The parts of a text behind one another. The first has at most half of the limit and those in the middle a quarter, so
/// that the last has room in any case. Each is masked before it is cut.
pub fn quote_parts(parts: &[String], limit: usize) -> String {
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        let left = limit.saturating_sub(text.chars().count());
        let share = match index {
            _ if index + 1 == parts.len() => left,
            0 => limit / 2,
            _ => left.min(limit / 4),
        };
        text.push_str(&quote(part, share));
    }
    text
}

/// The same where what stands before the record is known: a secret, or the key of one, may stand there.
pub fn quote_behind(before: &str, text: &str, limit: usize) -> String {
    let edge = before.len();
    let inside = |found: Found| Found { start: found.start.max(edge) - edge, end: found.end - edge, ..found };
    let found: Vec<Found> =
        find(&[before, text].concat()).into_iter().filter(|found| found.end > edge).map(inside).collect();
    quote(&mask(text, &found), limit)
}

/// The end of a mask of ours at this place. Only known kinds count: nothing can hide in a mask.
fn mask_end(text: &str, at: usize) -> Option<usize> {
    let kind = text.get(at..).filter(|rest| rest.starts_with('['))?.strip_prefix(MASK)?;
    let secret =
        SECRETS.iter().find(|secret| kind.strip_prefix(secret.name).is_some_and(|rest| rest.starts_with(']')))?;
    Some(at + MASK.len() + secret.name.len() + 1)
}

/// Whether nothing but a mask is left of a value, perhaps behind its public prefix or scheme.
fn is_masked(value: &str) -> bool {
    let Some(at) = value.find(MASK) else { return false };
    mask_end(value, at) == Some(value.len()) && value.get(..at).is_some_and(is_public_prefix)
}

/// Nothing, a scheme, or what may be the public prefix of a token.
fn is_public_prefix(text: &str) -> bool {
    let text = text.trim_start();
    let scheme = ["bearer ", "basic ", "token "]
        .into_iter()
        .find(|scheme| scan::starts_with(text.as_bytes(), 0, scheme.as_bytes()));
    let text = text.get(scheme.map_or(0, str::len)..).unwrap_or_default();
    text.is_empty() || PREFIXES.is_match(text.as_bytes())
}

/// The public prefixes of the table: what its examples have before the secret, where that is one word.
fn prefixes() -> impl Iterator<Item = &'static str> {
    let examples = SECRETS.iter().filter(|secret| !secret.shapes.is_empty()).flat_map(|secret| secret.masked);
    let prefixes = examples.filter_map(|example| example.split_once('{')).map(|(prefix, _)| prefix);
    prefixes.filter(|prefix| !prefix.is_empty() && prefix.bytes().all(|byte| scan::is_key_byte(byte) || byte == b'/'))
}

/// The same as a pattern.
static PREFIXES: LazyLock<Regex> = LazyLock::new(|| {
    let words: Vec<String> = prefixes().map(regex::escape).collect();
    regex(&format!(r"\A(?:{}|eyJ|hooks\.slack\.com/services/)\z", words.join("|")))
});
