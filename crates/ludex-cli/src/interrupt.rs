//! Ctrl-C: the first one asks for what is finished, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first interrupt sets.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order: the shutdown sees the flag only at the next signal.
        // Where a handler can't be set, the signal ends the process as ever.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}
