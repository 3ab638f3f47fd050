//! The one gate that masks secrets in text from a log, before it is cut, escaped or printed.
//!
//! It does not neutralize markup: that is `escape`. A table of kinds ([`SECRETS`]) drives it. One multi-pattern search
//! finds candidates, byte scanners look at each; text without a candidate is returned as it is.
//!
//! What is masked reads `[redacted:KIND]`; key, scheme and public prefix stay. When in doubt it masks too much.
//! Masking twice changes nothing more, and a secret that the end of the text cut is still masked.

mod keyed;
mod scan;
mod secrets;
mod shape;
#[cfg(test)]
mod tests;
mod value;
mod words;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

pub use secrets::{Body, Key, Prefix, SECRETS, Secret, Value};

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

/// What a hit of the search may begin.
#[derive(Clone, Copy, Debug)]
enum Anchor {
    Key,
    Prefix(&'static str, &'static Prefix),
    Bearer,
    Basic,
    Session,
    Jwt,
    PrivateKey,
    PrivateKeyTail,
    Url,
    EscapedUrl,
    UserOption,
    Email,
    Telegram,
    Discord,
}

/// The patterns of the search and what each may begin.
struct Search {
    patterns: AhoCorasick,
    anchors: Vec<Anchor>,
}

static SEARCH: LazyLock<Search> = LazyLock::new(|| {
    let mut anchors: Vec<(&str, Anchor)> = keyed::ANCHORS.iter().map(|text| (*text, Anchor::Key)).collect();
    for secret in SECRETS {
        anchors.extend(secret.prefixes.iter().map(|prefix| (prefix.text, Anchor::Prefix(secret.name, prefix))));
    }
    anchors.extend([
        ("bearer", Anchor::Bearer),
        ("basic", Anchor::Basic),
        ("session", Anchor::Session),
        // supergateway 3.x.
        ("response finished ", Anchor::Session),
        ("response closed ", Anchor::Session),
        ("eyJ", Anchor::Jwt),
        ("-----BEGIN ", Anchor::PrivateKey),
        ("-----END ", Anchor::PrivateKeyTail),
        ("://", Anchor::Url),
        (":\\", Anchor::EscapedUrl),
        (" -u ", Anchor::UserOption),
        (" --user ", Anchor::UserOption),
        ("@", Anchor::Email),
        ("%40", Anchor::Email),
        ("\\u0040", Anchor::Email),
        (":AA", Anchor::Telegram),
        ("%3AAA", Anchor::Telegram),
    ]);
    let discord = ["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT", "Oj", "Oz"];
    anchors.extend(discord.map(|text| (text, Anchor::Discord)));
    let patterns = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(true)
        .build(anchors.iter().map(|(text, _)| text))
        .expect("a few hundred short patterns always fit");
    Search { patterns, anchors: anchors.into_iter().map(|(_, anchor)| anchor).collect() }
});

/// One walk over a text.
struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    found: Vec<Found>,
    /// Marks up to which a sort of scanner has already been, so that hostile text costs no quadratic time.
    last_key: usize,
    token_end: usize,
    dull_end: usize,
    jwt_end: usize,
    key_end: usize,
    plain_end: usize,
    container_end: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            found: Vec::new(),
            last_key: 0,
            token_end: 0,
            dull_end: 0,
            jwt_end: 0,
            key_end: 0,
            plain_end: 0,
            container_end: 0,
        }
    }

    fn run(mut self) -> Vec<Found> {
        for hit in SEARCH.patterns.find_overlapping_iter(self.bytes) {
            let (at, to) = (hit.start(), hit.end());
            match SEARCH.anchors.get(hit.pattern().as_usize()).copied() {
                Some(Anchor::Key) => self.key(at, to),
                Some(Anchor::Prefix(kind, prefix)) => self.prefixed(kind, prefix, at),
                Some(Anchor::Bearer) => self.bearer(at, to),
                Some(Anchor::Basic) => self.basic(at, to),
                Some(Anchor::Session) => self.session(to),
                Some(Anchor::Jwt) => self.jwt(at, to),
                Some(Anchor::PrivateKey) => self.private_key(at, to),
                Some(Anchor::PrivateKeyTail) => self.private_key_tail(at, to),
                Some(Anchor::Url) => self.url(to),
                Some(Anchor::EscapedUrl) => self.escaped_url(at + 1),
                Some(Anchor::UserOption) => self.user_option(at, to),
                Some(Anchor::Email) => self.email(at, to),
                Some(Anchor::Telegram) => self.telegram(at, to),
                Some(Anchor::Discord) => self.discord(at),
                None => {}
            }
        }
        self.private_key_lines();
        self.merged()
    }

    /// Sorts what was found and joins what overlaps, so that no part of a secret stays between two masks.
    fn merged(mut self) -> Vec<Found> {
        // The end of a password before `@host` looks like an address. What remains of one is found in the next round.
        let others: Vec<Found> = self.found.iter().copied().filter(|found| found.kind != name::EMAIL).collect();
        self.found.retain(|found| {
            found.kind != name::EMAIL || !others.iter().any(|other| found.start < other.end && other.start < found.end)
        });
        self.found.sort_by(|a, b| (a.start, b.end, a.kind).cmp(&(b.start, a.end, b.kind)));
        let mut merged: Vec<Found> = Vec::with_capacity(self.found.len());
        for found in self.found {
            let Some(last) = merged.last_mut().filter(|last| found.start < last.end) else {
                merged.push(found);
                continue;
            };
            let prefix = self.text.get(last.start..found.start).unwrap_or_default();
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
}

/// Finds the secrets of a text, in order and apart from each other.
///
/// For callers that replace them with something else than [`redact`] does. Replacing may uncover more: search again.
pub fn find(text: &str) -> Vec<Found> {
    Scan::new(text).run()
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

/// The kind of the first secret that should not stand in a log. E-mail addresses and session ids do not count.
pub fn first_secret(text: &str) -> Option<&'static str> {
    let leak = |kind: &str| SECRETS.iter().any(|secret| secret.name == kind && secret.leak);
    find(text).into_iter().find(|found| found.sure && leak(found.kind)).map(|found| found.kind)
}

/// The end of a mask of ours at this place. Only known kinds count: nothing can hide in a mask.
fn mask_end(text: &str, at: usize) -> Option<usize> {
    let kind = text.get(at..)?.strip_prefix(MASK)?;
    let secret =
        SECRETS.iter().find(|secret| kind.strip_prefix(secret.name).is_some_and(|rest| rest.starts_with(']')))?;
    Some(at + MASK.len() + secret.name.len() + 1)
}

/// Whether nothing but a mask is left of a value, perhaps behind its public prefix or scheme.
fn is_masked(value: &str) -> bool {
    let Some(at) = value.find(MASK) else { return false };
    mask_end(value, at) == Some(value.len()) && value.get(..at).is_some_and(is_public_prefix)
}

/// Nothing, a scheme, or a prefix of the table.
fn is_public_prefix(text: &str) -> bool {
    let text = text.trim_start();
    let scheme = ["bearer ", "basic ", "token "]
        .into_iter()
        .find(|scheme| scan::starts_with(text.as_bytes(), 0, scheme.as_bytes()));
    let text = text.get(scheme.map_or(0, str::len)..).unwrap_or_default();
    text.is_empty()
        || text == "eyJ"
        || SECRETS.iter().flat_map(|secret| secret.prefixes).any(|prefix| prefix.text == text)
}
