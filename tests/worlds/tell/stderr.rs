//! The standard error of one server process that logs as Python servers do.

use fastrand::Rng;

use super::{Clock, File, Shows};
use crate::worlds::truth::{Ask, What, World};

pub(super) fn file(world: &World, of: usize, clock: Clock, rng: &mut Rng) -> File {
    let mut file = File::of_lines(format!("server/stderr-{of}.log"));
    let quiet = rng.u8(..4) == 0;
    for fact in &world.facts {
        let at = clock.at(fact.at).format("%Y-%m-%d %H:%M:%S,%3f");
        let mut line = |level: &str, text: String, about| {
            if !(quiet && level == "INFO") {
                file.push(format!("{at} {level} {text}"), about);
            }
        };
        match &fact.what {
            What::Spawned { life } if *life == of => line("INFO", "acme.server: starting".to_owned(), None),
            What::Received { dispatch } if world.dispatches[*dispatch].life == of => {
                let attempt = world.dispatches[*dispatch].attempt;
                let kind = match world.attempts[attempt].ask {
                    Ask::Initialize | Ask::Discover => continue,
                    Ask::Ping => "PingRequest",
                    Ask::ToolsList => "ListToolsRequest",
                    Ask::Call { .. } => "CallToolRequest",
                };
                let text = format!("mcp.server.lowlevel.server: Processing request of type {kind}");
                line("INFO", text, Some((attempt, Shows::Got(*dispatch))));
            }
            What::ContactAnswered { dispatch, contact, write, status }
                if world.dispatches[*dispatch].life == of && *status > 0 =>
            {
                let attempt = world.dispatches[*dispatch].attempt;
                let (method, path) = if *write { ("POST", "payments") } else { ("GET", "rates") };
                let text = format!(
                    "httpx: HTTP Request: {method} https://api.example.test/v1/{path} \"HTTP/1.1 {status} {}\"",
                    reason(*status)
                );
                let applied = *write && (200..300).contains(status);
                let shows = super::contact(*dispatch, *contact, applied);
                line("INFO", text, Some((attempt, shows)));
            }
            What::Changed { dispatch } if world.dispatches[*dispatch].life == of => {
                let attempt = world.dispatches[*dispatch].attempt;
                line("INFO", "acme.notes: saved".to_owned(), Some((attempt, Shows::About)));
            }
            What::Background { life } if *life == of => {
                let text = "httpx: HTTP Request: POST https://api.example.test/v1/hello \"HTTP/1.1 200 OK\"";
                line("INFO", text.to_owned(), None);
            }
            _ => {}
        }
    }
    file
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        403 => "Forbidden",
        422 => "Unprocessable Entity",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}
