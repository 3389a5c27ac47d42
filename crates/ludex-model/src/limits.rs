//! Limits on the size of a model.

/// Limits on the expansion of a text.
#[derive(Clone, Debug)]
pub struct ModelLimits {
    /// Longest text, in bytes.
    pub max_bytes: usize,
    /// Most steps of evaluation.
    pub max_steps: usize,
    /// Most parts of terms, counting every copy.
    pub max_parts: usize,
    /// Longest list or set that is listed.
    pub max_length: usize,
    /// Deepest nesting of function calls.
    pub max_calls: usize,
    /// Greatest depth of a term.
    pub max_depth: usize,
    /// Most scopes.
    pub max_scopes: usize,
    /// Most variables.
    pub max_variables: usize,
}

impl Default for ModelLimits {
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

impl ModelLimits {
    /// Returns the limits, lowered so that the model fits into `max_bytes` bytes.
    pub fn within(max_bytes: u64) -> Self {
        let default = Self::default();
        let most = |limit: usize, bytes_each: u64| {
            usize::try_from(max_bytes / bytes_each).unwrap_or(usize::MAX).min(limit)
        };
        // A part is copied into the schedule and the compiled code; a variable has a name, a
        // domain and entries in the tables of the search.
        Self {
            max_parts: most(default.max_parts, 80),
            max_length: most(default.max_length, 80),
            max_variables: most(default.max_variables, 1000),
            ..default
        }
    }
}
