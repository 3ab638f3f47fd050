//! Record edges in bytes, the same for all formats: lines, headed multi-line entries, JSON values, elements of an array
//! inside one document, event streams. Knows nothing about what a record says.

/// How an input is cut into records.
#[derive(Clone, Copy, Debug)]
pub enum Framing {
    /// One record a line.
    Lines,
    /// An entry begins at a line for which the function says yes and runs to the next such line. At most
    /// [`ENTRY_LINES`] lines and [`ENTRY_BYTES`] bytes; a longer one is closed and the rest are lines of their own.
    Headed(fn(&[u8]) -> bool),
    /// JSON values one after another, pretty-printed or not.
    JsonValues,
    /// The elements of one array inside a single JSON document, by the keys that lead to it: `["log", "entries"]`.
    /// An empty path is a top-level array.
    JsonArray(&'static [&'static str]),
}

/// The most lines a headed entry may have.
pub const ENTRY_LINES: usize = 2000;
/// The most bytes a headed entry may have.
pub const ENTRY_BYTES: usize = 1 << 20;
