//! The games a search is meant for, and what it promises there.

/// The games a search is meant for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GamesMeant {
    /// The smallest number of roles, not counting `random`.
    pub min_roles: usize,
    /// The largest number of roles, not counting `random`.
    pub max_roles: usize,
    /// Whether it is meant for games with simultaneous choices.
    pub simultaneous: bool,
    /// Whether it is meant for games with the role `random`.
    pub chance: bool,
    /// Whether it is meant for games in which roles do not know the state.
    pub hidden_information: bool,
}

impl GamesMeant {
    /// Every game.
    pub const ANY: Self = Self {
        min_roles: 1,
        max_roles: usize::MAX,
        simultaneous: true,
        chance: true,
        hidden_information: true,
    };
    /// Every game with complete information.
    pub const COMPLETE: Self = Self { hidden_information: false, ..Self::ANY };

    /// Whether a game with these features is covered.
    pub fn covers(&self, features: &GameFeatures) -> bool {
        (self.min_roles..=self.max_roles).contains(&features.n_roles)
            && (self.simultaneous || !features.simultaneous)
            && (self.chance || !features.chance)
            && (self.hidden_information || !features.hidden_information)
    }
}

/// The features of a game that decide whether a search is meant for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameFeatures {
    /// The number of roles, not counting `random`.
    pub n_roles: usize,
    /// Whether several roles, not counting `random`, choose simultaneously in some state.
    pub simultaneous: bool,
    /// Whether there is a role `random`.
    pub chance: bool,
    /// Whether roles see only their own moves and percepts.
    pub hidden_information: bool,
}

/// A promise of a search; the conformance suite tests each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Its moves are legal under any time limit.
    Legal,
    /// It finds a win in one, avoids a loss in one, and never loses a small game that it can draw
    /// or win.
    NeverLoses,
    /// It reaches the best goal possible when every role plays for its own goal, also in games that
    /// are not constant-sum.
    BestGoal,
    /// It approaches a mixed equilibrium in games where a pure strategy can be exploited.
    Mixes,
    /// It plays well in hidden states by weighing the possible states by their probabilities.
    HiddenInformation,
    /// It pays for information exactly when the information is worth its price.
    ValuesInformation,
}

impl Claim {
    /// Returns the claim in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Claim::Legal => "legal",
            Claim::NeverLoses => "never-loses",
            Claim::BestGoal => "best-goal",
            Claim::Mixes => "mixes",
            Claim::HiddenInformation => "hidden-information",
            Claim::ValuesInformation => "values-information",
        }
    }
}
