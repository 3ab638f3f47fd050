//! How much a kernel trace shows: what ends its view of the processes is told once for each of them.
//!
//! Follows no descriptor.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{super::place::Place, LIMIT, remark};
use crate::{
    event::{Call, Event, Kind, RemarkKind, Syscall},
    time::{SECOND, Timestamp},
};

/// What was seen of the threads of a trace, and what is no longer seen.
#[derive(Debug, Default)]
pub(super) struct Sight {
    /// Threads that did something.
    shown: FxHashSet<u32>,
    /// Threads that strace follows, or that another one made, and where that is told.
    followed: BTreeMap<u32, Place>,
    /// Processes of which it was told that not everything is seen.
    lost: FxHashSet<u32>,
    last: Option<Timestamp>,
}

impl Sight {
    /// Whether the trace has begun.
    pub(super) fn begun(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Takes a line of the trace.
    pub(super) fn line(&mut self, event: &Event<'_>, process: u32, line: Syscall<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        if let Some(stamp) = event.at {
            // Threads are written in order, so a clock that goes back was set, or lines are missing.
            if self.last.is_some_and(|last| last.0.saturating_sub(stamp.at.0) > SECOND) {
                self.lost(event, process, "a clock that goes back", out);
            }
            self.last = Some(stamp.at);
        }
        match line.call {
            Call::Attached => self.follow(line.thread, event),
            Call::Hidden(name) => self.lost(event, process, name, out),
            Call::Opened { door: true, .. } => {
                self.lost(event, process, "a device, or a place of another program", out);
            }
            call => {
                if let Call::Clone { child, thread: true } = call {
                    self.follow(child, event);
                }
                if self.shown.len() < LIMIT {
                    self.shown.insert(line.thread);
                }
            }
        }
    }

    /// Whether threads are no longer followed.
    pub(super) fn is_full(&self) -> bool {
        self.followed.len() >= LIMIT
    }

    fn follow(&mut self, thread: u32, event: &Event<'_>) {
        if self.followed.len() < LIMIT {
            self.followed.insert(thread, Place::of(event));
        }
    }

    /// What a process does is no longer shown whole from here on.
    pub(super) fn lost(&mut self, event: &Event<'_>, process: u32, why: &str, out: &mut dyn FnMut(&Event<'_>)) {
        // Where no more processes are kept apart it is told each time.
        if self.lost.len() >= LIMIT || self.lost.insert(process) {
            remark(event, process, RemarkKind::LevelChanged, Some(why), out);
        }
    }

    /// At the end of the trace: a thread that was followed and never showed did what nobody saw.
    pub(super) fn end(&mut self, out: &mut dyn FnMut(&Event<'_>)) {
        let silent = std::mem::take(&mut self.followed).into_iter().filter(|(thread, _)| !self.shown.contains(thread));
        if let Some((thread, place)) = silent.min_by_key(|(_, place)| place.origin) {
            let arena = bumpalo::Bump::new();
            let event = place.body("", &arena).event(Kind::Text(""));
            remark(&event, thread, RemarkKind::LevelChanged, Some("a thread without a line"), out);
        }
    }
}
