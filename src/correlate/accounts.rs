//! Accounts for requests: every POST to an MCP endpoint that an access log or a client's library tells of must be one
//! that a capture shows. What is left over is a request of which nobody knows what it asked for.

use rustc_hash::FxHashMap;

use super::{
    AnswerKind, Call, Correlator, Mark, NONE, Seen, StrandEvent, StrandFact,
    bind::{NEAR, SLACK},
    windows::{Span, Windows},
};
use crate::{
    event::{Direction, RemarkKind, Witness, is_effect_free},
    symbol::Symbol,
};

/// A POST that a log tells of, without what it asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostRow {
    pub(super) mark: Mark,
    pub(super) status: u16,
    /// Only a mention: of one request there may be several.
    pub(super) mention: bool,
    /// Whoever tells of it lost the server behind it: nobody had that server's answer.
    pub(super) lost: bool,
    pub(super) session: Option<Symbol>,
}

impl PostRow {
    /// One with a status, or none.
    pub(super) fn new(mark: Mark, status: u16) -> Self {
        Self { mark, status, mention: false, lost: false, session: None }
    }
}

/// A POST that a capture shows and that asked for nothing: a notification, an answer of the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarePost {
    pub(super) asked: Mark,
    pub(super) ended: Mark,
    pub(super) status: u16,
}

/// Text that names a request: the path of a POST, or none for a `tools/call`.
pub(super) type Mention = (Option<Symbol>, Mark);

/// So many are kept to be compared with the calls on record.
const MENTIONS: usize = 1 << 20;

/// An exchange that a capture shows; no status where none is on record.
#[derive(Clone, Copy, Debug)]
struct Shown {
    status: u16,
    session: Option<Symbol>,
    /// It ended with the server's own answer.
    served: bool,
    /// It left its client. What did not is no request to anybody but a proxy.
    sent: bool,
    span: Option<Span>,
    first: Mark,
}

impl Correlator {
    /// The rows that no exchange accounts for.
    pub(super) fn unaccounted(&self, rows: &[PostRow]) -> Vec<Mark> {
        if rows.is_empty() {
            return Vec::new();
        }
        let shown = self.shown();
        // Whoever records no exchanges shows no notifications either.
        let exchanges = !self.case.http.is_empty();
        let mut by_hop: FxHashMap<u32, Vec<PostRow>> = FxHashMap::default();
        let asks = |row: &&PostRow| exchanges || row.status != 202 && !self.is_of_a_proxy_alone(row);
        for row in rows.iter().filter(asks) {
            by_hop.entry(row.mark.origin.source.0).or_default().push(*row);
        }
        let mut windows: FxHashMap<(u16, bool), Windows> = FxHashMap::default();
        let mut left = Vec::new();
        for mut rows in by_hop.into_values() {
            rows.sort_by_key(|row| row.mark.origin);
            let before = left.len();
            for row in &rows {
                let windows = windows.entry((row.status, row.lost)).or_insert_with(|| fitting(&shown, row));
                let strange = self.is_strange(row.mark, windows) || row.lost && windows.is_empty();
                left.extend(strange.then_some(row.mark));
            }
            let counted = |row: &&PostRow| !row.lost && !row.mention || self.case.on_common_clock(row.mark).is_none();
            let counted: Vec<PostRow> = rows.iter().filter(counted).copied().collect();
            if left.len() == before && !in_order(&counted, &shown) {
                // One too many, and nobody knows which.
                left.push(Mark { at: None, ..counted[0].mark });
            }
            if left.len() == before && !(counted.len() == shown.len() && in_order(&counted, &shown)) {
                left.extend(self.contradicting(&counted, &shown));
            }
        }
        left
    }

    /// The rows of a hop that name a session and have, at the very time of one of its exchanges, another status. A clock
    /// that is off puts rows where no exchange is: then the times of that hop tell nothing.
    fn contradicting(&self, rows: &[PostRow], shown: &[Shown]) -> Vec<Mark> {
        let mut of_session: FxHashMap<Symbol, Vec<&Shown>> = FxHashMap::default();
        if rows.iter().any(|row| row.session.is_some()) {
            for (session, one) in shown.iter().filter_map(|one| Some((one.session?, one))) {
                of_session.entry(session).or_default().push(one);
            }
        }
        let windows = |session: Symbol, fits: &dyn Fn(&Shown) -> bool| {
            let all = of_session.get(&session).into_iter().flatten();
            Windows::new(all.filter(|one| fits(one)).map(|one| one.span))
        };
        let mut known: FxHashMap<(Symbol, u16), (Windows, Windows)> = FxHashMap::default();
        // Notifications are shown without their session.
        let mut unnamed: FxHashMap<u16, Windows> = FxHashMap::default();
        let mut contradicting = Vec::new();
        for row in rows {
            let Some((session, at)) = row.session.zip(self.case.on_common_clock(row.mark)) else { continue };
            let (same, other) = known.entry((session, row.status)).or_insert_with(|| {
                let same = |one: &Shown| may_be(row.status, one.status);
                (windows(session, &same), windows(session, &|one| !same(one)))
            });
            let coarse = self.case.sources[super::source_index(row.mark.origin)].digits == 0;
            let open = |windows: &Windows| windows.untimed || windows.open_at(at.0, NEAR) != [None, None];
            let unnamed = unnamed.entry(row.status).or_insert_with(|| {
                let fits = |one: &&Shown| one.session.is_none() && may_be(row.status, one.status);
                Windows::new(shown.iter().filter(fits).map(|one| one.span))
            });
            match (open(same) || open(unnamed), open(other)) {
                _ if coarse => {}
                (true, _) => {}
                (false, true) => contradicting.push(row.mark),
                (false, false) => return Vec::new(),
            }
        }
        contradicting
    }

