//! Reads a policy file. Every fault is told with line and column; there is no half a policy.

use std::{ops::Range, sync::Arc};

use globset::GlobBuilder;
use toml::Spanned;

use super::{
    Address, Assumption, Effect, Fault, KeyTerm, OwnEndpoint, Policy, ServerTerm, SourceTerm, ToolTerm,
    raw::{self, Text},
};
use crate::time::SECOND;

/// The words of `effect`.
const EFFECTS: [(&str, Effect); 3] =
    [("none", Effect::None), ("absorbing", Effect::Absorbing), ("accumulating", Effect::Accumulating)];

/// The words of `complete`.
const COMPLETE: [&str; 1] = ["attempts"];

pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Policy, Fault> {
    let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let Ok(text) = std::str::from_utf8(bytes) else {
        let end = valid.len();
        return Err(Paper { file, text: valid }.fault(&(end..end), "not UTF-8".to_owned()));
    };
    let paper = Paper { file, text };
    let raw: raw::File = toml::from_str(text).map_err(|error| {
        let words: Vec<&str> = error.message().lines().map(str::trim).collect();
        paper.fault(&error.span().unwrap_or(0..0), words.join(", "))
    })?;
    let policy = Policy {
        tools: raw.tool.iter().map(|tool| paper.tool(tool)).collect::<Result<_, _>>()?,
        servers: raw.server.iter().map(|server| paper.server(server)).collect::<Result<_, _>>()?,
        sources: raw.source.iter().map(|source| paper.source(source)).collect::<Result<_, _>>()?,
        own: raw.own_endpoint.iter().map(|own| paper.own_endpoint(own.get_ref())).collect::<Result<_, _>>()?,
    };
    paper.one_word_for_each_tool(&raw.tool)?;
    let servers = raw.server.iter().map(|server| &server.get_ref().name);
    paper.each_once(servers, "the server")?;
    paper.each_once(raw.own_endpoint.iter().map(|own| &own.get_ref().target), "the endpoint")?;
    if raw.tool.is_empty() && raw.server.is_empty() && raw.source.is_empty() && raw.own_endpoint.is_empty() {
        return Err(paper.fault(&(0..0), "the policy declares nothing".to_owned()));
    }
    Ok(policy)
}

/// The file, for the places in it.
struct Paper<'t> {
    file: &'t str,
    text: &'t str,
}

