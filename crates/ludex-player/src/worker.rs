//! A thread that thinks, and can be given up.
//!
//! Whoever asks waits no longer than it wants to. A thread that does not come back is left behind: Rust
//! can't end it, but it is told to stop, nobody listens to it any more, and another takes its place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Instant;

/// A thread that answers questions one at a time.
pub(crate) struct Worker<Q, A> {
    questions: Sender<Q>,
    answers: Receiver<Result<A, Panicked>>,
    thread: JoinHandle<()>,
    /// Asked and not answered yet.
    is_busy: bool,
    is_cancelled: Arc<AtomicBool>,
}

/// The thread broke down over a question; it answers no more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Panicked(pub String);

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NoAnswer {
    /// It did not come in time.
    Late,
    /// It will not come.
    Panicked(String),
}

impl<Q: Send + 'static, A: Send + 'static> Worker<Q, A> {
    /// Starts a thread. It gets the flag by which it is told to stop what it does.
    pub fn new(make: impl FnOnce(Arc<AtomicBool>) -> Box<dyn FnMut(Q) -> A + Send>) -> Self {
        let (questions, inbox) = mpsc::channel::<Q>();
        let (outbox, answers) = mpsc::channel();
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let mut answer = make(Arc::clone(&is_cancelled));
        let work = move || {
            for question in inbox {
                let result = catch_unwind(AssertUnwindSafe(|| answer(question)))
                    .map_err(|panic| Panicked(words(&*panic)));
                let is_broken = result.is_err();
                // What it was thinking with may be in pieces now: it ends.
                if outbox.send(result).is_err() || is_broken {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("ludex-search".into())
            .stack_size(STACK_BYTES)
            .spawn(work)
            .expect("a thread can be started");
        Self { questions, answers, thread, is_busy: false, is_cancelled }
    }

    /// Whether a question is still open.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Asks. The answer to the question before must have come.
    pub fn ask(&mut self, question: Q) {
        debug_assert!(!self.is_busy, "one question at a time");
        self.is_cancelled.store(false, Ordering::Relaxed);
        // If the thread is gone, waiting will show it.
        let _ = self.questions.send(question);
        self.is_busy = true;
    }

    /// Waits for the answer until that moment.
    pub fn wait(&mut self, until: Instant) -> Result<A, NoAnswer> {
        let time = until.saturating_duration_since(Instant::now());
        match self.answers.recv_timeout(time) {
            Ok(Ok(answer)) => {
                self.is_busy = false;
                Ok(answer)
            }
            Ok(Err(Panicked(words))) => {
                self.is_busy = false;
                Err(NoAnswer::Panicked(words))
            }
            Err(RecvTimeoutError::Timeout) => Err(NoAnswer::Late),
            Err(RecvTimeoutError::Disconnected) => Err(NoAnswer::Panicked("it is gone".into())),
        }
    }

    /// The flag by which the thread is told to stop what it does.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_cancelled)
    }

    /// Tells the thread to stop what it does; it still answers.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Leaves the thread to itself.
    pub fn abandon(self) -> JoinHandle<()> {
        self.cancel();
        self.thread
    }
}

/// Depth-first searches recurse once a step.
const STACK_BYTES: usize = 16 << 20;

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn it_answers_and_breaks_down_alone() {
        let mut worker: Worker<u32, u32> = Worker::new(|_| Box::new(|number| 100 / number));
        worker.ask(4);
        assert_eq!(worker.wait(soon()), Ok(25));
        worker.ask(0);
        assert!(matches!(worker.wait(soon()), Err(NoAnswer::Panicked(_))));
        worker.ask(5);
        assert!(matches!(worker.wait(soon()), Err(NoAnswer::Panicked(_))));
    }

    #[test]
    fn a_stuck_one_is_waited_for_no_longer_than_said() {
        let mut worker: Worker<(), ()> = Worker::new(|is_cancelled| {
            Box::new(move |()| {
                while !is_cancelled.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            })
        });
        worker.ask(());
        assert_eq!(worker.wait(Instant::now() + Duration::from_millis(5)), Err(NoAnswer::Late));
        assert!(worker.is_busy());
        worker.cancel();
        assert_eq!(worker.wait(soon()), Ok(()));
        worker.ask(());
        assert!(worker.abandon().join().is_ok());
    }
}
