//! `ludex csp symmetries`: exchanges of variables and values under which a network stays the same.

use std::panic;
use std::thread;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, StopReason};
use ludex_csp::symmetry::{NetworkSymmetries, StructureError, StructureLimits, find_symmetries};
use ludex_formats::FormatError;
use ludex_formats::xcsp3::{self, Instance};
use ludex_pipeline::LoadOptions;
use serde::Serialize;

use super::csp::{STACK_BYTES, wrong_file};
use crate::args::Common;
use crate::failure::{DONE, Failure, LIMIT};
use crate::{input, output};

#[derive(Serialize)]
struct CspSymmetriesJson {
    file: String,
    /// As text: orders may have hundreds of digits.
    order: String,
    is_complete: bool,
    /// Each in words: cycles of variables, or of literals.
    generators: Vec<String>,
    variables: usize,
    literals: usize,
    /// How many classes of literals the symmetries leave.
    orbits: usize,
    seconds: f64,
}

/// Time for the search if the call does not limit it.
const USUAL_TIME: Duration = Duration::from_secs(60);

/// Finds the symmetries of the instance in a file and prints them.
pub fn run(file: &str, common: &Common) -> Result<u8, Failure> {
    let start = Instant::now();
    let deadline = common.time.map_or_else(|| Deadline::after(USUAL_TIME), Deadline::after);
    let max_bytes = common.memory.unwrap_or(LoadOptions::default().memory);
    let bar = output::spinner(format!("looking for symmetries of {file}"));
    // Files may contain deeply nested expressions.
    let work = thread::scope(|scope| {
        let work = || find(file, max_bytes, &deadline);
        let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        Ok::<_, std::io::Error>(worker.join())
    })?;
    bar.finish_and_clear();
    let (instance, found) = match work.unwrap_or_else(|panicked| panic::resume_unwind(panicked))? {
        Ok(found) => found,
        Err(reason) => {
            let name = StopReason::name(reason);
            return Err(Failure::Limit(format!("stopped by the limit of {name}")));
        }
    };
    let network = &instance.network;
    let report = CspSymmetriesJson {
        file: input::shown_path(file).to_string(),
        order: found.order.to_string(),
        is_complete: found.is_complete,
        generators: found.generators.iter().map(|it| found.in_words(it, network)).collect(),
        variables: network.variables().len(),
        literals: found.literals.len(),
        orbits: found.orbits().n_orbits(),
        seconds: output::seconds(start.elapsed()),
    };
    if common.json {
        output::json(&report)?;
    } else {
        output::text(&report.text())?;
    }
    if !report.is_complete {
        eprintln!("ludex: the time limit ended the search: there may be more symmetries");
        return Ok(LIMIT);
    }
    Ok(DONE)
}

type Found = Result<(Instance, NetworkSymmetries), StopReason>;

fn find(file: &str, max_bytes: u64, deadline: &Deadline) -> Result<Found, Failure> {
    let text = input::read_text(file, max_bytes)?;
    let instance = match xcsp3::read_by(&text, deadline) {
        Ok(instance) => instance,
        Err(FormatError::Stopped(reason)) => return Ok(Err(reason)),
        Err(error) => return Err(wrong_file(file, &error)),
    };
    drop(text);
    match find_symmetries(&instance.network, &StructureLimits::default(), deadline) {
        Ok(found) => Ok(Ok((instance, found))),
        Err(StructureError::Stopped(reason)) => Ok(Err(reason)),
        Err(error) => Err(Failure::Limit(error.to_string())),
    }
}

/// Generators that are listed.
const MAX_GENERATORS: usize = 40;

impl CspSymmetriesJson {
    fn text(&self) -> String {
        let order = match &*self.order {
            "1" => "no symmetry but the identity".into(),
            order => format!("{order} symmetries"),
        };
        let mut lines = vec![format!("{}: {order} ({:.3} s)", self.file, self.seconds)];
        lines.push(format!(
            "{} variables, {} literals in {} orbits",
            self.variables, self.literals, self.orbits
        ));
        if !self.generators.is_empty() {
            lines.push("\nGenerators:".into());
            let listed = self.generators.iter().take(MAX_GENERATORS);
            lines.extend(listed.map(|generator| format!("  {generator}")));
            if self.generators.len() > MAX_GENERATORS {
                lines.push(format!("  … and {} more", self.generators.len() - MAX_GENERATORS));
            }
        }
        lines.join("\n") + "\n"
    }
}
