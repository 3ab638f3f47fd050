//! The program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(mcp_postmortem::cli::run(std::env::args_os()).code())
}
