//! The command `timeline`: reads like `analyze`, and shows every event.

use std::ffi::OsString;

use super::{
    complain,
    output::{Forms, outputs, write},
    policy::policy,
    read,
    shared::{self, Console, Judging, Reading, Selecting},
    status,
};
use crate::{
    analyze::{Analysis, Options},
    error::{Error, ExitStatus},
    event::Origin,
    report::{CallsShown, Report, ReportOptions, TIMELINE_FORMS, Timeline, TimelineForm},
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Files, folders, archives, or - for standard input; `PATH@key=value,…` gives hints: format, witness, zone, server, run.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,

    #[arg(short, long, value_name = "KIND[=FILE]", help = FORMS.help(), help_heading = "Output")]
    output: Vec<String>,
    #[command(flatten)]
    console: Console,

    /// Shows only events of this call: its handle in the report (c17), or the id of its request (id=7).
    #[arg(long, value_name = "CALL", help_heading = "Selection")]
    call: Option<String>,
    #[command(flatten)]
    select: Selecting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    judging: Judging,
}

/// The forms of the timeline.
pub(super) const FORMS: Forms<TimelineForm> =
    Forms { all: TIMELINE_FORMS, of: "the stream", words: |form| (form.name, form.title) };

/// Reads the inputs and writes their events.
pub(super) fn run(arguments: &Arguments) -> Result<ExitStatus, Error> {
    let outputs = outputs(&arguments.output, &FORMS)?;
    let select = arguments.select.selection()?;
    let paths = shared::paths(&arguments.paths)?;
    let (policy, policy_info) = policy(arguments.judging.policy.as_deref())?;
    let options = Options { trail: true, policy, ..arguments.reading.options(CallsShown::Failed) };
    arguments.reading.with_threads(|| {
        let analysis = read(&paths, &options, &arguments.console)?;
        let options = ReportOptions { calls: CallsShown::All, select, policy: policy_info, ..ReportOptions::default() };
        let report = report(&analysis, &options);
        let calls = match &arguments.call {
            Some(name) => Some(shared::calls(&report, name)?),
            None => None,
        };
        let timeline = Timeline::new(&report, calls.as_deref());
        if let (0, of @ 1..) = timeline.count() {
            complain(&format!("notice: no event matches the selection; without it there are {of}"));
        }
        let fetch = |origins: &[Origin]| analysis.quotes(origins);
        for output in &outputs {
            write(output, arguments.console.color, &|style, out| (output.form.write)(&timeline, style, &fetch, out))?;
        }
        Ok(status(&analysis, &paths, &[]))
    })
}

fn report<'a>(analysis: &'a Analysis, options: &'a ReportOptions) -> Report<'a> {
    Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, options).with_not_read(analysis.found.not_read())
}
