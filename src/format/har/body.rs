//! What the bodies of an entry hold: decodes base64, tells JSON from an event stream, reads the messages, and says what
//! the capture does not hold. Knows neither headers nor times.

use bumpalo::Bump;

use super::behind;
use crate::{
    base64,
    event::{Answer, Body, ContentKind, Notification, Request, Rpc, Wording},
    format::loose::{self, Value},
    jsonrpc::{self, Oddities},
    sse, wording,
};

/// A recorded body as text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Text<'a> {
    /// The characters; `None` where the capture has none.
    pub(super) characters: Option<&'a str>,
    /// Bytes were replaced to make it text.
    lossy: bool,
    /// Size that the writer states, in bytes.
    pub(super) size: Option<u64>,
    /// The writer describes a body, be it of unknown size.
    pub(super) stated: bool,
    /// Media type that the writer states.
    pub(super) kind: ContentKind,
    /// The body stands in a file of its own (Playwright `_file`, `_sha1`).
    pub(super) elsewhere: bool,
    /// A key stands twice.
    pub(super) twice: bool,
}

impl<'a> Text<'a> {
    /// Reads a `postData` or `content` object.
    pub(super) fn read(object: Value<'a>, arena: &'a Bump) -> Self {
        let mut body = Self::default();
        let (mut text, mut encoding, mut params) = (None, None, None);
        for (key, value) in object.members() {
            match key {
                "text" => body.twice |= text.replace(value).is_some(),
                "encoding" | "_encoding" => encoding = value.text(arena),
                "params" => params = Some(value),
                "mimeType" => body.kind = value.text(arena).map(super::head::content_kind).unwrap_or_default(),
                "size" => (body.size, body.stated) = (whole_number(value), true),
                "_file" | "_sha1" => body.elsewhere = true,
                _ => {}
            }
        }
        body.stated |= body.kind != ContentKind::Unknown;
        body.characters = text.and_then(|text| text.text(arena)).map(|text| text.trim_matches(is_padding));
        if body.characters.is_none_or(str::is_empty)
            && let Some(joined) = params.and_then(|params| joined(params, arena))
        {
            body.characters = Some(joined);
        }
        if let Some(text) = body.characters
            && (encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64")) || is_hidden_base64(text))
        {
            body.decode(text, arena);
        }
        body
    }

    fn decode(&mut self, text: &str, arena: &'a Bump) {
        // A writer may set the flag and leave the text plain.
        let Some(bytes) = base64::decode(text, arena) else { return };
        if bytes.starts_with(b"\x1f\x8b") {
            // Still compressed: the capture holds the bytes, and nobody can read them here.
            (self.characters, self.size) = (None, Some(bytes.len() as u64));
            return;
        }
        let text = std::str::from_utf8(bytes);
        self.lossy = text.is_err();
        self.characters = Some(text.unwrap_or_else(|_| arena.alloc_str(&String::from_utf8_lossy(bytes))));
    }

    /// The capture cut it: the writer states more bytes than it wrote.
    fn is_cut(&self) -> bool {
        self.lossy || self.size.zip(self.characters).is_some_and(|(size, text)| size > text.len() as u64)
    }
}

/// A count; negative and absurd ones are unknown.
fn whole_number(value: Value<'_>) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
    value.number().filter(|number| *number >= 0.0).map(|number| number as u64)
}

fn is_padding(character: char) -> bool {
    matches!(character, '\u{feff}' | '\0')
}

/// Base64 without the flag (bodies from files in Insomnia, some Charles exports): how `{"`, `{` with a blank or line
/// feed, `[{`, `["`, `event:`, `data:` and `id: ` begin.
fn is_hidden_base64(text: &str) -> bool {
    ["eyJ", "eyA", "ewo", "ew0", "W3s", "WyJ", "ZXZlbnQ6", "ZGF0YT", "aWQ6"].iter().any(|start| text.starts_with(start))
}

/// A body that the writer took for a form and cut into `params`.
fn joined<'a>(params: Value<'a>, arena: &'a Bump) -> Option<&'a str> {
    let mut text = String::new();
    for param in params.elements() {
        let (mut name, mut content) = (None, None);
        for (key, value) in param.members() {
            match key {
                "name" => name = value.text(arena),
                "value" => content = value.text(arena),
                _ => {}
            }
        }
        if !text.is_empty() {
            text.push('&');
        }
        text.push_str(name.unwrap_or(""));
        if let Some(content) = content.filter(|content| !content.is_empty()) {
            text.push('=');
            text.push_str(content);
        }
    }
    looks_like_json(&text).then(|| &*arena.alloc_str(&text))
}

/// Whether `text` begins like a JSON object or array. `[Fiddler] …` does not.
fn looks_like_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{')
        || text.strip_prefix('[').is_some_and(|rest| {
            rest.trim_start()
                .starts_with(|c: char| matches!(c, '{' | '[' | ']' | '"' | '-' | 't' | 'f' | 'n' | '0'..='9'))
        })
}

/// Reads one message or batch; a lone surrogate does not make it malformed.
pub(super) fn messages<'a>(text: &'a str, arena: &'a Bump) -> (Vec<Rpc<'a>>, Oddities) {
    let (messages, oddities) = jsonrpc::read(text, arena);
    if messages.contains(&Rpc::Malformed)
        && let Some(repaired) = loose::without_lone_surrogates(text, arena)
    {
        return jsonrpc::read(repaired, arena);
    }
    (messages, oddities)
}

