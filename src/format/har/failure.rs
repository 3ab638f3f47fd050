//! Why an entry has no status. Claims that nothing was sent only where the text
//! of the writer says so and no recorded time contradicts it.

use bumpalo::Bump;

use super::json::Value;
use crate::event::HttpFailure;

/// What an entry says about an exchange without a status.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failure<'a> {
    /// `_error`, `_failureText`, `_errorMessage`: words of the writer's network stack.
    error: Option<Value<'a>>,
    /// `comment` and `statusText`: may be words of a person.
    comment: Option<Value<'a>>,
    /// The time of waiting or receiving is positive: the request had been sent.
    waited: bool,
    /// Playwright answered or aborted the request itself.
    intercepted: bool,
}

impl<'a> Failure<'a> {
    /// Takes a member of an entry or of its response, if it tells something here.
    pub(super) fn accept(&mut self, key: &str, value: Value<'a>) {
        match key {
            "_error" | "_failureText" | "_errorMessage" | "_errorText" if says_something(value) => {
                self.error.get_or_insert(value);
            }
            "comment" | "statusText" if says_something(value) => {
                self.comment = Some(value);
            }
            "_wasFulfilled" | "_wasAborted" => self.intercepted |= value.is_true(),
            "timings" => {
                self.waited = value.members().any(|(key, value)| {
                    matches!(key, "wait" | "receive") && value.number().is_some_and(|number| number > 0.0)
                });
            }
            _ => {}
        }
    }

    /// The writer is a browser tool that did not let the request out (Playwright `route.fulfill`, `route.abort`).
    pub(super) fn intercepted(&self) -> bool {
        self.intercepted
    }

    /// The cause; anything unknown is [`HttpFailure::Broken`], which claims nothing.
    pub(super) fn cause(&self, arena: &'a Bump) -> HttpFailure {
        let cause = match (self.error, self.comment) {
            (Some(error), _) => cause(error.text(arena).unwrap_or(error.raw())),
            // A person may write anything; the code of a network stack is no accident.
            (None, Some(comment)) => match comment.text(arena) {
                Some(text) if CODES.iter().any(|code| text.contains(code)) => cause(text),
                _ => HttpFailure::Broken,
            },
            (None, None) => HttpFailure::Broken,
        };
        if cause == HttpFailure::NotConnected && self.waited { HttpFailure::Broken } else { cause }
    }
}

fn says_something(value: Value<'_>) -> bool {
    !matches!(value.raw(), "null" | "\"\"" | "false" | "{}")
}

/// How the codes of network stacks begin: Chromium, Firefox, libuv.
const CODES: &[&str] = &["net::ERR_", "NS_ERROR_", "NS_BINDING_", "ECONN", "ENOTFOUND"];

/// Texts in order: what may have been sent before what was not. Without regard to ASCII case.
///
/// Chromium's names are of `net_error_list.h`, Firefox's of `xpc.msg`, the others of `WebKit`, libuv, libcurl, Python's
/// `asyncio` (mitmproxy) and `BrowserMob` Proxy.
static CAUSES: &[(&str, HttpFailure)] = &[
    ("err_aborted", HttpFailure::Aborted),
    ("ns_binding_aborted", HttpFailure::Aborted),
    ("client disconnected", HttpFailure::Aborted),
    ("load request cancelled", HttpFailure::Aborted),
    ("aborterror", HttpFailure::Aborted),
    // A connection that was there, whatever else the text names.
    ("reset", HttpFailure::Broken),
    ("epipe", HttpFailure::Broken),
    ("hang up", HttpFailure::Broken),
    ("read e", HttpFailure::Broken),
    ("reading", HttpFailure::Broken),
    ("receiv", HttpFailure::Broken),
    ("response", HttpFailure::Broken),
    // These alerts also end a session that already carried requests.
    ("err_ssl_bad_record_mac", HttpFailure::Broken),
    ("err_ssl_decrypt_error", HttpFailure::Broken),
    ("err_ssl_client_auth", HttpFailure::Broken),
    ("err_name_not_resolved", HttpFailure::NotConnected),
    ("err_name_resolution_failed", HttpFailure::NotConnected),
    ("err_connection_refused", HttpFailure::NotConnected),
    ("err_connection_timed_out", HttpFailure::NotConnected),
    ("err_connection_failed", HttpFailure::NotConnected),
    ("err_address_unreachable", HttpFailure::NotConnected),
    ("err_address_invalid", HttpFailure::NotConnected),
    ("err_internet_disconnected", HttpFailure::NotConnected),
    ("err_cert_", HttpFailure::NotConnected),
    ("err_ssl_", HttpFailure::NotConnected),
    ("err_proxy_connection_failed", HttpFailure::NotConnected),
    ("err_tunnel_connection_failed", HttpFailure::NotConnected),
    ("err_blocked_by_client", HttpFailure::NotConnected),
    ("ns_error_connection_refused", HttpFailure::NotConnected),
    ("ns_error_unknown_host", HttpFailure::NotConnected),
    ("ns_error_proxy_connection_refused", HttpFailure::NotConnected),
    ("ns_error_unknown_proxy_host", HttpFailure::NotConnected),
    ("sec_error_", HttpFailure::NotConnected),
    ("econnrefused", HttpFailure::NotConnected),
    ("enotfound", HttpFailure::NotConnected),
    ("eai_again", HttpFailure::NotConnected),
    ("connection refused", HttpFailure::NotConnected),
    ("connect call failed", HttpFailure::NotConnected),
    ("could not connect", HttpFailure::NotConnected),
    ("couldn't connect", HttpFailure::NotConnected),
    ("unable to connect to host", HttpFailure::NotConnected),
    ("unable to resolve host", HttpFailure::NotConnected),
    ("could not resolve host", HttpFailure::NotConnected),
    ("couldn't resolve host", HttpFailure::NotConnected),
    ("hostname could not be found", HttpFailure::NotConnected),
    ("name or service not known", HttpFailure::NotConnected),
    ("certificate verify failed", HttpFailure::NotConnected),
    ("self-signed certificate", HttpFailure::NotConnected),
];

