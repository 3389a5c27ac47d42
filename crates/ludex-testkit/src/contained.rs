//! Runs a process within limits, and says how it ended and what it used.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How a process ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// How it came to its end.
    pub how: How,
    /// From its start to its end.
    pub wall: Duration,
    /// Processor time of all its threads; zero on systems that do not say.
    pub cpu: Duration,
    /// The most memory it had, in bytes; zero on systems that do not say.
    pub peak_bytes: u64,
    /// The beginning of its standard output.
    pub stdout: String,
    /// The beginning of its standard error.
    pub stderr: String,
}

/// How a process came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// It returned this exit code.
    Exit(i32),
    /// A signal ended it; so does an abort.
    Signal(i32),
    /// It was killed when its time was over.
    Killed,
}

/// Bytes of output that are kept.
pub const MAX_KEPT: usize = 1 << 20;

/// How often a running process is looked at.
const INTERVAL: Duration = Duration::from_millis(2);

/// Runs a command with this input, and kills it after `time`.
///
/// # Errors
/// When the command does not start.
pub fn run(command: &mut Command, input: &[u8], time: Duration) -> io::Result<Ending> {
    let begin = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start_as_copy(command);
    let mut child = command.spawn()?;
    let (mut stdin, input) = (child.stdin.take(), input.to_vec());
    // A process may end without reading its input.
    let writer = thread::spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(&input)));
    let stdout = child.stdout.take().map(keep_beginning);
    let stderr = child.stderr.take().map(keep_beginning);
    let mut is_killed = false;
    let (how, cpu, peak_bytes) = loop {
        if let Some(end) = try_wait(&mut child)? {
            break end;
        }
        if !is_killed && begin.elapsed() > time {
            is_killed = true;
            child.kill()?;
        }
        thread::sleep(INTERVAL);
    };
    let wall = begin.elapsed();
    let text = |reader: Option<JoinHandle<Vec<u8>>>| {
        let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    let _ = writer.join();
    let how = if is_killed { How::Killed } else { how };
    Ok(Ending { how, wall, cpu, peak_bytes, stdout, stderr })
}

/// Returns a command that runs a program with at most this much address space.
#[cfg(unix)]
pub fn within_address_space(program: &std::path::Path, bytes: u64) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &(bytes >> 10).to_string()]);
    command.arg(program);
    command
}

/// Returns a command that runs a program; this system has no limit of address space.
#[cfg(not(unix))]
pub fn within_address_space(program: &std::path::Path, _: u64) -> Command {
    Command::new(program)
}

/// Lets the process start as a copy of this one.
///
/// The system counts the memory before the program starts to the peak of the process. Otherwise
/// that is the most this process ever had, and as a copy what it has now.
#[cfg(unix)]
fn start_as_copy(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: the function does nothing; there only has to be one.
    unsafe { command.pre_exec(|| Ok(())) };
}

#[cfg(not(unix))]
fn start_as_copy(_: &mut Command) {}

/// Reads all there is and keeps the beginning.
fn keep_beginning(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 1 << 16]);
        while let Ok(n_read @ 1..) = stream.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..n_read.min(MAX_KEPT - kept.len())]);
        }
        kept
    })
}

#[cfg(unix)]
fn try_wait(child: &mut Child) -> io::Result<Option<(How, Duration, u64)>> {
    use std::os::unix::process::ExitStatusExt as _;
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: a usage of zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call, and the process is a child of this one that
    // nobody else waits for.
    let waited = unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) };
    if waited < 0 {
        return Err(io::Error::last_os_error());
    }
    if waited == 0 {
        return Ok(None);
    }
    let status = std::process::ExitStatus::from_raw(status);
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => How::Exit(code),
        (None, signal) => How::Signal(signal.unwrap_or(0)),
    };
    let time = |it: libc::timeval| {
        Duration::from_secs(it.tv_sec.unsigned_abs())
            + Duration::from_micros(it.tv_usec.unsigned_abs())
    };
    // Linux counts in units of 1,024 bytes, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let peak_bytes = usage.ru_maxrss.unsigned_abs() * unit;
    Ok(Some((how, time(usage.ru_utime) + time(usage.ru_stime), peak_bytes)))
}

#[cfg(not(unix))]
fn try_wait(child: &mut Child) -> io::Result<Option<(How, Duration, u64)>> {
    let status = child.try_wait()?;
    Ok(status.map(|status| (How::Exit(status.code().unwrap_or(-1)), Duration::ZERO, 0)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, time: Duration) -> Ending {
        let mut command = Command::new("sh");
        run(command.args(["-c", script]), b"hello", time).expect("there is a shell")
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn codes_signals_and_texts_are_told() {
        let end = shell("cat; echo no >&2; exit 3", LONG);
        assert_eq!(
            (end.how, end.stdout.as_str(), end.stderr.trim()),
            (How::Exit(3), "hello", "no")
        );
        assert!(end.peak_bytes > 100_000, "{} bytes", end.peak_bytes);
        assert_eq!(shell("kill -9 $$", LONG).how, How::Signal(9));
    }

    #[test]
    fn a_process_that_does_not_end_is_killed() {
        assert_eq!(shell("exec sleep 1000", Duration::from_millis(50)).how, How::Killed);
    }

    #[test]
    fn memory_that_this_process_had_is_not_counted() {
        let block = std::hint::black_box(vec![1_u8; 300 << 20]);
        drop(block);
        let end = shell("true", LONG);
        assert!(end.peak_bytes < 200 << 20, "{} bytes", end.peak_bytes);
    }

    #[test]
    fn the_address_space_is_limited() {
        let mut command = within_address_space("sh".as_ref(), 64 << 20);
        let end = run(command.args(["-c", "ulimit -v"]), b"", LONG).expect("there is a shell");
        assert_eq!(end.stdout.trim(), (64 << 10).to_string());
    }
}

/// Returns whether a line of standard error is about a panic: of a thread, or as the command reports
/// it.
pub fn is_panic(stderr: &str) -> bool {
    stderr.contains("panicked at") || stderr.contains("internal error")
}
