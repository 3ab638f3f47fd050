//! Fetches again the text of records whose places are known: one pass over a source, in the order of the places. Does
//! not mask anything: that is part of reporting.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom},
};

use super::{
    SourceEntry,
    input::{Buffer, Input},
    kind::Charset,
    reader::repair,
};
use crate::frame::{Framing, first_record};

/// How much of a stream is passed over at once.
const PIECE: usize = 256 << 10;

/// The words of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// What stands before it in the source, cut somewhere: a secret may begin there.
    pub before: String,
    /// The record, perhaps cut.
    pub text: String,
}

/// How much of a record is fetched, and of what stands before it, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Of the source before the record.
    pub before: usize,
    /// Of the record.
    pub text: usize,
}

/// The words of the records that begin at these offsets. `framing` is the one the source was read with. An offset that
/// the source no longer has is missing in the answer.
pub fn fetch(entry: &SourceEntry, framing: Framing, wanted: &[u64], reach: Reach) -> BTreeMap<u64, Passage> {
    let mut found = BTreeMap::new();
    fetch_each(entry, framing, wanted, reach, &mut |offset, passage| {
        found.insert(offset, passage);
    });
    found
}

/// The same, one passage after another in the order of their places: of very many, none is kept.
pub fn fetch_each(
    entry: &SourceEntry,
    framing: Framing,
    wanted: &[u64],
    reach: Reach,
    found: &mut dyn FnMut(u64, Passage),
) {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let seekable = entry.recipe.is_seekable() && entry.charset == Charset::Utf8;
    // What cannot be read any more is quoted as far as it can.
    let _ = if seekable {
        by_seek(entry, framing, &wanted, reach, found)
    } else {
        by_stream(entry, framing, &wanted, reach, found)
    };
}

fn by_seek(
    entry: &SourceEntry,
    framing: Framing,
    wanted: &[u64],
    reach: Reach,
    found: &mut dyn FnMut(u64, Passage),
) -> io::Result<()> {
    let mut window = entry.recipe.window()?;
    let mut bytes = Vec::new();
    for offset in wanted {
        let start = offset.saturating_sub(reach.before as u64);
        window.seek(SeekFrom::Start(start))?;
        bytes.clear();
        let read = window.by_ref().take(offset - start + reach.text as u64 + 4).read_to_end(&mut bytes);
        if let Some(passage) = passage(framing, &bytes, offset - start, reach.text) {
            found(*offset, passage);
        }
        read?;
    }
    Ok(())
}

fn by_stream(
    entry: &SourceEntry,
    framing: Framing,
    wanted: &[u64],
    reach: Reach,
    found: &mut dyn FnMut(u64, Passage),
) -> io::Result<()> {
    let mut input = Input::open(entry, false)?;
    let mut buffer = Buffer::default();
    let mut base = 0;
    for offset in wanted {
        let start = offset.saturating_sub(reach.before as u64);
        loop {
            let passed = usize::try_from(start - base).unwrap_or(usize::MAX).min(buffer.length);
            buffer.drop_front(passed);
            base += passed as u64;
            if base == start || input.ended {
                break;
            }
            input.fill(&mut buffer, PIECE);
        }
        if buffer.length < reach.before + reach.text + 4 && !input.ended {
            input.fill(&mut buffer, reach.before + reach.text + PIECE);
        }
        let passage = (base == start).then(|| passage(framing, buffer.content(), offset - start, reach.text)).flatten();
        let Some(passage) = passage else { break };
        found(*offset, passage);
    }
    Ok(())
}

/// The record that begins at this place of `bytes`, if they reach so far.
fn passage(framing: Framing, bytes: &[u8], at: u64, limit: usize) -> Option<Passage> {
    let (before, record) = bytes.split_at_checked(usize::try_from(at).ok()?)?;
    let text = (!record.is_empty()).then(|| text(framing, record, limit))?;
    Some(Passage { before: String::from_utf8_lossy(before).into_owned(), text })
}

/// The record at the beginning of `bytes`, cut before the character that does not fit.
fn text(framing: Framing, bytes: &[u8], limit: usize) -> String {
    let bytes = &bytes[..bytes.len().min(limit + 4)];
    let mut end = first_record(framing, bytes).min(limit);
    if end == limit {
        let is_inside = |end: usize| bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80);
        let back = (0..4.min(end)).find(|back| !is_inside(end - back)).unwrap_or(0);
        end -= back;
    }
    let mut bytes = bytes[..end].to_vec();
    repair(&mut bytes, 0, 0, &mut Vec::new());
    String::from_utf8(bytes).unwrap_or_default()
}
