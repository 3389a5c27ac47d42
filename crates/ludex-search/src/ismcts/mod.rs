//! Monte Carlo tree search over what roles know: information set MCTS.
//!
//! Each iteration draws a possible state and walks from it. A node is not a state but what a role
//! knows: its own moves and percepts. So a role plays the same in all states that it can't tell
//! apart, moves that tell it something are worth what it can do with that, and nothing is fused
//! that the role will not know.
//!
//! For any number of roles, chance and hidden information. With several observers (the default)
//! every role has a tree of its own and chooses by what it has seen itself; with one, the others
//! choose by what the searching role has seen, which needs fewer nodes and takes them to know what
//! they may not. As not every move is legal in every state that a role can't tell apart,
//! exploration counts how often a move was there to be chosen.
//!
//! The others' trees are grown from states that the searching role thinks possible, and so the
//! others play as if they knew what it knows of itself: it does not bluff.
//!
//! For one role a move is worth what the best known move below it is, and not the mean of what was
//! tried there: long plans of which most steps have only one good move are found sooner, and nobody
//! plays against it. Below the tree it plays by what did well after what it saw (`habits`), and what
//! is promising by that is tried first: with hundreds of moves the first look at all of them would
//! take all of the time.
//!
//! After Cowling, Powley and Whitehouse, *Information Set Monte Carlo Tree Search*, 2012 (SO-ISMCTS
//! and MO-ISMCTS). We differ in giving each role's tree a root for everything that it may have seen
//! before. The best below a move after Keller and Helmert, *Trial-Based Heuristic
//! Tree Search for Finite Horizon MDPs*, 2013 (MaxUCT), with exploration that is scaled by how much
//! the values below a node differ. Half of the moves that are looked at first are drawn after Tolpin
//! and Shimony, *MCTS Based on Simple Regret*, 2012.

use ludex_base::{MoveId, Rng, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game, MAX_RANDOM_STEPS, Observe, Playouts, StateOf};

use crate::clock::Clock;
use crate::information::{
    AllMoves, Information, InformationSearcher, OwnPercepts, Possible, Sight, Weights, first_view,
    view_after,
};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search};
use crate::limits::Limits;
use crate::playout::{Desk, End, play_uniform};
use crate::report::{MoveReport, SearchReport};
use crate::roles::{Roles, hash_of, mix};
use crate::searcher::Searcher;

mod habits;
mod tree;

use habits::{Chosen, Habits, Recent};
use tree::{Explore, Taken, Tree};

crate::option_names! {
    /// Whose percepts tell nodes apart.
    pub enum Observers {
        /// Those of the searching role.
        One = "one",
        /// Those of whoever chooses.
        Each = "each",
    }
}

crate::option_names! {
    /// What an iteration tells the moves above a leaf.
    pub enum Backup {
        /// The best for games of one role, the mean for others.
        Fit = "fit",
        /// What was played out: moves are worth their mean.
        Mean = "mean",
        /// What the best known move below is worth.
        Best = "best",
    }
}

crate::option_names! {
    /// Who plays by what did well after what was seen.
    pub enum Learns {
        /// The role of a game of one role, nobody in others.
        Fit = "fit",
        /// Nobody: playouts are random, and moves are tried in any order.
        No = "no",
        /// Everybody.
        Yes = "yes",
    }
}

crate::search_options! {
    /// Options of [`Ismcts`].
    pub struct IsmctsOptions {
        /// exploration constant, for rewards from 0 to 1
        c: f64 = 0.7,
        /// whose percepts tell nodes apart: one or each
        observers: Observers = Observers::Each,
        /// what moves are worth: mean, best (move below), or fit (for one role the best)
        backup: Backup = Backup::Fit,
        /// who plays by what did well after what was seen: no, yes, or fit (if there is one role)
        habits: Learns = Learns::Fit,
    }
}

/// Information set MCTS.
pub struct Ismcts<G: Playouts> {
    options: IsmctsOptions,
    roles: Roles,
    cursor: G::Cursor,
    tree: Tree,
    habits: Habits,
}

/// What a search begins from.
struct Start<'a, S> {
    possible: &'a [Possible<S>],
    me: RoleId,
    legal: &'a [MoveId],
    /// What the searching role saw and played last.
    recent: Recent,
}

