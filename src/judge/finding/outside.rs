//! Contacts outside any call, and the part of the run in which they stand. Shared by the three rules about reach.
//!
//! Order is record order inside one source; a record of another source is placed by its time, which makes the part of
//! the run an inference, never the contact.

use rustc_hash::FxHashMap;

use super::{Confidence, Finding, FindingRule, Scene, Severity, count, number_of, tally::Tally};
use crate::{
    correlate::{Call, Contact, ContactKind, Mark, Seen},
    event::{Direction, Phase},
    judge::{
        RunFacts,
        call::{EffectClass, effect_class},
    },
};

/// A part of a run, outside its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Until the handshake was answered.
    Launch,
    /// While tools were listed.
    Discovery,
    /// Later, with no call open.
    Background,
}

/// Makes one finding for each run with contacts in a part of it.
pub(super) fn report(
    scene: &Scene<'_, '_>,
    rule: &'static FindingRule,
    part: Part,
    when: &str,
    out: &mut Vec<Finding>,
) {
    for facts in scene.runs {
        let found = contacts(facts, part);
        let Some(((first, sure), rest)) = found.split_first() else { continue };
        let mut tally = Tally::new(ROLE, first.attempt);
        for (contact, _) in rest {
            tally.add(ROLE, contact.attempt);
        }
        let sure = *sure || rest.iter().any(|(_, sure)| *sure);
        let confidence = if sure { Confidence::High } else { Confidence::Medium };
        let harmless =
            found.iter().all(|(contact, _)| matches!(contact.kind, ContactKind::Package | ContactKind::Telemetry));
        let severity = if harmless { rule.severity.min(Severity::Low) } else { rule.severity };
        let claim = format!(
            "{when} the server reached outside {}: {}.",
            count(tally.count(), "time", "times"),
            targets(scene, &found)
        );
        out.push(tally.finding(rule, confidence, claim, number_of(facts)).with_severity(severity));
    }
}

const ROLE: &str = "shows a contact outside any call";

/// The first targets by name, and how many more there are.
fn targets(scene: &Scene<'_, '_>, found: &[(&Contact, bool)]) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut more = 0;
    let mut known = rustc_hash::FxHashSet::default();
    for (contact, _) in found {
        if !known.insert(contact.target) {
            continue;
        }
        if names.len() < 3 {
            let kind = match contact.kind {
                ContactKind::Service => "",
                ContactKind::Credential => " (credential)",
                ContactKind::Telemetry => " (telemetry)",
                ContactKind::Package => " (package)",
            };
            names.push(format!("{}{kind}", scene.case.name(contact.target)));
        } else {
            more += 1;
        }
    }
    let names = names.join(", ");
    if more == 0 { names } else { format!("{names} and {}", count(more, "more target", "more targets")) }
}

/// The contacts of one part of a run, and whether the part is on record.
fn contacts<'c>(facts: &RunFacts<'c>, part: Part) -> Vec<(&'c Contact, bool)> {
    let case = facts.case;
    let mut found: Vec<(&Contact, bool)> = Vec::new();
    if !case.contacts_of.is_empty() {
        for index in &facts.run.calls {
            let of_part = match case.name(case.calls[*index as usize].method) {
                "initialize" | "server/discover" => Part::Launch,
                "tools/list" | "resources/list" | "prompts/list" => Part::Discovery,
                _ => continue,
            };
            if of_part == part {
                found.extend(
                    case.contacts_of(*index).filter(|contact| contact.is_reach()).map(|contact| (contact, true)),
                );
            }
        }
    }
    let loose: Vec<&Contact> = facts
        .run
        .contacts
        .iter()
        .map(|index| &case.contacts[*index as usize])
        .filter(|contact| contact.is_reach())
        .collect();
    if !loose.is_empty() {
        let lines = Lines::of(facts);
        for contact in loose {
            if let Some((at, sure)) = lines.part_of(facts, contact)
                && at == part
            {
                found.push((contact, sure));
            }
        }
    }
    found.sort_by_key(|(contact, _)| contact.attempt.origin);
    found
}

/// What one line of order shows of a run: the records of one source, or all records by placed time.
#[derive(Debug, Default)]
struct Line {
    /// The handshake was answered, or the first other request came.
    handshake: Option<i64>,
    /// Lists, from request to answer.
    lists: Vec<(i64, i64)>,
    /// Begin and end of calls that may do something, each sorted.
    begins: Vec<i64>,
    ends: Vec<i64>,
}

/// One line of order for each source, and one by time.
#[derive(Debug, Default)]
struct Lines {
    /// A handshake was answered, or something else was asked.
    served: bool,
    by_source: FxHashMap<u32, Line>,
    by_time: Line,
}

