//! Joins events into facts: conversations, runs, sessions, calls, operations, contacts.
//!
//! Two stages. While a source is read, its events are folded in record order into strands (one conversation as one
//! source recorded it) and the calls in them. Afterwards strands are joined into runs, the views of one call by several
//! witnesses into one call, and evidence without keys is bound where exactly one binding fits. Judges nothing.

mod access;
mod accounts;
mod answers;
mod bind;
mod breaks;
mod case;
mod clocks;
mod corroborate;
mod early;
mod effectful;
mod exchanges;
mod facts;
mod finish;
mod fit;
mod foreign;
mod ground;
mod hops;
mod keys;
mod lane;
mod merge;
mod messages;
mod open;
mod opened;
mod operations;
mod orphans;
mod pace;
mod place;
mod reach;
mod rehome;
mod repeats;
mod retold;
mod rivals;
mod runs;
mod servers;
mod spans;
mod steady;
mod steps;
mod stray;
mod streams;
mod traces;
mod trail;
mod windows;

use rustc_hash::{FxHashMap, FxHashSet};

pub use breaks::{Break, Breaks, Why};
pub use case::{Anywhere, Case};
pub use clocks::{Clocks, Offset};
pub use facts::{
    AnswerFacts, AnswerKind, Author, Basis, Call, Contact, ContactKind, HttpFacts, Key, Mark, NO_RESULT, NONE,
    Operation, RAISED, RpcId, Run, Seen, Sighting, SourceFacts, Strand, StrandEvent, StrandFact, ToolFacts, ToolsFacts,
    Transport,
};

pub use keys::{DeclaredKeys, KeyPaths};
pub use pace::Pace;
pub use servers::Servers;
pub use steps::{BEHIND_WORK, ONE_ACTION};
pub use stray::{Hop, Stray};
pub use streams::Streams;
pub use trail::{Told, ToldKind};

use crate::{
    event::{Event, Id, Kind, Origin, SourceId, Witness},
    notice::NoticeKind,
    symbol::Symbol,
    time::{Shape, Stamp, Timestamp},
};

/// What is known about a source before it is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceMeta<'a> {
    /// Witness by option or format.
    pub witness: Option<Witness>,
    /// Witness that the name hints at.
    pub witness_hint: Option<Witness>,
    /// Zone by option, seconds east of UTC.
    pub zone: Option<i32>,
    /// Server name by option.
    pub server: Option<&'a str>,
    /// Run id by option.
    pub run: Option<&'a str>,
}

/// What identifies a strand inside a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum StrandKey {
    /// A recorded run id and its life.
    Run(Symbol, u32),
    /// A session.
    Session(Symbol),
    /// An instance of a named server in a client's log.
    Server(Symbol, u32),
    /// An instance in a log that knows only one server.
    Instance(u32),
    /// A process that a kernel trace follows.
    Process(u32),
    /// An endpoint without session.
    Endpoint(Symbol),
    /// Everything else.
    Rest,
}

/// What a span shows that is neither a request nor a contact.
#[derive(Clone, Copy, Debug)]
struct SpanWork {
    span: u64,
    parent: u64,
    from: Timestamp,
}

/// The state of the source that is being read.
#[derive(Debug, Default)]
struct Lane {
    source: u32,
    meta_witness: Option<Witness>,
    witness_hint: Option<Witness>,
    zone: Option<i32>,
    server: Option<Symbol>,
    run: Option<Symbol>,
    strands: FxHashMap<StrandKey, u32>,
    /// The strands in order of their first record.
    order: Vec<u32>,
    /// Open requests.
    open: open::OpenCalls,
    /// Answers of the client that came before their questions, and the questions that streams held.
    early: Vec<early::EarlyAnswer>,
    questions: Vec<early::Question>,
    /// The strand of the last event that only named its run and server.
    recent: Option<lane::Recent>,
    /// The strand of the event that is being folded, for the trail.
    touched: u32,
    /// The request of the last message of a strand, if the last message was one.
    last_message: FxHashMap<u32, u32>,
    /// When a connection to each address was last in use.
    connected: FxHashMap<Symbol, Option<Timestamp>>,
    /// Where the server last wrote something that names no call, by strand.
    stirs: FxHashMap<u32, Origin>,
    /// The last free text of the server that names nothing, and that of each run or server it names.
    text: Option<Origin>,
    text_of: FxHashMap<Symbol, Origin>,
    /// The strands whose process could not be created, up to the next start.
    not_started: Vec<u32>,
    /// The last crash of the server, and the last line of it that is no message, by the run or server it names.
    noise: FxHashMap<Option<Symbol>, Origin>,
    /// Lives of run ids.
    lives: FxHashMap<Symbol, lane::Life>,
    instances: u32,
    server_instances: FxHashMap<Symbol, u32>,
    /// Calls of which it is noted that an answer may be theirs or another's: once is enough.
    contested: FxHashSet<u32>,
    /// How many answers came for open calls of one id, by the first of these calls.
    contested_answers: FxHashMap<u32, u32>,
    /// Attempts that wait for a result, by strand.
    waiting: FxHashMap<u32, Vec<u32>>,
    /// Spans: id to parent and call.
    spans: FxHashMap<u64, (u64, u32)>,
    /// Contacts of spans: index and parent span.
    span_contacts: Vec<(u32, u64)>,
    /// Work that spans show: span, parent, and the time of it.
    span_work: Vec<SpanWork>,
    /// Votes for the witness by records that say who wrote them.
    votes: [u32; 5],
    /// When something was told that no call will account for.
    words: Vec<stray::Span>,
    /// When each writer wrote last.
    wrote: steady::Writers,
    /// The first of it that has no time.
    timeless: Option<Mark>,
    /// The first crash whose time nothing tells.
    crash: Option<Mark>,
    facts: Option<SourceFacts>,
}

