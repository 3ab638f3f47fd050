//! Something stood on stdout that is no JSON-RPC message.

use std::collections::BTreeMap;

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, count, events, number_of, shook_hands, tally::Tally,
};
use crate::{
    correlate::{Mark, StrandEvent, StrandFact, Transport},
    event::{RemarkKind, Witness},
    judge::{RunFacts, call::answer_is_servers},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "stdout-pollution",
    title: "Text on stdout, where only messages may stand",
    severity: Severity::High,
    doc: Doc {
        means: "The server, or a library inside it, printed to stdout. The stdio transport allows only JSON-RPC messages there: a client may lose the message that stands beside the text, or refuse the whole session.",
        recognized: "A tap or bridge shows a line from the server that is no JSON, or a client says that it could not parse one. Low confidence where only the client says so and the handshake was completed nevertheless.",
        is_not: "Text on stderr. By itself it is not fatal: where the handshake was completed nevertheless, the severity is medium.",
        to_do: "Send every log of the server to stderr, also those of its libraries and of its start script.",
    },
    check,
};

const ON_WIRE: &str = "shows a line on stdout that is no message";
const BY_CLIENT: &str = "shows that the client could not read a line of the server";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, verdict) in scene.runs() {
        let (lines, echoes) = lines_of(facts);
        let Some((first, rest)) = lines.split_first() else { continue };
        let mut tally = Tally::new(role(first), first.mark);
        for line in rest {
            tally.add(role(line), line.mark);
        }
        for echo in &echoes {
            tally.also(role(echo), echo.mark);
        }
        let on_wire = lines.iter().any(|line| line.what == StrandFact::Pollution);
        let survived = shook_hands(facts, verdict);
        let confidence = match (on_wire, survived) {
            (true, _) => Confidence::High,
            (false, false) => Confidence::Medium,
            (false, true) => Confidence::Low,
        };
        let severity = if survived { Severity::Medium } else { Severity::High };
        let number = tally.count();
        let claim = if on_wire {
            let (are, messages) = if number == 1 { ("is", "message") } else { ("are", "messages") };
            let position = position(facts, &lines).map_or_else(String::new, |position| format!(", {position}"));
            format!(
                "The server wrote {} to stdout that {are} no JSON-RPC {messages}{position}.",
                count(number, "line", "lines")
            )
        } else {
            format!("The client could not parse {} of the server as JSON-RPC.", count(number, "line", "lines"))
        };
        out.push(tally.finding(&RULE, confidence, claim, number_of(facts)).with_severity(severity));
    }
}

/// The lines as the best witness saw them, and the first record of each other source: they show the same lines again.
fn lines_of<'c>(facts: &RunFacts<'c>) -> (Vec<&'c StrandEvent>, Vec<&'c StrandEvent>) {
    let over_http = matches!(facts.transport(), Transport::StreamableHttp | Transport::Sse);
    let mut sources: BTreeMap<u32, Vec<&StrandEvent>> = BTreeMap::new();
    for event in events(facts).filter(|event| is_pollution(event, over_http)) {
        sources.entry(event.mark.origin.source.0).or_default().push(event);
    }
    let on_wire = |lines: &[&StrandEvent]| lines.iter().any(|line| line.what == StrandFact::Pollution);
    // Of equal witnesses the first source counts.
    let best = sources.iter().rev().max_by_key(|(_, lines)| (on_wire(lines), lines.len())).map(|(source, _)| *source);
    let mut lines = best.and_then(|best| sources.remove(&best)).unwrap_or_default();
    lines.sort_by_key(|event| event.mark.origin);
    (lines, sources.into_values().filter_map(|lines| lines.first().copied()).collect())
}

/// Over HTTP an answer that does not parse is no line on stdout; a bridge may still report such a line of its child.
fn is_pollution(event: &StrandEvent, over_http: bool) -> bool {
    match event.what {
        StrandFact::Pollution => true,
        StrandFact::Remark(RemarkKind::ParseFailure) => event.witness == Witness::Client && !over_http,
        _ => false,
    }
}

fn role(event: &StrandEvent) -> &'static str {
    if event.what == StrandFact::Pollution { ON_WIRE } else { BY_CLIENT }
}

/// Where the lines stand, seen from the server's first answer in the same log; unknown where that log holds no answers
/// although the server gave some.
fn position(facts: &RunFacts<'_>, lines: &[&StrandEvent]) -> Option<String> {
    let answers = first_answers(facts);
    let known = |line: &&StrandEvent| answers.is_empty() || answers.contains_key(&line.mark.origin.source.0);
    if !lines.iter().all(known) {
        return None;
    }
    let before = |line: &&&StrandEvent| {
        answers.get(&line.mark.origin.source.0).is_none_or(|first| line.mark.origin < first.origin)
    };
    Some(match lines.iter().filter(before).count() {
        0 => "between its messages".to_owned(),
        number if number == lines.len() => "before its first message".to_owned(),
        number => format!("{number} of them before its first message"),
    })
}

/// The first answer of the server in each source.
fn first_answers(facts: &RunFacts<'_>) -> BTreeMap<u32, Mark> {
    let mut answers: BTreeMap<u32, Mark> = BTreeMap::new();
    for call in facts.run.calls.iter().map(|index| &facts.case.calls[*index as usize]) {
        if let Some(mark) = call.answered.filter(|_| answer_is_servers(call)) {
            let first = answers.entry(mark.origin.source.0).or_insert(mark);
            if mark.origin < first.origin {
                *first = mark;
            }
        }
    }
    answers
}
