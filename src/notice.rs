//! What can go wrong while reading. A notice is about our coverage, never about the MCP run.

use crate::event::Origin;

/// How much of the evidence a notice costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Nothing was lost.
    None,
    /// A detail of a record was lost: its time, a field.
    Detail,
    /// Bytes were not analyzed: absence is no longer evidence in this source.
    Data,
}

impl Loss {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Detail => "detail",
            Self::Data => "data",
        }
    }
}

macro_rules! notices {
    ($( $(#[$doc:meta])* $variant:ident $name:literal $loss:ident $text:literal; )*) => {
        /// The kinds of trouble while reading.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum NoticeKind { $( $(#[$doc])* $variant, )* }

        impl NoticeKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The name used in reports.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// How much of the evidence it costs.
            pub fn loss(self) -> Loss {
                match self { $( Self::$variant => Loss::$loss, )* }
            }

            /// One line for people.
            pub fn text(self) -> &'static str {
                match self { $( Self::$variant => $text, )* }
            }
        }
    };
}

notices! {
    /// A record of a JSON format is not JSON.
    NotJson "not-json" Data "a record that should be JSON is not: what it said is lost";
    /// Text stands behind the JSON of a record.
    TrailingText "trailing-text" Detail "text stands behind the JSON of a record; read as text";
    /// Bytes that are not UTF-8 were replaced.
    NotUtf8 "not-utf8" Detail "bytes that are not UTF-8 were replaced";
    /// JSON whose shape the format does not know.
    UnknownShape "unknown-shape" None "a JSON record of a shape nobody knows";
    /// An event name outside the vocabulary.
    UnknownEvent "unknown-event" Detail "a phase event outside the vocabulary";
    /// A stamp that could not be read.
    BadTimestamp "bad-timestamp" Detail "a time stamp that could not be read";
    /// A hint names a format, and no record of the input is of it.
    NotOfFormat "not-of-format" Data "no record is of the format that a hint names: the input may have been read wrongly";
    /// The body of a POST to an MCP endpoint is missing or torn.
    LostRequest "lost-request" Data "the body of a POST to an MCP endpoint is missing or torn: what it asked for is lost";
    /// A WebSocket carried JSON-RPC messages.
    WebSocket "web-socket" Data "a WebSocket carried JSON-RPC messages, which are not read";
    /// A request body that was recorded whole is no JSON: nothing was asked for.
    NoRequest "no-request" None "what was sent to an MCP endpoint is no JSON: it asked for nothing, and is no call";
    /// A key stands twice in one object; the last value counts.
    DuplicateKey "duplicate-key" Detail "a key stands twice in one object; the last value was used";
    /// The last record ends in the middle.
    TornTail "torn-tail" Data "the input ends in the middle of a record";
    /// A HAR or JSON array ends before its closing bracket.
    CutCapture "cut-capture" Data "the capture ends before its end: everything before the cut was used";
    /// A record larger than the limit was skipped.
    OversizeRecord "oversize-record" Data "a record larger than --max-record was skipped";
    /// Binary content was skipped.
    Binary "binary" None "binary content was skipped";
    /// A hidden file was skipped.
    Hidden "hidden" None "a hidden file or folder was skipped";
    /// A link to a folder around it was not followed: what is there is read without it.
    LinkLoop "link-loop" None "a link leads back to a folder around it and was not followed";
    /// An empty input: no witness.
    Empty "empty" None "the input is empty: it is no witness and covers nothing";
    /// A file or archive could not be read, or broke while it was read.
    Unreadable "unreadable" Data "the input could not be read";
    /// An archive or compressed stream is damaged.
    BrokenArchive "broken-archive" Data "the archive is damaged: everything before the damage was used";
    /// An archive inside an archive inside an archive is not opened.
    TooDeep "too-deep" Data "nested archives beyond the limit were not opened";
    /// More requests were open at once than are tracked.
    OpenLimit "open-limit" Data "more requests were open at once than are tracked";
    /// The log says that records were dropped: by a limit of its rate, or of a buffer.
    RecordsDropped "records-dropped" Data "the log says that records were dropped before they were written";
    /// The log says that it writes fewer levels from here on.
    LevelRaised "level-raised" Data "the log says that it records less from here on: its level was raised";
    /// The log says that it writes all levels again.
    LevelRestored "level-restored" None "the log says that it records more from here on: its level was lowered";
    /// The next part of a rotated log is not in the input.
    RotatedAway "rotated-away" Data "this is a rotated part, and the part that follows it is not in the input";
    /// A multi-line record was interrupted and closed early.
    InterruptedRecord "interrupted-record" Detail "a multi-line record was interrupted by another writer";
}

/// One piece of trouble, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub kind: NoticeKind,
    /// Where.
    pub origin: Origin,
}
