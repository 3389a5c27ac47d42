//! Checks every propagator against its own `holds`, over all assignments of small domains.

use std::sync::Arc;

use ludex_base::Seed;
use ludex_csp::propagators::table::{
    Ac2001, BitTable, CompactTable, ForbiddenShort, NegativeTable, STAR, SmallTable, Str, Str2,
    Table,
};
use ludex_csp::propagators::*;
use ludex_csp::{Comparison, Operation, Propagator, Value, ValueSet, VarId};
use ludex_testkit::propagator_suite;
use ludex_testkit::propagators::{Strength, propagator_suite};
use ludex_testkit::property::holds_for_all;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::strategy::Strategy;

/// Returns a table of pairs of values 0..n that contains about one in `one_in` of them.
fn random_table(n: Value, one_in: usize, seed: u64) -> Arc<Table> {
    let mut rng = Seed(seed).rng();
    let pairs = (0..n * n).map(|code| [code % n, code / n]);
    Arc::new(Table::from_tuples(2, pairs.filter(|_| rng.below(one_in) == 0)))
}

/// Tables over values 0..n that contain about one in `one_in` tuples, with or without stars.
fn tables(arity: usize, n: Value, stars: bool, one_in: usize) -> impl Strategy<Value = Arc<Table>> {
    let n_tuples = (n as usize).pow(arity as u32);
    // By possible tuple: whether the table contains it, and which positions have a star.
    let row = (0..one_in, vec(weighted(0.25), arity));
    vec(row, n_tuples).prop_map(move |rows| {
        let is_in = |(_, row): &(usize, (usize, Vec<bool>))| row.0 == one_in - 1;
        let tuples = rows.into_iter().enumerate().filter(is_in).map(|(code, (_, mask))| {
            let is_star = |at: usize| stars && mask[at];
            let value = |at: usize| (code / (n as usize).pow(at as u32)) as Value % n;
            let tuple = (0..arity).map(|at| if is_star(at) { STAR } else { value(at) });
            tuple.collect::<Vec<Value>>()
        });
        Arc::new(Table::from_tuples(arity, tuples))
    })
}

fn check_table(
    arity: usize,
    n: Value,
    strength: Strength,
    stars: bool,
    make: impl Fn(Vec<VarId>, Arc<Table>) -> Box<dyn Propagator>,
) {
    let mut n_judged = 0;
    // From full to sparse.
    for one_in in [1, 2, 5, 20] {
        holds_for_all(3, tables(arity, n, stars, one_in), |table| {
            // The table also mentions values that are in no domain.
            let sets = vec![ValueSet::from(0..n); arity - 1];
            let sets = [&sets[..], &[ValueSet::from(1..n + 1)]].concat();
            n_judged +=
                propagator_suite(&sets, strength, |vars| make(vars.to_vec(), Arc::clone(&table)));
        });
    }
    assert!(n_judged >= MIN_JUDGED, "only {n_judged} states were judged");
}

/// Fewest states that a test of generated constraints judges.
const MIN_JUDGED: usize = 2_000;

#[test]
fn compact_table() {
    for stars in [false, true] {
        check_table(3, 5, Strength::Domain, stars, |x, t| Box::new(CompactTable::new(x, t)));
        check_table(4, 4, Strength::Domain, stars, |x, t| Box::new(CompactTable::new(x, t)));
    }
}

#[test]
fn compact_table_over_domains_of_several_words() {
    let table = random_table(140, 40, 1);
    propagator_suite(
        &[ValueSet::from(0..140), ValueSet::from_ranges([(0, 60), (63, 70), (128, 139)])],
        Strength::Domain,
        |vars| Box::new(CompactTable::new(vars.to_vec(), Arc::clone(&table))),
    );
}

#[test]
fn small_table() {
    for stars in [false, true] {
        check_table(2, 7, Strength::Domain, stars, |x, t| Box::new(SmallTable::new(x, t)));
        check_table(3, 4, Strength::Domain, stars, |x, t| Box::new(SmallTable::new(x, t)));
        check_table(5, 2, Strength::Domain, stars, |x, t| Box::new(SmallTable::new(x, t)));
    }
}

#[test]
fn negative_table() {
    check_table(3, 5, Strength::Domain, false, |x, t| Box::new(NegativeTable::new(x, t)));
    check_table(4, 3, Strength::Domain, false, |x, t| Box::new(NegativeTable::new(x, t)));
}

