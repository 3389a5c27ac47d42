//! Information set MCTS: Monte Carlo tree search over what roles know.
//!
//! Each iteration draws a possible state and descends from it. A node is not a state but the
//! knowledge of a role: its own moves and percepts. So a role plays the same in all states that it
//! cannot tell apart, a move that brings information is worth what the role can do with it, and the
//! search never relies on knowledge that the role will not have.
//!
//! For any number of roles, chance and hidden information. With several observers (the default),
//! every role has its own tree and chooses by what it has seen itself. With one observer, the
//! others choose by what the searching role has seen, which needs fewer nodes but gives them
//! knowledge that they may not have. Indistinguishable states may differ in legal moves, so
//! exploration counts how often a move was available.
//!
//! The trees of the others grow from states that the searching role considers possible, so the
//! others play as if they knew what it knows about itself, and it does not bluff.
//!
//! In games of one role, a move is worth the value of the best known move below it instead of the
//! mean of all tries. No opponent punishes such optimism, and it finds long plans sooner in which
//! most steps have only one good move. Below the tree the role plays by its habits (`habits`), and
//! in the tree it tries promising moves first: with hundreds of moves, trying each once would take
//! the whole turn.
//!
//! After Cowling, Powley and Whitehouse, *Information Set Monte Carlo Tree Search*, 2012 (SO-ISMCTS
//! and MO-ISMCTS). We differ in that each role's tree has a root for everything that the role may
//! have seen before. Backing up the best value follows Keller and Helmert, *Trial-Based Heuristic
//! Tree Search for Finite Horizon MDPs*, 2013 (MaxUCT), with exploration scaled by the spread of
//! the values below a node. Drawing half of the root moves at random follows Tolpin and Shimony,
//! *MCTS Based on Simple Regret*, 2012.

use ludex_base::{MoveId, RoleId};
use ludex_game::{Cursor, Observe, Playouts, StateOf};

use crate::clock::Clock;
use crate::information::{
    AllMoves, Information, InformationSearcher, OwnPercepts, Possible, Sight, first_view,
};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search};
use crate::limits::SearchLimits;
use crate::playout::Desk;
use crate::report::{MoveReport, SearchReport};
use crate::roles::{Roles, hash_of, mix};
use crate::searcher::Searcher;

mod habits;
mod tree;
mod walk;

use habits::{Habits, Recent};
use tree::Tree;
use walk::Walk;

crate::option_names! {
    /// Whose percepts distinguish nodes.
    pub enum Observers {
        /// Those of the searching role.
        One = "one",
        /// Those of the role that chooses.
        Each = "each",
    }
}

crate::option_names! {
    /// The value that an iteration backs up from a leaf.
    pub enum Backup {
        /// The best in games of one role, the mean in others.
        Fit = "fit",
        /// The reward of the playout; moves are worth the mean.
        Mean = "mean",
        /// The value of the best known move below.
        Best = "best",
    }
}

crate::option_names! {
    /// Which roles learn habits.
    pub enum Learns {
        /// The role in games of one role, none in others.
        Fit = "fit",
        /// None: playouts are random, and moves are tried in any order.
        No = "no",
        /// All roles.
        Yes = "yes",
    }
}

crate::search_options! {
    /// Options of [`Ismcts`].
    pub struct IsmctsOptions {
        /// exploration constant, for rewards from 0 to 1
        c: f64 = 0.7,
        /// whose percepts distinguish nodes: one (the searching role's) or each
        observers: Observers = Observers::Each,
        /// value of a move: mean, best (move below), or fit (best if there is one role)
        backup: Backup = Backup::Fit,
        /// play by what did well after similar percepts: no, yes, or fit (if there is one role)
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

/// Where a search starts.
struct Start<'a, S> {
    possible: &'a [Possible<S>],
    me: RoleId,
    legal: &'a [MoveId],
    /// What the searching role saw and played last.
    recent: Recent,
}

impl<I: Ingredients> Search<I> for IsmctsOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Ismcts::new(from.game(), self.clone()))
    }

    fn build_informed(&self, _name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        Box::new(Ismcts::new(from.game(), self.clone()))
    }
}

impl<G: Playouts> Ismcts<G> {
    /// Creates a search without knowledge.
    pub fn new(game: &G, options: IsmctsOptions) -> Self {
        let (tree, habits) = (Tree::default(), Habits::default());
        Self { options, roles: Roles::of(game), cursor: game.cursor(), tree, habits }
    }

