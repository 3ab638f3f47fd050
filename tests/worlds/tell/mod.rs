//! What witnesses of a world write down: each in the format of real software, each with its own clock, and only what it
//! can have seen. Every line remembers what it is about; that never leaves the test.

mod desktop;
mod gateway;
mod har;
mod hop;
mod messages;
mod phase_log;
mod service;
mod spans;
mod stderr;
mod stream;
mod tap;
mod trace;

use chrono::{DateTime, Utc};
use fastrand::Rng;

use super::truth::{Answer, Body, Nanos, Transport, What, World};

/// What a line shows, to who could read it without fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// The request left the client.
    Sent,
    /// A server process got it.
    Received(usize),
    /// A server process got some request, and nothing tells which.
    Got(usize),
    /// The tool's own code was at work.
    Entered(usize),
    /// A contact with the outside.
    Contact(usize),
    /// One that was made when the answer had been given.
    Behind(usize),
    /// A service did what was asked.
    Applied(usize),
    /// The server answered.
    Responded(usize),
    /// The client got an answer.
    Delivered,
    /// The client knows that it did not send.
    NotSent,
    /// The server asked something in the middle of it.
    Question(usize),
    /// The client told what was asked.
    Reply(usize),
    /// Something else about the attempt.
    About,
}

/// One record.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// The attempt that it is about, and what it shows of it.
    pub(crate) about: Option<(usize, Shows)>,
}

/// What one witness wrote.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) lines: Vec<Line>,
    /// Before and behind the lines, where the format has such.
    pub(crate) frame: (&'static str, &'static str),
    /// Between the lines.
    pub(crate) between: &'static str,
}

impl File {
    fn of_lines(name: impl Into<String>) -> Self {
        Self { name: name.into(), lines: Vec::new(), frame: ("", ""), between: "\n" }
    }

    fn push(&mut self, text: impl Into<String>, about: Option<(usize, Shows)>) {
        self.lines.push(Line { text: text.into(), about });
    }
}

/// What a message to the client shows: one that names no request may be the answer to any.
fn delivered(answer: &Answer) -> Shows {
    match answer.body {
        Body::Error { nameless: true, .. } => Shows::About,
        _ => Shows::Delivered,
    }
}

/// Whether a client gets what a server asks: on HTTP, only as long as it waits for the answer.
fn hears(world: &World, question: usize, at: Nanos) -> bool {
    let attempt = world.asking(question);
    let mut ends = world.facts.iter().filter(|fact| {
        matches!(fact.what, What::TimedOut { attempt: ended } | What::Closed { attempt: ended } if ended == attempt)
    });
    world.transport == Transport::Stdio || !ends.any(|end| end.at < at)
}

/// Whether a tool asks by an answer that is not the last: no attribute of a span tells it from a success.
fn asks_by_answer(world: &World) -> bool {
    let asks =
        |what: &What| matches!(what, What::Responded { answer, .. } if matches!(answer.body, Body::InputRequired(_)));
    world.facts.iter().any(|fact| asks(&fact.what))
}

/// What a record of a contact shows: the first one of a dispatch is made before the answer, a further one behind it.
fn contact(dispatch: usize, contact: u32, applied: bool) -> Shows {
    match (contact, applied) {
        (0, true) => Shows::Applied(dispatch),
        (0, false) => Shows::Contact(dispatch),
        _ => Shows::Behind(dispatch),
    }
}

/// The clock of a witness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// How far ahead it is.
    offset: Nanos,
    /// Nanoseconds that it gains in a second.
    drift: Nanos,
    begin: Nanos,
    /// From when on it is set otherwise, and by how much.
    step: (Nanos, Nanos),
}

impl Clock {
    fn new(rng: &mut Rng, begin: Nanos) -> Self {
        let offset = match rng.u8(..6) {
            0 => rng.i64(-5_000..5_000) * 1_000_000,
            1 => rng.i64(-60..60) * 1_000_000,
            _ => 0,
        };
        let drift = if rng.u8(..6) == 0 { rng.i64(-200_000..200_000) } else { 0 };
        let step = match rng.u8(..16) {
            0 => (begin + rng.i64(0..6_000) * 1_000_000, rng.i64(-5_000..5_000) * 1_000_000),
            _ => (Nanos::MAX, 0),
        };
        Self { offset, drift, begin, step }
    }

    fn at(&self, at: Nanos) -> DateTime<Utc> {
        let stepped = if at >= self.step.0 { self.step.1 } else { 0 };
        DateTime::from_timestamp_nanos(at + stepped + self.offset + (at - self.begin) / 1_000_000_000 * self.drift)
    }

    fn rfc3339(&self, at: Nanos) -> String {
        self.at(at).format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }
}

/// All that the witnesses of a world could have written. Some of them are not there.
pub(crate) fn files(world: &World, rng: &mut Rng) -> Vec<File> {
    let begin = world.facts.first().map_or(0, |fact| fact.at);
    let client = Clock::new(rng, begin);
    let server = Clock::new(rng, begin);
    let mut files = Vec::new();
    match world.transport {
        Transport::Stdio => match rng.u8(..4) {
            0 => files.push(trace::file(world, client, rng)),
            1 => files.push(desktop::file(world, client)),
            2 => files.extend(tap::files(world, client)),
            _ => files.extend([trace::file(world, client, rng), desktop::file(world, client)]),
        },
        Transport::Http => match rng.u8(..3) {
            0 => files.push(trace::file(world, client, rng)),
            _ => files.push(har::file(world, client)),
        },
    }
    if world.gateway {
        files.extend(gateway::files(world, server, rng));
        if rng.u8(..4) == 0 {
            files.push(hop::file(world, server));
        }
    }
    let has_spans = !asks_by_answer(world) && rng.u8(..3) == 0;
    if has_spans && rng.bool() {
        files.extend(spans::client(world, client, rng));
    }
    let shares_stderr = rng.u8(..6) == 0;
    if shares_stderr {
        files.push(stderr::shared(world, server, rng));
    }
    for life in 0..world.lives.len() {
        let (phases, stderr) = match rng.u8(..4) {
            0 => (true, false),
            1 => (false, true),
            2 => (true, true),
            _ => (false, false),
        };
        if phases {
            files.push(phase_log::file(world, life, server, rng));
        }
        if stderr && !shares_stderr {
            files.push(stderr::file(world, life, server, rng));
        }
        if has_spans && rng.u8(..4) > 0 {
            files.push(spans::server(world, life, server, rng));
        }
    }
    if rng.u8(..4) == 0 {
        let clock = Clock::new(rng, begin);
        files.push(service::file(world, clock));
    }
    files
}
