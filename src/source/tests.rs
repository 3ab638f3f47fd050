//! Inputs from discovery to the last record, through every kind of wrapping.

use std::{
    collections::BTreeMap,
    fs,
    io::{Cursor, Write},
    path::Path,
};

use proptest::prelude::{any, prop, prop_assert_eq, proptest};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::{Block, Found, Hints, PathArgument, Reach, ReadOptions, ReadSummary, Reader, SourceEntry, discover_with};
use crate::{event::Witness, frame::Framing, notice::NoticeKind};

const TEXT: &str = "first line\nsecond \u{fc}\u{1f600}\n\nlast";

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }
    folder
}

fn find(paths: &[&Path]) -> Found {
    let arguments: Vec<_> = paths.iter().map(PathArgument::new).collect();
    discover_with(&arguments, &mut std::io::empty()).expect("inputs")
}

/// What is in one stored file.
fn find_in(name: &str, bytes: &[u8]) -> (TempDir, Found) {
    let folder = folder(&[(name, bytes)]);
    let found = find(&[&folder.path().join(name)]);
    (folder, found)
}

struct Read {
    records: Vec<(u32, u64, String)>,
    notices: Vec<(NoticeKind, u32, u64)>,
    summary: ReadSummary,
    torn: bool,
}

impl Read {
    fn texts(&self) -> Vec<&str> {
        self.records.iter().map(|record| record.2.as_str()).collect()
    }
}

fn read_with(entry: &SourceEntry, framing: Framing, options: ReadOptions) -> Read {
    let mut reader = Reader::open(entry, &options).expect("an input");
    reader.head();
    reader.set_framing(framing);
    let (mut records, mut notices, mut torn) = (Vec::new(), Vec::new(), false);
    let mut block: Option<Block> = None;
    while let Some(next) = reader.next_block(block.take()) {
        for record in next.records(entry.id) {
            assert_eq!(record.origin.source, entry.id);
            records.push((record.origin.record.get(), record.origin.offset, record.text.to_owned()));
        }
        notices
            .extend(next.notices.iter().map(|notice| (notice.kind, notice.origin.record.get(), notice.origin.offset)));
        torn = next.ends_without_newline;
        block = Some(next);
    }
    Read { records, notices, summary: reader.finish(), torn }
}

fn read(entry: &SourceEntry) -> Read {
    read_with(entry, Framing::Lines, ReadOptions::default())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory")
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        // The builder refuses names that a reader has to expect.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, *bytes).expect("memory");
    }
    builder.into_inner().expect("memory")
}

