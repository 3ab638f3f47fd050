//! What the grammars of the line formats share. They are made of [`nom`] parsers over the text of one record.
//!
//! A line matches or it does not, and nobody reads why not: the error is `()`.

use nom::{
    Err, IResult, Parser,
    branch::alt,
    bytes::complete::{tag, take_till, take_until, take_while},
    character::complete::anychar,
    combinator::{eof, recognize},
    multi::many0_count,
    sequence::{delimited, terminated},
};

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
    terminated(take_until(mark), tag(mark))
}

/// A word: everything up to a blank, which may be nothing.
pub(super) fn word(text: &str) -> Parsed<'_, &str> {
    take_till(|c| c == ' ')(text)
}

/// The blank behind a word, or the end of the line.
pub(super) fn word_end(text: &str) -> Parsed<'_, &str> {
    alt((tag(" "), eof)).parse(text)
}

/// White space of any kind, or none.
pub(super) fn space(text: &str) -> Parsed<'_, &str> {
    take_while(char::is_whitespace)(text)
}

/// The inside of a quoted string. A backslash takes the next character along, and both stay.
pub(super) fn quoted(text: &str) -> Parsed<'_, &str> {
    let plain = nom::bytes::complete::take_till1(|c| matches!(c, '"' | '\\'));
    let inside = many0_count(alt((plain, recognize((tag("\\"), anychar)))));
    delimited(tag("\""), recognize(inside), tag("\"")).parse(text)
}
