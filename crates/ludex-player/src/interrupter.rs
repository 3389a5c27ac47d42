//! Stopping a player from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Stops a player from another thread: the player answers at once with the best it has.
#[derive(Clone, Debug, Default)]
pub struct Interrupter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: Arc<AtomicBool>,
    /// The flag that cancels the thread that searches for the player now.
    thinking: Mutex<Option<Arc<AtomicBool>>>,
}

impl Interrupter {
    /// Stops the current search and prevents all later ones.
    pub fn interrupt(&self) {
        // The order matters: a search that begins in between sees one flag or the other.
        self.shared.is_over.store(true, Ordering::SeqCst);
        let thinking = self.shared.thinking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flag) = &*thinking {
            flag.store(true, Ordering::SeqCst);
        }
    }

    /// Whether the player was interrupted.
    pub fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::SeqCst)
    }

    /// The flag that an interruption sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.shared.is_over)
    }

    /// Replaces the searching thread by one that `flag` cancels.
    pub(crate) fn watch(&self, flag: Arc<AtomicBool>) {
        *self.shared.thinking.lock().unwrap_or_else(PoisonError::into_inner) = Some(flag);
    }
}
