//! A connection, read within bounds of size and time.
//!
//! Heads are parsed by `httparse`. What it reads from is ours, because the protocol wants what
//! server libraries do not do: bodies that only the end of the connection ends, and the moment at
//! which the first byte came.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ludex_base::Deadline;

/// A connection and what was read from it so far.
pub(crate) struct Wire<'a> {
    stream: &'a TcpStream,
    buffer: Vec<u8>,
    /// What is taken from the buffer already.
    taken: usize,
    max_bytes: usize,
    until: Deadline,
    /// When the first byte came.
    pub arrived: Option<Instant>,
}

/// Why nothing more can be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum WireError {
    #[error("it did not arrive in time")]
    Late,
    #[error("it has more than {0} bytes")]
    TooLarge(usize),
    #[error("the connection ended in the middle of it")]
    Cut,
    #[error("the connection ended before it")]
    Empty,
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("it is not HTTP: {0}")]
    NotHttp(String),
}

/// Where a body ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    /// After so many bytes.
    Length(usize),
    /// With the last of its chunks.
    Chunked,
    /// Nothing was said.
    Unsaid,
}

/// The longest head. A `GET` has the whole message in it.
const MAX_HEAD: usize = 1 << 20;
const MAX_HEADERS: usize = 100;
/// How often a waiting reader looks whether it was told to stop.
const POLL: Duration = Duration::from_millis(50);

impl<'a> Wire<'a> {
    pub fn new(stream: &'a TcpStream, max_bytes: usize, until: Deadline) -> Self {
        Self { stream, buffer: Vec::new(), taken: 0, max_bytes, until, arrived: None }
    }

    /// The head, to and with the empty line.
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

    /// The body. One of unsaid length goes to the end of the connection, or as far as `is_whole`
    /// says, which is shown piece after piece.
    pub fn body(
        &mut self,
        framing: Framing,
        mut is_whole: impl FnMut(&[u8]) -> bool,
    ) -> Result<String, WireError> {
        let bytes = match framing {
            Framing::Length(length) => self.take(length)?,
            Framing::Chunked => self.chunks()?,
            Framing::Unsaid => {
                let mut shown = self.taken;
                while !is_whole(&self.buffer[shown..]) {
                    shown = self.buffer.len();
                    if !self.fill()? {
                        break;
                    }
                }
                self.buffer.split_off(self.taken)
            }
        };
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, WireError> {
        if length > self.max_bytes {
            return Err(WireError::TooLarge(self.max_bytes));
        }
        while self.buffer.len() - self.taken < length {
            if !self.fill()? {
                return Err(WireError::Cut);
            }
        }
        let bytes = self.buffer[self.taken..self.taken + length].to_vec();
        self.taken += length;
        Ok(bytes)
    }

    fn chunks(&mut self) -> Result<Vec<u8>, WireError> {
        let mut body = Vec::new();
        loop {
            let (start, size) = loop {
                match httparse::parse_chunk_size(&self.buffer[self.taken..]) {
                    Ok(httparse::Status::Complete(found)) => break found,
                    Ok(httparse::Status::Partial) if self.fill()? => {}
                    Ok(httparse::Status::Partial) => return Err(WireError::Cut),
                    Err(_) => return Err(WireError::NotHttp("a chunk has no size".into())),
                }
            };
            self.taken += start;
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            if size == 0 {
                return Ok(body);
            }
            if size.saturating_add(body.len()) > self.max_bytes {
                return Err(WireError::TooLarge(self.max_bytes));
            }
            body.extend(self.take(size)?);
            self.take(2)?;
        }
    }

    /// Waits for more bytes; false at the end of the connection.
    fn fill(&mut self) -> Result<bool, WireError> {
        if self.buffer.len() - self.taken > self.max_bytes.max(MAX_HEAD) {
            return Err(WireError::TooLarge(self.max_bytes));
        }
        let mut block = [0; 16 << 10];
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

/// A timeout of nothing means none at all.
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

/// What the head of a request says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RequestHead {
    /// In upper case.
    pub method: String,
    pub target: String,
    pub framing: Framing,
    /// Whether the peer waits for a word before it sends the body.
    pub expects_continue: bool,
}

/// Reads the head of a request.
pub(crate) fn request_head(head: &[u8]) -> Result<RequestHead, WireError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let mut config = httparse::ParserConfig::default();
    config.ignore_invalid_headers_in_requests(true);
    config.allow_multiple_spaces_in_request_line_delimiters(true);
    let parsed = config.parse_request(&mut request, head);
    parsed.map_err(|error| WireError::NotHttp(error.to_string()))?;
    let expects_continue = header(request.headers, "expect").is_some();
    Ok(RequestHead {
        method: request.method.unwrap_or("").to_ascii_uppercase(),
        target: request.path.unwrap_or("").to_owned(),
        framing: framing(request.headers),
        expects_continue,
    })
}

/// Reads the head of a reply: where its body ends. Status and content type say nothing, since
/// players say anything there.
pub(crate) fn reply_head(head: &[u8]) -> Result<Framing, WireError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut reply = httparse::Response::new(&mut headers);
    let mut config = httparse::ParserConfig::default();
    config.ignore_invalid_headers_in_responses(true);
    config.allow_spaces_after_header_name_in_responses(true);
    config.allow_multiple_spaces_in_response_status_delimiters(true);
    let parsed = config.parse_response(&mut reply, head);
    parsed.map_err(|error| WireError::NotHttp(error.to_string()))?;
    Ok(framing(reply.headers))
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
    fn a_head_ends_with_its_empty_line() {
        for (text, end) in [("a\r\n\r\nb", Some(5)), ("a\n\nb", Some(3)), ("a\r\nb", None)] {
            assert_eq!(end_of_head(text.as_bytes(), 0), end, "{text:?}");
        }
    }
}
