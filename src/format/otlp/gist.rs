//! The spans of a record in a few words: name, status, duration.
//!
//! It decides nothing, and reads no more of the record than a person would be shown.

use std::fmt::Write as _;

use bumpalo::Bump;

use crate::format::loose::Value;

/// At most so many spans are told; a quote has no room for more.
const SPANS: usize = 8;

/// `span tools/call pay: status error "no answer" after 60004 ms; POST: status unset after 3 ms`. What the beginning of a long record
/// does not reach is left out.
pub(super) fn gist(text: &str) -> Option<Vec<String>> {
    told(text).map(|words| vec![words])
}

fn told(text: &str) -> Option<String> {
    let arena = &Bump::new();
    let record = Value::read(text);
    let resources = lists(record, &["resourceSpans", "batches"]);
    // The exporter for loggers of Java writes a resource without the list around it.
    let resources = resources.chain(std::iter::once(record));
    let scopes = resources.flat_map(|resource| lists(resource, &["scopeSpans", "instrumentationLibrarySpans"]));
    let spans = scopes.flat_map(|scope| lists(scope, &["spans"]));
    let words: Vec<String> = spans.filter_map(|span| words(span, arena)).take(SPANS).collect();
    (!words.is_empty()).then(|| format!("span {}", words.join("; ")))
}

/// The elements of the lists of these names.
fn lists<'a>(value: Value<'a>, names: &'static [&'static str]) -> impl Iterator<Item = Value<'a>> {
    value.members().filter(|(key, _)| names.contains(key)).flat_map(|(_, list)| list.elements())
}

fn words(span: Value<'_>, arena: &Bump) -> Option<String> {
    let (mut name, mut status, mut begin, mut end) = (None, None, None, None);
    for (key, value) in span.members() {
        match key {
            "name" => name = Some(value),
            "status" => status = Some(value),
            "startTimeUnixNano" => begin = nanoseconds(value),
            "endTimeUnixNano" => end = nanoseconds(value),
            _ => {}
        }
    }
    let mut words = string(name?, arena)?;
    if span.whole() {
        let _ = write!(
            words,
            ": status {}",
            status.map_or_else(|| "unset".to_owned(), |status| self::status(status, arena))
        );
    }
    if let Some(took) = begin.zip(end).and_then(|(begin, end)| end.checked_sub(begin)) {
        let _ = write!(words, " after {} ms", took / 1_000_000);
    }
    Some(words)
}

/// The status as people name it, with its message.
fn status(status: Value<'_>, arena: &Bump) -> String {
    let (mut code, mut message) = ("unset", None);
    for (key, value) in status.members() {
        match (key, value.raw().trim_matches('"')) {
            ("code", "1" | "STATUS_CODE_OK") => code = "ok",
            ("code", "2" | "STATUS_CODE_ERROR") => code = "error",
            ("message", _) => message = string(value, arena).filter(|message| !message.is_empty()),
            _ => {}
        }
    }
    message.map_or_else(|| code.to_owned(), |message| format!("{code} \"{message}\""))
}

fn string(value: Value<'_>, arena: &Bump) -> Option<String> {
    // The walk borrows from the arena as long as from the text.
    let copy: &str = arena.alloc_str(value.raw());
    Value::read(copy).text(arena).map(str::to_owned)
}

/// Nanoseconds since the epoch, which JSON writes as a string.
fn nanoseconds(value: Value<'_>) -> Option<u64> {
    value.raw().trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::told;

    const SPANS: &str = r#"{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"x"},"spans":[
        {"traceId":"0a","name":"tools/call pay","startTimeUnixNano":"1000000000","endTimeUnixNano":"61004000000",
         "status":{"message":"no answer","code":2}},{"name":"POST","status":{"code":1},"attributes":[]}]}]}]}"#;

    #[test]
    fn spans_are_told_in_a_few_words() {
        assert_eq!(
            told(SPANS).as_deref(),
            Some("span tools/call pay: status error \"no answer\" after 60004 ms; POST: status ok")
        );
        let bare = r#"{"scopeSpans":[{"spans":[{"name":"tools/list"}]}]}"#;
        assert_eq!(told(bare).as_deref(), Some("span tools/list: status unset"));
    }

    #[test]
    fn what_is_behind_a_cut_is_not_told() {
        let cut = SPANS.find("\"status\"").expect("a status");
        assert_eq!(told(&SPANS[..cut]).as_deref(), Some("span tools/call pay after 60004 ms"));
        for text in ["", "{}", r#"{"resourceLogs":[]}"#, r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"na"#] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
