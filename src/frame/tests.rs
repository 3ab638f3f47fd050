//! What all framings have in common: pieces do not matter, and every byte is accounted for.

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{Cutter, Framing, first_record};
use crate::notice::NoticeKind;

/// A record (number, offset, text) and a loss (kind, record, place, bytes).
type Found = (Vec<(u32, u64, String)>, Vec<(NoticeKind, u32, u64, u64)>);

/// Feeds the content in pieces, as the reader does.
fn cut(framing: Framing, content: &[u8], piece: usize, max_record: usize) -> Found {
    let mut cutter = Cutter::new(framing, max_record);
    let (mut records, mut lost) = (Vec::new(), Vec::new());
    let (mut from, mut to) = (0, 0);
    loop {
        to = content.len().min(to + piece);
        let ended = to == content.len();
        let bytes = &content[from..to];
        assert!(bytes.len() <= max_record + piece + super::ENTRY_BYTES, "the buffer grows without need");
        let found = cutter.cut(bytes, ended);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if matches!(framing, Framing::Lines) {
            let mut offset = from + found.skip;
            for (number, line) in
                (found.first..).zip(bytes[found.skip..found.used].split_inclusive(|byte| *byte == b'\n'))
            {
                records.push((number, offset as u64, text(super::trimmed(line))));
                offset += line.len();
            }
        }
        for span in cutter.spans() {
            let bytes = &bytes[span.start as usize..span.end as usize];
            records.push((span.record, from as u64 + u64::from(span.start), text(bytes)));
        }
        lost.extend(cutter.lost().iter().map(|lost| (lost.kind, lost.record, lost.at, lost.bytes)));
        from += found.used;
        assert_eq!(cutter.offset(), from as u64);
        if ended {
            assert_eq!(from, content.len(), "the end uses everything up");
            assert!(cutter.records() >= records.last().map_or(0, |record| u64::from(record.0)));
            return (records, lost);
        }
    }
}

fn texts(framing: Framing, content: &str) -> Vec<String> {
    cut(framing, content.as_bytes(), 1 << 20, 1 << 20).0.into_iter().map(|record| record.2).collect()
}

fn is_stamped(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_digit)
}

const ENTRIES: Framing = Framing::JsonArray(&["log", "entries"]);
const ALL: [Framing; 5] =
    [Framing::Lines, Framing::Headed(is_stamped), Framing::JsonValues, ENTRIES, Framing::JsonArray(&[])];

#[test]
fn lines_end_at_line_ends_only() {
    let (records, lost) = cut(Framing::Lines, b"a\r\n\n\xc3\xa9\r\r\nlast", 3, 64);
    let want = [(1, 0, "a"), (2, 3, ""), (3, 4, "\u{e9}"), (4, 9, "last")];
    assert_eq!(records, want.map(|(number, offset, text)| (number, offset, text.to_owned())));
    assert_eq!(lost, []);
}

#[test]
fn an_endless_line_is_counted_and_passed_over() {
    let content = format!("a\n{}\nb\n", "x".repeat(5000));
    for piece in [1, 7, 100] {
        let (records, lost) = cut(Framing::Lines, content.as_bytes(), piece, 100);
        assert_eq!(records, [(1, 0, "a".to_owned()), (3, 5003, "b".to_owned())]);
        assert_eq!(lost, [(NoticeKind::OversizeRecord, 2, 2, 5001)]);
    }
}

#[test]
fn a_headed_entry_runs_to_the_next_header() {
    let content = "loose\n1 first\n  at x\n\n2 second\r\n3 third";
    assert_eq!(texts(Framing::Headed(is_stamped), content), ["loose", "1 first\n  at x\n", "2 second", "3 third"]);
}

#[test]
fn a_headed_entry_that_is_too_long_is_closed() {
    let content = format!("1 first\n{}2 second\n", "more\n".repeat(super::ENTRY_LINES + 5));
    let records = texts(Framing::Headed(is_stamped), &content);
    assert_eq!(records.len(), 1 + 6 + 1);
    assert_eq!(records[0].lines().count(), super::ENTRY_LINES);
    assert_eq!(records[1], "more");
    assert_eq!(records[7], "2 second");
}