fn zip(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        writer.start_file(*name, options).expect("memory");
        writer.write_all(bytes).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

/// The same as a stream, with data descriptors.
fn zip_stream(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new_stream(Vec::new());
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("memory");
        writer.write_all(bytes).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

fn sum(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn members(found: &Found) -> Vec<&str> {
    found.entries.iter().map(|entry| entry.member.as_deref().unwrap_or("")).collect()
}

fn skipped(found: &Found) -> Vec<(&str, NoticeKind)> {
    found.skipped.iter().map(|skipped| (skipped.member.as_deref().unwrap_or(&skipped.path), skipped.kind)).collect()
}

/// Noise that does not compress.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b"abcdefghijklmnopqrstuvwxyz 0123\n"[(state >> 59) as usize]
    };
    (0..size).map(|_| next()).collect()
}

/// The texts alone.
fn fetch(entry: &SourceEntry, framing: Framing, wanted: &[u64], limit: usize) -> BTreeMap<u64, String> {
    let reach = Reach { before: 7, text: limit };
    super::fetch(entry, framing, wanted, reach).into_iter().map(|(offset, passage)| (offset, passage.text)).collect()
}

#[test]
fn a_plain_file_is_read_as_it_stands() {
    let (_folder, found) = find_in("a.log", TEXT.as_bytes());
    let entry = &found.entries[0];
    assert_eq!((entry.path.as_str(), entry.member.as_deref()), ("a.log", None));
    assert_eq!(entry.stored_bytes(), Some(TEXT.len() as u64));
    let read = read(entry);
    let want = [(1, 0, "first line"), (2, 11, "second \u{fc}\u{1f600}"), (3, 25, ""), (4, 26, "last")];
    assert_eq!(read.records, want.map(|(number, offset, text)| (number, offset, text.to_owned())));
    assert_eq!(read.notices, []);
    assert!(read.torn);
    assert_eq!(read.summary.sha256, sum(TEXT.as_bytes()));
    assert_eq!((read.summary.bytes, read.summary.content_bytes), (30, 30));
    assert_eq!((read.summary.member_sha256, read.summary.records, read.summary.lost_bytes), (None, 4, 0));
}

#[test]
fn the_head_is_of_whole_lines_and_not_used_up() {
    let bytes = [b"\xef\xbb\xbf".as_slice(), &noise(200_000)].concat();
    let (_folder, found) = find_in("a.log", &bytes);
    let mut reader = Reader::open(&found.entries[0], &ReadOptions::default()).expect("an input");
    let head = reader.head().to_owned();
    assert!(head.ends_with('\n') && head.len() <= 64 << 10 && head.len() > 60 << 10);
    assert!(bytes[3..].starts_with(head.as_bytes()));
    let block = reader.next_block(None).expect("a block");
    assert_eq!(block.text.as_bytes(), bytes);
}

#[test]
fn marks_and_line_ends_do_not_belong_to_records() {
    let (_folder, found) = find_in("a.log", b"\xef\xbb\xbfone\r\ntwo\n\xef\xbb\xbfthree\r\r\n");
    let read = read(&found.entries[0]);
    let want = [(1, 3, "one"), (2, 8, "two"), (3, 15, "three")];
    assert_eq!(read.records, want.map(|(number, offset, text)| (number, offset, text.to_owned())));
    assert!(!read.torn);
}

#[test]
fn utf16_is_decoded() {
    for (mark, encode) in [
        (true, u16::to_le_bytes as fn(u16) -> [u8; 2]),
        (true, u16::to_be_bytes),
        (false, u16::to_le_bytes),
        (false, u16::to_be_bytes),
    ] {
        let text = "plain text first\r\nthen \u{fc}\u{4e2d}\u{1f600}\n".repeat(3000);
        let marked = if mark { format!("\u{feff}{text}") } else { text.clone() };
        let bytes: Vec<u8> = marked.encode_utf16().flat_map(encode).collect();
        let (_folder, found) = find_in("a.log", &bytes);
        for block in [100, 8 << 20] {
            let read = read_with(&found.entries[0], Framing::Lines, ReadOptions { block, ..ReadOptions::default() });
            assert_eq!(read.records.len(), 6000);
            assert_eq!(read.records[0], (1, 0, "plain text first".to_owned()), "the mark is not part of the content");
            assert_eq!(read.records[5999].2, "then \u{fc}\u{4e2d}\u{1f600}");
            assert_eq!(read.notices, []);
            assert_eq!((read.summary.bytes, read.summary.content_bytes), (bytes.len() as u64, text.len() as u64));
            assert_eq!(read.summary.sha256, sum(&bytes));
        }
        let quotes = fetch(&found.entries[0], Framing::Lines, &[18, 0], 100);
        assert_eq!(quotes[&18], "then \u{fc}\u{4e2d}\u{1f600}");
    }
}

#[test]
fn broken_utf16_is_replaced_with_a_notice() {
    let mut bytes: Vec<u8> = "\u{feff}one\ntwo\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.extend([0x00, 0xd8, b'x', 0, b'y']);
    let (_folder, found) = find_in("a.log", &bytes);
    for block in [1, 5, 1 << 20] {
        let read = read_with(&found.entries[0], Framing::Lines, ReadOptions { block, ..ReadOptions::default() });
        assert_eq!(read.texts(), ["one", "two", "\u{fffd}x\u{fffd}"]);
        assert_eq!(read.notices, [(NoticeKind::NotUtf8, 3, 8)]);
    }
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_one_by_one() {
    let (_folder, found) = find_in("a.log", b"fine\ncaf\xe9 \xe2\x82\nfine \xe2\x82\xac\n\xff\xfe\n");
    let read = read(&found.entries[0]);
    let want = [(1, 0, "fine"), (2, 5, "caf? ??"), (3, 13, "fine \u{20ac}"), (4, 22, "??")];
    assert_eq!(read.records, want.map(|(number, offset, text)| (number, offset, text.to_owned())));
    assert_eq!(read.notices, [(NoticeKind::NotUtf8, 2, 5), (NoticeKind::NotUtf8, 4, 22)]);
    assert_eq!(fetch(&found.entries[0], Framing::Lines, &[5], 100)[&5], "caf? ??");
}

#[test]
fn an_empty_file_is_an_input_with_a_notice() {
    for bytes in [Vec::new(), gzip(b"")] {
        let (_folder, found) = find_in("a.log", &bytes);
        let read = read(&found.entries[0]);
        assert_eq!((read.records, read.notices), (vec![], vec![(NoticeKind::Empty, 1, 0)]));
        assert_eq!(read.summary.sha256, sum(&bytes));
    }
}

#[test]
fn an_endless_line_is_passed_over_in_bounded_memory() {
    let bytes = [b"a\n".as_slice(), &vec![b'x'; 300_000], b"\nb\n"].concat();
    let (_folder, found) = find_in("a.log", &bytes);
    for block in [1024, 8 << 20] {
        let options = ReadOptions { block, max_record: 10_000 };
        let mut reader = Reader::open(&found.entries[0], &options).expect("an input");
        while reader.next_block(None).is_some() {
            assert!(reader.buffer.bytes.len() <= 20_000);
        }
        let read = read_with(&found.entries[0], Framing::Lines, options);
        assert_eq!(read.records, [(1, 0, "a".to_owned()), (3, 300_003, "b".to_owned())]);
        assert_eq!(read.notices, [(NoticeKind::OversizeRecord, 2, 2)]);
        assert_eq!(read.summary.lost_bytes, 300_001);
    }
}

#[test]
fn compressed_files_are_read_like_plain_ones() {
    let two = |pack: fn(&[u8]) -> Vec<u8>| {
        let (a, b) = TEXT.as_bytes().split_at(13);
        [pack(a), pack(b)].concat()
    };
    let padded = [gzip(TEXT.as_bytes()), vec![0; 700]].concat();
    for stored in [gzip(TEXT.as_bytes()), zstd(TEXT.as_bytes()), two(gzip), two(zstd), padded] {
        let (_folder, found) = find_in("misleading.txt", &stored);
        let entry = &found.entries[0];
        assert_eq!(entry.member, None);
        assert_eq!(entry.stored_bytes(), Some(stored.len() as u64));
        let read = read(entry);
        assert_eq!(read.texts(), TEXT.split('\n').collect::<Vec<_>>());
        assert_eq!(read.notices, []);
        assert_eq!(read.summary.sha256, sum(&stored));
        assert_eq!((read.summary.bytes, read.summary.content_bytes), (stored.len() as u64, TEXT.len() as u64));
        assert_eq!(fetch(entry, Framing::Lines, &[26, 0, 999], 5), [(0, "first".into()), (26, "last".into())].into());
    }
}

#[test]
fn archives_are_read_member_by_member() {
    let files = [("b/x.log", b"x".as_slice()), ("./a.log", TEXT.as_bytes()), ("../../etc/p", b"name only")];
    let tar = tar(&files);
    let stored = [
        tar.clone(),
        gzip(&tar),
        zstd(&tar),
        zip(&files, zip::CompressionMethod::Stored),
        zip(&files, zip::CompressionMethod::Deflated),
        zip(&files, zip::CompressionMethod::Zstd),
        zip_stream(&files),
        [b"#!/bin/sh self-extracting\n".as_slice(), &[]].concat(),
    ];
    for stored in &stored[..7] {
        let (folder, found) = find_in("evidence.bin", stored);
        assert_eq!(members(&found), ["../../etc/p", "a.log", "b/x.log"]);
        assert_eq!(skipped(&found), []);
        let entry = &found.entries[1];
        assert_eq!((entry.path.as_str(), entry.id.0), ("evidence.bin", 1));
        let read = read(entry);
        assert_eq!(read.texts(), TEXT.split('\n').collect::<Vec<_>>());
        assert_eq!(read.notices, []);
        assert_eq!((read.summary.bytes, read.summary.sha256), (stored.len() as u64, sum(stored)));
        assert_eq!(read.summary.member_sha256, Some(sum(TEXT.as_bytes())));
        assert_eq!(fetch(entry, Framing::Lines, &[11], 99)[&11], "second \u{fc}\u{1f600}");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing is extracted");
    }
}

#[test]
fn archives_may_lie_in_one_another_once() {
    let log = ("x.log", TEXT.as_bytes());
    let inner_zip = zip(&[log], zip::CompressionMethod::Deflated);
    let inner_stream = zip_stream(&[log]);
    let (gz, tgz) = (gzip(TEXT.as_bytes()), gzip(&tar(&[log])));
    let files = [("d.gz", gz.as_slice()), ("e.zip", &inner_zip), ("f.tgz", &tgz), ("g.zip", &inner_stream)];
    let deep = zip(&files, zip::CompressionMethod::Stored);
    for stored in [tar(&files), gzip(&tar(&files)), deep.clone()] {
        let (_folder, found) = find_in("outer", &stored);
        assert_eq!(members(&found), ["d.gz", "e.zip/x.log", "f.tgz/x.log", "g.zip/x.log"]);
        assert_eq!(skipped(&found), []);
        for entry in &found.entries {
            assert_eq!(read(entry).texts(), TEXT.split('\n').collect::<Vec<_>>(), "{:?}", entry.member);
        }
    }
    let (_folder, found) = find_in("outer", &tar(&[("deep.zip", &deep), ("y.log", b"y")]));
    assert_eq!(members(&found), ["y.log"]);
    assert_eq!(skipped(&found).len(), 4);
    assert!(skipped(&found).iter().all(|(_, kind)| *kind == NoticeKind::TooDeep));
    let (_folder, found) = find_in("twice.gz", &gzip(&gz));
    assert_eq!(read(&found.entries[0]).texts(), TEXT.split('\n').collect::<Vec<_>>());
    let (_folder, found) = find_in("thrice.gz", &gzip(&gzip(&gz)));
    assert_eq!(skipped(&found), [("thrice.gz", NoticeKind::TooDeep)]);
}

#[test]
fn large_members_of_compressed_archives_are_streamed() {
    let (big, small) = (noise(3 << 20), noise(100_000));
    let inner = zip_stream(&[("big.log", &big), ("more.log", &small)]);
    let tgz = gzip(&tar(&[("a.log", &small), ("b.log", &big), ("c.zip", &inner)]));
    let (_folder, found) = find_in("x.tgz", &tgz);
    assert_eq!(members(&found), ["a.log", "b.log", "c.zip/big.log", "c.zip/more.log"]);
    for (entry, bytes) in found.entries.iter().zip([&small, &big, &big, &small]) {
        let read = read(entry);
        assert_eq!(read.notices, []);
        assert_eq!(read.summary.member_sha256, Some(sum(bytes)));
        assert_eq!(read.summary.sha256, sum(&tgz));
    }
}

#[test]
fn what_stands_before_the_damage_is_used() {
    // Large enough for several blocks of zstd: what is in the block with the damage is gone.
    let log = noise(1 << 20);
    let complete = |read: &Read| log.starts_with(read.texts().join("\n").as_bytes());
    for stored in [gzip(&log), zstd(&log)] {
        let (_folder, found) = find_in("a", &stored[..stored.len() / 2]);
        let read = read(&found.entries[0]);
        assert!(read.records.len() > 100 && complete(&read));
        assert_eq!(read.notices.len(), 1);
        assert_eq!(read.notices[0].0, NoticeKind::BrokenArchive);
        assert_eq!(read.notices[0].2, read.summary.content_bytes);
        assert_eq!(read.summary.sha256, sum(&stored[..stored.len() / 2]));
    }
    let garbage = [gzip(TEXT.as_bytes()), b"garbage".to_vec()].concat();
    let (_folder, found) = find_in("a", &garbage);
    let read_garbage = read(&found.entries[0]);
    assert_eq!(read_garbage.texts(), TEXT.split('\n').collect::<Vec<_>>());
    assert_eq!(read_garbage.notices, [(NoticeKind::BrokenArchive, 4, TEXT.len() as u64)]);
    assert_eq!(read_garbage.summary.sha256, sum(&garbage));

    let files = [("a.log", TEXT.as_bytes()), ("b.log", &log), ("c.log", b"gone")];
    let stored = zip(&files, zip::CompressionMethod::Stored);
    for stored in [tar(&files), zip(&files, zip::CompressionMethod::Deflated), stored, zip_stream(&files)] {
        let (_folder, found) = find_in("x", &stored[..300_000]);
        assert_eq!(members(&found), ["a.log", "b.log"]);
        assert_eq!(read(&found.entries[0]).texts(), TEXT.split('\n').collect::<Vec<_>>());
        let read = read(&found.entries[1]);
        assert!(read.records.len() > 100 && complete(&read));
        assert_eq!(read.notices.iter().map(|notice| notice.0).collect::<Vec<_>>(), [NoticeKind::BrokenArchive]);
    }
    let tgz = gzip(&tar(&files));
    let (_folder, found) = find_in("x", &tgz[..300_000]);
    assert_eq!(members(&found), ["a.log", "b.log"]);
    assert_eq!(skipped(&found), [("x", NoticeKind::BrokenArchive)]);
    assert_eq!(read(&found.entries[1]).notices[0].0, NoticeKind::BrokenArchive);
}

#[test]
fn a_wrong_checksum_is_damage() {
    let mut stored = zip(&[("a.log", TEXT.as_bytes())], zip::CompressionMethod::Stored);
    let at = stored.windows(5).position(|bytes| bytes == b"first").expect("the text");
    stored[at] = b'F';
    let (_folder, found) = find_in("x.zip", &stored);
    let read = read(&found.entries[0]);
    assert_eq!(read.texts()[0], "First line");
    assert_eq!(read.notices[0].0, NoticeKind::BrokenArchive);
}

#[test]
fn folders_are_searched_in_a_stable_order() {
    let folder = folder(&[
        ("logs/b.log", b"b"),
        ("logs/a/z.log", b"z"),
        ("logs/.hidden", b"h"),
        ("logs/.git/config", b"g"),
        ("logs/picture", b"\x89PNG\r\n\x1a\n\0\0"),
        ("logs/packed.xz", b"\xfd7zXZ\0\0\0"),
        ("other/b.log", b"o"),
    ]);
    let (logs, other) = (folder.path().join("logs"), folder.path().join("other/b.log"));
    let missing = folder.path().join("missing");
    let found = find(&[&logs, &missing, &other]);
    let paths = |found: &Found| found.entries.iter().map(|entry| (entry.id.0, entry.path.clone())).collect::<Vec<_>>();
    let want = [(0, "b.log"), (1, "logs/a/z.log"), (2, "logs/b.log")];
    assert_eq!(paths(&found), want.map(|(id, path)| (id, path.to_owned())));
    assert_eq!(
        skipped(&found),
        [
            ("logs/.git", NoticeKind::Hidden),
            ("logs/.hidden", NoticeKind::Hidden),
            ("logs/packed.xz", NoticeKind::Unreadable),
            ("logs/picture", NoticeKind::Binary),
        ]
    );
    assert_eq!(found.missing.len(), 1);
    assert_eq!(found.missing[0].0, missing.to_string_lossy());
    let again = find(&[&other, &logs, &missing]);
    assert_eq!((paths(&again), &again.skipped), (paths(&found), &found.skipped));
    let hidden = find(&[&logs.join(".hidden")]);
    assert_eq!(paths(&hidden), [(0, ".hidden".to_owned())]);
}

#[test]
fn a_file_is_read_once_and_by_the_name_that_says_most() {
    let folder = folder(&[("logs/a.log", b"a"), ("logs/b.log", b"b"), ("more/a.log", b"c")]);
    let (logs, a) = (folder.path().join("logs"), folder.path().join("logs/a.log"));
    let hinted = PathArgument { path: a.clone(), hints: Hints { witness: Some(Witness::Proxy), ..Hints::default() } };
    for arguments in [[PathArgument::new(&logs), hinted.clone()], [hinted.clone(), PathArgument::new(&logs)]] {
        let found = discover_with(&arguments, &mut std::io::empty()).expect("inputs");
        let entries: Vec<_> = found.entries.iter().map(|entry| (entry.path.as_str(), entry.hints.witness)).collect();
        assert_eq!(entries, [("a.log", Some(Witness::Proxy)), ("logs/b.log", None)]);
    }
    let other = PathArgument { path: a.clone(), hints: Hints { witness: Some(Witness::Client), ..Hints::default() } };
    assert!(discover_with(&[hinted, other], &mut std::io::empty()).is_err());
    let found = find(&[&a, &a, &folder.path().join("more/a.log")]);
    let paths: Vec<_> = found.entries.iter().map(|entry| entry.path.clone()).collect();
    let full = |path: &str| folder.path().join(path).to_string_lossy().into_owned();
    assert_eq!(paths, [full("logs/a.log"), full("more/a.log")], "equal names are shown in full");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_told() {
    use std::os::unix::fs::symlink;

    let folder = folder(&[("logs/z.log", b"z"), ("elsewhere/y.log", b"y")]);
    let logs = folder.path().join("logs");
    symlink(&logs, logs.join("loop")).expect("a link");
    symlink(logs.join("z.log"), logs.join("current.log")).expect("a link");
    symlink(folder.path().join("elsewhere"), logs.join("far")).expect("a link");
    symlink(folder.path().join("nowhere"), logs.join("dangling")).expect("a link");
    let found = find(&[&logs]);
    let paths: Vec<_> = found.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["logs/far/y.log", "logs/z.log"]);
    assert_eq!(skipped(&found), [("logs/dangling", NoticeKind::Unreadable), ("logs/loop", NoticeKind::LinkLoop)]);
    assert_eq!(found.skipped[1].reason, "a link that leads back to logs");
}

#[test]
fn what_is_asked_for_and_cannot_be_read_is_no_notice() {
    let xz = b"\xfd7zXZ\0\0\x04".as_slice();
    let folder = folder(&[("logs/packed.xz", xz), ("logs/a.log", b"a")]);
    let found = find(&[&folder.path().join("logs")]);
    assert_eq!((skipped(&found).len(), found.missing.len()), (1, 0));
    let found = find(&[&folder.path().join("logs"), &folder.path().join("logs/packed.xz")]);
    assert_eq!((skipped(&found).len(), found.missing[0].0.as_str()), (0, "packed.xz"));
}

#[test]
fn standard_input_is_spooled_and_can_be_read_again() {
    let stored = gzip(TEXT.as_bytes());
    let arguments = [PathArgument::new("-"), PathArgument::new("-")];
    let found = discover_with(&arguments, &mut stored.as_slice()).expect("inputs");
    assert_eq!(found.entries.len(), 1);
    let entry = &found.entries[0];
    assert_eq!(entry.path, "-");
    for _ in 0..2 {
        let read = read(entry);
        assert_eq!(read.texts(), TEXT.split('\n').collect::<Vec<_>>());
        assert_eq!(read.summary.sha256, sum(&stored));
    }
    let found = discover_with(&[PathArgument::new("-")], &mut TEXT.as_bytes()).expect("inputs");
    assert_eq!(read(&found.entries[0]).summary.bytes, TEXT.len() as u64);
    assert_eq!(fetch(&found.entries[0], Framing::Lines, &[26], 9)[&26], "last");
}

#[test]
fn quotes_end_with_their_record_or_before_the_character_that_does_not_fit() {
    let text = "{\"log\":{\"entries\":[{\"a\":\"\u{fc}\"},\n{\"b\":\n1}]}}";
    let (_folder, found) = find_in("a.har", text.as_bytes());
    let framing = Framing::JsonArray(&["log", "entries"]);
    let read = read_with(&found.entries[0], framing, ReadOptions::default());
    let offsets: Vec<_> = read.records.iter().map(|record| record.1).collect();
    let quotes = fetch(&found.entries[0], framing, &offsets, 100);
    assert_eq!(quotes.values().collect::<Vec<_>>(), read.texts());
    assert_eq!(fetch(&found.entries[0], framing, &offsets[..1], 7)[&offsets[0]], "{\"a\":\"");
    assert_eq!(fetch(&found.entries[0], framing, &offsets[..1], 8)[&offsets[0]], "{\"a\":\"\u{fc}");
}

#[test]
fn an_input_that_is_not_read_to_its_end_has_its_sum() {
    let text = noise(1 << 20);
    for stored in [text.clone(), gzip(&text), zip(&[("a", &text)], zip::CompressionMethod::Deflated)] {
        let (_folder, found) = find_in("a", &stored);
        let mut reader =
            Reader::open(&found.entries[0], &ReadOptions { block: 1000, max_record: 1000 }).expect("an input");
        reader.next_block(None);
        let summary = reader.finish();
        assert_eq!((summary.bytes, summary.sha256), (stored.len() as u64, sum(&stored)));
    }
}

fn is_indented_no(line: &[u8]) -> bool {
    line.first().is_some_and(|byte| !byte.is_ascii_whitespace())
}

proptest! {
    #[test]
    fn block_size_changes_nothing(
        lines in prop::collection::vec("[ a{}\\[\\]\",:\u{fc}\u{1f600}\r\u{feff}]{0,30}", 0..60),
        broken in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        block in 1_usize..4000,
    ) {
        let mut bytes = lines.join("\n").into_bytes();
        for (index, byte) in broken {
            if !bytes.is_empty() {
                let at = index.index(bytes.len());
                bytes[at] = byte.max(1);
            }
        }
        bytes.insert(0, b'\n');
        let (_folder, found) = find_in("a", &bytes);
        for framing in [Framing::Lines, Framing::Headed(is_indented_no), Framing::JsonValues, Framing::JsonArray(&[])] {
            let Some(entry) = found.entries.first() else { continue };
            let whole = read_with(entry, framing, ReadOptions { max_record: 4000, ..ReadOptions::default() });
            let parts = read_with(entry, framing, ReadOptions { block, max_record: 4000 });
            prop_assert_eq!(&parts.records, &whole.records);
            prop_assert_eq!(&parts.summary, &whole.summary);
            let sorted = |read: &Read| { let mut notices = read.notices.clone(); notices.sort(); notices };
            prop_assert_eq!(sorted(&parts), sorted(&whole));
            prop_assert_eq!(parts.summary.sha256, sum(&bytes));
            let offsets: Vec<_> = parts.records.iter().map(|record| record.1).collect();
            let quotes = fetch(entry, framing, &offsets, 1 << 16);
            for (_, offset, text) in &parts.records {
                if matches!(framing, Framing::Lines) && !text.is_empty() {
                    prop_assert_eq!(&quotes[offset], text);
                }
            }
        }
    }

    #[test]
    fn hostile_archives_do_not_panic(stored in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(), flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
        let files = [("a.log", TEXT.as_bytes()), ("b.gz", &gzip(b"x"))];
        let all = [gzip(&tar(&files)), tar(&files), zip(&files, zip::CompressionMethod::Deflated), zip_stream(&files), zstd(&tar(&files))];
        let mut bytes = all[stored.index(all.len())].clone();
        for (index, byte) in flips {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() * 2).max(1));
        let (_folder, found) = find_in("a", &bytes);
        for entry in &found.entries {
            read(entry);
        }
    }
}
