//! What a server process does with a request: refuse it, deny it, run a tool, fail in whatever words, hang, or die.

use super::{
    story::{Came, Story},
    truth::{Answer, Ask, Author, Body, Dispatch, Intent, Nanos, Nature, Question, Revision, Topic, Transport, What},
};

/// A server process at work on one request. `None` means that nothing comes back: it hangs, or it died.
pub(super) struct Work<'s, 'r> {
    story: &'s mut Story<'r>,
    life: usize,
    dispatch: usize,
    at: Nanos,
}

impl<'s, 'r> Work<'s, 'r> {
    /// A process that is about to get a request.
    pub(super) fn new(story: &'s mut Story<'r>, life: usize, at: Nanos) -> Self {
        Self { story, life, dispatch: 0, at }
    }

    pub(super) fn alive(&self) -> bool {
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

    pub(super) fn request(&mut self, attempt: usize) -> Option<Came> {
        let ask = self.story.world.attempts[attempt].ask;
        let session = self.story.world.attempts[attempt].life;
        self.dispatch = self.story.world.dispatches.len();
        let stateless = self.story.world.revision.is_stateless();
        let known = session == self.life || ask == Ask::Initialize || stateless;
        let intent = match ask {
            Ask::Call { intent } => Some(self.story.world.intents[intent].clone()),
            _ => None,
        };
        let http = self.story.world.transport == Transport::Http;
        let context = self.story.context_passed_on(attempt);
        let id = self.story.id_passed_on(attempt);
        let dispatch = Dispatch { attempt, life: self.life, context, id, entered: false, effects: 0, contacts: 0 };
        self.story.world.dispatches.push(dispatch);
        if http && !known {
            let body = Body::Error { code: -32_600, message: "Session not found".to_owned(), nameless: true };
            return Some(self.respond(404, body));
        }
        if http && intent.is_some() && self.one_in(25) {
            return Some(self.respond(401, Body::Plain("{\"error\":\"invalid_token\"}")));
        }
        if http && stateless && self.one_in(30) {
            let message = "Header mismatch: Mcp-Name header does not match the request body".to_owned();
            return Some(self.respond(400, Body::Error { code: -32_020, message, nameless: false }));
        }
        self.note(What::Received { dispatch: self.dispatch });
        self.wait(0, 3)?;
        let Some(intent) = intent else {
            return Some(self.respond(200, Body::Result));
        };
        if intent.tool == "refund" && self.story.habits.errs_for_tools {
            return Some(self.err(-32_602, "Unknown tool: refund"));
        }
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
        let state = self.story.world.attempts[attempt].state.clone();
        if state.is_some_and(|state| self.is_spent(attempt, &state)) {
            return Some(self.err(-32_602, "Invalid or expired requestState"));
        }
        self.run_tool(&intent)
    }

    /// Whether a state was used by another request that came before.
    fn is_spent(&self, attempt: usize, state: &str) -> bool {
        let world = &self.story.world;
        let mut earlier = world.dispatches.iter().filter(|other| other.attempt != attempt && other.entered);
        self.story.habits.spends_states
            && earlier.any(|other| world.attempts[other.attempt].state.as_deref() == Some(state))
    }

    /// An error of the protocol. Servers without sessions derive the status from the code, whoever raised it.
    fn err(&mut self, code: i64, message: &str) -> Came {
        let derived = self.story.world.transport == Transport::Http && self.story.world.revision.is_stateless();
        let status = match code {
            -32_700 | -32_600 | -32_602 if derived => 400,
            -32_601 if derived => 404,
            _ => 200,
        };
        self.respond(status, Body::Error { code, message: message.to_owned(), nameless: false })
    }

    /// The tool asks the client, and waits for what it says.
    fn ask(&mut self) -> Option<()> {
        if !self.story.habits.asks || self.one_in(2) {
            return Some(());
        }
        let topics: &[Topic] = match self.story.world.revision {
            Revision::R2024 | Revision::March2025 => &[Topic::Sampling, Topic::Roots, Topic::Ping],
            _ => &[Topic::Sampling, Topic::Elicitation, Topic::Roots, Topic::Ping],
        };
        let topic = *self.story.rng.choice(topics).unwrap_or(&Topic::Ping);
        let attempt = self.story.world.dispatches[self.dispatch].attempt;
        let client = self.story.world.attempts[attempt].client;
        let question = self.story.world.questions.len();
        let asked = self.story.world.questions.iter().filter(|other| {
            let dispatch = &self.story.world.dispatches[other.dispatch];
            dispatch.life == self.life && self.story.world.attempts[dispatch.attempt].client == client
        });
        let id = asked.count() as u64;
        self.story.world.questions.push(Question { dispatch: self.dispatch, id, topic });
        self.note(What::Asked { question });
        self.wait(2, 400)?;
        // On HTTP, the question went to a stream that is closed when the client stops waiting.
        let heard = self.story.world.transport == Transport::Stdio || self.at < self.story.gives_up;
        if !heard || self.one_in(8) {
            return None;
        }
        self.note(What::Replied { question });
        self.wait(1, 5)
    }

    /// The tool tells what it wants to know before it goes on.
    fn want(&mut self) -> Option<Came> {
        let attempt = self.story.world.dispatches[self.dispatch].attempt;
        if !self.story.habits.rounds || self.story.world.attempts[attempt].state.is_some() {
            return None;
        }
        let state = format!("v1.{:032x}", self.story.rng.u128(..));
        Some(self.respond(200, Body::InputRequired(state)))
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
        let asks_late = self.one_in(4);
        if !asks_late {
            self.ask()?;
            if let Some(came) = self.want() {
                return Some(came);
            }
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
        if asks_late {
            self.ask()?;
            if let Some(came) = self.want() {
                return Some(came);
            }
        }
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
        if self.story.world.transport == Transport::Http && self.one_in(6) {
            let (status, text) =
                *self.story.rng.choice(&[(503, "busy"), (500, "Internal Server Error")]).unwrap_or(&(503, "busy"));
            return self.respond(status, Body::Plain(text));
        }
        let body = match self.story.rng.u8(..12) {
            0 => Body::ToolError(format!("Error executing tool {tool}: {}", model_error("Invoice"))),
            1 => Body::ToolError(format!("Error executing tool {tool}: Unknown tool: ledger")),
            2 => Body::ToolError("Unknown tool: ledger".to_owned()),
            3 => return self.err(-32_602, "Invalid params"),
            4 => return self.err(-32_601, "Method not found"),
            5 => return self.err(-32_600, "Session not found"),
            6 => return self.err(-32_603, "Internal error"),
            7 => return self.err(-32_001, "Request timed out"),
            8 => Body::ToolError("401 Unauthorized".to_owned()),
            9 => return self.err(-32_700, "Parse error"),
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
