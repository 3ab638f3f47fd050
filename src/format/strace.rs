//! strace: one system call a line, read into what it says about processes, connections and HTTP.
//!
//! Follows no descriptor and joins no interrupted call: that needs neighbours, and is the work of `assemble`.

use super::{Format, Head};
use crate::{
    event::{Call, Event, Keys, Kind, Syscall, Witness},
    frame::Framing,
    record::{Record, Sink},
    time::Stamp,
};

mod call;
mod harmless;
mod http;
mod line;
mod words;

pub use call::read_call;
use line::What;

/// The format.
pub static FORMAT: Format = Format {
    name: "strace",
    title: "strace of a server process and its children",
    doc: "## Written by

`strace -f` with `-o FILE` or on stderr, with `-t`, `-tt`, `-ttt`, `-r` or no stamps, with or without `-y` (strace 4 to 6).

## A record

`[pid N] HH:MM:SS.µs name(arguments) = result ERRNO (text)`, or `N HH:MM:SS.µs …` in a file. A call that is interrupted
by another thread is cut in two: `name(… <unfinished ...>` and `<... name resumed>…`.

## Proves

`connect` = 0, or `SO_ERROR` 0 after `EINPROGRESS`: connected. A failed `connect`: this connection was not made. `sendto`,
`sendmsg`, `write`, `writev`: bytes left; the beginning of an HTTP request gives method and path, where `-s` let it through.
`recvfrom`, `read`: bytes came; the beginning of an HTTP answer gives its status. `execve`, `clone`, exits and signals.
A call that returns a new descriptor proves that its number was free: it is told as a close of that number.

## Silent about

The content of TLS; calls outside the `-e trace=` set; everything done through `io_uring`, whose use ends the coverage.
A connected UDP socket looks like a connected TCP socket: choosing a source address, the resolver does that without sending.
",
    framing: Framing::Lines,
    json_lines: false,
    gist: None,
    witness: Some(Witness::Network),
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    head.lines()
        .filter_map(|line| std::str::from_utf8(line).ok())
        .find(|line| !is_attach_note(line))
        .is_some_and(|line| line::line(line).is_ok())
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let Ok((_, line)) = line::line(record.text) else {
        let Some(syscall) = note(record.text) else { return false };
        sink.push(event(record, None, Kind::Syscall(syscall)));
        return true;
    };
    let mut push = |call| sink.push(event(record, line.at, Kind::Syscall(Syscall { thread: line.thread, call })));
    match line.what {
        // Whoever ends himself ends nobody else.
        What::Call { name: "kill" | "tgkill" | "tkill", arguments, .. } if is_self(arguments, line.thread) => {
            push(Call::Other);
        }
        What::Call { name, arguments, result } => call::read(name, arguments, result, record.arena, &mut push),
        What::Mark(call) => push(call),
    }
    true
}

/// Whether the first argument is the thread itself.
fn is_self(arguments: &str, thread: u32) -> bool {
    arguments.split([',', '<']).next().is_some_and(|number| number.trim().parse() == Ok(thread))
}

fn event<'a>(record: &Record<'a>, at: Option<Stamp>, kind: Kind<'a>) -> Event<'a> {
    Event { origin: record.origin, at, witness: Some(Witness::Network), keys: Keys::default(), kind }
}

/// What strace says about itself: which thread it follows, and that it follows one no more or could not write.
fn note(line: &str) -> Option<Syscall<'_>> {
    let rest = line.strip_prefix("strace: ")?;
    let number = |text: &str| text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let thread = rest.strip_prefix("Process ").map_or(0, number);
    let call = if rest.ends_with(" attached") && thread != 0 { Call::Attached } else { Call::Hidden("strace") };
    Some(Syscall { thread, call })
}

