//! Lists the members of zip archives, damaged ones included. Extracts nothing; names of members are only names.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::stored::Layer;

/// A file inside an archive.
#[derive(Debug)]
pub(super) struct Member {
    /// Its name as written, lossy.
    pub(super) name: String,
    /// How to get at its content, from that of the archive; or why that cannot be done.
    pub(super) layers: Result<Vec<Layer>, &'static str>,
}

/// What a zip archive holds, and whether it was read to its end.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) members: Vec<Member>,
    pub(super) damage: Option<String>,
}

/// Lists a zip archive by its central directory.
pub(super) fn list_zip(input: impl Read + Seek) -> zip::result::ZipResult<Listing> {
    let archive = zip::ZipArchive::new(BufReader::new(input))?;
    let mut places = Vec::new();
    let mut listing = Listing::default();
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index)?;
        if entry.is_dir() || entry.is_symlink() {
            continue;
        }
        let method = match entry.compression() {
            zip::CompressionMethod::Stored => Ok(0),
            zip::CompressionMethod::Deflated => Ok(8),
            zip::CompressionMethod::Zstd => Ok(93),
            _ => Err(UNKNOWN_METHOD),
        };
        let method = if entry.encrypted() { Err(ENCRYPTED) } else { method };
        let name = entry.name().map_or_else(|_| String::from_utf8_lossy(entry.name_raw()).into_owned(), Into::into);
        listing.members.push(Member { name, layers: Ok(Vec::new()) });
        places.push((entry.header_start(), entry.compressed_size(), entry.crc32(), method));
    }
    let mut input = archive.into_inner();
    for (member, (header, size, crc, method)) in listing.members.iter_mut().zip(places) {
        member.layers = method.and_then(|method| {
            let start = data_start(&mut input, header).map_err(|_| "its local header is damaged")?;
            layers(start, size, method, Some(crc))
        });
    }
    Ok(listing)
}

const ENCRYPTED: &str = "it is encrypted";
const UNKNOWN_METHOD: &str = "its compression method is not supported";

/// Layers of a member, by the method's number (APPNOTE 4.4.5).
fn layers(start: u64, length: u64, method: u16, crc: Option<u32>) -> Result<Vec<Layer>, &'static str> {
    let mut layers = vec![Layer::Slice { start, length }];
    match method {
        0 => {}
        8 => layers.push(Layer::Deflate),
        93 => layers.push(Layer::Zstd),
        _ => return Err(UNKNOWN_METHOD),
    }
    layers.extend(crc.map(Layer::Checked));
    Ok(layers)
}

/// Where the data behind a local header begins.
fn data_start(input: &mut (impl Read + Seek), header: u64) -> io::Result<u64> {
    input.seek(SeekFrom::Start(header))?;
    let mut bytes = [0; Local::SIZE];
    input.read_exact(&mut bytes)?;
    let local = Local::parse(&bytes).ok_or(io::ErrorKind::InvalidData)?;
    Ok(header + Local::SIZE as u64 + u64::from(local.name) + u64::from(local.extra))
}

/// A local file header (APPNOTE 4.3.7).
struct Local {
    flags: u16,
    method: u16,
    crc: u32,
    size: u32,
    name: u16,
    extra: u16,
}

impl Local {
    const SIZE: usize = 30;
    const SIGNATURE: [u8; 4] = *b"PK\x03\x04";

    fn parse(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let long = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        bytes.starts_with(&Self::SIGNATURE).then(|| Self {
            flags: short(6),
            method: short(8),
            crc: long(14),
            size: long(18),
            name: short(26),
            extra: short(28),
        })
    }
}

/// The size of a member's data: the header's, or that of the ZIP64 field (APPNOTE 4.5.3).
fn size(local: &Local, extra: &[u8]) -> u64 {
    if local.size != u32::MAX {
        return local.size.into();
    }
    let mut rest = extra;
    while let [a, b, c, d, more @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*c, *d]));
        if u16::from_le_bytes([*a, *b]) == 1
            && let Some(bytes) = more.get(8..16)
        {
            return bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        }
        rest = more.get(length..).unwrap_or_default();
    }
    u64::MAX
}

