//! The command `ludex` as a person or a script meets it: arguments and standard input in, standard
//! output and exit code out.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the command with these arguments and nothing on standard input.
pub fn ludex(args: &[&str]) -> Output {
    ludex_with(args, "")
}

/// Runs the command with these arguments and this standard input.
///
/// # Panics
/// When the binary is missing.
pub fn ludex_with(args: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut child = Command::new(binary())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that needs no input, or is called wrongly, may be gone before it is written.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_ref());
    child.wait_with_output().expect("the command ends")
}

/// Where the command is: it lies beside the tests, built in the same profile by the same
/// `cargo test`.
///
/// # Panics
/// When it is not there.
pub fn binary() -> PathBuf {
    let mut folder = std::env::current_exe().expect("a test has a path");
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let binary = folder.join(format!("ludex{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is missing; build the workspace first", binary.display());
    binary
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is UTF-8")
}

/// The lines of standard output of a command that ended with this code.
#[track_caller]
pub fn lines(output: &Output, code: i32) -> Vec<String> {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    stdout(output).lines().map(String::from).collect()
}

/// The JSON that a command wrote on standard output, in one line, and ended with this code.
#[track_caller]
pub fn json(output: &Output, code: i32) -> Value {
    let lines = lines(output, code);
    assert_eq!(lines.len(), 1, "JSON is one line: {lines:?}");
    serde_json::from_str(&lines[0]).expect("standard output is JSON")
}

/// A call that was refused with this code and nothing on standard output, and with all these words
/// on standard error.
#[track_caller]
pub fn check_refused(output: &Output, code: i32, words: &[&str]) {
    assert_eq!(lines(output, code), [""; 0]);
    for word in words {
        assert!(stderr(output).contains(word), "no {word} in {}", stderr(output));
    }
}
