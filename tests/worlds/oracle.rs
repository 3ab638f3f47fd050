//! What whoever reads the records that are left without fail can decide, and whether the analysis did.
//!
//! The oracle knows of each record which attempt it is about, and nothing that no record tells. It decides only where the
//! records alone do: a verdict that takes more than that is not counted against the analysis.

use mcp_postmortem::{
    analyze::Analysis,
    judge::{Answer as Reached, CallVerdict, Caution, Outcome, Truth},
};

use super::{
    Scene,
    check::{Check, outcomes_of},
    tell::Shows,
    truth::{Answer, Ask, Author, Body, Ending, Transport, What},
};

/// One thing that the oracle decides.
#[derive(Clone, Debug)]
pub(crate) struct Decidable {
    /// Of which kind.
    pub(crate) name: &'static str,
    /// Whether the analysis decided it too.
    pub(crate) decided: bool,
    /// The call, and what was said of it.
    pub(crate) detail: String,
}

/// All that the oracle decides of a world.
pub(crate) fn decidable(scene: &Scene, analysis: &Analysis) -> Vec<Decidable> {
    let torn = scene.damages.iter().any(|damage| ["tail-torn", "head-missing"].contains(damage));
    let oracle = Oracle { check: Check::new(&scene.world, &scene.found, analysis), torn };
    let mut table = Vec::new();
    for (index, verdict) in &analysis.verdicts.calls {
        let Some((attempt, _)) = oracle.check.parts(*index).into_iter().next() else { continue };
        if !oracle.has_own_key(attempt) {
            continue;
        }
        for (name, decided) in oracle.call(attempt, verdict) {
            let said = (verdict.retry.verdict.name(), verdict.retry.rule, &verdict.retry.conditions);
            let detail = format!("call {index}, attempt {attempt}: {said:?}");
            table.push(Decidable { name, decided, detail });
        }
    }
    table
}

struct Oracle<'w> {
    check: Check<'w>,
    /// It shows that records are lost: what stood there may have been another attempt.
    torn: bool,
}

