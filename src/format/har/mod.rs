//! HAR 1.2: one recorded HTTP exchange per entry, with bodies. Browsers, mitmproxy, Playwright and others write it.
//!
//! Decodes one entry at a time. What its bodies mean together with other entries is not decided here.

pub(super) mod behind;
mod body;
mod entry;
mod failure;
mod gist;
mod head;
mod times;
mod words;

use crate::{
    event::Witness,
    format::{Format, Head, loose::Value},
    frame::Framing,
};

/// The HAR format.
pub static FORMAT: Format = Format {
    name: "har",
    title: "HTTP Archive (HAR 1.2): recorded exchanges with bodies",
    doc: DOC,
    framing: Framing::JsonArray(&["log", "entries"]),
    json_lines: false,
    gist: Some(gist::gist),
    // The first hop sees it: the client itself in a browser, a proxy elsewhere. An entry does not tell which.
    witness: Some(Witness::Proxy),
    sniff,
    decode: entry::decode,
};

const DOC: &str = "\
## Written by

Browser developer tools (Chrome, Edge, Firefox, Safari), Playwright, mitmproxy, Proxyman, Charles, Fiddler, Insomnia,
BrowserMob Proxy, mcpsnoop. Quirks of each are tolerated: status 0, -1, -998 or -999, a missing response, bodies in
base64 with or without the flag, bodies in a file of their own, `NaN`, lone surrogates, repeated keys, text around the
document.

## Shape

One JSON document, `{\"log\": {\"entries\": [ENTRY, ...]}}`. An entry has `startedDateTime`, `time`, `request` and
`response`. A record is one entry and becomes one exchange with the JSON-RPC messages of both bodies; event streams are
taken apart. Entries of mcpsnoop (`mcp://server/method/tool`) are no HTTP: they become messages.

## Proves

The request left the client, or reached the proxy that recorded it, unless the entry names a cause that excludes it
(refused, DNS, TLS, proxy or tunnel failed). A body with a JSON-RPC answer proves that the server answered. A status
without a body proves an answer of unknown content. Nothing here proves that the server's tool ran.

## Silent about

- Chrome and Safari export finished requests only, and Chrome only what its filter box shows: a call without an entry
  is unknown, never \"not sent\".
- Chrome and mitmproxy leave out streamed bodies: an empty event stream that answers a call counts as not captured.
- `startedDateTime` of Chrome is when the request was queued. Insomnia writes the moment of export into every entry and
  renders the request anew: its times and requests prove nothing.
- Exports are sanitized by default: a missing `Authorization` header proves nothing.
- Playwright can answer a request itself (`_wasFulfilled`), also with what it fetched before: such an entry does not
  tell whether the request went out. An aborted one (`_wasAborted`) did not, where no time, status or body contradicts.
- A `time` of 0 or less is no measurement; `timings` count where they tell more.
- `server: nginx` and its like stay on answers that only passed through: they name a hop, not the author of a body.
- WebSocket messages are not read.
";

/// How far before the document other text may stand: a byte order mark, a JSONP call, a line of a console.
const GARBAGE: usize = 4096;

/// A JSON object with `log`, which is an object with `entries`. Where the head ends inside a long list of pages,
/// `creator` and `version` (or `pages`) count instead.
fn sniff(head: &Head<'_>) -> bool {
    let text = match std::str::from_utf8(head.bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head.bytes[..error.valid_up_to()]).unwrap_or(""),
    };
    let Some(start) = text.bytes().take(GARBAGE).position(|byte| byte == b'{') else {
        return false;
    };
    Value::read(&text[start..]).members().any(|(key, log)| {
        let (mut entries, mut creator, mut other) = (false, false, false);
        for (member, value) in log.members().filter(|_| key == "log") {
            match member {
                "entries" => entries |= value.is_array(),
                "creator" => creator |= value.is_object(),
                "version" | "pages" => other = true,
                _ => {}
            }
        }
        entries || creator && other && !log.whole()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniffs(text: &str) -> bool {
        sniff(&Head { bytes: text.as_bytes() })
    }

    #[test]
    fn knows_a_har_by_its_content() {
        for text in [
            r#"{"log":{"version":"1.2","creator":{"name":"x"},"pages":[],"entries":[{"startedDat"#,
            "\u{feff}\n{ \"log\" : { \"entries\" : [ ] } }",
            "onInputData({\"log\":{\"entries\":[{}]}});",
            r#"{"comment":"{","log":{"browser":{},"entries":["#,
            r#"{"log":{"version":"1.2","creator":{"name":"x"},"pages":[{"title":"a long li"#,
        ] {
            assert!(sniffs(text), "{text}");
        }
    }

    #[test]
    fn leaves_other_json_alone() {
        for text in [
            r#"{"log":"{\"log\":{\"entries\":[]}}","stream":"stdout","time":"2026-11-30T03:00:00Z"}"#,
            r#"{"entries":[],"log":{"level":"info"}}"#,
            r#"{"log":{"level":"info","version":"2","creator":{}}}"#,
            r#"{"data":{"log":{"entries":[]}}}"#,
            "[{\"log\":1}]",
            "",
        ] {
            assert!(!sniffs(text), "{text}");
        }
    }
}
