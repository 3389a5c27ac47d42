//! Random quantified Boolean formulas, as games and as models.
//!
//! The matrix of a formula is a disjunction of conjunctions of literals. As a game, the roles choose
//! the values of their variables in the order of the quantifiers, and `exists` wins if the matrix is
//! true. So `exists` can force a win exactly if the formula is true.

use std::fmt::Write as _;

use ludex_base::{Rng, Seed};

/// A quantified Boolean formula. Its variables are numbered from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    /// For each variable, in the order of the quantifiers, whether `exists` chooses it.
    pub is_existential: Vec<bool>,
    /// Conjunctions of literals: a variable, and the value that it must have.
    pub terms: Vec<Vec<(usize, bool)>>,
}

impl Formula {
    /// Draws a formula whose quantifiers alternate, the first one at random.
    pub fn random(n_variables: usize, n_terms: usize, seed: Seed) -> Self {
        let mut rng = seed.rng();
        let first = rng.below(2);
        let is_existential = (0..n_variables).map(|idx| (idx + first).is_multiple_of(2)).collect();
        let term = |rng: &mut Rng| {
            let mut variables: Vec<usize> = (0..n_variables).collect();
            let n_literals = 1 + rng.below(3.min(n_variables));
            let draw = |_| {
                let variable = variables.swap_remove(rng.below(variables.len()));
                (variable, rng.below(2) == 0)
            };
            (0..n_literals).map(draw).collect()
        };
        let terms = (0..n_terms).map(|_| term(&mut rng)).collect();
        Self { is_existential, terms }
    }

    /// Returns whether the formula is true, by trying all values.
    pub fn is_true(&self) -> bool {
        self.holds_after(&mut Vec::new())
    }

    fn holds_after(&self, values: &mut Vec<bool>) -> bool {
        let Some(&is_existential) = self.is_existential.get(values.len()) else {
            let holds = |term: &Vec<(usize, bool)>| term.iter().all(|&(idx, is)| values[idx] == is);
            return self.terms.iter().any(holds);
        };
        let mut after = |value| {
            values.push(value);
            let holds = self.holds_after(values);
            values.pop();
            holds
        };
        if is_existential { after(true) || after(false) } else { after(true) && after(false) }
    }

    /// Returns the formula as a game.
    pub fn to_rules(&self) -> String {
        let mut rules = String::from(
            "(role exists) (role forall) (init (turn 0)) (value yes) (value no)
            (<= (legal ?r (choose ?i ?v)) (true (turn ?i)) (owner ?i ?r) (value ?v))
            (<= (legal ?r noop) (role ?r) (true (turn ?i)) (owner ?i ?s) (distinct ?r ?s))
            (<= (next (is ?i ?v)) (does ?r (choose ?i ?v)))
            (<= (next (is ?i ?v)) (true (is ?i ?v)))
            (<= (next (turn ?j)) (true (turn ?i)) (succ ?i ?j))
            (<= (goal exists 100) holds) (<= (goal exists 0) (not holds))
            (<= (goal forall 100) (not holds)) (<= (goal forall 0) holds)\n",
        );
        let n_variables = self.is_existential.len();
        for (idx, &is_existential) in self.is_existential.iter().enumerate() {
            let owner = if is_existential { "exists" } else { "forall" };
            line(&mut rules, format_args!("(owner {idx} {owner}) (succ {idx} {})", idx + 1));
        }
        line(&mut rules, format_args!("(<= terminal (true (turn {n_variables})))"));
        for term in &self.terms {
            let literal = |&(idx, is): &(usize, bool)| {
                format!("(true (is {idx} {}))", if is { "yes" } else { "no" })
            };
            let literals: Vec<String> = term.iter().map(literal).collect();
            line(&mut rules, format_args!("(<= holds {})", literals.join(" ")));
        }
        rules
    }

    /// Returns the formula as a quantified model.
    pub fn to_model(&self) -> String {
        let mut model = String::new();
        for (idx, &is_existential) in self.is_existential.iter().enumerate() {
            let quantifier = if is_existential { "exists" } else { "forall" };
            line(&mut model, format_args!("{quantifier} x{idx}: bool;"));
        }
        let literal =
            |&(idx, is): &(usize, bool)| format!("{}x{idx}", if is { "" } else { "not " });
        let term = |term: &Vec<(usize, bool)>| {
            format!("({})", term.iter().map(literal).collect::<Vec<_>>().join(" /\\ "))
        };
        let terms: Vec<String> = self.terms.iter().map(term).collect();
        line(&mut model, format_args!("goal {};", terms.join(" \\/ ")));
        model
    }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string");
}
