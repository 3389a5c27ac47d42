//! One reply to one message, by whoever has it first.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ludex_protocol::Reply;

/// Sends the reply to one message, once.
pub(crate) struct Responder {
    send: Once,
    done: Sender<()>,
}

/// Waits for a reply, and gives one if none comes.
pub(crate) struct Waiting {
    send: Once,
    done: Receiver<()>,
}

type Once = Arc<Mutex<Option<Box<dyn FnOnce(&Reply) + Send>>>>;

impl Responder {
    /// Something to reply with, and something to wait with.
    pub fn new(send: impl FnOnce(&Reply) + Send + 'static) -> (Self, Waiting) {
        let (done, heard) = mpsc::channel();
        let send: Once = Arc::new(Mutex::new(Some(Box::new(send))));
        (Self { send: Arc::clone(&send), done }, Waiting { send, done: heard })
    }

    /// Replies, unless that has been done.
    pub fn respond(&self, reply: &Reply) {
        respond(&self.send, reply);
        // Nobody need be waiting.
        let _ = self.done.send(());
    }
}

impl Waiting {
    /// Waits until then. What is late is replied to with `late`, and what nobody replies to any
    /// more with `busy`.
    pub fn wait(self, until: Instant, late: &Reply) {
        let time = until.saturating_duration_since(Instant::now());
        match self.done.recv_timeout(time) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => respond(&self.send, late),
            Err(RecvTimeoutError::Disconnected) => respond(&self.send, &Reply::Busy),
        }
    }
}

fn respond(send: &Once, reply: &Reply) {
    let send = send.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(send) = send {
        send(reply);
    }
}
