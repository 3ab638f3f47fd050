//! Times the stages that decide the throughput, each alone and on one thread.
//!
//! It does not read files; the whole job is measured by `examples/throughput.rs`.

use std::{fmt::Write as _, hint::black_box, num::NonZeroU32};

use bumpalo::Bump;
use divan::{Bencher, counter::BytesCount, counter::ItemsCount};
use mcp_postmortem::{
    correlate::{Case, Correlator, SourceMeta},
    event::{Event, Origin, SourceId},
    format::{self, Format},
    judge,
    record::{Record, Sink},
    report::redact,
};

fn main() {
    divan::main();
}

const REQUEST: &str = r#"{"ts":"2026-07-22T14:03:13.083Z","run_id":"run_01JX","server":"acme","direction":"in","message":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"issue_lookup","arguments":{"id":"ISS-1042","note":"ledger retry issue token shard deploy metric cache"}}}}"#;
const ANSWER: &str = r#"{"ts":"2026-07-22T14:03:13.183Z","run_id":"run_01JX","server":"acme","direction":"out","message":{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"invoice ledger retry issue token shard deploy metric cache tenant branch report vector audit"}],"isError":false}}}"#;
const PHASE: &str = "2026-07-22T14:03:13.083Z INFO run_id=run_01JX phase=execution event=external_attempt request_id=7 action_id=act_1 channel=https host=api.example.test";
const CHATTER: &str =
    "2026-07-22T14:03:13.083Z INFO worker 12 invoice ledger retry issue token shard deploy metric cache tenant";
const ENTRY: &str = r#"{"startedDateTime":"2026-07-22T14:03:13.083Z","time":13.5,"request":{"method":"POST","url":"http://127.0.0.1:3000/mcp","httpVersion":"HTTP/1.1","cookies":[],"headers":[{"name":"accept","value":"application/json, text/event-stream"},{"name":"content-type","value":"application/json"},{"name":"mcp-session-id","value":"s-1"}],"queryString":[],"headersSize":-1,"bodySize":120,"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"issue_lookup\",\"arguments\":{\"id\":\"ISS-1042\"}}}"}},"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[{"name":"content-type","value":"text/event-stream"}],"content":{"size":120,"mimeType":"text/event-stream","text":"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"isError\":false}}\n\n"},"redirectURL":"","headersSize":-1,"bodySize":120},"cache":{},"timings":{"send":0,"wait":13,"receive":0}}"#;

/// Decodes one record and says how many events it gave.
fn decode(bencher: Bencher<'_, '_>, format: Option<&'static Format>, text: &str) {
    let mut arena = Bump::new();
    let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
    bencher.counter(BytesCount::of_str(text)).bench_local(|| {
        arena.reset();
        let mut sink = Sink::new();
        format::decode(format, &Record { origin, text: black_box(text), arena: &arena }, &mut sink);
        sink.events.len()
    });
}

#[divan::bench(args = [REQUEST, ANSWER])]
fn decode_trace_line(bencher: Bencher<'_, '_>, line: &str) {
    decode(bencher, format::named("trace-jsonl"), line);
}

#[divan::bench(args = [PHASE, CHATTER])]
fn decode_console_line(bencher: Bencher<'_, '_>, line: &str) {
    decode(bencher, None, line);
}

#[divan::bench]
fn decode_har_entry(bencher: Bencher<'_, '_>) {
    decode(bencher, format::named("har"), ENTRY);
}

/// A trace of so many calls in runs of 25, each tenth of them without an answer.
fn trace(calls: usize) -> String {
    let mut text = String::new();
    for call in 0..calls {
        let (run, id) = (call / 25, call % 25);
        let head = format!(r#"{{"run_id":"run_{run}","server":"acme""#);
        let _ = writeln!(
            text,
            r#"{head},"direction":"in","message":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"pay","arguments":{{"n":{call}}}}}}}}}"#
        );
        if call % 10 != 9 {
            let _ = writeln!(
                text,
                r#"{head},"direction":"out","message":{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}}}"#
            );
        }
    }
    text
}

fn correlate(events: &[Event<'_>]) -> Case {
    let mut correlator = Correlator::default();
    correlator.begin(&SourceMeta::default());
    for event in events {
        correlator.push(event);
    }
    correlator.end(false);
    correlator.link()
}

#[divan::bench(args = [1_000, 10_000])]
fn correlate_and_judge(bencher: Bencher<'_, '_>, calls: usize) {
    let (text, arena) = (trace(calls), Bump::new());
    let sink = format::decode_lines(format::named("trace-jsonl"), &text, &arena);
    bencher.counter(ItemsCount::new(calls)).bench_local(|| {
        let case = correlate(black_box(&sink.events));
        judge::judge(&case, &judge::Terms::default(), |_| false).totals.calls
    });
}

#[divan::bench]
fn quote_ordinary_line(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::of_str(CHATTER)).bench_local(|| redact::quote(black_box(CHATTER), 240));
}
