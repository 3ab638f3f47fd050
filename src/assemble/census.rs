//! Counts the records from which nothing was learned.
//!
//! A record may hold several lines, and what is joined is settled late: it counts once, and not at all where one of its
//! lines told something.

use std::num::NonZeroU32;

/// The count, and the last records that told nothing and something.
#[derive(Debug, Default)]
pub(super) struct Census {
    count: u64,
    silent: Option<NonZeroU32>,
    told: Option<NonZeroU32>,
}

impl Census {
    /// A line of this record told nothing, or something.
    pub(super) fn note(&mut self, record: NonZeroU32, told: bool) {
        if told {
            self.count -= u64::from(self.silent == Some(record));
            self.silent = self.silent.filter(|silent| *silent != record);
            self.told = Some(record);
        } else if self.silent != Some(record) && self.told != Some(record) {
            self.count += 1;
            self.silent = Some(record);
        }
    }

    /// So many further records told nothing.
    pub(super) fn add(&mut self, records: u64) {
        self.count += records;
    }

    /// How many records told nothing.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_once_and_not_where_one_line_told_something() {
        let record = |number| NonZeroU32::new(number).expect("counted from 1");
        let mut census = Census::default();
        for (number, told) in [(1, false), (1, false), (2, true), (2, false), (3, false), (3, true), (3, false)] {
            census.note(record(number), told);
        }
        assert_eq!(census.count(), 1);
        // The joined lines of a record are settled when the next one has begun.
        census.note(record(4), false);
        census.note(record(5), true);
        census.note(record(4), false);
        assert_eq!(census.count(), 2);
        census.note(record(4), true);
        census.add(3);
        assert_eq!(census.count(), 4);
    }
}
