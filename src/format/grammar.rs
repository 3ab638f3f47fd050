//! What the grammars of the line formats share. They are made of [`nom`] parsers over the text of one record.
//!
//! A line matches or it does not, and nobody reads why not: the error is `()`.

use nom::{Err, IResult, Parser, branch::alt, bytes::complete::tag, combinator::eof};

use crate::time::Stamp;

/// What follows, and what was read.
pub(super) type Parsed<'a, T> = IResult<&'a str, T, ()>;

/// The line does not match.
pub(super) const NO_MATCH: Err<()> = Err::Error(());

/// The stamp that `read`, a function of [`crate::time`], finds at the beginning.
pub(super) fn stamp<'a>(
    read: impl Fn(&[u8]) -> Option<(Stamp, usize)>,
) -> impl Parser<&'a str, Output = Stamp, Error = ()> {
    move |text: &'a str| {
        let (at, used) = read(text.as_bytes()).ok_or(NO_MATCH)?;
        text.get(used..).map(|rest| (rest, at)).ok_or(NO_MATCH)
    }
}

/// What stands before `mark`, which is passed as well.
pub(super) fn before<'a>(mark: &'static str) -> impl Parser<&'a str, Output = &'a str, Error = ()> {
    move |text: &'a str| {
        let at = memchr::memmem::find(text.as_bytes(), mark.as_bytes()).ok_or(NO_MATCH)?;
        Ok((&text[at + mark.len()..], &text[..at]))
    }
}

/// The first of these words that the text begins with.
pub(super) fn known<'a>(words: &'static [&'static str]) -> impl Parser<&'a str, Output = &'static str, Error = ()> {
    move |text: &'a str| words.iter().find_map(|word| Some((text.strip_prefix(word)?, *word))).ok_or(NO_MATCH)
}

/// A word: everything up to a blank, which may be nothing.
#[expect(clippy::unnecessary_wraps, reason = "a parser that always matches is a parser all the same")]
pub(super) fn word(text: &str) -> Parsed<'_, &str> {
    let (word, rest) = text.split_at(text.bytes().position(|byte| byte == b' ').unwrap_or(text.len()));
    Ok((rest, word))
}

/// The blank behind a word, or the end of the line.
pub(super) fn word_end(text: &str) -> Parsed<'_, &str> {
    alt((tag(" "), eof)).parse(text)
}

/// White space of any kind, or none.
#[expect(clippy::unnecessary_wraps, reason = "a parser that always matches is a parser all the same")]
pub(super) fn space(text: &str) -> Parsed<'_, &str> {
    let rest = text.trim_start();
    Ok((rest, &text[..text.len() - rest.len()]))
}

/// The inside of a quoted string. A backslash takes the next character along, and both stay.
pub(super) fn quoted(text: &str) -> Parsed<'_, &str> {
    let (inside, _) = tag("\"")(text)?;
    let mut end = 0;
    while let Some(at) = inside.as_bytes().get(end..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        end += at;
        if inside.as_bytes()[end] == b'"' {
            return Ok((&inside[end + 1..], &inside[..end]));
        }
        end += 2;
    }
    Err(NO_MATCH)
}
