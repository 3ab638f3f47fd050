//! The policy file: what each declaration changes, what it does not, and what the records say against it.

use std::{collections::BTreeMap, fs, path::Path, process::Output};

use serde_json::Value;

use super::run::{calls, run};

/// A line of the wire, `second` seconds after two o'clock.
fn wire(second: u32, direction: &str, message: &str) -> String {
    format!(
        "{{\"ts\":\"2026-07-22T14:00:{second:02}.000Z\",\"run_id\":\"r1\",\"server\":\"acme\",\"direction\":\"{direction}\",\"message\":{message}}}\n"
    )
}

fn asked(second: u32, id: u32, tool: &str, arguments: &str) -> String {
    let params = format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}");
    wire(second, "in", &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}"))
}

fn answered(second: u32, id: u32, result: &str) -> String {
    wire(second, "out", &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"))
}

/// A line of the server's own log.
fn told(second: u32, event: &str, more: &str) -> String {
    let phase = if event == "spawned" || more.contains("\"outside\"") { "launch" } else { "execution" };
    format!(
        "{{\"run_id\":\"r1\",\"server_name\":\"acme\",\"pid\":7,\"phase\":\"{phase}\",\"event\":\"{event}\",\"at\":\"2026-07-22T14:00:{second:02}.100Z\"{more}}}\n"
    )
}

/// The server's own record that it has a call, and that the call contacted something.
fn contact(second: u32, id: u32, tool: &str, more: &str) -> String {
    let call = format!(",\"request_id\":{id},\"tool\":\"{tool}\"");
    told(second, "tool_call_received", &call) + &told(second, "external_attempt", &format!("{call}{more}"))
}

const FAILURE: &str = r#"{"content":[{"type":"text","text":"no luck"}],"isError":true}"#;
const SUCCESS: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

/// The capture of one conversation: calls without answers, and one that failed.
fn capture() -> [(&'static str, String); 2] {
    let tools = r#"{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"spend","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"set","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}},{"name":"put","inputSchema":{"type":"object"}},{"name":"pay","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}"#;
    let wire = [
        wire(0, "in", r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#),
        answered(
            0,
            1,
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"acme-mcp"}}"#,
        ),
        wire(1, "in", r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#),
        answered(1, 2, tools),
        asked(2, 3, "look", r#"{"code":"EUR"}"#),
        asked(3, 4, "put", r#"{"invoice":7}"#),
        asked(4, 5, "pay", r#"{"amount":5,"order":{"key":"k-1"}}"#),
        asked(5, 6, "fail", r#"{"n":1}"#),
        answered(6, 6, FAILURE),
        asked(7, 7, "spend", r#"{"sum":3}"#),
        asked(8, 8, "set", r#"{"level":3}"#),
        wire(9, "in", r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#),
        answered(9, 9, "{}"),
    ];
    let server = [
        told(0, "spawned", ""),
        told(0, "external_attempt", r#","outside":1,"target":"https://metrics.internal","method":"POST""#),
        told(5, "tool_call_received", r#","request_id":6,"tool":"fail""#),
        told(5, "tool_call_responded", r#","request_id":6,"tool":"fail""#),
    ];
    [("wire.jsonl", wire.concat()), ("server.jsonl", server.concat())]
}

/// Writes a capture and a policy beside it.
fn folder(files: &[(&str, String)], policy: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("input")).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join("input").join(name), text).unwrap();
    }
    fs::write(folder.path().join("policy.toml"), policy).unwrap();
    folder
}

fn analyze(folder: &Path, more: &[&str]) -> Output {
    run(folder, &[&["analyze", "input", "--calls", "all"], more].concat())
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The report under a policy, and what is told on standard error.
fn under(files: &[(&str, String)], policy: &str) -> (Value, String) {
    let folder = folder(files, policy);
    let output = analyze(folder.path(), &["-o", "json", "--policy", "policy.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    (json(&output), String::from_utf8(output.stderr).unwrap())
}

fn without(files: &[(&str, String)]) -> Value {
    json(&analyze(folder(files, "").path(), &["-o", "json"]))
}

/// Verdict, rule, reach, effects by name of the call; and the restart of the run.
fn verdicts(report: &Value) -> BTreeMap<String, [String; 4]> {
    let name = |call: &Value| format!("{} {}", call["tool"].as_str().unwrap_or_default(), call["id"]);
    let row = |call: &Value| {
        [&call["retry"]["verdict"], &call["retry"]["rule"], &call["reach"]["answer"], &call["effects"]]
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let runs = report["runs"].as_array().unwrap().iter().map(|run| {
        let restart = [&run["restart"]["verdict"], &run["restart"]["rule"], &run["reach"]["answer"]];
        let [verdict, rule, reach] = restart.map(|value| value.as_str().unwrap().to_owned());
        ("run".to_owned(), [verdict, rule, reach, run["reached_outside"]["answer"].as_str().unwrap().to_owned()])
    });
    calls(report).iter().map(|call| (name(call), row(call))).chain(runs).collect()
}

/// What a policy changes: the name of the call, and its four columns.
fn changes(policy: &str) -> Vec<(String, [String; 4])> {
    let before = verdicts(&without(&capture()));
    let (report, told) = under(&capture(), policy);
    assert_eq!(told, "", "{policy}");
    verdicts(&report).into_iter().filter(|(name, row)| before[name] != *row).collect()
}

fn call(report: &Value, id: u32) -> &Value {
    calls(report).iter().find(|call| call["id"] == id).unwrap()
}

fn findings(report: &Value, rule: &str) -> Vec<Value> {
    report["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == rule).cloned().collect()
}

fn row(name: &str, columns: [&str; 4]) -> (String, [String; 4]) {
    (name.to_owned(), columns.map(str::to_owned))
}

const LOOK: &str = "[[tool]]\nname = \"look\"\neffect = \"none\"\n";

#[test]
fn the_verdicts_without_a_policy() {
    let before = verdicts(&without(&capture()));
    for (name, columns) in [
        ("look 3", ["safe-if", "hinted-read-only", "unknown", "[0,1]"]),
        ("put 4", ["unknown", "no-proof", "unknown", "[0,1]"]),
        ("pay 5", ["unknown", "no-proof", "unknown", "[0,1]"]),
        ("fail 6", ["safe-if", "covered-error", "unknown", "[0,1]"]),
        ("spend 7", ["safe-if", "hinted-read-only", "unknown", "[0,1]"]),
        ("set 8", ["safe-if", "hinted-read-only", "unknown", "[0,1]"]),
        ("run", ["unsafe", "reach-outside-calls", "yes", "yes"]),
    ] {
        assert_eq!(before[name], row(name, columns).1, "{name}");
    }
}

#[test]
fn each_declaration_changes_exactly_what_it_is_about() {
    let tool = |name: &str, more: &str| format!("[[tool]]\nserver = \"acme\"\nname = \"{name}\"\n{more}\n");
    let safe = |rule| ["safe", rule, "unknown", "[0,0]"];
    assert_eq!(changes(LOOK), [row("look 3", safe("declared-none"))]);
    assert_eq!(changes(&tool("put", "effect = \"none\"")), [row("put 4", safe("declared-none"))]);
    let absorbing = ["safe", "declared-absorbing", "unknown", "[0,1]"];
    assert_eq!(changes(&tool("put", "effect = \"absorbing\"")), [row("put 4", absorbing)]);
    let key = "idempotency_key = \"/order/key\"\nkey_lifetime = \"24h\"";
    assert_eq!(changes(&tool("pay", key)), [row("pay 5", ["safe-if", "declared-key", "unknown", "[0,1]"])]);
    assert_eq!(
        changes("[[server]]\nname = \"acme\"\ntrusted = true\n"),
        [row("look 3", safe("declared-none")), row("set 8", absorbing), row("spend 7", safe("declared-none"))]
    );
    let source = "[[source]]\npath = \"input/server.*\"\ncomplete = [\"attempts\"]\n";
    assert_eq!(changes(source), [row("fail 6", ["safe-if", "covered-error", "no", "[0,1]"])]);
    let nothing = tool("fail", "local_effects = false");
    assert_eq!(changes(&nothing), []);
    assert_eq!(changes(&(nothing + source)), [row("fail 6", ["safe", "covered-error", "no", "[0,0]"])]);
    assert_eq!(
        changes("[[own_endpoint]]\ntarget = \"https://metrics.internal\"\n"),
        [row("run", ["unknown", "open-life", "unknown", "unknown"])]
    );
}

#[test]
fn an_accumulating_tool_is_never_safer() {
    let spend = "[[tool]]\nname = \"spend\"\neffect = \"accumulating\"\n";
    assert_eq!(changes(spend), [row("spend 7", ["unknown", "no-proof", "unknown", "[0,1]"])]);
    let trusted = format!("{spend}[[server]]\nname = \"acme\"\ntrusted = true\n");
    let changed = changes(&trusted);
    assert!(changed.contains(&row("spend 7", ["unknown", "no-proof", "unknown", "[0,1]"])), "{changed:?}");
    let mut files = capture();
    files[0].1 += &(asked(20, 20, "pay", r#"{"n":2}"#) + &answered(21, 20, SUCCESS));
    let (report, _) = under(&files, "[[tool]]\nname = \"pay\"\neffect = \"accumulating\"\n");
    let pay = call(&report, 20);
    assert_eq!((&pay["effects"], &pay["retry"]["verdict"]), (&serde_json::json!([1, 1]), &"unsafe".into()));
    assert_eq!(pay["retry"]["assumptions"][0]["assumption"], "every call of the tool \"pay\" adds an effect");
}

#[test]
fn every_assumption_stands_beside_its_verdict() {
    let policy = format!(
        "{LOOK}[[tool]]\nname = \"fail\"\nlocal_effects = false\n[[source]]\npath = \"input/server.jsonl\"\ncomplete = [\"attempts\"]\n[[own_endpoint]]\ntarget = \"metrics.internal\"\n"
    );
    let (report, _) = under(&capture(), &policy);
    let words = |value: &Value| {
        let list = value["assumptions"].as_array().cloned().unwrap_or_default();
        let text =
            |row: &Value| format!("{} @ {}", row["assumption"].as_str().unwrap(), row["place"].as_str().unwrap());
        list.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(words(&call(&report, 3)["retry"]), ["the tool \"look\" changes nothing @ policy.toml:3"]);
    assert_eq!(words(&call(&report, 4)["retry"]), Vec::<String>::new());
    let complete = "input/server.jsonl records every contact with the outside @ policy.toml:9";
    let local = "the tool \"fail\" changes nothing on the host of its server @ policy.toml:6";
    assert_eq!(words(&call(&report, 6)["retry"]), [complete, local]);
    assert_eq!(words(&call(&report, 6)["reach"]), [complete]);
    let own = ["metrics.internal is not outside @ policy.toml:11"];
    let run = &report["runs"][0];
    for part in ["restart", "reach", "reached_outside"] {
        assert_eq!(words(&run[part]), own, "{part}");
    }
    assert_eq!(report["policy"]["path"], "policy.toml");
    assert_eq!(report["policy"]["sha256"].as_str().unwrap().len(), 64);
    let folder = folder(&capture(), &policy);
    for form in ["table", "markdown", "ndjson"] {
        let output = analyze(folder.path(), &["-o", form, "--policy", "policy.toml"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in [3, 6, 9, 11] {
            assert!(text.contains(&format!("policy.toml:{line}")), "{form} {line}: {text}");
        }
    }
}

#[test]
fn a_write_inside_a_read_overrides_the_word() {
    let write = contact(2, 3, "look", r#","target":"https://ledger.test","method":"POST""#);
    let read = write.replace("POST", "GET");
    let mut files = capture();
    files[0].1 += &asked(20, 20, "look", r#"{"code":"USD"}"#);
    files[1].1 += &write;
    let before = without(&files);
    for policy in [LOOK, "[[server]]\nname = \"acme\"\ntrusted = true\n"] {
        let (report, _) = under(&files, policy);
        // Both calls of the tool keep the verdict that they have without the word.
        for id in [3, 20] {
            assert_eq!(call(&report, id)["retry"], call(&before, id)["retry"], "{policy}");
        }
        let found = findings(&report, "contradicted-declaration");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&found[0]["severity"], &found[0]["call"]), (&"high".into(), &call(&report, 3)["call"]));
        assert!(found[0]["claim"].as_str().unwrap().contains("(policy.toml:3); 1 contact of its calls"), "{found:?}");
    }
    files[1].1 = files[1].1.replace(&write, &read);
    let (report, _) = under(&files, LOOK);
    assert_eq!(call(&report, 3)["retry"]["verdict"], "safe");
    assert_eq!(findings(&report, "contradicted-declaration"), Vec::<Value>::new());
}

#[test]
fn a_contact_with_an_own_endpoint_does_not_contradict_and_stays_an_attempt() {
    let mut files = capture();
    for (id, tool) in [(3, "look"), (5, "pay")] {
        files[1].1 += &contact(id - 1, id, tool, r#","target":"https://metrics.internal","method":"POST""#);
    }
    let policy = format!("{LOOK}[[own_endpoint]]\ntarget = \"metrics.internal\"\n");
    let (report, _) = under(&files, &policy);
    let (look, pay) = (call(&report, 3), call(&report, 5));
    assert_eq!(look["retry"]["verdict"], "safe");
    assert_eq!(look["retry"]["assumptions"].as_array().unwrap().len(), 2, "{look:#}");
    // It is no reach, and may have changed something all the same.
    assert_eq!((&pay["reach"]["answer"], &pay["retry"]["verdict"]), (&"unknown".into(), &"unsafe".into()));
    assert_eq!(pay["reach"]["assumptions"][0]["place"], "policy.toml:5");
}

#[test]
fn a_contact_of_nobody_makes_it_a_condition() {
    let [wire, server] = capture();
    let bare = r#"{"phase":"execution","event":"external_attempt","at":"2026-07-22T14:00:03.100Z","target":"https://ledger.test","method":"POST"}"#;
    // The server's log names a call of which it has no receipt: nobody knows which one that is.
    let named = told(10, "external_attempt", r#","request_id":3,"target":"https://ledger.test","method":"POST""#);
    let without_receipt = ("server.jsonl", format!("{}{named}", server.1));
    for (files, place) in [
        (vec![wire.clone(), server, ("other.jsonl", format!("{bare}\n"))], "input/other.jsonl:1"),
        (vec![wire, without_receipt], "input/server.jsonl:5"),
    ] {
        let (report, _) = under(&files, LOOK);
        let look = &call(&report, 3)["retry"];
        assert_eq!((&look["verdict"], &look["rule"]), (&"safe-if".into(), &"declared-none".into()), "{look:#}");
        let condition = format!("no contact that no call accounts for (first: {place}) was made by it");
        assert!(look["condition"].as_str().unwrap().starts_with(&condition), "{look:#}");
    }
}

/// Two equal calls of `put`, each with a contact.
fn twice(first: &str, second: &str) -> [(&'static str, String); 2] {
    let mut files = capture();
    files[0].1 += &asked(20, 20, "put", r#"{"invoice":7}"#);
    files[0].1 += &(wire(40, "in", r#"{"jsonrpc":"2.0","id":40,"method":"ping"}"#) + &answered(40, 40, "{}"));
    for (at, id, more) in [(3, 4, first), (20, 20, second)] {
        let place = ",\"target\":\"https://ledger.test\",\"method\":\"POST\",\"path\":\"/invoices\"";
        let place = format!("{place},\"action_id\":\"a{id}\"");
        files[1].1 += &contact(at, id, "put", &format!("{place}{more}"));
        let status = if more.contains("made") { 201 } else { 200 };
        let call = format!(",\"request_id\":{id},\"tool\":\"put\"");
        files[1].1 += &told(at, "external_result", &format!("{call}{place},\"status\":{status}"));
    }
    files
}

#[test]
fn two_things_made_by_equal_calls_override_the_word() {
    let put = "[[tool]]\nname = \"put\"\neffect = \"absorbing\"\n";
    let made = ",\"made\":1";
    for (first, second, contrary) in [
        ("", "", false),
        (made, "", false),
        (made, made, true),
        (",\"idempotency_key\":\"a\"", ",\"idempotency_key\":\"a\"", false),
        (",\"idempotency_key\":\"a\"", ",\"idempotency_key\":\"b\"", true),
    ] {
        let files = twice(first, second);
        let (report, _) = under(&files, put);
        let verdict = if contrary { "unsafe" } else { "safe" };
        for id in [4, 20] {
            assert_eq!(
                call(&report, id)["retry"]["verdict"],
                verdict,
                "{first} {second}: {}",
                call(&report, id)["retry"]
            );
        }
        assert_eq!(findings(&report, "contradicted-declaration").len(), usize::from(contrary), "{first} {second}");
        let operation = &report["operations"][0];
        assert_eq!(operation["duplicate"] == "no", !contrary, "{operation}");
        assert_eq!(operation["assumptions"].is_array(), !contrary, "{operation}");
    }
}

#[test]
fn a_later_call_that_sets_something_else_is_a_condition() {
    let put = "[[tool]]\nname = \"put\"\neffect = \"absorbing\"\n";
    let mut files = capture();
    files[0].1 += &(asked(20, 20, "put", r#"{"invoice":8}"#) + &answered(21, 20, SUCCESS));
    files[0].1 += &(asked(22, 21, "put", r#"{"invoice":9}"#) + &answered(23, 21, FAILURE));
    let (report, _) = under(&files, put);
    let first = &call(&report, 4)["retry"];
    assert_eq!(first["verdict"], "safe-if");
    let condition = "no other call of the tool (such as input/wire.jsonl:16) has set something else since";
    assert_eq!(first["condition"], condition);
    // Behind the last one there is none; but the first one may still be at work.
    assert_eq!(call(&report, 21)["retry"]["verdict"], "safe-if");
    let ended = files[0].1.replacen(&asked(3, 4, "put", r#"{"invoice":7}"#), "", 1);
    let (report, _) = under(&[("wire.jsonl", ended), files[1].clone()], put);
    assert_eq!(call(&report, 21)["retry"]["verdict"], "safe");
    assert_eq!(call(&report, 20)["retry"]["verdict"], "safe-if");
}

const KEY: &str = "[[tool]]\nname = \"pay\"\nidempotency_key = \"/order/key\"\n";

#[test]
fn a_key_holds_until_its_first_use_plus_its_lifetime() {
    let condition = |files: &[(&str, String)], policy: &str| {
        let (report, _) = under(files, policy);
        let retry = &call(&report, 5)["retry"];
        format!("{}: {}", retry["rule"].as_str().unwrap(), retry["condition"].as_str().unwrap_or_default())
    };
    let day = format!("{KEY}key_lifetime = \"24h\"\n");
    let same = "declared-key: the same key and the same payload are sent";
    let first = "2026-07-23T14:00:04Z, which is 24h after the first use on record";
    assert_eq!(condition(&capture(), &day), format!("{same} before {first}"));
    assert_eq!(
        condition(&capture(), KEY),
        format!("{same} while the receiver knows the key, for which the policy declares no lifetime")
    );
    let mut untimed = capture();
    untimed[0].1 = untimed[0].1.replace(".000Z", ".000");
    let unknown = "within 24h of the first use, whose instant is not on record";
    assert_eq!(condition(&untimed, &day), format!("{same} {unknown}"));
    // A second use counts from the first one.
    let mut again = capture();
    again[0].1 += &asked(50, 30, "pay", r#"{"order":{"key":"k-1"},"amount":5}"#);
    assert_eq!(condition(&again, &day), format!("{same} before {first}"));
    // Whoever had the key first: its receiver may be the same.
    let mut elsewhere = capture().to_vec();
    let earlier = asked(1, 30, "pay", r#"{"order":{"key":"k-1"},"amount":5}"#);
    let earlier = earlier.replace("\"run_id\":\"r1\",\"server\":\"acme\"", "\"run_id\":\"r0\",\"server\":\"other\"");
    elsewhere.push(("other.jsonl", earlier));
    let of_acme = day.replace("name", "server = \"acme\"\nname");
    assert_eq!(condition(&elsewhere, &of_acme), format!("{same} before {}", first.replace(":04Z", ":01Z")));
    // The capture goes on behind the end.
    assert_eq!(condition(&again, &format!("{KEY}key_lifetime = \"45s\"\n")), "no-proof: ");
}

#[test]
fn a_key_that_is_none_changes_nothing() {
    let change = |from: &str, to: &str| {
        let mut files = capture();
        assert!(files[0].1.contains(from));
        files[0].1 = files[0].1.replace(from, to);
        let (report, told) = under(&files, KEY);
        assert_eq!(call(&report, 5)["retry"], call(&without(&files), 5)["retry"], "{to}");
        told
    };
    for key in [r#""key":"""#, r#""key":"[REDACTED]""#, r#""key":null"#, r#""keys":"k-1""#] {
        assert_eq!(
            change(r#""key":"k-1""#, key),
            "notice: policy.toml:3: no call of the tool \"pay\" has a key at /order/key\n"
        );
    }
}

#[test]
fn one_key_for_two_payloads_is_no_key() {
    let mut files = capture();
    files[0].1 += &asked(20, 20, "pay", r#"{"amount":6,"order":{"key":"k-1"}}"#);
    files[0].1 += &asked(22, 21, "pay", r#"{"amount":6,"order":{"key":"k-2"}}"#);
    let (report, _) = under(&files, KEY);
    let rules: Vec<&Value> = [5, 20, 21].iter().map(|id| &call(&report, *id)["retry"]["rule"]).collect();
    assert_eq!(rules, ["no-proof", "no-proof", "declared-key"]);
    let found = findings(&report, "contradicted-declaration");
    assert!(found[0]["claim"].as_str().unwrap().contains("1 key of \"pay\" came with other arguments"), "{found:?}");
}

#[test]
fn a_key_that_the_tool_does_not_pass_on_is_no_key() {
    let mut files = capture();
    files[0].1 += &asked(20, 20, "pay", r#"{"amount":5,"order":{"key":"k-1"}}"#);
    for (at, id, key) in [(4, 5, "x"), (20, 20, "y")] {
        let more = format!(",\"target\":\"https://bank.test\",\"method\":\"POST\",\"idempotency_key\":\"{key}\"");
        files[1].1 += &contact(at, id, "pay", &more);
    }
    let (report, _) = under(&files, KEY);
    assert_eq!(call(&report, 5)["retry"], call(&without(&files), 5)["retry"]);
    assert_eq!(findings(&report, "contradicted-declaration").len(), 1);
}

#[test]
fn a_source_that_lacks_a_contact_is_not_complete() {
    let mut files = capture().to_vec();
    let policy = "[[source]]\npath = \"input/server.jsonl\"\ncomplete = [\"attempts\"]\n";
    files.push((
        "egress.jsonl",
        r#"{"run_id":"r1","source":"network","phase":"execution","event":"external_attempt","at":"2026-07-22T14:00:30.100Z","target":"https://ledger.test","method":"POST"}"#.to_owned() + "\n",
    ));
    let (report, _) = under(&files, policy);
    assert_eq!(call(&report, 6)["reach"], call(&without(&files), 6)["reach"]);
    assert_eq!(findings(&report, "contradicted-declaration").len(), 1, "{:#}", report["findings"]);
    let mut lossy = capture();
    lossy[1].1 += "{\"run_id\":\"r1\",\"phase\":\n";
    lossy[1].1 += &told(40, "tool_call_received", r#","request_id":99,"tool":"fail""#);
    let (report, told) = under(&lossy, policy);
    assert_eq!(call(&report, 6)["reach"]["answer"], "unknown");
    assert!(told.contains("notice: policy.toml:3: input/server.jsonl lost data while it was read"), "{told}");
}

#[test]
fn what_matched_nothing_is_told() {
    let policy = "[[tool]]\nserver = \"other\"\nname = \"look\"\neffect = \"none\"\n[[tool]]\nname = \"gone\"\neffect = \"none\"\n[[server]]\nname = \"acme-mcp\"\ntrusted = true\n[[source]]\npath = \"*.log\"\ncomplete = [\"attempts\"]\n[[own_endpoint]]\ntarget = \"a.test\"\n";
    let (report, told) = under(&capture(), policy);
    let wanted = [
        "notice: policy.toml:1: no call of the tool \"look\" of the server \"other\" is in the input",
        "notice: policy.toml:5: no call of the tool \"gone\" is in the input",
        // What a server calls itself does not count where a log names it.
        "notice: policy.toml:10: no server \"acme-mcp\" is in the input",
        "notice: policy.toml:13: no source has such a path",
        "notice: policy.toml:15: no contact with this endpoint is in the input",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), wanted);
    assert_eq!(verdicts(&report), verdicts(&without(&capture())));
    assert_eq!(report["policy"]["unused"].as_array().unwrap().len(), 5);
}

#[test]
fn nothing_is_analyzed_with_half_a_policy() {
    for (policy, place) in [
        (
            format!("{LOOK}[[tool]]\nname = \"pay\"\neffect = \"harmless\"\n"),
            "policy.toml:6:10: unknown effect \"harmless\"",
        ),
        (format!("{LOOK}[[tool]\n"), "policy.toml:4:8: "),
        (String::new(), "policy.toml:1:1: the policy declares nothing"),
    ] {
        let folder = folder(&capture(), &policy);
        let output = analyze(folder.path(), &["-o", "json=report.json", "-o", "table", "--policy", "policy.toml"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
        assert!(told.starts_with(&format!("error: {place}")) && told.lines().count() == 1, "{told}");
        assert!(!folder.path().join("report.json").exists());
    }
    let folder = folder(&capture(), LOOK);
    let output = analyze(folder.path(), &["--policy", "nowhere.toml"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: cannot read the policy nowhere.toml: "));
    fs::write(folder.path().join("policy.toml"), b"# a\n[[tool]]\nname = \"\xff\"\n").unwrap();
    let output = analyze(folder.path(), &["--policy", "policy.toml"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: policy.toml:3:9: not UTF-8; nothing was analyzed\n");
}

#[test]
fn secrets_in_a_policy_are_masked() {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let policy =
        format!("[[tool]]\nname = \"{secret}\"\neffect = \"none\"\n[[tool]]\nname = \"a\"\neffect = \"{secret}\"\n");
    let bad = folder(&capture(), &policy);
    let good = folder(&capture(), &policy.replace(&format!("effect = \"{secret}\""), "effect = \"none\""));
    for folder in [bad, good] {
        for form in ["table", "markdown", "json", "ndjson"] {
            let output = analyze(folder.path(), &["-o", form, "--policy", "policy.toml"]);
            for text in [output.stdout, output.stderr] {
                assert!(!String::from_utf8(text).unwrap().contains(secret));
            }
        }
    }
}

/// The restart decides in place of the call only because of what the policy says of the call.
#[test]
fn an_assumption_stays_where_the_restart_decides() {
    let sample = super::run::root().join("samples/cases/stdio-sigkill-after-outbound");
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.toml");
    let own = "[[own_endpoint]]\ntarget = \"127.0.0.1:21005\"\n";
    fs::write(&policy, format!("[[tool]]\nname = \"die_after\"\neffect = \"none\"\n{own}")).unwrap();
    let report = json(&analyze(&sample, &["-o", "json", "--policy", policy.to_str().unwrap()]));
    let retry = &call(&report, 3)["retry"];
    assert_eq!((&retry["verdict"], &retry["rule"]), (&"safe-if".into(), &"covered-life".into()), "{retry:#}");
    let assumed: Vec<&Value> = retry["assumptions"].as_array().unwrap().iter().map(|row| &row["assumption"]).collect();
    assert_eq!(assumed, ["the tool \"die_after\" changes nothing", "127.0.0.1:21005 is not outside"]);
    fs::write(&policy, own).unwrap();
    let report = json(&analyze(&sample, &["-o", "json", "--policy", policy.to_str().unwrap()]));
    assert_eq!(call(&report, 3)["retry"]["verdict"], "unsafe");
    assert_eq!(report["runs"][0]["reached_outside"]["answer"], "no");
}

/// A trace over the whole life shows no contact, and by the policy nothing local changes: then a failure did nothing.
#[test]
fn a_failure_under_a_trace_did_nothing_where_nothing_local_changes() {
    let case = |more: &str| {
        let mut files = capture().to_vec();
        files[1].1 =
            files[1].1.replace("external_attempt", "executable_ready") + &told(50, "exited", ",\"exit_code\":0");
        files.push((
            "strace.log",
            format!(
                "7 14:00:00.050000 execve(\"/usr/bin/node\", [\"node\", \"s.js\"], 0x7ffc /* 9 vars */) = 0\n7 14:00:00.060000 connect(3, {{sa_family=AF_UNIX, sun_path=\"/dev/log\"}}, 110) = 0\n7 14:00:00.070000 sendto(3, \"<30>up\", 6, 0, NULL, 0) = 6\n{more}7 14:00:50.100000 exit_group(0)       = ?\n7 14:00:50.100001 +++ exited with 0 +++\n"
            ),
        ));
        let (report, _) = under(&files, "[[tool]]\nname = \"fail\"\nlocal_effects = false\n");
        let retry = call(&report, 6)["retry"].clone();
        let effected = call(&report, 6)["milestones"]["effected"].clone();
        (retry["verdict"].clone(), retry["condition"].clone(), effected)
    };
    assert_eq!(case(""), ("safe".into(), Value::Null, "false".into()));
    let written = "7 14:00:05.500000 openat(AT_FDCWD, \"/var/lib/acme/orders.db\", O_WRONLY|O_CREAT, 0644) = 5\n7 14:00:05.600000 write(5, \"x\", 1) = 1\n";
    // Of writes in a row only the first is kept, and it stands before the call.
    let row = "7 14:00:04.930000 openat(AT_FDCWD, \"/var/lib/acme/orders.db\", O_WRONLY|O_CREAT, 0644) = 5\n7 14:00:04.940000 write(5, \"x\", 1) = 1\n7 14:00:05.010000 write(5, \"x\", 1) = 1\n";
    assert_eq!(case(row).0, "safe-if");
    let (verdict, condition, effected) = case(written);
    assert_eq!((verdict, effected), ("safe-if".into(), "none".into()), "{condition}");
    assert!(
        condition.as_str().unwrap().contains("no file that was written in its time (first: input/strace.log:5)"),
        "{condition}"
    );
}

/// Calls that are alike share one verdict, and a declared one is like no other.
#[test]
fn totals_count_declared_successes_as_declared() {
    let calls = |tool: &str, from: u32| {
        let pair = |id: u32| asked(id, id, tool, &format!("{{\"n\":{id}}}")) + &answered(id, id, SUCCESS);
        (from..from + 3).map(pair).collect::<String>()
    };
    let files = [("wire.jsonl", calls("pay", 10) + &calls("look", 20))];
    let by_retry = |policy: &str| {
        let folder = folder(&files, policy);
        let arguments = ["analyze", "input", "-o", "json", "--policy", "policy.toml"];
        json(&run(folder.path(), &arguments))["totals"]["by_retry"].clone()
    };
    assert_eq!(by_retry(LOOK), serde_json::json!({"safe": 3, "unsafe": 3}));
    assert_eq!(by_retry(&LOOK.replace("look", "pay")), serde_json::json!({"safe": 3, "unsafe": 3}));
}

/// Which of two calls came first is told by one source only.
#[test]
fn calls_of_another_source_may_have_come_since() {
    let [(_, mut wire), server] = capture();
    let put = "[[tool]]\nname = \"put\"\neffect = \"absorbing\"\n";
    let earlier = |id: u32| asked(2, id, "put", r#"{"invoice":9}"#) + &answered(2, id, SUCCESS);
    // More calls than are looked at one by one, all of them over.
    let earlier: String = (1000..1300).map(earlier).collect();
    wire.insert_str(wire.find("{\"code\":\"EUR\"}").and_then(|at| wire[..at].rfind('\n')).unwrap() + 1, &earlier);
    let other = asked(1, 30, "put", r#"{"invoice":8}"#) + &answered(1, 30, SUCCESS);
    let other = other.replace("\"run_id\":\"r1\",", "\"run_id\":\"r0\",");
    let verdict = |files: &[(&str, String)]| call(&under(files, put).0, 4)["retry"]["verdict"].clone();
    assert_eq!(verdict(&[server.clone(), ("wire.jsonl", wire.clone())]), "safe");
    assert_eq!(verdict(&[("a.jsonl", other), server, ("wire.jsonl", wire)]), "safe-if");
}

/// A member of an archive is named as reports name it, and a star stops at a slash.
#[test]
fn patterns_are_about_paths_as_reports_print_them() {
    for (pattern, fits) in [
        ("input/*.jsonl", true),
        ("**/server.jsonl", true),
        ("*/server.*", true),
        ("*.jsonl", false),
        ("server.jsonl", false),
    ] {
        let (report, told) =
            under(&capture(), &format!("[[source]]\npath = \"{pattern}\"\ncomplete = [\"attempts\"]\n"));
        assert_eq!(call(&report, 6)["reach"]["answer"] == "no", fits, "{pattern}");
        assert_eq!(told.is_empty(), fits, "{told}");
    }
}

#[test]
fn a_declared_key_that_is_made_anew_is_found() {
    let mut files = capture();
    for (id, reference) in [(20, "a"), (22, "b")] {
        let arguments = format!("{{\"amount\":5,\"to\":\"bob\",\"ref\":\"{reference}\"}}");
        files[0].1 += &(asked(id, id, "pay", &arguments) + &answered(id + 1, id, FAILURE));
    }
    let policy = "[[tool]]\nname = \"pay\"\nidempotency_key = \"/ref\"\n";
    assert_eq!(findings(&without(&files), "regenerated-key"), Vec::<Value>::new());
    assert_eq!(findings(&under(&files, policy).0, "regenerated-key").len(), 1);
}
