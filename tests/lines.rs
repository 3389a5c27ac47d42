//! Plays lines in games of the library, for positions worked out by hand.

use ludex_base::{MoveId, RoleId};
use ludex_game::{Cursor, Describe, Game, Observe};
use ludex_machine::{Machine, MachineCursor};
use ludex_testkit::library;

use crate::machine_of;

/// A game of the library with its current state.
pub struct Line {
    /// The game.
    pub machine: Machine,
    /// The current state.
    pub cursor: MachineCursor,
}

impl Line {
    /// Returns the initial state, with parts of the rules replaced.
    pub fn of(name: &str, edits: &[(&str, &str)]) -> Self {
        let rules = library().into_iter().find(|rules| rules.name == name).expect("a library game");
        let mut text = rules.text();
        for (old, new) in edits {
            assert_eq!(text.matches(old).count(), 1, "{name} has `{old}` once");
            text = text.replace(old, new);
        }
        let machine = machine_of(name, &text);
        let cursor = machine.cursor();
        Self { machine, cursor }
    }

    /// Plays moves one after another, each by the only role that has it; the other roles must have
    /// a single move.
    #[track_caller]
    pub fn play(&mut self, moves: &[&str]) {
        for text in moves {
            let mut joint = Vec::new();
            let mut n_found = 0;
            for role in self.machine.role_ids() {
                let legal: Vec<MoveId> = self.cursor.legal_moves(role).to_vec();
                let wanted = self.machine.find_move(role, text);
                match wanted.filter(|id| legal.contains(id)) {
                    Some(id) => {
                        n_found += 1;
                        joint.push(id);
                    }
                    None => {
                        assert_eq!(legal.len(), 1, "{text}: role {role:?} has a choice");
                        joint.push(legal[0]);
                    }
                }
            }
            assert_eq!(
                n_found,
                1,
                "`{text}` must be legal for exactly one role in {:?}",
                self.fluents()
            );
            self.cursor.play(&joint);
        }
    }

    /// Plays one step, given by the moves other than `noop`, as in `agent shoot, random noop`.
    #[track_caller]
    pub fn step(&mut self, done: &str) {
        assert!(!self.cursor.is_terminal(), "the game is over before {done}");
        let mut texts = vec!["noop"; self.machine.roles().len()];
        for words in done.split(", ") {
            let (who, text) = words.split_once(' ').expect("a role and its move");
            texts[self.role(who).index()] = text;
        }
        let mut joint = Vec::new();
        for (role, text) in self.machine.role_ids().zip(texts) {
            let chosen = self.machine.find_move(role, text);
            let chosen = chosen.filter(|id| self.cursor.legal_moves(role).contains(id));
            joint.push(chosen.unwrap_or_else(|| panic!("{text} is not legal in {done}")));
        }
        self.cursor.play(&joint);
    }

    /// Checks the percepts of a role after the last step, sorted by bytes.
    #[track_caller]
    pub fn sees(&self, role: &str, expected: &str) {
        let percepts = self.cursor.percepts(self.role(role)).iter();
        let mut percepts: Vec<String> = percepts.map(|&it| self.machine.percept_text(it)).collect();
        percepts.sort();
        assert_eq!(percepts.join(" "), expected);
    }

    /// Checks that all these fluents are true.
    #[track_caller]
    pub fn holds(&self, fluents: &[&str]) {
        let all = self.fluents();
        for fluent in fluents {
            assert!(all.iter().any(|it| it == fluent), "`{fluent}` is not in {all:?}");
        }
    }

    /// Checks that none of these fluents is true.
    #[track_caller]
    pub fn lacks(&self, fluents: &[&str]) {
        let all = self.fluents();
        for fluent in fluents {
            assert!(all.iter().all(|it| it != fluent), "`{fluent}` is in {all:?}");
        }
    }

    /// Checks the legal moves of a role, sorted.
    #[track_caller]
    pub fn legal(&mut self, role: &str, expected: &[&str]) {
        assert_eq!(self.moves_of(role), expected);
    }

    /// Checks that the game is over with these goals.
    #[track_caller]
    pub fn ends(&mut self, goals: &[u32]) {
        assert!(self.cursor.is_terminal(), "{:?}", self.fluents());
        let all = self.machine.role_ids().map(|role| u32::from(self.cursor.goal(role).value()));
        assert_eq!(all.collect::<Vec<_>>(), goals);
    }

    /// Returns the legal moves of a role, sorted.
    pub fn moves_of(&mut self, role: &str) -> Vec<String> {
        let role = self.role(role);
        let mut moves: Vec<String> =
            self.cursor.legal_moves(role).iter().map(|&id| self.machine.move_text(id)).collect();
        moves.sort();
        moves
    }

    fn role(&self, name: &str) -> RoleId {
        let place = self.machine.roles().iter().position(|it| it.name == name);
        RoleId::new(place.expect("a role of the game"))
    }

    fn fluents(&self) -> Vec<String> {
        self.machine.state_texts(self.cursor.state())
    }
}
