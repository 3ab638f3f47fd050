//! Objects that were printed for people: bracket depth line by line, and the skeleton of a message whose text is cut.
//!
//! Reads JSON and the output of Node's `util.inspect` alike. It never says that a message is damaged: a log that cut or
//! reprinted a message proves nothing about the message itself. Whole JSON belongs to [`crate::jsonrpc`].

use crate::event::{Answer, Detail, ErrorShape, Id, Notification, Pairs, Request, ResultShape, Rpc, Wording};

/// Bracket depth outside quotes, carried from line to line.
///
/// `util.inspect` and JSON break lines inside a string only where it stands in backticks; the other quotes end with
/// their line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    depth: usize,
    template: bool,
}

impl Nesting {
    /// Reads one more line, or piece of a line.
    pub fn read(&mut self, line: &str) {
        let bytes = line.as_bytes();
        let mut quote = self.template.then_some(b'`');
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match (quote, byte) {
                (Some(_), b'\\') => at += 1,
                (Some(open), _) if open == byte => quote = None,
                (None, b'"' | b'`') => quote = Some(byte),
                (None, b'\'') if !is_apostrophe(bytes, at) => quote = Some(byte),
                (None, b'{' | b'[') => self.depth = self.depth.saturating_add(1),
                (None, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        self.template = quote == Some(b'`');
    }

    /// How many brackets are open.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a string in backticks is open.
    pub fn in_template(&self) -> bool {
        self.template
    }

    /// Whether the next line belongs to the same object.
    pub fn is_open(&self) -> bool {
        self.depth > 0 || self.template
    }
}

/// `'` between two letters: "can't" in a message that was printed without quotes.
fn is_apostrophe(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(u8::is_ascii_alphanumeric)
        && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
}

/// What the outer members of a cut or reprinted message say. The first value of a key counts: it stands before any cut.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Skeleton<'a> {
    /// `id`.
    pub id: Option<Id<'a>>,
    /// `method`.
    pub method: Option<&'a str>,
    /// `params.name`, `params.uri` or `params.taskId`.
    pub target: Option<&'a str>,
    /// `result` stands there.
    pub result: bool,
    /// `error` stands there.
    pub error: bool,
    /// `error.code`.
    pub code: Option<i64>,
}

impl<'a> Skeleton<'a> {
    /// The message, as far as it can be told; `None` where the cut took its id or kind.
    pub fn rpc(&self) -> Option<Rpc<'a>> {
        match (self.method, self.id) {
            (Some(method), Some(id)) => Some(thin_request(id, method, self.target)),
            // A method without id may be a request whose id was cut off, unless its name says otherwise.
            (Some(method), None) if method.starts_with("notifications/") => {
                Some(Rpc::Notification(Notification::named(method)))
            }
            (None, Some(id)) if self.result != self.error => {
                Some(if self.result { thin_result(id) } else { thin_error(id, self.code) })
            }
            _ => None,
        }
    }

    fn key(&mut self, depth: usize, key: &str) {
        if depth == 1 {
            self.result |= key == "result";
            self.error |= key == "error";
        }
    }

    fn value(&mut self, parent: &str, key: &str, value: Value<'a>) {
        match (parent, key) {
            ("", "id") => self.id = self.id.or_else(|| value.id()),
            ("", "method") => self.method = self.method.or_else(|| value.text()),
            ("params", "name" | "uri" | "taskId") => self.target = self.target.or_else(|| value.text()),
            ("error", "code") => self.code = self.code.or_else(|| value.bare()?.parse().ok()),
            _ => {}
        }
    }
}

/// A request of which the rest is unknown.
pub fn thin_request<'a>(id: Id<'a>, method: &'a str, target: Option<&'a str>) -> Rpc<'a> {
    Rpc::Request(Request {
        id,
        method,
        target,
        args: None,
        arguments: None,
        pairs: Pairs::default(),
        revision: None,
        client: None,
        state: None,
        has_input_responses: false,
        trace: None,
        idempotency_key: None,
        as_task: false,
    })
}

/// An answer with a result of which the rest is unknown.
pub fn thin_result(id: Id<'_>) -> Rpc<'_> {
    let shape = ResultShape { object: true, ..ResultShape::default() };
    Rpc::Answer(Answer {
        beside: false,
        id: Some(id),
        version_ok: true,
        result: Some(shape),
        error: None,
        detail: Detail::None,
        named: None,
    })
}

/// An answer with an error of which the rest is unknown.
pub fn thin_error(id: Id<'_>, code: Option<i64>) -> Rpc<'_> {
    let shape = ErrorShape { code, message_ok: true, wording: Wording::Other, named: None, beside: false };
    Rpc::Answer(Answer {
        beside: false,
        id: Some(id),
        version_ok: true,
        result: None,
        error: Some(shape),
        detail: Detail::None,
        named: None,
    })
}

/// A scalar as it stands in the text.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Quoted(&'a str),
    Bare(&'a str),
}

impl<'a> Value<'a> {
    fn id(self) -> Option<Id<'a>> {
        match self {
            Self::Quoted(_) => self.text().map(Id::Text),
            Self::Bare("null") => Some(Id::Null),
            Self::Bare(text) => text.parse().ok().map(Id::Int),
        }
    }

    /// Text with escapes is not worth unescaping here: names have none.
    fn text(self) -> Option<&'a str> {
        match self {
            Self::Quoted(text) => (!text.contains('\\')).then_some(text),
            Self::Bare(_) => None,
        }
    }

    fn bare(self) -> Option<&'a str> {
        match self {
            Self::Bare(text) => Some(text),
            Self::Quoted(_) => None,
        }
    }
}

