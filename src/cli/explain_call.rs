//! The command `explain`: the documentation of a rule, or everything that is known of one call.

use std::ffi::OsString;

use super::{
    complain,
    output::{Forms, Output, outputs, write},
    policy::policy,
    print, read,
    shared::{self, Console, Judging, Reading, Selecting},
    status,
};
use crate::{
    analyze::{Analysis, Options},
    error::{Error, ExitStatus},
    explain,
    judge::call,
    report::{
        CallsShown, EXPLANATION_FORMS, Explanation, ExplanationForm, Report, ReportOptions, explanation_cites,
        names_call, redact,
    },
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of a rule or stop, as reports show it (see `rules`); or, with paths, of a call: its handle in the report (c17), or the id of its request (id=7).
    #[arg(value_name = "RULE|CALL")]
    what: String,
    /// For a call: files, folders, archives, or - for standard input, with hints as for `analyze`.
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    #[arg(short, long, value_name = "KIND[=FILE]", requires = "paths", help = FORMS.help(), help_heading = "Output")]
    output: Vec<String>,
    #[command(flatten)]
    console: Console,
    #[command(flatten)]
    select: Selecting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    judging: Judging,
}

/// The forms of an explanation.
pub(super) const FORMS: Forms<ExplanationForm> =
    Forms { all: EXPLANATION_FORMS, of: "the explanation of a call", words: |form| (form.name, form.title) };

/// At most so many calls are listed where a name fits several.
const CANDIDATES: usize = 20;

/// Explains a rule, or, where paths are given, a call.
pub(super) fn run(arguments: &Arguments) -> Result<ExitStatus, Error> {
    if !arguments.paths.is_empty() {
        return explain_call(arguments);
    }
    if let Some(text) = explain::rule(&arguments.what) {
        return print(&text);
    }
    let shown = redact::quote(&arguments.what, 60);
    Err(Error::Usage(if names_call(&arguments.what) {
        format!("to explain a call, name the inputs behind it: explain {shown} PATH…")
    } else {
        format!("no rule or stop is named \"{shown}\"; see `mcp-postmortem rules`")
    }))
}

fn explain_call(arguments: &Arguments) -> Result<ExitStatus, Error> {
    let outputs = outputs(&arguments.output, &FORMS)?;
    let select = arguments.select.selection()?;
    let paths = shared::paths(&arguments.paths)?;
    let (policy, policy_info) = policy(arguments.judging.policy.as_deref())?;
    let options = Options { policy, ..arguments.reading.options(CallsShown::Failed) };
    arguments.reading.with_threads(|| {
        let analysis = read(&paths, &options, &arguments.console)?;
        let options = ReportOptions { calls: CallsShown::All, select, policy: policy_info, ..ReportOptions::default() };
        let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, &options)
            .with_not_read(analysis.found.not_read());
        match shared::calls(&report, &arguments.what)?[..] {
            [call] => explain(&analysis, report, call, &outputs, arguments)?,
            ref calls => return Ok(tell_candidates(&report, &arguments.what, calls)),
        }
        Ok(status(&analysis, &paths, &[]))
    })
}

fn explain(
    analysis: &Analysis,
    report: Report<'_>,
    call: u32,
    outputs: &[Output<ExplanationForm>],
    arguments: &Arguments,
) -> Result<(), Error> {
    let explained = call::explain(&analysis.case, &analysis.terms, call);
    let report = report.with_quotes(analysis.quotes(&explanation_cites(&explained)));
    let explanation = Explanation::new(&report, call, &explained);
    for output in outputs {
        write(output, arguments.console.color, &|style, out| (output.form.write)(&explanation, style, out))?;
    }
    Ok(())
}

/// Says which calls a name may mean.
fn tell_candidates(report: &Report<'_>, name: &str, calls: &[u32]) -> ExitStatus {
    complain(&format!("error: \"{}\" names {} calls; take the handle of one:", redact::quote(name, 60), calls.len()));
    for call in calls.iter().take(CANDIDATES) {
        complain(&format!("  {}", report.call_in_words(*call)));
    }
    if calls.len() > CANDIDATES {
        complain(&format!("  and {} more", calls.len() - CANDIDATES));
    }
    ExitStatus::Failed
}
