//! Groups of known networks; symmetries of random networks against their solutions.

use ludex_automorphism::SparsePermutation;
use ludex_base::{Deadline, Rng, Seed};
use num_bigint::BigUint;

use super::*;
use crate::propagators::table::Table;
use crate::{Comparison, Condition, Constraint, Expr, Goal, Network, SearchConfig, Value, VarId};
use crate::{element, maximum, solve, sum};

fn found(network: &Network) -> NetworkSymmetries {
    find_symmetries(network, &StructureLimits::default(), &Deadline::never()).expect("it is small")
}

fn nogoods(network: &Network, k: usize) -> Microstructure {
    let graph = nogood_graph(network, k, &StructureLimits::default(), &Deadline::never());
    graph.expect("a network that can be posted").expect("it is small")
}

fn solutions(network: &Network) -> Vec<Vec<Value>> {
    let config = SearchConfig { goal: Goal::All, ..SearchConfig::default() };
    let mut solutions = solve(network, &config).expect("it can be posted").solutions;
    solutions.sort_unstable();
    solutions
}

/// Queens by pairs of columns, as constraints on two variables.
fn queens(n: Value) -> Network {
    let mut network = Network::new();
    let rows = network.ints("x", n as usize, 1..=n);
    for i in 0..rows.len() {
        for j in i + 1..rows.len() {
            let distance = (j - i) as Value;
            network.require(rows[i].differs(rows[j]));
            network.require((rows[i] - rows[j]).abs().differs(distance));
        }
    }
    network
}

/// Example 5.2: w, x, y and z with sums modulo 2.
fn parity() -> Network {
    let mut network = Network::new();
    let [w, x, y, z] = ["w", "x", "y", "z"].map(|name| network.bool(name));
    let even: &[[Value; 3]] = &[[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]];
    network.table(&[x, y, z], Table::from_tuples(3, even));
    network.require(w.differs(y));
    network.require(w.equals(z));
    network
}

#[test]
fn the_parity_network_has_the_published_generators() {
    let network = parity();
    let structure = Microstructure::new(
        &network,
        &Extra::default(),
        &StructureLimits::default(),
        &Deadline::never(),
    )
    .expect("it is small");
    assert_eq!(structure.literals().len(), 8);
    assert_eq!(structure.n_nogoods(), 12);
    let found = structure.symmetries(&Deadline::never());
    assert_eq!(found.order, BigUint::from(4_u32));
    assert_eq!(solutions(&network), [[0, 1, 1, 0], [1, 1, 0, 1]]);
    // w0 w1 x0 x1 y0 y1 z0 z1 are the literals 0 to 7.
    let group = found.group(&Deadline::never()).expect("no deadline");
    let permutation = |pairs: &[(u32, u32)]| {
        let moves = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        SparsePermutation::new(moves).expect("a permutation")
    };
    for published in [
        permutation(&[(0, 1), (4, 5), (6, 7)]),
        permutation(&[(0, 1), (4, 6), (5, 7)]),
        permutation(&[(4, 7), (5, 6)]),
    ] {
        assert!(group.contains(&published), "{published}");
    }
    // A symmetry of the solutions that is none of the constraints.
    let cycle = SparsePermutation::new(vec![(0, 6), (6, 5), (5, 0)]).expect("a permutation");
    assert!(!group.contains(&cycle));
    let of_solutions = nogoods(&network, 3).symmetries(&Deadline::never());
    assert_eq!(of_solutions.order, BigUint::from(72_u32));
    assert!(of_solutions.group(&Deadline::never()).expect("no deadline").contains(&cycle));
}

