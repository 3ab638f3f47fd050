//! Answers of the client that stand before their questions. A capture of HTTP has the question in the body of a stream,
//! which is recorded when the stream ends; the answer is a POST of its own that ended earlier.

use rustc_hash::FxHashMap;

use super::{
    AnswerFacts, AnswerKind, Correlator, Mark, RpcId, Seen, StrandEvent, StrandFact,
    answers::{self, WRONG_ID},
    open::Candidates,
};
use crate::event::{Answer, Direction, Event, Witness};

/// A `POSTed` answer to a question that is not on record yet.
#[derive(Debug)]
pub(super) struct EarlyAnswer {
    strand: u32,
    id: RpcId,
    mark: Mark,
    witness: Witness,
    facts: AnswerFacts,
    /// The only question that was open then, under another id.
    beside: Option<u32>,
}

/// A question on the stream of an exchange: it was asked at some time between the two marks.
#[derive(Debug)]
pub(super) struct Question {
    call: u32,
    began: Mark,
    ended: Mark,
}

impl Question {
    /// Whether an answer may have been made to it: nothing shows that its stream was not open then.
    fn may_have(&self, answer: Mark) -> bool {
        let (Some(answered), Some(began)) = (answer.at, self.began.at) else { return true };
        // One stamp for both ends tells no end.
        let ended = self.ended.at.filter(|ended| *ended > began);
        began <= answered && ended.is_none_or(|ended| answered <= ended)
    }
}

/// The questions and the early answers of one conversation with one id.
#[derive(Debug, Default)]
struct Group {
    questions: Vec<Question>,
    answered: Vec<Mark>,
}

/// So many of one id are compared with one another; an id that is used more often names nothing.
const GROUP: usize = 64;

impl Group {
    /// The question of an answer: the only one that fits it, and that no other answer fits.
    fn question(&self, answer: Mark) -> Candidates {
        if self.questions.len().max(self.answered.len()) > GROUP {
            return Candidates::None;
        }
        let found: Vec<&Question> = self.questions.iter().filter(|question| question.may_have(answer)).collect();
        match found[..] {
            [] => Candidates::None,
            [only] if self.answered.iter().filter(|other| only.may_have(**other)).count() == 1 => {
                Candidates::One(only.call)
            }
            ref several => Candidates::Several(several.iter().map(|question| question.call).collect()),
        }
    }
}

impl Correlator {
    /// Keeps an answer of the client whose question no earlier record holds; says whether it did.
    pub(super) fn keep_early(&mut self, event: &Event<'_>, mark: Mark, answer: &Answer<'_>) -> bool {
        let strand = self.strand(event, mark);
        let id = answer.id.map_or(RpcId::Unknown, |id| self.rpc_id(id));
        let names_one = matches!(id, RpcId::Int(_) | RpcId::Text(_) | RpcId::Raw(_)) && !self.is_placeholder(id);
        if !names_one || self.latest(strand, Direction::ToClient, id).is_some() {
            return false;
        }
        let witness = self.witness_of(event);
        let facts = AnswerFacts { echoes_id: true, ..answers::facts_of(answer, false, false) };
        let beside = self.only_open(strand, Direction::ToClient);
        self.lane.early.push(EarlyAnswer { strand, id, mark, witness, facts, beside });
        true
    }

    /// Notes a question that stands on the stream of an exchange.
    pub(super) fn note_question(&mut self, event: &Event<'_>, ended: Mark, id: crate::event::Id<'_>) {
        let strand = self.strand(event, ended);
        let id = self.rpc_id(id);
        let began = self.mark(ended.origin, event.at);
        if let Some(call) = self.latest(strand, Direction::ToClient, id) {
            self.lane.questions.push(Question { call, began, ended });
        }
    }

