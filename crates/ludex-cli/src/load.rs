//! Loads a rulesheet as a game, within the limits of the call.

use std::ops::Deref;
use std::time::{Duration, Instant};

use ludex_base::{Diagnostic, Limits};
use ludex_game::Game;
use ludex_pipeline::{EngineChoice, LoadError, LoadOptions, LoadedGame, with_game};

use crate::args::Common;
use crate::diagnostics;
use crate::failure::Failure;
use crate::input::Input;
use crate::output;

/// A loaded game and its loading time.
pub struct Loaded {
    game: LoadedGame,
    /// Time from the text to the engine.
    pub setup_time: Duration,
}

/// Loads a rulesheet; prints tolerated errors as warnings, and a note if the reasoner plays the
/// game.
pub fn load(input: &Input, engine: EngineChoice, common: &Common) -> Result<Loaded, Failure> {
    let loaded = load_quietly(input, engine, common)?;
    diagnostics::report(&loaded.source, &loaded.diagnostics, true);
    if let Some(reason) = &loaded.fallback {
        eprintln!("ludex: the reasoner plays `{}`: {reason}", input.name);
    }
    Ok(loaded)
}

/// Loads a rulesheet without printing diagnostics.
pub fn load_quietly(
    input: &Input,
    engine: EngineChoice,
    common: &Common,
) -> Result<Loaded, Failure> {
    load_within(input, engine, &options(engine, common).limits())
}

/// Loads a rulesheet within limits that the caller has made, without printing diagnostics.
pub fn load_within(
    input: &Input,
    engine: EngineChoice,
    limits: &Limits,
) -> Result<Loaded, Failure> {
    if input.is_fatal() {
        return Err(invalid_rules(input, Vec::new()));
    }
    let bar = output::spinner(format!("loading {}", input.name));
    let start = Instant::now();
    let loaded = ludex_pipeline::load_within(input.source.clone(), engine, limits);
    let setup_time = start.elapsed();
    bar.finish_and_clear();
    match loaded {
        Ok(mut game) => {
            game.diagnostics.extend(input.diagnostics.iter().cloned());
            Ok(Loaded { game, setup_time })
        }
        Err(LoadError::Rules { diagnostics }) => Err(invalid_rules(input, diagnostics)),
        Err(error) => Err(Failure::Limit(error.to_string())),
    }
}

/// The failure for an invalid rulesheet.
pub fn invalid_rules(input: &Input, mut diagnostics: Vec<Diagnostic>) -> Failure {
    diagnostics.extend(input.diagnostics.iter().cloned());
    Failure::Rules { source: Box::new(input.source.clone()), diagnostics }
}

/// The limits of the call.
pub fn options(engine: EngineChoice, common: &Common) -> LoadOptions {
    let mut options = LoadOptions { engine, ..LoadOptions::default() };
    if let Some(time) = common.time {
        options.time = time;
    }
    if let Some(memory) = common.memory {
        options.memory = memory;
    }
    options
}

impl Loaded {
    /// Returns the name of the engine in reports.
    pub fn engine_name(&self) -> &'static str {
        self.game.engine.name()
    }

    /// Returns the names of the roles.
    pub fn role_names(&self) -> Vec<String> {
        with_game!(&self.game.engine, |game| game
            .roles()
            .iter()
            .map(|role| role.name.clone())
            .collect())
    }
}

impl Deref for Loaded {
    type Target = LoadedGame;

    fn deref(&self) -> &LoadedGame {
        &self.game
    }
}
