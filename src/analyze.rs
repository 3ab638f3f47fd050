//! The whole job: discover, read, decode, correlate, judge, quote. Wiring only; every stage lives elsewhere.

use std::{collections::BTreeMap, path::Path};

use rayon::prelude::*;

use crate::{
    assemble::Assembler,
    correlate::{Case, Correlator, SourceMeta},
    error::Error,
    event::{Origin, SourceId, Witness},
    format::{self, Format, Gist, Head},
    frame::Framing,
    judge::{self, Policy, Terms, Verdicts},
    notice::{Loss, Notice, NoticeKind},
    record::{Record, Sink},
    report::{CallsShown, NoticeCount, QUOTE_LIMIT, Quotes, SourceInfo, Unexplained, redact},
    source::{self, Block, BlockLines, Found, Passage, PathArgument, Reach, ReadOptions, Reader, SourceEntry},
    wrap::ansi,
};

/// How an incident is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How inputs are cut into blocks.
    pub read: ReadOptions,
    /// Zone of all stamps without one, seconds east of UTC.
    pub zone: Option<i32>,
    /// Which calls keep their verdict.
    pub calls: CallsShown,
    /// Places of records that nothing was learned from are kept, at most this many.
    pub unexplained: usize,
    /// Every event leaves a small row in the case.
    pub trail: bool,
    /// What the operator declares.
    pub policy: Policy,
}

/// What is told while reading.
pub trait Progress: Sync {
    /// So many bytes will be read, as far as can be told.
    fn total(&self, bytes: u64);
    /// The next source begins.
    fn begin(&self, path: &str);
    /// So many bytes were read since the last call.
    fn advance(&self, bytes: u64);
}

/// Nobody is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn total(&self, _: u64) {}
    fn begin(&self, _: &str) {}
    fn advance(&self, _: u64) {}
}

/// An incident, analyzed.
#[derive(Debug)]
pub struct Analysis {
    /// The facts.
    pub case: Case,
    /// What the policy means for them.
    pub terms: Terms,
    /// What was made of them.
    pub verdicts: Verdicts,
    /// One per source.
    pub sources: Vec<SourceInfo>,
    /// What was found under the paths.
    pub found: Found,
    /// Records from which nothing was learned, if asked for.
    pub unexplained: Vec<Unexplained>,
    framings: Vec<Framing>,
}

/// Reads and judges everything under the given paths as one incident.
///
/// # Errors
/// Only faults of the invocation; what is wrong with an input is a notice.
pub fn analyze(arguments: &[PathArgument], options: &Options, progress: &dyn Progress) -> Result<Analysis, Error> {
    let found = source::discover(arguments)?;
    progress.total(found.entries.iter().filter_map(SourceEntry::stored_bytes).sum());
    let mut correlator = Correlator::with_keys(options.policy.key_paths());
    if options.trail {
        correlator.keep_trail();
    }
    let mut sources = Vec::with_capacity(found.entries.len());
    let mut framings = Vec::with_capacity(found.entries.len());
    let mut unexplained = Vec::new();
    let rotated = source::missing_next(&found.entries);
    for entry in &found.entries {
        progress.begin(&entry.path);
        let mut reading = Reading::new(entry, options);
        reading.info.next_part = rotated.get(&entry.id).cloned();
        reading.run(&mut correlator, options, progress);
        framings.push(reading.framing);
        unexplained.extend(reading.unexplained.drain(..).take(options.unexplained - unexplained.len()));
        sources.push(reading.info);
    }
    // What was never opened is no source, and its loss is no less than that of one that broke.
    if !found.missing.is_empty() || found.skipped.iter().any(|skipped| skipped.kind.loss() == Loss::Data) {
        correlator.not_all_read();
    }
    if found.skipped.iter().any(source::Skipped::may_hold_logs) {
        correlator.hidden_left_out();
    }
    let mut case = correlator.link();
    options.policy.mark_own(&mut case);
    let paths: Vec<String> = sources.iter().map(SourceInfo::whole_path).collect();
    let terms = options.policy.apply(&case, &paths);
    let verdicts = judge::judge(&case, &terms, |verdict| options.calls.keeps(verdict));
    let mut analysis = Analysis { case, terms, verdicts, sources, found, unexplained: Vec::new(), framings };
    let quotes = analysis.quotes(&unexplained);
    analysis.unexplained = unexplained
        .into_iter()
        .map(|origin| Unexplained { origin, quote: quotes.get(&origin).cloned().unwrap_or_default() })
        .collect();
    Ok(analysis)
}

