//! Writes lines to standard error without blocking the caller.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::time::Duration;

/// Writes lines from a separate thread.
///
/// The reader of standard error may be slow or gone, and a match must not wait for it. When too
/// many lines wait, new lines are dropped, and a line reports how many.
pub struct LogWriter {
    items: SyncSender<Item>,
    n_dropped: Arc<AtomicU64>,
}

enum Item {
    Line(String),
    /// Signals that everything before is written.
    Mark(Sender<()>),
}

/// Most lines that may wait.
const MAX_WAITING: usize = 1024;
/// Longest wait for the last lines.
const LAST_TIME: Duration = Duration::from_millis(500);

impl LogWriter {
    /// Writes to standard error.
    pub fn to_stderr() -> Self {
        Self::new(io::stderr())
    }

    fn new(mut out: impl Write + Send + 'static) -> Self {
        let (items, waiting) = mpsc::sync_channel(MAX_WAITING);
        let n_dropped = Arc::new(AtomicU64::new(0));
        let dropped = Arc::clone(&n_dropped);
        // If standard error fails, there is nowhere to report it.
        let mut write = move |line: String| drop(out.write_all(line.as_bytes()));
        std::thread::spawn(move || {
            for item in waiting {
                match item {
                    Item::Line(line) => write(line + "\n"),
                    Item::Mark(sender) => drop(sender.send(())),
                }
                let n_dropped = dropped.swap(0, Ordering::Relaxed);
                if n_dropped > 0 {
                    write(format!("ludex: {n_dropped} lines were dropped\n"));
                }
            }
        });
        Self { items, n_dropped }
    }

    /// Writes a line, unless too many wait.
    pub fn write(&self, line: String) {
        if self.items.try_send(Item::Line(line)).is_err() {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits briefly for the last lines; returns whether they were written.
    pub fn finish(&self) -> bool {
        let (sender, heard) = mpsc::channel();
        let is_sent = self.items.try_send(Item::Mark(sender)).is_ok();
        is_sent && heard.recv_timeout(LAST_TIME).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;
    use std::sync::{Mutex, PoisonError};
    use std::time::Instant;

    use super::*;

    /// Writes only when allowed to.
    struct Slow {
        is_let: Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.is_let.recv();
            self.written.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_slow_reader_blocks_nobody() {
        let (let_go, is_let) = mpsc::channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let writer = LogWriter::new(Slow { is_let, written: Arc::clone(&written) });
        let begun = Instant::now();
        for number in 0..3 * MAX_WAITING {
            writer.write(format!("line {number}"));
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(!writer.finish(), "nothing can be written");
        drop(let_go);
        while !writer.finish() {
            assert!(begun.elapsed() < Duration::from_secs(10), "now it can");
        }
        let written = written.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&written);
        assert!(text.contains("line 1023\n") && !text.contains("line 3000\n"), "{text}");
        assert!(text.contains(" lines were dropped\n"), "{text}");
    }

    /// A closed reader.
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_is_gone_stops_nothing() {
        let writer = LogWriter::new(Gone);
        writer.write("a".into());
        writer.write("b".into());
        assert!(writer.finish(), "the thread goes on");
    }
}