#[test]
fn json_values_may_be_pretty_and_stand_among_text() {
    let content = "\u{feff}{\n  \"a\": \"}\\\"{\"\n}{\"b\":[1,{}]}\n[INFO] started\n{\"torn\": \"x\n{\"c\":1},\r\nplain\r\n{} [] x\n{} \t\r\n[]";
    let want = [
        "{\n  \"a\": \"}\\\"{\"\n}",
        "{\"b\":[1,{}]}",
        "[INFO] started",
        "{\"torn\": \"x",
        "{\"c\":1}",
        "plain",
        "{} [] x",
        "{}",
        "[]",
    ];
    assert_eq!(texts(Framing::JsonValues, content), want);
}

#[test]
fn a_value_over_several_lines_that_is_cut_is_lost() {
    let content = "{\n\"a\": 1,\n{\"b\":2}\n{\n\"c\": [";
    let (records, lost) = cut(Framing::JsonValues, content.as_bytes(), 4, 64);
    assert_eq!(records, [(2, 10, "{\"b\":2}".to_owned())]);
    assert_eq!(lost, [(NoticeKind::CutCapture, 1, 10, 10), (NoticeKind::CutCapture, 3, 26, 8)]);
}

#[test]
fn elements_of_the_array_at_the_path_are_records() {
    let content = r#"{"entries":[9],"log":{"creator":{"entries":[8]},"pages":[[1]],"entries":[ {"a":"]"} , [2,3],"s\"",4.5e1,null],"more":[7]},"log2":{"entries":[6]}}"#;
    assert_eq!(texts(ENTRIES, content), [r#"{"a":"]"}"#, "[2,3]", r#""s\"""#, "4.5e1", "null"]);
    assert_eq!(
        texts(Framing::JsonArray(&["spans"]), r#"{"spans":[{"a":1}]} {"spans":[]} {"spans":[2]}"#),
        [r#"{"a":1}"#, "2"]
    );
    assert_eq!(
        texts(Framing::JsonArray(&[]), "[{},\n[1],\n"),
        ["{}", "[1]"],
        "without an end, as Chrome writes traces"
    );
}

#[test]
fn captures_one_after_another_are_read_and_wrappings_tolerated() {
    let content = "onInputData({\"log\":{\"entries\":[1]}});\n{\"log\":{\"entries\":[2]}}{\"log\":{\"entries\":[3]}}\n";
    let (records, lost) = cut(ENTRIES, content.as_bytes(), 5, 64);
    assert_eq!(
        records.iter().map(|record| (record.0, record.2.as_str())).collect::<Vec<_>>(),
        [(1, "1"), (2, "2"), (3, "3")]
    );
    assert_eq!(lost, []);
}

#[test]
fn a_cut_capture_is_used_up_to_the_cut() {
    let whole = r#"{"log":{"entries":[{"a":1},{"b":"text"#;
    let (records, lost) = cut(ENTRIES, whole.as_bytes(), 1 << 10, 1 << 10);
    assert_eq!(records, [(1, 19, r#"{"a":1}"#.to_owned())]);
    assert_eq!(lost, [(NoticeKind::CutCapture, 2, whole.len() as u64, 10)]);
}

#[test]
fn a_capture_behind_a_cut_one_is_found_again() {
    for (glue, next) in [("", r#"{"log":{"entries":[2]}}"#), ("\n", r#"{"v":1,"log":{"entries":[2]}}"#)] {
        let content = format!(r#"{{"log":{{"entries":[1,{{"b":"te{glue}{next}"#);
        let (records, lost) = cut(ENTRIES, content.as_bytes(), 3, 1 << 10);
        assert_eq!(
            records.iter().map(|record| (record.0, record.2.as_str())).collect::<Vec<_>>(),
            [(1, "1"), (3, "2")]
        );
        assert_eq!(lost.len(), 1, "{content}");
        assert_eq!((lost[0].0, lost[0].1, lost[0].3), (NoticeKind::CutCapture, 2, 8 + glue.len() as u64));
    }
}

#[test]
fn what_is_no_capture_at_all_is_lost_with_a_notice() {
    for content in ["no json here", "{\"a\":1}", "{\"log\":{\"entries\":[2]}} and much more text behind"] {
        let (_, lost) = cut(ENTRIES, content.as_bytes(), 4, 64);
        assert_eq!(lost.len(), 1, "{content}");
    }
    assert_eq!(cut(ENTRIES, b"", 4, 64), (vec![], vec![]));
    assert_eq!(cut(ENTRIES, b" \n", 4, 64), (vec![], vec![]));
}

#[test]
fn a_value_as_large_as_allowed_is_kept_whatever_stands_behind_it() {
    let value = r#"{"a":"b\"c","d":[1,2,{"e":null}]}"#;
    let content = format!("{value}   {{");
    for piece in 1..value.len() {
        assert_eq!(cut(Framing::JsonValues, content.as_bytes(), piece, value.len()).0[0].2, value);
    }
}

#[test]
fn deep_nesting_costs_no_memory() {
    let content = "[".repeat(300_000);
    let (records, lost) = cut(Framing::JsonArray(&[]), content.as_bytes(), 1 << 14, 1 << 16);
    assert_eq!((records.len(), lost.len()), (0, 1));
}

#[test]
fn the_end_of_a_record_is_found_from_its_beginning() {
    assert_eq!(first_record(Framing::Lines, b"ab\r\ncd"), 2);
    assert_eq!(first_record(Framing::Headed(is_stamped), b"1 a\n b\n2 c"), 6);
    assert_eq!(first_record(ENTRIES, br#"{"a":[1]},{"#), 9);
    assert_eq!(first_record(ENTRIES, br#"{"a":[1]}]}} and"#), 9);
    assert_eq!(first_record(ENTRIES, br#"{"a":[1"#), 7);
}

/// Content that looks like something, and is often broken.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(br#"{"log":{"creator":{},"entries":["#.to_vec()),
        Just(br#"{"a":"b\"c","d":[1,2,{"e":null}]}"#.to_vec()),
        Just("{\n \"k\": \"gr\u{fc}\u{1f600}\"\n}".as_bytes().to_vec()),
        Just(b"]}}".to_vec()),
        Just(b"[".to_vec()),
        Just(b"{".to_vec()),
        Just(b"}".to_vec()),
        Just(b"]".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"\\".to_vec()),
        Just(b":".to_vec()),
        Just(b",".to_vec()),
        Just(b" ".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(super::BOM.to_vec()),
        Just(b"2026 header".to_vec()),
        Just(b"true".to_vec()),
        Just(vec![b'x'; 70]),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn pieces_do_not_matter(content in content(), max_record in 8_usize..200, pieces in prop::collection::vec(1_usize..200, 3)) {
        for framing in ALL {
            let whole = cut(framing, &content, max_record, max_record);
            for piece in &pieces {
                let parts = cut(framing, &content, (*piece).min(max_record), max_record);
                prop_assert_eq!(&parts, &whole, "{:?} by {}", framing, piece);
            }
        }
    }

    #[test]
    fn every_byte_is_in_one_place(content in content(), max_record in 8_usize..200) {
        for framing in ALL {
            let (records, lost) = cut(framing, &content, max_record, max_record);
            let mut last = 0;
            for (index, (number, offset, text)) in records.iter().enumerate() {
                prop_assert!(*offset >= last, "{framing:?}: records overlap");
                prop_assert!(index == 0 || *number > records[index - 1].0);
                // Replacement of bytes that are not UTF-8 changes lengths; take the least.
                last = offset + text.chars().filter(|char| *char != '\u{fffd}').map(|char| char.len_utf8() as u64).sum::<u64>();
            }
            if matches!(framing, Framing::Lines) {
                let used: u64 = lost.iter().map(|lost| lost.3).sum();
                let lines = content.split_inclusive(|byte| *byte == b'\n').filter(|line| super_trim(line) <= max_record);
                prop_assert_eq!(used + lines.map(|line| line.len() as u64).sum::<u64>(), content.len() as u64);
            }
        }
    }

    #[test]
    fn values_are_what_serde_says(values in prop::collection::vec(json(), 1..8), pretty in any::<bool>()) {
        let write = |value: &serde_json::Value| if pretty { format!("{value:#}") } else { value.to_string() };
        let texts_in: Vec<String> = values.iter().map(write).collect();
        let array = format!("{{\"log\":{{\"x\":{},\"entries\":[{}]}}}}", texts_in[0], texts_in.join(", "));
        prop_assert_eq!(texts(ENTRIES, &array), texts_in.clone());
        let containers: Vec<String> = texts_in.into_iter().filter(|text| text.starts_with(['[', '{'])).collect();
        prop_assert_eq!(texts(Framing::JsonValues, &containers.join("\n")), containers);
    }
}

fn super_trim(line: &[u8]) -> usize {
    line.strip_suffix(b"\n").unwrap_or(line).len()
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}
