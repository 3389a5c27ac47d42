//! Alpha-beta as an exact solver: one question after the other, each with an empty window.
//!
//! A question is whether a role can force at least some goal. Its search is depth first down to
//! terminal states; a table keeps bounds, so later questions use what earlier ones proved.
//!
//! Before a move is searched, all successors are looked up: a terminal state or a bound of the table
//! often decides at once. The move that refuted a sibling is looked up first, because a threat refutes
//! every move that does not meet it. The rest is searched in the order of the merits of the fluents
//! that a move makes true, after the table's best move: merits grow when a move decides, and shrink
//! when it does not. A fluent has merits of its own, and others as a reply to the move before.
//!
//! Other threads may help with a question that takes long. They ask the same question in another
//! order and share the table, so each finds what the others have proved.
//!
//! Meant for two roles without chance, of whom one chooses at a time. The method gives up where both
//! choose, or where play returns to a state of its path: what a state is worth would depend on the
//! path.
//!
//! After Knuth and Moore, *An analysis of alpha-beta pruning*, 1975, and Plaat et al., *Best-first
//! fixed-depth minimax algorithms*, 1996, without a depth; merits after Schaeffer, *The history
//! heuristic*, 1983, by fluent instead of by move.

use std::cmp::Reverse;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ludex_base::{Deadline, Goal, Limits, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game, StateOf};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::questions::{MAX_DEPTH, Oracle, Questions, choices, with_stack};
use super::transpositions::{Fingerprint, NO_PLACE, Transpositions};
use crate::folded::Folded;
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// The deadline is checked after this many moves.
const N_UNCHECKED: u64 = 256;
/// Merits of replies are kept at so many places, by their hash values.
const REPLY_BITS: u32 = 16;
/// The largest table, in bytes.
const MAX_TABLE_BYTES: u64 = 2 << 30;
/// Nodes of a question before others are asked for help, usually: a shared table has its full size
/// from the start, which is a waste for short questions.
const N_ALONE: u64 = 2_000_000;
/// The time for which a thread without work waits.
const WAIT: Duration = Duration::from_millis(5);

/// Asks for the value of each role, as far as the limits allow.
///
/// Returns why it stopped before everything was known.
pub(crate) fn search<G: Describe>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
    open_question: &OpenQuestion,
) -> Option<StopReason> {
    let ask = || {
        let questions = Questions::of(Method::AlphaBeta, problem, options)?;
        let oracle = |role| {
            let table_bytes = (options.limits.max_bytes / 2).min(MAX_TABLE_BYTES);
            let table = Arc::new(Transpositions::within(table_bytes));
            Search {
                open_question: Some(open_question),
                ..Search::of(problem, role, options, table)
            }
        };
        Some(with_stack(|| questions.ask_all(progress, oracle).err()))
    };
    let stopped = match ask() {
        Some(Some(stopped)) => stopped,
        Some(None) => Some(StopReason::Memory),
        None => Some(StopReason::Count),
    };
    open_question.is_over.store(true, Relaxed);
    stopped
}

/// Helps with questions until there are no more.
pub(crate) fn help<G: Game>(
    problem: &Problem<'_, G>,
    deadline: Deadline,
    progress: &Progress,
    open_question: &OpenQuestion,
) {
    let options =
        SolveOptions { limits: Limits::usual().until(deadline), ..SolveOptions::default() };
    let work = || {
        open_question.n_waiting.fetch_add(1, Relaxed);
        while !open_question.is_over.load(Relaxed) && !options.limits.deadline.reached() {
            let Some(question) = open_question.current() else {
                std::thread::sleep(WAIT);
                continue;
            };
            let table = Arc::clone(&question.table);
            let mut search = Search {
                is_helper: true,
                answer: Arc::clone(&question.answer),
                ..Search::of(problem, question.role, &options, table)
            };
            let answer = search.force(&problem.state, question.goal);
            progress.count(0, search.n_unreported);
            match answer {
                Ok(answer) => question.answer.set(answer),
                // The answer came from elsewhere.
                Err(_) if question.answer.get().is_some() => {}
                Err(_) => break,
            }
        }
    };
    // Without a stack there is no help.
    let _ = with_stack(work);
}

