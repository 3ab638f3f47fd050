//! Bytes as they are stored, the layers around the content, and how to open them again. Does not know what the content
//! says, and never writes under a name that an archive contains.

mod streams;

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use sha2::{Digest, Sha256};

use self::streams::{Checked, Counted, Gzip, Limited};
use crate::error::Error;

/// A SHA-256 value.
pub(super) type Sum = [u8; 32];

/// How much is read at once from below a decompressor.
const CHUNK: usize = 64 << 10;

/// Where stored bytes are.
#[derive(Debug)]
enum Place {
    File(PathBuf),
    /// A temporary file without a name: standard input, or a pipe that was named as an argument.
    Spool(Mutex<File>),
    /// A small member of a compressed archive.
    Memory(Vec<u8>),
}

/// A stored file.
#[derive(Debug)]
pub(super) struct Stored {
    place: Place,
    sum: OnceLock<(u64, Sum)>,
}

impl Stored {
    pub(super) fn file(path: PathBuf) -> Arc<Self> {
        Arc::new(Self { place: Place::File(path), sum: OnceLock::new() })
    }

    pub(super) fn memory(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Self { place: Place::Memory(bytes), sum: OnceLock::new() })
    }

    /// Copies what can be read only once to a temporary file that has no name.
    pub(super) fn spool(mut input: impl Read) -> Result<Arc<Self>, Error> {
        let mut file = tempfile::tempfile().map_err(Error::Spool)?;
        io::copy(&mut input, &mut file).map_err(Error::Spool)?;
        file.flush().map_err(Error::Spool)?;
        Ok(Arc::new(Self { place: Place::Spool(Mutex::new(file)), sum: OnceLock::new() }))
    }

    /// The size now, if it can be told.
    pub(super) fn size(&self) -> Option<u64> {
        match &self.place {
            Place::File(path) => path.metadata().ok().map(|metadata| metadata.len()),
            Place::Spool(file) => {
                file.lock().unwrap_or_else(PoisonError::into_inner).metadata().ok().map(|metadata| metadata.len())
            }
            Place::Memory(bytes) => Some(bytes.len() as u64),
        }
    }

    /// Size and hash of the whole stored file, computed once for all members of an archive. A file that cannot be read
    /// to its end counts as far as it goes.
    pub(super) fn sum(self: &Arc<Self>) -> (u64, Sum) {
        *self.sum.get_or_init(|| {
            let mut hasher = Sha256::new();
            let size = Cursor::open(self).map_or(0, |mut cursor| hash_rest(&mut cursor, &mut hasher));
            (size, hasher.finalize().into())
        })
    }
}

/// Hashes what is left; returns its size.
pub(super) fn hash_rest(input: &mut dyn Read, hasher: &mut Sha256) -> u64 {
    let mut buffer = vec![0; 1 << 20];
    let mut size = 0;
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return size,
            Ok(read) => {
                hasher.update(&buffer[..read]);
                size += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return size,
        }
    }
}

/// A place in a stored file from which to read.
#[derive(Debug)]
pub(super) enum Cursor {
    File(File),
    Shared { stored: Arc<Stored>, at: u64 },
}

impl Cursor {
    fn open(stored: &Arc<Stored>) -> io::Result<Self> {
        Ok(match &stored.place {
            Place::File(path) => Self::File(File::open(path)?),
            Place::Spool(_) | Place::Memory(_) => Self::Shared { stored: Arc::clone(stored), at: 0 },
        })
    }
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (stored, at) = match self {
            Self::File(file) => return file.read(buffer),
            Self::Shared { stored, at } => (stored, at),
        };
        let read = match &stored.place {
            Place::File(_) => 0,
            Place::Spool(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(*at))?;
                file.read(buffer)?
            }
            Place::Memory(bytes) => {
                let from = usize::try_from(*at).unwrap_or(usize::MAX).min(bytes.len());
                (&bytes[from..]).read(buffer)?
            }
        };
        *at += read as u64;
        Ok(read)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (stored, at) = match self {
            Self::File(file) => return file.seek(to),
            Self::Shared { stored, at } => (stored, at),
        };
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => at.checked_add_signed(by),
            SeekFrom::End(by) => stored.size().unwrap_or(0).checked_add_signed(by),
        };
        *at = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(*at)
    }
}

/// What lies between stored bytes and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// A stretch of the bytes below. A length of `u64::MAX` means: to the end.
    Slice { start: u64, length: u64 },
    /// Any number of gzip members.
    Gzip,
    /// Any number of zstd frames.
    Zstd,
    /// Bare deflate, as in a zip archive.
    Deflate,
    /// CRC-32 of the bytes below.
    Checked(u32),
}

