use std::num::NonZeroU32;

use bumpalo::Bump;
use proptest::prelude::*;

use super::*;
use crate::{
    event::{
        Answer, Detail, Direction, Event, Id, Kind, Message, PhaseEvent, RemarkKind, Request, Rpc, SourceId,
        SpawnFailure, StepDetail,
    },
    format,
    notice::Notice,
};

macro_rules! sample {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/", $path))
    };
}

const SMALLEST: &str = sample!("formats/claude-desktop/input.log");
const ENOENT_ALL: &str = sample!("cases/desktop-enoent/input/mcp.log");
const ENOENT_ONE: &str = sample!("cases/desktop-enoent/input/mcp-server-My Files (work).log");
const BANNER: &str = sample!("cases/desktop-banner-timeout/input/mcp-server-acme-reports.log");
const REDACTED_ALL: &str = sample!("cases/desktop-redacted-g3/input/mcp.log");
const REDACTED_ONE: &str = sample!("cases/desktop-redacted-g3/input/mcp-server-@acme_crm_prod.log");

/// Cuts a text at its tagged lines and decodes the entries.
fn decode_text<'a>(text: &'a str, arena: &'a Bump) -> Sink<'a> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at == 0 || header::is_header(line.as_bytes()) {
            starts.push(at);
        }
        at += line.len();
    }
    let mut sink = Sink::new();
    let mut number = NonZeroU32::MIN;
    for (index, &from) in starts.iter().enumerate() {
        let to = starts.get(index + 1).copied().unwrap_or(text.len());
        let origin = Origin { source: SourceId(0), record: number, offset: from as u64 };
        let record = Record { origin, text: text[from..to].trim_end_matches(['\n', '\r']), arena };
        format::decode(Some(&FORMAT), &record, &mut sink);
        number = number.saturating_add(1);
    }
    sink
}

fn decoded(text: &str, check: impl FnOnce(&Sink<'_>)) {
    let arena = Bump::new();
    check(&decode_text(text, &arena));
}

/// One word for each event, without the texts of the client. What stderr says is the clues' business.
fn words(sink: &Sink<'_>) -> Vec<String> {
    sink.events.iter().filter_map(word).collect()
}

fn word(event: &Event<'_>) -> Option<String> {
    if event.witness == Some(Witness::Server) {
        return Some("stderr".to_owned());
    }
    Some(match event.kind {
        Kind::Message(Message { rpc, queued, thin, .. }) => {
            let marks = format!("{}{}", if queued { ">" } else { "<" }, if thin { "~" } else { "" });
            match rpc {
                Rpc::Request(request) => format!("{marks}{}", request.method),
                Rpc::Notification(notification) => format!("{marks}{}", notification.method),
                Rpc::Answer(answer) => format!("{marks}{}", if answer.error.is_some() { "error" } else { "result" }),
                other => format!("{marks}{other:?}"),
            }
        }
        Kind::Step(step) => step.event.name().to_owned(),
        Kind::Remark(remark) => format!("{:?}", remark.kind),
        _ => return None,
    })
}

fn sniffed(text: &str) -> Option<&'static str> {
    format::sniff(&Head { bytes: text.as_bytes() }).map(|format| format.name)
}

#[test]
fn the_smallest_sample() {
    assert_eq!(sniffed(SMALLEST), Some("claude-desktop"));
    decoded(SMALLEST, |sink| {
        let want = [
            "InstanceStart",
            "spawn_requested",
            "spawned",
            ">initialize",
            "stderr",
            "stderr",
            "<result",
            ">notifications/initialized",
            "ShuttingDown",
        ];
        assert_eq!(sink.events.len(), want.len(), "{sink:?}");
        assert!(sink.notices.is_empty(), "{:?}", sink.notices);
        let answer = &sink.events[6];
        assert_eq!(answer.at.map(|at| at.at.rfc3339(at.digits)).as_deref(), Some("2025-08-04T09:14:03.470Z"));
        assert_eq!((answer.witness, answer.keys.server), (Some(Witness::Client), Some("acme")));
        let Kind::Message(message) = answer.kind else { panic!("{answer:?}") };
        assert_eq!((message.direction, message.thin), (Some(Direction::ToClient), false));
        let Rpc::Answer(Answer { id, detail, .. }) = message.rpc else { panic!("{message:?}") };
        assert_eq!(id, Some(Id::Int(0)));
        assert_eq!(detail, Detail::Initialize { revision: Some("2025-06-18"), server: Some("acme-ledger") });
        let Kind::Step(step) = sink.events[1].kind else { panic!() };
        assert_eq!(step.detail, StepDetail::Launch { command: Some("/usr/local/bin/uvx"), wrapper: true });
    });
}

