//! QDIMACS, the format of quantified Boolean formulas in clausal form.
//!
//! The module reads formulas, and writes models whose variables have the values 0 and 1.

use std::fmt::Write;

use ludex_csp::{Constraint, Expr, VarId, conjuncts};
use ludex_qcsp::{Model, Quantifier};

use crate::FormatError;

/// Largest number of variables of a constraint that is converted to clauses.
const MAX_ARITY: usize = 12;

/// Largest number of blocks of a formula, the same as for scopes of a `.qcp` model.
const MAX_BLOCKS: usize = 20_000;

/// Reads a formula. Free variables, which no block binds, come first as existential ones.
///
/// ```
/// use ludex_csp::Verdict;
/// use ludex_formats::qdimacs;
/// use ludex_qcsp::{SolveConfig, solve};
/// let text = "p cnf 2 2\na 1 0\ne 2 0\n1 -2 0\n-1 2 0\n";
/// let model = qdimacs::read(text)?;
/// assert_eq!(solve(&model, &SolveConfig::default())?.verdict, Verdict::True);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FormatError::Syntax`] with the line.
pub fn read(text: &str) -> Result<Model, FormatError> {
    let mut blocks: Vec<(Quantifier, Vec<usize>)> = Vec::new();
    let mut clauses: Vec<Vec<i64>> = Vec::new();
    let mut n_variables: Option<usize> = None;
    let mut open: Vec<i64> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let error = |problem: String| FormatError::Syntax { line: i + 1, problem };
        let mut words = line.split_whitespace().peekable();
        let Some(&first) = words.peek() else { continue };
        match first {
            "c" => {}
            "p" => {
                let header: Vec<&str> = words.collect();
                let n = match header[..] {
                    ["p", "cnf", n, _] => n.parse().ok(),
                    _ => None,
                };
                let n: usize =
                    n.ok_or_else(|| error("the header is not `p cnf VARIABLES CLAUSES`".into()))?;
                if n > 10_000_000 {
                    return Err(error(format!("too many variables: {n}")));
                }
                n_variables = Some(n);
            }
            _ if n_variables.is_none() => {
                return Err(error("the header `p cnf …` is missing".into()));
            }
            "a" | "e" => {
                let quantifier = if first == "a" { Quantifier::Forall } else { Quantifier::Exists };
                let numbers = numbers(words.skip(1), n_variables).map_err(error)?;
                let Some((0, bound)) = numbers.split_last().map(|(last, rest)| (*last, rest))
                else {
                    return Err(error("a block ends with 0".into()));
                };
                if bound.iter().any(|&n| n <= 0) {
                    return Err(error(
                        "a block lists a negative number; write the variable".into(),
                    ));
                }
                if blocks.len() == MAX_BLOCKS {
                    return Err(error(format!("a formula has at most {MAX_BLOCKS} blocks")));
                }
                blocks.push((quantifier, bound.iter().map(|&n| n as usize).collect()));
            }
            _ => {
                for number in numbers(words, n_variables).map_err(error)? {
                    match number {
                        0 => clauses.push(std::mem::take(&mut open)),
                        literal => open.push(literal),
                    }
                }
            }
        }
    }
    let last = text.lines().count();
    let error = |problem: String| FormatError::Syntax { line: last, problem };
    if !open.is_empty() {
        return Err(error("the last clause does not end with 0".into()));
    }
    let n_variables = n_variables.ok_or_else(|| error("the header `p cnf …` is missing".into()))?;
    build(n_variables, blocks, &clauses).map_err(error)
}

fn numbers<'a>(
    words: impl Iterator<Item = &'a str>,
    n_variables: Option<usize>,
) -> Result<Vec<i64>, String> {
    words
        .map(|word| {
            let number: i64 = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
            if number.unsigned_abs() as usize <= n_variables.unwrap_or(0) {
                Ok(number)
            } else {
                Err(format!("variable {} is not in the header", number.unsigned_abs()))
            }
        })
        .collect()
}

