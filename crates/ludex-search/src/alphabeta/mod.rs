//! Depth-first searches: minimax and its relatives, with iterative deepening.
//!
//! | rule | games | assumption about the others |
//! | --- | --- | --- |
//! | minimax, negamax | two roles, opposite goals | minimize our goal; no pruning, for comparison |
//! | alphabeta | any number of roles | the same, with pruning and a table |
//! | maxn | any goals, any number of roles | maximize their own goal |
//!
//! With more than two roles, alpha-beta is what the literature calls *paranoid*: all others play
//! against us. Every rule averages over chance (*expectimax*).
//!
//! Roles that move simultaneously choose one after another, we first. The others answer a move that
//! they do not see in the game, so values are what we can guarantee. States at the horizon are
//! evaluated. A value backed up from terminal states alone is *solved*; when all moves are solved,
//! the search ends.
//!
//! After Knuth and Moore, *An Analysis of Alpha-Beta Pruning*, 1975; Luckhardt and Irani, *An
//! Algorithmic Solution of N-Person Games*, 1986; Sturtevant and Korf, *On Pruning Techniques for
//! Multi-Player Games*, 2000 (paranoid).
//!
//! Read the modules in this order: `walk` (states on a path), `crate::evaluate`, `learn` and
//! `judge`, `table` and `order` (the memory of alpha-beta), then the rules `minimax`, `negamax`,
//! `pruned`, `maxn`.

use std::time::Duration;

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, FeatureFinder, Playouts, Wanted};

use crate::clock::Clock;
use crate::evaluate::{Evaluation, Weights};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::{Hint, SearchLimits};
use crate::report::{MoveReport, SearchReport};
use crate::roles::{Roles, hash_of};
use crate::searcher::Searcher;

mod walk;
pub(crate) mod learn;
pub(crate) mod judge;
mod table;
mod order;
mod minimax;
mod negamax;
mod pruned;
mod maxn;

use judge::Judge;
use learn::Learner;
use order::Order;
use table::Table;
use walk::Walk;

crate::option_names! {
    /// How values are backed up.
    pub enum Rule {
        /// Maximum for us, minimum for the others.
        Minimax = "minimax",
        /// The same, scored for the role that chooses.
        Negamax = "negamax",
        /// The same with pruning, table, killers and history.
        AlphaBeta = "alphabeta",
        /// The goal of the role that chooses.
        Maxn = "maxn",
    }
}

crate::search_options! {
    /// Options of [`DepthFirst`].
    pub struct DepthFirstOptions {
        /// minimax, negamax, alphabeta or maxn
        rule: Rule = Rule::AlphaBeta,
        /// weight of mobility in the evaluation
        mobility: f64 = 1.0,
        /// weight of similarity to good final states in the evaluation
        proximity: f64 = 1.0,
        /// weight of the mean of playouts in the evaluation
        playouts: f64 = 0.0,
        /// weight of fluent values learned from random games in the evaluation
        learned: f64 = 0.0,
        /// weight of features found in the rules in the evaluation
        rules: f64 = 0.0,
        /// rules: also use features that are not sums over fluents
        graded: bool = false,
        /// playouts per evaluation
        count: usize = 4,
        /// maximum depth of the horizon
        depth: usize = 200,
        /// maximum megabytes of the table; the memory limit also applies
        table: usize = 128,
    }
}

/// A depth-first search that deepens its horizon until time is up or the root is solved.
pub struct DepthFirst<G: Playouts> {
    name: &'static str,
    options: DepthFirstOptions,
    roles: Roles,
    me: Option<RoleId>,
    /// The table and the move order stay useful from move to move.
    table: Option<Table>,
    order: Order,
    /// Learned values of states; learning goes on in every search.
    learner: Option<Learner>,
    judge: Option<Judge>,
    has_learned: bool,
    game: std::marker::PhantomData<fn() -> G>,
}

/// A backed-up goal of the role that searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Value {
    pub(crate) goal: f32,
    /// Whether it is backed up from terminal states alone.
    pub(crate) is_solved: bool,
}

/// The search ran out of time or nodes.
pub(crate) struct Stopped;