impl Paper<'_> {
    fn fault(&self, span: &Range<usize>, message: String) -> Fault {
        let before = self.text.get(..span.start.min(self.text.len())).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before.get(line_start..).map_or(0, |rest| rest.chars().count()) + 1;
        Fault { line: self.line(span), column, message }
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().iter().take(span.start);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    fn place(&self, span: &Range<usize>) -> Arc<str> {
        format!("{}:{}", self.file, self.line(span)).into()
    }

    fn assume(&self, span: &Range<usize>, text: String) -> Assumption {
        Assumption { text: text.into(), place: self.place(span) }
    }

    fn tool(&self, tool: &Spanned<raw::Tool>) -> Result<ToolTerm, Fault> {
        let raw = tool.get_ref();
        let name = self.name(&raw.name)?;
        let server = raw.server.as_ref().map(|server| self.name(server)).transpose()?;
        let shown = match server {
            Some(server) => format!("\"{name}\" of \"{server}\""),
            None => format!("\"{name}\""),
        };
        let effect = raw.effect.as_ref().map(|word| self.effect(word, &shown)).transpose()?;
        let nothing_local = raw.local_effects.as_ref().map(|word| self.nothing_local(word, &shown)).transpose()?;
        let key = self.key(raw, &shown)?;
        if effect.is_none() && nothing_local.is_none() && key.is_none() {
            let message = format!("the entry of the tool \"{name}\" declares nothing");
            return Err(self.fault(&tool.span(), message));
        }
        let place = self.place(&tool.span());
        Ok(ToolTerm { server: server.map(Into::into), name: name.into(), effect, nothing_local, key, place })
    }

    fn name<'n>(&self, name: &'n Text) -> Result<&'n str, Fault> {
        match name.get_ref().as_str() {
            "" => Err(self.fault(&name.span(), "the name is empty".to_owned())),
            name => Ok(name),
        }
    }

    fn effect(&self, word: &Text, tool: &str) -> Result<(Effect, Assumption), Fault> {
        let known = EFFECTS.iter().find(|(name, _)| name == word.get_ref()).map(|(_, effect)| *effect);
        let Some(effect) = known else {
            let message = format!("unknown effect \"{}\"; known are none, absorbing, accumulating", word.get_ref());
            return Err(self.fault(&word.span(), message));
        };
        let text = match effect {
            Effect::None => format!("the tool {tool} changes nothing"),
            Effect::Absorbing => format!("an equal call of the tool {tool} adds nothing"),
            Effect::Accumulating => format!("every call of the tool {tool} adds an effect"),
        };
        Ok((effect, self.assume(&word.span(), text)))
    }

    fn nothing_local(&self, word: &Spanned<bool>, tool: &str) -> Result<Assumption, Fault> {
        if *word.get_ref() {
            return Err(self.fault(&word.span(), "only `local_effects = false` declares something".to_owned()));
        }
        Ok(self.assume(&word.span(), format!("the tool {tool} changes nothing on the host of its server")))
    }

    fn key(&self, raw: &raw::Tool, tool: &str) -> Result<Option<KeyTerm>, Fault> {
        let Some(pointer) = &raw.idempotency_key else {
            return match &raw.key_lifetime {
                Some(lifetime) => Err(self.fault(&lifetime.span(), "key_lifetime without idempotency_key".to_owned())),
                None => Ok(None),
            };
        };
        if !is_pointer(pointer.get_ref()) {
            let message = format!("\"{}\" is no JSON Pointer (RFC 6901), such as \"/order/key\"", pointer.get_ref());
            return Err(self.fault(&pointer.span(), message));
        }
        let lifetime = raw.key_lifetime.as_ref().map(|text| self.lifetime(text)).transpose()?;
        let known = lifetime.as_ref().map_or_else(String::new, |(_, words)| format!(" for {words}"));
        let text = format!("the receiver of the tool {tool} knows a key at {}{known}", pointer.get_ref());
        let assumption = self.assume(&pointer.span(), text);
        Ok(Some(KeyTerm { pointer: pointer.get_ref().as_str().into(), lifetime, assumption }))
    }

    fn lifetime(&self, text: &Text) -> Result<(i64, Arc<str>), Fault> {
        let lifetime = duration(text.get_ref()).map(|lifetime| (lifetime, text.get_ref().as_str().into()));
        lifetime.ok_or_else(|| {
            let message = format!("\"{}\" is no duration, such as \"90s\", \"30m\", \"24h\", \"7d\"", text.get_ref());
            self.fault(&text.span(), message)
        })
    }

    fn server(&self, server: &Spanned<raw::Server>) -> Result<ServerTerm, Fault> {
        let raw = server.get_ref();
        let name = self.name(&raw.name)?;
        let Some(trusted) = &raw.trusted else {
            return Err(self.fault(&server.span(), format!("the entry of the server \"{name}\" declares nothing")));
        };
        if !trusted.get_ref() {
            return Err(self.fault(&trusted.span(), "only `trusted = true` declares something".to_owned()));
        }
        let assumption = self.assume(&trusted.span(), format!("the annotations of the server \"{name}\" are true"));
        Ok(ServerTerm { name: name.into(), assumption })
    }

    fn source(&self, source: &Spanned<raw::Source>) -> Result<SourceTerm, Fault> {
        let raw = source.get_ref();
        let path = raw.path.get_ref();
        let Some(complete) = raw.complete.as_ref() else {
            return Err(self.fault(&source.span(), format!("the entry of the source \"{path}\" declares nothing")));
        };
        if complete.get_ref().is_empty() {
            return Err(self.fault(&complete.span(), format!("`complete` is empty; known is {}", COMPLETE.join(", "))));
        }
        if let Some(word) = complete.get_ref().iter().find(|word| !COMPLETE.contains(&word.get_ref().as_str())) {
            let message = format!("unknown word \"{}\"; known is {}", word.get_ref(), COMPLETE.join(", "));
            return Err(self.fault(&word.span(), message));
        }
        let glob = GlobBuilder::new(path).literal_separator(true).backslash_escape(true).build();
        let glob =
            glob.map_err(|error| self.fault(&raw.path.span(), format!("no pattern of paths: {}", error.kind())))?;
        let text = format!("{path} records every contact with the outside");
        Ok(SourceTerm { paths: glob.compile_matcher(), assumption: self.assume(&complete.span(), text) })
    }

    fn own_endpoint(&self, own: &raw::OwnEndpoint) -> Result<OwnEndpoint, Fault> {
        let target = own.target.get_ref();
        let Some(address) = Address::parse(target) else {
            let message =
                format!("\"{target}\" is no host with an optional scheme and port, such as \"https://host:8443\"");
            return Err(self.fault(&own.target.span(), message));
        };
        Ok(OwnEndpoint {
            scheme: address.scheme.map(Into::into),
            host: address.host.into(),
            port: address.port,
            assumption: self.assume(&own.target.span(), format!("{target} is not outside")),
        })
    }

    /// Two entries that may be about one tool could contradict each other, and two paths of a key in calls of one name
    /// could not be told apart while they are read.
    fn one_word_for_each_tool(&self, tools: &[Spanned<raw::Tool>]) -> Result<(), Fault> {
        for (at, tool) in tools.iter().enumerate() {
            let this = tool.get_ref();
            let named =
                tools[..at].iter().map(Spanned::get_ref).filter(|other| other.name.get_ref() == this.name.get_ref());
            for other in named {
                let line = self.line(&other.name.span());
                let (mine, theirs) = (this.server.as_ref(), other.server.as_ref());
                if mine.zip(theirs).is_none_or(|(mine, theirs)| mine.get_ref() == theirs.get_ref()) {
                    let message = format!("the tool \"{}\" is declared already on line {line}", this.name.get_ref());
                    return Err(self.fault(&this.name.span(), message));
                }
                if let Some((mine, theirs)) = this.idempotency_key.as_ref().zip(other.idempotency_key.as_ref())
                    && mine.get_ref() != theirs.get_ref()
                {
                    let message = format!(
                        "another place of the key is declared on line {} for a tool of this name",
                        self.line(&theirs.span())
                    );
                    return Err(self.fault(&mine.span(), message));
                }
            }
        }
        Ok(())
    }

    fn each_once<'n>(&self, names: impl Iterator<Item = &'n Text>, what: &str) -> Result<(), Fault> {
        let mut known: Vec<&Text> = Vec::new();
        for name in names {
            if let Some(first) = known.iter().find(|known| known.get_ref() == name.get_ref()) {
                let line = self.line(&first.span());
                let message = format!("{what} \"{}\" is declared already on line {line}", name.get_ref());
                return Err(self.fault(&name.span(), message));
            }
            known.push(name);
        }
        Ok(())
    }
}

