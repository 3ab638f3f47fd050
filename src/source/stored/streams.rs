//! What bytes pass through on their way from the stored file: counting, cutting, checking, gzip.

use std::{
    io::{self, BufRead, BufReader, Read},
    sync::PoisonError,
};

use sha2::Digest;

use super::{CHUNK, SharedTally, ends_early};

/// Counts, and hashes where the tally has a hasher.
pub(super) struct Counted {
    pub(super) inner: Box<dyn Read + Send>,
    pub(super) tally: SharedTally,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.bytes += read as u64;
        if let Some(hasher) = &mut tally.hasher {
            hasher.update(&buffer[..read]);
        }
        Ok(read)
    }
}

/// A member of a stream. Unlike `Take` it tells when the stream ends too early.
pub(super) struct Limited {
    pub(super) inner: Box<dyn Read + Send>,
    pub(super) left: u64,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut buffer[..wanted])?;
        if read == 0 && wanted > 0 && self.left != u64::MAX {
            return Err(ends_early());
        }
        if self.left != u64::MAX {
            self.left -= read as u64;
        }
        Ok(read)
    }
}

/// Compares the checksum at the end.
pub(super) struct Checked {
    pub(super) inner: Box<dyn Read + Send>,
    pub(super) crc: u32,
    pub(super) seen: flate2::Crc,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.seen.update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() && self.seen.sum() != self.crc {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum is wrong"));
        }
        Ok(read)
    }
}

/// Gzip members one after another. Zeros behind the last one are padding (tapes, block devices); anything else there
/// is damage.
pub(super) struct Gzip {
    pub(super) member: Option<flate2::bufread::GzDecoder<BufReader<Box<dyn Read + Send>>>>,
}

impl Gzip {
    pub(super) fn new(inner: Box<dyn Read + Send>) -> Self {
        let inner = BufReader::with_capacity(CHUNK, inner);
        Self { member: Some(flate2::bufread::GzDecoder::new(inner)) }
    }
}

impl Read for Gzip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(member) = &mut self.member else { return Ok(0) };
            let read = member.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            let Some(mut inner) = self.member.take().map(flate2::bufread::GzDecoder::into_inner) else { return Ok(0) };
            match next_byte_but_zero(&mut inner)? {
                None => return Ok(0),
                Some(0x1f) => self.member = Some(flate2::bufread::GzDecoder::new(inner)),
                Some(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "something follows the gzip data")),
            }
        }
    }
}

/// Passes over zeros; returns the byte behind them without taking it.
fn next_byte_but_zero(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let next = bytes.get(zeros).copied();
        input.consume(zeros);
        if next.is_some() {
            return Ok(next);
        }
    }
}
