//! What stands around the lines of a log, put there by whoever carried it: taken off before formats see them.

pub mod ansi;
