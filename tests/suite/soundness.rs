//! Whatever is missing of a capture, nothing in it becomes safe that its labels do not call safe.
//!
//! Every labeled case is damaged: sources left out, files cut at record edges and inside of records, lines missing in
//! the middle. Each damaged capture runs through the whole analysis. A retry that is then called safe must be one whose
//! label is safe, and whose operation has no other attempt that did the work, or may have, on the whole record: cutting
//! that attempt away must not hide it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use mcp_postmortem::{
    analyze::{Analysis, Options, Silent, analyze},
    correlate::{Call, Case, RpcId},
    judge::{Caution, Outcome},
    report::CallsShown,
    source::PathArgument,
};
use rayon::prelude::*;
use serde_json::Value;

use super::run::{folders, root};

/// Requests without a label may be called safe only where the specification says that they change nothing.
const UNLABELED: &[&str] = &["ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// One file of a capture as the damaged copy has it: a path, or other bytes under the same name.
#[derive(Clone)]
enum Part {
    Whole(PathBuf),
    Damaged(PathBuf, Vec<u8>),
}

struct Damage {
    what: String,
    parts: Vec<Part>,
}

fn analysis(parts: &[Part]) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathArgument> = parts
        .iter()
        .map(|part| match part {
            Part::Whole(path) => PathArgument::new(path),
            Part::Damaged(path, bytes) => {
                let copy = folder.path().join(path.file_name().unwrap());
                fs::write(&copy, bytes).unwrap();
                PathArgument::new(copy)
            }
        })
        .collect();
    let options = Options { calls: CallsShown::All, ..Options::default() };
    analyze(&paths, &options, &Silent).unwrap()
}

/// At most `most` of the items, spread evenly.
fn spread<T: Copy>(items: &[T], most: usize) -> Vec<T> {
    let count = items.len().min(most);
    (0..count).map(|at| items[(2 * at + 1) * items.len() / (2 * count)]).collect()
}

/// The offsets behind each line.
fn line_edges(bytes: &[u8]) -> Vec<usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

/// The ways in which a capture is damaged; each file is cut at about `cuts` places.
fn damages(files: &[PathBuf], cuts: usize) -> Vec<Damage> {
    let mut damages = subsets(files);
    for (index, path) in files.iter().enumerate() {
        let bytes = fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let others: Vec<Part> = files
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != index)
            .map(|(_, path)| Part::Whole(path.clone()))
            .collect();
        // Beside the others a damaged file costs the time of all of them: the quick run does that for some.
        let mut add = |what: String, damaged: Vec<u8>, beside: bool| {
            let part = Part::Damaged(path.clone(), damaged);
            if !others.is_empty() {
                damages.push(Damage { what: format!("only {name}, {what}"), parts: vec![part.clone()] });
            }
            if beside || cuts > QUICK || others.is_empty() {
                let parts = others.iter().cloned().chain([part]).collect();
                damages.push(Damage { what: format!("{name} {what}"), parts });
            }
        };
        let edges = line_edges(&bytes);
        for cut in spread(&edges, cuts) {
            add(format!("cut at {cut}"), bytes[..cut].to_vec(), true);
        }
        for edge in spread(&edges, cuts.div_ceil(2)) {
            let cut = edge + (bytes.len() - edge).min(40) / 2;
            add(format!("cut at {cut}"), bytes[..cut].to_vec(), false);
        }
        let starts: Vec<usize> = std::iter::once(0).chain(edges).collect();
        let lines: Vec<(usize, usize)> = starts.windows(2).map(|pair| (pair[0], pair[1])).collect();
        for (from, to) in spread(&lines, cuts.div_ceil(2)) {
            add(format!("without {from} to {to}"), [&bytes[..from], &bytes[to..]].concat(), true);
        }
        for (from, _) in spread(&lines, cuts.div_ceil(4)) {
            let to = lines[(lines.iter().position(|line| line.0 == from).unwrap() + 3).min(lines.len() - 1)].0;
            add(format!("without {from} to {to}"), [&bytes[..from], &bytes[to.max(from)..]].concat(), false);
        }
    }
    damages
}

/// How many places a file is cut at in the quick run.
const QUICK: usize = 2;
/// Up to so many sources, every subset is tried; of more, those that hold at most two or lack one.
const ALL_SUBSETS: usize = 4;

fn subsets(files: &[PathBuf]) -> Vec<Damage> {
    let all = (1_u32 << files.len()) - 1;
    (1..all)
        .filter(|set| {
            let (held, lacks) = (set.count_ones(), (all & !set).count_ones());
            files.len() <= ALL_SUBSETS || held <= 2 || lacks <= 1
        })
        .map(|set| {
            let held: Vec<&PathBuf> =
                files.iter().enumerate().filter(|(index, _)| set & (1 << index) != 0).map(|(_, path)| path).collect();
            let names: Vec<&str> = held.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
            Damage {
                what: format!("only {}", names.join(", ")),
                parts: held.into_iter().cloned().map(Part::Whole).collect(),
            }
        })
        .collect()
}

/// What the labels of a case allow.
struct Truth {
    labels: Vec<Label>,
    /// Every run of the whole capture may be restarted.
    restart: bool,
}

struct Label {
    method: String,
    tool: Option<String>,
    id: Option<String>,
    second: String,
    safe: bool,
    may_have_acted: bool,
}