#[test]
fn forbidden_short_tuples() {
    for stars in [false, true] {
        check_table(3, 4, Strength::Checking, stars, |x, t| Box::new(ForbiddenShort::new(x, t)));
    }
}

#[test]
fn simple_tabular_reduction() {
    for stars in [false, true] {
        check_table(3, 5, Strength::Domain, stars, |x, t| Box::new(Str::new(x, t)));
        check_table(3, 5, Strength::Domain, stars, |x, t| Box::new(Str2::new(x, t)));
        check_table(4, 4, Strength::Domain, stars, |x, t| Box::new(Str2::new(x, t)));
    }
}

#[test]
fn binary_tables() {
    for is_positive in [true, false] {
        for n in [6, 70] {
            check_table(2, n, Strength::Domain, false, |x, t| {
                Box::new(BitTable::new([x[0], x[1]], t, is_positive))
            });
            check_table(2, n, Strength::Domain, false, |x, t| {
                Box::new(Ac2001::new([x[0], x[1]], t, is_positive))
            });
        }
    }
}

fn mdd() -> Arc<Mdd> {
    let arcs = [
        ("r", 0, "a"),
        ("r", 1, "b"),
        ("r", 2, "b"),
        ("a", 0, "c"),
        ("a", 2, "c"),
        ("b", 1, "c"),
        ("b", 1, "d"),
        ("b", 3, "d"),
        ("c", 0, "t"),
        ("c", 3, "t"),
        ("d", 2, "t"),
    ];
    Arc::new(Mdd::from_transitions(3, arcs).expect("a layered diagram"))
}

/// Words over 0, 1, 2 with no two neighbors equal to 1 and an even number of twos.
fn automaton() -> Automaton {
    let mut transitions = Vec::new();
    for parity in 0..2 {
        let (free, after_one) = (2 * parity, 2 * parity + 1);
        let other = 2 * (1 - parity);
        transitions.extend([(free, 0, free), (free, 1, after_one), (free, 2, other)]);
        transitions.extend([(after_one, 0, free), (after_one, 2, other)]);
    }
    Automaton { n_states: 4, start: 0, accepting: vec![0, 1], transitions }
}

/// Returns a knapsack of items with weight and profit; the last variable is the total profit.
fn knapsack_of(
    v: &[VarId],
    items: &[(i64, i64)],
    capacity: i64,
    sign: i64,
    extra: i64,
) -> Knapsack {
    let item = |(&x, &(weight, profit))| Item { x, weight, profit };
    let items = v.iter().zip(items).map(item).collect();
    Knapsack::new(items, capacity, v[v.len() - 1], sign, extra).expect("a choice")
}

fn literal(x: VarId, op: Comparison, value: Value) -> Literal {
    Literal::new(x, op, value)
}

