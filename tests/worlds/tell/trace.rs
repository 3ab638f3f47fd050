//! A trace of messages in JSON lines, as the client's side of the connection sees them.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{Clock, File, Shows, hears, messages};
use crate::worlds::truth::{Ask, Body, Transport, What, World};

pub(super) fn file(world: &World, clock: Clock, rng: &mut Rng) -> File {
    let mut file = File::of_lines("client/trace.jsonl");
    let named = rng.bool();
    let by_run = rng.u8(..3) == 0;
    for fact in &world.facts {
        let mut line = |direction: &str, message: Value, about: Option<(usize, Shows)>| {
            let mut line = json!({"ts": clock.rfc3339(fact.at), "direction": direction, "message": message});
            if named {
                line["server"] = json!("acme");
            }
            if let Some((attempt, _)) = about.filter(|_| by_run) {
                line["run_id"] = json!(format!("run_{:04}", world.attempts[attempt].life));
            }
            file.push(line.to_string(), about);
        };
        match &fact.what {
            What::Sent { attempt } => line("in", messages::request(world, *attempt), Some((*attempt, Shows::Sent))),
            What::Delivered { attempt, answer } | What::Late { attempt, answer } => {
                if let Some(message) = messages::answer(world, *attempt, answer) {
                    line("out", message, Some((*attempt, super::delivered(answer))));
                    if world.attempts[*attempt].ask == Ask::Initialize && answer.body == Body::Result {
                        line("in", messages::initialized(), Some((*attempt, Shows::About)));
                    }
                }
            }
            What::CancelSent { attempt } => {
                line("in", messages::cancelled(world, *attempt), Some((*attempt, Shows::About)));
            }
            What::Progress { dispatch } if world.transport == Transport::Stdio => {
                let about = Some((world.dispatches[*dispatch].attempt, Shows::About));
                line("out", messages::said(world, *dispatch), about);
            }
            What::Asked { question } if hears(world, *question, fact.at) => {
                let about = Some((world.asking(*question), Shows::Question(*question)));
                line("out", messages::question(world, *question), about);
            }
            What::Replied { question } => {
                let about = Some((world.asking(*question), Shows::Reply(*question)));
                line("in", messages::reply(world, *question), about);
            }
            _ => {}
        }
    }
    file
}
