//! The rows of the timeline: every event of every source, with the facts that were made of it.
//!
//! A record that tells of several steps, as an HTTP exchange does of request and answer, gives a row for each of them;
//! one that left no fact still gives a row.

use rustc_hash::FxHashMap;

use super::{
    Row,
    order::{NO_STEP, step},
    words,
};
use crate::{
    correlate::{Case, Contact, Mark, NONE, RpcId, Told, ToldKind},
    event::{Origin, Witness},
    judge::call::{LinkKind, chain},
    time::Timestamp,
};

/// What was made of a record.
#[derive(Clone, Copy, Debug)]
struct Fact {
    mark: Mark,
    call: u32,
    run: u32,
    word: &'static str,
    witness: Witness,
    step: u8,
    contact: bool,
}

/// All rows, in order: that of the records inside a source, that of the placed times between sources.
pub(super) fn rows(case: &Case) -> Vec<Row> {
    let facts = facts(case);
    let mut rows = Vec::with_capacity(case.trail.len() + case.trail.len() / 4);
    let mut left = &facts[..];
    for record in case.trail.chunk_by(|one, two| one.mark.origin == two.mark.origin) {
        let origin = record[0].mark.origin;
        // A fact may rest on text that is no event of its own.
        let (before, rest) = split(left, |fact| fact.mark.origin < origin);
        rows.extend(before.iter().map(|fact| row(fact, Some(fact.witness))));
        let (own, rest) = split(rest, |fact| fact.mark.origin == origin);
        record_rows(case, record, own, &mut rows);
        left = rest;
    }
    rows.extend(left.iter().map(|fact| row(fact, Some(fact.witness))));
    place(case, &mut rows);
    rows
}

/// The facts at the beginning for which something holds, and the others.
fn split(facts: &[Fact], holds: impl Fn(&Fact) -> bool) -> (&[Fact], &[Fact]) {
    facts.split_at(facts.iter().position(|fact| !holds(fact)).unwrap_or(facts.len()))
}

/// Everything that records of the case were taken for, by place.
fn facts(case: &Case) -> Vec<Fact> {
    let mut facts = of_calls(case);
    of_strands(case, &mut facts);
    of_contacts(case, &mut facts);
    // Facts of one record stay in the order of the ladder.
    facts.sort_by_key(|fact| fact.mark.origin);
    facts
}

fn of_calls(case: &Case) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (index, call) in (0..).zip(&case.calls) {
        let links = chain(case, index).into_iter();
        facts.extend(links.map(|link| Fact {
            mark: link.mark,
            call: index,
            run: call.run,
            word: words::of_link(&link, call.answer.kind),
            witness: link.witness,
            step: step(&link),
            contact: !matches!(link.what, LinkKind::Call(_)),
        }));
    }
    facts
}

fn of_strands(case: &Case, facts: &mut Vec<Fact>) {
    for strand in &case.strands {
        facts.extend(strand.events.iter().map(|event| Fact {
            mark: event.mark,
            call: NONE,
            run: strand.run,
            word: words::of_strand(event.what),
            witness: event.witness,
            step: NO_STEP,
            contact: false,
        }));
    }
}

/// Contacts that are bound to no call. What corroborates a contact is one with it, and belongs where that one does.
fn of_contacts(case: &Case, facts: &mut Vec<Fact>) {
    let homes = case.contacts.iter().filter_map(|contact| {
        let second = contact.corroborated?;
        Some((second.origin, (contact.call, contact.run)))
    });
    let homes: FxHashMap<Origin, (u32, u32)> = homes.collect();
    for contact in case.contacts.iter().filter(|contact| contact.call == NONE) {
        let home = homes.get(&contact.attempt.origin).copied().unwrap_or((NONE, contact.run));
        contact_facts(contact, home, facts);
    }
}

fn contact_facts(contact: &Contact, (call, run): (u32, u32), facts: &mut Vec<Fact>) {
    let attempt = Fact {
        mark: contact.attempt,
        call,
        run,
        word: words::of_stage(contact.stage),
        witness: contact.witness,
        step: NO_STEP,
        contact: true,
    };
    facts.push(attempt);
    facts.extend(contact.corroborated.map(|mark| Fact { mark, ..attempt }));
    let result = contact.result.filter(|result| *result != contact.attempt);
    facts.extend(result.map(|mark| Fact { mark, word: "external_result", ..attempt }));
}

