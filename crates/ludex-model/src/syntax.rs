//! The syntax tree of a model.
//!
//! Trees that differ only in positions are equal.

use ludex_base::Span;

/// A whole text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Model {
    /// The items, in the order written.
    pub items: Vec<Item>,
}

/// A position that comparisons ignore.
#[derive(Clone, Copy, Debug, Default)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

/// A name with its position.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// The text.
    pub text: String,
    /// The position.
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
        /// The condition.
        condition: Expr,
        /// The message when it does not hold.
        message: Option<String>,
    },
    /// `exists x: 1..3 where …;`
    Scope(Scope),
    /// `for (i in 1..n) { … }`
    For {
        /// The ranges of its names.
        generators: Vec<Generator>,
        /// The repeated items.
        body: Vec<Item>,
    },
    /// `if condition { … } else { … }`
    If {
        /// A condition on parameters.
        condition: Expr,
        /// The items if it holds.
        then: Vec<Item>,
        /// The items if it does not.
        otherwise: Vec<Item>,
    },
    /// `game { … }`
    Game(Game),
    /// `goal x > 0;`
    Goal(Expr),
    /// `goal x > 0 threshold 3 of 4;`: a goal with its own probability.
    LikelyGoal {
        /// The goal.
        goal: Expr,
        /// The probability with which it must hold.
        threshold: Fraction,
    },
    /// `threshold 3 of 4;`: the probability with which the other goals must hold together.
    Threshold(Fraction),
    /// `utility 2 * x;`: the value of a play in which the goals hold.
    Utility(Expr),
}

/// A parameter with its type and default.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The name.
    pub name: Name,
    /// The type.
    pub ty: Type,
    /// The value if the data gives none.
    pub default: Option<Expr>,
}

/// A name for a value; with an index, for one member of a family.
#[derive(Clone, PartialEq, Debug)]
pub struct Let {
    /// The name.
    pub name: Name,
    /// The index, if the name is a family.
    pub index: Vec<Expr>,
    /// The value.
    pub value: Expr,
}

/// A function, or a predicate, whose value is true or false.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// The name.
    pub name: Name,
    /// The names of its arguments.
    pub arguments: Vec<Name>,
    /// The value.
    pub body: Expr,
}

/// The type of a name.
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
        /// The type of the members.
        of: Box<Type>,
    },
}

/// A scope of the prefix.
#[derive(Clone, PartialEq, Debug)]
pub struct Scope {
    /// The owner.
    pub quantifier: Quantifier,
    /// The variables.
    pub declarations: Vec<Declaration>,
    /// The conditions, criteria and other clauses.
    pub clauses: Vec<Clause>,
    /// The position of the whole scope.
    pub at: At,
}

/// The owner of a scope.
#[derive(Clone, PartialEq, Debug)]
pub enum Quantifier {
    /// The player who wants the goal to hold.
    Exists,
    /// The opponent.
    Forall,
    /// Chance.
    Random,
    /// One or another, by a condition on parameters and loop indices.
    If(Box<Expr>, Box<Quantifier>, Box<Quantifier>),
}

/// A variable of a scope.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// The name.
    pub name: Name,
    /// The index, if the name is a family with one member per round.
    pub index: Vec<Expr>,
    /// The type.
    pub ty: Type,
}

/// A clause of a scope.
#[derive(Clone, PartialEq, Debug)]
pub enum Clause {
    /// `let`: a name for a value that the choice determines.
    Let(Let),
    /// `where`: the restrictor of the choice.
    Where(Expr),
    /// `minimize` or `maximize`: the criterion of the choice.
    Optimize {
        /// Whether it is minimized.
        is_minimized: bool,
        /// The criterion.
        expr: Expr,
        /// How ties are broken.
        ties: Option<Name>,
        /// The position of the whole clause.
        at: At,
    },
    /// A name for an aggregate over the branches of a universal scope.
    Aggregate {
        /// The name.
        name: Name,
        /// The function: `sum`, `min`, ….
        function: Name,
        /// The aggregated expression.
        expr: Expr,
    },
    /// `order`: the order in which values are tried.
    Order(Expr),
    /// `symmetry x = y, y = x`: an exchange of earlier variables.
    Symmetry(Vec<Expr>),
    /// `nonblocking`: there is always a choice.
    NonBlocking,
    /// `weight e`, `weight e of n`: the weight of the drawn value relative to the others.
    Weight {
        /// The weight.
        weight: Expr,
        /// The sum of all weights, if given.
        total: Option<Expr>,
        /// The position of the whole clause.
        at: At,
    },
}

