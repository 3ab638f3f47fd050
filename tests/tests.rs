//! The integration tests, one binary. Most are data in folders under `samples/`; the runners here walk them.
//! `UPDATE_EXPECTED=1 cargo test` rewrites every expected file and generated page.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod suite {
    pub(crate) mod adversarial;
    pub(crate) mod bad_input;
    pub(crate) mod cases;
    pub(crate) mod classifier;
    pub(crate) mod cli;
    pub(crate) mod clocks;
    pub(crate) mod coverage;
    pub(crate) mod docs;
    pub(crate) mod explain;
    pub(crate) mod fail_on;
    pub(crate) mod formats;
    pub(crate) mod growth;
    pub(crate) mod labels;
    pub(crate) mod launch;
    pub(crate) mod metamorphic;
    pub(crate) mod missing;
    pub(crate) mod not_read;
    pub(crate) mod policy;
    pub(crate) mod properties;
    pub(crate) mod refusals;
    pub(crate) mod run;
    pub(crate) mod secrets;
    pub(crate) mod soundness;
    pub(crate) mod tidy;
    pub(crate) mod timeline;
    pub(crate) mod worlds;
}

mod worlds;
