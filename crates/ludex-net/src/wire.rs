//! A connection, read within bounds of size and time.
//!
//! `httparse` parses the heads. The reader is our own, because the protocol needs what server
//! libraries do not offer: bodies that end with the connection, and the time of the first byte.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ludex_base::Deadline;

/// A connection with a buffer of the bytes read from it.
pub(crate) struct Wire<'a> {
    stream: &'a TcpStream,
    buffer: Vec<u8>,
    /// Number of buffered bytes already consumed.
    taken: usize,
    max_bytes: usize,
    /// Bytes received so far, and the limit.
    n_read: usize,
    max_read: usize,
    until: Deadline,
    /// What a long message takes of the room of its server; `None` on the manager's side.
    pub claim: Option<Claim<'a>>,
    /// Time of the first byte.
    pub arrived: Option<Instant>,
}

/// Room for long messages, which all connections of a server share.
#[derive(Debug)]
pub(crate) struct Room {
    n_left: AtomicUsize,
}

impl Room {
    pub fn new(n_bytes: usize) -> Self {
        Self { n_left: AtomicUsize::new(n_bytes) }
    }

    /// Returns a claim of nothing yet.
    pub fn claim(&self) -> Claim<'_> {
        Claim { room: self, n_bytes: 0 }
    }
}

/// A part of the room, returned on drop.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    room: &'a Room,
    n_bytes: usize,
}

impl Claim<'_> {
    /// Makes sure that there is room for a message of this many bytes; the first ones are free.
    fn grow(&mut self, n_bytes: usize) -> Result<(), WireError> {
        let n_more = n_bytes.saturating_sub(FREE_BYTES).saturating_sub(self.n_bytes);
        if n_more == 0 {
            return Ok(());
        }
        // Claims in large steps are rare.
        let n_more = n_more.next_multiple_of(BLOCK);
        let take = |n_left: usize| n_left.checked_sub(n_more);
        match self.room.n_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => {
                self.n_bytes += n_more;
                Ok(())
            }
            Err(_) => Err(WireError::NoRoom),
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.room.n_left.fetch_add(self.n_bytes, Ordering::Relaxed);
    }
}

/// Bytes of each message that take no room from others.
const FREE_BYTES: usize = 256 << 10;

/// Why reading failed. The text is a predicate, as in "the message did not arrive in time".
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum WireError {
    #[error("did not arrive in time")]
    Late,
    #[error("has more than {0} bytes")]
    TooLarge(usize),
    #[error("is long, and other long messages have taken the room for it; try again later")]
    NoRoom,
    #[error("is incomplete: the connection ended in the middle")]
    Cut,
    #[error("is missing: the connection ended before it")]
    Empty,
    #[error("is incomplete: {0}")]
    Broken(String),
    #[error("is not HTTP: {0}")]
    NotHttp(String),
}

/// Where a body ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    /// After this many bytes.
    Length(usize),
    /// With the last of its chunks.
    Chunked,
    /// Not specified.
    Unsaid,
}

/// Longest head, in bytes. In a `GET` it contains the whole message.
const MAX_HEAD: usize = 1 << 20;
/// Longest line before a chunk, in bytes.
const MAX_CHUNK_HEAD: usize = 1 << 10;
/// Interval at which a waiting reader checks whether it was stopped.
const POLL: Duration = Duration::from_millis(50);

impl<'a> Wire<'a> {
    pub fn new(stream: &'a TcpStream, max_bytes: usize, until: Deadline) -> Self {
        let (buffer, max_read) = (Vec::new(), MAX_HEAD + BLOCK);
        let (claim, arrived) = (None, None);
        Self { stream, buffer, taken: 0, max_bytes, n_read: 0, max_read, until, claim, arrived }
    }

    /// Lets a long message take room that others share.
    pub fn within(mut self, room: &'a Room) -> Self {
        self.claim = Some(room.claim());
        self
    }

    /// Reads the head, including the empty line.
    pub fn head(&mut self) -> Result<Vec<u8>, WireError> {
        let mut looked = 0;
        loop {
            if let Some(end) = end_of_head(&self.buffer, looked) {
                self.taken = end;
                return Ok(self.buffer[..end].to_vec());
            }
            looked = self.buffer.len().saturating_sub(3);
            if self.buffer.len() > MAX_HEAD {
                return Err(WireError::TooLarge(MAX_HEAD));
            }
            if !self.fill()? {
                let is_empty = self.buffer.is_empty();
                return Err(if is_empty { WireError::Empty } else { WireError::Cut });
            }
        }
    }

