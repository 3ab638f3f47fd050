//! Measures the whole `analyze` job on a generated input: MiB/s, peak memory, calls per second.
//!
//! It does not compare with anything and keeps no results; `docs/performance.md` says how to use it.
//!
//! ```text
//! cargo run --release --example throughput -- trace|phases|chatter MEBIBYTES [PATH]
//! ```
//!
//! The same arguments always write the same bytes. With `PATH` the input is kept there, and used again if it has the
//! right size already; without, it lies in a temporary file.

use std::{
    error::Error,
    fmt::Write as _,
    fs::File,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    time::Instant,
};

use mcp_postmortem::{
    analyze::{self, Options, Silent},
    report::{self, CallsShown, Report, ReportOptions, Style},
    source::PathArgument,
};

/// The one of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (kind, mebibytes, path) = match &arguments[..] {
        [kind, mebibytes] => (kind, mebibytes, None),
        [kind, mebibytes, path] => (kind, mebibytes, Some(PathBuf::from(path))),
        _ => return Err("usage: throughput trace|phases|chatter MEBIBYTES [PATH]".into()),
    };
    let kind = Kind::parse(kind).ok_or("the kinds are trace, phases and chatter")?;
    let target = mebibytes.parse::<u64>()? << 20;
    let temporary = tempfile::NamedTempFile::new()?;
    let path = path.as_deref().unwrap_or(temporary.path());
    generate(kind, target, path)?;
    measure(path)
}

/// The whole job as a user runs it, with the default report written to nowhere.
fn measure(path: &Path) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let analysis = analyze::analyze(&[PathArgument::new(path)], &Options::default(), &Silent)?;
    let read = begun.elapsed();
    let renderer = &report::RENDERERS[0];
    let options = ReportOptions { calls: CallsShown::Failed, ..ReportOptions::default() };
    let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, &options);
    let quotes = analysis.quotes(&report.wanted_quotes(&[renderer]));
    (renderer.render)(&report.with_quotes(quotes), Style { width: 80, color: false }, &mut io::sink())?;
    let all = begun.elapsed().as_secs_f64();

    let bytes = std::fs::metadata(path)?.len();
    let mut out = io::stdout().lock();
    writeln!(out, "input        {:.1} MiB, {} calls", mebi(bytes), analysis.verdicts.totals.calls)?;
    writeln!(out, "time         {all:.2} s, of which the report took {:.2} s", all - read.as_secs_f64())?;
    writeln!(out, "throughput   {:.1} MiB/s", mebi(bytes) / all)?;
    writeln!(out, "calls        {:.0} per second", count(analysis.verdicts.totals.calls) / all)?;
    writeln!(out, "peak memory  {}", peak_memory().unwrap_or_else(|| "unknown".to_owned()))?;
    Ok(())
}

fn mebi(bytes: u64) -> f64 {
    count(bytes) / f64::from(1 << 20)
}

#[expect(clippy::cast_precision_loss, reason = "a measurement is printed with a few digits")]
fn count(number: u64) -> f64 {
    number as f64
}

/// The high-water mark of resident memory, which only Linux tells in a file.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(format!("{:.0} MiB", count(kibibytes) / 1024.0))
}

#[derive(Clone, Copy)]
enum Kind {
    /// JSON-RPC messages in envelopes.
    Trace,
    /// A phase log in JSON.
    Phases,
    /// Phase lines as key=value between ordinary console lines.
    Chatter,
}

impl Kind {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "trace" => Self::Trace,
            "phases" => Self::Phases,
            "chatter" => Self::Chatter,
            _ => return None,
        })
    }
}

/// Writes runs until the file has at least `target` bytes; a kept file that is long enough stays.
fn generate(kind: Kind, target: u64, path: &Path) -> io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|known| known.len() >= target && known.len() < target + (1 << 20)) {
        return Ok(());
    }
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut generator = Generator::default();
    let mut size = 0;
    while size < target {
        generator.text.clear();
        generator.run(kind);
        file.write_all(generator.text.as_bytes())?;
        size += generator.text.len() as u64;
    }
    file.flush()
}

const WORDS: [&str; 16] = [
    "alpha", "queue", "invoice", "ledger", "retry", "issue", "token", "shard", "deploy", "metric", "cache", "tenant",
    "branch", "report", "vector", "audit",
];
const SERVERS: [&str; 4] = ["acme", "billing", "search", "files"];

/// Makes the runs of a trace, one after another.
struct Generator {
    /// State of an xorshift generator: fast, and the same everywhere.
    state: u64,
    runs: u64,
    /// Milliseconds since the first record.
    now: u64,
    text: String,
}

impl Default for Generator {
    fn default() -> Self {
        Self { state: 0x9E37_79B9_7F4A_7C15, runs: 0, now: 0, text: String::new() }
    }
}