#[test]
fn stderr_lines_have_places_of_their_own() {
    decoded(SMALLEST, |sink| {
        let line = &sink.events[5];
        let place = SMALLEST.find("acme-ledger 1.2.0 ready").expect("in the sample") as u64;
        assert_eq!((line.origin.offset, line.origin.record), (place, sink.events[3].origin.record));
        assert_eq!((line.witness, line.at, line.keys.server), (Some(Witness::Server), None, Some("acme")));
    });
}

#[test]
fn both_files_of_one_incident_tell_the_same() {
    let want = [
        "InstanceStart",
        "spawn_requested",
        "spawn_failed",
        "spawn_failed",
        ">initialize",
        "WriteFailed",
        "PipeClosed",
        "PipeClosed",
        "PipeClosed",
    ];
    for text in [ENOENT_ALL, ENOENT_ONE] {
        assert_eq!(sniffed(text), Some("claude-desktop"));
        decoded(text, |sink| {
            assert_eq!(words(sink), want);
            assert!(sink.notices.is_empty(), "{:?}", sink.notices);
            assert!(sink.events.iter().all(|event| event.keys.server == Some("My Files (work)")));
            let failed = sink.events.iter().find_map(|event| match event.kind {
                Kind::Step(step) if step.event == PhaseEvent::SpawnFailed => Some(step.detail),
                _ => None,
            });
            assert_eq!(failed, Some(StepDetail::SpawnFailed(SpawnFailure::NotFound, Some("npx"))));
        });
    }
}

#[test]
fn pollution_time_out_and_late_answer() {
    decoded(BANNER, |sink| {
        assert!(sink.notices.is_empty(), "{:?}", sink.notices);
        let all = words(sink);
        assert_eq!(all.iter().filter(|word| *word == "ParseFailure").count(), 3, "{all:?}");
        assert_eq!(all.iter().filter(|word| *word == "stderr").count(), 4, "{all:?}");
        let cancelled = sink.events.iter().find_map(|event| match event.kind {
            Kind::Message(Message { rpc: Rpc::Notification(about), .. }) if about.about.is_some() => Some(about),
            _ => None,
        });
        let cancelled = cancelled.expect("a cancellation");
        assert_eq!((cancelled.about, cancelled.names_timeout), (Some(Id::Int(3)), true));
        let tail = ["notifications/cancelled", "stderr", "result", "ShuttingDown", "ShuttingDown", "PipeClosed"];
        let end: Vec<_> =
            all[all.len() - tail.len()..].iter().map(|word| word.trim_start_matches(['>', '<'])).collect();
        assert_eq!(end, tail);
    });
}

#[test]
fn redacted_bodies_are_thin() {
    let want = [
        "InstanceStart",
        "spawn_requested",
        "spawned",
        ">~initialize",
        "<~result",
        ">~notifications/initialized",
        ">~tools/list",
        ">~resources/list",
        "<~result",
        "<~error",
        ">~tools/call",
        "<~result",
        ">~tools/call",
        "PipeClosed",
        "PipeClosed",
        "PipeClosed",
    ];
    for text in [REDACTED_ALL, REDACTED_ONE] {
        assert_eq!(sniffed(text), Some("claude-desktop"));
        decoded(text, |sink| {
            let told: Vec<_> = words(sink).into_iter().filter(|word| word != "stderr").collect();
            assert_eq!(told, want);
            assert!(sink.events.iter().all(|event| event.keys.server == Some("@acme/crm:prod")));
        });
    }
    // The traceback stands in the server's file only, every line of it, as the server's words.
    decoded(REDACTED_ONE, |sink| {
        let lines = sink.events.iter().filter(|event| event.witness == Some(Witness::Server));
        assert!(lines.clone().count() >= 2 && lines.clone().all(|event| event.at.is_none()), "{sink:?}");
        let last = REDACTED_ONE.find("ConnectionError: queue closed\n").expect("in the sample") as u64;
        assert!(lines.clone().any(|event| event.origin.offset == last), "{sink:?}");
    });
}