impl<I: Ingredients> Search<I> for DepthFirstOptions {
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(DepthFirst::new(name, from.game(), self.clone(), from.feature_finder()))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<G: Playouts> DepthFirst<G> {
    /// Creates a search without knowledge. With a finder it can use features of the rules.
    pub fn new(
        name: &'static str,
        game: &G,
        options: DepthFirstOptions,
        finder: Option<FeatureFinder>,
    ) -> Self {
        let roles = Roles::of(game);
        let order = Order::default();
        let learner = if options.learned > 0.0 { Learner::new(game) } else { None };
        let wanted = if options.graded { Wanted::All } else { Wanted::Sums };
        let judge = finder.filter(|_| options.rules > 0.0).map(|it| Judge::new(it, wanted));
        let game = std::marker::PhantomData;
        Self {
            name,
            options,
            roles,
            me: None,
            table: None,
            order,
            learner,
            judge,
            has_learned: false,
            game,
        }
    }

    fn weights(&self) -> Weights {
        let DepthFirstOptions { mobility, proximity, playouts, learned, rules, .. } = self.options;
        let count = self.options.count.max(1);
        Weights { mobility, proximity, playouts, learned, rules, count }
    }

    /// Keeps what was learned for the next search.
    fn take_back<S>(&mut self, evaluation: &mut Evaluation<S>) {
        self.learner = evaluation.learner.take();
        self.judge = evaluation.judge.take();
    }

    fn value_after<C: Cursor>(
        &mut self,
        walk: &mut Walk<'_, C>,
        id: MoveId,
        depth: usize,
        alpha: f32,
    ) -> Result<Value, Stopped> {
        let me = walk.me;
        walk.choose(0, me, id);
        let first_other = walk.n_deciders_up_to(0, me);
        match self.options.rule {
            Rule::Minimax => walk.minimax_from(0, first_other, depth),
            Rule::Negamax => walk.negamax_from(0, first_other, depth, true),
            Rule::AlphaBeta => {
                let table = self.table.as_mut().expect("every search begins by making a table");
                pruned::Pruned { walk, table, order: &mut self.order }.value_from(
                    0,
                    first_other,
                    depth,
                    alpha,
                    101.0,
                )
            }
            Rule::Maxn => {
                let values = walk.maxn_from(0, first_other, depth)?;
                Ok(Value { goal: values.goals[me.index()], is_solved: values.is_solved })
            }
        }
    }

    fn begin(&mut self, me: RoleId, limits: &SearchLimits) {
        if self.me != Some(me) {
            self.table = None;
            self.order = Order::default();
            self.learner.iter_mut().for_each(Learner::forget);
            self.judge.iter_mut().for_each(Judge::forget);
            self.has_learned = false;
        }
        self.me = Some(me);
        if self.options.rule == Rule::AlphaBeta {
            let n_bytes = (self.options.table << 20).min(limits.memory);
            // With an iteration limit, nothing may depend on the clock.
            let n_bytes = n_bytes.min(match limits.iterations {
                Some(n_nodes) => bytes_for_nodes(n_nodes),
                None => useful_bytes(&limits.deadline),
            });
            match &self.table {
                Some(table) if table.n_bytes() > n_bytes / MIN_TABLE_GROWTH => {}
                _ => self.table = Some(Table::new(n_bytes)),
            }
        }
    }
}

/// Returns how many bytes of a table a search can fill by the deadline.
///
/// Searches touch a larger table all over, and getting that memory from the system takes a good
/// part of a short turn.
fn useful_bytes(deadline: &Deadline) -> usize {
    let most = |left: Duration| (left.as_secs_f64() * TABLE_BYTES_PER_SECOND) as usize;
    deadline.remaining().map_or(usize::MAX, |left| most(left).max(MIN_TABLE_BYTES))
}

/// Returns how many bytes of a table a search of so many nodes can fill, with room to spare.
fn bytes_for_nodes(n_nodes: u64) -> usize {
    usize::try_from(n_nodes)
        .map_or(usize::MAX, |n| n.saturating_mul(TABLE_BYTES_PER_NODE))
        .max(MIN_TABLE_BYTES)
}

const TABLE_BYTES_PER_NODE: usize = 64;
/// Room for a million states per second, more than these searches visit.
const TABLE_BYTES_PER_SECOND: f64 = 32e6;
const MIN_TABLE_BYTES: usize = 64 << 10;
/// A table is kept for the next search unless one this many times as large could be filled now.
const MIN_TABLE_GROWTH: usize = 4;

/// The part of the time for learning: in the first search, which has the start clock if there is
/// one, and in later ones.
const FIRST_LEARNING_PART: f64 = 0.5;
const LEARNING_PART: f64 = 0.1;

/// The longest line in a report.
const MAX_LINE: usize = 40;

/// The search results of a move at the root.
struct RootMove {
    /// The index among the legal moves.
    idx: usize,
    report: MoveReport,
    /// The value at the last horizon searched for this move.
    value: Option<Value>,
}

impl<G: Playouts> Searcher<G::Cursor> for DepthFirst<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        self.begin(role, limits);
        let mut clock = Clock::new(&limits.deadline);
        let mut cursor = root.clone();
        let legal = cursor.legal_moves(role).to_vec();
        let mut evaluation = Evaluation::new(self.weights(), limits.seed.rng());
        evaluation.prepare(&mut cursor, self.roles, |asked| asked == role, &mut clock);
        let part = if self.has_learned { LEARNING_PART } else { FIRST_LEARNING_PART };
        // With a node limit, nothing may depend on the clock.
        let part = limits.iterations.is_none().then_some(part);
        evaluation.learner = self.learner.take();
        evaluation.judge = self.judge.take();
        evaluation.learn(&mut cursor, self.roles, role, part, &mut clock);
        self.has_learned = true;
        let mut walk = Walk::new(cursor, self.roles, role, clock, limits.iterations, evaluation);
        if !walk.open_root(root.state()) {
            self.take_back(&mut walk.evaluation);
            let stopped = Some(StopReason::Fault);
            return SearchReport { stopped, ..SearchReport::unsearched(&legal) };
        }
        let mut moves: Vec<RootMove> = (legal.iter().enumerate())
            .map(|(idx, &id)| RootMove { idx, report: MoveReport::untried(id), value: None })
            .collect();
        let (best, depth, stopped) = self.deepen(&mut walk, &mut moves, &limits.hint);
        self.take_back(&mut walk.evaluation);
        let chosen = &moves[best];
        let n_bytes = self.table.as_ref().map_or(0, Table::n_bytes);
        let is_solved = moves.iter().all(|it| it.value.is_some_and(|value| value.is_solved));
        let is_won = chosen.report.proven == Some(1.0);
        let (chosen, reward) = (chosen.report.id, chosen.report.mean_reward);
        moves.sort_unstable_by_key(|it| it.idx);
        let reports = moves.into_iter().map(|it| it.report).collect();
        SearchReport {
            chosen: Some(chosen),
            moves: reports,
            reward,
            // In an unfinished horizon, a move may only be known to be no better than another one
            // whose value has changed since.
            is_proven: is_won || is_solved && stopped.is_none(),
            n_iterations: walk.n_nodes,
            n_playouts: walk.evaluation.n_playouts,
            n_nodes: walk.n_nodes,
            n_bytes: n_bytes as u64,
            depth: depth as u32,
            stopped,
            line: self.line(root, role, chosen),
            extension: None,
        }
    }
}

