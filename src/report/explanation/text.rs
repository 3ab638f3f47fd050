//! The explanation for a terminal of 80 columns: a story from the first record to what would change the verdict.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{Explanation, ExplanationForm};
use crate::{
    correlate::{AnswerKind, Author, Basis, NONE},
    event::{Origin, Witness},
    judge::{
        Caution, Evidence, Outcome, Truth,
        call::{Link, World},
    },
    report::{
        Style,
        layout::{Grid, at_most, paragraph},
        names,
        page::{Page, Tone},
        timeline, view,
        view::{Cite, Desk},
    },
    time::Timestamp,
};

/// See [`ExplanationForm`].
pub(super) const FORM: ExplanationForm =
    ExplanationForm { name: "text", title: "For a terminal of 80 columns (default)", write };

/// At most so many records of the chain.
const LINKS: usize = 100;
/// At most so many attempts.
const ATTEMPTS: usize = 20;
/// At most so many lines of one quote.
const QUOTE_LINES: usize = 4;

fn write(explanation: &Explanation<'_, '_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let desk = Desk::new(explanation.report);
    let mut story = Story { explanation, desk: &desk, page: Page::new(style) };
    story.call();
    story.chain();
    story.milestones();
    story.facts();
    story.worlds();
    story.contradictions();
    story.attempts();
    story.verdict();
    story.missing();
    story.page.write(out)?;
    out.flush()
}

/// The text while it is written.
struct Story<'s, 'r, 'a> {
    explanation: &'s Explanation<'r, 'a>,
    desk: &'s Desk<'r, 'a>,
    page: Page,
}

