//! Finds the words that stand right before secrets: all at once, in every byte of the input.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::{
    Anchored, Input, StartKind,
    automaton::{Automaton, StateID},
    dfa::DFA,
};

use super::prefixes;

/// Words before secrets whose examples in the table have more than one word before the secret. They cover the keys and
/// schemes that leave little doubt.
const WORDS: &[&str] = &[
    "bearer ",
    "basic ",
    "uthorization",
    "api_key",
    "api-key",
    "apikey",
    "assword",
    "passwd",
    "passphrase",
    "-----BEGIN ",
    "connection_string",
    "connectionstring",
    "accountkey",
    "eyJhbGci",
    "hooks.slack",
    "webhooks/",
    "webhooks\\/",
    "office.com/webhook",
    "api.telegram.org",
    "hooks.zapier.com",
    "maker.ifttt.com",
];

/// Keys that also stand in every other line as a word, or as the end of a harmless key whose value is a number: only
/// with what separates them from a text.
const KEYS: &[&str] = &["token", "tokens", "secret", "secrets", "pat", "pin"];

/// See [`KEYS`]: in environments and queries, in JSON, in a string of JSON, in headers and YAML.
const SEPARATORS: &[&str] = &["=", "\":\"", "\": \"", "\\\":\\\"", "\\\": \\\"", ": "];

/// Clients whose command line may hold a password.
const CLIENTS: &[&str] = &["curl ", "curl\"", "curl\\\"", "mysql", "mariadb", "sshpass", "redis-cli", "sqlcmd"];

/// Shorter words stand everywhere.
const LEAST: usize = 4;

/// Stretches of a text that are searched side by side. Each step of the search waits for the table entry of the step
/// before; those of several stretches are waited for together.
const LANES: usize = 4;
/// Bytes of each stretch between two looks at whether a word was seen.
const PIECE: usize = 512;

struct Anchors {
    automaton: DFA,
    start: StateID,
    /// Length of the longest word.
    longest: usize,
}

static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let keys = KEYS.iter().flat_map(|key| SEPARATORS.iter().map(move |separator| [*key, separator].concat()));
    let fixed = prefixes().filter(|prefix| prefix.len() >= LEAST).chain(WORDS.iter().chain(CLIENTS).copied());
    let words: Vec<String> = fixed.map(str::to_owned).chain(keys).collect();
    let longest = words.iter().map(String::len).max().unwrap_or(0);
    let mut builder = DFA::builder();
    let builder = builder.ascii_case_insensitive(true).start_kind(StartKind::Unanchored).prefilter(false);
    let automaton = builder.build(words).expect("few and short words");
    let start = automaton.start_state(Anchored::No).expect("it was built for such searches");
    Anchors { automaton, start, longest }
});

/// Tells where each word begins, in their order. Of words that overlap, the one that ends first.
pub(super) fn each(text: &str, mut tell: impl FnMut(usize)) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for seen in ANCHORS.seen(bytes) {
        // No word goes on in the next line: what is found in whole lines does not depend on where a stretch begins.
        let start = memchr::memrchr(b'\n', &bytes[..seen.start]).map_or(0, |end| end + 1).max(done);
        let end = memchr::memchr(b'\n', &bytes[seen.end..]).map_or(bytes.len(), |end| seen.end + end);
        if start < end {
            let input = Input::new(bytes).range(start..end);
            let found = ANCHORS.automaton.try_find_iter(input).expect("it was built for such searches");
            found.for_each(|hit| tell(hit.start()));
            done = end;
        }
    }
}

impl Anchors {
    /// Pieces of the text that a word is in, at least with its beginning or its end; in their order.
    fn seen(&self, text: &[u8]) -> Vec<Range<usize>> {
        let lane = text.len() / LANES;
        let mut states = [self.start; LANES];
        let mut seen: [Vec<Range<usize>>; LANES] = Default::default();
        for piece in (0..lane).step_by(PIECE) {
            let length = PIECE.min(lane - piece);
            let pieces: [&[u8]; LANES] = std::array::from_fn(|index| &text[index * lane + piece..][..length]);
            let hits = self.step(&mut states, pieces);
            for (index, _) in hits.iter().enumerate().filter(|(_, hit)| **hit) {
                let start = index * lane + piece;
                seen[index].push(start.saturating_sub(self.longest)..start + length);
            }
        }
        // A lane knows nothing of a word that began in the one before; and what is left behind the last is short.
        let edges = (1..=LANES).map(|index| index * lane);
        for (edge, seen) in edges.zip(&mut seen) {
            let around = edge.saturating_sub(self.longest)..(edge + self.longest + LANES).min(text.len());
            let found = self.automaton.try_find(&Input::new(text).range(around.clone()).earliest(true));
            seen.extend(matches!(found, Ok(Some(_))).then_some(around));
        }
        seen.into_iter().flatten().collect()
    }

    /// Goes on in all lanes. Tells in which of them a word ended.
    fn step(&self, states: &mut [StateID; LANES], pieces: [&[u8]; LANES]) -> [bool; LANES] {
        let [first, second, third, fourth] = pieces;
        let mut hits = [false; LANES];
        let bytes = first.iter().zip(second).zip(third).zip(fourth);
        for (((first, second), third), fourth) in bytes {
            for (index, byte) in [first, second, third, fourth].into_iter().enumerate() {
                states[index] = self.automaton.next_state(Anchored::No, states[index], *byte);
                hits[index] |= self.automaton.is_match(states[index]);
            }
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reaches_it() {
        let anchors = prefixes().filter(|prefix| prefix.len() >= LEAST).count();
        assert!(anchors > 40, "{anchors}");
    }

    #[test]
    fn every_place_is_looked_at() {
        let plainly = |text: &str| -> Vec<usize> {
            let found = ANCHORS.automaton.try_find_iter(Input::new(text)).expect("unanchored");
            found.map(|hit| hit.start()).collect()
        };
        for length in [0, 1, 7, 40, 300, 5_000] {
            for at in (0..length).step_by(1 + length / 100) {
                let text = format!("{}\napi_key x{}", "ab ".repeat(at), " token=y\n".repeat((length - at) / 9));
                let mut found = Vec::new();
                each(&text, |start| found.push(start));
                assert_eq!(found, plainly(&text), "{length} {at}");
                assert_eq!(found.first(), Some(&(at * 3 + 1)));
            }
        }
    }
}
