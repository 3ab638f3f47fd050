//! Counts the records from which nothing was learned.
//!
//! A record may hold several lines, and what is joined is settled late: it counts once, and not at all where one of its
//! lines told something.

use std::num::NonZeroU32;

use crate::event::Origin;

/// A line of a record told something, or nothing.
pub(super) type Told = (Origin, bool);

/// The count, the places of the first of them, and the last records that told nothing and something.
#[derive(Debug, Default)]
pub(super) struct Census {
    count: u64,
    /// Places that are kept at most.
    limit: usize,
    places: Vec<Origin>,
    silent: Option<NonZeroU32>,
    told: Option<NonZeroU32>,
}

impl Census {
    /// A census that keeps so many places.
    pub(super) fn keeping(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// A line of this record told nothing, or something.
    pub(super) fn note(&mut self, (origin, told): Told) {
        let record = Some(origin.record);
        if told {
            if self.silent == record {
                self.count -= 1;
                self.silent = None;
                self.places.pop_if(|last| Some(last.record) == record);
            }
            // What is settled late must not hide that a later record told something.
            self.told = self.told.max(record);
        } else if self.silent != record && self.told != record {
            self.count += 1;
            self.silent = record;
            if self.places.len() < self.limit {
                self.places.push(origin);
            }
        }
    }

    /// How many records told nothing.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The places of the first of them, in the order of the source.
    pub(super) fn into_places(mut self) -> Vec<Origin> {
        self.places.sort_unstable();
        self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::SourceId;

    fn at(record: u32) -> Origin {
        let number = NonZeroU32::new(record).expect("counted from 1");
        Origin { source: SourceId(0), record: number, offset: u64::from(record) }
    }

    #[test]
    fn a_record_counts_once_and_not_where_one_line_told_something() {
        let mut census = Census::keeping(9);
        for (number, told) in [(1, false), (1, false), (2, true), (2, false), (3, false), (3, true), (3, false)] {
            census.note((at(number), told));
        }
        assert_eq!(census.count(), 1);
        // The joined lines of a record are settled when the next one has begun.
        for (number, told) in [(4, false), (5, true), (4, false)] {
            census.note((at(number), told));
        }
        assert_eq!(census.count(), 2);
        for (number, told) in [(4, true), (5, false), (7, false), (6, false)] {
            census.note((at(number), told));
        }
        assert_eq!(census.count(), 3);
        assert_eq!(census.into_places(), [at(1), at(6), at(7)]);
    }

    #[test]
    fn only_so_many_places_are_kept() {
        let mut census = Census::keeping(2);
        for number in 1..=4 {
            census.note((at(number), false));
        }
        census.note((at(4), true));
        assert_eq!(census.count(), 3);
        assert_eq!(census.into_places(), [at(1), at(2)]);
    }
}