impl Story<'_, '_, '_> {
    fn text(&mut self, text: &str) {
        self.page.text(Tone::Plain, "  ", 4, text);
    }

    fn call(&mut self) {
        let (index, verdict) = (self.explanation.call, &self.explanation.explained.verdict);
        let case = self.explanation.report.case;
        let call = &case.calls[index as usize];
        self.page.head("Call");
        let method = self.desk.names.name(call.method);
        let noun = self.desk.noun(index);
        let what = if noun.starts_with(method) { noun } else { format!("{noun} ({method})") };
        let at = case.shown(case.place(call)).map(|at| format!(" at {}", at.clock())).unwrap_or_default();
        self.text(&format!("{}, {what}{at}: {}.", names::call(index), view::about(self.desk, index, 1, verdict)));
        let server = self.desk.server(call.run as usize).filter(|_| call.run != NONE);
        if let Some(server) = server.map(|server| self.desk.names.name(server).to_owned()) {
            self.text(&format!("Server: {server}."));
        }
        if !self.desk.root.is_empty() {
            self.text(&format!("All paths are under {}", self.desk.root));
        }
        let status = case.http(call).map(|http| http.status).filter(|status| *status > 0);
        let last = verdict.last_phase.map_or("none", |(event, _)| event.name());
        let outcome = view::outcome(verdict, status);
        self.text(&format!("Outcome: {outcome}; failed layer: {}; furthest event: {last}.", verdict.layer.name()));
        let tone = Tone::of_retry(verdict.retry.verdict);
        let helps = format!("May it be sent again? {}.", verdict.retry.verdict.name());
        self.page.text(tone, "  ", 4, &helps);
    }

    fn chain(&mut self) {
        self.page.head("What was recorded, in causal order");
        self.text("Records of one source stand in its own order, those of several in the order of the steps of a call, whatever their clocks say.");
        let links = &self.explanation.explained.chain;
        let grid = Grid::new(&[13, 24, 7, 31], 2, self.page.width);
        self.page.table_head(&grid, &["time (UTC)", "event", "witness", "place"]);
        let mut quoted: BTreeSet<Origin> = BTreeSet::new();
        for link in links.iter().take(LINKS) {
            self.link(&grid, link, !quoted.insert(link.mark.origin));
        }
        let left = links.len().saturating_sub(LINKS) as u64;
        if left > 0 {
            self.text(&format!("{}: see --output json.", view::plural(left, "more record")));
        }
    }

    fn link(&mut self, grid: &Grid, link: &Link, is_quoted: bool) {
        let report = self.explanation.report;
        let recorded = link.mark.at.map_or_else(|| "–".to_owned(), Timestamp::clock);
        let placed = report.case.shown(link.mark).map(Timestamp::clock).filter(|placed| *placed != recorded);
        let time = placed.map_or_else(|| recorded.clone(), |placed| format!("{recorded}\n={placed}"));
        let answer = report.case.calls[self.explanation.call as usize].answer.kind;
        let cells = [
            time,
            timeline::word(link, answer).to_owned(),
            timeline::witness(report.case, link).map_or("–", Witness::name).to_owned(),
            self.desk.spot(link.mark.origin),
        ];
        self.page.row(grid, &cells, Tone::Head);
        self.page.text(Tone::Plain, "    ", 6, link.role);
        let quote = report.quotes.get(&link.mark.origin).filter(|_| !is_quoted);
        if let Some(quote) = quote.map(|quote| view::flat(&self.desk.names.whole(quote))) {
            for line in at_most(paragraph("    ", 6, &quote, self.page.width), QUOTE_LINES, self.page.width) {
                self.page.put(Tone::Faint, &line);
            }
        }
    }

    fn milestones(&mut self) {
        self.page.head("How far it got");
        for (name, truth, ground) in self.explanation.milestones() {
            let words = match truth {
                Truth::None if self.follows(name) => "no record by itself; it follows from the others",
                Truth::None => "nothing on record proves or excludes it",
                Truth::Both => "witnesses contradict each other",
                Truth::True | Truth::False => "",
            };
            self.page.text(Tone::Plain, &format!("  {name:<9} {:<6} ", truth.name()), 19, words);
            for piece in ground.proven.iter().chain(&ground.excluded) {
                self.evidence(piece);
            }
        }
    }

    /// Whether all worlds that remain agree on a milestone.
    fn follows(&self, name: &str) -> bool {
        let worlds = &self.explanation.explained.worlds;
        let value = |world: &World| match name {
            "sent" => world.sent,
            "reached" => world.reached,
            "effected" => world.effected,
            _ => world.acked,
        };
        worlds.iter().all(value) || !worlds.iter().any(value)
    }

    /// A place and what it shows; the words of the record stand in the chain.
    fn evidence(&mut self, piece: &Evidence) {
        let (cites, _) = self.desk.cite([piece]);
        for cite in cites {
            self.page.text(Tone::Faint, "    ", 6, &format!("{} {}", cite.place, cite.role));
        }
    }

    fn facts(&mut self) {
        let verdict = &self.explanation.explained.verdict;
        let call = &self.explanation.report.case.calls[self.explanation.call as usize];
        self.page.head("Facts");
        self.text(&format!("Answer: {}.", answer(call.answer.kind, verdict.outcome, verdict.author)));
        let (lo, hi) = verdict.effects;
        self.text(&format!("Executions: {lo} proven, up to {hi} possible."));
        let reach = &verdict.reach;
        let basis = if reach.basis == Basis::Absent { String::new() } else { format!(", {}", reach.basis.name()) };
        self.text(&format!("Reached outside: {}{basis}.", reach.answer.name()));
        for target in &reach.targets {
            let name = self.desk.names.name(target.target).to_owned();
            let place = if target.local { " on this host" } else { "" };
            let contacts = view::plural(u64::from(target.attempts), "contact");
            let kind = target.kind.name();
            self.text(&format!("- {name}: {kind}{place}, {contacts}, {} answered.", target.results));
        }
        for piece in &reach.evidence {
            self.evidence(piece);
        }
    }

    fn worlds(&mut self) {
        self.page.head("The worlds that remain");
        let worlds = &self.explanation.explained.worlds;
        self.text(match worlds.len() {
            0 => "None: what is on record contradicts cause and effect.",
            1 => "What is on record leaves one:",
            _ => "What is on record fits each of these; nothing tells which of them it was:",
        });
        if worlds.is_empty() {
            return;
        }
        let grid = Grid::new(&[5, 8, 9, 6], 4, self.page.width);
        self.page.table_head(&grid, &["sent", "reached", "effected", "acked"]);
        for world in worlds {
            let word = |is: bool| if is { "yes" } else { "no" }.to_owned();
            let cells = [word(world.sent), word(world.reached), word(world.effected), word(world.acked)];
            self.page.row(&grid, &cells, Tone::Plain);
        }
    }

    fn contradictions(&mut self) {
        for (fact, evidence) in &self.explanation.explained.verdict.conflicts {
            self.page.head(&format!("Contradiction: {fact}"));
            let (cites, more) = self.desk.cite(evidence);
            self.cites(&cites, more);
        }
    }

    fn attempts(&mut self) {
        let attempts = &self.explanation.explained.attempts;
        let operation = self.explanation.report.operation_of(self.explanation.call);
        let Some((index, operation)) = operation.filter(|_| attempts.len() > 1) else { return };
        self.page.head(&format!("Attempts of {}", names::operation(index)));
        for attempt in attempts.iter().take(ATTEMPTS) {
            let this = if attempt.call == self.explanation.call { ", this one" } else { "" };
            let retry = operation.retries.iter().find(|retry| retry.call == attempt.call);
            let retry = retry.map_or_else(String::new, |retry| {
                format!(
                    "; a retry (origin: {}): {} before it was sent, {} in the end, {}",
                    retry.origin.join(" or "),
                    retry.ex_ante.name(),
                    retry.ex_post,
                    retry.quadrant
                )
            });
            let (lo, hi) = attempt.effects;
            let (call, outcome) = (names::call(attempt.call), attempt.outcome.name());
            self.text(&format!("{call}{this}: {outcome}, executions {lo} to {hi}{retry}."));
        }
        let left = attempts.len().saturating_sub(ATTEMPTS) as u64;
        if left > 0 {
            self.text(&format!("{}: see --output json.", view::plural(left, "more attempt")));
        }
        let (lo, hi) = operation.effects;
        self.text(&format!("Together: {lo} to {hi} executions; effect more than once: {}.", operation.duplicate));
    }

    fn verdict(&mut self) {
        let verdict = &self.explanation.explained.verdict;
        let opinion = &verdict.retry;
        self.page.head("Why this verdict");
        let tone = Tone::of_retry(opinion.verdict);
        self.page.text(tone, "  ", 4, &format!("{}, by the rule {}.", opinion.verdict.name(), opinion.rule));
        self.text(&view::reason(self.desk, self.explanation.call, verdict));
        let (cites, more) = self.desk.cite(opinion.proof.iter());
        self.cites(&cites, more);
        self.text(&format!("`mcp-postmortem explain {}` documents the rule.", opinion.rule));
    }

    fn cites(&mut self, cites: &[Cite], more: usize) {
        for cite in cites {
            self.page.text(Tone::Faint, "    ", 6, &format!("{} {}", cite.place, cite.role));
        }
        if more > 0 {
            self.page.put(Tone::Faint, &format!("    and {}", view::plural(more as u64, "more record")));
        }
    }

    fn missing(&mut self) {
        let verdict = &self.explanation.explained.verdict;
        self.page.head("What would change it");
        if verdict.missing.is_empty() {
            self.text(match verdict.retry.verdict {
                Caution::Safe | Caution::Unsafe => "Nothing: what is on record decides.",
                Caution::SafeIf => "Only the condition: no further file is known to settle it.",
                Caution::Unknown => "No file is known that would settle it.",
            });
        }
        for row in view::missing_of(self.desk, self.explanation.call, verdict) {
            self.text(&format!("{}: {}.", row.artifact, row.decides));
        }
    }
}

