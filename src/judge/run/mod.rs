//! The verdict of a run.

mod facts;
mod life;
mod listed;
mod lives;
mod process;
mod questions;
mod served;
mod stop;
mod stops;

pub(super) use facts::exit_evidence;
pub use facts::{Exit, RunFacts, Trace};
pub(super) use listed::akin;
pub use questions::{Answer, Question};
pub use stop::{Owner, Stop, StopKind};
pub use stops::{STOPS, StopRow};

use super::{Layer, ReachVerdict, call, reach};
use crate::{
    correlate::Mark,
    event::{Direction, PhaseEvent},
    judge::Opinion,
    symbol::Symbol,
};
use questions::{initialized, reached_outside, started, tools_listed};
use stop::stop;

/// The verdicts of a run.
#[derive(Debug)]
pub struct RunVerdict {
    /// The run, by index.
    pub index: usize,
    /// Did it start?
    pub started: Question,
    /// Was the handshake done?
    pub initialized: Question,
    /// Were its tools listed?
    pub tools_listed: Question,
    /// Did it reach anything outside, in or out of a call?
    pub reached_outside: Question,
    /// The furthest confirmed event.
    pub last_phase: Option<(PhaseEvent, Mark)>,
    /// Where it stopped; `None` when it ended in order.
    pub stop: Option<Stop>,
    /// The failing layer.
    pub layer: Layer,
    /// May the server be started again?
    pub restart: Opinion,
    /// Reach outside any call.
    pub reach: ReachVerdict,
    /// Negotiated revision, and whether it is recorded.
    pub revision: Option<(Symbol, bool)>,
    /// How often the same server was started again: later runs, and later processes of this one.
    pub restarts: u32,
    /// Processes of this run that began when another one had ended: over HTTP a run is what its clients see as one.
    pub replaced: u32,
}

/// Judges a run.
pub(super) fn judge_run(facts: &RunFacts<'_>) -> RunVerdict {
    let stop = stop(facts);
    let reach = reach::run_reach(facts);
    let last_phase = last_phase(facts);
    let replaced = lives::replaced(facts);
    RunVerdict {
        index: facts.index,
        started: started(facts),
        initialized: initialized(facts),
        tools_listed: tools_listed(facts),
        reached_outside: reached_outside(facts, &reach),
        last_phase,
        layer: stop.map_or(Layer::None, |stop| stop.layer),
        stop,
        restart: facts.restart().clone(),
        reach,
        revision: revision(facts),
        restarts: restarts(facts).saturating_add(replaced),
        replaced,
    }
}

/// The furthest event of the run that some witness confirmed.
fn last_phase(facts: &RunFacts<'_>) -> Option<(PhaseEvent, Mark)> {
    let ladder = facts.steps.iter().filter(|(step, _)| step.phase() != crate::event::Phase::Interruption);
    let steps = ladder.map(|(step, (mark, _))| (*step, *mark));
    let calls = facts.run.calls.iter().filter_map(|index| {
        let call = &facts.case.calls[*index as usize];
        (call.direction == Direction::ToServer).then(|| call::last_event(facts.case, *index)).flatten()
    });
    let exited = facts
        .exited
        .filter(|_| !facts.calls().any(call::answer_is_servers))
        .map(|exit| (PhaseEvent::Exited, exit.mark));
    let furthest = steps.chain(calls).max_by_key(|(event, _)| *event);
    match (exited, furthest) {
        (Some(exited), Some((event, _)))
            if event < PhaseEvent::InitializeReceived || event == PhaseEvent::InitializeSent =>
        {
            Some(exited)
        }
        (Some(exited), None) => Some(exited),
        (_, furthest) => furthest,
    }
}

fn revision(facts: &RunFacts<'_>) -> Option<(Symbol, bool)> {
    let recorded = facts.strands.iter().find_map(|strand| strand.revision).map(|(revision, _)| (revision, true));
    recorded.or_else(|| facts.calls().find_map(|call| call.revision).map(|revision| (revision, true)))
}

/// Later runs of the same server, by its name or by the run id that a launcher gave it.
fn restarts(facts: &RunFacts<'_>) -> u32 {
    let servers = &facts.case.servers;
    let by_name = facts.server().map_or(0, |server| servers.later(server, facts.index));
    let id = facts.strands.iter().find_map(|strand| strand.run_id);
    let by_id = id.map_or(0, |id| servers.later_lives(id, facts.index));
    u32::try_from(by_name.max(by_id)).unwrap_or(u32::MAX)
}
