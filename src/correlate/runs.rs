//! Joins strands into runs: by run id, process, trace, session, endpoint; else where exactly one pair fits.
//!
//! A server's name never joins two strands. A join without a recorded key is marked inferred.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Correlator, Run, Strand, StrandFact,
    clocks::AGREED,
    fit::{Names, View, meet},
};
use crate::{
    event::{PhaseEvent, RemarkKind, Witness},
    symbol::Symbol,
    time::SECOND,
};

/// Clocks of one incident may differ by this much before a window no longer fits.
const SLACK: i64 = 2 * SECOND;

/// Sets of strands that belong together.
pub(super) struct Components(Vec<u32>);

impl Components {
    /// So many, each by itself.
    pub(super) fn of(count: usize) -> Self {
        Self((0..u32::try_from(count).expect("fewer than 2^32 members")).collect())
    }

    pub(super) fn root(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            self.0[at as usize] = self.0[self.0[at as usize] as usize];
            at = self.0[at as usize];
        }
        at
    }

    /// The lower root wins, so that the result does not depend on the order of joining.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

impl Correlator {
    pub(super) fn join_runs(&mut self) {
        let mut sets = Components::of(self.case.strands.len());
        self.join_by_run_id(&mut sets);
        self.join_by_pid(&mut sets);
        self.join_by_trace(&mut sets);
        self.join_by_session(&mut sets);
        self.join_by_endpoint(&mut sets);
        self.join_by_fit(&mut sets);
        self.join_sole(&mut sets);
        self.make_runs(&mut sets);
    }

    fn join_by_run_id(&mut self, sets: &mut Components) {
        let mut lives: FxHashMap<Symbol, u32> = FxHashMap::default();
        for strand in &self.case.strands {
            if let Some(run) = strand.run_id {
                let most = lives.entry(run).or_insert(1);
                *most = (*most).max(strand.life);
            }
        }
        let mut first: FxHashMap<(Symbol, u32), u32> = FxHashMap::default();
        for (index, strand) in (0_u32..).zip(&self.case.strands) {
            let Some(run) = strand.run_id else { continue };
            // A log that cannot tell the lives apart belongs to none of several.
            if lives[&run] > 1 && strand.life == 1 && strand.pids.is_empty() && !strand.saw_spawn() {
                continue;
            }
            match first.get(&(run, strand.life)) {
                Some(other) => sets.join(*other, index),
                None => {
                    first.insert((run, strand.life), index);
                }
            }
        }
    }

    fn join_by_pid(&mut self, sets: &mut Components) {
        let mut by_pid: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (index, strand) in (0_u32..).zip(&self.case.strands) {
            for pid in &strand.pids {
                by_pid.entry(*pid).or_default().push(index);
            }
        }
        let mut pids: Vec<_> = by_pid.into_iter().collect();
        pids.sort_unstable();
        for (_, strands) in pids {
            for pair in strands.windows(2) {
                let (a, b) = (&self.case.strands[pair[0] as usize], &self.case.strands[pair[1] as usize]);
                // Every container has a process 1, and one process does not log its calls twice.
                let two_logs =
                    a.witness == Witness::Server && b.witness == Witness::Server && a.has_calls() && b.has_calls();
                let other_run = a.run_id.is_some() && b.run_id.is_some() && (a.run_id, a.life) != (b.run_id, b.life);
                let known_apart = other_run || two_logs || Names::of(a).differ(&Names::of(b));
                if !known_apart && a.source != b.source && self.windows_meet(a, b) {
                    sets.join(pair[0], pair[1]);
                }
            }
        }
    }

    fn join_by_session(&mut self, sets: &mut Components) {
        let mut first: FxHashMap<Symbol, u32> = FxHashMap::default();
        for (index, strand) in (0_u32..).zip(&self.case.strands) {
            // A client's log may speak to several servers: its sessions do not make them one.
            if strand.witness == Witness::Client && strand.sessions.len() > 1 {
                continue;
            }
            for session in &strand.sessions {
                match first.get(session) {
                    Some(other) => sets.join(*other, index),
                    None => {
                        first.insert(*session, index);
                    }
                }
            }
        }
    }