    /// At the end of a source: joins each early answer with its question. Where two fit, none is joined.
    pub(super) fn settle_early(&mut self) {
        let mut groups: FxHashMap<(u32, RpcId), Group> = FxHashMap::default();
        for question in std::mem::take(&mut self.lane.questions) {
            let call = &self.case.calls[question.call as usize];
            groups.entry((call.strand, self.spelled(call.id))).or_default().questions.push(question);
        }
        // In the order of the record: sightings keep it.
        let early = std::mem::take(&mut self.lane.early);
        for answer in &early {
            groups.entry((answer.strand, self.spelled(answer.id))).or_default().answered.push(answer.mark);
        }
        for answer in &early {
            match groups[&(answer.strand, self.spelled(answer.id))].question(answer.mark) {
                Candidates::None => self.unasked(answer),
                Candidates::One(call) => self.attach_early(call, answer),
                Candidates::Several(calls) => {
                    for call in calls {
                        self.sight(call, Seen::Contested, answer.witness, answer.mark, answer.facts.code);
                    }
                }
            }
        }
    }

    /// A number for a numeric string: some SDKs write ids that way.
    fn spelled(&self, id: RpcId) -> RpcId {
        match id {
            RpcId::Text(_) => self.other_spelling(id).unwrap_or(id),
            _ => id,
        }
    }

    fn attach_early(&mut self, index: u32, answer: &EarlyAnswer) {
        if self.case.calls[index as usize].answered.is_some() {
            self.sight(index, Seen::OtherAnswer, answer.witness, answer.mark, 0);
            return;
        }
        self.close_call(index);
        let call = &mut self.case.calls[index as usize];
        // When it was asked nobody recorded: the end of its stream is later than its answer.
        call.asked = call.asked.map(|asked| Mark { at: None, ..asked });
        call.answered = Some(answer.mark);
        call.answered_as = answers::answered_as(answer.witness, Direction::ToServer);
        call.answer = answer.facts;
    }

    /// No question of the source has this answer.
    fn unasked(&mut self, answer: &EarlyAnswer) {
        if let Some(call) = answer.beside {
            self.sight(call, Seen::Contested, answer.witness, answer.mark, WRONG_ID);
        }
        // An id that is no number is one that no call has.
        let number = if let RpcId::Int(id) = answer.id { id } else { i64::MIN };
        let error = answer.facts.kind == AnswerKind::Error;
        let what = StrandFact::Unasked { direction: Direction::ToServer, error };
        let event = StrandEvent { what, witness: answer.witness, mark: answer.mark, number, name: None };
        let events = &mut self.case.strands[answer.strand as usize].events;
        let at = events.partition_point(|other| other.mark.origin <= event.mark.origin);
        events.insert(at, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Origin, SourceId},
        time::Timestamp,
    };

    fn mark(at: Option<i64>) -> Mark {
        Mark {
            origin: Origin { source: SourceId(0), record: std::num::NonZeroU32::MIN, offset: 0 },
            at: at.map(Timestamp),
        }
    }

    fn group(questions: &[(i64, i64)], answered: &[Option<i64>]) -> Group {
        let question = |(call, (began, ended)): (usize, &(i64, i64))| Question {
            call: u32::try_from(call).expect("few"),
            began: mark(Some(*began)),
            ended: mark(Some(*ended)),
        };
        Group {
            questions: questions.iter().enumerate().map(question).collect(),
            answered: answered.iter().copied().map(mark).collect(),
        }
    }

    #[test]
    fn the_stream_that_was_open_has_the_question() {
        let two = group(&[(0, 10), (20, 30)], &[Some(5), Some(25)]);
        assert!(matches!(two.question(mark(Some(5))), Candidates::One(0)));
        assert!(matches!(two.question(mark(Some(25))), Candidates::One(1)));
        assert!(matches!(two.question(mark(Some(15))), Candidates::None));
    }

    #[test]
    fn without_a_time_only_a_single_candidate_counts() {
        assert!(matches!(group(&[(0, 10)], &[None]).question(mark(None)), Candidates::One(0)));
        assert!(matches!(group(&[(0, 10), (20, 30)], &[None]).question(mark(None)), Candidates::Several(_)));
        assert!(matches!(group(&[(0, 10)], &[None, Some(5)]).question(mark(Some(5))), Candidates::Several(_)));
        assert!(matches!(group(&[(0, 10), (2, 8)], &[Some(5)]).question(mark(Some(5))), Candidates::Several(_)));
    }

    #[test]
    fn an_exchange_without_an_end_may_still_be_open() {
        assert!(matches!(group(&[(5, 5)], &[Some(90)]).question(mark(Some(90))), Candidates::One(0)));
    }
}
