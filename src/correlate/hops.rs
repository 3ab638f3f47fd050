//! Lines of a hop in front of the server: which exchange each of them is about. A line names no request; it joins one by
//! session, status and place, or none.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Call, Correlator, Mark, NONE, Seen,
    access::{AccessRow, UpstreamRow},
    accounts::PostRow,
    bind::{NEAR, SLACK},
    traces::Context,
};
use crate::{
    event::{Origin, Witness},
    symbol::Symbol,
    time::MILLISECOND,
};

/// Exchanges on record, by status and session.
type Shelves = FxHashMap<(u16, Option<Symbol>), Vec<u32>>;

/// Lines that one log has about exchanges of one status and session.
type Group = (u32, u16, Option<Symbol>, bool);

/// How far the distances of pairs in one order may lie apart: more, and they are not the same exchanges.
const SPREAD: i64 = 50 * MILLISECOND;

impl Correlator {
    /// Joins the lines of hops to the POSTs they can only be about.
    pub(super) fn join_hops(&mut self, rows: &[AccessRow]) {
        let mut groups: FxHashMap<Group, Vec<&AccessRow>> = FxHashMap::default();
        let named = self.named_by_trace(rows);
        let taken: FxHashSet<u32> = named.values().copied().collect();
        for row in rows {
            if !matches!(row.upstream, UpstreamRow::None | UpstreamRow::ConnectFailed) {
                self.post_rows.push(PostRow { session: row.session, ..PostRow::new(row.mark, row.status) });
            }
            if row.upstream != UpstreamRow::Untold && !named.contains_key(&row.mark.origin) {
                let group = (row.mark.origin.source.0, row.status, row.session, row.nameless);
                groups.entry(group).or_default().push(row);
            }
        }
        let shelves = self.shelves();
        let told = groups.keys().any(|(_, status, ..)| *status != 0);
        let mut groups: Vec<(Group, Vec<&AccessRow>)> = groups.into_iter().collect();
        // What access logs tell of dispatches helps to read error logs.
        groups.sort_unstable_by_key(|(_, rows)| (rows[0].status == 0, rows[0].mark.origin));
        for (_, rows) in groups {
            let mut calls = self.exchanges_for(rows[0], &shelves);
            calls.retain(|call| !taken.contains(call));
            for (row, call) in self.pairs(&rows, &calls, told) {
                self.join_hop(row, call);
            }
        }
        for row in rows {
            if let Some(call) = named.get(&row.mark.origin) {
                self.join_hop(row, *call);
            }
        }
    }

    /// The exchanges of lines that name the span of one: the only line of its log that does, and the only exchange.
    fn named_by_trace(&self, rows: &[AccessRow]) -> FxHashMap<Origin, u32> {
        let mut lines: FxHashMap<(u32, Context), (u32, &AccessRow)> = FxHashMap::default();
        for row in rows {
            if let Some(context) = row.context.filter(|context| context.names_a_span()) {
                lines.entry((row.mark.origin.source.0, context)).or_insert((0, row)).0 += 1;
            }
        }
        if lines.is_empty() {
            return FxHashMap::default();
        }
        let calls = self.traces.spans();
        let named = lines.into_iter().filter(|(_, (count, _))| *count == 1).filter_map(|((_, context), (_, row))| {
            let call = calls.get(&context).copied().filter(|call| *call != NONE)?;
            let http = self.case.http(&self.case.calls[call as usize])?;
            let fits = http.posts <= 1 && (row.status == 0 || row.status == http.status) && self.is_possible(row, call);
            fits.then_some((row.mark.origin, call))
        });
        named.collect()
    }

    fn shelves(&self) -> Shelves {
        let mut shelves = Shelves::default();
        for (index, call) in (0_u32..).zip(&self.case.calls) {
            if let Some(http) = self.case.http(call) {
                shelves.entry((http.status, call.session)).or_default().push(index);
            }
        }
        shelves
    }

