//! Joins the lines of a kernel trace (strace) into steps of processes and contacts with the outside.
//!
//! Keeps which descriptor of which process goes where. Local sockets and name resolution are left out.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{TEXT_LIMIT, place::Place};
use crate::{
    event::{Call, CallKey, Event, Keys, Kind, PhaseEvent, Remark, RemarkKind, Step, StepDetail, Syscall},
    format,
    record::{Record, Sink},
};
use connection::Connection;
use sight::Sight;

mod connection;
mod sight;

/// The most connections, threads and cut calls that are followed at once.
const LIMIT: usize = 65_536;

/// The processes of a trace.
#[derive(Debug, Default)]
pub(super) struct Syscalls {
    /// The process of each thread that is not its own.
    threads: FxHashMap<u32, u32>,
    /// Processes made by another one that was seen.
    children: FxHashMap<u32, u32>,
    /// Processes whose first program was told.
    started: FxHashSet<u32>,
    /// Processes of which a call of the network was seen.
    network: FxHashSet<u32>,
    /// Connections by process and descriptor, ordered: what is told at an end must come in a stable order.
    connections: BTreeMap<(u32, i32), Connection>,
    /// Descriptors whose other end stays on this host by its nature.
    local: BTreeSet<(u32, i32)>,
    /// Descriptors that were made, or were free, in the trace: any other was handed down and may go anywhere.
    own: FxHashSet<(u32, i32)>,
    /// Numbers of the standard streams that became copies of descriptors that were handed down.
    replaced: FxHashSet<(u32, i32)>,
    /// Files that were opened for writing.
    files: BTreeSet<(u32, i32)>,
    /// How much of what the processes do the trace shows.
    sight: Sight,
    /// Calls that wait for their rest, by thread.
    cut: FxHashMap<u32, (Place, String)>,
}

impl Syscalls {
    /// Takes one line.
    pub(super) fn push(&mut self, event: &Event<'_>, line: Syscall<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        let process = self.process(line.thread);
        self.sight.line(event, process, line, out);
        if self.is_full() {
            self.sight.lost(event, process, "more threads and connections than are followed", out);
        }
        match line.call {
            Call::Unfinished(text) => {
                if text.len() <= TEXT_LIMIT && self.cut.len() < LIMIT {
                    self.cut.insert(line.thread, (Place::of(event), text.to_owned()));
                }
            }
            Call::Resumed(rest) => {
                if let Some((place, text)) = self.cut.remove(&line.thread) {
                    self.joined(line.thread, &place, &[&text, rest].concat(), out);
                }
            }
            Call::Exited(_) | Call::Killed(_) => self.ended(event, line, process, out),
            Call::Exec { program, ok: true } => self.exec(event, process, program, out),
            Call::Clone { child, thread } => self.cloned(event, process, child, thread, out),
            Call::Opened { fd, .. } => self.note_file(process, fd),
            Call::FileChanged => file_written(event, process, out),
            call => self.socket(event, process, call, out),
        }
    }

    /// Whether something of the trace may not be followed any more.
    fn is_full(&self) -> bool {
        let processes = self.threads.len() + self.children.len();
        let counts = [processes, self.connections.len(), self.cut.len(), self.network.len(), self.replaced.len()];
        counts.into_iter().any(|count| count >= LIMIT) || self.sight.is_full()
    }

