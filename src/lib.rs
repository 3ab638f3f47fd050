//! Offline post-mortem analysis of agents and MCP servers.
//!
//! Data flows one way: [`source`] reads bytes, [`format`] decodes them into [`event`]s, `correlate` joins the events
//! into facts, `judge` turns facts into verdicts, `report` prints them.

// Layer 0.
pub mod error;
pub mod time;
// Layer 1.
pub mod event;
pub mod notice;
pub mod record;
pub mod symbol;
// Layer 2.
pub mod clue;
pub mod frame;
pub mod inspect;
pub mod json;
pub mod jsonrpc;
pub mod netloc;
pub mod phase;
pub mod sse;
pub mod wording;
// Layer 3.
pub mod format;
pub mod wrap;
// Layer 4.
pub mod source;
