//! Answers whose requests nobody recorded. A server that logs what it sends repeats answers that a capture shows, too:
//! those are no sign of a missing call.

use rustc_hash::FxHashMap;

use super::{Call, Correlator, Mark, RpcId, StrandEvent, StrandFact};
use crate::time::{SECOND, Timestamp};

/// What is logged of an answer stands this near to it.
const NEAR: i64 = SECOND;

/// An answer on record, for the copies of it in other sources.
struct Recorded {
    at: Timestamp,
    source: u32,
    /// The sources that hold a copy of it.
    copied: Vec<u32>,
}

impl Correlator {
    /// The answers without a request that are no copy of an answer on record.
    pub(super) fn orphans(&self) -> Vec<Mark> {
        let events = self.case.strands.iter().flat_map(|strand| &strand.events);
        let mut unasked: Vec<&StrandEvent> = events.filter(|event| event.what == StrandFact::Unasked).collect();
        if unasked.is_empty() {
            return Vec::new();
        }
        unasked.sort_unstable_by_key(|event| event.mark.origin);
        let mut recorded = self.recorded();
        unasked.retain(|event| !self.is_copy(&mut recorded, event));
        unasked.into_iter().map(|event| event.mark).collect()
    }

    /// Answers by the integer id of their request, in the order of their times on the common clock.
    fn recorded(&self) -> FxHashMap<i64, Vec<Recorded>> {
        let mut recorded: FxHashMap<i64, Vec<Recorded>> = FxHashMap::default();
        let mut answered: Vec<(i64, Timestamp, u32)> =
            self.case.calls.iter().filter_map(|call| self.answered(call)).collect();
        answered.sort_unstable();
        for (id, at, source) in answered {
            recorded.entry(id).or_default().push(Recorded { at, source, copied: Vec::new() });
        }
        recorded
    }

    fn answered(&self, call: &Call) -> Option<(i64, Timestamp, u32)> {
        let RpcId::Int(id) = call.id else { return None };
        let mark = call.answered?;
        Some((id, self.on_common_clock(mark)?, mark.origin.source.0))
    }

    fn on_common_clock(&self, mark: Mark) -> Option<Timestamp> {
        self.case.placed(mark).filter(|_| self.case.has_common_clock(mark))
    }

    /// Whether another source shows the same answer at the same time. Each answer has one copy in a source.
    fn is_copy(&self, recorded: &mut FxHashMap<i64, Vec<Recorded>>, event: &StrandEvent) -> bool {
        let source = event.mark.origin.source.0;
        let (Some(at), Some(rows)) = (self.on_common_clock(event.mark), recorded.get_mut(&event.number)) else {
            return false;
        };
        let first = rows.partition_point(|row| row.at.0 < at.0.saturating_sub(NEAR));
        let near = rows[first..].iter_mut().take_while(|row| row.at.0 <= at.0.saturating_add(NEAR));
        let mut free = near.filter(|row| row.source != source && !row.copied.contains(&source));
        free.next().map(|row| row.copied.push(source)).is_some()
    }
}
