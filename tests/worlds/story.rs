//! Makes up what happens in a world. Everything here is what real clients, gateways and servers do, and what fools who
//! reads their logs in a straight line: refusals behind an effect, failures that were none, effects that nobody logs.

use fastrand::Rng;

use super::truth::{
    Answer, Ask, Attempt, Author, Body, Dispatch, Ending, Fact, Intent, Life, MILLISECOND, Nanos, Nature, SECOND,
    Transport, What, World,
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
struct Habits {
    /// The server talks to the outside when it starts.
    at_start: bool,
    /// The server tells of progress.
    progress: bool,
    /// The server goes on working when it has answered.
    behind_answer: bool,
    /// Each connection of the client counts its requests from zero.
    counts_anew: bool,
}

struct Story<'r> {
    rng: &'r mut Rng,
    world: World,
    habits: Habits,
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
    fn span(&mut self, low: Nanos, high: Nanos) -> Nanos {
        self.rng.i64(low..=high)
    }

    fn fact(&mut self, at: Nanos, what: What) {
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
        let mut work = Work { story: self, life, dispatch: 0, at };
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
enum Came {
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

/// A server process at work on one request. `None` means that nothing comes back: it hangs, or it died.
struct Work<'s, 'r> {
    story: &'s mut Story<'r>,
    life: usize,
    dispatch: usize,
    at: Nanos,
}

impl Work<'_, '_> {
    fn alive(&self) -> bool {
        self.story.world.lives[self.life].lives(self.at)
    }

    /// Time goes by. `None`: the process died in it.
    fn wait(&mut self, low: Nanos, high: Nanos) -> Option<()> {
        self.at += self.story.span(low * 1_000, high * 1_000) * 1_000;
        self.alive().then_some(())
    }

    fn note(&mut self, what: What) {
        self.story.fact(self.at, what);
    }

    fn one_in(&mut self, count: u8) -> bool {
        self.story.rng.u8(..count) == 0
    }

    fn respond(&mut self, status: u16, body: Body) -> Came {
        let answer = Answer { author: Author::Server, status, body };
        self.note(What::Responded { dispatch: self.dispatch, answer: answer.clone() });
        Came::Answer(answer, self.at)
    }

    fn request(&mut self, attempt: usize) -> Option<Came> {
        let ask = self.story.world.attempts[attempt].ask;
        let session = self.story.world.attempts[attempt].life;
        self.dispatch = self.story.world.dispatches.len();
        let known = session == self.life || ask == Ask::Initialize;
        let intent = match ask {
            Ask::Call { intent } => Some(self.story.world.intents[intent].clone()),
            _ => None,
        };
        let http = self.story.world.transport == Transport::Http;
        let dispatch = Dispatch { attempt, life: self.life, entered: false, effects: 0, contacts: 0 };
        self.story.world.dispatches.push(dispatch);
        if http && !known {
            let body = Body::Error { code: -32_600, message: "Session not found".to_owned(), nameless: true };
            return Some(self.respond(404, body));
        }
        if http && intent.is_some() && self.one_in(25) {
            return Some(self.respond(401, Body::Plain("{\"error\":\"invalid_token\"}")));
        }
        self.note(What::Received { dispatch: self.dispatch });
        self.wait(0, 3)?;
        let Some(intent) = intent else {
            return Some(self.respond(200, Body::Result));
        };
        if intent.tool == "refund" {
            return Some(self.respond(200, Body::ToolError("Unknown tool: refund".to_owned())));
        }
        if intent.misfit {
            let text = model_error(&intent.tool);
            return Some(self.respond(200, Body::ToolError(text)));
        }
        if self.one_in(12) {
            self.note(What::Denied { dispatch: self.dispatch });
            self.wait(0, 2)?;
            return Some(self.respond(200, Body::ToolError("denied by policy".to_owned())));
        }
        self.run_tool(&intent)
    }

    /// The tool's own code.
    fn run_tool(&mut self, intent: &Intent) -> Option<Came> {
        self.story.world.dispatches[self.dispatch].entered = true;
        if self.one_in(3) {
            self.note(What::Granted { dispatch: self.dispatch });
        }
        self.wait(0, 30)?;
        if self.story.habits.progress {
            self.note(What::Progress { dispatch: self.dispatch });
        }
        let fails_early = self.one_in(8);
        if fails_early && self.one_in(2) {
            return Some(self.fail(intent));
        }
        let well = match intent.nature {
            Nature::Pure => true,
            Nature::Fetch => self.contact(false)?,
            Nature::Pay => self.contact(true)?,
            Nature::Save => {
                self.story.world.dispatches[self.dispatch].effects += 1;
                self.note(What::Changed { dispatch: self.dispatch });
                true
            }
        };
        self.wait(0, 40)?;
        if self.one_in(14) {
            return None;
        }
        if self.one_in(6) {
            self.wait(1_500, 70_000)?;
        }
        let came = if well && !self.one_in(6) { self.respond(200, Body::Result) } else { self.fail(intent) };
        if self.story.habits.behind_answer && intent.nature == Nature::Pay && self.one_in(2) {
            self.wait(1, 30)?;
            self.contact(true)?;
        }
        Some(came)
    }

    /// A contact with a service: whether it did what was asked.
    fn contact(&mut self, write: bool) -> Option<bool> {
        let dispatch = self.dispatch;
        let contact = self.story.world.dispatches[dispatch].contacts;
        self.story.world.dispatches[dispatch].contacts += 1;
        self.note(What::ContactSent { dispatch, contact, write });
        if self.one_in(12) {
            self.note(What::ContactAnswered { dispatch, contact, write, status: 0 });
            return Some(false);
        }
        let status = *self.story.rng.choice(&[201, 201, 201, 200, 500, 422, 403, 503]).unwrap_or(&201);
        // A service may fail when it has done its work.
        let applied = status < 300 || status >= 500 && self.one_in(2);
        if applied && write {
            self.story.world.dispatches[dispatch].effects += 1;
        }
        self.wait(1, 200)?;
        self.note(What::ContactAnswered { dispatch, contact, write, status });
        Some(status < 300)
    }

    /// An error that a handler raises, in whatever words and with whatever code.
    fn fail(&mut self, intent: &Intent) -> Came {
        let tool = &intent.tool;
        let error = |code, message: &str| Body::Error { code, message: message.to_owned(), nameless: false };
        let body = match self.story.rng.u8(..12) {
            0 => Body::ToolError(format!("Error executing tool {tool}: {}", model_error("Invoice"))),
            1 => Body::ToolError(format!("Error executing tool {tool}: Unknown tool: ledger")),
            2 => Body::ToolError("Unknown tool: ledger".to_owned()),
            3 => error(-32_602, "Invalid params"),
            4 => error(-32_601, "Method not found"),
            5 => error(-32_600, "Session not found"),
            6 => error(-32_603, "Internal error"),
            7 => error(-32_001, "Request timed out"),
            8 => Body::ToolError("401 Unauthorized".to_owned()),
            9 => error(-32_700, "Parse error"),
            10 => Body::ToolError(format!("Error executing tool {tool}: connection refused")),
            _ => Body::ToolError(format!("Error executing tool {tool}: ledger is busy")),
        };
        self.respond(200, body)
    }
}

/// The words of pydantic about a model's arguments.
fn model_error(model: &str) -> String {
    let model = if model == "Invoice" { model.to_owned() } else { format!("{model}Arguments") };
    let head = if model == "Invoice" {
        String::new()
    } else {
        format!("Error executing tool {}: ", &model[..model.len() - 9])
    };
    format!(
        "{head}1 validation error for {model}\namount\n  Input should be a valid integer [type=int_parsing, input_value='x', input_type=str]\n    For further information visit https://errors.pydantic.dev/2.14/v/int_parsing"
    )
}