impl<G: Playouts> DepthFirst<G> {
    /// Returns the line of play that the table predicts, until several roles choose simultaneously;
    /// empty without a table.
    fn line<C: Cursor>(&self, root: &C, me: RoleId, chosen: MoveId) -> Vec<Vec<MoveId>> {
        let mut line: Vec<Vec<MoveId>> = Vec::new();
        let Some(table) = &self.table else { return line };
        let mut cursor = root.clone();
        let mut best = Some(chosen);
        while line.len() < MAX_LINE && !cursor.is_terminal() {
            let mut joint = Vec::new();
            for role in self.roles.ids() {
                let legal = cursor.legal_moves(role);
                let expected = best.filter(|id| legal.contains(id));
                let is_mine = line.is_empty() && role == me;
                match (expected, legal) {
                    (Some(id), _) if is_mine || legal.len() > 1 => joint.push(id),
                    (_, [only]) => joint.push(*only),
                    _ => return line,
                }
            }
            cursor.play(&joint);
            line.push(joint);
            best = table.find(hash_of(cursor.state())).and_then(|entry| entry.best);
        }
        line
    }

    /// Deepens the horizon step by step. Returns the index of the best move, the last completed
    /// depth and why the search stopped.
    fn deepen<C: Cursor>(
        &mut self,
        walk: &mut Walk<'_, C>,
        moves: &mut [RootMove],
        hint: &Hint,
    ) -> (usize, usize, Option<StopReason>) {
        let mut best_id = moves[0].report.id;
        for depth in 1..=self.options.depth {
            // Step 1. Start with the best move of the last horizon, so that an interrupted horizon
            // never gives a worse move.
            moves.sort_by(|a, b| order_of(b).total_cmp(&order_of(a)));
            if let Some(idx) = moves.iter().position(|it| it.report.id == best_id) {
                moves[..=idx].rotate_right(1);
            }
            // Step 2. Search each move with the guarantee of the moves before it.
            let mut alpha = -1.0_f32;
            for idx in 0..moves.len() {
                let it = &mut moves[idx];
                // Moves that are solved exactly need no further search.
                if let (Some(proven), Some(value)) = (it.report.proven, it.value) {
                    if value.goal > alpha {
                        (alpha, best_id) = (value.goal, it.report.id);
                    }
                    debug_assert!(proven * 100.0 - f64::from(value.goal) < 1e-3);
                    continue;
                }
                let n_before = walk.n_nodes;
                let found = self.value_after(walk, it.report.id, depth, alpha);
                let it = &mut moves[idx];
                it.report.n_visits += walk.n_nodes - n_before;
                let Ok(value) = found else {
                    let stopped = walk.stopped();
                    return (best_now(moves, best_id, idx), depth - 1, Some(stopped));
                };
                it.value = Some(value);
                it.report.mean_reward = Some(f64::from(value.goal) / 100.0);
                // A goal not above alpha is only an upper bound.
                let is_exact = value.goal > alpha || self.options.rule != Rule::AlphaBeta;
                if value.is_solved && is_exact {
                    it.report.proven = Some(f64::from(value.goal) / 100.0);
                }
                if value.goal > alpha {
                    (alpha, best_id) = (value.goal, it.report.id);
                }
                hint.set(moves[best_now(moves, best_id, idx + 1)].report.id);
                if value.is_solved && value.goal >= 100.0 {
                    return (index_of(moves, best_id), depth, None);
                }
            }
            // Step 3. Stop if no horizon affects the values any more.
            if moves.iter().all(|it| it.value.is_some_and(|value| value.is_solved)) {
                return (index_of(moves, best_id), depth, None);
            }
        }
        (index_of(moves, best_id), self.options.depth, Some(StopReason::Count))
    }
}