propagator_suite! {
    not_equal: [-2..=2, -2..=2], Domain, |v| NotEqual::new(v[0], v[1], 1);
    equal_offset: [-2..=4, [0, 1, 3, 6, 7]], Domain, |v| EqualOffset::new(v[0], v[1], -2);
    linear_at_most: [-2..=3, 0..=4, -1..=2], Bounds, |v| {
        Linear::new(&[(2, v[0]), (-3, v[1]), (1, v[2])], LinearRelation::Le, -2)
    };
    linear_equal: [-2..=3, 0..=4, -1..=2, [0, 5]], Checking, |v| {
        Linear::new(&[(2, v[0]), (-3, v[1]), (1, v[2]), (1, v[3])], LinearRelation::Eq, 1)
    };
    linear_equal_with_units: [0..=4, 0..=4, 0..=4], Bounds, |v| {
        Linear::new(&[(1, v[0]), (-1, v[1]), (1, v[2])], LinearRelation::Eq, 3)
    };
    linear_different: [-2..=2, 0..=3, -1..=1], Domain, |v| {
        Linear::new(&[(2, v[0]), (-1, v[1]), (3, v[2])], LinearRelation::Ne, 1)
    };
    reified_linear_at_most: [0..=1, -2..=2, 0..=3, -1..=1], Bounds, |v| {
        LinearReified::new(v[0], &[(1, v[1]), (-1, v[2]), (2, v[3])], LinearRelation::Le, -1)
    };
    reified_linear_equal: [0..=1, -2..=2, 0..=3, -1..=1], Checking, |v| {
        LinearReified::new(v[0], &[(1, v[1]), (-1, v[2]), (2, v[3])], LinearRelation::Eq, -1)
    };
    reified_pair_equal: [0..=1, -2..=2, [-2, 0, 1, 5]], Checking, |v| {
        LinearReified::new(v[0], &[(1, v[1]), (-1, v[2])], LinearRelation::Eq, 0)
    };
    reified_linear_different: [0..=1, -2..=2, 0..=3], Checking, |v| {
        LinearReified::new(v[0], &[(1, v[1]), (-1, v[2])], LinearRelation::Ne, 1)
    };
    linear_with_a_variable_twice: [0..=5, 0..=5], Checking, |v| {
        Linear::new(&[(1, v[0]), (1, v[0]), (-3, v[1])], LinearRelation::Eq, 1)
    };
    knapsack: [0..=1, 0..=2, 0..=1, 0..=3, 0..=30], Checking, |v| {
        knapsack_of(v, &[(5, 7), (3, 5), (4, 1), (2, 3)], 8, 1, 0)
    };
    knapsack_with_every_sign: [-2..=2, -1..=3, 0..=2, -2..=1, -12..=9], Checking, |v| {
        knapsack_of(v, &[(2, 3), (-1, -2), (3, -1), (-2, 4)], 3, 1, -2)
    };
    knapsack_to_be_small: [0..=2, 0..=2, 0..=3, -3..=20], Checking, |v| {
        knapsack_of(v, &[(-3, -4), (-2, -3), (-4, -7)], -7, -1, 1)
    };
    clause: [0..=3, 0..=3, 0..=3, 0..=1], Domain, |v| Clause::new(vec![
        literal(v[0], Comparison::Lt, 1), literal(v[1], Comparison::Eq, 2),
        literal(v[2], Comparison::Ge, 3), literal(v[3], Comparison::Ne, 0),
    ]);
    clause_of_one: [0..=3], Domain, |v| Clause::new(vec![literal(v[0], Comparison::Ne, 1)]);
    reified_literal_equal: [0..=1, 0..=4], Domain, |v| {
        ReifiedLiteral::new(v[0], literal(v[1], Comparison::Eq, 2))
    };
    reified_literal_less: [0..=1, 0..=4], Domain, |v| {
        ReifiedLiteral::new(v[0], literal(v[1], Comparison::Lt, 2))
    };
    reified_member: [0..=1, 0..=6], Domain, |v| {
        ReifiedMember::new(v[0], v[1], ValueSet::from([1, 2, 5]))
    };
    reified_member_of_a_wide_domain: [0..=1, -70..=70], Domain, |v| {
        ReifiedMember::new(v[0], v[1], ValueSet::from_ranges([(-69, -3), (64, 66)]))
    };
    reified_all_different: [0..=1, 0..=2, 0..=2, 0..=3], Checking, |v| {
        Reified::new(v[0], Box::new(AllDifferentGac::new(&v[1..], [])))
    };
    reified_table: [0..=1, 0..=2, 0..=2], Domain, |v| Reified::with_negation(
        v[0],
        Box::new(BitTable::new([v[1], v[2]], random_table(3, 2, 5), true)),
        Box::new(BitTable::new([v[1], v[2]], random_table(3, 2, 5), false)),
    );
    implied_table: [0..=1, 0..=2, 0..=2], Domain, |v| HalfReified::new(
        v[0],
        Box::new(BitTable::new([v[1], v[2]], random_table(3, 2, 5), true)),
    );
    negation: [0..=3, 0..=3, 0..=3], Checking, |v| {
        Negation::new(Box::new(AllDifferentValue::new(v, [])))
    };
    multiply: [-4..=4, -3..=5, -12..=12], Checking, |v| {
        Arithmetic::new(Operation::Mul, v[0], v[1], v[2])
    };
    square: [-4..=4, -20..=20], Checking, |v| {
        Arithmetic::new(Operation::Mul, v[0], v[0], v[1])
    };
    divide: [-9..=9, -3..=3, -9..=9], Checking, |v| {
        Arithmetic::new(Operation::Div, v[0], v[1], v[2])
    };
    remainder: [-9..=9, -4..=4, -4..=4], Checking, |v| {
        Arithmetic::new(Operation::Mod, v[0], v[1], v[2])
    };
    power: [-3..=3, -1..=3, -27..=27], Checking, |v| {
        Arithmetic::new(Operation::Pow, v[0], v[1], v[2])
    };
    distance: [-4..=4, -3..=5, 0..=6], Checking, |v| {
        Arithmetic::new(Operation::Dist, v[0], v[1], v[2])
    };
    conjunction: [0..=1, 0..=2, -1..=2, 0..=1], Domain, |v| {
        let parts = [(v[1], Comparison::Eq, 2), (v[2], Comparison::Ne, 0), (v[3], Comparison::Ge, 1)];
        Conjunction::all(literal(v[0], Comparison::Eq, 1), parts.map(|(x, op, n)| literal(x, op, n)).into())
    };
    disjunction: [0..=2, 0..=2, -1..=2, 0..=1], Domain, |v| {
        let parts = [(v[1], Comparison::Lt, 1), (v[2], Comparison::Eq, 1), (v[3], Comparison::Ne, 1)];
        Conjunction::any(literal(v[0], Comparison::Ne, 1), parts.map(|(x, op, n)| literal(x, op, n)).into())
    };
    conjunction_that_repeats: [0..=1, 0..=3], Checking, |v| {
        let parts = [(v[1], Comparison::Ge, 1), (v[1], Comparison::Le, 2), (v[0], Comparison::Eq, 1)];
        Conjunction::all(literal(v[0], Comparison::Eq, 1), parts.map(|(x, op, n)| literal(x, op, n)).into())
    };
    indicators: [0..=4, 0..=1, 0..=1, 0..=1, 0..=1], Domain, |v| {
        Indicators::new(v[0], &[(1, v[1]), (3, v[2]), (0, v[3]), (7, v[4])])
    };
    indicators_of_all: [1..=3, 0..=1, 0..=1, 0..=1], Domain, |v| {
        Indicators::new(v[0], &[(1, v[1]), (2, v[2]), (3, v[3])])
    };
    maximum: [-1..=5, 0..=3, -2..=4, 1..=2], Bounds, |v| Extremum::maximum(v[0], &v[1..]);
    minimum: [-3..=5, 0..=3, -2..=4, 1..=2], Bounds, |v| Extremum::minimum(v[0], &v[1..]);
    element: [-1..=4, 0..=4, 0..=2, [1, 3], 2..=6, 4..=5], Domain, |v| {
        Element::new(&v[2..], 0, v[0], v[1])
    };
    element_from_one: [0..=4, 0..=4, 0..=2, [1, 3], 2..=6], Domain, |v| {
        Element::new(&v[2..], 1, v[0], v[1])
    };
    count_one_value: [0..=4, 0..=2, 1..=3, [0, 3], 2..=2], Domain, |v| {
        Count::new(&v[1..], [2], v[0])
    };
    among: [[0, 1, 3], 0..=4, 1..=3, 0..=3, 2..=5], Domain, |v| {
        Count::new(&v[1..], ValueSet::from_ranges([(1, 2), (4, 4)]), v[0])
    };
    number_of_values: [0..=4, 0..=2, 1..=3, 2..=4, 0..=1], Checking, |v| {
        NValues::new(&v[1..], [], v[0])
    };
    number_of_values_but_zero: [0..=4, 0..=2, 0..=3, 2..=4, 0..=1], Checking, |v| {
        NValues::new(&v[1..], [0], v[0])
    };
    lex: [0..=2, 0..=2, 0..=2, 0..=2, 0..=2, 0..=2], Domain, |v| Lex::new(&v[..3], &v[3..], false);
    lex_strict: [0..=2, 0..=2, 0..=2, 0..=2, 0..=2, 0..=2], Domain, |v| {
        Lex::new(&v[..3], &v[3..], true)
    };
    all_different_value: [0..=3, 0..=3, 1..=4, 0..=3], Checking, |v| AllDifferentValue::new(v, []);
    all_different_value_except: [0..=3, 0..=3, 0..=4, 0..=3], Checking, |v| {
        AllDifferentValue::new(v, [0])
    };
    all_different_bounds: [0..=3, 1..=2, 1..=4, 1..=2, 0..=5], Bounds, |v| {
        AllDifferentBounds::new(v)
    };
    all_different_bounds_tight: [0..=4, 0..=4, 0..=4, 0..=4, 0..=4], Bounds, |v| {
        AllDifferentBounds::new(v)
    };
    all_different_gac: [[0, 3], 0..=3, [1, 2, 6], 1..=2, 0..=5], Domain, |v| {
        AllDifferentGac::new(v, [])
    };
    all_different_gac_tight: [0..=4, 0..=4, 0..=4, 0..=4, 0..=4], Domain, |v| {
        AllDifferentGac::new(v, [])
    };
    all_different_gac_sparse: [[-900, 4, 7000], [4, 7000], [4, 7000, 9000], [4, 8000]], Domain, |v| {
        AllDifferentGac::new(v, [])
    };
    all_different_gac_except: [0..=3, 1..=2, 0..=2, 1..=3], Domain, |v| {
        AllDifferentGac::new(v, [0])
    };
    pigeons: [1..=3, 1..=3, 1..=3, 1..=3], Domain, |v| AllDifferentGac::new(v, []);
    channel: [0..=3, 0..=3, 0..=3, 1..=4, 1..=4, 1..=4], Checking, |v| {
        Channel::new(&v[..3], 1, &v[3..], 0)
    };
    channel_to_a_longer_list: [0..=3, 0..=3, -1..=2, 0..=2, 0..=2, 0..=1], Checking, |v| {
        Channel::new(&v[..2], 0, &v[2..], 0)
    };
    circuit: [0..=3, 0..=3, 0..=3, 0..=3], Checking, |v| Circuit::new(v, 0);
    circuit_of_five_from_one: [1..=5, 1..=5, 1..=5, 1..=5, 1..=5], Checking, |v| {
        Circuit::new(v, 1)
    };
    no_overlap: [0..=5, 0..=5, 1..=6, 2..=2, 3..=3, 1..=1], Checking, |v| {
        NoOverlap::new(&v[..3], &v[3..], true)
    };
    no_overlap_with_open_lengths: [0..=3, 0..=3, 0..=4, 0..=2, 1..=3, 0..=1], Checking, |v| {
        NoOverlap::new(&v[..3], &v[3..], true)
    };
    no_overlap_of_zeros: [0..=3, 0..=3, 0..=4, 0..=2, 1..=3, 0..=1], Checking, |v| {
        NoOverlap::new(&v[..3], &v[3..], false)
    };
    no_overlap_of_many: [0..=6, 1..=5, 2..=6, 0..=7, 2..=2, 3..=3, 1..=1, 2..=2], Checking, |v| {
        NoOverlap::new(&v[..4], &v[4..], true)
    };
    boxes: [0..=3, 1..=2, 0..=2, 2..=2, 0..=3, 2..=2, 0..=2, 1..=2], Checking, |v| {
        DisjointBoxes::new(&[(v[0], v[1]), (v[2], v[3])], &[(v[4], v[5]), (v[6], v[7])], true)
    };
    boxes_that_vanish: [0..=2, 0..=2, 0..=2, 1..=2, 0..=2, 2..=2, 0..=2, 0..=1], Checking, |v| {
        DisjointBoxes::new(&[(v[0], v[1]), (v[2], v[3])], &[(v[4], v[5]), (v[6], v[7])], true)
    };
    cumulative: [0..=4, 0..=4, 1..=5, 2..=2, 3..=3, 2..=2, 1..=1, 2..=2, 2..=2, 2..=3], Checking, |v| {
        Cumulative::new(&v[..3], &v[3..6], &v[6..9], v[9])
    };
    cumulative_of_four: [
        0..=5, 0..=5, 1..=6, 0..=4, 2..=2, 3..=3, 2..=2, 1..=1, 1..=1, 2..=2, 2..=2, 3..=3, 3..=3,
    ], Checking, |v| Cumulative::new(&v[..4], &v[4..8], &v[8..12], v[12]);
    cumulative_with_open_lengths: [0..=3, 0..=3, 0..=3, 0..=3, 0..=2, 1..=2, 1..=2], Checking, |v| {
        Cumulative::new(&v[..2], &v[2..4], &v[4..6], v[6])
    };
    diagram: [0..=3, 0..=3, 0..=3], Domain, |v| MddPropagator::new(v, mdd());
    regular: [0..=2, 0..=2, 1..=2, 0..=3], Domain, |v| {
        let mdd = automaton().unroll(4, |_, _| true).expect("words of length four");
        MddPropagator::new(v, Arc::new(mdd))
    };
}

