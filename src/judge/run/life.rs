//! Signs that the server was alive: asked for every open request of a run, so they are collected once.

use crate::{
    correlate::{Call, Case, Mark, Run},
    event::{Origin, SourceId, Witness},
    judge::call,
};

/// A record that shows the server at work, and the call it is about.
type Sign = (Origin, u32);

/// The latest sign in each source, and the latest one of another call: a request is no sign of what came behind it.
#[derive(Debug, Default)]
pub(super) struct Signs(Vec<(SourceId, Sign, Option<Sign>)>);

impl Signs {
    /// Collects the answers of the server and what it recorded itself.
    pub(super) fn of(case: &Case, run: &Run) -> Self {
        let mut signs = Self::default();
        for index in &run.calls {
            let call = &case.calls[*index as usize];
            for mark in answered(call).into_iter().chain(recorded(case, call)) {
                signs.add(mark.origin.source, (mark.origin, *index));
            }
        }
        signs
    }

    fn add(&mut self, source: SourceId, sign: Sign) {
        let Some((_, latest, other)) = self.0.iter_mut().find(|(known, ..)| *known == source) else {
            self.0.push((source, sign, None));
            return;
        };
        if sign.1 == latest.1 {
            *latest = sign.max(*latest);
        } else if sign.0 > latest.0 {
            *other = Some(std::mem::replace(latest, sign));
        } else if other.is_none_or(|other| sign.0 > other.0) {
            *other = Some(sign);
        }
    }

    /// Whether the server answered or received something of another call behind this place, in the order of its source.
    pub(super) fn behind(&self, asked: Origin, call: u32) -> bool {
        let own = self.0.iter().filter(|(source, ..)| *source == asked.source);
        let signs = own.flat_map(|(_, latest, other)| [Some(*latest), *other]).flatten();
        signs.into_iter().any(|(origin, of)| of != call && origin > asked)
    }
}

fn answered(call: &Call) -> Option<Mark> {
    call.answered.filter(|_| call::answer_is_servers(call))
}

fn recorded<'c>(case: &'c Case, call: &'c Call) -> impl Iterator<Item = Mark> + 'c {
    case.sightings(call).filter(|row| row.witness == Witness::Server).map(|row| row.mark)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn at(source: u32, record: u32) -> Origin {
        let number = NonZeroU32::new(record).expect("counted from 1");
        Origin { source: SourceId(source), record: number, offset: u64::from(record) }
    }

    #[test]
    fn only_another_call_behind_it_in_its_source_counts() {
        let mut signs = Signs::default();
        for (source, record, call) in [(0, 5, 1), (0, 9, 2), (1, 20, 3), (0, 7, 3), (0, 12, 2)] {
            signs.add(SourceId(source), (at(source, record), call));
        }
        assert!(signs.behind(at(0, 11), 1));
        assert!(!signs.behind(at(0, 12), 1));
        // Of the signs of other calls than 2 the latest is record 7.
        assert!(signs.behind(at(0, 6), 2));
        assert!(!signs.behind(at(0, 7), 2));
        assert!(!signs.behind(at(2, 1), 9));
    }
}
