//! The shape of a policy file. Which values make sense is decided in `parse`.

use serde::Deserialize;
use toml::Spanned;

/// A text with its place.
pub(super) type Text = Spanned<String>;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) tool: Vec<Spanned<Tool>>,
    #[serde(default)]
    pub(super) server: Vec<Spanned<Server>>,
    #[serde(default)]
    pub(super) source: Vec<Spanned<Source>>,
    #[serde(default)]
    pub(super) own_endpoint: Vec<Spanned<OwnEndpoint>>,
}

/// `[[tool]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    pub(super) server: Option<Text>,
    pub(super) name: Text,
    pub(super) effect: Option<Text>,
    pub(super) local_effects: Option<Spanned<bool>>,
    pub(super) idempotency_key: Option<Text>,
    pub(super) key_lifetime: Option<Text>,
}

/// `[[server]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    pub(super) name: Text,
    pub(super) trusted: Option<Spanned<bool>>,
}

/// `[[source]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    pub(super) path: Text,
    pub(super) complete: Option<Spanned<Vec<Text>>>,
}

/// `[[own_endpoint]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnEndpoint {
    pub(super) target: Text,
}
