//! The classes of `--fail-on`.

use std::str::FromStr;

use crate::judge::{FINDING_RULES, Severity, Verdicts};

/// What ends the program with code 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// A call that did not end well.
    FailedCall,
    /// A call whose retry verdict is unknown.
    Unknown,
    /// A finding of this rule.
    Rule(&'static str),
    /// A finding at least this severe.
    Severity(Severity),
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "failed-call" => Self::FailedCall,
            "unknown" => Self::Unknown,
            // The findings know a repetition that somebody meant from a retry.
            "unsafe-retry" => Self::Rule("unsafe-retry"),
            "duplicate" => Self::Rule("duplicate-effect"),
            "finding:high" => Self::Severity(Severity::High),
            "finding:medium" => Self::Severity(Severity::Medium),
            "finding:low" => Self::Severity(Severity::Low),
            _ => {
                let name = text.strip_prefix("finding:").ok_or("not a class; see --help")?;
                let rule = FINDING_RULES.iter().find(|rule| rule.id == name);
                Self::Rule(rule.ok_or_else(|| format!("no finding rule is named \"{name}\""))?.id)
            }
        })
    }
}

impl FailOn {
    /// Whether it was found. Counts everything that was read, shown or not.
    pub fn found(&self, verdicts: &Verdicts) -> bool {
        match self {
            Self::FailedCall => {
                let well = ["TOOL_SUCCESS", "RPC_SUCCESS", "TASK_STARTED"];
                let failed = verdicts.totals.by_outcome.iter().filter(|(name, _)| !well.contains(name));
                failed.map(|(_, count)| count).sum::<u64>() > verdicts.totals.probes
            }
            Self::Unknown => verdicts.totals.by_retry.get("unknown").is_some_and(|count| *count > 0),
            Self::Rule(id) => verdicts.findings.iter().any(|finding| finding.rule.id == *id),
            Self::Severity(severity) => verdicts.findings.iter().any(|finding| finding.severity >= *severity),
        }
    }
}