#[test]
fn random_sums_reach_bounds_consistency_of_their_kind() {
    let range = (-3..=1, 0..=3).prop_map(|(lo, width)| ValueSet::from(lo..=lo + width));
    let coefficient = (-3_i64..=3).prop_map(|a| if a == 0 { 1 } else { a });
    let sums = (vec((coefficient, range), 2..=4), -4_i64..=4);
    let mut n_judged = 0;
    holds_for_all(40, sums, |(terms, constant)| {
        let (coefficients, sets): (Vec<i64>, Vec<ValueSet>) = terms.into_iter().unzip();
        for relation in [LinearRelation::Le, LinearRelation::Eq, LinearRelation::Ne] {
            let is_le = relation == LinearRelation::Le;
            let strength = if is_le { Strength::Bounds } else { Strength::Checking };
            n_judged += propagator_suite(&sets, strength, |vars| {
                let terms: Vec<(i64, VarId)> =
                    coefficients.iter().copied().zip(vars.iter().copied()).collect();
                Box::new(Linear::new(&terms, relation, constant))
            });
        }
    });
    assert!(n_judged >= MIN_JUDGED, "only {n_judged} states were judged");
}

#[test]
fn random_knapsacks() {
    let (mut n_made, mut n_judged) = (0, 0);
    let range = (-2..=1, 0..=3).prop_map(|(lo, width)| ValueSet::from(lo..=lo + width));
    let knapsacks = (vec(((-4_i64..=6, -4_i64..=6), range), 2..=4), -4_i64..=12, -3_i64..=3);
    holds_for_all(24, knapsacks, |(choices, capacity, extra)| {
        let n = choices.len();
        let (items, mut sets): (Vec<(i64, i64)>, Vec<ValueSet>) = choices.into_iter().unzip();
        sets.push(ValueSet::from(-8..=8));
        for sign in [1, -1] {
            let make = |v: &[VarId]| {
                let item = |(&x, &(weight, profit))| Item { x, weight, profit };
                Knapsack::new(v.iter().zip(&items).map(item).collect(), capacity, v[n], sign, extra)
            };
            let vars: Vec<VarId> = (0..=n).map(VarId::new).collect();
            if make(&vars).is_some() {
                n_made += 1;
                n_judged += propagator_suite(&sets, Strength::Checking, |v| {
                    Box::new(make(v).expect("a choice"))
                });
            }
        }
    });
    assert!(n_made > 16, "too few knapsacks have a choice");
    assert!(n_judged >= MIN_JUDGED, "only {n_judged} states were judged");
}

