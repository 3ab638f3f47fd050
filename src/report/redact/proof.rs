//! What proves by itself that it is a secret: the checksums of card numbers and accounts, and the words of a seed.
//!
//! It does not look at keys, but for the word that announces a seed.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::secrets::name;
use super::{Found, Scan, regex, scan};

/// What announces the words of a seed, a little before them.
static SEED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)mnemonic|seed|(?:recovery|backup|secret)[ _-]?(?:phrase|words)"));

/// So far behind it they begin.
const SEED_REACH: usize = 48;

/// A word of a list of BIP-39, and what stands between two of them, as elements of a list too.
static SEED_WORD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\A([a-z]{3,8})(?:\\+[nrt]|[\s,\x22'\\-]|[0-9]{1,2}[.)])*"));

/// Words of nearly every sentence that no list of BIP-39 has.
const NO_SEED: &[&str] =
    &["the", "and", "for", "was", "are", "not", "from", "with", "has", "its", "were", "been", "into"];

/// Sizes of a seed in words (BIP-39).
const FEWEST: usize = 12;
const MOST: usize = 24;

/// The beginning of an account number (ISO 13616): country and check digits.
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|[^A-Za-z0-9])([A-Z]{2}[0-9]{2} ?[A-Z0-9]{4})"));

/// How long the account numbers of a country are (registry of IBAN).
const ACCOUNTS: &[(usize, &str)] = &[
    (15, "NO"),
    (16, "BE"),
    (18, "DK FO FI GL NL SD"),
    (19, "MK SI"),
    (20, "AT BA EE KZ XK LT LU"),
    (21, "HR LV LI CH"),
    (22, "BH BG CR GE DE IE ME RS GB VA"),
    (23, "GI IQ IL OM TL AE SO"),
    (24, "AD CZ MD PK RO SA SK ES SE TN VG"),
    (25, "LY PT ST"),
    (26, "IS TR"),
    (27, "BI DJ FR GR IT MC MR SM"),
    (28, "AL AZ BY CY DO GT HU LB PL SV"),
    (29, "BR EG PS QA UA"),
    (30, "JO KW MU"),
    (31, "MT SC"),
    (32, "LC"),
];

impl Scan<'_> {
    /// Seeds and account numbers. Those of cards have a pattern.
    pub(super) fn proofs(&mut self) {
        let mut done = 0;
        for label in SEED.find_iter(self.bytes) {
            if label.end() >= done {
                done = self.seed(label.end()).unwrap_or(done);
            }
        }
        for start in ACCOUNT.captures_iter(self.bytes).filter_map(|found| found.get(1)) {
            if let Some(end) = self.account(start.start()) {
                self.found.push(Found { start: start.start(), end, kind: name::IBAN, sure: true });
            }
        }
    }

    /// The words of a seed that is announced before this place. Gives their end.
    fn seed(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        while at <= self.bytes.len().min(from + SEED_REACH) {
            at = scan::strip_escape(self.bytes, at);
            let (end, n_words, next) = self.seed_words(at);
            if n_words >= FEWEST {
                self.found.push(Found { start: at, end, kind: name::SEED, sure: true });
                return Some(end);
            }
            at = next;
        }
        None
    }

    /// The words of a seed that follow each other from here: their end, how many they are, and where to look next.
    fn seed_words(&self, from: usize) -> (usize, usize, usize) {
        let (mut at, mut end, mut n_words) = (from, from, 0);
        while n_words < MOST {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(found) = SEED_WORD.captures(rest) else { break };
            let word = found.get(1).map_or(&[][..], |word| word.as_bytes());
            let whole = !rest.get(word.len()).is_some_and(u8::is_ascii_alphanumeric);
            if !whole || NO_SEED.iter().any(|known| known.as_bytes() == word) {
                break;
            }
            end = at + word.len();
            at += found.get(0).map_or(word.len(), |found| found.len());
            n_words += 1;
        }
        if n_words > 0 {
            return (end, n_words, at.max(from + 1));
        }
        // The rest of the word that is none, and one character.
        let rest = self.bytes.get(from..).unwrap_or_default();
        let skipped = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        (from, 0, from + skipped.max(1))
    }

    /// The end of an account number that begins here.
    fn account(&self, start: usize) -> Option<usize> {
        let country = self.text.get(start..start + 2)?;
        let (length, _) = ACCOUNTS.iter().find(|(_, countries)| countries.split(' ').any(|known| known == country))?;
        let mut digits = Vec::with_capacity(*length);
        let mut at = start;
        while digits.len() < *length {
            match *self.bytes.get(at)? {
                b' ' if digits.len() % 4 == 0 => {}
                byte if byte.is_ascii_digit() || byte.is_ascii_uppercase() => digits.push(byte),
                _ => return None,
            }
            at += 1;
        }
        let more = self.bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        digits.rotate_left(4);
        (!more && is_one_modulo_97(&digits)).then_some(at)
    }
}