/// The rows of one record: the facts of each of its events, or the event itself.
fn record_rows(case: &Case, record: &[Told], facts: &[Fact], rows: &mut Vec<Row>) {
    let begin = rows.len();
    let mut left = without_echoes(facts);
    for told in record {
        let own = if record.len() == 1 { std::mem::take(&mut left) } else { take(case, told, &mut left) };
        let witness = told.witness.or_else(|| own_witness(case, told.mark.origin));
        let untimed = rows.len();
        if own.is_empty() {
            let run = case.strands.get(told.strand as usize).map_or(NONE, |strand| strand.run);
            rows.push(Row { run, ..Row::new(told.mark, words::of_told(told.kind), witness) });
        }
        rows.extend(own.iter().map(|fact| row(fact, witness)));
        // The end of a stream may have no time; its record has.
        if let Some(first) = rows.get_mut(untimed).filter(|row| row.mark.at.is_none()) {
            first.mark = told.mark;
        }
    }
    rows.extend(left.iter().map(|fact| row(fact, Some(fact.witness))));
    // Only the first row of a record stands for it: the others happened later, or nobody knows when.
    for row in rows.iter_mut().skip(begin + 1) {
        row.first = false;
        row.step = NO_STEP;
    }
}

/// The facts of a record, each step of a call once: one may be told of the call and of its run.
fn without_echoes(facts: &[Fact]) -> Vec<Fact> {
    let mut kept: Vec<Fact> = Vec::with_capacity(facts.len());
    for fact in facts {
        let is_told = |other: &Fact| other.call != NONE && other.word == fact.word;
        let echoes = match fact.call {
            NONE => facts.iter().any(is_told),
            call => kept.iter().any(|other| is_told(other) && other.call == call),
        };
        if !echoes {
            kept.push(*fact);
        }
    }
    kept
}

fn row(fact: &Fact, witness: Option<Witness>) -> Row {
    // The log of a service need not say whose it is.
    let witness = witness.or(fact.contact.then_some(fact.witness));
    Row { call: fact.call, run: fact.run, step: fact.step, ..Row::new(fact.mark, fact.word, witness) }
}

fn own_witness(case: &Case, origin: Origin) -> Option<Witness> {
    case.sources.get(origin.source.0 as usize)?.witness
}

/// Takes the facts of one event out of those of a record with several events.
fn take(case: &Case, told: &Told, left: &mut Vec<Fact>) -> Vec<Fact> {
    if let ToldKind::Reach(_) = told.kind {
        let contact = left.iter().position(|fact| fact.contact);
        return contact.map(|at| left.remove(at)).into_iter().collect();
    }
    let is_own = |fact: &Fact| {
        let id = case.calls.get(fact.call as usize).map(|call| call.id);
        !fact.contact && (told.id == RpcId::Unknown && id.is_none() || id == Some(told.id))
    };
    let (own, others) = left.iter().partition(|fact| is_own(fact));
    *left = others;
    own
}

/// Gives every row the time that places it between the sources, and puts them in order. Times may go back inside a
/// source; its records do not.
fn place(case: &Case, rows: &mut [Row]) {
    let borrowed = Borrowed::new(case, rows);
    for rows in rows.chunk_by_mut(|one, two| one.source() == two.source()) {
        let mut last: Option<Timestamp> = None;
        for record in rows.chunk_by_mut(|one, two| one.mark.origin == two.mark.origin) {
            let own = record.iter().filter_map(|row| case.placed(row.mark)).min();
            let at = own.or_else(|| borrowed.of(record));
            last = at.max(last);
            for row in record {
                row.key = last;
            }
        }
        // What stands before the first time of its source stands directly before it.
        let first = rows.iter().find_map(|row| row.key);
        rows.iter_mut().take_while(|row| row.key.is_none()).for_each(|row| row.key = first);
    }
    rows.sort_by_key(|row| row.key.map_or(i64::MAX, |at| at.0));
}

/// Times of calls that other sources know: a source without any time takes them for its own rows of these calls.
struct Borrowed {
    timeless: Vec<bool>,
    times: FxHashMap<(u32, u8), Timestamp>,
}

impl Borrowed {
    fn new(case: &Case, rows: &[Row]) -> Self {
        let timeless: Vec<bool> = case.sources.iter().map(|source| source.first.is_none()).collect();
        let mut times: FxHashMap<(u32, u8), Timestamp> = FxHashMap::default();
        if timeless.contains(&true) {
            for row in rows.iter().filter(|row| row.call != NONE && row.step != NO_STEP) {
                let Some(at) = case.placed(row.mark) else { continue };
                let known = times.entry((row.call, half(row.step))).or_insert(at);
                *known = (*known).min(at);
            }
        }
        Self { timeless, times }
    }

    fn of(&self, record: &[Row]) -> Option<Timestamp> {
        let row = record.iter().find(|row| row.call != NONE && row.step != NO_STEP)?;
        let timeless = self.timeless.get(row.source() as usize).copied().unwrap_or_default();
        self.times.get(&(row.call, half(row.step))).copied().filter(|_| timeless)
    }
}

/// Whether a step belongs to the request or to the answer.
fn half(step: u8) -> u8 {
    u8::from(step >= 3)
}
