//! The report as an incident summary in Markdown, to be pasted into a ticket.
//!
//! It says nothing of its own: sentences and rows come from the view. Everything out of a log is escaped here.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use super::{
    Renderer, Report, Style,
    escape::{code_cell, code_span, markdown, table_cell},
    view::{self, Cite, Coverage, View},
    wire,
};

/// See [`Renderer::doc`].
pub(super) const RENDERER: Renderer = Renderer {
    name: "markdown",
    title: "An incident summary to paste into a ticket",
    doc: "For the ticket. What is safe to retry and what is not, summary, impact, timeline, a table of calls, findings, cited records as footnotes, missing evidence, coverage, the version of the tool and the hashes of the inputs. Renders on GitHub and GitLab; nothing quoted can become markup.",
    extension: "md",
    cites: view::cites,
    render,
};

fn render(report: &Report<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
    let view = report.view();
    let mut paper = Paper::default();
    paper.line("# MCP incident summary");
    paper.advice(view);
    paper.summary(view);
    paper.impact(view);
    paper.timeline(view);
    paper.calls(view);
    paper.findings(view);
    paper.missing(view);
    paper.coverage(view);
    paper.inputs(view);
    paper.next(view);
    paper.evidence();
    let mut text = paper.lines.join("\n");
    text.push('\n');
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The lines so far, and what the footnotes hold.
#[derive(Default)]
struct Paper {
    lines: Vec<String>,
    notes: Vec<Cite>,
}

impl Paper {
    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn head(&mut self, title: &str) {
        self.line("");
        self.line(format!("## {title}"));
        self.line("");
    }

    fn rest(&mut self, rest: Option<String>) {
        if let Some(rest) = rest {
            self.line("");
            self.line(rest);
        }
    }

    /// The footnotes of a claim; places that are cited again keep their number.
    fn notes(&mut self, cites: &[Cite]) -> String {
        let mut marks = String::new();
        for cite in cites {
            let known = self.notes.iter().position(|note| note.place == cite.place && note.quote == cite.quote);
            let number = known.unwrap_or_else(|| {
                self.notes.push(cite.clone());
                self.notes.len() - 1
            });
            let _ = write!(marks, "[^{}]", number + 1);
        }
        marks
    }

    fn advice(&mut self, view: &View) {
        self.head("What is safe to retry and what is not");
        if !view.advice.iter().any(|advice| advice.class.is_about_calls()) {
            self.line(markdown(&view.nothing_failed()));
            self.line("");
        }
        for advice in &view.advice {
            self.line(format!("**{}:**", advice.class.title()));
            self.line("");
            for row in &advice.rows {
                let which = if row.which.is_empty() { String::new() } else { format!(" ({})", markdown(&row.which)) };
                self.line(format!("- {}{which}: {}", code_span(&row.subject), markdown(&row.text)));
            }
            if let Some(more) = advice.rest() {
                self.line(format!("- {more}: see `--output ndjson`."));
            }
            self.line("");
        }
        self.lines.pop();
    }

    fn summary(&mut self, view: &View) {
        if view.runs.is_empty() {
            return;
        }
        self.head("Summary");
        for row in &view.runs.shown {
            let marks = self.notes(&row.cites);
            self.line(format!("- {}{}{marks}", code_span(&row.name), markdown(&row.headline)));
        }
        self.rest(view.runs.rest("run"));
        self.line("");
        self.line("| Run | Started | Initialized | Tools listed | Reached outside |");
        self.line("|---|---|---|---|---|");
        for row in &view.runs.shown {
            let answers: Vec<String> = row.answers.iter().map(|answer| table_cell(answer)).collect();
            self.line(format!("| {} | {} |", code_cell(&row.name), answers.join(" | ")));
        }
    }

    fn impact(&mut self, view: &View) {
        let impact = &view.impact;
        if impact.effects.1 == 0 && impact.targets.is_empty() && impact.duplicates.is_empty() {
            return;
        }
        self.head("Impact");
        self.line(format!("- Executions with an effect, of the calls listed below: {}.", impact.executions()));
        for duplicate in &impact.duplicates.shown {
            self.line(format!("- {}", markdown(duplicate)));
        }
        self.rest(impact.duplicates.rest("operation"));
        for target in &impact.targets.shown {
            self.line(format!("- External target {}: {}.", code_span(&target.name), markdown(&target.text)));
        }
        self.rest(impact.targets.rest("target"));
    }

    fn timeline(&mut self, view: &View) {
        if view.timeline.is_empty() {
            return;
        }
        self.head("Timeline");
        self.line("Times of day in UTC where the sources tell; clocks of different sources may differ.");
        self.line("");
        self.line("| Time | Who | What | Recorded by |");
        self.line("|---|---|---|---|");
        for moment in &view.timeline.shown {
            let who = code_cell(&moment.who);
            let (time, what) = (table_cell(&moment.time), table_cell(&moment.what));
            self.line(format!("| {time} | {who} | {what} | {} |", moment.witness));
        }
        self.rest(view.timeline.rest("moment"));
    }

    fn calls(&mut self, view: &View) {
        if view.calls.is_empty() {
            return;
        }
        self.head(view.calls_title());
        self.line("| Time | Call | Tool | Last phase | Outcome | Layer | Retry | Reach | Why |");
        self.line("|---|---|---|---|---|---|---|---|---|");
        for row in &view.calls.shown {
            let marks = self.notes(&row.cites);
            let times = if row.count > 1 { format!(" ×{}", row.count) } else { String::new() };
            let id = row.id.as_deref().map_or_else(String::new, |id| format!(" id {}", code_cell(id)));
            let about = if row.about.is_empty() { String::new() } else { format!(" ({})", table_cell(&row.about)) };
            let cells = [
                table_cell(&row.time),
                format!("{}{times}{id}", row.call),
                code_cell(&row.tool),
                code_cell(row.last_phase),
                table_cell(&row.outcome),
                table_cell(row.layer),
                format!("**{}**", row.retry.name()),
                table_cell(row.reach),
                format!("{}{about}{marks}", table_cell(&row.reason)),
            ];
            self.line(format!("| {} |", cells.join(" | ")));
        }
        self.rest(view.calls.rest("call"));
    }

    fn findings(&mut self, view: &View) {
        if view.findings.is_empty() {
            return;
        }
        self.head("Findings");
        for row in &view.findings.shown {
            let marks = self.notes(&row.cites);
            let about = if row.about.is_empty() { String::new() } else { format!(" ({})", markdown(&row.about)) };
            let (severity, claim) = (row.severity.name(), markdown(&row.claim));
            self.line(format!("- **{severity}** `{}`{about}: {claim}{marks} {}", row.rule, markdown(row.advice)));
        }
        self.rest(view.findings.rest("finding"));
    }

    fn missing(&mut self, view: &View) {
        if view.missing.is_empty() {
            return;
        }
        self.head("Missing evidence");
        for row in &view.missing.shown {
            self.line(format!("- {}: {}.", markdown(&row.artifact), markdown(&row.decides)));
        }
        self.rest(view.missing.rest("artifact"));
    }

    fn coverage(&mut self, view: &View) {
        let coverage = &view.coverage;
        if coverage.sources.is_empty() && coverage.not_read.is_empty() {
            return;
        }
        self.head("Coverage");
        let loss = coverage.loss.map_or_else(String::new, |loss| format!(" {loss}"));
        self.line(format!("{}.{loss}", coverage.summary));
        if !coverage.root.is_empty() {
            self.line(format!("All paths are under {}.", code_span(&coverage.root)));
        }
        self.sources(coverage);
        if !coverage.not_read.is_empty() {
            self.line("");
        }
        for row in &coverage.not_read.shown {
            self.line(format!("- {}: {}: {}", row.fate, code_span(&row.path), markdown(&row.reason)));
        }
        self.rest(coverage.not_read.rest("input"));
        self.policy(coverage);
        if !coverage.unexplained.is_empty() {
            self.head("Records from which nothing was learned");
        }
        for (place, words) in &coverage.unexplained {
            self.line(format!("- {}: {}", code_span(place), code_span(words)));
        }
    }

    fn policy(&mut self, coverage: &Coverage) {
        let Some((path, _)) = &coverage.policy else { return };
        self.line("");
        self.line(format!("Judged under the policy {}.", code_span(path)));
        if !coverage.unused.is_empty() {
            self.line("");
        }
        for (place, why) in &coverage.unused {
            self.line(format!("- Not used: {}: {}.", code_span(place), markdown(why)));
        }
    }

    fn sources(&mut self, coverage: &Coverage) {
        if coverage.sources.is_empty() {
            return;
        }
        self.line("");
        self.line("| Source | Format | Witness | Records | Unexplained | Notices |");
        self.line("|---|---|---|---|---|---|");
        for row in &coverage.sources.shown {
            let (path, format) = (code_cell(&row.path), table_cell(&row.format));
            let (witness, notices) = (table_cell(&row.witness), table_cell(&row.notices.join("; ")));
            self.line(format!("| {path} | {format} | {witness} | {} | {} | {notices} |", row.records, row.unexplained));
        }
        self.rest(coverage.sources.rest("source"));
    }

    fn inputs(&mut self, view: &View) {
        self.head("Tool and inputs");
        self.line(format!("- {} {}", wire::TOOL.name, wire::TOOL.version));
        if let Some((path, sha256)) = &view.coverage.policy {
            self.line(format!("- Policy {} SHA-256 {}", code_span(path), code_span(sha256)));
        }
        for row in view.coverage.sources.shown.iter().filter(|row| !row.sha256.is_empty()) {
            self.line(format!("- {} SHA-256 {}", code_span(&row.path), code_span(&row.sha256)));
        }
    }

    fn next(&mut self, view: &View) {
        if view.next.is_empty() {
            return;
        }
        self.head("Log this next time");
        for text in &view.next {
            self.line(format!("- {}", markdown(text)));
        }
    }

    /// The cited records. Renderers move footnotes to the end of the page by themselves.
    fn evidence(&mut self) {
        if self.notes.is_empty() {
            return;
        }
        self.head("Evidence");
        for (number, cite) in std::mem::take(&mut self.notes).iter().enumerate() {
            let quote = cite.quote.as_deref().map_or_else(String::new, |quote| format!(": {}", code_span(quote)));
            let (place, role) = (code_span(&cite.place), markdown(&cite.role));
            self.line(format!("[^{}]: {place} {role}{quote}", number + 1));
        }
    }
}
