//! What the rules ask about a run, and the verdicts of a run: the four questions, where it stopped, who owns that.

use std::collections::BTreeMap;

use super::{Evidence, Layer, ReachAnswer, ReachVerdict, call, reach, restart};
use crate::{
    correlate::{
        AnswerKind, Basis, Call, Case, Contact, Mark, RpcId, Run, Seen, Strand, StrandEvent, StrandFact, ToolsFacts,
        Transport,
    },
    event::{Direction, PhaseEvent, ReachSource, ReachStage, RemarkKind, SpawnFailure, TroubleKind, Witness},
    judge::{CallFacts, Opinion},
    symbol::Symbol,
};

/// Yes, no, or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Proven.
    Yes,
    /// Excluded.
    No,
    /// Neither.
    Unknown,
}

impl Answer {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Where it stands.
    pub mark: Mark,
    /// Who saw it.
    pub witness: Witness,
    /// Exit code.
    pub code: Option<i32>,
    /// Signal.
    pub signal: Option<i32>,
    /// The process is a wrapper of the server's.
    pub wrapper: bool,
}

/// A kernel trace over a process's whole life: coverage of class A for the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Its first record: the program was executed.
    pub from: Mark,
    /// Its last record: the process ended.
    pub to: Mark,
}

/// What the rules ask about a run.
#[derive(Debug)]
pub struct RunFacts<'c> {
    /// The case.
    pub case: &'c Case,
    /// The run.
    pub run: &'c Run,
    /// Its index.
    pub index: usize,
    /// Its conversations.
    pub strands: Vec<&'c Strand>,
    /// First record of each life-cycle step.
    pub steps: BTreeMap<PhaseEvent, (Mark, Witness)>,
    /// The process could not be created.
    pub spawn_failed: Option<(SpawnFailure, Mark)>,
    /// The process ended.
    pub exited: Option<Exit>,
    /// The client or launcher stopped it on purpose.
    pub stopped_by_client: Option<Mark>,
    /// Crashes, with what they name.
    pub troubles: Vec<(TroubleKind, Mark, Option<Symbol>)>,
    /// Lines on stdout that are no messages, by a tap, or seen by the client as parse failures.
    pub pollution: Vec<Mark>,
    /// Coverage of class A.
    pub trace: Option<Coverage>,
    /// The server's own log recorded an external attempt in this run: coverage of class B for that channel.
    pub records_attempts: Option<Mark>,
    /// Contacts of this run that belong to no call and may belong to any.
    pub unattributed: Vec<&'c Contact>,
    /// The latest complete tool list, else the latest.
    pub tools: Option<&'c ToolsFacts>,
    /// `initialize` of this run, the last one.
    pub initialize: Option<&'c Call>,
}

impl<'c> RunFacts<'c> {
    /// Collects the facts of a run.
    pub fn new(case: &'c Case, index: usize) -> Self {
        let run = &case.runs[index];
        let strands: Vec<&Strand> = run.strands.iter().map(|strand| &case.strands[*strand as usize]).collect();
        let initialize = run
            .calls
            .iter()
            .rev()
            .map(|call| &case.calls[*call as usize])
            .find(|call| case.name(call.method) == "initialize" && call.direction == Direction::ToServer);
        let mut facts = Self {
            case,
            run,
            index,
            strands,
            steps: BTreeMap::new(),
            spawn_failed: None,
            exited: None,
            stopped_by_client: None,
            troubles: Vec::new(),
            pollution: Vec::new(),
            trace: None,
            records_attempts: None,
            unattributed: Vec::new(),
            tools: None,
            initialize,
        };
        facts.read_events();
        facts.read_contacts();
        facts.read_tools();
        facts
    }

    fn read_events(&mut self) {
        for strand in self.strands.clone() {
            for event in &strand.events {
                self.read_event(strand, event);
            }
            self.read_trace(strand);
        }
        self.pollution.sort_by_key(|mark| mark.origin);
    }

