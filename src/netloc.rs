//! Where an HTTP request goes: the parts of a URL, of a request line, of a query.
//!
//! Decodes no percent escapes and judges no host.

/// The parts of a URL or of a request target. All empty where not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target<'a> {
    /// `http`, without `://`.
    pub scheme: &'a str,
    /// Host and port, without user and password.
    pub host: &'a str,
    /// Path without query and fragment.
    pub path: &'a str,
    /// What follows the question mark.
    pub query: &'a str,
}

impl<'a> Target<'a> {
    /// Takes a URL or a request target (`/mcp?x=1`) apart.
    pub fn parse(url: &'a str) -> Self {
        let (scheme, rest) = match url.split_once("://") {
            Some((scheme, rest))
                if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
            {
                (scheme, rest)
            }
            _ => ("", url),
        };
        let begin = if scheme.is_empty() { 0 } else { rest.find(['/', '?', '#']).unwrap_or(rest.len()) };
        let (authority, rest) = rest.split_at(begin);
        let rest = rest.split('#').next().unwrap_or("");
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let host = authority.rsplit('@').next().unwrap_or("");
        Self { scheme, host, path, query }
    }

    /// The session of the HTTP+SSE transport (2024-11-05): `session_id` (Python SDK) or `sessionId` (TypeScript SDK).
    pub fn session(&self) -> Option<&'a str> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(name, value)| matches!(*name, "session_id" | "sessionId") && !value.is_empty())
            .map(|(_, value)| value)
    }
}

/// Method and target of `POST /mcp HTTP/1.1`. The version may be missing, as HTTP/0.9 and some loggers have it.
pub fn request_line(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let version_ok = words.next().is_none_or(|version| version.starts_with("HTTP/"));
    (is_method(method) && !target.is_empty() && version_ok).then_some((method, target))
}

/// User agents of software that asks a service again and again whether it lives, as they begin.
static PROBERS: [&str; 10] = [
    "kube-probe/",
    "ELB-HealthChecker/",
    "GoogleHC/",
    "GoogleStackdriverMonitoring",
    "Consul Health Check",
    "Amazon-Route53-Health-Check",
    "Envoy/HC",
    "UptimeRobot",
    "Blackbox Exporter/",
    "Health-Check",
];

/// Paths that are only there to be probed, by what one of their parts is called.
static HEALTH: [&str; 11] =
    ["health", "healthz", "healthcheck", "health_check", "_health", "ready", "readyz", "live", "livez", "ping", "up"];

/// Whether a prober asks whether a service lives: no program that does its work names itself so there.
pub fn is_probe(method: &str, path: &str, agent: &str) -> bool {
    let part = |part: &str| HEALTH.iter().any(|known| part.eq_ignore_ascii_case(known));
    matches!(method, "GET" | "HEAD")
        && PROBERS.iter().any(|known| agent.starts_with(known))
        && (path == "/" || path.split('/').any(part))
}

/// Whether `word` can be an HTTP method as everyone writes them: upper-case letters.
pub fn is_method(word: &str) -> bool {
    (3..=16).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lose_passwords_and_queries() {
        let target = Target::parse("https://user:secret@api.example.test:8443/v1/x?token=1#top");
        assert_eq!(target, Target { scheme: "https", host: "api.example.test:8443", path: "/v1/x", query: "token=1" });
        assert_eq!(Target::parse("/messages/?session_id=abc&x=1").session(), Some("abc"));
        assert_eq!(Target::parse("/login?next=http://x/y").path, "/login");
        assert_eq!(Target::parse("http://h").host, "h");
    }

    #[test]
    fn a_probe_is_what_a_prober_asks_of_a_health_path() {
        assert!(is_probe("GET", "/health", "kube-probe/1.29"));
        assert!(is_probe("HEAD", "/api/healthz", "ELB-HealthChecker/2.0"));
        assert!(!is_probe("POST", "/health", "kube-probe/1.29"));
        assert!(!is_probe("GET", "/charges", "kube-probe/1.29"));
        assert!(!is_probe("GET", "/health", "python-httpx"));
    }

    #[test]
    fn request_lines() {
        assert_eq!(request_line("POST /mcp HTTP/1.1"), Some(("POST", "/mcp")));
        assert_eq!(request_line("-"), None);
        assert_eq!(request_line("\\x16\\x03 x"), None);
    }
}
