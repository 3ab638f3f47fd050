//! Answers whose requests nobody recorded, and cancellations of such requests. A server that logs what it sends repeats
//! answers that a capture shows, too: those are no sign of a missing call.

use rustc_hash::FxHashMap;

use super::{AnswerKind, Call, Correlator, Mark, RpcId, StrandEvent, StrandFact};
use crate::{
    event::Direction,
    time::{SECOND, Timestamp},
};

/// What is logged of an answer stands this near to it.
const NEAR: i64 = SECOND;

/// What an answer and its copy have in common: the run, the integer id, the way, and whether it is an error.
type Likeness = (u32, i64, Direction, bool);

/// An answer on record, for the copies of it in other sources.
struct Recorded {
    at: Timestamp,
    source: u32,
    /// The sources that hold a copy of it.
    copied: Vec<u32>,
}

impl Correlator {
    /// Where an answer to, or a cancellation of, a request stands that is not on record.
    pub(super) fn orphans(&self) -> Vec<Mark> {
        let strands = self.case.strands.iter().flat_map(|strand| strand.events.iter().map(|event| (strand.run, event)));
        let is_orphan =
            |event: &StrandEvent| matches!(event.what, StrandFact::Unasked { .. } | StrandFact::Uncancelled);
        let mut orphans: Vec<(u32, &StrandEvent)> = strands.filter(|(_, event)| is_orphan(event)).collect();
        if orphans.is_empty() {
            return Vec::new();
        }
        orphans.sort_unstable_by_key(|(_, event)| event.mark.origin);
        let mut recorded = self.recorded();
        orphans.retain(|(run, event)| !self.is_copy(&mut recorded, *run, event));
        orphans.into_iter().map(|(_, event)| event.mark).collect()
    }

    /// Answers by what their copies have in common with them, in the order of their times on the common clock.
    fn recorded(&self) -> FxHashMap<Likeness, Vec<Recorded>> {
        let mut answered: Vec<(Likeness, Timestamp, u32)> =
            self.case.calls.iter().filter_map(|call| self.answered(call)).collect();
        answered.sort_unstable();
        let mut recorded: FxHashMap<Likeness, Vec<Recorded>> = FxHashMap::default();
        for (like, at, source) in answered {
            recorded.entry(like).or_default().push(Recorded { at, source, copied: Vec::new() });
        }
        recorded
    }

    fn answered(&self, call: &Call) -> Option<(Likeness, Timestamp, u32)> {
        let RpcId::Int(id) = call.id else { return None };
        let mark = call.answered?;
        let like = (call.run, id, super::messages::opposite(call.direction), call.answer.kind == AnswerKind::Error);
        Some((like, self.case.on_common_clock(mark)?, mark.origin.source.0))
    }

    /// Whether another source shows the same answer at the same time. Each answer has one copy in a source.
    fn is_copy(&self, recorded: &mut FxHashMap<Likeness, Vec<Recorded>>, run: u32, event: &StrandEvent) -> bool {
        let StrandFact::Unasked { direction, error } = event.what else { return false };
        let source = event.mark.origin.source.0;
        let rows = recorded.get_mut(&(run, event.number, direction, error));
        let (Some(at), Some(rows)) = (self.case.on_common_clock(event.mark), rows) else { return false };
        let first = rows.partition_point(|row| row.at.0 < at.0.saturating_sub(NEAR));
        let near = rows[first..].iter_mut().take_while(|row| row.at.0 <= at.0.saturating_add(NEAR));
        let mut free = near.filter(|row| row.source != source && !row.copied.contains(&source));
        free.next().map(|row| row.copied.push(source)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::testing::judged;

    /// A call in a trace, and what the server's own log holds half a second later.
    fn orphans(logged: &str) -> usize {
        let trace = [
            r#"{"ts":"2026-07-22T14:00:01.000Z","run_id":"r","direction":"in","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay"}}}"#,
            r#"{"ts":"2026-07-22T14:00:01.500Z","run_id":"r","direction":"out","message":{"jsonrpc":"2.0","id":3,"result":{"content":[]}}}"#,
        ];
        judged(&[&trace.join("\n"), logged]).0.stray.orphans.len()
    }

    fn logged(second: u32, run: &str, message: &str) -> String {
        format!(
            r#"{{"ts":"2026-07-22T14:00:{second:02}.000Z","run_id":"{run}","direction":"out","message":{{"jsonrpc":"2.0",{message}}}}}"#
        )
    }

    #[test]
    fn a_copy_of_an_answer_is_none() {
        let result = r#""id":3,"result":{"content":[]}"#;
        assert_eq!(orphans(&logged(2, "r", result)), 0);
        for (told, other) in [
            (logged(9, "r", result), "another time"),
            (logged(2, "s", result), "another run"),
            (logged(2, "r", r#""id":4,"result":{"content":[]}"#), "another id"),
            (logged(2, "r", r#""id":3,"error":{"code":-32603,"message":"x"}"#), "another answer"),
            ([logged(2, "r", result), logged(2, "r", result)].join("\n"), "twice"),
        ] {
            assert_eq!(orphans(&told), 1, "{other}");
        }
    }

    #[test]
    fn a_cancellation_of_nothing_is_one_whatever_the_id() {
        for id in ["77", r#""77a""#] {
            let cancel = format!(
                r#"{{"ts":"2026-07-22T14:00:04.000Z","run_id":"r","direction":"in","message":{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}}}"#
            );
            assert_eq!(orphans(&cancel), 1, "{id}");
        }
    }
}
