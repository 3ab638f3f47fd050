//! The attributes of a span that decide something, by their names of today and before.
//!
//! Draws no conclusion from them.

use crate::json::Value;

/// What is used of a span's attributes.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each mirrors an attribute of its own")]
pub(super) struct Attributes<'a> {
    /// `mcp.method.name`.
    pub(super) method: Option<&'a str>,
    /// `jsonrpc.request.id`, or `mcp.request.id` of Envoy AI Gateway.
    pub(super) id: Option<&'a str>,
    /// `gen_ai.tool.name`, or `mcp.tool.name` of the gateways.
    pub(super) tool: Option<&'a str>,
    /// `mcp.session.id`.
    pub(super) session: Option<&'a str>,
    /// `mcp.protocol.version`.
    pub(super) revision: Option<&'a str>,
    /// `mcp.run_id`.
    pub(super) run: Option<&'a str>,
    /// `error.type`.
    pub(super) error: Option<&'a str>,
    /// `exception.type` of an event.
    pub(super) exception: Option<&'a str>,
    /// Events name different exceptions: those of several tries.
    pub(super) exceptions_differ: bool,
    /// `rpc.response.status_code` as a JSON-RPC code.
    pub(super) code: Option<i64>,
    /// `http.request.method`.
    pub(super) http_method: Option<&'a str>,
    /// `url.full`.
    pub(super) url: Option<&'a str>,
    /// `url.path`.
    pub(super) path: Option<&'a str>,
    /// `http.response.status_code`.
    pub(super) http_status: Option<u16>,
    /// `http.request.resend_count` is above zero.
    pub(super) resent: bool,
    /// `server.address`.
    pub(super) host: Option<&'a str>,
    /// `server.port`.
    pub(super) port: Option<&'a str>,
    /// `db.system.name`.
    pub(super) database: Option<&'a str>,
    /// `db.response.status_code` is there.
    pub(super) database_status: bool,
    /// `messaging.system`.
    pub(super) messaging: Option<&'a str>,
    /// `rpc.system.name`.
    pub(super) rpc: Option<&'a str>,
    /// `rpc.service`.
    pub(super) rpc_service: Option<&'a str>,
    /// The peer's own id of the request (`aws.request_id`), or a status of success: it answered.
    pub(super) rpc_answered: bool,
}

impl<'a> Attributes<'a> {
    /// Takes the attributes of a span.
    pub(super) fn read(&mut self, list: Value<'a>) {
        each(list, |key, value| {
            if !self.mcp(key, value) && !self.http(key, value) {
                self.other(key, value);
            }
        });
    }

    /// Takes the attributes of an event of the span.
    pub(super) fn read_exception(&mut self, list: Value<'a>) {
        each(list, |key, value| {
            if key == "exception.type" {
                self.exceptions_differ |= self.exception.is_some() && self.exception != value.word();
                self.exception = value.word();
            }
        });
    }

    fn mcp(&mut self, key: &str, value: Value<'a>) -> bool {
        let word = value.word();
        match key {
            "mcp.method.name" => self.method = word,
            "jsonrpc.request.id" => self.id = word,
            "mcp.request.id" => self.id = self.id.or(word),
            "gen_ai.tool.name" => self.tool = word,
            "mcp.tool.name" => self.tool = self.tool.or(word),
            "mcp.session.id" => self.session = word,
            "mcp.protocol.version" => self.revision = word,
            "mcp.run_id" => self.run = word,
            "error.type" => self.error = word,
            "rpc.response.status_code" | "rpc.jsonrpc.error_code" => {
                self.code = value.integer();
                self.rpc_answered |= matches!(word, Some("OK" | "0"));
            }
            _ => return false,
        }
        true
    }

    fn http(&mut self, key: &str, value: Value<'a>) -> bool {
        let word = value.word();
        match key {
            "http.request.method" => self.http_method = word,
            "http.method" => self.http_method = self.http_method.or(word),
            "url.full" => self.url = word,
            "http.url" => self.url = self.url.or(word),
            "url.path" => self.path = word,
            "http.target" => self.path = self.path.or(word),
            "http.response.status_code" => self.http_status = value.number(),
            "http.status_code" => self.http_status = self.http_status.or(value.number()),
            "http.request.resend_count" | "http.resend_count" | "http.retry_count" => {
                self.resent = value.integer().is_some_and(|count| count > 0);
            }
            _ => return false,
        }
        true
    }

    fn other(&mut self, key: &str, value: Value<'a>) {
        let word = value.word();
        match key {
            "server.address" => self.host = word,
            "net.peer.name" | "net.peer.ip" | "network.peer.address" | "http.host" => self.host = self.host.or(word),
            "server.port" => self.port = word,
            "net.peer.port" | "network.peer.port" => self.port = self.port.or(word),
            "db.system.name" => self.database = word,
            "db.system" => self.database = self.database.or(word),
            "db.response.status_code" => self.database_status = word.is_some(),
            "messaging.system" => self.messaging = word,
            "rpc.system.name" | "rpc.system" => self.rpc = word.or(self.rpc),
            "rpc.service" => self.rpc_service = word,
            "aws.request_id" | "aws.requestId" => self.rpc_answered |= word.is_some(),
            "rpc.grpc.status_code" => self.rpc_answered |= value.integer() == Some(0),
            _ => {}
        }
    }
}

/// Shows every attribute of a list `[{"key":…,"value":{"stringValue":…}}]`. The members come in any order; arrays and
/// nested lists are passed over.
pub(super) fn each<'a>(list: Value<'a>, mut show: impl FnMut(&'a str, Value<'a>)) {
    list.items(|item| {
        let (mut name, mut scalar) = (None, None);
        item.members(|key, value| match key {
            "key" => name = value.text(),
            "value" => {
                value.members(|kind, value| {
                    if matches!(kind, "stringValue" | "intValue" | "boolValue" | "doubleValue") {
                        scalar = Some(value);
                    }
                });
            }
            _ => {}
        });
        if let (Some(name), Some(scalar)) = (name, scalar) {
            show(name, scalar);
        }
    });
}
