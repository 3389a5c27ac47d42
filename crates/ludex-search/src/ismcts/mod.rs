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

use ludex_base::{MoveId, RoleId};
use ludex_game::{Cursor, Observe, Playouts, StateOf};

use crate::clock::Clock;
use crate::information::{
    AllMoves, Information, InformationSearcher, OwnPercepts, Possible, Sight, first_view,
};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search};
use crate::limits::Limits;
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

impl<I: Ingredients> Search<I> for IsmctsOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Ismcts::new(from.game(), self.clone()))
    }

    fn build_informed(&self, _name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
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
        let &Start { possible, me, legal, .. } = start;
        // With one move it is searched all the same: what lies below it is used later on.
        let nothing = SearchReport::unsearched(legal);
        if legal.is_empty() || possible.is_empty() {
            return nothing;
        }
        limits.hint.set(legal[0]);
        let habit_bytes = if self.learns() { limits.memory / 4 } else { 0 };
        self.forget_what_is_too_much(limits.memory, habit_bytes);
        self.habits.begin_turn(habit_bytes);
        let root_key = tree::key(possible[0].views[me.index()], me);
        let root = self.tree.node(root_key, usize::MAX).expect("there is room for a node");
        let mut walk = self.walk(start, sight, limits, habit_bytes);
        let (n_iterations, stopped) = walk.run(possible, root, legal, limits);
        let depth = walk.max_depth;
        let moves: Vec<MoveReport> = legal.iter().map(|&id| self.tree.report(root, id)).collect();
        if n_iterations == 0 && moves.iter().all(|it| it.n_visits == 0) {
            return SearchReport { stopped: Some(stopped), ..nothing };
        }
        // A single move has nothing to be compared with, and no node.
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

    /// Nodes of this match are used again. Those that are past are not told apart from others, so all
    /// are forgotten when they take too much.
    fn forget_what_is_too_much(&mut self, memory: usize, habit_bytes: usize) {
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
        limits: &'a Limits,
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

    /// Whether moves are worth what the best below them is.
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
    use ludex_game::{Game, MAX_RANDOM_STEPS};

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
