//! The block scalars of YAML: a secret on the lines below its key, raw, in a string of JSON, or behind the stamps of a log.
//!
//! It does not look for keys.

use super::value::Context;
use super::{Scan, scan};

impl Scan<'_> {
    /// A block scalar: the lines below that are indented like the first. Tells whether there is one.
    pub(super) fn block(&mut self, at: usize, context: Context<'_>) -> bool {
        let head = scan::run(self.bytes, at + 1, |byte| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b' ' | b'\r'));
        let Some(below) = scan::line_break(self.bytes, head) else { return false };
        let slashes = if self.bytes.get(head) == Some(&b'\\') { scan::slashes_at(self.bytes, head) } else { 0 };
        let line_start = scan::line_start(self.bytes, context.start);
        let (stamp, blanks) = self.stamp(line_start, context.start);
        let mut indent: &[u8] = &[];
        let mut lines: Vec<(usize, usize)> = Vec::new();
        let mut next = Some(below);
        while let Some(line) = next {
            let Some(text) = self.behind_stamp(line, stamp) else { break };
            let start = scan::run(self.bytes, text, |byte| matches!(byte, b' ' | b'\t'));
            let own = self.bytes.get(text..start).unwrap_or_default();
            let deeper = if lines.is_empty() { own.len() > blanks } else { own.starts_with(indent) };
            if !deeper || own.is_empty() {
                break;
            }
            if lines.is_empty() {
                indent = own;
            }
            let end = scan::line_end(self.bytes, start);
            let inside = self.string_end(start, end, slashes);
            lines.push((start, inside));
            next = if inside < end { None } else { scan::line_break(self.bytes, end) };
        }
        let Some((&(first, _), &(_, last))) = lines.first().zip(lines.last()) else { return true };
        if first >= self.plain_end {
            if stamp.is_empty() {
                lines = vec![(first, last)];
            }
            for (start, end) in lines {
                self.consider(start, end, context, true);
            }
            self.plain_end = last;
        }
        true
    }

    /// What stands before the key in its line, and how many blanks follow that. The indentation of a plain document is
    /// no stamp.
    fn stamp(&self, start: usize, key: usize) -> (&[u8], usize) {
        let head = self.bytes.get(start..key).unwrap_or_default();
        let blanks = head.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let stamp = &head[..head.len() - blanks];
        if stamp.first().is_some_and(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'[') {
            (stamp, blanks)
        } else {
            (&[], 0)
        }
    }

    /// The place behind a stamp of the same shape, digits aside, at the beginning of a line.
    fn behind_stamp(&self, line: usize, stamp: &[u8]) -> Option<usize> {
        let head = self.bytes.get(line..line + stamp.len())?;
        let same = |(a, b): (&u8, &u8)| a == b || a.is_ascii_digit() && b.is_ascii_digit();
        head.iter().zip(stamp).all(same).then_some(line + stamp.len())
    }

    /// The end of the string around, where the line ends with it: its quote has fewer backslashes than the line ends.
    pub(super) fn string_end(&self, start: usize, end: usize, slashes: usize) -> usize {
        let line = self.bytes.get(start..end).unwrap_or_default();
        let outer = |at: &usize| scan::slashes_before(self.bytes, start + at) < slashes;
        memchr::memchr_iter(b'"', line).find(outer).map_or(end, |at| {
            let quote = start + at;
            quote - scan::slashes_before(self.bytes, quote).min(at)
        })
    }
}
