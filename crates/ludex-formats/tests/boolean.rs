//! Compares quantified Boolean formulas and quantified consistencies with evaluation.

use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, VarId, Verdict, any_of, sum};
use ludex_formats::qdimacs;
use ludex_qcsp::consistency::{enforce, pure_values};
use ludex_qcsp::*;
use ludex_testkit::property::{Choices, built, holds_for_all};

/// A formula: blocks of variables from 1 on, and clauses.
#[derive(Debug)]
struct Formula {
    blocks: Vec<(char, Vec<usize>)>,
    clauses: Vec<Vec<i64>>,
}

impl Formula {
    fn built(choices: &mut Choices) -> Self {
        let mut n = 0;
        let blocks: Vec<(char, Vec<usize>)> = (0..1 + choices.below(4))
            .map(|_| {
                let first = n + 1;
                n += 1 + choices.below(3);
                (if choices.below(2) == 0 { 'a' } else { 'e' }, (first..=n).collect())
            })
            .collect();
        let clauses = (0..1 + choices.below(3 * n))
            .map(|_| {
                let literal = |choices: &mut Choices| {
                    (1 + choices.below(n)) as i64 * if choices.below(2) == 0 { 1 } else { -1 }
                };
                (0..1 + choices.below(4)).map(|_| literal(choices)).collect()
            })
            .collect();
        Self { blocks, clauses }
    }

    fn text(&self) -> String {
        let n = self.blocks.iter().map(|(_, block)| block.len()).sum::<usize>();
        let mut text = format!("c a comment\np cnf {n} {}\n", self.clauses.len());
        let line = |numbers: Vec<String>| numbers.join(" ") + " 0\n";
        for (quantifier, block) in &self.blocks {
            text += &format!("{quantifier} {}", line(block.iter().map(usize::to_string).collect()));
        }
        for clause in &self.clauses {
            text += &line(clause.iter().map(i64::to_string).collect());
        }
        text
    }

    /// Returns the truth of the formula, by enumeration.
    fn is_true(&self, values: &mut Vec<bool>) -> bool {
        let flat: Vec<char> = self
            .blocks
            .iter()
            .flat_map(|(quantifier, block)| vec![*quantifier; block.len()])
            .collect();
        match flat.get(values.len()) {
            None => self.clauses.iter().all(|clause| {
                clause.iter().any(|l| values[l.unsigned_abs() as usize - 1] == (*l > 0))
            }),
            Some(quantifier) => {
                let mut truth = |value: bool| {
                    values.push(value);
                    let truth = self.is_true(values);
                    values.pop();
                    truth
                };
                let (no, yes) = (truth(false), truth(true));
                if *quantifier == 'a' { no && yes } else { no || yes }
            }
        }
    }
}

fn configurations() -> Vec<SolveConfig> {
    let default = SolveConfig::default;
    let mut all = vec![
        default(),
        SolveConfig { propagation: Propagation::Cascade, ..default() },
        SolveConfig { pure_values: true, ..default() },
        SolveConfig { learning: true, backjumping: true, memory: false, ..default() },
    ];
    for (_, consistency) in Consistency::ALL {
        all.push(SolveConfig { consistency: Some(consistency), ..default() });
    }
    all
}

#[test]
fn formulas_have_the_truth_of_their_evaluation() {
    let mut counts = [0; 2];
    holds_for_all(600, built(200, Formula::built), |formula| {
        let expected = formula.is_true(&mut Vec::new());
        counts[usize::from(expected)] += 1;
        let model = qdimacs::read(&formula.text()).unwrap();
        for config in configurations() {
            let config = SolveConfig { strategy: StrategyRequest::One, ..config };
            let report = solve(&model, &config).unwrap();
            assert_eq!(report.verdict, expected.into(), "{config:?}");
            check_strategy(&model, &report.strategy.expect("it fits")).unwrap();
        }
        let back = qdimacs::read(&qdimacs::write(&model).unwrap()).unwrap();
        let report = solve(&back, &SolveConfig::default()).unwrap();
        assert_eq!(report.verdict, expected.into(), "written and read");
    });
    assert!(counts.iter().all(|&n| n > 50), "{counts:?}");
}

