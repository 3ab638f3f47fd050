//! Values behind a key that are more than one: lists and objects, in JSON, YAML and what Go and Node print.
//!
//! It does not look for keys, and how far one value reaches is `value`.

use super::scan;
use super::secrets::Value;
use super::value::Context;
use super::{Scan, mask_end};

impl Scan<'_> {
    /// Whether an element of a YAML list begins here.
    pub(super) fn is_list_item(&self, at: usize) -> bool {
        self.bytes.get(at) == Some(&b'-') && matches!(self.bytes.get(at + 1), Some(b' '))
    }

    /// The elements of a YAML list, one on each line.
    pub(super) fn items(&mut self, mut at: usize, context: Context<'_>) {
        if at < self.container_end {
            return;
        }
        while self.is_list_item(at) {
            let mut item = scan::blanks(self.bytes, at + 1).0;
            let name = scan::run(self.bytes, item, scan::is_key_byte);
            if name > item && self.bytes.get(name) == Some(&b':') {
                // `- name: value`.
                item = scan::blanks(self.bytes, name + 1).0;
            }
            self.item(item, Context { value: Value::Word, ..context }, 1);
            at = scan::blanks(self.bytes, scan::line_end(self.bytes, item)).0;
        }
        self.container_end = at;
    }

    /// `["Bearer …", …]` of Go and Node, `[Bearer …]` of Go's maps, `[{"name": …}]` of HAR cookies.
    pub(super) fn list(&mut self, at: usize, context: Context<'_>, depth: usize) {
        let (mut at, _) = scan::blanks(self.bytes, at + 1);
        match self.bytes.get(at) {
            Some(b'{') if matches!(context.value, Value::Line | Value::Bag) => return self.container(at - 1, context),
            None | Some(b'{' | b']') => return,
            _ => {}
        }
        if scan::quote_at(self.bytes, at).is_none() {
            let context = Context { doubtful: context.doubtful && context.value != Value::Bag, ..context };
            if depth < 3 {
                self.item(at, context, depth + 1);
            }
            if context.value == Value::Bag {
                self.plain_list(at, context);
            }
            return;
        }
        while let Some(open) = scan::quote_at(self.bytes, at) {
            self.quoted(open, context);
            let Some(close) = scan::closing(self.bytes, open) else { return };
            let (next, _) = scan::blanks(self.bytes, close.end);
            if self.bytes.get(next) != Some(&b',') {
                return;
            }
            at = scan::blanks(self.bytes, next + 1).0;
        }
    }

    /// The further elements of `[a, b]`, which have no quotes.
    fn plain_list(&mut self, at: usize, context: Context<'_>) {
        if at < self.container_end {
            return;
        }
        let end = scan::line_end(self.bytes, at);
        let close = memchr::memchr(b']', self.bytes.get(at..end).unwrap_or_default()).map_or(end, |close| at + close);
        let mut from = at;
        while let Some(comma) = memchr::memchr(b',', self.bytes.get(from..close).unwrap_or_default()) {
            from = scan::blanks(self.bytes, from + comma + 1).0;
            self.consider(from, self.word_end(from).min(close).max(from), context, false);
        }
        self.container_end = close;
    }

    /// Masks the strings that are values inside a list or an object of cookies or secrets, up to its end.
    pub(super) fn container(&mut self, at: usize, context: Context<'_>) {
        if at < self.container_end {
            return;
        }
        let kind =
            Context { value: Value::Word, separated: true, doubtful: false, around: None, line: false, ..context };
        let mut depth = 0_usize;
        let mut at = at;
        while let Some(byte) = self.bytes.get(at) {
            if let Some(open) = scan::quote_at(self.bytes, at) {
                let Some(close) = scan::closing(self.bytes, open) else {
                    self.consider(open.end, self.bytes.len(), kind, true);
                    at = self.bytes.len();
                    break;
                };
                let is_name = self.bytes.get(scan::blanks(self.bytes, close.end).0) == Some(&b':');
                if !is_name && !self.is_cookie_attribute(open.start) {
                    self.consider(open.end, close.start, kind, true);
                }
                at = close.end;
                continue;
            }
            if let Some(end) = mask_end(self.text, at).or_else(|| self.member(at, context, kind)) {
                at = end;
                continue;
            }
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        self.container_end = at;
    }

    /// The value of `{name: word}` behind the colon at this place, as YAML and the console of Node write it; gives its
    /// end.
    fn member(&mut self, at: usize, context: Context<'_>, kind: Context<'_>) -> Option<usize> {
        let named = at > 0 && self.bytes.get(at - 1).is_some_and(|byte| scan::is_key_byte(*byte));
        if context.value != Value::Bag || self.bytes.get(at) != Some(&b':') || !named {
            return None;
        }
        let start = scan::blanks(self.bytes, at + 1).0;
        if matches!(self.bytes.get(start), None | Some(b'"' | b'\'' | b'`' | b'{' | b'[')) {
            return None;
        }
        let end = self.word_end(start);
        self.consider(start, end, kind, false);
        Some(end.max(at + 1))
    }

    /// Whether the string that opens here is the value of a cookie's name or attribute.
    fn is_cookie_attribute(&self, open: usize) -> bool {
        let colon = scan::blanks_before(self.bytes, open);
        let Some(colon) = colon.checked_sub(1).filter(|&at| self.bytes.get(at) == Some(&b':')) else { return false };
        let end = scan::blanks_before(self.bytes, colon);
        let end = scan::quote_before(self.bytes, end).map_or(end, |quote| quote.start);
        let length = self.bytes[..end].iter().rev().take(16).take_while(|byte| scan::is_key_byte(**byte)).count();
        let name = self.text.get(end - length..end).unwrap_or_default();
        ["name", "domain", "path", "expires", "sameSite", "comment"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    }
}
