//! Which calls have arguments that a body repeats: looked up by what two sketches must have in common.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::{Call, Correlator};
use crate::event::{Direction, Pairs, is_effect_free};

/// The calls by what [`Pairs::repeats`] asks for: two common members, or the only one of the smaller sketch. A member
/// that all calls share does not make each of them a candidate.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// Of each member.
    members: FxHashMap<u32, Vec<u32>>,
    /// Of the only member there is.
    lone: FxHashMap<u32, Vec<u32>>,
    /// Of each two members, the smaller first.
    twos: FxHashMap<(u32, u32), Vec<u32>>,
}

impl Repeats {
    /// Those of some calls.
    pub(super) fn new<'c>(calls: impl Iterator<Item = (u32, &'c Call)>) -> Self {
        let mut repeats = Self::default();
        for (index, call) in calls {
            for member in call.pairs.members() {
                repeats.members.entry(member).or_default().push(index);
                if call.pairs.len() == 1 {
                    repeats.lone.entry(member).or_default().push(index);
                }
            }
            for two in call.pairs.twos() {
                repeats.twos.entry(two).or_default().push(index);
            }
        }
        repeats
    }

    /// The calls whose arguments repeat these pairs, or the other way round. One may be told several times.
    pub(super) fn of(&self, pairs: Pairs) -> impl Iterator<Item = u32> {
        let single = if pairs.len() == 1 { &self.members } else { &self.lone };
        let known = pairs.members().filter_map(|member| single.get(&member));
        known.chain(pairs.twos().filter_map(|two| self.twos.get(&two))).flatten().copied()
    }

    /// The only one of them, if it is.
    pub(super) fn only(&self, pairs: Pairs) -> Option<u32> {
        let mut found = self.of(pairs);
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}

/// The same of the calls of a run that may have made a contact, looked through when the first contact has a body.
#[derive(Debug)]
pub(super) struct RunRepeats {
    run: u32,
    repeats: OnceCell<Repeats>,
}

impl RunRepeats {
    pub(super) fn new(run: u32) -> Self {
        Self { run, repeats: OnceCell::new() }
    }

    /// See [`Repeats::of`].
    pub(super) fn of(&self, pairs: Pairs, correlator: &Correlator) -> impl Iterator<Item = u32> {
        let repeats = (!pairs.is_empty()).then(|| self.repeats.get_or_init(|| self.gather(correlator)));
        repeats.into_iter().flat_map(move |repeats| repeats.of(pairs))
    }

    fn gather(&self, correlator: &Correlator) -> Repeats {
        let case = &correlator.case;
        let calls = case.runs[self.run as usize].calls.iter().map(|index| (*index, &case.calls[*index as usize]));
        let may_have_effect =
            |(_, call): &(u32, &Call)| call.direction == Direction::ToServer && !is_effect_free(case.name(call.method));
        Repeats::new(calls.filter(may_have_effect))
    }
}
