//! Ctrl-C: the first one stops the work and reports the finished part, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns a flag that the first interrupt sets.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The order matters: the shutdown handler runs first and sees the flag only at the next
        // signal. If a handler cannot be set, the signal ends the process as usual.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}
