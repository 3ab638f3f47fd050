//! What must not matter does not: where and in which order the files stand, what o'clock it is, which ids a client counts.

use std::{fs, path::PathBuf};

use mcp_postmortem::analyze::Analysis;
use rayon::prelude::*;

use crate::worlds::{
    self,
    damage::Found,
    truth::{Nanos, What, World},
};

/// The worlds of a test.
const WORLDS: u64 = 400;

/// What is said of each call, in the order of the calls' names.
fn verdicts(analysis: &Analysis) -> Vec<String> {
    let case = &analysis.case;
    let mut verdicts: Vec<String> = analysis
        .verdicts
        .calls
        .iter()
        .map(|(index, verdict)| {
            let call = &case.calls[*index as usize];
            let target = call.target.map_or("", |target| case.name(target));
            let (method, names) = (case.name(call.method), verdict.names());
            format!("{method} {target} {names:?} {} {:?} {:?}", verdict.retry.rule, verdict.milestones, verdict.effects)
        })
        .collect();
    verdicts.sort_unstable();
    verdicts
}

fn each_world(test: impl Fn(u64) + Sync + Send) {
    (1..=WORLDS).into_par_iter().for_each(test);
}

fn unchanged(seed: u64) -> Vec<String> {
    verdicts(&worlds::analysis(&worlds::evidence(seed, |_| {})))
}

fn changed(seed: u64, change: impl Fn(&mut World)) -> Vec<String> {
    verdicts(&worlds::analysis(&worlds::evidence(seed, change)))
}

#[test]
fn the_time_of_the_incident() {
    const LATER: Nanos = 27 * 3_600 * 1_000_000_000;
    let later = |world: &mut World| {
        for life in &mut world.lives {
            life.from += LATER;
            life.dies = life.dies.map(|dies| dies + LATER);
        }
        for fact in &mut world.facts {
            fact.at += LATER;
            if let What::GatewayAnswered { since, .. } | What::Returned { since, .. } = &mut fact.what {
                *since += LATER;
            }
        }
    };
    each_world(|seed| assert_eq!(changed(seed, later), unchanged(seed), "seed {seed}"));
}

#[test]
fn the_ids_of_requests() {
    let renumber = |world: &mut World| {
        world.attempts.iter_mut().for_each(|attempt| attempt.id += 700);
        world.dispatches.iter_mut().for_each(|dispatch| dispatch.id += 700);
    };
    each_world(|seed| assert_eq!(changed(seed, renumber), unchanged(seed), "seed {seed}"));
}

#[test]
fn the_names_of_sessions() {
    let rename = |world: &mut World| {
        for life in &mut world.lives {
            life.session = life.session.chars().rev().collect();
        }
    };
    each_world(|seed| assert_eq!(changed(seed, rename), unchanged(seed), "seed {seed}"));
}

#[test]
fn the_order_of_arguments() {
    each_world(|seed| {
        let scene = worlds::scene(seed);
        let folder = tempfile::tempdir().unwrap();
        worlds::write(&scene.found, folder.path());
        let mut paths: Vec<PathBuf> = scene.found.iter().map(|file| folder.path().join(&file.name)).collect();
        let forth = verdicts(&worlds::analysis_of(&paths));
        paths.reverse();
        assert_eq!(verdicts(&worlds::analysis_of(&paths)), forth, "seed {seed}");
    });
}

#[test]
fn an_archive_around_the_files() {
    each_world(|seed| {
        let scene = worlds::scene(seed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("incident.tar");
        archive(&path, &scene.found);
        assert_eq!(verdicts(&worlds::analysis_of(&[path])), verdicts(&worlds::analysis(&scene.found)), "seed {seed}");
    });
}

fn archive(path: &std::path::Path, found: &[Found]) {
    let mut archive = tar::Builder::new(fs::File::create(path).unwrap());
    let mut found: Vec<&Found> = found.iter().collect();
    found.sort_by_key(|file| &file.name);
    for file in found {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, &file.name, &file.bytes[..]).unwrap();
    }
    archive.finish().unwrap();
}
