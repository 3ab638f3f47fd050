//! The explanation as one JSON object: the call of the report, and what its verdict was made of.

use std::io::{self, Write};

use serde::Serialize;

use super::{Explanation, ExplanationForm};
use crate::{
    event::Witness,
    judge::call::{Ground, Link},
    report::{
        Style,
        names::{self, Names},
        timeline, wire,
        wire::{Call, Ev, Operation, SCHEMA, Source, TOOL, Tool, Wire},
    },
};

/// See [`ExplanationForm`].
pub(super) const FORM: ExplanationForm =
    ExplanationForm { name: "json", title: "One JSON object: the call of the report, its chain, the worlds", write };

/// The whole explanation.
#[derive(Serialize)]
struct Document {
    schema: u32,
    tool: Tool,
    sources: Vec<Source>,
    call: Call,
    chain: Vec<Step>,
    grounds: Grounds,
    worlds: Vec<World>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<Operation>,
    attempts: Vec<Attempt>,
}

/// One record of the chain.
#[derive(Serialize)]
struct Step {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aligned_at: Option<String>,
    #[serde(flatten)]
    evidence: Ev,
}

/// What the milestones rest on.
#[derive(Serialize)]
struct Grounds {
    sent: Sides,
    reached: Sides,
    effected: Sides,
    acked: Sides,
}

/// The records that prove a milestone, and that exclude it.
#[derive(Serialize)]
struct Sides {
    #[serde(skip_serializing_if = "Option::is_none")]
    proven: Option<Ev>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<Ev>,
}

/// One assignment of the milestones.
#[derive(Serialize)]
struct World {
    sent: bool,
    reached: bool,
    effected: bool,
    acked: bool,
}

/// One attempt of the operation.
#[derive(Serialize)]
struct Attempt {
    call: String,
    outcome: &'static str,
    effects: [u32; 2],
}

fn write(explanation: &Explanation<'_, '_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
    let (report, explained) = (explanation.report, explanation.explained);
    let wire = Wire::new(report);
    let names = Names::new(report);
    let ground = |ground: &Ground| Sides {
        proven: ground.proven.as_ref().map(|piece| wire::one(report, &names, piece)),
        excluded: ground.excluded.as_ref().map(|piece| wire::one(report, &names, piece)),
    };
    let grounds = &explained.grounds;
    let world = |world: &crate::judge::call::World| World {
        sent: world.sent,
        reached: world.reached,
        effected: world.effected,
        acked: world.acked,
    };
    let attempts = explained.attempts.iter().map(|attempt| Attempt {
        call: names::call(attempt.call),
        outcome: attempt.outcome.name(),
        effects: [attempt.effects.0, attempt.effects.1],
    });
    let document = Document {
        schema: SCHEMA,
        tool: TOOL,
        sources: wire.sources().collect(),
        call: wire.call(explanation.call, &explained.verdict),
        chain: explained.chain.iter().map(|link| step(explanation, &names, link)).collect(),
        grounds: Grounds {
            sent: ground(&grounds.sent),
            reached: ground(&grounds.reached),
            effected: ground(&grounds.effected),
            acked: ground(&grounds.acked),
        },
        worlds: explained.worlds.iter().map(world).collect(),
        operation: wire.operation_of(explanation.call),
        attempts: attempts.collect(),
    };
    let mut out = io::BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, &document)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn step(explanation: &Explanation<'_, '_>, names: &Names<'_>, link: &Link) -> Step {
    let report = explanation.report;
    let answer = report.case.calls[explanation.call as usize].answer.kind;
    let evidence = wire::one(report, names, &link.evidence());
    Step {
        event: timeline::word(link, answer),
        witness: timeline::witness(report.case, link).map(Witness::name),
        aligned_at: names.aligned(link.mark).filter(|aligned| evidence.at.as_ref() != Some(aligned)),
        evidence,
    }
}
