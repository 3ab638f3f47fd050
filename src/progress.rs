//! A progress bar on standard error, only on a terminal and only for work that takes long.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{analyze::Progress, report::redact};

/// Bytes below which no bar is shown: the work is done before anyone could read it.
const SHORT: u64 = 32 << 20;

/// The bar; draws nothing where standard error is no terminal.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that may be shown.
    pub fn new(wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if wanted {
            bar.set_style(
                ProgressStyle::with_template("{bytes}/{total_bytes} {wide_bar} {bytes_per_sec} {msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
        }
        Self { bar: if wanted { bar } else { ProgressBar::hidden() } }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn total(&self, bytes: u64) {
        self.bar.set_length(bytes);
        if bytes >= SHORT && !self.bar.is_finished() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn begin(&self, path: &str) {
        if !self.bar.is_hidden() {
            self.bar.set_message(redact::quote(path, 40));
        }
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }
}
