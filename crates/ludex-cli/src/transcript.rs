//! A random play, written down in full: what a person reviews when rules or engines change.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use ludex_analysis::Layout;
use ludex_base::{MoveId, Rng, RoleId, Seed};
use ludex_game::trace::{hash_texts, sorted_moves, sorted_percepts};
use ludex_game::{Cursor, Describe, Observe, PlayEnd, PlayVisitor, RandomPlay};

use crate::board::{draw, in_columns};

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
    let text = format!("a random play of {name}, seed {}\nroles: {}\n", seed.0, names.join(" "));
    let mut writer = Writer { game, layout, names, text, legal: Vec::new(), n_states: 0 };
    let mut cursor = game.cursor();
    writer.write_state(&mut cursor);
    let mut play = RandomPlay::within(game.roles().len(), max_steps);
    let end = play.run(&mut cursor, &mut seed.rng(), &mut writer);
    writer.write_end(end, &mut cursor);
    writer.text
}

/// Writes down a game while it is played.
struct Writer<'a, G> {
    game: &'a G,
    layout: &'a Layout,
    /// Of the roles.
    names: Vec<&'a str>,
    text: String,
    /// The legal moves of the state written last, by role.
    legal: Vec<Vec<(String, MoveId)>>,
    n_states: usize,
}

impl<G> Writer<'_, G>
where
    G: Describe,
    G::Cursor: Observe,
{
    fn write_state(&mut self, cursor: &mut G::Cursor) {
        let fluents = self.game.state_texts(cursor.state());
        let (step, n_fluents, hash) = (self.n_states, fluents.len(), hash_texts(&fluents));
        self.n_states += 1;
        self.line(format_args!("\nstep {step}: {n_fluents} fluents, {hash}"));
        self.text.push_str(&draw(&self.layout.picture(&fluents), WIDTH));
        if cursor.is_terminal() {
            return;
        }
        let game = self.game;
        self.legal = game.role_ids().map(|role| sorted_moves(game, cursor, role)).collect();
        for (name, moves) in self.names.iter().zip(&self.legal) {
            line(&mut self.text, format_args!("legal for {name}: {}", moves.len()));
            if (2..=MAX_LISTED).contains(&moves.len()) {
                let moves: Vec<&str> = moves.iter().map(|(text, _)| text.as_str()).collect();
                self.text.push_str(&in_columns(&moves, WIDTH));
            }
        }
    }

    fn write_end(&mut self, end: PlayEnd, cursor: &mut G::Cursor) {
        match end {
            PlayEnd::Terminal(_) => {
                let goals: Vec<String> = (self.game.role_ids().zip(&self.names))
                    .map(|(role, name)| format!("{name} {}", goals_text(cursor, role)))
                    .collect();
                self.line(format_args!("terminal, goals: {}", goals.join(", ")));
            }
            PlayEnd::NoLegalMove(_) => {
                self.line(format_args!("stuck: a role has no legal move"));
            }
            PlayEnd::TooLong | PlayEnd::Stopped => {
                self.line(format_args!("cut after {} steps", self.n_states - 1));
            }
        }
    }

    fn line(&mut self, words: std::fmt::Arguments<'_>) {
        line(&mut self.text, words);
    }
}

impl<G> PlayVisitor<G::Cursor> for Writer<'_, G>
where
    G: Describe,
    G::Cursor: Observe,
{
    fn draw(&mut self, _cursor: &mut G::Cursor, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        rng.choose(&self.legal[role.index()]).map(|&(_, id)| id)
    }

    fn after(&mut self, cursor: &mut G::Cursor, joint: &[MoveId], _: &mut Rng) -> ControlFlow<()> {
        let played: Vec<String> = (self.names.iter().zip(joint))
            .map(|(name, &id)| format!("{name} {}", self.game.move_text(id)))
            .collect();
        self.line(format_args!("played: {}", played.join(", ")));
        for role in self.game.role_ids() {
            let seen = sorted_percepts(self.game, cursor, role);
            if !seen.is_empty() {
                let name = self.names[role.index()];
                self.line(format_args!("{name} sees: {}", seen.join(" ")));
            }
        }
        self.write_state(cursor);
        ControlFlow::Continue(())
    }
}

fn goals_text<C: Cursor>(cursor: &mut C, role: RoleId) -> String {
    let goals: Vec<String> = cursor.goals(role).iter().map(ToString::to_string).collect();
    if goals.is_empty() { "none".into() } else { goals.join("/") }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string");
}
