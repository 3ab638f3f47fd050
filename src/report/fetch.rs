//! What to fetch, in words that can be acted on: which file, of whom, over which time, and what to look for in it.
//!
//! Decides nothing: what would settle a verdict, and in which order, is told by `judge`.

use super::{place::Places, view::listed};
use crate::{
    correlate::NONE,
    judge::{Missing, call::Artifact},
    notice::{Loss, NoticeKind},
    symbol::Symbol,
};

/// At most so many files are named.
const NAMED: usize = 4;

/// An artifact with its window, as far as the report knows whose it is. `call` is one that it would settle.
pub(super) fn artifact(places: &Places<'_, '_>, call: u32, missing: &Missing) -> String {
    let mut text = missing.artifact.row().phrase.to_owned();
    if missing.artifact == Artifact::Rest {
        text = text.replace("{files}", &files(places));
    }
    let server = server(places, call).map(|server| places.names.name(server).to_owned());
    text = text.replace("{server}", server.as_deref().filter(|name| !name.is_empty()).unwrap_or("the server"));
    text = match gateway(places, call) {
        Some(endpoint) => text.replace("{gateway}", places.names.name(endpoint)),
        None => text.replace(" ({gateway})", ""),
    };
    match missing.window {
        Some(window) => format!("{text} {}", window.text()),
        None => text,
    }
}

fn server(places: &Places<'_, '_>, call: u32) -> Option<Symbol> {
    let case = places.report.case;
    let run = case.calls.get(call as usize)?.run;
    let strands = (run != NONE).then(|| case.runs.get(run as usize)).flatten()?.strands.iter();
    strands.map(|strand| &case.strands[*strand as usize]).find_map(|strand| strand.server)
}

fn gateway(places: &Places<'_, '_>, call: u32) -> Option<Symbol> {
    let case = places.report.case;
    case.strands[case.calls.get(call as usize)?.strand as usize].endpoint
}

/// What the input has a part of: the whole of what is cut or damaged, and what followed a rotated part.
fn files(places: &Places<'_, '_>) -> String {
    let mut named: Vec<String> = Vec::new();
    for (index, source) in places.report.sources.iter().enumerate() {
        let path = places.path(index);
        let cut = |kind: NoticeKind| kind.loss() == Loss::Data && kind != NoticeKind::RotatedAway;
        if source.notices.iter().any(|notice| cut(notice.kind)) {
            named.push(format!("the whole of {path}"));
        }
        if let Some(next) = &source.next_part {
            let next = match &source.member {
                Some(_) => places.path_of(&source.path, Some(next)),
                None => places.path_of(next, None),
            };
            named.push(format!("{next}, which followed {path}"));
        }
    }
    let unread = places.report.not_read.iter().filter(|skipped| skipped.kind.loss() == Loss::Data);
    named.extend(
        unread.map(|skipped| format!("the whole of {}", places.path_of(&skipped.path, skipped.member.as_deref()))),
    );
    if named.is_empty() {
        named.push("the inputs that could not be read".to_owned());
    }
    if named.len() > NAMED {
        let more = named.split_off(NAMED - 1).len();
        named.push(format!("{more} more that are cut or damaged"));
    }
    listed(&named)
}
