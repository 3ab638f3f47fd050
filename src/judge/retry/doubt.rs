//! What keeps a proof about one attempt from being one about its operation.
//!
//! That this request was refused says nothing about another one with the same content. A client that was refused
//! corrects its headers, logs in, waits or connects again, and sends it again; it may have been refused only because it
//! had sent it before. Where such an attempt would have been recorded, its absence speaks. Where the capture has a hole,
//! or tells of something that no call accounts for, it does not.

use super::{
    Attempt, CallFacts, Caution, Opinion, Outcome, Refusal, declared_absorbing, declared_key, declared_none,
    hinted_read_only, idempotency_key, input_required, invalid_arguments, not_sent, refusal, refusal::window,
    task_started, unknown_tool,
};
use crate::{
    correlate::{Contact, ContactKind, Hop, Mark},
    judge::{Condition, RunFacts, Spots},
    time::Timestamp,
};

/// Something that the capture lacks, or has and cannot explain.
struct Doubt {
    /// What raises it, if there is something.
    find: fn(&CallFacts<'_>) -> Option<Spots>,
    /// The rules whose proofs it does not touch: an SDK that knows no such tool had nothing to run.
    except: &'static [&'static str],
    /// It is about this very attempt, and not about another one of its operation.
    own: bool,
    /// What must be checked; `{}` stands for what raises it.
    condition: &'static str,
}

static DOUBTS: &[Doubt] = &[
    Doubt {
        // The handler runs from its top on each leg: what it did before it asked has been done already.
        find: |facts| Spots::records(continues(facts).then(|| facts.place())),
        except: &[],
        own: false,
        condition: "the tool had done nothing yet when it asked for what {} brings",
    },
    Doubt {
        find: |facts| Spots::sources(facts.case.anywhere.lossy_sources.iter().copied()),
        except: &[],
        own: false,
        condition: "nobody sent it again in what is missing from {}",
    },
    Doubt {
        find: |facts| facts.case.anywhere.unread.then_some(Spots::Nowhere),
        except: &[],
        own: false,
        condition: "nobody sent it again in the inputs that could not be read",
    },
    Doubt {
        find: |facts| facts.case.anywhere.hidden.then_some(Spots::Nowhere),
        except: &[],
        own: false,
        condition: "nobody sent it again in the hidden files and folders that were skipped",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.orphans.iter().copied()),
        except: &[],
        own: false,
        condition: "no answer to, or cancellation of, a request that is not on record (first: {}) is about another attempt of it",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.unreadable.iter().copied()),
        except: &[],
        own: false,
        condition: "no message that cannot be read (first: {}) is another attempt of it",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.nameless_like(facts.call)),
        except: &[],
        own: false,
        condition: "no request that was sent without an id (first: {}) was carried out as another attempt of it",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.posts.iter().copied()),
        except: &[],
        own: false,
        condition: "no request of which only a log tells (first: {}) is another attempt of it",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.retold.iter().copied()),
        except: &[],
        own: false,
        condition: "no attempt, failure or repetition that a client tells of (first: {}) is another attempt of it",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.unplaced),
        except: &[unknown_tool::RULE.id, invalid_arguments::RULE.id],
        own: true,
        condition: "no work without a call and a time (first: {}) was done for it",
    },
    Doubt {
        find: |facts| Spots::records(contact_of_nobody(facts)),
        except: BY_NAME,
        own: true,
        condition: "no contact of nobody near it (first: {}) was made for it",
    },
    Doubt {
        find: |facts| Spots::records(facts.http.filter(|http| http.reconnected).and(facts.call.answered)),
        except: &[],
        own: true,
        condition: "the browser had not sent it before on a connection that was still open (see {})",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.crashes_elsewhere(facts.place().origin.source)),
        except: &[],
        own: true,
        condition: "no crash without a time (first: {}) was during it",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.broken.unplaced().filter(|_| facts.http.is_some())),
        except: BY_NAME,
        own: true,
        condition: "nothing that a proxy tells of an upstream without a time (first: {}) is about it",
    },
    Doubt {
        find: |facts| {
            let incomparable = window(facts).is_none() && facts.call.answered.is_some();
            let elsewhere = facts.case.stray.words_elsewhere(facts.place().origin.source);
            Spots::sources(elsewhere.filter(|_| incomparable))
        },
        except: &[],
        own: true,
        condition: "nothing in {} was written about it (times do not tell)",
    },
    Doubt {
        find: |facts| {
            let elsewhere = facts.case.stray.words_elsewhere(facts.place().origin.source);
            Spots::sources(elsewhere.filter(|_| words_behind(facts)))
        },
        except: &[],
        own: true,
        condition: "nothing in {} was written about it",
    },
    Doubt {
        find: |facts| {
            let own = Hop::of(facts.case, facts.call);
            Spots::records(window(facts).and_then(|(from, to)| facts.case.stray.call_within(own, from, to)))
        },
        except: BY_NAME,
        own: true,
        condition: "no call that another hop recorded in its time (first: {}) is this one, passed on",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.incomparable_calls(facts.place().origin.source)),
        except: BY_NAME,
        own: true,
        condition: "no call of another clock (first: {}) is this one, passed on",
    },
    Doubt {
        find: |facts| {
            let within = words_maybe_within(facts);
            Spots::sources(facts.case.stray.local_sources.iter().copied().filter(|_| within))
        },
        except: &[not_sent::RULE.id],
        own: true,
        condition: "nothing in {}, whose time zone is not known, was written during it",
    },
    Doubt {
        find: |facts| Spots::records(facts.case.stray.timeless.iter().copied()),
        // A server that lists no such tool had nothing to run.
        except: &[unknown_tool::RULE.id, not_sent::RULE.id],
        own: true,
        condition: "no line without a time (first: {}) is about it",
    },
];

