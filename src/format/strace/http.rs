//! HTTP/1 in the bytes of a system call, as far as strace shows them.

use nom::{
    Parser,
    bytes::complete::{tag, take},
    combinator::map_res,
    sequence::preceded,
};

use super::super::grammar::{Parsed, word};
use crate::{
    event::Pairs,
    jsonrpc,
    netloc::{self, Target},
};

/// Method and path of an HTTP/1 request head, pairs of a JSON body. What strace cut is not guessed.
pub(super) fn request(text: &str, cut: bool) -> (Option<&str>, Option<&str>, Pairs) {
    let line = text.split("\r\n").next().unwrap_or("");
    let method = text.split(' ').next().filter(|word| METHODS.contains(word));
    // A path is whole only where the version follows it.
    let target = netloc::request_line(line)
        .filter(|(method, _)| line.contains(" HTTP/") && *method != "CONNECT")
        .map(|(_, target)| Target::parse(target));
    let path = target.map(|target| target.path);
    let query = target.map_or(Pairs::default(), |target| Pairs::of_query(target.query));
    let body = if method.is_some() { text.split_once("\r\n\r\n").map_or("", |(_, body)| body) } else { text };
    let pairs = if cut || !body.starts_with('{') { None } else { jsonrpc::canonical(body).ok() };
    (method, path, pairs.map_or(query, |canonical| canonical.pairs))
}

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"];

/// Status of an HTTP/1 answer that begins with these bytes.
pub(super) fn status(text: &str) -> Option<u16> {
    let version = (tag("HTTP/1."), word, tag(" "));
    let status: Parsed<'_, _> = preceded(version, map_res(take(3_usize), str::parse)).parse(text);
    Some(status.ok()?.1)
}
