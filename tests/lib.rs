//! What the tests across crates share: engines for a rulesheet, and lines of play on them.

pub mod exactness;
pub mod faults;
pub mod lines;
pub mod overhead;

use std::time::Duration;

use ludex_base::Source;
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice, LoadError, LoadOptions, LoadedGame, load};
use ludex_reasoner::Reasoner;
use ludex_testkit::RulesFile;

/// How long grounding may take: what the command allows without being asked.
pub const GROUND_TIME: Duration = Duration::from_secs(60);
/// Bytes that grounding may take in a test: two tests run side by side.
pub const GROUND_MEMORY: u64 = 3_000_000_000;

/// Public rulesheets that take the machine more than ten seconds, or that it has no room for;
/// `cargo xtask golden` and `cargo xtask agree` do what can be done of them.
pub const LONG_FOR_MACHINE: &[&str] =
    &["bender_Corridor", "chess", "comp2006_argentina_9022", "merrills", "mummymaze1p", "sudoku"];

/// Public rulesheets that take the reasoner more than ten seconds.
pub const LONG_FOR_REASONER: &[&str] = &["bender_Corridor"];

/// Loads a rulesheet for the engine asked for.
///
/// # Errors
/// When there is no such engine for it.
pub fn load_for(rules: &RulesFile, engine: EngineChoice) -> Result<LoadedGame, LoadError> {
    let options = LoadOptions { engine, time: GROUND_TIME, memory: GROUND_MEMORY };
    load(Source::new(rules.path.display().to_string(), rules.text()), &options)
}

/// The machine for a rulesheet; `None` if a limit keeps it from being grounded.
///
/// # Panics
/// When the rulesheet is wrong.
pub fn machine(rules: &RulesFile) -> Option<Machine> {
    match load_for(rules, EngineChoice::Circuit) {
        Ok(LoadedGame { engine: Engine::Machine(machine), .. }) => Some(machine),
        Ok(_) => unreachable!("a circuit was asked for"),
        Err(LoadError::Limit { .. }) => None,
        Err(error) => panic!("{}: {error}: {error:?}", rules.name),
    }
}

/// The machine for rules in a text.
///
/// # Panics
/// When they are wrong.
pub fn machine_of(name: &str, rules: &str) -> Machine {
    let options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
    match load(Source::new(name, rules), &options) {
        Ok(LoadedGame { engine: Engine::Machine(machine), .. }) => machine,
        Ok(_) => unreachable!("a circuit was asked for"),
        Err(error) => panic!("{name}: {error}: {error:?}"),
    }
}

/// The machine that plays playouts side by side; `None` where there is none.
pub fn wide(rules: &RulesFile) -> Option<Machine> {
    match load_for(rules, EngineChoice::Wide) {
        Ok(LoadedGame { engine: Engine::Machine(machine), .. }) => Some(machine),
        _ => None,
    }
}

/// The reasoner for a rulesheet.
///
/// # Panics
/// When the rulesheet is wrong.
pub fn reasoner(rules: &RulesFile) -> Option<Reasoner> {
    match load_for(rules, EngineChoice::Reasoner) {
        Ok(LoadedGame { engine: Engine::Reasoner(reasoner), .. }) => Some(reasoner),
        Ok(_) => unreachable!("the reasoner was asked for"),
        Err(error) => panic!("{}: {error}: {error:?}", rules.name),
    }
}
