//! Simulated worlds: no claim of the analysis is false in any of them.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::worlds;

/// The worlds of a run of the tests.
const WORLDS: u64 = 20_000;
/// Of so many worlds, one may have a record without a key that is given to the wrong call: where the request of its own
/// call is not in the capture, and a clock is off by just as much as makes it fit another; or where a client used one
/// trace context for two requests.
const PER_WRONG_LINK: u64 = 250;

#[test]
fn no_claim_is_false() {
    let checked: Vec<(u64, worlds::Checked)> =
        (1..=WORLDS).into_par_iter().map(|seed| (seed, worlds::check(seed))).collect();
    let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (seed, checked) in &checked {
        for violation in &checked.violations {
            kinds.entry(violation.kind).or_default().push(format!("seed {seed}: {}", violation.detail));
        }
    }
    let links = kinds.remove("link").unwrap_or_default();
    assert!(links.len() as u64 <= WORLDS / PER_WRONG_LINK, "{links:#?}");
    assert!(kinds.is_empty(), "{kinds:#?}");
    enough_is_decided(&checked);
    everything_occurs(&checked);
}

/// A simulation in which nothing happens proves nothing.
fn everything_occurs(checked: &[(u64, worlds::Checked)]) {
    for verdict in ["safe", "safe-if", "unknown", "unsafe"] {
        let count: u64 = checked.iter().filter_map(|(_, checked)| checked.verdicts.get(verdict)).sum();
        assert!(count > WORLDS / 10, "{verdict}: {count}");
    }
    for damage in ["source-missing", "line-lost", "head-missing", "tail-torn", "rotated"] {
        let count = checked.iter().filter(|(_, checked)| checked.damages.contains(&damage)).count() as u64;
        assert!(count > WORLDS / 20, "{damage}: {count}");
    }
}

/// Percent of what the records that are left decide. Answers and contacts are missed where two logs without a common key
/// were damaged so that nothing joins them. Parts of rotated logs are read as logs of their own: worlds that have some
/// are not counted here.
const DECIDED: [(&str, u32); 7] = [
    ("sent", 99),
    ("reached", 99),
    ("acked", 96),
    ("outcome", 98),
    ("reach yes", 95),
    ("retry safe", 99),
    ("retry unsafe", 99),
];

fn enough_is_decided(checked: &[(u64, worlds::Checked)]) {
    for (name, percent) in DECIDED {
        let whole = checked.iter().filter(|(_, checked)| !checked.damages.contains(&"rotated"));
        let rows = whole.flat_map(|(_, checked)| &checked.decidable).filter(|row| row.name == name);
        let (decided, decidable) = rows.clone().fold((0, 0), |sum, row| (sum.0 + u32::from(row.decided), sum.1 + 1));
        let missed: Vec<&str> = rows.filter(|row| !row.decided).map(|row| &*row.detail).take(20).collect();
        assert!(decidable > 0 && decided * 100 >= decidable * percent, "{name}: {decided} of {decidable}: {missed:#?}");
    }
}
