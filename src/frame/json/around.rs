//! What stands around JSON documents and behind the point where one breaks: lines of text, wrappings, the next document.

use super::{Json, Scan, State};
use crate::{
    frame::{BOM, Lost, Output},
    notice::NoticeKind,
};

/// Text before the first document of a capture that is passed over in silence: a byte order mark, a JSONP call.
const LEAD: u64 = 4096;
/// Text after a document that is passed over in silence: the end of a JSONP call, a semicolon.
const TRAIL: u64 = 16;
/// Blanks between the opening brace of a document and its first key that are looked through after a break.
const BLANKS: usize = 32;

impl Json {
    /// Between values: blanks, commas and record separators (RFC 7464) are nobody's; a text line is a record.
    pub(super) fn outside_values(&mut self, scan: &mut Scan<'_>, out: &mut Output) {
        match scan.byte() {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x1e => scan.index += 1,
            0xef if !scan.last && scan.bytes.len() - scan.index < BOM.len() => {}
            0xef if scan.bytes[scan.index..].starts_with(BOM) => scan.index += BOM.len(),
            byte => {
                self.open = Some(scan.offset(out));
                self.line_end = None;
                self.goes_on = false;
                if matches!(byte, b'{' | b'[') {
                    self.opens(byte, scan, out);
                } else {
                    self.state = State::Line;
                }
            }
        }
    }

    /// What stands behind a value on its line decides whether it was one: `[INFO] text` is a line of text.
    pub(super) fn behind(&mut self, scan: &mut Scan<'_>, out: &mut Output) {
        let (end, here) = (self.end, scan.offset(out));
        match scan.byte() {
            b' ' | b'\t' | b'\r' if here - end < BLANKS as u64 => scan.index += 1,
            b'[' if here > end && self.line_end.is_none() => self.state = State::Line,
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b'{' | b'}' | b'[' | b']' | 0x1e => self.close_value(out),
            _ if self.line_end.is_none() => self.state = State::Line,
            _ => self.close_value(out),
        }
    }

    pub(super) fn close_value(&mut self, out: &mut Output) {
        self.state = State::Outside;
        if let Some(start) = self.open.take() {
            out.record(start, self.end, self.end);
        }
    }

    /// Around documents that hold the array: text is passed over up to an opening bracket.
    pub(super) fn outside_array(&mut self, scan: &mut Scan<'_>, out: &mut Output) {
        let opening = if self.path.is_some_and(<[_]>::is_empty) { b'[' } else { b'{' };
        let (length, starts) = scan.until(opening);
        let passed = &scan.bytes[scan.index..scan.index + length];
        let solid = passed.iter().filter(|byte| !byte.is_ascii_whitespace()).count() as u64;
        let junk = self.junk.get_or_insert((scan.offset(out), 0));
        junk.1 += solid;
        scan.index += length;
        if starts {
            self.found = false;
            self.begin = scan.offset(out);
            self.opens(opening, scan, out);
        }
    }

    /// A text line between values is complete.
    pub(super) fn close_line(&mut self, bytes: &[u8], end: u64, seen: u64, out: &mut Output) {
        if let Some(start) = self.open.take() {
            let back = bytes.len().min(usize::try_from(end.saturating_sub(out.base)).unwrap_or(0));
            let returns = bytes[..back].iter().rev().take_while(|byte| **byte == b'\r').count() as u64;
            out.record(start, end.saturating_sub(returns).max(start), seen);
        }
        self.state = State::Outside;
    }

    /// The text stops being JSON at this byte.
    pub(super) fn breaks(&mut self, scan: &mut Scan<'_>, out: &mut Output) {
        let at = scan.offset(out);
        self.stack.clear();
        self.matched = 0;
        self.hit = false;
        self.array = None;
        if self.path.is_none() {
            return self.value_breaks(at, scan, out);
        }
        if !self.found {
            // Nothing of this document was used: an opening brace in the text around the capture.
            let junk = self.junk.get_or_insert((at, 0));
            junk.1 += at - self.begin;
            self.state = State::Outside;
            return;
        }
        let start = self.open.take().unwrap_or(at);
        let record = if start < at { out.next() } else { out.next().saturating_sub(1).max(1) };
        if start < at {
            out.records += 1;
        }
        self.loss = Some(Lost { kind: NoticeKind::CutCapture, record, at, bytes: 0 });
        // The string that was read last may have swallowed the beginning of the next document.
        if self.text >= start && self.text < at && at - start <= out.max_record {
            scan.index = usize::try_from(self.text.saturating_sub(out.base)).unwrap_or(scan.index);
        }
        self.junk = Some((start, 0));
        self.state = State::Lost { fresh: false };
    }

