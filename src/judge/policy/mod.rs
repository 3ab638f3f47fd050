//! What the operator declares in a policy file: the effect of tools, their keys, trusted servers, complete sources,
//! endpoints that are not outside.
//!
//! Data only: what it means for a case is worked out in [`Terms`]. Everything declared knows its line, because a verdict
//! that rests on it names it.

mod contrary;
mod keys;
mod parse;
mod raw;
mod rivals;
mod terms;

use std::sync::Arc;

use globset::GlobMatcher;

pub use contrary::{Contradiction, Contrary};
pub use keys::KeyUse;
pub use terms::{Grant, Terms, Unused};

use crate::{correlate::KeyPaths, netloc};

/// Something that a verdict takes from the policy, and where it is declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Assumption {
    /// What is assumed, as a clause: `the tool "pay" changes nothing`.
    pub text: Arc<str>,
    /// `policy.toml:3`.
    pub place: Arc<str>,
}

/// Adds assumptions, each once.
pub(super) fn add<'t>(known: &mut Vec<Assumption>, more: impl IntoIterator<Item = &'t Assumption>) {
    for assumption in more {
        if !known.contains(assumption) {
            known.push(assumption.clone());
        }
    }
}

/// Where a policy cannot be used, and why. The message is a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// The declared effect of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// It changes nothing.
    None,
    /// A call with equal arguments adds nothing to an earlier one.
    Absorbing,
    /// Every call adds an effect.
    Accumulating,
}

/// Where a tool takes its idempotency key, and for how long the receiver knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTerm {
    /// JSON Pointer (RFC 6901) into `arguments`.
    pub pointer: Arc<str>,
    /// Nanoseconds, with the words of the policy.
    pub lifetime: Option<(i64, Arc<str>)>,
    /// As it is printed.
    pub assumption: Assumption,
}

/// What is declared about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolTerm {
    /// Its server; absent: every server.
    pub server: Option<Box<str>>,
    /// Its name.
    pub name: Box<str>,
    /// Its effect.
    pub effect: Option<(Effect, Assumption)>,
    /// It changes nothing on the host of its server.
    pub nothing_local: Option<Assumption>,
    /// Its key.
    pub key: Option<KeyTerm>,
    /// Where the entry begins.
    pub place: Arc<str>,
}

/// A server whose annotations are taken as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTerm {
    /// Its name.
    pub name: Box<str>,
    /// As it is printed.
    pub assumption: Assumption,
}

/// A source that records every contact with the outside.
#[derive(Clone, Debug)]
pub struct SourceTerm {
    /// Which paths.
    pub paths: GlobMatcher,
    /// As it is printed.
    pub assumption: Assumption,
}

/// An endpoint of the operator: a contact with it is no reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnEndpoint {
    /// Scheme, if declared.
    scheme: Option<Box<str>>,
    /// Host.
    host: Box<str>,
    /// Port, declared or that of the scheme.
    port: Option<u16>,
    /// As it is printed.
    pub assumption: Assumption,
}

/// A policy, read whole and free of faults.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Tools.
    pub tools: Vec<ToolTerm>,
    /// Trusted servers.
    pub servers: Vec<ServerTerm>,
    /// Complete sources.
    pub sources: Vec<SourceTerm>,
    /// Own endpoints.
    pub own: Vec<OwnEndpoint>,
}

impl Policy {
    /// Reads a policy; `file` is its name as it is printed.
    ///
    /// # Errors
    /// The first fault. Half a policy is none.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, Fault> {
        parse::parse(file, bytes)
    }

    /// Where tools take their keys: looked up while calls are read, when their arguments are at hand.
    pub fn key_paths(&self) -> KeyPaths {
        let mut paths = KeyPaths::default();
        for tool in &self.tools {
            if let Some(key) = &tool.key {
                paths.insert(&tool.name, &key.pointer);
            }
        }
        paths
    }
}

impl OwnEndpoint {
    /// Whether a contact with this target is one with this endpoint. What is declared must be on record.
    ///
    /// A contact that names no scheme (an address that was connected to) is told by its port alone: the declared one, or
    /// that of the declared scheme. Where a scheme is declared that has no port of its own, nothing tells them apart.
    pub(super) fn is(&self, target: &str) -> bool {
        let Some(contact) = Address::parse(target) else { return false };
        let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
        let scheme = match (&self.scheme, contact.scheme) {
            (Some(scheme), Some(other)) => same(scheme, other),
            (Some(_), None) => self.port.is_some(),
            (None, _) => true,
        };
        same(&self.host, contact.host) && scheme && self.port.is_none_or(|port| contact.port == Some(port))
    }
}

/// The parts of `scheme://host:port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address<'a> {
    scheme: Option<&'a str>,
    host: &'a str,
    /// As written, else that of the scheme.
    port: Option<u16>,
}

impl<'a> Address<'a> {
    /// None for what has no host, or more than an address.
    fn parse(text: &'a str) -> Option<Self> {
        let target = netloc::Target::parse(text);
        let (scheme, authority) =
            if target.scheme.is_empty() { (None, text) } else { (Some(target.scheme), target.host) };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port.parse().ok()?)),
            _ => (authority, None),
        };
        let is_host = |char: char| char.is_alphanumeric() || "-._[]:%".contains(char);
        let whole = scheme.map_or(authority.len(), |scheme| scheme.len() + 3 + authority.len());
        if host.is_empty() || !host.chars().all(is_host) || whole != text.trim_end_matches('/').len() {
            return None;
        }
        Some(Self { scheme, host, port: port.or_else(|| default_port(scheme?)) })
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    let ports =
        [("http", 80), ("https", 443), ("ws", 80), ("wss", 443), ("ssh", 22), ("postgres", 5432), ("redis", 6379)];
    ports.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name)).map(|(_, port)| *port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_endpoint_is_told_by_all_that_is_declared_of_it() {
        let own = |scheme: Option<&str>, port: Option<u16>| OwnEndpoint {
            scheme: scheme.map(Into::into),
            host: "10.0.0.5".into(),
            port: port.or_else(|| default_port(scheme?)),
            assumption: Assumption { text: "".into(), place: "".into() },
        };
        for (endpoint, target, is) in [
            (own(Some("https"), None), "https://10.0.0.5", true),
            (own(Some("https"), None), "10.0.0.5:443", true),
            (own(Some("https"), None), "10.0.0.5:8443", false),
            (own(Some("https"), None), "10.0.0.5", false),
            (own(Some("smtp"), None), "10.0.0.5:25", false),
            (own(Some("smtp"), None), "smtp://10.0.0.5", true),
            (own(Some("smtp"), Some(25)), "10.0.0.5:25", true),
            (own(None, None), "10.0.0.5:8443", true),
        ] {
            assert_eq!(endpoint.is(target), is, "{target}");
        }
    }
}