/// The messages of a request body. Forms and files hold none.
pub(super) fn sent<'a>(body: &Text<'a>, arena: &'a Bump) -> (Vec<Rpc<'a>>, Oddities) {
    match body.characters.filter(|text| !text.trim().is_empty()) {
        Some(text) if looks_like_json(text) || body.kind == ContentKind::Json => {
            let (messages, oddities) = messages(text, arena);
            if body.is_cut() && messages == [Rpc::Malformed] { (Vec::new(), oddities) } else { (messages, oddities) }
        }
        _ => (Vec::new(), Oddities::default()),
    }
}

/// What an answer's body says.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    pub(super) messages: Vec<Rpc<'a>>,
    pub(super) state: Body,
    pub(super) content: ContentKind,
    pub(super) wording: Wording,
    /// An event had an id.
    pub(super) event_id: bool,
    /// Data of the `endpoint` event of HTTP+SSE (2024-11-05).
    pub(super) endpoint: Option<&'a str>,
    /// The text is a page that a proxy writes by itself.
    pub(super) gateway_page: bool,
    /// The body of a refusal tells of an answer that was made behind whoever refused.
    pub(super) behind: bool,
    /// The body of a refusal says something in words that no door is known for.
    pub(super) unknown_words: bool,
    pub(super) oddities: Oddities,
}

impl<'a> Answered<'a> {
    /// No text: `state` says whether there should be one.
    pub(super) fn without_text(state: Body, content: ContentKind) -> Self {
        Self {
            messages: Vec::new(),
            state,
            content,
            wording: Wording::Other,
            event_id: false,
            endpoint: None,
            gateway_page: false,
            behind: false,
            unknown_words: false,
            oddities: Oddities::default(),
        }
    }

    /// Reads a body that is there. `content` is what headers or capture say; the text decides where they are silent.
    pub(super) fn read(body: &Text<'a>, text: &'a str, content: ContentKind, status: i32, arena: &'a Bump) -> Self {
        let mut read = Self::by_kind(body, text, content, status, arena);
        if status >= 300 {
            read.behind = behind::in_body(text, &read.messages);
            read.unknown_words = !wording::refuses_in_known_words(text);
            // What nobody could decode is no word of a refusal.
            if read.state == Body::Foreign && body.is_cut() {
                read.state = Body::Missing;
            }
        }
        read
    }

    fn by_kind(body: &Text<'a>, text: &'a str, content: ContentKind, status: i32, arena: &'a Bump) -> Self {
        let json = looks_like_json(text);
        match content {
            ContentKind::EventStream if !json => Self::stream(body, sse::events(text, arena), arena),
            ContentKind::Unknown | ContentKind::Other if !json && sse::looks_like_stream(text) => {
                Self::stream(body, sse::events(text, arena), arena)
            }
            ContentKind::Html => Self::foreign(text, content),
            // "Accepted" is no answer, whatever its media type says.
            ContentKind::Json if json || status != 202 => Self::json(body, text, content, arena),
            ContentKind::Unknown if json => Self::json(body, text, ContentKind::Json, arena),
            _ if json => Self::json(body, text, content, arena),
            _ => Self::foreign(text, content),
        }
    }

    fn foreign(text: &'a str, content: ContentKind) -> Self {
        Self {
            wording: wording::read(text).0,
            gateway_page: is_gateway_page(text),
            ..Self::without_text(Body::Foreign, content)
        }
    }

    fn json(body: &Text<'a>, text: &'a str, content: ContentKind, arena: &'a Bump) -> Self {
        let (messages, oddities) = messages(text, arena);
        if messages.contains(&Rpc::Malformed) {
            let state = if body.is_cut() { Body::Missing } else { Body::Malformed };
            // A gateway may write its page under any media type.
            let messages = if body.is_cut() { Vec::new() } else { messages };
            return Self { messages, oddities, ..Self { state, ..Self::foreign(text, content) } };
        }
        let wording = if messages.iter().any(is_rpc) { Wording::Other } else { wording::read(text).0 };
        Self { messages, wording, oddities, ..Self::without_text(Body::Parsed, content) }
    }