fn build(
    n_variables: usize,
    blocks: Vec<(Quantifier, Vec<usize>)>,
    clauses: &[Vec<i64>],
) -> Result<Model, String> {
    let mut is_bound = vec![false; n_variables + 1];
    for &x in blocks.iter().flat_map(|(_, bound)| bound) {
        if std::mem::replace(&mut is_bound[x], true) {
            return Err(format!("variable {x} is bound twice"));
        }
    }
    let mut free: Vec<usize> =
        clauses.iter().flatten().map(|literal| literal.unsigned_abs() as usize).collect();
    free.retain(|&x| !is_bound[x]);
    free.sort_unstable();
    free.dedup();
    let mut model = Model::new();
    let mut variables: Vec<Option<VarId>> = vec![None; n_variables + 1];
    let first = (!free.is_empty()).then_some((Quantifier::Exists, free));
    for (i, (quantifier, bound)) in first.into_iter().chain(blocks).enumerate() {
        // Consecutive blocks of one player form one scope.
        if model.scopes().last().is_none_or(|scope| scope.quantifier != quantifier) {
            model.open(format!("block {}", i + 1), quantifier);
        }
        for x in bound {
            variables[x] = Some(model.bool(x.to_string()));
        }
    }
    for clause in clauses {
        let literals = clause.iter().map(|&literal| {
            let x =
                variables[literal.unsigned_abs() as usize].expect("a variable is bound or free");
            x.equals(i32::from(literal > 0))
        });
        model.goal(Expr::Or(literals.collect()));
    }
    Ok(model)
}

/// Writes a model whose variables have the values 0 and 1 as a formula.
///
/// Restrictors become part of the matrix: the restrictor of an existential scope is conjoined
/// with the rest, that of a universal scope implies the rest. A last existential block binds
/// the variables that stand for the truth of constraints.
///
/// # Errors
/// [`FormatError::Unwritable`] when a variable has other values, a constraint has more than 12
/// variables and is not a clause, or the model optimizes.
pub fn write(model: &Model) -> Result<String, FormatError> {
    let refuse = |what: String| FormatError::Unwritable { format: "QDIMACS", what };
    if model.is_optimization() {
        return Err(refuse("a model that optimizes".to_string()));
    }
    for x in model.variables() {
        if x.variable.domain.iter().take(3).any(|value| !(0..=1).contains(&value)) {
            return Err(refuse(format!(
                "`{}`, which has other values than 0 and 1,",
                x.variable.name
            )));
        }
    }
    let mut writer = Writer { model, n: model.variables().len(), clauses: Vec::new() };
    let mut truth = writer.conjunction(model.goal_constraints()).map_err(refuse)?;
    for (i, scope) in model.scopes().iter().enumerate().rev() {
        let restrictor = writer.restrictor(i).map_err(refuse)?;
        if restrictor.is_empty() {
            continue;
        }
        truth = match scope.quantifier {
            Quantifier::Exists => {
                let mut all = restrictor;
                all.push(truth);
                writer.all_of(&all)
            }
            Quantifier::Forall => {
                let all = writer.all_of(&restrictor);
                -writer.all_of(&[all, -truth])
            }
        };
    }
    writer.clauses.push(vec![truth]);
    Ok(writer.text())
}

struct Writer<'m> {
    model: &'m Model,
    n: usize,
    clauses: Vec<Vec<i64>>,
}

