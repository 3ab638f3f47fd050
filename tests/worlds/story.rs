//! Makes up what happens in a world. Everything here is what real clients, gateways and servers do, and what fools who
//! reads their logs in a straight line: refusals behind an effect, failures that were none, effects that nobody logs.

use fastrand::Rng;

use super::{
    truth::{
        Answer, Ask, Attempt, Body, Carried, Context, Ending, Fact, Intent, Life, MILLISECOND, Nanos, Nature, Revision,
        SECOND, Transport, What, World,
    },
    work::Work,
};

/// 2026-07-22T14:00:00Z.
const BEGIN: Nanos = 1_784_728_800 * SECOND;

/// Makes up a world.
pub(crate) fn tell(rng: &mut Rng) -> World {
    let transport = if rng.bool() { Transport::Stdio } else { Transport::Http };
    let revision = *rng.choice(&Revision::ALL).unwrap_or(&Revision::June2025);
    let gateway = transport == Transport::Http && rng.u8(..3) > 0;
    let asks = rng.u8(..3) == 0;
    let mut story = Story {
        patience: if rng.bool() { 2 * SECOND } else { 60 * SECOND },
        retries: rng.u8(..3),
        clients: vec![Client::default(); if rng.u8(..96) == 0 { 2 } else { 1 }],
        client: 0,
        gives_up: 0,
        busy: 0,
        habits: Habits {
            at_start: rng.u8(..6) == 0,
            progress: rng.u8(..4) == 0,
            behind_answer: rng.u8(..6) == 0,
            counts_anew: rng.bool(),
            streams: transport == Transport::Http && rng.bool(),
            // What a gateway holds back until the answer is there reaches nobody.
            asks: asks && !revision.is_stateless() && !gateway,
            rounds: revision.is_stateless() && rng.u8(..4) == 0,
            spends_states: rng.bool(),
            errs_for_tools: rng.bool(),
            traces: *rng.choice(TRACES).unwrap_or(&Traces::Not),
            gateway_traces: rng.bool(),
            renumbers: gateway && rng.u8(..4) == 0,
        },
        world: World {
            transport,
            revision,
            gateway,
            carried: Carried { in_meta: rng.u8(..3) > 0, in_header: transport == Transport::Http && rng.bool() },
            lives: Vec::new(),
            intents: Vec::new(),
            attempts: Vec::new(),
            dispatches: Vec::new(),
            questions: Vec::new(),
            facts: Vec::new(),
        },
        rng,
    };
    story.run();
    let mut world = story.world;
    world.facts.sort_by_key(|fact| fact.at);
    world
}

/// What is the same for all calls of a world.
pub(super) struct Habits {
    /// The server talks to the outside when it starts.
    at_start: bool,
    /// The server tells of progress.
    pub(super) progress: bool,
    /// The server goes on working when it has answered.
    pub(super) behind_answer: bool,
    /// Each connection of the client counts its requests from zero.
    counts_anew: bool,
    /// Tools answer with event streams.
    streams: bool,
    /// Tools ask the client, by requests of the server.
    pub(super) asks: bool,
    /// Tools ask the client, by an answer that is not the last.
    pub(super) rounds: bool,
    /// A state can be used once.
    pub(super) spends_states: bool,
    /// A tool that is not there is an error of the protocol.
    pub(super) errs_for_tools: bool,
    traces: Traces,
    /// A gateway makes spans of its own.
    gateway_traces: bool,
    /// A gateway counts what it sends on.
    renumbers: bool,
}

/// What a client that makes spans calls one trace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traces {
    /// It makes none.
    Not,
    /// Each request.
    Request,
    /// All attempts of one call.
    Call,
    /// All that it does.
    Session,
    /// A request here and there carries the whole context of the one before.
    Reused,
}

const TRACES: &[Traces] = &[
    Traces::Not,
    Traces::Not,
    Traces::Not,
    Traces::Not,
    Traces::Request,
    Traces::Call,
    Traces::Session,
    Traces::Reused,
];

