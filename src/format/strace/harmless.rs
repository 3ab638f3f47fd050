//! System calls that act on nothing but the process itself, or only read: an allow-list, since nobody can list what a
//! kernel offers for acting on everything else.
//!
//! Knows no descriptors. Calls that send, open and connect are read elsewhere.

use std::{collections::HashSet, sync::LazyLock};

/// Linux on x86-64 and arm64, as strace 6 names them.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "_exit access alarm arch_prctl bind brk cachestat capget chdir clock_getres clock_gettime clock_nanosleep close_range \
     epoll_ctl epoll_pwait epoll_pwait2 epoll_wait exit exit_group faccessat faccessat2 fadvise64 fallocate fcntl fcntl64 \
     fdatasync fgetxattr flistxattr flock fstat fstat64 fstatfs fsync futex futex_wait futex_waitv futex_wake get_mempolicy \
     get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer \
     getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid \
     getsockname gettid gettimeofday getuid getxattr inotify_add_watch inotify_rm_watch landlock_add_rule \
     landlock_create_ruleset landlock_restrict_self lgetxattr listen listxattr llistxattr llseek lseek lstat lstat64 \
     madvise map_shadow_stack membarrier mincore mlock mlock2 mlockall mmap mmap2 mprotect mremap mseal msync munlock \
     munlockall munmap nanosleep newfstatat oldfstat oldstat pause pkey_alloc pkey_free pkey_mprotect poll ppoll prctl \
     pread64 preadv preadv2 prlimit64 process_vm_readv pselect6 readahead readlink readlinkat restart_syscall \
     riscv_flush_icache rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait \
     sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler \
     sched_rr_get_interval sched_setaffinity sched_yield seccomp select set_mempolicy set_robust_list set_thread_area \
     set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid \
     setreuid setrlimit setsid setsockopt setuid shutdown sigaction sigaltstack sigprocmask sigreturn stat stat64 statfs \
     statfs64 statx sync_file_range sysinfo time timer_create timer_delete timer_getoverrun timer_gettime timer_settime \
     timerfd_gettime timerfd_settime times ugetrlimit umask uname userfaultfd vhangup wait4 waitid waitpid"
        .split_ascii_whitespace()
        .collect()
});

/// Calls that change a file of this host by its name or its descriptor.
const OF_FILES: &[&str] = &[
    "chmod",
    "chown",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "fchown",
    "fchownat",
    "fremovexattr",
    "fsetxattr",
    "ftruncate",
    "futimesat",
    "lchown",
    "link",
    "linkat",
    "lremovexattr",
    "lsetxattr",
    "mkdir",
    "mkdirat",
    "removexattr",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "setxattr",
    "symlink",
    "symlinkat",
    "truncate",
    "unlink",
    "unlinkat",
    "utime",
    "utimensat",
    "utimes",
];

/// What is asked of a terminal, or of a descriptor about itself.
const QUESTIONS: &[&str] = &[
    "FIOASYNC",
    "FIOCLEX",
    "FIONBIO",
    "FIONCLEX",
    "FIONREAD",
    "RNDGETENTCNT",
    "SIOCATMARK",
    "SIOCETHTOOL",
    "SIOCGIF",
    "SIOCINQ",
    "SIOCOUTQ",
    "TCGETS",
    "TCSETS",
    "TIOCGPGRP",
    "TIOCGWINSZ",
    "TIOCNOTTY",
    "TIOCSPGRP",
    "TIOCSWINSZ",
];

/// Whether a call changes a file.
pub(super) fn changes_a_file(name: &str) -> bool {
    OF_FILES.contains(&name)
}

/// Whether a call with these arguments leaves everything outside the process as it is.
pub(super) fn stays_inside(name: &str, arguments: &str) -> bool {
    match name {
        "ioctl" => {
            let asked = arguments.split(',').nth(1).unwrap_or("").trim();
            QUESTIONS.iter().any(|question| asked.starts_with(question))
        }
        // Signal 0 asks whether a process is there; these are what runtimes send to threads of their own.
        "kill" | "tkill" => arguments.trim_end().ends_with(", 0"),
        "tgkill" => ["SIGURG", "SIGABRT", "SIGRT_"].iter().any(|signal| arguments.contains(signal)),
        // Below another folder a name may mean a device.
        "chdir" => arguments.trim_start_matches('"').starts_with('/') && !is_system_place(arguments.trim_matches('"')),
        _ => NAMES.contains(name),
    }
}

/// Folders whose files are devices, the kernel's switches, or other programs.
pub(super) fn is_system_place(path: &str) -> bool {
    let path = path.strip_prefix("/var").filter(|rest| rest.starts_with("/run")).unwrap_or(path);
    let places = ["/dev", "/proc", "/run", "/sys", "/var/spool"];
    path == "/"
        || path.contains("/../")
        || places
            .iter()
            .any(|place| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}