#[test]
fn random_all_different() {
    let sets = vec(vec(0..7, 1..=4).prop_map(ValueSet::from_iter), 2..=5);
    let mut n_judged = 0;
    holds_for_all(60, sets, |sets| {
        let mut judge =
            |sets: &[ValueSet], strength, make: &dyn Fn(&[VarId]) -> Box<dyn Propagator>| {
                n_judged += propagator_suite(sets, strength, make);
            };
        judge(&sets, Strength::Domain, &|v| Box::new(AllDifferentGac::new(v, [])));
        judge(&sets, Strength::Domain, &|v| Box::new(AllDifferentGac::new(v, [3])));
        // Bounds consistency assumes that domains have no holes.
        let ranges: Vec<ValueSet> = (sets.iter())
            .map(|set| ValueSet::from(set.min().expect("a value")..=set.max().expect("a value")))
            .collect();
        judge(&ranges, Strength::Bounds, &|v| Box::new(AllDifferentBounds::new(v)));
    });
    assert!(n_judged >= MIN_JUDGED, "only {n_judged} states were judged");
}

#[test]
fn random_machines() {
    let start = (0..4, 0..5).prop_map(|(lo, width)| ValueSet::from(lo..=lo + width));
    let fixed = || (1..=3).prop_map(|value| ValueSet::from(value..=value));
    let mut n_judged = 0;
    holds_for_all(60, vec((start, fixed(), fixed()), 3..=4), |tasks| {
        let n = tasks.len();
        let [starts, lengths, heights] = [0, 1, 2].map(|which| {
            let part =
                |task: &(ValueSet, ValueSet, ValueSet)| [&task.0, &task.1, &task.2][which].clone();
            tasks.iter().map(part).collect::<Vec<ValueSet>>()
        });
        let limit = ValueSet::from(3..=3);
        let sets = [&starts[..], &lengths[..]].concat();
        n_judged += propagator_suite(&sets, Strength::Checking, |v| {
            Box::new(NoOverlap::new(&v[..n], &v[n..], true))
        });
        let sets = [&starts[..], &lengths[..], &heights[..], &[limit]].concat();
        n_judged += propagator_suite(&sets, Strength::Checking, |v| {
            Box::new(Cumulative::new(&v[..n], &v[n..2 * n], &v[2 * n..3 * n], v[3 * n]))
        });
    });
    assert!(n_judged >= MIN_JUDGED, "only {n_judged} states were judged");
}
