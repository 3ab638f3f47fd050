//! Strands: which conversation of its source an event belongs to, lives of a run id, and what is settled at the end of
//! a source.

use super::{Correlator, Lane, Mark, NONE, Strand, StrandEvent, StrandFact, StrandKey, Transport};
use crate::{
    event::{Event, Kind, Origin, PhaseEvent, RemarkKind, Step, StepDetail, TroubleKind, Witness},
    symbol::Symbol,
};

/// The lives of one run id in one source, as far as read.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    /// The current life, counted from 1.
    current: u32,
    /// The record that began it: an event may ask for its life more than once.
    begun_at: Option<Origin>,
    /// Its process, where known.
    pid: Option<u32>,
    /// Who has logged `spawned` in it.
    spawned_by: Vec<Witness>,
    /// Earlier lives by process.
    by_pid: Vec<(u32, u32)>,
}

/// The last event that named only its run and server, and its strand: its neighbors mostly name the same.
#[derive(Debug)]
pub(super) struct Recent {
    run: Box<str>,
    server: Option<Box<str>>,
    strand: u32,
}

impl Recent {
    fn of(event: &Event<'_>, strand: u32) -> Option<Self> {
        let plain = Self::is_plain(event);
        let run = event.keys.run.filter(|_| plain)?;
        Some(Self { run: run.into(), server: event.keys.server.map(Into::into), strand })
    }

    /// Messages change neither lives nor instances, and these name nothing else.
    fn is_plain(event: &Event<'_>) -> bool {
        let keys = &event.keys;
        matches!(event.kind, Kind::Message(_))
            && keys.pid.is_none()
            && keys.session.is_none()
            && keys.client.is_none()
            && keys.trace.is_none()
    }

    fn is_of(&self, event: &Event<'_>) -> bool {
        event.keys.run == Some(&self.run) && event.keys.server == self.server.as_deref() && Self::is_plain(event)
    }
}

impl Correlator {
    /// The strand of an event; makes one where needed.
    pub(super) fn strand(&mut self, event: &Event<'_>, mark: Mark) -> u32 {
        if let Some(recent) = self.lane.recent.as_ref().filter(|recent| recent.is_of(event)) {
            let strand = recent.strand;
            self.lane.touched = strand;
            let last = &mut self.case.strands[strand as usize].last;
            *last = Mark { origin: mark.origin, at: mark.at.or(last.at) };
            return strand;
        }
        let strand = self.strand_of(event, mark);
        self.lane.recent = Recent::of(event, strand);
        strand
    }

    fn strand_of(&mut self, event: &Event<'_>, mark: Mark) -> u32 {
        let key = self.strand_key(event);
        let strand = self.strand_by_key(key, event, mark);
        self.learn_keys(strand, event);
        strand
    }

    /// The strand that an event would join, if it is there already.
    pub(super) fn known_strand(&mut self, event: &Event<'_>) -> Option<u32> {
        let key = self.strand_key(event);
        self.lane.strands.get(&key).copied()
    }

    fn strand_key(&mut self, event: &Event<'_>) -> StrandKey {
        let run = self.intern(event.keys.run).or(self.lane.run);
        if let Some(run) = run {
            let life = self.life(run, event);
            return StrandKey::Run(run, life);
        }
        // A remark or a span tells of a session; only messages and steps live in one.
        let lives_in_session = !matches!(event.kind, Kind::Remark(_) | Kind::Span(_));
        if let Some(session) = self.intern(event.keys.session).filter(|_| lives_in_session) {
            return StrandKey::Session(session);
        }
        if let Some(server) = self.intern(event.keys.server)
            && self.lane.server_instances.contains_key(&server)
        {
            return StrandKey::Server(server, self.lane.server_instances[&server]);
        }
        if event.witness == Some(Witness::Network)
            && let Some(pid) = event.keys.pid
        {
            return StrandKey::Process(pid);
        }
        if self.lane.instances > 0 { StrandKey::Instance(self.lane.instances) } else { StrandKey::Rest }
    }

    /// Which life of a run id a record belongs to: a second `spawned` of one witness, or a second process of one
    /// witness, begins a new one.
    fn life(&mut self, run: Symbol, event: &Event<'_>) -> u32 {
        let witness = self.witness_of(event);
        let spawned = matches!(event.kind, Kind::Step(Step { event: PhaseEvent::Spawned, .. }));
        let life = self.lane.lives.entry(run).or_insert_with(|| Life { current: 1, ..Life::default() });
        if spawned {
            if life.begun_at == Some(event.origin) {
                return life.current;
            }
            life.begun_at = Some(event.origin);
        }
        let pid = event.keys.pid.filter(|_| witness != Witness::Network);
        if let Some(pid) = pid {
            if let Some((_, known)) = life.by_pid.iter().find(|(known, _)| *known == pid) {
                let known = *known;
                if spawned && life.spawned_by.contains(&witness) && known == life.current {
                    // One process may be logged as spawned twice by one witness only when the id was reused.
                    life.begin(Some(pid));
                } else if spawned {
                    life.spawned_by.push(witness);
                }
                return if known == life.current { life.current } else { known };
            }
            if life.pid.is_some_and(|current| current != pid) {
                life.begin(Some(pid));
            }
            life.pid = Some(pid);
            life.by_pid.push((pid, life.current));
        } else if spawned && life.spawned_by.contains(&witness) {
            life.begin(None);
        }
        if spawned {
            life.spawned_by.push(witness);
        }
        life.current
    }

