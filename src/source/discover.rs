//! Finds the inputs under the paths of the command line: files, folders, members of archives, standard input. Looks at
//! the first bytes of each to tell text from the rest; reads no records.

mod expand;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use walkdir::WalkDir;

use self::expand::{Place, peek};
use super::{
    Hints, PathArgument, SourceEntry,
    stored::{Recipe, Stored},
};
use crate::{error::Error, event::SourceId, notice::NoticeKind};

/// What the paths of the command line hold.
#[derive(Debug, Default)]
pub struct Found {
    /// Inputs to be read, in the order of their ids.
    pub entries: Vec<SourceEntry>,
    /// Paths of the command line that do not exist or cannot be read, and why. What cannot be read inside a folder or
    /// an archive is skipped instead.
    pub missing: Vec<(String, String)>,
    /// What is not read, in a stable order.
    pub skipped: Vec<Skipped>,
}

/// Something that is not read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its path, as in [`SourceEntry::path`].
    pub path: String,
    /// The path inside the archive.
    pub member: Option<String>,
    /// Why, as counted in the coverage.
    pub kind: NoticeKind,
    /// Why, for people: complete without the words of the kind.
    pub reason: String,
    /// Something inside it was read all the same.
    pub partly: bool,
    /// It was asked for by name, on the command line.
    pub named: bool,
}

/// Hidden files and folders of tools that write no logs of programs.
const NO_LOGS: &[&str] = &[
    ".git",
    ".gitignore",
    ".gitattributes",
    ".gitkeep",
    ".gitmodules",
    ".github",
    ".keep",
    ".hg",
    ".svn",
    ".DS_Store",
    ".idea",
    ".vscode",
    ".venv",
    ".env",
    ".editorconfig",
    ".npmrc",
    ".dockerignore",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
];

impl Skipped {
    /// Whether it was left out for its name only, and may hold logs: clients keep theirs in hidden folders.
    pub fn may_hold_logs(&self) -> bool {
        let shown = self.member.as_deref().unwrap_or(&self.path);
        let mut hidden = shown.split(['/', '\\']).filter(|part| is_hidden(part));
        self.kind == NoticeKind::Hidden && hidden.any(|part| !NO_LOGS.contains(&part) && !part.starts_with("._"))
    }

    /// What became of it, in words that a reason can follow.
    pub fn fate(&self) -> &'static str {
        if self.partly { "not read to its end" } else { "not read" }
    }
}

impl Found {
    /// Whether a path of the command line was missing or could not be read at all: its content is of no kind that can
    /// be, or its archive is damaged from the first byte on. What is inside a folder or an archive was not asked for by
    /// name.
    pub fn lacks_named(&self) -> bool {
        !self.missing.is_empty() || self.skipped.iter().any(|skipped| skipped.named && !skipped.partly)
    }

    /// Everything that is not read: what was asked for by name and what was found, in a stable order.
    pub fn not_read(&self) -> Vec<Skipped> {
        let missing = self.missing.iter().map(|(path, reason)| Skipped {
            path: path.clone(),
            member: None,
            kind: NoticeKind::Unreadable,
            reason: reason.clone(),
            partly: false,
            named: true,
        });
        missing.chain(self.skipped.iter().cloned()).collect()
    }

    /// Whether content of this archive is read. The entries are sorted.
    fn reads_inside(&self, path: &str, member: Option<&str>) -> bool {
        let inside = member.map(|member| format!("{member}/"));
        let at = |entry: &SourceEntry| (entry.path.as_str(), entry.member.as_deref()) < (path, inside.as_deref());
        self.entries.get(self.entries.partition_point(at)).is_some_and(|entry| {
            let member = entry.member.as_deref().unwrap_or_default();
            entry.path == path && member.starts_with(inside.as_deref().unwrap_or_default())
        })
    }
}

/// Finds all inputs. Their order and numbers do not depend on the order of the arguments.
///
/// # Errors
///
/// Standard input cannot be spooled, or one path has two different hints.
pub fn discover(arguments: &[PathArgument]) -> Result<Found, Error> {
    discover_with(arguments, &mut io::stdin().lock())
}

/// The same with another standard input.
///
/// # Errors
///
/// As for [`discover`].
pub fn discover_with(arguments: &[PathArgument], stdin: &mut dyn Read) -> Result<Found, Error> {
    let mut search = Search::default();
    let names = display_names(arguments);
    for (argument, name) in arguments.iter().zip(names) {
        search.argument(argument, name, stdin)?;
    }
    search.finish()
}

