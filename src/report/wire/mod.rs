//! The wire types of schema 1, and how they are made. Own types: what is inside may change, these may not.
//!
//! Everything is made one piece at a time, so that a report of many calls is never held in memory.

#![expect(clippy::struct_field_names, reason = "the names are those of the schema")]

mod build;
mod call;
mod evidence;
#[cfg(test)]
mod example;
mod run;
mod source;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

pub(super) use build::{Wire, cites};
pub(super) use call::{duration, ended, fingerprint, tool};
pub(super) use evidence::one;
#[cfg(test)]
pub(super) use example::full_example;
pub(super) use run::tool_count;
pub(super) use source::{loss, zone};

/// The number of this schema.
pub(super) const SCHEMA: u32 = 1;

/// The program.
#[derive(Debug, Serialize)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

/// This program.
pub(super) const TOOL: Tool = Tool { name: "mcp-postmortem", version: env!("CARGO_PKG_VERSION") };

/// What was selected, and how much that is.
#[derive(Debug, Serialize)]
pub(super) struct Selection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<String>,
    pub(super) runs: u64,
    pub(super) calls: u64,
}

/// One input.
#[derive(Debug, Serialize)]
pub(super) struct Source {
    pub(super) source: String,
    pub(super) path: String,
    pub(super) member: Option<String>,
    pub(super) sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) member_sha256: Option<String>,
    pub(super) bytes: u64,
    pub(super) format: &'static str,
    pub(super) wrappers: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) witness: Option<&'static str>,
    pub(super) records: u64,
    pub(super) events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_at: Option<String>,
    pub(super) clock: Clock,
    pub(super) notices: Vec<Notice>,
}

/// The clock of a source.
#[derive(Debug, Serialize)]
pub(super) struct Clock {
    pub(super) zone: &'static str,
    /// Bounds against the reference source, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset_ms: Option<[i64; 2]>,
    /// What was added to the recorded stamps to place them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shift_ms: Option<i64>,
}

/// One kind of trouble while reading a source.
#[derive(Debug, Serialize)]
pub(super) struct Notice {
    pub(super) notice: &'static str,
    pub(super) loss: &'static str,
    pub(super) count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first: Option<Place>,
}

/// A record and where it begins.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Place {
    pub(super) record: u64,
    pub(super) byte: u64,
}

/// Something that a verdict takes from the policy.
#[derive(Debug, Serialize)]
pub(super) struct Assumption {
    pub(super) assumption: String,
    pub(super) place: String,
}

/// The policy under which was judged.
#[derive(Debug, Serialize)]
pub(super) struct Policy {
    pub(super) path: String,
    pub(super) sha256: String,
    pub(super) unused: Vec<UnusedTerm>,
}

/// Something that the policy declares and that did not apply.
#[derive(Debug, Serialize)]
pub(super) struct UnusedTerm {
    pub(super) place: String,
    pub(super) reason: String,
}

/// A piece of evidence: a place, a searched range, or a count.
#[derive(Debug, Serialize)]
pub(super) struct Ev {
    pub(super) role: String,
    pub(super) source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quote: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) more: Option<u64>,
}

/// One life of a server process.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) run: String,
    pub(super) run_is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pid: Option<u32>,
    pub(super) transport: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revision_is: Option<&'static str>,
    pub(super) started: Question,
    pub(super) initialized: Question,
    pub(super) tools_listed: Question,
    pub(super) reached_outside: Question,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_phase: Option<LastPhase>,
    pub(super) stopped_at: Option<&'static str>,
    pub(super) deadline_owner: Option<&'static str>,
    pub(super) layer: &'static str,
    pub(super) restart: Restart,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Tools>,
    pub(super) reach: Reach,
    pub(super) restarts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit: Option<Exit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_at: Option<String>,
}

/// One of the operator's four questions.
#[derive(Debug, Serialize)]
pub(super) struct Question {
    pub(super) answer: &'static str,
    pub(super) basis: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) assumptions: Vec<Assumption>,
    pub(super) evidence: Vec<Ev>,
}

/// The furthest confirmed event.
#[derive(Debug, Serialize)]
pub(super) struct LastPhase {
    pub(super) phase: &'static str,
    pub(super) event: &'static str,
}

/// May the server be started again?
#[derive(Debug, Serialize)]
pub(super) struct Restart {
    pub(super) verdict: &'static str,
    pub(super) rule: &'static str,
    pub(super) condition: Option<String>,
    pub(super) reason: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) assumptions: Vec<Assumption>,
    pub(super) evidence: Vec<Ev>,
}

/// The tools a run listed.
#[derive(Debug, Serialize)]
pub(super) struct Tools {
    pub(super) count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
    pub(super) names: Vec<String>,
}

/// Contact with the outside.
#[derive(Debug, Serialize)]
pub(super) struct Reach {
    pub(super) answer: &'static str,
    pub(super) basis: &'static str,
    pub(super) targets: Vec<Target>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) assumptions: Vec<Assumption>,
    pub(super) evidence: Vec<Ev>,
}

