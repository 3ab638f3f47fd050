//! An event stream (`text/event-stream`, WHATWG HTML section 9.2) read from a recorded body.
//!
//! Knows lines, fields and events; what the data says is read elsewhere. Not for streams that are still open.

use bumpalo::{Bump, collections::String as ArenaString};

/// One event, or what stands of the last one where the stream is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty where there is none, which means `message`.
    pub name: &'a str,
    /// The `data` lines, joined by line feeds; empty in a priming event.
    pub data: &'a str,
    /// The `id` field.
    pub id: Option<&'a str>,
    /// The `retry` field, in milliseconds.
    pub retry: Option<u32>,
    /// A blank line ended it. A browser drops an event without one.
    pub ended: bool,
}

impl Event<'_> {
    /// Whether an MCP client reads the data as a message: the SDKs skip every other name.
    pub fn is_message(&self) -> bool {
        matches!(self.name, "" | "message")
    }
}

/// The events of a recorded stream, in order. Comments and unknown fields are skipped.
#[derive(Debug)]
pub struct Events<'a> {
    rest: &'a str,
    arena: &'a Bump,
}

/// Reads a recorded stream; data of more than one line goes to `arena`.
pub fn events<'a>(text: &'a str, arena: &'a Bump) -> Events<'a> {
    Events { rest: text.strip_prefix('\u{feff}').unwrap_or(text), arena }
}

/// Whether `text` begins like an event stream.
pub fn looks_like_stream(text: &str) -> bool {
    let text = text.trim_start_matches(['\u{feff}', '\r', '\n']);
    ["event:", "data:", "id:", "retry:", ":"].iter().any(|start| text.starts_with(start))
}

impl<'a> Events<'a> {
    /// The next line without its end, which is a line feed, a carriage return, or both.
    fn line(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let Some(end) = memchr::memchr2(b'\n', b'\r', self.rest.as_bytes()) else {
            return Some(std::mem::take(&mut self.rest));
        };
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix("\r\n").unwrap_or(&rest[1..]);
        Some(line)
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        let mut event = Event::default();
        let mut data = Data::None;
        let mut begun = false;
        while let Some(line) = self.line() {
            if line.is_empty() {
                if !begun {
                    continue;
                }
                event.ended = true;
                break;
            }
            if line.starts_with(':') {
                continue;
            }
            begun = true;
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => event.name = value,
                "data" => data = data.and(value, self.arena),
                "id" if !value.contains('\0') => event.id = Some(value),
                "retry" => event.retry = value.parse().ok(),
                _ => {}
            }
        }
        event.data = data.finish();
        begun.then_some(event)
    }
}

/// The data lines of one event: copied only where there are several.
enum Data<'a> {
    None,
    One(&'a str),
    Many(ArenaString<'a>),
}

impl<'a> Data<'a> {
    fn and(self, line: &'a str, arena: &'a Bump) -> Self {
        let mut joined = match self {
            Self::None => return Self::One(line),
            Self::One(first) => ArenaString::from_str_in(first, arena),
            Self::Many(joined) => joined,
        };
        joined.push('\n');
        joined.push_str(line);
        Self::Many(joined)
    }

    fn finish(self) -> &'a str {
        match self {
            Self::None => "",
            Self::One(line) => line,
            Self::Many(joined) => joined.into_bump_str(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(text: &'a str, arena: &'a Bump) -> Vec<Event<'a>> {
        events(text, arena).collect()
    }

    #[test]
    fn reads_fields_names_and_ids() {
        let arena = Bump::new();
        let all = read("event: message\r\nid: 7\r\nretry: 250\r\ndata: {\"a\":1}\r\n\r\n", &arena);
        let want = Event { name: "message", data: "{\"a\":1}", id: Some("7"), retry: Some(250), ended: true };
        assert_eq!(all, [want]);
    }

    #[test]
    fn joins_data_lines_and_takes_every_line_end() {
        let arena = Bump::new();
        for end in ["\n", "\r", "\r\n"] {
            let text = format!("data:a{end}data:  b{end}data{end}{end}{end}data: c{end}{end}");
            let data: Vec<String> = events(&text, &arena).map(|event| event.data.to_owned()).collect();
            assert_eq!(data, ["a\n b\n", "c"], "{end:?}");
        }
    }

    #[test]
    fn comments_carry_nothing() {
        let arena = Bump::new();
        assert_eq!(read(": ping - 1\n\n: ping - 2", &arena), []);
        let all = read(": ping\n\ndata: x\n: ping\ndata: y\n\n", &arena);
        assert_eq!(all, [Event { data: "x\ny", ended: true, ..Event::default() }]);
    }

    #[test]
    fn a_priming_event_has_an_id_and_no_data() {
        let arena = Bump::new();
        let all = read("id: s1_0\ndata:\n\n", &arena);
        assert_eq!(all, [Event { id: Some("s1_0"), ended: true, ..Event::default() }]);
    }

    #[test]
    fn the_last_event_may_be_cut() {
        let arena = Bump::new();
        let all = read("data: {}\n\nevent: message\ndata: {\"jsonr", &arena);
        assert_eq!(all.iter().map(|event| event.ended).collect::<Vec<_>>(), [true, false]);
        assert_eq!(all[1].data, "{\"jsonr");
        assert_eq!(read("data: {}\n\nda", &arena).len(), 2);
    }

    #[test]
    fn tells_a_stream_from_other_text() {
        assert!(looks_like_stream("\u{feff}event: endpoint\ndata: /m\n\n"));
        assert!(looks_like_stream(": ping\n\n"));
        assert!(!looks_like_stream("{\"data:\":1}"));
    }
}
