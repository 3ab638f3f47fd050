//! Text in columns: width, wrapping, cutting, rows of a table with fixed columns.
//!
//! It knows no words of the report. Every line that leaves is at most as wide as asked for.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use unicode_width::UnicodeWidthChar;

/// Where a word that is too long may be broken.
const BREAKS: &[char] = &['/', '_', '-', '.', ',', ':', ';', '=', '&', '?', '}', ')'];

/// Columns that a character takes at most. The emoji selector may widen the sign before it.
fn columns(char: char) -> usize {
    if char == '\u{fe0f}' { 1 } else { char.width().unwrap_or(1) }
}

/// Columns that a text takes at most.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The bytes of the longest beginning of `text` that fits.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, char) in text.char_indices() {
        used += columns(char);
        if used > width {
            return at;
        }
    }
    text.len()
}

/// The beginning of a text, closed with an ellipsis where it does not fit.
pub(super) fn cut(text: &str, width: usize) -> String {
    if fitting(text, width) == text.len() {
        return text.to_owned();
    }
    let end = fitting(text, width.saturating_sub(1));
    let mut out = text.get(..end).unwrap_or_default().trim_end().to_owned();
    if width > 0 {
        out.push('…');
    }
    out
}

/// The end of a text, opened with an ellipsis where it does not fit: for paths.
pub(super) fn cut_left(text: &str, width: usize) -> String {
    if fitting(text, width) == text.len() {
        return text.to_owned();
    }
    let mut used = 1;
    let mut kept: Vec<char> = Vec::new();
    for char in text.chars().rev() {
        used += columns(char);
        if used > width {
            break;
        }
        kept.push(char);
    }
    std::iter::once('…').chain(kept.into_iter().rev()).take(width.max(1)).collect()
}

/// Breaks a text into lines at blanks, and words that are too long where they may be broken.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_behind(text, width, width)
}

/// The same with another width for the first line. A first line too narrow for its first word stays empty.
fn wrap_behind(text: &str, first: usize, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut limit = first;
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut rest = word;
        while !rest.is_empty() {
            let blank = usize::from(!line.is_empty());
            let needs = self::width(rest);
            if used + blank + needs <= limit {
                if blank == 1 {
                    line.push(' ');
                }
                line.push_str(rest);
                used += blank + needs;
                break;
            }
            if !line.is_empty() || lines.is_empty() && first < width {
                lines.push(std::mem::take(&mut line));
                (used, limit) = (0, width);
                continue;
            }
            let end = break_at(rest, limit);
            let (piece, after) = rest.split_at(end);
            lines.push(piece.to_owned());
            limit = width;
            rest = after;
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Where a word that does not fit is broken: behind a sign in its second half, else where the line is full.
fn break_at(word: &str, width: usize) -> usize {
    let full = fitting(word, width).max(word.chars().next().map_or(0, char::len_utf8));
    let head = word.get(..full).unwrap_or(word);
    let sign = head.rfind(BREAKS).and_then(|at| Some(at + head.get(at..)?.chars().next()?.len_utf8()));
    sign.filter(|at| *at * 2 > full && *at < word.len()).unwrap_or(full)
}

/// Lines of a paragraph: the first behind `first`, the others behind as many blanks as `next` says.
pub(super) fn paragraph(first: &str, next: usize, text: &str, width: usize) -> Vec<String> {
    let lines = wrap_behind(text, width.saturating_sub(self::width(first)), width.saturating_sub(next));
    let blanks = " ".repeat(next);
    lines
        .iter()
        .enumerate()
        .map(|(at, line)| if at == 0 { format!("{first}{line}") } else { format!("{blanks}{line}") })
        .collect()
}

/// At most so many lines; the last one shows that more would follow.
pub(super) fn at_most(mut lines: Vec<String>, count: usize, width: usize) -> Vec<String> {
    if lines.len() > count {
        lines.truncate(count);
        if let Some(last) = lines.last_mut() {
            *last = format!("{}…", cut(last, width.saturating_sub(1)).trim_end_matches('…'));
        }
    }
    lines
}

/// A table with fixed columns.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    widths: Vec<usize>,
    indent: usize,
}

impl Grid {
    /// Columns of the given widths with a blank between them. Where they do not fit, the widest give way.
    pub(super) fn new(widths: &[usize], indent: usize, total: usize) -> Self {
        let mut widths = widths.to_vec();
        let room = total.saturating_sub(indent + widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max_by_key(|width| **width).filter(|width| **width > 3) else { break };
            *widest -= 1;
        }
        Self { widths, indent }
    }

    /// The width of a column.
    pub(super) fn width(&self, column: usize) -> usize {
        self.widths.get(column).copied().unwrap_or_default()
    }

    /// The lines of one row.
    pub(super) fn row(&self, cells: &[String]) -> Vec<String> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(self.widths.iter().sum::<usize>() + self.widths.len()).unwrap_or(u16::MAX));
        let cells = self.widths.iter().zip(cells);
        table.add_row(cells.map(|(width, cell)| {
            let lines = cell.lines().flat_map(|line| wrap(line, *width));
            lines.collect::<Vec<_>>().join("\n")
        }));
        for (column, width) in table.column_iter_mut().zip(&self.widths) {
            let width = u16::try_from(width + 1).unwrap_or(u16::MAX);
            column.set_padding((0, 1)).set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        }
        let indent = " ".repeat(self.indent);
        table.lines().map(|line| format!("{indent}{}", line.trim_end())).collect()
    }

    /// A line under the head.
    pub(super) fn rule(&self) -> String {
        let dashes: Vec<String> = self.widths.iter().map(|width| "─".repeat(*width)).collect();
        format!("{}{}", " ".repeat(self.indent), dashes.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_words_break_behind_a_sign() {
        assert_eq!(wrap("tool_call_received", 12), ["tool_call_", "received"]);
        assert_eq!(wrap("no answer at all", 9), ["no answer", "at all"]);
        assert_eq!(wrap("", 9), [""]);
    }

    #[test]
    fn paths_keep_their_end() {
        assert_eq!(cut_left("/srv/lab/client.log:12", 15), "…/client.log:12");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 5), "日本…");
    }

    #[test]
    fn rows_have_columns() {
        let grid = Grid::new(&[4, 10, 6], 2, 80);
        assert_eq!(
            grid.row(&["c3".into(), "tool_call_received".into(), "x".into()]),
            ["  c3   tool_call_ x", "       received"]
        );
        assert_eq!(grid.rule(), "  ──── ────────── ──────");
    }

    proptest! {
        #[test]
        fn nothing_is_too_wide(text in "\\PC{0,80}|[a-z日本✅❤\u{fe0f} /_]{0,80}", width in 4_usize..40) {
            for line in wrap(&text, width) {
                prop_assert!(self::width(&line) <= width);
            }
            prop_assert!(self::width(&cut(&text, width)) <= width);
            prop_assert!(self::width(&cut_left(&text, width)) <= width);
            let grid = Grid::new(&[width, 5, 20], 2, 60);
            for line in grid.row(&[text.clone(), "x".into(), text.clone()]) {
                prop_assert!(unicode_width::UnicodeWidthStr::width(line.as_str()) <= 60);
            }
        }
    }
}
