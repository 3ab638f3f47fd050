//! What free text says, whichever log it stands in: the clue table.
//!
//! One multi-pattern prefilter over all needles decides which lines deserve a closer look; only then a clue reads the
//! line. A clue knows nothing about envelopes, and an envelope nothing about clues.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::{
    event::Kind,
    record::{Body, Sink},
};

mod bridges;
mod client_words;
pub mod crash;
mod mention;
mod message;
mod modsecurity;
mod outbound;
mod outbound_data;
pub mod phase_line;
mod pollution;
mod python_repr;
mod python_sdk;
mod runner;
mod scan;
mod silence;
mod template;
mod typescript_sdk;
mod uvicorn;

/// One thing that free text can say.
#[derive(Debug)]
pub struct Clue {
    /// Kebab-case name.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Markdown: who writes the text (software, version), what it proves, what it does not.
    pub doc: &'static str,
    /// Exact byte strings of which one must stand in the line.
    pub needles: &'static [&'static str],
    /// Reads the line; pushes events and returns true if it learned something.
    pub read: for<'a> fn(&'a str, &Body<'a>, &mut Sink<'a>) -> bool,
}

/// All clues. The first one that learns something from a line ends the search.
///
/// What a log says of its own gaps ends no search. A line of the phase vocabulary goes before all others; then what holds a whole message, then what an SDK states,
/// then what a library states, then the wordings that many programs share, and last what only names a request.
pub static CLUES: &[&Clue] = &[
    &silence::CLUE,
    &phase_line::PHASE_LINE,
    &python_repr::CLUE,
    &message::CLUE,
    &pollution::CLUE,
    &bridges::CLUE,
    &python_sdk::AROUND,
    &python_sdk::SERVER,
    &python_sdk::CLIENT,
    &typescript_sdk::CLUE,
    &uvicorn::CLUE,
    &modsecurity::CLUE,
    &outbound::HTTP,
    &outbound::PHASES,
    &outbound_data::CLUE,
    &runner::CLUE,
    &crash::CLUE,
    &client_words::CLUE,
    &mention::CLUE,
];

static PREFILTER: LazyLock<(AhoCorasick, Vec<usize>)> = LazyLock::new(|| {
    let mut owners = Vec::new();
    let mut needles = Vec::new();
    for (index, clue) in CLUES.iter().enumerate() {
        for needle in clue.needles {
            owners.push(index);
            needles.push(*needle);
        }
    }
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        // The automaton is the only cost of an ordinary line: a table look-up a byte.
        .kind(Some(AhoCorasickKind::DFA))
        .build(needles)
        .expect("the needles of the table are few and short");
    (automaton, owners)
});

/// Reads free text; what nobody learns anything from becomes [`Kind::Text`]. Returns whether something was learned.
pub fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let (automaton, owners) = &*PREFILTER;
    let mut wanted = 0_u64;
    // Nearly every line ends here.
    if automaton.is_match(text) {
        for found in automaton.find_overlapping_iter(text) {
            wanted |= 1 << owners[found.pattern().as_usize()];
        }
    }
    while wanted != 0 {
        let index = wanted.trailing_zeros() as usize;
        wanted &= wanted - 1;
        if (CLUES[index].read)(text, body, sink) {
            return true;
        }
    }
    sink.push(body.event(Kind::Text(text)));
    false
}

#[cfg(test)]
pub(crate) mod tests {
    use std::num::NonZeroU32;

    use bumpalo::Bump;

    use super::*;
    use crate::{
        event::{Event, Origin, Remark, SourceId, Witness},
        record::Record,
    };

    /// Reads a text written by `witness` and hands out its events.
    pub(crate) fn told(text: &str, witness: Option<Witness>, check: impl FnOnce(&[Event<'_>])) {
        let arena = Bump::new();
        let mut sink = Sink::new();
        let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
        let body = Body { witness, ..Body::bare(Record { origin, text, arena: &arena }) };
        read(text, &body, &mut sink);
        check(&sink.events);
    }

    /// Reads a text of an unknown writer and hands out its only event, apart from a mention in what stays text.
    pub(crate) fn only(text: &str, check: impl FnOnce(&Event<'_>)) {
        told(text, None, |events| {
            let events: Vec<_> = events.iter().filter(|event| !matches!(event.kind, Kind::Mention(_))).collect();
            assert_eq!(events.len(), 1, "{text}: {events:?}");
            check(events[0]);
        });
    }

    /// The remark of an event.
    pub(crate) fn remark_of<'a>(event: &Event<'a>) -> Remark<'a> {
        let Kind::Remark(remark) = event.kind else { panic!("{event:?}") };
        remark
    }

    #[test]
    fn the_table_fits_its_bit_set() {
        assert!(CLUES.len() <= 64);
    }

    #[test]
    fn every_clue_is_documented() {
        for clue in CLUES {
            for heading in ["## What it means", "## How it is recognized", "## What it is not", "## What to do"] {
                assert!(clue.doc.contains(heading), "{}: {heading}", clue.name);
            }
            assert!(!clue.needles.is_empty(), "{}", clue.name);
        }
    }

    #[test]
    fn ordinary_text_stays_text() {
        only("2026-07-22T00:00:00.000Z INFO worker 12 invoice ledger retry issue token shard", |event| {
            assert!(matches!(event.kind, Kind::Text(_)), "{event:?}");
        });
    }
}
