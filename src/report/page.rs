//! A page for a terminal: lines in colors, paragraphs, headings, rows of tables.
//!
//! It knows no words of the report.

use std::io;

use super::{
    Style,
    layout::{Grid, paragraph},
};
use crate::judge::Caution;

/// The narrowest and the widest page.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=80;

/// The color of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Head,
    Good,
    Doubt,
    Bad,
    Faint,
}

impl Tone {
    /// The color of a retry verdict.
    pub(super) fn of_retry(retry: Caution) -> Self {
        match retry {
            Caution::Safe => Self::Good,
            Caution::SafeIf | Caution::Unknown => Self::Doubt,
            Caution::Unsafe => Self::Bad,
        }
    }

    /// Parameters of the ANSI sequence SGR.
    fn sgr(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Head => "1",
            Self::Good => "32",
            Self::Doubt => "33",
            Self::Bad => "31",
            Self::Faint => "2",
        }
    }
}

/// The lines so far.
#[derive(Debug)]
pub(super) struct Page {
    lines: Vec<String>,
    pub(super) width: usize,
    color: bool,
}

impl Page {
    /// An empty page as wide as the style says.
    pub(super) fn new(style: Style) -> Self {
        let width = usize::from(style.width).clamp(*WIDTHS.start(), *WIDTHS.end());
        Self { lines: Vec::new(), width, color: style.color }
    }

    /// Writes the lines and forgets them.
    pub(super) fn write(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        for line in self.lines.drain(..) {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    pub(super) fn put(&mut self, tone: Tone, line: &str) {
        let line = line.trim_end();
        if self.color && tone != Tone::Plain && !line.is_empty() {
            self.lines.push(format!("\x1b[{}m{line}\x1b[0m", tone.sgr()));
        } else {
            self.lines.push(line.to_owned());
        }
    }

    pub(super) fn head(&mut self, text: &str) {
        if !self.lines.is_empty() {
            self.put(Tone::Plain, "");
        }
        self.put(Tone::Head, &text.to_uppercase());
    }

    /// A paragraph: `first` in front of the first line, blanks in front of the others.
    pub(super) fn text(&mut self, tone: Tone, first: &str, next: usize, text: &str) {
        for line in paragraph(first, next, text, self.width) {
            self.put(tone, &line);
        }
    }

    pub(super) fn table_head(&mut self, grid: &Grid, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.row(grid, &names, Tone::Head);
        self.put(Tone::Faint, &grid.rule());
    }

    pub(super) fn row(&mut self, grid: &Grid, cells: &[String], tone: Tone) {
        for line in grid.row(cells) {
            self.put(tone, &line);
        }
    }
}
