//! Spans in JSON lines, as the exporter of an OpenTelemetry SDK writes them: each when it ends, of a server process or of
//! the client.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{Clock, File, Shows, messages};
use crate::worlds::truth::{Answer, Ask, Author, Body, Context, Nanos, Transport, What, World};

/// The spans of one server process.
pub(super) fn server(world: &World, of: usize, clock: Clock, rng: &mut Rng) -> File {
    let mut file = File::of_lines(format!("server/spans-{of}.jsonl"));
    let run = rng.bool().then(|| format!("run_{of:04}"));
    let spans = Spans { world, clock, has_ids: rng.u8(..3) > 0, service: "acme", run };
    let is_mine = |dispatch: usize| world.dispatches[dispatch].life == of;
    for fact in &world.facts {
        match &fact.what {
            What::Responded { dispatch, answer } if is_mine(*dispatch) => {
                let received = spans.when(|what| matches!(what, What::Received { dispatch: it } if it == dispatch));
                if let Some(received) = received {
                    let text = spans.served(*dispatch, answer, (received, fact.at));
                    let shows = if spans.has_ids { Shows::Received(*dispatch) } else { Shows::Got(*dispatch) };
                    file.push(text, Some((world.dispatches[*dispatch].attempt, shows)));
                }
            }
            What::ContactAnswered { dispatch, contact, write, status } if is_mine(*dispatch) => {
                let applied = *write && (200..300).contains(status);
                let about = (world.dispatches[*dispatch].attempt, super::contact(*dispatch, *contact, applied));
                let is_start = |what: &What| matches!(what, What::ContactSent { dispatch: it, contact: number, .. } if it == dispatch && number == contact);
                let sent = spans.when(is_start).unwrap_or(fact.at);
                file.push(spans.contact(*dispatch, *contact, (*write, *status), (sent, fact.at)), Some(about));
            }
            What::Background { life } if *life == of => {
                let own = Context { trace: 0xB000 + of as u128, span: 0xB000 + of as u64 };
                file.push(spans.outbound(own, None, ("POST", "hello", 200), (fact.at, fact.at + 1_000_000)), None);
            }
            _ => {}
        }
    }
    if world.lives[of].dies.is_some() {
        // What waits for the next export dies with the process.
        file.lines.truncate(file.lines.len() - rng.usize(0..=file.lines.len().min(4)));
    }
    file
}

/// The spans of the client, if it makes any.
pub(super) fn client(world: &World, clock: Clock, rng: &mut Rng) -> Option<File> {
    world.attempts.iter().any(|attempt| attempt.context.is_some()).then_some(())?;
    let mut file = File::of_lines("client/spans.jsonl");
    let spans = Spans { world, clock, has_ids: rng.bool(), service: "lab", run: None };
    for fact in &world.facts {
        let (attempt, answer) = match &fact.what {
            What::Delivered { attempt, answer } => (*attempt, Some(answer)),
            What::TimedOut { attempt } | What::Closed { attempt } => (*attempt, None),
            _ => continue,
        };
        let sent = spans.when(|what| matches!(what, What::Sent { attempt: it } if *it == attempt));
        let (Some(sent), Some(context)) = (sent, world.attempts[attempt].context) else { continue };
        let error = match answer {
            None => Some("TimeoutError".to_owned()),
            Some(answer) if answer.author == Author::Gateway || answer.status != 200 => Some("McpError".to_owned()),
            Some(answer) => error(&answer.body),
        };
        let shows = if answer.is_some() { Shows::Delivered } else { Shows::Sent };
        let id = world.attempts[attempt].id;
        let text = spans.request((context, None), (attempt, id, 3), error, (sent, fact.at));
        file.push(text, Some((attempt, shows)));
    }
    Some(file)
}

struct Spans<'w> {
    world: &'w World,
    clock: Clock,
    /// Spans of requests name their ids.
    has_ids: bool,
    service: &'static str,
    /// What the process is told by its environment.
    run: Option<String>,
}

