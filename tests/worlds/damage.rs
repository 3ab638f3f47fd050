//! What becomes of the files until somebody reads them: some are not there, some are cut, lines are missing.

use std::ops::Range;

use fastrand::Rng;

use super::tell::{File, Shows};

/// Bytes of one record, the attempt that it is about, and what it shows of it.
pub(crate) type Stretch = (Range<usize>, Option<(usize, Shows)>);

/// A file as it is found, and what its bytes are about.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) spans: Vec<Stretch>,
}

/// What was done to the evidence of a world, by name.
pub(crate) type Damages = Vec<&'static str>;

/// Damages the files of a world.
pub(crate) fn damage(files: Vec<File>, rng: &mut Rng) -> (Vec<Found>, Damages) {
    let mut damages = Damages::new();
    let mut found = Vec::new();
    let last = files.len() - 1;
    for (index, mut file) in files.into_iter().enumerate() {
        let is_last_hope = index == last && found.is_empty();
        if !is_last_hope && rng.u8(..4) == 0 {
            damages.push("source-missing");
            continue;
        }
        if rng.u8(..10) == 0 && file.lines.len() > 1 {
            let at = rng.usize(..file.lines.len());
            file.lines.remove(at);
            damages.push("line-lost");
        }
        if rng.u8(..14) == 0 && file.lines.len() > 1 {
            file.lines.drain(..rng.usize(1..file.lines.len()));
            damages.push("head-missing");
        }
        if rng.u8(..16) == 0 && file.frame.0.is_empty() && file.lines.len() > 1 {
            let rest = file.lines.split_off(rng.usize(1..file.lines.len()));
            let older = std::mem::replace(&mut file.lines, rest);
            found.push(render(&File { name: format!("{}.1", file.name), lines: older, ..file.clone() }));
            damages.push("rotated");
        }
        let mut file = render(&file);
        if rng.u8(..8) == 0 && file.bytes.len() > 1 {
            let cut = rng.usize(1..file.bytes.len());
            file.bytes.truncate(cut);
            file.spans.retain(|(span, _)| span.end <= cut);
            damages.push("tail-torn");
        }
        found.push(file);
    }
    damages.sort_unstable();
    damages.dedup();
    (found, damages)
}

/// A file as it was written.
pub(crate) fn render(file: &File) -> Found {
    let mut bytes = file.frame.0.as_bytes().to_vec();
    let mut spans = Vec::new();
    for (index, line) in file.lines.iter().enumerate() {
        if index > 0 {
            bytes.extend_from_slice(file.between.as_bytes());
        }
        let start = bytes.len();
        bytes.extend_from_slice(line.text.as_bytes());
        spans.push((start..bytes.len(), line.about));
    }
    bytes.extend_from_slice(if file.frame.1.is_empty() { b"\n" } else { file.frame.1.as_bytes() });
    Found { name: file.name.clone(), bytes, spans }
}
