//! Tests of joining, on the shapes of real consoles and traces.

use std::num::NonZeroU32;

use bumpalo::Bump;

use super::*;
use crate::{
    event::{Call, Keys, Origin, Pairs, Reach, ReachSource, ReachStage, SourceId, Syscall, Witness},
    format,
};

/// Runs a console through its format and an assembler; each event as one short line.
fn console(text: &str) -> (Vec<String>, u64) {
    let arena = Bump::new();
    let sink = format::decode_lines(format::named("python-console"), text, &arena);
    let mut told = Vec::new();
    let mut assembler = Assembler::default();
    let mut out = |event: &Event<'_>| told.push(line(event));
    for event in &sink.events {
        assembler.push(event, &mut out);
    }
    assembler.finish(&mut out);
    (told, assembler.unexplained())
}

fn line(event: &Event<'_>) -> String {
    let place = event.origin.record;
    let at = event.at.map_or_else(String::new, |at| format!(" {}", at.at.clock()));
    let pid = event.keys.pid.map_or_else(String::new, |pid| format!(" pid={pid}"));
    match event.kind {
        Kind::Remark(remark) => format!(
            "{place}{at} {:?} session={} tool={}{pid}",
            remark.kind,
            event.keys.session.unwrap_or("-"),
            remark.call.tool.unwrap_or("-")
        ),
        Kind::Trouble(trouble) => {
            format!("{place}{at} {:?} {} {}", trouble.kind, trouble.class, trouble.name.unwrap_or("-"))
        }
        Kind::Reach(reach) => format!(
            "{place}{at} {:?} {:?} {} {} {} {}{pid}",
            reach.vouched,
            reach.stage,
            reach.target,
            reach.method.unwrap_or("-"),
            reach.path.unwrap_or("-"),
            reach.status.unwrap_or(0)
        ),
        Kind::Step(step) => {
            let run = event.keys.run.map_or_else(String::new, |run| format!(" run={run}"));
            format!("{place}{at} {} {:?}{pid}{run}", step.event.name(), step.detail)
        }
        Kind::Text(text) => format!("{place} text {text}"),
        ref kind => format!("{place}{at} {kind:?}"),
    }
}

#[test]
fn wrapped_columns_are_joined_with_and_without_blanks() {
    let text = "\
[11/30/26 03:08:17] INFO     Created new          streamable_http_manager.py:325
                             transport with
                             session ID:
                             d262ee5ba3b24ab19452
                             56cfd7fea7d8
INFO:     Shutting down
                    INFO     Terminating session:         streamable_http.py:855
                             d262ee5ba3b24ab1945256cfd7fe
                             a7d8
";
    let (told, unexplained) = console(text);
    assert_eq!(
        told,
        [
            "1 03:08:17.000 SessionCreated session=d262ee5ba3b24ab1945256cfd7fea7d8 tool=-",
            "6 ServerStopping session=- tool=-",
            "7 03:08:17.000 SessionEnded session=d262ee5ba3b24ab1945256cfd7fea7d8 tool=-",
        ]
    );
    assert_eq!(unexplained, 0);
}