/// How the arguments are shown: by their last part, or in full where two different ones end in the same.
fn display_names(arguments: &[PathArgument]) -> Vec<String> {
    let short: Vec<String> = arguments.iter().map(|argument| last_part(&argument.path)).collect();
    let mut places: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for (argument, name) in arguments.iter().zip(&short) {
        let real = argument.path.canonicalize().unwrap_or_else(|_| argument.path.clone());
        let known = places.entry(name).or_default();
        if !known.contains(&real) {
            known.push(real);
        }
    }
    let full = |path: &Path| slashes(path).trim_end_matches('/').to_owned();
    let ambiguous = |name: &String| places.get(name.as_str()).is_some_and(|known| known.len() > 1);
    arguments
        .iter()
        .zip(&short)
        .map(|(argument, name)| if ambiguous(name) { full(&argument.path) } else { name.clone() })
        .collect()
}

/// The last part of a path; nothing for `.`, `..` and `/`, whose names are not part of the argument.
fn last_part(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn slashes(path: &Path) -> String {
    let parts = path.components().map(|part| match part {
        Component::RootDir => "".into(),
        other => other.as_os_str().to_string_lossy(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A stored file before it is looked at.
#[derive(Debug)]
struct Candidate {
    path: String,
    stored: Arc<Stored>,
    hints: Hints,
    /// How far below its argument it lies.
    depth: usize,
    link: bool,
}

#[derive(Debug, Default)]
struct Search {
    /// By what the operating system says is the same file.
    files: BTreeMap<PathBuf, Vec<Candidate>>,
    found: Found,
    kept: u64,
}

impl Search {
    fn argument(&mut self, argument: &PathArgument, name: String, stdin: &mut dyn Read) -> Result<(), Error> {
        let path = &argument.path;
        if path.as_os_str() == "-" {
            if !self.files.contains_key(path) {
                let stored = Stored::spool(stdin)?;
                self.add(path.clone(), name, stored, &argument.hints, 0, false);
            }
            return Ok(());
        }
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(error) => {
                self.refuse(&path.to_string_lossy(), &error.to_string());
                return Ok(());
            }
        };
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if metadata.is_dir() {
            self.folder(argument, &name);
        } else if metadata.is_file() {
            let link = path.is_symlink();
            self.add(real, name, Stored::file(path.clone()), &argument.hints, 0, link);
        } else if !self.files.contains_key(&real) {
            // A pipe, as shells make for `<(command)`: it can be read only once.
            match File::open(path) {
                Ok(file) => self.add(real, name, Stored::spool(file)?, &argument.hints, 0, false),
                Err(error) => self.refuse(&path.to_string_lossy(), &error.to_string()),
            }
        }
        Ok(())
    }

    fn folder(&mut self, argument: &PathArgument, name: &str) {
        let mut walk = WalkDir::new(&argument.path).follow_links(true).sort_by_file_name().into_iter();
        while let Some(next) = walk.next() {
            let entry = match next {
                Ok(entry) => entry,
                Err(error) => {
                    self.untrodden(argument, name, &error);
                    continue;
                }
            };
            if entry.depth() == 0 {
                continue;
            }
            let path = shown(argument, name, entry.path());
            let is_folder = entry.file_type().is_dir();
            if is_hidden(&entry.file_name().to_string_lossy()) {
                let what = if is_folder { "a hidden folder" } else { "a hidden file" };
                self.skip(&path, None, NoticeKind::Hidden, what);
                if is_folder {
                    walk.skip_current_dir();
                }
            } else if entry.file_type().is_file() {
                let real = entry.path().canonicalize().unwrap_or_else(|_| entry.path().to_owned());
                let stored = Stored::file(entry.path().to_owned());
                self.add(real, path, stored, &argument.hints, entry.depth(), entry.path_is_symlink());
            } else if !is_folder {
                self.skip(&path, None, NoticeKind::Unreadable, "neither a file nor a folder");
            }
        }
    }

    /// What the walk through a folder could not enter.
    fn untrodden(&mut self, argument: &PathArgument, name: &str, error: &walkdir::Error) {
        let path = error.path().map_or_else(|| name.to_owned(), |path| shown(argument, name, path));
        if let Some(ancestor) = error.loop_ancestor() {
            self.skip(&path, None, NoticeKind::LinkLoop, &where_it_leads(argument, name, ancestor));
            return;
        }
        let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
        if error.depth() == 0 {
            return self.refuse(&argument.path.to_string_lossy(), &reason);
        }
        self.skip(&path, None, NoticeKind::Unreadable, &reason);
    }

    fn add(&mut self, real: PathBuf, path: String, stored: Arc<Stored>, hints: &Hints, depth: usize, link: bool) {
        let candidate = Candidate { path, stored, hints: hints.clone(), depth, link };
        self.files.entry(real).or_default().push(candidate);
    }

    /// A path of the command line that cannot be read at all.
    fn refuse(&mut self, path: &str, reason: &str) {
        if !self.found.missing.iter().any(|(known, _)| known == path) {
            self.found.missing.push((path.to_owned(), reason.to_owned()));
        }
    }

    /// The content of a file cannot be read.
    fn unreadable(&mut self, place: &Place<'_>, reason: &str) {
        let candidate = place.candidate;
        if candidate.depth == 0 && place.member.is_none() {
            self.refuse(&candidate.path, reason);
        } else {
            self.skip(&candidate.path, place.member.as_deref(), NoticeKind::Unreadable, reason);
        }
    }

    fn skip(&mut self, path: &str, member: Option<&str>, kind: NoticeKind, reason: &str) {
        let (path, member) = (path.to_owned(), member.map(ToOwned::to_owned));
        self.found.skipped.push(Skipped { path, member, kind, reason: reason.to_owned(), partly: false, named: false });
    }

    /// The same of something that may have been asked for by name.
    fn leave(&mut self, place: &Place<'_>, kind: NoticeKind, reason: &str) {
        self.skip(&place.candidate.path, place.member.as_deref(), kind, reason);
        if let Some(skipped) = self.found.skipped.last_mut() {
            skipped.named = place.candidate.depth == 0 && place.member.is_none();
        }
    }

    /// Opens every file once, under the name that says most about it.
    fn finish(mut self) -> Result<Found, Error> {
        let mut chosen = Vec::new();
        for same in std::mem::take(&mut self.files).into_values() {
            chosen.extend(choose(same)?);
        }
        chosen.sort_by(|a, b| a.path.cmp(&b.path));
        for candidate in chosen {
            let recipe = Recipe::of(Arc::clone(&candidate.stored));
            let place = Place { candidate: &candidate, member: None, depth: 0 };
            match peek(&recipe) {
                Ok(head) => self.open(&place, recipe, &head),
                Err(error) => self.unreadable(&place, &error.to_string()),
            }
        }
        let found = &mut self.found;
        found.entries.sort_by(|a, b| (&a.path, &a.member).cmp(&(&b.path, &b.member)));
        for (number, entry) in (0..).zip(&mut found.entries) {
            entry.id = SourceId(number);
        }
        found.missing.sort();
        let mut skipped = std::mem::take(&mut found.skipped);
        for damaged in skipped.iter_mut().filter(|skipped| skipped.kind == NoticeKind::BrokenArchive) {
            damaged.partly = found.reads_inside(&damaged.path, damaged.member.as_deref());
        }
        skipped.sort();
        skipped.dedup();
        found.skipped = skipped;
        Ok(self.found)
    }
}

/// Of several names of one file: one with hints, the one nearest to its argument, no link, the first.
fn choose(mut same: Vec<Candidate>) -> Result<Option<Candidate>, Error> {
    same.sort_by(|a, b| {
        let key = |candidate: &Candidate| (candidate.hints.is_empty(), candidate.depth, candidate.link);
        key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
    });
    if let [first, second, ..] = same.as_slice()
        && !second.hints.is_empty()
        && first.depth == second.depth
        && first.hints.key() != second.hints.key()
    {
        return Err(Error::Usage(format!("'{}' has two different hints", first.path)));
    }
    Ok(same.into_iter().next())
}

/// The path of a file as it is shown: relative to the parent of its argument.
fn shown(argument: &PathArgument, name: &str, path: &Path) -> String {
    let below = slashes(path.strip_prefix(&argument.path).unwrap_or(path));
    if name.is_empty() { below } else { format!("{name}/{below}") }
}

/// Where a link leads that is not followed. What lies in the argument is found without it, what lies around it was not
/// asked for.
fn where_it_leads(argument: &PathArgument, name: &str, ancestor: &Path) -> String {
    if ancestor.strip_prefix(&argument.path).is_err() {
        return "a link that leads to a folder around all of the input".to_owned();
    }
    let ancestor = shown(argument, name, ancestor);
    let ancestor = if ancestor.is_empty() { "." } else { ancestor.trim_end_matches('/') };
    format!("a link that leads back to {ancestor}")
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && name != "." && name != ".."
}
