//! Planted secrets: every kind of the table in every notation, cut at every place, and ordinary lines that must survive.
//!
//! No literal here is a whole token: hosts of source code refuse those.

use proptest::prelude::*;

use super::*;

/// The part of every planted secret that must not survive. Letters, digits, mixed case.
const BODY: &str = "Zq7xKp29LmVt83RwYs40BnCd61HgJf5Qa2Ws9Ed";

/// An example of the table with its secrets planted.
fn planted_in(example: &str) -> (String, &'static str) {
    let (body, hex, upper) = (BODY, "9f3a9f3a9f3a9f3a9f3a9f3a9f3a9f3a", "ZQ7XKP29LMVT83RW");
    let text = example.replace("{}", body).replace("{hex}", hex).replace("{upper}", upper);
    let secret = if example.contains("{hex}") {
        hex
    } else if example.contains("{upper}") {
        upper
    } else {
        body
    };
    (text, secret)
}

/// Escapes a text as the content of a JSON string, this many times.
fn escaped(text: &str, times: usize) -> String {
    (0..times).fold(text.to_owned(), |text, _| {
        let json = serde_json::to_string(&text).expect("text is JSON");
        json[1..json.len() - 1].to_owned()
    })
}

/// Notations of any text, whatever is in it.
fn carriers(text: &str) -> Vec<String> {
    vec![
        text.to_owned(),
        format!("2026-01-02T03:04:05Z INFO server: {text}"),
        format!("{text}\nnext line"),
        format!("(see {text}), then more"),
        format!("{{\"message\":\"{}\",\"id\":3}}", escaped(text, 1)),
        format!("{{\"a\":\"{{\\\"message\\\":\\\"{}\\\"}}\"}}", escaped(text, 2)),
        format!("{{\"a\":\"{}\"}}", escaped(text, 3)),
        format!("first\\n{text}\\nlast"),
        format!("\x1b[32m{text}\x1b[0m done"),
        format!("b'{text}'"),
    ]
}

/// Notations of a key and its value.
fn pairs(key: &str, value: &str) -> Vec<String> {
    let header = key.replace(' ', "-");
    let env = key.replace(' ', "_").to_ascii_uppercase();
    let snake = key.replace(' ', "_");
    let mut pairs = vec![
        format!("{header}: {value}"),
        format!("{{\"{header}\":\"{value}\",\"host\":\"x.test\"}}"),
        format!("{{\n  \"{snake}\": \"{value}\"\n}}"),
        format!("{{'{snake}': '{value}', 'host': 'x'}}"),
        format!("(b'{header}', b'{value}'), (b'accept', b'*/*')"),
        format!("('{snake}', '{value}')"),
        format!("curl -H '{header}: {value}' https://x.test/"),
        format!("curl -H \"{header}: {value}\" https://x.test/"),
        format!("{{\"name\":\"{header}\",\"value\":\"{value}\"}}"),
        format!("{{\"value\":\"{value}\",\"name\":\"{header}\"}}"),
        format!("{{\n \"name\": \"{header}\",\n \"value\": \"{value}\"\n}}"),
        format!("{{ name: '{header}', value: '{value}' }}"),
        format!("{{\"key\":\"{header}\",\"value\":{{\"stringValue\":\"{value}\"}}}}"),
        format!("{{\"value\":{{\"stringValue\":\"{value}\"}},\"key\":\"{header}\"}}"),
        format!("{{\"{header}\":[\"{value}\"]}}"),
        format!("map[{header}:[{value}]]"),
        format!("{{ '{header}' => '{value}' }}"),
        format!("headers['{snake}'] = '{value}'"),
        format!("{snake}=Some(\"{value}\")"),
        format!("<{snake}>{value}</{snake}>"),
        format!("\x1b[3m{snake}\x1b[0m\x1b[2m=\x1b[0m{value} n=1"),
        format!("%22{snake}%22%3A%22{value}%22"),
        format!("\\u0022{snake}\\u0022:\\u0022{value}\\u0022"),
        format!("&quot;{snake}&quot;:&quot;{value}&quot;"),
    ];
    if !value.contains(' ') {
        pairs.extend([
            format!("{env}={value} npx server"),
            format!("export {env}=\"{value}\""),
            format!("{snake}: {value}"),
            format!("x=1 {snake}={value} y=2"),
            format!("--{header} {value} --verbose"),
            format!("--{header}={value}"),
            format!("[\"--{header}\",\"{value}\"]"),
            format!("https://x.test/cb?a=1&{snake}={value}&b=2"),
            format!("redirect%3Fa%3D1%26{snake}%3D{value}%26b%3D2"),
            format!("?a\\u003d1\\u0026{snake}\\u003d{value}\\u0026b\\u003d2"),
            format!("a=1&amp;{snake}={value}&amp;b=2"),
        ]);
    }
    pairs
}

