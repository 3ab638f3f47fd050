//! The bytes of one input, unpacked and decoded to UTF-8, hashed on the way. Knows nothing of records.

use std::{
    io::{self, Read},
    sync::{Arc, Mutex, PoisonError},
};

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE};
use sha2::{Digest, Sha256};

use super::{
    SourceEntry,
    kind::Charset,
    stored::{SharedTally, Sum, Tally, hash_rest},
};
use crate::notice::NoticeKind;

/// How much is read while what came before is hashed.
const STEP: usize = 256 << 10;
/// Less than this is hashed at once: another thread would cost more.
const ALONE: usize = 64 << 10;

/// A buffer that grows at its end and keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    /// Memory; only the first `length` bytes are content.
    pub(super) bytes: Vec<u8>,
    pub(super) length: usize,
}

impl Buffer {
    pub(super) fn content(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Forgets the first bytes.
    pub(super) fn drop_front(&mut self, count: usize) {
        self.bytes.copy_within(count..self.length, 0);
        self.length -= count;
    }

    fn room(&mut self, goal: usize) {
        if self.bytes.len() < goal {
            self.bytes.reserve_exact(goal - self.bytes.len());
            self.bytes.resize(goal, 0);
        }
    }
}

/// Decodes UTF-16 as it comes.
struct Utf16 {
    decoder: Decoder,
    raw: Buffer,
}

/// The content of one input.
pub(super) struct Input {
    stream: Box<dyn Read + Send>,
    tally: SharedTally,
    /// Of the content, before its charset is decoded.
    hasher: Option<Sha256>,
    utf16: Option<Utf16>,
    /// Bytes that came out of the stream.
    taken: u64,
    /// The stream has ended, well or not.
    stream_ended: bool,
    /// There is no more content.
    pub(super) ended: bool,
    /// It did not end well.
    pub(super) trouble: Option<NoticeKind>,
    /// Offsets in the decoded content where a character could not be decoded.
    pub(super) damaged: Vec<u64>,
    /// Decoded bytes so far.
    pub(super) decoded: u64,
    packed: bool,
}

impl Input {
    /// Opens an input. `summed`: sums are wanted in the end.
    pub(super) fn open(entry: &SourceEntry, summed: bool) -> io::Result<Self> {
        let stored_hasher = summed && !entry.is_plain() && entry.member.is_none();
        let content_hasher = summed && !stored_hasher;
        let tally = Tally { bytes: 0, hasher: stored_hasher.then(Sha256::new) };
        let tally = Arc::new(Mutex::new(tally));
        let decoder = match entry.charset {
            Charset::Utf8 => None,
            Charset::Utf16Le => Some(UTF_16LE.new_decoder_with_bom_removal()),
            Charset::Utf16Be => Some(UTF_16BE.new_decoder_with_bom_removal()),
        };
        Ok(Self {
            stream: entry.recipe.open(&tally)?,
            tally,
            hasher: content_hasher.then(Sha256::new),
            utf16: decoder.map(|decoder| Utf16 { decoder, raw: Buffer::default() }),
            taken: 0,
            stream_ended: false,
            ended: false,
            trouble: None,
            damaged: Vec::new(),
            decoded: 0,
            packed: !entry.recipe.is_seekable() || entry.member.is_some(),
        })
    }

    /// Bytes taken from what is stored.
    pub(super) fn bytes_read(&self) -> u64 {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Fills the buffer up to `goal` bytes, or less where the content ends.
    pub(super) fn fill(&mut self, buffer: &mut Buffer, goal: usize) {
        let before = buffer.length;
        match self.utf16.take() {
            None => {
                self.fill_raw(buffer, goal);
                self.ended = self.stream_ended;
            }
            Some(mut utf16) => {
                self.fill_decoded(&mut utf16, buffer, goal);
                self.utf16 = Some(utf16);
            }
        }
        self.decoded += (buffer.length - before) as u64;
    }

    fn fill_raw(&mut self, buffer: &mut Buffer, goal: usize) {
        buffer.room(goal);
        let mut settled = buffer.length;
        while buffer.length < goal && !self.stream_ended {
            let (done, fresh) = buffer.bytes.split_at_mut(buffer.length);
            let (fresh, waiting) = (&mut fresh[..STEP.min(goal - done.len())], &done[settled..]);
            settled = done.len();
            let stream = &mut self.stream;
            let (read, result) = match &mut self.hasher {
                Some(hasher) if waiting.len() >= ALONE => {
                    rayon::join(|| read_full(stream.as_mut(), fresh), || hasher.update(waiting)).0
                }
                Some(hasher) => {
                    hasher.update(waiting);
                    read_full(stream.as_mut(), fresh)
                }
                None => read_full(stream.as_mut(), fresh),
            };
            self.stream_ended = read < fresh.len();
            buffer.length += read;
            self.taken += read as u64;
            if result.is_err() {
                self.stream_ended = true;
                self.trouble = Some(if self.packed { NoticeKind::BrokenArchive } else { NoticeKind::Unreadable });
            }
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer.bytes[settled..buffer.length]);
        }
    }

    fn fill_decoded(&mut self, utf16: &mut Utf16, buffer: &mut Buffer, goal: usize) {
        // A character takes at most three bytes for two, and the decoder wants some room for a character.
        buffer.room(goal + 16);
        let base = self.decoded - buffer.length as u64;
        loop {
            let raw = &mut utf16.raw;
            let wanted = (goal.saturating_sub(buffer.length) / 3 * 2).max(8);
            if raw.length < wanted && !self.stream_ended {
                self.fill_raw(raw, wanted);
            }
            let raw = &mut utf16.raw;
            let out = &mut buffer.bytes[buffer.length..];
            let (result, read, written) =
                utf16.decoder.decode_to_utf8_without_replacement(raw.content(), out, self.stream_ended);
            raw.drop_front(read);
            buffer.length += written;
            if let DecoderResult::Malformed(..) = result {
                self.damaged.push(base + buffer.length as u64);
                buffer.room(buffer.length + 16);
                buffer.bytes[buffer.length..buffer.length + 3].copy_from_slice("\u{fffd}".as_bytes());
                buffer.length += 3;
            }
            self.ended = self.stream_ended && result == DecoderResult::InputEmpty;
            if self.ended || buffer.length >= goal || (result == DecoderResult::OutputFull && read == 0) {
                return;
            }
        }
    }

    /// Reads what is left, for its sums. Returns those of the stored file and of the member's content.
    pub(super) fn finish(mut self, entry: &SourceEntry) -> (u64, Sum, Option<Sum>) {
        if !self.stream_ended
            && let Some(hasher) = &mut self.hasher
        {
            self.taken += hash_rest(self.stream.as_mut(), hasher);
        }
        let content: Option<Sum> = self.hasher.take().map(|hasher| hasher.finalize().into());
        if entry.is_plain() {
            return (self.taken, content.unwrap_or_default(), None);
        }
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut hasher) = tally.hasher.take() else {
            let (size, sum) = entry.stored.sum();
            return (size, sum, content);
        };
        // Something may follow the compressed data, or the data is damaged.
        let mut size = tally.bytes;
        if let Ok(mut window) = entry.recipe.rest_of_stored(size) {
            size += hash_rest(&mut window, &mut hasher);
        }
        (size, hasher.finalize().into(), None)
    }
}

/// Reads until the buffer is full or the stream ends. What was read before an error counts.
fn read_full(stream: &mut dyn Read, buffer: &mut [u8]) -> (usize, io::Result<()>) {
    let mut read = 0;
    while read < buffer.len() {
        match stream.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (read, Err(error)),
        }
    }
    (read, Ok(()))
}
