//! The tree of a model as it was written.
//!
//! Places are no part of what a tree is: trees that differ only in places are equal.

use ludex_base::Span;

/// A whole text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Model {
    /// Its items, in the order written.
    pub items: Vec<Item>,
}

/// A place that comparisons don't see.
#[derive(Clone, Copy, Debug, Default)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

/// A name where it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// Its letters.
    pub text: String,
    /// Where it stands.
    pub at: At,
}

/// One statement of a model.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// `param n: int = 3;`
    Param(Param),
    /// `enum Color = {red, green};`
    Enum {
        /// The name of the set.
        name: Name,
        /// Its members.
        members: Vec<Name>,
    },
    /// `let half = n div 2;`
    Let(Let),
    /// `function double(x) = 2 * x;`
    Function(Function),
    /// `assert n > 0, "there must be a match";`
    Assert {
        /// What must hold.
        condition: Expr,
        /// What to say when it does not.
        message: Option<String>,
    },
    /// `exists x: 1..3 where …;`
    Scope(Scope),
    /// `for (i in 1..n) { … }`
    For {
        /// What it runs through.
        generators: Vec<Generator>,
        /// What is repeated.
        body: Vec<Item>,
    },
    /// `if condition { … } else { … }`
    If {
        /// A condition on parameters.
        condition: Expr,
        /// Taken when it holds.
        then: Vec<Item>,
        /// Taken when it does not.
        otherwise: Vec<Item>,
    },
    /// `game { … }`
    Game(Game),
    /// `goal x > 0;`
    Goal(Expr),
    /// `goal x > 0 threshold 3 of 4;`: a goal with a probability of its own.
    LikelyGoal {
        /// What has to hold.
        goal: Expr,
        /// How likely.
        threshold: Fraction,
    },
    /// `threshold 3 of 4;`: how likely the other goals have to hold together.
    Threshold(Fraction),
    /// `utility 2 * x;`: what a play is worth in which the goals hold.
    Utility(Expr),
}

/// A parameter, its type, and its value where none is given.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// What its values are.
    pub ty: Type,
    /// The value where the data gives none.
    pub default: Option<Expr>,
}

/// A name for a value; with an index, for one member of a family.
#[derive(Clone, PartialEq, Debug)]
pub struct Let {
    /// The name.
    pub name: Name,
    /// The index, where the name is a family.
    pub index: Vec<Expr>,
    /// The value.
    pub value: Expr,
}

/// A function, or a predicate, which is one whose value is true or false.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// The names of its arguments.
    pub arguments: Vec<Name>,
    /// Its value.
    pub body: Expr,
}

/// What values a name can have.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// `int`
    Int,
    /// `bool`
    Bool,
    /// `set of int`
    Set,
    /// The members of a set.
    Domain(Expr),
    /// `array[1..n, 1..m] of …`
    Array {
        /// The index sets.
        dimensions: Vec<Expr>,
        /// What the places hold.
        of: Box<Type>,
    },
}

/// One step of the prefix.
#[derive(Clone, PartialEq, Debug)]
pub struct Scope {
    /// Who chooses.
    pub quantifier: Quantifier,
    /// What is chosen.
    pub declarations: Vec<Declaration>,
    /// What holds of it and what it is chosen for.
    pub clauses: Vec<Clause>,
    /// The whole scope.
    pub at: At,
}

/// Who chooses.
#[derive(Clone, PartialEq, Debug)]
pub enum Quantifier {
    /// The player who wants the goal.
    Exists,
    /// The player who does not.
    Forall,
    /// Nobody: it is drawn.
    Random,
    /// One or the other, by a condition on parameters and the indices of loops.
    If(Box<Expr>, Box<Quantifier>, Box<Quantifier>),
}

/// A variable of a scope.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: Name,
    /// The index, where the name is a family with a member a round.
    pub index: Vec<Expr>,
    /// Its values.
    pub ty: Type,
}

/// What is said about a scope.
#[derive(Clone, PartialEq, Debug)]
pub enum Clause {
    /// A name for what the choice determines.
    Let(Let),
    /// What the choice must keep to.
    Where(Expr),
    /// What the choice is made for.
    Optimize {
        /// Whether small is good.
        is_minimized: bool,
        /// What is to be small or large.
        expr: Expr,
        /// How ties are settled.
        ties: Option<Name>,
        /// The whole clause.
        at: At,
    },
    /// A name for what the branches of a universal scope come to.
    Aggregate {
        /// The name.
        name: Name,
        /// The function: `sum`, `min`, ….
        function: Name,
        /// What is aggregated.
        expr: Expr,
    },
    /// In which order values are tried.
    Order(Expr),
    /// `symmetry x = y, y = x`: what earlier variables may be exchanged for.
    Symmetry(Vec<Expr>),
    /// `nonblocking`: there is a choice however the scope is reached.
    NonBlocking,
    /// `weight e`, `weight e of n`: how likely what is drawn is, against the other values.
    Weight {
        /// The weight.
        weight: Expr,
        /// What all weights sum to, if that is said.
        total: Option<Expr>,
        /// The whole clause.
        at: At,
    },
}

