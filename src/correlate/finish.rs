//! What holds of the whole case, worked out when everything is joined and bound.

use super::{Anywhere, Case, Contact, Correlator, NONE, Servers};
use crate::event::{ReachSource, SourceId};

impl Correlator {
    pub(super) fn finish(mut self) -> Case {
        let contacts = &self.case.contacts;
        for run in &mut self.case.runs {
            run.contacts.sort_by_key(|index| contacts[*index as usize].attempt.origin);
        }
        self.case.loose = (0_u32..)
            .zip(&self.case.contacts)
            .filter(|(_, contact)| contact.run == NONE && contact.is_attempt())
            .map(|(index, _)| index)
            .collect();
        self.case.servers = Servers::new(&self.case);
        self.case.anywhere = self.anywhere();
        // What is joined from several records is told behind them, and stands where the first of them does.
        self.case.trail.sort_by_key(|told| told.mark.origin);
        self.case
    }

    fn anywhere(&self) -> Anywhere {
        let contact = |index: &u32| &self.case.contacts[*index as usize];
        let mut outside = self.case.runs.iter().flat_map(|run| &run.contacts).chain(&self.case.loose).map(contact);
        let lossy = (0_u32..).zip(&self.case.sources).filter(|(_, source)| source.lossy);
        Anywhere {
            lossy_sources: lossy.map(|(index, _)| SourceId(index)).collect(),
            unread: self.unread,
            service_log: self.case.contacts.iter().any(|contact| contact.vouched == ReachSource::ServiceLog),
            attempt_outside_calls: outside.any(Contact::is_attempt),
        }
    }
}
