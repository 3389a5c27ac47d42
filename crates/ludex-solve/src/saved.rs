//! Strategies kept for later matches, and their text.
//!
//! A strategy says what a role plays in each state that it can reach, and what the role gets at least
//! if it plays on like this. The text names the rules by their hash and ends with a checksum, so a
//! file that was cut short, changed, or made for other rules is never played.
//!
//! ```text
//! ludex-saved 1
//! rules 0d4e5f9c…
//! strategy xplayer 50
//!   5b1b4c0fd4a3a1f2 1 (mark 2 2)
//! end 77c3a0b1…
//! ```

use std::fmt::Write as _;

use ludex_base::Rng;
use ludex_game::{Cursor, Describe};
use ludex_verify::{Claim, Value, choice_line, rules_hash, state_key};
use rustc_hash::FxHashMap;

use crate::problem::Problem;
use crate::solution::Solution;

/// The first line of every text.
const HEADER: &str = "ludex-saved 1";

/// Strategies for the roles of one game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Saved {
    rules_hash: String,
    strategies: Vec<Strategy>,
}

/// What a role plays in each state that it can reach.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Strategy {
    role: String,
    /// What the role gets at least.
    value: Value,
    /// Lines made by [`choice_line`].
    lines: Vec<String>,
    /// By the key of a state, the places of its lines.
    places: FxHashMap<u64, (u32, u32)>,
}

/// What a strategy says about a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SavedChoice {
    /// The move, as the rulesheet writes it.
    pub text: String,
    /// What the role gets at least.
    pub value: Value,
}

impl Saved {
    /// Keeps the strategies that were found for a game: of each role the one with the best value, or
    /// the line of a puzzle. `rules` is the text of the rulesheet.
    pub fn of<G: Describe>(problem: &Problem<'_, G>, solution: &Solution, rules: &str) -> Self {
        let mut saved = Self { rules_hash: rules_hash(rules), strategies: Vec::new() };
        for proof in solution.proofs.iter() {
            if let Claim::AtLeast(role, value) = &proof.claim {
                saved.strategies.extend(Strategy::new(role, *value, proof.evidence.clone()));
            }
        }
        if let ([role], [bounds]) = (problem.game.roles(), &solution.bounds[..]) {
            let mut cursor = problem.game.cursor();
            cursor.set_state(&problem.state);
            let mut lines = Vec::new();
            for joint in &solution.line {
                let key = state_key(&problem.game.state_texts(cursor.state()));
                lines.push(choice_line(&key, 1, &[problem.game.move_text(joint[0])]));
                cursor.play(joint);
            }
            saved.strategies.extend(Strategy::new(&role.name, bounds.lower.into(), lines));
        }
        saved
    }

    /// Returns whether there is nothing to play.
    pub fn is_empty(&self) -> bool {
        self.strategies.is_empty()
    }

    /// Returns whether it is for a rulesheet with this text.
    pub fn is_for(&self, rules: &str) -> bool {
        self.rules_hash == rules_hash(rules)
    }

    /// Leaves out the largest strategies until the text has at most this many bytes; returns for
    /// which roles.
    pub fn shrink_to(&mut self, max_bytes: usize) -> Vec<String> {
        let mut left_out = Vec::new();
        while self.to_text().len() > max_bytes {
            let sizes = self.strategies.iter().map(|it| it.lines.len()).enumerate();
            let Some((idx, _)) = sizes.max_by_key(|it| it.1) else { break };
            left_out.push(self.strategies.remove(idx).role);
        }
        left_out
    }

