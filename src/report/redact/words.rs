//! Word lists that keep ordinary log lines readable: what looks like a key or a value of a secret and is none. Each is
//! one text, with `|` between its words.
//!
//! The kinds of secrets themselves are in `secrets`.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// Words in lower case.
pub(super) type Words = LazyLock<FxHashSet<&'static str>>;

fn words(list: &'static str) -> FxHashSet<&'static str> {
    list.split('|').collect()
}

/// Whether a word is one of these without regard to ASCII case, punctuation around it aside.
pub(super) fn is_one_of(word: &str, words: &Words) -> bool {
    let word = word.trim_matches(['.', ',', ';', ':', '!', '?', '(', ')', '"', '\'']);
    word.len() <= 24 && words.contains(word.to_ascii_lowercase().as_str())
}

/// Keys that end like a secret's and are none.
pub(super) static HARMLESS_KEYS: &str = "\
    progress token|*progresstoken|page token|*pagetoken|next token|continuation token|cancellation token|\
    resumption token|sync token|unexpected token|primary key|foreign key|public key|partition key|sort key|\
    cache key|idempotency key|unique key|component key|routing key|hot key|no pass";

/// Last words of a key that do not change what it names: `token_value`, `SECRET_2`.
pub(super) static TAILS: Words = LazyLock::new(|| {
    words(
        "\
    value|v|new|old|prod|dev|test|staging|base64|b64|raw|current|previous|plain|confirmation|confirm|header|\
    v1|v2|v3|primary|secondary|provided|supplied|given|used|entered|received",
    )
});

/// Values that stand for the absence of a secret, quoted or not.
pub(super) static HARMLESS_VALUES: Words = LazyLock::new(|| {
    words(
        "\
    none|null|nil|undefined|true|false|redacted|masked|filtered|hidden|sensitive|string|required|optional|\
    n/a|sha1|sha256|sha512|hs256|hs512|hmac-sha256",
    )
});

/// Words that follow a key in prose, where no quotes mark a value: `token: expired for …`.
pub(super) static PROSE_VALUES: Words = LazyLock::new(|| {
    words(
        "\
    missing|invalid|expired|unset|set|not|no|yes|ok|valid|empty|present|absent|unknown|unauthorized|\
    forbidden|denied|granted|failed|failure|error|str|bytes|object|number|boolean|integer|array|type|is|was|\
    are|must|should|cannot|could|has|have|the|a|an|refresh|refreshed|rejected|revoked|enabled|disabled|some|\
    unable|please|accepted|provided|permission|bearer|basic|session|unexpected|expected|found|loaded|\
    oauth|oauth2",
    )
});

/// Words that follow `Bearer` in prose and in challenges.
pub(super) static BEARER_PROSE: Words = LazyLock::new(|| {
    words(
        "\
    token|tokens|auth|authentication|authorization|scheme|schemes|header|headers|credential|credentials|\
    challenge|challenges|format|type|and|or|is|in|for|not|was|realm|error|scope|prefix|methods|method|from|\
    only|with|to|as|via|required|missing|invalid|expired|null|none|undefined|but|if|on|are|must|the|a|value|\
    string|security|secret|access|error_description|error_uri|resource_metadata|authorization_uri|client_id|\
    resource_id",
    )
});

/// Parameters of a `Bearer` challenge (RFC 6750 3, RFC 9728 5.1, and what services add).
pub(super) static CHALLENGE_PARAMETERS: Words = LazyLock::new(|| {
    words(
        "realm|scope|error|error_description|error_uri|resource_metadata|authorization_uri|client_id|resource_id|charset",
    )
});

/// Schemes of HTTP authentication whose credentials are one word (IANA registry, and what services use).
pub(super) static ONE_WORD_SCHEMES: Words = LazyLock::new(|| {
    words(
        "\
    bearer|basic|token|apikey|api-key|key|negotiate|ntlm|dpop|bot|gnap|privatetoken|sharedkey|sso-key|jwt|\
    apitoken|splunk|githubtoken|geniekey|snowflake",
    )
});

/// Schemes whose credentials are a list of parameters.
pub(super) static LIST_SCHEMES: Words = LazyLock::new(|| {
    words(
        "\
    digest|oauth|hawk|mutual|hoba|scram-sha-1|scram-sha-256|signature|aws4-hmac-sha256|aws",
    )
});

/// Words that follow `the password is` and say something about it.
pub(super) static IS_PROSE: Words = LazyLock::new(|| {
    words(
        "\
    incorrect|wrong|too|longer|shorter|also|only|now|already|being|used|stored|hashed|encrypted|correct|\
    weak|strong|visible|needed|optional|changed|reset|never|always|this|that|your|my|in|on|at|for|to|by|of|\
    case-sensitive|it|an|there|sent|passed|read|taken|generated|created|deleted|stale|bad|good|rotated|\
    different|same|equal|null|configured|defined|available|about|active|bound",
    )
});
