//! On which line of a source a record begins, where a record may have several. Kept as the few places where the
//! distance between the number of a record and that of its line grows, because an editor opens lines and nothing else.

use std::num::NonZeroU32;

use super::Block;
use crate::event::SourceId;

/// At most so many records of several lines are kept in mind. Behind them lines are unknown.
const KEPT: usize = 1 << 20;

/// A record and its line: the lines of those behind it follow, up to the next such place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    record: u32,
    line: u32,
}

impl Step {
    fn is_followed_by(self, next: Self) -> bool {
        next.line.wrapping_sub(self.line) == next.record.wrapping_sub(self.record)
    }
}

/// The lines of one block, counted from its beginning.
#[derive(Clone, Debug)]
pub struct BlockLines {
    steps: Vec<Step>,
    newlines: u32,
    /// Where the block begins and ends in the content.
    from: u64,
    to: u64,
}

impl BlockLines {
    /// Counts them.
    pub fn new(block: &Block) -> Self {
        let (mut at, mut newlines) = (0, 0);
        let mut steps: Vec<Step> = Vec::new();
        for record in block.records(SourceId(0)) {
            let start = usize::try_from(record.origin.offset - block.offset).unwrap_or(usize::MAX);
            newlines += count(block.text.get(at..start));
            at = start;
            let step = Step { record: record.origin.record.get(), line: newlines };
            if steps.last().is_none_or(|last| !last.is_followed_by(step)) {
                steps.push(step);
            }
        }
        newlines += count(block.text.get(at..));
        Self { steps, newlines, from: block.offset, to: block.offset + block.text.len() as u64 }
    }
}

fn count(text: Option<&str>) -> u32 {
    let newlines = memchr::memchr_iter(b'\n', text.unwrap_or_default().as_bytes()).count();
    u32::try_from(newlines).unwrap_or(u32::MAX)
}

/// The lines on which the records of one source begin.
#[derive(Clone, Debug, Default)]
pub struct LineNumbers {
    steps: Vec<Step>,
    /// Line ends so far.
    newlines: u32,
    /// Where the next block has to begin.
    next: u64,
    /// The first record whose line is not known: something before it was skipped.
    unknown_from: Option<u32>,
}

impl LineNumbers {
    /// Adds the next block. Blocks come in their order.
    pub fn push(&mut self, block: &BlockLines) {
        let Some(first) = block.steps.first().filter(|_| self.unknown_from.is_none()) else {
            return self.pass(block);
        };
        // What a reader skips between blocks holds line ends that nobody counted; a byte order mark holds none.
        let skipped = block.from.saturating_sub(self.next);
        if skipped > 0 && self.next > 0 || skipped > 3 || self.steps.len() + block.steps.len() > KEPT {
            self.unknown_from = Some(first.record);
            return;
        }
        for step in &block.steps {
            let step = Step { record: step.record, line: step.line.saturating_add(self.newlines).saturating_add(1) };
            if self.steps.last().is_none_or(|last| !last.is_followed_by(step)) {
                self.steps.push(step);
            }
        }
        self.pass(block);
    }

    fn pass(&mut self, block: &BlockLines) {
        // A block without records that does not follow leaves its gap to be seen by the next one.
        if block.from <= self.next || self.next == 0 {
            self.newlines = self.newlines.saturating_add(block.newlines);
            self.next = block.to;
        }
    }

    /// The line on which a record begins, counted from 1.
    pub fn of(&self, record: NonZeroU32) -> Option<u32> {
        let record = record.get();
        if self.unknown_from.is_some_and(|from| from <= record) {
            return None;
        }
        let step = self.steps.get(self.steps.partition_point(|step| step.record <= record).checked_sub(1)?)?;
        step.line.checked_add(record - step.record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{frame::Span, source::Cuts};

    fn block(text: &str, offset: u64, first: u32, starts: &[u32]) -> BlockLines {
        let ends = starts.iter().skip(1).copied().chain([u32::try_from(text.len()).expect("short")]);
        let spans =
            starts.iter().zip(ends).zip(first..).map(|((start, end), record)| Span { start: *start, end, record });
        let block = Block { text: text.to_owned(), offset, records: Cuts::Spans(spans.collect()), ..Block::default() };
        BlockLines::new(&block)
    }

    fn lines(numbers: &LineNumbers, records: impl IntoIterator<Item = u32>) -> Vec<Option<u32>> {
        records.into_iter().map(|record| numbers.of(NonZeroU32::new(record).expect("from 1"))).collect()
    }

    #[test]
    fn a_record_behind_others_of_several_lines_has_its_own_line() {
        let mut numbers = LineNumbers::default();
        numbers.push(&block("a\nb\nb\nc\n", 0, 1, &[0, 2, 6]));
        numbers.push(&block("d\ne\ne\n", 8, 4, &[0, 2]));
        numbers.push(&block("f", 14, 6, &[0]));
        assert_eq!(lines(&numbers, 1..=6), [Some(1), Some(2), Some(4), Some(5), Some(6), Some(8)]);
    }

    #[test]
    fn behind_what_was_skipped_no_line_is_known() {
        let mut numbers = LineNumbers::default();
        numbers.push(&block("a\na\nb\n", 3, 1, &[0, 4]));
        numbers.push(&block("d\n", 99, 4, &[0]));
        numbers.push(&block("e\n", 101, 5, &[0]));
        assert_eq!(lines(&numbers, [1, 2, 4, 5]), [Some(1), Some(3), None, None]);
        assert_eq!(lines(&LineNumbers::default(), [1]), [None]);
    }
}
