//! Input formats: one file each, and the table that is their registry.
//!
//! A format knows the envelope: where a record starts, its stamp, level, stream and direction. What the text inside
//! says is shared by all formats: a JSON body goes to [`crate::jsonrpc`], free text goes to [`crate::clue`].

pub mod access_jsonl;
mod bracket_console;
pub mod call_summary;
pub mod claude_desktop;
pub mod clf;
mod grammar;
pub mod har;
mod loose;
pub mod mitmdump;
pub mod nginx_error;
pub mod otlp;
pub mod phase_jsonl;
mod python_console;
pub mod stdio_tap;
pub mod strace;
pub mod supergateway;
pub mod test_kitchen;
pub mod trace_jsonl;

use serde::Deserialize as _;

use crate::{
    clue,
    event::{Event, Keys, Kind, Message, Witness},
    frame::Framing,
    notice::NoticeKind,
    record::{Body, Record, Sink},
};

/// One input format, as a value.
#[derive(Debug)]
pub struct Format {
    /// Kebab-case name, used in reports and hints.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Markdown: which software writes it, what a record looks like, what it proves, what it is silent about.
    pub doc: &'static str,
    /// How records are cut.
    pub framing: Framing,
    /// Every line is a JSON document: one that is not is damaged, and what it said is lost.
    pub json_lines: bool,
    /// What a record says, where its first words say nothing.
    pub gist: Option<Gist>,
    /// Who writes this format, where that is always the same party.
    pub witness: Option<Witness>,
    /// Whether the beginning of an input is of this format. Decided by content, never by name.
    pub sniff: fn(&Head<'_>) -> bool,
    /// Decodes one record. Pure: the same bytes give the same events, with no state between records.
    /// Returns false when the record is not of this format: it is then offered to the other line formats.
    pub decode: for<'a> fn(&Record<'a>, &mut Sink<'a>) -> bool,
}

/// What a record says in a few words, out of its beginning: parts that follow one another, of which none may crowd out
/// the last. Out of the log like any quote: each has to be masked.
pub type Gist = fn(&str) -> Option<Vec<String>>;

/// The beginning of an input, after wrappers are peeled: whole lines where possible, at most 64 KiB.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Head<'a> {
    /// The first lines that are not blank, without their line ends.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.bytes
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
            .take(64)
    }
}

/// All formats, most specific first: the first whose `sniff` says yes wins.
pub static FORMATS: &[&Format] = &[
    &har::FORMAT,
    &claude_desktop::FORMAT,
    &claude_desktop::MAIN,
    &supergateway::FORMAT,
    &stdio_tap::FORMAT,
    &phase_jsonl::FORMAT,
    &trace_jsonl::FORMAT,
    &otlp::FORMAT,
    &otlp::DOCUMENT,
    &call_summary::FORMAT,
    &test_kitchen::EXPORT,
    &test_kitchen::FORMAT,
    &access_jsonl::FORMAT,
    &strace::FORMAT,
    &nginx_error::FORMAT,
    &clf::FORMAT,
    &mitmdump::FORMAT,
    &bracket_console::FORMAT,
    &python_console::FORMAT,
];

/// The format of an input that begins with `head`, if anyone claims it.
pub fn sniff(head: &Head<'_>) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| (format.sniff)(head))
}

/// Whether one of the first lines is a record of the format that `decode` decodes.
fn claims(decode: for<'a> fn(&Record<'a>, &mut Sink<'a>) -> bool, head: &Head<'_>) -> bool {
    let origin =
        crate::event::Origin { source: crate::event::SourceId(0), record: std::num::NonZeroU32::MIN, offset: 0 };
    any_line(head, 16, |text, arena| decode(&Record { origin, text, arena }, &mut Sink::new()))
}

/// Whether one of the first `count` lines is what `is_ours` looks for. Lines that are not UTF-8 are nobody's.
fn any_line(head: &Head<'_>, count: usize, is_ours: impl for<'a> Fn(&'a str, &'a bumpalo::Bump) -> bool) -> bool {
    let arena = bumpalo::Bump::new();
    head.lines().take(count).filter_map(|line| std::str::from_utf8(line).ok()).any(|text| is_ours(text, &arena))
}

/// The format of that name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}

/// Decodes one record of an input of the given format (`None`: plain text).
///
/// Several line formats may be mixed in one file: a record that the format of its input does not know is offered to
/// the other line formats, and at last read as free text.
///
/// Returns whether it is a record of that format.
pub fn decode<'a>(format: Option<&'static Format>, record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(format) = format
        && (format.decode)(record, sink)
    {
        return true;
    }
    for other in FORMATS.iter().filter(|other| matches!(other.framing, Framing::Lines)) {
        if format.is_none_or(|format| format.name != other.name) && (other.decode)(record, sink) {
            return false;
        }
    }
    if format.is_some_and(|format| format.json_lines) && record.text.starts_with('{') {
        note_damage(record, sink);
        if ["tools/call", "jsonrpc"].iter().all(|sign| record.text.contains(sign)) {
            let kind = Kind::Message(Message::UNREADABLE);
            sink.push(Event { origin: record.origin, at: None, witness: None, keys: Keys::default(), kind });
        }
    }
    clue::read(record.text, &Body::bare(*record), sink);
    false
}

/// Tells of a line that begins as a JSON object and is none: cut, torn, with values that JSON does not have, or glued to
/// text.
fn note_damage(record: &Record<'_>, sink: &mut Sink<'_>) {
    let mut json = serde_json::Deserializer::from_str(record.text);
    if serde::de::IgnoredAny::deserialize(&mut json).is_err() {
        sink.notice(NoticeKind::NotJson, record.origin);
    } else if json.end().is_err() {
        sink.notice(NoticeKind::TrailingText, record.origin);
    }
}

/// Decodes a whole text whose records are lines. For tests of formats and for embedding; the pipeline reads blocks.
pub fn decode_lines<'a>(format: Option<&'static Format>, text: &'a str, arena: &'a bumpalo::Bump) -> Sink<'a> {
    use std::num::NonZeroU32;

    use crate::event::{Origin, SourceId};

    let mut sink = Sink::new();
    let mut offset = 0;
    let mut number = NonZeroU32::MIN;
    for line in text.split_inclusive('\n') {
        let origin = Origin { source: SourceId(0), record: number, offset };
        let record = Record { origin, text: line.trim_end_matches(['\n', '\r']), arena };
        if !record.text.trim().is_empty() {
            decode(format, &record, &mut sink);
        }
        offset += line.len() as u64;
        number = number.saturating_add(1);
    }
    sink
}
