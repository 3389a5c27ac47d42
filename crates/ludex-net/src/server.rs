//! The player's side of HTTP: one thread per connection, so that no connection delays another.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ludex_base::Deadline;
use ludex_protocol::Request;

use crate::endpoint::Endpoint;
use crate::event::{Event, notify};
use crate::responder::Responder;
use crate::status;
use crate::wire::{Framing, RequestHead, Room, Wire, WireError, request_head};

/// An endpoint that listens until the server is dropped.
pub struct Server {
    address: SocketAddr,
    endpoint: Arc<Endpoint>,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Longest message, in bytes. The longest known rulesheet has less than a megabyte.
pub const MAX_MESSAGE: usize = 16 << 20;
/// Bytes of all messages together, beyond the first quarter of a megabyte of each.
const LONG_MESSAGES: usize = 32 << 20;
/// Longest time to receive a message.
pub const MESSAGE_TIME: Duration = Duration::from_secs(15);
/// Most connections whose message is incomplete. One more closes the oldest of them, if it has had
/// [`TIME_TO_SPEAK`].
pub const MAX_CONNECTIONS: usize = 64;
/// Most connections whose message is incomplete, however new they are.
const MAX_NEW_CONNECTIONS: usize = 512;
/// Time in which a message usually arrives. Closing connections earlier would let many short ones
/// push out the message of a manager.
const TIME_TO_SPEAK: Duration = Duration::from_secs(1);
/// Most connections that linger after their reply. One more closes the oldest of them.
const MAX_LINGERING: usize = 64;
/// Most connections that wait for a reply, per match: `start`, the move that the player thinks
/// about, the next one, and one that is just being replaced.
const WAITING_PER_MATCH: usize = 4;
/// Most connections whose message is answered at once.
const MAX_BRIEF: usize = 64;
/// Time to read on after the reply, because unread input would destroy it.
const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 1 << 20;
/// Longest time to write a reply to a peer that does not read.
const WRITE_TIME: Duration = Duration::from_secs(2);
/// A small stack suffices: reading needs little, and parsing does not recurse.
const STACK_BYTES: usize = 1 << 20;

impl Server {
    /// Listens at an address and passes messages to the endpoint.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start(at: impl ToSocketAddrs, endpoint: Arc<Endpoint>) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        let address = listener.local_addr()?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(Connections::new(endpoint.max_matches()));
        let (stopped, own) = (Arc::clone(&is_stopped), Arc::clone(&endpoint));
        let accept = move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                match stream {
                    Ok(stream) => serve(stream, &own, &connections),
                    // There are too many open files, or the peer is gone already.
                    Err(_) => std::thread::sleep(Duration::from_millis(10)),
                }
            }
        };
        let thread = std::thread::Builder::new().name("ludex-accept".into()).spawn(accept)?;
        Ok(Self { address, endpoint, is_stopped, thread: Some(thread) })
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.endpoint.end_all();
        // Connect once to wake up the accepting thread; an unspecified address is this machine.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        let is_woken = TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_woken) {
            let _ = thread.join();
        }
    }
}

/// The open connections.
struct Connections {
    next_id: AtomicU64,
    /// The connections, in order of arrival.
    open: Mutex<Vec<Connection>>,
    max_waiting: usize,
    /// Room for long messages.
    room: Room,
}

struct Connection {
    id: u64,
    stage: Stage,
    accepted: Instant,
    /// A second handle, to close the connection.
    handle: TcpStream,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The message is incomplete.
    Unread,
    /// The message is complete; the connection is no longer closed to make room.
    Read,
    /// The message is one whose reply may take long.
    Waiting,
    /// The reply is sent.
    Lingering,
    /// Closed to make room; its thread is about to notice.
    Closed,
}

impl Connections {
    fn new(max_matches: usize) -> Self {
        let max_waiting = WAITING_PER_MATCH * max_matches + MAX_BRIEF;
        let room = Room::new(LONG_MESSAGES);
        Self { next_id: AtomicU64::new(0), open: Mutex::default(), max_waiting, room }
    }

