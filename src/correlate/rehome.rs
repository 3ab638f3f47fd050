//! Records without a run id in a source whose other records have one: they join a run of that source.

use super::{Correlator, Mark, Strand, StrandKey};

impl Correlator {
    /// A record without run id joins the run of its source: by position where the runs of the source follow one
    /// another, and not at all where they interleave.
    pub(super) fn rehome_rest(&mut self) {
        let Some(&rest) = self.lane.strands.get(&StrandKey::Rest) else { return };
        let Some(keyed) = self.runs_in_order() else { return };
        let home = |strands: &[Strand], mark: Mark| {
            let after = keyed.iter().rev().find(|strand| strands[**strand as usize].first.origin <= mark.origin);
            *after.unwrap_or(&keyed[0])
        };
        for event in std::mem::take(&mut self.case.strands[rest as usize].events) {
            let strand = home(&self.case.strands, event.mark);
            let events = &mut self.case.strands[strand as usize].events;
            let at = events.partition_point(|other| other.mark.origin <= event.mark.origin);
            events.insert(at, event);
        }
        for list in std::mem::take(&mut self.case.strands[rest as usize].tools) {
            let strand = home(&self.case.strands, list.mark);
            // The last list of a server is the one that holds.
            let tools = &mut self.case.strands[strand as usize].tools;
            let at = tools.partition_point(|other| other.mark.origin <= list.mark.origin);
            tools.insert(at, list);
        }
        for call in std::mem::take(&mut self.case.strands[rest as usize].calls) {
            let strand = home(&self.case.strands, self.case.place(&self.case.calls[call as usize]));
            self.case.calls[call as usize].strand = strand;
            self.case.strands[strand as usize].calls.push(call);
        }
        for index in 0..self.case.contacts.len() {
            if self.case.contacts[index].strand == rest {
                let strand = home(&self.case.strands, self.case.contacts[index].attempt);
                self.case.contacts[index].strand = strand;
            }
        }
        self.share_doubts(rest, &keyed);
        self.share_names(rest, &keyed);
    }

    /// The strands of the source that have a run id, where they follow one another.
    fn runs_in_order(&self) -> Option<Vec<u32>> {
        let strand = |index: u32| &self.case.strands[index as usize];
        let mut keyed: Vec<u32> =
            self.lane.order.iter().copied().filter(|index| strand(*index).run_id.is_some()).collect();
        keyed.sort_by_key(|index| strand(*index).first.origin);
        let interleaved = keyed.windows(2).any(|pair| strand(pair[0]).last.origin > strand(pair[1]).first.origin);
        (!keyed.is_empty() && !interleaved).then_some(keyed)
    }

    /// What the rest of a source tells of its server takes a proof from each of the runs: it may be about any.
    fn share_doubts(&mut self, rest: u32, keyed: &[u32]) {
        let told = self.case.strands[rest as usize].clone();
        for index in keyed {
            let strand = &mut self.case.strands[*index as usize];
            strand.spoke |= told.spoke;
            strand.serves_tools |= told.serves_tools;
            strand.tools_changed = later(strand.tools_changed, told.tools_changed);
            strand.stray_progress = later(strand.stray_progress, told.stray_progress);
        }
    }

    /// Sessions and processes are those of the only run; of several runs nobody knows whose.
    fn share_names(&mut self, rest: u32, keyed: &[u32]) {
        let sessions = std::mem::take(&mut self.case.strands[rest as usize].sessions);
        let pids = std::mem::take(&mut self.case.strands[rest as usize].pids);
        if let [only] = keyed {
            let strand = &mut self.case.strands[*only as usize];
            strand.sessions.extend(sessions);
            strand.pids.extend(pids.iter().filter(|pid| !strand.pids.contains(pid)).copied().collect::<Vec<_>>());
        }
    }
}

fn later(one: Option<Mark>, other: Option<Mark>) -> Option<Mark> {
    one.into_iter().chain(other).max_by_key(|mark| mark.origin)
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    fn line(second: u32, run: &str, direction: &str, message: &str) -> String {
        format!(
            r#"{{"ts":"2026-07-22T14:00:{second:02}.000Z",{run}"direction":"{direction}","message":{{"jsonrpc":"2.0",{message}}}}}"#
        )
    }

    /// The verdict of a call that is refused as unknown, behind two tool lists: the first one without the tool.
    fn verdict(first: &str, second: &str) -> Caution {
        const RUN: &str = r#""run_id":"r","#;
        let list = |id: u32, tool: &str| {
            format!(r#""id":{id},"result":{{"tools":[{{"name":"{tool}","inputSchema":{{"type":"object"}}}}]}}"#)
        };
        let ask = |id: u32| format!(r#""id":{id},"method":"tools/list""#);
        let lines = [
            line(1, first, "in", &ask(1)),
            line(1, first, "out", &list(1, "add")),
            line(2, second, "in", &ask(2)),
            line(2, second, "out", &list(2, "pay")),
            line(3, RUN, "in", r#""id":3,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}"#),
            line(
                3,
                RUN,
                "out",
                r#""id":3,"result":{"content":[{"type":"text","text":"Unknown tool: pay"}],"isError":true}"#,
            ),
        ];
        let (_, verdicts) = judged(&[&lines.join("\n")]);
        verdicts.calls.values().next_back().expect("a refused call").retry.verdict
    }

    #[test]
    fn the_last_list_holds_whether_it_names_its_run_or_not() {
        const RUN: &str = r#""run_id":"r","#;
        for (first, second) in [(RUN, RUN), ("", RUN), (RUN, ""), ("", "")] {
            assert_eq!(verdict(first, second), Caution::Unknown, "{first} {second}");
        }
    }
}