#[test]
fn restrictors_are_written_into_the_matrix() {
    let with_restrictors = |choices: &mut Choices| {
        let mut model = Model::new();
        let mut vars: Vec<VarId> = Vec::new();
        for i in 0..1 + choices.below(4) {
            let owner = if choices.below(2) == 0 { Quantifier::Exists } else { Quantifier::Forall };
            model.open(format!("s{i}"), owner);
            vars.extend((0..1 + choices.below(2)).map(|j| model.bool(format!("x{i}{j}"))));
            if choices.below(3) == 0 {
                let of = [vars[choices.below(vars.len())], vars[choices.below(vars.len())]];
                vars.push(model.define(format!("d{i}"), any_of(of)));
            }
            for _ in 0..choices.below(3) {
                let of = [vars[choices.below(vars.len())], vars[choices.below(vars.len())]];
                model.require(sum(of).at_most(choices.below(2) as i32));
            }
        }
        let last = vars[vars.len() - 1];
        model.goal(sum(&vars).at_least(last + choices.below(3) as i32));
        model
    };
    let mut counts = [0; 2];
    holds_for_all(400, built(60, with_restrictors), |model| {
        let (expected, _) = by_definition(&model);
        counts[usize::from(expected)] += 1;
        let text = qdimacs::write(&model).unwrap();
        let report = solve(&qdimacs::read(&text).unwrap(), &SolveConfig::default()).unwrap();
        assert_eq!(report.verdict, expected.into(), "{text}");
    });
    assert!(counts.iter().all(|&n| n > 50), "{counts:?}");
}

#[test]
fn bad_formulas_are_refused_with_their_line() {
    for (text, problem) in [
        ("", "line 0: the header `p cnf …` is missing"),
        ("1 0", "line 1: the header `p cnf …` is missing"),
        ("p dnf 1 1", "line 1: the header is not `p cnf VARIABLES CLAUSES`"),
        ("p cnf 1 1\n2 0", "line 2: variable 2 is not in the header"),
        ("p cnf 1 1\ne 1", "line 2: a block ends with 0"),
        ("p cnf 1 1\ne 1 0\na 1 0", "line 3: variable 1 is bound twice"),
        ("p cnf 1 1\n1", "line 2: the last clause does not end with 0"),
        ("p cnf 1 1\nx 0", "line 2: `x` is not a number"),
    ] {
        assert_eq!(qdimacs::read(text).err().map(|e| e.to_string()).as_deref(), Some(problem));
    }
}

/// On random models of small tables, stronger consistencies prune more, and none prunes too
/// much.
#[test]
fn consistencies_keep_the_verdict_and_are_ordered() {
    let of_tables = |choices: &mut Choices| {
        let mut model = Model::new();
        let mut vars = Vec::new();
        for i in 0..3 {
            model.open(
                format!("s{i}"),
                if choices.below(2) == 0 { Quantifier::Exists } else { Quantifier::Forall },
            );
            vars.push(model.int(format!("x{i}"), 0..=2));
        }
        for _ in 0..1 + choices.below(2) {
            let mut scope = vars.clone();
            if choices.below(2) == 0 {
                scope.remove(choices.below(3));
            }
            let n = scope.len();
            let tuples: Vec<Vec<i32>> = (0..3 + choices.below(18))
                .map(|_| (0..n).map(|_| choices.below(3) as i32).collect())
                .collect();
            let table = Table::from_tuples(n, tuples).into();
            model.goal_constraint(Constraint::Table { scope, table, is_positive: true });
        }
        model
    };
    let mut n_stronger = 0;
    holds_for_all(1500, built(150, of_tables), |model| {
        let (expected, _) = by_definition(&model);
        let sizes = Consistency::ALL.map(|(_, consistency)| {
            let domains = enforce(&model, consistency).unwrap();
            assert!(!expected || domains.is_some(), "{consistency:?}");
            domains.map_or(0, |domains| domains.iter().map(|domain| domain.len()).sum::<u64>())
        });
        let [_, weak, outcomes, strong] = sizes;
        assert!(strong <= outcomes && outcomes <= weak, "{sizes:?}");
        n_stronger += usize::from(outcomes < weak);
        for config in configurations() {
            let report = solve(&model, &config).unwrap();
            assert_eq!(report.verdict, expected.into(), "{config:?}");
        }
    });
    assert!(n_stronger > 5, "{n_stronger}");
}

/// For the tuples (0,0) and (0,1) of `forall x exists y`, the weak form keeps both values of y.
#[test]
fn outcomes_see_what_the_weak_form_does_not() {
    let mut model = Model::new();
    model.forall("x");
    let x = model.int("x", 0..=1);
    model.exists("y");
    let y = model.int("y", 0..=1);
    let table = Table::from_tuples(2, [[0, 0], [0, 1]]).into();
    model.goal_constraint(Constraint::Table { scope: vec![x, y], table, is_positive: true });
    assert_eq!(enforce(&model, Consistency::Bmqgac).unwrap(), None);
    assert_eq!(solve(&model, &SolveConfig::default()).unwrap().verdict, Verdict::False);
}

#[test]
fn pure_values_are_taken_and_left_out() {
    let mut model = Model::new();
    model.exists("x");
    let x = model.int("x", 0..=2);
    model.forall("y");
    let y = model.int("y", 0..=2);
    model.goal((x + y).at_least(2));
    let domains = pure_values(&model).unwrap();
    assert_eq!(domains[x.index()].to_string(), "2");
    assert_eq!(domains[y.index()].len(), 1);
    model.require(y.at_least(1));
    let error = pure_values(&model).unwrap_err();
    assert!(error.to_string().contains("scope `y` has a restrictor"), "{error}");
}
