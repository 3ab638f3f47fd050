//! Joins the lines of a traceback and finds its root: the first block of a chain, the leaves of a group, the cause.
//!
//! Shapes: those of `CPython` 3.9 to 3.14 and of V8. What a root means is told by [`crate::clue::crash`].

use bumpalo::Bump;

use super::{LINE_LIMIT, TEXT_LIMIT, census::Told, place::Place};
use crate::{
    clue::crash::{self, Surroundings},
    event::{Event, Kind, Origin, TroubleKind, Witness},
    record::Sink,
};

/// The most leaves of a group that are told.
const LEAVES: usize = 8;

/// Whether a line belongs to the open traceback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It does, or it begins one.
    Taken,
    /// It ends the open one: close that, then offer the line again.
    Ended,
    /// It has nothing to do with a traceback.
    Foreign,
}

/// The traceback that is open.
#[derive(Debug, Default)]
pub(super) struct Traceback {
    state: State,
    roots: Vec<(Place, String)>,
    around: Surroundings,
    /// The block that is read was caused by one before it.
    chained: bool,
    /// Began with a headline: the stack of an error alone is none.
    headed: bool,
    /// Frames were seen.
    frames: bool,
    lines: Vec<Origin>,
    bytes: usize,
    last: u32,
    /// A statement was read from a line of it.
    told: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// Between headline and exception.
    Frames,
    /// Behind an exception.
    Behind,
}

impl Traceback {
    /// Whether a traceback is open.
    pub(super) fn is_open(&self) -> bool {
        self.state != State::Closed
    }

    /// Takes a line of free text.
    pub(super) fn push(&mut self, event: &Event<'_>, text: &str) -> Fit {
        let inner = without_gutter(text);
        let head = inner.ends_with("Traceback (most recent call last):") && !inner.starts_with(' ');
        if !self.is_open() {
            return self.begin(event, text, inner, head);
        }
        if self.lines.len() >= LINE_LIMIT as usize || self.bytes + text.len() > TEXT_LIMIT {
            return Fit::Ended;
        }
        let gutter = inner.len() != text.len() || is_rule(text);
        let next = match self.state {
            State::Frames => self.frame(event, text, inner, head || gutter),
            _ => self.behind(event, text, inner, head, gutter),
        };
        if !next {
            return Fit::Ended;
        }
        self.count(event, text);
        Fit::Taken
    }

    fn begin(&mut self, event: &Event<'_>, text: &str, inner: &str, head: bool) -> Fit {
        if head {
            self.state = State::Frames;
            self.headed = true;
        } else if crash::exception(inner).is_some_and(|(_, message)| !message.is_empty()) {
            // Node prints the error first and its stack behind it.
            self.state = State::Behind;
            self.root(event, inner);
        } else {
            return Fit::Foreign;
        }
        self.count(event, text);
        Fit::Taken
    }

    /// A line between headline and exception.
    fn frame(&mut self, event: &Event<'_>, text: &str, inner: &str, fits: bool) -> bool {
        self.around.environment |= text.contains("os.environ") || text.contains("<frozen os>");
        self.around.client |= text.contains("/mcp/client/");
        self.around.listening |= text.contains("in handle_get_stream");
        self.frames |= inner.contains("File \"");
        if is_rule(text) {
            self.chained = false;
            return true;
        }
        if !inner.starts_with(' ') && crash::exception(inner).is_some() {
            self.root(event, inner);
            self.state = State::Behind;
            return true;
        }
        fits || inner.starts_with([' ', '\t', '^', '~']) || inner.is_empty()
    }

    /// A line behind an exception: its further lines, its stack, its cause, or the next block.
    fn behind(&mut self, event: &Event<'_>, text: &str, inner: &str, head: bool, gutter: bool) -> bool {
        let line = inner.trim_start();
        if line.starts_with("The above exception was the direct cause")
            || line.starts_with("During handling of the above")
        {
            self.chained = true;
            self.state = State::Frames;
            return true;
        }
        if is_rule(text) {
            self.chained = false;
            self.state = State::Frames;
            return true;
        }
        if head {
            // Within a gutter the next member of a group; at the margin a new traceback.
            self.state = State::Frames;
            return gutter && text.trim_start().starts_with('|');
        }
        if let Some((_, cause)) = line.split_once("[cause]: ")
            && crash::exception(cause).is_some()
        {
            self.roots.clear();
            self.chained = false;
            self.root(event, cause);
            return true;
        }
        self.frames |= line.starts_with("at ");
        gutter || inner.starts_with([' ', '\t']) || matches!(inner, "}" | "]") || inner.starts_with("Node.js v")
    }