    fn search_from(
        &mut self,
        start: &Start<'_, StateOf<G>>,
        sight: impl Sight<G::Cursor>,
        limits: &SearchLimits,
    ) -> SearchReport {
        let &Start { possible, me, legal, .. } = start;
        // A single move is searched too, because later turns use the nodes below it.
        let nothing = SearchReport::unsearched(legal);
        if legal.is_empty() || possible.is_empty() {
            return nothing;
        }
        limits.hint.set(legal[0]);
        let habit_bytes = if self.learns() { limits.memory / 4 } else { 0 };
        self.discard_if_too_large(limits.memory, habit_bytes);
        self.habits.begin_turn(habit_bytes);
        let root_key = tree::key(possible[0].views[me.index()], me);
        let root = self.tree.node(root_key, usize::MAX).expect("there is no limit on bytes");
        let mut walk = self.walk(start, sight, limits, habit_bytes);
        let (n_iterations, stopped) = walk.run(possible, root, legal, limits);
        let depth = walk.max_depth;
        let moves: Vec<MoveReport> = legal.iter().map(|&id| self.tree.report(root, id)).collect();
        if n_iterations == 0 && moves.iter().all(|it| it.n_visits == 0) {
            return SearchReport { stopped: Some(stopped), ..nothing };
        }
        // A single move has no node and nothing to compare with.
        let best = if self.takes_best() { self.tree.best(root, legal) } else { None };
        let best = best.map(|id| self.tree.report(root, id));
        let chosen = best.or_else(|| crate::mcts::choose(&moves).map(|idx| moves[idx]));
        SearchReport {
            chosen: chosen.map(|it| it.id),
            reward: chosen.and_then(|it| it.mean_reward),
            n_iterations,
            n_playouts: n_iterations,
            n_nodes: self.tree.n_nodes() as u64,
            n_bytes: (self.tree.n_bytes() + self.habits.n_bytes()) as u64,
            depth,
            stopped: Some(stopped),
            moves,
            ..SearchReport::default()
        }
    }

    /// Discards the tree and the habits when they take too much memory.
    ///
    /// Later turns use the nodes again. Nodes of the past cannot be told from others, so everything
    /// is discarded.
    fn discard_if_too_large(&mut self, memory: usize, habit_bytes: usize) {
        if self.tree.n_bytes() > memory / 2 {
            self.tree = Tree::default();
        }
        if self.habits.n_bytes() > habit_bytes / 2 {
            self.habits = Habits::default();
        }
    }

    fn walk<'a, V: Sight<G::Cursor>>(
        &'a mut self,
        start: &Start<'_, StateOf<G>>,
        sight: V,
        limits: &'a SearchLimits,
        habit_bytes: usize,
    ) -> Walk<'a, G::Cursor, V> {
        let (takes_best, learns) = (self.takes_best(), self.learns());
        Walk {
            roles: self.roles,
            me: start.me,
            sight,
            observers: self.options.observers,
            c: self.options.c,
            takes_best,
            cursor: &mut self.cursor,
            tree: &mut self.tree,
            habits: learns.then_some(&mut self.habits),
            rng: limits.seed.rng(),
            clock: Clock::new(&limits.deadline),
            max_bytes: limits.memory - habit_bytes,
            max_depth: 0,
            taken: Vec::new(),
            path: Vec::new(),
            joint: Vec::new(),
            desk: Desk::default(),
            views: Vec::new(),
            rewards: Vec::new(),
            own_recent: start.recent,
            recent: Vec::new(),
            chosen: Vec::new(),
            priors: Vec::new(),
        }
    }

    fn is_alone(&self) -> bool {
        self.roles.n - usize::from(self.roles.random.is_some()) == 1
    }

    /// Whether playouts learn.
    fn learns(&self) -> bool {
        match self.options.habits {
            Learns::Fit => self.is_alone(),
            Learns::No => false,
            Learns::Yes => true,
        }
    }

    /// Whether a move is worth the best value below it.
    fn takes_best(&self) -> bool {
        match self.options.backup {
            Backup::Fit => self.is_alone(),
            Backup::Mean => false,
            Backup::Best => true,
        }
    }
}

impl<G: Playouts> Searcher<G::Cursor> for Ismcts<G> {
    fn name(&self) -> &'static str {
        "ismcts"
    }

    /// Searches a known state: all roles know it, and everything played since.
    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
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

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &SearchLimits) -> SearchReport {
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
    use ludex_game::{Game, MAX_RANDOM_STEPS};

    use super::*;
    use crate::toy::{Rules, Toy};

    /// After the first step no role has a choice, and the game never ends.
    #[test]
    fn a_game_without_an_end_is_given_up() {
        let toy = Toy::new(Rules {
            n_moves: |played, role| if role == 0 && played.is_empty() { 2 } else { 1 },
            sees: |_| None,
            is_over: |_| false,
        });
        let mut search = Ismcts::new(&toy, IsmctsOptions::default());
        let limits = SearchLimits::iterations(3, Seed(1));
        let report = Searcher::search(&mut search, &toy.cursor(), RoleId::new(0), &limits);
        assert_eq!((report.n_iterations, report.depth), (3, MAX_RANDOM_STEPS as u32));
        assert!(report.chosen.is_some());
    }
}
