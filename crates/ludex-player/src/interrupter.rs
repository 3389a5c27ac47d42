//! Stopping a player from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Tells a player that nobody waits for its answer any more: it answers at once with what it has.
#[derive(Clone, Debug, Default)]
pub struct Interrupter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: Arc<AtomicBool>,
    /// The flag of the thread that thinks for the player now.
    thinking: Mutex<Option<Arc<AtomicBool>>>,
}

impl Interrupter {
    /// From now on the player thinks about nothing.
    pub fn interrupt(&self) {
        // In this order: a search that begins meanwhile sees the one or the other.
        self.shared.is_over.store(true, Ordering::SeqCst);
        let thinking = self.shared.thinking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flag) = &*thinking {
            flag.store(true, Ordering::SeqCst);
        }
    }

    /// Whether it was interrupted.
    pub fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::SeqCst)
    }

    /// The flag that is set when it is interrupted.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.shared.is_over)
    }

    /// Another thread thinks for the player from now on, and this flag stops it.
    pub(crate) fn watch(&self, flag: Arc<AtomicBool>) {
        *self.shared.thinking.lock().unwrap_or_else(PoisonError::into_inner) = Some(flag);
    }
}
