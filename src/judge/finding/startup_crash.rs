//! The server's own code ran and crashed before the handshake was done.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, number_of, shook_hands, stands_before, tally::Tally,
};
use crate::{
    correlate::Mark,
    event::TroubleKind,
    judge::{RunFacts, RunVerdict, run::exit_evidence},
    symbol::Symbol,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "startup-crash",
    title: "The server crashed while it started",
    severity: Severity::High,
    doc: Doc {
        means: "The process was created, and the server's own code failed before it could shake hands: a taken port, a service that could not be reached, a fault in its code.",
        recognized: "The root of a traceback or crash in the server's own log, in a run whose handshake was never completed, before the client stopped it.",
        is_not: "A missing file, module or environment variable, which the launcher has to supply: that is `spawn-failed`. Nor a crash inside a tool call, or one that follows the client's leaving (a broken pipe is a consequence).",
        to_do: "Start the server by hand with the launcher's working directory and environment, and supply what the crash names.",
    },
    check,
};

/// A crash before the handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crash {
    kind: TroubleKind,
    mark: Mark,
    name: Option<Symbol>,
}

impl Crash {
    /// Something is missing that the launcher has to supply.
    pub(super) fn is_the_launchers(&self) -> bool {
        matches!(self.kind, TroubleKind::MissingFile | TroubleKind::MissingModule | TroubleKind::MissingEnvironment)
    }

    /// The finding that the crash is.
    pub(super) fn finding(self, scene: &Scene<'_, '_>, facts: &RunFacts<'_>, rule: &'static FindingRule) -> Finding {
        let mut tally = Tally::new("shows the root of the crash", self.mark);
        if let Some(exit) = facts.exited {
            tally.also(exit_evidence(exit).role, exit.mark);
        }
        let named = self.name.map_or("", |name| scene.case.name(name));
        let confidence = if facts.exited.is_some() { Confidence::High } else { Confidence::Medium };
        let finding = tally.finding(rule, confidence, claim(self.kind, named), number_of(facts));
        finding.with_advice(self.advice().unwrap_or(rule.doc.to_do))
    }

    /// What the launcher has to supply.
    fn advice(self) -> Option<&'static str> {
        Some(match self.kind {
            TroubleKind::MissingFile => {
                "Set the working directory that the launcher starts the server in, or give the server the full path of the file. Start it by hand from the launcher's directory to see the same."
            }
            TroubleKind::MissingModule => {
                "Install the module into the environment that the launcher's command runs in, or let the command name the right one."
            }
            TroubleKind::MissingEnvironment => {
                "Set it in the launcher's configuration of this server: a launcher passes on only what is configured, not what a shell has."
            }
            _ => return None,
        })
    }
}

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, verdict) in scene.runs() {
        if let Some(crash) = crash(facts, verdict).filter(|crash| !crash.is_the_launchers()) {
            out.push(crash.finding(scene, facts, &RULE));
        }
    }
}

/// The crash before the handshake of a run, if there is one.
pub(super) fn crash(facts: &RunFacts<'_>, verdict: &RunVerdict) -> Option<Crash> {
    if facts.troubles.is_empty() || shook_hands(facts, verdict) || facts.spawn_failed.is_some() {
        return None;
    }
    root(facts)
}

/// The first crash that names its cause, else the first one, and none that followed the client's leaving.
fn root(facts: &RunFacts<'_>) -> Option<Crash> {
    let own = || {
        let all = facts.troubles.iter().map(|(kind, mark, name)| Crash { kind: *kind, mark: *mark, name: *name });
        all.filter(|crash| {
            let after_stop = facts.stopped_by_client.and_then(|stop| stands_before(stop, crash.mark)) == Some(true);
            crash.kind != TroubleKind::BrokenPipe && !after_stop
        })
    };
    own().find(|crash| crash.kind != TroubleKind::Other).or_else(|| own().next())
}

fn claim(kind: TroubleKind, name: &str) -> String {
    let what = |noun: &str| if name.is_empty() { noun.to_owned() } else { format!("{noun} \"{name}\"") };
    match kind {
        TroubleKind::MissingFile => {
            format!(
                "The server crashed while it started: {} does not exist, often because of a wrong working directory.",
                what("the file")
            )
        }
        TroubleKind::MissingModule => {
            format!("The server crashed while it started: {} is not installed.", what("the module"))
        }
        TroubleKind::MissingEnvironment => {
            format!("The server crashed while it started: {} is missing.", what("the environment variable or setting"))
        }
        TroubleKind::AddressInUse => "The server crashed while it started: its port is taken.".to_owned(),
        TroubleKind::ConnectFailed => {
            "The server crashed while it started: it could not connect to a service.".to_owned()
        }
        TroubleKind::OutOfMemory => "The server crashed while it started: memory ran out.".to_owned(),
        TroubleKind::BrokenPipe | TroubleKind::Other => {
            format!("The server crashed while it started: {}.", what("an error"))
        }
    }
}
