//! Which calls of a conversation are open, and which call had an id last.
//!
//! Most conversations are short: their calls are looked through. Long ones get an index.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::RpcId;
use crate::event::Direction;

/// Calls of one conversation beyond which an index pays.
const SHORT: usize = 48;
/// Requests open at once in one conversation, beyond which the oldest are no longer tracked.
const OPEN_LIMIT: usize = 1 << 16;

/// The calls of the conversations of one source.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    /// Number of the first strand of the source.
    base: u32,
    /// Requests that are no longer tracked.
    untracked: u64,
    strands: Vec<Conversation>,
}

#[derive(Debug, Default)]
struct Conversation {
    open: VecDeque<Entry>,
    /// One of them was opened again, behind later ones.
    reopened: bool,
    /// All calls with an id, while they are few.
    known: Vec<Entry>,
    index: Option<Box<FxHashMap<(Direction, RpcId), Indexed>>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    sender: Direction,
    id: RpcId,
    call: u32,
}

#[derive(Debug, Default)]
struct Indexed {
    open: Vec<u32>,
    last: u32,
}

/// The open calls that an answer may belong to.
#[derive(Debug)]
pub(super) enum Candidates {
    None,
    One(u32),
    Several(Vec<u32>),
}

impl Candidates {
    /// The call, where it is the only one.
    pub(super) fn one(&self) -> Option<u32> {
        if let Self::One(call) = self { Some(*call) } else { None }
    }
}

impl OpenCalls {
    /// For a source whose first strand has this number.
    pub(super) fn new(base: u32) -> Self {
        Self { base, untracked: 0, strands: Vec::new() }
    }

    fn get(&self, strand: u32) -> Option<&Conversation> {
        self.strands.get(strand.checked_sub(self.base)? as usize)
    }

    fn get_mut(&mut self, strand: u32) -> &mut Conversation {
        let at = (strand - self.base) as usize;
        if at >= self.strands.len() {
            self.strands.resize_with(at + 1, Conversation::default);
        }
        &mut self.strands[at]
    }

    /// Opens a call.
    pub(super) fn open(&mut self, strand: u32, sender: Direction, id: RpcId, call: u32) {
        let crowded = self.get_mut(strand).open(Entry { sender, id, call });
        self.untracked += u64::from(crowded);
    }

    /// How many requests are no longer tracked, because too many were open at once.
    pub(super) fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Opens a call again that had been closed.
    pub(super) fn reopen(&mut self, strand: u32, sender: Direction, id: RpcId, call: u32) {
        let conversation = self.get_mut(strand);
        conversation.reopened = true;
        conversation.open.push_back(Entry { sender, id, call });
        if let Some(index) = &mut conversation.index {
            index.entry((sender, id)).or_default().open.push(call);
        }
    }

    /// Closes a call.
    pub(super) fn close(&mut self, strand: u32, sender: Direction, id: RpcId, call: u32) {
        let conversation = self.get_mut(strand);
        if let Some(at) = conversation.place(call) {
            conversation.open.remove(at);
        }
        if let Some(indexed) = conversation.index.as_mut().and_then(|index| index.get_mut(&(sender, id))) {
            indexed.open.retain(|open| *open != call);
        }
    }

    /// The open calls with this id.
    pub(super) fn with_id(&self, strand: u32, sender: Direction, id: RpcId) -> Candidates {
        let Some(conversation) = self.get(strand).filter(|_| id != RpcId::Unknown) else { return Candidates::None };
        let mut found: Vec<u32> = Vec::new();
        if let Some(index) = &conversation.index {
            match index.get(&(sender, id)).map(|indexed| &indexed.open[..]) {
                None | Some([]) => return Candidates::None,
                Some([only]) => return Candidates::One(*only),
                Some(several) => found.extend(several),
            }
        } else {
            let mut open = conversation.open.iter().filter(|entry| entry.id == id && entry.sender == sender);
            let Some(first) = open.next() else { return Candidates::None };
            let Some(second) = open.next() else { return Candidates::One(first.call) };
            found.extend([first.call, second.call]);
            found.extend(open.map(|entry| entry.call));
        }
        Candidates::Several(found)
    }