/// An iteration after the other.
struct Walk<'a, C: Cursor, V> {
    roles: Roles,
    me: RoleId,
    sight: V,
    observers: Observers,
    c: f64,
    /// Whether moves are worth what the best below them is.
    takes_best: bool,
    cursor: &'a mut C,
    tree: &'a mut Tree,
    /// What roles play by below the tree, if they learn.
    habits: Option<&'a mut Habits>,
    rng: Rng,
    clock: Clock<'a>,
    max_bytes: usize,
    max_depth: u32,
    /// The edges that were followed in this iteration.
    taken: Vec<Taken>,
    /// Those of one role.
    path: Vec<Taken>,
    joint: Vec<MoveId>,
    desk: Desk,
    views: Vec<u64>,
    rewards: Vec<f64>,
    /// What the searching role saw and played before this turn.
    own_recent: Recent,
    /// What each role saw and played last; only if they learn.
    recent: Vec<Recent>,
    /// Every choice of this iteration; only if they learn.
    chosen: Vec<Chosen>,
    priors: Vec<f32>,
}

/// How often any move is tried where moves are worth the best below them: often where one has to be
/// chosen in the end, and what the others cost on the way is of no interest.
const ROOT_EPSILON: f64 = 0.5;
const EPSILON: f64 = 0.15;
/// Iterations between two hints.
const HINT_INTERVAL: u64 = 32;

impl<I: Ingredients> Search<I> for IsmctsOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Ismcts::new(from.game(), self.clone()))
    }

    fn build_informed(&self, _name: &'static str, from: &I) -> HiddenSearcher<I::Game>
    where
        I::Game: Describe,
        <I::Game as Game>::Cursor: Observe + 'static,
    {
        Box::new(Ismcts::new(from.game(), self.clone()))
    }
}

impl<G: Playouts> Ismcts<G> {
    /// A search that knows nothing yet.
    pub fn new(game: &G, options: IsmctsOptions) -> Self {
        let (tree, habits) = (Tree::default(), Habits::default());
        Self { options, roles: Roles::of(game), cursor: game.cursor(), tree, habits }
    }

    fn search_from(
        &mut self,
        start: &Start<'_, StateOf<G>>,
        sight: impl Sight<G::Cursor>,
        limits: &Limits,
    ) -> SearchReport {
        let &Start { possible: starts, me, legal, recent } = start;
        // With one move it is searched all the same: what lies below it is used later on.
        let nothing = SearchReport::unsearched(legal);
        if legal.is_empty() || starts.is_empty() {
            return nothing;
        }
        limits.hint.set(legal[0]);
        // Nodes of this match are used again. Those that are past are not told apart from others,
        // so all are forgotten when they take too much.
        if self.tree.n_bytes() > limits.memory / 2 {
            self.tree = Tree::default();
        }
        let is_alone = self.roles.n - usize::from(self.roles.random.is_some()) == 1;
        let learns = match self.options.habits {
            Learns::Fit => is_alone,
            Learns::No => false,
            Learns::Yes => true,
        };
        let of_habits = if learns { limits.memory / 4 } else { 0 };
        if self.habits.n_bytes() > of_habits / 2 {
            self.habits = Habits::default();
        }
        self.habits.begin_turn(of_habits);
        let root_key = tree::key(starts[0].views[me.index()], me);
        let root = self.tree.node(root_key, usize::MAX).expect("there is room for a node");
        let weights = Weights::new(starts.iter().map(|start| start.weight));
        let mut walk = Walk {
            roles: self.roles,
            me,
            sight,
            observers: self.options.observers,
            c: self.options.c,
            takes_best: match self.options.backup {
                Backup::Fit => is_alone,
                Backup::Mean => false,
                Backup::Best => true,
            },
            cursor: &mut self.cursor,
            tree: &mut self.tree,
            habits: learns.then_some(&mut self.habits),
            rng: limits.seed.rng(),
            clock: Clock::new(&limits.deadline),
            max_bytes: limits.memory - of_habits,
            max_depth: 0,
            taken: Vec::new(),
            path: Vec::new(),
            joint: Vec::new(),
            desk: Desk::default(),
            views: Vec::new(),
            rewards: Vec::new(),
            own_recent: recent,
            recent: Vec::new(),
            chosen: Vec::new(),
            priors: Vec::new(),
        };
        let mut n_iterations = 0;
        let stopped = loop {
            if limits.iterations.is_some_and(|max| n_iterations >= max) {
                break StopReason::Count;
            }
            if limits.deadline.reached() {
                break StopReason::Time;
            }
            let start = &starts[weights.draw(&mut walk.rng)];
            if walk.iterate(start, n_iterations > 0).is_none() {
                break StopReason::Time;
            }
            n_iterations += 1;
            if n_iterations % HINT_INTERVAL == 1
                && let Some(best) = walk.tree.favorite(root, legal)
            {
                limits.hint.set(best);
            }
        };
        let (max_depth, takes_best) = (walk.max_depth, walk.takes_best);
        let moves: Vec<MoveReport> = legal.iter().map(|&id| self.tree.report(root, id)).collect();
        if n_iterations == 0 && moves.iter().all(|it| it.n_visits == 0) {
            return SearchReport { stopped: Some(stopped), ..nothing };
        }
        // A single move has nothing to be compared with, and no node.
        let best = if takes_best { self.tree.best(root, legal) } else { None };
        let best = best.map(|id| self.tree.report(root, id));
        let chosen = best.or_else(|| crate::mcts::choose(&moves).map(|idx| moves[idx]));
        SearchReport {
            chosen: chosen.map(|it| it.id),
            reward: chosen.and_then(|it| it.mean_reward),
            n_iterations,
            n_playouts: n_iterations,
            n_nodes: self.tree.n_nodes() as u64,
            n_bytes: (self.tree.n_bytes() + self.habits.n_bytes()) as u64,
            depth: max_depth,
            stopped: Some(stopped),
            moves,
            ..SearchReport::default()
        }
    }
}

