//! The report for a terminal: 80 columns, what to do first.
//!
//! It says nothing of its own: sentences and rows come from the view.

use std::io::{self, Write};

use super::{
    Renderer, Report, Style,
    layout::{Grid, at_most, cut, cut_left, paragraph},
    page::{Page, Tone},
    view::{self, CallRow, Cite, Class, Coverage, FindingRow, View},
};
use crate::judge::Severity;

/// See [`Renderer::doc`].
pub(super) const RENDERER: Renderer = Renderer {
    name: "table",
    title: "For a terminal of 80 columns (default)",
    doc: "For the person at the pager. Begins with what to do, then one sentence and four answers for each run, the calls without a success on record with the records that prove their verdict, findings, missing evidence, coverage, and what to log next time. Shows at most 20 runs, 40 calls and 25 findings; equal ones count as one.",
    extension: "txt",
    cites: view::cites,
    render,
};

/// At most so many lines of one quote.
const QUOTE_LINES: usize = 4;

fn render(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let view = report.view();
    let mut page = Page::new(style);
    page.advice(view);
    page.runs(view);
    page.calls(view);
    page.findings(view);
    page.missing(view);
    page.coverage(view);
    page.next(view);
    page.write(out)?;
    out.flush()
}

impl Page {
    fn rest(&mut self, rest: Option<String>) {
        if let Some(rest) = rest {
            self.text(Tone::Faint, "  ", 2, &rest);
        }
    }

    fn advice(&mut self, view: &View) {
        self.head("What to do");
        if !view.advice.iter().any(|advice| advice.class.is_about_calls()) {
            self.text(Tone::Plain, "  ", 2, &view.nothing_failed());
        }
        for advice in &view.advice {
            self.text(tone_of(advice.class), "  ", 2, &format!("{}:", advice.class.title()));
            for row in &advice.rows {
                let which = if row.which.is_empty() { String::new() } else { format!(" ({})", row.which) };
                self.text(Tone::Plain, "    ", 6, &format!("{}{which}: {}", row.subject, row.text));
            }
            self.rest(advice.rest().map(|more| format!("{more}: see --output ndjson.")));
        }
    }

    fn runs(&mut self, view: &View) {
        if view.runs.is_empty() {
            return;
        }
        self.head("Runs");
        for row in &view.runs.shown {
            self.text(Tone::Plain, "  ", 4, &format!("{}{}", row.name, row.headline));
            for cite in &row.cites {
                self.cite(cite, 4);
            }
        }
        self.rest(view.runs.rest("run"));
        self.head("The four questions");
        let grid = Grid::new(&[16, 14, 14, 15, 15], 2, self.width);
        self.table_head(&grid, &["run", "started", "initialized", "tools listed", "reached outside"]);
        for row in &view.runs.shown {
            let cells: Vec<String> = std::iter::once(&row.name).chain(&row.answers).cloned().collect();
            self.row(&grid, &cells, Tone::Plain);
        }
    }

    fn calls(&mut self, view: &View) {
        if view.calls.is_empty() {
            return;
        }
        self.head(view.calls_title());
        let grid = Grid::new(&[8, 5, 12, 12, 11, 11, 7, 7], 0, self.width);
        self.table_head(&grid, &["time", "call id", "tool", "last phase", "outcome", "layer", "retry", "reach"]);
        for row in &view.calls.shown {
            self.call(&grid, row);
        }
        self.rest(view.calls.rest("call"));
    }

    fn call(&mut self, grid: &Grid, row: &CallRow) {
        let times = if row.count > 1 { format!("{} ×{}", row.tool, row.count) } else { row.tool.clone() };
        let id = row.id.as_deref().map_or_else(|| row.call.clone(), |id| format!("{}\n{}", row.call, cut(id, 5)));
        let cells = [
            row.time.get(..8).unwrap_or(&row.time).to_owned(),
            id,
            times,
            row.last_phase.to_owned(),
            row.outcome.clone(),
            row.layer.to_owned(),
            row.retry.name().to_owned(),
            row.reach.to_owned(),
        ];
        self.row(grid, &cells, Tone::of_retry(row.retry));
        if !row.about.is_empty() {
            self.text(Tone::Faint, "  ", 4, &row.about);
        }
        self.text(Tone::Plain, "  ", 4, &row.reason);
        self.cites(&row.cites, row.more);
    }

    pub(super) fn cites(&mut self, cites: &[Cite], more: usize) {
        for cite in cites {
            self.cite(cite, 4);
        }
        if more > 0 {
            self.put(Tone::Faint, &format!("    and {}", view::plural(more as u64, "more record")));
        }
    }

