//! Edges of JSON values that arrive piece by piece: values one after another, or the elements of one array inside a
//! document. Checks the grammar as far as edges need it (RFC 8259, scalars and escapes loosely) and decodes nothing.

mod around;

use super::{Lost, Output};
use crate::notice::NoticeKind;

/// Deeper than any writer of logs nests. A document that goes deeper counts as broken.
const DEPTH: usize = 1 << 16;
/// The most bytes of a key that are compared with a path.
const KEY: usize = 64;
/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The beginning of a document.
    Outside,
    /// A line that is no JSON, between values.
    Line,
    /// Directly behind a value among values.
    Behind,
    /// The beginning of another document after one that broke. `fresh`: the byte before ends a line.
    Lost {
        fresh: bool,
    },
    /// A value, or the end of the container.
    Value,
    /// A key, or the end of the object.
    Key,
    Colon,
    /// A comma, or the end of the container.
    Comma,
    /// Inside a string that is a key, or a value.
    Text {
        key: bool,
        escape: bool,
    },
    Scalar,
}

/// A resumable scanner. Offsets are those of the content, not of a buffer.
#[derive(Debug)]
pub(super) struct Json {
    /// The array whose elements are records; `None`: whole values are.
    path: Option<&'static [&'static str]>,
    state: State,
    /// The open containers: true for an object.
    stack: Vec<bool>,
    /// How many keys of the path lead to the innermost container.
    matched: usize,
    /// The key that was just read is the next one of the path.
    hit: bool,
    /// Depth of the array whose elements are records, while inside it.
    array: Option<usize>,
    /// This document had the array.
    found: bool,
    key: Vec<u8>,
    /// The next byte to look at.
    at: u64,
    /// Where the open record began.
    open: Option<u64>,
    /// Where the last value ended.
    end: u64,
    /// Where the document began.
    begin: u64,
    /// Where the last string began.
    text: u64,
    /// The first line end inside the open value.
    line_end: Option<u64>,
    /// More of the value came after that line end.
    goes_on: bool,
    /// Where the stretch began that belongs to no document, and its bytes that are not blank.
    junk: Option<(u64, u64)>,
    /// The loss since the document broke.
    loss: Option<Lost>,
    documents: u64,
}

impl Json {
    pub(super) fn values() -> Self {
        Self {
            path: None,
            state: State::Outside,
            stack: Vec::new(),
            matched: 0,
            hit: false,
            array: None,
            found: false,
            key: Vec::new(),
            at: 0,
            open: None,
            end: 0,
            begin: 0,
            text: 0,
            line_end: None,
            goes_on: false,
            junk: None,
            loss: None,
            documents: 0,
        }
    }