    /// Reads the body. Without a length, it ends with the connection or as soon as `is_whole`
    /// returns true, which sees piece after piece.
    pub fn body(
        &mut self,
        framing: Framing,
        mut is_whole: impl FnMut(&[u8]) -> bool,
    ) -> Result<String, WireError> {
        // Chunks have more bytes than the body: allow twice as many.
        self.max_read = self.n_read + 2 * self.max_bytes.max(BLOCK);
        self.forget_taken();
        let mut body = Body::default();
        match framing {
            Framing::Length(length) if length > self.max_bytes => {
                return Err(WireError::TooLarge(self.max_bytes));
            }
            Framing::Length(length) => self.take(length, &mut body)?,
            Framing::Chunked => self.chunks(&mut body)?,
            Framing::Unsaid => loop {
                let piece = &self.buffer[self.taken..];
                let is_last = is_whole(piece);
                body.push(piece);
                self.taken = self.buffer.len();
                if body.n_bytes > self.max_bytes {
                    return Err(WireError::TooLarge(self.max_bytes));
                }
                if is_last || !self.fill()? {
                    break;
                }
            },
        }
        Ok(trimmed(text_of(body.into_bytes())))
    }

    /// Moves this many bytes to the body as they arrive: a long message is never in the buffer.
    fn take(&mut self, length: usize, body: &mut Body) -> Result<(), WireError> {
        let mut n_left = length;
        while n_left > 0 {
            if self.taken == self.buffer.len() && !self.fill()? {
                return Err(WireError::Cut);
            }
            let n_taken = n_left.min(self.buffer.len() - self.taken);
            body.push(&self.buffer[self.taken..self.taken + n_taken]);
            self.taken += n_taken;
            n_left -= n_taken;
        }
        Ok(())
    }

    fn chunks(&mut self, body: &mut Body) -> Result<(), WireError> {
        loop {
            let (start, size) = loop {
                let rest = &self.buffer[self.taken..];
                let line = &rest[..rest.len().min(MAX_CHUNK_HEAD)];
                match httparse::parse_chunk_size(line) {
                    Ok(httparse::Status::Complete(found)) => break found,
                    Ok(httparse::Status::Partial) if line.len() == MAX_CHUNK_HEAD => {
                        let reason =
                            format!("the line before a chunk has more than {MAX_CHUNK_HEAD} bytes");
                        return Err(WireError::NotHttp(reason));
                    }
                    Ok(httparse::Status::Partial) if self.fill()? => {}
                    Ok(httparse::Status::Partial) => return Err(WireError::Cut),
                    Err(_) => return Err(WireError::NotHttp("a chunk has no size".into())),
                }
            };
            self.taken += start;
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            if size == 0 {
                return Ok(());
            }
            if size.saturating_add(body.n_bytes) > self.max_bytes {
                return Err(WireError::TooLarge(self.max_bytes));
            }
            self.take(size, body)?;
            self.take(2, &mut Body::default())?;
        }
    }

    fn forget_taken(&mut self) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
    }

    /// Waits for more bytes; returns false at the end of the connection.
    fn fill(&mut self) -> Result<bool, WireError> {
        self.forget_taken();
        if self.buffer.len() > self.max_bytes.max(MAX_HEAD) || self.n_read > self.max_read {
            return Err(WireError::TooLarge(self.max_bytes));
        }
        let mut block = [0; BLOCK];
        loop {
            if self.until.reached() {
                return Err(WireError::Late);
            }
            let wait = self.until.remaining().unwrap_or(POLL).clamp(MIN_WAIT, POLL);
            let broken = |error: std::io::Error| WireError::Broken(error.to_string());
            self.stream.set_read_timeout(Some(wait)).map_err(broken)?;
            match (&mut &*self.stream).read(&mut block) {
                Ok(0) => return Ok(false),
                Ok(n_bytes) => {
                    self.arrived.get_or_insert_with(Instant::now);
                    self.buffer.extend_from_slice(&block[..n_bytes]);
                    self.n_read += n_bytes;
                    if let Some(claim) = &mut self.claim {
                        claim.grow(self.n_read)?;
                    }
                    return Ok(true);
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(broken(error)),
                },
            }
        }
    }
}

