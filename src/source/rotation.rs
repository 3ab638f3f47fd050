//! Parts of rotated logs that are not in the input, by the names of those that are: `x.log.1` was followed by `x.log`.
//!
//! Knows names only. Whether an oldest part had another one before it no name tells.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceEntry;
use crate::event::SourceId;

/// Numbers above are process ids and the like, not parts.
const PARTS: u32 = 99;
/// What logs that are rotated by number end with.
const LOGS: &[&str] = &[".log", ".jsonl", ".ndjson", ".json", ".txt", ".out", ".err"];
/// What a rotated part may be packed with.
const PACKED: &[&str] = &[".gz", ".zst", ".bz2", ".xz", ".zip"];

/// The sources whose next part is missing, with the name of that part.
pub fn missing_next(entries: &[SourceEntry]) -> BTreeMap<SourceId, String> {
    let names = entries.iter().map(|entry| (entry.id, (&*entry.path, entry.member.as_deref())));
    next_of(names.collect())
}

fn next_of(names: Vec<(SourceId, (&str, Option<&str>))>) -> BTreeMap<SourceId, String> {
    // Parts may be packed, and lie in archives, one by one.
    let part =
        |(path, member): (&str, Option<&str>)| split(member.unwrap_or(path)).map(|(base, n)| (base.to_owned(), n));
    let present: BTreeSet<(String, u32)> = names.iter().filter_map(|(_, name)| part(*name)).collect();
    let next = |(base, number): (String, u32)| {
        let before = number.checked_sub(1)?;
        let missing = if before == 0 { base.clone() } else { format!("{base}.{before}") };
        (!present.contains(&(base, before))).then_some(missing)
    };
    names.into_iter().filter_map(|(id, name)| Some((id, next(part(name)?)?))).collect()
}

/// The name of the log and the number of the part; the log itself is number 0.
fn split(path: &str) -> Option<(&str, u32)> {
    let plain = PACKED.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
    let is_log = |name: &str| LOGS.iter().any(|ending| name.ends_with(ending));
    if is_log(plain) {
        return Some((plain, 0));
    }
    let (base, number) = plain.rsplit_once('.')?;
    let number = number.parse().ok().filter(|number| (1..=PARTS).contains(number))?;
    is_log(base).then_some((base, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(names: &[&str]) -> Vec<String> {
        let numbered = (0_u32..).zip(names).map(|(id, name)| (SourceId(id), (*name, None)));
        next_of(numbered.collect()).into_iter().map(|(id, name)| format!("{} → {name}", names[id.0 as usize])).collect()
    }

    #[test]
    fn each_part_wants_the_one_that_follows_it() {
        assert_eq!(missing(&["a/x.log", "a/x.log.1", "a/x.log.2.gz"]), [""; 0]);
        assert_eq!(missing(&["a/x.log.1"]), ["a/x.log.1 → a/x.log"]);
        assert_eq!(
            missing(&["a/x.log", "a/x.log.2.gz", "b/x.log.1"]),
            ["a/x.log.2.gz → a/x.log.1", "b/x.log.1 → b/x.log"]
        );
    }

    #[test]
    fn other_numbers_are_no_parts() {
        assert_eq!(missing(&["trace.7", "x.log.4711", "server.log.old", "x-2.log", "v1.2", "x.log.0"]), [""; 0]);
    }
}