impl Lines {
    fn of(facts: &RunFacts<'_>) -> Self {
        let mut lines = Self::default();
        for index in &facts.run.calls {
            lines.add(facts, &facts.case.calls[*index as usize]);
        }
        lines.by_time.settle();
        // Each line is settled by itself: the order of the map does not matter.
        #[expect(clippy::iter_over_hash_type, reason = "nothing depends on the order")]
        for line in lines.by_source.values_mut() {
            line.settle();
        }
        lines
    }

    fn add(&mut self, facts: &RunFacts<'_>, call: &Call) {
        if call.direction != Direction::ToServer {
            return;
        }
        let method = facts.case.name(call.method);
        let asked = call.asked.map(|mark| (call.asked_as, mark));
        let answered = call.answered.map(|mark| (call.answered_as, mark));
        let rows = facts.case.sightings(call).map(|row| (row.seen, row.mark));
        let handshake = matches!(method, "initialize" | "server/discover");
        let ended = call.answered.is_some() || facts.case.sightings(call).any(|row| is_end(row.seen));
        self.served |= !handshake || ended;
        let mut spans: Vec<(u32, i64, i64)> = Vec::new();
        let mut time: Option<(i64, i64)> = None;
        for (seen, mark) in asked.into_iter().chain(answered).chain(rows) {
            let ends = is_end(seen);
            let source = mark.origin.source.0;
            let key = i64::from(mark.origin.record.get());
            match spans.iter_mut().find(|(known, ..)| *known == source) {
                Some((_, from, to)) => widen(from, to, key, ends),
                None => spans.push((source, key, if ends { key } else { i64::MAX })),
            }
            if let Some(at) = facts.case.placed(mark) {
                match &mut time {
                    Some((from, to)) => widen(from, to, at.0, ends),
                    None => time = Some((at.0, if ends { at.0 } else { i64::MAX })),
                }
            }
        }
        for (source, from, to) in spans {
            self.by_source.entry(source).or_default().add(method, from, to);
        }
        if let Some((from, to)) = time {
            self.by_time.add(method, from, to);
        }
    }

    /// The part in which a contact stands, and whether that is on record; `None` where it may be of a call.
    fn part_of(&self, facts: &RunFacts<'_>, contact: &Contact) -> Option<(Part, bool)> {
        match contact.phase {
            Some(Phase::Launch | Phase::Handshake) => return Some((Part::Launch, true)),
            Some(Phase::Discovery) => return Some((Part::Discovery, true)),
            _ if !contact.outside => return None,
            _ => {}
        }
        let Mark { origin, .. } = contact.attempt;
        if !self.served && !facts.run.calls.is_empty() {
            return Some((Part::Launch, true));
        }
        if let Some(line) = self.by_source.get(&origin.source.0) {
            return line.part_at(i64::from(origin.record.get())).map(|part| (part, true));
        }
        if facts.run.calls.is_empty() {
            return Some((Part::Launch, false));
        }
        let at = facts.case.placed(contact.attempt)?;
        self.by_time.part_at(at.0).map(|part| (part, false))
    }
}

impl Line {
    fn add(&mut self, method: &str, from: i64, to: i64) {
        let shaken = match method {
            "initialize" | "server/discover" => to,
            _ => from,
        };
        self.handshake = Some(self.handshake.map_or(shaken, |known| known.min(shaken)));
        match method {
            "tools/list" | "resources/list" | "prompts/list" => self.lists.push((from, to)),
            _ if effect_class(method) == EffectClass::None => {}
            _ => {
                self.begins.push(from);
                self.ends.push(to);
            }
        }
    }

    fn settle(&mut self) {
        self.begins.sort_unstable();
        self.ends.sort_unstable();
        self.lists.sort_unstable();
        // Lists that meet are one stretch, so that a position lies in at most one of them.
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (from, to) in std::mem::take(&mut self.lists) {
            match joined.last_mut() {
                Some((_, last)) if from <= *last => *last = (*last).max(to),
                _ => joined.push((from, to)),
            }
        }
        self.lists = joined;
    }

    fn part_at(&self, at: i64) -> Option<Part> {
        if self.handshake.is_none_or(|handshake| at < handshake) {
            return Some(Part::Launch);
        }
        let begun = self.begins.partition_point(|begin| *begin <= at);
        let ended = self.ends.partition_point(|end| *end < at);
        if begun > ended {
            return None;
        }
        let list = self.lists.partition_point(|(from, _)| *from <= at);
        let listing = list > 0 && self.lists[list - 1].1 >= at;
        Some(if listing { Part::Discovery } else { Part::Background })
    }
}

fn widen(from: &mut i64, to: &mut i64, key: i64, ends: bool) {
    *from = (*from).min(key);
    if ends {
        *to = if *to == i64::MAX { key } else { (*to).max(key) };
    }
}

/// Whether a record shows that the server was done with a call.
fn is_end(seen: Seen) -> bool {
    matches!(
        seen,
        Seen::Responded | Seen::Delivered | Seen::HandlerDone | Seen::LateAnswer | Seen::OtherAnswer | Seen::ReplyLost
    )
}
