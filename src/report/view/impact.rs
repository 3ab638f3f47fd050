//! What happened outside: executions proven and possible, targets, duplicates.

use rustc_hash::FxHashMap;

use super::{Desk, Rows, handles::Handles, plural, runs};
use crate::{
    correlate::Contact,
    event::ReachStage,
    judge::Answer,
    report::{names, select},
};

/// At most so many targets and duplicates.
const SHOWN: usize = 10;

/// What happened outside.
#[derive(Debug)]
pub(in crate::report) struct Impact {
    /// Executions of listed calls that are proven, and that are possible.
    pub(in crate::report) effects: (u64, u64),
    /// The calls of which an execution is proven.
    proven: Handles,
    /// The calls of which more are possible than are proven.
    possible: Handles,
    /// Those of them of which no record tells whether they reached anything.
    unseen: Handles,
    /// External targets in words.
    pub(in crate::report) targets: Rows<Target>,
    /// Operations whose effect may have happened twice, in words.
    pub(in crate::report) duplicates: Rows<String>,
}

/// One external target.
#[derive(Debug)]
pub(in crate::report) struct Target {
    /// `scheme://host:port` or a name.
    pub(in crate::report) name: String,
    /// `service, 3 contacts, 2 answered`.
    pub(in crate::report) text: String,
}

/// What is known of the outside.
pub(super) fn impact(desk: &Desk<'_, '_>) -> Impact {
    let (mut proven, mut possible, mut unseen) = (Handles::default(), Handles::default(), Handles::default());
    let mut effects = (0, 0);
    for (index, verdict) in select::calls(desk.report) {
        let (lo, hi) = verdict.effects;
        effects = (effects.0 + u64::from(lo), effects.1 + u64::from(hi));
        if lo > 0 {
            proven.add(index);
        }
        if hi > lo {
            possible.add(index);
        }
        if hi > lo && verdict.reach.answer == Answer::Unknown {
            unseen.add(index);
        }
    }
    Impact { effects, proven, possible, unseen, targets: targets(desk), duplicates: duplicates(desk) }
}

impl Impact {
    /// `1 proven (c3), up to 3 possible (c5 and c7). No record covers what c5 reached`.
    pub(in crate::report) fn executions(&self) -> String {
        let (lo, hi) = self.effects;
        if hi == 0 {
            return "none".to_owned();
        }
        let proven = if lo == 0 { "none".to_owned() } else { lo.to_string() };
        let possible = format!("up to {hi} possible{}", self.possible.in_brackets());
        let mut text = format!("{proven} proven{}, {possible}", self.proven.in_brackets());
        if !self.unseen.is_empty() {
            text.push_str(". No record covers what ");
            text.push_str(&self.unseen.text());
            text.push_str(" reached");
        }
        text
    }
}

fn targets(desk: &Desk<'_, '_>) -> Rows<Target> {
    let mut order: Vec<(&Contact, u64, u64)> = Vec::new();
    let mut known: FxHashMap<runs::Target, usize> = FxHashMap::default();
    let case = desk.report.case;
    for (_, run) in case.runs.iter().enumerate().filter(|(index, _)| desk.selected.run(*index)) {
        for contact in runs::contacts(case, run) {
            let slot = *known.entry(runs::Target::of(case, contact)).or_insert(order.len());
            if slot == order.len() {
                order.push((contact, 0, 0));
            }
            if let Some(row) = order.get_mut(slot) {
                row.1 += 1;
                row.2 += u64::from(contact.stage == ReachStage::Answered);
            }
        }
    }
    let left = order.len().saturating_sub(SHOWN) as u64;
    let shown = order.into_iter().take(SHOWN).map(|(contact, attempts, results)| {
        let place = if contact.local { " on this host" } else { "" };
        let answered = if results == 0 { "no answer on record".to_owned() } else { format!("{results} answered") };
        let text = format!("{}{place}, {}, {answered}", contact.kind.name(), plural(attempts, "contact"));
        Target { name: runs::Target::of(case, contact).name(desk), text }
    });
    Rows { shown: shown.collect(), left }
}

fn duplicates(desk: &Desk<'_, '_>) -> Rows<String> {
    let operations = desk.report.verdicts.operations.iter().zip(&desk.report.case.operations);
    let mut rows = Vec::new();
    let mut left = 0;
    for (verdict, _) in operations.filter(|(_, operation)| desk.selected.operation(operation)) {
        let happened = match verdict.duplicate {
            "certain" => "happened more than once",
            "possible" => "may have happened more than once",
            _ => continue,
        };
        let Some(first) = verdict.attempts.first() else { continue };
        if rows.len() >= SHOWN {
            left += 1;
            continue;
        }
        let calls: Vec<String> = verdict.attempts.iter().take(6).map(|call| names::call(*call)).collect();
        let more = verdict.attempts.len().saturating_sub(calls.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        rows.push(format!("The effect of {} {happened}: {}{more}.", desk.noun(*first), calls.join(", ")));
    }
    Rows { shown: rows, left }
}