    /// Requests without a session on an endpoint join the run of that endpoint if there is only one.
    fn join_by_endpoint(&mut self, sets: &mut Components) {
        let mut by_endpoint: FxHashMap<Symbol, Vec<u32>> = FxHashMap::default();
        for (index, strand) in (0_u32..).zip(&self.case.strands) {
            if let Some(endpoint) = strand.endpoint {
                by_endpoint.entry(endpoint).or_default().push(index);
            }
        }
        let mut endpoints: Vec<_> = by_endpoint.into_iter().collect();
        endpoints.sort_unstable();
        for (_, strands) in endpoints {
            let (plain, keyed): (Vec<u32>, Vec<u32>) =
                strands.iter().partition(|strand| self.case.strands[**strand as usize].sessions.is_empty());
            let roots: FxHashSet<u32> = keyed.iter().map(|strand| sets.root(*strand)).collect();
            let anchor = match (roots.len(), keyed.first()) {
                (1, Some(anchor)) => *anchor,
                (0, _) => plain[0],
                _ => continue,
            };
            for strand in plain {
                sets.join(anchor, strand);
            }
        }
    }

    /// Two components fit where their calls agree in order and their windows meet, and nothing else fits either of them.
    fn join_by_fit(&mut self, sets: &mut Components) {
        let members = self.members(sets);
        let roots: Vec<u32> = members.iter().map(|(root, _)| *root).collect();
        if self.case.sources.len() < 2 {
            return;
        }
        let views: Vec<View> = members.iter().map(|(_, strands)| self.view(strands)).collect();
        let mut fits = Self::fitting(&views, 0, |a, b| self.fits(a, b, 0));
        let loose = Self::fitting(&views, SLACK, |a, b| self.fits(a, b, SLACK));
        // Skew counts only for what overlaps nothing without it.
        let mut skewed = Vec::new();
        for a in 0..roots.len() {
            if fits[a].is_empty() {
                fits[a] = loose[a].iter().copied().filter(|b| fits[*b].is_empty()).collect();
                skewed.push(a);
            }
        }
        for a in skewed {
            for b in fits[a].clone() {
                if !fits[b].contains(&a) {
                    fits[b].push(a);
                }
            }
        }
        let mut known: FxHashSet<usize> = FxHashSet::default();
        let mut join = |fits: Vec<Vec<usize>>| {
            let cliques = self.cliques(fits).into_iter().filter(|set| set.iter().all(|one| !known.contains(one)));
            let cliques: Vec<Vec<usize>> = cliques.collect();
            for set in &cliques {
                for b in &set[1..] {
                    sets.join(roots[set[0]], roots[*b]);
                }
            }
            known.extend(cliques.into_iter().flatten());
        };
        join(fits);
        // Where clocks are off, two logs of one run may meet a third and miss each other: with the slack they all meet.
        join(loose);
        self.join_in_step(sets);
    }

    /// What is left of views whose clocks are further apart: two of which nothing else has the same pauses.
    fn join_in_step(&self, sets: &mut Components) {
        let members = self.members(sets);
        let views: Vec<View> = members.iter().map(|(_, strands)| self.view(strands)).collect();
        let fits = Self::fitting(&views, AGREED, |a, b| self.fits_in_step(a, b));
        for set in self.cliques(fits) {
            for b in &set[1..] {
                sets.join(members[set[0]].0, members[*b].0);
            }
        }
    }

    /// Several logs may show one run (client, tap, server): they must all fit one another and nothing else, so each of
    /// them sees the same set.
    fn cliques(&self, mut fits: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let mut sets_of: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (a, others) in fits.iter_mut().enumerate().filter(|(_, others)| !others.is_empty()) {
            // What fits comes from other sources: more of them than there are sources never fit one another.
            if others.len() < self.case.sources.len() {
                others.push(a);
                others.sort_unstable();
                others.dedup();
                sets_of.entry(std::mem::take(others)).or_default().push(a);
            }
        }
        sets_of.into_iter().filter(|(set, seeing)| set == seeing).map(|(set, _)| set).collect()
    }

    /// Which components fit which others when windows may miss each other by `slack`.
    fn fitting(views: &[View], slack: i64, fit: impl Fn(&View, &View) -> bool) -> Vec<Vec<usize>> {
        let mut fits = vec![Vec::new(); views.len()];
        // By the beginning of their windows, so that only what meets is compared; what has none meets everything.
        let mut order: Vec<usize> = (0..views.len()).collect();
        order.sort_by_key(|view| (views[*view].begin(), *view));
        for (place, a) in order.iter().enumerate() {
            let end = views[*a].end().saturating_add(slack);
            for b in order[place + 1..].iter().take_while(|b| views[**b].begin() <= end) {
                let apart = views[*a].sources.is_disjoint(&views[*b].sources);
                if apart && fit(&views[*a], &views[*b]) {
                    fits[*a].push(*b);
                    fits[*b].push(*a);
                }
            }
        }
        for list in &mut fits {
            list.sort_unstable();
        }
        fits
    }

