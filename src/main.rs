//! The program: arguments in, exit code out.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Judging and reporting make many small things on all cores, and give them back on others.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(mcp_postmortem::cli::run(std::env::args_os()).code())
}
