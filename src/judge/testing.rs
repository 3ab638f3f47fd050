//! Small cases for the tests of judging: texts through the real pipeline.

use bumpalo::Bump;

use super::{CallVerdict, Terms, Verdicts, judge};
use crate::{
    assemble::Assembler,
    correlate::{Case, Correlator, SourceMeta},
    event::{Event, SourceId},
    format::{self, Head},
};

/// Decodes each text as the format that claims it, joins the events of all, and judges them. Only calls that did not
/// end well are kept, as in a report.
pub(crate) fn judged(sources: &[&str]) -> (Case, Verdicts) {
    judged_with(&sources.iter().map(|text| (*text, SourceMeta::default())).collect::<Vec<_>>())
}

/// The same for sources of which something is known beforehand.
pub(crate) fn judged_with(sources: &[(&str, SourceMeta<'_>)]) -> (Case, Verdicts) {
    let case = correlated(sources);
    let verdicts = judge(&case, &Terms::default(), |verdict: &CallVerdict| !verdict.outcome.is_success());
    (case, verdicts)
}

/// Decodes and joins.
pub(crate) fn correlated(sources: &[(&str, SourceMeta<'_>)]) -> Case {
    let mut correlator = Correlator::default();
    for (number, (text, meta)) in (0_u32..).zip(sources) {
        let arena = Bump::new();
        let format = format::sniff(&Head { bytes: text.as_bytes() });
        let meta = SourceMeta { witness: meta.witness.or(format.and_then(|format| format.witness)), ..*meta };
        correlator.begin(&meta);
        let sink = format::decode_lines(format, text, &arena);
        let mut assembler = Assembler::default();
        for event in &sink.events {
            let mut event: Event<'_> = *event;
            event.origin.source = SourceId(number);
            assembler.push(&event, &mut |event| correlator.push(event));
        }
        assembler.finish(&mut |event| correlator.push(event));
        correlator.end(false);
    }
    correlator.link()
}
