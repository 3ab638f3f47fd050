//! Arguments reduced to the digest of their canonical form, and to a sketch of their members.
//!
//! RFC 8785 rules for numbers and key order; integers beyond ±2^53 are compared as text.

use std::{cell::Cell, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use smallvec::SmallVec;

use crate::event::{Digest, Pairs};

/// What the canonical form of a JSON value is reduced to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Canonical {
    /// Equal exactly when the canonical forms are equal (up to hash collisions).
    pub digest: Digest,
    /// Sketch of the scalar members of the top object.
    pub pairs: Pairs,
    /// Digest of the value of a member named like an idempotency key.
    pub idempotency_key: Option<Digest>,
    /// A writer has put a mask where a value was: two such texts may be one, and equal ones two.
    pub masked: bool,
}

impl Default for Digest {
    fn default() -> Self {
        digest_bytes(b'0', b"")
    }
}

/// Digest of bytes; the tag keeps values of different kinds apart.
pub(super) fn digest_bytes(tag: u8, bytes: &[u8]) -> Digest {
    Digest(xxhash_rust::xxh3::xxh3_128_with_seed(bytes, u64::from(tag)))
}

/// Digest of an opaque text, such as an idempotency key.
pub fn digest_text(text: &str) -> Digest {
    digest_bytes(b's', text.as_bytes())
}

/// Reduces a JSON text to its canonical digest. An object that is passed as a JSON text is that object: models write
/// arguments so, and servers read them.
///
/// # Errors
/// Says what is wrong with damaged JSON.
pub fn canonical(text: &str) -> Result<Canonical, serde_json::Error> {
    if text.starts_with("\"{") {
        let inner: String = serde_json::from_str(text)?;
        if let Some(canonical) = inner.starts_with('{').then(|| of_value(&inner).ok()).flatten() {
            return Ok(canonical);
        }
    }
    of_value(text)
}

fn of_value(text: &str) -> Result<Canonical, serde_json::Error> {
    let met = Met::default();
    let mut top = Canonical::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let digest = CanonicalSeed { met: &met, top: Some(&mut top) }.deserialize(&mut json)?;
    json.end()?;
    top.digest = if met.inexact.get() { exact_digest(text)? } else { digest };
    top.masked = met.masked.get();
    Ok(top)
}

/// Largest magnitude below which every integer is exact in a double: RFC 8785 compares numbers as doubles.
const EXACT: u64 = 1 << 53;

fn integer(magnitude: u64, negative: bool) -> Digest {
    if magnitude > EXACT {
        return digest_bytes(b'N', format!("{}{magnitude}", if negative { "-" } else { "" }).as_bytes());
    }
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
    let number = magnitude as f64;
    float(if negative { -number } else { number })
}

fn float(number: f64) -> Digest {
    // Minus zero and zero have one canonical form.
    let number = if number == 0.0 { 0.0 } else { number };
    digest_bytes(b'n', &number.to_bits().to_le_bytes())
}

/// Members of an object by the digests of key and value: few, so they rarely leave the stack.
type Pile = SmallVec<[(Digest, Digest); 8]>;
/// Digests one after another.
type Bytes = SmallVec<[u8; 256]>;

/// What was met on the way.
#[derive(Default)]
struct Met {
    /// Set by a number that cannot be told from its neighbors as a double.
    inexact: Cell<bool>,
    /// Set by a text that stands for another one.
    masked: Cell<bool>,
    /// Set by a text that spells another value, to that value: `"5"` for 5.
    spelled: Cell<Option<Digest>>,
    /// The next value is a member of the top object.
    is_member: Cell<bool>,
}

struct CanonicalSeed<'c> {
    met: &'c Met,
    /// Filled by the top object only.
    top: Option<&'c mut Canonical>,
}

