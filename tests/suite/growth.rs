//! Four times the input may take eight times as long, and not sixteen: what is tried here is not quadratic.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use mcp_postmortem::analyze::{Options, Silent, analyze};
use mcp_postmortem::source::PathArgument;

/// How long the analysis of what `write` writes into a folder takes.
fn time(count: usize, write: &dyn Fn(&Path, usize)) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), count);
    let arguments = [PathArgument::new(folder.path())];
    let start = Instant::now();
    analyze(&arguments, &Options::default(), &Silent).unwrap();
    start.elapsed()
}

/// Other work on the machine slows both of a pair: one that is too far apart is measured again.
fn grows_linearly(count: usize, write: &dyn Fn(&Path, usize)) {
    // The tables that are built once would flatter the first run.
    time(count, write);
    let mut pairs = Vec::new();
    for _ in 0..6 {
        let (small, large) = (time(count, write), time(count * 4, write));
        if large < small * 8 {
            return;
        }
        pairs.push((small, large));
    }
    panic!("{count} against {}: {pairs:?}", count * 4);
}

fn one_file(folder: &Path, name: &str, count: usize, line: impl Fn(&mut String, usize)) {
    let mut text = String::new();
    for number in 0..count {
        line(&mut text, number);
    }
    fs::write(folder.join(name), text).unwrap();
}

const SERVER: &str = "phase=execution event";

#[test]
fn runs() {
    grows_linearly(500, &|folder, count| {
        one_file(folder, "server.log", count, |text, run| {
            for event in ["initialize_received", "tool_call_received", "external_attempt", "tool_call_responded"] {
                let _ = writeln!(text, "run_id=run_{run} {SERVER}={event} request_id=3 tool=pay action_id=a{run}");
            }
        });
    });
}

#[test]
fn open_calls_beside_contacts() {
    grows_linearly(3000, &|folder, count| {
        one_file(folder, "server.log", count, |text, run| {
            for id in 0..6 {
                let _ = writeln!(text, "run_id=run_{run} {SERVER}=tool_call_received request_id={id} tool=pay");
            }
            for action in 0..6 {
                let _ = writeln!(text, "run_id=run_{run} {SERVER}=external_attempt request_id=0 action_id=a{action}");
            }
        });
    });
}