/// Whether letters and digits, letters as 10 to 35, are one modulo 97 (ISO 7064).
fn is_one_modulo_97(digits: &[u8]) -> bool {
    let value = |byte: u8| char::from(byte).to_digit(36).unwrap_or_default();
    let step = |rest: u32, value: u32| (rest * if value > 9 { 100 } else { 10 } + value) % 97;
    digits.iter().map(|byte| value(*byte)).fold(0, step) == 1
}

/// Whether the digits of a text pass the check of ISO 7812 (Luhn), as those of every card do.
pub(super) fn is_card(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).map(|byte| u32::from(byte - b'0'));
    let twice = |digit: u32| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let even = |(at, digit): (usize, u32)| if at % 2 == 1 { twice(digit) } else { digit };
    let digits: Vec<u32> = digits.collect();
    let sum: u32 = digits.iter().rev().copied().enumerate().map(even).sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != digits[0])
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    const WORDS: &str = "legal winner thank year wave sausage worth useful legal winner thank yellow";

    #[test]
    fn seeds_are_known_by_their_number_of_words() {
        let list = WORDS.replace(' ', "\", \"");
        for (text, masked) in [
            (format!("mnemonic: {WORDS}"), "mnemonic: [redacted:seed-phrase]"),
            (format!("Seed phrase is {WORDS} {WORDS}."), "Seed phrase is [redacted:seed-phrase]."),
            (format!("{{\"seed\":\"{WORDS}\",\"n\":1}}"), "{\"seed\":\"[redacted:seed-phrase]\",\"n\":1}"),
            (format!("{{\"mnemonic\": [\"{list}\"]}}"), "{\"mnemonic\": [\"[redacted:seed-phrase]\"]}"),
            (format!("seed\\n{}\\n", WORDS.replace(' ', "\\n")), "seed\\n[redacted:seed-phrase]\\n"),
        ] {
            assert_eq!(redact(&text), masked);
            assert_eq!(redact(masked), masked);
        }
        for text in [
            "the seed of this random number generator gives always equal words when started again from zero",
            "seed: 42, mnemonic: add store load jump",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn cards_and_accounts_are_known_by_their_checksum() {
        for (text, masked) in [
            ("card 4111 1111 1111 1111 ok", "card [redacted:card-number] ok"),
            ("{\"pan\":5555555555554444}", "{\"pan\":[redacted:card-number]}"),
            ("4111-1111-1111-1111, 378282246310005.", "[redacted:card-number], [redacted:card-number]."),
            ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF", "IBAN [redacted:iban] BIC COBADEFF"),
            ("{\"iban\":\"GB82WEST12345698765432\"}", "{\"iban\":\"[redacted:iban]\"}"),
        ] {
            assert_eq!(redact(text), masked);
            assert_eq!(redact(masked), masked);
        }
        for text in [
            "id 4111111111111112, 0.4111111111111111, 4444444444444444",
            "00000000-4111-1111-1111-111111111111 4111-1111-1111-1111-abcd",
            "at 1764554400000000 took 5555555555554444.5 of a4111111111111111",
            "DE88370400440532013000 DE89370400440532013000A ZZ89370400440532013000",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
