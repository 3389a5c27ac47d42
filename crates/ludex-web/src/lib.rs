//! A page to play, watch, study and write any game.
//!
//! [`App`] holds the matches and [`router`] answers requests; [`serve`] does so on a socket until it
//! is stopped. The page itself is in the folder `page/` and part of the binary.
//!
//! Read the modules in this order:
//!
//! 1. [`store`]: matches on disk.
//! 2. [`sheet`]: a rulesheet from anywhere, within limits.
//! 3. `play`: one match on a thread of its own; `remote`: programs elsewhere in it; `room`: the way to it.
//! 4. [`view`]: what the page gets as JSON.
//! 5. [`app`]: all matches of a server.
//! 6. `guard`: who may ask; `handlers`: the answers; `assets`: the files of the page.
//! 7. `study`: what random games show; `analysis`: what the rules say; `models`: constraint models.
//!
//! A step of a match is in the database before anyone sees it, so a killed server loses none.

pub mod store;
pub mod sheet;
mod remote;
mod play;
mod room;
pub mod view;
pub mod app;
mod guard;
mod handlers;
mod assets;
mod study;
mod analysis;
mod models;
#[cfg(test)]
mod types;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use app::{App, AppConfig};
pub use handlers::router;
pub use store::{Store, StoreError};

/// Answers requests until the flag is set.
///
/// # Errors
/// When the system refuses threads or the socket.
pub fn serve(app: Arc<App>, listener: TcpListener, stop: &Arc<AtomicBool>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .thread_name("page")
        .enable_all()
        .build()?;
    let stop = Arc::clone(stop);
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let serving = axum::serve(listener, router(app));
        let stopped = async {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        // Pages that listen for events never hang up, so nobody waits for them.
        futures_util::future::select(Box::pin(stopped), Box::pin(async { serving.await })).await;
        Ok::<(), io::Error>(())
    })?;
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(())
}