/// The question that takes long just now, for threads that have nothing else to do.
pub(crate) struct OpenQuestion {
    /// Nodes of a question before others are asked for help.
    n_alone: u64,
    question: Mutex<Option<Question>>,
    n_waiting: AtomicUsize,
    /// Whether there will be no more questions.
    is_over: AtomicBool,
}

/// Whether a role can force a goal.
#[derive(Clone)]
struct Question {
    table: Arc<Transpositions>,
    role: RoleId,
    goal: Goal,
    answer: Arc<SharedAnswer>,
}

impl Default for OpenQuestion {
    fn default() -> Self {
        Self {
            n_alone: N_ALONE,
            question: Mutex::default(),
            n_waiting: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }
}

impl OpenQuestion {
    fn current(&self) -> Option<Question> {
        let question = self.question.lock().expect("no search panics here").clone()?;
        question.answer.get().is_none().then_some(question)
    }

    fn set(&self, question: Option<Question>) {
        *self.question.lock().expect("no search panics here") = question;
    }
}

/// The answer of the thread that finds it first.
#[derive(Default)]
struct SharedAnswer(AtomicU8);

impl SharedAnswer {
    fn get(&self) -> Option<bool> {
        match self.0.load(Relaxed) {
            0 => None,
            answer => Some(answer == 2),
        }
    }

    fn set(&self, answer: bool) {
        self.0.store(1 + u8::from(answer), Relaxed);
    }
}

/// One role's questions, and what their answers have shown.
struct Search<'a, G: Game> {
    game: &'a G,
    /// Gives symmetric states one place in the table. The states searched are those of the game
    /// itself: merits are worth less if a state of the path may be the mirror image of the next.
    folded: Option<&'a Folded<G>>,
    cursor: G::Cursor,
    role: RoleId,
    deadline: Deadline,
    table: Arc<Transpositions>,
    /// By fluent, or by move if the engine does not number fluents.
    merits: Vec<i32>,
    /// The same for a feature after the features of the move before, by a hash value of both.
    replies: Vec<i32>,
    /// A hash value of the features of the last move of the path.
    last_move: u64,
    /// Whether it helps, so that it searches in an order of its own.
    is_helper: bool,
    /// The fluents of the states of the path.
    words: Vec<u64>,
    path: FxHashSet<Fingerprint>,
    /// The move that decided the last state, if one did.
    decider: Option<MoveId>,
    max_nodes: u64,
    n_nodes: u64,
    n_moves: u64,
    n_unreported: u64,
    /// Where to ask for help.
    open_question: Option<&'a OpenQuestion>,
    /// The nodes at which the question began, and whether others help with it.
    n_nodes_before: u64,
    is_open: bool,
    answer: Arc<SharedAnswer>,
}

/// A successor that is still to be searched.
struct Child<S> {
    state: S,
    key: Fingerprint,
    place: u16,
    chosen: MoveId,
    /// The end of its features; they begin where those of the child before end.
    features_end: u32,
}

impl<'a, G: Game> Search<'a, G> {
    fn of(
        problem: &Problem<'a, G>,
        role: RoleId,
        options: &SolveOptions,
        table: Arc<Transpositions>,
    ) -> Self {
        let game = problem.game;
        Self {
            cursor: game.cursor(),
            game,
            folded: problem.folded,
            role,
            deadline: options.limits.deadline.clone(),
            table,
            merits: Vec::new(),
            replies: vec![0; 1 << REPLY_BITS],
            last_move: 0,
            is_helper: false,
            words: Vec::new(),
            path: FxHashSet::default(),
            decider: None,
            max_nodes: options.max_nodes,
            n_nodes: 0,
            n_moves: 0,
            n_unreported: 0,
            open_question: None,
            n_nodes_before: 0,
            is_open: false,
            answer: Arc::default(),
        }
    }

