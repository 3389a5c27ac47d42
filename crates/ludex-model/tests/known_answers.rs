//! The models of `models/` have the answers that are known of them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ludex_base::{Deadline, Source};
use ludex_csp::Verdict;
use ludex_model::{Data, Datum, ModelLimits, Problem, compile};
use ludex_qcsp::{
    Model, Report, ScopeId, SolveConfig, StrategyRequest, Ties, check_strategy, solve,
};

fn model(name: &str, data: &[(&str, &str)]) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.qcp"));
    let text = fs::read_to_string(path).expect("a readable model");
    let mut values = Data::default();
    for (name, value) in data {
        values.values.insert((*name).into(), Datum::read(value).expect("a value"));
    }
    let source = Source::new(name, text);
    match compile(&source, &values, &ModelLimits::default(), &Deadline::never()) {
        Ok(compiled) => match compiled.problem {
            Problem::Quantified(model) => model,
            other => panic!("{name} is {}", other.kind()),
        },
        Err(diagnostics) => panic!("{name} {data:?}: {diagnostics:#?}"),
    }
}

fn solved(model: &Model) -> Report {
    let config = SolveConfig {
        deadline: Deadline::after(Duration::from_secs(60)),
        ..SolveConfig::default()
    };
    solve(model, &config).expect("the model can be solved")
}

#[track_caller]
fn check(name: &str, data: &[(&str, &str)], expected: bool) {
    assert_eq!(solved(&model(name, data)).verdict, Verdict::from(expected), "{name} {data:?}");
}

#[track_caller]
fn check_value(name: &str, data: &[(&str, &str)], ties: Ties, expected: i64) {
    let mut model = model(name, data);
    for i in 0..model.scopes().len() {
        model.ties(ScopeId::new(i), ties);
    }
    let report = solved(&model);
    assert_eq!((report.verdict, report.value), (Verdict::True, Some(expected)), "{name} {data:?}");
}

#[test]
fn nim_is_lost_at_multiples_of_four() {
    for n in 0..=30 {
        check("nim", &[("n", &n.to_string())], n % 4 != 0);
    }
    check("nim", &[("n", "1000")], false);
}

#[test]
fn nim_fibonacci_is_lost_at_fibonacci_numbers() {
    for n in 2..=40 {
        let is_lost = [2, 3, 5, 8, 13, 21, 34].contains(&n);
        check("nim-fibonacci", &[("n", &n.to_string())], !is_lost);
    }
}

#[test]
fn nim_black_jack_has_two_strategies() {
    let model = model("nim-black-jack", &[]);
    let config = SolveConfig { strategy: StrategyRequest::All, ..SolveConfig::default() };
    let report = solve(&model, &config).expect("the model can be solved");
    assert_eq!(report.verdict, Verdict::True);
    let strategy = report.strategy.expect("there is room for it");
    check_strategy(&model, &strategy).expect("it wins");
    assert_eq!(strategy.n_strategies(|scope| model.scope(scope).quantifier), 2);
}

#[test]
fn tic_tac_toe_is_a_draw_in_every_form() {
    for name in ["tictactoe", "tictactoe-nonblocking", "tictactoe-ghost"] {
        check(name, &[("question", "win")], false);
        check(name, &[("question", "notlose")], true);
    }
    for name in ["tictactoe", "tictactoe-nonblocking"] {
        check(name, &[("question", "win"), ("first", "false")], false);
        check(name, &[("question", "notlose"), ("first", "false")], true);
    }
    for first in ["true", "false"] {
        check("tictactoe-strategic", &[("first", first)], false);
    }
}

#[test]
fn small_boards_of_connect_four_are_draws() {
    for (columns, rows) in [("4", "4"), ("4", "5"), ("5", "4")] {
        let board = [("columns", columns), ("rows", rows)];
        check("connect-four", &[board[0], board[1], ("question", "win")], false);
        check("connect-four", &[board[0], board[1], ("question", "notlose")], true);
    }
    // On one row of seven nobody can make four in a row against the other.
    check("connect-four", &[("columns", "7"), ("rows", "1")], false);
}