impl<C: Cursor, V: Sight<C>> Walk<'_, C, V> {
    /// Walks from a possible state to an end; `None` if time ran out. The first step of the first
    /// iteration is made whatever the clock says.
    fn iterate(&mut self, start: &Possible<C::State>, heeds_clock: bool) -> Option<()> {
        // Step 1. Walk down while all that choose have a node for what they know.
        self.taken.clear();
        self.views.clear();
        self.views.extend_from_slice(&start.views);
        self.chosen.clear();
        self.recent.clear();
        if self.habits.is_some() {
            self.recent.resize(self.roles.n, Recent::default());
            self.recent[self.me.index()] = self.own_recent;
        }
        self.cursor.set_state(&start.state);
        let mut depth = 0;
        // A game in which nobody has a choice any more makes no nodes, and may go on for ever.
        while !self.cursor.is_terminal() && depth < MAX_RANDOM_STEPS as u32 {
            if (heeds_clock || depth > 0) && self.clock.tick() {
                return None;
            }
            let Some(is_known) = self.choose() else { break };
            self.cursor.play(&self.joint);
            for role in self.roles.ids() {
                let view = &mut self.views[role.index()];
                *view = view_after(&self.sight, &*self.cursor, *view, role, &self.joint);
            }
            self.note_step();
            depth += 1;
            // Step 2. One step is new; the rest is played out.
            if !is_known {
                break;
            }
        }
        self.max_depth = self.max_depth.max(depth);
        match self.play_out() {
            End::Time => return None,
            // Nothing was learned; it was an iteration all the same.
            End::GivenUp | End::Cut => return Some(()),
            End::Terminal => {}
        }
        // Step 3. Everybody learns from its own goal.
        if self.takes_best {
            for role in self.roles.ids() {
                self.path.clear();
                self.path.extend(self.taken.iter().filter(|taken| taken.role == role));
                self.tree.learn_best(&self.path, self.rewards[role.index()]);
            }
        } else {
            for taken in &self.taken {
                self.tree.learn(taken, self.rewards[taken.role.index()]);
            }
        }
        Some(())
    }

    /// Plays out from where the cursor stands; what each role gets, which is learned from.
    fn play_out(&mut self) -> End {
        self.rewards.clear();
        let end = if self.habits.is_some() {
            self.play_by_habit()
        } else {
            let Self { cursor, roles, rng, clock, desk, .. } = self;
            play_uniform(&mut **cursor, roles.n, rng, clock, desk)
        };
        if end == End::Terminal {
            let reward = |role| f64::from(self.cursor.goal(role).value()) / 100.0;
            self.rewards.extend(self.roles.ids().map(reward));
            for chosen in &self.chosen {
                let reward = self.rewards[chosen.role.index()];
                self.habits.iter_mut().for_each(|habits| habits.learn(chosen, reward));
            }
        }
        end
    }

    /// Plays to the end by what did well after what was seen.
    fn play_by_habit(&mut self) -> End {
        for _ in 0..MAX_RANDOM_STEPS {
            if self.cursor.is_terminal() {
                return if self.cursor.has_fault() { End::GivenUp } else { End::Terminal };
            }
            if self.clock.tick() {
                return End::Time;
            }
            self.joint.clear();
            for role in self.roles.ids() {
                let moves = self.cursor.legal_moves(role);
                let chosen = match (moves, &self.habits) {
                    ([], _) => return End::GivenUp,
                    (&[only], _) => only,
                    (_, Some(habits)) if !self.roles.is_random(role) => {
                        let recent = &self.recent[role.index()];
                        let chosen = habits.choose(role, recent, moves, &mut self.rng);
                        self.chosen.push(chosen);
                        chosen.id()
                    }
                    _ => moves[self.rng.below(moves.len())],
                };
                self.joint.push(chosen);
            }
            self.cursor.play(&self.joint);
            self.note_step();
        }
        End::GivenUp
    }

    /// Notes what roles saw of the step that led to where the cursor stands.
    fn note_step(&mut self) {
        for (role, recent) in self.roles.ids().zip(&mut self.recent) {
            if !self.roles.is_random(role) {
                let seen = self.sight.percepts(&*self.cursor, role);
                *recent = recent.after(self.joint[role.index()], seen);
            }
        }
    }

    /// Chooses a joint move; whether all that chose had a node. `None` if somebody has no move.
    fn choose(&mut self) -> Option<bool> {
        self.joint.clear();
        let mut is_known = true;
        for role in self.roles.ids() {
            let moves = self.cursor.legal_moves(role);
            let chosen = match moves {
                [] => return None,
                [only] => *only,
                _ if self.roles.is_random(role) => moves[self.rng.below(moves.len())],
                _ => {
                    let view = match self.observers {
                        Observers::Each => self.views[role.index()],
                        Observers::One => self.views[self.me.index()],
                    };
                    let key = tree::key(view, role);
                    match self.tree.node(key, self.max_bytes) {
                        Some(node) => {
                            let is_new = self.tree.n_visits(node) == 0;
                            is_known &= !is_new;
                            self.priors.clear();
                            if let Some(habits) = self.habits.as_ref().filter(|_| is_new) {
                                let recent = &self.recent[role.index()];
                                habits.values(role, recent, moves, &mut self.priors);
                            }
                            let priors = &self.priors;
                            let is_first = self.taken.is_empty() && role == self.me;
                            let epsilon = if is_first { ROOT_EPSILON } else { EPSILON };
                            let explore = Explore { c: self.c, epsilon };
                            let taken =
                                self.tree.select(node, role, moves, priors, explore, &mut self.rng);
                            self.taken.push(taken);
                            let id = self.tree.id_of(&taken);
                            if let Some(habits) = &self.habits {
                                let recent = &self.recent[role.index()];
                                self.chosen.push(habits.chosen(role, recent, moves, id));
                            }
                            id
                        }
                        None => {
                            is_known = false;
                            moves[self.rng.below(moves.len())]
                        }
                    }
                }
            };
            self.joint.push(chosen);
        }
        Some(is_known)
    }
}

