//! Calls by the names that people give them: the handle of a report, or the id of the request.
//!
//! It prints nothing.

use super::{Report, names, names::Names, place::Places, select::Selected, view};
use crate::{
    correlate::{NONE, RpcId},
    judge::call::OperationVerdict,
    time::Timestamp,
};

/// What a call is looked up by.
enum Name<'n> {
    /// `c17`: the seventeenth call.
    Handle(u32),
    /// `id=7`: the id of the request.
    Id(&'n str),
}

impl<'n> Name<'n> {
    fn parse(text: &'n str) -> Option<Self> {
        if let Some(id) = text.strip_prefix("id=") {
            return Some(Self::Id(id));
        }
        let digits = text.strip_prefix('c')?;
        let number: u32 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(Self::Handle(number.checked_sub(1)?))
    }
}

/// Whether a text is the name of a call, whether there is such a call or not.
pub fn names_call(text: &str) -> bool {
    Name::parse(text).is_some()
}

impl Report<'_> {
    /// The selected calls that a name means; of an id there may be any number.
    pub fn calls_named(&self, text: &str) -> Vec<u32> {
        let (case, selected) = (self.case, Selected::new(self));
        let count = u32::try_from(case.calls.len()).unwrap_or(u32::MAX);
        match Name::parse(text) {
            Some(Name::Handle(index)) => (index < count).then_some(index).into_iter().collect(),
            Some(Name::Id(id)) => {
                let calls = (0..count).filter(|index| self.has_id(case.calls[*index as usize].id, id));
                calls.filter(|index| selected.call(*index)).collect()
            }
            None => Vec::new(),
        }
    }

    /// `7` is the number and the text, `"7"` is the text alone.
    fn has_id(&self, id: RpcId, wanted: &str) -> bool {
        let quoted = wanted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match id {
            RpcId::Unknown => false,
            RpcId::Null => wanted == "null",
            RpcId::Int(id) => wanted.parse() == Ok(id),
            RpcId::Text(id) => self.case.name(id) == quoted.unwrap_or(wanted),
            RpcId::Raw(id) => self.case.name(id) == wanted,
        }
    }

    /// A call in a line: its handle, tool, id, run, time and place.
    pub fn call_in_words(&self, index: u32) -> String {
        let names = Names::readable(self);
        let call = &self.case.calls[index as usize];
        let mark = self.case.place(call);
        let mut parts = vec![view::noun(self.case, &names, index)];
        parts.extend(names.rpc_id(call.id).map(|id| format!("id {id}")));
        parts.extend((call.run != NONE).then(|| names.run(call.run as usize).to_owned()));
        parts.extend(self.case.shown(mark).map(Timestamp::clock));
        parts.push(Places::whole(self, &names).spot(mark.origin));
        format!("{}: {}", names::call(index), parts.join(", "))
    }

    /// The operation of a call, with its number.
    pub(super) fn operation_of(&self, call: u32) -> Option<(usize, &OperationVerdict)> {
        let index = *self.case.operation_of.get(&call)? as usize;
        Some((index, self.verdicts.operations.get(index)?))
    }

    /// How many calls there are.
    pub fn call_count(&self) -> usize {
        self.case.calls.len()
    }
}
