//! What random games show about a game.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ludex_base::{Deadline, MoveId, Seed};
use ludex_game::{Cursor, Game};
use ludex_pipeline::{LoadedGame, with_game};
use serde::Serialize;

use crate::sheet;

/// Time for random games.
const TIME: Duration = Duration::from_millis(1_500);
/// Most random games.
const MAX_GAMES: usize = 2_000;
/// A random game that is longer than this is not counted.
const MAX_STEPS: usize = 2_000;

/// Numbers about a game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyView {
    /// Facts and rules of the rulesheet.
    pub n_rules: usize,
    /// Fluents, moves and gates of the ground game, if it was grounded.
    pub sizes: Option<SizesView>,
    /// Why the game was not grounded.
    pub fallback: Option<String>,
    /// Random games that ended.
    pub n_games: usize,
    /// Random games that were cut because they were too long.
    pub n_cut: usize,
    /// The length of each random game, in steps.
    pub lengths: Vec<u32>,
    /// The mean number of moves of roles that had a choice.
    pub branching: Option<f64>,
    /// The mean goal of each role.
    pub goals: Vec<RoleGoal>,
}

/// Sizes of the ground game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SizesView {
    /// Fluents.
    pub fluents: usize,
    /// Moves of all roles.
    pub moves: usize,
    /// Gates of the optimised circuit.
    pub gates: usize,
}

/// The mean goal of a role.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RoleGoal {
    /// The role.
    pub role: String,
    /// Its mean goal.
    pub mean: f64,
    /// The part of the games in which no role had more.
    pub best: f64,
}

/// Loads a game and plays random games for a while.
///
/// # Errors
/// When the game cannot be loaded.
pub(crate) fn study(rules: &str, stopped: &Arc<AtomicBool>) -> Result<StudyView, String> {
    let loaded = sheet::load("game", rules, stopped).map_err(|error| error.to_string())?;
    let deadline = Deadline::after(TIME).or_when(Arc::clone(stopped));
    Ok(with_game!(&loaded.engine, |game| play(game, &loaded, &deadline)))
}

fn play<G: Game>(game: &G, loaded: &LoadedGame, deadline: &Deadline) -> StudyView {
    let mut rng = Seed(1).rng();
    let mut cursor = game.cursor();
    let start = cursor.state().clone();
    let n_roles = game.roles().len();
    let (mut sums, mut n_best) = (vec![0.0; n_roles], vec![0_usize; n_roles]);
    let (mut n_choices, mut n_moves, mut n_cut) = (0_usize, 0_usize, 0);
    let mut lengths = Vec::new();
    while lengths.len() + n_cut < MAX_GAMES && !deadline.reached() {
        cursor.set_state(&start);
        let mut n_steps = 0;
        while !cursor.is_terminal() && n_steps < MAX_STEPS && !deadline.reached() {
            let mut joint: Vec<MoveId> = Vec::new();
            for role in game.role_ids() {
                let n_legal = cursor.legal_moves(role).len();
                if n_legal > 1 {
                    n_choices += 1;
                    n_moves += n_legal;
                }
                joint.extend(cursor.draw_move(role, &mut rng));
            }
            if joint.len() < n_roles || cursor.has_fault() {
                break;
            }
            cursor.play(&joint);
            n_steps += 1;
        }
        if !cursor.is_terminal() {
            n_cut += 1;
            continue;
        }
        lengths.push(n_steps as u32);
        let goals: Vec<u8> = game.role_ids().map(|role| cursor.goal(role).value()).collect();
        let most = goals.iter().max().copied().unwrap_or(0);
        for (role, &goal) in goals.iter().enumerate() {
            sums[role] += f64::from(goal);
            n_best[role] += usize::from(goal == most);
        }
    }
    let n_games = lengths.len();
    let per_game = |sum: f64| if n_games == 0 { 0.0 } else { sum / n_games as f64 };
    let goals = game.roles().iter().enumerate().filter(|(_, role)| !role.is_random);
    let goals = goals.map(|(idx, role)| RoleGoal {
        role: role.name.clone(),
        mean: per_game(sums[idx]),
        best: per_game(n_best[idx] as f64),
    });
    StudyView {
        n_rules: loaded.program.rules.len(),
        sizes: loaded.sizes.map(|sizes| SizesView {
            fluents: sizes.fluents,
            moves: sizes.moves,
            gates: sizes.optimized_gates,
        }),
        fallback: loaded.fallback.clone(),
        n_games,
        n_cut,
        branching: (n_choices > 0).then(|| n_moves as f64 / n_choices as f64),
        goals: goals.collect(),
        lengths,
    }
}
