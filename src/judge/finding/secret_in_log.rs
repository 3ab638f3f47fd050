//! A secret stands in the evidence.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Tally};
use crate::correlate::{Mark, NONE};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "secret-in-log",
    title: "A secret stands in a log",
    severity: Severity::High,
    doc: Doc {
        means: "A log that is kept and shared holds a token, key or password in clear.",
        recognized: "A value of the shape of a known kind of token, or behind a name such as `Authorization`, `api_key` or `password`. All records are searched; e-mail addresses and session ids do not count.",
        is_not: "A placeholder or a masked value. Only places are reported, the first ones of each file; the value is never printed.",
        to_do: "Revoke the secret and make a new one. Share the report, in which secrets are masked, or a masked copy; not the log.",
    },
    check,
};

const HOLDS: &str = "holds a secret";

/// One finding for each source: what is to be revoked and withheld is a file.
fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for source in &scene.case.sources {
        let mut places = source.secret_places.iter().map(|origin| Mark { origin: *origin, at: None });
        let Some(first) = places.next() else { continue };
        let mut tally = Tally::new(HOLDS, first).times(source.secrets);
        places.for_each(|place| tally.also(HOLDS, place));
        let claim = match source.secrets {
            1 => "A secret stands in this log.".to_owned(),
            number => format!("Secrets stand in this log, in {}.", count(number, "record", "records")),
        };
        out.push(tally.finding(&RULE, Confidence::Medium, claim, NONE));
    }
}