    /// Admits a connection; this may close the oldest one whose message is incomplete. Connections
    /// that wait for a reply take no room from new ones.
    fn enter(&self, stream: &TcpStream) -> Option<u64> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let handle = stream.try_clone().ok()?;
        let mut open = self.lock();
        let accepted = Instant::now();
        let oldest = open.iter().find(|it| it.stage == Stage::Unread);
        let has_time = oldest.is_some_and(|it| accepted - it.accepted < TIME_TO_SPEAK);
        let most = if has_time { MAX_NEW_CONNECTIONS } else { MAX_CONNECTIONS };
        make_room(&mut open, Stage::Unread, most);
        open.push(Connection { id, stage: Stage::Unread, accepted, handle });
        Some(id)
    }

    /// Marks the message as complete.
    fn has_read(&self, id: u64) {
        set_stage(&mut self.lock(), id, Stage::Read);
    }

    /// Returns whether the connection may wait for its reply: it may not if too many wait already.
    fn may_wait(&self, id: u64) -> bool {
        let mut open = self.lock();
        let n_waiting = open.iter().filter(|it| it.stage == Stage::Waiting).count();
        set_stage(&mut open, id, Stage::Waiting);
        n_waiting < self.max_waiting
    }

    /// Marks the reply as sent.
    fn has_replied(&self, id: u64) {
        let mut open = self.lock();
        make_room(&mut open, Stage::Lingering, MAX_LINGERING);
        set_stage(&mut open, id, Stage::Lingering);
    }

    fn leave(&self, id: u64) {
        self.lock().retain(|connection| connection.id != id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the oldest connection of a stage if there are `most` of them.
fn make_room(open: &mut [Connection], stage: Stage, most: usize) {
    let of_stage = |it: &&mut Connection| it.stage == stage;
    if open.iter_mut().filter(of_stage).count() >= most
        && let Some(oldest) = open.iter_mut().find(|it| it.stage == stage)
    {
        // Its thread sees the end of the connection and exits.
        let _ = oldest.handle.shutdown(Shutdown::Both);
        oldest.stage = Stage::Closed;
    }
}

fn set_stage(open: &mut [Connection], id: u64, stage: Stage) {
    if let Some(connection) = open.iter_mut().find(|connection| connection.id == id) {
        connection.stage = stage;
    }
}

fn serve(stream: TcpStream, endpoint: &Arc<Endpoint>, connections: &Arc<Connections>) {
    let Some(id) = connections.enter(&stream) else { return };
    let (endpoint, own) = (Arc::clone(endpoint), Arc::clone(connections));
    let work = move || {
        // A panic in one connection must not end the others.
        let _ = catch_unwind(AssertUnwindSafe(|| converse(&stream, &endpoint, &own, id)));
        own.has_replied(id);
        linger(&stream);
        own.leave(id);
    };
    let thread = std::thread::Builder::new().name("ludex-connection".into());
    if thread.stack_size(STACK_BYTES).spawn(work).is_err() {
        connections.leave(id);
    }
}

/// Reads one message and replies to it.
fn converse(stream: &TcpStream, endpoint: &Endpoint, connections: &Connections, id: u64) {
    let (Ok(peer), Ok(())) = (stream.peer_addr(), stream.set_nodelay(true)) else { return };
    let wire = Wire::new(stream, MAX_MESSAGE, Deadline::after(MESSAGE_TIME));
    let mut wire = wire.within(&connections.room);
    let message = read_message(stream, &mut wire);
    connections.has_read(id);
    let arrived = wire.arrived.unwrap_or_else(Instant::now);
    // The message takes its room until it is answered.
    let _claim = wire.claim.take();
    drop(wire);
    let refuse = |status: &str, reason: String| {
        write(stream, &reply_text(status, "text/plain", &format!("{reason}\n")));
        notify(endpoint.observer(), &Event::Refused { peer, reason });
    };
    let text = match message {
        Ok(Message::Text(text)) => text,
        Ok(Message::StatusPage) => {
            return write(stream, &reply_text("200 OK", "text/html", &status::page(endpoint)));
        }
        Ok(Message::Options) => return write(stream, &reply_text("200 OK", "text/acl", "")),
        // The peer only tested whether the port is open.
        Err(WireError::Empty) => return,
        Err(error @ WireError::TooLarge(_)) => {
            return refuse("413 Content Too Large", format!("the message {error}"));
        }
        Err(error @ WireError::NoRoom) => {
            return refuse("503 Service Unavailable", format!("the message {error}"));
        }
        Err(error @ WireError::Late) => {
            return refuse("408 Request Timeout", format!("the message {error}"));
        }
        Err(error) => return refuse("400 Bad Request", format!("the message {error}")),
    };
    let request = match Request::read(&text) {
        Ok(request) => request,
        Err(error) => return refuse("400 Bad Request", error.to_string()),
    };
    // Messages that are answered at once are never refused.
    let takes_time = matches!(request, Request::Start { .. } | Request::Play { .. });
    if takes_time && !connections.may_wait(id) {
        return refuse(
            "503 Service Unavailable",
            "too many messages at once; try again later".into(),
        );
    }
    let Ok(out) = stream.try_clone() else { return };
    let match_id = request.match_id().map(str::to_owned);
    let observer = Arc::clone(endpoint.observer());
    let (responder, waiting) = Responder::new(
        move |reply| {
            let reply = reply.to_string();
            write(&out, &reply_text("200 OK", "text/acl", &reply));
            let time = arrived.elapsed();
            Event::Answered { peer, match_id, request: text, reply, time }
        },
        observer,
    );
    endpoint.answer(request, arrived, responder, waiting);
}

/// A request of a peer.
enum Message {
    Text(String),
    StatusPage,
    /// The headers of a reply only.
    Options,
}

fn read_message(stream: &TcpStream, wire: &mut Wire<'_>) -> Result<Message, WireError> {
    let RequestHead { method, target, framing, expects_continue } = request_head(&wire.head()?)?;
    match method.as_str() {
        "GET" => {
            let text = percent_decoded(target.strip_prefix('/').unwrap_or(&target));
            let is_page = text.trim().is_empty();
            Ok(if is_page { Message::StatusPage } else { Message::Text(text) })
        }
        "POST" => {
            if expects_continue {
                write(stream, "HTTP/1.1 100 Continue\r\n\r\n");
            }
            let mut depth = 0_usize;
            // Without a length, the message ends with its list, so that a peer may keep the
            // connection open.
            let closes = |piece: &[u8]| {
                piece.iter().any(|byte| {
                    match byte {
                        b'(' => depth += 1,
                        b')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    *byte == b')' && depth == 0
                })
            };
            Ok(Message::Text(wire.body(framing, closes)?))
        }
        _ => {
            if framing != Framing::Unsaid {
                wire.body(framing, |_| true)?;
            }
            Ok(Message::Options)
        }
    }
}

/// Writes a reply as the reference implementation does, except for the content type.
fn reply_text(status: &str, content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.0 {status}\r\nContent-type: {content_type}\r\nContent-length: {}\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
         Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n\r\n\
         {body}",
        body.len()
    )
}

/// Writes everything at once, so that the reply leaves in one packet.
fn write(mut stream: &TcpStream, text: &str) {
    // Errors do not matter: the peer is gone and misses its reply.
    let _ = stream.set_write_timeout(Some(WRITE_TIME));
    let _ = stream.write_all(text.as_bytes());
}

/// Closes the connection so that the reply arrives: reads and discards further input for a while.
fn linger(mut stream: &TcpStream) {
    if stream.shutdown(Shutdown::Write).is_err() {
        return;
    }
    let until = Instant::now() + LINGER_TIME;
    let mut block = [0; 4 << 10];
    let mut n_read = 0;
    while n_read < LINGER_BYTES {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut block) {
            Ok(0) | Err(_) => return,
            Ok(n_bytes) => n_read += n_bytes,
        }
    }
}

/// Decodes `%20` and `+`.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |at: usize| after.get(at).and_then(|&byte| char::from(byte).to_digit(16));
        match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            (b'+', ..) => {
                bytes.push(b' ');
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded() {
        assert_eq!(percent_decoded("%28+INFO%20%29"), "( INFO )");
        assert_eq!(percent_decoded("100%"), "100%");
        assert_eq!(percent_decoded("%zz%2B"), "%zz+");
    }

    #[test]
    fn a_reply_is_written_as_the_reference_writes_it() {
        assert_eq!(
            reply_text("200 OK", "text/acl", "noop"),
            "HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: 4\r\n\
             Access-Control-Allow-Origin: *\r\n\
             Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
             Access-Control-Allow-Headers: Content-Type\r\n\
             Access-Control-Allow-Age: 86400\r\n\r\nnoop"
        );
    }
}
