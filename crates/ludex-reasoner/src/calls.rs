//! The keys that components on demand were called with.

use ludex_gdl::TermId;

use crate::table::Table;

/// All calls made in the current state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    /// For each call, its keys.
    pub(crate) keys: Vec<Keys>,
    /// For each component, the calls whose rows may be incomplete.
    pub(crate) open: Vec<Open>,
    /// The number of nested calls in progress.
    pub(crate) depth: usize,
    /// Whether an error left calls incomplete.
    pub(crate) is_broken: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) table: Table,
    /// For each key, whether its rules have run.
    pub(crate) is_answered: Vec<bool>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    /// Calls and the numbers of their keys, in the order of the calls.
    pub(crate) keys: Vec<(usize, usize)>,
    /// Whether one of them used rows of another before these were complete.
    pub(crate) is_incomplete: bool,
    /// The number of keys, open or not.
    pub(crate) n_keys: usize,
}

impl Calls {
    /// Ends all calls after an error; their rows are unreliable.
    pub(crate) fn abandon(&mut self) {
        self.is_broken = true;
        self.depth = 0;
        for open in &mut self.open {
            open.keys.clear();
            open.is_incomplete = false;
        }
    }
}

impl Keys {
    pub(crate) fn new(n_columns: usize) -> Self {
        Self { table: Table::new(n_columns), is_answered: Vec::new() }
    }

    /// Adds a key; returns its number if it is new.
    pub(crate) fn add(&mut self, key: &[TermId]) -> Option<usize> {
        self.table.insert(key).then(|| {
            self.is_answered.push(false);
            self.is_answered.len() - 1
        })
    }

    pub(crate) fn is_answered(&self, key: &[TermId]) -> bool {
        self.table.find(key).is_some_and(|key_idx| self.is_answered[key_idx as usize])
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.is_answered.clear();
    }
}
