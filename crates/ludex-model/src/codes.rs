//! The codes of the diagnostics of the language; `docs/language.md` lists them all.

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$meta])* pub const $name: &str = $code;)*

        /// All codes, from the first stage to the last.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

codes! {
    // Text to tree.
    /// A character that begins no token.
    CHARACTER = "character";
    /// A comment or a text in quotes is not closed.
    UNCLOSED = "unclosed";
    /// A number is not a 64-bit integer.
    NUMBER = "number";
    /// The parser expected something else here.
    SYNTAX = "syntax";
    /// The text is nested too deeply.
    TOO_DEEP = "too-deep";
    /// A word is reserved for future use.
    RESERVED = "reserved-word";

    // Names.
    /// A name is not declared.
    UNKNOWN_NAME = "unknown-name";
    /// A variable is used before the scope that chooses it.
    USED_BEFORE_SCOPE = "used-before-scope";
    /// A restrictor uses a variable of a later scope.
    LATER_VARIABLE = "later-variable";
    /// An aggregate or objective refers to no variable.
    UNKNOWN_VARIABLE = "unknown-variable";
    /// A name is declared twice.
    DUPLICATE_NAME = "duplicate-name";
    /// A function has a wrong number of arguments.
    ARGUMENTS = "arguments";

    // Data.
    /// A parameter has no value.
    MISSING_DATA = "missing-data";
    /// The data gives a parameter that the model does not have.
    UNKNOWN_PARAMETER = "unknown-parameter";
    /// The data does not fit its parameter.
    DATA_TYPE = "data-type";

    // Meaning.
    /// Operands have the wrong kind.
    TYPE = "type";
    /// A variable is used where a constant is required.
    NOT_CONSTANT = "not-constant";
    /// A variable has no values.
    EMPTY_DOMAIN = "empty-domain";
    /// An index is outside the array.
    INDEX = "index";
    /// A constant is undefined: a division by zero, or more than 64 bits.
    ARITHMETIC = "arithmetic";
    /// An assertion of the model does not hold.
    ASSERTION = "assertion";
    /// A clause is not allowed in its scope.
    MISPLACED = "misplaced";
    /// A global constraint is inside a disjunction or negation.
    GLOBAL_INSIDE = "global-inside";
    /// A recursion does not end.
    ENDLESS = "endless-recursion";
    /// The model exceeds a limit.
    TOO_LARGE = "too-large";
    /// A `random` scope or a utility does not give a stochastic network.
    CHANCE = "chance";
    /// The solver does not support the construct.
    UNSUPPORTED = "unsupported";
}
