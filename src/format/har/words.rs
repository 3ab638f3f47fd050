//! What the network stack of a writer says about an exchange without a status. Knows nothing but the text.
//!
//! Chromium's names are of `net_error_list.h`, Firefox's of `xpc.msg`, the others of `WebKit`, libuv, libcurl, Python's
//! `asyncio` (mitmproxy) and `BrowserMob` Proxy.

use crate::event::HttpFailure;

/// How the codes of network stacks begin: Chromium, Firefox, libuv.
const CODES: &[&str] = &["net::ERR_", "NS_ERROR_", "NS_BINDING_", "ECONN", "ENOTFOUND"];

/// Whether a code of a network stack stands in the text.
pub(super) fn has_code(text: &str) -> bool {
    CODES.iter().any(|code| text.contains(code))
}

/// Signs of an abort, anywhere in the text.
const ABORTED: &[&str] =
    &["err_aborted", "ns_binding_aborted", "client disconnected", "load request cancelled", "aborterror"];

/// Signs of a connection that was there, or of more than the one attempt to connect: what the text says about that
/// attempt says nothing about the others.
const MORE_THAN_ONE_ATTEMPT: &[&str] = &[
    "reset",
    "epipe",
    "hang up",
    "read e",
    "reading",
    "receiv",
    "respon",
    "answer",
    "attempt",
    "retr",
    "redirect",
    "fallback",
    "fail over",
    "failover",
    "previous",
    "first",
    "etimedout",
    ";",
    // These alerts also end a session that already carried requests.
    "err_ssl_bad_record_mac",
    "err_ssl_decrypt_error",
    "err_ssl_client_auth",
];

/// What libraries put before the words of the network stack.
const PREFIXES: &[&str] = &[
    "error: ",
    "typeerror: ",
    "oserror: ",
    "connecterror: ",
    "httpx.connecterror: ",
    "connectionrefusederror: ",
    "java.net.connectexception: ",
    "java.net.unknownhostexception: ",
    "fetcherror: ",
    "fetch failed: ",
    "connect ",
    "getaddrinfo ",
    "multiple exceptions: ",
    "server tls handshake failed. ",
    "net::",
    "[errno ",
    "[ssl: ",
    "failed to connect to ",
    "cannot connect to host ",
    "request to ",
    "curl: (",
];

/// How texts begin that speak of this single attempt to connect.
const NOT_CONNECTED: &[&str] = &[
    "err_name_not_resolved",
    "err_name_resolution_failed",
    "err_connection_refused",
    "err_connection_timed_out",
    "err_connection_failed",
    "err_address_unreachable",
    "err_address_invalid",
    "err_internet_disconnected",
    "err_cert_",
    "err_ssl_",
    "err_proxy_connection_failed",
    "err_tunnel_connection_failed",
    "err_blocked_by_client",
    "ns_error_connection_refused",
    "ns_error_unknown_host",
    "ns_error_proxy_connection_refused",
    "ns_error_unknown_proxy_host",
    "sec_error_",
    "econnrefused",
    "enotfound",
    "eai_again",
    "connection refused",
    "connect call failed",
    "could not connect to the server",
    "couldn't connect to server",
    "unable to connect to host",
    "unable to resolve host",
    "could not resolve host",
    "couldn't resolve host",
    "a server with the specified hostname could not be found",
    "name or service not known",
    "certificate verify failed",
    "self-signed certificate",
];

/// What the text of a network stack says; anything unknown is [`HttpFailure::Broken`], which claims nothing.
pub(super) fn cause(text: &str) -> HttpFailure {
    let text = text.trim().to_ascii_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    if has(ABORTED) || matches!(text.trim_end_matches('.'), "cancelled" | "canceled" | "aborted") {
        return HttpFailure::Aborted;
    }
    if !has(MORE_THAN_ONE_ATTEMPT) && tells_of_no_connection(&text) {
        return HttpFailure::NotConnected;
    }
    HttpFailure::Broken
}

/// Whether the text, behind any prefixes of libraries, begins with such words.
fn tells_of_no_connection(text: &str) -> bool {
    let mut rest = text;
    loop {
        if NOT_CONNECTED.iter().any(|start| rest.starts_with(start)) {
            return true;
        }
        let prefix = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix).map(|behind| (prefix, behind)));
        let Some((prefix, behind)) = prefix else { return false };
        // `[Errno 111] …`, `[SSL: X] …`, `curl: (7) …`, `Failed to connect to HOST port N: …`, `request to URL failed,
        // reason: …`: the words stand behind what is named.
        let end = match *prefix {
            "[errno " | "[ssl: " => Some("] "),
            "curl: (" => Some(") "),
            "failed to connect to " => Some(": "),
            "cannot connect to host " => Some(" ["),
            "request to " => Some(" failed, reason: "),
            _ => None,
        };
        rest = match end {
            Some(end) => behind.split_once(end).map_or("", |(_, words)| words),
            None => behind,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_words_of_one_attempt_to_connect() {
        for text in [
            "net::ERR_CONNECTION_REFUSED",
            "net::ERR_NAME_NOT_RESOLVED at https://h/mcp",
            "NS_ERROR_UNKNOWN_HOST",
            "connect ECONNREFUSED 127.0.0.1:1",
            "Error: getaddrinfo EAI_AGAIN h",
            "request to http://h/mcp failed, reason: connect ECONNREFUSED 10.0.0.1:80",
            "[Errno 111] Connect call failed ('127.0.0.1', 23055)",
            "Multiple exceptions: [Errno 111] Connect call failed ('::1', 1, 0, 0), [Errno 111] Connect call failed ('127.0.0.1', 1)",
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)",
            "Cannot connect to host h:1 ssl:default [Connection refused]",
            "Failed to connect to h port 1 after 0 ms: Couldn't connect to server",
            "curl: (6) Could not resolve host: h",
            "Could not connect to the server.",
            "java.net.ConnectException: Connection refused",
        ] {
            assert_eq!(cause(text), HttpFailure::NotConnected, "{text}");
        }
    }

    #[test]
    fn a_text_that_tells_of_more_proves_nothing() {
        for text in [
            "2 attempts: ETIMEDOUT, ECONNREFUSED",
            "retry after first attempt timed out: connect ECONNREFUSED 10.0.0.1:80",
            "server answered 504; could not connect to fallback",
            "getaddrinfo ENOTFOUND backend.internal (after redirect 307)",
            "connect ECONNREFUSED 10.0.0.1:80 while reading response",
            "read ECONNRESET after getaddrinfo ENOTFOUND",
            "upstream said: connection refused",
            "HTTP/1 protocol error: peer closed connection",
        ] {
            assert_eq!(cause(text), HttpFailure::Broken, "{text}");
        }
    }
}
