//! What happened outside: executions proven and possible, targets, duplicates.

use rustc_hash::FxHashMap;

use super::{Desk, Rows, plural};
use crate::{
    correlate::Contact,
    event::ReachStage,
    report::{names, select},
    symbol::Symbol,
};

/// At most so many targets and duplicates.
const SHOWN: usize = 10;

/// What happened outside.
#[derive(Debug)]
pub(in crate::report) struct Impact {
    /// Executions of listed calls that are proven, and that are possible.
    pub(in crate::report) effects: (u64, u64),
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
    let effects = select::calls(desk.report)
        .fold((0, 0), |(lo, hi), (_, verdict)| (lo + u64::from(verdict.effects.0), hi + u64::from(verdict.effects.1)));
    Impact { effects, targets: targets(desk), duplicates: duplicates(desk) }
}

fn targets(desk: &Desk<'_, '_>) -> Rows<Target> {
    let mut order: Vec<(Symbol, &Contact, u64, u64)> = Vec::new();
    let mut known: FxHashMap<Symbol, usize> = FxHashMap::default();
    let case = desk.report.case;
    for (_, run) in case.runs.iter().enumerate().filter(|(index, _)| desk.selected.run(*index)) {
        for contact in super::runs::contacts(case, run) {
            let slot = *known.entry(contact.target).or_insert(order.len());
            if slot == order.len() {
                order.push((contact.target, contact, 0, 0));
            }
            if let Some(row) = order.get_mut(slot) {
                row.2 += 1;
                row.3 += u64::from(contact.stage == ReachStage::Answered);
            }
        }
    }
    let left = order.len().saturating_sub(SHOWN) as u64;
    let shown = order.into_iter().take(SHOWN).map(|(target, contact, attempts, results)| {
        let place = if contact.local { " on this host" } else { "" };
        let answered = if results == 0 { "no answer on record".to_owned() } else { format!("{results} answered") };
        let text = format!("{}{place}, {}, {answered}", contact.kind.name(), plural(attempts, "contact"));
        Target { name: super::runs::target_name(desk.names.name(target)).to_owned(), text }
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
