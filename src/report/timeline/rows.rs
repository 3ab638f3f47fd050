//! The rows of the timeline: every event of every source, with the facts that were made of it.
//!
//! A record that tells of several steps, as an HTTP exchange does of request and answer, gives a row for each of them;
//! one that left no fact still gives a row.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

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

/// Where a contact belongs that corroborates another one, and the answer that both have.
type Home = (u32, u32, Option<Mark>);

/// Contacts that are bound to no call. What corroborates a contact is one with it: it belongs where that one does, and
/// was told there.
fn of_contacts(case: &Case, facts: &mut Vec<Fact>) {
    let mut homes: FxHashMap<Origin, Vec<Home>> = FxHashMap::default();
    for contact in &case.contacts {
        if let Some(second) = contact.corroborated {
            homes.entry(second.origin).or_default().push((contact.call, contact.run, contact.result));
        }
    }
    for contact in case.contacts.iter().filter(|contact| contact.call == NONE) {
        let home = homes.get_mut(&contact.attempt.origin).and_then(Vec::pop);
        contact_facts(contact, home, facts);
    }
}

fn contact_facts(contact: &Contact, home: Option<Home>, facts: &mut Vec<Fact>) {
    let (call, run, told) = home.unwrap_or((NONE, contact.run, None));
    let attempt = Fact {
        mark: contact.attempt,
        call,
        run,
        word: words::of_stage(contact.stage),
        witness: contact.witness,
        step: NO_STEP,
        contact: true,
    };
    if home.is_none() {
        facts.push(attempt);
    }
    facts.extend(contact.corroborated.map(|mark| Fact { mark, ..attempt }));
    let result = contact.result.filter(|result| *result != contact.attempt && Some(*result) != told);
    facts.extend(result.map(|mark| Fact { mark, word: "external_result", ..attempt }));
}

/// The rows of one record: the facts of each of its events, or the event itself.
fn record_rows(case: &Case, record: &[Told], facts: &[Fact], rows: &mut Vec<Row>) {
    let begin = rows.len();
    let mut left = Left::new(case, without_echoes(facts), record.len() == 1);
    for told in record {
        let own = left.take(told);
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
    rows.extend(left.rest().iter().map(|fact| row(fact, Some(fact.witness))));
    // Only the first row of a record stands for it: the others happened later, or nobody knows when.
    for row in rows.iter_mut().skip(begin + 1) {
        row.first = false;
        row.step = NO_STEP;
    }
}

/// The facts of a record, each step of a call once: one may be told of the call and of its run. A record may have very
/// many.
fn without_echoes(facts: &[Fact]) -> Vec<Fact> {
    let of_calls = facts.iter().filter(|fact| fact.call != NONE && !fact.contact);
    let of_calls: FxHashSet<&str> = of_calls.map(|fact| fact.word).collect();
    let mut known: FxHashSet<(u32, &str)> = FxHashSet::default();
    let is_new = |fact: &&Fact| match fact.call {
        _ if fact.contact => true,
        NONE => !of_calls.contains(fact.word),
        call => known.insert((call, fact.word)),
    };
    facts.iter().filter(is_new).copied().collect()
}

fn row(fact: &Fact, witness: Option<Witness>) -> Row {
    // The log of a service need not say whose it is.
    let witness = witness.or(fact.contact.then_some(fact.witness));
    Row { call: fact.call, run: fact.run, step: fact.step, ..Row::new(fact.mark, fact.word, witness) }
}

fn own_witness(case: &Case, origin: Origin) -> Option<Witness> {
    case.sources.get(origin.source.0 as usize)?.witness
}

/// The facts of a record that no event has taken yet.
enum Left {
    /// All of them are of the only event.
    Whole(Vec<Fact>),
    /// By the id of their call; contacts in their order.
    Split { by_id: BTreeMap<Option<RpcId>, Vec<Fact>>, contacts: VecDeque<Fact> },
}

impl Left {
    fn new(case: &Case, facts: Vec<Fact>, single: bool) -> Self {
        if single {
            return Self::Whole(facts);
        }
        let mut by_id: BTreeMap<Option<RpcId>, Vec<Fact>> = BTreeMap::new();
        let mut contacts = VecDeque::new();
        for fact in facts {
            if fact.contact {
                contacts.push_back(fact);
            } else {
                by_id.entry(case.calls.get(fact.call as usize).map(|call| call.id)).or_default().push(fact);
            }
        }
        Self::Split { by_id, contacts }
    }

    /// Takes the facts of one event.
    fn take(&mut self, told: &Told) -> Vec<Fact> {
        match self {
            Self::Whole(facts) => std::mem::take(facts),
            Self::Split { contacts, .. } if matches!(told.kind, ToldKind::Reach(_)) => {
                contacts.pop_front().into_iter().collect()
            }
            Self::Split { by_id, .. } => {
                by_id.remove(&Some(told.id).filter(|id| *id != RpcId::Unknown)).unwrap_or_default()
            }
        }
    }

    fn rest(self) -> Vec<Fact> {
        match self {
            Self::Whole(facts) => facts,
            Self::Split { by_id, contacts } => by_id.into_values().flatten().chain(contacts).collect(),
        }
    }
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