    fn read_event(&mut self, strand: &Strand, event: &StrandEvent) {
        match event.what {
            StrandFact::Step(PhaseEvent::Exited) => {
                let code = i32::try_from(event.number).ok();
                self.note_exit(Exit {
                    mark: event.mark,
                    witness: event.witness,
                    code,
                    signal: None,
                    wrapper: strand.wrapper,
                });
            }
            StrandFact::Signaled => {
                let signal = i32::try_from(event.number).ok();
                self.note_exit(Exit {
                    mark: event.mark,
                    witness: event.witness,
                    code: None,
                    signal,
                    wrapper: strand.wrapper,
                });
            }
            StrandFact::Step(PhaseEvent::Terminated) => {
                self.stopped_by_client = self.stopped_by_client.or(Some(event.mark));
                self.note_step(PhaseEvent::Terminated, event);
            }
            StrandFact::Step(step) => self.note_step(step, event),
            StrandFact::SpawnFailed(failure) => {
                self.spawn_failed = self.spawn_failed.or(Some((failure, event.mark)));
            }
            StrandFact::Pollution => self.pollution.push(event.mark),
            StrandFact::Trouble(kind) if event.witness == Witness::Server || strand.witness == Witness::Server => {
                self.troubles.push((kind, event.mark, event.name));
            }
            StrandFact::Remark(RemarkKind::ParseFailure) if event.witness == Witness::Client => {
                self.pollution.push(event.mark);
            }
            StrandFact::Remark(RemarkKind::ShuttingDown) => {
                self.stopped_by_client = self.stopped_by_client.or(Some(event.mark));
            }
            StrandFact::Remark(RemarkKind::InstanceStart) => self.note_step(PhaseEvent::SpawnRequested, event),
            StrandFact::Remark(RemarkKind::ProcessStarted) => self.note_step(PhaseEvent::Spawned, event),
            StrandFact::Remark(RemarkKind::Listening) if event.witness == Witness::Server => {
                self.note_step(PhaseEvent::ExecutableReady, event);
            }
            _ => {}
        }
    }

    fn note_step(&mut self, step: PhaseEvent, event: &StrandEvent) {
        self.steps.entry(step).or_insert((event.mark, event.witness));
    }

    /// The server's own exit beats a wrapper's.
    fn note_exit(&mut self, exit: Exit) {
        if self.exited.is_none_or(|known| known.wrapper && !exit.wrapper) {
            self.exited = Some(exit);
        }
    }

    /// A kernel trace covers the life of a process when it shows both its beginning and its end, and lost nothing.
    fn read_trace(&mut self, strand: &Strand) {
        if strand.witness != Witness::Network || self.case.sources[strand.source as usize].lossy {
            return;
        }
        let find = |wanted: &[StrandFact]| {
            strand.events.iter().find(|event| wanted.contains(&event.what)).map(|event| event.mark)
        };
        let from = find(&[StrandFact::Step(PhaseEvent::Spawned)]);
        let to = find(&[StrandFact::Step(PhaseEvent::Exited), StrandFact::Signaled]);
        let ours = self
            .strands
            .iter()
            .any(|other| other.witness == Witness::Server && other.pids.iter().any(|pid| strand.pids.contains(pid)));
        // A child that the trace shows being made may have gone on without it.
        let of_source = self.case.strands.iter().filter(|other| other.source == strand.source);
        let children = of_source.flat_map(|other| &other.events).any(|event| {
            event.what == StrandFact::Remark(RemarkKind::ChildProcess)
                && u32::try_from(event.number).is_ok_and(|parent| strand.pids.contains(&parent))
        });
        // A connection on which nothing more is recorded: what was written to it was not traced.
        let silent =
            self.case.contacts.iter().any(|contact| {
                contact.attempt.origin.source.0 == strand.source && contact.stage == ReachStage::Announced
            });
        let network = strand.events.iter().any(|event| event.what == StrandFact::Remark(RemarkKind::NetworkTraced));
        if let (Some(from), Some(to), true) = (from, to, ours && network && !children && !silent) {
            self.trace = Some(Coverage { from, to });
        }
    }

