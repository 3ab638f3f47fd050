//! Places the stamps of sources that lack a zone or a date, by the windows of the sources that have them.
//!
//! Only whole quarters of an hour and whole days are considered: a zone, never a skew.

use std::collections::BTreeSet;

use super::{Correlator, SourceFacts};
use crate::time::{DAY, SECOND, Shape, Timestamp, day_number};

/// Zones lie between −12 and +14 hours, in quarters.
const QUARTER: i64 = 900 * SECOND;

impl Correlator {
    pub(super) fn place_clocks(&mut self) {
        let best = [Shape::Utc, Shape::Local].into_iter().find(|shape| {
            self.case.sources.iter().any(|source| source.shape == Some(*shape) && source.first.is_some())
        });
        self.case.clock = best;
        let Some(best) = best else { return };
        let windows: Vec<(i64, i64)> =
            self.case.sources.iter().filter(|source| source.shape == Some(best)).filter_map(window).collect();
        for source in &mut self.case.sources {
            if source.shape <= Some(best) {
                continue;
            }
            let Some((first, last)) = window(source) else { continue };
            if source.shape == Some(Shape::TimeOfDay) {
                place_day(source, first, last, &windows);
            } else {
                place_zone(source, first, last, &windows, 0);
            }
        }
    }
}

fn window(source: &SourceFacts) -> Option<(i64, i64)> {
    Some((source.first?.0, source.last?.0))
}

/// How long a shifted window overlaps any of the placed ones; instants count as one nanosecond.
fn overlap(first: i64, last: i64, windows: &[(i64, i64)]) -> i64 {
    windows
        .iter()
        .map(|(from, to)| last.min(*to).saturating_sub(first.max(*from)).saturating_add(1).max(0))
        .max()
        .unwrap_or(0)
}

/// Chooses the zone with the longest overlap; the zone nearest to UTC among equals.
fn place_zone(source: &mut SourceFacts, first: i64, last: i64, windows: &[(i64, i64)], base: i64) {
    let mut best = (0, base);
    let mut alike = 0;
    for step in (0..=56).flat_map(|step: i64| if step == 0 { vec![0] } else { vec![step, -step] }) {
        let shift = base.saturating_add(step * QUARTER);
        let length = overlap(first.saturating_add(shift), last.saturating_add(shift), windows);
        if length > best.0 {
            best = (length, shift);
            alike = 0;
        }
        alike += u32::from(length > 0 && length == best.0);
    }
    source.shift = best.1;
    // Zones that overlap equally well are a guess: good enough to show, not to conclude from.
    source.aligned = alike == 1;
}

fn place_day(source: &mut SourceFacts, first: i64, last: i64, windows: &[(i64, i64)]) {
    // A log without dates that runs past midnight begins again at zero; its window is then a whole day.
    let near = |(from, to): &(i64, i64)| {
        let from = day_number(Timestamp(*from));
        // A window of several days holds every time of day more than once: its first days tell as much.
        from.saturating_sub(1)..=day_number(Timestamp(*to)).min(from.saturating_add(7)).saturating_add(1)
    };
    let days: BTreeSet<i64> = windows.iter().flat_map(near).collect();
    let start = |day: i64| day.saturating_mul(DAY);
    let length = |day: i64| overlap(first.saturating_add(start(day)), last.saturating_add(start(day)), windows);
    let fitting: Vec<(i64, i64)> =
        days.into_iter().map(|day| (length(day), day)).filter(|(length, _)| *length > 0).collect();
    if let Some((_, day)) = fitting.iter().copied().rev().max_by_key(|(length, _)| *length) {
        source.shift = start(day);
        // Several days are a guess: good enough to show, not to conclude from.
        source.aligned = fitting.len() == 1;
        return;
    }
    let day = start(windows.first().map_or(0, |(from, _)| day_number(Timestamp(*from))));
    place_zone(source, first, last, windows, day);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(first: i64, last: i64, shape: Shape) -> SourceFacts {
        SourceFacts {
            witness: None,
            witness_is_hint: false,
            voted: false,
            server_wrote: false,
            first: Some(Timestamp(first)),
            last: Some(Timestamp(last)),
            digits: 3,
            shape: Some(shape),
            shift: 0,
            aligned: false,
            stepped: None,
            events: 0,
            lossy: false,
            breaks: crate::correlate::Breaks::default(),
            secrets: 0,
            secret_places: Vec::new(),
        }
    }

    #[test]
    fn a_local_clock_takes_the_zone_that_overlaps() {
        let mut correlator = Correlator::default();
        let day = 20_000 * DAY;
        correlator.case.sources = vec![
            source(day, day + SECOND * 60, Shape::Utc),
            source(day + 8 * QUARTER, day + 8 * QUARTER + SECOND, Shape::Local),
        ];
        correlator.place_clocks();
        assert_eq!((correlator.case.sources[1].shift, correlator.case.sources[1].aligned), (-8 * QUARTER, true));
    }

    #[test]
    fn a_time_of_day_takes_the_day_of_the_others() {
        let mut correlator = Correlator::default();
        let day = 20_000 * DAY;
        let noon = DAY / 2;
        correlator.case.sources = vec![
            source(day + noon, day + noon + SECOND * 60, Shape::Utc),
            source(noon + SECOND, noon + 2 * SECOND, Shape::TimeOfDay),
        ];
        correlator.place_clocks();
        assert_eq!(correlator.case.sources[1].shift, day);
    }

    #[test]
    fn a_time_of_day_that_two_days_hold_is_a_guess() {
        let day = 20_000 * DAY;
        for (days, aligned) in [(0, true), (1, false), (30, false)] {
            let mut correlator = Correlator::default();
            correlator.case.sources = vec![
                source(day + DAY / 3, day + days * DAY + 2 * DAY / 3, Shape::Utc),
                source(DAY / 2, DAY / 2 + SECOND, Shape::TimeOfDay),
            ];
            correlator.place_clocks();
            let placed = &correlator.case.sources[1];
            assert_eq!((placed.shift, placed.aligned), (day, aligned), "{days} days later");
        }
    }

    #[test]
    fn a_clock_that_overlaps_nowhere_is_left_alone() {
        let mut correlator = Correlator::default();
        let day = 20_000 * DAY;
        correlator.case.sources =
            vec![source(day, day + SECOND, Shape::Utc), source(day + 40 * DAY, day + 40 * DAY + SECOND, Shape::Local)];
        correlator.place_clocks();
        assert_eq!((correlator.case.sources[1].shift, correlator.case.sources[1].aligned), (0, false));
    }
}