    /// Whether a proxy tells of it without time and status, and nothing shows exchanges: a notification may be one.
    fn is_of_a_proxy_alone(&self, row: &PostRow) -> bool {
        let writer = self.case.sources[super::source_index(row.mark.origin)].witness;
        row.mention && row.mark.at.is_none() && writer == Some(Witness::Proxy)
    }

    /// The first receipt of each server's log that shows more of them than there are calls which may have got that far.
    pub(super) fn surplus_receipts(&self) -> Vec<Mark> {
        let mut receipts: FxHashMap<(u32, u32), (Mark, usize)> = FxHashMap::default();
        for strand in &self.case.strands {
            let own = strand.events.iter().filter(|event| self.is_receipt(event));
            for event in own {
                let counted = receipts.entry((strand.run, event.mark.origin.source.0)).or_insert((event.mark, 0));
                counted.1 += 1;
            }
        }
        let surplus = receipts.into_iter().filter(|((run, source), (_, count))| {
            let received = |call: &Call| self.may_be_received(call, *source);
            let calls = match self.case.runs.get(*run as usize) {
                Some(run) => {
                    let calls = run.calls.iter().map(|call| &self.case.calls[*call as usize]);
                    calls.filter(|call| received(call)).take(*count).count()
                }
                None => self.case.calls.iter().filter(|call| received(call)).take(*count).count(),
            };
            calls < *count
        });
        let mut marks: Vec<Mark> = surplus.map(|(_, (mark, _))| Mark { at: None, ..mark }).collect();
        marks.sort_unstable_by_key(|mark| mark.origin);
        marks
    }

    /// A server's word that it has a request, without saying which.
    fn is_receipt(&self, event: &StrandEvent) -> bool {
        let harmless = event.name.is_none_or(|name| is_effect_free(self.case.name(name)));
        event.what == StrandFact::Remark(RemarkKind::Processing) && event.witness != Witness::Client && !harmless
    }

    /// Whether a call may be one of those that a server's log has a receipt for, and has none that names it.
    fn may_be_received(&self, call: &Call, source: u32) -> bool {
        let turned_away = self.case.http(call).is_some_and(|http| matches!(http.status, 401 | 403 | 429));
        call.direction == Direction::ToServer
            && !is_effect_free(self.case.name(call.method))
            && call.answer.kind != AnswerKind::NotSent
            && !turned_away
            && !self.case.sightings(call).any(|row| row.seen == Seen::Received && row.mark.origin.source.0 == source)
    }

    /// Whether a row has a time at which no exchange was open.
    fn is_strange(&self, mark: Mark, windows: &Windows) -> bool {
        self.case
            .on_common_clock(mark)
            .is_some_and(|at| !windows.untimed && windows.open_at(at.0, SLACK) == [None, None])
    }

    /// The exchanges on record, in order of their ends.
    fn shown(&self) -> Vec<Shown> {
        let placed = |mark: Mark| self.case.placed(mark).map(|at| at.0);
        let one = |status: u16, asked: Mark, ended: Option<Mark>| {
            let span = placed(asked).map(|from| Span { call: NONE, from, to: ended.and_then(placed) });
            Shown { status, session: None, served: (1..500).contains(&status), sent: true, span, first: asked }
        };
        let mut shown = Vec::new();
        for call in self.case.calls.iter().filter(|call| call.direction == Direction::ToServer) {
            let (session, sent) = (call.session, call.answer.kind != AnswerKind::NotSent);
            let Some(asked) = call.asked else { continue };
            let status = self.case.http(call).map(|http| http.status);
            let served = status.map_or(call.answered.is_some(), |status| (1..500).contains(&status));
            shown.push(Shown { session, served, sent, ..one(status.unwrap_or(0), asked, call.answered) });
            // An earlier POST of the same request had the same beginning.
            for row in self.case.sightings(call).filter(|row| row.seen == Seen::Resent) {
                let status = u16::try_from(row.number).unwrap_or(0);
                shown.push(Shown { session, ..one(status, asked, Some(row.mark)) });
            }
        }
        shown.extend(self.bare_posts.iter().map(|post| one(post.status, post.asked, Some(post.ended))));
        shown
            .sort_by_key(|shown| (shown.span.map_or(i64::MAX, |span| span.to.unwrap_or(i64::MAX)), shown.first.origin));
        shown
    }