    /// Notes an exception, unless it was caused by one that is known or is the headline of a group.
    fn root(&mut self, event: &Event<'_>, line: &str) {
        let group = crash::exception(line).is_some_and(|(class, _)| class.ends_with("Group"));
        if !group && !self.chained && self.roots.len() < LEAVES {
            self.roots.push((Place::of(event), line.to_owned()));
        }
    }

    fn count(&mut self, event: &Event<'_>, text: &str) {
        self.lines.push(event.origin);
        self.bytes += text.len();
        self.last = event.origin.record.get();
    }

    /// Takes note of an event that is no free text; true when it ends the traceback.
    pub(super) fn passes(&mut self, event: &Event<'_>) -> bool {
        match self.state {
            State::Closed => false,
            State::Frames => {
                // The exception line itself said something.
                if event.origin.record.get() <= self.last + 1 {
                    self.state = State::Behind;
                    self.last = event.origin.record.get();
                    self.told = true;
                }
                false
            }
            State::Behind => {
                // The exception of a later block or of a further leaf may speak as well.
                let follows = self.told && event.origin.record.get() <= self.last + 1;
                !follows
            }
        }
    }

    /// Tells the roots, and whether its lines taught something.
    pub(super) fn close(&mut self, lines: &mut Vec<Told>, arena: &Bump, out: &mut dyn FnMut(&Event<'_>)) {
        let open = std::mem::take(self);
        let mut told = open.told;
        for (place, line) in &open.roots {
            let worth = open.headed || open.frames;
            told |= tell_root(line, place, open.around, worth, arena, out);
        }
        lines.extend(open.lines.into_iter().map(|line| (line, told)));
    }

    /// The root of a plain traceback whose lines are all there.
    pub(super) fn root_of(pieces: &[&str]) -> Option<String> {
        pieces
            .iter()
            .find(|piece| !piece.starts_with(' ') && crash::exception(piece).is_some())
            .map(|piece| (*piece).to_owned())
    }
}

/// Tells an exception that is certainly one.
pub(super) fn tell(line: &str, place: &Place, arena: &Bump, out: &mut dyn FnMut(&Event<'_>)) -> bool {
    tell_root(line, place, Surroundings::default(), true, arena, out)
}

/// Hands out trouble and contact of an exception. A lone line without a stack must say more than its class.
fn tell_root(
    line: &str,
    place: &Place,
    around: Surroundings,
    worth: bool,
    arena: &Bump,
    out: &mut dyn FnMut(&Event<'_>),
) -> bool {
    let mut body = place.body(line, arena);
    let Some((class, message)) = crash::exception(line) else {
        out(&body.event(Kind::Text(line)));
        return false;
    };
    let client = body.witness == Some(Witness::Client) || around.client && body.witness != Some(Witness::Server);
    if client {
        body.witness = Some(Witness::Client);
    }
    let (trouble, reach) = crash::diagnose(class, message, around, &body);
    if !worth && reach.is_none() && trouble.kind == TroubleKind::Other {
        out(&body.event(Kind::Text(line)));
        return false;
    }
    let mut sink = Sink::new();
    if let Some(reach) = reach.filter(|_| !(client && around.listening)) {
        crash::contact(reach, client, &body, &mut sink);
    }
    out(&body.event(Kind::Trouble(trouble)));
    for event in &sink.events {
        out(event);
    }
    true
}

/// The line without the bars of an exception group; the indentation behind them stays.
fn without_gutter(text: &str) -> &str {
    let line = text.trim_end();
    let inner = line.trim_start();
    if let Some(rest) = inner.strip_prefix("| ") {
        return rest;
    }
    inner.strip_prefix("+ ").filter(|rest| rest.starts_with("Exception Group")).unwrap_or(line)
}

/// The rules between the members of a group: `+-+---------------- 1 ----------------`.
fn is_rule(text: &str) -> bool {
    let line = text.trim();
    line.starts_with("+-") && line.bytes().all(|byte| matches!(byte, b'+' | b'-' | b' ' | b'.' | b'0'..=b'9'))
}
