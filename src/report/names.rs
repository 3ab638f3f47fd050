//! Names as the report prints them: masked, made visible, sessions as pseudonyms, numbers as handles.
//!
//! It knows nothing about any output form; Markdown escapes once more.

use std::{borrow::Cow, sync::OnceLock};

use rustc_hash::FxHashMap;

use super::{Report, escape, redact};
use crate::{
    correlate::{Case, Mark, RpcId},
    symbol::Symbol,
    time::{Shape, Timestamp, year},
};

/// What a session id may be made of so that free text can be searched for it by words.
fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_')
}

/// Names of a case, cleaned once each.
#[derive(Debug)]
pub(super) struct Names<'a> {
    case: &'a Case,
    /// The longest word that people are shown, in characters; all of it where programs read.
    longest: usize,
    clean: Vec<OnceLock<Box<str>>>,
    runs: Vec<OnceLock<Box<str>>>,
    sessions: FxHashMap<Symbol, u32>,
    /// Sessions that are no single word.
    odd: Vec<(&'a str, u32)>,
}

/// The longest name that is shown to people whole, in characters.
const NAME_SHOWN: usize = 64;
/// So much of the end of a longer one is shown: ids differ there, and names too long to be kept end with a digest.
const TAIL_SHOWN: usize = 16;
/// The longest path that is shown to people whole, in characters.
const PATH_SHOWN: usize = 240;

/// So many session ids that are no single word are looked for in free text.
const ODD_SESSIONS: usize = 256;

impl<'a> Names<'a> {
    /// Names of any length.
    pub(super) fn new(report: &Report<'a>) -> Self {
        Self::up_to(usize::MAX, report)
    }

    /// Names that people can read.
    pub(super) fn readable(report: &Report<'a>) -> Self {
        Self::up_to(NAME_SHOWN, report)
    }

    fn up_to(longest: usize, report: &Report<'a>) -> Self {
        let case = report.case;
        let empty = |count: usize| (0..count).map(|_| OnceLock::new()).collect();
        let (clean, runs) = (empty(case.symbols.len()), empty(case.runs.len()));
        let mut names = Self { case, longest, clean, runs, sessions: FxHashMap::default(), odd: Vec::new() };
        for session in case.calls.iter().filter_map(|call| call.session) {
            names.add_session(session);
        }
        for session in case.strands.iter().flat_map(|strand| &strand.sessions) {
            names.add_session(*session);
        }
        names
    }