/// Rows of a service's log, each with the arguments of a call, beside calls and answers of which nobody knows the arguments.
#[test]
fn bodies_beside_calls_without_arguments() {
    let at = |call: usize| format!("2026-07-{:02}T{:02}:{:02}:00", 1 + call / 1440, call / 60 % 24, call % 60);
    grows_linearly(1500, &|folder, count| {
        one_file(folder, "trace.jsonl", count, |text, call| {
            let at = at(call);
            let params = format!(r#"{{"name":"pay","arguments":{{"amount":{call},"to":"bob"}}}}"#);
            let _ = writeln!(
                text,
                r#"{{"ts":"{at}Z","run_id":"r","direction":"in","message":{{"jsonrpc":"2.0","id":{call},"method":"tools/call","params":{params}}}}}"#
            );
        });
        one_file(folder, "server.log", count, |text, call| {
            let (at, id) = (at(call), call + 100_000);
            let _ = writeln!(text, "{at}Z run_id=r {SERVER}=tool_call_received request_id={id} tool=pay");
            let _ = writeln!(text, "{at}Z run_id=r {SERVER}=tool_call_responded request_id={id}7 tool=pay");
        });
        one_file(folder, "ledger.jsonl", count, |text, call| {
            let at = at(call);
            let body = format!(r#"{{\"amount\":{call},\"to\":\"bob\"}}"#);
            let _ = writeln!(
                text,
                r#"{{"ts":"{at}+00:00","n":{call},"method":"POST","path":"/pay","peer_port":1,"body":"{body}","status":201}}"#
            );
        });
    });
}

#[test]
fn conversations_of_two_sources() {
    grows_linearly(400, &|folder, count| {
        for name in ["client.log", "server.log"] {
            one_file(folder, name, count, |text, call| {
                let event = if name == "client.log" { "tool_call_sent" } else { "tool_call_received" };
                let (minute, hour, day) = (call % 60, call / 60 % 24, 1 + call / 1440);
                let _ = writeln!(
                    text,
                    "2026-07-{day:02}T{hour:02}:{minute:02}:00Z session_id={name}{call} {SERVER}={event} request_id={call} tool=pay"
                );
            });
        }
    });
}

#[test]
fn lives_without_a_name() {
    grows_linearly(60, &|folder, count| {
        for life in 0..count {
            let text = format!(
                "2026-07-22T14:00:00.{life:03}Z phase=launch event=spawned\n2026-07-22T14:10:00.{life:03}Z phase=launch event=exited exit_code=0\n"
            );
            fs::write(folder.join(format!("{life}.log")), text).unwrap();
        }
    });
}

#[test]
fn calls_of_one_run() {
    grows_linearly(500, &|folder, count| {
        one_file(folder, "server.log", count, |text, call| {
            for event in ["tool_call_received", "external_attempt", "external_result", "tool_call_responded"] {
                let _ = writeln!(text, "run_id=run_1 {SERVER}={event} request_id={call} tool=pay action_id=a{call}");
            }
        });
    });
}

#[test]
#[ignore = "views without id, arguments and time fit every call of their tool, and each is compared with each"]
fn equal_open_calls_of_one_run() {
    grows_linearly(500, &|folder, count| {
        one_file(folder, "trace.jsonl", count, |text, call| {
            let _ = writeln!(
                text,
                r#"{{"run_id":"run_1","direction":"in","message":{{"jsonrpc":"2.0","id":{call},"method":"tools/call","params":{{"name":"pay","arguments":{{"n":1}}}}}}}}"#
            );
        });
        one_file(folder, "client.log", count, |text, _| {
            let _ = writeln!(text, "run_id=run_1 {SERVER}=tool_call_sent tool=pay");
        });
    });
}

/// Each refused call is compared with those that may have acted and may be the same wish.
#[test]
fn refusals_beside_calls_in_doubt() {
    grows_linearly(10000, &|folder, count| {
        one_file(folder, "trace.jsonl", count, |text, call| {
            let at = format!("2026-07-{:02}T{:02}:{:02}:00", 1 + call / 1440, call / 60 % 24, call % 60);
            let head = |zone: &str| format!(r#"{{"ts":"{at}{zone}Z","run_id":"run_{call}","server":"s{}""#, call % 7);
            let _ = writeln!(
                text,
                r#"{},"direction":"in","message":{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"pay","arguments":{{"to":"bob","n":{call}}}}}}}}}"#,
                head(".000")
            );
            if call % 2 == 0 {
                let _ = writeln!(
                    text,
                    r#"{},"direction":"out","http":{{"status":403}},"message":{{"denied":true}}}}"#,
                    head(".020")
                );
            }
        });
    });
}

#[test]
fn contacts_of_one_run() {
    grows_linearly(500, &|folder, count| {
        one_file(folder, "server.log", count, |text, contact| {
            let _ = writeln!(text, "run_id=run_1 {SERVER}=tool_call_received request_id={contact} tool=pay");
        });
        one_file(folder, "egress.log", count, |text, contact| {
            for event in ["external_attempt", "external_result"] {
                let _ = writeln!(
                    text,
                    "run_id=run_1 {SERVER}={event} action_id=a{contact} channel=https host=h{contact}.example.test"
                );
            }
        });
    });
}

#[test]
fn contacts_without_a_key() {
    grows_linearly(500, &|folder, count| {
        one_file(folder, "server.log", count, |text, call| {
            let at = format!("2026-07-22T{:02}:{:02}:{:02}.000Z", call / 3600 % 24, call / 60 % 60, call % 60);
            for event in ["tool_call_received", "tool_call_responded"] {
                let _ = writeln!(text, "{at} run_id=run_{} {SERVER}={event} request_id={call} tool=pay", call / 100);
            }
        });
        one_file(folder, "access.log", count, |text, contact| {
            let at =
                format!("22/Jul/2026:{:02}:{:02}:{:02} +0000", contact / 3600 % 24, contact / 60 % 60, contact % 60);
            let _ = writeln!(text, r#"10.0.0.9 - - [{at}] "POST /invoices HTTP/1.1" 201 5 "-" "node""#);
        });
    });
}

#[test]
fn sessions_of_a_har() {
    grows_linearly(400, &|folder, count| {
        let mut text = String::from(r#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":["#);
        for session in 0..count {
            let comma = if session == 0 { "" } else { "," };
            let _ = write!(
                text,
                r#"{comma}{{"startedDateTime":"2026-07-22T14:{:02}:{:02}.083Z","time":13.5,"request":{{"method":"POST","url":"http://127.0.0.1:3000/mcp","httpVersion":"HTTP/1.1","headers":[{{"name":"mcp-session-id","value":"s-{session}"}}],"postData":{{"mimeType":"application/json","text":"{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{{\"name\":\"pay\",\"arguments\":{{\"n\":{session}}}}}}}"}}}},"response":{{"status":200,"statusText":"OK","headers":[],"content":{{"size":9,"mimeType":"application/json","text":"{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{{\"content\":[]}}}}"}}}},"timings":{{"send":0,"wait":13,"receive":0}}}}"#,
                session / 60 % 60,
                session % 60
            );
        }
        text.push_str("]}}");
        fs::write(folder.join("capture.har"), text).unwrap();
    });
}

#[test]
fn sources_of_a_folder() {
    grows_linearly(100, &|folder, count| {
        for source in 0..count {
            let text = format!(
                "run_id=run_{source} {SERVER}=tool_call_received request_id=3 tool=pay\n\
                 run_id=run_{source} {SERVER}=external_attempt request_id=3 tool=pay action_id=a{source}\n"
            );
            fs::write(folder.join(format!("server-{source:05}.log")), text).unwrap();
        }
    });
}

/// A call of 30 milliseconds.
fn asked(text: &mut String, run: &str, number: usize, arguments: &str) {
    let (from, to) = (stamp(number * 50), stamp(number * 50 + 30));
    let _ = writeln!(
        text,
        r#"{{"ts":"{from}","run_id":"{run}","direction":"in","message":{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"pay","arguments":{arguments}}}}}}}
{{"ts":"{to}","run_id":"{run}","direction":"out","message":{{"jsonrpc":"2.0","id":{number},"result":{{"content":[]}}}}}}"#
    );
}

fn served(text: &mut String, at: usize, body: &str) {
    let body = body.replace('"', "\\\"");
    let _ = writeln!(
        text,
        r#"{{"ts":"{}","n":{at},"method":"POST","path":"/pay","status":200,"body":"{body}"}}"#,
        stamp(at)
    );
}

fn stamp(milliseconds: usize) -> String {
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
    format!("2026-07-22T{:02}:{:02}:{:02}.{rest:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Bodies of one service beside calls that they repeat.
fn bodies(folder: &Path, count: usize, run: impl Fn(usize) -> String, arguments: impl Fn(usize) -> String) {
    one_file(folder, "server.jsonl", count, |text, number| asked(text, &run(number), number, &arguments(number)));
    one_file(folder, "external.jsonl", count, |text, number| served(text, number * 50 + 10, &arguments(number)));
}

#[test]
fn equal_bodies_beside_equal_calls() {
    grows_linearly(1000, &|folder, count| {
        bodies(folder, count, |_| "r".to_owned(), |_| r#"{"room":"4.12","days":2}"#.to_owned());
    });
}

#[test]
fn bodies_that_share_members_with_every_call() {
    grows_linearly(1000, &|folder, count| {
        let arguments = |number| format!(r#"{{"room":"4.12","days":2,"n":{number}}}"#);
        bodies(folder, count, |_| "r".to_owned(), arguments);
    });
}

#[test]
fn equal_bodies_beside_runs_with_equal_calls() {
    grows_linearly(1000, &|folder, count| {
        bodies(folder, count, |number| format!("r{number}"), |_| r#"{"room":"4.12","days":2}"#.to_owned());
    });
}

#[test]
fn contacts_that_the_service_saw_once_more() {
    grows_linearly(1000, &|folder, count| {
        one_file(folder, "server.log", count, |text, number| {
            let at = number * 50;
            for (event, at) in
                [("tool_call_received", at), ("external_attempt", at + 5), ("tool_call_responded", at + 30)]
            {
                let at = stamp(at);
                let _ = writeln!(
                    text,
                    "at={at} run_id=r {SERVER}={event} request_id={number} tool=pay action_id=a{number} method=POST path=/pay"
                );
            }
        });
        one_file(folder, "external.jsonl", count + 1, |text, number| served(text, number * 50 + 10, "{}"));
    });
}
