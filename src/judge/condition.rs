//! What a person must check before a verdict holds: a phrase, and where to look.

use std::borrow::Cow;

use crate::{correlate::Mark, event::SourceId};

/// Where a condition is checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Spots {
    /// No record shows it.
    Nowhere,
    /// At these records, at most one of each source: the first of their kind.
    Records(Vec<Mark>),
    /// Anywhere in these sources.
    Sources(Vec<SourceId>),
}

impl Spots {
    /// The records, if there are any.
    pub(super) fn records(marks: impl IntoIterator<Item = Mark>) -> Option<Self> {
        let marks: Vec<Mark> = marks.into_iter().collect();
        (!marks.is_empty()).then_some(Self::Records(marks))
    }

    /// The sources, if there are any.
    pub(super) fn sources(sources: impl IntoIterator<Item = SourceId>) -> Option<Self> {
        let sources: Vec<SourceId> = sources.into_iter().collect();
        (!sources.is_empty()).then_some(Self::Sources(sources))
    }

    /// The records that it names.
    pub(super) fn marks(&self) -> &[Mark] {
        if let Self::Records(marks) = self { marks } else { &[] }
    }
}

/// One thing to check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// A phrase behind "only if"; `{}` stands for the spots.
    pub text: Cow<'static, str>,
    /// Where to look.
    pub spots: Spots,
    /// It is about other attempts that the capture may lack, and not about this one.
    pub elsewhere: bool,
}

impl Condition {
    /// A condition with the places where it is checked.
    pub(super) fn at(text: &'static str, spots: Spots) -> Self {
        Self { text: text.into(), spots, elsewhere: false }
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Condition {
    fn from(text: T) -> Self {
        Self { text: text.into(), spots: Spots::Nowhere, elsewhere: false }
    }
}
