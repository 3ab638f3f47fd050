//! Edges of lines and of headed entries. Does not look into lines: a function from outside says what a header is.

use super::{BOM, Cut, ENTRY_BYTES, ENTRY_LINES, Lost, Output, trimmed};
use crate::notice::NoticeKind;

/// A line longer than the largest record, passed over as it comes.
#[derive(Debug, Default)]
struct Endless {
    since: Option<u64>,
}

impl Endless {
    /// Goes on passing over a line that is too long, with the bytes that stand at offset `at` of the content.
    /// Returns how many of them belong to it; the line may still go on.
    fn pass(&mut self, bytes: &[u8], at: u64, last: bool, out: &mut Output) -> usize {
        let Some(since) = self.since else { return 0 };
        let (used, ends) = match memchr::memchr(b'\n', bytes) {
            Some(index) => (index + 1, true),
            None => (bytes.len(), last),
        };
        if ends {
            let size = (at - since) + used as u64;
            out.lost.push(Lost { kind: NoticeKind::OversizeRecord, record: out.next(), at: since, bytes: size });
            out.records += 1;
            self.since = None;
        }
        used
    }
}

/// One record a line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    endless: Endless,
}

impl Lines {
    pub(super) fn cut(&mut self, bytes: &[u8], last: bool, out: &mut Output) -> Cut {
        let mut skip = self.endless.pass(bytes, out.base, last, out);
        // Pieces are not larger than a record may be, so only the line that begins the buffer can be too long.
        while self.endless.since.is_none() && (bytes.len() - skip) as u64 > out.max_record {
            let rest = &bytes[skip..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            if length as u64 <= out.max_record {
                break;
            }
            let at = out.base + skip as u64;
            self.endless.since = Some(at);
            skip += self.endless.pass(rest, at, last, out);
        }
        let rest = &bytes[skip..];
        let used = if last { rest.len() } else { memchr::memrchr(b'\n', rest).map_or(0, |index| index + 1) };
        let whole = &rest[..used];
        let first = out.next();
        let unended = usize::from(whole.last().is_some_and(|byte| *byte != b'\n'));
        out.records += (memchr::memchr_iter(b'\n', whole).count() + unended) as u64;
        Cut { skip, used: skip + used, first }
    }
}

/// Entries that begin at a header line.
#[derive(Debug)]
pub(super) struct Headed {
    is_header: fn(&[u8]) -> bool,
    endless: Endless,
    entry: Option<Entry>,
    /// How far the buffer was looked at: the beginning of a line.
    seen: usize,
    /// Bytes after `seen` known to hold no line end.
    scanned: usize,
}

/// The entry that is being read.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    /// The end of its last line, without line end.
    end: usize,
    lines: usize,
}

impl Headed {
    pub(super) fn new(is_header: fn(&[u8]) -> bool) -> Self {
        Self { is_header, endless: Endless::default(), entry: None, seen: 0, scanned: 0 }
    }

    pub(super) fn cut(&mut self, bytes: &[u8], last: bool, out: &mut Output) -> usize {
        self.seen += self.endless.pass(bytes, out.base, last, out);
        while self.endless.since.is_none() && self.seen < bytes.len() {
            let rest = &bytes[self.seen..];
            let next = memchr::memchr(b'\n', &rest[self.scanned..]).map(|index| self.scanned + index + 1);
            let length = next.unwrap_or(rest.len());
            if length as u64 > out.max_record + 1 {
                self.close(out);
                let at = out.base + self.seen as u64;
                self.endless.since = Some(at);
                self.seen += self.endless.pass(rest, at, last, out);
                self.scanned = 0;
                continue;
            }
            if next.is_none() && !last {
                self.scanned = rest.len();
                break;
            }
            self.scanned = 0;
            self.line(&rest[..length], out);
            self.seen += length;
        }
        if last {
            self.close(out);
        }
        let used = self.entry.map_or(self.seen, |entry| entry.start);
        self.seen -= used;
        if let Some(entry) = &mut self.entry {
            entry.end -= entry.start;
            entry.start = 0;
        }
        used
    }

    /// Takes in one line, with its line end, that begins at `seen`.
    fn line(&mut self, line: &[u8], out: &mut Output) {
        let text = trimmed(line);
        let end = self.seen + text.len();
        if (self.is_header)(text.strip_prefix(BOM).unwrap_or(text)) {
            self.close(out);
            self.entry = Some(Entry { start: self.seen, end, lines: 1 });
            return;
        }
        let limit = ENTRY_BYTES.min(usize::try_from(out.max_record).unwrap_or(usize::MAX));
        match &mut self.entry {
            Some(entry) if entry.lines < ENTRY_LINES && end - entry.start <= limit => {
                entry.end = end;
                entry.lines += 1;
            }
            _ => {
                self.close(out);
                let end = out.base + end as u64;
                out.record(out.base + self.seen as u64, end, end);
            }
        }
    }

    fn close(&mut self, out: &mut Output) {
        if let Some(entry) = self.entry.take() {
            let end = out.base + entry.end as u64;
            out.record(out.base + entry.start as u64, end, end);
        }
    }
}