/// The bytes of a message that is being received, in blocks of one size.
///
/// A vector that doubles takes up to three times the bytes of a message, in blocks of many sizes,
/// which the allocator keeps apart.
#[derive(Default)]
struct Body {
    blocks: Vec<Vec<u8>>,
    n_bytes: usize,
}

impl Body {
    fn push(&mut self, mut bytes: &[u8]) {
        self.n_bytes += bytes.len();
        while !bytes.is_empty() {
            if self.blocks.last().is_none_or(|last| last.len() == last.capacity()) {
                // Most messages are short.
                let capacity = if self.blocks.is_empty() { SHORT_BODY } else { BODY_BLOCK };
                self.blocks.push(Vec::with_capacity(capacity));
            }
            let last = self.blocks.last_mut().expect("there is a block with room");
            let (now, later) = bytes.split_at(bytes.len().min(last.capacity() - last.len()));
            last.extend_from_slice(now);
            bytes = later;
        }
    }

    /// Joins the blocks, each of which is returned to the allocator at once.
    fn into_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.n_bytes);
        self.blocks.into_iter().for_each(|block| bytes.extend_from_slice(&block));
        bytes
    }
}

/// Bytes of the first block of a body.
const SHORT_BODY: usize = 4 << 10;
/// Bytes of its other blocks.
const BODY_BLOCK: usize = 64 << 10;

/// Returns bytes as text, without a copy. Each byte that is not UTF-8 becomes a question mark.
fn text_of(mut bytes: Vec<u8>) -> String {
    let mut n_valid = 0;
    while let Err(error) = std::str::from_utf8(&bytes[n_valid..]) {
        let start = n_valid + error.valid_up_to();
        n_valid = error.error_len().map_or(bytes.len(), |length| start + length);
        bytes[start..n_valid].fill(b'?');
    }
    String::from_utf8(bytes).expect("the other bytes were replaced")
}

/// Returns a text without blanks around it, without a copy.
fn trimmed(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    text.drain(..text.len() - text.trim_start().len());
    text
}

/// Bytes read at a time.
const BLOCK: usize = 16 << 10;
/// Shortest wait, because a timeout of zero would mean none.
const MIN_WAIT: Duration = Duration::from_millis(1);

fn end_of_head(buffer: &[u8], from: usize) -> Option<usize> {
    let newlines = (from..buffer.len()).filter(|&at| buffer[at] == b'\n');
    for at in newlines {
        match buffer[at + 1..] {
            [b'\n', ..] => return Some(at + 2),
            [b'\r', b'\n', ..] => return Some(at + 3),
            _ => {}
        }
    }
    None
}

/// The head of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RequestHead {
    /// The method, in upper case.
    pub method: String,
    pub target: String,
    pub framing: Framing,
    /// Whether the peer waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
}

/// Reads the head of a request and ignores its version of HTTP.
pub(crate) fn request_head(head: &[u8]) -> Result<RequestHead, WireError> {
    let (line, rest) = first_line(head);
    let line = String::from_utf8_lossy(line);
    let not_http = || WireError::NotHttp("its first line is not a request".into());
    let (method, target) = line.trim().split_once(char::is_whitespace).ok_or_else(not_http)?;
    let target = match target.rsplit_once(char::is_whitespace) {
        Some((target, version)) if is_version(version) => target,
        _ => target,
    };
    let target = path(target.trim());
    let is_method = method.chars().all(|c| c.is_ascii_alphabetic());
    if !is_method || !(target.starts_with('/') || target == "*") {
        return Err(not_http());
    }
    with_headers(rest, |headers| RequestHead {
        method: method.to_ascii_uppercase(),
        target: target.to_owned(),
        framing: framing(headers),
        expects_continue: header(headers, "expect").is_some(),
    })
}

/// Reads the head of a reply and returns where its body ends. Ignores status and content type,
/// because players put anything there.
pub(crate) fn reply_head(head: &[u8]) -> Result<Framing, WireError> {
    let (line, rest) = first_line(head);
    if is_version(&String::from_utf8_lossy(line)) {
        with_headers(rest, framing)
    } else {
        Err(WireError::NotHttp("its first line is not a status".into()))
    }
}

