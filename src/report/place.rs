//! Places as people read them: `path:line`, and conditions with the places where they are checked.

use super::{
    Report,
    names::{self, Names},
    view::{listed, plural},
};
use crate::{
    event::Origin,
    format,
    frame::Framing,
    judge::{Caution, Condition, Opinion, Spots},
};

/// At most so many places are named in one condition.
const NAMED: usize = 4;

/// Names the places of a report, without the folder that all of them are in.
#[derive(Clone, Copy)]
pub(super) struct Places<'p, 'a> {
    /// Holds the paths.
    pub(super) report: &'p Report<'a>,
    /// Cleans them.
    pub(super) names: &'p Names<'a>,
    /// With its slash; empty where paths are printed whole.
    pub(super) root: &'p str,
}

impl<'p, 'a> Places<'p, 'a> {
    /// With whole paths.
    pub(super) fn whole(report: &'p Report<'a>, names: &'p Names<'a>) -> Self {
        Self { report, names, root: "" }
    }

    /// `path:line`; `path#record` in a JSON document, where lines say nothing.
    pub(super) fn spot(&self, origin: Origin) -> String {
        let path = self.path(origin.source.0 as usize);
        match line(self.report, origin) {
            Some(line) => format!("{path}:{line}"),
            None => format!("{path}#{}", origin.record),
        }
    }

    /// The same without the path, behind a place of the same source.
    pub(super) fn number(&self, origin: Origin) -> String {
        match line(self.report, origin) {
            Some(line) => line.to_string(),
            None => format!("#{}", origin.record),
        }
    }

    /// The path of a source, with the path inside its archive.
    pub(super) fn path(&self, index: usize) -> String {
        let Some(info) = self.report.sources.get(index) else { return names::source(index) };
        self.path_of(&info.path, info.member.as_deref())
    }

    /// A path as it is shown.
    pub(super) fn path_of(&self, path: &str, member: Option<&str>) -> String {
        let path = self.names.path(path);
        let path = path.strip_prefix(self.root).unwrap_or(&path);
        match member {
            Some(member) => format!("{path}!{}", self.names.path(member)),
            None => path.to_owned(),
        }
    }

    /// What must be checked before an opinion holds, as a phrase behind "only if".
    pub(super) fn conditions(&self, opinion: &Opinion) -> Option<String> {
        if opinion.verdict != Caution::SafeIf {
            return None;
        }
        match &opinion.conditions[..] {
            [] => None,
            [one] => Some(self.condition(one)),
            all => {
                let all: Vec<String> = all.iter().map(|condition| self.condition(condition)).collect();
                Some(format!("all of this holds: {}", all.join("; ")))
            }
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        let text = self.names.text(&condition.text);
        match &condition.spots {
            Spots::Nowhere => text,
            Spots::Records(marks) => fill(&text, marks.iter().map(|mark| self.spot(mark.origin)), "record"),
            Spots::Sources(sources) => fill(&text, sources.iter().map(|source| self.path(source.0 as usize)), "file"),
        }
    }
}

/// The line on which a record begins, counted from 1. None in a JSON document.
pub(super) fn line(report: &Report<'_>, origin: Origin) -> Option<u32> {
    match framing(report, origin) {
        Framing::Lines => Some(origin.record.get()),
        Framing::Headed(_) => report.sources.get(origin.source.0 as usize)?.lines.of(origin.record),
        Framing::JsonValues | Framing::JsonArray(_) => None,
    }
}

/// Each record of the source is a line.
pub(super) fn are_lines(report: &Report<'_>, origin: Origin) -> bool {
    matches!(framing(report, origin), Framing::Lines)
}

fn framing(report: &Report<'_>, origin: Origin) -> Framing {
    let format = report.sources.get(origin.source.0 as usize).and_then(|info| format::named(info.format));
    format.map_or(Framing::Lines, |format| format.framing)
}

/// Puts places where the text has room for them.
fn fill(text: &str, places: impl ExactSizeIterator<Item = String>, noun: &str) -> String {
    let left = places.len().saturating_sub(NAMED);
    let mut named: Vec<String> = places.take(NAMED).collect();
    if left > 0 {
        named.push(plural(left as u64, &format!("more {noun}")));
    }
    text.replacen("{}", &listed(&named), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_listed_in_a_sentence() {
        let fill = |places: &[&str]| fill("not in {}", places.iter().map(|place| (*place).to_owned()), "file");
        assert_eq!(fill(&["a:1"]), "not in a:1");
        assert_eq!(fill(&["a:1", "b:2"]), "not in a:1 and b:2");
        assert_eq!(fill(&["a", "b", "c", "d", "e", "f"]), "not in a, b, c, d and 2 more files");
    }
}
