//! Reads one input block by block. Never fails once it is open: trouble becomes notices.

use std::{io, num::NonZeroU32};

use super::{
    Block, Cuts, SourceEntry,
    input::{Buffer, Input},
    stored::Sum,
};
use crate::{
    event::Origin,
    frame::{BOM, Cut, Cutter, Framing},
    notice::{Notice, NoticeKind},
};

/// The most bytes that are shown to those who recognize formats.
const HEAD: usize = 64 << 10;

/// How inputs are read. None of it changes what is found in them, as long as records are not too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bytes of a block.
    pub block: usize,
    /// The largest record; larger ones are skipped and counted.
    pub max_record: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { block: 1 << 20, max_record: 64 << 20 }
    }
}

/// Reads one input.
pub struct Reader {
    entry: SourceEntry,
    input: Input,
    options: ReadOptions,
    framing: Framing,
    cutter: Cutter,
    /// Content that is in no block yet.
    pub(super) buffer: Buffer,
    /// How much of that the cutter has looked at.
    seen: usize,
    head: Option<String>,
    lost_bytes: u64,
    done: bool,
}

/// What can be said of an input after it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadSummary {
    /// Size of the stored file.
    pub bytes: u64,
    /// Size of the decoded content, as far as it was read.
    pub content_bytes: u64,
    /// SHA-256 of the stored file.
    pub sha256: Sum,
    /// SHA-256 of the unpacked member, for members of archives.
    pub member_sha256: Option<Sum>,
    /// Records, the lost ones included.
    pub records: u64,
    /// Bytes of the content that are in no record and that notices tell of.
    pub lost_bytes: u64,
}

impl Reader {
    /// Opens an input. It is read by lines until a framing is set.
    ///
    /// # Errors
    ///
    /// What was found is no longer there.
    pub fn open(entry: &SourceEntry, options: &ReadOptions) -> io::Result<Self> {
        let max_record = options.max_record.clamp(1, 1 << 30);
        // A piece may not be larger than a record, or records would have to be measured one by one.
        let options = ReadOptions { block: options.block.clamp(1, max_record), max_record };
        Ok(Self {
            entry: entry.clone(),
            input: Input::open(entry, true)?,
            options,
            framing: Framing::Lines,
            cutter: Cutter::new(Framing::Lines, max_record),
            buffer: Buffer::default(),
            seen: 0,
            head: None,
            lost_bytes: 0,
            done: false,
        })
    }

    /// The beginning of the content: whole lines if there are any, at most 64 KiB. To be asked for before blocks are.
    pub fn head(&mut self) -> &str {
        if self.head.is_none() {
            if self.buffer.length < HEAD {
                self.input.fill(&mut self.buffer, HEAD);
            }
            let content = self.buffer.content();
            let content = &content[..content.len().min(HEAD)];
            let whole = self.input.ended && self.buffer.length <= HEAD;
            let end = memchr::memrchr(b'\n', content).filter(|_| !whole).map_or(content.len(), |index| index + 1);
            let content = content[..end].strip_prefix(BOM).unwrap_or(&content[..end]);
            self.head = Some(String::from_utf8_lossy(content).into_owned());
        }
        self.head.as_deref().unwrap_or_default()
    }

    /// How records are cut. To be said before blocks are asked for.
    pub fn set_framing(&mut self, framing: Framing) {
        debug_assert_eq!(self.cutter.offset(), 0, "blocks were already cut in another way");
        self.framing = framing;
        self.cutter = Cutter::new(framing, self.options.max_record);
    }

    /// Bytes taken from what is stored so far, of [`SourceEntry::stored_bytes`].
    pub fn bytes_read(&self) -> u64 {
        self.input.bytes_read()
    }

    /// The next block, made of the memory of a used one. `None`: that was all.
    pub fn next_block(&mut self, reuse: Option<Block>) -> Option<Block> {
        let mut block = reuse.unwrap_or_default();
        block.arena.reset();
        block.notices.clear();
        while !self.done {
            let goal = self.seen + self.options.block;
            if self.buffer.length < goal && !self.input.ended {
                self.input.fill(&mut self.buffer, goal);
            }
            let window = self.buffer.length.min(goal);
            let last = self.input.ended && window == self.buffer.length;
            let start = self.cutter.offset();
            let cut = self.cutter.cut(&self.buffer.content()[..window], last);
            self.seen = window - cut.used;
            if cut.used == 0 && !last {
                continue;
            }
            self.done = last;
            self.note_lost(&mut block);
            self.deliver(&mut block, cut, start);
            if last {
                self.note_end(&mut block);
            }
            if !block.text.is_empty() || !block.notices.is_empty() {
                block.notices.sort_by_key(|notice| (notice.origin.offset, notice.kind));
                return Some(block);
            }
        }
        None
    }