impl Analysis {
    /// Fetches the words of records again: one pass per source, masked and cut.
    pub fn quotes(&self, wanted: &[Origin]) -> Quotes {
        let mut by_source: BTreeMap<usize, Vec<Origin>> = BTreeMap::new();
        for origin in wanted {
            by_source.entry(origin.source.0 as usize).or_default().push(*origin);
        }
        let fetched: Vec<Vec<(Origin, String)>> = by_source
            .into_par_iter()
            .map(|(source, mut origins)| {
                origins.sort_unstable();
                let offsets: Vec<u64> = origins.iter().map(|origin| origin.offset).collect();
                let gist = format::named(self.sources[source].format).and_then(|format| format.gist);
                let reach = if gist.is_some() { GIST_REACH } else { QUOTE_REACH };
                let mut quotes = Vec::with_capacity(origins.len());
                let mut quote = |offset: u64, passage: Passage| {
                    let words = words(&passage, gist);
                    let first = origins.partition_point(|origin| origin.offset < offset);
                    let same = origins[first..].iter().take_while(|origin| origin.offset == offset);
                    quotes.extend(same.map(|origin| (*origin, words.clone())));
                };
                source::fetch_each(&self.found.entries[source], self.framings[source], &offsets, reach, &mut quote);
                quotes
            })
            .collect();
        fetched.into_iter().flatten().collect()
    }

    /// Whether any format was recognized, or anything learned.
    pub fn recognized(&self) -> bool {
        self.case.sources.iter().any(|source| source.events > 0)
    }

    /// Whether one of so many paths of the command line was missing or could not be read. What could not be read inside
    /// a folder or an archive is a notice and lost data, but the invocation was right. A single file that is there and
    /// says nothing is an input in which nothing was recognized.
    pub fn incomplete(&self, paths: usize) -> bool {
        !self.found.missing.is_empty() || paths > 1 && self.found.lacks_named()
    }
}

/// How much is fetched for a quote: enough for the mask to see a secret whole, also one that begins before the record,
/// as a private key does that was logged line by line.
const QUOTE_REACH: Reach = Reach { before: 4 << 10, text: 4 << 10 };
/// The same for a record that is told in a few words, which stand in it far from each other.
const GIST_REACH: Reach = Reach { before: 4 << 10, text: 32 << 10 };

/// What a record is quoted with: its gist where it has one, else its first words.
fn words(passage: &Passage, gist: Option<Gist>) -> String {
    match gist.and_then(|gist| gist(&passage.text)) {
        Some(parts) => redact::quote_parts(&parts, QUOTE_LIMIT),
        None => redact::quote_behind(&passage.before, &passage.text, QUOTE_LIMIT),
    }
}

/// A guess how many bytes of input make an event: room is made once.
const EVENT_BYTES: usize = 192;

/// Blocks that are decoded at once.
const BATCH: usize = 4;
/// Batches that follow one another before the memory of their blocks is used again.
const CHAIN: usize = 16;

/// One source while it is read.
struct Reading<'e> {
    entry: &'e SourceEntry,
    framing: Framing,
    format: Option<&'static Format>,
    info: SourceInfo,
    /// A record was of the format of its input.
    claimed: bool,
    /// Records that taught nothing.
    unexplained: Vec<Origin>,
}

impl<'e> Reading<'e> {
    fn new(entry: &'e SourceEntry, options: &Options) -> Self {
        let info = SourceInfo {
            path: entry.path.clone(),
            member: entry.member.clone(),
            zone_by_option: entry.hints.zone.or(options.zone).is_some(),
            format: "text",
            ..SourceInfo::default()
        };
        Self { entry, framing: Framing::Lines, format: None, info, claimed: false, unexplained: Vec::new() }
    }