impl Generator {
    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % limit
    }

    fn words(&mut self, least: u64, spread: u64) -> String {
        let count = least + self.below(spread);
        let words: Vec<&str> = (0..count).map(|_| WORDS[usize::try_from(self.below(16)).unwrap_or_default()]).collect();
        words.join(" ")
    }

    /// The time of the next record, which lets some of it pass.
    fn stamp(&mut self) -> String {
        let (day, rest) = (22 + self.now / 86_400_000 % 9, self.now % 86_400_000);
        self.now += 1 + self.below(30);
        let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
        format!("2026-07-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", rest % 1000)
    }

    fn run(&mut self, kind: Kind) {
        self.runs += 1;
        let run = format!("run_{:08x}{:08x}", self.below(1 << 32), self.runs);
        let server = SERVERS[usize::try_from(self.below(4)).unwrap_or_default()];
        let calls = 5 + self.below(40);
        match kind {
            Kind::Trace => self.trace(&run, server, calls),
            Kind::Phases => self.phases(&run, server, calls),
            Kind::Chatter => self.chatter(&run, calls),
        }
    }

    fn message(&mut self, run: &str, server: &str, direction: &str, body: &str) {
        let at = self.stamp();
        let _ = writeln!(
            self.text,
            r#"{{"ts":"{at}","run_id":"{run}","server":"{server}","direction":"{direction}","message":{{"jsonrpc":"2.0",{body}}}}}"#
        );
    }

    fn trace(&mut self, run: &str, server: &str, calls: u64) {
        self.message(
            run,
            server,
            "in",
            r#""id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}"#,
        );
        let answer = format!(
            r#""id":0,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"{server}","version":"1.4.0"}}}}"#
        );
        self.message(run, server, "out", &answer);
        self.message(run, server, "in", r#""method":"notifications/initialized""#);
        for id in 1..=calls {
            let (issue, note) = (self.below(1_000_000), self.words(4, 20));
            let request = format!(
                r#""id":{id},"method":"tools/call","params":{{"name":"issue_lookup","arguments":{{"id":"ISS-{issue}","note":"{note}"}}}}"#
            );
            self.message(run, server, "in", &request);
            let body = match self.below(100) {
                0..88 => content(&self.words(10, 80), false),
                88..93 => content(&self.words(6, 20), true),
                93..97 => format!(r#""error":{{"code":-32602,"message":"{}"}}"#, self.words(3, 6)),
                _ => continue,
            };
            self.message(run, server, "out", &format!(r#""id":{id},{body}"#));
        }
    }

    fn phase(&mut self, head: &str, phase: &str, event: &str, rest: &str) {
        let at = self.stamp();
        let _ = writeln!(self.text, r#"{{{head},"phase":"{phase}","event":"{event}"{rest},"at":"{at}"}}"#);
    }

    fn phases(&mut self, run: &str, server: &str, calls: u64) {
        let pid = 1000 + self.below(60_000);
        let head = format!(r#""run_id":"{run}","server_name":"{server}","pid":{pid}"#);
        self.phase(&head, "launch", "spawned", r#","command":"/usr/local/bin/node""#);
        self.phase(&head, "launch", "executable_ready", "");
        self.phase(&head, "handshake", "initialize_received", r#","request_id":0"#);
        self.phase(&head, "handshake", "initialize_responded", r#","request_id":0,"protocol_version":"2025-11-25""#);
        self.phase(&head, "handshake", "initialized_received", "");
        for id in 1..=calls {
            let received = format!(r#","request_id":{id},"tool":"issue_lookup","note":"{}""#, self.words(4, 20));
            self.phase(&head, "execution", "tool_call_received", &received);
            let fate = self.below(100);
            if fate < 70 {
                let action = self.below(1 << 32);
                let attempt = format!(
                    r#","request_id":{id},"action_id":"act_{action:08x}","channel":"https","host":"api.example.test""#
                );
                self.phase(&head, "execution", "external_attempt", &attempt);
                if fate >= 66 {
                    continue;
                }
                let result = format!(r#","request_id":{id},"action_id":"act_{action:08x}","status":200"#);
                self.phase(&head, "execution", "external_result", &result);
            }
            let responded = format!(r#","request_id":{id},"is_error":{}"#, fate >= 95);
            self.phase(&head, "execution", "tool_call_responded", &responded);
        }
    }

    fn console(&mut self, line: &str) {
        let at = self.stamp();
        let _ = writeln!(self.text, "{at} INFO {line}");
    }

    fn chatter(&mut self, run: &str, calls: u64) {
        self.console(&format!("run_id={run} phase=launch event=spawned command=/usr/local/bin/node"));
        self.console(&format!("run_id={run} phase=handshake event=initialize_received request_id=0"));
        self.console(&format!("run_id={run} phase=handshake event=initialize_responded request_id=0"));
        for id in 1..=calls {
            let key = format!("run_id={run} phase=execution request_id={id}");
            self.console(&format!("{key} event=tool_call_received tool=issue_lookup"));
            for _ in 0..self.below(6) {
                let (worker, words) = (self.below(64), self.words(6, 30));
                self.console(&format!("worker {worker} {words}"));
            }
            let fate = self.below(100);
            if fate < 70 {
                let action = self.below(1 << 32);
                let attempt = format!("event=external_attempt action_id=act_{action:08x} channel=https");
                self.console(&format!("{key} {attempt} host=api.example.test"));
                if fate >= 66 {
                    continue;
                }
                self.console(&format!("{key} event=external_result action_id=act_{action:08x} status=200"));
            }
            self.console(&format!("{key} event=tool_call_responded is_error=false"));
        }
    }
}

fn content(text: &str, is_error: bool) -> String {
    format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":{is_error}}}"#)
}
