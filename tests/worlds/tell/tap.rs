//! What a tee between client and server writes: one file for each process.

use serde_json::{Value, json};

use super::{Clock, File, Shows, messages};
use crate::worlds::truth::{Ask, Body, What, World};

pub(super) fn files(world: &World, clock: Clock) -> Vec<File> {
    (0..world.lives.len()).map(|life| file(world, life, clock)).collect()
}

fn file(world: &World, of: usize, clock: Clock) -> File {
    let mut file = File::of_lines(format!("client/wire-{of}.jsonl"));
    let mine = |attempt: usize| world.attempts[attempt].life == of;
    for fact in &world.facts {
        let at = clock.rfc3339(fact.at);
        let line = |direction: &str, message: Value| json!({"ts": at, "dir": direction, "line": message.to_string()});
        match &fact.what {
            What::Spawned { life } if *life == of => {
                let pid = world.lives[of].pid;
                file.push(json!({"ts": at, "dir": "spawn", "argv": ["acme-server"], "pid": pid}).to_string(), None);
            }
            What::Exited { life } if *life == of => {
                file.push(json!({"ts": at, "dir": "s2c_eof"}).to_string(), None);
                file.push(json!({"ts": at, "dir": "exit", "code": 1}).to_string(), None);
            }
            What::Sent { attempt } if mine(*attempt) => {
                let text = line("c2s", messages::request(world, *attempt)).to_string();
                file.push(text, Some((*attempt, Shows::Sent)));
            }
            What::Delivered { attempt, answer } | What::Late { attempt, answer } if mine(*attempt) => {
                if let Some(message) = messages::answer(world, *attempt, answer) {
                    file.push(line("s2c", message).to_string(), Some((*attempt, super::delivered(answer))));
                    if world.attempts[*attempt].ask == Ask::Initialize && answer.body == Body::Result {
                        file.push(line("c2s", messages::initialized()).to_string(), None);
                    }
                }
            }
            What::CancelSent { attempt } if mine(*attempt) => {
                let text = line("c2s", messages::cancelled(world, *attempt)).to_string();
                file.push(text, Some((*attempt, Shows::About)));
            }
            What::Progress { dispatch } if mine(world.dispatches[*dispatch].attempt) => {
                let attempt = world.dispatches[*dispatch].attempt;
                let text = line("s2c", messages::said(world, *dispatch)).to_string();
                file.push(text, Some((attempt, Shows::About)));
            }
            What::Asked { question } if mine(world.asking(*question)) => {
                let text = line("s2c", messages::question(world, *question)).to_string();
                file.push(text, Some((world.asking(*question), Shows::Question(*question))));
            }
            What::Replied { question } if mine(world.asking(*question)) => {
                let text = line("c2s", messages::reply(world, *question)).to_string();
                file.push(text, Some((world.asking(*question), Shows::Reply(*question))));
            }
            _ => {}
        }
    }
    file
}
