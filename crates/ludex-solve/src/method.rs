//! The list of methods.

use crate::Kind;

/// A way to solve a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Constraints on the final state of a puzzle; see [`crate::puzzle::placement`].
    Placement,
    /// The parts of a game, solved one by one; see [`crate::decomposed`].
    Parts,
    /// Best-first search of a puzzle; see [`crate::puzzle::best_first`].
    BestFirst,
    /// Random plays that lean towards the best line; see [`crate::puzzle::nested`].
    Nested,
    /// Constraints on all steps of a puzzle; see [`crate::puzzle::unrolled`].
    Unrolled,
    /// Clauses over all steps of a puzzle; see [`crate::puzzle::satisfiable`].
    Sat,
    /// A* search of a puzzle; see [`crate::puzzle::best_first`].
    AStar,
    /// Dijkstra's algorithm on a puzzle; see [`crate::puzzle::best_first`].
    Dijkstra,
    /// A* search of a puzzle by iterative deepening; see [`crate::puzzle::deepening`].
    IdaStar,
    /// Beam search of a puzzle; see [`crate::puzzle::beam`].
    Beam,
    /// Depth-first search of a puzzle by the number of ways on; see [`crate::puzzle::dive`].
    Dive,
    /// Breadth-first search of a puzzle; see [`crate::puzzle::breadth`].
    Breadth,
    /// All states of a game, and winning regions or backward induction; see [`crate::duel`].
    Graph,
    /// Alpha-beta for two roles; see [`crate::duel`].
    AlphaBeta,
    /// Proof-number search for two roles; see [`crate::duel`].
    ProofNumber,
    /// Expectimax with Star2 for chance; see [`crate::duel`].
    Expectimax,
}

/// All methods, in the order of the help text.
pub static METHODS: &[Method] = &[
    Method::Placement,
    Method::Parts,
    Method::BestFirst,
    Method::Dive,
    Method::Breadth,
    Method::Beam,
    Method::Nested,
    Method::Sat,
    Method::Unrolled,
    Method::AStar,
    Method::IdaStar,
    Method::Dijkstra,
    Method::Graph,
    Method::AlphaBeta,
    Method::ProofNumber,
    Method::Expectimax,
];

impl Method {
    /// Returns its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Placement => "placement",
            Method::Parts => "parts",
            Method::BestFirst => "best-first",
            Method::Nested => "nested",
            Method::Sat => "sat",
            Method::Unrolled => "unrolled",
            Method::AStar => "astar",
            Method::Dijkstra => "dijkstra",
            Method::IdaStar => "idastar",
            Method::Beam => "beam",
            Method::Dive => "dive",
            Method::Breadth => "breadth",
            Method::Graph => "graph",
            Method::AlphaBeta => "alphabeta",
            Method::ProofNumber => "proof-number",
            Method::Expectimax => "expectimax",
        }
    }

    /// Returns what it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Method::Placement => "solve a puzzle as one constraint network over its final state",
            Method::Parts => "take a game apart, and solve its parts one by one",
            Method::BestFirst => "visit the states of a puzzle that look nearest to the goal first",
            Method::Nested => "play a puzzle at random, leaning towards the best line",
            Method::Sat => "solve a puzzle as clauses over all its steps",
            Method::Unrolled => "solve a puzzle as one constraint network over all its steps",
            Method::AStar => "find a shortest line of a puzzle by A*",
            Method::Dijkstra => {
                "find a shortest line of a puzzle without a bound of what is to come"
            }
            Method::IdaStar => "find a shortest line of a puzzle by A* in little memory",
            Method::Beam => "follow the states of a puzzle that look best, some at each step",
            Method::Dive => "follow the states of a puzzle with the fewest ways on, or the most",
            Method::Breadth => "visit the states of a puzzle in the order of their distance",
            Method::Graph => "list all states, and find winning regions or induce backward",
            Method::AlphaBeta => "ask what a role can force, depth first with a table",
            Method::ProofNumber => "ask what a role can force, where a proof looks smallest",
            Method::Expectimax => "search games with chance depth first, pruned by Star2",
        }
    }

    /// Returns whether it can solve games of this kind.
    pub fn fits(self, kind: Kind) -> bool {
        match self {
            Method::Placement
            | Method::BestFirst
            | Method::Breadth
            | Method::Dive
            | Method::Nested
            | Method::Sat
            | Method::Unrolled
            | Method::AStar
            | Method::Dijkstra
            | Method::IdaStar
            | Method::Beam => kind == Kind::Puzzle,
            Method::Parts => matches!(kind, Kind::Puzzle | Kind::Duel),
            Method::Graph => matches!(kind, Kind::Duel | Kind::Many | Kind::Chance),
            Method::AlphaBeta | Method::ProofNumber => kind == Kind::Duel,
            Method::Expectimax => kind == Kind::Chance,
        }
    }

    /// Returns whether it is used without being asked for. Searches for shortest lines are not: the
    /// others find some line of the best goal sooner. Constraints on all steps are not: clauses are
    /// solved sooner.
    pub fn is_usual(self) -> bool {
        use Method::{AStar, Dijkstra, IdaStar, Unrolled};
        !matches!(self, AStar | Dijkstra | IdaStar | Unrolled)
    }

    /// Returns the method with this name.
    pub fn by_name(name: &str) -> Option<Method> {
        METHODS.iter().copied().find(|method| method.name() == name)
    }
}
