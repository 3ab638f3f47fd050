//! Compares what the analysis claims with what really happened.

use std::collections::BTreeSet;

use mcp_postmortem::{
    analyze::Analysis,
    correlate::{Mark, Seen},
    event::{Direction, PhaseEvent},
    judge::{Answer as Reached, CallVerdict, Caution, Helps, Outcome, Truth},
};

use super::{
    damage::Found,
    tell::Shows,
    truth::{Answer, Author, Body, Ending, What, World},
};

/// A claim that is not true.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    /// Which kind of claim.
    pub(crate) kind: &'static str,
    pub(crate) detail: String,
}

/// All false claims about a world.
pub(crate) fn violations(world: &World, found: &[Found], analysis: &Analysis) -> Vec<Violation> {
    let check = Check::new(world, found, analysis);
    let mut violations = Vec::new();
    for (index, verdict) in &analysis.verdicts.calls {
        check.call(*index, verdict, &mut |kind, detail| violations.push(Violation { kind, detail }));
    }
    check.operations(&mut |kind, detail| violations.push(Violation { kind, detail }));
    check.runs(&mut |kind, detail| violations.push(Violation { kind, detail }));
    violations
}

/// What is left of the evidence.
fn survived(found: &[Found]) -> BTreeSet<(usize, String)> {
    let abouts = found.iter().flat_map(|file| file.spans.iter().filter_map(|(_, about)| *about));
    abouts.map(|(attempt, shows)| (attempt, format!("{shows:?}"))).collect()
}

/// A world, what is left of its evidence, and what the analysis says.
pub(super) struct Check<'w> {
    pub(super) world: &'w World,
    pub(super) found: &'w [Found],
    pub(super) analysis: &'w Analysis,
    /// Attempts, and what records that are left show of them.
    pub(super) survived: BTreeSet<(usize, String)>,
}

pub(super) type Tell<'t> = dyn FnMut(&'static str, String) + 't;

impl<'w> Check<'w> {
    pub(super) fn new(world: &'w World, found: &'w [Found], analysis: &'w Analysis) -> Self {
        Self { world, found, analysis, survived: survived(found) }
    }

    /// What a place of the report is about, in truth.
    pub(super) fn about(&self, mark: Mark) -> Option<(usize, Shows)> {
        let path = &self.analysis.sources[mark.origin.source.0 as usize].path;
        let file = self.found.iter().find(|file| path.ends_with(&file.name))?;
        let at = usize::try_from(mark.origin.offset).ok()?;
        file.spans.iter().find(|(span, _)| span.contains(&at)).and_then(|(_, about)| *about)
    }

    /// Whether a place is in a record that was not torn.
    pub(super) fn is_of_a_record(&self, mark: Mark) -> bool {
        let path = &self.analysis.sources[mark.origin.source.0 as usize].path;
        let file = self.found.iter().find(|file| path.ends_with(&file.name));
        let at = usize::try_from(mark.origin.offset).unwrap_or(usize::MAX);
        file.is_some_and(|file| file.spans.iter().any(|(span, _)| span.contains(&at)))
    }

    /// Whether a record is left that shows that there was an attempt, whatever became of it.
    fn is_known(&self, attempt: usize) -> bool {
        let shows = self.survived.iter().filter(|(about, _)| *about == attempt);
        shows.into_iter().any(|(_, shows)| ["Sent", "Received", "Delivered"].iter().any(|what| shows.starts_with(what)))
    }

    /// Whether anything is left that an attempt left behind.
    fn is_on_record(&self, attempt: usize) -> bool {
        self.survived.iter().any(|(about, _)| *about == attempt)
    }

    /// The records that a call of the report was joined from, and the attempts that they are about.
    pub(super) fn parts(&self, index: u32) -> Vec<(usize, String)> {
        let case = &self.analysis.case;
        let call = &case.calls[index as usize];
        if call.direction == Direction::ToClient {
            return Vec::new();
        }
        let rows = case.seen(call).into_iter().filter(|row| row.seen != Seen::Contested);
        let rows = rows.map(|row| (row.mark, format!("{:?}", row.seen)));
        let contacts = case.contacts_of(index).flat_map(|contact| {
            let marks = [Some(contact.attempt), contact.result, contact.corroborated];
            marks.into_iter().flatten().map(|mark| (mark, "contact".to_owned()))
        });
        let ends = [call.asked, call.answered].into_iter().flatten().map(|mark| (mark, "call".to_owned()));
        let marks = ends.chain(rows).chain(contacts);
        marks
            .filter_map(|(mark, what)| {
                let path = &self.analysis.sources[mark.origin.source.0 as usize].path;
                // What is done behind an answer looks like work of whoever is at work then.
                let (attempt, _) = self.about(mark).filter(|(_, shows)| !matches!(shows, Shows::Behind(_)))?;
                Some((attempt, format!("{attempt}: {what} at {path}:{}", mark.origin.record)))
            })
            .collect()
    }

