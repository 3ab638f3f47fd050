//! A stretch of decoded content that begins and ends on record edges, and its records. Reads nothing itself.

use std::num::NonZeroU32;

use bumpalo::Bump;

use crate::{
    event::{Origin, SourceId},
    frame::Span,
    notice::Notice,
    record::Record,
};

/// Where the records of a block are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cuts {
    /// Every line is one.
    #[default]
    Lines,
    /// These stretches of the text.
    Spans(Vec<Span>),
}

/// A stretch of decoded content. Reusable: give it back to the reader.
#[derive(Debug, Default)]
pub struct Block {
    /// The text, valid UTF-8 with its line ends.
    pub text: String,
    /// Where decoders put unescaped text.
    pub arena: Bump,
    /// Offset of the text in the decoded content.
    pub offset: u64,
    /// Number of the first line, where lines are the records.
    pub first_record: u32,
    /// Where the records are.
    pub records: Cuts,
    /// Trouble while reading. The last block may have no text and only this.
    pub notices: Vec<Notice>,
    /// The content ends here, and not with a line end.
    pub ends_without_newline: bool,
}

impl Block {
    /// The records in their order. Blank lines are records too.
    pub fn records(&self, source: SourceId) -> Records<'_> {
        Records { block: self, source, at: 0, index: 0 }
    }
}

/// Iterates over the records of a block without allocating.
#[derive(Clone, Debug)]
pub struct Records<'b> {
    block: &'b Block,
    source: SourceId,
    /// The next byte, where lines are the records.
    at: usize,
    /// How many records came before.
    index: usize,
}

impl<'b> Iterator for Records<'b> {
    type Item = Record<'b>;

    fn next(&mut self) -> Option<Record<'b>> {
        let (start, text, number) = match &self.block.records {
            Cuts::Lines => {
                let rest = self.block.text.get(self.at..).filter(|rest| !rest.is_empty())?;
                let end = memchr::memchr(b'\n', rest.as_bytes());
                let start = self.at;
                self.at += end.map_or(rest.len(), |end| end + 1);
                let line = &rest[..end.unwrap_or(rest.len())];
                let number = self.block.first_record.saturating_add(u32::try_from(self.index).unwrap_or(u32::MAX));
                (start, line.trim_end_matches('\r'), number)
            }
            Cuts::Spans(spans) => {
                let span = spans.get(self.index)?;
                let (start, end) = (span.start as usize, span.end as usize);
                (start, self.block.text.get(start..end).unwrap_or_default(), span.record)
            }
        };
        self.index += 1;
        // A hole of NUL bytes, and a mark at the beginning of the content or of a file that was appended to another.
        let bare = text.trim_start_matches('\0');
        let bare = bare.strip_prefix('\u{feff}').unwrap_or(bare);
        let offset = self.block.offset + (start + text.len() - bare.len()) as u64;
        let record = NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Some(Record { origin: Origin { source: self.source, record, offset }, text: bare, arena: &self.block.arena })
    }
}