    /// A value among values breaks. What is left of a line that stands alone is a record, as text; lines before are lost.
    fn value_breaks(&mut self, at: u64, scan: &mut Scan<'_>, out: &mut Output) {
        match self.line_end {
            None => self.state = State::Line,
            Some(end) if !self.goes_on => self.close_line(scan.bytes, end, at, out),
            Some(_) => self.lose_value(at, out),
        }
    }

    fn lose_value(&mut self, at: u64, out: &mut Output) {
        let start = self.open.take().unwrap_or(at);
        out.lost.push(Lost { kind: NoticeKind::CutCapture, record: out.next(), at, bytes: at - start });
        out.records += 1;
        self.state = State::Outside;
    }

    /// Looks for the next document after one that broke: an opening bracket at the beginning of a line, or one with the
    /// first key of the path behind it.
    pub(super) fn resume(&mut self, scan: &mut Scan<'_>, fresh: bool, out: &mut Output) {
        let path = self.path.unwrap_or_default();
        let opening = if path.is_empty() { b'[' } else { b'{' };
        let rest = &scan.bytes[scan.index..];
        let Some(index) = memchr::memchr(opening, rest) else {
            self.state = State::Lost { fresh: rest.last() == Some(&b'\n') };
            scan.index = scan.bytes.len();
            return;
        };
        let fresh = if index > 0 { rest[index - 1] == b'\n' } else { fresh };
        self.state = State::Lost { fresh };
        scan.index += index;
        let begins = fresh || {
            let behind = &rest[index + 1..];
            let blanks = behind.iter().take(BLANKS).take_while(|byte| byte.is_ascii_whitespace()).count();
            let behind = &behind[blanks..];
            match path.first() {
                None => false,
                Some(key) if behind.len() < key.len() + 2 && !scan.last && blanks < BLANKS => return,
                Some(key) => {
                    behind.first() == Some(&b'"')
                        && behind[1..].starts_with(key.as_bytes())
                        && behind.get(key.len() + 1) == Some(&b'"')
                }
            }
        };
        if begins {
            self.settle_loss(scan.offset(out), out);
            self.state = State::Outside;
        } else {
            self.state = State::Lost { fresh: false };
            scan.index += 1;
        }
    }

    fn settle_loss(&mut self, end: u64, out: &mut Output) {
        if let (Some(loss), Some((start, _))) = (self.loss.take(), self.junk.take()) {
            out.lost.push(Lost { bytes: end.saturating_sub(start), ..loss });
        }
    }

    /// Text around documents is counted as lost where there is too much of it to be a wrapping.
    pub(super) fn flush_junk(&mut self, end: u64, out: &mut Output) {
        if let Some((start, solid)) = self.junk.take() {
            let limit = if self.documents == 0 { LEAD } else { TRAIL };
            if solid > limit {
                let record = out.next();
                out.lost.push(Lost { kind: NoticeKind::NotJson, record, at: start, bytes: end - start });
            }
        }
    }

    /// Nothing comes any more.
    pub(super) fn ends(&mut self, bytes: &[u8], out: &mut Output) {
        let end = self.at;
        match (self.state, self.path) {
            (State::Outside, None) => {}
            (State::Behind, None) => self.close_value(out),
            (State::Line, None) => self.close_line(bytes, end, end, out),
            (State::Outside, Some(_)) if self.documents > 0 || self.junk.is_none_or(|junk| junk.1 == 0) => {
                self.flush_junk(end, out);
            }
            (State::Lost { .. }, _) => self.settle_loss(end, out),
            (_, None) => match self.line_end {
                None => self.close_line(bytes, end, end, out),
                Some(line_end) if !self.goes_on => self.close_line(bytes, line_end, end, out),
                Some(_) => self.lose_value(end, out),
            },
            (_, Some(_)) => {
                let start = self.open.take();
                let lost = start.or(self.junk.map(|junk| junk.0).filter(|_| !self.found)).unwrap_or(end);
                let record = out.next();
                out.lost.push(Lost { kind: NoticeKind::CutCapture, record, at: end, bytes: end - lost });
                out.records += u64::from(start.is_some());
            }
        }
    }
}
