//! Whether two clocks that no one difference fits drift steadily, or one of them was set.

use super::{Mark, Offset};
use crate::time::SECOND;

/// What calls in common show of two clocks, by the time of the first clock. Both bounds are known.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: i64,
    middle: i64,
    half: i64,
}

/// Two clocks whose difference changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Microseconds that they move apart in each second; none where one of them was set.
    pub rate: Option<i64>,
    /// The last call that shows it, in both sources.
    pub marks: [Mark; 2],
}

/// Samples of two clocks, evenly thinned out: so many suffice to tell a line from a step.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    kept: Vec<Sample>,
    seen: usize,
    every: usize,
    last: Option<Sample>,
}

const KEPT: usize = 64;
/// A drift needs time to show.
const SPAN: i64 = 60 * SECOND;

impl Default for Samples {
    fn default() -> Self {
        Self { kept: Vec::new(), seen: 0, every: 1, last: None }
    }
}

impl Samples {
    pub(super) fn add(&mut self, at: i64, offset: Offset) {
        let half = offset.high.saturating_sub(offset.low) / 2;
        let sample = Sample { at, middle: offset.low.saturating_add(half), half };
        self.last = Some(sample);
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(sample);
        }
        self.seen += 1;
        if self.kept.len() > KEPT {
            let mut odd = false;
            self.kept.retain(|_| {
                odd = !odd;
                odd
            });
            self.every *= 2;
        }
    }

    /// The rate that fits all samples, in microseconds a second.
    pub(super) fn rate(&self) -> Option<i64> {
        let (first, last) = (self.kept.iter().min_by_key(|sample| sample.at)?, self.last?);
        let span = i128::from(last.at.saturating_sub(first.at));
        let moved = i128::from(last.middle) - i128::from(first.middle);
        let fits = |sample: &Sample| {
            let line = i128::from(first.middle) + moved * i128::from(sample.at - first.at) / span.max(1);
            (line - i128::from(sample.middle)).abs() <= i128::from(sample.half) + i128::from(first.half)
        };
        let steady = self.kept.len() >= 3 && span >= i128::from(SPAN) && moved.abs() * 50 <= span;
        (steady && self.kept.iter().all(fits)).then(|| i64::try_from(moved * 1_000_000 / span).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(middles: &[i64]) -> Option<i64> {
        let mut samples = Samples::default();
        for (at, middle) in (0..).zip(middles) {
            samples.add(at * 60 * SECOND, Offset { low: middle - 1000, high: middle + 1000 });
        }
        samples.rate()
    }

    #[test]
    fn a_line_is_a_drift_and_a_jump_is_none() {
        let line: Vec<i64> = (0..200).map(|minute| minute * 60 * SECOND / 1000).collect();
        assert_eq!(rate(&line), Some(1000));
        assert_eq!(rate(&[0, 0, 0, SECOND, SECOND]), None);
        assert_eq!(rate(&[0, SECOND]), None, "two places make no line");
        assert_eq!(rate(&[0, 30 * SECOND, 60 * SECOND]), None, "no clock is that bad");
    }
}
