//! Event streams that answer no call: what their messages are about is not known, nor when they came.

use super::{Call, Case, Correlator, Mark};
use crate::{
    event::{Body, ContentKind, Event, Exchange, Rpc},
    symbol::Symbol,
    time::{SECOND, Timestamp},
};

/// A stream with a message that may be about a call.
#[derive(Clone, Copy, Debug)]
struct Stream {
    strand: u32,
    /// The session that it names; without one it may be anybody's at its endpoint.
    session: Option<Symbol>,
    mark: Mark,
    /// Not known where it resumes an earlier stream: then it may tell of what happened before.
    opened: Option<Mark>,
    ended: Option<Mark>,
    /// None of its messages was captured.
    unseen: bool,
}

/// The streams of a case, in order of recording.
#[derive(Clone, Debug, Default)]
pub struct Streams(Vec<Stream>);

impl Streams {
    /// The record of a stream of the same conversation that was open while a call ran, and carried a message that may be
    /// about it; or, where `unseen` counts, went by without being captured.
    pub fn beside(&self, case: &Case, call: &Call, unseen: bool) -> Option<Mark> {
        let fits = |stream: &&Stream| {
            (unseen || !stream.unseen) && same_conversation(case, stream, call) && open_beside(case, stream, call)
        };
        self.0.iter().find(fits).map(|stream| stream.mark)
    }
}

fn same_conversation(case: &Case, stream: &Stream, call: &Call) -> bool {
    let (one, other) = (&case.strands[stream.strand as usize], &case.strands[call.strand as usize]);
    match (stream.session, call.session) {
        (Some(one), Some(other)) => one == other,
        _ => one.run == other.run || one.endpoint.is_some() && one.endpoint == other.endpoint,
    }
}

/// Whether the times leave room for the stream and the call to be open at once. An end that is not known is open; two
/// sources may differ by a second.
fn open_beside(case: &Case, stream: &Stream, call: &Call) -> bool {
    let placed = |mark: Option<Mark>| mark.and_then(|mark| case.on_common_clock(mark));
    let same_source = stream.mark.origin.source == case.place(call).origin.source;
    let slack = if same_source { 0 } else { SECOND };
    let before = |one: Option<Timestamp>, other: Option<Timestamp>| {
        one.zip(other).is_some_and(|(one, other)| one.0.saturating_add(slack) < other.0)
    };
    // A record of both ends without a duration knows one instant only.
    let answered = call.answered.filter(|_| call.answered != call.asked);
    !before(placed(stream.ended), placed(call.asked)) && !before(placed(answered), placed(stream.opened))
}

/// Whether a message that stands on a stream of its own may be about a call: a notification about anything but the
/// lists and the stream itself, a question to the client.
fn may_be_about_a_call(rpc: &Rpc<'_>) -> bool {
    match rpc {
        Rpc::Request(request) => !matches!(request.method, "ping" | "roots/list"),
        Rpc::Notification(notification) => {
            !notification.method.ends_with("/list_changed")
                && !notification.method.starts_with("notifications/subscriptions/")
        }
        _ => false,
    }
}

/// Whether a stream was open for long and none of its events was captured: several writers leave out what is streamed.
fn went_by_unseen(exchange: &Exchange<'_>) -> bool {
    exchange.method == "GET"
        && exchange.content == ContentKind::EventStream
        && (200..300).contains(&exchange.status)
        && exchange.answered.is_empty()
        && matches!(exchange.body, Body::Missing | Body::Empty)
        && exchange.took.is_none_or(|took| took > 1000)
}

impl Correlator {
    /// Keeps a stream that carries such a message.
    pub(super) fn note_stream(&mut self, event: &Event<'_>, ended: Mark, exchange: &Exchange<'_>, strand: u32) {
        let unseen = went_by_unseen(exchange);
        if !exchange.answered.iter().any(may_be_about_a_call) && !unseen {
            return;
        }
        let mark = self.mark(event.origin, event.at);
        let session = self.intern(exchange.session_sent.or(exchange.session_given).or(event.keys.session));
        let opened = Some(mark).filter(|_| !exchange.resumes);
        let ended = Some(ended).filter(|_| exchange.ended.is_some());
        self.case.streams.0.push(Stream { strand, session, mark, opened, ended, unseen });
    }

    /// The stream that answers `subscriptions/listen` (2026-07-28) carries what is no part of that request.
    pub(super) fn listening(
        &mut self,
        event: &Event<'_>,
        ended: Mark,
        exchange: &Exchange<'_>,
        strand: u32,
        calls: &[u32],
    ) {
        let listen = self.case.symbols.get("subscriptions/listen");
        let listens = |call: &u32| listen.is_some_and(|listen| self.case.calls[*call as usize].method == listen);
        if exchange.content == ContentKind::EventStream && calls.iter().any(listens) {
            self.note_stream(event, ended, exchange, strand);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Notification;

    #[test]
    fn lists_and_pings_are_about_no_call() {
        let told = |method| may_be_about_a_call(&Rpc::Notification(Notification::named(method)));
        for method in [
            "notifications/message",
            "notifications/progress",
            "notifications/resources/updated",
            "notifications/tasks/status",
        ] {
            assert!(told(method), "{method}");
        }
        for method in ["notifications/tools/list_changed", "notifications/subscriptions/acknowledged"] {
            assert!(!told(method), "{method}");
        }
    }
}
