//! Fixed wordings as rows of a table: a needle, what it states, who writes it, and what stands after it.
//!
//! The rows belong to the clues; this file only reads them.

use super::scan;
use crate::{
    event::{CallKey, Keys, Kind, RemarkKind, Witness},
    record::{Body, Sink},
};

/// One fixed wording.
#[derive(Debug)]
pub(super) struct Template {
    /// What must stand in the line, behind nothing but an envelope.
    pub needle: &'static str,
    /// What it states; `None` for chatter that is understood and proves nothing.
    pub kind: Option<RemarkKind>,
    /// Who writes it, where only one party does.
    pub witness: Option<Witness>,
    /// What stands after the needle.
    pub take: Take,
}

/// What stands after a needle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// Nothing of use; a tool may be named before it.
    Nothing,
    /// A session id.
    Session,
    /// A number.
    Number,
    /// A name or address.
    Name,
    /// A JSON-RPC id.
    Id,
    /// The name of a tool, in quotes or not.
    Tool,
    /// The class of a request of the Python SDK: `CallToolRequest`.
    Class,
    /// Nothing: the text must end here.
    End,
}

/// Declares a table of templates together with its needles: the names of both, then the rows.
macro_rules! templates {
    ($needles:ident $table:ident: $( $needle:literal $kind:ident $witness:ident $take:ident; )*) => {
        const $needles: &[&str] = &[$( $needle, )*];
        static $table: &[$crate::clue::template::Template] = &[$(
            $crate::clue::template::Template {
                needle: $needle,
                kind: $crate::clue::template::templates!(@kind $kind),
                witness: $crate::clue::template::templates!(@witness $witness),
                take: $crate::clue::template::Take::$take,
            },
        )*];
    };
    (@kind Noise) => { None };
    (@kind $kind:ident) => { Some($crate::event::RemarkKind::$kind) };
    (@witness Anyone) => { None };
    (@witness $witness:ident) => { Some($crate::event::Witness::$witness) };
}
pub(super) use templates;

/// Reads `text` by the first row that fits.
pub(super) fn read<'a>(table: &'static [Template], text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(text) = scan::head(text) else {
        return false;
    };
    table.iter().any(|row| row.read(text, body, sink))
}

impl Template {
    fn read<'a>(&self, text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
        let Some((before, after)) = scan::find(text, self.needle) else {
            return false;
        };
        if self.take == Take::End && !after.trim().is_empty() {
            return false;
        }
        let Some(kind) = self.kind else {
            return true;
        };
        let after = after.trim_start_matches([':', ' ']);
        let mut remark = scan::remark(kind);
        let mut keys = body.keys;
        self.take(after, &mut remark, &mut keys);
        if remark.call.tool.is_none()
            && let Some(tool) = scan::tool_before(before)
        {
            remark.call.tool = Some(tool);
            remark.call.method = remark.call.method.or(Some("tools/call"));
        }
        let body = Body { keys, ..*body };
        scan::push_as(Kind::Remark(remark), self.witness, &body, sink);
        true
    }

    fn take<'a>(&self, after: &'a str, remark: &mut crate::event::Remark<'a>, keys: &mut Keys<'a>) {
        match self.take {
            Take::Nothing | Take::End => {}
            Take::Session => keys.session = scan::name(after).filter(|id| *id != "None").or(keys.session),
            Take::Number => remark.number = scan::integer(after),
            Take::Name => remark.name = scan::name(after),
            Take::Id => remark.call.id = scan::id(after),
            Take::Tool => {
                let tool = scan::quoted(after).or_else(|| scan::name(after));
                remark.call = CallKey { id: None, method: Some("tools/call"), tool };
            }
            Take::Class => remark.call.method = method_of(scan::word(after)),
        }
    }
}

/// The method behind a request class of the Python SDK 1.x (`mcp/types.py`).
fn method_of(class: &str) -> Option<&'static str> {
    Some(match class.trim_end_matches(['.', ',']) {
        "InitializeRequest" => "initialize",
        "PingRequest" => "ping",
        "ListToolsRequest" => "tools/list",
        "CallToolRequest" => "tools/call",
        "ListPromptsRequest" => "prompts/list",
        "GetPromptRequest" => "prompts/get",
        "ListResourcesRequest" => "resources/list",
        "ListResourceTemplatesRequest" => "resources/templates/list",
        "ReadResourceRequest" => "resources/read",
        "SubscribeRequest" => "resources/subscribe",
        "UnsubscribeRequest" => "resources/unsubscribe",
        "CompleteRequest" => "completion/complete",
        "SetLevelRequest" => "logging/setLevel",
        _ => return None,
    })
}

/// The parties, for rows that depend on who writes a log.
pub(super) fn is_server(body: &Body<'_>) -> bool {
    body.witness == Some(Witness::Server)
}

/// Whether the envelope says that a client wrote the text.
pub(super) fn is_client(body: &Body<'_>) -> bool {
    body.witness == Some(Witness::Client)
}

/// A remark kind that needs no table.
pub(super) fn one<'a>(kind: RemarkKind, witness: Option<Witness>, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    scan::push_as(Kind::Remark(scan::remark(kind)), witness, body, sink);
    true
}
