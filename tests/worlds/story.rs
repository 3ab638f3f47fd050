//! Makes up what happens in a world. Everything here is what real clients, gateways and servers do, and what fools who
//! reads their logs in a straight line: refusals behind an effect, failures that were none, effects that nobody logs.

use fastrand::Rng;

use super::{
    truth::{
        Answer, Ask, Attempt, Author, Body, Ending, Fact, Intent, Life, MILLISECOND, Nanos, Nature, SECOND, Transport,
        What, World,
    },
    work::Work,
};

/// 2026-07-22T14:00:00Z.
const BEGIN: Nanos = 1_784_728_800 * SECOND;

/// Makes up a world.
pub(crate) fn tell(rng: &mut Rng) -> World {
    let transport = if rng.bool() { Transport::Stdio } else { Transport::Http };
    let gateway = transport == Transport::Http && rng.u8(..3) > 0;
    let mut story = Story {
        patience: if rng.bool() { 2 * SECOND } else { 60 * SECOND },
        retries: rng.u8(..3),
        ids: 0,
        busy: 0,
        habits: Habits {
            at_start: rng.u8(..6) == 0,
            progress: rng.u8(..4) == 0,
            behind_answer: rng.u8(..6) == 0,
            counts_anew: rng.bool(),
        },
        world: World {
            transport,
            gateway,
            lives: Vec::new(),
            intents: Vec::new(),
            attempts: Vec::new(),
            dispatches: Vec::new(),
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
}

pub(super) struct Story<'r> {
    pub(super) rng: &'r mut Rng,
    pub(super) world: World,
    pub(super) habits: Habits,
    /// How long the client waits.
    patience: Nanos,
    /// How often the client sends again.
    retries: u8,
    ids: u64,
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
        at = self.greet(0, at + 20 * MILLISECOND);
        for _ in 0..self.rng.usize(1..=4) {
            let end = self.pursue(at);
            // Some calls are made while others are open.
            at = if self.rng.u8(..3) == 0 { at + self.span(1, 40) * MILLISECOND } else { end.max(at) };
            at += self.span(1, 3_000) * MILLISECOND;
        }
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

    /// The handshake, and mostly a list of tools.
    fn greet(&mut self, life: usize, at: Nanos) -> Nanos {
        let at = self.attempt(Ask::Initialize, life, at);
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
        for _ in 0..=self.retries {
            let (life, begin) = self.connection(at);
            at = self.attempt(Ask::Call { intent }, life, begin);
            let ended = self.world.attempts.last().map(|attempt| attempt.ending.clone());
            let repeat = match ended {
                Some(Ending::Answered(answer)) if answer.body == Body::Result => self.rng.u8(..10) == 0,
                Some(Ending::Open) => false,
                _ => self.rng.u8(..3) > 0,
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
        let life = self.world.lives.len() - 1;
        let session = if self.world.gateway { 0 } else { life };
        let dead = self.world.lives[session].dies.is_some_and(|dies| dies <= at);
        if !dead || self.rng.u8(..5) == 0 {
            return (session, at);
        }
        let next = self.start(self.world.lives[session].server, at + MILLISECOND);
        if self.habits.counts_anew {
            self.ids = 0;
        }
        let at = self.greet(next, at + 20 * MILLISECOND);
        (next, at + MILLISECOND)
    }

    /// One request from the client's side. Returns when the client is done with it.
    fn attempt(&mut self, ask: Ask, life: usize, at: Nanos) -> Nanos {
        let attempt = self.world.attempts.len();
        let id = self.ids;
        self.ids += 1;
        self.world.attempts.push(Attempt { ask, life, id, ending: Ending::Open });
        if !self.world.lives[life].lives(at) && self.world.transport == Transport::Stdio {
            self.fact(at, What::NotSent { attempt });
            self.world.attempts[attempt].ending = Ending::NotSent;
            return at + MILLISECOND;
        }
        if !self.world.gateway && !self.world.lives[life].lives(at) {
            self.fact(at, What::NotSent { attempt });
            self.world.attempts[attempt].ending = Ending::NotSent;
            return at + 2 * MILLISECOND;
        }
        self.fact(at, What::Sent { attempt });
        let hop = self.span(50, 900) * 1_000;
        let answered =
            if self.world.gateway { self.forward(attempt, at + hop) } else { self.serve(attempt, life, at + hop) };
        self.receive(attempt, at, answered)
    }

    /// How the client takes what comes, or does not come.
    fn receive(&mut self, attempt: usize, sent: Nanos, answered: Came) -> Nanos {
        let hop = self.span(50, 900) * 1_000;
        let deadline = sent + self.patience;
        let fickle = matches!(self.world.attempts[attempt].ask, Ask::Call { .. }) && self.rng.u8(..25) == 0;
        let gives_up = if fickle { (sent + self.span(5, 900) * MILLISECOND).min(deadline) } else { deadline };
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
                if self.world.transport == Transport::Stdio || self.rng.bool() {
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

    /// The gateway: it may refuse, try one replica after the other, give up waiting, and replace answers.
    fn forward(&mut self, attempt: usize, at: Nanos) -> Came {
        let asks = matches!(self.world.attempts[attempt].ask, Ask::Call { .. });
        if asks && self.rng.u8(..14) == 0 {
            let (status, body) = *self.rng.choice(DOOR).unwrap_or(&DOOR[0]);
            let answer = Answer { author: Author::Gateway, status, body: Body::Plain(body) };
            return self.answer_as_gateway(attempt, answer, Vec::new(), at, at + 300_000);
        }
        let patience = if self.rng.bool() { SECOND } else { 30 * SECOND };
        let again = self.rng.u8(..3) == 0;
        let (mut now, mut upstream) = (at, Vec::new());
        for life in self.replicas(attempt) {
            let connected = self.world.lives[life].lives(now);
            self.fact(now, What::Tried { attempt, life, connected });
            if !connected {
                upstream.push((life, 502));
                now += MILLISECOND;
                continue;
            }
            match self.serve(attempt, life, now + 100_000) {
                Came::Answer(answer, done) if done - now < patience => {
                    upstream.push((life, answer.status));
                    if answer.status >= 500 && again {
                        now = done;
                        continue;
                    }
                    let answer = self.guard(answer);
                    return self.answer_as_gateway(attempt, answer, upstream, at, done + 100_000);
                }
                Came::Closed(done) if done - now < patience => {
                    upstream.push((life, 502));
                    now = done;
                }
                _ => {
                    upstream.push((life, 504));
                    now += patience;
                }
            }
            if !again {
                break;
            }
        }
        let status = upstream.last().map_or(502, |(_, status)| if *status == 504 { 504 } else { 502 });
        let answer = Answer { author: Author::Gateway, status, body: Body::Plain(page(status)) };
        self.answer_as_gateway(attempt, answer, upstream, at, now)
    }

    /// The replicas in the order in which the gateway tries them; it knows the sessions' homes only if it is told.
    fn replicas(&mut self, attempt: usize) -> Vec<usize> {
        let home = self.world.attempts[attempt].life;
        let mut latest: Vec<usize> = Vec::new();
        for server in 0..2 {
            latest.extend(self.world.lives.iter().rposition(|life| life.server == server));
        }
        latest.sort_by_key(|life| *life != home);
        if self.rng.u8(..6) == 0 {
            latest.reverse();
        }
        latest
    }

    /// A guardrail may replace what the server answered.
    fn guard(&mut self, answer: Answer) -> Answer {
        if answer.body != Body::Result || self.rng.u8(..14) > 0 {
            return answer;
        }
        Answer { author: Author::Gateway, status: 403, body: Body::Plain("{\"error\":\"response blocked by policy\"}") }
    }

    fn answer_as_gateway(
        &mut self,
        attempt: usize,
        answer: Answer,
        upstream: Vec<(usize, u16)>,
        since: Nanos,
        at: Nanos,
    ) -> Came {
        self.fact(at, What::GatewayAnswered { attempt, answer: answer.clone(), upstream, since });
        Came::Answer(answer, at)
    }

    /// One server process gets the request.
    fn serve(&mut self, attempt: usize, life: usize, at: Nanos) -> Came {
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

/// Refusals of a gateway that forwards nothing.
const DOOR: &[(u16, &str)] = &[
    (401, "{\"error\":\"invalid_token\"}"),
    (403, "{\"error\":\"forbidden\"}"),
    (429, "slow down"),
    (503, "no healthy upstream"),
    (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
];

fn page(status: u16) -> &'static str {
    if status == 504 {
        "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    } else {
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    }
}