#[test]
fn bakers_weights_are_powers_of_three() {
    check("baker", &[("n", "3"), ("most", "13")], true);
    check("baker", &[("n", "3"), ("most", "14")], false);
    check("baker", &[("n", "2"), ("most", "4"), ("above", "1")], true);
    check("baker", &[("n", "2"), ("most", "4"), ("above", "3")], false);
}

/// The matrix game by its definition: the best of the halves, and the worst of theirs.
#[test]
fn the_matrix_game_is_as_halving_says() {
    for seed in 1..=8_u64 {
        for depth in 1..=4_u32 {
            let size = 1_usize << depth;
            let cell = |row: usize, column: usize| {
                let place = row * size + column + 1;
                lcg(seed, place) % 100 < 60
            };
            fn wins(
                cell: &dyn Fn(usize, usize) -> bool,
                row: usize,
                column: usize,
                size: usize,
            ) -> bool {
                if size == 1 {
                    return cell(row, column);
                }
                let half = size / 2;
                [row, row + half]
                    .into_iter()
                    .any(|r| [column, column + half].into_iter().all(|c| wins(cell, r, c, half)))
            }
            let data = [("depth", depth.to_string()), ("seed", seed.to_string())];
            let data = [(data[0].0, data[0].1.as_str()), (data[1].0, data[1].1.as_str())];
            check("matrix-game", &data, wins(&cell, 0, 0, size));
        }
    }
}

/// The upper bits of the generator of the published instances, step by step.
fn lcg(seed: u64, place: usize) -> u64 {
    let step =
        |s: u64| s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (0..=place).fold(seed, |state, _| step(state)) >> 33
}

/// Optimistic and pessimistic optima of published instances.
#[test]
fn link_pricing_has_the_published_optima() {
    let instances =
        [("5", "2", 260, 200), ("5", "5", 484, 484), ("5", "9", 985, 949), ("6", "2", 420, 420)];
    for (links, customers, optimistic, pessimistic) in instances {
        let data = [("links", links), ("customers", customers), ("seed", "1")];
        check_value("link-pricing", &data, Ties::Optimistic, optimistic);
        check_value("link-pricing", &data, Ties::Pessimistic, pessimistic);
    }
    let small = [
        ("links", "2"),
        ("customers", "2"),
        ("tariffs", "0..4"),
        ("cost", "[| 1, 2 | 3, 1 |]"),
        ("demand", "[2, 1]"),
        ("budget", "[10, 4]"),
    ];
    check_value("link-pricing", &small, Ties::Optimistic, 11);
    check_value("link-pricing", &small, Ties::Pessimistic, 9);
}

#[test]
fn schedules_withstand_what_they_are_known_to() {
    // Three tasks, a deadline of 4, and up to two needs raised by one.
    let small = [
        ("n", "3"),
        ("durations", "[3, 2, 1]"),
        ("needs", "[1, 2, 3]"),
        ("raised_needs", "[2, 3, 4]"),
        ("precedes", "[| false, false, false | false, false, false | false, false, false |]"),
        ("capacity", "5"),
        ("k", "2"),
    ];
    for (deadline, expected) in [("3", false), ("4", true)] {
        let data: Vec<_> = small.iter().copied().chain([("deadline", deadline)]).collect();
        check("scheduling", &data, expected);
        let data: Vec<_> = data.into_iter().chain([("order", "attack")]).collect();
        check("scheduling", &data, expected);
    }
    // Published instances, the attack first.
    for (n, k, increase, seed, expected) in [
        ("10", "1", "40", "1", true),
        ("10", "3", "40", "1", true),
        ("10", "1", "40", "2", false),
        ("10", "3", "40", "2", false),
    ] {
        let data =
            [("n", n), ("k", k), ("increase", increase), ("seed", seed), ("order", "attack")];
        check("scheduling", &data, expected);
    }
}

