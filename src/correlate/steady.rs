//! Whether the clock of a source was set while it was written: the later of two records of one writer is the earlier one
//! by its stamp.
//!
//! Looks at logs that are written line by line. Exchanges, spans and access lines stand in the order in which they ended.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::{Correlator, Mark};
use crate::{
    event::{Event, Kind},
    time::{MILLISECOND, SECOND, Shape, Timestamp},
};

/// Threads of one writer may pass each other by so much.
const PASSING: i64 = 100 * MILLISECOND;
/// A log without dates begins again at midnight.
const HALF_A_DAY: i64 = 12 * 3600 * SECOND;

/// When each writer of a source wrote last.
#[derive(Debug, Default)]
pub(super) struct Writers(FxHashMap<u64, (Mark, u8)>);

impl Correlator {
    /// Notes the first step back of the clock of the current source.
    pub(super) fn watch_clock(&mut self, event: &Event<'_>) {
        let lines = matches!(
            event.kind,
            Kind::Message(_) | Kind::Step(_) | Kind::Remark(_) | Kind::Reach(_) | Kind::Text(_) | Kind::Trouble(_)
        );
        let Some(stamp) = event.at.filter(|_| lines) else { return };
        let at = self.instant(stamp);
        let mark = Mark { origin: event.origin, at: Some(at) };
        let wrote = self.lane.wrote.0.entry(writer(event)).or_insert((Mark { at: None, ..mark }, 0));
        let (last, digits) = std::mem::replace(wrote, (mark, stamp.digits));
        // One record may hold several messages, with times of its beginning and its end.
        let other_record = last.origin != event.origin;
        if let Some(before) = last.at.filter(|before| other_record && is_step(*before, at, digits.max(stamp.digits)))
            && !(stamp.shape == Shape::TimeOfDay && before.0.saturating_sub(at.0) > HALF_A_DAY)
            && let Some(facts) = &mut self.lane.facts
        {
            facts.stepped = facts.stepped.or(Some((last, mark)));
        }
    }
}

/// Whether time runs back by more than stamps of so many digits leave open.
fn is_step(before: Timestamp, after: Timestamp, digits: u8) -> bool {
    let grain = if digits == 0 { SECOND } else { PASSING };
    before.0.saturating_sub(after.0) > grain
}

/// Who wrote a record, as far as it says.
fn writer(event: &Event<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    let keys = event.keys;
    (event.witness, keys.run, keys.server, keys.client, keys.pid).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::testing::judged;

    #[test]
    fn a_step_is_more_than_the_grain() {
        let at = |milliseconds: i64| Timestamp(milliseconds * MILLISECOND);
        assert!(is_step(at(5000), at(4800), 3) && is_step(at(5000), at(3000), 0));
        assert!(!is_step(at(5000), at(4950), 3) && !is_step(at(5000), at(4000), 0) && !is_step(at(1), at(9), 3));
    }

    fn line(second: u32, run: &str) -> String {
        format!(
            r#"{{"run_id":"{run}","phase":"execution","event":"tool_call_received","request_id":{second},"tool_name":"pay","at":"2026-07-22T14:00:{second:02}.000Z"}}"#
        )
    }

    #[test]
    fn each_writer_has_a_time_of_its_own() {
        let stepped = |lines: &[String]| {
            judged(&[&lines.join("\n")]).0.sources[0].stepped.map(|(_, mark)| mark.origin.record.get())
        };
        assert_eq!(stepped(&[line(5, "r"), line(9, "r"), line(7, "r"), line(8, "r")]), Some(3));
        assert_eq!(stepped(&[line(5, "r"), line(4, "s"), line(6, "r"), line(5, "s")]), None);
    }
}
