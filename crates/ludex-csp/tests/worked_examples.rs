//! The worked examples in the literature that are constraint networks: D1 to D12, H1, M3.

use std::sync::Arc;

use ludex_csp::propagators::table::{BitTable, Str, Table, TableAlgorithm};
use ludex_csp::propagators::{AllDifferentGac, AllDifferentValue, NotEqual};
use ludex_csp::search::study::{Method, Step, StudyConfig, study};
use ludex_csp::*;

/// Letters `i`, `j`, `k` as the values 0, 1, 2.
fn letters(words: &[&str]) -> Table {
    let value = |letter: u8| Value::from(letter - b'i');
    let tuples = words.iter().map(|word| word.bytes().map(value).collect::<Vec<_>>());
    Table::from_tuples(words[0].len(), tuples)
}

fn queens(n: usize) -> (Network, Vec<VarId>) {
    let mut network = Network::new();
    let queens = network.ints("q", n, 1..=n as Value);
    for i in 0..n {
        for j in 0..i {
            network.require(queens[i].differs(queens[j]));
            network.require(distance(queens[i], queens[j]).differs((i - j) as Value));
        }
    }
    (network, queens)
}

fn all(network: &Network) -> Vec<Vec<Value>> {
    let config = SearchConfig { goal: Goal::All, ..SearchConfig::default() };
    let mut solutions = solve(network, &config).unwrap().solutions;
    assert!(solutions.iter().all(|solution| network.is_solution(solution)));
    solutions.sort_unstable();
    solutions
}

fn count(network: &Network) -> u64 {
    let config = SearchConfig { goal: Goal::Count, ..SearchConfig::default() };
    solve(network, &config).unwrap().n_solutions
}

fn values(engine: &Engine, x: VarId) -> Vec<Value> {
    engine.domains().values(x).collect()
}

#[test]
fn d1_supports_and_conflicts_of_a_disequality() {
    let mut network = Network::new();
    let [x, y] = ["x", "y"].map(|name| network.symbol(name, ["i", "j", "k"]));
    network.require(x.differs(y));
    assert_eq!(all(&network).len(), 6);
    assert_eq!(network.label(x, 1), "j");
    let conflicts = letters(&["ii", "jj", "kk"]);
    let mut by_conflicts = Network::new();
    let scope = ["x", "y"].map(|name| by_conflicts.symbol(name, ["i", "j", "k"]));
    by_conflicts.forbid(&scope, conflicts);
    assert_eq!(all(&by_conflicts), all(&network));
    // A product of domains, and a tuple with a value outside them.
    let mut product = Network::new();
    let vars = [[0, 1], [0, 2], [1, 2]].map(|set| product.int("x", set));
    assert_eq!(vars.len(), 3);
    assert_eq!(count(&product), 8);
    assert!(!product.is_solution(&[0, 6, 2]));
}

#[test]
fn d2_ternary_network() {
    let mut network = Network::new();
    let x = network.ints("x", 5, 0..=1);
    network.require((x[0] + x[1]).less_than(x[3]));
    network.require(x[3].differs(x[4]));
    network.require(x[2].equals(x[4]));
    assert_eq!(network.constraints().iter().map(|c| c.scope().len()).max(), Some(3));
    assert_eq!(all(&network), [[0, 0, 0, 1, 0]]);
}

#[test]
fn d3_queens() {
    assert_eq!(all(&queens(4).0), [[2, 4, 1, 3], [3, 1, 4, 2]]);
    for (n, expected) in [(4, 2), (5, 10), (6, 4), (7, 40), (8, 92)] {
        assert_eq!(count(&queens(n).0), expected, "{n} queens");
    }
    let (network, _) = queens(8);
    let n_assignments: u64 = network.variables().iter().map(|x| x.domain.len()).product();
    assert_eq!(n_assignments, 16_777_216);
}

#[test]
fn d3_generate_and_test_tries_every_assignment() {
    let report = study(&queens(4).0, &StudyConfig::new(Method::GenerateAndTest, Goal::All));
    let report = report.unwrap();
    assert_eq!(report.solutions, [[2, 4, 1, 3], [3, 1, 4, 2]]);
    // The search tries 4 + 16 + 64 + 256 values; 256 of them complete an assignment.
    assert_eq!(report.n_nodes, 340);
}

#[test]
fn d4_inference_on_four_queens() {
    let (network, q) = queens(4);
    let mut engine = network.post(&PostConfig::default()).unwrap();
    engine.propagate().unwrap();
    // Forward checking from the first queen alone calls each of its constraints once.
    engine.push_level();
    engine.domains_mut().fix(q[0], 1).unwrap();
    for id in engine.propagator_ids() {
        if engine.propagator(id).scope().contains(&q[0]) {
            let mut alone = engine.propagator(id).duplicate();
            alone.propagate(engine.domains_mut()).unwrap();
        }
    }
    assert_eq!([1, 2, 3].map(|i| values(&engine, q[i])), [vec![3, 4], vec![2, 4], vec![2, 3]]);
    engine.pop_level();
    // Arc consistency empties a domain.
    engine.push_level();
    assert_eq!(engine.assign(q[0], 1), Err(Conflict));
    engine.pop_level();
    engine.refute(q[0], 1).unwrap();
    assert_eq!(values(&engine, q[0]), [2, 3, 4]);
}

