//! What the tables say of themselves: formats, clues, rules, reports. Drives `explain`, `formats`, `rules` and the
//! generated pages.

use crate::{
    clue::CLUES,
    format::{self, FORMATS, Format},
    judge::{Doc, FINDING_RULES, RESTART_RULES, RETRY_RULES, STOPS},
};

/// One documented rule or stop, of whatever table.
struct Entry {
    id: &'static str,
    title: &'static str,
    kind: &'static str,
    doc: &'static Doc,
}

fn entries() -> Vec<Entry> {
    let retry = RETRY_RULES.iter().map(|rule| Entry { id: rule.id, title: rule.title, kind: "retry", doc: &rule.doc });
    let restart =
        RESTART_RULES.iter().map(|rule| Entry { id: rule.id, title: rule.title, kind: "restart", doc: &rule.doc });
    let finding =
        FINDING_RULES.iter().map(|rule| Entry { id: rule.id, title: rule.title, kind: "finding", doc: &rule.doc });
    let stop = STOPS.iter().map(|row| Entry { id: row.name, title: row.title, kind: "stop", doc: row.doc });
    retry.chain(restart).chain(finding).chain(stop).collect()
}

/// The documentation of a rule, a stop or a clue.
pub fn rule(name: &str) -> Option<String> {
    if let Some(entry) = entries().into_iter().find(|entry| entry.id == name) {
        return Some(section(&entry, "#"));
    }
    let clue = CLUES.iter().find(|clue| clue.name == name)?;
    Some(format!("# {} (clue)\n\n{}.\n\n{}\n", clue.name, clue.title, clue.doc))
}

fn section(entry: &Entry, level: &str) -> String {
    let kind = if entry.kind == "stop" { "stop".to_owned() } else { format!("{} rule", entry.kind) };
    format!("{level} {} ({kind})\n\n{}.\n\n{}", entry.id, entry.title, entry.doc.markdown())
}

/// A list of all rules and stops, one a line.
pub fn rules() -> String {
    let width = entries().iter().map(|entry| entry.id.len()).max().unwrap_or(0);
    let line = |entry: &Entry| format!("{:width$}  {:8} {}\n", entry.id, entry.kind, entry.title);
    entries().iter().map(line).collect::<Vec<_>>().concat()
}

/// A list of all formats, one a line.
pub fn formats() -> String {
    let width = FORMATS.iter().map(|format| format.name.len()).max().unwrap_or(0);
    let line = |format: &&Format| format!("{:width$}  {}\n", format.name, format.title);
    let list = FORMATS.iter().map(line).collect::<Vec<_>>().concat();
    format!("{list}{:width$}  Everything else: free text, read through the clue table\n", "text")
}

/// The documentation of a format.
pub fn format(name: &str) -> Option<String> {
    let format = format::named(name)?;
    Some(format!("# {}\n\n{}.\n\n{}\n", format.name, format.title, format.doc))
}

/// The generated page about formats and clues.
pub fn formats_page() -> String {
    let mut page = "# Input formats\n\nGenerated from the tables `FORMATS` and `CLUES`. Formats are recognized by content, in \
                    this order; the first that claims an input wins. A file that nobody claims is read as free text.\n\n"
        .to_owned();
    for format in FORMATS {
        page.push_str(&["## ", format.name, "\n\n", format.title, ".\n\n", format.doc, "\n\n"].concat());
    }
    page.push_str("# Clues\n\nWhat free text says, whichever log it stands in.\n\n");
    for clue in CLUES {
        let doc = clue.doc.replace("\n## ", "\n### ").replacen("## ", "### ", 1);
        page.push_str(&["## ", clue.name, "\n\n", clue.title, ".\n\n", &doc, "\n\n"].concat());
    }
    page.trim_end().to_owned() + "\n"
}

/// The generated page about rules.
pub fn rules_page() -> String {
    let mut page =
        "# Rules\n\nGenerated from the tables `RETRY_RULES`, `RESTART_RULES`, `FINDING_RULES` and `STOPS`. Retry and \
                    restart rules stand in the order of precedence: the first that fires decides. A stop is no rule: \
                    it names where a run ended, or what it left open.\n\n"
            .to_owned();
    for entry in entries() {
        page.push_str(&section(&entry, "##"));
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}
