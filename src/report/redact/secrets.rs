//! The table of secret kinds: what is masked, under which name, and how it is recognized.
//!
//! It does not search: `shape` looks for tokens that carry their own prefix, `keyed` for values behind a telling key.

/// One kind of secret. Its name stands in the mask: `[redacted:NAME]`.
#[derive(Debug)]
pub struct Secret {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it is and where it comes from, one or two sentences.
    pub doc: &'static str,
    /// Whether finding it in a log is a fault of the logger. Not so for e-mail addresses and session ids.
    pub leak: bool,
    /// Tokens with a public prefix, which stays readable.
    pub prefixes: &'static [Prefix],
    /// Keys whose value is the secret.
    pub keys: &'static [Key],
}

/// A token with a public prefix.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// The prefix, exactly as written.
    pub text: &'static str,
    /// The fewest characters after it. At the end of a cut text four are enough.
    pub least: usize,
    /// Which characters follow.
    pub body: Body,
    /// The prefix is so short that it counts only at the start of a word, and with a digit or a capital behind it.
    pub word: bool,
}

/// The alphabet behind a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Letters, digits, `_` and `-`.
    Url,
    /// The same and `.`, `+`, `/`, `=`, `~`.
    Wide,
    /// Capitals and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters and digits: for prefixes that begin ordinary identifiers.
    Mixed,
}

/// A key whose value is a secret.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The last words of the key in lower case with single spaces; with a leading `*` the end of its
    /// last word, with a leading `+` the last word of several.
    pub text: &'static str,
    /// What its value looks like.
    pub value: Value,
}

/// How far the value behind a key reaches, where no quotes say so, and when it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// One word.
    Word,
    /// One word; the rest of the line where the key begins the line.
    Phrase,
    /// A scheme, which stays readable, and credentials.
    Header,
    /// The rest of the line.
    Line,
    /// One word, in the query of a URL or in a name/value pair only: the key is too common elsewhere.
    Query,
    /// One word; without a separator after the key only where it looks opaque.
    Id,
    /// One word that looks opaque, also without a separator.
    Opaque,
}

const fn strong(text: &'static str) -> Prefix {
    Prefix { text, least: 12, body: Body::Url, word: false }
}

const fn weak(text: &'static str, least: usize, body: Body) -> Prefix {
    Prefix { text, least, body, word: true }
}

const fn key(text: &'static str, value: Value) -> Key {
    Key { text, value }
}

const fn word(text: &'static str) -> Key {
    key(text, Value::Word)
}

const fn query(text: &'static str) -> Key {
    key(text, Value::Query)
}

const fn prefixed(name: &'static str, doc: &'static str, prefixes: &'static [Prefix]) -> Secret {
    Secret { name, doc, leak: true, prefixes, keys: &[] }
}

