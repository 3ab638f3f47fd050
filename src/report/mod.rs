//! The report: everything a person or a pipeline reads. All quoted text passes [`redact`] and [`escape`].
//!
//! It does not decide anything: verdicts arrive ready. It does not read sources: the quotes arrive ready, too.

mod called;
pub mod escape;
mod explanation;
mod fetch;
mod filter;
mod json;
mod layout;
mod markdown;
mod names;
mod ndjson;
mod page;
mod place;
pub mod redact;
mod schema;
mod select;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod view;
mod wire;

use std::{collections::BTreeMap, io, sync::OnceLock};

pub use called::names_call;
pub use explanation::{EXPLANATION_FORMS, Explanation, ExplanationForm, explanation_cites};
pub use schema::schema;
pub use timeline::{Fetch, TIMELINE_FORMS, Timeline, TimelineForm};

pub(crate) use view::listed;

use view::View;

use crate::{
    correlate::Case,
    event::Origin,
    judge::{CallVerdict, Verdicts, policy::Unused},
    notice::NoticeKind,
    source::{LineNumbers, Skipped},
    time::Timestamp,
};

/// The longest quote, in characters.
pub const QUOTE_LIMIT: usize = 240;

/// What was read of one source, beside what correlation keeps of it.
#[derive(Clone, Debug, Default)]
pub struct SourceInfo {
    /// Path as given or found.
    pub path: String,
    /// Path inside an archive.
    pub member: Option<String>,
    /// SHA-256 of the stored file, hexadecimal.
    pub sha256: String,
    /// SHA-256 of the member's content, hexadecimal.
    pub member_sha256: Option<String>,
    /// Size of the stored file.
    pub bytes: u64,
    /// Name of the format.
    pub format: &'static str,
    /// Wrappers that were peeled, outermost first.
    pub wrappers: Vec<&'static str>,
    /// Records.
    pub records: u64,
    /// Bytes of the decoded content.
    pub content_bytes: u64,
    /// The zone of its stamps was given by an option.
    pub zone_by_option: bool,
    /// Trouble while reading.
    pub notices: Vec<NoticeCount>,
    /// The name of the part of a rotated log that followed it and is not in the input.
    pub next_part: Option<String>,
    /// Records from which nothing was learned.
    pub unexplained: u64,
    /// Where records begin that may have several lines.
    pub lines: LineNumbers,
}

impl SourceInfo {
    /// The path, with the path inside an archive.
    pub fn whole_path(&self) -> String {
        match &self.member {
            Some(member) => format!("{}!{member}", self.path),
            None => self.path.clone(),
        }
    }
}

/// One kind of trouble in one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeCount {
    /// What happened.
    pub kind: NoticeKind,
    /// How often.
    pub count: u64,
    /// Where first: record and byte.
    pub first: Option<(u64, u64)>,
}

/// The words of records, already masked and cut, by place.
pub type Quotes = BTreeMap<Origin, String>;

/// Which calls are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallsShown {
    /// Everything but plain successes.
    #[default]
    Failed,
    /// All.
    All,
}

impl CallsShown {
    /// Whether a call is listed; also what [`crate::judge::judge`] should keep.
    pub fn keeps(self, verdict: &CallVerdict) -> bool {
        self == Self::All || !verdict.outcome.is_success()
    }
}

/// Selects what is shown, never what is read: a filter must not make a verdict safer.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Name of the run.
    pub run: Option<String>,
    /// Name of the server.
    pub server: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Nothing that ended before.
    pub since: Option<Timestamp>,
    /// Nothing that began after.
    pub until: Option<Timestamp>,
}

/// A record from which nothing was learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// Where it stands.
    pub origin: Origin,
    /// Its words, masked and cut.
    pub quote: String,
}

/// The policy under which was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// Path as given.
    pub path: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// What of it did not apply.
    pub unused: Vec<Unused>,
}

/// What the report shows.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Which calls are listed.
    pub calls: CallsShown,
    /// What is shown at all.
    pub select: Selection,
    /// Digests of arguments are printed. A digest of a small secret can be guessed.
    pub digests: bool,
    /// The records from which nothing was learned, if they are wanted.
    pub unexplained: Option<Vec<Unexplained>>,
    /// The policy under which was judged.
    pub policy: Option<PolicyInfo>,
}

/// Everything a renderer needs. Complete before any renderer runs.
#[derive(Debug)]
pub struct Report<'a> {
    /// The facts.
    case: &'a Case,
    /// What was made of them.
    verdicts: &'a Verdicts,
    /// One per source, in source order.
    sources: &'a [SourceInfo],
    /// What was not read, in a stable order.
    not_read: Vec<Skipped>,
    /// What is shown.
    options: &'a ReportOptions,
    /// The words of the cited records. A place without words is cited without them.
    quotes: Quotes,
    /// What the human forms say, made when the first of them asks.
    view: OnceLock<View>,
}

impl<'a> Report<'a> {
    /// A report that cites places without their words.
    pub fn new(case: &'a Case, verdicts: &'a Verdicts, sources: &'a [SourceInfo], options: &'a ReportOptions) -> Self {
        Self { case, verdicts, sources, not_read: Vec::new(), options, quotes: Quotes::new(), view: OnceLock::new() }
    }

    /// The same report, which also names what was not read.
    #[must_use]
    pub fn with_not_read(self, not_read: Vec<Skipped>) -> Self {
        Self { not_read, view: OnceLock::new(), ..self }
    }

    /// The places whose words the renderers will show, in order of source and byte, each once.
    pub fn wanted_quotes(&self, renderers: &[&Renderer]) -> Vec<Origin> {
        let mut wanted = Vec::new();
        for renderer in renderers {
            (renderer.cites)(self, &mut wanted);
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// The same report with the words of the cited records.
    #[must_use]
    pub fn with_quotes(mut self, quotes: Quotes) -> Self {
        self.quotes = quotes;
        if let Some(mut view) = self.view.take() {
            view.quote(&self);
            self.view = OnceLock::from(view);
        }
        self
    }

    /// That the selection lets nothing through though there is something, as a fragment for a message.
    pub fn unmatched(&self) -> Option<String> {
        let names = names::Names::readable(self);
        filter::Filter::new(self, &names, &select::Selected::new(self)).and_then(|filter| filter.unmatched())
    }

    /// What the human forms say.
    fn view(&self) -> &View {
        self.view.get_or_init(|| View::new(self))
    }
}

/// What the output device can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: u16,
    /// ANSI colors are welcome.
    pub color: bool,
}

/// One form of the report, as a value.
#[derive(Debug)]
pub struct Renderer {
    /// The name after `--output`.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Markdown: for whom it is, what it holds, what it leaves out.
    pub doc: &'static str,
    /// Extension of files of this form.
    pub extension: &'static str,
    /// Adds the places whose words it will show.
    pub cites: fn(&Report<'_>, &mut Vec<Origin>),
    /// Writes the report.
    pub render: fn(&Report<'_>, Style, &mut dyn io::Write) -> io::Result<()>,
}

/// All renderers; the first is the default.
pub static RENDERERS: &[Renderer] = &[table::RENDERER, markdown::RENDERER, json::RENDERER, ndjson::RENDERER];

/// The renderer of that name.
pub fn renderer(name: &str) -> Option<&'static Renderer> {
    RENDERERS.iter().find(|renderer| renderer.name == name)
}
