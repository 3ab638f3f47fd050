//! One of each wire type with every field filled, for the test of the schema.

use serde_json::{Value, json, value::to_raw_value};

use super::{
    Assumption, Call, Clock, Conflict, Coverage, Ev, Exit, Finding, Http, LastPhase, Milestones, Missing, NotRead,
    NotRun, Notice, Operation, OperationRetry, Place, Policy, Question, Reach, Restart, Retry, Run, SCHEMA, Selection,
    Source, TOOL, Target, Tools, Totals, Unexplained, UnusedTerm,
};

/// A report of every wire type with every field.
pub(in crate::report) fn full_example() -> Value {
    json!({
        "schema": SCHEMA, "tool": TOOL, "selection": selection(), "policy": policy(), "sources": [source()], "runs": [run()], "calls": [call()],
        "operations": [operation()], "findings": [finding()], "coverage": coverage(), "totals": totals(),
    })
}

fn text() -> String {
    "x".to_owned()
}

fn selection() -> Selection {
    let value = || Some(text());
    Selection { run: value(), server: value(), tool: value(), since: value(), until: value(), runs: 1, calls: 1 }
}

fn policy() -> Policy {
    let unused = vec![UnusedTerm { place: text(), reason: text() }];
    Policy { path: text(), sha256: text(), unused }
}

fn assumptions() -> Vec<Assumption> {
    vec![Assumption { assumption: text(), place: text() }]
}

fn place() -> Place {
    Place { record: 1, byte: 0 }
}

fn evidence() -> Vec<Ev> {
    vec![Ev {
        role: text(),
        source: text(),
        record: Some(1),
        line: Some(1),
        byte: Some(0),
        at: Some(text()),
        quote: Some(text()),
        from: Some(place()),
        to: Some(place()),
        count: Some(1),
        of: Some(2),
        more: Some(3),
    }]
}

fn source() -> Source {
    Source {
        source: text(),
        path: text(),
        member: Some(text()),
        sha256: text(),
        member_sha256: Some(text()),
        bytes: 1,
        format: "har",
        wrappers: vec!["cri"],
        witness: Some("client"),
        records: 1,
        events: 1,
        first_at: Some(text()),
        last_at: Some(text()),
        clock: Clock { zone: "recorded", offset_ms: Some([-1, 1]), shift_ms: Some(0) },
        notices: vec![Notice { notice: "empty", loss: "none", count: 1, first: Some(place()) }],
    }
}

fn question() -> Question {
    Question { answer: "yes", basis: "witnessed", assumptions: assumptions(), evidence: evidence() }
}

fn last_phase() -> LastPhase {
    LastPhase { phase: "launch", event: "spawned" }
}

fn reach() -> Reach {
    let target = Target { target: text(), kind: "service", local: false, attempts: 1, results: 0 };
    Reach { answer: "yes", basis: "witnessed", targets: vec![target], assumptions: assumptions(), evidence: evidence() }
}

fn run() -> Run {
    let condition = Some(text());
    Run {
        run: text(),
        run_is: "recorded",
        server: Some(text()),
        client: Some(text()),
        pid: Some(1),
        transport: "stdio",
        revision: Some(text()),
        revision_is: Some("recorded"),
        started: question(),
        initialized: question(),
        tools_listed: question(),
        reached_outside: question(),
        last_phase: Some(last_phase()),
        stopped_at: Some("spawned_no_initialize"),
        deadline_owner: Some("server"),
        layer: "process",
        restart: Restart {
            verdict: "safe-if",
            rule: "open-life",
            condition,
            reason: text(),
            assumptions: assumptions(),
            evidence: evidence(),
        },
        tools: Some(Tools { count: 1, digest: Some(text()), names: vec![text()] }),
        reach: reach(),
        restarts: 0,
        exit: Some(Exit { code: Some(1), signal: Some(9) }),
        first_at: Some(text()),
        last_at: Some(text()),
    }
}

fn call() -> Call {
    Call {
        call: text(),
        run: Some(text()),
        id: to_raw_value(&1).ok(),
        direction: "to-server",
        method: text(),
        tool: Some(text()),
        session: Some(text()),
        revision: Some(text()),
        started_at: Some(text()),
        ended_at: Some(text()),
        duration_ms: Some(1),
        limit: Some("60 s"),
        last_phase: Some(last_phase()),
        outcome: "NO_ANSWER",
        layer: "unknown",
        code: Some(-32603),
        author: Some("server"),
        http: Some(Http {
            post_count: 1,
            statuses: vec![200],
            content_type: Some("text/html"),
            events: Some(1),
            complete: Some(true),
        }),
        retry: Retry {
            verdict: "safe-if",
            rule: "no-proof",
            condition: Some(text()),
            reason: text(),
            helps: "unknown",
            after_ms: Some(1),
            assumptions: assumptions(),
            evidence: evidence(),
        },
        reach: reach(),
        effects: [0, 1],
        milestones: Milestones { sent: "true", reached: "none", effected: "false", acked: "both" },
        operation: Some(text()),
        attempt: Some(1),
        retry_origin: vec!["none"],
        missing: vec![Missing { artifact: text(), look_for: "a contact", if_present: "unsafe", if_absent: "safe-if" }],
        conflicts: vec![Conflict { fact: "acked", evidence: evidence() }],
        arguments_digest: Some(text()),
        evidence: evidence(),
    }
}

fn operation() -> Operation {
    let retry = OperationRetry {
        call: text(),
        origin: vec!["sdk"],
        ex_ante: "unknown",
        ex_post: "possible",
        quadrant: "unsafe",
    };
    Operation {
        operation: text(),
        run: Some(text()),
        tool: Some(text()),
        attempts: vec![text()],
        effects: [0, 2],
        duplicate: "possible",
        assumptions: assumptions(),
        retries: vec![retry],
    }
}

fn finding() -> Finding {
    Finding {
        rule: "tool-hang",
        severity: "high",
        confidence: "high",
        claim: text(),
        run: Some(text()),
        call: Some(text()),
        fingerprint: text(),
        advice: text(),
        evidence: evidence(),
    }
}

fn coverage() -> Coverage {
    Coverage {
        bytes: 1,
        records: 1,
        events: 1,
        unexplained_records: 0,
        loss: "none",
        inputs_not_read: vec![NotRead {
            path: text(),
            member: Some(text()),
            notice: "broken-archive",
            loss: "data",
            reason: text(),
            partly_read: true,
        }],
        rules_not_run: vec![NotRun { rule: "covered-life", needs: "a trace" }],
        unexplained: Some(vec![Unexplained { source: text(), record: 1, byte: 0, quote: text() }]),
    }
}

fn totals() -> Totals {
    let count = || [("x", 1)].into_iter().collect();
    Totals { runs: 1, calls: 1, by_outcome: count(), by_layer: count(), by_retry: count(), by_reach: count() }
}
