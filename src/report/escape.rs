//! Makes quoted text harmless for the place it is printed in: terminal, Markdown prose, Markdown table, code span.
//!
//! It does not mask secrets: that is `redact`, which runs first.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Breaks links and mentions in Markdown. GitHub and GitLab look for them in the rendered text, where a backslash or an
/// entity has already vanished; only a character in between stops them.
const BREAK: char = '\u{200b}';

/// Makes everything visible that a terminal or a browser would act on or hide, on one line.
///
/// Newline becomes `⏎`, tab a space, other C0 controls their control picture (`␛`), everything else that is invisible or
/// changes the direction of writing `\u{…}`. Workflow commands of GitHub Actions and Azure Pipelines (`::name` at the
/// start of a word, `##[name]`, `##vso[`) get a space, since a report may be printed on the console of a CI job.
/// Running it twice changes nothing more.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) && !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.char_indices();
    while let Some((at, char)) = rest.next() {
        match char {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('␡'),
            ':' if is_colon_command(text, at, &out) => {
                out.push_str(": :");
                rest.next();
            }
            '#' if is_hash_command(text, at) => out.push_str("# "),
            _ if is_hidden(char) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    Cow::Owned(out)
}

/// A `::name` that a runner would read as a command if the line were broken before it.
fn is_colon_command(text: &str, at: usize, before: &str) -> bool {
    let name = text.get(at..).and_then(|rest| rest.strip_prefix("::"));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
        && before.chars().next_back().is_none_or(|c| c.is_whitespace() || is_picture(c))
}

/// The first `#` of `##[name]` or `##vso[`, which count anywhere in a line.
fn is_hash_command(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with("##[") || rest.starts_with("##vso["))
}

/// What [`visible`] writes for a control character.
fn is_picture(char: char) -> bool {
    matches!(char, '⏎' | '\u{2400}'..='\u{2421}')
}

/// Controls, and characters of Unicode that show nothing or reorder what is shown.
///
/// The emoji variation selector U+FE0F stays: it is common and changes only the color of the sign before it.
pub(super) fn is_hidden(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_control();
    }
    matches!(char,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Text for Markdown prose: shows exactly these characters, and nothing in it is markup, link, mention or reference.
///
/// Works for `CommonMark`, GitHub and GitLab. The result is one line.
pub fn markdown(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        let next = chars.peek().copied();
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' | '|' | '$' => out.extend(['\\', char]),
            // A list, a rule or an underline only at the start of a line.
            '-' | '+' | '=' if out.trim_start().is_empty() => out.extend(['\\', char]),
            '.' | ')' if is_list_number(&out) => out.extend(['\\', char]),
            _ => out.push(char),
        }
        if starts_reference(before, char, next) || ends_www(char, &out) {
            out.push(BREAK);
        }
        before = char;
    }
    out
}

/// `@name`, `#1`, `!1`, `$1`, `%1`, `&1`, `~1`, `GH-1` (references of GitHub and GitLab), the colon of `https://`,
/// `mailto:` and `:emoji:`.
fn starts_reference(before: char, char: char, next: Option<char>) -> bool {
    match (char, next) {
        ('@', Some(next)) => !next.is_whitespace(),
        ('#' | '!' | '$' | '%' | '&' | '~', Some(next)) => next.is_ascii_digit(),
        (':', Some(next)) => next.is_alphabetic() || matches!(next, '/' | ':' | '+' | '-' | '_'),
        ('-', Some(next)) => next.is_ascii_digit() && before.is_ascii_uppercase(),
        _ => false,
    }
}

/// The first dot of `www.example.test`, which GitHub links without a scheme.
fn ends_www(char: char, out: &str) -> bool {
    let tail = out.len().checked_sub(4).and_then(|from| out.get(from..));
    char == '.' && tail.is_some_and(|tail| tail.eq_ignore_ascii_case("www."))
}

/// Only digits so far: a dot now would begin a numbered list.
fn is_list_number(out: &str) -> bool {
    !out.is_empty() && out.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ')
}

/// Text for a cell of a Markdown table. An empty text becomes a dash, so that the row keeps its shape.
pub fn table_cell(text: &str) -> String {
    // Pipes and newlines are already inert in prose.
    if text.trim().is_empty() { "–".to_owned() } else { markdown(text) }
}

