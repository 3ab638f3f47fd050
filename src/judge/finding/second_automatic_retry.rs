//! A retry failed, and was retried again.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, seconds_between, tally::Groups};
use crate::{
    correlate::{AnswerKind, Call, Case, Seen},
    event::Wording,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "second-automatic-retry",
    title: "A retry was retried",
    severity: Severity::Medium,
    doc: Doc {
        means: "An attempt failed, its retry failed too, and the same request was sent once more. Two layers that retry by themselves multiply, and a failing remote system gets more load instead of less.",
        recognized: "Three or more attempts of one operation in a row, no more than a minute apart, of which all but the last one failed; or one request that was sent as a POST three times or more by itself.",
        is_not: "Re-sends after an authorization challenge or a refused header or version, and attempts with a longer pause, which a person or a schedule may have made.",
        to_do: "Let only one layer retry: at most two more tries, with growing pauses, and only for calls that may be repeated.",
    },
    check,
};

/// Attempts further apart than this are not one automatic chain, in seconds.
const PAUSE: i64 = 60;

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut most: std::collections::BTreeMap<u32, (u64, Confidence)> = std::collections::BTreeMap::new();
    for operation in &scene.case.operations {
        let Some((chain, timed)) = longest_chain(scene.case, &operation.attempts) else { continue };
        let Some(last) = chain.last().copied() else { continue };
        let call = &scene.case.calls[last as usize];
        let tally = groups.add_call(call.run, last, "shows the last attempt", scene.case.place(call));
        for attempt in chain[..chain.len() - 1].iter().take(3) {
            tally.also("shows a failed attempt", scene.case.place(&scene.case.calls[*attempt as usize]));
        }
        let confidence = if timed { Confidence::Medium } else { Confidence::Low };
        note(&mut most, call.run, chain.len() as u64, confidence);
    }
    for (index, call) in scene.calls() {
        let posts = resent(scene.case, call);
        if posts >= 3 {
            groups.add_call(call.run, index, "shows the request that was sent again by itself", scene.case.place(call));
            note(&mut most, call.run, posts, Confidence::High);
        }
    }
    for (run, tally) in groups {
        let (attempts, confidence) = most.get(&run).copied().unwrap_or((3, Confidence::Low));
        let claim = match tally.count() {
            1 => format!(
                "A request to {} was sent {attempts} times in a row, each time after a failure.",
                scene.first_of(&tally)
            ),
            number => format!(
                "{} were sent up to {attempts} times in a row, each time after a failure.",
                count(number, "request", "requests")
            ),
        };
        out.push(tally.finding(&RULE, confidence, claim, run));
    }
}

fn note(
    most: &mut std::collections::BTreeMap<u32, (u64, Confidence)>,
    run: u32,
    attempts: u64,
    confidence: Confidence,
) {
    let known = most.entry(run).or_insert((attempts, confidence));
    *known = (known.0.max(attempts), known.1.max(confidence));
}

/// The longest row of attempts of which all but the last one failed, and whether times show that they stand close.
fn longest_chain<'v>(case: &Case, attempts: &'v [u32]) -> Option<(&'v [u32], bool)> {
    let (mut from, mut timed) = (0, true);
    let mut best: Option<(&[u32], bool)> = None;
    for at in 1..attempts.len() {
        let (before, this) = (&case.calls[attempts[at - 1] as usize], &case.calls[attempts[at] as usize]);
        let pause = seconds_between(case, case.place(before), case.place(this));
        if !failed(case, before) || pause.is_some_and(|pause| !(0..=PAUSE).contains(&pause)) {
            (from, timed) = (at, true);
            continue;
        }
        timed &= pause.is_some();
        if at - from >= 2 && best.is_none_or(|(known, _)| known.len() <= at - from) {
            best = Some((&attempts[from..=at], timed));
        }
    }
    best
}

fn failed(case: &Case, call: &Call) -> bool {
    let answer = &call.answer;
    let corrected = matches!(answer.wording, Wording::Header | Wording::Version)
        || answer.has_code && matches!(answer.code, -32020 | -32022);
    let challenged = case.http(call).is_some_and(|http| matches!(http.status, 401 | 403));
    !challenged
        && !corrected
        && !matches!(
            call.answer.kind,
            AnswerKind::Result | AnswerKind::Task | AnswerKind::InputRequired | AnswerKind::NotCaptured
        )
}

/// How often one request was sent as a POST by itself; re-sends after a challenge are not counted.
fn resent(case: &Case, call: &Call) -> u64 {
    let again = case.sightings(call).filter(|row| row.seen == Seen::Resent && !matches!(row.number, 401 | 403));
    1 + again.count() as u64
}
