//! Rulesheets that nobody plays: each is hard on one part of Ludex.
//!
//! They are generators, so that the largest take no room in the project. Whatever a verb does with
//! them, it must stay within its limits of time and memory and end with a message.
//!
//! - [`terms`]: terms that grow.
//! - [`rules`]: recursion, negation, variables and joins.
//! - [`sizes`]: more of everything than a game needs.
//! - [`play`]: odd roles, moves, percepts, goals and ends.
//! - [`texts`]: odd bytes, forms and names.
//!
//! To add a kind, add a line to one of the lists.

mod play;
mod rules;
mod sizes;
mod terms;
mod texts;

/// A rulesheet of some kind and size.
#[derive(Clone, Copy, Debug)]
pub struct HostileSheet {
    kind: &'static Kind,
    size: usize,
}

impl HostileSheet {
    /// Returns its name: the kind and the size, `doubling-init-40`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.kind.name, self.size)
    }

    /// Returns its kind, `doubling-init`.
    pub fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Builds the bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        match self.kind.build {
            Build::Text(build) => build(self.size).into_bytes(),
            Build::Bytes(build) => build(self.size),
        }
    }
}

/// Returns all sheets, kind by kind, the smallest of a kind first.
pub fn sheets() -> Vec<HostileSheet> {
    let kinds = [terms::KINDS, rules::KINDS, sizes::KINDS, play::KINDS, texts::KINDS];
    let sheets_of =
        |kind: &'static Kind| kind.sizes.iter().map(move |&size| HostileSheet { kind, size });
    kinds.into_iter().flatten().flat_map(sheets_of).collect()
}

/// A generator of sheets.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    sizes: &'static [usize],
    build: Build,
}

#[derive(Clone, Copy, Debug)]
enum Build {
    Text(fn(usize) -> String),
    Bytes(fn(usize) -> Vec<u8>),
}

/// A kind whose sheets are text.
const fn text(name: &'static str, sizes: &'static [usize], build: fn(usize) -> String) -> Kind {
    Kind { name, sizes, build: Build::Text(build) }
}

/// A kind whose sheets are bytes.
const fn bytes(name: &'static str, sizes: &'static [usize], build: fn(usize) -> Vec<u8>) -> Kind {
    Kind { name, sizes, build: Build::Bytes(build) }
}

/// The parts for 0 to `count - 1`, one per line.
fn each(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| part(n) + "\n").collect()
}

/// The parts for 0 to `count - 1`, separated by blanks.
fn listed(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(" ")
}

/// A game of one step for the role `p`, and the given rules.
fn with_game(rules: &str) -> String {
    format!(
        "(role p) (init (step 0)) (legal p go)
(<= (next (step 1)) (true (step 0)))
(<= terminal (true (step 1)))
(goal p 100)
{rules}
"
    )
}

/// A game for the role `p` that goes on for `n_steps` steps, and the given rules.
fn with_steps(n_steps: usize, rules: &str) -> String {
    let order = each(n_steps, |n| format!("(after {n} {})", n + 1));
    format!(
        "(role p) (init (step 0)) {order}
(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
(<= terminal (true (step {n_steps})))
(goal p 100)
{rules}
"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_kinds_and_every_sheet_has_its_own_name() {
        let sheets = sheets();
        let names: BTreeSet<String> = sheets.iter().map(HostileSheet::name).collect();
        let kinds: BTreeSet<&str> = sheets.iter().map(HostileSheet::kind).collect();
        assert_eq!(names.len(), sheets.len(), "two sheets have the same name");
        assert!(sheets.len() >= 200, "only {} sheets", sheets.len());
        assert!(kinds.len() >= 120, "only {} kinds", kinds.len());
    }

    #[test]
    fn the_size_matters() {
        let mut built: Vec<(&str, Vec<u8>)> = Vec::new();
        for sheet in sheets() {
            let bytes = sheet.bytes();
            if let Some((kind, before)) = built.last() {
                assert!(*kind != sheet.kind() || *before != bytes, "{} is a twin", sheet.name());
            }
            built = vec![(sheet.kind(), bytes)];
        }
    }
}
