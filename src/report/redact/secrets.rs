//! The table of secret kinds: what is masked, under which name, how it is recognized, and what must and must not be.
//!
//! A new kind is a new row. Tests are made of the examples. It does not search: `mod` runs the shapes, `keyed` the keys.

use super::shape;

/// One kind of secret. Its name stands in the mask: `[redacted:NAME]`.
#[derive(Debug)]
pub struct Secret {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it is and where it comes from, one or two sentences.
    pub doc: &'static str,
    /// Whether finding it in a log is a fault of the logger. Not so for e-mail addresses and session ids.
    pub leak: bool,
    /// What shows by itself that it is a secret.
    pub shapes: &'static [Shape],
    /// Keys whose value is the secret.
    pub keys: &'static [Key],
    /// Texts in which `{}` (or `{hex}`, `{upper}` for other alphabets) stands for a secret that must not survive.
    pub masked: &'static [&'static str],
    /// Texts that resemble one and must stay as they are.
    pub kept: &'static [&'static str],
}

/// A pattern.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The syntax of the `regex` crate. What its groups match is masked; without groups, all of it.
    pub pattern: &'static str,
    /// What a pattern cannot say about the text of a group.
    pub check: fn(&str) -> bool,
}

/// Keys whose value is a secret.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The last words of each key in lower case with single spaces, `|` between keys; with a leading `*` the end of
    /// its last word, with a leading `+` the last word of several.
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
    /// The rest of the line, or every string of a list or object.
    Line,
    /// One word that is no number, or every string of a list or object.
    Bag,
    /// One word; numbers count from four digits.
    Digits,
    /// One word, in the query of a URL or in a name/value pair only: the key is too common elsewhere.
    Query,
    /// The same; elsewhere one word that looks opaque.
    Signed,
    /// One word; without a separator after the key only where it looks opaque.
    Id,
    /// One word that looks opaque, also without a separator.
    Opaque,
}

/// A run of characters, this many at least; at the end of a text that was cut four are enough.
macro_rules! run {
    ($class:literal, $least:literal) => {
        concat!("(", $class, "{", $least, ",}|", $class, r"{4,}\z)")
    };
}

/// The start of a word, where no letter, digit or `_` stands before it but the end of an escape.
macro_rules! edge {
    () => {
        r"(?:^|[^A-Za-z0-9_]|\\[nrtfb]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%(?:25)?[0-9A-Fa-f]{2}|\[[0-9;]*m)"
    };
}

/// The start of a token with a prefix of its own, which may also follow a `_`: `token_sk-…`.
macro_rules! token_edge {
    () => {
        r"(?:^|[^A-Za-z0-9]|\\[nrtfb]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%(?:25)?[0-9A-Fa-f]{2}|\[[0-9;]*m)"
    };
}

/// What stands between two words of a command line, also as elements of a list.
macro_rules! gap {
    () => {
        r#"(?:\s|\\*["'],\s*\\*["'])\s*"#
    };
}

/// What stands between a client and one of its options, while the same command goes on: up to the element of a list.
macro_rules! to_option {
    () => {
        r#"\b[^\n;|&]*?(?:\s|\\*["']\s*,\s*\\*["']|\[\s*\\*["'])\s*"#
    };
}

/// The same up to the first of its options.
macro_rules! to_first {
    () => {
        r#"(?:\s|\\*["']\s*,(?:\s*\\*["']args\\*["']\s*:\s*\[)?\s*\\*["'])\s*"#
    };
}

/// The value of an option, also in quotes of its own.
macro_rules! option_value {
    () => {
        r#"\\*["']?([^\s"'\\,\[-][^\s"'\\]*)"#
    };
}

/// A slash in a URL, also as JSON or a query write it.
macro_rules! slash {
    () => {
        r"(?:\\*/|%2[Ff])"
    };
}

/// The rest of a path in a URL, this long at least; at the end of a text that was cut four characters are enough.
macro_rules! path {
    ($least:literal) => {
        concat!(
            r"((?:[A-Za-z0-9_=.~@-]|%[0-9A-Fa-f]{2}|\\*/){",
            $least,
            r",}|(?:[A-Za-z0-9_=.~@-]|%[0-9A-Fa-f]{2}|\\*/){4,}\z)"
        )
    };
}

/// A token behind a prefix that nothing else begins with.
macro_rules! token {
    ($prefix:literal) => {
        shape(concat!("(?:", $prefix, ")", run!("[A-Za-z0-9_-]", "12")))
    };
}

/// A token behind a prefix that is so short that it counts only at the start of a word, and with a digit or a capital.
macro_rules! word_token {
    ($prefix:literal, $class:literal, $least:literal) => {
        Shape { pattern: concat!(token_edge!(), "(?:", $prefix, ")", run!($class, $least)), check: shape::is_telling }
    };
}

const fn shape(pattern: &'static str) -> Shape {
    Shape { pattern, check: shape::is_anything }
}

const fn key(text: &'static str, value: Value) -> Key {
    Key { text, value }
}

const fn word(text: &'static str) -> Key {
    key(text, Value::Word)
}

const fn row(name: &'static str, doc: &'static str) -> Secret {
    Secret { name, doc, leak: true, shapes: &[], keys: &[], masked: &[], kept: &[] }
}

/// Names that code refers to.
pub(super) mod name {
    pub(in super::super) const EMAIL: &str = "email";
    pub(in super::super) const PRIVATE_KEY: &str = "private-key";
    pub(in super::super) const API_KEY: &str = "api-key";
    pub(in super::super) const SEED: &str = "seed-phrase";
    pub(in super::super) const IBAN: &str = "iban";
}