    /// Returns its text.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\nrules {}\n", self.rules_hash);
        for Strategy { role, value, lines, .. } in &self.strategies {
            writeln!(text, "strategy {role} {value}").expect("writing to a string");
            for line in lines {
                writeln!(text, "  {line}").expect("writing to a string");
            }
        }
        let checksum = rules_hash(&text);
        writeln!(text, "end {checksum}").expect("writing to a string");
        text
    }

    /// Reads a text.
    ///
    /// # Errors
    /// When the text is incomplete or damaged, or a line is not what the format says; the error
    /// names the line.
    pub fn read(text: &str) -> Result<Self, String> {
        let damaged = "it is incomplete or damaged; make it again with `ludex solve --save`";
        if text.lines().next() != Some(HEADER) {
            return Err(format!("line 1: expected `{HEADER}`"));
        }
        let (body, checksum) = text.rsplit_once("end ").ok_or(damaged)?;
        if checksum.trim_end() != rules_hash(body) {
            return Err(damaged.into());
        }
        let mut saved = Self { rules_hash: String::new(), strategies: Vec::new() };
        // Role, value and lines of the strategy that is being read.
        let mut current: Option<(String, Value, Vec<String>)> = None;
        for (n_line, line) in (2..).zip(body.lines().skip(1)) {
            let expected = |what: &str| format!("line {n_line}: expected {what}");
            if n_line == 2 {
                let hash = line.strip_prefix("rules ").ok_or_else(|| expected("`rules`"))?;
                saved.rules_hash = hash.into();
            } else if let Some(indented) = line.strip_prefix("  ") {
                let (_, _, lines) = current.as_mut().ok_or_else(|| expected("`strategy`"))?;
                lines.push(indented.into());
            } else {
                let words = line.strip_prefix("strategy ").and_then(|it| it.rsplit_once(' '));
                let (role, value) = words.ok_or_else(|| expected("`strategy`"))?;
                let value = value.parse().map_err(|()| expected("a value"))?;
                saved.push(current.replace((role.into(), value, Vec::new())))?;
            }
        }
        saved.push(current)?;
        Ok(saved)
    }

    fn push(&mut self, read: Option<(String, Value, Vec<String>)>) -> Result<(), String> {
        if let Some((role, value, lines)) = read {
            let strategy = Strategy::new(&role, value, lines);
            self.strategies.push(strategy.ok_or("a line is not a key, a weight and a move")?);
        }
        Ok(())
    }

    /// Returns whether there is a strategy for a role.
    pub fn has(&self, role: &str) -> bool {
        self.strategies.iter().any(|it| it.role == role)
    }

    /// Returns what a role plays in the state with these fluents; `None` if no strategy reaches it.
    /// A mixed choice is drawn.
    pub fn choose(&self, role: &str, fluents: &[String], rng: &mut Rng) -> Option<SavedChoice> {
        let key = u64::from_str_radix(&state_key(fluents), 16).ok()?;
        let of_role = self.strategies.iter().filter(|it| it.role == role);
        let strategy =
            of_role.filter(|it| it.places.contains_key(&key)).max_by_key(|it| it.value)?;
        let &(first, end) = strategy.places.get(&key)?;
        let choices: Vec<(u32, &str)> = (first..end)
            .filter_map(|place| parts(&strategy.lines[place as usize]))
            .map(|(_, weight, text)| (weight, text))
            .collect();
        let total: u64 = choices.iter().map(|it| u64::from(it.0)).sum();
        let mut drawn = rng.below(total as usize) as u64;
        for (weight, text) in choices {
            if drawn < u64::from(weight) {
                return Some(SavedChoice { text: text.into(), value: strategy.value });
            }
            drawn -= u64::from(weight);
        }
        None
    }
}

impl Strategy {
    /// Sorts the lines by state; `None` if there are none, or one is not a line of a strategy.
    fn new(role: &str, value: Value, mut lines: Vec<String>) -> Option<Self> {
        lines.sort_unstable();
        let mut places: FxHashMap<u64, (u32, u32)> = FxHashMap::default();
        for (place, line) in (0..).zip(&lines) {
            let (key, ..) = parts(line)?;
            places.entry(key).or_insert((place, place)).1 = place + 1;
        }
        (!lines.is_empty()).then(|| Self { role: role.into(), value, lines, places })
    }
}

/// Returns the key, the weight and the move of a line.
fn parts(line: &str) -> Option<(u64, u32, &str)> {
    let (key, rest) = line.split_once(' ')?;
    let (weight, text) = rest.split_once(' ')?;
    let weight = weight.parse().ok().filter(|&weight| weight > 0)?;
    Some((u64::from_str_radix(key, 16).ok()?, weight, text))
}

#[cfg(test)]
mod tests {
    use ludex_base::{Goal, Seed};
    use ludex_game::Game;

    use super::*;
    use crate::puzzle::tests::{STAIRS, machine};
    use crate::{Progress, SolveOptions, solve};

    fn saved() -> Saved {
        let game = machine(STAIRS);
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        let solution = solve(&problem, &SolveOptions::default(), &Progress::new());
        Saved::of(&problem, &solution, STAIRS)
    }

    #[test]
    fn a_text_is_read_as_it_was_written() {
        let saved = saved();
        assert_eq!(Saved::read(&saved.to_text()), Ok(saved.clone()));
        assert!(saved.is_for(STAIRS) && !saved.is_for("(role you)"));
        assert!(saved.has("climber") && !saved.has("you"));
    }

    #[test]
    fn no_part_of_a_text_and_no_changed_text_is_read() {
        let text = saved().to_text();
        for end in 0..text.len() - 1 {
            assert!(Saved::read(&text[..end]).is_err(), "{end} bytes");
        }
        for (at, _) in text.match_indices('1') {
            let changed = format!("{}2{}", &text[..at], &text[at + 1..]);
            assert!(Saved::read(&changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn the_size_is_bounded_by_leaving_strategies_out() {
        let mut saved = saved();
        assert_eq!(saved.shrink_to(1 << 20), Vec::<String>::new());
        assert_eq!(saved.shrink_to(200), ["climber"]);
        assert!(saved.is_empty() && saved.to_text().len() <= 200);
    }

    #[test]
    fn a_saved_line_is_played_to_its_goal() {
        let (game, saved) = (machine(STAIRS), saved());
        let role = crate::puzzle::puzzle_role();
        let mut cursor = game.cursor();
        let mut rng = Seed(1).rng();
        while !cursor.is_terminal() {
            let fluents = game.state_texts(cursor.state());
            let choice = saved.choose("climber", &fluents, &mut rng).expect("a state of the line");
            assert_eq!(choice.value, Goal::new(60).expect("a goal").into());
            cursor.play(&[game.find_move(role, &choice.text).expect("a move")]);
        }
        assert_eq!(cursor.goal(role), Goal::new(60).expect("a goal"));
    }
}