#[test]
fn a_boxed_traceback_gives_its_first_exception() {
    let text = "\n\
\x20                   ERROR    Tool 'boom' raised an unexpected      server.py:455
                             exception
                             ╭─ Traceback (most recent call last─╮
                             │ /srv/lab/bin/pysrv.py:130 in boom │
                             │ ❱ 130 │   │   raise ValueError(re │
                             ╰───────────────────────────────────╯
                             FileNotFoundError: [Errno 2] No such
                             file or directory: 'ledger.db'
                             The above exception was the direct
                             cause of the following exception:
                             ╭─ Traceback (most recent call last─╮
                             │ /srv/x.py:1 in run                │
                             ╰───────────────────────────────────╯
                             UnexpectedToolError: Error executing
                             tool boom
";
    let (told, unexplained) = console(text);
    assert_eq!(told, ["2 HandlerRaised session=- tool=boom", "2 MissingFile FileNotFoundError ledger.db"]);
    assert_eq!(unexplained, 0);
}

#[test]
fn the_first_block_of_a_chain_is_the_root() {
    let text = "\
Traceback (most recent call last):
  File \"/srv/site-packages/httpcore/_exceptions.py\", line 10, in map_exceptions
    yield
httpcore.ConnectTimeout

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File \"/srv/app.py\", line 5, in book
    raise RuntimeError(\"could not book\") from exc
RuntimeError: could not book
next line
";
    let (told, unexplained) = console(text);
    assert_eq!(
        told,
        ["4 ConnectFailed httpcore.ConnectTimeout -", "4 TypedError NotConnected  - - 0", "12 text next line",]
    );
    assert_eq!(unexplained, 1);
}

#[test]
fn a_missing_variable_is_seen_from_its_frame() {
    let text = "\
Traceback (most recent call last):
  File \"/srv/server.py\", line 3, in <module>
    key = os.environ[\"API_KEY\"]
          ~~~~~~~~~~^^^^^^^^^^^
  File \"<frozen os>\", line 679, in __getitem__
KeyError: 'API_KEY'
";
    assert_eq!(console(text).0, ["6 MissingEnvironment KeyError API_KEY"]);
}

#[test]
fn a_group_gives_its_leaves_and_a_client_no_reach() {
    let text = "\
2026-11-30 02:59:38,375 ERROR   lab.client: connection attempt 1 failed
  + Exception Group Traceback (most recent call last):
  |   File \"/srv/lab/bin/pycli.py\", line 64, in main
  |     async with connect() as c:
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File \"/srv/site-packages/mcp/client/streamable_http.py\", line 463, in post_writer
    |     await client.post()
    | httpx.ConnectError: All connection attempts failed
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File \"/srv/site-packages/mcp/client/session.py\", line 463, in send_request
    |     raise MCPError(code=outcome.code)
    | mcp.shared.exceptions.MCPError: Connection closed
    +------------------------------------
";
    let (told, unexplained) = console(text);
    assert_eq!(
        told,
        [
            "1 text connection attempt 1 failed",
            "15 ConnectionClosed session=- tool=-",
            "10 ConnectFailed httpx.ConnectError -",
            "10 ConnectFailed session=- tool=-",
        ]
    );
    assert_eq!(unexplained, 1);
}

#[test]
fn the_cause_behind_a_node_error_is_its_root() {
    let text = "\
TypeError: fetch failed
    at node:internal/deps/undici/undici:13484:13
    at async book (file:///srv/index.js:5:3) {
  [cause]: Error: connect ECONNREFUSED 127.0.0.1:5432
      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1607:16) {
    errno: -111,
    code: 'ECONNREFUSED'
  }
}
Node.js v22.1.0
ValueError: alone
";
    let (told, unexplained) = console(text);
    assert_eq!(
        told,
        [
            "4 ConnectFailed Error 127.0.0.1:5432",
            "4 TypedError NotConnected 127.0.0.1:5432 - - 0",
            "11 text ValueError: alone",
        ]
    );
    assert_eq!(unexplained, 1);
}

#[test]
fn phases_of_a_request_get_the_only_target() {
    let text = "\
2026-11-30 03:09:14,916 DEBUG   httpcore2.connection: connect_tcp.started host='127.0.0.1' port=23128 local_address=None
2026-11-30 03:09:14,918 DEBUG   httpcore2.http11: send_request_headers.complete
2026-11-30 03:09:14,936 DEBUG   httpcore2.http11: receive_response_headers.complete return_value=(b'HTTP/1.1', 200, b'OK', [])
2026-11-30 03:09:14,936 INFO    httpx2: HTTP Request: POST http://127.0.0.1:23128/mcp \"HTTP/1.1 200 OK\"
2026-11-30 03:09:15,918 DEBUG   httpcore2.http11: send_request_headers.complete
2026-11-30 03:09:15,919 DEBUG   httpcore2.connection: connect_tcp.started host='h' port=1 local_address=None
2026-11-30 03:09:15,920 DEBUG   httpcore2.http11: send_request_headers.complete
";
    assert_eq!(
        console(text).0,
        [
            "1 03:09:14.916 LibraryLine Announced 127.0.0.1:23128 - - 0",
            "2 03:09:14.918 LibraryLine Attempted 127.0.0.1:23128 - - 0",
            "4 03:09:14.936 LibraryLine Answered http://127.0.0.1:23128 POST /mcp 200",
            "5 03:09:15.918 LibraryLine Attempted 127.0.0.1:23128 - - 0",
            "6 03:09:15.919 LibraryLine Announced h:1 - - 0",
            "7 03:09:15.920 LibraryLine Attempted  - - 0",
        ]
    );
}

#[test]
fn one_pair_a_line_is_one_record() {
    let text = "\
run_id=run_01
initialize_received=true
initialize_responded=true
run_id=run_02
tools_list_received=true
status=fine
pid=7
";
    let (told, unexplained) = console(text);
    assert_eq!(
        told,
        [
            "2 initialize_received None run=run_01",
            "3 initialize_responded None run=run_01",
            "5 tools_list_received None run=run_02",
            "6 text status=fine",
            "7 text pid=7",
        ]
    );
    assert_eq!(unexplained, 2);
}

#[test]
fn owners_are_bounded() {
    let mut text = String::from("[11/30/26 03:08:17] INFO     head\n");
    for _ in 0..5000 {
        text.push_str("                             tail\n");
    }
    text.push_str("Traceback (most recent call last):\n");
    for _ in 0..5000 {
        text.push_str("  File \"/srv/x.py\", line 1, in f\n");
    }
    let (told, unexplained) = console(&text);
    assert!(told.len() > 3000 && unexplained > 3000, "{} {unexplained}", told.len());
}

/// Runs system calls through an assembler.
fn trace(calls: &[(u32, Call<'_>)]) -> Vec<String> {
    let mut told = Vec::new();
    let mut out = |event: &Event<'_>| told.push(line(event));
    let mut assembler = Assembler::default();
    let mut record = NonZeroU32::MIN;
    for &(thread, call) in calls {
        let origin = Origin { source: SourceId(0), record, offset: 0 };
        let kind = Kind::Syscall(Syscall { thread, call });
        assembler
            .push(&Event { origin, at: None, witness: Some(Witness::Network), keys: Keys::default(), kind }, &mut out);
        record = record.saturating_add(1);
    }
    assembler.finish(&mut out);
    told
}

/// The calls of a server that posts from a thread and is then killed.
fn killed_after_outbound() -> Vec<(u32, Call<'static>)> {
    let pairs = Pairs([7, 0, 0, 0]);
    vec![
        (21789, Call::Exec { program: "/srv/lab/v2/bin/python", ok: true }),
        (21789, Call::Clone { child: 21814, thread: true }),
        (21814, Call::Send { fd: 1, method: None, path: None, pairs: Pairs::default() }),
        (21814, Call::Connect { fd: 8, address: "127.0.0.1:21005", ok: None }),
        (21814, Call::SocketError { fd: 8, error: 0 }),
        (21814, Call::Send { fd: 8, method: Some("POST"), path: Some("/invoices"), pairs: Pairs::default() }),
        (21814, Call::Send { fd: 8, method: None, path: None, pairs }),
        (21814, Call::Receive { fd: 8, status: Some(201) }),
        (21789, Call::Unfinished("kill(21789, SIGKILL")),
        (21814, Call::Killed(9)),
        (21789, Call::Killed(9)),
    ]
}

#[test]
fn a_trace_gives_contacts_of_the_process_and_its_end() {
    assert_eq!(
        trace(&killed_after_outbound()),
        [
            "1 spawned Launch { command: Some(\"/srv/lab/v2/bin/python\"), wrapper: false } pid=21789",
            "3 NetworkTraced session=- tool=- pid=21789",
            "6 KernelTrace Attempted 127.0.0.1:21005 POST /invoices 0 pid=21789",
            "8 KernelTrace Answered 127.0.0.1:21005 POST /invoices 201 pid=21789",
            "11 exited Exit { code: None, signal: Some(9) } pid=21789",
        ]
    );
    // Killed before the answer: the attempt is told all the same, and with its body.
    let mut calls = killed_after_outbound();
    calls.remove(7);
    let told = trace(&calls);
    assert_eq!(told[2], "6 KernelTrace Attempted 127.0.0.1:21005 POST /invoices 0 pid=21789");
    assert_eq!(told.len(), 4);
}

#[test]
fn bytes_on_a_descriptor_that_was_handed_down_may_go_anywhere() {
    let send = |fd| (7, Call::Send { fd, method: None, path: None, pairs: Pairs::default() });
    let blind = |calls: &[(u32, Call<'_>)]| trace(calls).iter().any(|told| told.contains("LevelChanged"));
    assert!(blind(&[(7, Call::Exec { program: "/srv/x", ok: true }), send(3)]));
    assert!(!blind(&[(7, Call::Close { fd: 3 }), send(3), send(2)]));
    assert!(!blind(&[(7, Call::Local { fd: 4 }), send(4)]));
    let child = [(7, Call::Close { fd: 3 }), (7, Call::Clone { child: 8, thread: false })];
    assert!(!blind(&[child[0], child[1], (8, send(3).1)]));
}

#[test]
fn the_body_of_a_request_may_go_in_a_second_call() {
    let mut pairs = None;
    let mut out = |event: &Event<'_>| {
        if let Kind::Reach(Reach {
            stage: ReachStage::Attempted,
            vouched: ReachSource::KernelTrace,
            pairs: found,
            ..
        }) = event.kind
        {
            pairs = Some(found);
        }
    };
    let mut assembler = Assembler::default();
    for (thread, call) in killed_after_outbound() {
        let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
        let kind = Kind::Syscall(Syscall { thread, call });
        assembler.push(&Event { origin, at: None, witness: None, keys: Keys::default(), kind }, &mut out);
    }
    assert_eq!(pairs, Some(Pairs([7, 0, 0, 0])));
}

#[test]
fn failed_connections_and_name_resolution() {
    let told = trace(&[
        (1, Call::Connect { fd: 3, address: "10.0.0.2:53", ok: Some(true) }),
        (1, Call::Send { fd: 3, method: None, path: None, pairs: Pairs::default() }),
        (1, Call::Connect { fd: 4, address: "10.0.0.1:443", ok: Some(false) }),
        (1, Call::Connect { fd: 5, address: "10.0.0.1:444", ok: None }),
        (1, Call::SocketError { fd: 5, error: 111 }),
        (1, Call::Connect { fd: 6, address: "10.0.0.1:445", ok: Some(true) }),
        (1, Call::Close { fd: 6 }),
        (1, Call::Connect { fd: 6, address: "10.0.0.1:446", ok: Some(true) }),
        (1, Call::Send { fd: 6, method: None, path: None, pairs: Pairs::default() }),
        (1, Call::Receive { fd: 6, status: None }),
        (1, Call::Exited(1)),
    ]);
    assert_eq!(
        told,
        [
            "1 NetworkTraced session=- tool=- pid=1",
            "3 KernelTrace NotConnected 10.0.0.1:443 - - 0 pid=1",
            "5 KernelTrace NotConnected 10.0.0.1:444 - - 0 pid=1",
            "6 KernelTrace Announced 10.0.0.1:445 - - 0 pid=1",
            "9 KernelTrace Attempted 10.0.0.1:446 - - 0 pid=1",
            "11 exited Exit { code: Some(1), signal: None } pid=1",
        ]
    );
}

#[test]
fn a_child_process_is_told_and_is_no_server() {
    let told = trace(&[
        (1, Call::Exec { program: "/usr/bin/python", ok: true }),
        (1, Call::Clone { child: 2, thread: false }),
        (2, Call::Exec { program: "/usr/bin/git", ok: true }),
        (2, Call::Connect { fd: 3, address: "10.0.0.1:443", ok: Some(true) }),
        (2, Call::Send { fd: 3, method: None, path: None, pairs: Pairs::default() }),
        (2, Call::Exited(0)),
    ]);
    assert_eq!(
        told[1..],
        [
            "2 ChildProcess session=- tool=- pid=2",
            "4 NetworkTraced session=- tool=- pid=2",
            "5 KernelTrace Attempted 10.0.0.1:443 - - 0 pid=2"
        ]
    );
}

#[test]
fn datagrams_to_one_address_are_one_attempt() {
    let datagram = [
        (1, Call::Connect { fd: 3, address: "10.0.0.1:8125", ok: None }),
        (1, Call::Send { fd: 3, method: None, path: None, pairs: Pairs::default() }),
    ];
    let calls: Vec<_> = std::iter::repeat_n(datagram, 3).flatten().collect();
    let attempts = trace(&calls).iter().filter(|line| line.contains("Attempted")).count();
    assert_eq!(attempts, 1);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]

    /// Any lines, and lines made of the words that clues look for, go through without a panic; no record is lost twice.
    #[test]
    fn any_text_goes_through(picks in proptest::collection::vec((0_usize..4096, "\\PC{0,24}"), 0..60)) {
        const SHAPES: [&str; 14] = [
            "",
            "Traceback (most recent call last):",
            "  | ",
            "                             ",
            "[11/30/26 03:08:17] INFO     ",
            "  +-+---------------- 1 ----------------",
            "ValueError: x",
            "╭─ Traceback (most recent call last) ─╮",
            "╰─╯",
            "\u{3000}\u{3000}\u{3000}a.failed ",
            "'",
            "\"",
            "{",
            "=",
        ];
        let needles: Vec<&str> = crate::clue::CLUES.iter().flat_map(|clue| clue.needles.iter().copied()).collect();
        let mut text = String::new();
        for (pick, noise) in &picks {
            text.push_str(SHAPES[pick % SHAPES.len()]);
            text.push_str(needles[pick % needles.len()]);
            text.push_str(noise);
            text.push_str(needles[(pick / 7) % needles.len()]);
            text.push_str(if pick % 3 == 0 { "" } else { "\n" });
        }
        let (_, unexplained) = console(&text);
        proptest::prop_assert!(unexplained <= text.lines().count() as u64);
    }
}
