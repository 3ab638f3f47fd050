//! The smallest evidence of a world that still makes the analysis claim the same false thing.

use super::worlds::{analysis, check, damage::Found, scene, truth::World};

/// What is left of the evidence of a seed, where it makes the analysis claim anything false, and what that is.
pub(crate) fn shrink(seed: u64) -> Option<(Vec<Found>, check::Violation)> {
    let scene = scene(seed);
    let kind = claimed(&scene.world, &scene.found, None)?.kind;
    let mut found = scene.found;
    let fails = |found: &Vec<Found>| claimed(&scene.world, found, Some(kind)).is_some();
    loop {
        let next = smaller(&found).find(fails);
        let Some(next) = next else { break };
        found = next;
    }
    let claim = claimed(&scene.world, &found, Some(kind))?;
    Some((found, claim))
}

/// The first false claim, or the first of a kind.
fn claimed(world: &World, found: &[Found], kind: Option<&str>) -> Option<check::Violation> {
    let violations = check::violations(world, found, &analysis(found));
    violations.into_iter().find(|violation| kind.is_none_or(|kind| violation.kind == kind))
}

/// The evidence without one file, and without one record.
fn smaller(found: &[Found]) -> impl Iterator<Item = Vec<Found>> {
    let without_file = (0..found.len()).filter(|_| found.len() > 1).map(|gone| {
        let kept = found.iter().enumerate().filter(|(index, _)| *index != gone);
        kept.map(|(_, file)| file.clone()).collect()
    });
    let records =
        found.iter().enumerate().flat_map(|(index, file)| (0..file.spans.len()).map(move |gone| (index, gone)));
    let without_record = records.map(|(index, gone)| {
        let mut smaller = found.to_vec();
        smaller[index] = without(&found[index], gone);
        smaller
    });
    without_file.chain(without_record)
}

/// A file without one record, and without what stood between it and the next one.
fn without(file: &Found, gone: usize) -> Found {
    let cut = match (file.spans.get(gone + 1), gone.checked_sub(1)) {
        (Some((next, _)), _) => file.spans[gone].0.start..next.start,
        (None, Some(last)) => file.spans[last].0.end..file.spans[gone].0.end,
        (None, None) => file.spans[gone].0.clone(),
    };
    let mut smaller = file.clone();
    smaller.bytes.drain(cut.clone());
    smaller.spans.remove(gone);
    for (span, _) in &mut smaller.spans[gone..] {
        *span = span.start - cut.len()..span.end - cut.len();
    }
    smaller
}
