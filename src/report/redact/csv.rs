//! Tables whose first line names the columns: the secrets of a column named so.
//!
//! A line counts as such a head only where the line below it has as many fields.

use super::secrets::Value;
use super::value::Context;
use super::words::{PROSE_VALUES, is_one_of};
use super::{Scan, scan};

/// What separates the fields of a table.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// Wider tables and longer heads are none.
const WIDEST: usize = 64;
const LONGEST_HEAD: usize = 1024;

impl<'t> Scan<'t> {
    /// Masks the columns of all tables.
    pub(super) fn tables(&mut self) {
        let mut at = 0;
        while at < self.bytes.len() {
            let end = scan::line_end(self.bytes, at);
            at = match scan::line_break(self.bytes, end) {
                Some(next) => self.table(self.string_start(at, end), end, next).unwrap_or(next),
                None if end < self.bytes.len() => end + 1,
                None => return,
            };
        }
    }

    /// The start of the string that the line ends in: a line end that is escaped is in one.
    fn string_start(&self, start: usize, end: usize) -> usize {
        let slashes = self.slashes(end);
        let line = self.bytes.get(start..end).unwrap_or_default();
        let outer = |at: &usize| scan::slashes_before(line, *at) < slashes;
        memchr::memchr_iter(b'"', line).rev().find(outer).map_or(start, |at| start + at + 1)
    }

    /// The backslashes of the line end at this place.
    fn slashes(&self, end: usize) -> usize {
        if self.bytes.get(end) == Some(&b'\\') { scan::slashes_at(self.bytes, end) } else { 0 }
    }

    /// The table whose head is this line. Gives its end.
    fn table(&mut self, start: usize, end: usize, next: usize) -> Option<usize> {
        let (separator, columns) = self.head(start, end)?;
        let width = self.fields(start, end, separator).len();
        let slashes = self.slashes(end);
        let mut row = Some(next);
        let mut below = None;
        while let Some(at) = row {
            let line_end = scan::line_end(self.bytes, at);
            let end = self.string_end(at, line_end, slashes);
            let next = scan::line_break(self.bytes, line_end).filter(|_| end == line_end);
            let fields = self.fields(at, end, separator);
            if fields.len() != width || fields.iter().all(|(start, end)| start == end) {
                break;
            }
            for (index, context) in &columns {
                let (start, end) = fields[*index];
                if !is_one_of(self.text.get(start..end).unwrap_or_default(), &PROSE_VALUES) {
                    self.consider(start, end, *context, false);
                }
            }
            below = Some(next.unwrap_or(self.bytes.len()));
            row = next;
        }
        below
    }

    /// The separator of a line that names columns, and those of its columns that hold a secret.
    fn head(&self, start: usize, end: usize) -> Option<(u8, Vec<(usize, Context<'t>)>)> {
        let line = self.bytes.get(start..end).filter(|line| line.len() <= LONGEST_HEAD)?;
        let separator = SEPARATORS.into_iter().find(|separator| line.contains(separator))?;
        let fields = self.fields(start, end, separator);
        let is_name = |&(start, end): &(usize, usize)| {
            let name = self.bytes.get(start..end).unwrap_or_default();
            let is = |byte: &u8| scan::is_key_byte(*byte) || *byte == b' ';
            name.len() <= 40 && name.iter().all(is) && !name.first().is_some_and(u8::is_ascii_digit)
        };
        if fields.len() < 2 || fields.len() > WIDEST || !fields.iter().all(is_name) {
            return None;
        }
        let column = |(index, &(start, end)): (usize, &(usize, usize))| {
            let context = self.column(start, end)?;
            (context.value != Value::Query).then_some((index, context))
        };
        let columns: Vec<_> = fields.iter().enumerate().filter_map(column).collect();
        (!columns.is_empty()).then_some((separator, columns))
    }

    /// The fields of a line without the blanks and quotes around them. One in quotes may hold the separator.
    fn fields(&self, start: usize, end: usize, separator: u8) -> Vec<(usize, usize)> {
        let mut fields = Vec::new();
        let mut at = start;
        while fields.len() <= WIDEST {
            let open = scan::run(self.bytes, at, |byte| byte == b' ').min(end);
            let quote = scan::quote_at(self.bytes, open).filter(|quote| quote.end <= end);
            let close = quote.and_then(|open| scan::closing(self.bytes, open)).filter(|close| close.end <= end);
            let from = close.map_or(at, |close| close.end);
            let stop = memchr::memchr(separator, self.bytes.get(from..end).unwrap_or_default()).map(|stop| from + stop);
            let (inner, outer) = match quote.zip(close) {
                Some((open, close)) => (open.end, close.start),
                None => (open, stop.unwrap_or(end)),
            };
            let inside = self.bytes.get(inner..outer).unwrap_or_default();
            let blank = inside.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\r')).count();
            fields.push((inner, (outer - blank.min(outer)).max(inner)));
            match stop {
                Some(stop) => at = stop + 1,
                None => break,
            }
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    #[test]
    fn the_head_tells_the_column() {
        for (text, masked) in [
            (
                "user,password,host\nbob,swordfish,h1\nal,mackerel,h2\n",
                "user,password,host\nbob,[redacted:password],h1\nal,[redacted:password],h2\n",
            ),
            ("id;user;passwort\n1;bob;\"sword;fish\"", "id;user;passwort\n1;bob;\"[redacted:password]\""),
            (
                "\"user\",\"api_key\"\r\n\"bob\",\"sword\"\r\n",
                "\"user\",\"api_key\"\r\n\"bob\",\"[redacted:api-key]\"\r\n",
            ),
            (
                "| user | secret |\n|---|---|\n| bob | sword |",
                "| user | secret |\n|---|---|\n| bob | [redacted:secret] |",
            ),
            (
                "{\"text\":\"user,password\\nbob,swordfish\\nal,mackerel\"}",
                "{\"text\":\"user,password\\nbob,[redacted:password]\\nal,[redacted:password]\"}",
            ),
        ] {
            assert_eq!(redact(text), masked);
            assert_eq!(redact(masked), masked);
        }
        for text in ["model,tokens,cost\nx,1200,3\n", "user, password, host\nare needed to log in", "a,token\n\n1,2"] {
            assert_eq!(redact(text), text);
        }
    }
}
