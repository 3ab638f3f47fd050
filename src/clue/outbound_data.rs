//! Lines in which databases, brokers, mail, shells, version control and cloud libraries tell of their contacts.
//!
//! Most of these templates are general knowledge of the tools: where a wording is unclear, the weaker claim is made.

use super::{Clue, scan};
use crate::{
    event::{Kind, Reach, ReachSource, ReachStage, Remark, RemarkKind},
    record::{Body, Sink},
};

/// Contacts other than HTTP.
pub(super) static CLUE: Clue = Clue {
    name: "outbound-other",
    title: "Outbound contacts other than HTTP: SQL, Redis, mail, SSH, git, AWS, gRPC, browsers",
    doc: "\
## What it means
A tool or library inside the writing process contacted a database, broker, mail server, host or cloud service, or failed to. \
`INSERT 0 1` (psql) and `queued as` (mail) prove an applied change; `canceling statement due to` and `[remote rejected]` a refused one; \
`Could not connect to the endpoint URL` (botocore) and `connection to server at \"h\", port 5432 failed: Connection refused` that nothing was sent. \
`server closed the connection unexpectedly` leaves the outcome open.
## How it is recognized
By the fixed wordings of psql and libpq, redis-py, smtplib, paramiko, OpenSSH, git, botocore, gRPC, Playwright.
## What it is not
A statement printed before it runs (SQLAlchemy echo) is an attempt, and `COMMIT` in it is printed before the commit is sent.
## What to do
Ask the named service whether the change is there.
",
    needles: NEEDLES,
    read,
};

/// A wording, how far it proves the contact to have got, and whether the remote refused.
struct Row {
    needle: &'static str,
    stage: ReachStage,
    refused: bool,
    target: Target,
}

/// Where the target stands.
#[derive(Clone, Copy)]
enum Target {
    /// Nowhere: the kind of service is all that is known.
    Is(&'static str),
    /// The first address or quoted word after the needle.
    After,
    /// `"h", port N` after the needle.
    Libpq,
    /// `h port N` after the needle.
    Ssh,
}

macro_rules! rows {
    ($( $needle:literal $stage:ident $refused:literal $target:expr; )*) => {
        const NEEDLES: &[&str] = &[$( $needle, )*];
        static ROWS: &[Row] = &[$(
            Row { needle: $needle, stage: ReachStage::$stage, refused: $refused, target: $target },
        )*];
    };
}

rows! {
    // libpq, psycopg, asyncpg, SQLAlchemy.
    "connection to server at " NotConnected false Target::Libpq;
    "could not connect to server" NotConnected false Target::Is("postgresql");
    "server closed the connection unexpectedly" Attempted false Target::Is("postgresql");
    "SSL connection has been closed unexpectedly" Attempted false Target::Is("postgresql");
    "canceling statement due to" Answered true Target::Is("postgresql");
    "FATAL:  password authentication failed" Answered true Target::Is("postgresql");
    "sqlalchemy.engine.Engine INSERT" Attempted false Target::Is("sql");
    "sqlalchemy.engine.Engine UPDATE" Attempted false Target::Is("sql");
    "sqlalchemy.engine.Engine DELETE" Attempted false Target::Is("sql");
    "Query OK, " Answered false Target::Is("mysql");
    // redis-py, ioredis.
    "[ioredis] Unhandled error event: Error: connect " NotConnected false Target::Is("redis");
    "Timeout reading from socket" Attempted false Target::Is("redis");
    "READONLY You can't write against a read only replica" Answered true Target::Is("redis");
    // smtplib, nodemailer.
    "queued as " Answered false Target::Is("smtp");
    // paramiko, OpenSSH.
    "Sesch channel 0 request ok" Answered false Target::Is("ssh");
    "Authentication (publickey) successful!" Answered false Target::Is("ssh");
    "ssh: connect to host " NotConnected false Target::Ssh;
    "Permission denied (publickey" Answered true Target::Is("ssh");
    // git, gh.
    "fatal: unable to access '" NotConnected false Target::After;
    "[remote rejected]" Answered true Target::Is("git");
    "the remote end hung up unexpectedly" Attempted false Target::Is("git");
    "error connecting to api." NotConnected false Target::Is("github");
    // botocore.
    "Could not connect to the endpoint URL: " NotConnected false Target::After;
    "Connect timeout on endpoint URL: " NotConnected false Target::After;
    "Read timeout on endpoint URL: " Attempted false Target::After;
    "Connection was closed before we received a valid response from endpoint URL: " Attempted false Target::After;
    "An error occurred (" Answered true Target::Is("aws");
    "Sending http request: <AWSPreparedRequest" Announced false Target::Is("aws");
    // gRPC.
    "failed to connect to all addresses" NotConnected false Target::Is("grpc");
    // Playwright and Chromium.
    "net::ERR_NAME_NOT_RESOLVED" NotConnected false Target::After;
    "net::ERR_CONNECTION_REFUSED" NotConnected false Target::After;
    "net::ERR_INTERNET_DISCONNECTED" NotConnected false Target::After;
    "net::ERR_PROXY_CONNECTION_FAILED" NotConnected false Target::After;
    "net::ERR_EMPTY_RESPONSE" Attempted false Target::After;
    "net::ERR_CONNECTION_RESET" Attempted false Target::After;
    "net::ERR_HTTP2_PROTOCOL_ERROR" Attempted false Target::After;
    // psql command tags; checked further below.
    "INSERT 0 " Answered false Target::Is("postgresql");
    // redis-py.
    "Error 111 connecting to " NotConnected false Target::After;
}

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(text) = scan::head(text) else {
        return false;
    };
    let Some((row, rest)) = ROWS.iter().find_map(|row| Some((row, scan::find(text, row.needle)?.1))) else {
        return false;
    };
    if !fits(row, text, rest) {
        return false;
    }
    // libpq writes one wording for every reason; a host that answered was reached.
    let fatal = rest.contains("FATAL:");
    let stage = if fatal { ReachStage::Answered } else { row.stage };
    let refused = fatal || row.refused && (row.needle != AWS || aws_refused(rest));
    let reach = Reach {
        refused,
        failed: stage == ReachStage::Attempted || row.refused && !refused,
        method: text.contains("INSERT").then_some("INSERT"),
        ..Reach::new(stage, ReachSource::LibraryLine, target(row, rest, body))
    };
    sink.push(body.event(Kind::Reach(reach)));
    if let Some((_, number)) = text.split_once("(reached max retries: ") {
        let remark = Remark { number: scan::integer(number), ..scan::remark(RemarkKind::HiddenRetry) };
        sink.push(body.event(Kind::Remark(remark)));
    }
    true
}

