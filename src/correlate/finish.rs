//! What holds of the whole case, worked out when everything is joined and bound.

use super::{Anywhere, Case, Correlator, NONE, Servers};
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
        self.case.note_reach();
        self.case
    }

    fn anywhere(&self) -> Anywhere {
        let lossy = (0_u32..).zip(&self.case.sources).filter(|(_, source)| source.lossy);
        Anywhere {
            lossy_sources: lossy.map(|(index, _)| SourceId(index)).collect(),
            unread: self.unread,
            hidden: self.hidden,
            service_log: self.case.contacts.iter().any(|contact| contact.vouched == ReachSource::ServiceLog),
            reach_outside_calls: false,
        }
    }
}