    /// What is left (a client's text, a gateway's console) joins the only run there is.
    fn join_sole(&mut self, sets: &mut Components) {
        let members = self.members(sets);
        let (real, loose): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|(_, strands)| strands.iter().any(|strand| self.anchors(*strand)));
        match &real[..] {
            [(root, _)] => {
                for (other, _) in loose {
                    sets.join(*root, other);
                }
            }
            [(a, first), (b, second)] => {
                // One process without calls and one conversation without a process are two views of one run.
                let process =
                    |strands: &[u32]| strands.iter().any(|strand| self.case.strands[*strand as usize].saw_process());
                let calls =
                    |strands: &[u32]| strands.iter().any(|strand| self.case.strands[*strand as usize].has_calls());
                let complementary = (process(first) && !calls(first) && calls(second) && !process(second))
                    || (process(second) && !calls(second) && calls(first) && !process(first));
                let disjoint = first.iter().all(|x| {
                    second
                        .iter()
                        .all(|y| self.case.strands[*x as usize].source != self.case.strands[*y as usize].source)
                });
                if complementary && disjoint {
                    sets.join(*a, *b);
                    for (other, _) in loose {
                        sets.join(*a, other);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a strand shows a run by itself.
    fn anchors(&self, strand: u32) -> bool {
        let strand = &self.case.strands[strand as usize];
        strand.has_calls() || strand.run_id.is_some() || strand.saw_process()
    }

    fn members(&self, sets: &mut Components) -> Vec<(u32, Vec<u32>)> {
        let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for index in 0..u32::try_from(self.case.strands.len()).unwrap_or(u32::MAX) {
            members.entry(sets.root(index)).or_default().push(index);
        }
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_unstable();
        members
    }

    fn make_runs(&mut self, sets: &mut Components) {
        let mut members = self.members(sets);
        members.retain(|(_, strands)| strands.iter().any(|strand| self.anchors(*strand)));
        members.sort_by_key(|(_, strands)| strands.iter().map(|s| self.case.strands[*s as usize].first.origin).min());
        let mut lives: FxHashMap<Symbol, FxHashSet<u32>> = FxHashMap::default();
        for strand in &self.case.strands {
            if let Some(run) = strand.run_id {
                lives.entry(run).or_default().insert(strand.life);
            }
        }
        for (_, strands) in members {
            let number = u32::try_from(self.case.runs.len()).expect("fewer than 2^32 runs");
            let recorded = strands.iter().find_map(|strand| {
                let strand = &self.case.strands[*strand as usize];
                strand.run_id.map(|run| (run, strand.life))
            });
            let name = match recorded {
                Some((run, life)) if lives[&run].len() > 1 => format!("{}#{life}", self.case.name(run)),
                Some((run, _)) => self.case.name(run).to_owned(),
                None => format!("run-{}", number + 1),
            };
            let mut calls = Vec::new();
            for strand in &strands {
                self.case.strands[*strand as usize].run = number;
                calls.extend_from_slice(&self.case.strands[*strand as usize].calls);
            }
            for call in &calls {
                self.case.calls[*call as usize].run = number;
            }
            self.case.runs.push(Run { name, recorded: recorded.is_some(), strands, calls, contacts: Vec::new() });
        }
    }

    /// Whether the placed windows of two strands meet; windows without times always may.
    fn windows_meet(&self, a: &Strand, b: &Strand) -> bool {
        let window = |strand: &Strand| Some((self.case.placed(strand.first)?, self.case.placed(strand.last)?));
        match (window(a), window(b)) {
            (Some(a), Some(b)) => meet(a, b, SLACK),
            _ => true,
        }
    }
}

impl Strand {
    pub(super) fn saw_spawn(&self) -> bool {
        self.events.iter().any(|event| event.what == StrandFact::Step(PhaseEvent::Spawned))
    }

    /// Whether it shows the end of a process.
    pub(super) fn saw_end(&self) -> bool {
        let end = |what| matches!(what, StrandFact::Step(PhaseEvent::Exited) | StrandFact::Signaled);
        self.events.iter().any(|event| end(event.what))
    }

    /// Whether it shows a server process: its creation, its end, or its own start-up line.
    pub(super) fn saw_process(&self) -> bool {
        self.events.iter().any(|event| {
            matches!(
                event.what,
                StrandFact::Step(
                    PhaseEvent::SpawnRequested | PhaseEvent::Spawned | PhaseEvent::ExecutableReady | PhaseEvent::Exited
                ) | StrandFact::Signaled
                    | StrandFact::SpawnFailed(_)
                    | StrandFact::Remark(RemarkKind::ProcessStarted | RemarkKind::InstanceStart)
            )
        })
    }
}
