//! A trace of messages in JSON lines, as the client's side of the connection sees them.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{Clock, File, Shows, messages};
use crate::worlds::truth::{Ask, Transport, What, World};

pub(super) fn file(world: &World, clock: Clock, rng: &mut Rng) -> File {
    let mut file = File::of_lines("client/trace.jsonl");
    let named = rng.bool();
    for fact in &world.facts {
        let mut line = |direction: &str, message: Value, about| {
            let mut line = json!({"ts": clock.rfc3339(fact.at), "direction": direction, "message": message});
            if named {
                line["server"] = json!("acme");
            }
            file.push(line.to_string(), about);
        };
        match &fact.what {
            What::Sent { attempt } => line("in", messages::request(world, *attempt), Some((*attempt, Shows::Sent))),
            What::Delivered { attempt, answer } | What::Late { attempt, answer } => {
                if let Some(message) = messages::answer(world, *attempt, answer) {
                    line("out", message, Some((*attempt, super::delivered(answer))));
                    if world.attempts[*attempt].ask == Ask::Initialize {
                        line("in", messages::initialized(), None);
                    }
                }
            }
            What::CancelSent { attempt } => {
                line("in", messages::cancelled(world, *attempt), Some((*attempt, Shows::About)));
            }
            What::Progress { dispatch } if world.transport == Transport::Stdio => {
                line("out", messages::said(), Some((world.dispatches[*dispatch].attempt, Shows::About)));
            }
            _ => {}
        }
    }
    file
}
