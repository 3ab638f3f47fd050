//! Sentences that count: one, two and many read differently.
//!
//! It knows no noun that does not take an "s".

/// `1 call`, `2 calls`.
pub(in crate::report) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// `the call`, `both calls`, `all 3 calls`: what a verb in the past can follow.
pub(super) fn all_of(count: u64, noun: &str) -> String {
    match count {
        1 => format!("the {noun}"),
        2 => format!("both {noun}s"),
        _ => format!("all {count} {noun}s"),
    }
}

/// `neither call`, `none of 3 calls`; of one, `no call`.
pub(super) fn none_of(count: u64, noun: &str) -> String {
    match count {
        0 | 1 => format!("no {noun}"),
        2 => format!("neither {noun}"),
        _ => format!("none of {count} {noun}s"),
    }
}

/// `c3`, or `c3 and 11 more`.
pub(super) fn and_more(first: &str, count: u64) -> String {
    if count > 1 { format!("{first} and {} more", count - 1) } else { first.to_owned() }
}

/// `a`, `a and b`, `a, b and c`; nothing where there is nothing.
pub(crate) fn listed(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_two_and_many() {
        assert_eq!([0, 1, 2].map(|count| plural(count, "call")), ["0 calls", "1 call", "2 calls"]);
        assert_eq!([1, 2, 3].map(|count| all_of(count, "call")), ["the call", "both calls", "all 3 calls"]);
        assert_eq!([1, 2, 3].map(|count| none_of(count, "call")), ["no call", "neither call", "none of 3 calls"]);
        assert_eq!([1, 2].map(|count| and_more("c3", count)), ["c3", "c3 and 1 more"]);
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([0, 1, 2, 3].map(|count| listed(&names[..count])), ["", "a", "a and b", "a, b and c"]);
    }
}
