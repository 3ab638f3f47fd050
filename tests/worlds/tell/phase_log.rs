//! The phase log of one server process.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{Clock, File, Shows, messages};
use crate::worlds::truth::{Ask, Body, Transport, What, World};

pub(super) fn file(world: &World, of: usize, clock: Clock, rng: &mut Rng) -> File {
    let mut file = File::of_lines(format!("server/phases-{of}.jsonl"));
    // Some writers do not know which request an outside contact is for.
    let keyed = rng.bool();
    // A process with several sessions may say which one a request is of.
    let names_session = world.transport == Transport::Http && !world.revision.is_stateless() && rng.bool();
    let log = Log { world, of, keyed, traced: rng.bool() };
    for fact in &world.facts {
        if let Some((mut record, about)) = log.record(&fact.what) {
            record["run_id"] = json!(format!("run_{of:04}"));
            record["server_name"] = json!("acme");
            record["pid"] = json!(world.lives[of].pid);
            if let Some((attempt, _)) = about.filter(|_| names_session && record.get("request_id").is_some()) {
                record["session_id"] = json!(world.session_of(attempt));
            }
            record["at"] = json!(clock.rfc3339(fact.at));
            file.push(record.to_string(), about);
        }
    }
    if world.lives[of].dies.is_some() {
        // What a process has in its buffer dies with it.
        let kept = file.lines.len() - rng.usize(0..=file.lines.len().min(3));
        file.lines.truncate(kept);
    }
    file
}

struct Log<'w> {
    world: &'w World,
    of: usize,
    keyed: bool,
    /// Records name the trace that a request came with.
    traced: bool,
}

type Record = (Value, Option<(usize, Shows)>);

impl Log<'_> {
    fn record(&self, what: &What) -> Option<Record> {
        Some(match what {
            What::Spawned { life } if *life == self.of => (json!({"phase": "launch", "event": "spawned"}), None),
            What::Background { life } if *life == self.of => {
                let record = json!({"phase": "launch", "event": "external_attempt", "channel": "https",
                    "host": "api.example.test", "method": "POST", "path": "/v1/hello", "action_id": "hello"});
                (record, None)
            }
            What::Received { dispatch } => self.step(*dispatch, "received", Shows::Received(*dispatch))?,
            What::Responded { dispatch, answer } => {
                let (mut record, about) = self.step(*dispatch, "responded", Shows::Responded(*dispatch))?;
                match &answer.body {
                    Body::ToolError(_) => record["is_error"] = json!(true),
                    Body::Error { code, .. } => record["error_code"] = json!(code),
                    Body::Result => record["is_error"] = json!(false),
                    Body::InputRequired(_) => {}
                    Body::Plain(_) => return None,
                }
                (record, about)
            }
            What::Denied { dispatch } => self.execution(*dispatch, "authorization_denied", Shows::About)?,
            What::Granted { dispatch } => {
                self.execution(*dispatch, "authorization_granted", Shows::Entered(*dispatch))?
            }
            What::ContactSent { dispatch, contact, write } => {
                self.contact(*dispatch, *contact, "external_attempt", *write, None)?
            }
            What::ContactAnswered { dispatch, contact, write, status } => {
                self.contact(*dispatch, *contact, "external_result", *write, Some(*status))?
            }
            _ => return None,
        })
    }

    fn step(&self, dispatch: usize, suffix: &str, shows: Shows) -> Option<Record> {
        let (phase, event) = match self.world.attempts[self.mine(dispatch)?].ask {
            Ask::Initialize => ("handshake", "initialize"),
            Ask::Discover => ("handshake", "server_discover"),
            Ask::ToolsList => ("discovery", "tools_list"),
            Ask::Ping => return None,
            Ask::Call { .. } => ("execution", "tool_call"),
        };
        self.keyed_record(dispatch, phase, &format!("{event}_{suffix}"), shows)
    }

    fn execution(&self, dispatch: usize, event: &str, shows: Shows) -> Option<Record> {
        self.keyed_record(dispatch, "execution", event, shows)
    }

    fn keyed_record(&self, dispatch: usize, phase: &str, event: &str, shows: Shows) -> Option<Record> {
        let attempt = self.mine(dispatch)?;
        let mut record = json!({"phase": phase, "event": event, "request_id": self.world.dispatches[dispatch].id});
        if let Some(context) = self.world.dispatches[dispatch].context.filter(|_| self.traced) {
            record["trace_id"] = json!(format!("{:032x}", context.trace));
        }
        if let Ask::Call { intent } = self.world.attempts[attempt].ask {
            record["tool"] = json!(self.world.intents[intent].tool);
        } else {
            record["method"] = json!(messages::method(self.world.attempts[attempt].ask));
        }
        Some((record, Some((attempt, shows))))
    }

    fn contact(&self, dispatch: usize, contact: u32, event: &str, write: bool, status: Option<u16>) -> Option<Record> {
        let attempt = self.mine(dispatch)?;
        let applied = write && status.is_some_and(|status| (200..300).contains(&status));
        let shows = super::contact(dispatch, contact, applied);
        let (mut record, about) = self.keyed_record(dispatch, "execution", event, shows)?;
        record["channel"] = json!("https");
        record["host"] = json!("api.example.test");
        record["method"] = json!(if write { "POST" } else { "GET" });
        record["path"] = json!(if write { "/v1/payments" } else { "/v1/rates" });
        record["action_id"] = json!(format!("act_{dispatch}_{contact}"));
        match status {
            Some(0) => record["error"] = json!("connection refused"),
            Some(status) => record["status"] = json!(status),
            None => {}
        }
        if !self.keyed {
            record.as_object_mut()?.remove("request_id");
            record.as_object_mut()?.remove("tool");
            return Some((record, Some((attempt, shows))));
        }
        Some((record, about))
    }

    /// The attempt behind a dispatch, if this process has it.
    fn mine(&self, dispatch: usize) -> Option<usize> {
        let dispatch = &self.world.dispatches[dispatch];
        (dispatch.life == self.of).then_some(dispatch.attempt)
    }
}