#[test]
fn queens_have_the_published_groups() {
    // n, constraint symmetries, one-literal nogoods, further pairs in no solution, symmetries of
    // solutions.
    let rows = [
        (3, 16_u32, 9, 8, "362880"),
        (4, 8, 8, 32, "46448640"),
        (5, 8, 0, 40, "28800"),
        (6, 8, 12, 280, "3089428805320704000000"),
        (7, 8, 0, 72, "8"),
        (8, 8, 0, 236, "8"),
    ];
    for (n, order, n_single, n_further, of_solutions) in rows {
        let network = queens(n);
        let structure = Microstructure::new(
            &network,
            &Extra::default(),
            &StructureLimits::default(),
            &Deadline::never(),
        )
        .expect("it is small");
        let found = structure.symmetries(&Deadline::never());
        assert_eq!(found.order, BigUint::from(order), "{n} queens");
        let all = nogoods(&network, 2);
        assert_eq!(all.n_nogoods() - structure.n_nogoods(), n_single + n_further, "{n} queens");
        let group = all.symmetries(&Deadline::never());
        assert_eq!(group.order.to_string(), of_solutions, "{n} queens");
        // Ten solutions of five queens in two classes, and so on.
        let n_classes = [(5, 2), (6, 1), (8, 12)].into_iter().find(|(of, _)| *of == n);
        if let Some((_, n_classes)) = n_classes {
            assert_eq!(n_orbits(&found, &solutions(&network)), n_classes, "{n} queens");
        }
    }
}

/// How many classes of solutions a group has, by walking.
fn n_orbits(symmetries: &NetworkSymmetries, solutions: &[Vec<Value>]) -> usize {
    let mut is_seen = vec![false; solutions.len()];
    let mut n_orbits = 0;
    for first in 0..solutions.len() {
        if std::mem::replace(&mut is_seen[first], true) {
            continue;
        }
        n_orbits += 1;
        let mut stack = vec![first];
        while let Some(at) = stack.pop() {
            for generator in &symmetries.generators {
                let image = symmetries.image(generator, &solutions[at]).expect("values fit");
                let place = solutions.binary_search(&image).expect("images are solutions");
                if !std::mem::replace(&mut is_seen[place], true) {
                    stack.push(place);
                }
            }
        }
    }
    n_orbits
}

/// A small network with constraints of all kinds.
fn random_network(rng: &mut Rng) -> Network {
    let mut network = Network::new();
    let n = 3 + rng.below(3);
    let size = 2 + rng.below(2) as Value;
    let x = network.ints("x", n, 0..=size);
    let some = |n_terms: usize, rng: &mut Rng| -> Vec<Expr> {
        (0..n_terms).map(|_| Expr::Var(x[rng.below(n)])).collect()
    };
    for _ in 0..1 + rng.below(3) {
        let value = rng.below(size as usize + 2) as Value;
        let ops = [Comparison::Eq, Comparison::Ne, Comparison::Le, Comparison::Gt];
        let op = ops[rng.below(4)];
        let condition = Condition::Compare(op, Expr::Constant(i64::from(value)));
        let list = some(2 + rng.below(3), rng);
        let constraint = match rng.below(9) {
            0 => {
                let mut list = list;
                list.sort_by_key(Expr::scope);
                list.dedup();
                Constraint::AllDifferent { list, except: [0].into_iter().collect() }
            }
            1 => Constraint::Count { list, values: (0..=value).into(), condition },
            2 => Constraint::NValues { list, except: crate::ValueSet::default(), condition },
            3 => Constraint::Element {
                index: list[0].clone(),
                list: list[1..].to_vec(),
                start: 0,
                condition,
            },
            4 => Constraint::Intension(Expr::Compare(
                op,
                sum(list).into(),
                maximum(some(2, rng)).into(),
            )),
            5 => Constraint::Intension(
                (list[0].clone() * list[1].clone()).at_most(sum(some(2, rng)) + value),
            ),
            6 => {
                let index = list[0].clone();
                Constraint::Intension(element(list, index).differs(value))
            }
            7 => {
                let tuples: Vec<[Value; 2]> =
                    (0..3).map(|_| [0, 0].map(|_| rng.below(size as usize + 1) as Value)).collect();
                let mut table = Network::new();
                table.ints("x", n, 0..=size);
                let (a, b) = (rng.below(n), rng.below(n));
                if a == b {
                    continue;
                }
                Constraint::Table {
                    scope: vec![VarId::new(a), VarId::new(b)],
                    table: Table::from_tuples(2, &tuples).into(),
                    is_positive: rng.below(2) == 0,
                }
            }
            _ => Constraint::Lex {
                lists: vec![list.clone(), some(list.len(), rng)],
                is_strict: false,
            },
        };
        network.add(constraint);
    }
    if rng.below(3) == 0 {
        network.minimize(sum(some(2, rng)));
    }
    network
}

