//! Lines of access logs: traffic of an MCP endpoint says which hop had a request, any other log that its service was
//! reached.

use rustc_hash::FxHashSet;

use super::{Basis, Contact, ContactKind, Correlator, Mark, NONE, RpcId, reach, traces::Context};
use crate::{
    event::{Access, Event, Pairs, ReachSource, ReachStage, Upstream, Witness},
    symbol::Symbol,
    time::Timestamp,
};

/// One access log line, kept until it is known which paths are MCP endpoints.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessRow {
    pub(super) mark: Mark,
    pub(super) strand: u32,
    pub(super) witness: Option<Witness>,
    pub(super) started: Option<Timestamp>,
    pub(super) method: Symbol,
    pub(super) path: Symbol,
    pub(super) host: Symbol,
    pub(super) status: u16,
    pub(super) upstream: UpstreamRow,
    pub(super) session: Option<Symbol>,
    pub(super) mcp_method: Option<Symbol>,
    pub(super) mcp_name: Option<Symbol>,
    pub(super) pairs: Pairs,
    pub(super) run_id: Option<Symbol>,
    pub(super) failed: bool,
    pub(super) took: Option<i64>,
    pub(super) nameless: bool,
    pub(super) probe: bool,
    pub(super) context: Option<Context>,
}

/// [`Upstream`] without its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpstreamRow {
    Untold,
    None,
    ConnectFailed,
    Once(u16),
    Several(u16),
}

impl From<Upstream<'_>> for UpstreamRow {
    fn from(upstream: Upstream<'_>) -> Self {
        match upstream {
            Upstream::Untold => Self::Untold,
            Upstream::None => Self::None,
            Upstream::ConnectFailed(_) => Self::ConnectFailed,
            Upstream::Once(_, status) => Self::Once(status),
            Upstream::Several(status) => Self::Several(status),
        }
    }
}

impl Correlator {
    /// An access log line waits until it is known which paths are MCP endpoints.
    pub(super) fn access_line(&mut self, event: &Event<'_>, mark: Mark, access: &Access<'_>) {
        let strand = self.rest_strand(event, mark);
        let started = access.started.and_then(|stamp| self.mark(mark.origin, Some(stamp)).at);
        let row = AccessRow {
            mark,
            strand,
            witness: event.witness,
            started,
            method: self.case.symbols.intern(access.method),
            path: self.case.symbols.intern(access.path),
            host: self.case.symbols.intern(access.host),
            status: access.status,
            upstream: access.upstream.into(),
            session: self.intern(event.keys.session),
            mcp_method: self.intern(access.mcp_method),
            mcp_name: self.intern(access.mcp_name),
            pairs: access.pairs,
            run_id: self.intern(event.keys.run),
            failed: access.failed,
            took: access.took,
            nameless: access.nameless,
            probe: access.probe,
            context: Context::of(event.keys.trace),
        };
        self.note_contact_trace(mark.origin, &event.keys);
        self.access.push(row);
    }

    /// Access log lines: traffic of an MCP endpoint says which hop had the request; the log of any other service says
    /// that the service was reached.
    pub(super) fn resolve_access(&mut self) {
        let paths = self.endpoint_paths();
        let rows = std::mem::take(&mut self.access);
        let ingress: FxHashSet<usize> = rows
            .iter()
            .filter(|row| self.is_endpoint(row, &paths))
            .map(|row| super::source_index(row.mark.origin))
            .collect();
        let mut hops = Vec::new();
        for row in &rows {
            if self.is_endpoint(row, &paths) {
                hops.extend((self.case.name(row.method) == "POST").then_some(*row));
            } else if row.witness != Some(Witness::Server) && !row.probe {
                let shared = ingress.contains(&super::source_index(row.mark.origin));
                if !shared || self.may_be_an_effect(row) {
                    self.service_log(row, shared);
                }
            }
        }
        self.join_hops(&hops);
    }

    /// Paths of the MCP endpoints that exchanges showed.
    pub(super) fn endpoint_paths(&self) -> FxHashSet<String> {
        let mut paths: FxHashSet<String> =
            ["/mcp", "/sse", "/messages", "/messages/", "/mcp/"].into_iter().map(str::to_owned).collect();
        for strand in &self.case.strands {
            if let Some(endpoint) = strand.endpoint {
                let endpoint = self.case.name(endpoint);
                let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
                if let Some(at) = rest.find('/') {
                    paths.insert(rest[at..].to_owned());
                }
            }
        }
        paths
    }

    fn is_endpoint(&self, row: &AccessRow, paths: &FxHashSet<String>) -> bool {
        let path = self.case.name(row.path);
        // Chat services have `/messages`, too.
        let common = matches!(path.trim_end_matches('/'), "/sse" | "/messages");
        let host = self.case.name(row.host);
        let shown = || self.case.strands.iter().any(|strand| strand.endpoint.is_some());
        if common && row.session.is_none() && row.mcp_method.is_none() && !host.is_empty() && !reach::is_local(host) {
            return shown() && self.shows_endpoint(host);
        }
        let mounted = || path.trim_end_matches('/').ends_with("/mcp");
        row.session.is_some() || row.mcp_method.is_some() || paths.contains(path) || mounted()
    }

    /// Whether exchanges showed an endpoint at a host.
    fn shows_endpoint(&self, host: &str) -> bool {
        let host = host.split_once("://").map_or(host, |(_, rest)| rest);
        let endpoints = self.case.strands.iter().filter_map(|strand| strand.endpoint);
        let mut rests = endpoints.filter_map(|endpoint| Some(self.case.name(endpoint).split_once("://")?.1));
        rests.any(|rest| rest.split('/').next() == Some(host))
    }

    /// Whether a row of a log that also has requests to an endpoint may be a server's work: it writes, nobody refused
    /// it, and it is not how a client logs in.
    fn may_be_an_effect(&self, row: &AccessRow) -> bool {
        let path = self.case.name(row.path);
        let login = ["/.well-known/", "/token", "/authorize", "/register", "/oauth", "/login"];
        !matches!(self.case.name(row.method), "GET" | "HEAD" | "OPTIONS")
            && !matches!(row.status, 300..=399 | 401 | 403..=405 | 429)
            && !login.iter().any(|part| path.contains(part))
    }

    /// The log of a service that is not the endpoint. In a log that also has requests to an endpoint nobody knows who
    /// made the others.
    fn service_log(&mut self, row: &AccessRow, shared: bool) {
        let target = if self.case.name(row.host).is_empty() {
            self.case.symbols.intern("service of this log")
        } else {
            row.host
        };
        let local = reach::is_local(self.case.name(target));
        self.case.contacts.push(Contact {
            attempt: row.mark,
            result: (row.status != 0).then_some(row.mark),
            corroborated: None,
            stage: if row.status == 0 { ReachStage::Attempted } else { ReachStage::Answered },
            vouched: ReachSource::ServiceLog,
            witness: Witness::Network,
            target,
            path: Some(row.path),
            method: Some(row.method),
            status: row.status,
            refused: false,
            failed: false,
            kind: ContactKind::Service,
            local,
            retries: false,
            action: None,
            named: RpcId::Unknown,
            phase: None,
            pairs: row.pairs,
            idempotency_key: 0,
            strand: row.strand,
            run: NONE,
            call: NONE,
            bound: Basis::Absent,
            outside: false,
            run_id: row.run_id,
            pid: 0,
            own: false,
            loose: shared,
        });
    }
}
