//! The standard error of server processes that log as Python servers do, in one file for each process or for all.

use fastrand::Rng;

use super::{Clock, File, Shows};
use crate::worlds::truth::{Ask, Life, Nanos, What, World};

pub(super) fn file(world: &World, of: usize, clock: Clock, rng: &mut Rng) -> File {
    of_processes(world, &format!("server/stderr-{of}.log"), &[of], clock, rng)
}

/// One file that a supervisor lets all processes write to.
pub(super) fn shared(world: &World, clock: Clock, rng: &mut Rng) -> File {
    let all: Vec<usize> = (0..world.lives.len()).collect();
    of_processes(world, "server/stderr.log", &all, clock, rng)
}

fn of_processes(world: &World, name: &str, of: &[usize], clock: Clock, rng: &mut Rng) -> File {
    let mut file = File::of_lines(name);
    let library = *rng.choice(&["httpx", "urllib3"]).unwrap_or(&"httpx");
    // Somebody may raise the level in the middle.
    let (first, last) = (world.facts.first().map_or(0, |fact| fact.at), world.facts.last().map_or(0, |fact| fact.at));
    let quiet_from = match rng.u8(..8) {
        0 | 1 => Nanos::MIN,
        2 => rng.i64(first..=last),
        _ => Nanos::MAX,
    };
    let lost: Vec<Nanos> = world.lives.iter().map(|life| lost_from(life, rng)).collect();
    for fact in &world.facts {
        let writes = |life: usize| of.contains(&life) && fact.at < lost[life];
        let at = clock.at(fact.at).format("%Y-%m-%d %H:%M:%S,%3f");
        let mut line = |level: &str, text: String, about| {
            if fact.at < quiet_from || !["INFO", "DEBUG"].contains(&level) {
                file.push(format!("{at} {level} {text}"), about);
            }
        };
        match &fact.what {
            What::Spawned { life } if writes(*life) => line("INFO", "acme.server: starting".to_owned(), None),
            What::Received { dispatch } if writes(world.dispatches[*dispatch].life) => {
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
                if writes(world.dispatches[*dispatch].life) && *status > 0 =>
            {
                let attempt = world.dispatches[*dispatch].attempt;
                let (method, path) = if *write { ("POST", "payments") } else { ("GET", "rates") };
                let (level, text) = outbound(library, method, path, *status);
                let applied = *write && (200..300).contains(status);
                let shows = super::contact(*dispatch, *contact, applied);
                line(level, text, Some((attempt, shows)));
            }
            What::Changed { dispatch } if writes(world.dispatches[*dispatch].life) => {
                let attempt = world.dispatches[*dispatch].attempt;
                line("INFO", "acme.notes: saved".to_owned(), Some((attempt, Shows::About)));
            }
            What::Background { life } if writes(*life) => {
                let (level, text) = outbound(library, "POST", "hello", 200);
                line(level, text, None);
            }
            _ => {}
        }
    }
    file
}

/// From when on the lines of a process are lost: what it has in its buffer dies with it.
fn lost_from(life: &Life, rng: &mut Rng) -> Nanos {
    let dies = life.dies.filter(|_| rng.u8(..3) == 0);
    dies.map_or(Nanos::MAX, |dies| dies - rng.i64(0..2_000_000_000))
}

/// The line of a library about a request to the outside, and its level.
fn outbound(library: &str, method: &str, path: &str, status: u16) -> (&'static str, String) {
    if library == "urllib3" {
        let url = format!("https://api.example.test:443 \"{method} /v1/{path} HTTP/1.1\" {status} None");
        return ("DEBUG", format!("urllib3.connectionpool: {url}"));
    }
    let url = format!("{method} https://api.example.test/v1/{path} \"HTTP/1.1 {status} {}\"", reason(status));
    ("INFO", format!("httpx: HTTP Request: {url}"))
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
