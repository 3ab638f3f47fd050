//! The process of a run: whether it is the server's own, how it ended, and whether a kernel trace covers its life.
//!
//! Does not say what its end means for a call.

use super::facts::{Exit, RunFacts, Trace};
use crate::{
    correlate::{Strand, StrandFact},
    event::{PhaseEvent, ReachStage, RemarkKind, Witness},
    launcher,
};

impl RunFacts<'_> {
    /// A kernel trace covers the life of a process when it shows both its beginning and its end, and lost nothing.
    pub(super) fn read_trace(&mut self, strand: &Strand, traced: &mut Vec<u32>) {
        if strand.witness != Witness::Network || self.case.sources[strand.source as usize].lossy {
            return;
        }
        let find = |wanted: &[StrandFact]| {
            strand.events.iter().find(|event| wanted.contains(&event.what)).map(|event| event.mark)
        };
        let from = find(&[StrandFact::Step(PhaseEvent::Spawned)]);
        let to = find(&[StrandFact::Step(PhaseEvent::Exited), StrandFact::Signaled]);
        let ours = self
            .strands
            .iter()
            .any(|other| other.witness == Witness::Server && other.pids.iter().any(|pid| strand.pids.contains(pid)));
        // A child that the trace shows being made may have gone on without it.
        let of_source = || self.case.strands.iter().filter(|other| other.source == strand.source);
        let children = of_source().flat_map(|other| &other.events).any(|event| {
            event.what == StrandFact::Remark(RemarkKind::ChildProcess)
                && u32::try_from(event.number).is_ok_and(|parent| strand.pids.contains(&parent))
        });
        // A connection on which nothing more is recorded: what was written to it was not traced.
        let silent =
            self.case.contacts.iter().any(|contact| {
                contact.attempt.origin.source.0 == strand.source && contact.stage == ReachStage::Announced
            });
        // What ended the trace's view of the network ended it for the process, whichever thread it was.
        let blind = of_source()
            .flat_map(|other| &other.events)
            .any(|event| event.what == StrandFact::Remark(RemarkKind::LevelChanged));
        let network = strand.events.iter().any(|event| event.what == StrandFact::Remark(RemarkKind::NetworkTraced));
        if let (Some(from), Some(to), true) = (from, to, ours && network && !children && !silent && !blind) {
            self.trace = Some(Trace { from, to });
            traced.extend(&strand.pids);
        }
    }

    /// A program that could not be found is the server only where it is the one that was configured.
    pub(super) fn forget_other_programs(&mut self) {
        let named = |wanted: fn(StrandFact) -> bool| {
            let events = self.strands.iter().flat_map(|strand| &strand.events);
            let name = events.filter(|event| wanted(event.what)).find_map(|event| event.name)?;
            Some(launcher::name(self.case.name(name)))
        };
        let configured = named(|what| what == StrandFact::Step(PhaseEvent::SpawnRequested));
        let missing = named(|what| matches!(what, StrandFact::SpawnFailed(_)));
        if configured.zip(missing).is_some_and(|(configured, missing)| configured != missing) {
            self.spawn_failed = None;
        }
    }

    /// Whether the command of its process is on record, and starts no other one: then its end is the server's.
    pub(in crate::judge) fn is_its_own_process(&self) -> bool {
        let launches = [StrandFact::Step(PhaseEvent::Spawned), StrandFact::Step(PhaseEvent::SpawnRequested)];
        let mut events = self.strands.iter().filter(|strand| !strand.wrapper).flat_map(|strand| &strand.events);
        events.any(|event| launches.contains(&event.what) && event.name.is_some())
    }

    /// Whether its process ended without being told to by its client. One that exits with 0 had its input closed, as far
    /// as the witness of its end sees inputs being closed at all.
    pub(in crate::judge) fn ended_by_itself(&self) -> bool {
        let stopped = |exit: Exit| {
            self.stopped_by_client
                .is_some_and(|stop| stop.origin.source != exit.mark.origin.source || stop.origin < exit.mark.origin)
        };
        let closed = |exit: Exit| exit.code == Some(0) && exit.witness != Witness::Proxy;
        self.exited.is_some_and(|exit| !stopped(exit) && !closed(exit))
    }
}
