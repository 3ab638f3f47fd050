//! Private keys in PEM (RFC 7468): whole, cut, or with each line in a record of its own.
//!
//! The end of a key whose beginning is missing is a pattern of the table.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::secrets::name;
use super::{Found, Scan, regex};

static BEGIN_PRIVATE_KEY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}(?:-----)?"));

/// A word of base64.
static BASE64: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z0-9+/]{2,}={0,2}"));

impl Scan<'_> {
    /// The body of a PEM private key: up to its end mark, else to the end of the string or text around it.
    pub(super) fn private_keys(&mut self) {
        let mut done = 0;
        let mut last_end = None;
        for begin in BEGIN_PRIVATE_KEY.find_iter(self.bytes) {
            let rest = &self.text[begin.end()..];
            let last = *last_end.get_or_insert_with(|| self.text.rfind("-----END").unwrap_or_default());
            if begin.start() < done || rest.is_empty() {
                continue;
            }
            let end = if last >= begin.end() { rest.find("-----END") } else { rest.find(['"', '\'', '`', '<']) };
            done = end.map_or(self.text.len(), |end| begin.end() + end);
            let body = self.text[begin.end()..done].trim_end_matches('\\');
            if !super::is_masked(body) && !body.trim_matches(['\\', 'n', 'r', ' ', '\n', '\r']).is_empty() {
                let (start, end) = (begin.end(), begin.end() + body.len());
                self.found.push(Found { start, end, kind: name::PRIVATE_KEY, sure: true });
            }
            if last < begin.end() {
                done = self.key_lines(begin.start()).max(done);
            }
        }
    }

    /// The lines of a key that goes on in the records below, each with its own stamp or in its own string. Gives the end
    /// of the last.
    fn key_lines(&mut self, begin: usize) -> usize {
        let mut line = memchr::memrchr(b'\n', &self.bytes[..begin]).map_or(0, |end| end + 1);
        let column = begin - line;
        let mut done = begin;
        while let Some(end) = memchr::memchr(b'\n', &self.bytes[line..]) {
            line += end + 1;
            let length = memchr::memchr(b'\n', &self.bytes[line..]).unwrap_or(self.bytes.len() - line);
            let Some((start, end)) = key_line(&self.bytes[line..line + length], column) else { break };
            let (start, end) = (line + start, line + end);
            self.found.push(Found { start, end, kind: name::PRIVATE_KEY, sure: true });
            done = end;
        }
        done
    }
}

/// The base64 of a line of a key: where its first line began, else the longest that looks like one.
fn key_line(line: &[u8], column: usize) -> Option<(usize, usize)> {
    if memchr::memmem::find(line, b"-----").is_some() {
        return None;
    }
    let words = || BASE64.find_iter(line).map(|word| (word.start(), word.end()));
    let longest = || words().max_by_key(|(start, end)| end - start);
    let is_key = |&(start, end): &(usize, usize)| {
        end - start >= 16 && str::from_utf8(&line[start..end]).is_ok_and(super::shape::is_mixed)
    };
    words().find(|(start, _)| *start == column).or_else(|| longest().filter(is_key))
}

#[cfg(test)]
mod tests {
    use super::super::{MASK, quote_behind};

    const BODY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

    #[test]
    fn a_key_may_be_a_line_in_each_record() {
        for (head, tail) in [
            ("", ""),
            ("2026-01-01T00:00:00Z INFO ", ""),
            ("{\"ts\":\"2026-01-01\",\"msg\":\"", "\",\"n\":1}"),
            ("{\"msg\":\"", "\\n\"}"),
        ] {
            let line = |text: &str| format!("{head}{text}{tail}\n");
            let before = [line("-----BEGIN PRIVATE KEY-----"), line(BODY)].concat();
            for body in [BODY, "kq7Xa2", "abc="] {
                let shown = quote_behind(&before, &line(body), 400);
                assert!(shown.contains(MASK) && !shown.contains(body), "{shown}");
            }
            let before = [before, line("-----END PRIVATE KEY-----")].concat();
            let shown = quote_behind(&before, &line("started"), 400);
            assert_eq!(shown, super::super::quote(&line("started"), 400));
            // Further from its beginning than a quote looks, the width tells.
            let shown = quote_behind("", &line(BODY), 400);
            assert!(!shown.contains(BODY), "{shown}");
        }
    }
}
