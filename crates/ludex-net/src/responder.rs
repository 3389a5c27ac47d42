//! One reply to one message: from the match, or from a timeout if that comes first.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ludex_protocol::Reply;

use crate::event::{Event, Observer, notify};

/// Sends the reply to one message, once.
pub(crate) struct Responder {
    shared: Shared,
    done: Sender<()>,
}

/// Waits for a reply, and sends a default if none comes.
pub(crate) struct Waiting {
    shared: Shared,
    done: Receiver<()>,
}

#[derive(Clone)]
struct Shared {
    send: Arc<Mutex<Option<SendReply>>>,
    observer: Observer,
}

/// Sends the reply and returns the event to report.
type SendReply = Box<dyn FnOnce(&Reply) -> Event + Send>;

impl Responder {
    /// Creates a responder and the matching [`Waiting`].
    pub fn new(
        send: impl FnOnce(&Reply) -> Event + Send + 'static,
        observer: Observer,
    ) -> (Self, Waiting) {
        let (done, heard) = mpsc::channel();
        let send: SendReply = Box::new(send);
        let shared = Shared { send: Arc::new(Mutex::new(Some(send))), observer };
        (Self { shared: shared.clone(), done }, Waiting { shared, done: heard })
    }

    /// Sends the reply, unless one was sent before.
    pub fn respond(&self, reply: &Reply) {
        let event = self.shared.send(reply);
        // The other side may be gone. If it waits, wake it up before the observer runs.
        let _ = self.done.send(());
        self.shared.notify(event);
    }
}

impl Waiting {
    /// Waits for the reply until a deadline, then sends `late`. If the responder was dropped, sends
    /// `busy`.
    pub fn wait(self, until: Instant, late: &Reply) {
        let time = until.saturating_duration_since(Instant::now());
        let event = match self.done.recv_timeout(time) {
            Ok(()) => None,
            Err(RecvTimeoutError::Timeout) => self.shared.send(late),
            Err(RecvTimeoutError::Disconnected) => self.shared.send(&Reply::Busy),
        };
        self.shared.notify(event);
    }
}

impl Shared {
    fn send(&self, reply: &Reply) -> Option<Event> {
        let send = self.send.lock().unwrap_or_else(PoisonError::into_inner).take();
        send.map(|send| send(reply))
    }

    fn notify(&self, event: Option<Event>) {
        if let Some(event) = event {
            notify(&self.observer, &event);
        }
    }
}
