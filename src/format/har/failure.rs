//! Why an entry has no status. Claims that nothing was sent only where the text of the writer says so and nothing that
//! is recorded beside it (a time, a connection) contradicts it. What the words mean stands in `words`.

use bumpalo::Bump;

use super::words;
use crate::event::HttpFailure;
use crate::format::loose::Value;

/// What an entry says about an exchange without a status.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failure<'a> {
    /// `_error`, `_failureText`, `_errorMessage`: words of the writer's network stack.
    error: Option<Value<'a>>,
    /// `comment` and `statusText`: may be words of a person.
    comment: Option<Value<'a>>,
    /// `connection` or `serverIPAddress` names a connection.
    connected: bool,
    /// Playwright answered the request itself.
    fulfilled: bool,
    /// Playwright aborted the request itself.
    aborted: bool,
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
            "connection" | "serverIPAddress" => {
                self.connected |= says_something(value) && !matches!(value.raw(), "0" | "\"0\"");
            }
            "_wasFulfilled" => self.fulfilled |= value.is_true(),
            "_wasAborted" => self.aborted |= value.is_true(),
            _ => {}
        }
    }

    /// The words of the network stack, else what a person or the writer said of it.
    pub(super) fn words(&self, arena: &'a Bump) -> Option<&'a str> {
        self.error.or(self.comment).and_then(|words| words.text(arena))
    }

    /// Whether the words are those of Chromium or Firefox.
    pub(super) fn is_of_a_browser(&self, arena: &'a Bump) -> bool {
        self.words(arena).is_some_and(|words| ["net::ERR_", "NS_ERROR_"].iter().any(|code| words.contains(code)))
    }

    /// Why there was no answer, where the browser tool gave it or took it itself; `untouched` where no time, status or
    /// body is recorded. An answer of `route.fulfill` may be one that `route.fetch` got: whether the request went out
    /// is not known. After `route.abort` it did not, as far as the rest of the entry allows that.
    pub(super) fn intercepted(&self, untouched: bool) -> Option<HttpFailure> {
        match (self.fulfilled, self.aborted) {
            (false, false) => None,
            (false, true) if untouched && !self.connected => Some(HttpFailure::NotConnected),
            _ => Some(HttpFailure::Broken),
        }
    }

    /// The cause; anything unknown is [`HttpFailure::Broken`], which claims nothing. `sent` where a recorded time shows
    /// that the request, or a part of it, went out.
    pub(super) fn cause(&self, sent: bool, arena: &'a Bump) -> HttpFailure {
        let cause = match (self.error, self.comment) {
            (Some(error), _) => words::cause(error.text(arena).unwrap_or(error.raw())),
            // A person may write anything; the code of a network stack is no accident.
            (None, Some(comment)) => match comment.text(arena) {
                Some(text) if words::has_code(text) => words::cause(text),
                _ => HttpFailure::Broken,
            },
            (None, None) => HttpFailure::Broken,
        };
        if cause == HttpFailure::NotConnected && (sent || self.connected) { HttpFailure::Broken } else { cause }
    }
}

fn says_something(value: Value<'_>) -> bool {
    !matches!(value.raw(), "null" | "\"\"" | "false" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::har::times::Times;

    fn of(members: &str) -> HttpFailure {
        let arena = Bump::new();
        let object = format!("{{{members}}}");
        let mut failure = Failure::default();
        for (key, value) in Value::read(&object).members() {
            failure.accept(key, value);
        }
        let timings = Value::read(&object).members().find(|(key, _)| *key == "timings").map(|(_, timings)| timings);
        failure.cause(Times::read(None, timings).sent(), &arena)
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
        assert_eq!(of(&format!("{error},\"timings\":{{\"send\":3,\"wait\":-1}}")), HttpFailure::Broken);
        assert_eq!(
            of(&format!("{error},\"timings\":{{\"blocked\":9,\"send\":0,\"wait\":-1}}")),
            HttpFailure::NotConnected
        );
    }

    #[test]
    fn an_open_connection_refutes_that_nothing_was_sent() {
        let error = "\"_error\":\"net::ERR_INTERNET_DISCONNECTED\"";
        for there in ["\"connection\":\"77\"", "\"serverIPAddress\":\"10.0.0.1\""] {
            assert_eq!(of(&format!("{there},{error}")), HttpFailure::Broken, "{there}");
        }
        let none = "\"connection\":\"0\",\"serverIPAddress\":\"\"";
        assert_eq!(of(&format!("{none},{error}")), HttpFailure::NotConnected);
    }

    #[test]
    fn what_the_browser_tool_answered_may_have_been_fetched() {
        let told = |members: &str, untouched| {
            let object = format!("{{{members}}}");
            let mut failure = Failure::default();
            Value::read(&object).members().for_each(|(key, value)| failure.accept(key, value));
            failure.intercepted(untouched)
        };
        assert_eq!(told("\"_wasFulfilled\":true", true), Some(HttpFailure::Broken));
        assert_eq!(told("\"_wasAborted\":true", true), Some(HttpFailure::NotConnected));
        assert_eq!(told("\"_wasAborted\":true", false), Some(HttpFailure::Broken));
        assert_eq!(told("\"_wasAborted\":true,\"connection\":\"7\"", true), Some(HttpFailure::Broken));
        assert_eq!(told("\"_wasAborted\":false", true), None);
    }

    #[test]
    fn a_comment_counts_only_with_a_code() {
        assert_eq!(of("\"comment\":\"test: connection refused\""), HttpFailure::Broken);
        assert_eq!(of("\"comment\":\"connect ECONNREFUSED 127.0.0.1:1\""), HttpFailure::NotConnected);
        assert_eq!(of("\"_error\":null,\"comment\":\"\""), HttpFailure::Broken);
    }
}
