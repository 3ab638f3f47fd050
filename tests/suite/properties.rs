//! What must hold for every input.

use std::{fs, path::Path};

use mcp_postmortem::{
    analyze::{Analysis, Options, Silent, analyze},
    report::{CallsShown, Report, ReportOptions, Style, renderer},
    source::{PathArgument, ReadOptions},
};
use proptest::prelude::*;
use serde_json::Value;

use super::run::{folders, root};

fn options(block: usize) -> Options {
    Options { read: ReadOptions { block, ..ReadOptions::default() }, calls: CallsShown::All, ..Options::default() }
}

fn analysis(paths: &[&Path], block: usize) -> Analysis {
    let arguments: Vec<PathArgument> = paths.iter().map(|path| PathArgument::new(*path)).collect();
    analyze(&arguments, &options(block), &Silent).unwrap()
}

/// The JSON report without quotes.
fn json(analysis: &Analysis) -> Value {
    let options = ReportOptions { calls: CallsShown::All, ..ReportOptions::default() };
    let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, &options);
    let mut bytes = Vec::new();
    (renderer("json").unwrap().render)(&report, Style { width: 80, color: false }, &mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn samples() -> Vec<std::path::PathBuf> {
    folders(&root().join("samples/formats"))
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.file_stem().is_some_and(|stem| stem == "input"))
        .collect()
}

#[test]
fn block_size_changes_nothing() {
    for case in folders(&root().join("samples/cases")).iter().step_by(5) {
        let input = case.join("input");
        let whole = json(&analysis(&[&input], 8 << 20));
        for block in [1 << 10, 5000, 64 << 10] {
            assert_eq!(json(&analysis(&[&input], block)), whole, "{} with blocks of {block}", case.display());
        }
    }
}

#[test]
fn threads_change_nothing() {
    let input = root().join("samples/cases/http-504-nginx-late-success/input");
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| json(&analysis(&[&input], 2048)))
    };
    let one = of(1);
    assert_eq!(of(2), one);
    assert_eq!(of(8), one);
}

#[test]
fn the_order_of_arguments_changes_nothing() {
    let input = root().join("samples/cases/http-504-nginx-late-success/input");
    let mut files: Vec<_> = fs::read_dir(input).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let forward: Vec<&Path> = files.iter().map(std::path::PathBuf::as_path).collect();
    let backward: Vec<&Path> = forward.iter().rev().copied().collect();
    assert_eq!(json(&analysis(&forward, 1 << 20)), json(&analysis(&backward, 1 << 20)));
}

#[test]
fn a_sample_cut_anywhere_accounts_for_all_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut");
    for sample in samples() {
        let bytes = fs::read(&sample).unwrap();
        for cut in (0..bytes.len()).step_by((bytes.len() / 24).max(1)) {
            fs::write(&path, &bytes[..cut]).unwrap();
            let analysis = analysis(&[&path], 1 << 20);
            let covered: u64 = analysis.sources.iter().map(|source| source.content_bytes).sum();
            let known =
                analysis.sources.iter().any(|source| !source.notices.is_empty()) || !analysis.found.skipped.is_empty();
            assert!(covered == cut as u64 || known, "{} cut at {cut}: {covered}", sample.display());
        }
    }
}

/// Cutting evidence may make a verdict more cautious; where the whole evidence forbids a retry, the rest never allows it.
#[test]
fn cut_evidence_never_turns_unsafe_into_safe() {
    let folder = tempfile::tempdir().unwrap();
    for case in
        ["stdio-sigkill-after-outbound", "http-504-nginx-late-success", "http-500-success-body", "stdio-healthy-py2"]
    {
        let input = root().join("samples/cases").join(case).join("input");
        let whole = json(&analysis(&[&input], 1 << 20));
        for file in fs::read_dir(&input).unwrap().map(|entry| entry.unwrap().path()) {
            let bytes = fs::read(&file).unwrap();
            for part in 0..4 {
                let copy = folder.path().join("copy");
                let _ = fs::remove_dir_all(&copy);
                fs::create_dir(&copy).unwrap();
                for other in fs::read_dir(&input).unwrap().map(|entry| entry.unwrap().path()) {
                    fs::copy(&other, copy.join(other.file_name().unwrap())).unwrap();
                }
                fs::write(copy.join(file.file_name().unwrap()), &bytes[..bytes.len() * part / 4]).unwrap();
                no_safer(&whole, &json(&analysis(&[&copy], 1 << 20)), &format!("{} cut to {part}/4", file.display()));
            }
        }
    }
}

fn no_safer(whole: &Value, cut: &Value, what: &str) {
    for call in cut["calls"].as_array().unwrap().iter().filter(|call| call["retry"]["verdict"] == "safe") {
        let same = |other: &&Value| {
            other["id"] == call["id"] && other["method"] == call["method"] && other["tool"] == call["tool"]
        };
        let harmful =
            whole["calls"].as_array().unwrap().iter().filter(same).any(|other| other["retry"]["verdict"] == "unsafe");
        assert!(!harmful || call["method"] != "tools/call", "{what}: {call:#}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        fs::write(&path, &bytes).unwrap();
        json(&analysis(&[&path], 256));
    }

    #[test]
    fn no_damage_panics(index in 0_usize..1000, at in 0.0_f64..1.0, with in proptest::collection::vec(any::<u8>(), 0..12), drop in 0_usize..40) {
        let samples = samples();
        let mut bytes = fs::read(&samples[index % samples.len()]).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in the sample")]
        let place = (bytes.len() as f64 * at) as usize;
        bytes.splice(place..(place + drop).min(bytes.len()), with);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged");
        fs::write(&path, &bytes).unwrap();
        let small = json(&analysis(&[&path], 512));
        prop_assert_eq!(small, json(&analysis(&[&path], 1 << 20)));
    }
}
