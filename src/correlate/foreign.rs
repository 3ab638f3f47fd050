//! Contacts that are not the server's: those of the client, and the session's own endpoint in the line of a bridge.
//!
//! Judges by who wrote the line and where it went; binds nothing.

use rustc_hash::FxHashSet;

use super::{Contact, Correlator, Transport};
use crate::{
    event::{ReachSource, Witness},
    symbol::Symbol,
};

/// What becomes of a contact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    /// It may be the server's: a client's console holds what its child wrote.
    Loose,
    Dropped,
}

/// Where clients ask their models.
const MODELS: &[&str] = &[
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
    "bedrock-runtime.",
    ".openai.azure.com",
    "openrouter.ai",
    "api.mistral.ai",
    "api.groq.com",
    "api.deepseek.com",
    "api.cohere.",
];

impl Correlator {
    /// What a client contacts is not the server's reach; neither is the session's own endpoint in a bridge's line.
    pub(super) fn drop_foreign_contacts(&mut self) {
        let endpoints: FxHashSet<Symbol> = self.case.strands.iter().filter_map(|strand| strand.endpoint).collect();
        let endpoints: FxHashSet<(&str, &str)> = endpoints.iter().map(|at| authority(self.case.name(*at))).collect();
        let inherits = self.may_inherit();
        let fates: Vec<Fate> =
            self.case.contacts.iter().map(|contact| self.fate(contact, &endpoints, inherits)).collect();
        let mut fates = fates.into_iter();
        self.case.contacts.retain_mut(|contact| {
            let fate = fates.next().unwrap_or(Fate::Kept);
            contact.loose |= fate == Fate::Loose;
            fate != Fate::Dropped
        });
    }

    fn fate(&self, contact: &Contact, endpoints: &FxHashSet<(&str, &str)>, inherits: bool) -> Fate {
        let source = &self.case.sources[super::source_index(contact.attempt.origin)];
        let library = matches!(contact.vouched, ReachSource::LibraryLine | ReachSource::TypedError | ReachSource::Span);
        let path = contact.path.map_or("", |path| self.case.name(path));
        let target = self.case.name(contact.target);
        let own = || endpoints.contains(&(target, path));
        let said = contact.witness == Witness::Client;
        let taken = source.witness == Some(Witness::Client) && contact.witness != Witness::Server;
        if !library || !(said || taken || contact.witness == Witness::Proxy && own()) {
            return Fate::Kept;
        }
        let inherited = inherits && source.voted && contact.vouched == ReachSource::LibraryLine && contact.is_attempt();
        if inherited && !own() && self.may_be_a_tools(contact, target, path) { Fate::Loose } else { Fate::Dropped }
    }

    /// Whether a request may be the work of a tool: it writes, and goes neither to an endpoint nor to where clients go.
    fn may_be_a_tools(&self, contact: &Contact, target: &str, path: &str) -> bool {
        let writes = contact.method.is_some_and(|method| !matches!(self.case.name(method), "GET" | "HEAD" | "OPTIONS"));
        let clients = ["/mcp", "/sse", "/messages", "/token", "/authorize", "/register", "/oauth", "/.well-known/"];
        writes && !clients.iter().any(|part| path.contains(part)) && !MODELS.iter().any(|model| target.contains(model))
    }

    /// Whether some server may be a child of its client, and write into the client's console.
    fn may_inherit(&self) -> bool {
        let remote = |run: &super::Run| {
            run.strands.iter().map(|strand| &self.case.strands[*strand as usize]).any(|strand| {
                strand.endpoint.is_some() || matches!(strand.transport, Transport::StreamableHttp | Transport::Sse)
            })
        };
        self.case.runs.iter().any(|run| !remote(run))
    }
}

/// An endpoint in two: where, and the path.
fn authority(endpoint: &str) -> (&str, &str) {
    let scheme = endpoint.find("://").map_or(0, |at| at + 3);
    endpoint.split_at(endpoint[scheme..].find('/').map_or(endpoint.len(), |at| scheme + at))
}
