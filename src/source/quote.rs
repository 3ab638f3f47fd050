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

/// The text of the records that begin at these offsets, each cut after `limit` bytes at the most. `framing` is the one
/// the source was read with. An offset that the source no longer has is missing in the answer.
pub fn fetch(entry: &SourceEntry, framing: Framing, wanted: &[u64], limit: usize) -> BTreeMap<u64, String> {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = BTreeMap::new();
    let seekable = entry.recipe.is_seekable() && entry.charset == Charset::Utf8;
    // What cannot be read any more is quoted as far as it can.
    let _ = if seekable {
        by_seek(entry, framing, &wanted, limit, &mut found)
    } else {
        by_stream(entry, framing, &wanted, limit, &mut found)
    };
    found
}

fn by_seek(
    entry: &SourceEntry,
    framing: Framing,
    wanted: &[u64],
    limit: usize,
    found: &mut BTreeMap<u64, String>,
) -> io::Result<()> {
    let mut window = entry.recipe.window()?;
    let mut bytes = Vec::new();
    for offset in wanted {
        window.seek(SeekFrom::Start(*offset))?;
        bytes.clear();
        let read = window.by_ref().take(limit as u64 + 4).read_to_end(&mut bytes);
        if !bytes.is_empty() {
            found.insert(*offset, text(framing, &bytes, limit));
        }
        read?;
    }
    Ok(())
}

fn by_stream(
    entry: &SourceEntry,
    framing: Framing,
    wanted: &[u64],
    limit: usize,
    found: &mut BTreeMap<u64, String>,
) -> io::Result<()> {
    let mut input = Input::open(entry, false)?;
    let mut buffer = Buffer::default();
    let mut base = 0;
    for offset in wanted {
        loop {
            let passed = usize::try_from(offset - base).unwrap_or(usize::MAX).min(buffer.length);
            buffer.drop_front(passed);
            base += passed as u64;
            if base == *offset || input.ended {
                break;
            }
            input.fill(&mut buffer, PIECE);
        }
        if buffer.length < limit + 4 && !input.ended {
            input.fill(&mut buffer, limit + PIECE);
        }
        if base < *offset || buffer.length == 0 {
            break;
        }
        found.insert(*offset, text(framing, buffer.content(), limit));
    }
    Ok(())
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
