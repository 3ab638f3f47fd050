//! Looks into what was found: text becomes an entry, an archive is opened, the rest is left with a reason.

use std::{
    io::{self, Read},
    sync::Arc,
};

use super::{Candidate, Search, is_hidden};
use crate::{
    event::SourceId,
    notice::NoticeKind,
    source::{
        SourceEntry,
        archive::{list_zip, walk_zip},
        kind::{Charset, Kind, PEEK, kind},
        stored::{Layer, Recipe, SharedTally, Stored},
    },
};

/// How many archives may lie in one another: a member of an archive in an archive is still read.
const DEPTH: u8 = 2;
/// Members of compressed archives up to this size are kept in memory: to come back to them means to unpack everything
/// before them again.
const SMALL: u64 = 1 << 20;
/// A zip archive inside a compressed archive up to this size is kept in memory to be read by its directory.
const SMALL_ZIP: u64 = 16 << 20;
/// The most that is kept in memory in all.
const KEPT: u64 = 64 << 20;

/// The first bytes of some content.
pub(super) fn peek(recipe: &Recipe) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(PEEK);
    let read = recipe.open(&SharedTally::default())?.take(PEEK as u64).read_to_end(&mut head);
    // What is damaged later is still of the kind that its beginning says.
    if head.is_empty() { read.map(|_| head) } else { Ok(head) }
}

/// Where something lies that is about to be looked at.
pub(super) struct Place<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) member: Option<String>,
    /// Archives opened on the way.
    pub(super) depth: u8,
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
    pub(super) fn open(&mut self, place: &Place<'_>, recipe: Recipe, head: &[u8]) {
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
            Kind::Unsupported(reason) => self.unreadable(place, reason),
            Kind::Binary(reason) => self.leave(place, NoticeKind::Binary, reason),
        }
    }

    fn damaged(&mut self, place: &Place<'_>, damage: &str) {
        self.leave(place, NoticeKind::BrokenArchive, &format!("the archive is damaged: {damage}"));
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
            Err(error) => return self.damaged(place, &error.to_string()),
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
            Err(error) => return self.damaged(place, &error.to_string()),
        };
        if let Some(damage) = &listing.damage {
            self.damaged(place, damage);
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
                        Err(error) => self.damaged(&place, &error.to_string()),
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
            self.damaged(place, &error.to_string());
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
