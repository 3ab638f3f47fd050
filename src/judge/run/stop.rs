//! Where a run stopped, and who owns that.

use super::facts::RunFacts;
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

/// Where and why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The name of the stop.
    pub name: &'static str,
    /// Who owns it.
    pub owner: Owner,
    /// The layer.
    pub layer: Layer,
    /// The record after which nothing came.
    pub mark: Mark,
}

/// Where the run stopped; `None` when it ended in order.
pub(super) fn stop(facts: &RunFacts<'_>) -> Option<Stop> {
    if let Some((_, mark)) = facts.spawn_failed
        && !facts.calls().any(call::answer_is_servers)
    {
        return Some(named("spawn_requested_not_spawned", Owner::Launcher, mark));
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

fn named(name: &'static str, owner: Owner, mark: Mark) -> Stop {
    Stop { name, owner, layer: owner.layer(), mark }
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
        return Some(named("exited_before_initialize", launch_owner(facts), exit.mark));
    }
    for (step, name, owner) in [
        (PhaseEvent::ExecutableReady, "ready_no_initialize", Owner::Client),
        (PhaseEvent::Spawned, "spawned_no_initialize", launch_owner(facts)),
        (PhaseEvent::SpawnRequested, "spawn_requested_not_spawned", Owner::Launcher),
    ] {
        if let Some((mark, _)) = facts.steps.get(&step) {
            return Some(named(name, owner, *mark));
        }
    }
    None
}

fn open_stop(facts: &RunFacts<'_>, index: u32) -> Stop {
    let case = facts.case;
    let call = &case.calls[index as usize];
    let (event, mark) = call::last_event(case, index).unwrap_or((PhaseEvent::RequestSent, case.place(call)));
    let received = event >= PhaseEvent::ToolCallReceived || event.name().ends_with("_received");
    match case.name(call.method) {
        "initialize" | "server/discover" => handshake_stop(facts, received, mark),
        "tools/list" if received => named("tools_list_received_no_response", Owner::Registration, mark),
        "tools/list" => named("tools_list_sent_not_received", Owner::Transport, mark),
        _ => execution_stop(facts, index, event, mark),
    }
}

fn handshake_stop(facts: &RunFacts<'_>, received: bool, mark: Mark) -> Stop {
    let discover = facts.initialize.is_none();
    if facts.polluted_handshake() {
        let name = match (discover, received) {
            (true, true) => "discover_received_no_response",
            (true, false) => "discover_sent_not_received",
            (false, true) => "initialize_received_no_response",
            (false, false) => "initialize_sent_not_received",
        };
        return named(name, Owner::Transport, mark);
    }
    if received {
        let name = if discover { "discover_received_no_response" } else { "initialize_received_no_response" };
        return named(name, Owner::Server, mark);
    }
    if let Some(exit) = facts.exited.filter(|_| facts.stopped_by_client.is_none()) {
        return named("exited_before_initialize", launch_owner(facts), exit.mark);
    }
    let name = if discover { "discover_sent_not_received" } else { "initialize_sent_not_received" };
    named(name, launch_owner(facts), mark)
}

fn execution_stop(facts: &RunFacts<'_>, index: u32, event: PhaseEvent, mark: Mark) -> Stop {
    let call = CallFacts::new(facts.case, Some(facts), index);
    if let Some(asked) = call.open_server_request() {
        return Stop { layer: Layer::Interaction, ..named("server_request_unanswered", Owner::Client, asked) };
    }
    let process_died = facts.died_before_answer(&call);
    let (name, owner) = match event {
        PhaseEvent::ExternalAttempt => ("external_attempt_no_result", Owner::Remote),
        PhaseEvent::ExternalResult => ("external_result_no_response", Owner::Tool),
        PhaseEvent::AuthorizationRequested => ("authorization_unanswered", Owner::Client),
        PhaseEvent::ToolCallReceived
        | PhaseEvent::AuthorizationGranted
        | PhaseEvent::AuthorizationDenied
        | PhaseEvent::RequestReceived => ("tool_call_received_no_response", Owner::Tool),
        _ => ("tool_call_sent_not_received", Owner::Transport),
    };
    if facts.broke_down(&call).is_some() {
        return named(name, Owner::Server, mark);
    }
    let stop = named(name, owner, mark);
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
    match initialized {
        None if facts.pollution.is_empty() => Some(named("response_sent_no_initialized", Owner::Client, mark)),
        None => Some(named("response_sent_no_initialized", Owner::Transport, mark)),
        Some(mark) => Some(named("initialized_no_tools_list", Owner::Client, mark)),
    }
}
