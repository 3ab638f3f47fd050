//! Finds the inputs under the paths of the command line: files, folders, members of archives, standard input. Looks at
//! the first bytes of each to tell text from the rest; reads no records.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use walkdir::WalkDir;

use super::{
    Hints, PathArgument, SourceEntry,
    archive::{list_zip, walk_zip},
    kind::{Charset, Kind, PEEK, kind},
    stored::{Layer, Recipe, SharedTally, Stored},
};
use crate::{error::Error, event::SourceId, notice::NoticeKind};

/// How many archives may lie in one another: a member of an archive in an archive is still read.
const DEPTH: u8 = 2;
/// Members of compressed archives up to this size are kept in memory: to come back to them means to unpack everything
/// before them again.
const SMALL: u64 = 1 << 20;
/// A zip archive inside a compressed archive up to this size is kept in memory to be read by its directory.
const SMALL_ZIP: u64 = 16 << 20;
/// The most that is kept in memory in all.
const KEPT: u64 = 64 << 20;

/// What the paths of the command line hold.
#[derive(Debug, Default)]
pub struct Found {
    /// Inputs to be read, in the order of their ids.
    pub entries: Vec<SourceEntry>,
    /// Paths that do not exist, and what the operating system said.
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
    /// Why, for people.
    pub reason: String,
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
                let exists = error.kind() == io::ErrorKind::PermissionDenied;
                let shown = path.to_string_lossy().into_owned();
                if exists {
                    self.skip(&name, None, NoticeKind::Unreadable, &error.to_string());
                } else if !self.found.missing.iter().any(|(known, _)| *known == shown) {
                    self.found.missing.push((shown, error.to_string()));
                }
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
                Err(error) => self.skip(&name, None, NoticeKind::Unreadable, &error.to_string()),
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
                    // A link that leads to a folder around it: its content is found without it.
                    if error.loop_ancestor().is_none() {
                        let path = error.path().map_or_else(|| name.to_owned(), |path| shown(argument, name, path));
                        let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                        self.skip(&path, None, NoticeKind::Unreadable, &reason);
                    }
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

    fn add(&mut self, real: PathBuf, path: String, stored: Arc<Stored>, hints: &Hints, depth: usize, link: bool) {
        let candidate = Candidate { path, stored, hints: hints.clone(), depth, link };
        self.files.entry(real).or_default().push(candidate);
    }

    fn skip(&mut self, path: &str, member: Option<&str>, kind: NoticeKind, reason: &str) {
        let member = member.map(ToOwned::to_owned);
        self.found.skipped.push(Skipped { path: path.to_owned(), member, kind, reason: reason.to_owned() });
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
            match peek(&recipe) {
                Ok(head) => self.open(&Place { candidate: &candidate, member: None, depth: 0 }, recipe, &head),
                Err(error) => self.skip(&candidate.path, None, NoticeKind::Unreadable, &error.to_string()),
            }
        }
        let found = &mut self.found;
        found.entries.sort_by(|a, b| (&a.path, &a.member).cmp(&(&b.path, &b.member)));
        for (number, entry) in (0..).zip(&mut found.entries) {
            entry.id = SourceId(number);
        }
        found.missing.sort();
        found.skipped.sort();
        found.skipped.dedup();
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

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && name != "." && name != ".."
}

/// The first bytes of some content.
fn peek(recipe: &Recipe) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(PEEK);
    let read = recipe.open(&SharedTally::default())?.take(PEEK as u64).read_to_end(&mut head);
    // What is damaged later is still of the kind that its beginning says.
    if head.is_empty() { read.map(|_| head) } else { Ok(head) }
}

/// Where something lies that is about to be looked at.
struct Place<'a> {
    candidate: &'a Candidate,
    member: Option<String>,
    /// Archives opened on the way.
    depth: u8,
}

impl Place<'_> {
    /// Something inside it.
    fn inside(&self, name: &str) -> Self {
        let name = name.replace('\\', "/");
        let name = name.strip_prefix("./").unwrap_or(&name);
        let member = match &self.member {
            Some(outer) => format!("{outer}/{name}"),
            None => name.to_owned(),
        };
        Self { candidate: self.candidate, member: Some(member), depth: self.depth + 1 }
    }
}

impl Search {
    /// Decides what to do with content that begins with `head`.
    fn open(&mut self, place: &Place<'_>, recipe: Recipe, head: &[u8]) {
        let kind = kind(head);
        let is_archive = matches!(kind, Kind::Gzip | Kind::Zstd | Kind::Zip | Kind::Tar);
        if is_archive && place.depth >= DEPTH {
            let reason = "an archive inside an archive inside an archive";
            return self.leave(place, NoticeKind::TooDeep, reason);
        }
        match kind {
            Kind::Empty => self.entry(place, recipe, Charset::Utf8),
            Kind::Text(charset) => self.entry(place, recipe, charset),
            Kind::Gzip => self.unpack(place, recipe.with(&[Layer::Gzip])),
            Kind::Zstd => self.unpack(place, recipe.with(&[Layer::Zstd])),
            Kind::Zip => self.zip(place, &recipe),
            Kind::Tar => self.tar(place, &recipe),
            Kind::Unsupported(reason) => self.leave(place, NoticeKind::Unreadable, reason),
            Kind::Binary(reason) => self.leave(place, NoticeKind::Binary, reason),
        }
    }

