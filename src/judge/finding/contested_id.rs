//! Ids do not tell requests apart.

use rustc_hash::FxHashMap;

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::correlate::{NONE, RpcId, Seen};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "contested-id",
    title: "Records fit more than one request",
    severity: Severity::Medium,
    doc: Doc {
        means: "Two requests with one id were open at once, or a log without ids fits several requests. The link was refused: what such a record shows may have happened to any of them.",
        recognized: "The requests carry records that correlation marked as contested.",
        is_not: "One id in two sessions or runs, which is allowed. A request whose own HTTP exchange holds its answer is not contested.",
        to_do: "Make the client use a new id for every request of a connection, and log session, run and request ids on the server's side.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut ids: FxHashMap<(u32, RpcId), u32> = FxHashMap::default();
    let mut shared: std::collections::BTreeMap<u32, RpcId> = std::collections::BTreeMap::new();
    for (index, call) in scene.calls() {
        if !call.contested || call.http != NONE && call.answered.is_some() {
            continue;
        }
        let mark = scene.case.sightings(call).find(|row| row.seen == Seen::Contested).map(|row| row.mark);
        let tally =
            groups.add_call(call.run, index, "shows a request whose answer is contested", scene.case.place(call));
        if let Some(mark) = mark {
            tally.also("may belong to this request or to another one", mark);
        }
        if !matches!(call.id, RpcId::Unknown | RpcId::Null) {
            let same = ids.entry((call.strand, call.id)).or_default();
            *same += 1;
            if *same > 1 {
                shared.entry(call.run).or_insert(call.id);
            }
        }
    }
    for (run, tally) in groups {
        let number = count(tally.count(), "request", "requests");
        let (claim, confidence) = match shared.get(&run) {
            Some(RpcId::Int(id)) => (
                format!("{number} cannot be told apart, among them two that had the id {id} at once."),
                Confidence::High,
            ),
            Some(_) => {
                (format!("{number} cannot be told apart, among them two that had one id at once."), Confidence::High)
            }
            None => (format!("Records that decide over {number} fit more than one of them."), Confidence::Medium),
        };
        out.push(tally.finding(&RULE, confidence, claim, run));
    }
}
