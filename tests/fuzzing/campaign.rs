//! Many inputs in child processes: a crash costs one input, and names it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ludex_base::Seed;
use ludex_testkit::contained::{self, Ending, How};

use super::generator::Generator;
use super::shrink::shrink;
use super::trial::Depth;

/// Inputs of one generator, tried by the program `fuzz-cases`.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The program.
    pub program: PathBuf,
    /// The generator.
    pub generator: Generator,
    /// The seed of all inputs.
    pub seed: Seed,
    /// Processor seconds that an input may take. The limits of the stages are far below.
    pub seconds_per_case: u64,
}

/// An input on which something went wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The number of the input.
    pub number: u64,
    /// What went wrong.
    pub what: String,
}

impl Finding {
    /// Returns what went wrong without what differs from input to input.
    pub fn kind(&self) -> String {
        kind(&self.what)
    }
}

/// The result of a campaign.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// Inputs tried.
    pub n_cases: u64,
    /// Their bytes.
    pub n_bytes: u64,
    /// How far they went.
    pub depth: Depth,
    /// Processor time of the processes that tried them.
    pub cpu: Duration,
    /// What went wrong.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Returns one finding of each kind, with their number.
    pub fn kinds(&self) -> BTreeMap<String, (Finding, usize)> {
        let mut kinds: BTreeMap<String, (Finding, usize)> = BTreeMap::new();
        for finding in &self.findings {
            kinds.entry(finding.kind()).or_insert_with(|| (finding.clone(), 0)).1 += 1;
        }
        kinds
    }

    /// Adds the counts and findings of another part of the campaign.
    pub fn add(&mut self, other: Report) {
        self.n_cases += other.n_cases;
        self.n_bytes += other.n_bytes;
        self.depth += other.depth;
        self.cpu += other.cpu;
        self.findings.extend(other.findings);
    }
}

/// Inputs that one process tries, at most.
const BATCH: u64 = 200;

/// Inputs to try for a smaller one.
const MAX_TRIES: usize = 600;
/// The same if each takes as long as it may.
const MAX_SLOW_TRIES: usize = 20;

/// Address space of a process; threads reserve stacks that they do not use.
const ADDRESS_SPACE: u64 = 8 << 30;

impl Campaign {
    /// Tries the inputs with these numbers.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn run(&self, numbers: std::ops::Range<u64>) -> io::Result<Report> {
        let mut report = Report::default();
        let mut next = numbers.start;
        while next < numbers.end {
            let count = BATCH.min(numbers.end - next);
            let words = [
                "batch".to_string(),
                self.generator.name().into(),
                self.seed.0.to_string(),
                next.to_string(),
                count.to_string(),
            ];
            let end = self.child(&words, b"", count * self.seconds_per_case)?;
            report.cpu += end.cpu;
            next = self.read(&end, next, &mut report).max(next + 1);
        }
        Ok(report)
    }

    /// Tries one input and returns what went wrong.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn try_input(&self, input: &[u8]) -> io::Result<Option<String>> {
        let words = ["input".to_string(), self.generator.name().into()];
        let end = self.child(&words, input, self.seconds_per_case)?;
        let mut report = Report::default();
        self.read(&end, 0, &mut report);
        Ok(report.findings.into_iter().next().map(|finding| finding.what))
    }

    /// Returns the smallest input found on which the same goes wrong.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn shrink(&self, finding: &Finding) -> io::Result<Vec<u8>> {
        let input = self.generator.input(self.seed, finding.number);
        let kind = finding.kind();
        let mut error = None;
        let is_slow = kind.starts_with("too slow");
        let small = shrink(
            &input,
            if is_slow { MAX_SLOW_TRIES } else { MAX_TRIES },
            &mut |input| match self.try_input(input) {
                Ok(what) => what.is_some_and(|what| self::kind(&what) == kind),
                Err(it) => {
                    error = Some(it);
                    false
                }
            },
        );
        error.map_or(Ok(small), Err)
    }

    /// Shrinks one finding of each kind, and writes them to a folder.
    ///
    /// # Errors
    /// When the program cannot be run, or the folder cannot be written.
    pub fn keep(&self, report: &Report, folder: &Path) -> io::Result<String> {
        let mut text = String::new();
        for (kind, (finding, count)) in report.kinds() {
            let small = self.shrink(&finding)?;
            fs::create_dir_all(folder)?;
            let name = format!("{}-{}-{}", self.generator.name(), self.seed.0, finding.number);
            fs::write(folder.join(&name), &small)?;
            let shown = String::from_utf8_lossy(&small[..small.len().min(1500)]).into_owned();
            writeln!(text, "{name} ({count} times): {kind}\n{}\n{shown}\n", finding.what)
                .expect("writing to a string");
        }
        Ok(text)
    }

    fn child(&self, words: &[String], input: &[u8], seconds: u64) -> io::Result<Ending> {
        let mut command: Command = contained::within_address_space(&self.program, ADDRESS_SPACE);
        command.args(words).env("LUDEX_FUZZ_SECONDS", self.seconds_per_case.to_string());
        contained::run(&mut command, input, Duration::from_secs(20 * seconds + 30))
    }

    /// Reads what a process said, and returns the number of the input after the last one it tried.
    fn read(&self, end: &Ending, first: u64, report: &mut Report) -> u64 {
        let mut number = first;
        let mut is_done = false;
        let n_before = report.findings.len();
        for line in end.stdout.lines() {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                ["case", n, n_bytes] => {
                    number = n.parse().unwrap_or(number);
                    report.n_cases += 1;
                    report.n_bytes += n_bytes.parse().unwrap_or(0);
                }
                ["found", n, what] => {
                    let number = n.parse().unwrap_or(number);
                    report.findings.push(Finding { number, what: what.into() });
                }
                ["depth", n_accepted, n_compared] => {
                    report.depth += Depth {
                        n_accepted: n_accepted.parse().unwrap_or(0),
                        n_compared: n_compared.parse().unwrap_or(0),
                    };
                }
                ["done"] => is_done = true,
                _ => {}
            }
        }
        let is_said = report.findings[n_before..].iter().any(|it| it.number == number);
        if !is_done && !is_said {
            let last = end.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
            let how = match end.how {
                How::Exit(code) => format!("exit code {code}: {last}"),
                How::Signal(signal) => format!("signal {signal}: {last}"),
                How::Killed => "the process did not end".into(),
            };
            report.findings.push(Finding { number, what: how });
        }
        number + 1
    }
}

/// What went wrong, without numbers and quoted texts, and cut.
fn kind(what: &str) -> String {
    // The place of a panic is its kind.
    if let Some(rest) = what.strip_prefix("panic at ") {
        return format!("panic at {}", rest.split(' ').next().unwrap_or(""));
    }
    let mut kind = String::new();
    for word in what.split(' ').take(5) {
        let word: String = word.chars().filter(|c| !c.is_ascii_digit()).collect();
        kind.push_str(&word);
        kind.push(' ');
    }
    kind.trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_one_place_are_one_kind() {
        let of = |what: &str| Finding { number: 1, what: what.into() }.kind();
        assert_eq!(of("panic at a.rs:7:3 index 4"), of("panic at a.rs:7:3 index 5"));
        assert_ne!(of("panic at a.rs:7:3 index 4"), of("panic at a.rs:8:3 index 4"));
        assert_eq!(of("exit code 101: x"), of("exit code 7: x"));
        assert_ne!(of("signal 6: stack overflow"), of("exit code 6: stack overflow"));
    }
}
