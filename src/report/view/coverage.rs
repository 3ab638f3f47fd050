//! What was read and what is missing, in words.

use rustc_hash::FxHashMap;

use super::{Desk, Rows, and_more, plural};
use crate::{
    event::Witness,
    judge::{CallVerdict, Missing, Window},
    notice::Loss,
    report::{QUOTE_LIMIT, SourceInfo, fetch, names, redact, wire},
    source::Skipped,
    symbol::Symbol,
};

/// At most so many sources are listed.
const SOURCES: usize = 40;
/// At most so many inputs that were not read are listed.
const NOT_READ: usize = 12;
/// At most so many missing artifacts are listed.
const ARTIFACTS: usize = 12;

/// What was read.
#[derive(Debug)]
pub(in crate::report) struct Coverage {
    /// How much it was: `12 records of 3 sources`.
    pub(in crate::report) summary: String,
    /// What all paths begin with, where that was left out.
    pub(in crate::report) root: String,
    /// The sources.
    pub(in crate::report) sources: Rows<SourceRow>,
    /// What is no source, or not all of one. What may have held evidence comes first.
    pub(in crate::report) not_read: Rows<NotReadRow>,
    /// What was lost, if anything.
    pub(in crate::report) loss: Option<&'static str>,
    /// The policy: its path and hash.
    pub(in crate::report) policy: Option<(String, String)>,
    /// What of it did not apply: place, and why.
    pub(in crate::report) unused: Vec<(String, String)>,
    /// Records from which nothing was learned, place and words, if they were asked for.
    pub(in crate::report) unexplained: Vec<(String, String)>,
}

/// Something that was not read.
#[derive(Debug)]
pub(in crate::report) struct NotReadRow {
    /// Not read at all, or not to its end.
    pub(in crate::report) fate: &'static str,
    /// Its path, with the path inside its archive.
    pub(in crate::report) path: String,
    /// Why.
    pub(in crate::report) reason: String,
}

/// One source.
#[derive(Debug)]
pub(in crate::report) struct SourceRow {
    /// Its path.
    pub(in crate::report) path: String,
    /// Its format, with the wrappers around it.
    pub(in crate::report) format: String,
    /// Whose view it is.
    pub(in crate::report) witness: String,
    /// Records.
    pub(in crate::report) records: u64,
    /// Records from which nothing was learned.
    pub(in crate::report) unexplained: u64,
    /// Trouble while reading, and what its clock lacks.
    pub(in crate::report) notices: Vec<String>,
    /// SHA-256 of the stored file.
    pub(in crate::report) sha256: String,
}

/// What was read.
pub(super) fn coverage(desk: &Desk<'_, '_>) -> Coverage {
    let sources = desk.report.sources;
    let unexplained = desk.report.options.unexplained.as_deref().unwrap_or_default();
    let loss = match wire::loss(desk.report) {
        Loss::Data => Some("Data was lost while reading: absence proves nothing in the sources concerned."),
        Loss::Detail => Some("Details of some records could not be read."),
        Loss::None => None,
    };
    let policy = desk.report.options.policy.as_ref();
    let unused = policy.map_or(&[][..], |policy| &policy.unused);
    let records = sources.iter().map(|source| source.records).sum();
    Coverage {
        summary: format!("{} of {}", plural(records, "record"), plural(sources.len() as u64, "source")),
        root: desk.root.clone(),
        sources: Rows {
            shown: shown_sources(sources).into_iter().map(|index| source(desk, index)).collect(),
            left: sources.len().saturating_sub(SOURCES) as u64,
        },
        not_read: not_read(desk),
        loss,
        policy: policy.map(|policy| (desk.names.path(&policy.path), policy.sha256.clone())),
        unused: unused.iter().map(|row| (desk.names.path(&row.place), desk.names.text(&row.why))).collect(),
        unexplained: unexplained.iter().map(|row| (desk.spot(row.origin), desk.names.whole(&row.quote))).collect(),
    }
}

/// The sources that are listed, in order. Where not all can be, those that lost data are not left out before others.
fn shown_sources(sources: &[SourceInfo]) -> Vec<usize> {
    let lost = |source: &SourceInfo| source.notices.iter().any(|notice| notice.kind.loss() == Loss::Data);
    let mut shown: Vec<usize> = (0..sources.len()).collect();
    if shown.len() > SOURCES {
        shown.sort_by_key(|index| !lost(&sources[*index]));
        shown.truncate(SOURCES);
        shown.sort_unstable();
    }
    shown
}

fn not_read(desk: &Desk<'_, '_>) -> Rows<NotReadRow> {
    let mut skipped: Vec<&Skipped> = desk.report.not_read.iter().collect();
    skipped.sort_by_key(|skipped| std::cmp::Reverse(skipped.kind.loss()));
    let left = skipped.len().saturating_sub(NOT_READ) as u64;
    let row = |skipped: &Skipped| NotReadRow {
        fate: skipped.fate(),
        path: desk.path_of(&skipped.path, skipped.member.as_deref()),
        reason: desk.names.whole(&redact::quote(&skipped.reason, QUOTE_LIMIT)),
    };
    Rows { shown: skipped.into_iter().take(NOT_READ).map(row).collect(), left }
}

