//! A capture of the exchanges between the gateway and the servers behind it.

use serde_json::json;

use super::{Clock, File, Shows, har, messages};
use crate::worlds::truth::{Ask, Dispatch, What, World};

pub(super) fn file(world: &World, clock: Clock) -> File {
    let name = "gateway/upstream.har".to_owned();
    let mut file = File { name, lines: Vec::new(), frame: (har::HEAD, "\n]}}\n"), between: ",\n" };
    for fact in &world.facts {
        let What::Returned { dispatch, answer, since } = &fact.what else { continue };
        let Dispatch { attempt, life, id, context, .. } = world.dispatches[*dispatch];
        let opens = world.attempts[attempt].ask == Ask::Initialize;
        let mut request = messages::request(world, attempt);
        request["id"] = json!(id);
        let mut headers = har::headers(world, attempt, !opens);
        if let Some(context) = context.filter(|_| world.carried.in_header) {
            headers.retain(|header| header["name"] != "traceparent");
            headers.push(json!({"name": "traceparent", "value": context.parent()}));
        }
        let mut entry = har::frame(clock, *since, fact.at - since, &headers, &request.to_string());
        entry["request"]["url"] = json!(format!("http://10.0.0.{}:8000/mcp", world.lives[life].server + 1));
        match answer {
            Some(answer) => entry["response"] = har::response_to(world, (attempt, id), answer, opens),
            None => entry["_error"] = json!("net::ERR_ABORTED"),
        }
        let received = |what: &What| matches!(what, What::Received { dispatch: it } if it == dispatch);
        let received = world.facts.iter().any(|fact| received(&fact.what));
        let shows = if received && answer.is_some() { Shows::Received(*dispatch) } else { Shows::Sent };
        file.push(entry.to_string(), Some((attempt, shows)));
    }
    file
}