/// How to get at some content.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) stored: Arc<Stored>,
    pub(super) layers: Vec<Layer>,
}

/// Bytes that passed the innermost slice, or the stored bytes where there is none; hashed in the latter case.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    pub(super) hasher: Option<Sha256>,
}

/// A tally that reader and stream share.
pub(super) type SharedTally = Arc<Mutex<Tally>>;

impl Recipe {
    pub(super) fn of(stored: Arc<Stored>) -> Self {
        Self { stored, layers: Vec::new() }
    }

    /// The same with further layers on top.
    pub(super) fn with(&self, layers: &[Layer]) -> Self {
        let mut recipe = self.clone();
        recipe.layers.extend_from_slice(layers);
        recipe
    }

    /// The bytes can be read from any place.
    pub(super) fn is_seekable(&self) -> bool {
        self.layers.iter().all(|layer| matches!(layer, Layer::Slice { .. }))
    }

    /// Size of what [`Tally`] counts.
    pub(super) fn counted(&self) -> Option<u64> {
        let slice = self.layers.iter().rev().find_map(|layer| match layer {
            Layer::Slice { length, .. } => Some(*length),
            _ => None,
        });
        slice.filter(|length| *length != u64::MAX).or_else(|| self.stored.size())
    }

    /// Opens the content as far as leading slices go, for reading from any place.
    pub(super) fn window(&self) -> io::Result<Window> {
        let mut window = Window { cursor: Cursor::open(&self.stored)?, start: 0, length: u64::MAX, at: 0 };
        for layer in &self.layers {
            let Layer::Slice { start, length } = *layer else { break };
            window.start = window.start.saturating_add(start);
            let room = if window.length == u64::MAX { u64::MAX } else { window.length.saturating_sub(start) };
            window.length = length.min(room);
        }
        window.seek(SeekFrom::Start(0))?;
        Ok(window)
    }

    /// Opens what is stored, behind so many of its bytes.
    pub(super) fn rest_of_stored(&self, from: u64) -> io::Result<Cursor> {
        let mut cursor = Cursor::open(&self.stored)?;
        cursor.seek(SeekFrom::Start(from))?;
        Ok(cursor)
    }

    /// Opens the content from its beginning.
    pub(super) fn open(&self, tally: &SharedTally) -> io::Result<Box<dyn Read + Send>> {
        let slices = self.layers.iter().take_while(|layer| matches!(layer, Layer::Slice { .. })).count();
        let counted = self.layers.iter().rposition(|layer| matches!(layer, Layer::Slice { .. }));
        let mut stream: Box<dyn Read + Send> = Box::new(self.window()?);
        if counted.is_none_or(|counted| counted < slices) {
            stream = Box::new(Counted { inner: stream, tally: Arc::clone(tally) });
        }
        for (index, layer) in self.layers.iter().enumerate().skip(slices) {
            stream = match *layer {
                Layer::Slice { start, length } => {
                    let skipped = io::copy(&mut stream.by_ref().take(start), &mut io::sink())?;
                    if skipped < start {
                        return Err(ends_early());
                    }
                    Box::new(Limited { inner: stream, left: length })
                }
                Layer::Gzip => Box::new(Gzip::new(stream)),
                Layer::Zstd => Box::new(zstd::stream::read::Decoder::new(stream)?),
                Layer::Deflate => Box::new(flate2::read::DeflateDecoder::new_with_buf(stream, vec![0; CHUNK])),
                Layer::Checked(crc) => Box::new(Checked { inner: stream, crc, seen: flate2::Crc::new() }),
            };
            if counted == Some(index) {
                stream = Box::new(Counted { inner: stream, tally: Arc::clone(tally) });
            }
        }
        Ok(stream)
    }
}

fn ends_early() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the archive ends inside this member")
}

/// A stretch of a stored file.
#[derive(Debug)]
pub(super) struct Window {
    cursor: Cursor,
    start: u64,
    length: u64,
    at: u64,
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = self.cursor.read(&mut buffer[..wanted])?;
        if read == 0 && wanted > 0 && self.length != u64::MAX {
            return Err(ends_early());
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) if self.length == u64::MAX => {
                self.cursor.seek(SeekFrom::End(0))?.checked_sub(self.start).and_then(|end| end.checked_add_signed(by))
            }
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        let target = target.ok_or(io::ErrorKind::InvalidInput)?;
        let absolute = self.start.checked_add(target).ok_or(io::ErrorKind::InvalidInput)?;
        self.cursor.seek(SeekFrom::Start(absolute))?;
        self.at = target;
        Ok(target)
    }
}
