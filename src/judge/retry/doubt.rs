//! What keeps a proof about one attempt from being one about its operation.
//!
//! That this request was refused says nothing about another one with the same content. A client that was refused
//! corrects its headers, logs in, waits or connects again, and sends it again; it may have been refused only because it
//! had sent it before. Where such an attempt would have been recorded, its absence speaks. Where the capture has a hole,
//! or tells of something that no call accounts for, it does not.

use super::{
    Attempt, CallFacts, Caution, Opinion, Outcome, Refusal, invalid_arguments, not_sent, refusal, refusal::window,
    unknown_tool,
};
use crate::{correlate::Mark, judge::Evidence};

/// Something that the capture lacks, or has and cannot explain.
struct Doubt {
    find: fn(&CallFacts<'_>) -> Found,
    /// The rules whose proofs it does not touch: an SDK that knows no such tool had nothing to run.
    except: &'static [&'static str],
    /// It is about this very attempt, and not about another one of its operation.
    own: bool,
    /// What must be checked.
    condition: &'static str,
    /// What the records show.
    reason: &'static str,
}

/// Whether there is a doubt, and which record raises it.
enum Found {
    Nothing,
    Somewhere,
    At(Mark),
}

impl From<Option<Mark>> for Found {
    fn from(mark: Option<Mark>) -> Self {
        mark.map_or(Self::Nothing, Self::At)
    }
}

impl From<bool> for Found {
    fn from(there: bool) -> Self {
        if there { Self::Somewhere } else { Self::Nothing }
    }
}

/// In order: what explains most comes first.
static DOUBTS: &[Doubt] = &[
    Doubt {
        find: |facts| facts.case.anywhere.lossy.into(),
        except: &[],
        own: false,
        condition: LACKS,
        reason: "A source of the capture is cut, damaged or missing: a later attempt may be missing.",
    },
    Doubt {
        find: |facts| facts.case.stray.orphan.into(),
        except: &[],
        own: false,
        condition: LACKS,
        reason: "An answer is on record whose request is not: a call is missing in the capture.",
    },
    Doubt {
        find: |facts| facts.case.stray.post.into(),
        except: &[],
        own: false,
        condition: LACKS,
        reason: "A log shows a request to the endpoint that no call here accounts for: it may be another attempt.",
    },
    Doubt {
        find: |facts| facts.case.stray.retold.into(),
        except: &[],
        own: false,
        condition: LACKS,
        reason: "The client, or a layer below it, tells of an attempt that no call here can be.",
    },
    Doubt {
        find: |facts| facts.case.stray.unplaced.into(),
        except: &[unknown_tool::RULE.id, invalid_arguments::RULE.id],
        own: true,
        condition: "the work that the server tells of without a call and a time is another call's",
        reason: "The server tells of work that no record ties to a call or to a time.",
    },
    Doubt {
        find: |facts| facts.case.stray.crash_elsewhere(facts.place().origin.source).into(),
        except: &[],
        own: true,
        condition: "the crash that another source records was not in its time",
        reason: "Another source records a crash without its time.",
    },
    Doubt {
        find: |facts| facts.case.stray.broken.unplaced().filter(|_| facts.http.is_some()).into(),
        except: BY_NAME,
        own: true,
        condition: "what a proxy tells of an upstream is about another request",
        reason: "A proxy tells of a lost upstream, or of its answer, at a time that cannot be compared.",
    },
    Doubt {
        find: |facts| {
            let elsewhere = || facts.case.stray.any_words(facts.place().origin.source);
            (window(facts).is_none() && facts.call.answered.is_some() && elsewhere()).into()
        },
        except: &[],
        own: true,
        condition: "what other sources tell was not told in its time",
        reason: "Its stamps cannot be compared with those of the other sources.",
    },
    Doubt {
        find: |facts| {
            let own = facts.place().origin.source;
            window(facts).and_then(|(from, to)| facts.case.stray.call_within(own, from, to)).into()
        },
        except: BY_NAME,
        own: true,
        condition: "the call that another source records in that time is not what was made of it",
        reason: "Another source records a call between the request and its answer: a gateway may have sent it on.",
    },
    Doubt {
        find: |facts| words_maybe_within(facts).into(),
        except: &[not_sent::RULE.id],
        own: true,
        condition: "what a log without a time zone tells was not told in that time",
        reason: "A log whose time zone is not known may tell of something between the request and its answer.",
    },
    Doubt {
        find: |facts| facts.case.stray.timeless.into(),
        except: BY_NAME,
        own: true,
        condition: "what the server may have written without a time is not about it",
        reason: "A log has text without a time, which may be the server's word about this request.",
    },
];

const LACKS: &str = "it was not sent again by anyone in what the capture lacks";

/// Rules whose answers name what the server could not run, or that nothing left the client.
static BY_NAME: &[&str] = &[unknown_tool::RULE.id, invalid_arguments::RULE.id, not_sent::RULE.id];

/// A proof about one attempt holds for its operation only as far as the capture explains itself. Whatever calls a
/// request safe that may have an effect is such a proof: that this attempt was not executed.
pub(super) fn with_doubts(attempt: &Attempt<'_, '_>, own: Opinion) -> Opinion {
    if own.verdict != Caution::Safe || !attempt.may_harm() {
        return own;
    }
    for doubt in DOUBTS.iter().filter(|doubt| !doubt.except.contains(&own.rule)) {
        let mark = match (doubt.find)(attempt.facts) {
            Found::Nothing => continue,
            Found::Somewhere => None,
            Found::At(mark) => Some(mark),
        };
        let reason = format!("{} {}", own.reason, doubt.reason);
        let proof = own.proof.with(mark.map(|mark| Evidence::seen("raises the doubt", mark)));
        return Opinion::safe_if(own.rule, doubt.condition, reason, own.helps, proof);
    }
    own
}

fn words_maybe_within(facts: &CallFacts<'_>) -> bool {
    window(facts).is_some_and(|(from, to)| facts.case.stray.words_maybe_within(from, to))
}

/// Whether something that nothing accounts for may be the work of this very attempt.
pub(in crate::judge) fn may_have_worked(facts: &CallFacts<'_>, outcome: Outcome) -> bool {
    let rule = match refusal(facts, outcome) {
        Some(Refusal::UnknownTool) => unknown_tool::RULE.id,
        Some(Refusal::InvalidArguments) => invalid_arguments::RULE.id,
        None if facts.not_sent().is_some() => not_sent::RULE.id,
        _ => "",
    };
    let mut own = DOUBTS.iter().filter(|doubt| doubt.own && !doubt.except.contains(&rule));
    own.any(|doubt| !matches!((doubt.find)(facts), Found::Nothing))
}

/// Whether only what the capture lacks keeps a call from being safe.
pub(in crate::judge) fn lacks_the_rest(opinion: &Opinion) -> bool {
    opinion.condition.as_deref() == Some(LACKS)
}
