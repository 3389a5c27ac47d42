//! A sample of `cargo experiment hostile`: small hostile sheets through the command. Nothing here is judged
//! by its time.

use std::path::PathBuf;
use std::time::Duration;

use ludex_testkit::command::binary;
use ludex_testkit::contained::{self, How};
use ludex_testkit::hostile::{HostileSheet, sheets};
use ludex_testkit::in_parallel;
use ludex_tests::fuzzing::certificates;

/// Larger sheets are for the experiment.
const MAX_BYTES: usize = 20_000;

/// Address space of a call, far above its memory: what is judged is how the call ends.
const ADDRESS_SPACE: u64 = 4 << 30;

/// A call that has not ended by then never will.
const LONG: Duration = Duration::from_secs(300);

const CALLS: [&str; 5] = [
    "check FILE",
    "trace FILE --engine reasoner",
    "transcript FILE --steps 3",
    "perft FILE --depth 1",
    "print FILE --form infix",
];

#[test]
fn small_hostile_sheets_end_every_call_in_order() {
    // One of three small sheets; the names decide, so that new sheets do not change the others.
    let is_chosen = |sheet: &HostileSheet| {
        let sum: usize = sheet.name().bytes().map(usize::from).sum();
        sum.is_multiple_of(3) && sheet.bytes().len() <= MAX_BYTES
    };
    let sample: Vec<HostileSheet> = sheets().into_iter().filter(is_chosen).collect();
    assert!(sample.len() >= 40, "only {} sheets", sample.len());
    let wrong: Vec<String> = in_parallel(&sample, try_sheet).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the calls that do not end in order.
fn try_sheet(sheet: &HostileSheet) -> Vec<String> {
    let bytes = sheet.bytes();
    let mut wrong = Vec::new();
    for call in CALLS {
        let mut command = contained::within_address_space(&binary(), ADDRESS_SPACE);
        command.args(call.split(' ').map(|word| if word == "FILE" { "-" } else { word }));
        command.args(["--time", "1", "--memory", "300MB"]);
        let end = contained::run(&mut command, &bytes, LONG).expect("the command starts");
        let is_in_order = match end.how {
            How::Exit(0) => true,
            // A failure has a message.
            How::Exit(1 | 3) => !end.stderr.trim().is_empty(),
            _ => false,
        };
        if !is_in_order || contained::is_panic(&end.stderr) {
            let lines: Vec<&str> = end.stderr.lines().take(3).collect();
            wrong.push(format!("{}: {call}: {:?}: {}", sheet.name(), end.how, lines.join(" ")));
        }
    }
    wrong
}

/// Certificates take no more time and memory than a call may use, whatever they claim.
#[test]
fn hostile_certificates_end_in_order() {
    let rules = TemporaryFile::new("kif", certificates::RULES);
    let wrong = in_parallel(&certificates::hostile(), |(name, text)| {
        let mut command = contained::within_address_space(&binary(), ADDRESS_SPACE);
        command.args(["verify", "-"]).arg(&rules.0);
        command.args(["--time", "2", "--memory", "500MB"]);
        let end = contained::run(&mut command, text.as_bytes(), LONG).expect("the command starts");
        let is_in_order = matches!(end.how, How::Exit(1 | 3)) && !contained::is_panic(&end.stderr);
        (!is_in_order).then(|| format!("{name}: {:?}: {}", end.how, end.stderr))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file for temporary use, removed on drop.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(ending: &str, text: &str) -> Self {
        let name = format!("ludex-hostile-{}.{ending}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("the folder for temporary files can be written");
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