    /// `path:line  quote`.
    pub(super) fn cite(&mut self, cite: &Cite, indent: usize) {
        let place = cut_left(&cite.place, self.width / 2);
        let words = cite.quote.as_deref().unwrap_or(&cite.role);
        let first = format!("{}{place}  ", " ".repeat(indent));
        let lines = paragraph(&first, indent + 2, words, self.width);
        for line in at_most(lines, QUOTE_LINES, self.width) {
            self.put(Tone::Faint, &line);
        }
    }

    fn findings(&mut self, view: &View) {
        if view.findings.is_empty() {
            return;
        }
        self.head("Findings");
        for row in &view.findings.shown {
            self.finding(row);
        }
        self.rest(view.findings.rest("finding"));
    }

    fn finding(&mut self, row: &FindingRow) {
        let tone = match row.severity {
            Severity::High => Tone::Bad,
            Severity::Medium => Tone::Doubt,
            Severity::Low | Severity::Info => Tone::Plain,
        };
        let about = if row.about.is_empty() { String::new() } else { format!(" ({})", row.about) };
        self.text(tone, "  ", 4, &format!("{} {}{about}: {}", row.severity.name(), row.rule, row.claim));
        self.text(Tone::Plain, "    ", 4, row.advice);
        self.cites(&row.cites, row.more);
    }

    fn missing(&mut self, view: &View) {
        if view.missing.is_empty() {
            return;
        }
        self.head("Missing evidence");
        for row in &view.missing.shown {
            self.text(Tone::Plain, "  ", 4, &format!("{}: {}.", row.artifact, row.decides));
        }
        self.rest(view.missing.rest("artifact"));
    }

    fn coverage(&mut self, view: &View) {
        let coverage = &view.coverage;
        if coverage.sources.is_empty() && coverage.not_read.is_empty() {
            return;
        }
        self.head("Coverage");
        self.text(Tone::Plain, "  ", 2, &format!("{}.", coverage.summary));
        if !coverage.root.is_empty() {
            self.text(Tone::Plain, "  ", 2, &format!("All paths are under {}", coverage.root));
        }
        if let Some(loss) = coverage.loss {
            self.text(Tone::Doubt, "  ", 2, loss);
        }
        self.sources(coverage);
        for row in &coverage.not_read.shown {
            self.text(Tone::Doubt, "  ", 4, &format!("{}: {}: {}", row.fate, row.path, row.reason));
        }
        self.rest(coverage.not_read.rest("input"));
        self.policy(coverage);
        if !coverage.unexplained.is_empty() {
            self.head("Records from which nothing was learned");
        }
        for (place, words) in &coverage.unexplained {
            let first = format!("  {}  ", cut_left(place, self.width / 2));
            for line in at_most(paragraph(&first, 4, words, self.width), QUOTE_LINES, self.width) {
                self.put(Tone::Faint, &line);
            }
        }
    }

    fn policy(&mut self, coverage: &Coverage) {
        if let Some((path, _)) = &coverage.policy {
            self.text(Tone::Plain, "  ", 4, &format!("Judged under the policy {path}."));
        }
        for (place, why) in &coverage.unused {
            self.text(Tone::Doubt, "  ", 4, &format!("Not used: {place}: {why}."));
        }
    }

    fn sources(&mut self, coverage: &Coverage) {
        if coverage.sources.is_empty() {
            return;
        }
        let grid = Grid::new(&[29, 17, 8, 9, 11], 2, self.width);
        self.table_head(&grid, &["source", "format", "witness", "records", "unexplained"]);
        for row in &coverage.sources.shown {
            let cells = [
                cut_left(&row.path, grid.width(0)),
                row.format.clone(),
                row.witness.clone(),
                row.records.to_string(),
                row.unexplained.to_string(),
            ];
            self.row(&grid, &cells, Tone::Plain);
            for notice in &row.notices {
                self.text(Tone::Faint, "    ", 6, notice);
            }
        }
        self.rest(coverage.sources.rest("source"));
    }

    fn next(&mut self, view: &View) {
        if view.next.is_empty() {
            return;
        }
        self.head("Log this next time");
        for text in &view.next {
            self.text(Tone::Plain, "  - ", 4, text);
        }
    }
}

fn tone_of(class: Class) -> Tone {
    match class {
        Class::Retry => Tone::Good,
        Class::RetryIf | Class::Open => Tone::Doubt,
        Class::Never | Class::Repair => Tone::Bad,
        Class::Useless | Class::Restart => Tone::Head,
    }
}
