//! What is told on standard error about inputs: what was not read, what was lost while reading, that nothing is known.
//!
//! The report says the same, and more: here it stands for those who look at the console.

use super::complain;
use crate::{
    analyze::Analysis,
    notice::Loss,
    report::{NoticeCount, SourceInfo, listed, redact},
    source::{PathArgument, Skipped},
};

/// At most so many inputs are told of; a folder may hold any number of them.
const TOLD: usize = 40;
/// At most so many paths stand in one sentence.
const NAMED: usize = 3;

/// Missing paths, skipped inputs and lost data, one line each.
pub(super) fn tell_trouble(analysis: &Analysis) {
    for (path, reason) in &analysis.found.missing {
        complain(&format!("error: cannot read {}: {}", shown(path), shown(reason)));
    }
    let skipped = analysis.found.skipped.iter().map(not_read);
    let lost = analysis.sources.iter().flat_map(|info| {
        let lossy = info.notices.iter().filter(|notice| notice.kind.loss() == Loss::Data);
        lossy.map(|notice| lost(info, notice))
    });
    tell("not read", skipped);
    tell("lost data", lost);
}

/// The first of these lines, and how many more there are.
fn tell(what: &str, mut lines: impl Iterator<Item = String>) {
    lines.by_ref().take(TOLD).for_each(|line| complain(&line));
    let more = lines.count();
    if more > 0 {
        complain(&format!("notice: {what}: {more} more; see the coverage of the report"));
    }
}

fn not_read(skipped: &Skipped) -> String {
    let place = place(&skipped.path, skipped.member.as_deref());
    format!("notice: {place}: {}: {}", skipped.fate(), shown(&skipped.reason))
}

fn lost(info: &SourceInfo, notice: &NoticeCount) -> String {
    let place = place(&info.path, info.member.as_deref());
    let first = notice.first.map(|(record, byte)| format!(" at record {record}, byte {byte}")).unwrap_or_default();
    let times = if notice.count > 1 { format!(" (×{})", notice.count) } else { String::new() };
    format!("notice: {place}{first}: {}{times}", notice.kind.text())
}

fn place(path: &str, member: Option<&str>) -> String {
    let member = member.map(|member| format!("!{}", shown(member))).unwrap_or_default();
    format!("{}{member}", shown(path))
}

/// That nothing was recognized, and where.
pub(super) fn nothing_recognized(paths: &[PathArgument]) -> String {
    let name = |argument: &PathArgument| match argument.path.to_string_lossy().as_ref() {
        "-" => "standard input".to_owned(),
        path => shown(path),
    };
    let mut named: Vec<String> = paths.iter().take(NAMED).map(name).collect();
    if paths.len() > NAMED {
        named.push(format!("{} more", paths.len() - NAMED));
    }
    format!("error: nothing was recognized in {}; see `mcp-postmortem formats`", listed(&named))
}

fn shown(text: &str) -> String {
    redact::quote(text, 400)
}