/// The error wording of botocore.
const AWS: &str = "An error occurred (";

/// Codes of AWS that say that nothing was applied. Any other one, above all a 5xx, leaves it open.
fn aws_refused(code: &str) -> bool {
    const CODES: [&str; 8] = [
        "AccessDenied",
        "Unauthorized",
        "Throttling",
        "Validation",
        "Invalid",
        "NoSuch",
        "ResourceNotFound",
        "ConditionalCheck",
    ];
    CODES.iter().any(|start| code.starts_with(start))
}

/// Wordings that need a second look.
fn fits(row: &Row, text: &str, rest: &str) -> bool {
    match row.needle {
        // A command tag is a whole line.
        "INSERT 0 " => text.trim().strip_prefix("INSERT 0 ").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())),
        AWS => rest.contains(") when calling the ") && rest.contains(" operation"),
        "connection to server at " => rest.contains("failed: "),
        "fatal: unable to access '" => rest.contains("Could not resolve host") || rest.contains("Failed to connect"),
        "Query OK, " => rest.contains("affected"),
        "[remote rejected]" => text.trim_start().starts_with('!'),
        _ => true,
    }
}

fn target<'a>(row: &Row, rest: &'a str, body: &Body<'a>) -> &'a str {
    let arena = body.record.arena;
    match row.target {
        Target::Is(name) => name,
        Target::After => {
            let quoted = scan::quoted(rest).unwrap_or(rest);
            let inner = quoted.trim_start_matches([' ', '"', '\'']).trim_start_matches("at ");
            scan::address(inner, arena).map_or_else(|| scan::name(inner).unwrap_or(""), |address| address.target)
        }
        Target::Libpq => scan::quoted(rest).map_or("postgresql", |host| {
            let port = rest.split_once("port ").and_then(|(_, rest)| scan::integer(rest)).unwrap_or(5432);
            scan::host_port(host, &port.to_string(), arena)
        }),
        Target::Ssh => {
            let host = scan::word(rest);
            let port = rest.split_once(" port ").and_then(|(_, rest)| scan::integer(rest)).unwrap_or(22);
            scan::host_port(host, &port.to_string(), arena)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::{only, remark_of, told};

    fn check(text: &str, stage: ReachStage, target: &str, refused: bool) {
        only(text, |event| {
            let Kind::Reach(reach) = event.kind else { panic!("{event:?}") };
            assert_eq!((reach.stage, reach.target, reach.refused), (stage, target, refused), "{text}");
        });
    }

    #[test]
    fn databases_tell_refused_open_and_applied() {
        check(
            "connection to server at \"db.test\" (10.0.0.1), port 5433 failed: Connection refused",
            ReachStage::NotConnected,
            "db.test:5433",
            false,
        );
        check(
            "connection to server at \"db.test\" (10.0.0.1), port 5432 failed: FATAL:  password authentication failed for user \"x\"",
            ReachStage::Answered,
            "db.test:5432",
            true,
        );
        check("server closed the connection unexpectedly", ReachStage::Attempted, "postgresql", false);
        check("INSERT 0 1", ReachStage::Answered, "postgresql", false);
        check("ERROR: canceling statement due to statement timeout", ReachStage::Answered, "postgresql", true);
        check(
            "Error 111 connecting to localhost:6379. Connection refused.",
            ReachStage::NotConnected,
            "localhost:6379",
            false,
        );
    }

    #[test]
    fn shells_and_version_control() {
        check(
            "ssh: connect to host h.test port 2222: Connection refused",
            ReachStage::NotConnected,
            "h.test:2222",
            false,
        );
        check(
            "fatal: unable to access 'https://git.test/x.git/': Could not resolve host: git.test",
            ReachStage::NotConnected,
            "https://git.test",
            false,
        );
        check(" ! [remote rejected] main -> main (protected branch)", ReachStage::Answered, "git", true);
    }

    #[test]
    fn aws_errors_tell_their_retries() {
        check(
            "Could not connect to the endpoint URL: \"https://s3.test/b\"",
            ReachStage::NotConnected,
            "https://s3.test",
            false,
        );
        told(
            "An error occurred (Throttling) when calling the PutItem operation (reached max retries: 4): x",
            None,
            |events| {
                assert_eq!(events.len(), 2);
                assert_eq!(
                    (remark_of(&events[1]).kind, remark_of(&events[1]).number),
                    (RemarkKind::HiddenRetry, Some(4))
                );
            },
        );
    }

    #[test]
    fn a_sentence_is_no_command_tag() {
        only("will INSERT 0 rows", |event| assert!(matches!(event.kind, Kind::Text(_)), "{event:?}"));
        only("An error occurred (again)", |event| assert!(matches!(event.kind, Kind::Text(_)), "{event:?}"));
    }
}