#[test]
fn symmetries_take_solutions_to_solutions() {
    let limits = [
        StructureLimits::default(),
        // Everything as it is written.
        StructureLimits { max_tuples: 0, max_pairs: 0, ..StructureLimits::default() },
        StructureLimits { max_tuples: 9, ..StructureLimits::default() },
    ];
    let mut n_found = [0; 3];
    for seed in 0..400 {
        let network = random_network(&mut Seed(seed).rng());
        let mut plain = network.clone();
        plain.set_objective(None);
        let all = solutions(&plain);
        for (place, limits) in limits.iter().enumerate() {
            let found = find_symmetries(&network, limits, &Deadline::never()).expect("small");
            n_found[place] += found.generators.len();
            for generator in &found.generators {
                for solution in &all {
                    let image = found.image(generator, solution).expect("values fit");
                    assert!(all.binary_search(&image).is_ok(), "{seed}: {generator} {network:?}");
                    if let Some(objective) = network.objective() {
                        let value = |it: &[Value]| {
                            objective.expr.eval(&|x: VarId| i64::from(it[x.index()]))
                        };
                        assert_eq!(value(&image), value(solution), "{seed}");
                    }
                }
            }
        }
    }
    assert!(n_found.iter().all(|&n| n > 200), "{n_found:?}");
}

#[test]
fn breaking_leaves_one_solution_of_each_orbit() {
    let mut n_full = 0;
    for seed in 0..80 {
        let network = random_network(&mut Seed(seed).rng());
        let mut plain = network.clone();
        plain.set_objective(None);
        let found = find_symmetries(&network, &StructureLimits::default(), &Deadline::never())
            .expect("it is small");
        if found.is_trivial() {
            continue;
        }
        let all = solutions(&plain);
        let n_orbits = n_orbits(&found, &all);
        for max_elements in [MAX_ELEMENTS, 0] {
            let mut broken = plain.clone();
            let breaking = break_symmetries(&mut broken, &found, max_elements);
            let left = solutions(&broken).len();
            if breaking.is_full {
                n_full += 1;
                assert_eq!(left, n_orbits, "{seed}");
            }
            assert!((n_orbits..=all.len()).contains(&left), "{seed}: {left} of {n_orbits}");
        }
        // The best value stays.
        let mut broken = network.clone();
        break_symmetries(&mut broken, &found, MAX_ELEMENTS);
        let [one, other] = [&network, &broken]
            .map(|network| solve(network, &SearchConfig::default()).expect("it can be posted"));
        assert_eq!((one.verdict(), one.value), (other.verdict(), other.value), "{seed}");
    }
    assert!(n_full > 20, "{n_full}");
}

#[test]
fn large_all_different_constraints_keep_the_symmetries_of_the_board() {
    let n = 60;
    let mut network = Network::new();
    let rows = network.ints("q", n, 0..n as Value);
    network.all_different(&rows);
    network.all_different((0..).zip(&rows).map(|(i, &q)| q + i));
    network.all_different((0..).zip(&rows).map(|(i, &q)| q - i));
    assert_eq!(found(&network).order, BigUint::from(8_u32));
}

#[test]
fn networks_that_are_too_large_are_refused() {
    let limits = StructureLimits { max_size: 100, ..StructureLimits::default() };
    let refused = find_symmetries(&queens(8), &limits, &Deadline::never());
    assert_eq!(refused.expect_err("it is too large"), StructureError::TooLarge { max_size: 100 });
}

#[test]
fn symmetries_are_told_by_their_variables_where_these_stay_whole() {
    let mut network = Network::new();
    let x = network.ints("x", 2, 0..=3);
    network.require(sum(&x).at_most(3));
    let found = found(&network);
    let words: Vec<String> =
        found.generators.iter().map(|it| found.in_words(it, &network)).collect();
    assert_eq!(words, ["(x[0] x[1])"]);
}
