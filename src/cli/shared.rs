//! Arguments that several commands share: what is read and how, what is selected, how the console looks.
//!
//! It reads nothing itself.

use std::{ffi::OsString, path::PathBuf};

use clap::ValueEnum;

use crate::{
    analyze::Options,
    error::Error,
    report::{CallsShown, Report, Selection, names_call, redact},
    source::{PathArgument, ReadOptions},
    time::{self, Timestamp},
};

/// How the inputs are read.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// Zone of all stamps without one: UTC, +02:00, -0530.
    #[arg(long, value_name = "ZONE", value_parser = zone, allow_hyphen_values = true, help_heading = "Reading")]
    zone: Option<i32>,
    /// The largest record that is read; larger ones are skipped and counted.
    #[arg(long, value_name = "BYTES", value_parser = size, default_value = "64M", help_heading = "Reading")]
    max_record: usize,
    /// Threads; 0 takes one per core. What is printed does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=256), default_value_t = 0, help_heading = "Reading")]
    threads: u16,
}

impl Reading {
    /// The same as options of the analysis.
    pub(super) fn options(&self, calls: CallsShown) -> Options {
        let read = ReadOptions { max_record: self.max_record, ..ReadOptions::default() };
        Options { read, zone: self.zone, calls, ..Options::default() }
    }

    /// Does some work with as many threads as asked for.
    pub(super) fn with_threads<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(self.threads))
            .build()
            .map_err(|error| Error::Usage(format!("cannot start threads: {error}")))?;
        pool.install(work)
    }
}

/// How what was read is judged.
#[derive(Debug, clap::Args)]
pub(super) struct Judging {
    /// What the operator declares: effects and keys of tools, trusted servers, complete sources, own endpoints (TOML; see docs/policy.md). Verdicts that rest on it name its lines.
    #[arg(long, value_name = "FILE", help_heading = "Judging")]
    pub(super) policy: Option<PathBuf>,
}

/// What is shown of what was read.
#[derive(Debug, clap::Args)]
pub(super) struct Selecting {
    /// Shows only this run.
    #[arg(long, value_name = "RUN", help_heading = "Selection")]
    run: Option<String>,
    /// Shows only runs of this server.
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    server: Option<String>,
    /// Shows only calls of this tool.
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    tool: Option<String>,
    /// Shows nothing that ended before this instant (RFC 3339).
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Selection")]
    since: Option<Timestamp>,
    /// Shows nothing that began after this instant (RFC 3339).
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Selection")]
    until: Option<Timestamp>,
}

impl Selecting {
    /// The same as options of a report.
    pub(super) fn selection(&self) -> Result<Selection, Error> {
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since > until
        {
            return Err(Error::Usage("--since is later than --until: nothing can lie between them".to_owned()));
        }
        Ok(Selection {
            run: self.run.clone(),
            server: self.server.clone(),
            tool: self.tool.clone(),
            since: self.since,
            until: self.until,
        })
    }
}

/// How the console looks.
#[derive(Debug, clap::Args)]
pub(super) struct Console {
    /// When to use color.
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub(super) color: Color,
    /// Shows no progress bar.
    #[arg(long, help_heading = "Output")]
    pub(super) no_progress: bool,
}

/// When color is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The paths of a command, with their hints.
pub(super) fn paths(arguments: &[OsString]) -> Result<Vec<PathArgument>, Error> {
    arguments.iter().map(|path| PathArgument::parse(path)).collect()
}

fn instant(text: &str) -> Result<Timestamp, String> {
    match time::parse(text) {
        Some(stamp) if stamp.shape == time::Shape::Utc => Ok(stamp.at),
        Some(_) => Err("the instant needs a zone, such as Z or +02:00".to_owned()),
        None => Err("not an RFC 3339 instant, such as 2026-07-22T14:03:13Z".to_owned()),
    }
}

fn zone(text: &str) -> Result<i32, String> {
    time::parse_zone(text).ok_or_else(|| "not a zone, such as UTC or +02:00".to_owned())
}

fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().map_err(|_| "not a size, such as 64M".to_owned())?;
    number
        .checked_shl(unit)
        .filter(|size| size >> unit == number && *size > 0)
        .ok_or_else(|| "a size out of range".to_owned())
}

/// The calls that a name means, at least one.
pub(super) fn calls(report: &Report<'_>, name: &str) -> Result<Vec<u32>, Error> {
    let calls = report.calls_named(name);
    if !calls.is_empty() {
        return Ok(calls);
    }
    let shown = redact::quote(name, 60);
    if !names_call(name) {
        return Err(Error::Usage(format!(
            "\"{shown}\" names no call: give its handle, such as c17, or its id, such as id=7"
        )));
    }
    let there = match report.call_count() {
        0 => "no call was recognized".to_owned(),
        1 => "there is one call, c1".to_owned(),
        count => format!("there are {count} calls, c1 to c{count}"),
    };
    Err(Error::Usage(format!("no call is named \"{shown}\"; {there}")))
}