impl<'de> DeserializeSeed<'de> for CanonicalSeed<'_> {
    type Value = Digest;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Digest, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CanonicalSeed<'_> {
    type Value = Digest;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E>(self) -> Result<Digest, E> {
        Ok(digest_bytes(b'0', b""))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Digest, E> {
        Ok(digest_bytes(b'b', &[u8::from(value)]))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Digest, E> {
        Ok(integer(value.unsigned_abs(), value < 0))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Digest, E> {
        Ok(integer(value, false))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Digest, E> {
        #[expect(clippy::cast_precision_loss, reason = "2^53 is exact")]
        if value.abs() >= EXACT as f64 {
            self.met.inexact.set(true);
        }
        Ok(float(value))
    }
    fn visit_str<E>(self, text: &str) -> Result<Digest, E> {
        if is_mask(text) {
            self.met.masked.set(true);
        }
        if self.met.is_member.get() {
            self.met.spelled.set(spelled(text));
        }
        Ok(digest_bytes(b's', text.as_bytes()))
    }
    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Digest, S::Error> {
        let mut bytes = Bytes::new();
        self.met.is_member.set(false);
        while let Some(Digest(item)) = seq.next_element_seed(CanonicalSeed { met: self.met, top: None })? {
            bytes.extend_from_slice(&item.to_le_bytes());
        }
        Ok(digest_bytes(b'a', &bytes))
    }
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Digest, M::Error> {
        let mut members = Pile::new();
        // The same with texts as the values they spell: who sends a call again may have corrected their type.
        let mut loose = Pile::new();
        let mut top = self.top;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            self.met.spelled.set(None);
            self.met.is_member.set(top.is_some());
            let value = map.next_value_seed(CanonicalSeed { met: self.met, top: None })?;
            let name = digest_bytes(b'k', key.as_bytes());
            if let Some(top) = top.as_deref_mut() {
                loose.push((name, self.met.spelled.get().unwrap_or(value)));
                if is_idempotency_key(&key) {
                    top.idempotency_key = Some(value);
                }
            }
            members.push((name, value));
        }
        if let Some(top) = top {
            top.pairs = sketch(&loose);
        }
        Ok(digest_members(members))
    }
}

/// The same for texts that differ in case and white space only.
fn plain(text: &str) -> Digest {
    let mut bytes = Bytes::new();
    for word in text.split_ascii_whitespace() {
        if !bytes.is_empty() {
            bytes.push(b' ');
        }
        bytes.extend_from_slice(word.as_bytes());
    }
    bytes.make_ascii_lowercase();
    digest_bytes(b's', &bytes)
}

/// The number, object or array that a text spells, else the text in its plainest spelling.
fn spelled(text: &str) -> Option<Digest> {
    match text.as_bytes().first().copied().unwrap_or_default() {
        b'-' | b'0'..=b'9' if text.len() <= 24 => text.parse::<f64>().ok().map(float),
        b'{' | b'[' => of_value(text).ok().map(|canonical| canonical.digest),
        _ => None,
    }
    .or_else(|| Some(plain(text)))
}

/// What log writers put where they took something out: `***`, `[REDACTED]`, `<hidden>`, `${TO}`, `b… (truncated 2)`.
fn is_mask(text: &str) -> bool {
    const WORDS: [&str; 8] = ["redacted", "masked", "removed", "hidden", "filtered", "sha256:", "sha1:", "md5:"];
    const ENDS: [&str; 3] = ["...", "…", "***"];
    let text = text.trim();
    let Some(first) = text.chars().next() else { return false };
    let starts = |word: &&str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let one_sign = !first.is_alphanumeric() || matches!(first, 'x' | 'X');
    let repeated = one_sign && text.len() > 2 && text.chars().all(|sign| sign == first);
    let cut = text.starts_with("***") || ENDS.iter().any(|end| text.ends_with(end)) || is_told_to_be_cut(text);
    repeated || cut || is_placeholder(text) || WORDS.iter().any(starts)
}

/// `12345… (truncated 2)`, `… 300 more characters`.
fn is_told_to_be_cut(text: &str) -> bool {
    let end = &text.as_bytes()[text.len() - text.len().min(32)..];
    [&b"truncated"[..], b"more characters", b"more chars"].iter().any(|word| memchr::memmem::find(end, word).is_some())
}

/// A single word in brackets of its own.
fn is_placeholder(text: &str) -> bool {
    const AROUND: [(&str, &str); 6] = [("[", "]"), ("<", ">"), ("(", ")"), ("${", "}"), ("{{", "}}"), ("__", "__")];
    let inner = AROUND.iter().find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    let is_word =
        |inner: &str| inner.chars().all(|char| char.is_ascii_alphabetic() || matches!(char, '_' | '-' | ' ' | ':'));
    inner.is_some_and(|inner| (2..=32).contains(&inner.len()) && is_word(inner))
}

/// Order of keys does not matter, and of a repeated key the last value counts.
fn digest_members(mut members: Pile) -> Digest {
    members.sort_by_key(|(key, _)| *key);
    let mut bytes = Bytes::new();
    for (index, (key, value)) in members.iter().enumerate() {
        if members.get(index + 1).is_some_and(|(next, _)| next == key) {
            continue;
        }
        bytes.extend_from_slice(&key.0.to_le_bytes());
        bytes.extend_from_slice(&value.0.to_le_bytes());
    }
    digest_bytes(b'o', &bytes)
}

/// The four smallest hashes of the members: two sketches of which one object contains the other share all they can.
fn sketch(members: &[(Digest, Digest)]) -> Pairs {
    #[expect(clippy::cast_possible_truncation, reason = "a hash may be shortened")]
    let mut hashes: SmallVec<[u32; 8]> =
        members.iter().map(|(key, value)| ((key.0 ^ value.0.rotate_left(64)) as u32).max(1)).collect();
    hashes.sort_unstable();
    let mut pairs = Pairs::default();
    for (slot, hash) in pairs.0.iter_mut().zip(hashes) {
        *slot = hash;
    }
    pairs
}

impl Pairs {
    /// The sketch of the pairs of a URL query: `code=EUR` repeats the arguments `{"code":"EUR"}`.
    pub fn of_query(query: &str) -> Self {
        let members: Pile = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (digest_bytes(b'k', key.as_bytes()), query_value(value)))
            .collect();
        sketch(&members)
    }

    /// Whether one of the two objects repeats the members of the other, as far as the sketches can tell.
    pub fn repeats(self, other: Self) -> bool {
        let common = self.0.iter().filter(|hash| **hash != 0 && other.0.contains(hash)).count();
        let smaller = self.len().min(other.len());
        common > 0 && (common == smaller || common >= 2)
    }

    /// The hashes that the sketch holds, in order.
    pub fn members(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().filter(|hash| *hash != 0)
    }

    /// All twos of them, the smaller hash first.
    pub fn twos(self) -> impl Iterator<Item = (u32, u32)> {
        self.members().flat_map(move |one| self.members().filter(move |two| one < *two).map(move |two| (one, two)))
    }

    /// How many members the sketch holds.
    pub fn len(self) -> usize {
        self.members().count()
    }

    /// Whether it holds none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A query has no types: digits are a number, as arguments nearly always have them.
fn query_value(value: &str) -> Digest {
    let text = value.replace('+', " ");
    canonical(&text).map_or_else(|_| plain(&text), |canonical| canonical.digest)
}

/// Digest of the key at a JSON Pointer (RFC 6901) into arguments: a text that is not empty and no mask, or an integer.
/// Arguments that are passed as a JSON text are what it holds.
pub fn key_at(arguments: &str, pointer: &str) -> Option<Digest> {
    let mut value: serde_json::Value = serde_json::from_str(arguments).ok()?;
    if let Some(inner) = value.as_str().filter(|inner| inner.starts_with('{')) {
        value = serde_json::from_str(inner).ok()?;
    }
    let key = value.pointer(pointer)?;
    match key {
        serde_json::Value::String(text) if !text.is_empty() && !is_mask(text) => Some(digest_text(text)),
        serde_json::Value::Number(number) if !number.is_f64() => {
            Some(digest_bytes(b'N', number.to_string().as_bytes()))
        }
        _ => None,
    }
}

/// Names under which an idempotency key is passed: `idempotency_key`, `idempotencyKey`, `Idempotency-Key`, `client_token`, `request_token`.
fn is_idempotency_key(key: &str) -> bool {
    const NAMES: [&str; 5] =
        ["idempotencykey", "idempotencytoken", "clienttoken", "clientrequesttoken", "requesttoken"];
    let plain = || key.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    NAMES.iter().any(|name| name.len() <= key.len() && plain().eq(name.bytes()))
}

/// The same digest from the text itself, for values that hold numbers a double cannot tell apart.
fn exact_digest(text: &str) -> Result<Digest, serde_json::Error> {
    let text = text.trim();
    Ok(match text.as_bytes().first() {
        Some(b'{') => {
            let mut members = Pile::new();
            for (key, value) in serde_json::from_str::<RawMembers<'_>>(text)?.0 {
                members.push((digest_bytes(b'k', key.as_bytes()), exact_digest(value.get())?));
            }
            digest_members(members)
        }
        Some(b'[') => {
            let mut bytes = Vec::new();
            for item in serde_json::from_str::<Vec<&RawValue>>(text)? {
                bytes.extend_from_slice(&exact_digest(item.get())?.0.to_le_bytes());
            }
            digest_bytes(b'a', &bytes)
        }
        Some(b'-' | b'0'..=b'9') if !text.contains(['.', 'e', 'E']) => match text.parse::<i64>() {
            Ok(value) => integer(value.unsigned_abs(), value < 0),
            Err(_) => digest_bytes(b'N', text.as_bytes()),
        },
        _ => {
            let met = Met::default();
            let mut json = serde_json::Deserializer::from_str(text);
            CanonicalSeed { met: &met, top: None }.deserialize(&mut json)?
        }
    })
}

/// The members of an object with their raw values, repeated keys included.
struct RawMembers<'a>(Vec<(std::borrow::Cow<'a, str>, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = RawMembers<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_integers_are_compared_as_text() {
        let digest = |text| canonical(text).expect("valid").digest;
        assert_ne!(digest("[12345678901234567890123]"), digest("[12345678901234567890124]"));
        assert_ne!(digest("[9007199254740993]"), digest("[9007199254740992]"));
        assert_eq!(digest("[1e2]"), digest("[100]"));
        assert_eq!(digest("[-0.0]"), digest("[0]"));
        // The slow path agrees with the fast one on everything else.
        assert_eq!(
            exact_digest(r#"{"a":[1,"x",2.5,true,null]}"#).expect("valid"),
            digest(r#"{"a":[1,"x",2.5,true,null]}"#)
        );
    }

    #[test]
    fn a_key_stands_where_its_pointer_says() {
        let key = |text, pointer| key_at(text, pointer);
        assert_eq!(key(r#"{"a":{"b/c":["x","k-1"]}}"#, "/a/b~1c/1"), Some(digest_text("k-1")));
        assert_eq!(key(r#""{\"key\":\"k-1\"}""#, "/key"), Some(digest_text("k-1")));
        assert_ne!(key(r#"{"key":7}"#, "/key"), None);
        for text in [r#"{"key":""}"#, r#"{"key":"***"}"#, r#"{"key":null}"#, r#"{"key":{}}"#, r#"{"keys":"k-1"}"#, "{"]
        {
            assert_eq!(key(text, "/key"), None, "{text}");
        }
    }

    #[test]
    fn a_mask_is_no_value() {
        let masked = |text| canonical(text).expect("valid").masked;
        assert!(masked(r#"{"to":"***"}"#) && masked(r#"{"a":["[REDACTED]"]}"#) && masked(r#"{"a":"abc [truncated]"}"#));
        assert!(!masked(r#"{"to":"*bob*","a":"[x]","b":"<b>","c":"r"}"#));
    }

    #[test]
    fn masks_are_known_in_many_forms() {
        for mask in [
            "***",
            "xxx",
            "•••",
            "[REDACTED]",
            "[object Object]",
            "<hidden>",
            "${TO}",
            "__REDACTED__",
            "redacted",
            "REMOVED",
            "sha256:81b6",
            "bo...",
            "b… (truncated 2)",
            "long text ... 300 more characters",
            "(masked)",
        ] {
            assert!(is_mask(mask), "{mask}");
        }
        for text in [
            "",
            "bob",
            "x",
            "--",
            "[1,2]",
            "<b>bold</b>",
            "a [REDACTED] b",
            "Rex",
            "(5)",
            "truncate it later, please, when all is done",
        ] {
            assert!(!is_mask(text), "{text}");
        }
    }

    #[test]
    fn arguments_are_the_same_in_a_text_and_alike_with_other_types() {
        let of = |text: &str| canonical(text).expect("valid");
        assert_eq!(of(r#""{\"a\":1,\"b\":\"x\"}""#), of(r#"{"b":"x","a":1}"#));
        assert_ne!(of(r#""{a}""#).digest, of("{}").digest, "a text that is no object");
        let (number, text) = (of(r#"{"amount":5,"to":"bob"}"#), of(r#"{"amount":"5.0","to":"bob"}"#));
        assert_ne!(number.digest, text.digest);
        assert_eq!(number.pairs, text.pairs);
        assert_eq!(of(r#"{"p":{"b":[1]}}"#).pairs, of(r#"{"p":"{\"b\": [1]}"}"#).pairs);
        assert_ne!(number.pairs, of(r#"{"amount":["5"],"to":"bob"}"#).pairs, "only what a member is");
    }

    #[test]
    fn a_body_that_repeats_the_arguments_is_seen() {
        let pairs = |text| canonical(text).expect("valid").pairs;
        assert!(pairs(r#"{"customer":"ACME"}"#).repeats(pairs(r#"{"customer":"ACME","seconds":2}"#)));
        assert!(!pairs(r#"{"customer":"ACME"}"#).repeats(pairs(r#"{"customer":"EMCA"}"#)));
        assert!(!pairs("{}").repeats(pairs("{}")));
        assert!(Pairs::of_query("code=EUR&n=3").repeats(pairs(r#"{"code":"EUR","n":3}"#)));
    }
}