    fn strand_by_key(&mut self, key: StrandKey, event: &Event<'_>, mark: Mark) -> u32 {
        if let Some(&strand) = self.lane.strands.get(&key) {
            self.lane.touched = strand;
            let last = &mut self.case.strands[strand as usize].last;
            *last = Mark { origin: mark.origin, at: mark.at.or(last.at) };
            return strand;
        }
        let strand = u32::try_from(self.case.strands.len()).expect("fewer than 2^32 strands");
        let (run_id, life) = match key {
            StrandKey::Run(run, life) => (Some(run), life),
            _ => (None, 1),
        };
        let session = match key {
            StrandKey::Session(session) => vec![session],
            _ => Vec::new(),
        };
        let endpoint = match key {
            StrandKey::Endpoint(endpoint) => Some(endpoint),
            _ => None,
        };
        self.case.strands.push(Strand {
            source: self.lane.source,
            run_id,
            life,
            server: self.lane.server,
            client: None,
            server_info: None,
            client_info: None,
            sessions: session,
            pids: Vec::new(),
            wrapper: false,
            endpoint,
            transport: Transport::Unknown,
            revision: None,
            first: mark,
            last: mark,
            events: Vec::new(),
            calls: Vec::new(),
            tools: Vec::new(),
            serves_tools: false,
            spoke: false,
            tools_changed: None,
            stray_progress: None,
            witness: self.witness_of(event),
            run: NONE,
        });
        self.lane.strands.insert(key, strand);
        self.lane.touched = strand;
        self.lane.order.push(strand);
        strand
    }

    fn learn_keys(&mut self, strand: u32, event: &Event<'_>) {
        let server = self.intern(event.keys.server);
        let client = self.intern(event.keys.client);
        let session = self.intern(event.keys.session);
        let wrapper = matches!(event.kind, Kind::Step(Step { detail: StepDetail::Launch { wrapper: true, .. }, .. }));
        let strand = &mut self.case.strands[strand as usize];
        strand.server = strand.server.or(server);
        strand.client = strand.client.or(client);
        if let Some(session) = session
            && !strand.sessions.contains(&session)
        {
            strand.sessions.push(session);
        }
        strand.wrapper |= wrapper;
        if let Some(pid) = event.keys.pid
            && !strand.pids.contains(&pid)
        {
            strand.pids.push(pid);
        }
    }

    /// Free text may be the server's word about what it does: it makes no strand, but it stands between records.
    pub(super) fn free_text(&mut self, event: &Event<'_>) {
        if !self.may_be_the_servers(event) || !matches!(event.kind, Kind::Text(text) if !text.trim().is_empty()) {
            return;
        }
        let at = event.at.map(|stamp| (self.instant(stamp), stamp));
        self.lane.stray_text(event.origin, at);
        match event.keys.run.or(event.keys.server) {
            Some(name) => {
                let name = self.case.symbols.intern(name);
                self.lane.text_of.insert(name, event.origin);
            }
            None => self.lane.text = Some(event.origin),
        }
        self.speaks(event);
    }

    /// A program that writes was started: what could not be found is another one.
    fn speaks(&mut self, event: &Event<'_>) {
        if event.witness.or(self.lane.meta_witness) != Some(Witness::Server) {
            return;
        }
        let names = [event.keys.run, event.keys.server].map(|name| name.and_then(|name| self.case.symbols.get(name)));
        for strand in &self.lane.not_started {
            let facts = &mut self.case.strands[*strand as usize];
            let other =
                |known: Option<Symbol>, told: Option<Symbol>| told.is_some() && known.is_some() && known != told;
            facts.spoke |= !other(facts.run_id, names[0]) && !other(facts.server, names[1]);
        }
    }

    fn may_be_the_servers(&self, event: &Event<'_>) -> bool {
        matches!(event.witness.or(self.lane.meta_witness), None | Some(Witness::Server))
    }

    /// A crash of the server, or a line of its output that is no message, whoever recorded that line.
    pub(super) fn noise(&mut self, event: &Event<'_>) {
        if event.kind != Kind::Pollution && !self.may_be_the_servers(event) {
            return;
        }
        let at = event.at.map(|stamp| self.instant(stamp));
        self.lane.stray(at);
        let name = event.keys.run.or(event.keys.server).map(|name| self.case.symbols.intern(name));
        self.lane.noise.insert(name, event.origin);
    }

