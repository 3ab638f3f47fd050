//! Record edges in bytes, the same for all formats: lines, headed multi-line entries, JSON values, elements of an array
//! inside one document. Knows nothing about what a record says, and reads nothing.

mod json;
mod lines;

use crate::notice::NoticeKind;

/// How an input is cut into records.
#[derive(Clone, Copy, Debug)]
pub enum Framing {
    /// One record a line.
    Lines,
    /// An entry begins at a line for which the function says yes and runs to the next such line. At most
    /// [`ENTRY_LINES`] lines and [`ENTRY_BYTES`] bytes; a longer one is closed and the rest are lines of their own.
    Headed(fn(&[u8]) -> bool),
    /// JSON values one after another, pretty-printed or not.
    JsonValues,
    /// The elements of one array inside a single JSON document, by the keys that lead to it: `["log", "entries"]`.
    /// An empty path is a top-level array.
    JsonArray(&'static [&'static str]),
}

/// The most lines a headed entry may have.
pub const ENTRY_LINES: usize = 2000;
/// The most bytes a headed entry may have.
pub const ENTRY_BYTES: usize = 1 << 20;

/// A byte order mark in UTF-8. Concatenated files have it in their middle too.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// One record inside a buffer, without its line end or separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
    /// Its number, counted from 1.
    pub record: u32,
}

/// A stretch of the content that no record covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Why.
    pub kind: NoticeKind,
    /// The number of the record it would have been.
    pub record: u32,
    /// The byte to show: where an oversize record begins, where a document was cut.
    pub at: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// What one call of [`Cutter::cut`] settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Bytes at the front that belong to no record of this buffer.
    pub skip: usize,
    /// Bytes that are done with; the rest has to come again, with more behind it.
    pub used: usize,
    /// The number of the first record after `skip`.
    pub first: u32,
}

/// Finds record edges in content that arrives piece by piece. What it finds does not depend on the pieces.
#[derive(Debug)]
pub struct Cutter {
    shape: Shape,
    out: Output,
}

#[derive(Debug)]
enum Shape {
    Lines(lines::Lines),
    Headed(lines::Headed),
    Json(json::Json),
}

/// What the edge finders write to.
#[derive(Debug)]
struct Output {
    /// Offset of the buffer's first byte in the content.
    base: u64,
    /// Records so far, the lost ones included.
    records: u64,
    /// The largest record, in bytes.
    max_record: u64,
    spans: Vec<Span>,
    lost: Vec<Lost>,
}

impl Output {
    /// The number of the next record.
    fn next(&self) -> u32 {
        u32::try_from(self.records.saturating_add(1)).unwrap_or(u32::MAX)
    }

    /// The record from one offset of the content to another is complete: keeps it, or counts it as oversize. To know
    /// that it ends there, bytes up to `seen` had to be looked at.
    fn record(&mut self, start: u64, end: u64, seen: u64) {
        let record = self.next();
        let bytes = seen.saturating_sub(start);
        if bytes > self.max_record {
            self.lost.push(Lost { kind: NoticeKind::OversizeRecord, record, at: start, bytes });
        } else {
            let place = |offset: u64| u32::try_from(offset.saturating_sub(self.base)).unwrap_or(u32::MAX);
            self.spans.push(Span { start: place(start), end: place(end), record });
        }
        self.records += 1;
    }
}

impl Cutter {
    /// For content cut in this way, with records of at most `max_record` bytes (at most 1 GiB).
    pub fn new(framing: Framing, max_record: usize) -> Self {
        let shape = match framing {
            Framing::Lines => Shape::Lines(lines::Lines::default()),
            Framing::Headed(is_header) => Shape::Headed(lines::Headed::new(is_header)),
            Framing::JsonValues => Shape::Json(json::Json::values()),
            Framing::JsonArray(path) => Shape::Json(json::Json::array(path)),
        };
        let max_record = max_record.min(1 << 30) as u64;
        Self { shape, out: Output { base: 0, records: 0, max_record, spans: Vec::new(), lost: Vec::new() } }
    }

    /// Looks at the content that follows what was used up so far. `last`: nothing comes after it.
    ///
    /// No progress (`used` is 0) means that more bytes are needed. A buffer need never grow beyond the largest record
    /// and one piece: what is larger is passed over as it comes.
    pub fn cut(&mut self, bytes: &[u8], last: bool) -> Cut {
        self.out.spans.clear();
        self.out.lost.clear();
        let first = self.out.next();
        let used = match &mut self.shape {
            Shape::Lines(lines) => {
                let cut = lines.cut(bytes, last, &mut self.out);
                self.out.base += cut.used as u64;
                return cut;
            }
            Shape::Headed(headed) => headed.cut(bytes, last, &mut self.out),
            Shape::Json(json) => json.cut(bytes, last, &mut self.out),
        };
        let cut = Cut { skip: if self.out.spans.is_empty() { used } else { 0 }, used, first };
        self.out.base += cut.used as u64;
        cut
    }

    /// The records that the last call found. Empty for [`Framing::Lines`]: there every line is one.
    pub fn spans(&self) -> &[Span] {
        &self.out.spans
    }

    /// What the last call found to be lost.
    pub fn lost(&self) -> &[Lost] {
        &self.out.lost
    }

    /// Records so far, the lost ones included.
    pub fn records(&self) -> u64 {
        self.out.records
    }

    /// Offset in the content of the first byte that is not used up.
    pub fn offset(&self) -> u64 {
        self.out.base
    }
}

/// Where the record that begins `bytes` ends, if that can be told from these bytes; else all of them belong to it.
pub fn first_record(framing: Framing, bytes: &[u8]) -> usize {
    let framing = match framing {
        Framing::Lines => return trimmed(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()).len(),
        // An element of an array stands alone here.
        Framing::JsonArray(_) => Framing::JsonValues,
        other => other,
    };
    let mut cutter = Cutter::new(framing, bytes.len());
    cutter.cut(bytes, true);
    cutter.spans().first().map_or(bytes.len(), |span| span.end as usize)
}

/// A line without its line end.
fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let returns = line.iter().rev().take_while(|byte| **byte == b'\r').count();
    &line[..line.len() - returns]
}

#[cfg(test)]
mod tests;