fn source(desk: &Desk<'_, '_>, index: usize) -> SourceRow {
    let info = &desk.report.sources[index];
    let facts = desk.report.case.sources.get(index);
    let witness = match facts.and_then(|facts| Some((facts.witness?, facts.witness_is_hint))) {
        Some((witness, false)) => Witness::name(witness).to_owned(),
        Some((witness, true)) => format!("{}?", Witness::name(witness)),
        None => "–".to_owned(),
    };
    let mut format = info.wrappers.join(" > ");
    format.push_str(if format.is_empty() { "" } else { " > " });
    format.push_str(info.format);
    SourceRow {
        path: desk.path(index),
        format,
        witness,
        records: info.records,
        unexplained: info.unexplained,
        notices: notices(desk, index),
        sha256: info.sha256.clone(),
    }
}

fn notices(desk: &Desk<'_, '_>, index: usize) -> Vec<String> {
    let info = &desk.report.sources[index];
    let facts = desk.report.case.sources.get(index);
    let mut lines: Vec<String> = Vec::new();
    for notice in info.notices.iter().filter(|notice| notice.count > 0) {
        let times = if notice.count == 1 { String::new() } else { format!(" ×{}", notice.count) };
        let first = notice.first.map_or_else(String::new, |(record, _)| format!(", first at record {record}"));
        let lost = if notice.kind.loss() == Loss::Data { " (data lost)" } else { "" };
        lines.push(format!("{}{times}{lost}: {}{first}", notice.kind.name(), notice.kind.text()));
    }
    let timed = facts.is_some_and(|facts| facts.first.is_some());
    match wire::zone(info, facts) {
        "aligned" => {
            let minutes = facts.map_or(0, |facts| facts.shift / (60 * crate::time::SECOND));
            let hours = format!("{}{}:{:02}", sign(minutes), minutes.abs() / 60, minutes.abs() % 60);
            lines.push(if minutes == 0 {
                "its stamps have no zone: read as UTC, which fits the other sources".to_owned()
            } else if minutes.abs() < 24 * 60 {
                format!("its stamps have no zone: {hours} h were added, by comparing with the other sources")
            } else {
                "its stamps have no date: they were placed by comparing with the other sources".to_owned()
            });
        }
        "unknown" if timed => lines.push("its stamps have no zone, and nothing places them".to_owned()),
        _ => {}
    }
    lines
}

fn sign(number: i64) -> char {
    if number < 0 { '−' } else { '+' }
}

/// An artifact that would settle something.
#[derive(Debug)]
pub(in crate::report) struct MissingRow {
    /// The artifact and its window.
    pub(in crate::report) artifact: String,
    /// What it decides.
    pub(in crate::report) decides: String,
}

/// What would settle open verdicts of calls that did not end well. One artifact of one server is one row, over all the
/// windows in which it decides something.
pub(super) fn missing(desk: &Desk<'_, '_>) -> Rows<MissingRow> {
    let mut groups: Vec<Wanted> = Vec::new();
    let mut known: FxHashMap<(Option<Symbol>, Missing, bool), usize> = FxHashMap::default();
    let failed = desk.report.verdicts.calls.iter().filter(|(_, verdict)| !verdict.outcome.is_success());
    for (index, verdict) in failed.filter(|(index, _)| desk.selected.call(**index)) {
        let server = desk.server(desk.report.case.calls[*index as usize].run as usize);
        for missing in &verdict.missing {
            let kind = Missing { window: None, ..*missing };
            let stays = missing.if_absent == verdict.retry.verdict;
            let slot = *known.entry((server, kind, stays)).or_insert(groups.len());
            match groups.get_mut(slot) {
                Some(group) => group.add(missing.window),
                None => groups.push(Wanted { missing: *missing, stays, server, first: *index, calls: 1 }),
            }
        }
    }
    let several = groups.iter().any(|group| group.server != groups[0].server);
    let left = groups.len().saturating_sub(ARTIFACTS) as u64;
    let shown = groups.iter().take(ARTIFACTS).map(|group| group.row(desk, several));
    Rows { shown: shown.collect(), left }
}

/// What would settle the verdict of one call.
pub(in crate::report) fn missing_of(desk: &Desk<'_, '_>, call: u32, verdict: &CallVerdict) -> Vec<MissingRow> {
    let row = |missing: &Missing| {
        let stays = missing.if_absent == verdict.retry.verdict;
        Wanted { missing: *missing, stays, server: None, first: call, calls: 1 }.row(desk, false)
    };
    verdict.missing.iter().map(row).collect()
}

/// An artifact of a server, and the calls it decides.
struct Wanted {
    missing: Missing,
    /// What it does not show changes nothing.
    stays: bool,
    server: Option<Symbol>,
    first: u32,
    calls: u64,
}

impl Wanted {
    fn add(&mut self, window: Option<Window>) {
        self.calls += 1;
        self.missing.window = match (self.missing.window, window) {
            (Some(known), Some(more)) => Some(known.and(more)),
            (known, more) => known.or(more),
        };
    }

    fn row(&self, desk: &Desk<'_, '_>, several: bool) -> MissingRow {
        let calls = and_more(&names::call(self.first), self.calls);
        let server = self.server.filter(|_| several).map(|server| format!("{}: ", desk.names.name(server)));
        let Missing { artifact, if_present, if_absent, .. } = self.missing;
        let (look, present, absent) = (artifact.row().look, if_present.name(), if_absent.name());
        let decides = if self.stays {
            format!("look for {look}: if it is there, {calls} is {present}; if not, it stays {absent}")
        } else {
            let covers = if self.missing.window.is_some() { " although the file covers that time" } else { "" };
            format!("look for {look}: if it is there, {calls} is {present}; if not{covers}, {absent}")
        };
        let artifact = fetch::artifact(&desk.places(), self.first, &self.missing);
        MissingRow { artifact: format!("{}{artifact}", server.unwrap_or_default()), decides }
    }
}
