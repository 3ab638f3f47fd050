//! How it is known that a row of the timeline stands behind the row above it.
//!
//! Inside one source that is the order of its records. Between sources only cause and effect tell: clocks of two
//! sources place rows, and prove nothing.

use super::Row;
use crate::{
    correlate::{Case, NONE, Seen},
    event::{PhaseEvent, Witness},
    judge::call::{Link, LinkKind},
};

/// How the place of a row behind the row above it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Both are records of one source, or nothing is above.
    #[default]
    Record,
    /// Both are of one call, and the one above comes before by cause and effect.
    Causal,
    /// Only the clocks of two sources say so.
    Clock,
    /// Nothing says so: one of them has no time, or a clock that could not be placed beside the other.
    Unknown,
    /// Another source has shown a later step of the same call already: the clocks are wrong here.
    Contradicts,
}

impl Order {
    /// Every kind that is marked, with its sign and what it means.
    pub(super) const MARKED: [(Self, &'static str, &'static str); 3] = [
        (Self::Clock, "~", "behind the row above only by the clocks of two sources, which prove no order"),
        (Self::Unknown, "?", "between two sources whose order is not known: no time, or a clock that fits no other"),
        (Self::Contradicts, "!", "the clocks contradict cause and effect: a later step of the same call stands above"),
    ];

    /// The word of the wire form.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Causal => "causal",
            Self::Clock => "clock",
            Self::Unknown => "unknown",
            Self::Contradicts => "contradicts",
        }
    }

    /// The sign of the table.
    pub(super) fn sign(self) -> &'static str {
        Self::MARKED.iter().find(|(order, ..)| *order == self).map_or("", |(_, sign, _)| sign)
    }
}

/// A row that is no step of a call, or of which others may come in any order.
pub(super) const NO_STEP: u8 = u8::MAX;

/// The step of a call that a record shows: a later one cannot have happened before an earlier one. Requests that are
/// sent again, and what other parties say about the call, are no steps.
pub(super) fn step(link: &Link) -> u8 {
    match (link.what, link.event) {
        (LinkKind::Call(Seen::Sent), _) => 0,
        (LinkKind::Call(Seen::Received), _) => 1,
        (LinkKind::Contact(_), Some(PhaseEvent::ExternalAttempt)) => 2,
        (LinkKind::Result, _) => 3,
        (LinkKind::Call(Seen::Responded), Some(_)) if link.witness == Witness::Server => 4,
        (LinkKind::Call(Seen::Delivered), Some(_)) => 5,
        _ => NO_STEP,
    }
}

/// Says of every row how it is known to stand where it stands.
pub(super) fn settle(case: &Case, rows: &mut [Row]) {
    // The row with the furthest step of each call so far.
    let mut furthest: Vec<u32> = vec![NONE; case.calls.len()];
    for at in 0..rows.len() {
        let row = rows[at];
        let mut contradicts = false;
        if let Some(known) = furthest.get_mut(row.call as usize).filter(|_| row.step != NO_STEP) {
            let before = rows.get(*known as usize);
            contradicts = before.is_some_and(|before| contradict(case, before, &row));
            if before.is_none_or(|before| before.step <= row.step) {
                *known = u32::try_from(at).unwrap_or(NONE);
            }
        }
        rows[at].order = match at.checked_sub(1) {
            _ if contradicts => Order::Contradicts,
            None => Order::Record,
            Some(above) => behind(case, &rows[above], &row),
        };
    }
}

/// Whether the clocks of two sources say that a later step of a call came first, by more than their stamps are rounded.
fn contradict(case: &Case, above: &Row, row: &Row) -> bool {
    let (Some(first), Some(second)) = (case.placed(above.mark), case.placed(row.mark)) else { return false };
    let digits = |row: &Row| case.sources.get(row.source() as usize).map_or(0, |source| source.digits.min(9));
    let rounded = 10_i64.pow(9 - u32::from(digits(above).min(digits(row))));
    above.step > row.step && above.source() != row.source() && second.0.saturating_sub(first.0) >= rounded
}

fn behind(case: &Case, above: &Row, row: &Row) -> Order {
    if above.source() == row.source() {
        return Order::Record;
    }
    let steps = above.step != NO_STEP && row.step != NO_STEP && above.step < row.step;
    if above.call != NONE && above.call == row.call && steps {
        return Order::Causal;
    }
    let placed = |row: &Row| row.mark.at.is_some() && case.has_common_clock(row.mark);
    if placed(above) && placed(row) { Order::Clock } else { Order::Unknown }
}
