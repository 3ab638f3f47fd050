//! Contact with the outside as spans show it: HTTP, databases, messaging, RPC.
//!
//! Does not judge whether a target is the MCP endpoint itself: its parent span does.

use bumpalo::Bump;

use super::attributes::Attributes;
use crate::{
    event::{Reach, ReachSource, ReachStage, SpanRole},
    netloc::Target,
};

/// The contact that a span without `mcp.method.name` is (OpenTelemetry semantic conventions for HTTP and database clients).
pub(super) fn reach<'a>(
    attributes: &Attributes<'a>,
    role: SpanRole,
    failed: bool,
    arena: &'a Bump,
) -> Option<&'a Reach<'a>> {
    // Every error that the span names must say so.
    let mut errors = [attributes.error, attributes.exception].into_iter().flatten().peekable();
    let unconnected = errors.peek().is_some() && errors.all(is_connect_error) && !attributes.exceptions_differ;
    let otherwise = if unconnected { ReachStage::NotConnected } else { ReachStage::Attempted };
    let mut reach = match role {
        SpanRole::Client if attributes.http_method.is_some() => http(attributes, otherwise, arena),
        SpanRole::Client if attributes.database.is_some() => database(attributes, failed, otherwise, arena)?,
        SpanRole::Producer | SpanRole::Client if attributes.messaging.is_some() => {
            // That the broker has it is proven only where the client waits for its word, which no attribute says.
            new(otherwise, target(attributes, attributes.messaging, arena))
        }
        SpanRole::Client if attributes.rpc.is_some_and(|system| !matches!(system, "mcp" | "jsonrpc")) => {
            let stage = if attributes.rpc_answered { ReachStage::Answered } else { otherwise };
            new(stage, target(attributes, attributes.rpc_service.or(attributes.rpc), arena))
        }
        _ => return None,
    };
    reach.retries = attributes.resent;
    // An answer settles the outcome; a failed connection settles it too.
    reach.failed = failed && reach.stage == ReachStage::Attempted;
    Some(arena.alloc(reach))
}

fn new(stage: ReachStage, target: &str) -> Reach<'_> {
    Reach::new(stage, ReachSource::Span, target)
}

fn http<'a>(attributes: &Attributes<'a>, otherwise: ReachStage, arena: &'a Bump) -> Reach<'a> {
    let url = Target::parse(attributes.url.unwrap_or(""));
    let target = match (url.scheme, url.host) {
        (_, "") => target(attributes, None, arena),
        ("", host) => host,
        (scheme, host) => bumpalo::format!(in arena, "{}://{}", scheme, host).into_bump_str(),
    };
    let path = if url.path.is_empty() { attributes.path.map(|path| Target::parse(path).path) } else { Some(url.path) };
    let mut reach = new(if attributes.http_status.is_some() { ReachStage::Answered } else { otherwise }, target);
    reach.path = path.filter(|path| !path.is_empty());
    reach.method = attributes.http_method.map(|method| upper(method, arena));
    reach.status = attributes.http_status;
    reach
}

fn database<'a>(
    attributes: &Attributes<'a>,
    failed: bool,
    otherwise: ReachStage,
    arena: &'a Bump,
) -> Option<Reach<'a>> {
    // A database inside the process is a local file.
    if attributes.host.is_none() && matches!(attributes.database, Some("sqlite" | "duckdb" | "sqlite3")) {
        return None;
    }
    let answered = !failed || attributes.database_status;
    let stage = if answered { ReachStage::Answered } else { otherwise };
    let mut reach = new(stage, target(attributes, attributes.database, arena));
    reach.refused = failed && attributes.database_status;
    Some(reach)
}

/// `host:port` where it is told, else `name`.
fn target<'a>(attributes: &Attributes<'a>, name: Option<&'a str>, arena: &'a Bump) -> &'a str {
    match (attributes.host, attributes.port) {
        (Some(host), Some(port)) if !host.ends_with(port) || !host.contains(':') => {
            bumpalo::format!(in arena, "{}:{}", host, port).into_bump_str()
        }
        (Some(host), _) => host,
        (None, _) => name.unwrap_or(""),
    }
}

fn upper<'a>(method: &'a str, arena: &'a Bump) -> &'a str {
    if method.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return arena.alloc_str(&method.to_ascii_uppercase());
    }
    method
}

/// Whether the class of an error fixes that no connection came about. Classes that also stand for a reset or a
/// timeout after sending (`requests.exceptions.ConnectionError`, `*net.OpError`) are not among them.
fn is_connect_error(class: &str) -> bool {
    let last = class.rsplit('.').next().unwrap_or(class);
    matches!(
        last,
        "ConnectError"
            | "ConnectTimeout"
            | "ConnectTimeoutError"
            | "ConnectionRefusedError"
            | "NewConnectionError"
            | "NameResolutionError"
            | "ClientConnectorError"
            | "ClientConnectorDNSError"
            | "gaierror"
            | "ConnectException"
            | "HttpConnectTimeoutException"
            | "UnknownHostException"
            | "NoRouteToHostException"
            | "ECONNREFUSED"
            | "ENOTFOUND"
            | "EAI_AGAIN"
            | "EHOSTUNREACH"
            | "ENETUNREACH"
            | "UND_ERR_CONNECT_TIMEOUT"
            | "name_resolution_error"
            | "connection_error"
    )
}
