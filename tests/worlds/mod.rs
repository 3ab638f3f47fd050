//! Simulated worlds: what happened is made up, witnesses write down what they see of it in the formats that are read,
//! the evidence is damaged, the whole analysis runs on the bytes, and every claim is compared with the truth.

pub(crate) mod check;
pub(crate) mod damage;
mod hop;
pub(crate) mod oracle;
mod runs;
pub(crate) mod story;
pub(crate) mod tell;
pub(crate) mod truth;
mod work;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use fastrand::Rng;
use mcp_postmortem::{
    analyze::{Analysis, Options, Silent, analyze},
    report::CallsShown,
    source::PathArgument,
};

use check::Violation;
use damage::{Damages, Found};
use oracle::Decidable;
use tell::File;
use truth::World;

/// A world and what is left of its evidence.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) found: Vec<Found>,
    pub(crate) damages: Damages,
}

/// The world of a seed.
pub(crate) fn scene(seed: u64) -> Scene {
    let (world, files, mut rng) = told(seed, |_| {});
    let (found, damages) = damage::damage(files, &mut rng);
    Scene { world, found, damages }
}

/// The world of a seed in which something is otherwise, and all that its witnesses wrote.
fn told(seed: u64, change: impl Fn(&mut World)) -> (World, Vec<File>, Rng) {
    let mut rng = Rng::with_seed(seed);
    let mut world = story::tell(&mut rng);
    change(&mut world);
    let files = tell::files(&world, &mut rng);
    (world, files, rng)
}

/// The undamaged evidence of such a world.
pub(crate) fn evidence(seed: u64, change: impl Fn(&mut World)) -> Vec<Found> {
    let (_, files, _) = told(seed, change);
    files.iter().map(damage::render).collect()
}

/// Writes the evidence into a folder.
pub(crate) fn write(found: &[Found], folder: &Path) {
    for file in found {
        let path = folder.join(&file.name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
        fs::write(path, &file.bytes).expect("files can be written");
    }
}

/// Analyzes the evidence.
pub(crate) fn analysis(found: &[Found]) -> Analysis {
    let folder = tempfile::tempdir().expect("folders can be made");
    write(found, folder.path());
    analysis_of(&[folder.path().to_owned()])
}

/// Analyzes what is under these paths.
pub(crate) fn analysis_of(paths: &[PathBuf]) -> Analysis {
    let paths: Vec<PathArgument> = paths.iter().map(PathArgument::new).collect();
    let options = Options { calls: CallsShown::All, ..Options::default() };
    analyze(&paths, &options, &Silent).expect("the paths are there")
}

/// What came out of one world.
pub(crate) struct Checked {
    pub(crate) damages: Damages,
    /// False claims.
    pub(crate) violations: Vec<Violation>,
    /// What the records decide.
    pub(crate) decidable: Vec<Decidable>,
    /// How often each retry verdict was given.
    pub(crate) verdicts: BTreeMap<&'static str, u64>,
}

/// Makes up the world of a seed, analyzes its evidence, and compares.
pub(crate) fn check(seed: u64) -> Checked {
    let scene = scene(seed);
    let analysis = analysis(&scene.found);
    Checked {
        violations: check::violations(&scene.world, &scene.found, &analysis),
        decidable: oracle::decidable(&scene, &analysis),
        verdicts: analysis.verdicts.totals.by_retry.clone(),
        damages: scene.damages,
    }
}
