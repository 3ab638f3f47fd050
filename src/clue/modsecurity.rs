//! What `ModSecurity` writes into the error log of its web server. nginx's own lines are read by their format.

use super::{Clue, scan};
use crate::{
    event::{Kind, RemarkKind, Witness},
    record::{Body, Sink},
};

/// Denials of the answer.
pub(super) static CLUE: Clue = Clue {
    name: "modsecurity",
    title: "ModSecurity: an answer was denied",
    doc: "\
## What it means
`ModSecurity: Access denied with code 403 (phase 4)`: ModSecurity 2.x or 3.x looked at the answer and replaced it. Phase 3 is \
the answer's headers, phase 4 its body. Whoever answered behind it had executed the request.
## How it is recognized
By `ModSecurity: ` and the phase in brackets.
## What it is not
A denial in phase 1 or 2: there the request was looked at, and not forwarded.
## What to do
Look for the answer in the log of the server behind it.
",
    needles: &["ModSecurity: "],
    read,
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((_, rest)) = scan::find(text, "ModSecurity: ") else { return false };
    if !["(phase 3)", "(phase 4)"].iter().any(|phase| rest.contains(phase)) {
        return false;
    }
    scan::push_as(Kind::Remark(scan::remark(RemarkKind::AnswerInspected)), Some(Witness::Proxy), body, sink);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::{only, remark_of};

    #[test]
    fn only_a_denial_of_the_answer_shows_one() {
        only("ModSecurity: Access denied with code 403 (phase 4). Pattern match at RESPONSE_BODY.", |event| {
            assert_eq!((remark_of(event).kind, event.witness), (RemarkKind::AnswerInspected, Some(Witness::Proxy)));
        });
        only("ModSecurity: Access denied with code 403 (phase 2). Pattern match at ARGS.", |event| {
            assert!(matches!(event.kind, Kind::Text(_)));
        });
    }
}
