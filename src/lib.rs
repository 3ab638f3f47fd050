//! Offline post-mortem analysis of agents and MCP servers.
//!
//! Data flows one way: [`source`] reads bytes, [`mod@format`] decodes them into [`event`]s, [`correlate`] joins the
//! events into facts, [`judge`] turns facts into verdicts, [`report`] prints them. A module imports only from modules
//! above it in this list.

// Layer 0.
pub mod error;
pub mod time;
// Layer 1.
pub mod event;
pub mod notice;
pub mod record;
pub mod symbol;
// Layer 2.
pub(crate) mod base64;
pub mod frame;
pub mod inspect;
pub mod json;
pub mod launcher;
pub mod netloc;
pub mod signal;
pub mod sse;
pub mod wording;
// Layer 2, on top of the above.
pub mod clue;
pub mod jsonrpc;
pub mod phase;
// Layer 3.
pub mod format;
pub mod wrap;
// Layer 4.
pub mod source;
// Layer 5.
pub mod assemble;
pub mod correlate;
// Layer 6.
pub mod judge;
// Layer 7.
pub mod report;
// Layer 8.
pub mod analyze;
pub mod cli;
pub mod explain;
pub mod fail_on;
pub mod progress;