    /// The exchanges that lines of one kind can be about, as far as keys tell.
    fn exchanges_for(&self, row: &AccessRow, shelves: &Shelves) -> Vec<u32> {
        let on = |status: u16, session: Option<Symbol>| shelves.get(&(status, session)).into_iter().flatten().copied();
        let told = row.status != 0 && row.session.is_some();
        let mut calls: Vec<u32> = if told {
            on(row.status, row.session).chain(on(row.status, None)).collect()
        } else {
            // An error log names no status.
            let fits = |status: u16| row.status == 0 || status == row.status;
            let shelf = shelves.iter().filter(|((status, _), _)| fits(*status));
            shelf.flat_map(|(_, calls)| calls.iter().copied()).collect()
        };
        calls.retain(|call| {
            let call = &self.case.calls[*call as usize];
            // A log shows the session that the request named; the first one named none.
            let unnamed = self.case.http(call).is_some_and(|http| http.nameless);
            match row.session {
                Some(session) => !unnamed && call.session.is_none_or(|known| known == session),
                None => !row.nameless || unnamed || call.session.is_none(),
            }
        });
        calls.sort_unstable();
        calls
    }

    /// Which exchange each line is about: by order where there are as many of them, else by time where only one fits.
    fn pairs<'r>(&self, rows: &[&'r AccessRow], calls: &[u32], told: bool) -> Vec<(&'r AccessRow, u32)> {
        if rows.len() == calls.len()
            && rows[0].status != 0
            && let Some(pairs) = self.in_order(rows, calls)
        {
            return pairs;
        }
        if !self.mostly_fit(rows, calls, told) {
            return Vec::new();
        }
        let mut found: Vec<(&AccessRow, u32)> = Vec::new();
        let mut taken: FxHashMap<u32, Vec<&AccessRow>> = FxHashMap::default();
        for row in rows {
            let mut fitting: Vec<u32> =
                calls.iter().copied().filter(|call| self.may_be_about(row, *call, told)).collect();
            if fitting.len() > 1 {
                fitting.retain(|call| self.durations_agree(row, &self.case.calls[*call as usize]));
            }
            if let [call] = fitting[..] {
                taken.entry(call).or_default().push(*row);
                found.push((row, call));
            }
        }
        // Two lines of one access log about one exchange: one of them is about another, which is not on record. An error
        // log has one for each try, all at once.
        let one = |rows: &Vec<&AccessRow>| {
            rows.len() == 1 || rows[0].status == 0 && rows.iter().all(|row| row.mark.at == rows[0].mark.at)
        };
        found.retain(|(_, call)| one(&taken[call]));
        found
    }

    /// Whether the clocks of a log and of the exchanges agree: most lines, or most exchanges where these are fewer, must
    /// find their like. A single line beside a clock that is off fits some exchange by chance.
    fn mostly_fit(&self, rows: &[&AccessRow], calls: &[u32], told: bool) -> bool {
        let fit = rows.iter().filter(|row| calls.iter().any(|call| self.may_be_about(row, *call, told))).count();
        fit * 2 >= rows.len().min(calls.len())
    }

    /// Lines and exchanges in one order, where each line may be about its exchange and all lie equally far apart.
    fn in_order<'r>(&self, rows: &[&'r AccessRow], calls: &[u32]) -> Option<Vec<(&'r AccessRow, u32)>> {
        let end = |call: &u32| Some(self.case.placed(self.case.calls[*call as usize].answered?)?.0);
        let mut calls: Vec<(i64, u32)> = calls.iter().map(|call| Some((end(call)?, *call))).collect::<Option<_>>()?;
        calls.sort_unstable();
        let mut rows: Vec<(i64, &AccessRow)> =
            rows.iter().map(|row| Some((self.case.placed(row.mark)?.0, *row))).collect::<Option<_>>()?;
        rows.sort_by_key(|(at, row)| (*at, row.mark.origin));
        let apart = rows.iter().zip(&calls).map(|((at, _), (end, _))| at.saturating_sub(*end));
        let (least, most) = (apart.clone().min()?, apart.max()?);
        let fits = rows.iter().zip(&calls).all(|((_, row), (_, call))| {
            let names = row
                .mcp_name
                .is_none_or(|name| self.case.calls[*call as usize].target.is_none_or(|target| target == name));
            names && self.is_possible(row, *call) && self.durations_agree(row, &self.case.calls[*call as usize])
        });
        let pairs = || rows.iter().zip(&calls).map(|((_, row), (_, call))| (*row, *call)).collect();
        (fits && most.saturating_sub(least) <= SPREAD + self.grain(rows[0].1)).then(pairs)
    }

    /// Whether a line may be about an exchange at all, by what is known of the clocks.
    fn is_possible(&self, row: &AccessRow, call: u32) -> bool {
        let call = &self.case.calls[call as usize];
        let Some(at) = self.case.placed(row.mark).map(|at| at.0) else { return false };
        let on_clock = |mark: Option<Mark>| {
            let mark = mark?;
            let offset = self.case.clocks.offset(mark.origin.source, row.mark.origin.source);
            Some(offset.place(self.case.placed(mark)?.0))
        };
        let grain = self.grain(row);
        on_clock(call.asked).is_some_and(|(from, _)| at.saturating_add(grain) >= from)
            && on_clock(call.answered).is_none_or(|(_, to)| at <= to.saturating_add(grain))
    }

    /// `told`: a log of the capture tells of the dispatches of exchanges.
    fn may_be_about(&self, row: &AccessRow, call: u32, told: bool) -> bool {
        let call = &self.case.calls[call as usize];
        let named = row.mcp_name.is_none_or(|name| call.target.is_none_or(|target| target == name));
        let refused = row.status == 0 && row.upstream == UpstreamRow::ConnectFailed;
        let could_be = !refused || self.ends_with(row, call) && self.may_have_failed_to_connect(call, told);
        named && could_be && self.row_within(row, call)
    }

    /// Behind a connection that failed stands a gateway's own error, or a further dispatch: an access log shows that one.
    fn may_have_failed_to_connect(&self, call: &Call, dispatches_are_told: bool) -> bool {
        let gateways = self.case.http(call).is_some_and(|http| matches!(http.status, 502..=504));
        let again = || self.case.sightings(call).any(|row| row.seen == Seen::ForwardedAgain);
        gateways || !dispatches_are_told || again()
    }

    /// A failed connection is answered at once: the exchange ends where the row stands.
    fn ends_with(&self, row: &AccessRow, call: &Call) -> bool {
        let at = self.case.placed(row.mark);
        let end = call.answered.and_then(|mark| self.case.placed(mark));
        at.zip(end).is_some_and(|(at, end)| end.0.abs_diff(at.0) <= SLACK.unsigned_abs())
    }

    fn row_within(&self, row: &AccessRow, call: &Call) -> bool {
        let Some(end) = self.case.placed(row.mark).map(|at| at.0) else { return false };
        let Some(from) = call.asked.and_then(|mark| self.case.placed(mark)).map(|at| at.0) else { return false };
        let to = call.answered.and_then(|mark| self.case.placed(mark)).map_or(i64::MAX, |at| at.0);
        let slack = self.grain(row);
        let begins = row.started.map_or(end, |started| started.0);
        let from = from.saturating_sub(slack);
        begins >= from && end <= to.saturating_add(slack) && (row.failed || end >= from)
    }

    /// Both clocks measure one exchange: its caller waits a little longer than the hop, and not much.
    fn durations_agree(&self, row: &AccessRow, call: &Call) -> bool {
        let place = |mark: Option<Mark>| Some(self.case.placed(mark?)?.0);
        let (Some(took), Some(from), Some(to)) = (row.took, place(call.asked), place(call.answered)) else {
            return true;
        };
        let waited = to.saturating_sub(from);
        took <= waited.saturating_add(NEAR) && waited.saturating_sub(took) <= SLACK.max(waited / 4)
    }

    /// A log with whole seconds places its record anywhere in that second.
    fn grain(&self, row: &AccessRow) -> i64 {
        let coarse = self.case.sources[super::source_index(row.mark.origin)].digits == 0;
        if coarse { SLACK } else { NEAR }
    }

    fn join_hop(&mut self, row: &AccessRow, call: u32) {
        let (seen, number) = match row.upstream {
            UpstreamRow::Untold => return,
            UpstreamRow::None | UpstreamRow::ConnectFailed => (Seen::NotForwarded, i32::from(row.status)),
            UpstreamRow::Once(status) => (Seen::ForwardedOnce, i32::from(status)),
            UpstreamRow::Several(status) => (Seen::ForwardedAgain, i32::from(status)),
        };
        self.sight(call, seen, row.witness.unwrap_or(Witness::Proxy), row.mark, number);
        let took = row.took.map(|took| u32::try_from(took / MILLISECOND).unwrap_or(u32::MAX - 1));
        self.http_of(call).note_duration(took);
    }
}