    fn read_contacts(&mut self) {
        let run = self.index;
        for contact in self.run.contacts.iter().map(|index| &self.case.contacts[*index as usize]) {
            self.note_channel(contact);
            if contact.stage >= ReachStage::Attempted && !contact.outside {
                self.unattributed.push(contact);
            }
        }
        // What fits several runs belongs to none, and may belong to this one.
        let loose = self.case.loose.iter().map(|index| &self.case.contacts[*index as usize]);
        self.unattributed.extend(loose);
        for call in &self.case.runs[run].calls {
            for contact in self.case.contacts_of(*call) {
                self.note_channel(contact);
            }
        }
    }

    fn note_channel(&mut self, contact: &Contact) {
        if contact.vouched == ReachSource::PhaseEvent && contact.witness == Witness::Server {
            self.records_attempts = self.records_attempts.or(Some(contact.attempt));
        }
    }

    fn read_tools(&mut self) {
        let lists = || self.strands.iter().flat_map(|strand| &strand.tools);
        self.tools = lists().rfind(|list| !list.partial && !list.invalid).or_else(|| lists().next_back());
    }

    /// Whether a record and a call belong to one run by what is recorded: the same conversation, or the same run id. A
    /// run that was put together by exclusion proves nothing here.
    pub(super) fn recorded_together(&self, mark: Mark, call: &Call) -> bool {
        let own = &self.case.strands[call.strand as usize];
        self.strands.iter().any(|strand| {
            let holds = strand.source == mark.origin.source.0 && strand.events.iter().any(|event| event.mark == mark);
            holds && (std::ptr::eq(*strand, own) || strand.run_id.is_some() && strand.run_id == own.run_id)
        })
    }

    /// Whether the run has no fact beyond its calls that a rule about a call could ask for.
    pub(super) fn is_plain(&self) -> bool {
        self.spawn_failed.is_none()
            && self.exited.is_none()
            && self.stopped_by_client.is_none()
            && self.pollution.is_empty()
            && self.trace.is_none()
            && self.records_attempts.is_none()
            && self.unattributed.is_empty()
            && self.tools.is_none()
    }

    /// The complete tool list, if one was seen.
    pub fn complete_tools(&self) -> Option<&'c ToolsFacts> {
        let pages =
            self.strands.iter().flat_map(|strand| &strand.tools).any(|list| list.partial && !list.tools.is_empty());
        self.tools.filter(|list| !list.partial && !list.invalid && !pages)
    }

    /// Server name.
    pub fn server(&self) -> Option<Symbol> {
        self.strands.iter().find_map(|strand| strand.server)
    }

    /// Client name.
    pub fn client(&self) -> Option<Symbol> {
        self.strands.iter().find_map(|strand| strand.client)
    }

    /// The server's own process.
    pub fn pid(&self) -> Option<u32> {
        self.strands.iter().filter(|strand| !strand.wrapper).find_map(|strand| strand.pids.first().copied())
    }

    /// How messages travel.
    pub fn transport(&self) -> Transport {
        let told =
            self.strands.iter().map(|strand| strand.transport).find(|transport| *transport != Transport::Unknown);
        let stdio = || {
            self.strands.iter().any(|strand| {
                strand.witness != Witness::Server
                    && strand.events.iter().any(|event| {
                        matches!(
                            event.what,
                            StrandFact::Step(PhaseEvent::Spawned | PhaseEvent::SpawnRequested)
                                | StrandFact::SpawnFailed(_)
                        )
                    })
            })
        };
        told.unwrap_or_else(|| if stdio() { Transport::Stdio } else { Transport::Unknown })
    }

    /// The process, its tap or its stderr: whether anything stood on stdout before the handshake was done.
    pub fn polluted_handshake(&self) -> bool {
        let done = self.initialize.is_some_and(|call| call.answer.kind == AnswerKind::Result);
        !self.pollution.is_empty() && !done
    }

    /// Whether the process died with a call open, and not because the client had given up first.
    pub fn died_before_answer(&self, facts: &CallFacts<'_>) -> bool {
        // A process that exits with code 0 was told to: its input was closed.
        let Some(exit) = self.exited.filter(|exit| exit.signal.is_some() || exit.code.is_some_and(|code| code != 0))
        else {
            return false;
        };
        let Some(asked) = facts.call.asked else { return false };
        let same = |mark: Mark| mark.origin.source == exit.mark.origin.source;
        let after = if same(asked) { asked.origin < exit.mark.origin } else { true };
        let given_up = self.stopped_by_client.is_some_and(|stop| !same(stop) || stop.origin < exit.mark.origin)
            || facts.has(Seen::TimedOut)
            || facts.has(Seen::Cancelled);
        after && !given_up
    }

    /// Whether sending something again needs a new process.
    pub fn needs_new_process(&self) -> bool {
        self.exited.is_some() || self.spawn_failed.is_some()
    }

    fn calls(&self) -> impl Iterator<Item = &'c Call> {
        let case = self.case;
        self.run.calls.iter().map(move |call| &case.calls[*call as usize])
    }
}

