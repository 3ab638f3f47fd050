//! What free text says, whichever log it stands in: the clue table.
//!
//! One multi-pattern prefilter over all needles decides which lines deserve a closer look; only then a clue reads the
//! line. A clue knows nothing about envelopes, and an envelope nothing about clues.

pub mod phase_line;

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    event::Kind,
    record::{Body, Sink},
};

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
pub static CLUES: &[&Clue] = &[&phase_line::PHASE_LINE];

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
        .build(needles)
        .expect("the needles of the table are few and short");
    (automaton, owners)
});

/// Reads free text; what nobody learns anything from becomes [`Kind::Text`]. Returns whether something was learned.
pub fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let (automaton, owners) = &*PREFILTER;
    let mut wanted = 0_u64;
    for found in automaton.find_overlapping_iter(text) {
        wanted |= 1 << owners[found.pattern().as_usize()];
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
mod tests {
    use super::*;

    #[test]
    fn the_table_fits_its_bit_set() {
        assert!(CLUES.len() <= 64);
    }
}