/// The answer in words, with who wrote it.
fn answer(kind: AnswerKind, outcome: Outcome, author: Author) -> String {
    let by = match author {
        Author::Unknown => "nothing tells who wrote it",
        Author::Server => "written by the server",
        Author::Gateway => "written by a gateway",
        Author::Sdk => "written by the client's SDK",
        Author::Client => "written by the client",
    };
    match kind {
        AnswerKind::None => "none on record".to_owned(),
        AnswerKind::NotSent => "none: no connection was made".to_owned(),
        AnswerKind::StreamIncomplete => "none: its stream ended before it".to_owned(),
        _ if outcome.is_success() && author == Author::Unknown => "a success".to_owned(),
        AnswerKind::Result => format!("a result, {by}"),
        AnswerKind::ToolError => format!("a tool error, {by}"),
        AnswerKind::Task => format!("a task handle, {by}"),
        AnswerKind::InputRequired => format!("a demand for input, {by}"),
        AnswerKind::Error => format!("a JSON-RPC error, {by}"),
        AnswerKind::InvalidResult => format!("an invalid tool result, {by}"),
        AnswerKind::InvalidEnvelope => format!("no valid JSON-RPC, {by}"),
        AnswerKind::Malformed => format!("no JSON, {by}"),
        AnswerKind::HttpError => format!("an HTTP error, {by}"),
        AnswerKind::NotCaptured => format!("given, but not captured; {by}"),
    }
}