/// Reads the outer members of a message, up to the place where its text is cut.
pub fn skeleton(text: &str) -> Skeleton<'_> {
    let mut found = Skeleton::default();
    let text = text.trim_start();
    if !text.starts_with('{') {
        return found;
    }
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0_usize);
    // The key whose value comes next, and the outer key whose object is open.
    let (mut key, mut parent) = ("", "");
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth == 2 {
                    parent = key;
                }
                key = "";
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
                if depth == 1 {
                    parent = "";
                }
                key = "";
            }
            b',' => key = "",
            b':' => {}
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                let Some((value, end)) = scalar(text, start) else { break };
                at = end;
                if bytes[at..].trim_ascii_start().first() == Some(&b':') && key.is_empty() {
                    key = value.text().or(value.bare()).unwrap_or("?");
                    found.key(depth, key);
                } else if depth <= 2 {
                    found.value(parent, key, value);
                }
            }
        }
    }
    found
}

/// The string or bare word that begins at `start`, and where it ends. `None` when the text is cut inside it.
fn scalar(text: &str, start: usize) -> Option<(Value<'_>, usize)> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(start)?;
    let mut at = start + 1;
    if matches!(quote, b'"' | b'\'' | b'`') {
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                _ if byte == quote => return Some((Value::Quoted(text.get(start + 1..at)?), at + 1)),
                _ => at += 1,
            }
        }
        return None;
    }
    while bytes.get(at).is_some_and(|byte| !byte.is_ascii_whitespace() && !b",:{}[]\"'`".contains(byte)) {
        at += 1;
    }
    // A number that touches the end of the text may have lost digits.
    (at < bytes.len()).then_some((Value::Bare(text.get(start..at)?), at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn depth(lines: &[&str]) -> (usize, bool) {
        let mut nesting = Nesting::default();
        for line in lines {
            nesting.read(line);
        }
        (nesting.depth(), nesting.in_template())
    }

    #[test]
    fn brackets_inside_quotes_do_not_count() {
        assert_eq!(depth(&["{ a: '}', b: \"]\", c: `{`"]), (1, false));
        assert_eq!(depth(&[r#"{"a":"\"}"#]), (1, false));
        assert_eq!(depth(&["{", "  stack: `Error: {", "  } ' \" still text", "` }"]), (0, false));
        assert_eq!(depth(&["{ e: Error: can't connect {"]), (2, false));
        // An unclosed quote ends with its line.
        assert_eq!(depth(&["{ a: 'cut", "}"]), (0, false));
        assert_eq!(depth(&["}}", "{"]), (1, false));
    }

    #[test]
    fn a_cut_message_still_tells_its_id_and_method() {
        let cut =
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pay","arguments":{"id":9,"note":"…"#;
        let found = skeleton(cut);
        assert_eq!(
            (found.id, found.method, found.target),
            (Some(Id::Int(7)), Some("tools/call"), Some("pay")),
            "{found:?}"
        );
        assert!(matches!(found.rpc(), Some(Rpc::Request(Request { id: Id::Int(7), args: None, .. }))));
    }

    #[test]
    fn inner_members_are_not_taken_for_outer_ones() {
        let found = skeleton(r#"{"result":{"id":3,"method":"x","content":[{"id":4},{"text":"\"id\":5"#);
        assert_eq!((found.id, found.method, found.result), (None, None, true));
        assert_eq!(found.rpc(), None);
        // Digits at the end of the text may be cut.
        assert_eq!(skeleton(r#"{"method":"ping","id":1"#).id, None);
    }

    #[test]
    fn reads_an_inspected_object() {
        let text = "{\n  jsonrpc: '2.0',\n  id: 4,\n  error: { code: -32601, message: 'Method not found' }\n}";
        let Some(Rpc::Answer(answer)) = skeleton(text).rpc() else { panic!() };
        assert_eq!((answer.id, answer.error.and_then(|error| error.code)), (Some(Id::Int(4)), Some(-32601)));
        let text = "{\n  result: { content: [ [Object] ], isError: true },\n  id: 'a-1'\n}";
        let Some(Rpc::Answer(answer)) = skeleton(text).rpc() else { panic!() };
        assert_eq!((answer.id, answer.error), (Some(Id::Text("a-1")), None));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,80}", json in "[{}\\[\\]:,'\"`\\\\a1é \n]{0,80}") {
            let _ = skeleton(&text).rpc();
            let _ = skeleton(&format!("{{{json}")).rpc();
            let mut nesting = Nesting::default();
            for line in json.lines() {
                nesting.read(line);
            }
        }
    }
}
