//! May a server be started again? One rule, one file; the first that fires decides.

mod covered_life;
mod nothing_started;
mod open_life;
mod reach_outside_calls;

use super::{Opinion, RunFacts, doc::Doc, reach};

/// A rule about restarts.
#[derive(Debug)]
pub struct RestartRule {
    /// Kebab-case name.
    pub id: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Its documentation.
    pub doc: Doc,
    /// Fires with an opinion, or not at all.
    pub check: fn(&RunFacts<'_>) -> Option<Opinion>,
}

/// All restart rules, by precedence.
pub static RESTART_RULES: &[&RestartRule] =
    &[&reach_outside_calls::RULE, &nothing_started::RULE, &covered_life::RULE, &open_life::RULE];

/// The restart verdict of a run.
pub(super) fn restart(facts: &RunFacts<'_>) -> Opinion {
    let opinion =
        RESTART_RULES.iter().find_map(|rule| (rule.check)(facts)).unwrap_or_else(|| open_life::opinion(facts));
    let case = facts.case;
    let of_server = facts.server().map_or(&[][..], |server| case.servers.outside(server));
    let outside = of_server.iter().chain(&case.loose).map(|contact| &case.contacts[*contact as usize]);
    let left_out: Vec<_> = reach::own(facts, facts.contacts().chain(outside)).collect();
    opinion.assuming(left_out)
}