/// Answer to one of the operator's questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Yes, no or unknown.
    pub answer: Answer,
    /// How strong.
    pub basis: Basis,
    /// Why; empty where unknown.
    pub evidence: Vec<Evidence>,
}

impl Question {
    fn yes(role: &'static str, mark: Mark, witness: Witness) -> Self {
        let basis = if witness == Witness::Server { Basis::SelfReported } else { Basis::Witnessed };
        Self { answer: Answer::Yes, basis, evidence: vec![Evidence::seen(role, mark)] }
    }

    fn no(role: &'static str, mark: Mark) -> Self {
        Self { answer: Answer::No, basis: Basis::Witnessed, evidence: vec![Evidence::seen(role, mark)] }
    }

    fn unknown() -> Self {
        Self { answer: Answer::Unknown, basis: Basis::Absent, evidence: Vec::new() }
    }
}

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
    /// The name of the stop (`verdicts.md` 5).
    pub name: &'static str,
    /// Who owns it.
    pub owner: Owner,
    /// The layer.
    pub layer: Layer,
    /// The record after which nothing came.
    pub mark: Mark,
}

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
    /// How often the same server was started after this run.
    pub restarts: u32,
}

/// Judges a run.
pub(super) fn judge_run(facts: &RunFacts<'_>) -> RunVerdict {
    let stop = stop(facts);
    let reach = reach::run_reach(facts);
    let last_phase = last_phase(facts);
    RunVerdict {
        index: facts.index,
        started: started(facts),
        initialized: initialized(facts),
        tools_listed: tools_listed(facts),
        reached_outside: reached_outside(facts, &reach),
        last_phase,
        layer: stop.map_or(Layer::None, |stop| stop.layer),
        stop,
        restart: restart::restart(facts),
        reach,
        revision: revision(facts),
        restarts: restarts(facts),
    }
}

fn started(facts: &RunFacts<'_>) -> Question {
    for (step, role) in [
        (PhaseEvent::ExecutableReady, "shows that the server's own code ran"),
        (PhaseEvent::Spawned, "shows that the process was created"),
    ] {
        if let Some((mark, witness)) = facts.steps.get(&step) {
            return Question::yes(role, *mark, *witness);
        }
    }
    let answered = facts.calls().find(|call| call::answer_is_servers(call));
    if let Some(mark) = answered.and_then(|call| call.answered) {
        return Question::yes("shows an answer of the server", mark, Witness::Proxy);
    }
    if let Some((_, mark)) = facts.spawn_failed {
        return Question::no("shows that the process could not be created", mark);
    }
    Question::unknown()
}

