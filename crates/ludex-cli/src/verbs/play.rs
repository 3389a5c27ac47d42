//! `ludex play` and `ludex transcript`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ludex_analysis::Layout;
use ludex_base::{RoleId, StopReason};
use ludex_game::{Game, Role};
use ludex_pipeline::{EngineChoice, LoadedGame, with_game};
use ludex_player::PlayerSpec;
use ludex_record::Transcript;
use ludex_record::transcript::TranscriptEnding;
use ludex_referee::MAX_STEPS;
use serde::Serialize;

use crate::args::Common;
use crate::failure::{DONE, Failure, INVALID_INPUT, LIMIT};
use crate::load::load;
use crate::session::{self, SessionConfig, SessionEnd};
use crate::transcript::transcript_text;
use crate::{input, output, saved_file};

/// The options of `ludex play`.
#[derive(Clone, Debug)]
pub struct PlayOptions {
    /// The role of the person, as given.
    pub role: Option<String>,
    /// The player of the other roles, as given.
    pub player: String,
    /// Thinking time of the players per move.
    pub move_time: Duration,
    /// The file of saved strategies.
    pub saved: Option<PathBuf>,
    /// The engine.
    pub engine: EngineChoice,
}

/// Plays a game with a person.
pub fn run(rules: &str, options: &PlayOptions, common: &Common) -> Result<u8, Failure> {
    if rules == "-" && io::stdin().is_terminal() {
        let message = "standard input is the terminal, so `-` has no rules to read; name a file or \
                       a built-in game";
        return Err(Failure::Call(message.into()));
    }
    let deadline = common.deadline();
    let player = PlayerSpec::parse(&options.player).map_err(|e| Failure::Call(e.to_string()))?;
    let input = input::read(rules)?;
    let loaded = load(&input, options.engine, common)?;
    let layout = Layout::of(&loaded.program);
    let saved = saved_file::read(options.saved.as_deref(), loaded.source.text())?;
    let end = with_game!(&loaded.engine, |game| {
        let n_players = game.roles().iter().filter(|role| !role.is_random).count();
        let config = SessionConfig {
            person: find_person(game.roles(), options.role.as_deref())?,
            player: player.clone(),
            program: Arc::clone(&loaded.program),
            move_time: options.move_time,
            n_threads: common.n_threads(),
            memory: common.memory_of_each(n_players),
            deadline,
            seed: common.seed_or_clock(),
            saved: saved.clone(),
            width: output::width(),
        };
        session::play(game, &layout, &config, &mut io::stdin().lock(), &mut io::stdout().lock())?
    });
    match end {
        SessionEnd::Over => Ok(DONE),
        SessionEnd::Failed => Ok(INVALID_INPUT),
        SessionEnd::Stopped(reason) => Err(Failure::Limit(match reason {
            StopReason::Memory => "memory ran out; allow more with `--memory`".into(),
            StopReason::Count => format!("the game did not end within {MAX_STEPS} steps"),
            StopReason::Fault => fault_text(&loaded),
            StopReason::Time => "time ran out; allow more with `--time`".into(),
        })),
    }
}

/// Says that the rules could not be evaluated, and why.
fn fault_text(loaded: &LoadedGame) -> String {
    let reason = loaded.fault().unwrap_or_else(|| "no reason is known".into());
    format!("the rules could not be evaluated in this state: {reason}")
}

/// Plays one random game and prints it.
pub fn run_transcript(
    rules: &str,
    max_steps: usize,
    engine: EngineChoice,
    common: &Common,
) -> Result<u8, Failure> {
    let deadline = common.deadline();
    let input = input::read(rules)?;
    let loaded = load(&input, engine, common)?;
    let transcript = with_game!(&loaded.engine, |game| {
        Transcript::of_random_play(game, &input.name, common.seed(), max_steps, &deadline)
    });
    let error = if transcript.ending != TranscriptEnding::Cut {
        None
    } else if loaded.fault().is_some() {
        Some(fault_text(&loaded))
    } else if transcript.states.len() <= max_steps {
        Some(format!("stopped by the limit of {}", StopReason::of_deadline().name()))
    } else {
        None
    };
    if common.json {
        output::json(&TranscriptJson { transcript: &transcript, error: error.as_deref() })?;
    } else {
        output::text(&transcript_text(&transcript, &Layout::of(&loaded.program)))?;
    }
    match error {
        None => Ok(DONE),
        Some(error) => {
            eprintln!("ludex: {error}");
            Ok(LIMIT)
        }
    }
}

/// A transcript, and why it ends before the game and the steps do.
#[derive(Serialize)]
struct TranscriptJson<'a> {
    #[serde(flatten)]
    transcript: &'a Transcript,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Finds the role of the person: by name, or by number from 1. `none` means no role, and the
/// default is the first role that is not `random`.
pub(crate) fn find_person(roles: &[Role], said: Option<&str>) -> Result<Option<RoleId>, Failure> {
    let Some(said) = said else {
        return Ok(roles.iter().position(|role| !role.is_random).map(RoleId::new));
    };
    let is_named = |role: &Role| role.name.eq_ignore_ascii_case(said);
    let by_number = || {
        let number: usize = said.parse().ok()?;
        number.checked_sub(1).filter(|&index| index < roles.len())
    };
    match roles.iter().position(is_named).or_else(by_number) {
        Some(index) => Ok(Some(RoleId::new(index))),
        None if said.eq_ignore_ascii_case("none") => Ok(None),
        None => {
            let names: Vec<&str> = roles.iter().map(|role| role.name.as_str()).collect();
            Err(Failure::Call(format!(
                "there is no role `{said}`; the roles are {}",
                names.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_given_by_name_or_number() {
        let roles: Vec<Role> = ["random", "red", "blue"]
            .map(|name| Role { name: name.into(), is_random: name == "random" })
            .into();
        let find = |said| find_person(&roles, said).ok().map(|found| found.map(RoleId::index));
        assert_eq!(find(None), Some(Some(1)));
        assert_eq!(find(Some("Blue")), Some(Some(2)));
        assert_eq!(find(Some("2")), Some(Some(1)));
        assert_eq!(find(Some("none")), Some(None));
        assert_eq!(find(Some("green")), None);
    }
}