impl Writer<'_> {
    fn fresh(&mut self) -> i64 {
        self.n += 1;
        self.n as i64
    }

    /// Returns a literal that is true exactly when all of the literals are.
    fn all_of(&mut self, literals: &[i64]) -> i64 {
        if let [literal] = literals {
            return *literal;
        }
        let truth = self.fresh();
        for &literal in literals {
            self.clauses.push(vec![-truth, literal]);
        }
        let mut back: Vec<i64> = literals.iter().map(|literal| -literal).collect();
        back.push(truth);
        self.clauses.push(back);
        truth
    }

    fn conjunction(&mut self, constraints: &[Constraint]) -> Result<i64, String> {
        let mut literals = Vec::new();
        for constraint in conjuncts(constraints) {
            literals.push(self.truth(&constraint)?);
        }
        Ok(self.all_of(&literals))
    }

    /// Returns literals for the requirements of a scope: its restrictor, its definitions and
    /// its domains.
    fn restrictor(&mut self, scope: usize) -> Result<Vec<i64>, String> {
        let model = self.model;
        let scope = &model.scopes()[scope];
        let mut literals = Vec::new();
        for constraint in conjuncts(&scope.restrictor) {
            literals.push(self.truth(&constraint)?);
        }
        for &x in &scope.variables {
            if let Some(definition) = &model.variable(x).definition {
                literals.push(self.truth(&Constraint::Intension(x.equals(definition)))?);
            }
            let domain = model.domain(x);
            let number = x.index() as i64 + 1;
            if !domain.contains(0) {
                literals.push(number);
            }
            if !domain.contains(1) {
                literals.push(-number);
            }
        }
        Ok(literals)
    }

    /// Returns a literal that is true exactly when the constraint holds.
    fn truth(&mut self, constraint: &Constraint) -> Result<i64, String> {
        let truth = self.fresh();
        if let Constraint::Intension(e) = constraint
            && let Some(literals) = clause_of(e)
        {
            let mut clause = literals.clone();
            clause.push(-truth);
            self.clauses.push(clause);
            for literal in literals {
                self.clauses.push(vec![-literal, truth]);
            }
            return Ok(truth);
        }
        let scope = constraint.scope();
        if scope.len() > MAX_ARITY {
            let name = constraint.name();
            return Err(format!("a constraint `{name}` of {} variables", scope.len()));
        }
        for bits in 0..1_u32 << scope.len() {
            let bit = |x: VarId| {
                let at = scope.iter().position(|y| *y == x).expect("the variable is in the scope");
                bits >> at & 1
            };
            let holds = constraint.holds(&|x| bit(x).into());
            let mut clause: Vec<i64> = scope
                .iter()
                .map(|&x| (x.index() as i64 + 1) * if bit(x) == 1 { -1 } else { 1 })
                .collect();
            clause.push(if holds { truth } else { -truth });
            self.clauses.push(clause);
        }
        Ok(truth)
    }

    fn text(&self) -> String {
        let mut text = format!("p cnf {} {}\n", self.n, self.clauses.len());
        for scope in self.model.scopes() {
            if scope.variables.is_empty() {
                continue;
            }
            text.push(if scope.quantifier == Quantifier::Forall { 'a' } else { 'e' });
            for x in &scope.variables {
                let _ = write!(text, " {}", x.index() + 1);
            }
            text.push_str(" 0\n");
        }
        if self.n > self.model.variables().len() {
            text.push('e');
            for x in self.model.variables().len() + 1..=self.n {
                let _ = write!(text, " {x}");
            }
            text.push_str(" 0\n");
        }
        for clause in &self.clauses {
            for literal in clause {
                let _ = write!(text, "{literal} ");
            }
            text.push_str("0\n");
        }
        text
    }
}

/// Returns the literals of a disjunction of variables and their negations.
fn clause_of(e: &Expr) -> Option<Vec<i64>> {
    let literal = |e: &Expr| match e {
        Expr::Var(x) => Some(x.index() as i64 + 1),
        Expr::Not(e) => match **e {
            Expr::Var(x) => Some(-(x.index() as i64 + 1)),
            _ => None,
        },
        Expr::Compare(ludex_csp::Comparison::Eq, a, b) => match (&**a, &**b) {
            (Expr::Var(x), Expr::Constant(1)) => Some(x.index() as i64 + 1),
            (Expr::Var(x), Expr::Constant(0)) => Some(-(x.index() as i64 + 1)),
            _ => None,
        },
        _ => None,
    };
    match e {
        Expr::Or(list) => list.iter().map(literal).collect(),
        e => Some(vec![literal(e)?]),
    }
}
