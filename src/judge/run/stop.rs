//! Where a run stopped, and who owns that.

use super::{
    facts::RunFacts,
    stops::{self, StopRow},
};
use crate::{
    correlate::{AnswerKind, Call, Mark, RpcId, Seen, StrandFact},
    event::{Direction, PhaseEvent, RemarkKind, TroubleKind},
    judge::{CallFacts, Layer, call, outcome::answer_was_lost},
};

/// Who has to look first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Command, PATH, working directory, environment, package runner.
    Launcher,
    /// The server's start-up and handshake.
    Server,
    /// Pipes and polluted stdout.
    Transport,
    /// Registration of tools.
    Registration,
    /// The tool's handler.
    Tool,
    /// The remote system.
    Remote,
    /// The client.
    Client,
}

impl Owner {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launcher => "launcher",
            Self::Server => "server",
            Self::Transport => "transport",
            Self::Registration => "registration",
            Self::Tool => "tool",
            Self::Remote => "remote",
            Self::Client => "client",
        }
    }

    fn layer(self) -> Layer {
        match self {
            Self::Launcher | Self::Server => Layer::Process,
            Self::Transport => Layer::Transport,
            Self::Registration => Layer::Protocol,
            Self::Tool | Self::Remote => Layer::Application,
            Self::Client => Layer::Client,
        }
    }
}

/// What the record of a stop is to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// The process ended or could not be created.
    Ended,
    /// A request has no answer; the server may have gone on with others.
    LeftOpen,
    /// Nothing further of the run is on record, its end neither.
    LastSeen,
}

/// Where and why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The kind of stop, by name.
    pub row: &'static StopRow,
    /// Whether the run ended there.
    pub kind: StopKind,
    /// Who owns it.
    pub owner: Owner,
    /// The layer.
    pub layer: Layer,
    /// The record that shows how far the run, or its open request, came.
    pub mark: Mark,
}

/// Where the run stopped; `None` when it ended in order.
pub(super) fn stop(facts: &RunFacts<'_>) -> Option<Stop> {
    if let Some((_, mark)) = facts.spawn_failed
        && !facts.calls().any(call::answer_is_servers)
    {
        return Some(named(&stops::NOT_SPAWNED, StopKind::Ended, Owner::Launcher, mark));
    }
    let open = facts.run.calls.iter().rev().copied().find(|call| stays_open(facts, &facts.case.calls[*call as usize]));
    if let Some(call) = open {
        return Some(open_stop(facts, call));
    }
    if facts.run.calls.is_empty() {
        return launch_stop(facts);
    }
    after_answers(facts)
}

/// Whether a request of the client has no answer of any kind, and is no stream that stays open by design.
fn stays_open(facts: &RunFacts<'_>, call: &Call) -> bool {
    call.direction == Direction::ToServer
        && (call.answer.kind == AnswerKind::None || answer_was_lost(facts.case, call))
        && facts.case.name(call.method) != "subscriptions/listen"
        && !facts.case.sightings(call).any(|row| finished(row.seen))
        && call.id != RpcId::Null
}

/// The server made an answer, whether its caller got it or not: nothing stopped there.
fn finished(seen: Seen) -> bool {
    matches!(seen, Seen::Responded | Seen::Delivered | Seen::LateAnswer | Seen::AnswerRejected | Seen::CallSucceeded)
}

fn named(row: &'static StopRow, kind: StopKind, owner: Owner, mark: Mark) -> Stop {
    Stop { row, kind, owner, layer: owner.layer(), mark }
}

/// What the last step of a run without an open request is.
fn end_or_last(facts: &RunFacts<'_>) -> StopKind {
    if facts.exited.is_some() { StopKind::Ended } else { StopKind::LastSeen }
}

/// The launcher owns a wrong command, working directory, environment or package runner, also after `spawned`.
fn launch_owner(facts: &RunFacts<'_>) -> Owner {
    let launchers = facts.troubles.iter().any(|(kind, ..)| {
        matches!(kind, TroubleKind::MissingFile | TroubleKind::MissingModule | TroubleKind::MissingEnvironment)
    });
    let runner = facts
        .strands
        .iter()
        .flat_map(|strand| &strand.events)
        .any(|event| event.what == StrandFact::Remark(RemarkKind::RunnerFailed));
    if launchers || runner { Owner::Launcher } else { Owner::Server }
}

fn launch_stop(facts: &RunFacts<'_>) -> Option<Stop> {
    if let Some(exit) = facts.exited {
        return Some(named(&stops::EXITED_BEFORE_INITIALIZE, StopKind::Ended, launch_owner(facts), exit.mark));
    }
    for (step, row, owner) in [
        (PhaseEvent::ExecutableReady, &stops::READY_NO_INITIALIZE, Owner::Client),
        (PhaseEvent::Spawned, &stops::SPAWNED_NO_INITIALIZE, launch_owner(facts)),
        (PhaseEvent::SpawnRequested, &stops::NOT_SPAWNED, Owner::Launcher),
    ] {
        if let Some((mark, _)) = facts.steps.get(&step) {
            return Some(named(row, StopKind::LastSeen, owner, *mark));
        }
    }
    None
}