/// What strace writes before the first call.
fn is_attach_note(line: &str) -> bool {
    line.strip_prefix("strace: ").is_some_and(|rest| rest.starts_with("Process ") || rest.starts_with("attach"))
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{
        event::{Call, Pairs},
        format, jsonrpc,
        time::{Shape, Timestamp},
    };

    const SAMPLE: &str = include_str!("../../samples/formats/strace/input.log");

    fn calls<'a>(text: &'a str, arena: &'a Bump) -> Vec<(u32, Call<'a>)> {
        let sink = format::decode_lines(Some(&FORMAT), text, arena);
        sink.events
            .iter()
            .filter_map(|event| match event.kind {
                Kind::Syscall(syscall) => Some((syscall.thread, syscall.call)),
                _ => None,
            })
            .collect()
    }

    fn one<'a>(text: &'a str, arena: &'a Bump) -> Call<'a> {
        let calls = calls(text, arena);
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls[0].1
    }

    #[test]
    fn the_sample_tells_process_connection_request_and_end() {
        let arena = Bump::new();
        let calls = calls(SAMPLE, &arena);
        let pairs = jsonrpc::canonical(r#"{"customer":"ACME"}"#).expect("valid").pairs;
        let server = 21789;
        let worker = 21814;
        for wanted in [
            (server, Call::Exec { program: "/srv/lab/v2/bin/python", ok: true }),
            (server, Call::Clone { child: worker, thread: true }),
            (worker, Call::Close { fd: 8 }),
            (worker, Call::Connect { fd: 8, address: "127.0.0.1:21005", ok: None }),
            (worker, Call::SocketError { fd: 8, error: 0 }),
            (worker, Call::Send { fd: 8, method: Some("POST"), path: Some("/invoices"), pairs: Pairs::default() }),
            (worker, Call::Send { fd: 8, method: None, path: None, pairs }),
            (worker, Call::Receive { fd: 8, status: Some(201) }),
            (server, Call::Unfinished("kill(21789, SIGKILL ")),
            (server, Call::Resumed(") = ?")),
            (worker, Call::Killed(9)),
        ] {
            assert!(calls.contains(&wanted), "{wanted:?} in {calls:#?}");
        }
        let sink = format::decode_lines(Some(&FORMAT), SAMPLE, &arena);
        let at = sink.events[0].at.expect("a stamp");
        assert_eq!((at.shape, at.digits), (Shape::TimeOfDay, 6));
        assert_eq!(at.at, Timestamp((3 * 3600 + 60 + 15) * time_second() + 805_024_000));
        assert!(sink.events.iter().all(|event| event.witness == Some(Witness::Network)));
    }

    fn time_second() -> i64 {
        crate::time::SECOND
    }

    #[test]
    fn prefixes_of_all_options() {
        let arena = Bump::new();
        for (text, thread, shape) in [
            ("[pid 21813] 03:01:17.742446 close(4) = 0", 21813, Some(Shape::TimeOfDay)),
            ("[pid 21813<python>] close(4) = 0", 21813, None),
            ("21813 1796007945.469527 close(4) = 0", 21813, Some(Shape::Utc)),
            ("21813      0.000123 close(4) = 0", 21813, None),
            ("03:01:17 (+     0.000123) close(4) = 0", 0, Some(Shape::TimeOfDay)),
            ("close(4)                = 0", 0, None),
        ] {
            let sink = format::decode_lines(Some(&FORMAT), text, &arena);
            let Kind::Syscall(syscall) = sink.events[0].kind else { panic!("{text}: {:?}", sink.events) };
            assert_eq!((syscall.thread, syscall.call), (thread, Call::Close { fd: 4 }), "{text}");
            assert_eq!(sink.events[0].at.map(|at| at.shape), shape, "{text}");
        }
    }

    #[test]
    fn connections_are_claimed_only_as_far_as_the_result_goes() {
        let arena = Bump::new();
        let connect = |result: &str| {
            let text = arena.alloc_str(&format!(
                r#"7 connect(3<TCP:[9]>, {{sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}}, 28) = {result}"#
            ));
            one(text, &arena)
        };
        let address = "[2001:db8::1]:443";
        assert_eq!(connect("0"), Call::Connect { fd: 3, address, ok: Some(true) });
        assert_eq!(connect("-1 ECONNREFUSED (Connection refused)"), Call::Connect { fd: 3, address, ok: Some(false) });
        assert_eq!(connect("-1 EINTR (Interrupted system call)"), Call::Connect { fd: 3, address, ok: None });
        assert_eq!(
            connect("? ERESTARTSYS (To be restarted if SA_RESTART is set)"),
            Call::Connect { fd: 3, address, ok: None }
        );
        assert_eq!(
            one(r#"7 connect(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0"#, &arena),
            Call::Unnamed { fd: 3 }
        );
        assert_eq!(
            one(r#"7 connect(3, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110) = 0"#, &arena),
            Call::Local { fd: 3 }
        );
        let mapped = r#"7 connect(3, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::ffff:192.0.2.1", &sin6_addr), sin6_scope_id=0}, 28) = 0"#;
        assert_eq!(one(mapped, &arena), Call::Connect { fd: 3, address: "192.0.2.1:80", ok: Some(true) });
        assert_eq!(
            one("7 getsockopt(8, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0", &arena),
            Call::SocketError { fd: 8, error: 111 }
        );
    }

    #[test]
    fn what_strace_cut_is_not_guessed() {
        let arena = Bump::new();
        assert_eq!(
            one(r#"7 write(8, "POST /invoices/very/lo"..., 300) = 300"#, &arena),
            Call::Send { fd: 8, method: Some("POST"), path: None, pairs: Pairs::default() }
        );
        assert_eq!(
            one(r#"7 write(8, "{\"customer\": \"AC"..., 300) = 300"#, &arena),
            Call::Send { fd: 8, method: None, path: None, pairs: Pairs::default() }
        );
        assert_eq!(one(r#"7 write(8, "POST / HTTP/1.1\r\n\r\n", 19) = -1 EPIPE (Broken pipe)"#, &arena), Call::Other);
        assert_eq!(one(r#"7 recvfrom(8, "", 8192, 0, NULL, NULL) = 0"#, &arena), Call::Other);
    }

    #[test]
    fn vectors_and_datagrams() {
        let arena = Bump::new();
        let text = r#"7 writev(8, [{iov_base="PUT /v1/x?k=1 HTTP/1.1\r\nHost: h\r\n\r\n", iov_len=35}, {iov_base="{\"a\":\"\\u0041\\303\\244\"}", iov_len=9}], 2) = 44"#;
        let Call::Send { method, path, pairs, .. } = one(text, &arena) else { panic!() };
        assert_eq!((method, path, pairs.len()), (Some("PUT"), Some("/v1/x"), 1));
        let text = r#"7 writev(8, [{iov_base="PUT /v1/x HTTP/1.1\r\n\r\n", iov_len=22}, {iov_base="{\"a\":\"\303\244\"}", iov_len=9}], 2) = 31"#;
        let Call::Send { pairs, .. } = one(text, &arena) else { panic!() };
        assert_eq!(pairs, jsonrpc::canonical(r#"{"a":"ä"}"#).expect("valid").pairs);
        let text = r#"7 sendto(5, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.53")}, 16) = 1"#;
        let calls = calls(text, &arena);
        assert_eq!(calls[0].1, Call::Connect { fd: 5, address: "192.0.2.53:53", ok: None });
        assert!(matches!(calls[1].1, Call::Send { fd: 5, .. }));
    }

    #[test]
    fn a_cut_call_can_be_put_together_and_read() {
        let arena = Bump::new();
        let first = "7 recvfrom(8,  <unfinished ...>";
        let rest = r#"7 <... recvfrom resumed>"HTTP/1.1 503 Service Unavailable\r\n", 8192, 0, NULL, NULL) = 34"#;
        let (Call::Unfinished(first), Call::Resumed(rest)) = (one(first, &arena), one(rest, &arena)) else { panic!() };
        let mut seen = Vec::new();
        read_call(arena.alloc_str(&format!("{first}{rest}")), &arena, &mut |call| seen.push(call));
        assert_eq!(seen, [Call::Receive { fd: 8, status: Some(503) }]);
        seen.clear();
        let alone = r#"connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}, 16 "#;
        read_call(alone, &arena, &mut |call| seen.push(call));
        assert_eq!(seen, [Call::Connect { fd: 3, address: "192.0.2.1:443", ok: None }]);
    }

    #[test]
    fn descriptors_that_are_given_again_were_closed() {
        let arena = Bump::new();
        let accepted = calls("7 accept4(3, NULL, NULL, SOCK_CLOEXEC) = 8", &arena);
        assert_eq!(
            accepted.into_iter().map(|(_, call)| call).collect::<Vec<_>>(),
            [Call::Close { fd: 8 }, Call::Socket { fd: 8 }]
        );
        let pair: Vec<_> = calls("7 socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, [4, 5]) = 0", &arena);
        assert_eq!(
            pair.into_iter().map(|(_, call)| call).collect::<Vec<_>>(),
            [Call::Close { fd: 4 }, Call::Local { fd: 4 }, Call::Close { fd: 5 }, Call::Local { fd: 5 }, Call::Other]
        );
    }

    #[test]
    fn hostile_and_foreign_lines() {
        let arena = Bump::new();
        for text in [
            "print(1) = 2",
            "--- a.txt ---",
            "+++ b.txt",
            "7 hello",
            "12:00:00 INFO x() = y",
            "[pid 7",
            "\"",
            "7 connect(3, \"\\",
        ] {
            let sink = format::decode_lines(None, text, &arena);
            assert!(matches!(sink.events[..], [Event { kind: Kind::Text(_), .. }]), "{text}: {:?}", sink.events);
        }
        // A result inside a quoted string is not the result.
        let text = r#"7 sendto(8, "GET / HTTP/1.1\r\nX: ) = 0\r\n", 26, 0, NULL, 0) = -1 ECONNRESET (Connection reset by peer)"#;
        assert_eq!(one(text, &arena), Call::Other);
        for cut in 0..text.len() {
            let mut ignore = |_| ();
            read_call(&text[2.min(cut)..cut], &arena, &mut ignore);
        }
    }

    #[test]
    fn use_of_io_uring_ends_the_coverage() {
        let arena = Bump::new();
        for name in ["io_uring_setup", "io_uring_register", "syscall_425", "syscall_0x1a9", "msgsnd", "mq_timedsend"] {
            let line = arena.alloc_str(&format!("7 {name}(64, 0x7f) = 9"));
            assert_eq!(one(line, &arena), Call::Hidden(name));
        }
        for (line, call) in [
            (r#"7 mount("srv:/x", "/mnt", "nfs", 0, NULL) = 0"#, Call::Hidden("mount")),
            (r#"7 mount("srv:/x", "/mnt", "nfs", 0, NULL) = -1 EPERM (Operation not permitted)"#, Call::Other),
            ("7 ioctl(5, USBDEVFS_BULK, 0x7ff) = 3", Call::Hidden("ioctl")),
            ("7 ioctl(5, TCGETS, 0x7ff) = 0", Call::Other),
            ("7 ioctl(7, SIOCSIFADDR, {ifr_name=\"eth0\"}) = 0", Call::Hidden("ioctl")),
            ("7 kill(55, SIGTERM) = 0", Call::Hidden("kill")),
            ("7 kill(55, 0) = 0", Call::Other),
            ("7 kill(7, SIGKILL) = ?", Call::Other),
            ("7 setns(4, CLONE_NEWNET) = 0", Call::Hidden("setns")),
            (r#"7 chdir("/dev") = 0"#, Call::Hidden("chdir")),
            (r#"7 chdir("/srv/acme") = 0"#, Call::Other),
            ("7 futex(0x7f, FUTEX_WAKE_PRIVATE, 1) = 0", Call::Other),
            ("7 fchmod(5, 0644) = 0", Call::FileChanged),
            (
                "7 sendto(3, [{nlmsg_len=20, nlmsg_type=RTM_GETADDR}], 20, 0, {sa_family=AF_NETLINK}, 12) = 20",
                Call::Other,
            ),
            (
                "7 sendto(3, [{nlmsg_len=52, nlmsg_type=RTM_NEWROUTE}], 52, 0, {sa_family=AF_NETLINK}, 12) = 52",
                Call::Hidden("netlink"),
            ),
            ("7 sendmsg(7, {msg_control=[{cmsg_type=SCM_RIGHTS, cmsg_data=[9]}]}, 0) = 1", Call::Hidden("SCM_RIGHTS")),
            ("strace: Process 7 detached", Call::Hidden("strace")),
            ("strace: Process 7 attached", Call::Attached),
            ("strace: write: No space left on device", Call::Hidden("strace")),
        ] {
            assert_eq!(one(line, &arena), call, "{line}");
        }
    }

    #[test]
    fn what_is_moved_between_descriptors_is_sent_on_the_one_that_takes_it() {
        let arena = Bump::new();
        for (line, taker) in [
            ("7 splice(5, NULL, 7, NULL, 4096, 0) = 4096", 7),
            ("7 tee(5, 6, 4096, 0) = 4096", 6),
            ("7 vmsplice(4, [{iov_base=0x7f, iov_len=9}], 1, 0) = 9", 4),
            ("7 sendfile(7, 5, NULL, 4096) = 4096", 7),
            ("7 copy_file_range(5, NULL, 8, NULL, 9, 0) = 9", 8),
        ] {
            assert!(matches!(one(line, &arena), Call::Send { fd, .. } if fd == taker), "{line}");
        }
    }

    #[test]
    fn files_that_are_opened_for_writing_are_told_from_doors() {
        let arena = Bump::new();
        for (path, flags, opened) in [
            ("/var/ledger.db", "O_RDWR|O_CREAT", Some(false)),
            ("/run/payd.fifo", "O_WRONLY", Some(true)),
            ("/dev/ttyUSB0", "O_RDWR", Some(true)),
            ("/dev/null", "O_WRONLY", None),
            ("/var/ledger.db", "O_RDONLY|O_CLOEXEC", None),
        ] {
            let line = arena.alloc_str(&format!(r#"7 openat(AT_FDCWD, "{path}", {flags}) = 5"#));
            let calls: Vec<_> = calls(line, &arena).into_iter().map(|(_, call)| call).collect();
            let opened = opened.map(|door| Call::Opened { fd: 5, door });
            assert_eq!(
                calls,
                [Some(Call::Close { fd: 5 }), opened].into_iter().flatten().collect::<Vec<_>>(),
                "{path}"
            );
        }
    }
}