#[test]
fn d5_node_consistency() {
    let mut network = Network::new();
    let [x, y] = ["x", "y"].map(|name| network.int(name, 1..=4));
    network.require(x.greater_than(2));
    network.require(x.differs(y));
    let preprocessed = preprocess(&network);
    assert_eq!(preprocessed.n_unary, 1);
    assert_eq!(preprocessed.network.variable(x).domain.to_string(), "3..4");
    assert_eq!(preprocessed.network.variable(y).domain.to_string(), "1..4");
}

#[test]
fn d6_arc_consistency_in_any_order() {
    let tables = [
        ([0, 2], letters(&["ij", "ik", "jk"])),
        ([0, 1], letters(&["ji", "ki", "kj"])),
        ([1, 2], letters(&["ik", "jj", "ki"])),
    ];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for (_, algorithm) in TableAlgorithm::ALL {
        for order in orders {
            let mut network = Network::new();
            let vars = ["x", "y", "z"].map(|name| network.symbol(name, ["i", "j", "k"]));
            for at in order {
                let (scope, table) = &tables[at];
                network.table(&scope.map(|i: usize| vars[i]), table.clone());
            }
            let config = PostConfig { table: algorithm, ..PostConfig::default() };
            let mut engine = network.post(&config).unwrap();
            engine.propagate().unwrap();
            assert_eq!(vars.map(|x| values(&engine, x)), [vec![1], vec![0], vec![2]]);
        }
    }
    // The first constraint alone removes k from x and i from z.
    let mut engine = Engine::new();
    let [x, z] = [0, 1].map(|_| engine.add_variable(&ValueSet::from(0..3)).unwrap());
    engine.post(Box::new(BitTable::new([x, z], Arc::new(tables[0].1.clone()), true)));
    engine.propagate().unwrap();
    assert_eq!((values(&engine, x), values(&engine, z)), (vec![0, 1], vec![1, 2]));
}