#[test]
fn the_deadline_is_a_fifth_above_the_shortest_plan() {
    for (n, seed, deadline) in [("10", "1", 13), ("10", "2", 16), ("15", "1", 14)] {
        let model = model("scheduling", &[("n", n), ("seed", seed)]);
        let latest = model.variables().iter().filter_map(|x| x.variable.domain.max()).max();
        assert_eq!(latest, Some(deadline), "n = {n}, seed {seed}");
    }
}

/// Leaders and followers by nested loops over all choices.
#[test]
fn the_county_the_factory_and_the_farmer_agree_with_nested_loops() {
    let most = 0..=4_i64;
    let mut best: Option<i64> = None;
    for tax_u in 0..=3 {
        for tax_p in 0..=3 {
            let value = factory(tax_u, tax_p, &most);
            best = Some(best.map_or(value, |best| best.min(value)));
        }
    }
    check_value("factory", &[], Ties::Optimistic, best.expect("there are taxes"));
}

/// What the county gets: the followers take what is best for them, and among that what is best
/// for those who chose before them.
fn factory(tax_u: i64, tax_p: i64, most: &std::ops::RangeInclusive<i64>) -> i64 {
    let bonus = |n: i64, bonus: i64| if n > 0 { bonus } else { 0 };
    let mut best: Option<(i64, i64)> = None;
    for a in most.clone() {
        for b in most.clone() {
            let (outlay_u, spill_u) = (2 * a + 2 * b, 2 * a + b);
            if outlay_u > 12 {
                continue;
            }
            let sales_u = 7 * a + bonus(a, 3) + 5 * b + bonus(b, 4);
            let profit_u = sales_u * (100 - tax_u * spill_u) - 100 * outlay_u;
            let mut farmer: Option<(i64, i64)> = None;
            for s in most.clone() {
                for t in most.clone() {
                    let outlay_p = (3 + spill_u) * s + (2 + spill_u) * t;
                    if outlay_p > 30 {
                        continue;
                    }
                    let spill_p = s + 2 * t;
                    let sales_p = 12 * s + bonus(s, 2) + 8 * t + bonus(t, 3);
                    let profit_p = sales_p * (100 - tax_p * spill_p) - 100 * outlay_p;
                    let county =
                        500 * (spill_u + spill_p) - 100 * (tax_u * spill_u + tax_p * spill_p);
                    let key = (-profit_p, county);
                    farmer = Some(farmer.map_or(key, |best| best.min(key)));
                }
            }
            let Some((_, county)) = farmer else { continue };
            let key = (-profit_u, county);
            best = Some(best.map_or(key, |best| best.min(key)));
        }
    }
    best.expect("doing nothing is always possible").1
}

#[test]
fn the_operators_agree_with_nested_loops() {
    let mut best: Option<i64> = None;
    for price in 2..=10_i64 {
        for rent in 0..=5 {
            let mut follower: Option<(i64, i64)> = None;
            for price2 in 2..=10 {
                for rented in 0..=20 {
                    let customers = (20 - 2 * price + price2).max(0);
                    let customers2 = (15 - 2 * price2 + price).max(0);
                    if customers2 > rented {
                        continue;
                    }
                    let profit = (price - 1) * customers + rent * rented - 10;
                    let profit2 = (price2 - 1) * customers2 - rent * rented - 5;
                    let key = (profit2, profit);
                    follower = Some(follower.map_or(key, |best| best.max(key)));
                }
            }
            if let Some((_, profit)) = follower {
                best = Some(best.map_or(profit, |best| best.max(profit)));
            }
        }
    }
    check_value("virtual-network", &[], Ties::Optimistic, best.expect("there are prices"));
}

#[test]
fn the_second_player_wins_othello_on_a_small_board() {
    check("othello", &[("question", "notlose")], false);
    check("othello", &[("question", "win"), ("first", "false")], true);
}
