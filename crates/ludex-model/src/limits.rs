//! How large a model may be.

/// Limits on what a text unfolds to.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest text, in bytes.
    pub max_bytes: usize,
    /// Steps of evaluation.
    pub max_steps: usize,
    /// Parts of terms, counted with every copy.
    pub max_parts: usize,
    /// Members of a list or set that is written out.
    pub max_length: usize,
    /// Calls of functions inside calls.
    pub max_calls: usize,
    /// Depth of a term.
    pub max_depth: usize,
    /// Scopes.
    pub max_scopes: usize,
    /// Variables.
    pub max_variables: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 16 << 20,
            max_steps: 200_000_000,
            max_parts: 50_000_000,
            max_length: 5_000_000,
            max_calls: 100,
            max_depth: 400,
            max_scopes: 20_000,
            max_variables: 2_000_000,
        }
    }
}

impl Limits {
    /// The limits, lowered where models that large would not fit into so many bytes.
    pub fn within(max_bytes: u64) -> Self {
        let default = Self::default();
        let most = |limit: usize, bytes_each: u64| {
            usize::try_from(max_bytes / bytes_each).unwrap_or(usize::MAX).min(limit)
        };
        // A part is copied into the plan and the compiled code, a variable has a name, a
        // domain and places in the tables of the search.
        Self {
            max_parts: most(default.max_parts, 80),
            max_length: most(default.max_length, 80),
            max_variables: most(default.max_variables, 1000),
            ..default
        }
    }
}