#[test]
fn d7_simple_tabular_reduction() {
    let mut engine = Engine::new();
    let [x, y, z] = [0, 1, 2].map(|_| engine.add_variable(&ValueSet::from(0..3)).unwrap());
    let table = letters(&["iji", "iki", "ikj", "ikk", "jki", "jkk", "kij"]);
    let mut propagator = Str::new(vec![x, y, z], Arc::new(table));
    propagator.post(&mut Setup::new(engine.domains_mut()));
    let domains = engine.domains_mut();
    assert_eq!(propagator.position(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(propagator.current_limit(domains), 6);
    // Level 1: y = k.
    domains.push_level();
    domains.fix(y, 2).unwrap();
    propagator.propagate(domains).unwrap();
    assert_eq!(propagator.position(), [5, 1, 2, 3, 4, 6, 0]);
    assert_eq!(propagator.current_limit(domains), 4);
    assert_eq!(propagator.level_limit(domains, 1), Some(6));
    assert_eq!(propagator.level_limit(domains, 2), None);
    assert_eq!(domains.value_set(x), ValueSet::from(0..=1));
    // Level 2: x is not i.
    domains.push_level();
    domains.remove(x, 0).unwrap();
    propagator.propagate(domains).unwrap();
    assert_eq!(propagator.position(), [5, 4, 3, 2, 1, 6, 0]);
    assert_eq!(propagator.current_limit(domains), 1);
    assert_eq!(propagator.level_limit(domains, 2), Some(4));
    assert_eq!(domains.value_set(z), ValueSet::from([0, 2]));
    // After level 2 is undone, the limit is restored and the order of tuples stays.
    domains.pop_level();
    assert_eq!(propagator.current_limit(domains), 4);
    assert_eq!(propagator.level_limit(domains, 2), None);
    assert_eq!(propagator.position(), [5, 4, 3, 2, 1, 6, 0]);
}

#[test]
fn d8_backjumping_skips_the_innocent() {
    let mut network = Network::new();
    let [w, x, y, z] = ["w", "x", "y", "z"].map(|name| network.symbol(name, ["i", "j"]));
    network.require(w.differs(z));
    network.require(x.differs(z));
    // `w = i, x = j, y = i` leaves no value for `z`; forbidding `w = x = i` leads there at
    // once.
    network.forbid(&[w, x], letters(&["ii"]));
    let back_from_z = |method: Method| -> Vec<VarId> {
        let report = study(&network, &StudyConfig::new(method, Goal::First(1))).unwrap();
        assert_eq!(report.solutions, [[1, 1, 0, 0]], "the first solution is the same for all");
        (report.steps.iter())
            .filter_map(|step| match step {
                Step::WentBack(from, to) if *from == z => Some(*to),
                _ => None,
            })
            .collect()
    };
    // Chronological backtracking returns to `y` and fails there again and again.
    assert_eq!(back_from_z(Method::BackwardChecking)[..2], [y, y]);
    assert_eq!(back_from_z(Method::Backjumping)[0], x);
    assert_eq!(back_from_z(Method::DynamicBacktracking)[0], x);
}

#[test]
fn d9_backward_checking_sees_the_diagonal() {
    let (network, q) = queens(4);
    let value_of = |x: VarId| if x == q[0] { 2 } else { 1 };
    let pair = |c: &&Constraint| c.scope().iter().all(|x| [q[0], q[1]].contains(x));
    assert!(network.constraints().iter().filter(pair).any(|c| !c.holds(&value_of)));
}

#[test]
fn d10_lexicographic_mac_needs_two_decisions_for_four_queens() {
    let config = SearchConfig {
        variable_order: VariableOrder::Lexicographic,
        value_order: ValueOrder::Min,
        restarts: Restarts::Never,
        ..SearchConfig::default()
    };
    for (_, algorithm) in TableAlgorithm::ALL {
        let post = PostConfig { table: algorithm, ..PostConfig::default() };
        let report = solve(&queens(4).0, &SearchConfig { post, ..config.clone() }).unwrap();
        assert_eq!(report.best().unwrap(), [2, 4, 1, 3]);
        assert_eq!((report.statistics.n_nodes, report.statistics.n_conflicts), (2, 1));
    }
}

#[test]
fn d11_all_different_is_a_clique_of_disequalities() {
    let sets = [ValueSet::from(0..3), ValueSet::from(0..3), ValueSet::from(1..4)];
    let vars: Vec<VarId> = (0..3).map(VarId::new).collect();
    let pairs = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| NotEqual::new(vars[i], vars[j], 0));
    for a in sets[0].iter() {
        for b in sets[1].iter() {
            for c in sets[2].iter() {
                let tuple = [a, b, c];
                let by_pairs = pairs.iter().all(|pair| {
                    let of = |x: &VarId| tuple[x.index()];
                    pair.holds(&pair.scope().iter().map(of).collect::<Vec<_>>())
                });
                assert_eq!(AllDifferentGac::new(&vars, []).holds(&tuple), by_pairs);
                assert_eq!(AllDifferentValue::new(&vars, []).holds(&tuple), by_pairs);
            }
        }
    }
}

#[test]
fn d12_send_more_money() {
    let mut network = Network::new();
    let [s, e, n, d, m, o, r, y] =
        ["S", "E", "N", "D", "M", "O", "R", "Y"].map(|name| network.int(name, 0..=9));
    let number = |letters: &[VarId]| {
        letters.iter().fold(Expr::from(0), |number, &letter| number * 10 + letter)
    };
    network.all_different([s, e, n, d, m, o, r, y]);
    network.require(s.differs(0) & m.differs(0));
    network
        .require((number(&[s, e, n, d]) + number(&[m, o, r, e])).equals(number(&[m, o, n, e, y])));
    assert_eq!(all(&network), [[9, 5, 6, 7, 1, 0, 8, 2]]);
}

/// The parity network H1 has two solutions.
#[test]
fn h1_parity() {
    let mut network = Network::new();
    let [w, x, y, z] = ["w", "x", "y", "z"].map(|name| network.bool(name));
    network.require(((x + y + z) % 2).equals(0));
    network.require(((w + y) % 2).equals(1));
    network.require(((w + z) % 2).equals(0));
    assert_eq!(all(&network), [[0, 1, 1, 0], [1, 1, 0, 1]]);
}

/// The grid M3 has one solution.
#[test]
fn m3_sudoku() {
    let clues = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    let mut network = Network::new();
    let cells = network.ints("c", 81, 1..=9);
    for i in 0..9 {
        network.all_different((0..9).map(|j| cells[9 * i + j]));
        network.all_different((0..9).map(|j| cells[9 * j + i]));
        network
            .all_different((0..9).map(|j| cells[27 * (i / 3) + 3 * (i % 3) + 9 * (j / 3) + j % 3]));
    }
    for (&cell, clue) in cells.iter().zip(clues.bytes()).filter(|(_, clue)| *clue != b'.') {
        network.require(cell.equals(Value::from(clue - b'0')));
    }
    let solutions = all(&network);
    assert_eq!(solutions.len(), 1);
    assert_eq!(solutions[0][..9], [5, 3, 4, 6, 7, 8, 9, 1, 2]);
}

#[test]
fn d12_map_coloring() {
    let mut network = Network::new();
    let colors = ["red", "green", "blue"];
    let regions = ["WA", "NT", "SA", "Q", "NSW", "V", "T"].map(|name| network.symbol(name, colors));
    let [wa, nt, sa, q, nsw, v, _] = regions;
    for (a, b) in
        [(wa, nt), (wa, sa), (nt, sa), (nt, q), (sa, q), (sa, nsw), (sa, v), (q, nsw), (nsw, v)]
    {
        network.require(a.differs(b));
    }
    assert_eq!(count(&network), 18);
}
