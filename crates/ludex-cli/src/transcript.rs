//! A random play, written down in full: what a person reviews when rules or engines change.

use std::fmt::Write as _;

use ludex_base::{MoveId, Seed};
use ludex_game::trace::{hash_texts, sorted_moves, sorted_percepts};
use ludex_game::{Cursor, Describe, Observe};

use crate::board::{Layout, in_columns};

/// Joint moves of the transcripts that are kept beside the rules of our games.
pub const RECORDED_STEPS: usize = 60;

/// The width of a transcript.
const WIDTH: usize = 78;
/// Legal moves of a role that are written out; of more only the number is given.
const MAX_LISTED: usize = 12;

/// Plays one random game of at most `max_steps` joint moves and writes down every state.
///
/// Moves are drawn from the texts in sorted order, so that every engine plays the same game.
pub fn transcript<G>(game: &G, layout: &Layout, name: &str, seed: Seed, max_steps: usize) -> String
where
    G: Describe,
    G::Cursor: Observe,
{
    let names: Vec<&str> = game.roles().iter().map(|role| role.name.as_str()).collect();
    let mut text =
        format!("a random play of {name}, seed {}\nroles: {}\n", seed.0, names.join(" "));
    let mut rng = seed.rng();
    let mut cursor = game.cursor();
    for step in 0.. {
        let fluents = game.state_texts(cursor.state());
        line(
            &mut text,
            format_args!("\nstep {step}: {} fluents, {}", fluents.len(), hash_texts(&fluents)),
        );
        text.push_str(&layout.draw(&fluents, WIDTH));
        if cursor.is_terminal() {
            let goals: Vec<String> = game
                .role_ids()
                .map(|role| format!("{} {}", names[role.index()], goals_text(&mut cursor, role)))
                .collect();
            line(&mut text, format_args!("terminal, goals: {}", goals.join(", ")));
            break;
        }
        let legal: Vec<Vec<(String, MoveId)>> =
            game.role_ids().map(|role| sorted_moves(game, &mut cursor, role)).collect();
        for (name, moves) in names.iter().zip(&legal) {
            line(&mut text, format_args!("legal for {name}: {}", moves.len()));
            if (2..=MAX_LISTED).contains(&moves.len()) {
                let moves: Vec<&str> = moves.iter().map(|(text, _)| text.as_str()).collect();
                text.push_str(&in_columns(&moves, WIDTH));
            }
        }
        if step == max_steps {
            line(&mut text, format_args!("cut after {step} steps"));
            break;
        }
        let chosen: Option<Vec<&(String, MoveId)>> =
            legal.iter().map(|moves| rng.choose(moves)).collect();
        let Some(chosen) = chosen else {
            line(&mut text, format_args!("stuck: a role has no legal move"));
            break;
        };
        let played: Vec<String> =
            names.iter().zip(&chosen).map(|(name, (text, _))| format!("{name} {text}")).collect();
        line(&mut text, format_args!("played: {}", played.join(", ")));
        let joint: Vec<MoveId> = chosen.iter().map(|&&(_, id)| id).collect();
        cursor.play(&joint);
        for role in game.role_ids() {
            let seen = sorted_percepts(game, &cursor, role);
            if !seen.is_empty() {
                line(&mut text, format_args!("{} sees: {}", names[role.index()], seen.join(" ")));
            }
        }
    }
    text
}

fn goals_text<C: Cursor>(cursor: &mut C, role: ludex_base::RoleId) -> String {
    let goals: Vec<String> = cursor.goals(role).iter().map(ToString::to_string).collect();
    if goals.is_empty() { "none".into() } else { goals.join("/") }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string");
}