/// Keys that count only in a query or a pair.
fn is_query_pair(text: &str) -> bool {
    let name = text.contains("name") && text.contains("value") || text.contains("stringValue");
    name || text.contains("?a") || text.contains("%3Fa") || text.contains("&amp;")
}

/// All texts with the kind and the piece of each that must not survive.
fn corpus() -> Vec<(&'static str, String, String)> {
    let mut corpus = Vec::new();
    for secret in SECRETS {
        for example in secret.masked {
            let (example, body) = planted_in(example);
            for text in carriers(&example) {
                corpus.push((secret.name, text, body.to_owned()));
            }
            if !example.contains([' ', '"', '\n']) {
                corpus.push((secret.name, format!("https://x.test/v1?t={example}&u=1"), body.to_owned()));
            }
        }
        for (text, key) in secret.keys.iter().flat_map(|key| key.text.split('|').map(move |text| (text, key))) {
            let name = match text.strip_prefix('+') {
                Some(rest) => format!("db {rest}"),
                None => text.trim_start_matches('*').to_owned(),
            };
            let value = if key.value == Value::Header { format!("Bearer {BODY}") } else { BODY.to_owned() };
            for text in pairs(&name, &value) {
                if key.value != Value::Query || is_query_pair(&text) {
                    for text in carriers(&text) {
                        corpus.push((secret.name, text, BODY.to_owned()));
                    }
                }
            }
        }
    }
    corpus
}