/// A probability, `3 of 4`.
#[derive(Clone, PartialEq, Debug)]
pub struct Fraction {
    /// The numerator.
    pub part: Expr,
    /// The denominator.
    pub whole: Expr,
}

/// A game: similar rounds from one state to the next.
#[derive(Clone, PartialEq, Debug)]
pub struct Game {
    /// The largest number of rounds.
    pub rounds: Expr,
    /// The players, in the order of their turns.
    pub players: Vec<Quantifier>,
    /// The clauses.
    pub clauses: Vec<GameClause>,
    /// The position of the word `game`.
    pub at: At,
}

/// A clause of a game.
#[derive(Clone, PartialEq, Debug)]
pub enum GameClause {
    /// `state left: 0..n = n;`
    State {
        /// The variable.
        name: Name,
        /// The type.
        ty: Type,
        /// The value before the first round.
        initial: Expr,
    },
    /// `let free = …;`: a name for a value of the state or, after the move, of the move.
    Let(Let),
    /// `move take: 1..3 where take <= left;`
    Move {
        /// The parts of the move.
        declarations: Vec<Declaration>,
        /// The conditions of a legal move.
        legal: Vec<Expr>,
        /// The order in which values are tried.
        order: Option<Expr>,
    },
    /// `next left = left - take;`
    Next {
        /// The state variable.
        name: Name,
        /// The value after the round.
        value: Expr,
    },
    /// `end when … loses;`
    End {
        /// The condition that ends the game, checked before a move.
        condition: Expr,
        /// The outcome for the player to move.
        outcome: Outcome,
    },
    /// `blocked passes;`
    Blocked {
        /// The outcome for a player without a move.
        outcome: Outcome,
        /// The position.
        at: At,
    },
    /// `symmetry board = …, height = …;`: a state with the same result.
    Symmetry(Vec<Expr>),
    /// `nonblocking;`: every round has a move.
    NonBlocking,
}

/// The outcome for the player to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The player loses.
    Loses,
    /// The player wins.
    Wins,
    /// The game is over, and the goal decides.
    Ends,
    /// The player passes; when all pass in succession, the game is over and the goal decides.
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

    /// Returns the word in the language.
    pub fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, outcome)| *outcome == self);
        found.expect("every outcome is in the list").0
    }
}

/// An expression with its position.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The kind.
    pub kind: ExprKind,
    /// The position.
    pub at: At,
}

/// The kind of an expression.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A number.
    Int(i64),
    /// `true` or `false`.
    Bool(bool),
    /// A name.
    Name(String),
    /// `_`, a whole dimension.
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
    /// `optimum { … }`, the optimal value of an inner model.
    Optimum(Vec<Item>),
}

/// `i, j in S where c`.
#[derive(Clone, PartialEq, Debug)]
pub struct Generator {
    /// The names.
    pub names: Vec<Name>,
    /// The set or array they range over.
    pub over: Expr,
    /// The condition on them.
    pub condition: Option<Expr>,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// `-`
    Neg,
    /// `not`
    Not,
}

/// Operators with two operands.
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

    /// Finds the operator of a sign or word, with its rank and grouping.
    pub fn find(sign: &str) -> Option<(Binary, u8, Grouping)> {
        let sign = if sign == "==" { "=" } else { sign };
        let found = Self::ALL.iter().find(|(own, ..)| *own == sign)?;
        Some((found.1, found.2, found.3))
    }

    /// Returns the sign or word of the operator, its rank and its grouping.
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

/// Keywords inside items.
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

/// Iterates over the keywords, which can't be names.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    ITEM_KEYWORDS.iter().chain(INNER_KEYWORDS).copied()
}

/// Whether a word is a keyword.
pub fn is_keyword(word: &str) -> bool {
    keywords().any(|own| own == word)
}

/// Iterates over the words that begin an item.
pub fn item_starts() -> impl Iterator<Item = &'static str> {
    ITEM_KEYWORDS.iter().chain(ITEM_WORDS).copied()
}

/// Words reserved for future use.
pub const RESERVED: &[&str] = &["chance"];
