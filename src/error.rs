//! The few faults that stop the program: a wrong invocation, an output that cannot be written.
//!
//! Trouble with the *content* of an input is never an error; it is a notice.

use std::{io, path::PathBuf};

/// A fault of the invocation. Displayed as a lower-case fragment without a full stop.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option or a hint that the command line grammar lets through but that means nothing.
    #[error("{0}")]
    Usage(String),
    /// An output could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Where the output was to go.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Standard input could not be copied to its temporary file.
    #[error("cannot spool standard input: {0}")]
    Spool(#[source] io::Error),
    /// The reader of standard output went away.
    #[error("broken pipe")]
    BrokenPipe,
}

/// How the program ends. The numbers are a contract. An interrupted program ends by the signal, which shells show as 130.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Everything was analyzed.
    Analyzed,
    /// Something that `--fail-on` names was found.
    Found,
    /// Nothing in the input was recognized.
    NothingRecognized,
    /// Wrong usage, or a fatal error, or one of several paths could not be read.
    Failed,
}

impl ExitStatus {
    /// The process exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Analyzed => 0,
            Self::Found => 1,
            Self::Failed => 2,
            Self::NothingRecognized => 3,
        }
    }
}
