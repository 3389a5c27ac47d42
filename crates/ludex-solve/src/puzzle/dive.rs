//! Diving: depth first, by the number of ways on, with restarts.
//!
//! A tour of a knight succeeds if the square with the fewest ways on comes first (Warnsdorff's
//! rule): what is nearly cut off is visited while it can be. Other puzzles ask for the opposite: of
//! pieces that must not attack each other, place first what leaves the most ways on. Rounds follow
//! both rules in turn, with ties broken at random. It proves nothing.
//!
//! A way on is a move that does not end the game, or ends it with more than the best goal so far.

use std::hash::BuildHasher;

use ludex_base::{MoveId, Rng, Seed, StopReason};
use ludex_game::{Cursor, Game};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::puzzle_role;
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// Rounds without a better goal after which it gives up.
const MAX_ROUNDS: u64 = 200;
/// States that the first rounds expand; later ones expand more.
const FIRST_EXPANSIONS: usize = 100;
/// States that a round expands more than the round before.
const MORE_EXPANSIONS: usize = 10;
/// Steps after which a line is not followed.
const MAX_STEPS: usize = 2_000;
/// Moves played between two checks of the deadline.
const CHECK_INTERVAL: u64 = 256;

/// Dives until the value is known, a limit is reached, or many rounds found nothing better. Returns
/// why it stopped early; [`StopReason::Count`] if it gave up.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let mut n_rounds = 0;
    let mut last_gain = 0;
    let mut dive = Dive {
        cursor: problem.game.cursor(),
        options,
        progress,
        rng: Seed(1).rng(),
        seen: FxHashSet::default(),
        line: Vec::new(),
        n_played: 0,
    };
    while !progress.is_settled() {
        if n_rounds > last_gain + MAX_ROUNDS {
            return Some(StopReason::Count);
        }
        let before = progress.bounds(puzzle_role()).lower;
        dive.rng = Seed(1).child(n_rounds).rng();
        let n_expansions = FIRST_EXPANSIONS + MORE_EXPANSIONS * n_rounds as usize;
        if let Err(reason) = dive.round(&problem.state, n_rounds % 2 == 0, n_expansions) {
            return Some(reason);
        }
        if progress.bounds(puzzle_role()).lower > before {
            last_gain = n_rounds;
        }
        n_rounds += 1;
    }
    None
}

struct Dive<'a, C: Cursor> {
    cursor: C,
    options: &'a SolveOptions,
    progress: &'a Progress,
    rng: Rng,
    /// Hashes of the states of this round. Two states with one hash cost a state.
    seen: FxHashSet<u64>,
    line: Vec<Vec<MoveId>>,
    n_played: u64,
}

/// A state after a move that does not end the game, and its place in the order: the last is followed
/// first.
struct Child<S> {
    order: (usize, u64),
    played: MoveId,
    state: S,
}

impl<C: Cursor> Dive<'_, C> {
    /// Searches depth first from a state, which is not terminal, until some states are expanded.
    fn round(
        &mut self,
        state: &C::State,
        prefers_few: bool,
        n_expansions: usize,
    ) -> Result<(), StopReason> {
        self.seen.clear();
        self.line.clear();
        self.cursor.set_state(state);
        if self.cursor.is_terminal() {
            return Err(StopReason::Count);
        }
        let mut open = vec![self.expand(state, prefers_few)?];
        let mut n_left = n_expansions;
        while let Some(children) = open.last_mut()
            && !self.progress.is_settled()
        {
            let Some(child) = children.pop() else {
                open.pop();
                self.line.pop();
                continue;
            };
            if n_left == 0 || open.len() > MAX_STEPS {
                break;
            }
            n_left -= 1;
            self.line.push(vec![child.played]);
            let next = self.expand(&child.state, prefers_few)?;
            open.push(next);
        }
        Ok(())
    }

    /// Plays every move in a state, and reports those that end the game well.
    fn expand(
        &mut self,
        state: &C::State,
        prefers_few: bool,
    ) -> Result<Vec<Child<C::State>>, StopReason> {
        let mut children = Vec::new();
        self.cursor.set_state(state);
        for played in self.cursor.legal_moves(puzzle_role()).to_vec() {
            if self.ends(state, played)? {
                continue;
            }
            let next = self.cursor.state().clone();
            if !self.seen.insert(FxBuildHasher.hash_one(&next)) {
                continue;
            }
            self.line.push(vec![played]);
            let n_ways = self.ways_on(&next);
            self.line.pop();
            let n_ways = n_ways?;
            if n_ways > 0 {
                let place = if prefers_few { usize::MAX - n_ways } else { n_ways };
                let order = (place, self.rng.next_u64());
                children.push(Child { order, played, state: next });
            }
        }
        children.sort_unstable_by_key(|child| child.order);
        Ok(children)
    }

    /// Counts the ways on from a state.
    fn ways_on(&mut self, state: &C::State) -> Result<usize, StopReason> {
        let mut n_ways = 0;
        self.cursor.set_state(state);
        for played in self.cursor.legal_moves(puzzle_role()).to_vec() {
            n_ways += usize::from(!self.ends(state, played)?);
        }
        Ok(n_ways)
    }

    /// Plays a move; returns whether the game is over. A goal above the best is reported.
    fn ends(&mut self, state: &C::State, played: MoveId) -> Result<bool, StopReason> {
        self.n_played += 1;
        if self.n_played.is_multiple_of(CHECK_INTERVAL) {
            self.progress.count(0, CHECK_INTERVAL);
            if let Some(reason) = self.options.limits.stop_reason(self.seen.len() as u64 * 16) {
                return Err(reason);
            }
        }
        if self.n_played > self.options.max_nodes {
            return Err(StopReason::Count);
        }
        self.cursor.set_state(state);
        self.cursor.play(&[played]);
        if self.cursor.has_fault() {
            return Err(StopReason::Fault);
        }
        if !self.cursor.is_terminal() {
            return Ok(false);
        }
        let goal = self.cursor.goal(puzzle_role());
        if goal > self.progress.bounds(puzzle_role()).lower {
            self.line.push(vec![played]);
            self.progress.reached(Method::Dive, puzzle_role(), goal, &self.line);
            self.line.pop();
        }
        Ok(true)
    }
}

