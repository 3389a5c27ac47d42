//! Runs the same work on many fixtures, on every core.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to each item with as many threads as there are cores, and returns the results in
/// the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    on_threads(n_threads, items, work)
}

/// Does the same as [`in_parallel`] with this many threads.
pub fn on_threads<T: Sync, R: Send>(
    n_threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..n_threads.max(1).min(items.len()) {
            scope.spawn(|| {
                while let Some((place, item)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    items.get(place).map(|item| (place, item))
                } {
                    let result = work(item);
                    results.lock().expect("no thread panics while it holds the lock")[place] =
                        Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("no thread panics while it holds the lock");
    results.into_iter().map(|result| result.expect("every item has a result")).collect()
}
