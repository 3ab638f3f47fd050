//! Probes: a handshake that the other side refused, and that a completed one follows.
//!
//! The specification has clients ask that way: `server/discover` (2026-07-28) at a server that may know `initialize` only,
//! or a revision that the server answers with those it supports. It does not say whether a server is healthy.

use crate::{
    correlate::{AnswerKind, Call, Case, Strand},
    event::{Direction, Wording},
};

/// How far behind a probe the handshake is looked for.
const NEAR: usize = 256;

/// Whether a call is a refused probe behind which both sides came to an understanding.
pub(in crate::judge) fn is_probe(case: &Case, index: u32) -> bool {
    let call = &case.calls[index as usize];
    let behind = case.calls.iter().skip(index as usize + 1).take(NEAR);
    shakes_hands(case, call) && is_refused(case, call) && {
        let mut completed = behind.filter(|later| shakes_hands(case, later) && later.answer.kind == AnswerKind::Result);
        completed.any(|later| later.run == call.run || probed_first(case, call, later))
    }
}

fn shakes_hands(case: &Case, call: &Call) -> bool {
    call.direction == Direction::ToServer && matches!(case.name(call.method), "initialize" | "server/discover")
}

/// A refusal as servers of another revision give it: of the method, its parameters, its version, or of the whole POST.
fn is_refused(case: &Case, call: &Call) -> bool {
    let answer = &call.answer;
    let by_code = answer.has_code && matches!(answer.code, -32600 | -32601 | -32602 | -32022);
    let by_status = || case.http(call).is_some_and(|http| matches!(http.status, 400 | 404 | 405));
    match answer.kind {
        AnswerKind::Error => by_code || answer.wording == Wording::Version,
        AnswerKind::HttpError => by_code || answer.wording == Wording::Version || by_status(),
        _ => false,
    }
}

/// A client may probe a process of its own: then one log holds both, and nothing says that they are two servers.
fn probed_first(case: &Case, probe: &Call, later: &Call) -> bool {
    let strand = |call: &Call| -> &Strand { &case.strands[call.strand as usize] };
    let (one, two) = (strand(probe), strand(later));
    let other = |one: Option<_>, two: Option<_>| one.is_some() && two.is_some() && one != two;
    one.source == two.source && !other(one.server, two.server) && one.endpoint == two.endpoint
}
