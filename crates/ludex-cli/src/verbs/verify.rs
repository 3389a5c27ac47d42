//! `ludex verify`: accepts or refutes a certificate.

use std::time::Instant;

use ludex_base::Limits;
use ludex_verify::{Certificate, Verdict, verify};
use serde::Serialize;

use crate::args::Common;
use crate::failure::{DONE, Failure, INVALID_INPUT, LIMIT};
use crate::load::{invalid_rules, options};
use crate::{input, output};

/// The longest certificate that is read.
const MAX_BYTES: u64 = 2 << 30;

#[derive(Serialize)]
struct VerifyJson {
    accepted: bool,
    claim: Vec<String>,
    reason: Option<String>,
    rules_hash: String,
    version: &'static str,
    seconds: f64,
}

/// Checks the certificate of a file against a rulesheet, with the reasoner alone.
pub fn run(certificate: &str, rules: &str, common: &Common) -> Result<u8, Failure> {
    let deadline = common.deadline();
    let text = input::read_text(certificate, MAX_BYTES)?;
    let input = input::read(rules)?;
    if input.is_fatal() {
        return Err(invalid_rules(&input, Vec::new()));
    }
    let certificate = Certificate::read(&text).map_err(|message| Failure::File {
        path: input::shown_path(certificate).into(),
        code: "certificate",
        line: None,
        message,
    })?;
    // The certificate holds its lines; the text is not needed any more.
    drop(text);
    let max_bytes = options(ludex_pipeline::EngineChoice::Reasoner, common).memory;
    let limits = Limits { max_bytes, ..Limits::usual().until(deadline) };
    let bar = output::spinner(format!("checking the certificate of {}", input.name));
    let start = Instant::now();
    let verdict = verify(&certificate, &input.source, &limits);
    let seconds = output::seconds(start.elapsed());
    bar.finish_and_clear();
    let claim: Vec<String> = certificate.proofs.iter().map(|it| it.claim.to_string()).collect();
    let (word, code, reason) = match verdict {
        Verdict::Accepted => ("accepted", DONE, None),
        Verdict::Refuted { reason } => ("refuted", INVALID_INPUT, Some(reason)),
        Verdict::Unknown(reason) => {
            let reason = format!("stopped by the limit of {}", reason.name());
            ("undecided", LIMIT, Some(reason))
        }
    };
    if common.json {
        output::json(&VerifyJson {
            accepted: code == DONE,
            claim,
            reason,
            rules_hash: input.sha256,
            version: env!("CARGO_PKG_VERSION"),
            seconds,
        })?;
    } else {
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        output::text(&format!("{word}{reason}\n"))?;
        output::text(&claim.iter().map(|it| format!("  {it}\n")).collect::<String>())?;
        if code != DONE {
            eprintln!("ludex: the certificate is {word}");
        }
    }
    Ok(code)
}
