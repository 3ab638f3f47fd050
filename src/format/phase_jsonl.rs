//! `phase-jsonl`: the phase log as JSON lines. Decodes one line; knows no other notation.

use std::fmt;

use memchr::memmem;
use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Format, Head, claims};
use crate::{
    event::Witness,
    frame::Framing,
    jsonrpc::Reader,
    phase::{Fields, Value},
    record::{Record, Sink},
};

/// The phase log, one JSON object a line.
pub static FORMAT: Format = Format {
    name: "phase-jsonl",
    title: "Phase log, JSON lines",
    doc: "Written by servers, launchers and test harnesses that follow the phase-log practice: one object a line with \
          `run_id`, `phase`, `event` and the keys of that event.\n\n\
          ```json\n{\"run_id\":\"run_01JX\",\"server_name\":\"acme\",\"pid\":84217,\"phase\":\"discovery\",\"event\":\"tools_list_responded\",\"request_id\":2,\"tool_count\":4,\"at\":\"2026-07-22T14:03:13.083Z\"}\n```\n\n\
          Proves what its writer saw: `*_received` that the server had the request, `external_attempt` that the tool \
          contacted the outside. Silent about what the writer does not record, and about its last lines when the \
          process dies with a full buffer.",
    framing: Framing::Lines,
    json_lines: true,
    gist: None,
    witness: Some(Witness::Server),
    sniff: |head: &Head<'_>| claims(decode, head),
    decode,
};

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let bytes = record.text.as_bytes();
    if bytes.first() != Some(&b'{')
        || (memmem::find(bytes, b"\"event\"").is_none() && memmem::find(bytes, b"\"phase\"").is_none())
    {
        return false;
    }
    let reader = Reader::new(record.arena);
    let mut json = serde_json::Deserializer::from_str(record.text);
    let Ok(line) = LineSeed(&reader).deserialize(&mut json) else { return false };
    if json.end().is_err() || line.foreign || !is_phase_record(&line.fields) {
        return false;
    }
    line.fields.push(record, sink);
    true
}

/// `event` and `phase` are common words: the record must also name its run, or use the vocabulary.
fn is_phase_record(fields: &Fields<'_>) -> bool {
    fields.is_record()
        && (fields.keys.run.is_some() || fields.phase.is_some())
        && (fields.phase.is_some()
            || fields.event.is_some_and(|event| crate::event::PhaseEvent::parse(event).is_some()))
}

struct Line<'a> {
    fields: Fields<'a>,
    /// A key that says the line is of another format.
    foreign: bool,
}

struct LineSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for LineSeed<'_, 'a> {
    type Value = Line<'a>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Line<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for LineSeed<'_, 'a> {
    type Value = Line<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a phase record")
    }
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Line<'a>, M::Error> {
        let mut line = Line { fields: Fields::default(), foreign: false };
        while let Some(key) = map.next_key_seed(self.0.text())? {
            match key.unwrap_or("") {
                "jsonrpc" | "direction" | "params" | "result" | "scenarioId" => {
                    line.foreign = true;
                    map.next_value::<IgnoredAny>()?;
                }
                key => {
                    let value = map.next_value::<&'a RawValue>()?;
                    line.fields.set(key, Value::of_json(value.get(), self.0));
                }
            }
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{
        event::{Id, Kind, PhaseEvent, ReachStage, StepDetail},
        format::decode_lines,
    };

    #[test]
    fn reads_the_example_of_the_practice() {
        let arena = Bump::new();
        let text = r#"{"run_id":"run_01JX","server_name":"acme","pid":84217,"phase":"discovery","event":"tools_list_responded","request_id":2,"tool_count":4,"at":"2026-07-22T14:03:13.083Z"}"#;
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        let [event] = sink.events[..] else { panic!("{sink:?}") };
        assert_eq!((event.keys.run, event.keys.server, event.keys.pid), (Some("run_01JX"), Some("acme"), Some(84217)));
        let Kind::Step(step) = event.kind else { panic!("{event:?}") };
        assert_eq!((step.event, step.call.id), (PhaseEvent::ToolsListResponded, Some(Id::Int(2))));
        assert_eq!(step.detail, StepDetail::Tools { count: Some(4), reason: None });
    }

    #[test]
    fn an_attempt_names_its_target_and_call() {
        let arena = Bump::new();
        let text = r#"{"run_id":"r","phase":"execution","event":"external_attempt","request_id":"2","action_id":"act","channel":"https","host":"api.example.test","at":1796008097.5}"#;
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        let Kind::Reach(reach) = sink.events[0].kind else { panic!("{sink:?}") };
        assert_eq!((reach.stage, reach.target), (ReachStage::Attempted, "https://api.example.test"));
        assert_eq!((reach.call.id, reach.action), (Some(Id::Text("2")), Some("act")));
    }

    #[test]
    fn unknown_events_are_kept_as_text_with_a_notice() {
        let arena = Bump::new();
        let sink = decode_lines(Some(&FORMAT), r#"{"run_id":"r","phase":"execution","event":"coffee_break"}"#, &arena);
        assert!(matches!(sink.events[0].kind, Kind::Text(_)), "{sink:?}");
        assert_eq!(sink.notices.len(), 1);
    }

    #[test]
    fn other_json_is_left_alone() {
        let arena = Bump::new();
        let record = |text: &'static str| Record { text, ..record_of(&arena) };
        assert!(!decode(&record(r#"{"event":"request","level":"info"}"#), &mut Sink::new()));
        assert!(!decode(&record(r#"{"jsonrpc":"2.0","method":"x","params":{"event":1,"phase":2}}"#), &mut Sink::new()));
        assert!(!decode(&record(r#"{"run_id":"r","phase":"launch""#), &mut Sink::new()));
    }

    fn record_of(arena: &Bump) -> Record<'_> {
        use std::num::NonZeroU32;

        use crate::event::{Origin, SourceId};
        Record { origin: Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 }, text: "", arena }
    }
}
