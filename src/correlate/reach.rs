//! Contacts with the outside while a source is read: attempts wait for their results, and are bound to a call by the
//! keys they carry or because that call alone was open in the very log that recorded them.

use super::{Basis, Contact, ContactKind, Correlator, Key, Mark, NONE, RpcId};
use crate::{
    event::{Direction, Event, Reach, ReachSource, ReachStage, Witness},
    symbol::Symbol,
};

impl Correlator {
    pub(super) fn reach(&mut self, event: &Event<'_>, mark: Mark, reach: &Reach<'_>) {
        if reach.stage == ReachStage::Answered
            && let Some(attempt) = self.waiting_attempt(event, mark, reach)
        {
            let contact = &mut self.case.contacts[attempt as usize];
            contact.result = Some(mark);
            contact.stage = ReachStage::Answered;
            contact.status = reach.status.unwrap_or(0);
            contact.refused |= reach.refused;
            contact.failed |= reach.failed;
            return;
        }
        let contact = self.add_contact(event, mark, reach);
        if reach.stage == ReachStage::Attempted {
            let strand = self.case.contacts[contact as usize].strand;
            self.lane.waiting.entry(strand).or_default().push(contact);
        }
    }

    /// The attempt that a result belongs to: by action id, else by call, else the latest open one to the same target.
    fn waiting_attempt(&mut self, event: &Event<'_>, mark: Mark, reach: &Reach<'_>) -> Option<u32> {
        let strand = self.strand(event, mark);
        let action = self.intern(reach.action);
        let target = self.intern(Some(reach.target));
        let call = self.contact_call(strand, event, reach).map(|(call, _)| call);
        let waiting = self.lane.waiting.get_mut(&strand)?;
        let contacts = &self.case.contacts;
        let at = waiting.iter().rposition(|index| {
            let contact = &contacts[*index as usize];
            match (action, contact.action) {
                (Some(action), Some(known)) => action == known,
                (Some(_), None) | (None, Some(_)) if call.is_none() => false,
                _ => {
                    call.is_none_or(|call| contact.call == NONE || contact.call == call)
                        && target.is_none_or(|target| contact.target == target)
                }
            }
        })?;
        Some(waiting.remove(at))
    }

    pub(super) fn add_contact(&mut self, event: &Event<'_>, mark: Mark, reach: &Reach<'_>) -> u32 {
        let strand = self.strand(event, mark);
        let witness = self.contact_witness(event, reach);
        let bound = self.contact_call(strand, event, reach);
        let target = self.case.symbols.intern(if reach.target.is_empty() { "unknown" } else { reach.target });
        let named = reach.call.id.map_or(RpcId::Unknown, |id| self.rpc_id(id));
        let index = u32::try_from(self.case.contacts.len()).expect("fewer than 2^32 contacts");
        let contact = Contact {
            attempt: mark,
            result: (reach.stage == ReachStage::Answered).then_some(mark),
            corroborated: None,
            stage: reach.stage,
            vouched: reach.vouched,
            witness,
            target,
            path: self.intern(reach.path),
            method: self.intern(reach.method),
            status: reach.status.unwrap_or(0),
            refused: reach.refused,
            failed: reach.failed,
            kind: ContactKind::Service,
            local: is_local(reach.target),
            retries: reach.retries,
            action: self.intern(reach.action),
            named,
            phase: reach.phase,
            pairs: reach.pairs,
            idempotency_key: reach.idempotency_key.map_or(0, |digest| Key::from(digest).0[0] | 1),
            strand,
            run: NONE,
            call: bound.map_or(NONE, |(call, _)| call),
            bound: bound.map_or(Basis::Absent, |(_, basis)| basis),
            // What names a call belongs to one, whether this log has it or not.
            outside: bound.is_none()
                && reach.call.id.is_none()
                && self.is_own_log(event, reach)
                && self.open_calls(strand).is_empty(),
            run_id: self.intern(event.keys.run),
            pid: event.keys.pid.unwrap_or(0),
            own: false,
            loose: false,
        };
        self.note_contact_trace(mark.origin, &event.keys);
        self.case.contacts.push(contact);
        index
    }

    fn contact_witness(&self, event: &Event<'_>, reach: &Reach<'_>) -> Witness {
        match reach.vouched {
            ReachSource::KernelTrace | ReachSource::ServiceLog | ReachSource::Egress => Witness::Network,
            _ => self.witness_of(event),
        }
    }

    /// The call of a contact: the one its writer names, else the only one open in the server's own log at this record.
    fn contact_call(&self, strand: u32, event: &Event<'_>, reach: &Reach<'_>) -> Option<(u32, Basis)> {
        if reach.call.id.is_some() {
            return self.call_of(strand, reach.call, "tools/call").map(|call| (call, Basis::SelfReported));
        }
        if !self.is_own_log(event, reach) {
            return None;
        }
        if reach.call.tool.is_some()
            && let Some(call) = self.call_of(strand, reach.call, "tools/call")
        {
            return Some((call, Basis::Inferred));
        }
        self.only_open(strand, Direction::ToServer).map(|call| (call, Basis::Inferred))
    }

    /// Whether the server's own log records the contact, in order with the calls of that log.
    fn is_own_log(&self, event: &Event<'_>, reach: &Reach<'_>) -> bool {
        matches!(reach.vouched, ReachSource::PhaseEvent | ReachSource::LibraryLine | ReachSource::TypedError)
            && self.witness_of(event) == Witness::Server
    }

    /// What kind of thing a target is, by its address and path alone.
    pub(super) fn contact_kind(&self, target: Symbol, path: Option<Symbol>, method: Option<Symbol>) -> ContactKind {
        let target = self.case.symbols.name(target);
        let path = path.map_or("", |path| self.case.symbols.name(path));
        let method = method.map_or("", |method| self.case.symbols.name(method));
        if is_credential(target, path) {
            ContactKind::Credential
        } else if matches!(method, "GET" | "HEAD") && is_package_source(target) {
            ContactKind::Package
        } else {
            ContactKind::Service
        }
    }
}

fn is_credential(target: &str, path: &str) -> bool {
    target.contains("169.254.169.254")
        || target.contains("metadata.google.internal")
        || path.starts_with("/.well-known/oauth-")
        || path.starts_with("/.well-known/openid-configuration")
        || ["/oauth/token", "/oauth2/token", "/oauth2/v2.0/token", "/token", "/authorize", "/oauth/authorize"]
            .contains(&path)
}

fn is_package_source(target: &str) -> bool {
    const SOURCES: [&str; 7] = [
        "registry.npmjs.org",
        "registry.yarnpkg.com",
        "pypi.org",
        "files.pythonhosted.org",
        "index.crates.io",
        "static.crates.io",
        "registry-1.docker.io",
    ];
    SOURCES.iter().any(|source| target.contains(source))
}

/// Loopback addresses and names.
pub(super) fn is_local(target: &str) -> bool {
    let host = target.split("://").last().unwrap_or(target);
    host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]") || host.starts_with("::1")
}