const fn keyed(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Secret {
    Secret { name, doc, leak: true, prefixes: &[], keys }
}

/// Names that code refers to, since their shape needs more than a prefix or a key.
pub(super) mod name {
    pub(in super::super) const BEARER: &str = "bearer";
    pub(in super::super) const BASIC: &str = "basic";
    pub(in super::super) const JWT: &str = "jwt";
    pub(in super::super) const PRIVATE_KEY: &str = "private-key";
    pub(in super::super) const URL_PASSWORD: &str = "url-password";
    pub(in super::super) const EMAIL: &str = "email";
    pub(in super::super) const SESSION: &str = "session";
    pub(in super::super) const TELEGRAM: &str = "telegram-token";
    pub(in super::super) const DISCORD: &str = "discord-token";
    pub(in super::super) const API_KEY: &str = "api-key";
}

/// Every kind. For keys the first match in this order wins.
pub static SECRETS: &[Secret] = &[
    keyed(
        "authorization",
        "Credentials of an `Authorization` or `Proxy-Authorization` header (RFC 9110 11.6.2) in any notation.",
        &[key("authorization", Value::Header), key("http authorization", Value::Header)],
    ),
    keyed(
        "cookie",
        "Values of `Cookie` and `Set-Cookie` headers (RFC 6265), and the cookie lists of HAR files.",
        &[key("cookie", Value::Line), key("cookies", Value::Line), key("cookie2", Value::Line)],
    ),
    Secret {
        name: name::SESSION,
        doc: "A session id: `Mcp-Session-Id` (MCP 2025-03-26 and later), `sessionId` of the older SSE transport, and \
              session cookies, also
              where prose names it (supergateway 3.x: `Session access count 1 -> 2 for ID`). Whoever holds it can speak in the session.",
        leak: false,
        prefixes: &[],
        keys: &[
            key("session id", Value::Id),
            key("*sessionid", Value::Id),
            key("*sessid", Value::Id),
            key("mcp session", Value::Id),
            key("session", Value::Opaque),
            key("sid", Value::Opaque),
        ],
    },
    keyed(name::BEARER, "A bearer token (RFC 6750) wherever it stands.", &[word("bearer")]),
    keyed(name::BASIC, "User and password of the Basic scheme (RFC 7617) wherever they stand.", &[]),
    keyed(name::JWT, "A JSON Web Token (RFC 7519): `eyJ….eyJ….…`. The `eyJ` stays.", &[]),
    prefixed("anthropic-key", "Anthropic API keys and OAuth tokens, `sk-ant-…`.", &[strong("sk-ant-")]),
    prefixed(
        "openai-key",
        "OpenAI keys, `sk-…`, `sk-proj-…`, and those of the many services that copied the form.",
        &[
            strong("sk-proj-"),
            strong("sk-svcacct-"),
            strong("sk-admin-"),
            strong("sk-or-v1-"),
            weak("sk-", 16, Body::Url),
        ],
    ),
    prefixed(
        "github-token",
        "GitHub tokens: personal, OAuth, app, server and refresh.",
        &[strong("ghp_"), strong("gho_"), strong("ghu_"), strong("ghs_"), strong("ghr_"), strong("github_pat_")],
    ),
    prefixed(
        "gitlab-token",
        "GitLab tokens: personal, deploy, runner, trigger, build, feed, agent, SCIM, OAuth secret.",
        &[
            strong("glpat-"),
            strong("gldt-"),
            strong("glrt-"),
            strong("glptt-"),
            strong("glcbt-"),
            strong("glft-"),
            strong("glagent-"),
            strong("glsoat-"),
            strong("gloas-"),
        ],
    ),
    prefixed(
        "slack-token",
        "Slack tokens, `xoxb-…`, `xapp-…`, and incoming web hooks.",
        &[
            strong("xoxb-"),
            strong("xoxp-"),
            strong("xoxa-"),
            strong("xoxr-"),
            strong("xoxs-"),
            strong("xoxc-"),
            strong("xoxd-"),
            strong("xoxe-"),
            strong("xoxe."),
            strong("xapp-"),
            Prefix { text: "hooks.slack.com/services/", least: 8, body: Body::Wide, word: false },
        ],
    ),
    Secret {
        name: "aws-key",
        doc: "AWS access key ids (`AKIA…`, `ASIA…`) and the secret keys, which have no shape and are known by their key.",
        leak: true,
        prefixes: &[weak("AKIA", 12, Body::Upper), weak("ASIA", 12, Body::Upper)],
        keys: &[word("secret access key"), word("*secretaccesskey"), word("aws secret key"), word("aws access key id")],
    },
    prefixed(
        "google-key",
        "Google API keys (`AIza…`), access tokens (`ya29.…`), refresh tokens (`1//0…`) and client secrets.",
        &[
            Prefix { text: "AIza", least: 20, body: Body::Url, word: false },
            strong("ya29."),
            strong("GOCSPX-"),
            weak("1//0", 20, Body::Url),
        ],
    ),
    prefixed(
        "stripe-key",
        "Stripe secret and restricted keys and web hook secrets.",
        &[strong("sk_live_"), strong("sk_test_"), strong("rk_live_"), strong("rk_test_"), strong("whsec_")],
    ),
    prefixed(
        "twilio-key",
        "Twilio account and key ids, `AC` or `SK` and 32 hexadecimal digits.",
        &[weak("SK", 32, Body::Hex), weak("AC", 32, Body::Hex)],
    ),
    prefixed(
        "sendgrid-key",
        "SendGrid keys, `SG.….…`.",
        &[Prefix { text: "SG.", least: 16, body: Body::Wide, word: true }],
    ),
    prefixed("npm-token", "npm access tokens.", &[weak("npm_", 20, Body::Mixed)]),
    prefixed("pypi-token", "PyPI upload tokens.", &[strong("pypi-AgE"), weak("pypi-", 30, Body::Url)]),
    prefixed("huggingface-token", "Hugging Face tokens.", &[weak("hf_", 16, Body::Mixed), strong("api_org_")]),
    prefixed(
        "digitalocean-token",
        "DigitalOcean personal, OAuth and refresh tokens.",
        &[strong("dop_v1_"), strong("doo_v1_"), strong("dor_v1_")],
    ),
    prefixed("linear-token", "Linear API keys and OAuth tokens.", &[strong("lin_api_"), strong("lin_oauth_")]),
    prefixed(
        "notion-token",
        "Notion integration secrets, old and new form.",
        &[weak("ntn_", 16, Body::Mixed), weak("secret_", 24, Body::Mixed)],
    ),
    prefixed(
        "shopify-token",
        "Shopify access tokens and shared secrets.",
        &[strong("shpat_"), strong("shpca_"), strong("shppa_"), strong("shpss_")],
    ),
    prefixed(
        "service-token",
        "Tokens of further services that mark them with a prefix: Groq, xAI, Perplexity, Replicate, Tavily, Figma, \
         Databricks, Atlassian, HubSpot, Sentry, Docker Hub, Vault, age, Grafana, Supabase, Postman, New Relic, Fly, \
         Facebook, Square, Cloudflare.",
        &[
            strong("gsk_"),
            weak("xai-", 20, Body::Url),
            strong("pplx-"),
            weak("r8_", 16, Body::Mixed),
            strong("tvly-"),
            strong("figd_"),
            weak("dapi", 30, Body::Hex),
            strong("ATATT3"),
            strong("pat-na1-"),
            strong("pat-eu1-"),
            strong("sntrys_"),
            strong("sntryu_"),
            strong("dckr_pat_"),
            strong("dckr_oat_"),
            weak("hvs.", 16, Body::Url),
            weak("hvb.", 16, Body::Url),
            strong("AGE-SECRET-KEY-1"),
            strong("glsa_"),
            strong("glc_eyJ"),
            strong("sbp_"),
            strong("sb_secret_"),
            strong("PMAK-"),
            strong("NRAK-"),
            weak("fo1_", 16, Body::Url),
            weak("EAACEdEose0cBA", 8, Body::Mixed),
            strong("sq0csp-"),
            strong("sq0atp-"),
            weak("EAAA", 40, Body::Url),
            weak("cfut_", 16, Body::Url),
        ],
    ),
    keyed(name::TELEGRAM, "Telegram bot tokens, `DIGITS:AA…`. The digits, the public id of the bot, stay.", &[]),
    keyed(name::DISCORD, "Discord bot tokens: three parts of base64, the first a numeric user id.", &[]),
    Secret {
        name: name::PRIVATE_KEY,
        doc: "PEM private keys (RFC 7468), whole or cut, also with escaped line ends, and keys named so.",
        leak: true,
        prefixes: &[],
        keys: &[key("private key", Value::Phrase), key("*privatekey", Value::Phrase), word("ssh key")],
    },
    keyed(name::URL_PASSWORD, "The password in `scheme://user:password@host` (RFC 3986 3.2.1).", &[]),
    keyed(
        "signed-url",
        "Parameters that sign or open a URL: AWS, Google Cloud, Azure SAS, OAuth codes.",
        &[
            word("amz signature"),
            word("amz credential"),
            word("amz security token"),
            word("goog signature"),
            word("goog credential"),
            query("sig"),
            query("signature"),
            query("hmac"),
            query("code"),
            query("assertion"),
            query("ticket"),
            word("auth code"),
            word("authorization code"),
            word("device code"),
            word("code verifier"),
            word("client assertion"),
        ],
    ),
    keyed(
        name::API_KEY,
        "Values of keys that name an API key, an access key, an account key and the like, also `NAME_KEY=` of an environment.",
        &[
            word("api key"),
            word("api keys"),
            word("*apikey"),
            word("access key"),
            word("*accesskey"),
            word("account key"),
            word("*accountkey"),
            word("secret key"),
            word("*secretkey"),
            word("signing key"),
            word("encryption key"),
            word("master key"),
            word("auth key"),
            word("subscription key"),
            word("functions key"),
            word("function key"),
            word("license key"),
            word("service key"),
            word("storage key"),
            word("deploy key"),
            word("admin key"),
            word("role key"),
            word("anon key"),
            word("app key"),
            word("application key"),
            word("client key"),
            word("consumer key"),
            word("user key"),
            word("integration key"),
            word("webhook key"),
            word("server key"),
            word("jwt key"),
            word("shared key"),
            query("key"),
        ],
    ),
    keyed(
        "password",
        "Values of keys that name a password, in JSON, YAML, connection strings, environments and command lines.",
        &[
            key("*password", Value::Phrase),
            word("passwords"),
            key("*passwd", Value::Phrase),
            key("*passphrase", Value::Phrase),
            key("*passcode", Value::Phrase),
            key("pwd", Value::Phrase),
            word("+pass"),
            key("pw", Value::Query),
            key("otp", Value::Word),
        ],
    ),
    keyed(
        "secret",
        "Values of keys that name a secret: `client_secret`, `NAME_SECRET=`.",
        &[word("*secret"), word("secrets"), word("*secretvalue"), word("signing secret")],
    ),
    keyed(
        "token",
        "Values of keys that name a token: `access_token`, `NAME_TOKEN=`, `X-Auth-Token`, `--token`.",
        &[word("*token"), word("access tokens"), word("refresh tokens"), word("auth tokens"), word("x auth"), word("npm auth"), word("legacy auth")],
    ),
    keyed(
        "credential",
        "Values of keys that name credentials.",
        &[word("credential"), word("credentials"), word("creds")],
    ),
    Secret {
        name: name::EMAIL,
        doc: "An e-mail address: personal data, not a secret that opens anything.",
        leak: false,
        prefixes: &[],
        keys: &[],
    },
];
