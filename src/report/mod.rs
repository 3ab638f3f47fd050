//! The report: everything a person or a pipeline reads. All quoted text passes [`redact`] and [`escape`].
//!
//! It does not decide anything: verdicts arrive ready.

pub mod escape;
pub mod redact;