impl<G: Playouts> Searcher<G::Cursor> for Ismcts<G> {
    fn name(&self) -> &'static str {
        "ismcts"
    }

    /// Where the state is known, everybody knows it, and what has been played since.
    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &Limits) -> SearchReport {
        let mut cursor = root.clone();
        let legal = cursor.legal_moves(role).to_vec();
        let state = root.state().clone();
        let view = |role| mix(first_view(role) ^ hash_of(&state));
        let views = self.roles.ids().map(view).collect();
        let possible = [Possible { state, weight: 1.0, views }];
        let recent = Recent::default();
        let start = Start { possible: &possible, me: role, legal: &legal, recent };
        self.search_from(&start, AllMoves, limits)
    }
}

impl<G: Playouts> InformationSearcher<StateOf<G>> for Ismcts<G>
where
    G::Cursor: Observe,
{
    fn name(&self) -> &'static str {
        "ismcts"
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &Limits) -> SearchReport {
        let recent =
            known.steps().iter().fold(Recent::default(), |recent, observed| match observed {
                Some(observed) => recent.after(observed.own, Some(&observed.percepts)),
                None => Recent::default(),
            });
        let start = Start {
            possible: known.possible(),
            me: known.role(),
            legal: known.legal_moves(),
            recent,
        };
        self.search_from(&start, OwnPercepts, limits)
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;
    use ludex_game::Game;

    use super::*;
    use crate::toy::{Rules, Toy};

    /// After the first step nobody has a choice, and nothing ever ends.
    #[test]
    fn a_game_without_an_end_is_given_up() {
        let toy = Toy::new(Rules {
            n_moves: |played, role| if role == 0 && played.is_empty() { 2 } else { 1 },
            sees: |_| None,
            is_over: |_| false,
        });
        let mut search = Ismcts::new(&toy, IsmctsOptions::default());
        let limits = Limits::iterations(3, Seed(1));
        let report = Searcher::search(&mut search, &toy.cursor(), RoleId::new(0), &limits);
        assert_eq!((report.n_iterations, report.depth), (3, MAX_RANDOM_STEPS as u32));
        assert!(report.chosen.is_some());
    }
}