    /// The latest call with this id, open or not.
    pub(super) fn latest(&self, strand: u32, sender: Direction, id: RpcId) -> Option<u32> {
        let conversation = self.get(strand)?;
        match &conversation.index {
            Some(index) => index.get(&(sender, id)).map(|indexed| indexed.last),
            None => conversation.known.iter().rev().find(|e| e.id == id && e.sender == sender).map(|entry| entry.call),
        }
    }

    /// The open calls, oldest first.
    pub(super) fn all(&self, strand: u32) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.get(strand).into_iter().flat_map(|conversation| &conversation.open).map(|entry| entry.call)
    }

    /// The only open call of a sender.
    pub(super) fn only(&self, strand: u32, sender: Direction) -> Option<u32> {
        let mut open = self.get(strand)?.open.iter().filter(|entry| entry.sender == sender);
        let only = open.next()?.call;
        if open.next().is_some() { None } else { Some(only) }
    }

    /// All open calls of all strands.
    pub(super) fn everywhere(&self) -> Vec<u32> {
        let mut open: Vec<u32> = self.strands.iter().flat_map(|strand| &strand.open).map(|entry| entry.call).collect();
        open.sort_unstable();
        open
    }
}

impl Conversation {
    /// Where a call stands among the open ones. They come in the order of their numbers but for those opened again.
    fn place(&self, call: u32) -> Option<usize> {
        if let Ok(at) = self.open.binary_search_by_key(&call, |entry| entry.call) {
            return Some(at);
        }
        if self.reopened { self.open.iter().position(|entry| entry.call == call) } else { None }
    }

    /// Says whether an older one had to make room.
    fn open(&mut self, entry: Entry) -> bool {
        let crowded = self.open.len() >= OPEN_LIMIT;
        if crowded {
            self.open.pop_front();
        }
        self.open.push_back(entry);
        self.know(entry);
        crowded
    }

    fn know(&mut self, entry: Entry) {
        if entry.id == RpcId::Unknown {
            return;
        }
        if let Some(index) = &mut self.index {
            let indexed = index.entry((entry.sender, entry.id)).or_default();
            indexed.open.push(entry.call);
            indexed.last = entry.call;
        } else {
            self.known.push(entry);
            if self.known.len() > SHORT {
                self.build_index();
            }
        }
    }

    fn build_index(&mut self) {
        let mut index: FxHashMap<(Direction, RpcId), Indexed> = FxHashMap::default();
        for entry in std::mem::take(&mut self.known) {
            index.entry((entry.sender, entry.id)).or_default().last = entry.call;
        }
        for entry in self.open.iter().filter(|entry| entry.id != RpcId::Unknown) {
            index.entry((entry.sender, entry.id)).or_default().open.push(entry.call);
        }
        self.index = Some(Box::new(index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_conversations_behave_alike() {
        let sender = Direction::ToServer;
        let mut calls = OpenCalls::new(7);
        for call in 0..200 {
            calls.open(7, sender, RpcId::Int(i64::from(call % 100)), call);
            if call % 2 == 0 {
                calls.close(7, sender, RpcId::Int(i64::from(call % 100)), call);
            }
        }
        assert!(matches!(calls.with_id(7, sender, RpcId::Int(0)), Candidates::None));
        assert!(matches!(calls.with_id(7, sender, RpcId::Int(1)), Candidates::Several(found) if found == [1, 101]));
        assert_eq!(calls.latest(7, sender, RpcId::Int(0)), Some(100));
        calls.reopen(7, sender, RpcId::Int(0), 100);
        assert!(matches!(calls.with_id(7, sender, RpcId::Int(0)), Candidates::One(100)));
        assert_eq!(calls.all(7).count(), 101);
        assert_eq!(calls.only(7, sender), None);
        assert_eq!(calls.latest(8, sender, RpcId::Int(0)), None);
    }

    #[test]
    fn too_many_at_once_are_counted() {
        let mut calls = OpenCalls::new(0);
        let limit = u32::try_from(OPEN_LIMIT).expect("a small limit");
        for call in 0..limit + 3 {
            calls.open(0, Direction::ToServer, RpcId::Unknown, call);
        }
        assert_eq!((calls.untracked(), calls.all(0).next()), (3, Some(3)));
    }
}
