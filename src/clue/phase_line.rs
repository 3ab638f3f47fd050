//! Phase records in key=value notation, alone or inside any text log.

use super::Clue;
use crate::{
    event::{Kind, PhaseEvent, Piece, PieceShape},
    phase,
    record::{Body, Sink},
    time,
};

/// `phase=… event=… run_id=…` anywhere in a line.
pub static PHASE_LINE: Clue = Clue {
    name: "phase-line",
    title: "Phase record as key=value",
    doc: "## What it means\n\nThe writer follows the phase-log practice and states that an event of a phase happened.\n\n\
          ## How it is recognized\n\nA known key of the practice with an equals sign at the start of a word, and `event=` \
          or `phase=` among them. Everything before the first known key belongs to the envelope. A line that is one pair \
          with `=true` is a piece of a record that spans lines.\n\n\
          ## What it is not\n\nOther key=value logging: `event=request_start` of a middleware is no event of the \
          vocabulary and is left to the other clues.\n\n\
          ## What to do\n\nWrite `run_id` and the request id into every record: without them a record can only be bound \
          by exclusion.",
    needles: &["event=", "phase=", "last_event=", "=true"],
    read,
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(name) = text.trim().strip_suffix("=true")
        && PhaseEvent::parse(name).is_some()
    {
        sink.push(body.event(Kind::Piece(Piece { shape: PieceShape::Pair, text: text.trim() })));
        return true;
    }
    let Some(mut fields) = phase::parse_pairs(text, &body.record) else { return false };
    let in_vocabulary = fields.event.is_none_or(|event| PhaseEvent::parse(event).is_some());
    if !fields.is_record() || (!in_vocabulary && fields.phase.is_none()) {
        return false;
    }
    fields.at = fields.at.or(body.at).or_else(|| time::leading(text.trim_start().as_bytes()).map(|(stamp, _)| stamp));
    inherit(&mut fields.keys, body);
    fields.witness = fields.witness.or(body.witness);
    fields.push(&body.record, sink);
    true
}

/// Keys the envelope knows fill the gaps of the record.
fn inherit<'a>(keys: &mut crate::event::Keys<'a>, body: &Body<'a>) {
    keys.run = keys.run.or(body.keys.run);
    keys.server = keys.server.or(body.keys.server);
    keys.client = keys.client.or(body.keys.client);
    keys.session = keys.session.or(body.keys.session);
    keys.trace = keys.trace.or(body.keys.trace);
    keys.pid = keys.pid.or(body.keys.pid);
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{
        event::{Id, Reach, ReachStage},
        format::decode_lines,
    };

    #[test]
    fn an_attempt_inside_a_server_log() {
        let arena = Bump::new();
        let text = "2026-07-22T14:03:13.083Z INFO run_id=run_01JX phase=execution event=external_attempt request_id=3 action_id=act_8Qf tool=issue_lookup channel=https host=api.example.test";
        let sink = decode_lines(None, text, &arena);
        let [event] = sink.events[..] else { panic!("{sink:?}") };
        assert!(event.at.is_some());
        let Kind::Reach(Reach { stage: ReachStage::Attempted, target, call, .. }) = event.kind else {
            panic!("{event:?}")
        };
        assert_eq!((target, call.id, call.tool), ("https://api.example.test", Some(Id::Int(3)), Some("issue_lookup")));
    }

    #[test]
    fn middleware_events_are_not_phase_events() {
        let arena = Bump::new();
        let sink = decode_lines(None, "event=request_start method=tools/call source=client", &arena);
        assert!(!matches!(sink.events[0].kind, Kind::Step(_) | Kind::Reach(_)), "{sink:?}");
    }

    #[test]
    fn one_pair_a_line_is_a_piece() {
        let arena = Bump::new();
        let sink = decode_lines(None, "initialize_received=true", &arena);
        assert!(matches!(sink.events[0].kind, Kind::Piece(Piece { shape: PieceShape::Pair, .. })), "{sink:?}");
    }
}
