//! Parts of records that only make sense together.

/// A piece of a record that spans lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece<'a> {
    /// Which kind of record it belongs to.
    pub shape: PieceShape,
    /// Its text without gutter and prefix.
    pub text: &'a str,
}

/// Records that span lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PieceShape {
    /// First line of wrapped console columns (Rich).
    ColumnsHead,
    /// A further line of wrapped console columns.
    ColumnsTail,
    /// A line of a one-pair-a-line phase record (`initialize_received=true`).
    Pair,
}