/// Text as a Markdown code span, with a fence that is longer than any run of backticks in it.
pub fn code_span(text: &str) -> String {
    let text = visible(text);
    let mut longest = 0;
    let mut run = 0;
    for char in text.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    // `CommonMark` 6.1: one space on both sides is stripped, and a span must not begin or end with a backtick.
    let edge = |char| matches!(char, '`' | ' ');
    let pad = if text.is_empty() || text.starts_with(edge) || text.ends_with(edge) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A code span for a cell of a Markdown table, where a pipe ends the cell even inside code (GFM 4.10).
pub fn code_cell(text: &str) -> String {
    code_span(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn controls_are_shown() {
        assert_eq!(visible("a\nb\tc\r"), "a⏎b c␍");
        assert_eq!(visible("\x1b[31mred\x1b[0m\x07\x7f\0"), "␛[31mred␛[0m␇␡␀");
        assert_eq!(visible("\x1b]8;;https://evil.test\x1b\\x\x1b]8;;\x1b\\"), "␛]8;;https://evil.test␛\\x␛]8;;␛\\");
        assert_eq!(visible("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(visible("abc\u{202e}txt.exe"), "abc\\u{202e}txt.exe");
        assert_eq!(visible("a\u{200b}b\u{feff}\u{2028}\u{e0041}"), "a\\u{200b}b\\u{feff}\\u{2028}\\u{e0041}");
        assert!(matches!(visible("plain – naïve ✅ text"), Cow::Borrowed(_)));
    }

    #[test]
    fn workflow_commands_are_broken() {
        assert_eq!(visible("::add-mask::secret"), ": :add-mask::secret");
        assert_eq!(visible("  ::set-output name=a::b"), "  : :set-output name=a::b");
        assert_eq!(visible("x\n::error::y"), "x⏎: :error::y");
        assert_eq!(visible("##[error]boom"), "# #[error]boom");
        assert_eq!(visible("x ##vso[task.setvariable]y"), "x # #vso[task.setvariable]y");
        // Not commands.
        assert_eq!(visible("std::fmt ::1 ## head"), "std::fmt ::1 ## head");
    }

    #[test]
    fn markdown_is_inert() {
        assert_eq!(markdown("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
        assert_eq!(markdown("a|b"), "a\\|b");
        assert_eq!(markdown("`x` *b* _i_ ~~s~~"), "\\`x\\` \\*b\\* \\_i\\_ \\~\\~s\\~\\~");
        assert_eq!(markdown("[x](javascript:alert)"), "\\[x\\](javascript:\u{200b}alert)");
        assert_eq!(markdown("![x](y)"), "\\!\\[x\\](y)");
        assert_eq!(markdown("# head"), "\\# head");
        assert_eq!(markdown("1. item"), "1\\. item");
        assert_eq!(markdown("- 2026-01-02 03:04:05.6 (a)"), "\\- 2026-01-02 03:04:05.6 (a)");
        assert_eq!(markdown("\\* &lt;"), "\\\\\\* &amp;lt;");
        assert_eq!(markdown("a\n\nb"), "a⏎⏎b");
    }

    #[test]
    fn links_mentions_and_references_are_broken() {
        assert_eq!(markdown("@octocat"), "@\u{200b}octocat");
        assert_eq!(markdown("see #123 and GH-7"), "see \\#\u{200b}123 and GH-\u{200b}7");
        assert_eq!(markdown("https://evil.test"), "https:\u{200b}//evil.test");
        assert_eq!(markdown("WWW.evil.test"), "WWW.\u{200b}evil.test");
        assert!(!markdown("::add-mask::x").contains("::"));
        assert!(!markdown("##[error]x").contains("##["));
    }

    #[test]
    fn code_spans_hold_any_text() {
        assert_eq!(code_span("x"), "`x`");
        assert_eq!(code_span("a`b"), "``a`b``");
        assert_eq!(code_span("`"), "`` ` ``");
        assert_eq!(code_span("``a```"), "```` ``a``` ````");
        assert_eq!(code_span(" a "), "`  a  `");
        assert_eq!(code_span(""), "` `".replace(' ', "  "));
        assert_eq!(code_span("a\n```\nb"), "````a⏎```⏎b````");
        assert_eq!(code_cell("a|b"), "`a\\|b`");
        assert_eq!(table_cell("a|b\nc"), "a\\|b⏎c");
        assert_eq!(table_cell(" "), "–");
    }

    #[test]
    fn long_text_stays_linear() {
        let text = "<|`@#:[".repeat(200_000);
        assert!(markdown(&text).len() > text.len());
        assert!(code_span(&text).len() > text.len());
    }

    proptest! {
        #[test]
        fn nothing_hidden_remains(text in "\\PC*|(?s).*|[\\x00-\\x1f:#\\[a]*") {
            let shown = visible(&text).into_owned();
            prop_assert!(!shown.chars().any(|c| c.is_control() || is_hidden(c)));
            prop_assert_eq!(visible(&shown).into_owned(), shown.clone());
            prop_assert!(!shown.contains("##["));
        }

        #[test]
        fn markdown_has_no_bare_markup(text in "(?s).*|[<>|`\\[\\]@:/#a1-]*") {
            let out = markdown(&text);
            prop_assert!(!out.contains(['<', '>', '\n']));
            prop_assert!(!out.contains("::") && !out.contains("://"));
            let bytes = out.as_bytes();
            for (at, byte) in bytes.iter().enumerate() {
                if matches!(byte, b'|' | b'`' | b'[' | b'*' | b'_') {
                    let slashes = bytes[..at].iter().rev().take_while(|&&b| b == b'\\').count();
                    prop_assert!(slashes % 2 == 1, "{out}");
                }
            }
        }
    }
}