    fn run(&mut self, correlator: &mut Correlator, options: &Options, progress: &dyn Progress) {
        let Ok(mut reader) = Reader::open(self.entry, &options.read) else {
            count(&mut self.info.notices, NoticeKind::Unreadable, None);
            correlator.begin(&SourceMeta::default());
            correlator.trouble(NoticeKind::Unreadable, None);
            correlator.end(true);
            return;
        };
        self.recognize(reader.head());
        reader.set_framing(self.framing);
        correlator.begin(&SourceMeta {
            witness: self.entry.hints.witness.or(self.format.and_then(|format| format.witness)),
            witness_hint: witness_of_name(self.entry.member.as_deref().unwrap_or(&self.entry.path)),
            zone: self.entry.hints.zone.or(options.zone),
            server: self.entry.hints.server.as_deref(),
            run: self.entry.hints.run.as_deref(),
        });
        let mut folder = Folder { assembler: Assembler::keeping(options.unexplained), correlator };
        let mut feed = Feed { reader: &mut reader, spare: Vec::new(), progress, told: 0 };
        self.read_blocks(&mut feed, &mut folder);
        let Folder { mut assembler, correlator, .. } = folder;
        assembler.finish(&mut |event| correlator.push(event));
        let summary = reader.finish();
        self.info.bytes = summary.bytes;
        self.info.content_bytes = summary.content_bytes;
        self.info.records = summary.records;
        self.info.sha256 = hexadecimal(&summary.sha256);
        self.info.member_sha256 = summary.member_sha256.as_ref().map(|sum| hexadecimal(sum));
        self.info.unexplained = assembler.unexplained();
        self.unexplained = assembler.into_places();
        for _ in 0..correlator.untracked() {
            count(&mut self.info.notices, NoticeKind::OpenLimit, None);
            correlator.trouble(NoticeKind::OpenLimit, None);
        }
        if self.entry.hints.format.is_some() && !self.claimed && summary.content_bytes > 0 {
            count(&mut self.info.notices, NoticeKind::NotOfFormat, None);
            correlator.trouble(NoticeKind::NotOfFormat, None);
        }
        // A number behind the name of a kernel trace is a process.
        if self.info.next_part.is_some() && self.format.is_none_or(|format| format.witness != Some(Witness::Network)) {
            count(&mut self.info.notices, NoticeKind::RotatedAway, None);
        } else {
            self.info.next_part = None;
        }
        let lossy = self.info.notices.iter().any(|notice| notice.kind.loss() == Loss::Data);
        correlator.end(lossy);
    }

    fn recognize(&mut self, head: &str) {
        let arena = bumpalo::Bump::new();
        let head = ansi::strip(head.trim_start_matches(['\0', '\u{1e}']), &arena);
        self.format = self.entry.hints.format.or_else(|| format::sniff(&Head { bytes: head.as_bytes() }));
        if let Some(format) = self.format {
            self.framing = format.framing;
            self.info.format = format.name;
        }
    }

    /// Folds the events of one batch in order while the next one is read and decoded.
    fn read_blocks(&mut self, feed: &mut Feed<'_>, folder: &mut Folder<'_>) {
        loop {
            let mut batch = feed.batch();
            if batch.is_empty() {
                return;
            }
            let decoded = decode_batch(self.format, self.entry.id, &mut batch);
            self.chain(decoded, CHAIN, feed, folder);
            feed.spare.append(&mut batch);
        }
    }

    /// Each link of the chain lends its blocks to the next one, since events borrow from their block: so it is cut
    /// after some links, and the memory of their blocks is used again.
    fn chain(&mut self, decoded: Vec<Decoded<'_>>, links: usize, feed: &mut Feed<'_>, folder: &mut Folder<'_>) {
        if links == 0 {
            self.fold(&decoded, folder);
            return;
        }
        let (format, source) = (self.format, self.entry.id);
        let mut batch = Vec::new();
        let slot = &mut batch;
        let ((), next) = rayon::join(
            || self.fold(&decoded, folder),
            || {
                *slot = feed.batch();
                decode_batch(format, source, slot)
            },
        );
        drop(decoded);
        if !next.is_empty() {
            self.chain(next, links - 1, feed, folder);
        }
        feed.spare.append(&mut batch);
    }

    fn fold(&mut self, batch: &[Decoded<'_>], folder: &mut Folder<'_>) {
        for decoded in batch {
            self.claimed |= decoded.claimed;
            if let Some(lines) = &decoded.lines {
                self.info.lines.push(lines);
            }
            for notice in decoded.notices.iter().chain(&decoded.sink.notices) {
                let kind = self.notice(*notice, decoded);
                folder.correlator.trouble(kind, Some(notice.origin));
            }
            for origin in &decoded.secrets {
                folder.correlator.secret(*origin);
            }
            for event in &decoded.sink.events {
                folder.assembler.push(event, &mut |event| folder.correlator.push(event));
            }
        }
    }

    /// A last line that is cut in the middle is a torn tail, not a damaged record.
    fn notice(&mut self, notice: Notice, decoded: &Decoded<'_>) -> NoticeKind {
        let at_end = decoded.torn_from.is_some_and(|from| notice.origin.offset >= from);
        let kind = if notice.kind == NoticeKind::NotJson && at_end { NoticeKind::TornTail } else { notice.kind };
        count(&mut self.info.notices, kind, Some(notice.origin));
        kind
    }
}

/// Where the events of a source go, one after another.
struct Folder<'f> {
    assembler: Assembler,
    correlator: &'f mut Correlator,
}