/// Where a client is.
#[derive(Clone, Copy, Default)]
struct Client {
    ids: u64,
    /// The process that it has a session with.
    life: usize,
}

pub(super) struct Story<'r> {
    pub(super) rng: &'r mut Rng,
    pub(super) world: World,
    pub(super) habits: Habits,
    /// How long the client waits.
    patience: Nanos,
    /// How often the client sends again.
    retries: u8,
    clients: Vec<Client>,
    /// Which of them acts.
    client: usize,
    /// When the client that acts stops waiting.
    pub(super) gives_up: Nanos,
    /// No call that was begun ends after this.
    busy: Nanos,
}

impl Story<'_> {
    fn run(&mut self) {
        let servers = if self.world.gateway && self.rng.bool() { 2 } else { 1 };
        let mut at = BEGIN + self.span(1, 500) * MILLISECOND;
        for server in 0..servers {
            self.start(server, at);
        }
        let mut next: Vec<Nanos> = Vec::new();
        for client in 0..self.clients.len() {
            self.client = client;
            if client > 0 && self.world.transport == Transport::Stdio {
                self.clients[client].life = self.start(0, at);
            }
            next.push(self.greet(self.clients[client].life, at + 20 * MILLISECOND));
            at += self.span(0, 30) * MILLISECOND;
        }
        for _ in 0..self.rng.usize(1..=4) * next.len() {
            // Whoever is free first acts next.
            self.client = (0..next.len()).min_by_key(|client| next[*client]).unwrap_or(0);
            let begin = next[self.client];
            let pings = !self.world.revision.is_stateless() && self.rng.u8(..12) == 0;
            let life = self.clients[self.client].life;
            let begin = if pings { self.attempt(Ask::Ping, life, begin) + MILLISECOND } else { begin };
            let end = self.pursue(begin);
            // Some calls are made while others are open.
            let open = self.rng.u8(..3) == 0;
            let then = if open { begin + self.span(1, 40) * MILLISECOND } else { end.max(begin) };
            next[self.client] = then + self.span(1, 3_000) * MILLISECOND;
        }
        at = next.into_iter().max().unwrap_or(at);
        let last = self.busy.max(at) + SECOND;
        for life in 0..self.world.lives.len() {
            if self.world.lives[life].dies.is_none() && self.rng.bool() {
                self.fact(last, What::Exited { life });
            }
        }
    }

    /// A number from low to high.
    pub(super) fn span(&mut self, low: Nanos, high: Nanos) -> Nanos {
        self.rng.i64(low..=high)
    }

    pub(super) fn fact(&mut self, at: Nanos, what: What) {
        self.busy = self.busy.max(at);
        self.world.facts.push(Fact { at, what });
    }

    fn start(&mut self, server: usize, at: Nanos) -> usize {
        let dies = (self.rng.u8(..5) == 0).then(|| at + self.span(500, 12_000) * MILLISECOND);
        let life = self.world.lives.len();
        let pid = 4_000 + self.rng.u32(..60_000);
        let session = format!("{:032x}", self.rng.u128(..));
        self.world.lives.push(Life { server, pid, session, from: at, dies });
        self.fact(at, What::Spawned { life });
        if let Some(dies) = dies {
            self.fact(dies, What::Exited { life });
        }
        if self.habits.at_start {
            self.fact(at + 5 * MILLISECOND, What::Background { life });
        }
        life
    }

    /// The handshake, where there is one, and mostly a list of tools.
    fn greet(&mut self, life: usize, at: Nanos) -> Nanos {
        let at = match self.world.revision.is_stateless() {
            false => self.attempt(Ask::Initialize, life, at),
            true if self.rng.bool() => self.attempt(Ask::Discover, life, at),
            true => at,
        };
        if self.rng.u8(..4) > 0 { self.attempt(Ask::ToolsList, life, at + MILLISECOND) } else { at }
    }

    /// Calls a tool, and perhaps calls it again.
    fn pursue(&mut self, at: Nanos) -> Nanos {
        let nature = match self.rng.u8(..8) {
            0 => Nature::Pure,
            1 => Nature::Fetch,
            2 | 3 => Nature::Save,
            _ => Nature::Pay,
        };
        let missing = self.rng.u8(..12) == 0;
        let tool = if missing { "refund" } else { nature.tool() };
        let nature = if missing { Nature::Pure } else { nature };
        // Equal amounts are equal wishes to whoever reads the logs.
        let amount = if self.rng.u8(..6) == 0 { 5 } else { self.rng.u32(10..10_000) };
        let known = self.world.intents.iter().position(|known| known.tool == tool && known.amount == amount);
        let intent = known.unwrap_or(self.world.intents.len());
        if known.is_none() {
            let misfit = self.rng.u8(..12) == 0;
            self.world.intents.push(Intent { nature, tool: tool.to_owned(), amount, misfit });
        }
        let mut at = at;
        let mut state = None;
        for _ in 0..=self.retries + u8::from(self.habits.rounds) {
            let (life, begin) = self.connection(at);
            at = self.request(Ask::Call { intent }, life, begin, state.clone());
            let ended = self.world.attempts.last().map(|attempt| attempt.ending.clone());
            let repeat = match ended {
                Some(Ending::Answered(Answer { body: Body::InputRequired(given), .. })) => {
                    state = Some(given);
                    self.rng.u8(..5) > 0
                }
                Some(Ending::Answered(answer)) if answer.body == Body::Result => self.rng.u8(..10) == 0,
                Some(Ending::Open) => false,
                _ => {
                    // Some begin again, some send the same continuation again.
                    state = state.filter(|_| self.rng.bool());
                    self.rng.u8(..3) > 0
                }
            };
            if !repeat {
                break;
            }
            at += self.span(1, 800) * MILLISECOND;
        }
        at
    }

    /// Where the client sends next, and when it can: a dead process is started again, mostly.
    fn connection(&mut self, at: Nanos) -> (usize, Nanos) {
        let life = self.clients[self.client].life;
        let dead = self.world.lives[life].dies.is_some_and(|dies| dies <= at);
        if !dead || self.rng.u8(..5) == 0 {
            return (life, at);
        }
        let server = self.world.lives[life].server;
        let shared = self.world.transport == Transport::Http;
        let other = self.world.lives.iter().rposition(|life| shared && life.server == server && life.lives(at));
        let next = match other {
            Some(other) => other,
            None => self.start(server, at + MILLISECOND),
        };
        self.clients[self.client].life = next;
        if self.habits.counts_anew {
            self.clients[self.client].ids = 0;
        }
        let at = self.greet(next, at + 20 * MILLISECOND);
        (next, at + MILLISECOND)
    }

    fn attempt(&mut self, ask: Ask, life: usize, at: Nanos) -> Nanos {
        self.request(ask, life, at, None)
    }

    /// One request from the client's side. Returns when the client is done with it.
    fn request(&mut self, ask: Ask, life: usize, at: Nanos, state: Option<String>) -> Nanos {
        let attempt = self.world.attempts.len();
        let client = self.client;
        let id = self.clients[client].ids;
        self.clients[client].ids += 1;
        let streams = self.habits.streams && matches!(ask, Ask::Call { .. });
        let context = self.context(ask);
        self.world.attempts.push(Attempt { ask, life, client, id, state, context, streams, ending: Ending::Open });
        let is_call = matches!(ask, Ask::Call { .. });
        let fickle = is_call && self.rng.u8(..25) == 0;
        let patience = if fickle { (self.span(5, 900) * MILLISECOND).min(self.patience) } else { self.patience };
        self.gives_up = at + patience;
        if !self.world.lives[life].lives(at) && !self.world.gateway {
            self.fact(at, What::NotSent { attempt });
            self.world.attempts[attempt].ending = Ending::NotSent;
            return at + MILLISECOND;
        }
        self.fact(at, What::Sent { attempt });
        let hop = self.span(50, 900) * 1_000;
        let answered =
            if self.world.gateway { self.forward(attempt, at + hop) } else { self.serve(attempt, life, at + hop) };
        self.receive(attempt, at, answered)
    }

    /// The context of the next request.
    fn context(&mut self, ask: Ask) -> Option<Context> {
        let own = Context { trace: self.rng.u128(1..), span: self.rng.u64(1..) };
        let known = |attempt: &&Attempt| attempt.client == self.client && attempt.context.is_some();
        let mut earlier = self.world.attempts.iter().filter(known).rev();
        let trace = match self.habits.traces {
            Traces::Not => return None,
            Traces::Request => None,
            Traces::Call => earlier.find(|attempt| attempt.ask == ask && matches!(ask, Ask::Call { .. })),
            Traces::Session => earlier.next(),
            Traces::Reused if self.rng.u8(..3) == 0 => return earlier.next().map_or(Some(own), |last| last.context),
            Traces::Reused => None,
        };
        let trace = trace.and_then(|attempt| attempt.context).map_or(own.trace, |context| context.trace);
        Some(Context { trace, ..own })
    }

    /// The context with which a request arrives at a server, where anything carries it.
    pub(super) fn context_passed_on(&mut self, attempt: usize) -> Option<Context> {
        let Carried { in_meta, in_header } = self.world.carried;
        let context = self.world.attempts[attempt].context.filter(|_| in_meta || in_header)?;
        // Gateways change headers, and leave bodies alone.
        let renews = self.world.gateway && self.habits.gateway_traces && in_header && !in_meta;
        let span = if renews { self.rng.u64(1..) } else { context.span };
        Some(Context { span, ..context })
    }

    /// The id with which a request arrives at a server.
    pub(super) fn id_passed_on(&self, attempt: usize) -> u64 {
        let own = self.world.attempts[attempt].id;
        if self.habits.renumbers { 9_000 + self.world.dispatches.len() as u64 } else { own }
    }

    /// How the client takes what comes, or does not come.
    fn receive(&mut self, attempt: usize, sent: Nanos, answered: Came) -> Nanos {
        let hop = self.span(50, 900) * 1_000;
        let deadline = sent + self.patience;
        let gives_up = self.gives_up;
        let (ending, at) = match answered {
            Came::Answer(answer, at) if at + hop <= gives_up => {
                self.fact(at + hop, What::Delivered { attempt, answer: answer.clone() });
                (Ending::Answered(answer), at + hop)
            }
            Came::Closed(at) if at + hop <= gives_up => {
                self.fact(at + hop, What::Closed { attempt });
                (Ending::Closed, at + hop)
            }
            late => {
                self.fact(gives_up, What::TimedOut { attempt });
                // Without sessions, a stream that is closed is a call that is cancelled.
                let tells = !self.world.revision.is_stateless() && self.rng.bool();
                if self.world.transport == Transport::Stdio || tells {
                    self.fact(gives_up + 100_000, What::CancelSent { attempt });
                }
                if let Came::Answer(answer, at) = late
                    && self.world.transport == Transport::Stdio
                {
                    self.fact(at + hop, What::Late { attempt, answer });
                }
                (if gives_up < deadline { Ending::Cancelled } else { Ending::TimedOut }, gives_up)
            }
        };
        self.world.attempts[attempt].ending = ending;
        at
    }

    /// One server process gets the request.
    pub(super) fn serve(&mut self, attempt: usize, life: usize, at: Nanos) -> Came {
        let dies = self.world.lives[life].dies;
        let mut work = Work::new(self, life, at);
        if !work.alive() {
            return Came::Closed(at);
        }
        let came = work.request(attempt);
        match (came, dies) {
            (Some(came), _) => came,
            (None, Some(dies)) => Came::Closed(dies),
            (None, None) => Came::Nothing,
        }
    }
}

/// What comes back from where a request was sent.
pub(super) enum Came {
    Answer(Answer, Nanos),
    Closed(Nanos),
    Nothing,
}