/// Whether a request goes on with what a tool asked for (MCP 2026-07-28, multi-round-trip requests).
fn continues(facts: &CallFacts<'_>) -> bool {
    facts.call.continues || facts.call.state_sent != 0
}

/// A contact of the run, or of no run, that names no call and may be the work of this one.
fn contact_of_nobody(facts: &CallFacts<'_>) -> Option<Mark> {
    let works = |contact: &&Contact| matches!(contact.kind, ContactKind::Service | ContactKind::Credential);
    let unattributed = facts.run.into_iter().flat_map(RunFacts::unattributed).filter(works);
    let mut near = unattributed.filter(|contact| facts.case.may_have_made(facts.call, contact));
    // Whoever repeats its arguments while no call was open tells of one that is not on record.
    let outside = || facts.run.into_iter().flat_map(RunFacts::contacts).filter(|contact| contact.outside);
    let repeats = |contact: &&Contact| !contact.pairs.is_empty() && facts.call.pairs.repeats(contact.pairs);
    near.next().or_else(|| outside().find(repeats)).map(|contact| contact.attempt)
}

/// Whether somebody wrote something behind a request that has no answer, as far as the clock tells: it has no end.
fn words_behind(facts: &CallFacts<'_>) -> bool {
    let own = facts.place().origin.source;
    let from = facts.call.asked.and_then(|asked| facts.case.on_common_clock(asked));
    let behind = |from| facts.case.stray.words_within(own, from, Timestamp(i64::MAX));
    facts.call.answered.is_none() && from.is_none_or(behind)
}

/// Rules whose answers name what the server could not run, or that nothing left the client.
static BY_NAME: &[&str] = &[unknown_tool::RULE.id, invalid_arguments::RULE.id, not_sent::RULE.id];

/// Rules that do not say that the request was not executed: executing it twice does no harm, or something else is to
/// be sent.
static WHATEVER_RAN: &[&str] = &[
    declared_none::RULE.id,
    declared_absorbing::RULE.id,
    declared_key::RULE.id,
    idempotency_key::RULE.id,
    hinted_read_only::RULE.id,
    hinted_read_only::SUCCESS.id,
    input_required::RULE.id,
    task_started::RULE.id,
];

/// Whether an opinion lets a request be sent again because this attempt was not executed.
pub(in crate::judge) fn rests_on_no_execution(opinion: &Opinion) -> bool {
    opinion.verdict <= Caution::SafeIf && !WHATEVER_RAN.contains(&opinion.rule)
}

/// A proof about one attempt holds for its operation only as far as the capture explains itself. Whatever calls a
/// request safe that may have an effect is such a proof: that this attempt was not executed.
pub(super) fn doubts(attempt: &Attempt<'_, '_>, rule: &'static str) -> Vec<Condition> {
    if !attempt.may_harm() || WHATEVER_RAN.contains(&rule) {
        return Vec::new();
    }
    let touched = DOUBTS.iter().filter(|doubt| !doubt.except.contains(&rule));
    let raised = touched.filter_map(|doubt| Some((doubt, (doubt.find)(attempt.facts)?)));
    let condition =
        |(doubt, spots): (&Doubt, Spots)| Condition { text: doubt.condition.into(), spots, elsewhere: !doubt.own };
    raised.map(condition).collect()
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
    own.any(|doubt| (doubt.find)(facts).is_some())
}