#[test]
fn the_lines_of_2024() {
    let text = "2024-11-27T09:00:00.000Z [info] Attempting to connect to MCP server My Notes...\n\
                2024-11-27T09:00:00.210Z [info] Connected to MCP server My Notes!\n\
                2024-11-27T09:04:11.000Z [info] MCP server My Notes disconnected. For troubleshooting guidance, please visit our docs\n\
                2024-11-27T09:05:00.000Z [error] Could not start MCP server b: Error: spawn uvx ENOENT\n";
    assert_eq!(sniffed(text), Some("claude-desktop"));
    decoded(text, |sink| {
        assert_eq!(words(sink), ["InstanceStart", "spawned", "PipeClosed", "spawn_failed"]);
        let servers: Vec<_> = sink.events.iter().map(|event| event.keys.server).collect();
        assert_eq!(servers, [Some("My Notes"), Some("My Notes"), Some("My Notes"), Some("b")]);
    });
}

#[test]
fn one_line_suffixes_of_early_2025() {
    let text = "2025-03-01T10:00:00.000Z [acme] [error] spawn C:\\Program Files\\nodejs\\npx.cmd EINVAL {\"context\":\"connection\",\"stack\":\"Error: spawn EINVAL\\n    at x (y:1:2)\"}\r\n\
                2025-03-01T10:00:00.001Z [acme] [info] Client transport closed {}\r\n\
                2025-03-01T10:00:00.002Z [info] [acme] Message from client: {\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\",\"arguments\":{}}}\r\n";
    decoded(text, |sink| {
        assert_eq!(words(sink), ["spawn_failed", "PipeClosed", ">tools/call"]);
        assert!(sink.notices.is_empty());
        let Kind::Message(message) = sink.events[2].kind else { panic!() };
        assert!(matches!(message.rpc, Rpc::Request(Request { target: Some("pay"), args: Some(_), .. })), "{message:?}");
    });
}

#[test]
fn line_ends_of_windows_change_nothing() {
    let windows = BANNER.replace('\n', "\r\n");
    decoded(&windows, |sink| {
        decoded(BANNER, |unix| assert_eq!(words(sink), words(unix)));
        assert!(sink.notices.is_empty(), "{:?}", sink.notices);
    });
}

#[test]
fn stderr_may_cut_into_a_block() {
    let text = "2025-08-11T08:30:11.437Z [a] [error] spawn npx ENOENT {\n  metadata: {\nold lockfile\n    context: 'connection'\n  }\n}\nlater\n\
                2025-08-11T08:30:11.440Z [a] [info] Client transport closed { metadata: undefined }\n";
    decoded(text, |sink| {
        assert_eq!(words(sink), ["spawn_failed", "stderr", "stderr", "PipeClosed"]);
        assert!(sink.notices.is_empty());
    });
}

#[test]
fn a_cut_block_is_told_and_the_next_entry_kept() {
    let text = "2025-08-11T08:30:11.437Z [a] [error] spawn npx ENOENT {\n  metadata: {\n    context: 'connection',\n\
                2025-08-11T08:30:11.440Z [a] [info] Client transport closed { metadata: undefined }\n    stack: 'Error: x\\n' +\n      '    at y'\n  }\n}\n";
    decoded(text, |sink| {
        assert_eq!(words(sink), ["spawn_failed", "PipeClosed"]);
        let [notice] = &sink.notices[..] else { panic!("{:?}", sink.notices) };
        assert_eq!((notice.kind, notice.origin.record.get()), (NoticeKind::InterruptedRecord, 1));
    });
}