/// Folds the events of all sources, then links them.
#[derive(Debug, Default)]
pub struct Correlator {
    case: Case,
    access: Vec<access::AccessRow>,
    words: Vec<stray::Span>,
    /// Records of which nobody knows what they say, nor when: the first of each source.
    timeless: Vec<Mark>,
    /// POSTs of which a log tells, and POSTs that asked for nothing.
    post_rows: Vec<accounts::PostRow>,
    /// Text that names a request: the path of a POST, or none for a `tools/call`.
    mentions: Vec<accounts::Mention>,
    /// The first of it that is not kept.
    uncompared: Option<Mark>,
    bare_posts: Vec<accounts::BarePost>,
    /// Work that spans show outside of every call of their source.
    work: Vec<Timestamp>,
    /// Sources with a crash that nothing tells the time of.
    crashed: Vec<Mark>,
    /// Files that a kernel trace shows being written.
    written: Vec<Mark>,
    keys: KeyPaths,
    traces: traces::Contexts,
    lane: Lane,
    /// Each event leaves a row in the trail.
    keeps_trail: bool,
    /// Something that belongs to the capture was not read, and is no source.
    unread: bool,
    /// Hidden files or folders that may hold logs were not read.
    hidden: bool,
}

impl Correlator {
    /// A correlator that looks for keys at these places.
    pub fn with_keys(keys: KeyPaths) -> Self {
        Self { keys, ..Self::default() }
    }

    /// Begins the next source. Sources must come in their stable order, numbered from 0.
    pub fn begin(&mut self, meta: &SourceMeta<'_>) {
        let source = u32::try_from(self.case.sources.len()).expect("fewer than 2^32 sources");
        self.lane = Lane {
            source,
            open: open::OpenCalls::new(u32::try_from(self.case.strands.len()).expect("fewer than 2^32 strands")),
            meta_witness: meta.witness,
            witness_hint: meta.witness_hint,
            zone: meta.zone,
            server: meta.server.map(|name| self.case.symbols.intern(name)),
            run: meta.run.map(|name| self.case.symbols.intern(name)),
            touched: NONE,
            facts: Some(SourceFacts {
                witness: meta.witness,
                witness_is_hint: false,
                voted: false,
                server_wrote: false,
                first: None,
                last: None,
                digits: 0,
                shape: None,
                shift: 0,
                aligned: false,
                stepped: None,
                events: 0,
                lossy: false,
                breaks: Breaks::default(),
                secrets: 0,
                secret_places: Vec::new(),
            }),
            ..Lane::default()
        };
    }

    /// Takes the next event of the current source, in record order.
    pub fn push(&mut self, event: &Event<'_>) {
        if let Some(facts) = &mut self.lane.facts {
            facts.server_wrote |= event.witness == Some(Witness::Server);
        }
        if matches!(event.kind, Kind::Text(_) | Kind::Piece(_) | Kind::Syscall(_)) {
            self.watch_clock(event);
            self.free_text(event);
            return;
        }
        let mark = self.mark(event.origin, event.at);
        self.watch_clock(event);
        if let Kind::Mention(path) = event.kind {
            self.mention(path, mark);
            return;
        }
        if let Some(witness) = event.witness {
            self.lane.votes[witness as usize] += 1;
        }
        if let Some(facts) = &mut self.lane.facts {
            facts.events += 1;
        }
        match event.kind {
            Kind::Message(message) => self.message(event, mark, &message),
            Kind::Exchange(exchange) => self.exchange(event, mark, exchange),
            Kind::Step(step) => self.step(event, mark, &step),
            Kind::Reach(reach) => self.reach(event, mark, &reach),
            Kind::Remark(remark) => self.remark(event, mark, &remark),
            Kind::Span(span) => self.span(event, mark, span),
            Kind::Summary(summary) => self.summary(event, mark, summary),
            Kind::Access(access) => self.access_line(event, mark, access),
            Kind::Pollution => {
                self.noise(event);
                self.strand_event(event, mark, StrandFact::Pollution, 0, None);
            }
            Kind::Trouble(trouble) => {
                self.noise(event);
                self.crash(event, trouble.kind);
                let name = trouble.name.or(Some(trouble.class)).map(|name| self.case.symbols.intern(name));
                self.strand_event(event, mark, StrandFact::Trouble(trouble.kind), 0, name);
            }
            Kind::Text(_) | Kind::Piece(_) | Kind::Syscall(_) | Kind::Mention(_) => {}
        }
        self.note_told(event, mark);
    }