fn order_of(it: &RootMove) -> f32 {
    it.value.map_or(-1.0, |value| value.goal)
}

/// Returns the best move while those from `n_searched` on are not yet searched at this horizon.
/// That is one of them if the best searched move fell below their values at the last horizon.
fn best_now(moves: &[RootMove], best_id: MoveId, n_searched: usize) -> usize {
    let best = index_of(moves, best_id);
    if best >= n_searched {
        return best;
    }
    let open = (n_searched..moves.len()).max_by(|&a, &b| {
        let order = order_of(&moves[a]).total_cmp(&order_of(&moves[b]));
        // Prefer the first of equal moves.
        order.then(b.cmp(&a))
    });
    open.filter(|&open| order_of(&moves[open]) > order_of(&moves[best])).unwrap_or(best)
}

fn index_of(moves: &[RootMove], id: MoveId) -> usize {
    moves.iter().position(|it| it.report.id == id).expect("the best move is a root move")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_no_larger_than_can_be_filled() {
        let after = |ms| useful_bytes(&Deadline::after(Duration::from_millis(ms)));
        assert_eq!(after(0), MIN_TABLE_BYTES);
        assert!((1 << 20..2 << 20).contains(&after(50)), "{}", after(50));
        assert!(after(60_000) > 1 << 30);
        assert_eq!(useful_bytes(&Deadline::never()), usize::MAX);
        assert_eq!(bytes_for_nodes(10), MIN_TABLE_BYTES);
        assert_eq!(bytes_for_nodes(1 << 20), 64 << 20);
        assert_eq!(bytes_for_nodes(u64::MAX), usize::MAX);
    }
}