    fn add_session(&mut self, session: Symbol) {
        let number = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX).saturating_add(1);
        if *self.sessions.entry(session).or_insert(number) != number {
            return;
        }
        let name = self.case.name(session);
        if !name.chars().all(is_word) && is_telling(name) && self.odd.len() < ODD_SESSIONS {
            self.odd.push((name, number));
        }
    }

    /// The pseudonym of a session.
    pub(super) fn session(&self, session: Symbol) -> String {
        self.sessions.get(&session).map_or_else(|| "S0".to_owned(), |number| format!("S{number}"))
    }

    /// A name, fit to print.
    pub(super) fn name(&self, symbol: Symbol) -> &str {
        let Some(cell) = self.clean.get(symbol.number() as usize - 1) else { return "" };
        cell.get_or_init(|| shortened(&self.whole(self.case.name(symbol)), self.longest).into())
    }

    /// A sentence about what is in a log, fit to print: names in it are no longer than elsewhere.
    pub(super) fn text(&self, text: &str) -> String {
        let text = self.whole(text);
        let mut words = text.split(' ');
        if words.all(|word| word.len() <= self.longest) {
            return text;
        }
        let words: Vec<Cow<'_, str>> = text.split(' ').map(|word| shortened(word, self.longest)).collect();
        words.join(" ")
    }

    /// A path, fit to print.
    pub(super) fn path(&self, path: &str) -> String {
        let longest = if self.longest == usize::MAX { usize::MAX } else { PATH_SHOWN };
        shortened(&self.whole(path), longest).into_owned()
    }

    /// Any text out of a log, such as a quote, fit to print, in its length. Doing it twice changes nothing more.
    pub(super) fn whole(&self, text: &str) -> String {
        let text = self.without_sessions(text);
        let masked = redact::redact(&text);
        escape::visible(&masked).into_owned()
    }

    /// Replaces the ids of known sessions, wherever they stand as a word.
    fn without_sessions<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.sessions.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut text = Cow::Borrowed(text);
        for (name, number) in &self.odd {
            if text.contains(name) {
                text = Cow::Owned(text.replace(name, &format!("S{number}")));
            }
        }
        let mut out: Option<String> = None;
        let mut done = 0;
        let mut from = 0;
        while let Some(start) = text.get(from..).and_then(|rest| rest.find(is_word)).map(|at| from + at) {
            let rest = text.get(start..).unwrap_or_default();
            let end = start + rest.find(|char| !is_word(char)).unwrap_or(rest.len());
            let word = text.get(start..end).unwrap_or_default();
            from = end;
            let known = self.case.symbols.get(word).and_then(|symbol| self.sessions.get(&symbol));
            if let Some(number) = known.filter(|_| is_telling(word)) {
                let out = out.get_or_insert_with(String::new);
                out.push_str(text.get(done..start).unwrap_or_default());
                out.push('S');
                out.push_str(&number.to_string());
                done = end;
            }
        }
        match out {
            Some(mut out) => {
                out.push_str(text.get(done..).unwrap_or_default());
                Cow::Owned(out)
            }
            None => text,
        }
    }

    /// The name of a run. Names that masking or shortening may have made equal are told apart.
    pub(super) fn run(&self, index: usize) -> &str {
        let (Some(run), Some(cell)) = (self.case.runs.get(index), self.runs.get(index)) else { return "" };
        cell.get_or_init(|| {
            let clean = shortened(&self.whole(&run.name), self.longest).into_owned();
            if clean == run.name { clean.into() } else { format!("{clean} (run {})", index + 1).into() }
        })
    }

    /// A recorded instant in the precision of its source. A stamp without a date gets the date its source was placed
    /// at; where nothing places it, there is no instant.
    pub(super) fn instant(&self, mark: Mark) -> Option<String> {
        let source = self.case.sources.get(mark.origin.source.0 as usize)?;
        Some(self.recorded(mark)?.rfc3339(source.digits))
    }

    fn recorded(&self, mark: Mark) -> Option<Timestamp> {
        let source = self.case.sources.get(mark.origin.source.0 as usize)?;
        let at = mark.at?;
        if source.shape != Some(Shape::TimeOfDay) || year(at) > 1970 {
            return Some(at);
        }
        self.case.shown(mark).filter(|at| year(*at) > 1970)
    }

    /// The instant that places a stamp between other sources, where it is not the recorded one.
    pub(super) fn aligned(&self, mark: Mark) -> Option<String> {
        let source = self.case.sources.get(mark.origin.source.0 as usize)?;
        let placed = self.case.shown(mark)?;
        (Some(placed) != mark.at && year(placed) > 1970).then(|| placed.rfc3339(source.digits))
    }

    /// The id of a request as people write it.
    pub(super) fn rpc_id(&self, id: RpcId) -> Option<String> {
        Some(match id {
            RpcId::Unknown => return None,
            RpcId::Null => "null".to_owned(),
            RpcId::Int(id) => id.to_string(),
            RpcId::Text(id) | RpcId::Raw(id) => self.name(id).to_owned(),
        })
    }
}

/// The beginning and the end of a text that is too long, with an ellipsis between them.
fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let count = text.chars().count();
    if count <= longest {
        return Cow::Borrowed(text);
    }
    let head = text.chars().take(longest - TAIL_SHOWN - 1);
    let tail = text.chars().skip(count - TAIL_SHOWN);
    Cow::Owned(head.chain(std::iter::once('…')).chain(tail).collect())
}

/// Long or odd enough that finding it in a text means something.
fn is_telling(name: &str) -> bool {
    name.len() >= 12 || name.len() >= 4 && name.bytes().any(|byte| byte.is_ascii_digit())
}

/// The handle of a call.
pub(super) fn call(index: u32) -> String {
    format!("c{}", u64::from(index) + 1)
}

/// The handle of a source.
pub(super) fn source(index: usize) -> String {
    format!("s{}", index + 1)
}

/// The handle of an operation.
pub(super) fn operation(index: usize) -> String {
    format!("op{}", index + 1)
}