    /// Returns whether the role can force at least `goal` from a state.
    fn force(&mut self, state: &StateOf<G>, goal: Goal) -> Result<bool, StopReason> {
        self.path.clear();
        self.words.clear();
        self.last_move = 0;
        self.cursor.set_state(state);
        if self.cursor.is_terminal() {
            return Ok(self.end() >= goal);
        }
        let key = self.key(state);
        if let Some(answer) = self.known(key, goal) {
            return Ok(answer);
        }
        self.n_nodes_before = self.n_nodes;
        let mut answer = self.can_force(state, key, goal, None, 0);
        if std::mem::take(&mut self.is_open) {
            answer = answer.or_else(|stop| self.answer.get().ok_or(stop));
            if let (Ok(answer), Some(open)) = (&answer, self.open_question) {
                self.answer.set(*answer);
                open.set(None);
            }
            self.answer = Arc::default();
        }
        answer
    }

    /// Returns the goal of the role in the cursor's state, which is terminal.
    fn end(&mut self) -> Goal {
        let rival = RoleId::new(1 - self.role.index());
        let (own, other) = (self.cursor.goal(self.role), self.cursor.goal(rival));
        self.table.sums().note(own, other);
        own
    }

    /// Returns the key of a state in the table.
    fn key(&self, state: &StateOf<G>) -> Fingerprint {
        match self.folded {
            Some(folded) => Fingerprint::of(&folded.canonical(state)),
            None => Fingerprint::of(state),
        }
    }

    fn known(&self, key: Fingerprint, goal: Goal) -> Option<bool> {
        let entry = self.table.find(key)?;
        if entry.lower >= goal.value() {
            Some(true)
        } else if entry.upper < goal.value() {
            Some(false)
        } else {
            None
        }
    }

    /// Returns whether the role can force at least `goal` from a state before the end, which the
    /// table does not decide. The hint is a move that may decide.
    fn can_force(
        &mut self,
        state: &StateOf<G>,
        key: Fingerprint,
        goal: Goal,
        hint: Option<MoveId>,
        depth: usize,
    ) -> Result<bool, StopReason> {
        // Step 1. Stop at the limits, and where play goes round.
        self.n_nodes += 1;
        self.n_unreported += 1;
        if depth > MAX_DEPTH || self.n_nodes > self.max_nodes || !self.path.insert(key) {
            return Err(StopReason::Count);
        }
        let n_before = self.n_nodes;

        // Step 2. Find out who chooses, and look at every successor.
        self.cursor.set_state(state);
        let (chooser, moves, others) = choices(self.game, &mut self.cursor)?;
        let first_word = self.words.len();
        self.words.extend(self.cursor.fluents().map_or(&[][..], |it| it.words()));
        // The role wants `true`, the other `false`.
        let wanted = chooser == self.role;
        let mut children: Vec<Child<StateOf<G>>> = Vec::with_capacity(moves.len());
        let mut features: Vec<u32> = Vec::new();
        let mut decided = None;
        let mut joint = others;
        let hinted = hint.and_then(|hint| moves.iter().position(|&id| id == hint));
        let rest = (0..moves.len()).filter(|&place| Some(place) != hinted);
        for (n_played, place) in hinted.into_iter().chain(rest).enumerate() {
            if n_played > 0 {
                self.cursor.set_state(state);
            }
            let chosen = moves[place];
            joint[chooser.index()] = chosen;
            self.cursor.play(&joint);
            self.n_moves += 1;
            if self.n_moves.is_multiple_of(N_UNCHECKED) {
                self.check(goal)?;
            }
            let child_key = self.key(self.cursor.state());
            let answer = match self.known(child_key, goal) {
                None if self.cursor.is_terminal() => Some(self.end() >= goal),
                known => known,
            };
            if self.cursor.has_fault() {
                return Err(StopReason::Fault);
            }
            match answer {
                Some(answer) if answer == wanted => {
                    decided = Some((place, chosen));
                    break;
                }
                Some(_) => {}
                None => {
                    match self.cursor.fluents() {
                        Some(fluents) => {
                            list_new(&self.words[first_word..], fluents.words(), &mut features);
                        }
                        None => features.push(chosen.index() as u32),
                    }
                    children.push(Child {
                        state: self.cursor.state().clone(),
                        key: child_key,
                        place: place as u16,
                        chosen,
                        features_end: features.len() as u32,
                    });
                }
            }
        }

        // Step 3. Search the rest, the most promising first.
        if decided.is_none() && !children.is_empty() {
            let order = self.order(key, &children, &features);
            let mut refutation = None;
            for (n_tried, &idx) in order.iter().enumerate() {
                let child = &children[idx];
                // A search of an earlier child may have met this one.
                let answer = match self.known(child.key, goal) {
                    Some(answer) => answer,
                    None => {
                        let (state, key) = (&child.state, child.key);
                        let new = features_of(&children, &features, idx);
                        let last_move = FxBuildHasher.hash_one(new);
                        let last_move = std::mem::replace(&mut self.last_move, last_move);
                        let answer = self.can_force(state, key, goal, refutation, depth + 1)?;
                        self.last_move = last_move;
                        refutation = self.decider.or(refutation);
                        answer
                    }
                };
                if answer == wanted {
                    decided = Some((usize::from(child.place), child.chosen));
                    self.reward(&children, &features, &order[..=n_tried]);
                    break;
                }
            }
        }

        // Step 4. Remember the answer, and the move that gave it.
        self.path.remove(&key);
        self.words.truncate(first_word);
        self.decider = decided.map(|(_, chosen)| chosen);
        let answer = if decided.is_some() { wanted } else { !wanted };
        let n_nodes = self.n_nodes - n_before + 1;
        let bounds = if answer { (goal.value(), u8::MAX) } else { (0, goal.value() - 1) };
        let best = decided.and_then(|(place, _)| u16::try_from(place).ok()).unwrap_or(NO_PLACE);
        self.table.store(key, bounds, best, n_nodes);
        if self.table.is_tight()
            && let Some(table) = Arc::get_mut(&mut self.table)
        {
            table.grow();
        }
        Ok(answer)
    }