    fn leave(&mut self, place: &Place<'_>, kind: NoticeKind, reason: &str) {
        self.skip(&place.candidate.path, place.member.as_deref(), kind, reason);
    }

    fn entry(&mut self, place: &Place<'_>, recipe: Recipe, charset: Charset) {
        let Candidate { path, stored, hints, .. } = place.candidate;
        self.found.entries.push(SourceEntry {
            id: SourceId(0),
            path: path.clone(),
            member: place.member.clone(),
            hints: hints.clone(),
            charset,
            recipe,
            stored: Arc::clone(stored),
        });
    }

    /// Looks through one compression. A compressed tar archive is one archive, not two.
    fn unpack(&mut self, place: &Place<'_>, recipe: Recipe) {
        let head = match peek(&recipe) {
            Ok(head) => head,
            Err(error) => return self.leave(place, NoticeKind::BrokenArchive, &error.to_string()),
        };
        let depth = if kind(&head) == Kind::Tar { place.depth } else { place.depth + 1 };
        self.open(&Place { candidate: place.candidate, member: place.member.clone(), depth }, recipe, &head);
    }

    fn zip(&mut self, place: &Place<'_>, recipe: &Recipe) {
        let in_memory = if recipe.is_seekable() { None } else { self.keep(recipe, SMALL_ZIP) };
        let recipe = in_memory.as_ref().unwrap_or(recipe);
        let walk = |cut| recipe.open(&SharedTally::default()).map(|input| walk_zip(input, cut));
        let listing = if recipe.is_seekable() {
            recipe.window().map_err(Into::into).and_then(list_zip).or_else(|_| walk(true))
        } else {
            walk(false)
        };
        let listing = match listing {
            Ok(listing) => listing,
            Err(error) => return self.leave(place, NoticeKind::BrokenArchive, &error.to_string()),
        };
        if let Some(damage) = &listing.damage {
            self.leave(place, NoticeKind::BrokenArchive, damage);
        }
        for member in listing.members {
            let place = place.inside(&member.name);
            if self.is_hidden(&place, &member.name) {
                continue;
            }
            match member.layers {
                Err(reason) => self.leave(&place, NoticeKind::Unreadable, reason),
                Ok(layers) => {
                    let recipe = recipe.with(&layers);
                    match peek(&recipe) {
                        Ok(head) => self.open(&place, recipe, &head),
                        Err(error) => self.leave(&place, NoticeKind::BrokenArchive, &error.to_string()),
                    }
                }
            }
        }
    }

    fn tar(&mut self, place: &Place<'_>, recipe: &Recipe) {
        let seekable = recipe.is_seekable();
        let result = if seekable {
            recipe.window().and_then(|window| {
                let mut archive = tar::Archive::new(window);
                archive.entries_with_seek().and_then(|entries| self.tar_members(place, recipe, entries))
            })
        } else {
            recipe.open(&SharedTally::default()).and_then(|input| {
                let mut archive = tar::Archive::new(input);
                archive.entries().and_then(|entries| self.tar_members(place, recipe, entries))
            })
        };
        if let Err(error) = result {
            self.leave(place, NoticeKind::BrokenArchive, &error.to_string());
        }
    }

    fn tar_members<R: Read>(
        &mut self,
        place: &Place<'_>,
        recipe: &Recipe,
        entries: tar::Entries<'_, R>,
    ) -> io::Result<()> {
        for entry in entries {
            let mut entry = entry?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let place = place.inside(&name);
            let kind = entry.header().entry_type();
            if kind.is_gnu_sparse() {
                self.leave(&place, NoticeKind::Unreadable, "a sparse file in a tar archive");
            }
            if !(kind.is_file() || kind.is_contiguous()) || self.is_hidden(&place, &name) {
                continue;
            }
            let (start, length) = (entry.raw_file_position(), entry.size());
            let keep = !recipe.is_seekable() && length <= SMALL && self.kept + length <= KEPT;
            let mut head = Vec::new();
            let read = entry.by_ref().take(if keep { length } else { PEEK as u64 }).read_to_end(&mut head);
            let mut recipe = recipe.with(&[Layer::Slice { start, length }]);
            if keep && head.len() as u64 == length {
                self.kept += length;
                recipe = Recipe::of(Stored::memory(head.clone()));
            }
            head.truncate(PEEK);
            self.open(&place, recipe, &head);
            read?;
        }
        Ok(())
    }

    fn is_hidden(&mut self, place: &Place<'_>, name: &str) -> bool {
        let hidden = name.split(['/', '\\']).any(is_hidden);
        if hidden {
            self.leave(place, NoticeKind::Hidden, "a hidden file");
        }
        hidden
    }

    /// Keeps some content in memory, if it is small enough.
    fn keep(&mut self, recipe: &Recipe, limit: u64) -> Option<Recipe> {
        let room = limit.min(KEPT.saturating_sub(self.kept));
        let mut bytes = Vec::new();
        recipe.open(&SharedTally::default()).ok()?.take(room + 1).read_to_end(&mut bytes).ok()?;
        let size = bytes.len() as u64;
        (size <= room).then(|| {
            self.kept += size;
            Recipe::of(Stored::memory(bytes))
        })
    }
}
