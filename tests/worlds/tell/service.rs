//! The log of the service that the tools call: it knows bodies, and no requests of MCP.

use serde_json::json;

use super::{Clock, File};
use crate::worlds::truth::{What, World};

pub(super) fn file(world: &World, clock: Clock) -> File {
    let mut file = File::of_lines("ledger/requests.jsonl");
    for fact in &world.facts {
        let What::ContactAnswered { dispatch, contact, write, status } = &fact.what else { continue };
        if *status == 0 {
            continue;
        }
        let attempt = world.dispatches[*dispatch].attempt;
        let amount = world.intent_of(attempt).map_or(0, |intent| world.intents[intent].amount);
        let body = if *write { json!({"amount": amount, "to": "bob"}).to_string() } else { String::new() };
        let (method, path) = if *write { ("POST", "/v1/payments") } else { ("GET", "/v1/rates") };
        let record = json!({"ts": clock.at(fact.at).format("%Y-%m-%dT%H:%M:%S%.3f+00:00").to_string(),
            "n": file.lines.len() + 1, "method": method, "path": path, "peer_port": 54_446, "body": body,
            "status": status, "user-agent": "acme/1.0"});
        let applied = *write && (200..300).contains(status);
        let shows = super::contact(*dispatch, *contact, applied);
        file.push(record.to_string(), Some((attempt, shows)));
    }
    file
}
