//! What a player says about its choice.

use std::time::Duration;

use ludex_base::MoveId;
pub use ludex_macucb::NetworkWork;

/// A move, and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The move; `None` when only its text is known, because the engine broke down.
    pub chosen: Option<MoveId>,
    /// The move as the rulesheet writes it.
    pub text: String,
    /// How it came about.
    pub thought: Thought,
}

/// How a choice came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Thought {
    /// How far down the ladder it was made.
    pub rung: Rung,
    /// What searched; empty when nothing did.
    pub search: String,
    /// The goal that is expected, 0 to 100.
    pub goal: Option<f64>,
    /// Whether that is proved, under the assumptions of the search.
    pub is_proven: bool,
    /// Iterations or nodes.
    pub n_iterations: u64,
    /// Playouts.
    pub n_playouts: u64,
    /// How deep it looked, in steps.
    pub depth: u32,
    /// The line of play it expects: joint moves as texts, role by role.
    pub line: Vec<Vec<String>>,
    /// How long the search took.
    pub time: Duration,
    /// Why the rungs above were left; empty when they were not.
    pub note: String,
    /// What was done on constraint networks, by searches that have them.
    pub network: Option<NetworkWork>,
}

/// The ladder, from the move that was meant to the move that is left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rung {
    /// There was only one legal move.
    Forced,
    /// The search chose.
    Search,
    /// The search did not come back in time: the move it would have answered with then.
    Hint,
    /// The search broke down, and a search on the reasoner chose.
    Reasoner,
    /// Nothing was chosen in time: a legal move was drawn.
    Random,
    /// Not even the legal moves were known in time: a move that was legal elsewhere.
    Guess,
}

impl Rung {
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

    /// Whether the move is not the one that was meant to be.
    pub fn is_fallback(self) -> bool {
        self > Rung::Search
    }
}

impl Thought {
    /// A choice without thought.
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
