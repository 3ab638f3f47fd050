use super::*;

#[test]
fn sample_lines() {
    let Ok(path) = std::env::var("REDACT_FILE") else { return };
    let text = String::from_utf8_lossy(&std::fs::read(path).expect("readable")).into_owned();
    let out = redact(&text);
    std::fs::write("/tmp/redact.out", out.as_bytes()).expect("writable");
    for found in find(&text) {
        println!("{} {} {:?}", found.kind, found.sure, &text[found.start..found.end]);
    }
}
