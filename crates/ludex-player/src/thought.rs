//! Thoughts: what a player reports about its choice.

use std::time::Duration;

use ludex_base::MoveId;
pub use ludex_macucb::NetworkWork;

/// A move, and how the player chose it.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The move; `None` when only its text is known, because the engine panicked.
    pub chosen: Option<MoveId>,
    /// The move as the rulesheet writes it.
    pub text: String,
    /// How the player chose it.
    pub thought: Thought,
}

/// How a player chose a move.
#[derive(Clone, PartialEq, Debug)]
pub struct Thought {
    /// The rung of the ladder that yielded the move.
    pub rung: Rung,
    /// Name of the search; empty when none ran.
    pub search: String,
    /// Expected goal, 0 to 100.
    pub goal: Option<f64>,
    /// Whether that goal is proved, under the assumptions of the search.
    pub is_proven: bool,
    /// Iterations or nodes.
    pub n_iterations: u64,
    /// Playouts.
    pub n_playouts: u64,
    /// Depth of the search, in steps.
    pub depth: u32,
    /// Expected line of play: joint moves as texts, in role order.
    pub line: Vec<Vec<String>>,
    /// Time since the player was asked for the move.
    pub time: Duration,
    /// Why better rungs gave no move, or another remark; mostly empty.
    pub note: String,
    /// Work on constraint networks, by searches that use them.
    pub network: Option<NetworkWork>,
}

/// The ladder of fallbacks, from best to worst: how a move was made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rung {
    /// The role had only one legal move.
    Forced,
    /// The search chose the move.
    Search,
    /// The search did not answer in time, and its hint was played.
    Hint,
    /// The search failed, and a search on the reasoner chose the move.
    Reasoner,
    /// Nothing chose in time, and a legal move was drawn at random.
    Random,
    /// The legal moves are unknown, and a move that was legal in an earlier state was played.
    Guess,
}

impl Rung {
    /// All rungs, from best to worst.
    pub const ALL: [Rung; 6] =
        [Rung::Forced, Rung::Search, Rung::Hint, Rung::Reasoner, Rung::Random, Rung::Guess];

    /// The rung in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Rung::Forced => "forced",
            Rung::Search => "search",
            Rung::Hint => "hint",
            Rung::Reasoner => "reasoner",
            Rung::Random => "random",
            Rung::Guess => "guess",
        }
    }

    /// Whether the move comes from a fallback and not from the search.
    pub fn is_fallback(self) -> bool {
        self > Rung::Search
    }
}

impl Thought {
    /// The thought of a choice made without a search.
    pub fn none(rung: Rung) -> Self {
        Self {
            rung,
            search: String::new(),
            goal: None,
            is_proven: false,
            n_iterations: 0,
            n_playouts: 0,
            depth: 0,
            line: Vec::new(),
            time: Duration::ZERO,
            note: String::new(),
            network: None,
        }
    }
}
