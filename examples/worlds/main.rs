//! Long runs of simulated worlds: `cargo run --release --example worlds -- --count N --seed S`.
//!
//! Prints each kind of false claim with its first seeds, and how much of what the records decide was decided, by damage.
//! `--show SEED --into FOLDER` writes the evidence of one world, `--shrink SEED --into FOLDER` the least of it that
//! still makes a false claim.

#![expect(clippy::print_stdout, reason = "it is a program for a terminal")]

mod shrink;
#[path = "../../tests/worlds/mod.rs"]
mod worlds;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use rayon::prelude::*;

/// Runs simulated worlds and compares every claim of the analysis with the truth.
#[derive(Parser)]
struct Arguments {
    /// How many worlds.
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Tells the story of one world.
    #[arg(long)]
    show: Option<u64>,
    /// Looks for the least evidence of one world that makes the same false claim.
    #[arg(long)]
    shrink: Option<u64>,
    /// Tells where this was not decided: `sent`, `reached`, `acked`, `outcome`, `reach yes`, `retry safe`, `retry unsafe`.
    #[arg(long)]
    undecided: Option<String>,
    /// Where the evidence of the shown world goes.
    #[arg(long)]
    into: Option<PathBuf>,
    /// Writes the evidence as the witnesses wrote it, before anything was lost.
    #[arg(long)]
    whole: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(seed) = arguments.show {
        show(seed, arguments.into.as_deref(), arguments.whole);
        return ExitCode::SUCCESS;
    }
    if let Some(seed) = arguments.shrink {
        return shrink(seed, arguments.into.as_deref());
    }
    let seeds = arguments.seed..arguments.seed + arguments.count;
    let checked: Vec<(u64, worlds::Checked)> = seeds.into_par_iter().map(|seed| (seed, worlds::check(seed))).collect();
    println!("{} worlds from seed {}", arguments.count, arguments.seed);
    tell_verdicts(&checked);
    tell_decided(&checked);
    if let Some(name) = arguments.undecided {
        tell_undecided(&checked, &name);
    }
    if tell_violations(&checked) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell_verdicts(checked: &[(u64, worlds::Checked)]) {
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    for (verdict, count) in checked.iter().flat_map(|(_, checked)| &checked.verdicts) {
        *verdicts.entry(verdict).or_default() += count;
    }
    println!("retry verdicts: {verdicts:?}");
}

/// How much of what the evidence shows was decided, by kind of damage.
fn tell_decided(checked: &[(u64, worlds::Checked)]) {
    let mut table: BTreeMap<(&str, &str), (u32, u32)> = BTreeMap::new();
    for (_, checked) in checked {
        let whole = if checked.damages.is_empty() { "undamaged" } else { "all damaged" };
        for damage in checked.damages.iter().copied().chain([whole]) {
            for row in &checked.decidable {
                let (decided, decidable) = table.entry((damage, row.name)).or_default();
                *decided += u32::from(row.decided);
                *decidable += 1;
            }
        }
    }
    for ((damage, name), (decided, decidable)) in table {
        let percent = f64::from(decided) * 100.0 / f64::from(decidable);
        println!("{damage:15} {name:12} {percent:6.2} % ({decided} of {decidable})");
    }
}

fn tell_undecided(checked: &[(u64, worlds::Checked)], name: &str) {
    let rows = checked.iter().flat_map(|(seed, checked)| checked.decidable.iter().map(move |row| (seed, checked, row)));
    for (seed, checked, row) in rows.filter(|(_, _, row)| row.name == name && !row.decided).take(SHOWN) {
        println!("  {name} at seed {seed}, {:?}: {}", checked.damages, row.detail);
    }
}

/// Whether there are none.
fn tell_violations(checked: &[(u64, worlds::Checked)]) -> bool {
    let mut kinds: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for (seed, checked) in checked {
        for violation in &checked.violations {
            kinds.entry(violation.kind).or_default().push((*seed, &violation.detail));
        }
    }
    for (kind, found) in &kinds {
        println!("{kind}: {} false claims", found.len());
        for (seed, detail) in found.iter().take(SHOWN) {
            println!("  seed {seed}: {detail}");
        }
    }
    kinds.is_empty()
}

/// So many false claims of one kind are told.
const SHOWN: usize = 40;

fn show(seed: u64, into: Option<&Path>, whole: bool) {
    let scene = worlds::scene(seed);
    println!("{:#?}\ndamage: {:?}", scene.world, scene.damages);
    for fact in &scene.world.facts {
        println!("{:>14} {:?}", (fact.at - scene.world.facts[0].at) / 1_000, fact.what);
    }
    for violation in worlds::check(seed).violations {
        println!("{}: {}", violation.kind, violation.detail);
    }
    if let Some(folder) = into {
        let found = if whole { worlds::evidence(seed, |_| {}) } else { scene.found };
        worlds::write(&found, folder);
    }
}

fn shrink(seed: u64, into: Option<&Path>) -> ExitCode {
    let Some((found, claim)) = shrink::shrink(seed) else {
        println!("no claim about this world is false");
        return ExitCode::SUCCESS;
    };
    println!("{}: {}", claim.kind, claim.detail);
    for file in &found {
        println!("--- {}\n{}", file.name, String::from_utf8_lossy(&file.bytes));
    }
    if let Some(folder) = into {
        worlds::write(&found, folder);
    }
    ExitCode::FAILURE
}