/// Every kind. For keys the first match in this order wins.
pub static SECRETS: &[Secret] = &[
    Secret {
        keys: &[
            key("authorization|http authorization|authz|x auth|npm auth|legacy auth|dpop", Value::Header),
            key("auth", Value::Opaque),
        ],
        masked: &[
            "Proxy-Authorization: Digest username=\"bob\", response=\"{}\"",
            "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={}",
            "authorization: Custom one {}",
            "DPoP: {}",
            "Authorization: DPoP {}",
            "_auth={}==",
        ],
        kept: &["event=authorization_requested phase=execution authorization: none", "auth: oauth2", "auth=required"],
        ..row(
            "authorization",
            "Credentials of an `Authorization`, `Proxy-Authorization` (RFC 9110 11.6.2) or `DPoP` (RFC 9449) header in \
             any notation.",
        )
    },
    Secret {
        keys: &[key("cookie|cookies|cookie2", Value::Line)],
        shapes: &[shape(concat!(
            edge!(),
            r#"curl\b[^\n]*?\s(?:-b|--cookie)\s*\\*["']?([A-Za-z0-9_.-]+=[^\s"'\\\[]+)"#
        ))],
        masked: &[
            "Cookie: a=\"x\"; b={}; c={}",
            "Set-Cookie: sid={}; Path=/; HttpOnly",
            "\"cookies\":[{\"name\":\"a\",\"value\":\"{}\",\"path\":\"/\"}]",
            "curl -b 'a={}' https://x.test/",
        ],
        kept: &["\"cookies\": [], \"headers\": [{\"name\":\"host\",\"value\":\"x.test\"}]", "curl -b jar.txt x.test"],
        ..row("cookie", "Values of `Cookie` and `Set-Cookie` headers (RFC 6265), and the cookie lists of HAR files.")
    },
    Secret {
        leak: false,
        shapes: &[shape(concat!(
            r"(?i)(?:session|response (?:finished|closed) )(?:[A-Za-z0-9-]*[ .()>,_]+)*?",
            r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})(?:[^A-Za-z0-9-]|\z)",
        ))],
        keys: &[
            key("session id|*sessionid|*sessid|mcp session|connect sid", Value::Id),
            key("session|sid", Value::Opaque),
        ],
        masked: &[
            "Created new transport with session ID: {}",
            "Received POST message for sessionId {}",
            "Received session ID:            \n               {}   ",
            "POST /messages/?session_id={} HTTP/1.1",
        ],
        kept: &["Bad Request: No valid session ID provided", "session closed; sid=a"],
        ..row(
            "session",
            "A session id: `Mcp-Session-Id` (MCP 2025-03-26 and later), `sessionId` of the older SSE transport, and \
             session cookies, also where prose names it (supergateway 3.x: `Session access count 1 -> 2 for ID`). \
             Whoever holds it can speak in the session.",
        )
    },
    Secret {
        shapes: &[Shape {
            pattern: concat!(
                edge!(),
                r"(?i:bearer)(?:\+|\\+u0020|%20|[ \t]+)",
                r"((?:[A-Za-z0-9]|%2[BbFf]|%3[Dd])(?:[A-Za-z0-9._~+/=:|!*@#$^&-]|%2[BbFf]|%3[Dd])*)",
            ),
            check: shape::is_bearer,
        }],
        keys: &[word("bearer")],
        masked: &["sent Bearer {} to the server", "bearer%20{}", "\\nBearer {}"],
        kept: &[
            "bearer tokens are not checked against `resource`",
            "www-authenticate: Bearer error=\"invalid_token\", resource_metadata=\"http://x\"",
            "www-authenticate: Bearer realm=x",
            "{\"name\":\"www-authenticate\",\"value\":\"Bearer error=invalid_token, scope=a1B2\"}",
        ],
        ..row("bearer", "A bearer token (RFC 6750) wherever it stands.")
    },
    Secret {
        shapes: &[Shape {
            pattern: concat!(edge!(), r"(?i:basic)(?:\+|\\+u0020|%20|[ \t]+)([A-Za-z0-9+/_=-]{4,})"),
            check: shape::is_basic,
        }],
        masked: &["used Basic {}== here"],
        kept: &["Basic authentication failed; a basic usage example"],
        ..row("basic", "User and password of the Basic scheme (RFC 7617) wherever they stand.")
    },
    Secret {
        shapes: &[shape(r"eyJ([A-Za-z0-9_=-]{4,}\.[A-Za-z0-9_.=-]*|[A-Za-z0-9_=-]{4,})(?:\z|…|\b)")],
        masked: &["got eyJ{}.eyJ{}.{} back"],
        kept: &["eyJ is base64"],
        ..row("jwt", "A JSON Web Token (RFC 7519): `eyJ….eyJ….…`. The `eyJ` stays.")
    },
    Secret {
        shapes: &[token!("sk-ant-")],
        masked: &["sk-ant-{}", "x_sk-ant-{}"],
        ..row("anthropic-key", "Anthropic API keys and OAuth tokens, `sk-ant-…`.")
    },
    Secret {
        shapes: &[
            token!("sk-(?:proj|svcacct|admin|or-v1)-"),
            Shape {
                pattern: concat!(token_edge!(), "sk-", run!("[A-Za-z0-9_-]", "16")),
                check: shape::is_key_without_name,
            },
            shape(concat!(token_edge!(), r"sk-([A-Za-z0-9_-]*\*[A-Za-z0-9_*-]*)")),
        ],
        masked: &["sk-proj-{}", "sk-svcacct-{}", "sk-admin-{}", "sk-or-v1-{}", "sk-{}", "Incorrect: sk-{}**{}."],
        kept: &["risk-assessment-of-the-task"],
        ..row(
            "openai-key",
            "OpenAI keys, `sk-…`, `sk-proj-…`, partly starred as error texts quote them, and those of the many services \
             that copied the form.",
        )
    },
    Secret {
        shapes: &[token!("gh[pousr]_|github_pat_")],
        masked: &["ghp_{}", "gho_{}", "ghu_{}", "ghs_{}", "ghr_{}", "github_pat_{}", "token_ghp_{}"],
        ..row("github-token", "GitHub tokens: personal, OAuth, app, server and refresh.")
    },
    Secret {
        shapes: &[token!("gl(?:pat|dt|rt|ptt|cbt|ft|agent|soat|oas)-")],
        masked: &[
            "glpat-{}",
            "gldt-{}",
            "glrt-{}",
            "glptt-{}",
            "glcbt-{}",
            "glft-{}",
            "glagent-{}",
            "glsoat-{}",
            "gloas-{}",
        ],
        ..row(
            "gitlab-token",
            "GitLab tokens: personal, deploy, runner, trigger, build, feed, agent, SCIM, OAuth secret.",
        )
    },
    Secret {
        shapes: &[
            token!(r"xox[bparscde]-|xoxe\.|xapp-"),
            shape(concat!(
                r"(?i:hooks\.slack(?:-gov)?\.com)",
                slash!(),
                "(?:services|workflows|triggers)",
                slash!(),
                path!("8")
            )),
        ],
        masked: &[
            "xoxb-{}",
            "xoxp-{}",
            "xoxa-{}",
            "xoxr-{}",
            "xoxs-{}",
            "xoxc-{}",
            "xoxd-{}",
            "xoxe-{}",
            "xoxe.{}",
            "xapp-{}",
            "https://hooks.slack.com/services/T00/B00/{}",
            "https:\\/\\/hooks.slack.com\\/services\\/T00\\/B00\\/{}",
            "https%3A%2F%2Fhooks.slack.com%2Fservices%2FT00%2FB00%2F{}",
            "https://hooks.slack.com/workflows/T00/A00/1/{}",
        ],
        ..row("slack-token", "Slack tokens, `xoxb-…`, `xapp-…`, and incoming web hooks.")
    },
    Secret {
        shapes: &[Shape {
            pattern: concat!(token_edge!(), "(?:AKIA|ASIA)", run!("[A-Z0-9]", "12")),
            check: shape::is_anything,
        }],
        keys: &[word("secret access key|*secretaccesskey|aws secret key|aws access key id")],
        masked: &["AKIA{upper}", "ASIA{upper}"],
        ..row(
            "aws-key",
            "AWS access key ids (`AKIA…`, `ASIA…`) and the secret keys, which have no shape and are known by their key.",
        )
    },
    Secret {
        shapes: &[
            shape(concat!("AIza", run!("[A-Za-z0-9_-]", "20"))),
            token!(r"ya29\.|GOCSPX-"),
            word_token!("1//0", "[A-Za-z0-9_-]", "20"),
        ],
        masked: &["AIza{}", "ya29.{}", "GOCSPX-{}", "1//0{}"],
        ..row(
            "google-key",
            "Google API keys (`AIza…`), access tokens (`ya29.…`), refresh tokens (`1//0…`) and client secrets.",
        )
    },
    Secret {
        shapes: &[token!("[sr]k_(?:live|test)_|whsec_")],
        masked: &["sk_live_{}", "sk_test_{}", "rk_live_{}", "rk_test_{}", "whsec_{}"],
        ..row("stripe-key", "Stripe secret and restricted keys and web hook secrets.")
    },
    Secret {
        shapes: &[word_token!("SK|AC", "[0-9A-Fa-f]", "32")],
        masked: &["SK{hex}", "AC{hex}"],
        ..row("twilio-key", "Twilio account and key ids, `AC` or `SK` and 32 hexadecimal digits.")
    },
    Secret {
        shapes: &[word_token!(r"SG\.", "[A-Za-z0-9+/_=.~-]", "16")],
        masked: &["SG.{}"],
        ..row("sendgrid-key", "SendGrid keys, `SG.….…`.")
    },
    Secret {
        shapes: &[word_token!("npm_", "[A-Za-z0-9]", "20")],
        masked: &["npm_{}"],
        ..row("npm-token", "npm access tokens.")
    },
    Secret {
        shapes: &[token!("pypi-AgE"), word_token!("pypi-", "[A-Za-z0-9_-]", "30")],
        masked: &["pypi-AgE{}", "pypi-{}"],
        ..row("pypi-token", "PyPI upload tokens.")
    },
    Secret {
        shapes: &[word_token!("hf_", "[A-Za-z0-9]", "16"), token!("api_org_")],
        masked: &["hf_{}", "api_org_{}", "x_hf_{}"],
        ..row("huggingface-token", "Hugging Face tokens.")
    },
    Secret {
        shapes: &[token!("do[opr]_v1_")],
        masked: &["dop_v1_{}", "doo_v1_{}", "dor_v1_{}"],
        ..row("digitalocean-token", "DigitalOcean personal, OAuth and refresh tokens.")
    },
    Secret {
        shapes: &[token!("lin_(?:api|oauth)_")],
        masked: &["lin_api_{}", "lin_oauth_{}"],
        ..row("linear-token", "Linear API keys and OAuth tokens.")
    },
    Secret {
        shapes: &[word_token!("ntn_", "[A-Za-z0-9]", "16"), word_token!("secret_", "[A-Za-z0-9]", "24")],
        masked: &["ntn_{}", "secret_{}"],
        ..row("notion-token", "Notion integration secrets, old and new form.")
    },
    Secret {
        shapes: &[token!("shp(?:at|ca|pa|ss)_")],
        masked: &["shpat_{}", "shpca_{}", "shppa_{}", "shpss_{}"],
        ..row("shopify-token", "Shopify access tokens and shared secrets.")
    },
    Secret {
        shapes: &[
            token!("gsk_|pplx-|tvly-|figd_|ATATT3|pat-(?:na|eu)1-|sntry[su]_|dckr_[po]at_|AGE-SECRET-KEY-1"),
            token!("glsa_|glc_eyJ|sbp_|sb_secret_|PMAK-|NRAK-|sq0csp-|sq0atp-"),
            word_token!("xai-", "[A-Za-z0-9_-]", "20"),
            word_token!("r8_", "[A-Za-z0-9]", "16"),
            word_token!("dapi", "[0-9A-Fa-f]", "30"),
            word_token!(r"hv[sb]\.|fo1_|cfut_", "[A-Za-z0-9_-]", "16"),
            word_token!("EAACEdEose0cBA", "[A-Za-z0-9]", "8"),
            word_token!("EAAA", "[A-Za-z0-9_-]", "40"),
        ],
        masked: &[
            "gsk_{}",
            "pplx-{}",
            "tvly-{}",
            "figd_{}",
            "ATATT3{}",
            "pat-na1-{}",
            "pat-eu1-{}",
            "sntrys_{}",
            "sntryu_{}",
            "dckr_pat_{}",
            "dckr_oat_{}",
            "AGE-SECRET-KEY-1{}",
            "glsa_{}",
            "glc_eyJ{}",
            "sbp_{}",
            "sb_secret_{}",
            "PMAK-{}",
            "NRAK-{}",
            "sq0csp-{}",
            "sq0atp-{}",
            "xai-{}",
            "r8_{}",
            "dapi{hex}",
            "hvs.{}",
            "hvb.{}",
            "fo1_{}",
            "cfut_{}",
            "EAACEdEose0cBA{}",
            "EAAA{}{}",
        ],
        ..row(
            "service-token",
            "Tokens of further services that mark them with a prefix: Groq, xAI, Perplexity, Replicate, Tavily, Figma, \
             Databricks, Atlassian, HubSpot, Sentry, Docker Hub, Vault, age, Grafana, Supabase, Postman, New Relic, Fly, \
             Facebook, Square, Cloudflare.",
        )
    },
    Secret {
        shapes: &[
            Shape {
                pattern: r"(?:^|[^0-9])[0-9]{8,10}(?::|%3A)([A-Za-z0-9_-]{35,45})(?:[^A-Za-z0-9_-]|\z)",
                check: shape::is_mixed,
            },
            shape(r"[0-9]{6,12}(?::|%3A)(AA(?:[A-Za-z0-9_-]{28,}|[A-Za-z0-9_-]{4,}\z))"),
            shape(concat!(
                r"(?i:api\.telegram\.org)",
                slash!(),
                "(?:file",
                slash!(),
                ")?bot(?:[0-9]+(?::|%3A))?",
                run!("[A-Za-z0-9_-]", "16")
            )),
            shape(concat!(r"(?i:api\.telegram\.org)", slash!(), "bot[0-9]+(?::|%3A)([A-Za-z0-9_-]+)")),
        ],
        masked: &[
            "https://api.telegram.org/bot123456789:AA{}/getMe",
            "https://api.telegram.org/file/bot123456789:{}/a.jpg",
            "failed: bot123456789:{}",
            "token 1234567890:{} of the bot",
        ],
        kept: &[
            "at 1784728810:9f3a9f3a9f3a9f3a9f3a9f3a9f3a9f3a9f3a9f3a",
            "1784728810:the-words-of-a-name-that-is-very-long",
        ],
        ..row(
            "telegram-token",
            "Telegram bot tokens, `DIGITS:AA…` or 35 characters. The digits, the public id of the bot, stay.",
        )
    },
    Secret {
        shapes: &[shape(concat!(
            token_edge!(),
            r"([A-Za-z0-9]{10,20}\.atlasv1\.(?:[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]{4,}\z))"
        ))],
        masked: &["got aB3dE5gH7jK9mN.atlasv1.{} back"],
        kept: &["module.atlasv1.name of a file"],
        ..row("terraform-token", "Tokens of Terraform Cloud, `….atlasv1.…`.")
    },
    Secret {
        shapes: &[word_token!(r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?", "[A-Za-z0-9]", "16")],
        masked: &["dp.pt.{}", "dp.st.{}", "dp.ct.{}", "use dp.st.prd.{}"],
        kept: &["dp.pt.length of a list", "dp.st.configurationmanager is loaded"],
        ..row("doppler-token", "Doppler tokens: personal, service, of the command line, account, SCIM, audit.")
    },
    Secret {
        shapes: &[shape(concat!(token_edge!(), r"key-([0-9a-f]{32})(?:[^0-9A-Za-z-]|\z)"))],
        masked: &["sent key-{hex} along"],
        kept: &["cache key-12345 of key-9f3a9f3a", "key-9f3a9f3a9f3a9f3a9f3a9f3a9f3a9f3a9f3a9f3a is a digest"],
        ..row("mailgun-key", "Mailgun keys, `key-` and 32 hexadecimal digits.")
    },
    Secret {
        shapes: &[shape(concat!(token_edge!(), r"pat([A-Za-z0-9]{14}\.[0-9a-f]{32,})"))],
        masked: &["with pataB3dE5gH7jK9mN.{hex}{hex} as key"],
        kept: &["path.join of patternmatching.dead"],
        ..row("airtable-token", "Airtable personal access tokens, `pat….…`.")
    },
    Secret {
        shapes: &[Shape {
            pattern: concat!(edge!(), r"SSWS(?:\+|\\+u0020|%20|[ \t]+)", run!("[A-Za-z0-9_-]", "16")),
            check: shape::is_telling,
        }],
        masked: &["sent SSWS {} to the server", "SSWS%20{}"],
        kept: &["the SSWS scheme is an authorization-scheme of Okta"],
        ..row("okta-token", "Okta API tokens behind their scheme, `SSWS …`, wherever it stands.")
    },
    Secret {
        shapes: &[Shape {
            pattern: concat!(
                edge!(),
                r"(?i:(?:x-(?:amz|goog)-)?signature(?:=|%3D))((?:[A-Za-z0-9_~+/.-]|%2[BbFf]|%3[Dd]){24,})"
            ),
            check: shape::is_signature,
        }],
        masked: &[
            "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={hex}{hex}",
            "failed with signature={}",
            "https://x.test/x?Expires=1&Signature={}&x=1",
        ],
        kept: &["signature=null", "signature=the_name_of_a_function_and_its_types", "signature=v1"],
        ..row(
            "signature",
            "Signatures of requests and URLs that stand outside of a URL: AWS (Signature Version 4), CloudFront.",
        )
    },
    Secret {
        shapes: &[shape(concat!(
            token_edge!(),
            r"([MNO][DTjz][AEIMQUYcgk][A-Za-z0-9_-]{17,37}\.[A-Za-z0-9_-]{5,8}\.(?:[A-Za-z0-9_-]{20,}|[A-Za-z0-9_-]*\z))"
        ))],
        masked: &["token is MTAaBcDeFgHiJkLmNoPqRsTuV.GaBcDe.{}"],
        ..row("discord-token", "Discord bot tokens: three parts of base64, the first a numeric user id.")
    },
    Secret {
        shapes: &[
            shape(concat!(
                r"(?i:(?:[a-z]+\.)?discord(?:app)?\.com)",
                slash!(),
                "api",
                slash!(),
                "(?:v[0-9]+",
                slash!(),
                ")?webhooks",
                slash!(),
                "[0-9]+",
                slash!(),
                run!("[A-Za-z0-9_-]", "16")
            )),
            shape(concat!(
                r"(?i:(?:webhook\.office|outlook\.office|outlook\.office365)\.com)",
                slash!(),
                "webhook(?:b2)?",
                slash!(),
                path!("8")
            )),
            shape(concat!(
                r"(?i:chat\.googleapis\.com)",
                slash!(),
                "v1",
                slash!(),
                r#"spaces[^\s"'?]*\?[^\s"']*?token=([A-Za-z0-9_%-]+)"#
            )),
            // Any other service: the path is the secret where a part of it looks opaque, unless it is that of a file.
            Shape {
                pattern: concat!(
                    slash!(),
                    r"(?i:(?:web-?)?hooks?)",
                    slash!(),
                    r"(?:[0-9]+(?:\\*/|%2[Ff]))*((?:[A-Za-z0-9_-]+(?:\\*/|%2[Ff]))*[A-Za-z0-9_-]+)(?:[^A-Za-z0-9_.-]|\.\s|\.?\z)"
                ),
                check: shape::is_hook,
            },
            Shape {
                pattern: concat!(
                    slash!(),
                    r"(?i:(?:web-?)?hooks?)",
                    slash!(),
                    r"((?:[A-Za-z0-9_-]|\\*/|%2[Ff]){4,})\z"
                ),
                check: shape::is_cut_hook,
            },
            shape(concat!(r"(?i:hooks\.zapier\.com)", slash!(), "hooks", slash!(), "catch", slash!(), path!("8"))),
            shape(concat!(
                r"(?i:maker\.ifttt\.com)",
                r#"[^\s"'?]*?"#,
                slash!(),
                "key",
                slash!(),
                run!("[A-Za-z0-9_-]", "8")
            )),
        ],
        masked: &[
            "https://discord.com/api/webhooks/1234567890/{}",
            "https://discordapp.com/api/v10/webhooks/1234567890/{}?wait=true",
            "https:\\/\\/canary.discord.com\\/api\\/webhooks\\/1234567890\\/{}",
            "https://acme.webhook.office.com/webhookb2/9f3a@9f3a/IncomingWebhook/{}/9f3a",
            "https://outlook.office.com/webhook/9f3a@9f3a/IncomingWebhook/{}/9f3a",
            "https://chat.googleapis.com/v1/spaces/AAA/messages?key=x&token={}",
            "https://hooks.zapier.com/hooks/catch/123456/{}/",
            "https://maker.ifttt.com/trigger/alert/with/key/{}",
            "POST /hooks/{} HTTP/1.1",
            "https://n8n.test/webhook/in/{}?x=1",
        ],
        kept: &[
            "POST https://discord.com/api/webhooks/ failed",
            "https://discord.com/api/v10/channels/1234567890/messages",
            "src/hooks/useAuth0Provider /app/hooks/Zq7xKp29LmVt83.js .git/hooks/pre-commit /hooks/getting-started-2024 /repos/o/r/hooks/12345678",
        ],
        ..row(
            "web-hook",
            "Addresses to which whoever knows them can write: Discord, Microsoft Teams, Google Chat, Zapier, IFTTT, and any \
             path behind `/hooks/` that looks like a token. Those of Slack and Telegram are with their tokens.",
        )
    },
    Secret {
        shapes: &[
            // The end of one whose beginning is missing.
            Shape {
                pattern: r"((?:[A-Za-z0-9+/=]|\\[nr]|[\\\s])+)-----END [A-Z0-9 ]*PRIVATE KEY",
                check: shape::is_key_tail,
            },
            // A word of base64 in the width that PEM, OpenSSH and MIME use, at the end of a line or of a string: keys
            // that were logged line by line.
            Shape {
                pattern: r#"(?m)(?:^|[\s"'])([A-Za-z0-9+/=]{64}|[A-Za-z0-9+/=]{70}|[A-Za-z0-9+/=]{76})(?:\\+[nr])*(?:\\*["']|[ \t\r]*$)"#,
                check: shape::is_mixed,
            },
        ],
        keys: &[key("private key|*privatekey", Value::Phrase), word("ssh key")],
        masked: &[
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\\n{}\\n-----END OPENSSH PRIVATE KEY-----\\n",
            "-----BEGIN PRIVATE KEY-----\n{}",
            "{}\n{}\n-----END PRIVATE KEY-----",
            "GET /mcp?z=-----BEGIN%20RSA%20PRIVATE%20KEY-----%0A{}%2B%0A-----END%20RSA%20PRIVATE%20KEY-----",
        ],
        kept: &["-----BEGIN CERTIFICATE-----"],
        ..row(
            "private-key",
            "PEM private keys (RFC 7468), whole or cut, also with escaped line ends, and keys named so.",
        )
    },
    Secret {
        shapes: &[
            Shape {
                pattern: concat!(
                    r#":(?:\\*/){2}[^\s/?#@:"'`<>\\\[;]*:(?:([^\s/?#"'`<>\\]+)@|"#,
                    // A password with a slash in it: what follows the colon is no port.
                    r#"([0-9]*[^\s0-9/?#@"'`<>\\\[][^\s@"'`<>\\]*)@|"#,
                    r#"([0-9]*[^\s0-9/?#@"'`<>\\\[][^\s/?#@"'`<>\\\[]*)\z)"#,
                ),
                check: shape::is_anything,
            },
            Shape { pattern: r#":(?:\\*/){2}([^\s/?#@:"'`<>\\]+)@"#, check: super::value::is_opaque },
            // One with a blank in it: what follows the colon is no port, and a host follows.
            shape(
                r#":(?:\\*/){2}[^\s/?#@:"'`<>\\\[;]*:([0-9]*[^\s0-9/?#@"'`<>\\\[][^\s"'`<>\\\[]*(?: +[^\s"'`<>\\\[]+?){1,8})@[A-Za-z0-9_.-]+(?:[:/?,;\s"'`\\]|\z)"#,
            ),
            shape(r#"(?i)%3A%2F%2F[A-Z0-9._~-]*%3A([^\s%"'&?/@\[]+)%40"#),
            // Oracle, and the data source names of Go's MySQL driver.
            shape(r#"(?i)jdbc:oracle:\w+:[^\s/@:"'\\]+/([^\s@"'\\]+)@"#),
            shape(concat!(edge!(), r#"(?i:sqlplus|sqlcl|rman|expdp|impdp)\b[^\n]*?\s[\w$#]+/([^\s@"'/\[]+)@"#)),
            Shape {
                pattern: r#"(?:^|[^A-Za-z0-9_.+-]|\[[0-9;]*m)[A-Za-z0-9_.+-]+:([^\s:@"'`/\\\[]+)@(?:(?:tcp|udp|unix)\(|[A-Za-z0-9_.-]+:[0-9]{2,5}/)"#,
                check: shape::is_no_mask_end,
            },
        ],
        masked: &[
            "postgres://user:{}@db.internal:5432/x",
            "https://user:{}@host/path?x=1",
            "redis://:{}@cache:6379",
            "amqp:\\/\\/user:{}@mq",
            "https://{}@host/repo.git",
            "url=https%3A%2F%2Fuser%3A{}%40host%2F",
            "jdbc:oracle:thin:scott/{}@host:1521/x",
            "sqlplus scott/{}@host",
            "root:{}@tcp(127.0.0.1:3306)/db",
            "[root:{}@tcp(127.0.0.1:3306)/db]",
            "postgres://us:pa {}@h/db",
            "postgres://us:x {}/wo:rd@x@h:5432/db",
            "{\"url\":\"redis://:pw {}@h:6379\",\"n\":1}",
        ],
        kept: &[
            "http://h:8080 mail to x at http://h:8080/a by git@x.test",
            "http://127.0.0.1:8000/mcp http://localhost:3000 ws://[::1]:3000/x",
            "image: repo/name:tag@sha256:9f86d081884c7d659a2feaa0c55ad015",
            "mcp-remote@0.1.2 @modelcontextprotocol/server@1.2.3 git@github.com:x/y.git",
        ],
        ..row(
            "url-password",
            "The password in `scheme://user:password@host` (RFC 3986 3.2.1), and in addresses of databases that are no URL.",
        )
    },
    Secret {
        keys: &[
            word("amz signature|amz credential|amz security token|goog signature|goog credential|auth code"),
            word("authorization code|device code|code verifier|client assertion"),
            word("hmac|saml response|*samlresponse|saml request|*samlrequest|saml assertion"),
            key("stripe signature", Value::Line),
            key("sig|signature|assertion", Value::Signed),
            key("code|ticket|policy|key pair id", Value::Query),
        ],
        masked: &[
            "https://x.test/a?Policy={}&Signature={}&Key-Pair-Id={}",
            "SharedAccessSignature=sv=2020&sig={}&se=x",
            "X-Hub-Signature-256: sha256={}",
            "Stripe-Signature: t=1492774577,v1={}",
        ],
        kept: &[
            "killed by sig=9, {\"sig\":\"SIGTERM\"}, \"signature\":\"fn(x: int) -> str\"",
            "GET /rate?code=EUR HTTP/1.1",
            "Child exited: code=1, signal=null key=value token_type=bearer",
        ],
        ..row(
            "signed-url",
            "Parameters that sign or open a URL or a message: AWS, CloudFront, Google Cloud, Azure SAS, OAuth codes, SAML.",
        )
    },
    Secret {
        keys: &[
            word("api key|api keys|*apikey|access key|*accesskey|account key|*accountkey|secret key|*secretkey"),
            word("signing key|encryption key|master key|auth key|subscription key|functions key|function key"),
            word("license key|service key|storage key|deploy key|admin key|role key|anon key|app key|application key"),
            word("client key|consumer key|user key|integration key|webhook key|server key|jwt key|shared key"),
            key("key", Value::Query),
        ],
        masked: &[
            "DefaultEndpointsProtocol=https;AccountKey={}==;EndpointSuffix=x",
            "ACME_KEY={}",
            "API key: {}",
            "X-Api-Key:${X} {}",
            "{\"api\\u005fkey\":\"{}\"}",
            "Incorrect API key provided: {}. You can find",
            "Incorrect API key provided: {}******9. You can find",
            "your API key is {}",
        ],
        kept: &["the API key is missing", "no API key provided", "API key provided is invalid"],
        ..row(
            "api-key",
            "Values of keys that name an API key, an access key, an account key and the like, also `NAME_KEY=` of an environment.",
        )
    },
    Secret {
        shapes: &[
            Shape {
                pattern: concat!(
                    edge!(),
                    r"(?i:mysql\w*|mariadb\w*|mycli|psql|pg_\w+|mongo\w*|sshpass|sqlcmd|bcp|isql|vncpasswd|docker login|az login)",
                    r#"\b[^\n]*?"#,
                    gap!(),
                    r#"-p(?:"#,
                    gap!(),
                    r#")?\\*["']?([^\s"'\\,\[-][^\s"'\\]*)"#,
                ),
                check: shape::is_option_value,
            },
            // Glued to the option nothing but a password can stand, whatever it is made of.
            Shape {
                pattern: concat!(edge!(), r"(?i:mysql\w*|mariadb\w*|mycli)", to_option!(), "-p", option_value!()),
                check: shape::is_glued_value,
            },
            // Apart from it the clients of MySQL take a database, but people write the password there.
            Shape {
                pattern: concat!(
                    edge!(),
                    r"(?i:mysql\w*|mariadb\w*|mycli)",
                    to_option!(),
                    "-p",
                    gap!(),
                    option_value!()
                ),
                check: shape::is_long_value,
            },
            // The password of these, or a port, which is a number.
            Shape {
                pattern: concat!(
                    edge!(),
                    r"(?i:mongo\w*|sshpass|psql|pg_\w+|(?:docker|podman|az)",
                    gap!(),
                    "login)",
                    to_option!(),
                    "-p(?:",
                    gap!(),
                    ")?",
                    option_value!()
                ),
                check: shape::is_glued_value,
            },
            Shape {
                pattern: concat!(edge!(), "sshpass", to_first!(), "-p(?:", gap!(), ")?", option_value!()),
                check: shape::is_given,
            },
            Shape {
                pattern: concat!(edge!(), "redis-cli", to_option!(), "-a(?:", gap!(), ")?", option_value!()),
                check: shape::is_given,
            },
            Shape {
                pattern: concat!(edge!(), "(?:sqlcmd|bcp|isql)", to_option!(), "-P(?:", gap!(), ")?", option_value!()),
                check: shape::is_given,
            },
            shape(concat!(
                edge!(),
                "curl",
                to_option!(),
                "(?:-[A-Za-z]*u|--(?:proxy-)?user=?)(?:",
                gap!(),
                r#")?\\*["']?(?:[^\s:"'\\]*:([^\s"'\\\[]+)|([^\s:"'\\\[]+)(?::(?:\s|\\*["'])|:?\z))"#,
            )),
            // Windows: `net use X: \\\\host\\share PASSWORD /user:NAME`, in any order, and `net user NAME PASSWORD`.
            Shape {
                pattern: concat!(
                    edge!(),
                    r"(?i:net1?(?:\.exe)?)",
                    gap!(),
                    "(?i:use)",
                    gap!(),
                    r"(?:(?:[A-Za-z]:|\*)",
                    gap!(),
                    r#")?\\{2,}[^\s"'\\,]+(?:\\+[^\s"'\\,]+)+"#,
                    gap!(),
                    r#"(?:/(?i:user):[^\s"',]+"#,
                    gap!(),
                    r#")?\\*["']?([^\s"'\\,\[/-][^\s"'\\]*)"#,
                ),
                check: shape::is_given,
            },
            Shape {
                pattern: concat!(
                    edge!(),
                    r"(?i:net1?(?:\.exe)?)",
                    gap!(),
                    "(?i:user)",
                    gap!(),
                    r#"[^\s"',/]+"#,
                    gap!(),
                    r#"\\*["']?([^\s"'\\,\[/-][^\s"'\\]*)"#,
                ),
                check: shape::is_given,
            },
            // `-U user%password` of Samba, `-w password` of LDAP, `-P password` of zip, `pass:password` of OpenSSL.
            shape(concat!(
                edge!(),
                "(?:smbclient|rpcclient|smbmap|net|winexe)",
                to_option!(),
                "-U(?:",
                gap!(),
                r#")?\\*["']?[^\s"'%,]+%([^\s"'\\\[]+)"#
            )),
            Shape {
                pattern: concat!(edge!(), r"ldap[a-z]+\b", to_option!(), "-w(?:", gap!(), ")?", option_value!()),
                check: shape::is_given,
            },
            Shape {
                pattern: concat!(edge!(), "(?:un)?zip", to_option!(), "-P(?:", gap!(), ")?", option_value!()),
                check: shape::is_given,
            },
            shape(concat!(r"-pass(?:in|out)?", gap!(), r#"\\*["']?pass:([^\s"'\\\[]+)"#)),
            // Any other command, where it looks like a password and like no path, port or name.
            Shape { pattern: concat!(r#"(?:^|[\s"'])-p"#, gap!(), option_value!()), check: shape::is_password_like },
            Shape {
                pattern: concat!(r#"(?:^|[\s"'])-p"#, gap!(), r#"\\*["']?([A-Za-z0-9]{4,})\z"#),
                check: shape::is_mixed,
            },
            shape(concat!("--(?:pass|pw|pwd)(?:=|", gap!(), r#")\\*["']?([^\s"'\\,\[-][^\s"'\\]*)"#)),
        ],
        keys: &[
            key("*password|*passwd|*passphrase|pwd", Value::Phrase),
            // German, Spanish, Portuguese, French, Italian, Dutch, Swedish, Polish, Czech. Accents are read away.
            key("*passwort|kennwort|*contrasena|senha|mot de passe|*motdepasse|parola|*wachtwoord", Value::Phrase),
            key("losenord|haslo|heslo", Value::Phrase),
            key("passwords", Value::Bag),
            word("+pass"),
            key("pass", Value::Opaque),
            word("pw"),
            key("*passcode|otp|pin|mfa code|verification code|cvv|cvc", Value::Digits),
            key("connection string|*connectionstring|conn string|conn str|*connstr", Value::Line),
        ],
        masked: &[
            "Server=db;User Id=sa;Password={};Database=x",
            "PGPASSWORD={} psql",
            "The password is {}",
            "The password for bob is {}",
            "{\"pass\\u0077ord\": \"{}\"}",
            "your password is: {}",
            "mysql -u root -p{} db",
            "mysql -u root -p {} db",
            "[\"mysql\",\"-p\",\"{}\"]",
            "sshpass -p {} ssh x",
            "redis-cli -a {} ping",
            "redis-cli -h x -a {}",
            "sqlcmd -S db -U sa -P {}",
            "docker login -u bob -p {} registry.test",
            "{\"command\":\"mysql\",\"args\":[\"-u\",\"root\",\"-p{}\",\"db\"]}",
            "curl -uUSER:{} https://x.test/",
            "curl -sS -u USER:{} https://x.test/",
            "curl --user USER:{} https://x.test/",
            "curl --user=USER:{} https://x.test/",
            "curl -u {}: https://x.test/",
            "[\"curl\",\"-u\",\"USER:{}\"]",
            "--pass {}",
            "net use \\\\h\\s {} /user:u",
            "net use Z: \\\\h\\s /user:d\\u {}",
            "[\"net\",\"use\",\"\\\\\\\\h\\\\s\",\"{}\",\"/user:u\"]",
            "net user bob {} /add",
            "smbclient //h/s -U bob%{}",
            "ldapsearch -x -D cn=a -w {} -b x",
            "openssl rsa -passin pass:{} -in x",
            "tool -p {} x",
            "Passwort: {}",
            "contraseña: {}",
            "{\"contrase\\u00f1a\":\"{}\"}",
            "mot de passe : {}",
            "GET /mcp?z=curl%20-u%20USER:{}%20http://x",
            "GET /mcp?z=curl%20%2Du%20USER:{}",
            "GET /mcp?z=sshpass%20-p%20{}%20ssh%20x",
            "GET /mcp?z=mysql%20-u%20root%20-p{}",
            "GET /mcp?z=password%20is%20{}",
        ],
        kept: &[
            "psql -h x -p 5432 -U bob",
            "mysql -u root -p db -P 3306; docker run -p 8080:80 x; mkdir -p /tmp/x",
            "mysql -u root -p < dump.sql; mysql -p$MYSQL_PWD; psql -p $PGPORT; redis-cli -a \"$PASS\"",
            "net use; net user; net use Z: /delete; tool -p Name; claude -p \"Fix the test\"",
            "mkdir -p dir; nmap -p tcp host; docker run -p tcp; ssh -p 2222 host; psql -c x && mkdir -p directory",
            "mysqld is running, find / -print; curl -u bob https://x.test/",
            "cat: /etc/passwd: Permission denied",
            "PWD=/srv/lab OLDPWD=/srv",
            "the password is incorrect",
            "GPIO pin: 13",
        ],
        ..row(
            "password",
            "Values of keys that name a password, in JSON, YAML, connection strings, environments and command lines.",
        )
    },
    Secret {
        keys: &[word("*secret|*secretvalue|signing secret"), key("secrets", Value::Bag)],
        masked: &["{\"secrets\":{\"a\":\"{}\"}}"],
        kept: &["{\"client_secret\":null}", "the secret is out"],
        ..row("secret", "Values of keys that name a secret: `client_secret`, `NAME_SECRET=`.")
    },
    Secret {
        keys: &[word("*token|access tokens|refresh tokens|auth tokens|pat|jwt|csrf|xsrf"), key("tokens", Value::Bag)],
        masked: &[
            "session token={}",
            "tokens: [a, {}]",
            "tokens: {a: {}}",
            "token \"{}\" is invalid",
            "{\"token\":{\"value\":\"{}\"}}",
        ],
        kept: &[
            "\"tokens\": 1234, \"usage\":{\"total_tokens\":5,\"input_tokens\":12345678}",
            "\"progressToken\":3,\"max_tokens\":4096,\"nextPageToken\":\"abcd1234efgh\"",
            "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
        ],
        ..row("token", "Values of keys that name a token: `access_token`, `NAME_TOKEN=`, `X-Auth-Token`, `--token`.")
    },
    Secret {
        keys: &[key("credential|credentials|creds", Value::Bag)],
        ..row("credential", "Values of keys that name credentials.")
    },
    Secret {
        keys: &[word("mnemonic phrase|seed phrase|recovery phrase|seed words|backup phrase")],
        kept: &["the seed phrase is missing"],
        ..row(name::SEED, "The words from which the keys of a wallet are made (BIP-39), where something names them.")
    },
    Secret {
        leak: false,
        shapes: &[Shape {
            pattern: concat!(
                r"(?:^|[^A-Za-z0-9_.-]|\\+[nrt])",
                "((?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6(?:011|5[0-9]{2})|35[0-9]{2})(?:[ -]?[0-9]{4}){3}|",
                "3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})",
                r"(?:[^A-Za-z0-9_.-]|\.[^0-9]|\.?\z)",
            ),
            check: super::proof::is_card,
        }],
        masked: &["card 4111 1111 1111 1111"],
        kept: &["id 4111111111111112 at 1764554400000000"],
        ..row("card-number", "The number of a payment card (ISO 7812): its issuer and its check digit prove it.")
    },
    Secret {
        leak: false,
        masked: &["IBAN DE89 3704 0044 0532 0130 00"],
        kept: &["DE88370400440532013000"],
        ..row(name::IBAN, "The number of a bank account (ISO 13616): its length and its check digits prove it.")
    },
    Secret {
        leak: false,
        shapes: &[Shape {
            pattern: r"(?:\\+[nrt]|%0[AaDd]|\[[0-9;]*m)?([A-Za-z0-9._+\x80-\xFF-]+(?:@|%40|\\+u0040)(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})",
            check: shape::is_address,
        }],
        masked: &["mail {}@example.com now", "user={}%40mail.example.org"],
        kept: &["getty@tty1.service", "git@github.com:x/y.git"],
        ..row("email", "An e-mail address: personal data, not a secret that opens anything.")
    },
];
