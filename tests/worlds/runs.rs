//! Compares what the analysis claims of runs and of operations with what really happened.

use std::collections::BTreeSet;

use mcp_postmortem::{
    event::Direction,
    judge::{Answer as Reached, Caution, RunVerdict},
};

use super::{
    check::{Check, Tell},
    tell::Shows,
    truth::{Ask, Body, What},
};

impl Check<'_> {
    /// The attempts that the calls of a run are of.
    fn attempts_of(&self, run: usize) -> BTreeSet<usize> {
        let calls = &self.analysis.case.runs[run].calls;
        let own = |call: &u32| self.parts(*call).first().map(|(attempt, _)| *attempt);
        calls.iter().filter_map(own).collect()
    }

    pub(super) fn runs(&self, tell: &mut Tell<'_>) {
        for verdict in &self.analysis.verdicts.runs {
            let run = verdict.index;
            let attempts = self.attempts_of(run);
            let tell = &mut |kind, detail: String| tell(kind, format!("run {run}, attempts {attempts:?}: {detail}"));
            self.restart(verdict, tell);
            self.questions(verdict, &attempts, tell);
        }
    }

    /// A start adds what the server does by itself when it starts.
    fn restart(&self, verdict: &RunVerdict, tell: &mut Tell<'_>) {
        let acts = self.happened(|what| matches!(what, What::Background { .. }));
        if verdict.restart.verdict == Caution::Safe && acts {
            tell("restart", format!("{} says safe, and each start reaches outside", verdict.restart.rule));
        }
    }

    fn questions(&self, verdict: &RunVerdict, attempts: &BTreeSet<usize>, tell: &mut Tell<'_>) {
        let case = &self.analysis.case;
        let by_client = |call: &u32| case.calls[*call as usize].direction == Direction::ToServer;
        let knows_all = case.runs[verdict.index].calls.iter().filter(|call| by_client(call)).count() == attempts.len();
        if verdict.started.answer == Reached::No {
            tell("run", "it says that nothing was started, and all servers were".to_owned());
        }
        let served = |ask: fn(Ask) -> bool| {
            self.happened(|what| match what {
                What::Responded { dispatch, answer } => {
                    let attempt = self.world.dispatches[*dispatch].attempt;
                    let life = self.world.attempts[attempt].life;
                    let own = attempts.iter().any(|known| self.world.attempts[*known].life == life);
                    let fits = own || !knows_all || attempts.is_empty();
                    fits && ask(self.world.attempts[attempt].ask) && answer.body == Body::Result
                }
                _ => false,
            })
        };
        let handshake = |ask| match ask {
            Ask::Initialize => true,
            Ask::Ping => false,
            Ask::Discover | Ask::ToolsList | Ask::Call { .. } => true,
        };
        if verdict.initialized.answer == Reached::Yes && !served(handshake) {
            tell("run", "it says that the server was initialized, and it answered nothing".to_owned());
        }
        if verdict.initialized.answer == Reached::No && served(|ask| ask == Ask::Initialize) {
            tell("run", "it says that the server was not initialized, and it answered initialize".to_owned());
        }
        if verdict.tools_listed.answer == Reached::Yes && !served(|ask| ask == Ask::ToolsList) {
            tell("run", "it says that tools were listed, and no list was answered".to_owned());
        }
        self.reached(verdict, attempts, tell);
    }

    fn reached(&self, verdict: &RunVerdict, attempts: &BTreeSet<usize>, tell: &mut Tell<'_>) {
        let by_itself = self.happened(|what| matches!(what, What::Background { .. }));
        let contacts = |attempt: &usize| self.world.dispatches_of(*attempt).any(|(_, dispatch)| dispatch.contacts > 0);
        let case = &self.analysis.case;
        let run = &case.runs[verdict.index];
        let own = run.contacts.iter().map(|contact| &case.contacts[*contact as usize]);
        let of_calls = run.calls.iter().flat_map(|call| case.contacts_of(*call));
        // Of a line that is torn, nothing is known here.
        let is_real = own
            .chain(of_calls)
            .any(|contact| !self.is_of_a_record(contact.attempt) || self.about(contact.attempt).is_some());
        match verdict.reached_outside.answer {
            Reached::Yes if !by_itself && !is_real => {
                tell("run", "it says that something was reached, and nothing was".to_owned());
            }
            Reached::No if attempts.iter().any(contacts) => {
                tell("run", "it says that nothing was reached, and something was".to_owned());
            }
            _ => {}
        }
    }

    pub(super) fn operations(&self, tell: &mut Tell<'_>) {
        for operation in &self.analysis.verdicts.operations {
            let own = |call: &u32| self.parts(*call).first().map(|(attempt, _)| *attempt);
            let attempts: BTreeSet<usize> = operation.attempts.iter().filter_map(own).collect();
            let intents: BTreeSet<Option<usize>> =
                attempts.iter().map(|attempt| self.world.intent_of(*attempt)).collect();
            if intents.len() > 1 {
                tell("operation", format!("the attempts {attempts:?} are of the intents {intents:?}"));
            }
            let truth: u32 = attempts.iter().map(|attempt| self.executions(*attempt, false)).sum();
            let seen: u32 = attempts.iter().map(|attempt| self.executions(*attempt, true)).sum();
            if operation.duplicate == "certain" && truth < 2 {
                tell("duplicate", format!("certain, and there were {truth} effects: {attempts:?}"));
            }
            if operation.duplicate == "no" && seen > 1 {
                tell("duplicate", format!("no, and there were {seen} effects on record: {attempts:?}"));
            }
            let (low, high) = operation.effects;
            if operation.attempts.iter().any(|call| self.has_strangers(*call)) {
                continue;
            }
            if low > truth || high < seen {
                tell("effects", format!("{low} to {high} of {attempts:?}, and there were {truth}, {seen} on record"));
            }
            for retry in &operation.retries {
                self.harm(retry.call, &attempts, retry.ex_post, tell);
            }
        }
    }

    /// What a retry did in addition to what had been done before it.
    fn harm(&self, call: u32, attempts: &BTreeSet<usize>, claim: &str, tell: &mut Tell<'_>) {
        let Some((attempt, _)) = self.parts(call).into_iter().next() else { return };
        let before: u32 = attempts.range(..attempt).map(|other| self.executions(*other, false)).sum();
        let (own, seen) = (self.executions(attempt, false), self.executions(attempt, true));
        if claim == "harmed" && own == 0 {
            tell("harm", format!("call {call}, attempt {attempt} harmed, and had no effect"));
        }
        let known = attempts.range(..attempt).any(|other| self.executions(*other, true) > 0);
        if claim == "harmless" && seen > 0 && before > 0 && known {
            tell("harm", format!("call {call}, attempt {attempt} was harmless, and had {own} effects after {before}"));
        }
    }

    /// How often an attempt had an effect, in truth or as far as records are left.
    fn executions(&self, attempt: usize, on_record: bool) -> u32 {
        let all = self.world.dispatches_of(attempt).filter(|(_, dispatch)| dispatch.effects > 0);
        let shown = |index: usize| {
            let shown = [Shows::Received(index), Shows::Responded(index)];
            shown.iter().any(|shows| self.survived.contains(&(attempt, format!("{shows:?}"))))
        };
        let count = all.filter(|(index, _)| !on_record || shown(*index)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}
