//! The request was refused before dispatch by its envelope: authorization, headers, version.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "refused-at-the-door",
    title: "Refused before dispatch",
    doc: Doc {
        means: "The transport layer of the server, or a gateway before forwarding, refused the request for its credentials, headers or protocol version.",
        recognized: "HTTP 401, 403, 405, 406, 413, 415, 421; 400 with a text that SDKs write before dispatch; JSON-RPC codes −32020 and −32022 (with the request's own id a condition: a handler can raise every code); at once, by any duration on record; no message with the request's own id in the body (beside a challenge an error may echo it, but none of a failure inside), no result and no id of anybody in it, no message wrapped in other text, no words about the tool's result, no header that counts retries, times the tool or plays an answer back; the body is empty, a page of a proxy, or an error in nothing but the words of a door (`wording/door.rs`); nothing that a server or another source tells of the time in between, no upstream that a proxy lost near it, no receipt, no contact and no second dispatch on record (a header of the answer may show one).",
        is_not: "A tool that reports a provider's 401 inside a 200: that tool ran. Nor a denial whose record shows an upstream status. Where a source of the capture is cut, or an access log shows a request that no call accounts for, a later attempt of the same call may be missing: then it is a condition; and so it is where the body was not captured, cannot be decoded or says something in other words, where no duration is on record, and where an event stream that was open meanwhile carries a message that may be about it.",
        to_do: "Correct what was refused (log in, fix the headers, use a supported version); the same request fails again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let Some(Refusal::AtTheDoor { certain }) = refusal(attempt.facts, attempt.outcome) else { return None };
    let reason = match attempt.facts.http.map(|http| http.status) {
        Some(401) => "It was refused for missing or invalid credentials, before dispatch.",
        Some(403) => "It was refused by policy, before dispatch.",
        _ => "It was refused for its envelope, before dispatch.",
    };
    Some(if certain {
        Opinion::new(Caution::Safe, RULE.id, reason, Helps::No, attempt.end())
    } else {
        let condition = "the error was written by the transport and not by the tool";
        Opinion::safe_if(RULE.id, condition, reason, Helps::No, attempt.end())
    })
}