/// A probability, `3 of 4`.
#[derive(Clone, PartialEq, Debug)]
pub struct Fraction {
    /// How many cases.
    pub part: Expr,
    /// Of how many.
    pub whole: Expr,
}

/// A game: rounds of one form, from one state to the next.
#[derive(Clone, PartialEq, Debug)]
pub struct Game {
    /// How many rounds at most.
    pub rounds: Expr,
    /// Who moves, in turn.
    pub players: Vec<Quantifier>,
    /// Names and state variables, the move, and what becomes of it.
    pub clauses: Vec<GameClause>,
    /// The word `game`.
    pub at: At,
}

/// What is said about a game.
#[derive(Clone, PartialEq, Debug)]
pub enum GameClause {
    /// `state left: 0..n = n;`
    State {
        /// The variable.
        name: Name,
        /// Its values.
        ty: Type,
        /// Its value before the first round.
        initial: Expr,
    },
    /// `let free = …;`, of the state before the move, or of the move when it stands after it.
    Let(Let),
    /// `move take: 1..3 where take <= left;`
    Move {
        /// What is chosen.
        declarations: Vec<Declaration>,
        /// When it may be chosen.
        legal: Vec<Expr>,
        /// In which order values are tried.
        order: Option<Expr>,
    },
    /// `next left = left - take;`
    Next {
        /// The state variable.
        name: Name,
        /// Its value after the round.
        value: Expr,
    },
    /// `end when … loses;`
    End {
        /// When the game is over, before a move.
        condition: Expr,
        /// What that means for the player to move.
        outcome: Outcome,
    },
    /// `blocked passes;`
    Blocked {
        /// What it means to have no move.
        outcome: Outcome,
        /// Where it is said.
        at: At,
    },
    /// `symmetry board = …, height = …;`: states that are as good.
    Symmetry(Vec<Expr>),
    /// `nonblocking;`: there is a move in every round.
    NonBlocking,
}

/// What becomes of the player to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// He loses.
    Loses,
    /// He wins.
    Wins,
    /// The game is over, and the goal decides.
    Ends,
    /// He passes; when all pass in turn the game is over and the goal decides.
    Passes,
}

impl Outcome {
    /// The outcomes with their words.
    pub const ALL: [(&'static str, Outcome); 4] = [
        ("loses", Outcome::Loses),
        ("wins", Outcome::Wins),
        ("ends", Outcome::Ends),
        ("passes", Outcome::Passes),
    ];

    /// The word in the language.
    pub fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, outcome)| *outcome == self);
        found.expect("every outcome is in the list").0
    }
}

/// An expression with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is.
    pub at: At,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A number.
    Int(i64),
    /// `true` or `false`.
    Bool(bool),
    /// A name.
    Name(String),
    /// `_`, the whole of a dimension.
    All,
    /// `-x` or `not x`.
    Unary(Unary, Box<Expr>),
    /// `x + y`
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `if c then a elseif … else b endif`
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// `a[i, j]`
    Index(Box<Expr>, Vec<Expr>),
    /// `f(x, y)`
    Call(Name, Vec<Expr>),
    /// `f(i in S where c)(e)`
    Fold(Name, Vec<Generator>, Box<Expr>),
    /// `[a, b, c]`
    List(Vec<Expr>),
    /// `[| 1, 2 | 3, 4 |]`
    Rows(Vec<Vec<Expr>>),
    /// `[e | i in S where c]`
    Each(Box<Expr>, Vec<Generator>),
    /// `{1, 3, 5}`
    Set(Vec<Expr>),
    /// `{e | i in S where c}`
    SetOf(Box<Expr>, Vec<Generator>),
    /// `let { x = e; y = f } in g`
    Let(Vec<(Name, Expr)>, Box<Expr>),
    /// `optimum { … }`, the value of a model of its own.
    Optimum(Vec<Item>),
}

/// `i, j in S where c`.
#[derive(Clone, PartialEq, Debug)]
pub struct Generator {
    /// The names.
    pub names: Vec<Name>,
    /// The set or array they run through.
    pub over: Expr,
    /// What must hold of them.
    pub condition: Option<Expr>,
}

