//! Open requests that share an id: what names the id is one's, and nobody can say whose.
//!
//! A wrong link is worse than none: such records are contested for all of them, until each has had an answer.

use super::{Correlator, Mark, RpcId, Seen, open::Candidates};
use crate::event::{CallKey, Direction, Witness};

impl Correlator {
    /// The open calls with this id, in either spelling.
    pub(super) fn open_with(&self, strand: u32, sender: Direction, id: RpcId) -> Candidates {
        match (self.lane.open.with_id(strand, sender, id), self.other_spelling(id)) {
            (Candidates::None, Some(other)) => self.lane.open.with_id(strand, sender, other),
            (open, _) => open,
        }
    }

    /// Open requests share the id: what names it is one's, nobody can say whose.
    pub(super) fn contested(&mut self, open: &[u32], witness: Witness, mark: Mark, code: i32) {
        for call in open.iter().filter(|call| self.lane.contested.insert(**call)).copied().collect::<Vec<u32>>() {
            self.sight(call, Seen::Contested, witness, mark, code);
        }
    }

    /// Which of them has its answer is not known before all have one: until then the next answer is as doubtful.
    pub(super) fn close_when_all_answered(&mut self, open: &[u32]) {
        let Some(first) = open.first() else { return };
        let answers = self.lane.contested_answers.entry(*first).or_default();
        *answers += 1;
        if *answers as usize >= open.len() {
            for call in open {
                self.close_call(*call);
            }
        }
    }

    /// The open calls that a key means, where there are several: the sessions of a process count each for itself.
    pub(super) fn rivals(&self, strand: u32, key: CallKey<'_>) -> Option<Vec<u32>> {
        let id = self.known_id(key.id?)?;
        match self.open_with(strand, Direction::ToServer, id) {
            Candidates::Several(open) => Some(open),
            Candidates::None | Candidates::One(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::testing::judged;

    const ASKED: &str =
        r#""direction":"in","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay"}}"#;

    fn trace(messages: &[&str]) -> String {
        let lines = messages.iter().enumerate();
        let lines = lines.map(|(at, message)| format!(r#"{{"ts":"2026-07-22T14:00:{at:02}.000Z",{message}}}"#));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Which calls have an answer, and which a row of this kind.
    fn linked(messages: &[&str], seen: super::Seen) -> Vec<(bool, bool)> {
        let case = judged(&[&trace(messages)]).0;
        let has = |call| case.seen(call).iter().any(|row| row.seen == seen);
        case.calls.iter().map(|call| (call.answered.is_some(), has(call))).collect()
    }

    #[test]
    fn the_last_of_two_answers_is_as_doubtful_as_the_first() {
        let result = r#""direction":"out","message":{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#;
        let error = r#""direction":"out","message":{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"no"}}"#;
        let both = linked(&[ASKED, ASKED, error, result], super::Seen::Contested);
        assert_eq!(both, [(false, true), (false, true)]);
        // When both have had theirs, the id is free again.
        let third = linked(&[ASKED, ASKED, error, result, ASKED, result], super::Seen::Contested);
        assert_eq!(third, [(false, true), (false, true), (true, false)]);
    }

    #[test]
    fn a_cancellation_and_progress_of_either_are_of_neither() {
        let cancel = r#""direction":"in","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
        assert_eq!(linked(&[ASKED, ASKED, cancel], super::Seen::Cancelled), [(false, false); 2]);
        let progress = r#""direction":"out","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#;
        assert_eq!(linked(&[ASKED, ASKED, progress], super::Seen::Handled), [(false, false); 2]);
        // The open one is meant, also where a later one with this id had its answer already.
        assert_eq!(linked(&[ASKED, progress], super::Seen::Handled), [(false, true)]);
    }

    #[test]
    fn steps_of_two_sessions_with_one_id_are_of_neither() {
        let step =
            |event: &str| format!(r#""run_id":"r","phase":"execution","event":"{event}","request_id":3,"tool":"pay""#);
        let (received, responded) = (step("tool_call_received"), step("tool_call_responded"));
        let denied = step("authorization_denied");
        let steps = [&received[..], &received, &denied, &responded, &responded];
        assert_eq!(linked(&steps, super::Seen::AuthorizationDenied), [(false, false); 2]);
    }
}