/// Splits off the first line.
fn first_line(head: &[u8]) -> (&[u8], &[u8]) {
    let end = head.iter().position(|&byte| byte == b'\n').map_or(head.len(), |at| at + 1);
    head.split_at(end)
}

fn is_version(word: &str) -> bool {
    word.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http/"))
}

/// Returns the path of a target, which may be a whole address.
fn path(target: &str) -> &str {
    match target.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("http://") => {
            target[7..].find('/').map_or("/", |at| &target[7 + at..])
        }
        _ => target,
    }
}

/// Parses the headers and passes them to a function; skips malformed lines.
fn with_headers<T>(
    lines: &[u8],
    make: impl FnOnce(&[httparse::Header<'_>]) -> T,
) -> Result<T, WireError> {
    // The parser tolerates more in replies, but needs a well-formed status line first.
    let head = [&b"HTTP/1.1 200 OK\r\n"[..], lines].concat();
    let n_lines = head.iter().filter(|&&byte| byte == b'\n').count();
    let mut headers = vec![httparse::EMPTY_HEADER; n_lines];
    let mut reply = httparse::Response::new(&mut headers);
    let mut config = httparse::ParserConfig::default();
    config.ignore_invalid_headers_in_responses(true);
    config.allow_spaces_after_header_name_in_responses(true);
    config.allow_obsolete_multiline_headers_in_responses(true);
    let parsed = config.parse_response(&mut reply, &head);
    parsed.map_err(|error| WireError::NotHttp(error.to_string()))?;
    Ok(make(reply.headers))
}

fn framing(headers: &[httparse::Header<'_>]) -> Framing {
    let is_chunked = |value: &str| value.to_ascii_lowercase().contains("chunked");
    if header(headers, "transfer-encoding").is_some_and(is_chunked) {
        return Framing::Chunked;
    }
    let length = header(headers, "content-length").and_then(|value| value.trim().parse().ok());
    length.map_or(Framing::Unsaid, Framing::Length)
}

fn header<'h>(headers: &[httparse::Header<'h>], name: &str) -> Option<&'h str> {
    let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
    std::str::from_utf8(found.value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_share_their_room_and_return_it() {
        let room = Room::new(3 * BLOCK);
        let (mut first, mut second) = (room.claim(), room.claim());
        assert_eq!(first.grow(FREE_BYTES), Ok(()));
        assert_eq!(second.grow(FREE_BYTES + BLOCK + 1), Ok(()), "two blocks");
        assert_eq!(first.grow(FREE_BYTES + BLOCK), Ok(()), "the third");
        assert_eq!(first.grow(FREE_BYTES + BLOCK + 1), Err(WireError::NoRoom));
        drop(second);
        assert_eq!(first.grow(FREE_BYTES + BLOCK + 1), Ok(()));
        drop(first);
        assert_eq!(room.n_left.into_inner(), 3 * BLOCK);
    }

    #[test]
    fn a_body_is_what_was_pushed() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        for piece in [1000, SHORT_BODY, BODY_BLOCK, 100_000, bytes.len()] {
            let mut body = Body::default();
            bytes.chunks(piece).for_each(|piece| body.push(piece));
            assert!(body.blocks.iter().all(|block| block.capacity() <= BODY_BLOCK));
            assert_eq!(body.into_bytes(), bytes, "{piece}");
        }
        assert!(Body::default().into_bytes().is_empty());
    }

    #[test]
    fn text_has_no_more_bytes_than_were_received() {
        assert_eq!(text_of("(märk 1)".into()), "(märk 1)");
        assert_eq!(text_of(b"(m\xe4rk \xff\xfe 1 \xc3".to_vec()), "(m?rk ?? 1 ?");
        assert_eq!(trimmed(" \r\n( INFO ) \n".into()), "( INFO )");
        assert_eq!(trimmed("  ".into()), "");
    }

    #[test]
    fn heads_are_read_in_any_case_and_line_end() {
        let head = |text: &str| request_head(text.as_bytes()).expect("it is a head");
        let post = head("pOsT / HTTP/1.0\r\ncontent-LENGTH: 8\r\nodd header\r\n\r\n");
        assert_eq!((post.method.as_str(), post.framing), ("POST", Framing::Length(8)));
        let get = head("GET /(%20INFO%20) HTTP/1.1\nHost: x\n\n");
        assert_eq!((get.target.as_str(), get.framing), ("/(%20INFO%20)", Framing::Unsaid));
        let chunked =
            head("POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nExpect: 100-continue\r\n\r\n");
        assert_eq!((chunked.framing, chunked.expects_continue), (Framing::Chunked, true));
        assert!(request_head(b"what is this\r\n\r\n").is_err());
        assert_eq!(reply_head(b"HTTP/1.1 500 Oops\r\nA : b\r\n\r\n"), Ok(Framing::Unsaid));
        assert!(reply_head(b"noop\r\n\r\n").is_err());
    }

    #[test]
    fn first_lines_are_taken_for_what_they_mean() {
        let target = |line: &str| {
            let head = request_head(format!("{line}\r\nContent-Length: 8\r\n\r\n").as_bytes());
            head.map(|head| (head.method, head.target, head.framing))
        };
        for (line, method, path) in [
            ("POST / http/1.0", "POST", "/"),
            ("POST /", "POST", "/"),
            ("POST / HTTP/2.0", "POST", "/"),
            ("POST  /  HTTP/9", "POST", "/"),
            ("GET /( INFO ) HTTP/1.0", "GET", "/( INFO )"),
            ("GET http://h/(INFO)", "GET", "/(INFO)"),
            ("GET HTTP://h:80 HTTP/1.0", "GET", "/"),
            ("OPTIONS * HTTP/1.1", "OPTIONS", "*"),
        ] {
            let expected = (method.to_owned(), path.to_owned(), Framing::Length(8));
            assert_eq!(target(line), Ok(expected), "{line}");
        }
        for line in ["", "POST", "(INFO)", "( INFO ) HTTP/1.0", "what is this?"] {
            assert!(target(line).is_err(), "{line}");
        }
        for line in ["http/1.0 200 OK", "HTTP/1.0 OK", "HTTP/2 200 OK", "HTTP/1.0"] {
            let head = format!("{line}\r\nContent-length: 3\r\n\r\n");
            assert_eq!(reply_head(head.as_bytes()), Ok(Framing::Length(3)), "{line}");
        }
        let many =
            format!("POST / HTTP/1.0\r\n{}Content-Length: 8\r\n\r\n", "X: y\r\n".repeat(5000));
        let head = request_head(many.as_bytes()).expect("a head");
        assert_eq!(head.framing, Framing::Length(8));
    }

    /// Reads a chunked message with a limit of a thousand bytes.
    fn read_chunked(bytes: Vec<u8>) -> Result<String, WireError> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let at = listener.local_addr().expect("it listens");
        let peer = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(at).expect("it listens");
            // The reader may close the connection in the middle.
            let _ = std::io::Write::write_all(&mut stream, &bytes);
        });
        let (stream, _) = listener.accept().expect("somebody connects");
        let mut wire = Wire::new(&stream, 1000, Deadline::after(Duration::from_secs(10)));
        let read = wire.head().and_then(|_| wire.body(Framing::Chunked, |_| true));
        assert!(wire.buffer.len() <= 2 * BLOCK, "{}", wire.buffer.len());
        drop(wire);
        drop(stream);
        peer.join().expect("it only writes");
        read
    }

    #[test]
    fn chunks_are_bounded() {
        let body = |chunks: &str| format!("POST / HTTP/1.1\r\n\r\n{chunks}").into_bytes();
        let ones = |n: usize| format!("{}0\r\n\r\n", "1\r\na\r\n".repeat(n));
        assert_eq!(read_chunked(body(&ones(1000))), Ok("a".repeat(1000)));
        assert_eq!(read_chunked(body(&ones(1001))), Err(WireError::TooLarge(1000)));
        let extended = format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(900));
        assert_eq!(read_chunked(body(&extended)), Ok("a".into()));
        let long = format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(2000));
        assert!(matches!(read_chunked(body(&long)), Err(WireError::NotHttp(_))));
        // Every chunk has one byte after a line of a thousand.
        let wasteful = format!("1;{}\r\na\r\n", "x".repeat(900)).repeat(900);
        assert_eq!(read_chunked(body(&wasteful)), Err(WireError::TooLarge(1000)));
    }

    #[test]
    fn a_head_ends_with_its_empty_line() {
        for (text, end) in [("a\r\n\r\nb", Some(5)), ("a\n\nb", Some(3)), ("a\r\nb", None)] {
            assert_eq!(end_of_head(text.as_bytes(), 0), end, "{text:?}");
        }
    }
}