/// Lists a zip archive that has lost its central directory, or that cannot be read from any place: from local header to
/// local header. `cut` tells that the directory is known to be missing.
pub(super) fn walk_zip(input: impl Read, cut: bool) -> Listing {
    let inner = BufReader::with_capacity(64 << 10, input);
    let mut walk = Walk { input: Counting { inner, at: 0 }, slack: 0 };
    let mut listing = Listing::default();
    let end = loop {
        match walk.step() {
            Ok(Step::Member(member)) => listing.members.push(member),
            Ok(Step::Folder) => {}
            Ok(Step::End) => break None,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break Some("it ends early".to_owned()),
            Err(error) => break Some(error.to_string()),
        }
    };
    let end = end.or_else(|| cut.then(|| "its directory is damaged".to_owned()));
    listing.damage = end.map(|end| format!("{end}; members found: {}", listing.members.len()));
    listing
}

/// From one local header to the next.
struct Walk<R> {
    input: Counting<R>,
    /// How many bytes may stand before the next signature: a data descriptor (APPNOTE 4.3.9), which has its own
    /// signature or none and 12 or 20 bytes more.
    slack: usize,
}

/// What a walk came upon.
enum Step {
    Member(Member),
    Folder,
    End,
}

impl<R: BufRead> Walk<R> {
    fn step(&mut self) -> io::Result<Step> {
        let mut bytes = [0; Local::SIZE];
        let signature = self.signature()?;
        if signature != Local::SIGNATURE {
            return Ok(Step::End);
        }
        bytes[..4].copy_from_slice(&signature);
        self.input.read_exact(&mut bytes[4..])?;
        let local = Local::parse(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        let name = String::from_utf8_lossy(&self.read_vec(local.name.into())?).into_owned();
        let extra = self.read_vec(local.extra.into())?;
        let start = self.input.at;
        let described = local.flags & 8 != 0;
        let size = size(&local, &extra);
        let unknown = described && size == 0;
        let passed = self.pass(&local, size, unknown);
        self.slack = if described { 24 } else { 0 };
        if name.ends_with('/') {
            return passed.map(|()| Step::Folder);
        }
        let length = match (unknown, &passed) {
            (false, _) => size,
            (true, Ok(())) => self.input.at - start,
            (true, Err(_)) => u64::MAX,
        };
        let layers = match &passed {
            _ if local.flags & 1 != 0 => Err(ENCRYPTED),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Err("its size is not recorded"),
            // A member that is cut is read as far as it goes; the missing next header tells of the damage.
            _ => layers(start, length, local.method, (!described).then_some(local.crc)),
        };
        Ok(Step::Member(Member { name, layers }))
    }

    /// The next signature of a member or of the directory.
    fn signature(&mut self) -> io::Result<[u8; 4]> {
        let mut bytes = [0; 4];
        self.input.read_exact(&mut bytes)?;
        for _ in 0..=self.slack {
            if matches!(&bytes, b"PK\x03\x04" | b"PK\x01\x02" | b"PK\x05\x06" | b"PK\x06\x06") {
                return Ok(bytes);
            }
            bytes.rotate_left(1);
            self.input.read_exact(&mut bytes[3..])?;
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "no member begins where one should"))
    }

    /// Passes over the data of a member.
    fn pass(&mut self, local: &Local, size: u64, unknown: bool) -> io::Result<()> {
        if !unknown {
            let passed = io::copy(&mut self.input.by_ref().take(size), &mut io::sink())?;
            return if passed < size { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) };
        }
        match local.method {
            8 => io::copy(&mut flate2::bufread::DeflateDecoder::new(&mut self.input), &mut io::sink()).map(|_| ()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn read_vec(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// A buffered reader that knows its place.
struct Counting<R> {
    inner: R,
    at: u64,
}

impl<R: BufRead> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counting<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount as u64;
        self.inner.consume(amount);
    }
}