    /// Moves what was cut into the block, and what is left to the front of the block's old memory.
    fn deliver(&mut self, block: &mut Block, cut: Cut, start: u64) {
        let mut spare = std::mem::take(&mut block.text).into_bytes();
        let rest = &self.buffer.content()[cut.used..];
        if spare.len() < rest.len() {
            spare.resize(rest.len(), 0);
        }
        spare[..rest.len()].copy_from_slice(rest);
        let rest = rest.len();
        let mut bytes = std::mem::replace(&mut self.buffer, Buffer { bytes: spare, length: rest }).bytes;
        block.ends_without_newline = self.done && cut.used > cut.skip && bytes[cut.used - 1] != b'\n';
        block.offset = start + cut.skip as u64;
        block.first_record = cut.first;
        block.records = if matches!(self.framing, Framing::Lines) {
            Cuts::Lines
        } else {
            let mut spans = match std::mem::take(&mut block.records) {
                Cuts::Spans(spans) => spans,
                Cuts::Lines => Vec::new(),
            };
            spans.clear();
            spans.extend_from_slice(self.cutter.spans());
            Cuts::Spans(spans)
        };
        if cut.skip == cut.used {
            // Nothing to keep: the memory serves the next piece.
            bytes.clear();
        } else {
            bytes.truncate(cut.used);
            bytes.drain(..cut.skip);
        }
        let end = block.offset + bytes.len() as u64;
        let mut damaged = self.take_damaged(end);
        block.text = String::from_utf8(bytes).unwrap_or_else(|error| {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            repair(&mut bytes, valid, block.offset, &mut damaged);
            // Every byte that is not UTF-8 was replaced.
            String::from_utf8(bytes).unwrap_or_default()
        });
        if !damaged.is_empty() {
            self.note_damaged(block, &damaged);
        }
    }

    /// Takes the places up to `end` where the charset was broken.
    fn take_damaged(&mut self, end: u64) -> Vec<u64> {
        let count = self.input.damaged.partition_point(|offset| *offset < end);
        self.input.damaged.drain(..count).collect()
    }

    /// One notice for each record with replaced bytes.
    fn note_damaged(&self, block: &mut Block, damaged: &[u64]) {
        let mut notices = std::mem::take(&mut block.notices);
        let mut places = damaged.iter().copied().peekable();
        for record in block.records(self.entry.id) {
            let (start, end) = (record.origin.offset, record.origin.offset + record.text.len() as u64);
            while places.next_if(|place| *place < start).is_some() {}
            let mut inside = false;
            while places.next_if(|place| *place < end).is_some() {
                inside = true;
            }
            if inside {
                notices.push(Notice { kind: NoticeKind::NotUtf8, origin: record.origin });
            }
        }
        block.notices = notices;
    }

    fn note_lost(&mut self, block: &mut Block) {
        for lost in self.cutter.lost() {
            self.lost_bytes += lost.bytes;
            let record = NonZeroU32::new(lost.record).unwrap_or(NonZeroU32::MIN);
            let origin = Origin { source: self.entry.id, record, offset: lost.at };
            block.notices.push(Notice { kind: lost.kind, origin });
        }
    }

    /// What can be told only at the end.
    fn note_end(&mut self, block: &mut Block) {
        let offset = self.cutter.offset();
        let empty = (offset == 0).then_some(NoticeKind::Empty);
        if let Some(kind) = self.input.trouble.or(empty) {
            let record = u32::try_from(self.cutter.records()).unwrap_or(u32::MAX);
            let record = NonZeroU32::new(record).unwrap_or(NonZeroU32::MIN);
            block.notices.push(Notice { kind, origin: Origin { source: self.entry.id, record, offset } });
        }
    }

    /// Reads what is left, for the sums, and tells what was read.
    pub fn finish(self) -> ReadSummary {
        let content_bytes = self.input.decoded;
        let (bytes, sha256, member_sha256) = self.input.finish(&self.entry);
        let (records, lost_bytes) = (self.cutter.records(), self.lost_bytes);
        ReadSummary { bytes, content_bytes, sha256, member_sha256, records, lost_bytes }
    }
}

/// Puts a question mark for each byte that is not UTF-8: offsets stay those of the file, and JSON stays JSON.
pub(super) fn repair(bytes: &mut [u8], valid: usize, offset: u64, damaged: &mut Vec<u64>) {
    let mut at = valid;
    let mut invalid = Vec::new();
    for chunk in bytes[valid..].utf8_chunks() {
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            invalid.push(at..at + chunk.invalid().len());
            at += chunk.invalid().len();
        }
    }
    for range in invalid {
        damaged.push(offset + range.start as u64);
        bytes[range].fill(b'?');
    }
}
