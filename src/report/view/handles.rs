//! Calls that a sentence names: very many of them would be no sentence.

use super::count::listed;
use crate::report::names;

/// Calls by their handles: the first few, and how many more.
#[derive(Debug, Default)]
pub(in crate::report) struct Handles {
    first: Vec<String>,
    more: u64,
}

/// At most so many calls are named.
const NAMED: usize = 6;

impl Handles {
    pub(super) fn add(&mut self, call: u32) {
        if self.first.len() < NAMED { self.first.push(names::call(call)) } else { self.more += 1 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    pub(super) fn is_one(&self) -> bool {
        self.first.len() == 1
    }

    /// `c3`, `c3 and c5`, `c1, c2, c3, c5, c7, c8 and 4 more`.
    pub(super) fn text(&self) -> String {
        let more = (self.more > 0).then(|| format!("{} more", self.more));
        let names: Vec<String> = self.first.iter().cloned().chain(more).collect();
        listed(&names)
    }

    /// The same in brackets behind a number; nothing where there are none.
    pub(super) fn in_brackets(&self) -> String {
        if self.is_empty() { String::new() } else { format!(" ({})", self.text()) }
    }
}

#[cfg(test)]
mod tests {
    use super::Handles;

    #[test]
    fn the_first_few_calls_are_named() {
        let text = |count: u32| {
            let mut handles = Handles::default();
            (0..count).for_each(|call| handles.add(call));
            handles.text()
        };
        assert_eq!(["", "c1", "c1 and c2"], [text(0), text(1), text(2)].each_ref().map(String::as_str));
        assert_eq!(text(6), "c1, c2, c3, c4, c5 and c6");
        assert_eq!(text(9), "c1, c2, c3, c4, c5, c6 and 3 more");
    }
}
