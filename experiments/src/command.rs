//! Runs of the command `ludex`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Runs the command and reads its report. Without a report it prints a message and returns `None`.
pub(crate) fn ask(ludex: &Path, args: &[&str]) -> Result<Option<Value>> {
    eprintln!("$ ludex {}", args.join(" "));
    let output = Command::new(ludex).args(args).stderr(Stdio::null()).output();
    let output = output.context("`ludex` does not start")?;
    let report: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let report = report.filter(|report| report["ok"] != false);
    if report.is_none() {
        eprintln!("no report ({})", output.status);
    }
    Ok(report)
}

/// Runs a process and returns its standard output. Kills the process when the time is over.
pub(crate) fn run_for(program: &Path, args: &[&str], time: Duration) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    while start.elapsed() < time {
        match child.try_wait() {
            Ok(Some(status)) if status.code().is_none() => return Err(format!("killed: {status}")),
            Ok(Some(_)) => {
                let output = child.wait_with_output().map_err(|error| error.to_string())?;
                return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.to_string()),
        }
    }
    // The process may have ended by itself in the meantime.
    let _ = child.kill();
    let _ = child.wait();
    Err("killed: out of time".into())
}
