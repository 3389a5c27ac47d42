//! The codes of the diagnostics of the language; `docs/language.md` has a row for each.

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$meta])* pub const $name: &str = $code;)*

        /// Every code, from the first stage to the last.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

codes! {
    // Text to tree.
    /// A character that begins no token.
    CHARACTER = "character";
    /// A comment or a text without its end.
    UNCLOSED = "unclosed";
    /// A number that is no integer of 64 bits.
    NUMBER = "number";
    /// Something else was expected here.
    SYNTAX = "syntax";
    /// Nested deeper than what is read.
    TOO_DEEP = "too-deep";
    /// A word that is kept for scopes of chance.
    RESERVED = "reserved-word";

    // Names.
    /// A name that nothing declares.
    UNKNOWN_NAME = "unknown-name";
    /// A variable before the scope that chooses it.
    USED_BEFORE_SCOPE = "used-before-scope";
    /// A restrictor that mentions a variable of a later scope.
    LATER_VARIABLE = "later-variable";
    /// An aggregate or objective of something that is no variable.
    UNKNOWN_VARIABLE = "unknown-variable";
    /// Two declarations of one name.
    DUPLICATE_NAME = "duplicate-name";
    /// A function with a wrong number of arguments.
    ARGUMENTS = "arguments";

    // Data.
    /// A parameter without a value.
    MISSING_DATA = "missing-data";
    /// Data for a parameter that the model does not have.
    UNKNOWN_PARAMETER = "unknown-parameter";
    /// Data that does not fit its parameter.
    DATA_TYPE = "data-type";

    // Meaning.
    /// Operands of a wrong kind.
    TYPE = "type";
    /// A variable in the place of a constant.
    NOT_CONSTANT = "not-constant";
    /// A variable with no values.
    EMPTY_DOMAIN = "empty-domain";
    /// An index outside the array.
    INDEX = "index";
    /// A constant that has no value: a division by zero, or more than 64 bits.
    ARITHMETIC = "arithmetic";
    /// An assertion of the model does not hold.
    ASSERTION = "assertion";
    /// A clause in a scope that can't have it.
    MISPLACED = "misplaced";
    /// A global constraint inside a disjunction or negation.
    GLOBAL_INSIDE = "global-inside";
    /// A recursion that does not end.
    ENDLESS = "endless-recursion";
    /// More than the limits allow.
    TOO_LARGE = "too-large";
    /// A scope of chance or a utility that makes no stochastic network.
    CHANCE = "chance";
    /// What the solver can't take.
    UNSUPPORTED = "unsupported";
}