    /// Stops at the deadline, or if another thread has found the answer; asks for help if the
    /// question takes long.
    fn check(&mut self, goal: Goal) -> Result<(), StopReason> {
        if let Some(stop) = self.deadline.stop_reason() {
            return Err(stop);
        }
        if self.answer.get().is_some() {
            return Err(StopReason::Count);
        }
        if let Some(open) = self.open_question
            && self.n_nodes - self.n_nodes_before > open.n_alone
            && !self.is_open
            && open.n_waiting.load(Relaxed) > 0
        {
            // A table that is shared does not grow.
            if let Some(table) = Arc::get_mut(&mut self.table) {
                while !table.is_largest() {
                    table.grow();
                }
            }
            self.is_open = true;
            let (table, answer) = (Arc::clone(&self.table), Arc::clone(&self.answer));
            open.set(Some(Question { table, role: self.role, goal, answer }));
        }
        Ok(())
    }

    /// Returns the order in which children are searched.
    fn order(
        &self,
        key: Fingerprint,
        children: &[Child<StateOf<G>>],
        features: &[u32],
    ) -> Vec<usize> {
        let best = self.table.find(key).map_or(NO_PLACE, |entry| entry.best);
        let rank = |&idx: &usize| {
            let child = &children[idx];
            let features = features_of(children, features, idx).iter();
            let merit: i64 = features.map(|&it| self.merit(it)).sum();
            // A helper takes every fourth move out of its turn.
            let is_deferred = self.is_helper && child.key.is_one_of(4);
            (child.place != best, is_deferred, Reverse(merit), child.place)
        };
        let mut order: Vec<usize> = (0..children.len()).collect();
        order.sort_by_cached_key(rank);
        order
    }

    fn merit(&self, feature: u32) -> i64 {
        let merit = self.merits.get(feature as usize).copied().unwrap_or(0);
        i64::from(merit) + i64::from(self.replies[self.reply(feature)])
    }