    /// Notes a record of the current source that holds a secret: its place, never its words.
    pub fn secret(&mut self, origin: Origin) {
        if let Some(facts) = &mut self.lane.facts {
            facts.secrets += 1;
            if facts.secret_places.len() < facts::SECRET_PLACES {
                facts.secret_places.push(origin);
            }
        }
    }

    /// How many requests of the current source are no longer tracked: too many were open at once.
    pub fn untracked(&self) -> u64 {
        self.lane.open.untracked()
    }

    /// Notes trouble while the current source was read: what it takes from the record around its place.
    pub fn trouble(&mut self, kind: NoticeKind, origin: Option<Origin>) {
        if let Some(facts) = &mut self.lane.facts {
            facts.breaks.notice(kind, origin);
        }
    }

    /// Ends the current source. `lossy` when data was lost while reading it.
    pub fn end(&mut self, lossy: bool) {
        self.close_lane();
        let mut facts = self.lane.facts.take().expect("begin was called");
        facts.lossy = lossy;
        self.case.sources.push(facts);
    }

    /// Something that belongs to the capture could not be read at all: absence is no evidence anywhere.
    pub fn not_all_read(&mut self) {
        self.unread = true;
    }

    /// Hidden files or folders were left out that may hold logs: clients keep theirs in such.
    pub fn hidden_left_out(&mut self) {
        self.hidden = true;
    }

    /// Joins what was folded.
    pub fn link(mut self) -> Case {
        self.place_clocks();
        self.gather_traces();
        self.join_runs();
        self.compare_clocks();
        self.merge_views();
        self.resolve_access();
        self.note_library_posts();
        self.note_mentions();
        self.note_lost_upstreams();
        self.bind();
        self.group_operations();
        self.gather_stray();
        self.finish()
    }

    /// The instant of a stamp of the current source, by the zone that an option gives.
    fn instant(&self, stamp: Stamp) -> Timestamp {
        let zone = if stamp.shape == Shape::Utc { 0 } else { self.lane.zone.unwrap_or(0) };
        Timestamp(stamp.at.0.saturating_sub(i64::from(zone) * crate::time::SECOND))
    }

    /// The mark of an event; keeps the source's span of time.
    fn mark(&mut self, origin: Origin, at: Option<Stamp>) -> Mark {
        let Some(stamp) = at else { return Mark { origin, at: None } };
        let at = self.instant(stamp);
        if let Some(facts) = &mut self.lane.facts {
            facts.breaks.stamp(origin, at);
            facts.first = facts.first.map_or(Some(at), |first| Some(first.min(at)));
            facts.last = facts.last.map_or(Some(at), |last| Some(last.max(at)));
            facts.digits = facts.digits.max(stamp.digits);
            let lacks = match stamp.shape {
                Shape::Local if self.lane.zone.is_some() => Shape::Utc,
                shape => shape,
            };
            facts.shape = facts.shape.max(Some(lacks));
        }
        Mark { origin, at: Some(at) }
    }

    /// Adds a sighting to a call. Rows hang in order of recording.
    fn sight(&mut self, call: u32, seen: Seen, witness: Witness, mark: Mark, number: i32) {
        let row = u32::try_from(self.case.sightings.len()).expect("fewer than 2^32 sightings");
        let slot = &mut self.case.calls[call as usize].sightings;
        let last = std::mem::replace(slot, row);
        let first = match self.case.sightings.get_mut(last as usize) {
            Some(last) => std::mem::replace(&mut last.next, row),
            None => row,
        };
        self.case.sightings.push(Sighting { seen, witness, mark, number, next: first });
    }

    /// What the last further sighting of a call was.
    fn last_seen(&self, call: u32) -> Option<Seen> {
        let last = self.case.calls[call as usize].sightings;
        self.case.sightings.get(last as usize).map(|row| row.seen)
    }

    fn rpc_id(&mut self, id: Id<'_>) -> RpcId {
        match id {
            Id::Null => RpcId::Null,
            Id::Int(number) => RpcId::Int(number),
            Id::Text(text) => RpcId::Text(self.case.symbols.intern(text)),
            Id::Raw(raw) => RpcId::Raw(self.case.symbols.intern(raw)),
        }
    }

    fn intern(&mut self, name: Option<&str>) -> Option<Symbol> {
        name.filter(|name| !name.is_empty()).map(|name| self.case.symbols.intern(name))
    }

    /// Who saw an event: the record, else the source, else nobody in particular.
    fn witness_of(&self, event: &Event<'_>) -> Witness {
        event.witness.or(self.lane.meta_witness).or(self.lane.witness_hint).unwrap_or(Witness::Proxy)
    }
}

/// The source of an origin, as an index.
fn source_index(origin: Origin) -> usize {
    let SourceId(number) = origin.source;
    number as usize
}
