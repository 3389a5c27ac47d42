//! Sends one message to a player and reads the reply, within a total time.

use std::fmt;
use std::io::Write;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use ludex_base::Deadline;

use crate::wire::{Wire, WireError, reply_head};

/// The address of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    host: String,
    port: u16,
    sockets: Vec<SocketAddr>,
}

/// The port that players of the community use.
pub const DEFAULT_PORT: u16 = 9147;

/// Why a text is not the address of a player.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The text is not of the form `http://HOST:PORT`.
    #[error("malformed address `{0}`; use `http://HOST:PORT`")]
    Malformed(String),
    /// The scheme is not `http`.
    #[error("unsupported scheme `{0}`; use `http://HOST:PORT`")]
    Scheme(String),
    /// The host cannot be resolved.
    #[error("cannot resolve host `{host}`: {reason}")]
    Unknown {
        /// The name of the host.
        host: String,
        /// The message of the operating system.
        reason: String,
    },
}

impl Address {
    /// Reads `http://HOST:PORT` and resolves the host, once, so that no match waits for it.
    ///
    /// # Errors
    /// When the text is malformed or the host is unknown.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let malformed = || AddressError::Malformed(text.into());
        let authority = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some((scheme, _)) => return Err(AddressError::Scheme(scheme.into())),
            None => text,
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                (host, port.parse().map_err(|_| malformed())?)
            }
            _ => (authority, DEFAULT_PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
            return Err(malformed());
        }
        let unknown = |reason: String| AddressError::Unknown { host: host.into(), reason };
        let found = (host, port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
        let sockets: Vec<SocketAddr> = found.collect();
        if sockets.is_empty() {
            Err(unknown("the name has no address".into()))
        } else {
            Ok(Self { host: host.into(), port, sockets })
        }
    }
}

impl Address {
    /// Whether both addresses may lead to the same player.
    pub fn leads_to(&self, other: &Address) -> bool {
        self.sockets.iter().any(|socket| other.sockets.contains(socket))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "http://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "http://{}:{}", self.host, self.port)
        }
    }
}

/// Why there is no reply.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The reply did not come in time.
    #[error("no reply in time")]
    Late,
    /// The connection failed or broke off.
    #[error("{0}")]
    Connection(String),
    /// The reply exceeds [`MAX_REPLY`].
    #[error("{0}")]
    TooLarge(String),
}

/// Longest time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Longest reply, in bytes.
pub const MAX_REPLY: usize = 1 << 20;

/// Sends a message as the reference implementation does, and reads the reply.
///
/// The deadline covers the whole exchange, however slowly the peer sends its bytes.
///
/// # Errors
/// When no complete reply arrives by the deadline.
pub fn ask(
    address: &Address,
    receiver: &str,
    message: &str,
    until: &Deadline,
) -> Result<String, AskError> {
    exchange(address, &request_text(address, receiver, message), until)
}

/// Sends JSON to the page of a server, with its token if it has one, and reads the reply.
///
/// # Errors
/// When no complete reply arrives by the deadline, or the server refuses.
pub fn tell_page(
    address: &Address,
    token: Option<&str>,
    path: &str,
    json: &str,
    until: &Deadline,
) -> Result<String, AskError> {
    let cookie = token.map_or_else(String::new, |it| format!("Cookie: ludex-token={it}\r\n"));
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {}:{}\r\n{cookie}X-Ludex: 1\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{json}",
        address.host,
        address.port,
        json.len()
    );
    exchange(address, &request, until)
}

fn exchange(address: &Address, request: &str, until: &Deadline) -> Result<String, AskError> {
    let stream = connect(address, until)?;
    let broken = |error: std::io::Error| AskError::Connection(error.to_string());
    stream.set_nodelay(true).map_err(broken)?;
    write_all(&stream, request.as_bytes(), until)?;
    let mut wire = Wire::new(&stream, MAX_REPLY, until.clone());
    let read = |wire: &mut Wire<'_>| {
        let framing = reply_head(&wire.head()?)?;
        wire.body(framing, |_| false)
    };
    read(&mut wire).map_err(|error| match error {
        WireError::Late => AskError::Late,
        WireError::TooLarge(_) => AskError::TooLarge(format!("the reply {error}")),
        _ => AskError::Connection(format!("the reply {error}")),
    })
}

fn request_text(address: &Address, receiver: &str, message: &str) -> String {
    format!(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {}\r\nSender: GAMESERVER\r\n\
         Receiver: {receiver}\r\nContent-Type: text/acl\r\nContent-Length: {}\r\n\r\n{message}",
        address.host,
        message.len()
    )
}

fn connect(address: &Address, until: &Deadline) -> Result<TcpStream, AskError> {
    let mut failed = AskError::Late;
    for socket in &address.sockets {
        let time = until.remaining().unwrap_or(CONNECT_TIME).min(CONNECT_TIME);
        if time.is_zero() || until.reached() {
            return Err(AskError::Late);
        }
        match TcpStream::connect_timeout(socket, time) {
            Ok(stream) => return Ok(stream),
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => failed = AskError::Late,
            Err(error) => failed = AskError::Connection(error.to_string()),
        }
    }
    Err(failed)
}

/// Writes piece by piece, because a write blocks while the peer does not read.
fn write_all(stream: &TcpStream, mut bytes: &[u8], until: &Deadline) -> Result<(), AskError> {
    let broken = |error: std::io::Error| AskError::Connection(error.to_string());
    while !bytes.is_empty() {
        if until.reached() {
            return Err(AskError::Late);
        }
        stream.set_write_timeout(Some(WRITE_WAIT)).map_err(broken)?;
        match (&mut &*stream).write(bytes) {
            Ok(0) => return Err(AskError::Connection("the peer accepts no more bytes".into())),
            Ok(n_bytes) => bytes = &bytes[n_bytes..],
            Err(error) => match error.kind() {
                std::io::ErrorKind::WouldBlock
                | std::io::ErrorKind::TimedOut
                | std::io::ErrorKind::Interrupted => {}
                _ => return Err(broken(error)),
            },
        }
    }
    Ok(())
}

const WRITE_WAIT: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_perhaps_a_port() {
        let said = |text: &str| Address::parse(text).map(|address| address.to_string());
        assert_eq!(said("http://127.0.0.1:4001/").expect("an address"), "http://127.0.0.1:4001");
        assert_eq!(said("127.0.0.1").expect("an address"), "http://127.0.0.1:9147");
        assert_eq!(said("HTTP://[::1]:80").expect("an address"), "http://[::1]:80");
        for wrong in ["https://127.0.0.1:1", "http://127.0.0.1:x", "http://", "http://a/b:1"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_request_is_written_as_the_reference_writes_it() {
        let address = Address::parse("http://127.0.0.1:4001").expect("an address");
        assert_eq!(
            request_text(&address, "Ludex", "( INFO )"),
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\nSender: GAMESERVER\r\n\
             Receiver: Ludex\r\nContent-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )"
        );
    }
}