/// Where the blocks of a source come from.
struct Feed<'r> {
    reader: &'r mut Reader,
    /// Blocks whose memory may be used again.
    spare: Vec<Block>,
    progress: &'r dyn Progress,
    told: u64,
}

impl Feed<'_> {
    /// The next blocks; none at the end.
    fn batch(&mut self) -> Vec<Block> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            match self.reader.next_block(self.spare.pop()) {
                Some(block) => batch.push(block),
                None => break,
            }
        }
        let read = self.reader.bytes_read();
        self.progress.advance(read - self.told);
        self.told = read;
        batch
    }
}

fn decode_batch<'b>(format: Option<&'static Format>, source: SourceId, batch: &'b mut [Block]) -> Vec<Decoded<'b>> {
    // An arena is not shared between threads: each block is lent to one.
    batch.par_iter_mut().map(|block| decode_block(format, source, block)).collect()
}

/// What came out of one block. An arena cannot be shared between threads, so the block itself stays behind.
struct Decoded<'b> {
    notices: &'b [Notice],
    /// Where the last line begins, if it has no line end.
    torn_from: Option<u64>,
    /// Records that hold a secret.
    secrets: Vec<Origin>,
    /// A record is of the format of the input.
    claimed: bool,
    /// On which lines records begin that may have several.
    lines: Option<BlockLines>,
    sink: Sink<'b>,
}

/// Decodes the records of one block. Pure: no state crosses from one record to the next.
fn decode_block<'b>(format: Option<&'static Format>, source: SourceId, block: &'b mut Block) -> Decoded<'b> {
    let block: &'b Block = block;
    let mut sink = Sink::with_capacity(block.text.len() / EVENT_BYTES);
    let mut claimed = false;
    for record in block.records(source) {
        // Each text of a sequence (RFC 7464) begins with a record separator.
        let text = ansi::strip(record.text.trim_start_matches('\u{1e}'), record.arena);
        if !text.trim_start().is_empty() {
            claimed |= format::decode(format, &Record { text, ..record }, &mut sink);
        }
    }
    let last_line = block.text.rfind('\n').map_or(0, |end| end + 1) as u64;
    let torn_from = block.ends_without_newline.then_some(block.offset + last_line);
    let is_headed = format.is_some_and(|format| matches!(format.framing, Framing::Headed(_)));
    let lines = is_headed.then(|| BlockLines::new(block));
    Decoded { notices: &block.notices, torn_from, secrets: secrets(block, source), claimed, lines, sink }
}

/// The records of a block that hold a secret, each once.
fn secrets(block: &Block, source: SourceId) -> Vec<Origin> {
    let mut leaks: Vec<u64> = redact::leaks(&block.text).into_iter().map(|at| block.offset + at as u64).collect();
    if leaks.is_empty() {
        return Vec::new();
    }
    leaks.sort_unstable();
    let holds = |record: &Record<'_>| {
        let begin = record.origin.offset;
        let next = leaks.partition_point(|at| *at < begin);
        leaks.get(next).is_some_and(|at| *at < begin + record.text.len() as u64)
    };
    block.records(source).filter(holds).map(|record| record.origin).collect()
}

/// Who a file's name says wrote it. A hint: content decides where it can.
fn witness_of_name(path: &str) -> Option<Witness> {
    let name = Path::new(path).file_name()?.to_str()?.to_ascii_lowercase();
    [
        ("client", Witness::Client),
        ("mcp-server-", Witness::Client),
        ("server", Witness::Server),
        ("stderr", Witness::Server),
        ("proxy", Witness::Proxy),
        ("gateway", Witness::Proxy),
        ("strace", Witness::Network),
        ("egress", Witness::Network),
    ]
    .into_iter()
    .find(|(word, _)| name.contains(word))
    .map(|(_, witness)| witness)
}

fn count(notices: &mut Vec<NoticeCount>, kind: NoticeKind, origin: Option<Origin>) {
    let first = origin.map(|origin| (u64::from(origin.record.get()), origin.offset));
    match notices.iter_mut().find(|known| known.kind == kind) {
        Some(known) => known.count += 1,
        None => notices.push(NoticeCount { kind, count: 1, first }),
    }
    notices.sort_by_key(|notice| notice.kind);
}

/// Bytes as two digits each.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