/// Not the whole document: that is no key. `~` stands only before 0 and 1.
fn is_pointer(text: &str) -> bool {
    let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    text.starts_with('/') && escaped
}

/// `90s`, `30m`, `24h`, `7d` in nanoseconds; at most a hundred years.
fn duration(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let digits = text.strip_suffix(unit)?;
    let number: i64 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let longest = 36_525 * 86_400;
    let length = number.checked_mul(seconds).filter(|length| (1..=longest).contains(length))?;
    length.checked_mul(SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, usize, String) {
        let fault = parse("p.toml", text.as_bytes()).expect_err(text);
        (fault.line, fault.column, fault.message)
    }

    #[test]
    fn a_whole_policy_is_read_with_its_lines() {
        let text = r#"# What we know.
[[tool]]
server = "acme"
name = "pay"
effect = "accumulating"
local_effects = false
idempotency_key = "/order/key~1id"
key_lifetime = "24h"

[[tool]]
server = "other"
name = "pay"
effect = "none"

[[server]]
name = "acme"
trusted = true

[[source]]
path = "server/*.log"
complete = ["attempts"]

[[own_endpoint]]
target = "https://metrics.internal"
"#;
        let policy = parse("p.toml", text.as_bytes()).expect("a policy");
        let tool = &policy.tools[0];
        let (effect, assumption) = tool.effect.as_ref().expect("an effect");
        assert_eq!((*effect, &*assumption.place), (Effect::Accumulating, "p.toml:5"));
        assert_eq!(&*assumption.text, r#"every call of the tool "pay" of "acme" adds an effect"#);
        assert_eq!(&*tool.nothing_local.as_ref().expect("declared").place, "p.toml:6");
        let key = tool.key.as_ref().expect("a key");
        assert_eq!((&*key.pointer, &*key.assumption.place), ("/order/key~1id", "p.toml:7"));
        assert_eq!(key.lifetime.as_ref().expect("a lifetime").0, 86_400 * SECOND);
        assert_eq!((&*tool.place, &*policy.tools[1].place), ("p.toml:2", "p.toml:10"));
        assert_eq!(&*policy.servers[0].assumption.place, "p.toml:17");
        assert!(
            policy.sources[0].paths.is_match("server/a.log") && !policy.sources[0].paths.is_match("server/x/a.log")
        );
        assert_eq!(&*policy.own[0].assumption.place, "p.toml:24");
    }

    #[test]
    fn a_fault_has_its_line_and_column() {
        let tool = "[[tool]]\nname = \"pay\"\n";
        let cases: &[(&str, (usize, usize), &str)] = &[
            ("", (1, 1), "the policy declares nothing"),
            ("[[tool]\nname = 1", (1, 8), ""),
            ("[[tool]]\nname = 1\neffect = \"none\"", (2, 8), "invalid type: integer `1`, expected a string"),
            ("[[tool]]\neffect = \"none\"", (1, 1), "missing field `name`"),
            ("[[tools]]\nname = \"pay\"", (1, 3), "unknown field `tools`"),
            ("[[tool]]\nname = \"pay\"\neffects = \"none\"", (3, 1), "unknown field `effects`"),
            ("[[tool]]\nname = \"\"\neffect = \"none\"", (2, 8), "the name is empty"),
            (tool, (1, 1), "the entry of the tool \"pay\" declares nothing"),
            ("[[tool]]\nname = \"é\"  # ü\neffect   = \"nothing\"", (3, 12), "unknown effect \"nothing\""),
            ("[[tool]]\nname = \"pay\"\nname = \"pay\"", (3, 1), "duplicate key"),
            ("[[tool]]\nname = \"a\"\nlocal_effects = true", (3, 17), "only `local_effects = false`"),
            ("[[tool]]\nname = \"a\"\nidempotency_key = \"key\"", (3, 19), "\"key\" is no JSON Pointer"),
            ("[[tool]]\nname = \"a\"\nidempotency_key = \"/a~2\"", (3, 19), "\"/a~2\" is no JSON Pointer"),
            ("[[tool]]\nname = \"a\"\nidempotency_key = \"\"", (3, 19), "\"\" is no JSON Pointer"),
            ("[[tool]]\nname = \"a\"\nkey_lifetime = \"24h\"", (3, 16), "key_lifetime without idempotency_key"),
            ("[[server]]\nname = \"acme\"", (1, 1), "the entry of the server \"acme\" declares nothing"),
            ("[[server]]\nname = \"acme\"\ntrusted = false", (3, 11), "only `trusted = true`"),
            ("[[source]]\npath = \"a\"", (1, 1), "the entry of the source \"a\" declares nothing"),
            ("[[source]]\npath = \"a\"\ncomplete = []", (3, 12), "`complete` is empty"),
            ("[[source]]\npath = \"a\"\ncomplete = [\"attempts\", \"all\"]", (3, 25), "unknown word \"all\""),
            ("[[source]]\npath = \"a[\"\ncomplete = [\"attempts\"]", (2, 8), "no pattern of paths"),
            ("[[own_endpoint]]\ntarget = \"https://a.test/path\"", (2, 10), "\"https://a.test/path\" is no host"),
            ("[[own_endpoint]]\ntarget = \"a.test:http\"", (2, 10), "\"a.test:http\" is no host"),
        ];
        for (text, (line, column), message) in cases {
            let (found_line, found_column, found) = fault(text);
            assert_eq!((found_line, found_column), (*line, *column), "{text}: {found}");
            assert!(found.starts_with(message), "{text}: {found}");
        }
    }

    #[test]
    fn a_duration_has_a_unit_and_is_longer_than_nothing() {
        assert_eq!(duration("90s"), Some(90 * SECOND));
        assert_eq!(duration("7d"), Some(7 * 86_400 * SECOND));
        for text in [
            "",
            "h",
            "24",
            "24 h",
            "-1h",
            "+1h",
            "0h",
            "1w",
            "1.5h",
            "24hours",
            "99999999999999999999h",
            "36526d",
            "9é",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
        let text = "[[tool]]\nname = \"a\"\nidempotency_key = \"/k\"\nkey_lifetime = \"soon\"";
        assert_eq!(fault(text).0..=fault(text).1, 4..=16);
    }

    #[test]
    fn two_entries_for_one_tool_are_a_fault() {
        let entry = |server: &str, more: &str| format!("[[tool]]\n{server}name = \"pay\"\n{more}\n");
        let (acme, other) = ("server = \"acme\"\n", "server = \"other\"\n");
        for (one, two) in [("", ""), (acme, ""), ("", acme), (acme, acme)] {
            let text = entry(one, "effect = \"none\"") + &entry(two, "effect = \"accumulating\"");
            let (line, column, message) = fault(&text);
            let (first, second) = (2 + usize::from(!one.is_empty()), 5 + text.matches("server").count());
            assert_eq!((line, column), (second, 8), "{text}");
            assert_eq!(message, format!("the tool \"pay\" is declared already on line {first}"));
        }
        let text = entry(acme, "idempotency_key = \"/a\"") + &entry(other, "idempotency_key = \"/b\"");
        assert_eq!(fault(&text).0..=fault(&text).1, 8..=19);
        let two = entry(acme, "effect = \"none\"") + &entry(other, "effect = \"accumulating\"");
        parse("p", two.as_bytes()).expect("two servers");
        let twice = "[[server]]\nname = \"a\"\ntrusted = true\n".repeat(2);
        assert_eq!(fault(&twice), (5, 8, "the server \"a\" is declared already on line 2".to_owned()));
    }

    #[test]
    fn an_own_endpoint_is_what_is_declared_and_no_more() {
        let own = |declared: &str| {
            let policy = parse("p", format!("[[own_endpoint]]\ntarget = \"{declared}\"\n").as_bytes());
            policy.expect("a policy").own.remove(0)
        };
        for (declared, targets) in [
            (
                "metrics.internal",
                &["https://metrics.internal", "http://METRICS.internal:9090", "metrics.internal:1"][..],
            ),
            ("https://m", &["https://m", "https://m:443", "m:443"]),
            ("m:8443", &["https://m:8443", "m:8443"]),
            ("[::1]:80", &["http://[::1]:80", "http://[::1]"]),
        ] {
            assert!(targets.iter().all(|target| own(declared).is(target)), "{declared}");
        }
        for (declared, target) in [
            ("metrics.internal", "https://metrics.internal.evil.test"),
            ("metrics.internal", "https://x.metrics.internal"),
            ("metrics.internal", "metrics"),
            ("https://m", "http://m"),
            ("https://m", "m"),
            ("https://m", "https://m:8443"),
            ("m:8443", "https://m"),
            ("m:8443", "m"),
            ("m", "unknown"),
            ("m", "service of this log"),
        ] {
            assert!(!own(declared).is(target), "{declared} {target}");
        }
    }
}