    pub(super) fn array(path: &'static [&'static str]) -> Self {
        Self { path: Some(path), ..Self::values() }
    }

    /// Returns how many bytes are done with.
    pub(super) fn cut(&mut self, bytes: &[u8], last: bool, out: &mut Output) -> usize {
        let mut scan = Scan { bytes, index: usize::try_from(self.at - out.base).unwrap_or(bytes.len()), last };
        while scan.index < bytes.len() {
            let before = (scan.index, self.state);
            self.step(&mut scan, out);
            if before == (scan.index, self.state) {
                break;
            }
        }
        self.at = out.base + scan.index as u64;
        if last {
            self.ends(bytes, out);
        }
        let extent = if self.state == State::Behind { self.end } else { self.at };
        let held = self.open.filter(|open| extent - open <= out.max_record).unwrap_or(self.at);
        usize::try_from(held.max(out.base) - out.base).unwrap_or(bytes.len()).min(scan.index)
    }

    /// Looks at the next byte or stretch of bytes. Standing still without a change of state asks for more bytes.
    fn step(&mut self, scan: &mut Scan<'_>, out: &mut Output) {
        match self.state {
            State::Outside if self.path.is_none() => self.outside_values(scan, out),
            State::Outside => self.outside_array(scan, out),
            State::Line => {
                let (length, ends) = scan.until(b'\n');
                scan.index += length;
                if ends {
                    let end = scan.offset(out);
                    self.close_line(scan.bytes, end, end, out);
                }
            }
            State::Behind => self.behind(scan, out),
            State::Lost { fresh } => self.resume(scan, fresh, out),
            State::Text { key, escape } => self.in_text(scan, key, escape, out),
            State::Scalar => {
                let rest = &scan.bytes[scan.index..];
                let end = rest.iter().position(|byte| !is_scalar(*byte));
                scan.index += end.unwrap_or(rest.len());
                if end.is_some() {
                    self.value_ends(scan.offset(out), out);
                }
            }
            State::Value | State::Key | State::Colon | State::Comma => self.structure(scan, out),
        }
    }

    /// Structure: everything but strings and scalars.
    fn structure(&mut self, scan: &mut Scan<'_>, out: &mut Output) {
        let byte = scan.byte();
        if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            if byte == b'\n' && self.line_end.is_none() {
                self.line_end = Some(scan.offset(out));
            }
            scan.index += 1;
            // Indentation.
            scan.index += scan.bytes[scan.index..].iter().take_while(|byte| **byte == b' ').count();
            return;
        }
        let object = self.stack.last().copied().unwrap_or(false);
        match (self.state, byte) {
            (State::Value, b'{' | b'[') => self.opens(byte, scan, out),
            (State::Value, b'"') => {
                self.value_starts(scan.offset(out));
                self.text_starts(false, scan, out);
            }
            (State::Value, _) if is_scalar(byte) => {
                self.value_starts(scan.offset(out));
                self.state = State::Scalar;
            }
            (State::Key, b'"') => self.text_starts(true, scan, out),
            (State::Colon, b':') => {
                self.state = State::Value;
                scan.index += 1;
            }
            (State::Comma, b',') => {
                self.state = if object { State::Key } else { State::Value };
                scan.index += 1;
            }
            (State::Comma | State::Key, b'}') if object => self.closes(scan, out),
            (State::Comma | State::Value, b']') if !object => self.closes(scan, out),
            _ => return self.breaks(scan, out),
        }
        self.goes_on |= self.line_end.is_some();
    }

    fn text_starts(&mut self, key: bool, scan: &mut Scan<'_>, out: &Output) {
        self.text = scan.offset(out);
        self.key.clear();
        self.state = State::Text { key, escape: false };
        scan.index += 1;
    }

    fn in_text(&mut self, scan: &mut Scan<'_>, key: bool, escape: bool, out: &mut Output) {
        if escape {
            scan.index += 1;
            self.state = State::Text { key, escape: false };
            return;
        }
        let rest = &scan.bytes[scan.index..];
        // A raw line end in a string is not JSON. Between values it shows a torn line; inside a capture some writer
        // did not escape, and that costs one element only.
        let found = match self.path {
            None => memchr::memchr3(b'"', b'\\', b'\n', rest),
            Some(_) => memchr::memchr2(b'"', b'\\', rest),
        };
        let length = found.unwrap_or(rest.len());
        if key {
            let room = KEY.saturating_sub(self.key.len()).min(length);
            self.key.extend_from_slice(&rest[..room]);
        }
        scan.index += length;
        match found.map(|index| rest[index]) {
            None => {}
            Some(b'\\') => {
                scan.index += 1;
                self.state = State::Text { key, escape: true };
            }
            Some(b'\n') => self.breaks(scan, out),
            Some(_) => {
                scan.index += 1;
                if key {
                    let here = self.array.is_none() && self.stack.len() == self.matched + 1;
                    let next = self.path.and_then(|path| path.get(self.matched));
                    self.hit = here && next.is_some_and(|next| next.as_bytes() == self.key.as_slice());
                    self.state = State::Colon;
                } else {
                    self.value_ends(scan.offset(out), out);
                }
            }
        }
    }

    /// An element of the array begins here, if this is where they stand.
    fn value_starts(&mut self, offset: u64) {
        if self.array == Some(self.stack.len()) {
            self.open = Some(offset);
        }
        self.hit = false;
    }

    /// A container opens.
    fn opens(&mut self, byte: u8, scan: &mut Scan<'_>, out: &mut Output) {
        if self.stack.len() >= DEPTH {
            return self.breaks(scan, out);
        }
        let object = byte == b'{';
        let hit = self.hit || (self.stack.is_empty() && self.path.is_some_and(<[_]>::is_empty));
        self.value_starts(scan.offset(out));
        self.stack.push(object);
        if let Some(path) = self.path
            && hit
        {
            if !object && self.matched + 1 >= path.len() {
                self.array = Some(self.stack.len());
                if !self.found {
                    self.found = true;
                    self.flush_junk(self.begin, out);
                }
            } else if object && self.matched + 1 < path.len() {
                self.matched += 1;
            }
        }
        self.state = if object { State::Key } else { State::Value };
        scan.index += 1;
    }

    fn closes(&mut self, scan: &mut Scan<'_>, out: &mut Output) {
        self.stack.pop();
        scan.index += 1;
        if self.array.is_some_and(|depth| self.stack.len() < depth) {
            self.array = None;
        }
        if self.stack.len() <= self.matched {
            self.matched = self.stack.len().saturating_sub(1);
        }
        self.value_ends(scan.offset(out), out);
    }

    fn value_ends(&mut self, end: u64, out: &mut Output) {
        self.end = end;
        if self.path.is_none() {
            self.state = if self.stack.is_empty() { State::Behind } else { State::Comma };
            return;
        }
        if self.array == Some(self.stack.len()) {
            self.close_value(out);
        }
        self.state = State::Comma;
        if self.stack.is_empty() {
            self.state = State::Outside;
            if !self.found {
                let (record, at) = (out.next(), self.begin);
                out.lost.push(Lost { kind: NoticeKind::UnknownShape, record, at, bytes: end - at });
                self.flush_junk(at, out);
            }
            self.documents += 1;
            self.matched = 0;
        }
    }
}

/// The buffer and how far it was looked at.
struct Scan<'a> {
    bytes: &'a [u8],
    index: usize,
    last: bool,
}

impl Scan<'_> {
    fn byte(&self) -> u8 {
        self.bytes[self.index]
    }

    fn offset(&self, out: &Output) -> u64 {
        out.base + self.index as u64
    }

    /// Bytes up to the next such byte, and whether there is one.
    fn until(&self, byte: u8) -> (usize, bool) {
        let rest = &self.bytes[self.index..];
        match memchr::memchr(byte, rest) {
            Some(index) => (index, true),
            None => (rest.len(), false),
        }
    }
}

/// A byte of a number or a literal, those of JavaScript and Python included.
fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
}
