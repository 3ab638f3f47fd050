//! The process of the server could not be created.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, events, first_event, number_of, shook_hands,
    startup_crash::{self, Crash},
    tally::Tally,
};
use crate::{
    correlate::StrandFact,
    event::{PhaseEvent, RemarkKind, SpawnFailure},
    judge::{RunFacts, call::answer_is_servers},
    launcher,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "spawn-failed",
    title: "The server could not be launched",
    severity: Severity::High,
    doc: Doc {
        means: "The launcher gave the server no life: the process could not be created, the package runner in front of it gave up, or what it was started with was wrong (working directory, environment, installation), so that it ended before it could shake hands.",
        recognized: "The operating system's refusal in the launcher's log (ENOENT, EACCES), or the failure line of npx, npm, uv, uvx, pip, docker or a shell while the server never answered; or a crash before the handshake whose root is a missing file, module or environment variable.",
        is_not: "A crash of the server's own code for any other reason: that is `startup-crash` or `exited-early`.",
        to_do: "Give the full path of the executable, and check the PATH, the working directory and the environment that the launcher passes on: start the server by hand with the same ones. With a package runner, install the package before.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, verdict) in scene.runs() {
        let run = number_of(facts);
        if let Some((failure, mark)) = facts.spawn_failed {
            if !ever_answered(facts) {
                let tally = Tally::new("shows that the process could not be created", mark);
                let finding = tally.finding(&RULE, Confidence::High, refused(facts, failure), run);
                out.push(finding.with_advice(advice(failure)));
            }
            continue;
        }
        let failed = |what| what == StrandFact::Remark(RemarkKind::RunnerFailed);
        if let Some(event) =
            first_event(facts, failed).filter(|_| !shook_hands(facts, verdict) && !ever_answered(facts))
        {
            let tally = Tally::new("shows that the package runner or shell failed", event.mark);
            let claim = match event.name {
                Some(name) => format!(
                    "The package runner or shell in front of the server failed over \"{}\"; no code of the server ran.",
                    scene.case.name(name)
                ),
                None => {
                    "The package runner or shell in front of the server failed; no code of the server ran.".to_owned()
                }
            };
            out.push(tally.finding(&RULE, Confidence::Medium, claim, run).with_advice(RUNNER));
        } else if let Some(crash) = startup_crash::crash(facts, verdict).filter(Crash::is_the_launchers) {
            out.push(crash.finding(scene, facts, &RULE));
        }
    }
}

const RUNNER: &str = "Run the launcher's command by hand with the launcher's environment: the runner's own lines say what it lacks. Install the package before the server is started.";

/// What a refusal of the operating system asks for.
fn advice(failure: SpawnFailure) -> &'static str {
    match failure {
        SpawnFailure::NotFound => {
            "Give the full path of the executable, and check the PATH and the working directory that the launcher passes on: a relative path, or a working directory that does not exist, is refused like this, too."
        }
        SpawnFailure::NotPermitted => {
            "Make the file executable for the user that the launcher runs as, and check its first line."
        }
        SpawnFailure::Other => RULE.doc.to_do,
    }
}

/// Whether the server answered anything in this run: then a failure to start it was not the last word.
fn ever_answered(facts: &RunFacts<'_>) -> bool {
    facts.run.calls.iter().any(|call| answer_is_servers(&facts.case.calls[*call as usize]))
}

fn refused(facts: &RunFacts<'_>, failure: SpawnFailure) -> String {
    let command = command(facts);
    let executable = command.map_or_else(|| "the executable".to_owned(), |name| format!("the executable \"{name}\""));
    match failure {
        SpawnFailure::NotFound if command.is_some_and(launcher::is_package_runner) => {
            format!("The server could not be started: the package runner \"{}\" was not found.", command.unwrap_or(""))
        }
        SpawnFailure::NotFound => format!("The server could not be started: {executable} was not found."),
        SpawnFailure::NotPermitted => format!("The server could not be started: {executable} may not be executed."),
        SpawnFailure::Other => format!("The server could not be started: {executable} was refused."),
    }
}

/// The command that the launcher says it wanted to start.
fn command<'c>(facts: &RunFacts<'c>) -> Option<&'c str> {
    let launch = [StrandFact::Step(PhaseEvent::SpawnRequested), StrandFact::Remark(RemarkKind::InstanceStart)];
    let named = events(facts)
        .filter(|event| launch.contains(&event.what) || matches!(event.what, StrandFact::SpawnFailed(_)))
        .find_map(|event| event.name)?;
    Some(facts.case.name(named)).filter(|name| !name.is_empty())
}