    /// A crash without a time may have been that of any call. One that ends a start is told by the run.
    pub(super) fn crash(&mut self, event: &Event<'_>, kind: TroubleKind) {
        let starts =
            matches!(kind, TroubleKind::MissingModule | TroubleKind::MissingEnvironment | TroubleKind::AddressInUse);
        if event.at.is_none() && !starts && self.may_be_the_servers(event) {
            self.lane.crash = self.lane.crash.or(Some(Mark { origin: event.origin, at: None }));
        }
    }

    /// The strand of an HTTP exchange: its session, else its endpoint.
    pub(super) fn http_strand(
        &mut self,
        event: &Event<'_>,
        mark: Mark,
        session: Option<Symbol>,
        endpoint: Symbol,
    ) -> u32 {
        let key = match session {
            _ if event.keys.run.is_some() || self.lane.run.is_some() => self.strand_key(event),
            Some(session) => StrandKey::Session(session),
            None => StrandKey::Endpoint(endpoint),
        };
        let strand = self.strand_by_key(key, event, mark);
        let facts = &mut self.case.strands[strand as usize];
        facts.endpoint = facts.endpoint.or(Some(endpoint));
        if let Some(session) = session
            && !facts.sessions.contains(&session)
        {
            facts.sessions.push(session);
        }
        if facts.transport == Transport::Unknown {
            facts.transport = Transport::StreamableHttp;
        }
        strand
    }

    /// The strand of everything that has no conversation of its own: a service's access log shows no run.
    pub(super) fn rest_strand(&mut self, event: &Event<'_>, mark: Mark) -> u32 {
        self.strand_by_key(StrandKey::Rest, event, mark)
    }

    /// Begins a new instance in a log without run ids.
    pub(super) fn new_instance(&mut self, server: Option<Symbol>) {
        self.lane.not_started.clear();
        match server {
            Some(server) => *self.lane.server_instances.entry(server).or_insert(0) += 1,
            None => self.lane.instances += 1,
        }
    }

    /// Records something that belongs to no call.
    pub(super) fn strand_event(
        &mut self,
        event: &Event<'_>,
        mark: Mark,
        what: StrandFact,
        number: i64,
        name: Option<Symbol>,
    ) {
        let starts = matches!(what, StrandFact::Remark(RemarkKind::InstanceStart));
        if starts {
            let server = self.intern(event.keys.server);
            self.new_instance(server);
        }
        let witness = self.witness_of(event);
        let strand = self.strand(event, mark);
        self.case.strands[strand as usize].events.push(StrandEvent { what, witness, mark, number, name });
    }

    /// Settles what needs the whole source.
    pub(super) fn close_lane(&mut self) {
        self.settle_witness();
        self.settle_early();
        self.settle_wrong_ids();
        self.settle_span_contacts();
        self.settle_span_work();
        self.rehome_rest();
        self.keep_words();
    }

    /// Free text of a client is about what it saw, not about what a server did.
    fn keep_words(&mut self) {
        let facts = self.lane.facts.as_ref().expect("begin was called");
        if facts.witness != Some(Witness::Client) || facts.witness_is_hint {
            self.words.append(&mut self.lane.words);
            self.timeless.extend(self.lane.timeless);
            self.crashed.extend(self.lane.crash);
        }
    }

    /// The witness of a source is its format's or option's; else the majority of records that say who wrote them; else
    /// what the name hints at.
    fn settle_witness(&mut self) {
        const WITNESSES: [Witness; 5] =
            [Witness::Client, Witness::Server, Witness::Proxy, Witness::Network, Witness::Harness];
        let most = (0..5).rev().max_by_key(|index| self.lane.votes[*index]).filter(|index| self.lane.votes[*index] > 0);
        let facts = self.lane.facts.as_mut().expect("begin was called");
        facts.voted = facts.witness.is_none();
        facts.witness = facts.witness.or(most.map(|index| WITNESSES[index]));
        if facts.witness.is_none() {
            facts.witness = self.lane.witness_hint;
            facts.witness_is_hint = facts.witness.is_some();
        }
    }
}

impl Lane {
    /// Whether the server wrote something that names no call, in this strand, in or behind this record.
    pub(super) fn stirred_since(&self, strand: &Strand, index: u32, asked: Origin) -> bool {
        let named = [strand.run_id, strand.server].into_iter().flatten().filter_map(|name| self.text_of.get(&name));
        let texts = self.text.iter().chain(named).any(|text| *text > asked);
        texts || self.stirs.get(&index).is_some_and(|stir| *stir >= asked)
    }

    /// Whether the server crashed, or wrote a line that is no message, behind this record.
    pub(super) fn noise_since(&self, strand: &Strand, asked: Origin) -> bool {
        let named = [strand.run_id, strand.server].into_iter().flatten().map(Some);
        named.chain([None]).any(|name| self.noise.get(&name).is_some_and(|noise| *noise > asked))
    }
}

impl Life {
    fn begin(&mut self, pid: Option<u32>) {
        self.current += 1;
        self.pid = pid;
        self.spawned_by.clear();
        if let Some(pid) = pid {
            self.by_pid.retain(|(known, _)| *known != pid);
            self.by_pid.push((pid, self.current));
        }
    }
}