type Row = (&'static str, bool);

impl Oracle<'_> {
    fn call(&self, attempt: usize, verdict: &CallVerdict) -> Vec<Row> {
        let milestones = &verdict.milestones;
        let mut rows = Vec::new();
        let mut row = |decides: bool, name, decided| rows.extend(decides.then_some((name, decided)));
        row(
            self.is_left(attempt, &["Sent", "Received", "Entered", "Delivered"]),
            "sent",
            milestones.sent == Truth::True,
        );
        row(self.was_entered(attempt), "reached", milestones.reached == Truth::True);
        row(self.server_answered(attempt), "acked", milestones.acked == Truth::True);
        if let Some(outcomes) = self.outcome(attempt) {
            row(true, "outcome", outcomes.contains(&verdict.outcome));
        }
        let contact = |shows: &Shows| matches!(shows, Shows::Contact(_) | Shows::Applied(_));
        row(self.names_contact(attempt, contact), "reach yes", verdict.reach.answer == Reached::Yes);
        row(self.adds_again(attempt), "retry unsafe", verdict.retry.verdict == Caution::Unsafe);
        row(self.adds_nothing(attempt), "retry safe", verdict.retry.verdict == Caution::Safe);
        rows
    }

    /// Whether no other attempt has its id or its arguments: then whatever key a record names is the attempt's own.
    fn has_own_key(&self, attempt: usize) -> bool {
        let attempts = &self.check.world.attempts;
        // A gateway that counts for itself gives requests ids that nobody else knows.
        if self.check.world.dispatches_of(attempt).any(|(_, dispatch)| dispatch.id != attempts[attempt].id) {
            return false;
        }
        attempts.iter().enumerate().all(|(index, other)| {
            let same_ask = matches!(other.ask, Ask::Call { .. }) && other.ask == attempts[attempt].ask;
            index == attempt || other.id != attempts[attempt].id && !same_ask
        })
    }

    fn is_left(&self, attempt: usize, proofs: &[&str]) -> bool {
        let shown = self.check.survived.iter().filter(|(about, _)| *about == attempt);
        shown.into_iter().any(|(_, shows)| proofs.iter().any(|proof| shows.starts_with(proof)))
    }

    /// Whether a record is left that shows that the server got to work on it: dispatched it, or entered the tool's code.
    fn was_entered(&self, attempt: usize) -> bool {
        let entered = self.check.world.dispatches_of(attempt).any(|(_, dispatch)| dispatch.entered);
        let called = self.check.world.intent_of(attempt).is_some();
        (entered || !called) && self.is_left(attempt, &["Received", "Entered"])
    }

    /// Whether the client recorded an answer of the server. What a gateway answers is no word of the server.
    fn server_answered(&self, attempt: usize) -> bool {
        let by_server = |answer: &Answer| answer.author == Author::Server && answer.status == 200;
        self.is_left(attempt, &["Delivered"]) && self.answer(attempt).is_some_and(by_server)
    }

    fn answer(&self, attempt: usize) -> Option<&Answer> {
        match &self.check.world.attempts[attempt].ending {
            Ending::Answered(answer) => Some(answer),
            _ => None,
        }
    }

    /// What the client's record of the answer makes of the call.
    fn outcome(&self, attempt: usize) -> Option<Vec<Outcome>> {
        let answer = self.answer(attempt).filter(|_| self.is_left(attempt, &["Delivered"]))?;
        // One that names no request may be the answer to any.
        let nameless = matches!(answer.body, Body::Error { nameless: true, .. });
        (!nameless).then(|| outcomes_of(self.check.world, attempt, answer))
    }

    /// Whether a record is left that names the request and tells of a contact like this.
    fn names_contact(&self, attempt: usize, like: impl Fn(&Shows) -> bool) -> bool {
        self.check.found.iter().any(|file| {
            file.spans.iter().any(|(span, about)| {
                let own = about.is_some_and(|(about, shows)| about == attempt && like(&shows));
                own && String::from_utf8_lossy(&file.bytes[span.clone()]).contains("\"request_id\"")
            })
        })
    }

    /// Whether a record shows that another execution adds to what there is.
    fn adds_again(&self, attempt: usize) -> bool {
        let Some(intent) = self.check.world.intent_of(attempt) else { return false };
        let succeeded = |answer: &Answer| answer.body == Body::Result && answer.status == 200;
        let answered = self.server_answered(attempt) && self.answer(attempt).is_some_and(succeeded);
        let writes = self.names_contact(attempt, |shows| matches!(shows, Shows::Applied(_)));
        self.check.world.intents[intent].nature.adds() && (answered || writes)
    }

    /// Whether records show that nothing was done: by specification, for it was not sent, or for it was refused before
    /// any work, in the words of one who did the work if there was any.
    fn adds_nothing(&self, attempt: usize) -> bool {
        // What was not answered may take a restart, and that may do more.
        if self.check.world.intent_of(attempt).is_none() {
            let starts = self.check.world.facts.iter().any(|fact| matches!(fact.what, What::Background { .. }));
            return self.server_answered(attempt) && !starts;
        }
        let refused = !self.torn && (self.was_denied(attempt) || self.has_no_session(attempt));
        self.is_left(attempt, &["NotSent"]) || refused
    }

    /// Whether the server's log shows that it denied the call, and that it answered then; no text of unknown zone may be
    /// about what it did besides.
    fn was_denied(&self, attempt: usize) -> bool {
        let world = self.check.world;
        let text = self.check.found.iter().any(|file| file.name.contains("stderr"));
        let denied = world.facts.iter().any(|fact| match fact.what {
            What::Denied { dispatch } => world.dispatches[dispatch].attempt == attempt,
            _ => false,
        });
        let named = self.check.found.iter().any(|file| {
            file.spans.iter().any(|(span, about)| {
                let own = about.is_some_and(|(about, _)| about == attempt);
                own && String::from_utf8_lossy(&file.bytes[span.clone()]).contains("authorization_denied")
            })
        });
        denied && named && !text && self.is_left(attempt, &["Responded"]) && world.dispatches_of(attempt).count() == 1
    }

    /// Whether the server itself, and no gateway before it, told the client that it knows no such session.
    fn has_no_session(&self, attempt: usize) -> bool {
        let world = self.check.world;
        let alone = world.transport == Transport::Http && !world.gateway;
        let refused = |answer: &Answer| answer.status == 404 && answer.author == Author::Server;
        alone && self.answer(attempt).is_some_and(refused) && self.is_left(attempt, &["About", "Delivered"])
    }
}
