//! The chain of a call: every record of every witness about it, in causal order, with what each of them proves.
//!
//! It draws no conclusion. Across sources the order is that of the ladder, never that of clocks.

use std::collections::BTreeMap;

use super::{
    facts::{CallFacts, event_of},
    told::role_in,
};
use crate::{
    correlate::{Case, Contact, Mark, Seen},
    event::{PhaseEvent, ReachStage, SourceId, Witness},
    judge::Evidence,
};

/// One record of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The event of the ladder that it confirms, if any.
    pub event: Option<PhaseEvent>,
    /// What was recorded.
    pub what: LinkKind,
    /// Who recorded it.
    pub witness: Witness,
    /// What it proves, as a phrase.
    pub role: &'static str,
    /// Where and when.
    pub mark: Mark,
}

impl Link {
    /// The same as a piece of evidence.
    pub fn evidence(&self) -> Evidence {
        Evidence::seen(self.role, self.mark)
    }
}

/// What a record of a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The call itself.
    Call(Seen),
    /// A contact with the outside.
    Contact(ReachStage),
    /// The answer of the outside.
    Result,
    /// A contact that another record of the chain tells of, too.
    SameContact,
}

/// The records of a call in causal order. Records of one source keep their order.
pub fn chain(case: &Case, index: u32) -> Vec<Link> {
    let mut links = ladder(&CallFacts::new(case, None, index));
    links.sort_by_key(|link| (link.event.unwrap_or(PhaseEvent::TimedOut), hop(link)));
    let mut places: BTreeMap<SourceId, Vec<usize>> = BTreeMap::new();
    for (place, link) in links.iter().enumerate() {
        places.entry(link.mark.origin.source).or_default().push(place);
    }
    for places in places.values() {
        let mut own: Vec<Link> = places.iter().map(|place| links[*place]).collect();
        own.sort_by_key(|link| link.mark.origin);
        places.iter().zip(own).for_each(|(place, link)| links[*place] = link);
    }
    links
}

/// Of several records of one event that of the party comes first that the message leaves.
fn hop(link: &Link) -> u8 {
    let from_client = match link.witness {
        Witness::Client => 0,
        Witness::Proxy => 1,
        Witness::Server | Witness::Network | Witness::Harness => 2,
    };
    match link.what {
        LinkKind::Call(Seen::Sent | Seen::Queued | Seen::Resent) => from_client,
        LinkKind::Call(Seen::Responded) => 2 - from_client,
        _ => 0,
    }
}

/// The records of a call by the event that they confirm.
pub(super) fn ladder(facts: &CallFacts<'_>) -> Vec<Link> {
    let of_call = facts.seen.iter().map(|row| Link {
        event: event_of(facts.method, row, facts.call),
        what: LinkKind::Call(row.seen),
        witness: row.witness,
        role: role_in(facts, row),
        mark: row.mark,
    });
    let mut links: Vec<Link> = of_call.collect();
    facts.contacts.iter().for_each(|contact| contact_links(contact, &mut links));
    links.sort_by_key(|link| link.event.unwrap_or(PhaseEvent::TimedOut));
    links
}

fn contact_links(contact: &Contact, links: &mut Vec<Link>) {
    let role = match contact.stage {
        ReachStage::Announced => "announces a contact with the outside",
        ReachStage::NotConnected => "shows that a contact with the outside failed to connect",
        _ => "shows a contact with the outside",
    };
    let link = Link {
        event: Some(PhaseEvent::ExternalAttempt),
        what: LinkKind::Contact(contact.stage),
        witness: contact.witness,
        role,
        mark: contact.attempt,
    };
    links.push(link);
    if let Some(mark) = contact.corroborated {
        let role = "shows the same contact from another witness";
        links.push(Link { what: LinkKind::SameContact, role, mark, ..link });
    }
    if let Some(mark) = contact.result.filter(|result| *result != contact.attempt) {
        let event = Some(PhaseEvent::ExternalResult);
        links.push(Link { event, what: LinkKind::Result, role: "shows the answer of the outside", mark, ..link });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::testing::judged;

    #[test]
    fn records_of_one_source_keep_their_order() {
        // The answer comes when the caller has stopped waiting: on the ladder it stands before that.
        let text = r#"{"ts":"2026-07-22T14:00:01.000Z","direction":"in","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{}}}}
{"ts":"2026-07-22T14:00:02.000Z","direction":"in","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timeout"}}}
{"ts":"2026-07-22T14:00:03.000Z","direction":"out","message":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
"#;
        let (case, _) = judged(&[text]);
        let chain = chain(&case, 0);
        let records: Vec<u32> = chain.iter().map(|link| link.mark.origin.record.get()).collect();
        assert_eq!(records, [1, 2, 3], "{chain:?}");
        let seen: Vec<LinkKind> = ladder(&CallFacts::new(&case, None, 0)).iter().map(|link| link.what).collect();
        assert_eq!(seen.len(), 3);
        assert_ne!(seen, chain.iter().map(|link| link.what).collect::<Vec<_>>(), "the ladder alone would break it");
    }
}
