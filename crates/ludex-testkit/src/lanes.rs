//! Replays the playouts of one engine on another: every move must be legal there too.

use ludex_base::{Deadline, MoveId, Seed};
use ludex_game::playouts::PlayedGame;
use ludex_game::{
    Cursor, Describe, MAX_RANDOM_STEPS, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts,
    StateOf,
};

/// Plays `n_playouts` random games in a batch and replays each of them on another engine. Every
/// move must be legal there, and the game must end at the same step with the same goals.
///
/// Returns the number of games compared before the deadline, and the number of games played.
///
/// # Errors
/// Returns the first difference.
pub fn lanes_agree<W, G>(
    wide: &W,
    oracle: &G,
    n_playouts: usize,
    seed: Seed,
    deadline: &Deadline,
) -> Result<(usize, usize), String>
where
    W: Playouts + Describe,
    G: Describe,
{
    let starts: [StateOf<W>; 1] = [wide.cursor().state().clone()];
    let request = PlayoutRequest {
        starts: &starts,
        n_per_start: n_playouts,
        max_steps: MAX_RANDOM_STEPS,
        wants_moves: true,
        deadline,
    };
    let mut results = PlayoutResults::default();
    wide.runner().run(&request, &mut seed.rng(), &mut results);
    let mut cursor = oracle.cursor();
    let start = cursor.state().clone();
    let mut n_compared = 0;
    for game in &results.games {
        if deadline.reached() {
            break;
        }
        cursor.set_state(&start);
        replay(wide, oracle, &mut cursor, game)
            .map_err(|about| format!("game {n_compared}: {about}"))?;
        n_compared += 1;
    }
    Ok((n_compared, results.games.len()))
}

fn replay<W: Describe, G: Describe>(
    wide: &W,
    oracle: &G,
    cursor: &mut G::Cursor,
    game: &PlayedGame,
) -> Result<(), String> {
    let n_roles = wide.roles().len();
    for (step, joint) in game.moves.chunks(n_roles).enumerate() {
        if cursor.is_terminal() {
            return Err(format!("played on after the end, step {step}"));
        }
        let mut played: Vec<MoveId> = Vec::with_capacity(n_roles);
        for (role, &chosen) in oracle.role_ids().zip(joint) {
            let text = wide.move_text(chosen);
            let legal = cursor.legal_moves(role).to_vec();
            let same = legal.into_iter().find(|&id| oracle.move_text(id) == text);
            played.push(same.ok_or_else(|| format!("`{text}` is not legal in step {step}"))?);
        }
        cursor.play(&played);
    }
    if !cursor.is_terminal() {
        return Err(format!("stopped before the end, after {} moves", game.moves.len() / n_roles));
    }
    for (role, &goal) in oracle.role_ids().zip(&game.goals) {
        let right = cursor.goal(role).value();
        if goal != right {
            return Err(format!("goal {goal} of {role:?}, but it is {right}"));
        }
    }
    Ok(())
}
