//! The codes of all diagnostics, each with its page in `docs/diagnostics`.
//!
//! Diagnostics of later stages about the rulesheet are listed here too, so that all pages are in
//! one place.

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$meta])* pub const $name: &str = $code;)*

        /// Every code, from the first stage to the last.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

codes! {
    // Bytes to text.
    /// The bytes are not UTF-8.
    NOT_UTF8 = "not-utf8";
    /// The rulesheet exceeds the size limit.
    TOO_LARGE = "too-large";

    // Text to tree, both forms.
    /// Forms are nested deeper than the limit.
    TOO_DEEP = "too-deep";
    /// A clause has more arguments in one place, or more variables, than the limit.
    TOO_WIDE = "too-wide";
    /// A parenthesis without its partner.
    UNBALANCED_PARENTHESES = "unbalanced-parentheses";
    /// A rule without a head.
    EMPTY_RULE = "empty-rule";
    /// `()`.
    EMPTY_LIST = "empty-list";
    /// `?` alone.
    EMPTY_VARIABLE = "empty-variable";
    /// A connective with a wrong number of parts.
    CONNECTIVE_ARITY = "connective-arity";
    /// A connective in the place of a term or of a head.
    MISPLACED_CONNECTIVE = "misplaced-connective";
    /// A variable in the place of an atom.
    VARIABLE_AS_ATOM = "variable-as-atom";
    /// A variable in the place of the name of a relation or function.
    VARIABLE_AS_NAME = "variable-as-name";
    /// A list in the place of a name.
    LIST_AS_NAME = "list-as-name";

    // Text to tree, infix form only.
    /// A token that does not fit here.
    UNEXPECTED_TOKEN = "unexpected-token";
    /// A clause without a full stop at its end.
    MISSING_FULL_STOP = "missing-full-stop";
    /// A quote without its partner.
    UNCLOSED_QUOTE = "unclosed-quote";
    /// A quoted name that prefix form cannot write.
    UNWRITABLE_NAME = "unwritable-name";

    // Mistakes in the tree itself.
    /// A variable that no positive literal binds.
    UNSAFE_RULE = "unsafe-rule";
    /// Conditions of which none can be evaluated first.
    UNBOUND_CALL = "unbound-call";
    /// Rules or equations make terms larger than the limit.
    HUGE_TERM = "huge-term";
    /// A relation with two numbers of arguments.
    ARITY_CLASH = "arity-clash";
    /// A keyword with a wrong number of arguments.
    KEYWORD_ARITY = "keyword-arity";
    /// A function with two numbers of arguments.
    FUNCTION_ARITY = "function-arity";
    /// `true` or `does` in a head.
    KEYWORD_IN_HEAD = "keyword-in-head";
    /// `next` in a body.
    NEXT_IN_BODY = "next-in-body";
    /// `sees` in a body.
    SEES_IN_BODY = "sees-in-body";
    /// A goal value that is not a number from 0 to 100.
    GOAL_VALUE = "goal-value";
    /// A name in the place of a role that is not a role.
    UNKNOWN_ROLE = "unknown-role";
    /// A clause written twice.
    DUPLICATE_CLAUSE = "duplicate-clause";
    /// A `distinct` that always or never holds.
    CONSTANT_DISTINCT = "constant-distinct";
    /// A body that contains both an atom and its negation.
    CONTRADICTION = "contradiction";

    // Missing, undefined and unused names.
    /// No `role`.
    MISSING_ROLE = "missing-role";
    /// No `legal`.
    MISSING_LEGAL = "missing-legal";
    /// No `terminal`.
    MISSING_TERMINAL = "missing-terminal";
    /// No `goal`.
    MISSING_GOAL = "missing-goal";
    /// No `init`.
    MISSING_INIT = "missing-init";
    /// No `next`.
    MISSING_NEXT = "missing-next";
    /// A relation that no clause defines.
    UNDEFINED_RELATION = "undefined-relation";
    /// A relation that no clause uses.
    UNUSED_RELATION = "unused-relation";
    /// A fluent that no clause makes true.
    UNREACHABLE_FLUENT = "unreachable-fluent";
    /// A move that no clause allows.
    UNREACHABLE_MOVE = "unreachable-move";
    /// `base` and the rules name different fluents.
    BASE_DISAGREES = "base-disagrees";
    /// `input` and the rules name different moves.
    INPUT_DISAGREES = "input-disagrees";

    // Dependencies.
    /// The rules derive more roles than the limit.
    TOO_MANY_ROLES = "too-many-roles";
    /// A role that depends on the state.
    ROLE_NOT_STATIC = "role-not-static";
    /// A role that is derived by a rule.
    ROLE_BY_RULE = "role-by-rule";
    /// `init` depends on the state or on moves.
    INIT_DEPENDS_ON_STATE = "init-depends-on-state";
    /// `base` or `input` depends on the state.
    DECLARATION_DEPENDS_ON_STATE = "declaration-depends-on-state";
    /// `does` is used before the moves are known.
    DOES_OUTSIDE_TRANSITION = "does-outside-transition";
    /// A relation depends on its own negation, but its ground atoms may not.
    STRATIFIED_WHEN_GROUND = "stratified-when-ground";
    /// An atom depends on its own negation.
    NEGATIVE_CYCLE = "negative-cycle";
    /// Recursion beyond what the language allows.
    UNRESTRICTED_RECURSION = "unrestricted-recursion";
    /// Grounding does not end.
    ENDLESS_GROUNDING = "endless-grounding";
}
