//! The whole life of the process is covered, and it reached nothing outside a call.

use super::RestartRule;
use crate::{
    correlate::{AnswerKind, Contact},
    judge::{Evidence, Helps, Opinion, Place, Proof, RunFacts, coverage, doc::Doc, retry::Caution, run},
};

/// See [`RestartRule::doc`].
pub(super) static RULE: RestartRule = RestartRule {
    id: "covered-life",
    title: "The whole life of the process is covered",
    doc: Doc {
        means: "A kernel trace follows the process from its first program to its end and shows no contact outside a call.",
        recognized: "A trace of the network over the whole life (class A) that follows every process of the server on record, no bytes sent on a socket whose peer the trace does not show, no system call but those that are known to act on the process alone (`format/strace/harmless.rs`: no queue, mount, device, signal to others, or descriptor from or for others), no file opened for writing that the call does not make, no line that is cut or foreign, no clock that goes back, no thread without a line, every call answered, the process's own exit on record: safe. With calls open it is a condition, as it is with a server's own log only (class B), which has to hold the start of the process and to be whole.",
        is_not: "A statement about local files: a start may rewrite them, as every start does.",
        to_do: "Start it.",
    },
    check,
};

fn check(facts: &RunFacts<'_>) -> Option<Opinion> {
    let open = facts
        .run
        .calls
        .iter()
        .any(|index| matches!(facts.case.calls[*index as usize].answer.kind, AnswerKind::None | AnswerKind::Task));
    let unattributed = facts.unattributed().any(Contact::is_reach);
    let exit = facts.exited.filter(|exit| !exit.wrapper && !unattributed)?;
    if facts.case.anywhere.reach_outside_calls {
        return None;
    }
    if let Some(trace) = facts.trace {
        let absent = Evidence {
            role: "a kernel trace of the whole life of the process shows no contact outside a call".into(),
            place: Place::Absent { from: trace.from.origin, to: trace.to.origin },
        };
        let proof = Proof::new(absent).and(run::exit_evidence(exit));
        let reason = "Outside its calls it reached nothing in its whole life.";
        return Some(if open {
            Opinion::safe_if(
                RULE.id,
                "the client does not send the open calls again by itself",
                reason,
                Helps::Unknown,
                proof,
            )
        } else {
            Opinion::new(Caution::Safe, RULE.id, reason, Helps::Unknown, proof)
        });
    }
    let channel = coverage::life_in_log(facts)?;
    let proof = Proof::seen("shows that this log records attempts", channel).and(run::exit_evidence(exit));
    let condition = if open {
        "the server's log records every outbound path, and the client does not send the open calls again by itself"
    } else {
        "the server's log records every outbound path"
    };
    let reason = "The server's log, which records attempts, shows none outside a call.";
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::Unknown, proof))
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    const LIFE: &str = r#"{"run_id":"r","server_name":"acme","phase":"launch","event":"spawned","at":"2026-07-22T14:00:00.000Z","pid":7}
{"run_id":"r","server_name":"acme","phase":"launch","event":"exited","exit_code":0,"at":"2026-07-22T14:00:09.000Z","pid":7}"#;

    fn verdict(line: &str) -> Caution {
        let trace = format!(
            r#"7 14:00:00.000000 execve("/usr/bin/node", ["node", "s.js"], 0x7ffc /* 9 vars */) = 0
7 14:00:01.000000 connect(3, {{sa_family=AF_UNIX, sun_path="/dev/log"}}, 110) = 0
7 14:00:01.100000 sendto(3, "<30>up", 6, 0, NULL, 0) = 6
{line}
7 14:00:09.000000 exit_group(0)       = ?
7 14:00:09.000001 +++ exited with 0 +++"#
        );
        let (_, verdicts) = judged(&[LIFE, &trace]);
        verdicts.runs[0].restart.verdict
    }

    #[test]
    fn what_a_trace_does_not_show_ends_its_coverage() {
        for line in [
            "7 14:00:02.000000 brk(NULL) = 0x55",
            r#"7 14:00:02.000000 openat(AT_FDCWD, "/var/log/acme.log", O_WRONLY|O_CREAT, 0644) = 5"#,
            "strace: Process 7 attached",
            "7 14:00:02.000000 futex(0x7f, FUTEX_WAKE_PRIVATE, 1) = 1",
            "7 14:00:02.000000 socket(AF_INET, SOCK_STREAM, 0) = 9",
            "7 14:00:02.000000 socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) = 9\n7 14:00:02.100000 sendto(9, [{nlmsg_len=20, nlmsg_type=RTM_GETADDR}], 20, 0, {sa_family=AF_NETLINK}, 12) = 20",
            r#"7 14:00:02.000000 sendto(9, "<30>up", 6, 0, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110) = 6"#,
            "7 14:00:02.000000 socketpair(AF_UNIX, SOCK_STREAM, 0, [8, 9]) = 0\n7 14:00:02.100000 write(9, \"x\", 1) = 1",
            "7 14:00:02.000000 socket(AF_VSOCK, SOCK_STREAM, 0) = -1 EAFNOSUPPORT (Address family not supported)",
            "7 14:00:02.000000 connect(4, {sa_family=AF_UNSPEC, sa_data=\"\"}, 16) = 0",
            "7 14:00:02.000000 dup2(2, 1) = 1\n7 14:00:02.100000 write(1, \"up\", 2) = 2",
            "7 14:00:02.000000 openat(AT_FDCWD, \"/dev/null\", O_RDWR) = 5\n7 14:00:02.100000 dup2(5, 0) = 0",
        ] {
            assert_eq!(verdict(line), Caution::Safe, "{line}");
        }
        for line in [
            "7 14:00:02.000000 accept4(5, NULL, NULL, 0) = 9\n7 14:00:02.100000 write(9, \"x\", 1) = 1",
            "7 14:00:02.000000 socket(AF_INET, SOCK_STREAM, 0) = 9\n7 14:00:02.100000 write(9, \"x\", 1) = 1",
            "7 14:00:02.000000 reboot(LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART) = 0",
            r#"7 14:00:02.000000 openat(AT_FDCWD, "/srv/queue/cmd", O_WRONLY) = 5"#,
            r#"7 14:00:02.000000 openat(AT_FDCWD, "/proc/55/mem", O_RDWR|O_CREAT) = 5"#,
            r#"7 14:00:02.000000 openat(5, "ttyUSB0", O_RDWR|O_CREAT) = 6"#,
            "strace: Process 8 attached",
            "strace: Process 8 detached",
            "strace: write: No space left on device",
            "7 14:00:02.000000 syscall_425(0x8, 0x7f) = 5",
            "7 14:00:02.000000 io_uring_register(5, 0, 0x7f, 1) = 0",
            "7 14:00:02.000000 splice(5, NULL, 7, NULL, 4096, 0) = 4096",
            r#"7 14:00:02.000000 mount("srv:/x", "/mnt", "nfs", 0, NULL) = 0"#,
            r#"7 14:00:02.000000 msgsnd(5, {1, "pay"}, 3, 0) = 0"#,
            r#"7 14:00:02.000000 openat(AT_FDCWD, "/dev/ttyUSB0", O_RDWR) = 5"#,
            "7 14:00:02.000000 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD}, 88) = 8",
            "7 14:00:02.000000 socket(AF_VSOCK, SOCK_STREAM, 0) = 5",
            "7 14:00:02.000000 socket(AF_CAN, SOCK_RAW, CAN_RAW) = 5",
            "7 14:00:02.000000 connect(4, {sa_family=AF_BLUETOOTH}, 10) = 0",
            "7 14:00:02.000000 connect(4, {sa_family=0x28, sa_data=\"\"}, 16) = -1 EINPROGRESS (Operation now in progress)",
            "7 14:00:02.000000 dup2(9, 1) = 1\n7 14:00:02.100000 write(1, \"POST /pay HTTP/1.1\\r\\n\", 20) = 20",
            "7 14:00:02.000000 dup3(9, 0, 0) = 0\n7 14:00:02.100000 write(0, \"x\", 1) = 1",
            "7 14:00:02.000000 fcntl(9, F_DUPFD_CLOEXEC, 3) = 10\n7 14:00:02.100000 write(10, \"x\", 1) = 1",
            "7 13:59:50.000000 brk(NULL) = 0x55",
            "7 14:00:02.000000 connect(4, {sa_family=AF_INET, sin_po",
        ] {
            assert_eq!(verdict(line), Caution::Unknown, "{line}");
        }
    }
}