    /// Returns the place of a feature that replies to the last move.
    fn reply(&self, feature: u32) -> usize {
        (FxBuildHasher.hash_one((self.last_move, feature)) >> (u64::BITS - REPLY_BITS)) as usize
    }

    /// Notes that the last of the searched children decided, and that those before it did not.
    fn reward(&mut self, children: &[Child<StateOf<G>>], features: &[u32], searched: &[usize]) {
        let Some((&decider, before)) = searched.split_last() else { return };
        let gain = before.len() as i32;
        for (idx, gain) in before.iter().map(|&idx| (idx, -1)).chain([(decider, gain)]) {
            for &feature in features_of(children, features, idx) {
                let reply = self.reply(feature);
                self.replies[reply] = self.replies[reply].saturating_add(gain);
                let feature = feature as usize;
                if self.merits.len() <= feature {
                    self.merits.resize(feature + 1, 0);
                }
                self.merits[feature] = self.merits[feature].saturating_add(gain);
            }
        }
    }
}

impl<G: Game> Oracle<StateOf<G>> for Search<'_, G> {
    fn ask(&mut self, state: &StateOf<G>, goal: Goal) -> Result<Option<bool>, StopReason> {
        self.force(state, goal).map(Some)
    }

    fn best(&self, state: &StateOf<G>) -> Option<usize> {
        let entry = self.table.find(self.key(state))?;
        (entry.best != NO_PLACE).then_some(usize::from(entry.best))
    }

    fn sum(&self) -> Option<u8> {
        self.table.sums().only()
    }

    fn take_nodes(&mut self) -> u64 {
        std::mem::take(&mut self.n_unreported)
    }
}

/// Adds the numbers of the bits that are set in `after` but not in `before`.
fn list_new(before: &[u64], after: &[u64], list: &mut Vec<u32>) {
    for (idx, (before, after)) in before.iter().zip(after).enumerate() {
        let mut new = after & !before;
        while new != 0 {
            list.push(idx as u32 * u64::BITS + new.trailing_zeros());
            new &= new - 1;
        }
    }
}

/// Returns the features of a child.
fn features_of<'f, S>(children: &[Child<S>], features: &'f [u32], idx: usize) -> &'f [u32] {
    let first = idx.checked_sub(1).map_or(0, |before| children[before].features_end);
    &features[first as usize..children[idx].features_end as usize]
}

#[cfg(test)]
mod tests {
    use ludex_base::Source;
    use ludex_pipeline::{Engine, LoadOptions, load};

    use super::*;

    #[test]
    fn helpers_do_not_change_the_value() {
        let games = ludex_testkit::library();
        let rules = games.iter().find(|game| game.name == "tictactoe").expect("it is there").text();
        let loaded = load(Source::new("rules", &rules[..]), &LoadOptions::default());
        let Engine::Machine(game) = loaded.expect("good rules").engine else {
            panic!("the game is small")
        };
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        // Little memory, so that threads replace each other's entries.
        let options = SolveOptions {
            limits: Limits { max_bytes: 1 << 16, ..Limits::usual() },
            ..SolveOptions::default()
        };
        let mut n_helped = 0;
        for round in 0..2_000 {
            // On a busy machine the observer may not get its turn for many rounds.
            if round >= 20 && n_helped > 0 {
                break;
            }
            let progress = Progress::new();
            progress.begin(problem.bounds());
            let open = OpenQuestion { n_alone: 10, ..OpenQuestion::default() };
            let is_helped = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| help(&problem, Deadline::never(), &progress, &open));
                while open.n_waiting.load(Relaxed) == 0 {
                    std::thread::yield_now();
                }
                scope.spawn(|| {
                    while !open.is_over.load(Relaxed) {
                        is_helped.fetch_or(open.current().is_some(), Relaxed);
                    }
                });
                assert_eq!(search(&problem, &options, &progress, &open), None);
            });
            let draw = Goal::new(50);
            assert!(progress.solution().bounds.iter().all(|it| it.value() == draw));
            n_helped += usize::from(is_helped.into_inner());
        }
        assert!(n_helped > 0, "no question was open to others");
    }
}