    /// Tells what is still open. A trace that ends says nothing about the ends of its processes.
    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&Event<'_>)) {
        let mut threads: Vec<u32> = self.cut.keys().copied().collect();
        threads.sort_unstable();
        for thread in threads {
            self.give_up(thread, out);
        }
        for mut connection in std::mem::take(&mut self.connections).into_values() {
            connection.end(out);
        }
        self.sight.end(out);
    }

    /// Whether a text stands where the trace should have a line.
    pub(super) fn is_damaged_by(&self, text: &str) -> bool {
        self.sight.begun() && !text.trim().is_empty()
    }

    /// A line that is none of the trace's: one may be lost in it.
    pub(super) fn damaged(&mut self, event: &Event<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        self.sight.lost(event, 0, "a damaged line", out);
    }

    /// The connections of a process.
    fn descriptors(&self, process: u32) -> Vec<(u32, i32)> {
        self.connections.range((process, i32::MIN)..=(process, i32::MAX)).map(|(key, _)| *key).collect()
    }

    /// The local descriptors of a process.
    fn locals(&self, process: u32) -> impl Iterator<Item = (u32, i32)> {
        self.local.range((process, i32::MIN)..=(process, i32::MAX)).copied()
    }

    fn process(&self, thread: u32) -> u32 {
        self.threads.get(&thread).copied().unwrap_or(thread)
    }

    /// Reads a call that was cut, as the format of the trace reads it whole.
    fn joined(&mut self, thread: u32, place: &Place, call: &str, out: &mut dyn FnMut(&Event<'_>)) {
        let Some(strace) = format::named("strace") else {
            return;
        };
        let arena = bumpalo::Bump::new();
        let text = arena.alloc_str(&format!("{thread} {call}"));
        let record = Record { origin: place.origin, text, arena: &arena };
        let mut sink = Sink::new();
        if (strace.decode)(&record, &mut sink) {
            for event in &sink.events {
                if let Kind::Syscall(line) = event.kind
                    && !matches!(line.call, Call::Unfinished(_) | Call::Resumed(_))
                {
                    self.push(&Event { kind: event.kind, ..place.body("", &arena).event(event.kind) }, line, out);
                }
            }
        }
    }

    /// A call that never came back: its bytes may have gone out.
    fn give_up(&mut self, thread: u32, out: &mut dyn FnMut(&Event<'_>)) {
        if let Some((place, text)) = self.cut.remove(&thread) {
            self.joined(thread, &place, &[text.trim_end(), ") = ?"].concat(), out);
        }
    }

    /// A thread ended; with the leader the process did.
    fn ended(&mut self, event: &Event<'_>, line: Syscall<'_>, process: u32, out: &mut dyn FnMut(&Event<'_>)) {
        self.give_up(line.thread, out);
        self.threads.remove(&line.thread);
        if process != line.thread {
            return;
        }
        for key in self.descriptors(process) {
            if let Some(mut connection) = self.connections.remove(&key) {
                connection.end(out);
            }
        }
        let local: Vec<_> = self.locals(process).collect();
        for key in local {
            self.local.remove(&key);
        }
        let files: Vec<_> = self.files.range((process, i32::MIN)..=(process, i32::MAX)).copied().collect();
        for key in files {
            self.files.remove(&key);
        }
        self.started.remove(&process);
        if self.children.remove(&process).is_some() {
            // The end of a helper is not the end of a server.
            return;
        }
        let detail = match line.call {
            Call::Exited(code) => StepDetail::Exit { code: Some(code), signal: None },
            Call::Killed(signal) => StepDetail::Exit { code: None, signal: Some(signal) },
            _ => StepDetail::Exit { code: None, signal: None },
        };
        step(event, process, PhaseEvent::Exited, detail, out);
    }

    fn exec(&mut self, event: &Event<'_>, process: u32, program: &str, out: &mut dyn FnMut(&Event<'_>)) {
        if self.children.contains_key(&process) || self.started.contains(&process) {
            return;
        }
        if self.started.len() < LIMIT {
            self.started.insert(process);
        }
        let detail = StepDetail::Launch { command: Some(program), wrapper: false };
        step(event, process, PhaseEvent::Spawned, detail, out);
    }

    /// A thread shares the descriptors of its process; a child has a copy of them.
    fn cloned(&mut self, event: &Event<'_>, process: u32, child: u32, thread: bool, out: &mut dyn FnMut(&Event<'_>)) {
        if self.threads.len() + self.children.len() >= LIMIT {
            return;
        }
        if thread {
            self.threads.insert(child, process);
            return;
        }
        self.children.insert(child, process);
        let local: Vec<_> = self.locals(process).map(|(_, fd)| (child, fd)).collect();
        if self.local.len() + local.len() < LIMIT {
            self.local.extend(local);
        }
        let inherited = self.descriptors(process);
        if self.connections.len() + inherited.len() < LIMIT {
            for (_, fd) in inherited {
                let parent = self.connections[&(process, fd)].clone();
                // What the parent sent is told once, by the parent.
                let copy = Connection { process: child, sent: true, request: None, told: false, ..parent };
                self.connections.insert((child, fd), copy);
            }
        }
        let call = CallKey::default();
        let remark = Remark { kind: RemarkKind::ChildProcess, call, number: Some(i64::from(process)), name: None };
        out(&Event { keys: Keys { pid: Some(child), ..event.keys }, kind: Kind::Remark(remark), ..*event });
    }

    /// Tells once per process that the trace records calls of the network: else its silence means nothing.
    fn network_traced(&mut self, event: &Event<'_>, process: u32, call: Call<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        let network = matches!(call, Call::Connect { .. } | Call::Send { .. } | Call::Receive { .. });
        if !network || self.network.len() >= LIMIT || !self.network.insert(process) {
            return;
        }
        remark(event, process, RemarkKind::NetworkTraced, None, out);
    }

    fn socket(&mut self, event: &Event<'_>, process: u32, call: Call<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        self.network_traced(event, process, call, out);
        let fd = match call {
            Call::Connect { fd, address, ok } => {
                if address.ends_with(":53") {
                    self.note_local(process, fd);
                }
                return self.connect(event, process, fd, address, ok, out);
            }
            Call::Local { fd } => return self.note_local(process, fd),
            // What is sent on it before it is connected goes nowhere that is known.
            Call::Socket { fd } => return self.hand_down(process, fd),
            Call::Copied { from, fd } => return self.copied(event, process, (from, fd), out),
            Call::Unnamed { fd } => return self.unnamed(event, process, fd, out),
            Call::SocketError { fd, .. } | Call::Send { fd, .. } | Call::Receive { fd, .. } | Call::Close { fd } => fd,
            _ => return,
        };
        let key = (process, fd);
        if matches!(call, Call::Close { .. }) {
            self.local.remove(&key);
            self.files.remove(&key);
            self.replaced.remove(&key);
            if self.own.len() < LIMIT {
                self.own.insert(key);
            }
        }
        let Some(connection) = self.connections.get_mut(&key) else {
            if matches!(call, Call::Send { .. }) && self.files.contains(&key) {
                file_written(event, process, out);
            } else if matches!(call, Call::Send { .. }) && !self.is_own(key) {
                self.unnamed(event, process, fd, out);
            }
            return;
        };
        match call {
            Call::SocketError { error: 0, .. } => connection.connected = true,
            Call::Send { method, path, pairs, .. } => connection.send(event, method, path, pairs, out),
            Call::Receive { status, .. } => connection.receive(event, status, out),
            _ => {
                if let Some(mut connection) = self.connections.remove(&key) {
                    match call {
                        Call::SocketError { .. } => connection.not_connected(event, out),
                        _ => connection.end(out),
                    }
                }
            }
        }
    }

    /// A descriptor got a second number: what was open there is closed, and it goes where the first one goes.
    fn copied(&mut self, event: &Event<'_>, process: u32, (from, fd): (i32, i32), out: &mut dyn FnMut(&Event<'_>)) {
        let (from, to) = ((process, from), (process, fd));
        if from == to {
            return;
        }
        self.socket(event, process, Call::Close { fd }, out);
        if self.local.contains(&from) {
            self.note_local(process, fd);
        }
        if self.files.contains(&from) {
            self.note_file(process, fd);
        }
        if let Some(parent) = self.connections.get(&from)
            && self.connections.len() < LIMIT
        {
            // A request that went out before is told once, under the first number.
            let copy = Connection { request: None, told: false, ..parent.clone() };
            self.connections.insert(to, copy);
        } else if !self.is_own(from) && !self.is_stream(from) {
            self.hand_down(process, fd);
        }
    }

    /// Where a descriptor goes is not known.
    fn hand_down(&mut self, process: u32, fd: i32) {
        let key = (process, fd);
        self.own.remove(&key);
        if fd <= 2 && self.replaced.len() < LIMIT {
            self.replaced.insert(key);
        }
    }

    /// Whether a descriptor is a standard stream as it was handed down: the session itself.
    fn is_stream(&self, key: (u32, i32)) -> bool {
        key.1 <= 2 && !self.own.contains(&key) && !self.replaced.contains(&key)
    }

    /// Whether a descriptor was made in the trace, by the process or by the one that it comes from.
    fn is_own(&self, (process, fd): (u32, i32)) -> bool {
        let parent = self.children.get(&process).map(|parent| (*parent, fd));
        self.own.contains(&(process, fd)) || parent.is_some_and(|parent| self.own.contains(&parent))
    }

    fn note_file(&mut self, process: u32, fd: i32) {
        if self.files.len() < LIMIT {
            self.files.insert((process, fd));
        }
    }

    fn note_local(&mut self, process: u32, fd: i32) {
        if self.local.len() < LIMIT {
            self.local.insert((process, fd));
        }
    }

    /// Bytes on a socket that nobody saw being connected: where they went the trace does not tell.
    fn unnamed(&mut self, event: &Event<'_>, process: u32, fd: i32, out: &mut dyn FnMut(&Event<'_>)) {
        let key = (process, fd);
        if self.is_stream(key) || self.local.contains(&key) || self.connections.contains_key(&key) {
            return;
        }
        remark(event, process, RemarkKind::LevelChanged, Some("a socket without a known peer"), out);
    }

    fn connect(
        &mut self,
        event: &Event<'_>,
        process: u32,
        fd: i32,
        address: &str,
        ok: Option<bool>,
        out: &mut dyn FnMut(&Event<'_>),
    ) {
        if address.is_empty() || address.ends_with(":53") {
            return;
        }
        let key = (process, fd);
        if let Some(known) = self.connections.get_mut(&key) {
            // A second `connect` asks how the first one went; a datagram names its address each time.
            if *known.address == *address && ok != Some(false) {
                known.connected |= ok == Some(true);
                return;
            }
            known.end(out);
            self.connections.remove(&key);
        }
        let connection = Connection {
            process,
            address: address.into(),
            connected: ok == Some(true),
            sent: false,
            place: Place::of(event),
            request: None,
            told: false,
        };
        if ok == Some(false) {
            connection.not_connected(event, out);
        } else if self.connections.len() < LIMIT {
            self.connections.insert(key, connection);
        }
    }
}

fn file_written(event: &Event<'_>, process: u32, out: &mut dyn FnMut(&Event<'_>)) {
    remark(event, process, RemarkKind::FileWritten, None, out);
}

fn remark(event: &Event<'_>, process: u32, kind: RemarkKind, name: Option<&str>, out: &mut dyn FnMut(&Event<'_>)) {
    let remark = Remark { kind, call: CallKey::default(), number: None, name };
    let pid = Some(process).filter(|process| *process != 0);
    out(&Event { keys: Keys { pid: pid.or(event.keys.pid), ..event.keys }, kind: Kind::Remark(remark), ..*event });
}

fn step(event: &Event<'_>, process: u32, kind: PhaseEvent, detail: StepDetail<'_>, out: &mut dyn FnMut(&Event<'_>)) {
    let step = Step { event: kind, phase: None, call: CallKey::default(), detail };
    out(&Event { keys: Keys { pid: Some(process), ..event.keys }, kind: Kind::Step(step), ..*event });
}
