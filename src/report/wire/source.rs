//! Sources, coverage and totals on the wire.

use super::{Clock, Coverage, NotRead, NotRun, Notice, Place, Source, Totals, Unexplained};
use crate::{
    correlate::{Mark, Offset, SourceFacts},
    event::{Origin, SourceId, Witness},
    notice::{Loss, NoticeKind},
    report::{
        QUOTE_LIMIT, Report, SourceInfo,
        names::{self, Names},
        redact,
    },
    source::Skipped,
    time::{MILLISECOND, Shape, Timestamp},
};

/// One source.
pub(super) fn source(report: &Report<'_>, names: &Names<'_>, index: usize, info: &SourceInfo) -> Source {
    let facts = report.case.sources.get(index);
    let instant = |at: Option<Timestamp>| names.instant(Mark { origin: first_of(index), at: Some(at?) });
    Source {
        source: names::source(index),
        path: names.text(&info.path),
        member: info.member.as_deref().map(|member| names.text(member)),
        sha256: info.sha256.clone(),
        member_sha256: info.member_sha256.clone(),
        bytes: info.bytes,
        format: info.format,
        wrappers: info.wrappers.clone(),
        witness: facts.and_then(|facts| facts.witness).map(Witness::name),
        records: info.records,
        events: facts.map_or(0, |facts| facts.events),
        first_at: instant(facts.and_then(|facts| facts.first)),
        last_at: instant(facts.and_then(|facts| facts.last)),
        clock: clock(report, index, info, facts),
        notices: info.notices.iter().map(notice).collect(),
    }
}

fn first_of(index: usize) -> Origin {
    let source = SourceId(u32::try_from(index).unwrap_or(u32::MAX));
    Origin { source, record: std::num::NonZeroU32::MIN, offset: 0 }
}

/// How the stamps of a source were placed.
pub(in crate::report) fn zone(info: &SourceInfo, facts: Option<&SourceFacts>) -> &'static str {
    match facts.and_then(|facts| Some((facts.shape?, facts.aligned))) {
        Some((Shape::Utc, _)) if info.zone_by_option => "option",
        Some((Shape::Utc, _)) => "recorded",
        Some((_, true)) => "aligned",
        _ => "unknown",
    }
}

fn clock(report: &Report<'_>, index: usize, info: &SourceInfo, facts: Option<&SourceFacts>) -> Clock {
    let shift = facts.map_or(0, |facts| facts.shift);
    // Bounds stay bounds: they are rounded away from each other.
    let rounded = |offset: Offset| [offset.low.div_euclid(MILLISECOND), -(-offset.high).div_euclid(MILLISECOND)];
    Clock {
        zone: zone(info, facts),
        offset_ms: report.case.clocks.against_reference(first_of(index).source).map(rounded),
        shift_ms: (shift != 0).then_some(shift / MILLISECOND),
    }
}

fn notice(count: &crate::report::NoticeCount) -> Notice {
    let first = count.first.map(|(record, byte)| Place { record, byte });
    Notice { notice: count.kind.name(), loss: count.kind.loss().name(), count: count.count, first }
}

/// What was read.
pub(super) fn coverage(report: &Report<'_>, names: &Names<'_>) -> Coverage {
    let unexplained = report.options.unexplained.as_ref().map(|list| {
        list.iter()
            .map(|record| Unexplained {
                source: names::source(record.origin.source.0 as usize),
                record: u64::from(record.origin.record.get()),
                byte: record.origin.offset,
                quote: names.text(&record.quote),
            })
            .collect()
    });
    Coverage {
        bytes: report.sources.iter().map(|source| source.content_bytes).sum(),
        records: report.sources.iter().map(|source| source.records).sum(),
        events: report.case.sources.iter().map(|source| source.events).sum(),
        unexplained_records: report.sources.iter().map(|source| source.unexplained).sum(),
        loss: loss(report).name(),
        inputs_not_read: inputs_not_read(report, names),
        rules_not_run: rules_not_run(report),
        unexplained,
    }
}

/// What is no source, and the sources that ended early because their container is damaged.
fn inputs_not_read(report: &Report<'_>, names: &Names<'_>) -> Vec<NotRead> {
    let skipped = report.not_read.iter().map(|skipped| not_read(names, skipped));
    skipped.chain(report.sources.iter().filter_map(|info| cut_short(names, info))).collect()
}

fn cut_short(names: &Names<'_>, info: &SourceInfo) -> Option<NotRead> {
    let kinds = [NoticeKind::BrokenArchive, NoticeKind::Unreadable];
    let kind = kinds.into_iter().find(|kind| info.notices.iter().any(|notice| notice.kind == *kind))?;
    Some(NotRead {
        path: names.text(&info.path),
        member: info.member.as_deref().map(|member| names.text(member)),
        notice: kind.name(),
        loss: kind.loss().name(),
        reason: kind.text().to_owned(),
        partly_read: info.content_bytes > 0,
    })
}

fn not_read(names: &Names<'_>, skipped: &Skipped) -> NotRead {
    NotRead {
        path: names.text(&skipped.path),
        member: skipped.member.as_deref().map(|member| names.text(member)),
        notice: skipped.kind.name(),
        loss: skipped.kind.loss().name(),
        reason: names.text(&redact::quote(&skipped.reason, QUOTE_LIMIT)),
        partly_read: skipped.partly,
    }
}

/// The worst of all notices; also of those about what could not be opened, and so is no source.
pub(in crate::report) fn loss(report: &Report<'_>) -> Loss {
    if report.case.anywhere.is_lossy() {
        return Loss::Data;
    }
    let notices = report.sources.iter().flat_map(|source| &source.notices);
    notices.filter(|notice| notice.count > 0).map(|notice| notice.kind.loss()).max().unwrap_or(Loss::None)
}

/// Rules whose kind of input is not among the sources.
fn rules_not_run(report: &Report<'_>) -> Vec<NotRun> {
    let rules = crate::judge::inputs::rules_not_run(report.case);
    rules.into_iter().map(|(rule, needs)| NotRun { rule, needs }).collect()
}

/// Counts over everything.
pub(super) fn totals(report: &Report<'_>) -> Totals {
    let totals = &report.verdicts.totals;
    Totals {
        runs: report.case.runs.len() as u64,
        calls: totals.calls,
        by_outcome: totals.by_outcome.clone(),
        by_layer: totals.by_layer.clone(),
        by_retry: totals.by_retry.clone(),
        by_reach: totals.by_reach.clone(),
    }
}