#[test]
fn a_message_that_the_log_cut_stays_a_message() {
    let text = "2025-08-11T08:30:11.437Z [a] [info] Message from client: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"put\",\"arguments\":{\"t\":\"xx... [9 chars truncated] { metadata: undefined }\nTraceback of the server\n\
                2025-08-11T08:30:11.440Z [a] [info] Message from server: {\"result\":{\"content\":[{\"type\":\"text\n";
    decoded(text, |sink| {
        assert_eq!(words(sink), [">~tools/call", "stderr"]);
        let Kind::Message(message) = sink.events[0].kind else { panic!() };
        assert!(matches!(message.rpc, Rpc::Request(Request { id: Id::Int(5), target: Some("put"), args: None, .. })));
        // Never said to be malformed: the client printed what it had parsed.
        assert!(sink.notices.iter().all(|notice| notice.kind == NoticeKind::NotJson) && sink.notices.len() == 2);
    });
}

#[test]
fn complaints_of_the_validator_are_parse_failures() {
    let text = "2025-08-11T08:30:11.437Z [a] [error] [\n  {\n    \"code\": \"invalid_union\",\n    \"unionErrors\": []\n  }\n] {\n  metadata: {\n    context: 'x'\n  }\n}\nserver line\n";
    decoded(text, |sink| assert_eq!(words(sink), ["ParseFailure", "stderr"]));
}

#[test]
fn texts_of_the_interface_prove_no_sending() {
    let text = "2026-01-11T08:30:11.437Z [a] [error] Failed to call tool \"pay\"\n\
                2026-01-11T08:34:11.437Z [a] [error] No result received from the Claude Desktop app after waiting 4 minutes. The server may be slow.\n\
                2026-01-11T08:34:12.000Z [error] [a] Could not attach to MCP server a: Error: Server's protocol version is not supported: 2026-07-28\n";
    decoded(text, |sink| {
        assert_eq!(words(sink), ["CallFailed", "CallFailed", "VersionRejected"]);
        let Kind::Remark(remark) = sink.events[0].kind else { panic!() };
        assert_eq!((remark.call.tool, remark.call.id), (Some("pay"), None));
        let Kind::Remark(remark) = sink.events[2].kind else { panic!() };
        assert_eq!((remark.kind, remark.name), (RemarkKind::VersionRejected, Some("2026-07-28")));
    });
}

#[test]
fn lines_before_the_first_entry_are_the_servers() {
    decoded("half a line of stderr\n2025-08-11T08:30:11.440Z [a] [info] Client transport closed\n", |sink| {
        assert_eq!(words(sink), ["stderr", "PipeClosed"]);
    });
}

#[test]
fn other_loggers_of_the_same_shape_are_not_claimed() {
    assert_eq!(sniffed("2025-08-11T08:30:11.440Z [http] [info] listening on 3000\n"), None);
    assert_eq!(sniffed(""), None);
}

#[test]
fn an_impossible_date_costs_the_stamp_only() {
    decoded("2025-99-11T08:30:11.440Z [a] [info] Client transport closed\n", |sink| {
        assert_eq!(words(sink), ["PipeClosed"]);
        assert_eq!(sink.events[0].at, None);
        assert!(matches!(sink.notices[..], [Notice { kind: NoticeKind::BadTimestamp, .. }]));
    });
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,60}", wild in "[{}\\[\\]:,'\"`\\\\%a1é€ \r\n]{0,60}") {
        for start in [
            "",
            "2025-08-11T08:30:11.440Z [a] [info] ",
            "2025-08-11T08:30:11.440Z [error] [é] ",
            "2025-08-11T08:30:11.440Z [a] [error] Message from server: ",
            "2025-08-11T08:30:11.440Z [a] [error] Message from client: {\"id\":1,",
            "2024-08-11T08:30:11.440Z [info] MCP server ",
            "2025-08-11T08:30:11.440Z [",
        ] {
            for body in [&text, &wild] {
                decoded(&format!("{start}{body}"), |_| {});
            }
        }
        let _ = sniffed(&text);
    }

    /// A sample cut anywhere gives events that stand in their order, inside the text.
    #[test]
    fn any_cut_is_read(at in 0..BANNER.len()) {
        let text = BANNER.get(..at).unwrap_or("");
        decoded(text, |sink| {
            assert!(sink.events.iter().all(|event| event.origin.offset <= at as u64));
            assert!(sink.events.is_sorted_by_key(|event| event.origin.offset));
        });
    }
}
