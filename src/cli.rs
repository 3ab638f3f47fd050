//! The command line: what can be asked, and how the answer gets out.

mod explain_call;
mod output;
mod policy;
mod shared;
mod timeline;
mod trouble;

use std::{
    borrow::Cow,
    ffi::OsString,
    io::{self, Write},
};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use self::{
    output::{REPORTS, outputs, write_error, write_reports},
    policy::policy,
    shared::{Console, Judging, Reading, Selecting},
    trouble::{nothing_recognized, tell_trouble},
};
use crate::{
    analyze::{self, Analysis, Options},
    error::{Error, ExitStatus},
    explain,
    fail_on::FailOn,
    progress::Bar,
    report::{self, CallsShown, PolicyInfo, ReportOptions, redact},
    source::PathArgument,
};

/// Post-mortem analysis of agents and MCP servers: how far each call got, which layer failed, whether a retry is safe, what reached the outside.
#[derive(Debug, Parser)]
#[command(name = "mcp-postmortem", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 analyzed; 1 something named by --fail-on was found; 2 usage or fatal error, or one of \
several paths was missing or could not be read (the rest is analyzed first); 3 nothing recognized; 130 interrupted. What \
cannot be read inside a folder or an archive is a notice, and lost data in the report.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Analyzes files, folders, archives or standard input (-) as one incident.
    #[command(after_help = EXIT_CODES)]
    Analyze(Box<AnalyzeArguments>),
    /// Shows every event of every source as one aligned stream.
    #[command(after_help = EXIT_CODES)]
    Timeline(Box<timeline::Arguments>),
    /// Explains a rule or a stop, or the whole evidence chain of one call.
    ///
    /// `explain RULE` tells what a rule means, how it is recognized, what it is not and what to do, and the same of a stop,
    /// such as `exited_before_initialize`. `explain CALL PATH…`
    /// shows every record of one call with what it proves, which worlds remain, which rule decided and what would change
    /// its verdict.
    Explain(Box<explain_call::Arguments>),
    /// Lists the input formats, or documents one.
    Formats {
        /// Name of a format.
        name: Option<String>,
    },
    /// Lists the rules and stops.
    Rules,
    /// Prints the JSON Schema of `--output json`.
    Schema,
    /// Prints a completion script.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Prints the manual page.
    Man,
}

#[derive(Debug, clap::Args)]
struct AnalyzeArguments {
    /// Files, folders, archives, or - for standard input; `PATH@key=value,…` gives hints: format, witness, zone, server, run.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,

    #[arg(short, long, value_name = "KIND[=FILE]", help = REPORTS.help(), help_heading = "Output")]
    output: Vec<String>,
    /// Which calls are listed; totals always count all.
    #[arg(long, value_enum, default_value_t = Calls::Failed, help_heading = "Output")]
    calls: Calls,
    /// Lists the records from which nothing was learned.
    #[arg(long, help_heading = "Output")]
    unexplained: bool,
    /// Prints digests of arguments. A digest of a small secret can be guessed.
    #[arg(long, help_heading = "Output")]
    digests: bool,
    #[command(flatten)]
    console: Console,
    #[command(flatten)]
    select: Selecting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    judging: Judging,

    /// Ends with code 1 if this is found: failed-call, unknown, unsafe-retry, duplicate, finding:RULE, finding:high|medium|low. Repeatable.
    #[arg(long, value_name = "CLASS", help_heading = "Exit code")]
    fail_on: Vec<FailOn>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Calls {
    /// Everything but plain successes.
    Failed,
    /// All.
    All,
}

/// Runs the program with these arguments; what goes wrong is told on standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let status = if error.use_stderr() { ExitStatus::Failed } else { ExitStatus::Analyzed };
            let text = error.render().to_string();
            // A closed pipe while help is printed is nobody's fault.
            let _ = match redact::redact(&text) {
                Cow::Borrowed(_) => error.print(),
                Cow::Owned(masked) => io::stderr().lock().write_all(masked.as_bytes()),
            };
            return status;
        }
    };
    match execute(cli.command) {
        Ok(status) => status,
        Err(Error::BrokenPipe) => ExitStatus::Analyzed,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitStatus::Failed
        }
    }
}

fn execute(command: Command) -> Result<ExitStatus, Error> {
    match command {
        Command::Analyze(arguments) => analyze_command(&arguments),
        Command::Timeline(arguments) => timeline::run(&arguments),
        Command::Explain(arguments) => explain_call::run(&arguments),
        Command::Formats { name: None } => print(&explain::formats()),
        Command::Formats { name: Some(name) } => match explain::format(&name) {
            Some(text) => print(&text),
            None => Err(Error::Usage(format!(
                "no format is named \"{}\"; see `mcp-postmortem formats`",
                redact::quote(&name, 60)
            ))),
        },
        Command::Rules => print(&explain::rules()),
        Command::Schema => print(report::schema()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
            print(&completions(shell, &String::from_utf8_lossy(&script)))
        }
        Command::Man => {
            let mut pages = Vec::new();
            man(&mut pages).map_err(write_error)?;
            print_bytes(&pages)
        }
    }
}

