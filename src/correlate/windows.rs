//! When the calls of a run were open: found for an instant without looking at each of them.

/// The calls of a run by the time they were open.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// By first instant.
    spans: Vec<Span>,
    /// A tree over the last instants: each node holds the latest one of its half.
    latest: Vec<i64>,
    /// Some call has no time at all: it may have been open at any.
    pub(super) untimed: bool,
}

/// When a call was open, in nanoseconds; without an end it stays open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) call: u32,
    pub(super) from: i64,
    pub(super) to: Option<i64>,
}

/// What is looked for.
struct Search<W> {
    /// Calls before this one, in the order of their first instants, had begun.
    begun: usize,
    /// They end at this instant or later.
    least: i64,
    wanted: W,
    found: [Option<u32>; 2],
}

impl Windows {
    /// `None` stands for a call without a time.
    pub(super) fn new(calls: impl Iterator<Item = Option<Span>>) -> Self {
        let mut windows = Self::default();
        for span in calls {
            match span {
                Some(span) => windows.spans.push(span),
                None => windows.untimed = true,
            }
        }
        windows.spans.sort_by_key(|span| (span.from, span.call));
        let leaves = windows.spans.len().next_power_of_two();
        windows.latest = vec![i64::MIN; leaves * 2];
        for (place, span) in windows.spans.iter().enumerate() {
            windows.latest[leaves + place] = span.to.unwrap_or(i64::MAX);
        }
        for node in (1..leaves).rev() {
            windows.latest[node] = windows.latest[node * 2].max(windows.latest[node * 2 + 1]);
        }
        windows
    }

    /// Whether there is no call at all.
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty() && !self.untimed
    }

    /// Up to two calls that were open at an instant, give or take `slack`: whether there is one, and only one.
    pub(super) fn open_at(&self, at: i64, slack: i64) -> [Option<u32>; 2] {
        self.open_within(at.saturating_sub(slack), at.saturating_add(slack), |_| true)
    }

    /// Up to two of those that are wanted and were open at some instant of a stretch.
    pub(super) fn open_within(&self, from: i64, to: i64, wanted: impl Fn(u32) -> bool) -> [Option<u32>; 2] {
        let begun = self.spans.partition_point(|span| span.from <= to);
        let mut search = Search { begun, least: from, wanted, found: [None; 2] };
        self.find(1, 0, self.latest.len() / 2, &mut search);
        search.found
    }

    /// Looks below one node, which covers `size` calls from `first`.
    fn find(&self, node: usize, first: usize, size: usize, search: &mut Search<impl Fn(u32) -> bool>) {
        if first >= search.begun || self.latest[node] < search.least || search.found[1].is_some() {
            return;
        }
        if size == 1 {
            let call = self.spans[first].call;
            if (search.wanted)(call) {
                search.found[usize::from(search.found[0].is_some())] = Some(call);
            }
            return;
        }
        let half = size / 2;
        self.find(node * 2, first, half, search);
        self.find(node * 2 + 1, first + half, half, search);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_calls_of_an_instant() {
        let spans = [(0, 5, Some(9)), (1, 7, Some(8)), (2, 20, None), (3, 1, Some(30))];
        let windows = Windows::new(spans.into_iter().map(|(call, from, to)| Some(Span { call, from, to })));
        assert!(!windows.untimed);
        assert_eq!(windows.open_at(2, 0), [Some(3), None]);
        assert_eq!(windows.open_at(4, 1), [Some(3), Some(0)]);
        assert_eq!(windows.open_at(10, 0), [Some(3), None]);
        assert_eq!(windows.open_at(31, 0), [Some(2), None]);
        assert_eq!(windows.open_at(0, 0), [None, None]);
        let none = Windows::new([None].into_iter());
        assert_eq!((none.untimed, none.open_at(3, 1)), (true, [None, None]));
    }

    #[test]
    fn it_agrees_with_looking_at_each() {
        let span = |call: u32| {
            let call = i64::from(call);
            let from = call * 37 % 101;
            let to = (call % 7 != 0).then_some(from + call * 13 % 17);
            Span { call: u32::try_from(call).expect("small"), from, to }
        };
        let spans: Vec<Span> = (0..77).map(span).collect();
        let windows = Windows::new(spans.iter().map(|span| Some(*span)));
        for at in -5..130 {
            let open = |span: &&Span| span.from <= at + 2 && span.to.is_none_or(|to| to >= at - 2);
            let count = spans.iter().filter(open).count().min(2);
            let found = windows.open_at(at, 2);
            assert_eq!(found.iter().flatten().count(), count, "{at}");
            assert!(found.iter().flatten().all(|call| open(&&spans[*call as usize])), "{at}");
        }
    }
}