fn plain(id: &Value) -> Option<String> {
    match id {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn label(value: &Value) -> Label {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let alternatives = &value["alternatives"]["retry_safe"];
    let listed = |word: &str| {
        value["retry_safe"] == word || alternatives.as_array().is_some_and(|list| list.iter().any(|item| item == word))
    };
    Label {
        method: text("method").unwrap(),
        tool: text("tool"),
        id: plain(&value["jsonrpc_id"]),
        second: text("sent_at").unwrap_or_default().chars().take(19).collect(),
        safe: listed("safe"),
        may_have_acted: !listed("safe"),
    }
}

fn id_of(case: &Case, call: &Call) -> Option<String> {
    match call.id {
        RpcId::Unknown | RpcId::Null => None,
        RpcId::Int(id) => Some(id.to_string()),
        RpcId::Text(text) | RpcId::Raw(text) => Some(case.name(text).to_owned()),
    }
}

fn second_of(case: &Case, call: &Call) -> Option<String> {
    Some(case.placed(call.asked?)?.rfc3339(0).chars().take(19).collect())
}

/// The labels that may mean this call: those of the same second, where there are such.
fn fitting<'l>(labels: &'l [Label], case: &Case, call: &Call) -> Vec<&'l Label> {
    let method = case.name(call.method);
    let tool = call.target.map(|target| case.name(target)).filter(|_| method == "tools/call");
    let id = id_of(case, call);
    let fits = labels.iter().filter(|label| {
        label.method == method
            && (tool.is_none() || label.tool.is_none() || label.tool.as_deref() == tool)
            && (id.is_none() || label.id.is_none() || label.id == id)
    });
    let fits: Vec<&Label> = fits.collect();
    let second = second_of(case, call);
    let same: Vec<&Label> = fits.iter().copied().filter(|label| Some(&label.second) == second.as_ref()).collect();
    if same.is_empty() { fits } else { same }
}

/// Labels of one operation, as the whole capture shows it, share their fate: what one attempt did, the others must not
/// repeat.
fn truth(labels: &Value, whole: &Analysis) -> Truth {
    let mut labels: Vec<Label> = labels["calls"].as_array().unwrap().iter().map(label).collect();
    for operation in &whole.case.operations {
        let attempts = operation.attempts.iter().map(|index| &whole.case.calls[*index as usize]);
        let ids: BTreeSet<(Option<String>, Option<String>)> =
            attempts.map(|call| (id_of(&whole.case, call), second_of(&whole.case, call))).collect();
        let first = &whole.case.calls[operation.attempts[0] as usize];
        let method = whole.case.name(first.method);
        let tool = first.target.map(|target| whole.case.name(target)).filter(|_| method == "tools/call");
        let belongs = |label: &Label| {
            label.method == method
                && label.tool.as_deref() == tool
                && ids.contains(&(label.id.clone(), Some(label.second.clone())))
        };
        let acted = labels.iter().any(|label| belongs(label) && label.may_have_acted)
            || operation.attempts.iter().any(|index| whole.verdicts.calls[index].outcome == Outcome::ToolSuccess);
        if acted && method == "tools/call" {
            labels.iter_mut().filter(|label| belongs(label)).for_each(|label| label.safe = false);
        }
    }
    let restart = whole.verdicts.runs.iter().all(|run| run.restart.verdict == Caution::Safe);
    Truth { labels, restart }
}

/// What is called safe in a damaged capture although it is not.
fn violations(truth: &Truth, damaged: &Analysis) -> Vec<String> {
    let case = &damaged.case;
    let mut found = Vec::new();
    for (index, verdict) in &damaged.verdicts.calls {
        if verdict.retry.verdict != Caution::Safe {
            continue;
        }
        let call = &case.calls[*index as usize];
        let fits = fitting(&truth.labels, case, call);
        let method = case.name(call.method);
        let allowed = if fits.is_empty() { UNLABELED.contains(&method) } else { fits.iter().all(|label| label.safe) };
        if !allowed {
            let id = id_of(case, call).unwrap_or_else(|| "?".to_owned());
            let labeled = if fits.is_empty() { ", without label" } else { "" };
            found.push(format!("{method} id {id} is safe by {}{labeled}", verdict.retry.rule));
        }
    }
    let restarts = damaged.verdicts.runs.iter().filter(|run| run.restart.verdict == Caution::Safe && !truth.restart);
    found.extend(restarts.map(|run| format!("restart of a run is safe by {}", run.restart.rule)));
    found
}

fn input(case: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(case.join("input")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| fs::metadata(path).unwrap().len() > 0);
    files.sort();
    files
}

#[test]
fn no_damage_makes_anything_safe() {
    check_all(QUICK);
}

/// The same with many more places; minutes.
#[test]
#[ignore = "takes minutes; for changes to the rules that can say safe"]
fn no_damage_anywhere_makes_anything_safe() {
    check_all(24);
}

fn check_all(cuts: usize) {
    let mut wrong: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut tried = 0;
    for case in folders(&root().join("samples/cases")) {
        let Ok(labels) = fs::read_to_string(case.join("expected/labels.json")) else { continue };
        let files = input(&case);
        let whole: Vec<Part> = files.iter().cloned().map(Part::Whole).collect();
        let truth = truth(&serde_json::from_str(&labels).unwrap(), &analysis(&whole));
        let damages = damages(&files, cuts);
        tried += damages.len();
        let name = case.file_name().unwrap().to_str().unwrap();
        let found: Vec<(String, String)> = damages
            .par_iter()
            .flat_map_iter(|damage| {
                let found = violations(&truth, &analysis(&damage.parts));
                found.into_iter().map(|what| (format!("{name}: {what}"), damage.what.clone()))
            })
            .collect();
        for (what, damage) in found {
            wrong.entry(what).or_insert((0, damage)).0 += 1;
        }
    }
    assert!(tried >= 1000, "{tried}");
    let wrong: Vec<String> =
        wrong.into_iter().map(|(what, (count, first))| format!("{what} ({count} times, first with {first})")).collect();
    assert!(wrong.is_empty(), "{} damaged captures\n{}", tried, wrong.join("\n"));
}