    /// The attempts that a call of the report was joined from: one, or the links are wrong.
    fn attempts(&self, index: u32) -> BTreeSet<usize> {
        let parts = self.parts(index);
        let own = parts.first().map(|(attempt, _)| *attempt);
        // What names no call can only be given to a call that is on record.
        let parts = parts.iter().filter(|(attempt, _)| Some(*attempt) == own || self.is_known(*attempt));
        parts.map(|(attempt, _)| *attempt).collect()
    }

    /// Whether records were given to a call of which nobody can know that they are another's.
    pub(super) fn has_strangers(&self, index: u32) -> bool {
        let parts = self.parts(index);
        let own = parts.first().map(|(attempt, _)| *attempt);
        let contacts = self.analysis.case.contacts_of(index);
        let marks = contacts.flat_map(|contact| [Some(contact.attempt), contact.corroborated]).flatten();
        let behind = marks.filter_map(|mark| self.about(mark)).map(|(attempt, _)| attempt);
        parts.iter().map(|(attempt, _)| *attempt).chain(behind).any(|attempt| Some(attempt) != own)
    }

    /// A request of the server, and its answer, are of one call; where lines are theirs alone, of one question.
    fn question(&self, index: u32, tell: &mut Tell<'_>) {
        let call = &self.analysis.case.calls[index as usize];
        let about = |mark: Option<Mark>| mark.and_then(|mark| self.about(mark));
        let (asked, answered) = (about(call.asked), about(call.answered));
        let is_wrong = match (asked, answered) {
            (Some((_, Shows::Question(asked))), Some((_, Shows::Reply(answered)))) => asked != answered,
            (Some((asked, _)), Some((answered, _))) => asked != answered,
            _ => false,
        };
        if call.direction == Direction::ToClient && is_wrong {
            tell("link", format!("request {index} of the server joins {asked:?} and {answered:?}"));
        }
    }

    fn call(&self, index: u32, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        self.question(index, tell);
        let attempts = self.attempts(index);
        // Whatever else is wrong about it: nobody may press retry on any of them, where that calls a tool.
        let case = &self.analysis.case;
        let calls_a_tool = case.name(case.calls[index as usize].method) == "tools/call";
        for attempt in attempts.iter().filter(|_| calls_a_tool) {
            let tell = &mut |kind, detail: String| tell(kind, format!("call {index}, attempt {attempt}: {detail}"));
            self.retry(*attempt, verdict, tell);
        }
        let [attempt] = attempts.iter().copied().collect::<Vec<_>>()[..] else {
            if attempts.len() > 1 {
                let parts: Vec<String> = self.parts(index).into_iter().map(|(_, part)| part).collect();
                tell("link", format!("call {index} joins {}", parts.join("; ")));
            }
            return;
        };
        let tell = &mut |kind, detail: String| tell(kind, format!("call {index}, attempt {attempt}: {detail}"));
        if self.has_strangers(index) {
            return;
        }
        self.done(attempt, verdict, tell);
        self.reach(attempt, verdict, tell);
        self.milestones(attempt, verdict, tell);
        self.outcome(attempt, verdict, tell);
        self.phase(attempt, verdict, tell);
        self.effects(attempt, verdict, tell);
    }

    /// How many executions are possible by all calls of the report that are of this attempt: where nothing joins the
    /// logs of two processes, each has a receipt of its own.
    fn possible(&self, attempt: usize) -> u32 {
        let of = |index: &u32| self.parts(*index).first().is_some_and(|(about, _)| *about == attempt);
        let calls = self.analysis.verdicts.calls.iter().filter(|(index, _)| of(index));
        calls.map(|(_, verdict)| verdict.effects.1).sum()
    }