fn cause(text: &str) -> HttpFailure {
    let text = text.to_ascii_lowercase();
    if matches!(text.trim_end_matches('.'), "cancelled" | "canceled" | "aborted") {
        return HttpFailure::Aborted;
    }
    CAUSES.iter().find(|(pattern, _)| text.contains(pattern)).map_or(HttpFailure::Broken, |(_, cause)| *cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(members: &str) -> HttpFailure {
        let arena = Bump::new();
        let object = format!("{{{members}}}");
        let mut failure = Failure::default();
        for (key, value) in Value::read(&object).members() {
            failure.accept(key, value);
        }
        failure.cause(&arena)
    }

    #[test]
    fn reads_the_words_of_network_stacks() {
        for (text, want) in [
            ("net::ERR_CONNECTION_REFUSED", HttpFailure::NotConnected),
            ("net::ERR_CERT_AUTHORITY_INVALID", HttpFailure::NotConnected),
            ("net::ERR_CONNECTION_RESET", HttpFailure::Broken),
            ("net::ERR_EMPTY_RESPONSE", HttpFailure::Broken),
            ("net::ERR_TIMED_OUT", HttpFailure::Broken),
            ("net::ERR_FAILED", HttpFailure::Broken),
            ("net::ERR_BLOCKED_BY_RESPONSE", HttpFailure::Broken),
            ("net::ERR_SSL_BAD_RECORD_MAC_ALERT", HttpFailure::Broken),
            ("net::ERR_ABORTED", HttpFailure::Aborted),
            ("NS_BINDING_ABORTED", HttpFailure::Aborted),
            ("cancelled", HttpFailure::Aborted),
            ("[Errno 111] Connect call failed ('127.0.0.1', 23055)", HttpFailure::NotConnected),
            ("HTTP/1 protocol error: peer closed connection", HttpFailure::Broken),
        ] {
            assert_eq!(of(&format!("\"_error\":\"{text}\"")), want, "{text}");
        }
    }

    #[test]
    fn a_recorded_wait_refutes_that_nothing_was_sent() {
        let error = "\"_error\":\"net::ERR_CONNECTION_REFUSED\"";
        assert_eq!(of(&format!("{error},\"timings\":{{\"wait\":12.5}}")), HttpFailure::Broken);
        assert_eq!(of(&format!("{error},\"timings\":{{\"blocked\":9,\"wait\":-1}}")), HttpFailure::NotConnected);
    }

    #[test]
    fn a_comment_counts_only_with_a_code() {
        assert_eq!(of("\"comment\":\"test: connection refused\""), HttpFailure::Broken);
        assert_eq!(of("\"comment\":\"connect ECONNREFUSED 127.0.0.1:1\""), HttpFailure::NotConnected);
        assert_eq!(of("\"_error\":null,\"comment\":\"\""), HttpFailure::Broken);
    }
}