fn initialized(facts: &RunFacts<'_>) -> Question {
    for step in [PhaseEvent::InitializedReceived, PhaseEvent::InitializedSent] {
        if let Some((mark, witness)) = facts.steps.get(&step) {
            return Question::yes("shows that the handshake was completed", *mark, *witness);
        }
    }
    let modern = facts.calls().find(|call| {
        matches!(facts.case.name(call.method), "server/discover" | "tools/list" | "tools/call")
            && call.answer.kind == AnswerKind::Result
    });
    if let Some((call, mark)) = modern.and_then(|call| Some((call, call.answered?))) {
        return Question::yes("shows that the server served a request", mark, call.witness);
    }
    if let Some((_, mark)) = facts.spawn_failed {
        return Question::no("shows that the process could not be created", mark);
    }
    match (facts.exited, facts.initialize) {
        (Some(exit), Some(call)) if call.answered.is_none() => {
            Question::no("shows that the process ended before it answered", exit.mark)
        }
        (Some(exit), None) => Question::no("shows that the process ended before any handshake", exit.mark),
        _ => Question::unknown(),
    }
}

fn tools_listed(facts: &RunFacts<'_>) -> Question {
    let listed = facts
        .calls()
        .find(|call| facts.case.name(call.method) == "tools/list" && call.answer.kind == AnswerKind::Result);
    if let Some((call, mark)) = listed.and_then(|call| Some((call, call.answered?))) {
        return Question::yes("shows the answer to tools/list", mark, call.witness);
    }
    let counted = facts
        .strands
        .iter()
        .flat_map(|strand| &strand.events)
        .find(|event| event.what == StrandFact::Remark(RemarkKind::ToolsDiscovered));
    if let Some(event) = counted {
        return Question::yes("shows that the client counted the tools", event.mark, event.witness);
    }
    match facts.spawn_failed {
        Some((_, mark)) => Question::no("shows that the process could not be created", mark),
        None => Question::unknown(),
    }
}

fn reached_outside(facts: &RunFacts<'_>, outside_calls: &ReachVerdict) -> Question {
    let in_calls = facts.run.calls.iter().flat_map(|call| facts.case.contacts_of(*call));
    let all = facts.run.contacts.iter().map(|contact| &facts.case.contacts[*contact as usize]).chain(in_calls);
    let contacts: Vec<&Contact> = all.filter(|contact| contact.stage >= ReachStage::Attempted).collect();
    if !contacts.is_empty() {
        let evidence =
            contacts.iter().map(|contact| Evidence::seen("shows a contact with the outside", contact.attempt));
        let basis = contacts.iter().map(|contact| reach::basis(contact)).max().unwrap_or(Basis::SelfReported);
        return Question { answer: Answer::Yes, basis, evidence: evidence.collect() };
    }
    if let Some((_, mark)) = facts.spawn_failed
        && facts.run.calls.is_empty()
    {
        return Question::no("shows that the process could not be created", mark);
    }
    match outside_calls.answer {
        ReachAnswer::No => {
            Question { answer: Answer::No, basis: Basis::Witnessed, evidence: outside_calls.evidence.clone() }
        }
        _ => Question::unknown(),
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

/// Later runs of the same server.
fn restarts(facts: &RunFacts<'_>) -> u32 {
    let later = facts.server().map_or(0, |server| facts.case.servers.later(server, facts.index));
    u32::try_from(later).unwrap_or(u32::MAX)
}

/// Where the run stopped; `None` when it ended in order.
fn stop(facts: &RunFacts<'_>) -> Option<Stop> {
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
        && matches!(call.answer.kind, AnswerKind::None | AnswerKind::Nothing)
        && facts.case.name(call.method) != "subscriptions/listen"
        && !facts.case.sightings(call).any(|row| row.seen == Seen::Responded)
        && call.id != RpcId::Null
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
            (true, _) => "discover_received_no_response",
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

/// Evidence of how a process ended.
pub(super) fn exit_evidence(exit: Exit) -> Evidence {
    let role = match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("shows that the process was killed by signal {signal}"),
        (Some(code), None) => format!("shows that the process exited with code {code}"),
        (None, None) => "shows that the process ended".to_owned(),
    };
    Evidence::seen(role, exit.mark)
}