const NAME: &str = "mcp-postmortem";

/// `clap_complete` 4.6 takes the hyphen of the name for the one before a subcommand in its labels for bash, and not where
/// it sets them.
fn completions(shell: clap_complete::Shell, script: &str) -> String {
    match shell {
        clap_complete::Shell::Bash => script.replace("mcp__subcmd__postmortem", "mcp__postmortem"),
        _ => script.to_owned(),
    }
}

/// The page of the program, and behind it the pages of its commands: the options are theirs.
fn man(pages: &mut Vec<u8>) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(pages)?;
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        clap_mangen::Man::new(command.clone()).render(pages)?;
    }
    Ok(())
}

/// The whole help of all commands as Markdown, for the generated page.
fn help_markdown() -> String {
    let mut text = String::new();
    let mut command = Cli::command().term_width(100);
    command.build();
    for path in ["", "analyze", "timeline", "explain", "formats", "rules", "schema", "completions", "man"] {
        let shown = if path.is_empty() { Some(&mut command) } else { command.find_subcommand_mut(path) };
        let Some(shown) = shown else { continue };
        let title = if path.is_empty() { "mcp-postmortem".to_owned() } else { format!("mcp-postmortem {path}") };
        let help = shown.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        text.push_str("## `");
        text.push_str(&title);
        text.push_str("`\n\n```text\n");
        text.push_str(help.join("\n").trim_end());
        text.push_str("\n```\n\n");
    }
    text
}

/// The generated page about the command line.
pub fn cli_page() -> String {
    let help = help_markdown();
    let forms = [
        REPORTS.page("Reports"),
        timeline::FORMS.page("Timelines"),
        explain_call::FORMS.page("Explanations of a call"),
    ];
    format!("# Command line\n\nGenerated from the program's own help.\n\n{help}{}", forms.join("\n"))
}

fn analyze_command(arguments: &AnalyzeArguments) -> Result<ExitStatus, Error> {
    let outputs = outputs(&arguments.output, &REPORTS)?;
    let select = arguments.select.selection()?;
    let paths = shared::paths(&arguments.paths)?;
    let (policy, policy_info) = policy(arguments.judging.policy.as_deref())?;
    let calls = match arguments.calls {
        Calls::Failed => CallsShown::Failed,
        Calls::All => CallsShown::All,
    };
    let unexplained = if arguments.unexplained { UNEXPLAINED_LIMIT } else { 0 };
    let options = Options { unexplained, policy, ..arguments.reading.options(calls) };
    arguments.reading.with_threads(|| {
        let analysis = read(&paths, &options, &arguments.console)?;
        let report_options = ReportOptions {
            calls,
            select,
            digests: arguments.digests,
            unexplained: arguments.unexplained.then(|| analysis.unexplained.clone()),
            policy: policy_info.map(|info| PolicyInfo { unused: analysis.terms.unused.clone(), ..info }),
        };
        write_reports(&analysis, &report_options, &outputs, arguments.console.color)?;
        Ok(status(&analysis, &paths, &arguments.fail_on))
    })
}

/// Reads and judges, and tells what could not be read and what of the policy did not apply.
fn read(paths: &[PathArgument], options: &Options, console: &Console) -> Result<Analysis, Error> {
    let bar = Bar::new(!console.no_progress);
    let analysis = analyze::analyze(paths, options, &bar)?;
    bar.finish();
    tell_trouble(&analysis);
    policy::tell_unused(&analysis);
    Ok(analysis)
}

/// How many records `--unexplained` lists.
const UNEXPLAINED_LIMIT: usize = 1000;

fn status(analysis: &Analysis, paths: &[PathArgument], fail_on: &[FailOn]) -> ExitStatus {
    if analysis.incomplete(paths.len()) {
        ExitStatus::Failed
    } else if !analysis.recognized() {
        complain(&nothing_recognized(paths));
        ExitStatus::NothingRecognized
    } else if fail_on.iter().any(|class| class.found(&analysis.verdicts)) {
        ExitStatus::Found
    } else {
        ExitStatus::Analyzed
    }
}

fn print(text: &str) -> Result<ExitStatus, Error> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<ExitStatus, Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(write_error)?;
    Ok(ExitStatus::Analyzed)
}

/// One line on standard error, masked like everything else: it may name files, or repeat an argument. If nobody listens
/// there, nothing can be done about it.
fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", redact::quote(line, 2000));
}
