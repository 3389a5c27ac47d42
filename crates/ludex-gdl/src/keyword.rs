//! The keywords of GDL.

/// The role that stands for chance: it plays each of its legal moves equally likely.
pub const RANDOM_ROLE: &str = "random";

/// Returns whether a name is that of the role `random`, in any letter case.
pub fn is_random_role(name: &str) -> bool {
    name.eq_ignore_ascii_case(RANDOM_ROLE)
}

/// A relation with a predefined meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Keyword {
    /// `(role R)`: R is a role.
    Role,
    /// `(base F)`: F may become true; informative only.
    Base,
    /// `(input R M)`: R may play M at some time; informative only.
    Input,
    /// `(init F)`: F is true at the beginning.
    Init,
    /// `(true F)`: F is true now.
    True,
    /// `(does R M)`: R plays M now.
    Does,
    /// `(legal R M)`: R may play M now.
    Legal,
    /// `(next F)`: F is true in the next state.
    Next,
    /// `(sees R P)`: R perceives P in the next state.
    Sees,
    /// `(goal R V)`: V is the goal value of R.
    Goal,
    /// `terminal`: the game is over.
    Terminal,
}

impl Keyword {
    /// Returns whether it declares what may occur: `base` and `input`.
    pub(crate) fn is_declaration(self) -> bool {
        matches!(self, Keyword::Base | Keyword::Input)
    }

    /// All keywords; the position is the index of their relation in every program.
    pub const ALL: [Keyword; 11] = [
        Keyword::Role,
        Keyword::Base,
        Keyword::Input,
        Keyword::Init,
        Keyword::True,
        Keyword::Does,
        Keyword::Legal,
        Keyword::Next,
        Keyword::Sees,
        Keyword::Goal,
        Keyword::Terminal,
    ];

    /// Returns the word.
    pub fn name(self) -> &'static str {
        match self {
            Keyword::Role => "role",
            Keyword::Base => "base",
            Keyword::Input => "input",
            Keyword::Init => "init",
            Keyword::True => "true",
            Keyword::Does => "does",
            Keyword::Legal => "legal",
            Keyword::Next => "next",
            Keyword::Sees => "sees",
            Keyword::Goal => "goal",
            Keyword::Terminal => "terminal",
        }
    }

    /// Returns the number of arguments.
    pub fn arity(self) -> usize {
        match self {
            Keyword::Terminal => 0,
            Keyword::Role | Keyword::Base | Keyword::Init | Keyword::True | Keyword::Next => 1,
            Keyword::Input | Keyword::Does | Keyword::Legal | Keyword::Sees | Keyword::Goal => 2,
        }
    }

    /// Parses a keyword, in any letter case.
    pub fn parse(name: &str) -> Option<Keyword> {
        Keyword::ALL.into_iter().find(|keyword| keyword.name().eq_ignore_ascii_case(name))
    }
}