    /// Reads the events of a stream, whether they stand in the body or in a list of the writer.
    pub(super) fn stream(body: &Text<'a>, events: impl Iterator<Item = sse::Event<'a>>, arena: &'a Bump) -> Self {
        let mut read = Self::without_text(Body::Parsed, ContentKind::EventStream);
        let (mut torn, mut malformed) = (false, false);
        for event in events {
            read.event_id |= event.id.is_some_and(|id| !id.is_empty());
            if event.name == "endpoint" && event.ended {
                read.endpoint = Some(event.data);
            }
            // The TypeScript SDK stores a priming event as `{}`.
            let primes = event.id.is_some() && event.data.trim() == "{}";
            if event.data.trim().is_empty() || !event.is_message() || primes {
                torn |= !event.ended;
                continue;
            }
            let (messages, oddities) = messages(event.data, arena);
            // Writers may trim the end of a body, so a whole message counts without its blank line.
            if !event.ended && !messages.iter().all(is_rpc) {
                torn = true;
                continue;
            }
            malformed |= messages.contains(&Rpc::Malformed);
            read.oddities = read.oddities | oddities;
            read.messages.extend(messages);
        }
        let answered = read.messages.iter().any(|message| matches!(message, Rpc::Answer(_)));
        read.state = match () {
            () if !answered && (torn || malformed) && body.is_cut() => Body::Missing,
            () if torn => Body::TornStream,
            () if malformed && !answered => Body::Malformed,
            () => Body::Parsed,
        };
        read
    }
}

/// A JSON-RPC message, as far as it can be told without its envelope.
pub(super) fn is_rpc(message: &Rpc<'_>) -> bool {
    match message {
        Rpc::Request(_) | Rpc::Notification(_) => true,
        Rpc::Answer(Answer { version_ok, .. }) => *version_ok,
        Rpc::Malformed | Rpc::NotRpc => false,
    }
}

/// A request or notification whose method has no place in MCP: other JSON-RPC services name theirs `eth_call` or
/// `system.listMethods`, MCP all but two of its own with a slash.
pub(super) fn is_other_service(message: &Rpc<'_>) -> bool {
    match message {
        Rpc::Request(Request { method, .. }) | Rpc::Notification(Notification { method, .. }) => {
            !matches!(*method, "initialize" | "ping") && !method.contains('/')
        }
        _ => false,
    }
}

/// Pages and texts that proxies write by themselves: nginx, Cloudflare, Envoy, Varnish and others.
fn is_gateway_page(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "<center>nginx",
        "<center>openresty",
        "<center>cloudflare",
        "cf-error-details",
        "cloudflare ray id",
        "upstream connect error or disconnect/reset",
        "no healthy upstream",
        "upstream request timeout",
        "rbac: access denied",
        "no server is available to handle this request",
        "guru meditation",
    ];
    const LIMIT: usize = 16 * 1024;
    let start = &text.as_bytes()[..text.len().min(LIMIT)];
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    SIGNS.iter().any(|sign| start.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejoins_a_body_taken_for_a_form() {
        let arena = Bump::new();
        let data = r#"{"mimeType":"x","params":[{"name":"{\"q\":\"a","value":"b"},{"name":"c\"}"}]}"#;
        assert_eq!(Text::read(Value::read(data), &arena).characters, Some("{\"q\":\"a=b&c\"}"));
        let form = r#"{"params":[{"name":"user","value":"x"}]}"#;
        assert_eq!(Text::read(Value::read(form), &arena).characters, None);
    }

    #[test]
    fn finds_base64_with_and_without_its_flag() {
        let arena = Bump::new();
        for content in [
            r#"{"text":"eyJhIjoxfQ==","encoding":"base64"}"#,
            r#"{"text":"eyJhIjoxfQ=="}"#,
            r#"{"text":"{\"a\":1}","encoding":"base64"}"#,
        ] {
            assert_eq!(Text::read(Value::read(content), &arena).characters, Some("{\"a\":1}"), "{content}");
        }
        let packed = Text::read(Value::read(r#"{"text":"H4sIAA==","encoding":"base64"}"#), &arena);
        assert_eq!((packed.characters, packed.size), (None, Some(4)));
    }

    #[test]
    fn a_bracket_is_not_yet_json() {
        assert!(looks_like_json(" [ {") && looks_like_json("{") && looks_like_json("[]"));
        assert!(!looks_like_json("[Fiddler] The connection failed"));
    }

    #[test]
    fn a_cut_capture_is_no_malformed_answer() {
        let arena = Bump::new();
        let read = |content: &'static str| {
            let body = Text::read(Value::read(content), &arena);
            Answered::read(&body, body.characters.expect("a text"), ContentKind::Json, 200, &arena).state
        };
        assert_eq!(read(r#"{"size":8,"text":"{\"jsonrp"}"#), Body::Malformed);
        assert_eq!(read(r#"{"size":900,"text":"{\"jsonrp"}"#), Body::Missing);
    }
}