#[test]
fn planted_secrets_never_survive() {
    let corpus = corpus();
    assert!(corpus.len() > 20_000, "{}", corpus.len());
    let mut faults = Vec::new();
    for (kind, text, secret) in &corpus {
        let masked = redact(text).into_owned();
        let piece = &secret[..secret.len().min(12)];
        if masked.contains(piece) || !masked.contains(MASK) || redact(&masked) != masked {
            faults.push(format!("{kind}\n   {text:?}\n   {masked:?}"));
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {}:\n{}",
        faults.len(),
        corpus.len(),
        faults.iter().step_by(1 + faults.len() / 40).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn secrets_with_something_unseen_in_them_never_survive() {
    let unseen =
        ["\x1b[31m", "\x1b[1;38;5;9m", r"\x1b[31m", r"\u001b[0m", r"\\u001b[0m", "\u{200b}", "\x1b]8;;\x07", "^[[0m"];
    let mut faults = Vec::new();
    for secret in SECRETS.iter().filter(|secret| secret.name != name::EMAIL) {
        for example in secret.masked {
            let (text, body) = planted_in(example);
            for (unseen, at) in unseen.iter().flat_map(|unseen| [2, 5, 12].map(|at| (unseen, at))) {
                let (head, tail) = body.split_at(at.min(body.len()));
                let text = text.replace(body, &[head, unseen, tail].concat());
                let masked = redact(&text);
                // At the end stays what the end of the token alone would leave, too.
                let pieces = [head, tail.get(..8).unwrap_or(tail)];
                if pieces.iter().any(|piece| piece.len() > 4 && masked.contains(piece)) || redact(&masked) != masked {
                    faults.push(format!("{} {text:?} {masked:?}", secret.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

/// Whether the value stands after its key, so that the beginning alone shows that a secret follows.
fn is_known_from_its_start(kind: &str, text: &str, at: usize) -> bool {
    let before = &text[..at];
    let value_first =
        before.contains("value") && !before.contains("name") && !before.contains("key\\") && !before.contains("key\"");
    let shaped = [
        "email",
        "telegram-token",
        "discord-token",
        "basic",
        "url-password",
        "twilio-key",
        "session",
        "mailgun-key",
        "airtable-token",
        "signature",
    ];
    !value_first && !shaped.contains(&kind) && !text.contains("-----END")
}

#[test]
fn cut_secrets_never_survive() {
    let mut faults = Vec::new();
    for (kind, text, secret) in corpus().into_iter().step_by(7) {
        let Some(at) = text.find(&secret).filter(|&at| is_known_from_its_start(kind, &text, at)) else { continue };
        for kept in (4..secret.len()).step_by(5) {
            let cut = &text[..at + kept];
            let masked = redact(cut);
            if masked.contains(&secret[..kept]) {
                faults.push(format!("{kind} {kept}\n   {cut:?}\n   {masked:?}"));
                break;
            }
        }
    }
    let shown: Vec<String> = faults.iter().step_by(1 + faults.len() / 20).cloned().collect();
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), shown.join("\n"));
}

#[test]
fn ordinary_lines_survive() {
    let lines = r#"
trace_id=4bf92f3577b34da6a3ce929d0e0e4736 sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
Child exited: code=1, signal=null key=value token_type=bearer
GET /rate?code=EUR HTTP/1.1
event=authorization_requested phase=execution authorization: none
www-authenticate: Bearer error="invalid_token", error_description="Authentication required", resource_metadata="http://x"
"value": "Bearer error=\"invalid_token\", error_description=\"Authentication required\""
{"error": "invalid_token", "error_description": "Authentication required"}
Bad Request: No valid session ID provided
"progressToken":3,"max_tokens":4096,"nextPageToken":"abcd1234efgh"
{'name': 'count', 'arguments': {'n': 6}, '_meta': {'progressToken': 3}}
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
Unexpected token: < in JSON; Invalid token: expired
{"password":{"type":"string"},"required":["username","password","email"]}
token=${GITHUB_TOKEN} token=$GITHUB_TOKEN password=*** api_key=<your-key> secret={{ secret }} authorization: [REDACTED]
    client = Client(api_key=api_key, token=self.token, secret=os.environ["SECRET"])
http://127.0.0.1:8000/mcp http://localhost:3000 ws://[::1]:3000/x
mcp-remote@0.1.2 @modelcontextprotocol/server@1.2.3 git@github.com:x/y.git getty@tty1.service
cat: /etc/passwd: Permission denied
PWD=/srv/lab OLDPWD=/srv
"cookies": [], "headers": [{"name":"host","value":"x.test"}]
MCPDeprecationWarning: `AuthSettings.validate_token_resource` is not set, so bearer tokens are not checked against `resource`
Basic authentication failed; a basic usage example; risk-assessment-of-the-task
token::Token use std::collections::HashMap; if token == expected
-----BEGIN CERTIFICATE-----
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"issue_lookup","arguments":{"key":"ABC-123","code":404}}}
INFO:     127.0.0.1:54321 - "POST /mcp HTTP/1.1" 200 OK
"#;
    for line in lines.lines() {
        assert_eq!(redact(line), line);
        assert!(leaks(line).is_empty(), "{line}");
    }
}

#[test]
fn what_must_stay_stays() {
    for text in SECRETS.iter().flat_map(|secret| secret.kept) {
        assert_eq!(redact(text), *text);
        assert!(leaks(text).is_empty(), "{text}");
    }
}

#[test]
fn masks_keep_key_scheme_and_prefix() {
    let github = format!("gh{}{BODY}", "p_");
    let rows = [
        ("Authorization: Bearer abc123\r\nHost: x".to_owned(), "Authorization: Bearer [redacted:bearer]\r\nHost: x"),
        ("authorization=[Digest a=b, c=d]".to_owned(), "authorization=[Digest [redacted:authorization]]"),
        (format!("GITHUB_TOKEN={github} x"), "GITHUB_TOKEN=ghp_[redacted:github-token] x"),
        (
            "postgres://bob:hunter2@db.example.com/x".to_owned(),
            "postgres://bob:[redacted:url-password]@db.example.com/x",
        ),
        ("--token abc123 --port 80".to_owned(), "--token [redacted:token] --port 80"),
        ("token=Some(\"abc123\"), n=1".to_owned(), "token=Some(\"[redacted:token]\"), n=1"),
        ("Server=x;Password=abc;Port=1".to_owned(), "Server=x;Password=[redacted:password];Port=1"),
        ("mail bob@example.com.".to_owned(), "mail [redacted:email]."),
        ("password: correct horse staple".to_owned(), "password: [redacted:password]"),
        ("  - password: correct horse\n    x: 1".to_owned(), "  - password: [redacted:password]\n    x: 1"),
        ("password=[redacted:password]tail".to_owned(), "password=[redacted:password]"),
        ("password=[redacted:hunter2]".to_owned(), "password=[[redacted:password]]"),
        ("{\"password\":12345678,\"n\":1}".to_owned(), "{\"password\":[redacted:password],\"n\":1}"),
        ("PASSWORD={abc1}x y".to_owned(), "PASSWORD=[redacted:password] y"),
        (
            "a:\n  password: |\n    one\n    two\n  b: 1".to_owned(),
            "a:\n  password: |\n    [redacted:password]\n  b: 1",
        ),
        ("curl -u bob:hunter2 https://x.test".to_owned(), "curl -u bob:[redacted:password] https://x.test"),
        ("--token --verbose".to_owned(), "--token --verbose"),
        ("machine x login bob password Zq7xKp29LmVt83".to_owned(), "machine x login bob password [redacted:password]"),
        ("PASSWORD=a,b&c\"d'e rest".to_owned(), "PASSWORD=[redacted:password] rest"),
        (format!("x_sk-ant-{BODY}"), "x_sk-ant-[redacted:anthropic-key]"),
        (format!("token_{github}"), "token_ghp_[redacted:github-token]"),
        (format!("my_hf_{BODY}"), "my_hf_[redacted:huggingface-token]"),
        ("{\"pass\\u0077ord\": \"hunter2secret\"}".to_owned(), "{\"pass\\u0077ord\": \"[redacted:password]\"}"),
        (r#"{"a":"{\"\\u0074oken\":\"swordfish\"}"}"#.to_owned(), r#"{"a":"{\"\\u0074oken\":\"[redacted:token]\"}"}"#),
        (format!("sk\\u002dant\\x2d{BODY}"), "sk\\u002dant\\x2d[redacted:anthropic-key]"),
        ("?pass%77ord=swordfish&n=1".to_owned(), "?pass%77ord=[redacted:password]&n=1"),
        ("mysql -u root -plowercase db".to_owned(), "mysql -u root -p[redacted:password] db"),
        ("mysql -u root -p lowercase db".to_owned(), "mysql -u root -p [redacted:password] db"),
        ("[\"sshpass\",\"-p\",\"1234\",\"ssh\"]".to_owned(), "[\"sshpass\",\"-p\",\"[redacted:password]\",\"ssh\"]"),
        (
            "{\"command\":\"redis-cli\",\"args\":[\"-a\",\"open\"]}".to_owned(),
            "{\"command\":\"redis-cli\",\"args\":[\"-a\",\"[redacted:password]\"]}",
        ),
        (
            "psql -p sesame; curl -u bob:sesame x".to_owned(),
            "psql -p [redacted:password] curl -u bob:[redacted:password] x",
        ),
        ("X-Api-Key:${X} sesame".to_owned(), "X-Api-Key:${X} [redacted:api-key]"),
        ("X-Api-Key: ${X} missing".to_owned(), "X-Api-Key: ${X} missing"),
        ("the password is now sesame".to_owned(), "the password is now [redacted:password]"),
        ("the password for bob is sesame".to_owned(), "the password for bob is [redacted:password]"),
        ("Password for user bob: sesame".to_owned(), "Password for user bob: [redacted:password]"),
        ("the password for bob is incorrect".to_owned(), "the password for bob is incorrect"),
        ("pin: 4711, pat=sesame".to_owned(), "pin: [redacted:password], pat=[redacted:token]"),
        ("tokens: [open, sesame]".to_owned(), "tokens: [[redacted:token], [redacted:token]]"),
        ("tokens: {a: sesame, n: 5}".to_owned(), "tokens: {a: [redacted:token], n: 5}"),
        (
            "tokens:\n  - a: open\n  - sesame\nn: b".to_owned(),
            "tokens:\n  - a: [redacted:token]\n  - [redacted:token]\nn: b",
        ),
        ("connection_string=sesame".to_owned(), "connection_string=[redacted:password]"),
    ];
    for (text, masked) in rows {
        assert_eq!(redact(&text), masked);
        assert_eq!(redact(masked), masked);
    }
}

/// Passwords with blanks, keys in other languages, alphabets and spellings, commands, and addresses.
#[test]
fn masks_reach_as_far_as_the_secret() {
    let rows = [
        ("INFO server: password: correct horse battery", "INFO server: password: [redacted:password]"),
        ("user: bob password: open sesame host: h1", "user: bob password: [redacted:password] host: h1"),
        ("log: password: required for user bob", "log: password: required for user bob"),
        ("password = correct horse battery", "password = [redacted:password]"),
        (
            "Server=h;User Id=u;Password=pa ss@wo:rd/x;Encrypt=true",
            "Server=h;User Id=u;Password=[redacted:password];Encrypt=true",
        ),
        ("password=\"a \\\"quoted\\\" word\" n=1", "password=\"[redacted:password]\" n=1"),
        (
            "{\"a\":\"private_key: |\\n  Zq7x\\n  Kp29\\nn: 1\"}",
            "{\"a\":\"private_key: |\\n  [redacted:private-key]\\nn: 1\"}",
        ),
        ("{\"a\":\"password: |\\n  sesame\",\"n\":1}", "{\"a\":\"password: |\\n  [redacted:password]\",\"n\":1}"),
        (
            "03:04 INFO pw: |\n03:05 INFO   open\n03:06 INFO   sesame\n03:07 INFO ready",
            "03:04 INFO pw: |\n03:05 INFO   [redacted:password]\n03:06 INFO   [redacted:password]\n03:07 INFO ready",
        ),
        (
            "{\"pw\":\"sesame\",\"hmac\":\"sesame\"}",
            "{\"pw\":\"[redacted:password]\",\"hmac\":\"[redacted:signed-url]\"}",
        ),
        ("{\"sig\":\"SIGTERM\",\"signature\":\"f(x)\"}", "{\"sig\":\"SIGTERM\",\"signature\":\"f(x)\"}"),
        ("SAMLResponse=sesame&RelayState=x", "SAMLResponse=[redacted:signed-url]&RelayState=x"),
        ("{\"connect.sid\":\"s:abcdef\"}", "{\"connect.sid\":\"[redacted:session]\"}"),
        ("{\"csrf\":\"sesame\"} csrf: disabled", "{\"csrf\":\"[redacted:token]\"} csrf: disabled"),
        ("Passwort: geheim, senha=segredo", "Passwort: [redacted:password]"),
        ("{\"contrase\\u00f1a\":\"secreto\"}", "{\"contrase\\u00f1a\":\"[redacted:password]\"}"),
        ("contrase%C3%B1a=secreto&x=1", "contrase%C3%B1a=[redacted:password]&x=1"),
        ("mot de passe : secret1", "mot de passe : [redacted:password]"),
        ("ｐａｓｓｗｏｒｄ=sesame", "ｐａｓｓｗｏｒｄ=[redacted:password]"),
        ("{\"pass\\u200bword\":\"sesame\"}", "{\"pass\\u200bword\":\"[redacted:password]\"}"),
        ("net use Z: \\\\h\\s sesame /user:d\\u", "net use Z: \\\\h\\s [redacted:password] /user:d\\u"),
        ("tool -p PASSWORD1 x", "tool -p [redacted:password] x"),
        ("postgres://us:pa XX@h/db", "postgres://us:[redacted:url-password]@h/db"),
        ("http://h:8080 mail to x@y, http://h:80/a b", "http://h:8080 mail to x@y, http://h:80/a b"),
        (
            "https://discord.com/api/webhooks/123456789012345678/abcDEF_ghijklmnop",
            "https://discord.com/api/webhooks/123456789012345678/[redacted:web-hook]",
        ),
        ("/webhook/0098cb96-0463-42c6-b29f-0d32a252fbeb", "/webhook/[redacted:web-hook]"),
    ];
    for (text, masked) in rows {
        assert_eq!(redact(text), masked);
        assert_eq!(redact(masked), masked);
    }
}

/// Lines as real software writes them: `mcp` Python SDK 1.x with rich and httpcore, curl, mitmproxy, OpenTelemetry,
/// supergateway 3.x, nginx.
#[test]
fn real_lines_lose_session_and_credentials_only() {
    let id = "82eca73562a6445a9972b7d537358d28";
    let uuid = "0098cb96-0463-42c6-b29f-0d32a252fbeb";
    let lines = [
        "2026-11-30 03:06:16,708 INFO    mcp.client.streamable_http: Received session ID: {}",
        "INFO     Received session ID:                       streamable_http.py:157\n         {}\n",
        "                    INFO     Created new transport with           streamable_http_manager.py:233\n  session ID:                    \n   {}      ",
        "return_value=(b'HTTP/1.1', 200, b'OK', [(b'server', b'uvicorn'), (b'mcp-session-id', b'{}'), (b'x-accel-buffering', b'no')])",
        "< mcp-session-id: {}",
        "{\n  \"name\": \"mcp-session-id\",\n  \"value\": \"{}\"\n}",
        "{\"key\":\"mcp.session.id\",\"value\":{\"stringValue\":\"{}\"}},{\"key\":\"gen_ai.tool.name\",\"value\":{\"stringValue\":\"a\"}}",
        "[supergateway] SessionAccessCounter.inc() {}, caused by session initialization",
        "[supergateway] Session access count 1 -> 2 for {}",
        "[supergateway] Response finished {}",
        "{\"time\":\"0.005\",\"mcp_session\":\"{}\",\"mcp_method\":\"\",\"request_id\":\"a88b3896960a93be67f4a0f0ad1d6f25\"}",
        "INFO: 127.0.0.1:5000 - \"POST /messages/?session_id={} HTTP/1.1\" 202 Accepted",
        "Received POST message for sessionId {}",
    ];
    for line in lines {
        for id in [id, uuid] {
            assert_eq!(redact(&line.replace("{}", id)), line.replace("{}", "[redacted:session]"));
            assert!(leaks(&line.replace("{}", id)).is_empty());
        }
    }
}

#[test]
fn quotes_mask_before_they_cut() {
    assert_eq!(quote("plain", 240), "plain");
    assert_eq!(quote("a\nb\tc", 240), "a⏎b c");
    assert_eq!(quote("äöü", 2), "ä…");
    assert_eq!(quote("äöü", 3), "äöü");
    assert_eq!(quote("abc", 0), "");
    let text = format!("{}Authorization: Bearer {BODY}", "x ".repeat(100));
    for limit in 0..300 {
        let quoted = quote(&text, limit);
        assert!(!quoted.contains("Zq7x") && quoted.chars().count() <= limit);
    }
    // A secret on the edge of what is looked at.
    for shift in 0..64 {
        let text = format!("{} api_key={BODY}{BODY} end", "é".repeat((QUOTE_REACH - shift) / 2));
        assert!(!quote(&text, usize::MAX).contains("Zq7x"));
    }
}

#[test]
fn a_secret_may_begin_before_the_record() {
    let rows = [
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n", "Zq7xKp29LmVt83\n", "[redacted:private-key]"),
        ("{\n \"token\": ", "Zq7x,", "[redacted:token],"),
        ("{\n \"token\": \"Zq", "7x\", \"n\": 1", "[redacted:token]\", \"n\": 1"),
        ("a:\n  password: |\n", "    Zq7x", "    [redacted:password]"),
        ("Authorization: Bea", "rer Zq7xKp29LmVt83", "rer [redacted:bearer]"),
        ("password=a\n", "the next line", "the next line"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n", "the next line", "the next line"),
        ("", "x api_key=Zq7x", "x api_key=[redacted:api-key]"),
    ];
    for (before, text, shown) in rows {
        assert_eq!(quote_behind(before, text, 240), shown, "{before}");
    }
}

#[test]
fn leaks_are_told_apart_from_addresses_and_masks() {
    for (text, found) in [
        (format!("x-api-key: {BODY}"), 1),
        (format!("bob@example.com Mcp-Session-Id: {BODY}"), 0),
        (format!("bob@example.com then Bearer {BODY}"), 1),
        (redact(&format!("x-api-key: {BODY}")).into_owned(), 0),
        ("password: required to log in".to_owned(), 0),
        ("GITHUB_PAT=hunter2".to_owned(), 1),
        ("{\"access_token\":\"hunter2\",\"tokens\": \"hunter2\"}".to_owned(), 1),
        ("{\"pin\":\"471142\"}".to_owned(), 1),
        ("connection_string=Hunter2".to_owned(), 1),
        ("{\"tok\\u0065n\":\"hunter2\"}".to_owned(), 1),
        ("mysql -plowercase".to_owned(), 1),
        ("curl -u bob:lowercase https://x.test/".to_owned(), 1),
        ("{\"progressToken\":\"hunter2\"} curl -u bob https://x.test/ pin: 13 mysql -p db".to_owned(), 0),
    ] {
        assert_eq!(leaks(&text).len(), found, "{text}");
    }
}

#[test]
fn the_table_is_well_formed() {
    for (at, secret) in SECRETS.iter().enumerate() {
        assert!(secret.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", secret.name);
        assert!(secret.doc.ends_with('.'), "{}", secret.name);
        assert!(SECRETS[..at].iter().all(|other| other.name != secret.name), "{}", secret.name);
    }
    let names = [name::EMAIL, name::PRIVATE_KEY, name::API_KEY, "password"];
    assert!(names.iter().all(|name| SECRETS.iter().any(|secret| secret.name == *name)));
    let bare = SECRETS.iter().filter(|secret| secret.keys.is_empty() && secret.masked.is_empty());
    assert_eq!(bare.count(), 0);
}

#[test]
fn hostile_text_costs_no_quadratic_time() {
    let pieces = [
        "token=",
        "token:\"",
        "cookie: ",
        "eyJ",
        "sk-",
        "://",
        "://a:",
        "@",
        "a@",
        "-----BEGIN PRIVATE KEY-----",
        "session ",
        "-----END PRIVATE KEY-----",
        "\"cookies\":[{",
        "{\"value\":\"\",\"name\":\"token\"",
        "\\",
        "\\\"",
        "token",
        "Bearer ",
        "password: ",
        "authorization: x ",
        "[redacted:",
        "[redacted:token]",
        "token=a,",
        "'",
        "MTA",
        "AKIA",
        "1:AA",
        "%22token%22",
        "token=[",
        "x\ntoken:",
        "authorization: digest ",
        "\"token\",\"",
        "token=\\",
        "sid=\\\"",
        "tokens:\n- ",
        "tokens:\n- tokens:\n- a\n",
        "tokens: [a, ",
        "tokens: {a: ",
        "mysql -p ",
        "sshpass -p\",\"",
        "pass\\u0077ord=",
        "\\u0061",
        "%61",
        "password for a ",
        "X-Api-Key:${X} ",
        "seed ",
        "seed a ",
        "a,password\n",
        "a,password\\n",
        "DE89 3704 ",
        "4111 1111 1111 1111 ",
        "token='a'b",
        "token='a'+'",
        "net use \\\\a\\b ",
        "-----BEGIN PRIVATE KEY-----\nMIIE\n",
        "-----BEGIN PRIVATE KEY-----\"",
        "://a:b c ",
        "password: a ",
        ";password=a ",
        ";password=a%",
        "password: |\n  a\n",
        "password: |\\n  a\\n",
        "/hooks/",
        "cGFzc3dvcmQ=:",
        "%E2%80%8B",
        "\\u200b",
        "é",
    ];
    let started = std::time::Instant::now();
    for piece in pieces {
        let text = piece.repeat(QUOTE_REACH / piece.len());
        assert!(quote(&text, 240).chars().count() <= 240);
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// A secret with its notation, and the piece that must not survive.
fn planted() -> impl Strategy<Value = (String, String)> {
    let corpus = corpus();
    (0..corpus.len()).prop_map(move |at| {
        let (_, text, secret) = &corpus[at];
        (text.clone(), secret[..secret.len().min(12)].to_owned())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_planted_survives((text, secret) in planted(), before in "[ -~\n]{0,40}[ \n]", after in "[ \n][ -~\n]{0,40}") {
        let quoted = quote(&format!("{before}{text}{after}"), 2000);
        prop_assert!(!quoted.contains(&secret), "{}", quoted);
    }

    #[test]
    fn masking_twice_changes_nothing(
        (text, _) in planted(),
        around in "(?s).{0,60}",
        noise in "(token|password|=|:|\"|'|\\\\|,|\\[redacted:token\\]|\\[|\\]|@a\\.bc|://|Bearer | |\n|x1){0,30}",
    ) {
        for text in [format!("{around}{text}{around}"), format!("{noise}{text}{noise}"), noise.clone(), around] {
            let once = redact(&text).into_owned();
            prop_assert_eq!(redact(&once).into_owned(), once.clone(), "{}", text);
        }
    }

    #[test]
    fn any_text_is_fine(text in "(?s).*", limit in 0_usize..300) {
        let quoted = quote(&text, limit);
        prop_assert!(quoted.chars().count() <= limit);
        prop_assert!(!quoted.chars().any(char::is_control));
        for found in find(&text) {
            prop_assert!(text.get(found.start..found.end).is_some_and(|secret| !secret.is_empty()));
        }
    }
}

#[test]
fn parts_leave_room_for_the_last_and_are_masked_before_they_are_cut() {
    let parts =
        |texts: &[&str], limit| quote_parts(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), limit);
    assert_eq!(parts(&["POST /a → 404", ": {}", " → no such session"], 80), "POST /a → 404: {} → no such session");
    let long = "x".repeat(300);
    assert_eq!(parts(&[&long, &long, "the answer"], 40), format!("{}…{}…the answer", "x".repeat(19), "x".repeat(9)));
    assert_eq!(parts(&[&long], 40).chars().count(), 40, "what stands alone has all the room");
    let secret = format!("{{\"password\":\"{BODY}\"}}");
    for limit in 1..200 {
        let text = parts(&["POST /a", &secret, &secret], limit);
        assert!(!text.contains(&BODY[..4]) && text.chars().count() <= limit.max(1), "{limit}: {text}");
    }
}