impl Spans<'_> {
    fn when(&self, is_it: impl Fn(&What) -> bool) -> Option<Nanos> {
        self.world.facts.iter().find(|fact| is_it(&fact.what)).map(|fact| fact.at)
    }

    /// The span of a request in the server, and its trace.
    fn own(&self, dispatch: usize) -> Context {
        let parent = self.world.dispatches[dispatch].context;
        let trace = parent.map_or(0xA11C_E000 + dispatch as u128, |parent| parent.trace);
        Context { trace, span: 0x5000_0000 + dispatch as u64 * 16 }
    }

    fn served(&self, dispatch: usize, answer: &Answer, times: (Nanos, Nanos)) -> String {
        let facts = &self.world.dispatches[dispatch];
        let parent = facts.context.map(|context| context.span);
        self.request((self.own(dispatch), parent), (facts.attempt, facts.id, 2), error(&answer.body), times)
    }

    /// The span of a request, on either side.
    fn request(
        &self,
        ids: (Context, Option<u64>),
        (attempt, id, kind): (usize, u64, u8),
        error: Option<String>,
        times: (Nanos, Nanos),
    ) -> String {
        let facts = &self.world.attempts[attempt];
        let method = messages::method(facts.ask);
        let mut attributes = vec![text("mcp.method.name", method)];
        attributes.push(text("mcp.protocol.version", self.world.revision.name()));
        if self.has_ids {
            attributes.push(text("jsonrpc.request.id", &id.to_string()));
        }
        let mut name = method.to_owned();
        if let Ask::Call { intent } = facts.ask {
            let tool = &self.world.intents[intent].tool;
            name = format!("{method} {tool}");
            attributes.push(text("gen_ai.operation.name", "execute_tool"));
            attributes.push(text("gen_ai.tool.name", tool));
        }
        let has_session = facts.ask != Ask::Initialize && !self.world.revision.is_stateless();
        if self.world.transport == Transport::Http && has_session && self.has_ids {
            attributes.push(text("mcp.session.id", &self.world.session_of(attempt)));
        }
        let failed = error.is_some();
        if let Some(error) = error {
            attributes.push(text("error.type", &error));
            if error.parse::<i64>().is_ok() {
                attributes.push(text("rpc.response.status_code", &error));
            }
        }
        self.span(ids, (&name, kind), times, &attributes, failed)
    }

    /// The span of a contact, below that of its request.
    fn contact(&self, dispatch: usize, number: u32, (write, status): (bool, u16), times: (Nanos, Nanos)) -> String {
        let own = self.own(dispatch);
        let (method, path) = if write { ("POST", "payments") } else { ("GET", "rates") };
        let span = Context { span: own.span + u64::from(number) + 1, ..own };
        self.outbound(span, Some(own.span), (method, path, status), times)
    }

    fn outbound(
        &self,
        own: Context,
        parent: Option<u64>,
        (method, path, status): (&str, &str, u16),
        times: (Nanos, Nanos),
    ) -> String {
        let mut attributes = vec![text("http.request.method", method)];
        attributes.push(text("url.full", &format!("https://api.example.test/v1/{path}")));
        attributes.push(text("server.address", "api.example.test"));
        attributes.push(match status {
            0 => text("error.type", "httpx.ConnectError"),
            _ => json!({"key": "http.response.status_code", "value": {"intValue": status.to_string()}}),
        });
        self.span((own, parent), (method, 3), times, &attributes, status == 0 || status >= 400)
    }

    fn span(
        &self,
        (own, parent): (Context, Option<u64>),
        (name, kind): (&str, u8),
        (from, until): (Nanos, Nanos),
        attributes: &[Value],
        failed: bool,
    ) -> String {
        let nanos = |at| self.clock.at(at).timestamp_nanos_opt().unwrap_or(0).to_string();
        let mut span = json!({"traceId": format!("{:032x}", own.trace), "spanId": format!("{:016x}", own.span),
            "flags": 256, "name": name, "kind": kind, "startTimeUnixNano": nanos(from), "endTimeUnixNano": nanos(until),
            "attributes": attributes, "status": if failed { json!({"code": 2}) } else { json!({}) }});
        if let Some(parent) = parent {
            span["parentSpanId"] = json!(format!("{parent:016x}"));
        }
        let mut resource = vec![text("service.name", self.service)];
        resource.extend(self.run.as_ref().map(|run| text("mcp.run_id", run)));
        json!({"resourceSpans": [{"resource": {"attributes": resource},
            "scopeSpans": [{"scope": {"name": "mcp-python-sdk"}, "spans": [span]}]}]})
        .to_string()
    }
}

/// `error.type` of a request that ended like this.
fn error(body: &Body) -> Option<String> {
    match body {
        Body::ToolError(_) => Some("tool_error".to_owned()),
        Body::Error { code, .. } => Some(code.to_string()),
        Body::Plain(_) => Some("RuntimeError".to_owned()),
        Body::Result | Body::InputRequired(_) => None,
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}