/// Finds some line that ends, for a puzzle whose value is known without one: random plays, some of
/// them.
pub(crate) fn some_end<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
) -> Option<Vec<Vec<MoveId>>> {
    let mut cursor = problem.game.cursor();
    (0..MAX_ROUNDS).find_map(|round| {
        let mut rng = Seed(1).child(round).rng();
        let mut line = Vec::new();
        cursor.set_state(&problem.state);
        while !cursor.is_terminal() {
            if line.len() == MAX_STEPS || options.limits.deadline.reached() {
                return None;
            }
            let legal = cursor.legal_moves(puzzle_role());
            let played = *legal.get(rng.below(legal.len().max(1)))?;
            line.push(vec![played]);
            cursor.play(&[played]);
        }
        (!cursor.has_fault()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use ludex_base::Goal;

    use super::*;
    use crate::puzzle::tests::{library_game, machine};
    use crate::{Solution, solve};

    fn dived(game: &ludex_machine::Machine) -> Solution {
        let problem = Problem::initial(game).with_circuit(game.circuit());
        let methods = vec![Method::Dive];
        let options = SolveOptions { methods, max_nodes: 200_000, ..SolveOptions::default() };
        solve(&problem, &options, &Progress::new())
    }

    #[test]
    fn a_tour_goes_first_to_what_is_nearly_cut_off() {
        let solution = dived(&library_game("knights-tour"));
        assert_eq!(solution.value(puzzle_role()), Some(Goal::MAX));
        assert!(solution.n_nodes < 100_000, "{}", solution.n_nodes);
    }

    /// Bishops on a small board are placed until two attack each other; each is worth 10.
    #[test]
    fn placing_goes_first_to_what_leaves_the_most_ways_on() {
        let game = machine(
            "(role you) (index 1) (index 2) (index 3) (index 4) (init (n 0))
            (succ 0 10) (succ 10 20) (succ 20 30) (succ 30 40) (succ 40 50) (succ 50 60)
            (succ 60 70) (succ 70 80) (succ 80 90) (succ 90 100)
            (next-to 1 2) (next-to 2 3) (next-to 3 4)
            (<= (beside ?x ?y) (next-to ?x ?y)) (<= (beside ?x ?y) (next-to ?y ?x))
            (<= (attack ?x ?y ?u ?v) (beside ?x ?u) (beside ?y ?v))
            (<= (legal you (place ?x ?y)) (index ?x) (index ?y) (not (true (at ?x ?y))))
            (<= (next (at ?x ?y)) (true (at ?x ?y)))
            (<= (next (at ?x ?y)) (does you (place ?x ?y)))
            (<= (next (n ?m)) (true (n ?n)) (succ ?n ?m))
            (<= terminal (true (at ?x ?y)) (true (at ?u ?v)) (attack ?x ?y ?u ?v))
            (<= (goal you ?n) (true (n ?n)))",
        );
        // Eight do not attack each other diagonally from one cell to the next: two full rows.
        assert_eq!(dived(&game).bounds[0].lower, Goal::new(90).expect("a goal"));
    }
}
