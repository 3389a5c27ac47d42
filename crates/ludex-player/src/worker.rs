//! A worker thread that answers questions and can be abandoned.
//!
//! The caller waits for an answer only until its own deadline. A worker that does not answer is abandoned:
//! Rust cannot end a thread, so it is told to stop, its answers are ignored, and another takes its place.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Instant;

use ludex_base::panic_message;

/// A thread that answers questions one at a time.
pub(crate) struct Worker<Q, A> {
    questions: Sender<Q>,
    answers: Receiver<Result<A, Panicked>>,
    thread: JoinHandle<()>,
    /// Whether a question is still unanswered.
    is_busy: bool,
    is_cancelled: Arc<AtomicBool>,
}

/// The message of a panic over a question. The worker answers no more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Panicked(pub String);

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NoAnswer {
    /// The answer did not come in time.
    Late,
    /// The worker panicked, with this message, and will not answer.
    Panicked(String),
}

impl<Q: Send + 'static, A: Send + 'static> Worker<Q, A> {
    /// Starts a thread. `make` receives the flag that cancels its work and returns the function that answers.
    ///
    /// # Errors
    /// When the system cannot start a thread: there are too many, or no memory for its stack is left.
    pub fn new(
        make: impl FnOnce(Arc<AtomicBool>) -> Box<dyn FnMut(Q) -> A + Send>,
    ) -> io::Result<Self> {
        let (questions, inbox) = mpsc::channel::<Q>();
        let (outbox, answers) = mpsc::channel();
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let mut answer = make(Arc::clone(&is_cancelled));
        let work = move || {
            for question in inbox {
                let result = catch_unwind(AssertUnwindSafe(|| answer(question)))
                    .map_err(|panic| Panicked(panic_message(&*panic)));
                let is_broken = result.is_err();
                // A panic may leave the state of `answer` inconsistent, so the thread ends.
                if outbox.send(result).is_err() || is_broken {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("ludex-search".into())
            .stack_size(STACK_BYTES)
            .spawn(work)?;
        Ok(Self { questions, answers, thread, is_busy: false, is_cancelled })
    }

    /// Whether a question is still unanswered.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Asks a question. The previous question must have been answered.
    pub fn ask(&mut self, question: Q) {
        debug_assert!(!self.is_busy, "one question at a time");
        self.is_cancelled.store(false, Ordering::Relaxed);
        // If the thread has ended, `wait` reports it.
        let _ = self.questions.send(question);
        self.is_busy = true;
    }

    /// Waits for the answer until a deadline.
    pub fn wait(&mut self, until: Instant) -> Result<A, NoAnswer> {
        let time = until.saturating_duration_since(Instant::now());
        match self.answers.recv_timeout(time) {
            Ok(Ok(answer)) => {
                self.is_busy = false;
                Ok(answer)
            }
            Ok(Err(Panicked(message))) => {
                self.is_busy = false;
                Err(NoAnswer::Panicked(message))
            }
            Err(RecvTimeoutError::Timeout) => Err(NoAnswer::Late),
            Err(RecvTimeoutError::Disconnected) => {
                Err(NoAnswer::Panicked("the thread has ended".into()))
            }
        }
    }

    /// The flag that cancels the current work.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_cancelled)
    }

    /// Cancels the current work. The thread still answers.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Cancels the current work and gives up the thread.
    pub fn abandon(self) -> JoinHandle<()> {
        self.cancel();
        self.thread
    }
}

/// Stack of the thread, large because depth-first searches recurse once a step.
const STACK_BYTES: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn a_panic_stays_in_the_worker() {
        let mut worker: Worker<u32, u32> =
            Worker::new(|_| Box::new(|number| 100 / number)).expect("a thread");
        worker.ask(4);
        assert_eq!(worker.wait(soon()), Ok(25));
        worker.ask(0);
        assert!(matches!(worker.wait(soon()), Err(NoAnswer::Panicked(_))));
        worker.ask(5);
        assert!(matches!(worker.wait(soon()), Err(NoAnswer::Panicked(_))));
    }

    #[test]
    fn waiting_for_a_stuck_worker_ends_at_the_deadline() {
        let mut worker: Worker<(), ()> = Worker::new(|is_cancelled| {
            Box::new(move |()| {
                while !is_cancelled.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            })
        })
        .expect("a thread");
        worker.ask(());
        assert_eq!(worker.wait(Instant::now() + Duration::from_millis(5)), Err(NoAnswer::Late));
        assert!(worker.is_busy());
        worker.cancel();
        assert_eq!(worker.wait(soon()), Ok(()));
        worker.ask(());
        assert!(worker.abandon().join().is_ok());
    }
}
