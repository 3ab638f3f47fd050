//! Reads one path of the command line, with its hints: `PATH@key=value,…`. Whether a path exists is asked only to tell
//! an `@` in a name from the beginning of hints.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    event::Witness,
    format::{self, Format},
    time,
};

/// What the user says about the inputs under one path.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// The format: nothing is sniffed.
    pub format: Option<&'static Format>,
    /// Who wrote it.
    pub witness: Option<Witness>,
    /// The zone of stamps without one, in seconds east of UTC.
    pub zone: Option<i32>,
    /// The server's name.
    pub server: Option<String>,
    /// The run id.
    pub run: Option<String>,
}

impl Hints {
    /// Nothing is said.
    pub fn is_empty(&self) -> bool {
        self.key() == (None, None, None, None, None)
    }

    /// All of it, for comparing.
    pub(super) fn key(&self) -> Key<'_> {
        let format = self.format.map(|format| format.name);
        (format, self.witness, self.zone, self.server.as_deref(), self.run.as_deref())
    }

    /// Takes in one `key=value`.
    fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let unknown = |what: &str| Error::Usage(format!("unknown {what} '{value}' in a hint"));
        match key {
            "format" => self.format = Some(format::named(value).ok_or_else(|| unknown("format"))?),
            "witness" => self.witness = Some(Witness::parse(value).ok_or_else(|| unknown("witness"))?),
            "zone" => self.zone = Some(time::parse_zone(value).ok_or_else(|| unknown("zone"))?),
            "server" => self.server = Some(value.to_owned()),
            "run" => self.run = Some(value.to_owned()),
            _ => {
                let keys = KEYS.join(", ");
                return Err(Error::Usage(format!("unknown hint '{key}': the hints are {keys}")));
            }
        }
        Ok(())
    }
}

/// All hints, for comparing.
type Key<'h> = (Option<&'static str>, Option<Witness>, Option<i32>, Option<&'h str>, Option<&'h str>);

const KEYS: [&str; 5] = ["format", "witness", "zone", "server", "run"];

/// One path of the command line.
#[derive(Clone, Debug)]
pub struct PathArgument {
    /// A file, a folder, an archive, or `-` for standard input.
    pub path: PathBuf,
    /// What is said about everything under it.
    pub hints: Hints,
}

impl PathArgument {
    /// A path without hints.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), hints: Hints::default() }
    }

    /// Reads `PATH` or `PATH@key=value,…`. A path that exists as it stands has no hints, whatever its name.
    ///
    /// # Errors
    ///
    /// A hint is unknown, or its value means nothing.
    pub fn parse(argument: &OsStr) -> Result<Self, Error> {
        let Some((path, hints)) = argument.to_str().and_then(split) else { return Ok(Self::new(argument)) };
        if Path::new(argument).symlink_metadata().is_ok() {
            return Ok(Self::new(argument));
        }
        let mut parsed = Hints::default();
        for pair in hints.split(',') {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(Error::Usage(format!("'{pair}' in '{hints}' is no hint: write key=value")));
            };
            parsed.set(key, value)?;
        }
        Ok(Self { path: path.into(), hints: parsed })
    }
}

/// Path and hints: at the first `@` that a known key follows, else at the last that any word and `=` follow.
fn split(argument: &str) -> Option<(&str, &str)> {
    let parts = || argument.match_indices('@').map(|(at, _)| (&argument[..at], &argument[at + 1..]));
    let key = |hints: &str| hints.split_once('=').map(|(key, _)| key.to_owned());
    let is_word = |key: String| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase());
    parts()
        .find(|(_, hints)| key(hints).is_some_and(|key| KEYS.contains(&key.as_str())))
        .or_else(|| parts().rfind(|(_, hints)| key(hints).is_some_and(is_word)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::PathArgument;
    use crate::event::Witness;

    fn parse(argument: &str) -> PathArgument {
        PathArgument::parse(OsStr::new(argument)).expect("a path")
    }

    #[test]
    fn hints_follow_the_path() {
        let argument = parse("me@host/x.log@witness=tap,zone=+02:00,server=@scope/files,run=r1");
        assert_eq!(argument.path.to_str(), Some("me@host/x.log"));
        assert_eq!(argument.hints.witness, Some(Witness::Proxy));
        assert_eq!(argument.hints.zone, Some(7200));
        assert_eq!(argument.hints.server.as_deref(), Some("@scope/files"));
        assert_eq!(argument.hints.run.as_deref(), Some("r1"));
        assert!(parse("me@host/x.log").hints.is_empty());
        assert_eq!(parse("-@server=a").path.to_str(), Some("-"));
    }

    #[test]
    fn a_path_that_exists_has_no_hints() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x@server=a");
        std::fs::write(&path, "").expect("a file");
        let argument = PathArgument::parse(path.as_os_str()).expect("a path");
        assert_eq!(argument.path, path);
        assert!(argument.hints.is_empty());
    }

    #[test]
    fn a_wrong_hint_is_an_error() {
        for argument in ["x@witness=nobody", "x@zone=mars", "x@format=none", "x@fromat=y", "x@server=a,b"] {
            assert!(PathArgument::parse(OsStr::new(argument)).is_err(), "{argument}");
        }
    }
}
