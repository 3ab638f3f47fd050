//! The documentation of a rule: four fixed headings, written beside the rule and printed by `explain`.

/// What a rule says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Doc {
    /// What it means.
    pub means: &'static str,
    /// How it is recognized.
    pub recognized: &'static str,
    /// What it is not.
    pub is_not: &'static str,
    /// What to do.
    pub to_do: &'static str,
}

impl Doc {
    /// As Markdown with its four headings.
    pub fn markdown(&self) -> String {
        format!(
            "### What it means\n\n{}\n\n### How it is recognized\n\n{}\n\n### What it is not\n\n{}\n\n### What to do\n\n{}\n",
            self.means, self.recognized, self.is_not, self.to_do
        )
    }
}
