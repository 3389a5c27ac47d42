//! Which games a search is meant for, and what it promises there.

/// Which games a search is meant for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GamesMeant {
    /// The fewest roles, `random` not counted.
    pub min_roles: usize,
    /// The most roles, `random` not counted.
    pub max_roles: usize,
    /// Games in which several roles choose at once.
    pub simultaneous: bool,
    /// Games with `random`.
    pub chance: bool,
    /// Games in which roles do not know the state.
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
    /// Every game whose state is known to all.
    pub const COMPLETE: Self = Self { hidden_information: false, ..Self::ANY };

    /// Whether a game with these features is one of them.
    pub fn covers(&self, features: &GameFeatures) -> bool {
        (self.min_roles..=self.max_roles).contains(&features.n_roles)
            && (self.simultaneous || !features.simultaneous)
            && (self.chance || !features.chance)
            && (self.hidden_information || !features.hidden_information)
    }
}

/// What a search has to know about a game to say whether it is meant for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameFeatures {
    /// Roles, `random` not counted.
    pub n_roles: usize,
    /// Several roles, `random` not counted, choose at once in some state.
    pub simultaneous: bool,
    /// There is a role `random`.
    pub chance: bool,
    /// Roles see only their own moves and percepts.
    pub hidden_information: bool,
}

/// What a search promises; the conformance suite tests each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Its moves are legal, in whatever time.
    Legal,
    /// Finds a win in one, avoids a loss in one, and never loses a small game it need not lose.
    NeverLoses,
    /// Takes the best goal that play for one's own goal allows, also where goals do not sum up to
    /// a constant.
    BestGoal,
    /// Approaches a mixed equilibrium where pure play can be exploited.
    Mixes,
    /// Plays well without knowing the state: by how likely the possible states are.
    HiddenInformation,
    /// Pays for information if that is worth it, and only then.
    ValuesInformation,
}

impl Claim {
    /// The claim in one word, for reports.
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
