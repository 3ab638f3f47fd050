//! Simulated worlds: no claim of the analysis is false in any of them.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::worlds;

/// The worlds of a run of the tests.
const WORLDS: u64 = 20_000;
/// Of so many worlds, one may have a record without a key that is given to the wrong call: where the request of its own
/// call is not in the capture, and a clock is off by just as much as makes it fit another.
const PER_WRONG_LINK: u64 = 400;

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
    for damage in ["source-missing", "line-lost", "head-missing", "tail-torn"] {
        let count = checked.iter().filter(|(_, checked)| checked.damages.contains(&damage)).count() as u64;
        assert!(count > WORLDS / 20, "{damage}: {count}");
    }
}

/// What the records that are left decide is decided, nearly always.
fn enough_is_decided(checked: &[(u64, worlds::Checked)]) {
    let mut table: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for row in checked.iter().flat_map(|(_, checked)| &checked.decidable) {
        let (decided, decidable) = table.entry(row.name).or_default();
        (*decided, *decidable) = (*decided + u32::from(row.decided), *decidable + 1);
    }
    for (name, (decided, decidable)) in table {
        assert!(u64::from(decided) * 100 >= u64::from(decidable) * 99, "{name}: {decided} of {decidable}");
    }
}
