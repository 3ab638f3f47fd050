//! A request that an earlier run had sent was sent again by a later one: a job that was run again.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, stands_before, tally::Groups};
use crate::correlate::{Call, Case, Run};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "sent-again-elsewhere",
    title: "A later run sent again what an earlier one had sent",
    severity: Severity::Medium,
    doc: Doc {
        means: "A request that may have had its effect in one run was sent again in another one: a job was run again, a client started its server anew and began from the front. No layer inside of a run can notice that.",
        recognized: "Two attempts of one operation that follow each other, in two runs, where the records do not exclude that the earlier one had its effect. High confidence where the recorded run ids differ in a number at their end only, which the later run has greater: attempts of one job. Medium where both are runs of one server's name.",
        is_not: "A repetition inside of one run, or of a request that was provably turned away. What one run does twice is told by duplicate-effect and second-automatic-retry.",
        to_do: "Make the job ask first what the earlier run did, or give its requests an idempotency key that stays the same in all of its attempts.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut told: std::collections::BTreeMap<u32, (Confidence, u32)> = std::collections::BTreeMap::new();
    for operation in &scene.verdicts.operations {
        let pairs = operation.attempts.windows(2).zip(&operation.retries);
        for (pair, _) in pairs.filter(|(_, retry)| retry.ex_post != "harmless") {
            let (before, after) = (&scene.case.calls[pair[0] as usize], &scene.case.calls[pair[1] as usize]);
            let Some(confidence) = confidence(scene.case, before, after) else { continue };
            let tally = groups.add_call(after.run, pair[1], "shows the later attempt", scene.case.place(after));
            tally.also("shows the earlier attempt, in another run", scene.case.place(before));
            let known = told.entry(after.run).or_insert((confidence, before.run));
            known.0 = known.0.max(confidence);
        }
    }
    for (run, tally) in groups {
        let Some((confidence, earlier)) = told.get(&run).copied() else { continue };
        let name = |run: u32| scene.case.runs.get(run as usize).map_or("another run", |run| run.name.as_str());
        let what = match tally.count() {
            1 => format!("A request to {} was", scene.first_of(&tally)),
            number => format!("{} were", count(number, "request", "requests")),
        };
        let claim = format!("{what} sent again by run {} after run {} had sent it.", name(run), name(earlier));
        out.push(tally.finding(&RULE, confidence, claim, run));
    }
}

fn confidence(case: &Case, before: &Call, after: &Call) -> Option<Confidence> {
    let (earlier, later) = (case.runs.get(before.run as usize)?, case.runs.get(after.run as usize)?);
    if before.run == after.run {
        return None;
    }
    if earlier.recorded && later.recorded && is_next_attempt(&earlier.name, &later.name) {
        return Some(Confidence::High);
    }
    let server = |run: &Run| run.strands.iter().find_map(|strand| case.strands[*strand as usize].server);
    let named = server(earlier).is_some() && server(earlier) == server(later);
    let (first, second) = (case.place(before), case.place(after));
    let ordered = stands_before(first, second)
        .or_else(|| Some(case.on_common_clock(first)? < case.on_common_clock(second)?))
        .unwrap_or(false);
    (named && ordered).then_some(Confidence::Medium)
}

/// Whether two run ids are those of attempts of one job: they differ in a number at their end.
fn is_next_attempt(earlier: &str, later: &str) -> bool {
    let split = |name: &str| {
        let stem = name.trim_end_matches(|digit: char| digit.is_ascii_digit()).len();
        let digits = name[stem..].len();
        let number = name[stem..].parse::<u32>().ok().filter(|_| (1..=3).contains(&digits))?;
        Some((name[..stem].to_owned(), number))
    };
    // `ID#2` is a further life of one run id.
    let (Some(earlier), Some(later)) = (split(earlier), split(later)) else { return false };
    earlier.0 == later.0 && earlier.0.ends_with(['-', '_', '.', '/', '=']) && earlier.1 < later.1
}

#[cfg(test)]
mod tests {
    use super::is_next_attempt;

    #[test]
    fn attempts_of_a_job_are_numbered() {
        assert!(
            is_next_attempt("deploy-4711-1", "deploy-4711-2") && is_next_attempt("run_attempt=9", "run_attempt=10")
        );
        assert!(!is_next_attempt("deploy-2", "deploy-1") && !is_next_attempt("deploy-1", "release-2"));
        assert!(!is_next_attempt("r1", "r2") && !is_next_attempt("job-1796008091", "job-1796008092"));
        assert!(!is_next_attempt("r#1", "r#2"));
    }
}