/// How far an open request came, by its own records.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    /// No record shows that it left the client.
    Queued,
    Sent,
    Received,
}

fn open_stop(facts: &RunFacts<'_>, index: u32) -> Stop {
    let case = facts.case;
    let call = &case.calls[index as usize];
    let last = call::last_event(case, index);
    let mark = last.map_or_else(|| case.place(call), |(_, mark)| mark);
    let came = match last {
        None => Came::Queued,
        Some((event, _)) if event.name().ends_with("_sent") => Came::Sent,
        Some(_) => Came::Received,
    };
    let stop = match case.name(call.method) {
        "initialize" | "server/discover" => handshake_stop(facts, came, mark),
        "tools/list" => {
            let owner = if came == Came::Received { Owner::Registration } else { Owner::Transport };
            named(stops::open("tools/list", came == Came::Received), StopKind::LeftOpen, owner, mark)
        }
        method => execution_stop(facts, (index, method), last.map(|(event, _)| event), came, mark),
    };
    let row = if came == Came::Queued && stop.kind == StopKind::LeftOpen { &stops::QUEUED } else { stop.row };
    let went_on = call.asked.is_some_and(|asked| facts.alive_behind(asked, index));
    let ended = facts.exited.is_some() || !facts.breaks().is_empty();
    let kind = if ended && !went_on { StopKind::Ended } else { stop.kind };
    Stop { row, kind, ..stop }
}

fn handshake_stop(facts: &RunFacts<'_>, came: Came, mark: Mark) -> Stop {
    let method = if facts.initialize.is_none() { "server/discover" } else { "initialize" };
    let received = came == Came::Received;
    let row = stops::open(method, received);
    if facts.polluted_handshake() {
        return named(row, StopKind::LeftOpen, Owner::Transport, mark);
    }
    if received {
        return named(row, StopKind::LeftOpen, Owner::Server, mark);
    }
    if let Some(exit) = facts.exited.filter(|_| facts.stopped_by_client.is_none()) {
        return named(&stops::EXITED_BEFORE_INITIALIZE, StopKind::Ended, launch_owner(facts), exit.mark);
    }
    named(row, StopKind::LeftOpen, launch_owner(facts), mark)
}

fn execution_stop(
    facts: &RunFacts<'_>,
    (index, method): (u32, &str),
    event: Option<PhaseEvent>,
    came: Came,
    mark: Mark,
) -> Stop {
    let call = CallFacts::new(facts.case, Some(facts), index);
    if let Some(asked) = call.open_server_request() {
        let stop = named(&stops::SERVER_REQUEST_UNANSWERED, StopKind::LeftOpen, Owner::Client, asked);
        return Stop { layer: Layer::Interaction, ..stop };
    }
    let process_died = facts.died_before_answer(&call);
    let (row, owner) = match event {
        Some(PhaseEvent::ExternalAttempt) => (&stops::EXTERNAL_ATTEMPT_NO_RESULT, Owner::Remote),
        Some(PhaseEvent::ExternalResult) => (&stops::EXTERNAL_RESULT_NO_RESPONSE, Owner::Tool),
        Some(PhaseEvent::AuthorizationRequested) => (&stops::AUTHORIZATION_UNANSWERED, Owner::Client),
        _ if came == Came::Received => (stops::open(method, true), Owner::Tool),
        _ => (stops::open(method, false), Owner::Transport),
    };
    if facts.broke_down(&call).is_some() {
        return named(row, StopKind::LeftOpen, Owner::Server, mark);
    }
    let stop = named(row, StopKind::LeftOpen, owner, mark);
    if process_died { Stop { layer: Layer::Process, ..stop } } else { stop }
}

/// Everything was answered: a handshake that was not completed, or that was followed by nothing.
fn after_answers(facts: &RunFacts<'_>) -> Option<Stop> {
    let initialize = facts.initialize?;
    let mark = initialize.answered?;
    let others = facts.calls().any(|call| !matches!(facts.case.name(call.method), "initialize" | "ping"));
    if initialize.answer.kind != AnswerKind::Result || others {
        return None;
    }
    let initialized = [PhaseEvent::InitializedReceived, PhaseEvent::InitializedSent]
        .iter()
        .find_map(|step| facts.steps.get(step))
        .map(|(mark, _)| *mark);
    let (row, owner, mark) = match initialized {
        None if facts.pollution.is_empty() => (&stops::RESPONSE_SENT_NO_INITIALIZED, Owner::Client, mark),
        None => (&stops::RESPONSE_SENT_NO_INITIALIZED, Owner::Transport, mark),
        Some(mark) => (&stops::INITIALIZED_NO_TOOLS_LIST, Owner::Client, mark),
    };
    Some(named(row, end_or_last(facts), owner, mark))
}
