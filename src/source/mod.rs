//! Inputs: finds them, opens them, decodes their charset, and hands out blocks that end on record edges; fetches quotes
//! again. Besides the report's writer the only place that does IO. Does not know what records say.

mod archive;
mod argument;
mod block;
mod discover;
mod input;
mod kind;
mod lines;
mod quote;
mod reader;
mod rotation;
mod stored;

use std::sync::Arc;

pub use self::{
    argument::{Hints, PathArgument},
    block::{Block, Cuts},
    discover::{Found, Skipped, discover, discover_with},
    lines::{BlockLines, LineNumbers},
    quote::{Passage, Reach, fetch, fetch_each},
    reader::{ReadOptions, ReadSummary, Reader},
    rotation::missing_next,
};
use self::{
    kind::Charset,
    stored::{Recipe, Stored},
};
use crate::event::SourceId;

/// One input that was found.
#[derive(Clone, Debug)]
pub struct SourceEntry {
    /// Its number, by sorted path.
    pub id: SourceId,
    /// Its path relative to the parent of its argument, with `/` between parts. For people, not for opening.
    pub path: String,
    /// The path inside the archive, if the file is one.
    pub member: Option<String>,
    /// What the user says about it.
    pub hints: Hints,
    charset: Charset,
    /// How to get at the content.
    recipe: Recipe,
    /// The stored file as a whole.
    stored: Arc<Stored>,
}

impl SourceEntry {
    /// How many bytes [`Reader::bytes_read`] will count, if that can be told.
    pub fn stored_bytes(&self) -> Option<u64> {
        self.recipe.counted()
    }

    /// The content is what is stored: nothing is unpacked or cut out.
    fn is_plain(&self) -> bool {
        self.recipe.layers.is_empty() && self.member.is_none()
    }
}

#[cfg(test)]
mod tests;
