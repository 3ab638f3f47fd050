//! What a log says of its own gaps: records that were dropped, and a level that was raised or lowered.
//!
//! Tells of no call: it is trouble while reading, and the line stays text.

use super::Clue;
use crate::{
    notice::NoticeKind,
    record::{Body, Sink},
};

/// The gaps of which a log tells itself.
pub(super) static CLUE: Clue = Clue {
    name: "silence",
    title: "A log tells of its own gaps",
    doc: "\
## What it means
The log lacks records. `imuxsock lost 234 messages from pid 7 due to rate-limiting` (rsyslog), `Suppressed 1234 messages \
from acme.service` and `Missed 12 kernel messages` (systemd-journald), `5 callbacks suppressed` (kernel), `12 messages dropped`, \
`dropped 12 records` and their like: what was dropped may have been an attempt. `Log level changed from INFO to WARNING`, \
`Setting log level to ERROR`: from here on records below that level are missing.
## How it is recognized
By a number beside the word for records and one for losing them; by the words \"log level\", \"loglevel\" or \"logging level\" \
with \"to\" and the name of a level. A level is raised where it is higher than the one before or, where that is not told, at \
least a warning; it is lowered where it is lower than the one before or, where that is not told, the lowest.
## What it is not
A statement about a call. A level that is set to INFO, with nothing about the one before, says neither.
## What to do
Look for the time of that line in another log, or in the full log of that level.
",
    needles: &[
        "rate-limiting",
        "suppressed",
        "Suppressed ",
        "Missed ",
        " dropped",
        "ropped ",
        "og level",
        "oglevel",
        "ogging level",
    ],
    read,
};

/// What a log calls its records.
const RECORDS: &[&str] = &["message", "record", "event", "line", "entries", "entry", "callback", "log"];
/// What it calls losing them.
const LOSING: &[&str] = &["lost", "dropped", "Dropped", "suppressed", "Suppressed", "Missed", "drop", "discarded"];

/// Levels from the one that writes most.
const LEVELS: &[&[&str]] = &[
    &["trace", "all", "notset", "silly", "finest"],
    &["debug", "verbose"],
    &["info", "notice", "information"],
    &["warn", "warning"],
    &["error", "err"],
    &["critical", "fatal", "off", "silent", "none", "emerg", "alert"],
];
const DEBUG: usize = 1;
const WARN: usize = 3;

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(kind) = level_change(text) {
        sink.notice(kind, body.record.origin);
    } else if drops(text) {
        sink.notice(NoticeKind::RecordsDropped, body.record.origin);
    }
    false
}

/// Whether a number of records stands next to a word for losing them: `lost 5 messages`, `5 messages dropped`.
fn drops(text: &str) -> bool {
    let words =
        || text.split(|char: char| char.is_whitespace() || "\"',.;:()".contains(char)).filter(|word| !word.is_empty());
    if words().any(|word| word == "rate-limiting") && words().any(|word| LOSING.contains(&word)) {
        return true;
    }
    // The words around each place, with room behind the last one.
    let mut around = [""; 6];
    for word in words().chain([""; 5]) {
        around.rotate_left(1);
        around[5] = word;
        if drops_at(&around) {
            return true;
        }
    }
    false
}

/// Whether the second of these words is a number of records that were lost.
fn drops_at(words: &[&str; 6]) -> bool {
    let number = words[1].parse::<u64>().is_ok_and(|number| number > 0);
    let record = |word: &&str| RECORDS.iter().any(|name| word.starts_with(name));
    let losing = |word: &&str| LOSING.contains(word);
    number && words[2..4].iter().any(record) && (losing(&words[0]) || words[3..].iter().any(losing))
}

fn level_change(text: &str) -> Option<NoticeKind> {
    let named = ["og level", "oglevel", "ogging level"].iter().find_map(|needle| text.split_once(needle));
    let (_, rest) = named?;
    let level = |behind: &str| {
        let (_, word) = rest.split_once(behind)?;
        let word = word.trim_start_matches(['\'', '"', '[', '\\', ' ']);
        let end = word.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(word.len());
        let word = &word[..end];
        LEVELS.iter().position(|names| names.iter().any(|name| name.eq_ignore_ascii_case(word)))
    };
    let to = level(" to ")?;
    match level(" from ") {
        Some(from) if to > from => Some(NoticeKind::LevelRaised),
        Some(from) if to < from => Some(NoticeKind::LevelRestored),
        None if to >= WARN => Some(NoticeKind::LevelRaised),
        None if to <= DEBUG => Some(NoticeKind::LevelRestored),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use bumpalo::Bump;

    use super::*;
    use crate::{
        event::{Origin, SourceId},
        record::Record,
    };

    fn told(text: &str) -> Vec<NoticeKind> {
        let arena = Bump::new();
        let mut sink = Sink::new();
        let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
        super::super::read(text, &Body::bare(Record { origin, text, arena: &arena }), &mut sink);
        sink.notices.iter().map(|notice| notice.kind).collect()
    }

    #[test]
    fn a_log_tells_that_it_dropped_something() {
        for text in [
            "Jul 22 14:00:01 h rsyslogd: imuxsock lost 234 messages from pid 7 due to rate-limiting",
            "rsyslogd[9]: imuxsock[pid 7]: begin to drop messages due to rate-limiting",
            "systemd-journald[3]: Suppressed 1234 messages from acme.service",
            "systemd-journald[3]: Missed 12 kernel messages",
            "net_ratelimit: 5 callbacks suppressed",
            "WARN 12 log messages were dropped because the buffer was full",
            "{\"level\":40,\"msg\":\"logger: dropped 12 records\"}",
        ] {
            assert_eq!(told(text), [NoticeKind::RecordsDropped], "{text}");
        }
        for text in [
            "Suppressed exception in worker 3",
            "0 messages dropped",
            "dropped 12 tables",
            "Missed deadline by 12 ms",
            "the message was dropped into the queue 12",
            "output suppressed",
        ] {
            assert_eq!(told(text), [], "{text}");
        }
    }

    #[test]
    fn a_level_is_raised_or_lowered() {
        use NoticeKind::{LevelRaised, LevelRestored};
        for (text, kinds) in [
            ("Log level changed from INFO to WARNING", &[LevelRaised][..]),
            ("INFO Setting log level to error", &[LevelRaised]),
            ("logging level changed from 'debug' to 'info'", &[LevelRaised]),
            ("loglevel switched from warn to info", &[LevelRestored]),
            ("Log level set to DEBUG", &[LevelRestored]),
            ("Log level set to INFO", &[]),
            ("log level changed from info to info", &[]),
            ("the log level of the river rose to 4 m", &[]),
        ] {
            assert_eq!(told(text), kinds, "{text}");
        }
    }
}