    /// Notes text that names a request.
    pub(super) fn mention(&mut self, path: Option<&str>, mark: Mark) {
        if self.mentions.len() < MENTIONS {
            let path = path.map(|path| self.case.symbols.intern(path));
            self.mentions.push((path, mark));
        } else {
            // Nobody compares it: it may be any request.
            self.uncompared.get_or_insert(mark);
        }
    }

    /// Adds the requests that text names, where they are to an endpoint.
    pub(super) fn note_mentions(&mut self) {
        let paths = self.endpoint_paths();
        let mentions = std::mem::take(&mut self.mentions);
        let asks = |path: &Option<Symbol>| path.is_none_or(|path| paths.contains(self.case.name(path)));
        let rows: Vec<PostRow> = mentions
            .into_iter()
            .filter(|(path, _)| asks(path))
            .map(|(_, mark)| PostRow { mention: true, ..PostRow::new(mark, 0) })
            .collect();
        self.post_rows.extend(rows);
    }

    /// Adds the requests behind which a proxy lost the server.
    pub(super) fn note_lost_upstreams(&mut self) {
        let events = self.case.strands.iter().flat_map(|strand| &strand.events);
        let lost = events.filter(|event| event.what == StrandFact::Remark(RemarkKind::UpstreamBroken));
        let rows: Vec<PostRow> = lost.map(|event| PostRow { lost: true, ..PostRow::new(event.mark, 0) }).collect();
        self.post_rows.extend(rows);
    }

    /// Notes a client's line about a POST to an endpoint: it is no contact of the server.
    pub(super) fn note_library_posts(&mut self) {
        let paths = self.endpoint_paths();
        let own = |contact: &&super::Contact| {
            let writer = self.case.sources[super::source_index(contact.attempt.origin)].witness;
            let client = contact.witness == Witness::Client || writer == Some(Witness::Client);
            let post = contact.method.is_some_and(|method| self.case.name(method) == "POST");
            client && post && contact.path.is_some_and(|path| paths.contains(self.case.name(path)))
        };
        let rows = self.case.contacts.iter().filter(own);
        let rows: Vec<PostRow> = rows.map(|row| PostRow::new(row.attempt, row.status)).collect();
        self.post_rows.extend(rows);
    }
}

/// When exchanges were open that a row may be.
fn fitting(shown: &[Shown], row: &PostRow) -> Windows {
    let sent = |shown: &Shown| shown.sent || row.mention;
    let fits = |shown: &&Shown| sent(shown) && may_be(row.status, shown.status) && !(row.lost && shown.served);
    Windows::new(shown.iter().filter(fits).map(|shown| shown.span))
}

/// Whether the rows of one hop are some of the exchanges, in their order.
fn in_order(rows: &[PostRow], shown: &[Shown]) -> bool {
    let mut shown = shown.iter();
    rows.iter().all(|row| shown.any(|shown| (shown.sent || row.mention) && may_be(row.status, shown.status)))
}

/// Whether two statuses may be one: 0 stands for none on record.
fn may_be(one: u16, other: u16) -> bool {
    one == other || one == 0 || other == 0
}

#[cfg(test)]
mod tests {
    use crate::judge::testing::judged;

    /// Requests that a trace shows, beside so many receipts in the log of the server.
    fn surplus(requests: u32, receipts: u32) -> usize {
        let asked = |id: u32| {
            format!(
                r#"{{"ts":"2026-07-22T14:00:0{id}.000Z","direction":"in","message":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"pay"}}}}}}"#
            )
        };
        let received = |second: u32| {
            format!(
                "2026-07-22 14:00:0{second},010 INFO mcp.server.lowlevel.server: Processing request of type CallToolRequest"
            )
        };
        let trace: Vec<String> = (1..=requests).map(asked).collect();
        let log: Vec<String> = (1..=receipts).map(received).collect();
        judged(&[&trace.join("\n"), &log.join("\n")]).0.stray.posts.len()
    }

    #[test]
    fn a_receipt_too_many_is_a_request_that_is_not_on_record() {
        assert_eq!(surplus(2, 1), 0);
        assert_eq!(surplus(2, 2), 0);
        assert_eq!(surplus(2, 3), 1);
    }
}