/// One target.
#[derive(Debug, Serialize)]
pub(super) struct Target {
    pub(super) target: String,
    pub(super) kind: &'static str,
    pub(super) local: bool,
    pub(super) attempts: u32,
    pub(super) results: u32,
}

/// How a process ended.
#[derive(Debug, Serialize)]
pub(super) struct Exit {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
}

/// One request on one hop.
#[derive(Debug, Serialize)]
pub(super) struct Call {
    pub(super) call: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Box<RawValue>>,
    pub(super) direction: &'static str,
    pub(super) method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_phase: Option<LastPhase>,
    pub(super) outcome: &'static str,
    pub(super) layer: &'static str,
    pub(super) code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) http: Option<Http>,
    pub(super) retry: Retry,
    pub(super) reach: Reach,
    pub(super) effects: [u32; 2],
    pub(super) milestones: Milestones,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) attempt: Option<u32>,
    pub(super) retry_origin: Vec<&'static str>,
    pub(super) missing: Vec<Missing>,
    pub(super) conflicts: Vec<Conflict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments_digest: Option<String>,
    pub(super) evidence: Vec<Ev>,
}

/// The HTTP side of a call.
#[derive(Debug, Serialize)]
pub(super) struct Http {
    pub(super) post_count: u16,
    pub(super) statuses: Vec<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) events: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) complete: Option<bool>,
}

/// May it be sent again?
#[derive(Debug, Serialize)]
pub(super) struct Retry {
    pub(super) verdict: &'static str,
    pub(super) rule: &'static str,
    pub(super) condition: Option<String>,
    pub(super) reason: String,
    pub(super) helps: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after_ms: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) assumptions: Vec<Assumption>,
    pub(super) evidence: Vec<Ev>,
}

/// How far an attempt got, in four values each.
#[derive(Debug, Serialize)]
pub(super) struct Milestones {
    pub(super) sent: &'static str,
    pub(super) reached: &'static str,
    pub(super) effected: &'static str,
    pub(super) acked: &'static str,
}

/// An artifact that would settle an open verdict.
#[derive(Debug, Serialize)]
pub(super) struct Missing {
    pub(super) artifact: String,
    pub(super) look_for: &'static str,
    pub(super) if_present: &'static str,
    pub(super) if_absent: &'static str,
}

/// A fact on which witnesses contradict each other.
#[derive(Debug, Serialize)]
pub(super) struct Conflict {
    pub(super) fact: &'static str,
    pub(super) evidence: Vec<Ev>,
}

/// All attempts of one intent.
#[derive(Debug, Serialize)]
pub(super) struct Operation {
    pub(super) operation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    pub(super) attempts: Vec<String>,
    pub(super) effects: [u32; 2],
    pub(super) duplicate: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) assumptions: Vec<Assumption>,
    pub(super) retries: Vec<OperationRetry>,
}

/// One attempt after the first.
#[derive(Debug, Serialize)]
pub(super) struct OperationRetry {
    pub(super) call: String,
    pub(super) origin: Vec<&'static str>,
    pub(super) ex_ante: &'static str,
    pub(super) ex_post: &'static str,
    pub(super) quadrant: &'static str,
}

/// Something worth knowing.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) rule: &'static str,
    pub(super) severity: &'static str,
    pub(super) confidence: &'static str,
    pub(super) claim: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    pub(super) call: Option<String>,
    pub(super) fingerprint: String,
    pub(super) advice: String,
    pub(super) evidence: Vec<Ev>,
}

/// What was read, and what was not.
#[derive(Debug, Serialize)]
pub(super) struct Coverage {
    pub(super) bytes: u64,
    pub(super) records: u64,
    pub(super) events: u64,
    pub(super) unexplained_records: u64,
    pub(super) loss: &'static str,
    pub(super) inputs_not_read: Vec<NotRead>,
    pub(super) rules_not_run: Vec<NotRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unexplained: Option<Vec<Unexplained>>,
}

/// Something that was not read, or not to its end, and so is no source or not all of one.
#[derive(Debug, Serialize)]
pub(super) struct NotRead {
    pub(super) path: String,
    pub(super) member: Option<String>,
    pub(super) notice: &'static str,
    pub(super) loss: &'static str,
    pub(super) reason: String,
    pub(super) partly_read: bool,
}

/// A rule that had nothing to look at.
#[derive(Debug, Serialize)]
pub(super) struct NotRun {
    pub(super) rule: &'static str,
    pub(super) needs: &'static str,
}

/// A record from which nothing was learned.
#[derive(Debug, Serialize)]
pub(super) struct Unexplained {
    pub(super) source: String,
    pub(super) record: u64,
    pub(super) byte: u64,
    pub(super) quote: String,
}

/// Counts over everything, whatever is listed.
#[derive(Debug, Serialize)]
pub(super) struct Totals {
    pub(super) runs: u64,
    pub(super) calls: u64,
    pub(super) by_outcome: BTreeMap<&'static str, u64>,
    pub(super) by_layer: BTreeMap<&'static str, u64>,
    pub(super) by_retry: BTreeMap<&'static str, u64>,
    pub(super) by_reach: BTreeMap<&'static str, u64>,
}
