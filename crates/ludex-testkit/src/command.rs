//! Runs the command `ludex` as a person or a script does: arguments and standard input go in,
//! standard output and an exit code come out.

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
/// Panics if the binary is missing.
pub fn ludex_with(args: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut child = Command::new(binary())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that reads no input, or rejects its arguments, may exit before this write.
    let _ = child.stdin.take().expect("standard input is piped").write_all(input.as_ref());
    child.wait_with_output().expect("the command exits")
}

/// Returns the path of the binary, which the same `cargo test` builds beside the tests in the same
/// profile.
///
/// # Panics
/// Panics if the binary is missing.
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

/// Returns standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// Returns standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is UTF-8")
}

/// Checks the exit code and returns the lines of standard output.
#[track_caller]
pub fn lines(output: &Output, code: i32) -> Vec<String> {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    stdout(output).lines().map(String::from).collect()
}

/// Checks the exit code and parses standard output, which must be one line of JSON.
#[track_caller]
pub fn json(output: &Output, code: i32) -> Value {
    let lines = lines(output, code);
    assert_eq!(lines.len(), 1, "JSON is one line: {lines:?}");
    serde_json::from_str(&lines[0]).expect("standard output is JSON")
}

/// Checks that a call failed with this code, wrote nothing to standard output, and wrote all these
/// words to standard error.
#[track_caller]
pub fn check_refused(output: &Output, code: i32, words: &[&str]) {
    assert_eq!(lines(output, code), [""; 0]);
    for word in words {
        assert!(stderr(output).contains(word), "no {word} in {}", stderr(output));
    }
}
