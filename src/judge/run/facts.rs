//! What the rules ask about a run.

use super::{life::Signs, listed, served::Served};
use crate::{
    correlate::{
        AnswerKind, Call, Case, Contact, Mark, Run, Seen, Strand, StrandEvent, StrandFact, ToolsFacts, Transport,
    },
    event::{Direction, PhaseEvent, ReachSource, RemarkKind, SpawnFailure, TroubleKind, Witness},
    judge::{CallFacts, Evidence, Opinion, call, coverage, policy::Terms, restart},
    symbol::Symbol,
    time::SECOND,
};
use std::{collections::BTreeMap, sync::OnceLock};

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
pub struct Trace {
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
    pub trace: Option<Trace>,
    /// The server's own log recorded an external attempt in this run: coverage of class B for that channel.
    pub records_attempts: Option<Mark>,
    /// Contacts of this run that belong to no call and may belong to any.
    unattributed: Vec<&'c Contact>,
    /// The latest complete tool list, else the latest.
    pub tools: Option<&'c ToolsFacts>,
    /// `initialize` of this run, the last one.
    pub initialize: Option<&'c Call>,
    /// What the operator declares.
    pub terms: Option<&'c Terms>,
    restart: OnceLock<Opinion>,
    signs: OnceLock<Signs>,
    served: OnceLock<Served>,
    list_is_whole: OnceLock<bool>,
    breaks: OnceLock<Vec<(Mark, Mark)>>,
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
            terms: None,
            restart: OnceLock::new(),
            signs: OnceLock::new(),
            served: OnceLock::new(),
            list_is_whole: OnceLock::new(),
            breaks: OnceLock::new(),
        };
        facts.read_events();
        facts.forget_other_programs();
        facts.read_contacts();
        facts.read_tools();
        facts
    }

    /// The same under what the operator declares.
    #[must_use]
    pub fn under(self, terms: &'c Terms) -> Self {
        Self { terms: Some(terms), ..self }
    }

    fn read_events(&mut self) {
        let mut traced = Vec::new();
        for strand in self.strands.clone() {
            for event in &strand.events {
                self.read_event(strand, event);
            }
            self.read_trace(strand, &mut traced);
        }
        if self.trace.is_some() && coverage::is_partly_traced(self, &traced) {
            self.trace = None;
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

    fn read_contacts(&mut self) {
        let run = self.index;
        for contact in self.run.contacts.iter().map(|index| &self.case.contacts[*index as usize]) {
            self.note_channel(contact);
            if contact.is_attempt() && !contact.outside {
                self.unattributed.push(contact);
            }
        }
        for call in &self.case.runs[run].calls {
            for contact in self.case.contacts_of(*call) {
                self.note_channel(contact);
            }
        }
    }

    /// Contacts that belong to no call and may belong to any of this run. What fits several runs belongs to none, and
    /// may belong to this one.
    pub fn unattributed(&self) -> impl Iterator<Item = &'c Contact> {
        let case = self.case;
        let loose = case.loose.iter().map(|index| &case.contacts[*index as usize]);
        self.unattributed.iter().copied().chain(loose)
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
    pub(in crate::judge) fn recorded_together(&self, mark: Mark, call: &Call) -> bool {
        let own = &self.case.strands[call.strand as usize];
        self.strands.iter().any(|strand| {
            let holds = strand.source == mark.origin.source.0 && strand.events.iter().any(|event| event.mark == mark);
            holds && (std::ptr::eq(*strand, own) || strand.run_id.is_some() && strand.run_id == own.run_id)
        })
    }

    /// Whether the run has no fact beyond its calls that a rule about a call could ask for.
    pub(in crate::judge) fn is_plain(&self) -> bool {
        self.spawn_failed.is_none()
            && self.exited.is_none()
            && self.stopped_by_client.is_none()
            && self.pollution.is_empty()
            && self.troubles.is_empty()
            && self.trace.is_none()
            && self.records_attempts.is_none()
            && self.unattributed().next().is_none()
            && self.tools.is_none()
    }

    /// The complete tool list, if one was seen.
    pub fn complete_tools(&self) -> Option<&'c ToolsFacts> {
        let pages =
            self.strands.iter().flat_map(|strand| &strand.tools).any(|list| list.partial && !list.tools.is_empty());
        self.tools.filter(|list| !list.partial && !list.invalid && !pages)
    }

    /// The complete tool list where it shows that the server has no such tool, nor one under a name akin to it.
    pub(in crate::judge) fn list_without(&self, tool: Symbol) -> Option<&'c ToolsFacts> {
        let list = self.complete_tools()?;
        let whole = || *self.list_is_whole.get_or_init(|| listed::is_whole(self));
        (!listed::names_akin(self, list, tool) && whole()).then_some(list)
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
        // Between two sources only times that exclude it tell.
        let late = || {
            self.case
                .placed(asked)
                .zip(self.case.placed(exit.mark))
                .is_some_and(|(asked, exit)| asked.0 > exit.0.saturating_add(SECOND))
        };
        let after = if same(asked) { asked.origin < exit.mark.origin } else { !late() };
        let given_up = self.stopped_by_client.is_some_and(|stop| !same(stop) || stop.origin < exit.mark.origin)
            || facts.has(Seen::TimedOut)
            || facts.has(Seen::Cancelled);
        after && !given_up
    }

    /// The records of a crash of the server with a call open, and of the end of its pipe behind it, where the end of the
    /// process is not on record.
    pub(in crate::judge) fn broke_down(&self, facts: &CallFacts<'_>) -> Option<(Mark, Mark)> {
        super::lives::broke_down(self, facts)
    }

    /// The crashes of the server that the end of its pipe follows.
    pub(super) fn breaks(&self) -> &[(Mark, Mark)] {
        self.breaks.get_or_init(|| super::lives::breaks(self))
    }

    /// The record that shows that the process could not be created, where nothing shows a life of this run.
    pub(in crate::judge) fn nothing_started(&self) -> Option<Mark> {
        let (_, mark) = self.spawn_failed?;
        let lived = self.exited.is_some()
            || self.steps.contains_key(&PhaseEvent::Spawned)
            || self.steps.contains_key(&PhaseEvent::ExecutableReady)
            || self.strands.iter().any(|strand| strand.spoke)
            || self.calls().any(call::answer_is_servers);
        let others = self.calls().any(|call| !self.recorded_together(mark, call));
        (!lived && !others).then_some(mark)
    }

    /// May its server be started again? Every open request asks.
    pub fn restart(&self) -> &Opinion {
        self.restart.get_or_init(|| restart::restart(self))
    }

    /// Whether the server was at work for another call behind this place, in the order of its source.
    pub(in crate::judge) fn alive_behind(&self, asked: Mark, call: u32) -> bool {
        self.signs.get_or_init(|| Signs::of(self.case, self.run)).behind(asked.origin, call)
    }

    /// Whether the server or another call, in any of its runs, shows that it serves the method of this one.
    pub(in crate::judge) fn serves(&self, facts: &CallFacts<'_>) -> bool {
        self.served.get_or_init(|| Served::of(self)).beside(facts.call.method, facts.index)
    }

    /// Whether sending something again needs a new process.
    pub fn needs_new_process(&self) -> bool {
        self.exited.is_some() || self.spawn_failed.is_some()
    }

    /// Contacts outside calls.
    pub(in crate::judge) fn contacts(&self) -> impl Iterator<Item = &'c Contact> + use<'c> {
        let case = self.case;
        self.run.contacts.iter().map(move |contact| &case.contacts[*contact as usize])
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &'c Call> {
        let case = self.case;
        self.run.calls.iter().map(move |call| &case.calls[*call as usize])
    }
}

/// Evidence of how a process ended.
pub(in crate::judge) fn exit_evidence(exit: Exit) -> Evidence {
    let role = match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("shows that the process was killed by signal {signal}"),
        (Some(code), None) => format!("shows that the process exited with code {code}"),
        (None, None) => "shows that the process ended".to_owned(),
    };
    Evidence::seen(role, exit.mark)
}
