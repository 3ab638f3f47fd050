//! The explanation of one call: what each witness saw, what that proves, which worlds remain, which rule decided and
//! what would change it. As text for a terminal, or as JSON.
//!
//! It judges nothing: verdict, chain and worlds arrive ready.

mod json;
mod text;

use std::io;

use super::{Report, Style};
use crate::{
    event::Origin,
    judge::{
        Evidence, Place, Truth,
        call::{Explained, Ground},
    },
};

/// The explanation of one call.
#[derive(Debug)]
pub struct Explanation<'r, 'a> {
    report: &'r Report<'a>,
    call: u32,
    explained: &'r Explained,
}

impl<'r, 'a> Explanation<'r, 'a> {
    /// The explanation of the call with this index. The report holds the words of [`explanation_cites`].
    pub fn new(report: &'r Report<'a>, call: u32, explained: &'r Explained) -> Self {
        Self { report, call, explained }
    }

    /// The milestones in causal order: name, value, what it rests on.
    fn milestones(&self) -> [(&'static str, Truth, &Ground); 4] {
        let (known, grounds) = (&self.explained.verdict.milestones, &self.explained.grounds);
        [
            ("sent", known.sent, &grounds.sent),
            ("reached", known.reached, &grounds.reached),
            ("effected", known.effected, &grounds.effected),
            ("acked", known.acked, &grounds.acked),
        ]
    }
}

/// The places whose words an explanation shows, in order, each once.
pub fn explanation_cites(explained: &Explained) -> Vec<Origin> {
    let verdict = &explained.verdict;
    let grounds = &explained.grounds;
    let grounds = [&grounds.sent, &grounds.reached, &grounds.effected, &grounds.acked];
    let sides = grounds.into_iter().flat_map(|ground| ground.proven.iter().chain(&ground.excluded));
    let conflicts = verdict.conflicts.iter().flat_map(|(_, evidence)| evidence);
    let evidence = verdict.evidence.iter().chain(&verdict.reach.evidence).chain(verdict.retry.proof.iter());
    let cited = evidence.chain(conflicts).chain(sides).filter_map(place);
    let mut wanted: Vec<Origin> = explained.chain.iter().map(|link| link.mark.origin).chain(cited).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

fn place(piece: &Evidence) -> Option<Origin> {
    match piece.place {
        Place::Seen(mark) | Place::Counted { first: mark, .. } => Some(mark.origin),
        Place::Absent { .. } => None,
    }
}

/// One form of the explanation, as a value.
#[derive(Debug)]
pub struct ExplanationForm {
    /// The name after `--output`.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Writes it.
    pub write: fn(&Explanation<'_, '_>, Style, &mut dyn io::Write) -> io::Result<()>,
}

/// All forms; the first is the default.
pub static EXPLANATION_FORMS: &[ExplanationForm] = &[text::FORM, json::FORM];
