//! Gives the phases of an outbound request (httpcore, `curl -v`) the target that only their first line names.
//!
//! Only where all connections that the writer announced go to one target: a wrong target is worse than none.

use super::place::Place;
use crate::event::{Event, Kind, Reach, ReachSource, ReachStage};

/// The announced target of a stream, and an answer that waits for the line with its full address.
#[derive(Debug, Default)]
pub(super) struct Targets {
    only: Option<Box<str>>,
    several: bool,
    held: Option<(Place, u16)>,
}

impl Targets {
    /// Whether an answer is held back.
    pub(super) fn is_open(&self) -> bool {
        self.held.is_some()
    }

    /// Takes any event and hands it on.
    pub(super) fn push(&mut self, event: &Event<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        let Kind::Reach(reach) = event.kind else {
            self.flush(out);
            return out(event);
        };
        if reach.vouched != ReachSource::LibraryLine {
            self.flush(out);
            return out(event);
        }
        if self.same_answer(&reach) {
            // httpx repeats the status that httpcore told a line before, with the whole address.
            self.held = None;
        }
        self.flush(out);
        if reach.stage == ReachStage::Announced && !reach.target.contains("://") {
            self.announced(reach.target);
        }
        if !reach.target.is_empty() {
            return out(event);
        }
        match reach.status.filter(|_| reach.stage == ReachStage::Answered) {
            Some(status) if reach.method.is_none() => self.held = Some((Place::of(event), status)),
            _ => out(&Event { kind: Kind::Reach(Reach { target: self.target(), ..reach }), ..*event }),
        }
    }

    /// Hands out an answer that was held back.
    pub(super) fn flush(&mut self, out: &mut dyn FnMut(&Event<'_>)) {
        if let Some((place, status)) = self.held.take() {
            let arena = bumpalo::Bump::new();
            let reach = Reach::new(ReachStage::Answered, ReachSource::LibraryLine, self.target());
            out(&place.body("", &arena).event(Kind::Reach(Reach { status: Some(status), ..reach })));
        }
    }

    fn target(&self) -> &str {
        self.only.as_deref().filter(|_| !self.several).unwrap_or("")
    }

    fn announced(&mut self, target: &str) {
        match &self.only {
            Some(only) => self.several |= **only != *target,
            None => self.only = Some(target.into()),
        }
    }

    fn same_answer(&self, reach: &Reach<'_>) -> bool {
        let Some((_, status)) = self.held else {
            return false;
        };
        reach.stage == ReachStage::Answered && reach.status == Some(status) && reach.target.contains("://")
    }
}
