//! The access log of the gateway in JSON lines, and its error log in the form of nginx.

use fastrand::Rng;
use serde_json::json;

use super::{Clock, File, Shows};
use crate::worlds::truth::{Ask, Nanos, What, World};

pub(super) fn files(world: &World, clock: Clock, rng: &mut Rng) -> Vec<File> {
    let mut files = Vec::new();
    if rng.bool() {
        files.push(access(world, clock, rng.bool()));
    }
    if rng.u8(..3) == 0 {
        files.push(errors(world, clock));
    }
    files
}

fn address(world: &World, life: usize) -> String {
    format!("10.0.0.{}:8000", world.lives[life].server + 1)
}

#[expect(clippy::cast_precision_loss, reason = "seconds of an exchange")]
fn access(world: &World, clock: Clock, traced: bool) -> File {
    let mut file = File::of_lines("gateway/access.jsonl");
    for fact in &world.facts {
        let What::GatewayAnswered { attempt, answer, upstream, since } = &fact.what else { continue };
        let took = (fact.at - since) / 1_000_000;
        let addresses: Vec<String> = upstream.iter().map(|(life, _)| address(world, *life)).collect();
        let statuses: Vec<String> = upstream.iter().map(|(_, status)| status.to_string()).collect();
        let opens = world.attempts[*attempt].ask == Ask::Initialize;
        let has_session = !opens && !world.revision.is_stateless();
        let session = if has_session { world.session_of(*attempt) } else { String::new() };
        let dash = |list: Vec<String>| if list.is_empty() { "-".to_owned() } else { list.join(", ") };
        let mut record = json!({"time": clock.at(fact.at).format("%Y-%m-%dT%H:%M:%S+00:00").to_string(),
            "msec": clock.at(fact.at).timestamp_millis() as f64 / 1000.0, "remote_addr": "127.0.0.1",
            "method": "POST", "uri": "/mcp", "status": answer.status, "request_time": took as f64 / 1000.0,
            "upstream_addr": dash(addresses), "upstream_status": dash(statuses), "mcp_session": session});
        if let Some(context) = world.attempts[*attempt].context.filter(|_| traced && world.carried.in_header) {
            record["traceparent"] = json!(context.parent());
        }
        file.push(record.to_string(), Some((*attempt, Shows::About)));
    }
    file
}

fn errors(world: &World, clock: Clock) -> File {
    let mut file = File::of_lines("gateway/error.log");
    let start: Nanos = world.facts.first().map_or(0, |fact| fact.at);
    file.push(format!("{} [notice] 25190#25190: nginx/1.22.1", stamp(clock, start)), None);
    for fact in &world.facts {
        match &fact.what {
            What::Tried { attempt, life, connected: false } => {
                let text = "connect() failed (111: Connection refused) while connecting to upstream";
                file.push(error(world, clock, fact.at, *life, *attempt, text), Some((*attempt, Shows::About)));
            }
            What::GatewayAnswered { attempt, upstream, .. } => {
                for (life, status) in upstream {
                    if *status == 504 {
                        let text = "upstream timed out (110: Connection timed out) while reading response header from upstream";
                        let text = error(world, clock, fact.at, *life, *attempt, text);
                        file.push(text, Some((*attempt, Shows::About)));
                    }
                }
            }
            _ => {}
        }
    }
    file
}

fn stamp(clock: Clock, at: Nanos) -> String {
    clock.at(at).format("%Y/%m/%d %H:%M:%S").to_string()
}

fn error(world: &World, clock: Clock, at: Nanos, life: usize, attempt: usize, text: &str) -> String {
    let (stamp, upstream) = (stamp(clock, at), address(world, life));
    format!(
        "{stamp} [error] 25190#25190: *{} {text}, client: 127.0.0.1, server: , request: \"POST /mcp HTTP/1.1\", upstream: \"http://{upstream}/mcp\", host: \"127.0.0.1:8080\"",
        attempt + 3
    )
}
