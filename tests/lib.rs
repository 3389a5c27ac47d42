//! Code shared by the tests across crates: engines for a rulesheet, and lines of play on them.

pub mod exactness;
pub mod faults;
pub mod fuzzing;
pub mod lines;
pub mod overhead;
pub mod page;
pub mod peers;
pub mod resume;

use std::time::Duration;

use ludex_base::Source;
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice, LoadError, LoadOptions, LoadedGame, load};
use ludex_reasoner::Reasoner;
use ludex_testkit::RulesFile;

/// Time limit of grounding: the default of the command.
pub const GROUND_TIME: Duration = Duration::from_secs(60);
/// Memory limit of grounding in a test, in bytes: two tests run side by side.
pub const GROUND_MEMORY: u64 = 3_000_000_000;

/// Public rulesheets that take the machine more than ten seconds, or that are too large for it;
/// `cargo xtask golden` and `cargo xtask agree` cover as much of them as possible.
pub const LONG_FOR_MACHINE: &[&str] =
    &["bender_Corridor", "chess", "comp2006_argentina_9022", "merrills", "mummymaze1p", "sudoku"];

/// Public rulesheets that take the reasoner more than ten seconds.
pub const LONG_FOR_REASONER: &[&str] = &["bender_Corridor"];

/// Loads a rulesheet for an engine.
///
/// # Errors
/// Returns an error if the engine cannot play it.
pub fn load_for(rules: &RulesFile, engine: EngineChoice) -> Result<LoadedGame, LoadError> {
    let options = LoadOptions { engine, time: GROUND_TIME, memory: GROUND_MEMORY };
    load(Source::new(rules.path.display().to_string(), rules.text()), &options)
}

/// Returns the machine for a rulesheet, or `None` if grounding reaches a limit.
///
/// # Panics
/// Panics if the rulesheet is invalid.
pub fn machine(rules: &RulesFile) -> Option<Machine> {
    match load_for(rules, EngineChoice::Circuit) {
        Ok(LoadedGame { engine: Engine::Machine(machine), .. }) => Some(machine),
        Ok(_) => unreachable!("the machine was requested"),
        Err(LoadError::Limit { .. }) => None,
        Err(error) => panic!("{}: {error}: {error:?}", rules.name),
    }
}

/// Returns the machine for a text of rules.
///
/// # Panics
/// Panics if the rules are invalid.
pub fn machine_of(name: &str, rules: &str) -> Machine {
    let options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
    match load(Source::new(name, rules), &options) {
        Ok(LoadedGame { engine: Engine::Machine(machine), .. }) => machine,
        Ok(_) => unreachable!("the machine was requested"),
        Err(error) => panic!("{name}: {error}: {error:?}"),
    }
}

/// Returns the machine if it can play batches of playouts in lanes.
pub fn wide(rules: &RulesFile) -> Option<Machine> {
    match load_for(rules, EngineChoice::Wide) {
        Ok(LoadedGame { engine: Engine::Machine(machine), .. }) => Some(machine),
        _ => None,
    }
}

/// Returns the reasoner for a rulesheet.
///
/// # Panics
/// Panics if the rulesheet is invalid.
pub fn reasoner(rules: &RulesFile) -> Option<Reasoner> {
    match load_for(rules, EngineChoice::Reasoner) {
        Ok(LoadedGame { engine: Engine::Reasoner(reasoner), .. }) => Some(reasoner),
        Ok(_) => unreachable!("the reasoner was requested"),
        Err(error) => panic!("{}: {error}: {error:?}", rules.name),
    }
}
