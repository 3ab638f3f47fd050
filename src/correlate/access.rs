//! Lines of access logs: traffic of an MCP endpoint says which hop had a request, any other log that its service was
//! reached.

use rustc_hash::FxHashSet;

use super::{Basis, Call, Contact, ContactKind, Correlator, Mark, NONE, Seen, accounts::PostRow, bind::SLACK, reach};
use crate::{
    event::{Pairs, ReachSource, ReachStage, Upstream, Witness},
    symbol::Symbol,
    time::{MILLISECOND, Timestamp},
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
        for row in &rows {
            if self.is_endpoint(row, &paths) {
                self.hop(row);
            } else if !ingress.contains(&super::source_index(row.mark.origin)) && row.witness != Some(Witness::Server) {
                self.service_log(row);
            }
        }
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
        let mounted = || path.trim_end_matches('/').ends_with("/mcp");
        row.session.is_some() || row.mcp_method.is_some() || paths.contains(path) || mounted()
    }

    /// The log of a service that is not the endpoint.
    fn service_log(&mut self, row: &AccessRow) {
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
        });
    }

    /// A line of a hop in front of the server joins the one POST it can be: same session, same status, window that
    /// holds it.
    fn hop(&mut self, row: &AccessRow) {
        if self.case.name(row.method) != "POST" {
            return;
        }
        if !matches!(row.upstream, UpstreamRow::None | UpstreamRow::ConnectFailed) {
            self.post_rows.push(PostRow { mark: row.mark, status: row.status, mention: false });
        }
        let (seen, number) = match row.upstream {
            UpstreamRow::Untold => return,
            UpstreamRow::None | UpstreamRow::ConnectFailed => (Seen::NotForwarded, i32::from(row.status)),
            UpstreamRow::Once(status) => (Seen::ForwardedOnce, i32::from(status)),
            UpstreamRow::Several(status) => (Seen::ForwardedAgain, i32::from(status)),
        };
        let mut fitting = (0_u32..).zip(&self.case.calls).filter(|(_, call)| {
            let http = self.case.http(call);
            let named = row.mcp_name.is_none_or(|name| call.target.is_none_or(|target| target == name));
            let session = row.session.is_none() || call.session.is_none() || row.session == call.session;
            let status = match (row.status, row.upstream) {
                // An error log names no status: a refused upstream can only be behind a gateway's own error.
                (0, UpstreamRow::ConnectFailed) => {
                    http.is_some_and(|http| matches!(http.status, 502..=504)) && self.ends_with(row, call)
                }
                (0, _) => true,
                (status, _) => http.is_some_and(|http| http.status == status),
            };
            http.is_some() && named && session && status && self.row_within(row, call)
        });
        let only = fitting.next().map(|(index, _)| index);
        let several = fitting.next().is_some();
        if let (Some(call), false) = (only, several) {
            let witness = row.witness.unwrap_or(Witness::Proxy);
            self.sight(call, seen, witness, row.mark, number);
            let took = row.took.map(|took| u32::try_from(took / MILLISECOND).unwrap_or(u32::MAX - 1));
            self.http_of(call).note_duration(took);
        }
    }

    /// A failed connection is answered at once: the exchange ends where the row stands.
    fn ends_with(&self, row: &AccessRow, call: &Call) -> bool {
        let at = self.case.placed(row.mark);
        let end = call.answered.and_then(|mark| self.case.placed(mark));
        at.zip(end).is_some_and(|(at, end)| end.0.abs_diff(at.0) <= SLACK.unsigned_abs())
    }

    fn row_within(&self, row: &AccessRow, call: &Call) -> bool {
        let Some(end) = self.case.placed(row.mark).map(|at| at.0) else { return false };
        let Some(from) = call.asked.and_then(|mark| self.case.placed(mark)).map(|at| at.0) else { return false };
        let to = call.answered.and_then(|mark| self.case.placed(mark)).map_or(i64::MAX, |at| at.0);
        // A log with whole seconds places its record anywhere in that second.
        let coarse = self.case.sources[super::source_index(row.mark.origin)].digits == 0;
        let slack = if coarse { SLACK } else { SLACK / 20 };
        let begins = row.started.map_or(end, |started| started.0);
        let from = from.saturating_sub(slack);
        begins >= from && end <= to.saturating_add(slack) && (row.failed || end >= from)
    }
}