    /// Another execution adds an effect where the operation has had one that is on record.
    fn retry(&self, attempt: usize, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        let Some(intent) = self.world.intent_of(attempt) else { return };
        if verdict.retry.verdict != Caution::Safe || !self.world.intents[intent].nature.adds() {
            return;
        }
        let earlier = (0..self.world.attempts.len()).filter(|other| self.world.intent_of(*other) == Some(intent));
        for other in earlier {
            let effects: u32 = self.world.dispatches_of(other).map(|(_, dispatch)| dispatch.effects).sum();
            if effects > 0 && self.is_on_record(other) {
                tell("safe", format!("{} says safe, and attempt {other} had {effects} effects", verdict.retry.rule));
            }
        }
    }

    /// What is done already was done by an attempt with equal arguments.
    fn done(&self, attempt: usize, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        let Some(intent) = self.world.intent_of(attempt).filter(|_| verdict.retry.helps == Helps::AlreadyDone) else {
            return;
        };
        let same = |dispatch: &usize| self.world.intent_of(self.world.dispatches[*dispatch].attempt) == Some(intent);
        let is_done = self.happened(|what| match what {
            What::Responded { dispatch, answer } => same(dispatch) && answer.body == Body::Result,
            What::ContactAnswered { dispatch, status, .. } => same(dispatch) && (200..300).contains(status),
            _ => false,
        });
        if !is_done {
            tell("done", format!("{} says that it is done already, and it never was", verdict.retry.rule));
        }
    }

    fn reach(&self, attempt: usize, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        let reached = self.world.dispatches_of(attempt).any(|(_, dispatch)| dispatch.contacts > 0);
        match verdict.reach.answer {
            Reached::Yes if !reached => tell("reach", "nothing was reached".to_owned()),
            Reached::No if reached => tell("reach", "something was reached".to_owned()),
            _ => {}
        }
    }

    fn milestones(&self, attempt: usize, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        let sent = self.happened(|what| matches!(what, What::Sent { attempt: sent } if *sent == attempt));
        let reached = self.world.dispatches_of(attempt).any(|(_, dispatch)| dispatch.entered);
        let received = self.happened(
            |what| matches!(what, What::Received { dispatch } if self.world.dispatches[*dispatch].attempt == attempt),
        );
        // Whoever was asked has learned something.
        let effected = self.world.dispatches_of(attempt).any(|(_, dispatch)| dispatch.effects > 0);
        let asked = self.happened(|what| match what {
            What::ContactAnswered { dispatch, status, .. } => {
                self.world.dispatches[*dispatch].attempt == attempt && *status > 0
            }
            _ => false,
        });
        let acked = self.happened(|what| match what {
            What::Delivered { attempt: got, answer } => *got == attempt && answer.author == Author::Server,
            // A client that has stopped waiting still reads.
            What::Late { attempt: got, .. } => *got == attempt,
            _ => false,
        });
        // To whoever sees only what is behind a gateway, the gateway is the caller.
        let passed = self.happened(|what| match what {
            What::Returned { dispatch, answer: Some(_), .. } => self.world.dispatches[*dispatch].attempt == attempt,
            _ => false,
        });
        let milestones = &verdict.milestones;
        let claims = [
            ("sent", milestones.sent, sent, sent),
            ("reached", milestones.reached, received, reached),
            ("effected", milestones.effected, effected || asked, effected),
            ("acked", milestones.acked, acked || passed, acked),
        ];
        for (name, claimed, may_be, must_be) in claims {
            match claimed {
                Truth::True if !may_be => tell("milestone", format!("{name} is not true")),
                Truth::False if must_be => tell("milestone", format!("{name} is not false")),
                _ => {}
            }
        }
    }

    pub(super) fn happened(&self, test: impl Fn(&What) -> bool) -> bool {
        self.world.facts.iter().any(|fact| test(&fact.what))
    }

