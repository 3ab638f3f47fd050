//! Numbers of signals by their names: one table, whoever prints the name. Does not say what a signal means.

/// Linux on x86 and ARM, from 1 on.
static NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
];

/// Those up to `TERM` that have another number on macOS, or none.
static OTHERWISE: [&str; 3] = ["BUS", "USR1", "USR2"];

/// The Linux number of a signal, `SIGKILL` or `KILL`.
pub fn number(name: &str) -> Option<i32> {
    let name = name.strip_prefix("SIG").unwrap_or(name);
    let at = NAMES.iter().position(|known| *known == name)?;
    i32::try_from(at + 1).ok()
}

/// The number of a signal that is the same on Linux and macOS: for writers that run on both.
pub fn common_number(name: &str) -> Option<i32> {
    let same = !OTHERWISE.contains(&name.strip_prefix("SIG").unwrap_or(name));
    number(name).filter(|number| same && *number <= 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_their_prefix() {
        assert_eq!((number("SIGKILL"), number("SEGV"), number("SIGSYS")), (Some(9), Some(11), Some(31)));
        assert_eq!((number("SIGNONE"), number("")), (None, None));
        assert_eq!((common_number("SIGTERM"), common_number("SIGBUS"), common_number("SIGIO")), (Some(15), None, None));
    }
}
