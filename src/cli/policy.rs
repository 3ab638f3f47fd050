//! Reads the file that `--policy` names, and tells which of it did not apply.
//!
//! What a policy means is decided by `judge`.

use std::{fs, path::Path};

use sha2::{Digest, Sha256};

use super::complain;
use crate::{
    analyze::{Analysis, hexadecimal},
    error::Error,
    judge::Policy,
    report::{PolicyInfo, redact},
};

/// The policy and what a report says about its file; nothing is analyzed with half a policy.
pub(super) fn policy(path: Option<&Path>) -> Result<(Policy, Option<PolicyInfo>), Error> {
    let Some(path) = path else { return Ok((Policy::default(), None)) };
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| Error::Usage(format!("cannot read the policy {name}: {error}")))?;
    let policy = Policy::parse(&name, &bytes).map_err(|fault| {
        // One line for one fault, whatever it quotes.
        let message = fault.message.split_whitespace().collect::<Vec<_>>().join(" ");
        Error::Usage(format!("{name}:{}:{}: {message}; nothing was analyzed", fault.line, fault.column))
    })?;
    let sha256 = hexadecimal(&Sha256::digest(&bytes));
    Ok((policy, Some(PolicyInfo { path: name, sha256, unused: Vec::new() })))
}

/// What of the policy did not apply, one line each.
pub(super) fn tell_unused(analysis: &Analysis) {
    for unused in &analysis.terms.unused {
        complain(&format!("notice: {}: {}", redact::quote(&unused.place, 400), redact::quote(&unused.why, 400)));
    }
}