/// Operators on one thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// `-`
    Neg,
    /// `not`
    Not,
}

/// Operators on two things.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    /// `<->`
    Iff,
    /// `->`
    Implies,
    /// `<-`
    ImpliedBy,
    /// `\/`
    Or,
    /// `xor`
    Xor,
    /// `/\`
    And,
    /// `=`, also `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `subset`
    Subset,
    /// `union`
    Union,
    /// `diff`
    Diff,
    /// `..`
    Range,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `++`
    Concat,
    /// `*`
    Mul,
    /// `div`
    Div,
    /// `mod`
    Mod,
    /// `intersect`
    Intersect,
    /// `^`
    Pow,
}

/// How operators of one rank group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a ^ b ^ c` is `a ^ (b ^ c)`.
    Right,
    /// `a < b < c` is refused.
    None,
}

impl Binary {
    /// Each operator with its rank, 1 for the loosest, and its grouping.
    pub const ALL: [(&'static str, Binary, u8, Grouping); 25] = [
        ("<->", Binary::Iff, 1, Grouping::Left),
        ("->", Binary::Implies, 2, Grouping::Right),
        ("<-", Binary::ImpliedBy, 2, Grouping::Left),
        ("\\/", Binary::Or, 3, Grouping::Left),
        ("xor", Binary::Xor, 3, Grouping::Left),
        ("/\\", Binary::And, 4, Grouping::Left),
        ("=", Binary::Eq, 5, Grouping::None),
        ("!=", Binary::Ne, 5, Grouping::None),
        ("<", Binary::Lt, 5, Grouping::None),
        ("<=", Binary::Le, 5, Grouping::None),
        (">", Binary::Gt, 5, Grouping::None),
        (">=", Binary::Ge, 5, Grouping::None),
        ("in", Binary::In, 5, Grouping::None),
        ("subset", Binary::Subset, 5, Grouping::None),
        ("union", Binary::Union, 6, Grouping::Left),
        ("diff", Binary::Diff, 6, Grouping::Left),
        ("..", Binary::Range, 7, Grouping::None),
        ("+", Binary::Add, 8, Grouping::Left),
        ("-", Binary::Sub, 8, Grouping::Left),
        ("++", Binary::Concat, 8, Grouping::Left),
        ("*", Binary::Mul, 9, Grouping::Left),
        ("div", Binary::Div, 9, Grouping::Left),
        ("mod", Binary::Mod, 9, Grouping::Left),
        ("intersect", Binary::Intersect, 9, Grouping::Left),
        ("^", Binary::Pow, 10, Grouping::Right),
    ];

    /// The operator of this sign or word, with its rank and grouping.
    pub fn find(sign: &str) -> Option<(Binary, u8, Grouping)> {
        let sign = if sign == "==" { "=" } else { sign };
        let found = Self::ALL.iter().find(|(own, ..)| *own == sign)?;
        Some((found.1, found.2, found.3))
    }

    /// The sign or word of the operator, its rank and its grouping.
    pub fn about(self) -> (&'static str, u8, Grouping) {
        let found = Self::ALL.iter().find(|(_, own, ..)| *own == self);
        let found = found.expect("every operator is in the list");
        (found.0, found.2, found.3)
    }
}

/// Keywords that begin an item.
pub const ITEM_KEYWORDS: &[&str] = &[
    "param",
    "enum",
    "let",
    "function",
    "predicate",
    "assert",
    "exists",
    "forall",
    "random",
    "for",
    "if",
    "game",
    "goal",
];

/// Words that begin an item and are names elsewhere.
pub const ITEM_WORDS: &[&str] = &["threshold", "utility"];

/// Keywords that stand inside of items.
const INNER_KEYWORDS: &[&str] = &[
    "where",
    "minimize",
    "maximize",
    "aggregate",
    "then",
    "else",
    "elseif",
    "endif",
    "in",
    "not",
    "div",
    "mod",
    "xor",
    "union",
    "intersect",
    "diff",
    "subset",
    "true",
    "false",
    "array",
    "of",
    "set",
    "int",
    "bool",
    "chance",
    "optimum",
];

/// The keywords: words that are no names.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    ITEM_KEYWORDS.iter().chain(INNER_KEYWORDS).copied()
}

/// Whether a word is a keyword.
pub fn is_keyword(word: &str) -> bool {
    keywords().any(|own| own == word)
}

/// The words that begin an item.
pub fn item_starts() -> impl Iterator<Item = &'static str> {
    ITEM_KEYWORDS.iter().chain(ITEM_WORDS).copied()
}

/// A word kept for what may come.
pub const RESERVED: &[&str] = &["chance"];