    /// What the caller got; where no record of the client is left, what the server or gateway gave.
    fn outcome(&self, attempt: usize, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        let ending = &self.world.attempts[attempt].ending;
        let mut may_be: Vec<Outcome> = match ending {
            Ending::Answered(answer) => outcomes_of(self.world, attempt, answer),
            Ending::Cancelled => vec![Outcome::Cancelled, Outcome::NoAnswer],
            Ending::NotSent => vec![Outcome::NotSent],
            Ending::Open | Ending::TimedOut | Ending::Closed => vec![Outcome::NoAnswer, Outcome::Cancelled],
        };
        may_be.extend([Outcome::AnswerNotCaptured, Outcome::NoAnswer]);
        // Behind a gateway, it is the gateway that stops waiting.
        let left = |what: &What| match what {
            What::Returned { dispatch, answer: None, .. } => self.world.dispatches[*dispatch].attempt == attempt,
            _ => false,
        };
        if self.happened(left) {
            may_be.push(Outcome::Cancelled);
        }
        if self.world.attempts[attempt].streams {
            may_be.push(Outcome::StreamIncomplete);
        }
        // Whoever reads only what another party saw of the answer can say no more than that.
        may_be.extend(self.world.facts.iter().flat_map(|fact| match &fact.what {
            What::Responded { dispatch, answer } if self.world.dispatches[*dispatch].attempt == attempt => {
                outcomes_of(self.world, attempt, answer)
            }
            What::Late { attempt: got, answer } | What::GatewayAnswered { attempt: got, answer, .. }
                if *got == attempt =>
            {
                outcomes_of(self.world, attempt, answer)
            }
            _ => Vec::new(),
        }));
        if !may_be.contains(&verdict.outcome) {
            tell("outcome", format!("{} is none of {may_be:?}; it ended with {ending:?}", verdict.outcome.name()));
        }
    }

    fn phase(&self, attempt: usize, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        use PhaseEvent as P;
        let Some((event, _)) = verdict.last_phase else { return };
        let of = |dispatch: &usize| self.world.dispatches[*dispatch].attempt == attempt;
        let is_true = self.happened(|what| match (event, what) {
            (
                P::InitializeSent | P::DiscoverSent | P::ToolsListSent | P::ToolCallSent | P::RequestSent,
                What::Sent { attempt: sent },
            ) => *sent == attempt,
            (
                P::InitializeReceived
                | P::DiscoverReceived
                | P::ToolsListReceived
                | P::ToolCallReceived
                | P::RequestReceived,
                What::Received { dispatch },
            )
            | (P::AuthorizationDenied, What::Denied { dispatch })
            | (P::AuthorizationGranted, What::Granted { dispatch })
            | (P::ExternalAttempt, What::ContactSent { dispatch, .. })
            | (P::ExternalResult, What::ContactAnswered { dispatch, .. })
            | (
                P::InitializeResponded
                | P::DiscoverResponded
                | P::ToolsListResponded
                | P::ToolCallResponded
                | P::RequestResponded,
                What::Responded { dispatch, .. },
            ) => of(dispatch),
            (
                P::InitializeDelivered
                | P::DiscoverDelivered
                | P::ToolsListDelivered
                | P::ToolCallDelivered
                | P::RequestDelivered,
                What::Delivered { attempt: got, .. } | What::Late { attempt: got, .. },
            ) => *got == attempt,
            _ => false,
        });
        if !is_true {
            tell("phase", format!("{} never happened: {:?}", event.name(), verdict.last_phase));
        }
    }

    fn effects(&self, attempt: usize, verdict: &CallVerdict, tell: &mut Tell<'_>) {
        let (low, own) = verdict.effects;
        let all = self.world.dispatches_of(attempt).filter(|(_, dispatch)| dispatch.effects > 0);
        let (mut truth, mut seen) = (0, 0);
        for (index, _) in all {
            truth += 1;
            // Executions are counted by receipts and answers: a contact without a key proves no second dispatch.
            let shown = [Shows::Received(index), Shows::Responded(index)];
            let shown = shown.iter().any(|shows| self.survived.contains(&(attempt, format!("{shows:?}"))));
            seen += u32::from(shown);
        }
        if low > truth {
            tell("effects", format!("at least {low}, and there were {truth}"));
        }
        let seen = seen.max(u32::from(truth > 0));
        if own < seen && (own == 0 || self.possible(attempt) < seen) {
            tell("effects", format!("at most {own}, and there were {truth}, {seen} of them on record"));
        }
    }
}

/// What an answer is to one who knows its status, and to one who sees the message alone.
pub(super) fn outcomes_of(world: &World, attempt: usize, answer: &Answer) -> Vec<Outcome> {
    let message = match answer.body {
        Body::Result if world.intent_of(attempt).is_some() => Outcome::ToolSuccess,
        Body::Result => Outcome::RpcSuccess,
        Body::ToolError(_) => Outcome::ToolError,
        Body::InputRequired(_) => Outcome::InputRequired,
        Body::Error { .. } => Outcome::JsonRpcError,
        Body::Plain(_) => Outcome::MalformedJson,
    };
    if (200..300).contains(&answer.status) { vec![message] } else { vec![Outcome::HttpError, message] }
}
