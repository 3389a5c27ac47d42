//! The worked examples of the literature with their right answers.
//!
//! By their numbers in the collection: I1, I2, I6 `sums_and_products`; I3
//! `nim_with_ten_matches`; I4 `boolean.rs`; J1 `nim_black_jack_has_two_compact_strategies`; J2
//! `nim_fibonacci_is_lost_at_fibonacci_numbers`; J3, J4 `tictactoe_…`; J5 `a_robust_schedule`;
//! J7 `small_connect_four_boards_are_draws`, with 5x5 and deeper boards in `cargo experiment
//! quantified`; K1 `a_leader_does_not_choose_for_its_follower`; K2 `link_pricing_…`; K3
//! `three_levels_of_decisions`; K4 `virtual_network_pricing`; K5
//! `a_universal_opponent_is_not_an_existential_one`. Those that compare formalisms (I5, J8, J9,
//! K6, and the rest of I2, I3, J1, J2, J3, J5) are in `formalisms.rs`. J6 needs instances that
//! are not public, and the coordinates of K7 are lost.

mod models;

use ludex_csp::{
    Constraint, Expr, Value, ValueSet, VarId, Verdict, all_of, any_of, element, if_then_else, sum,
};
use ludex_qcsp::*;
use models::*;

fn verdict(model: &Model) -> Verdict {
    solve(model, &SolveConfig::default()).unwrap().verdict
}

/// Returns the requested strategy after the checker accepted it.
fn strategy(model: &Model, request: StrategyRequest) -> Strategy {
    let config = SolveConfig { strategy: request, ..SolveConfig::default() };
    let strategy = solve(model, &config).unwrap().strategy.expect("it fits");
    check_strategy(model, &strategy).unwrap();
    strategy
}

fn n_strategies(model: &Model) -> u128 {
    strategy(model, StrategyRequest::All).n_strategies(|scope| model.scope(scope).quantifier)
}

/// The values chosen at the root.
fn first_choices(model: &Model) -> Vec<Vec<Value>> {
    let strategy = strategy(model, StrategyRequest::All);
    match strategy.node(strategy.root) {
        StrategyNode::Play { branches, .. } => branches.iter().map(|(v, _)| v.clone()).collect(),
        StrategyNode::End => Vec::new(),
    }
}

/// exists x forall y exists z with these domains.
fn three(domains: [ValueSet; 3]) -> (Model, [VarId; 3]) {
    let mut model = Model::new();
    let [dx, dy, dz] = domains;
    model.exists("x");
    let x = model.int("x", dx);
    model.forall("y");
    let y = model.int("y", dy);
    model.exists("z");
    let z = model.int("z", dz);
    (model, [x, y, z])
}

#[test]
fn sums_and_products() {
    let (mut model, [x, y, z]) = three([[0, 1].into(), [0, 1].into(), [1, 2].into()]);
    model.goal((x + y).equals(z));
    assert_eq!(first_choices(&model), [[1]]);
    let (mut model, [x, y, z]) = three([[1, 2].into(), [1, 2].into(), [1, 2].into()]);
    model.goal((x * y).equals(z));
    assert_eq!(first_choices(&model), [[1]]);
    assert_eq!(n_strategies(&model), 1);
    for (dz, expected) in [([2, 3], 1), ([3, 4], 2)] {
        let (mut model, [x, y, z]) = three([[1, 2].into(), [1, 2].into(), dz.into()]);
        model.goal((x + y).equals(z));
        assert_eq!(first_choices(&model), [[expected]]);
    }
}

/// Five moves of 1 to 3 that take all of n matches.
fn five_moves(n: Value) -> Model {
    let mut model = Model::new();
    let mut moves = Vec::new();
    for i in 0..5 {
        model.open(format!("move {i}"), mover(i));
        moves.push(model.int(format!("x{i}"), 1..=3));
    }
    model.goal(sum(&moves).equals(n));
    model
}

#[test]
fn nim_with_ten_matches() {
    for n in 5..=15 {
        assert_eq!(verdict(&five_moves(n)), (9..=11).contains(&n).into(), "{n}");
    }
    let model = five_moves(10);
    assert_eq!(first_choices(&model), [[2]]);
    assert_eq!(strategy(&model, StrategyRequest::One).n_plays(), 9);
    for n in 1..=27 {
        assert_eq!(verdict(&nim(n)), (n % 4 != 0).into(), "{n}");
    }
}

#[test]
fn nim_black_jack_has_two_compact_strategies() {
    let model = black_jack(ValueSet::from([3, 15, 17, 19]));
    assert_eq!(first_choices(&model), [[3]]);
    assert_eq!(n_strategies(&model), 2);
    assert_eq!(strategy(&model, StrategyRequest::One).n_plays(), 3);
}

/// Restrictors can be folded into the goal as `not C or …` and `C and …` without changing the
/// truth.
#[test]
fn restrictors_can_be_folded_into_the_goal() {
    let model = black_jack(ValueSet::from([3, 15, 17, 19]));
    let mut folded = Model::new();
    for scope in model.scopes() {
        folded.open(scope.name.clone(), scope.quantifier);
        for &x in &scope.variables {
            folded.int(model.name(x), model.domain(x).clone());
        }
    }
    let both = |constraints: &[Constraint]| {
        all_of(constraints.iter().map(|constraint| match constraint {
            Constraint::Intension(e) => e.clone(),
            other => panic!("{} is not an expression", other.name()),
        }))
    };
    let mut goal = both(model.goal_constraints());
    for scope in model.scopes().iter().rev() {
        let restrictor = both(&scope.restrictor);
        goal = match scope.quantifier {
            Quantifier::Exists => restrictor & goal,
            _ => restrictor.implies(goal),
        };
    }
    folded.goal(goal);
    assert_eq!(verdict(&folded), Verdict::True);
}

#[test]
fn nim_fibonacci_is_lost_at_fibonacci_numbers() {
    for n in 2..=40 {
        let is_lost = [2, 3, 5, 8, 13, 21, 34].contains(&n);
        assert_eq!(verdict(&nim_fibonacci(n)), (!is_lost).into(), "{n}");
    }
    assert_eq!(strategy(&nim_fibonacci(21), StrategyRequest::One).winner, Quantifier::Forall);
}

#[test]
fn tictactoe_is_a_draw() {
    for (first, question, expected) in
        [(Quantifier::Exists, Question::Win, false), (Quantifier::Exists, Question::NotLose, true)]
    {
        let model = tictactoe(question, first);
        assert_eq!(verdict(&model), expected.into());
        strategy(&model, StrategyRequest::One);
    }
}

/// Tic-tac-toe in which both players move to the end, and variables carry the winner along.
fn tictactoe_to_the_end(goal: fn(VarId) -> Expr) -> Model {
    let lines =
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
    let mut model = Model::new();
    let mut board: Vec<Expr> = vec![Expr::from(0); 9];
    let mut won = Expr::from(0);
    let mut last = None;
    for i in 0..9 {
        model.open(format!("move {i}"), mover(i));
        // There is a free cell as long as there are moves.
        model.non_blocking();
        let x = model.int(format!("x{i}"), 0..=8);
        let player = 1 + (i % 2) as Value;
        model.require(element(board.clone(), x).equals(0));
        board = marked(&mut model, &board, i, x, player);
        let is_lined = any_of(
            lines
                .iter()
                .map(|line| all_of(line.iter().map(|&cell| board[cell].clone().equals(player)))),
        );
        let next = if_then_else(won.clone().differs(0), won, is_lined * player);
        let winner = model.define_in(format!("won{i}"), 0..=2, next);
        won = Expr::Var(winner);
        last = Some(winner);
    }
    model.goal(goal(last.unwrap()));
    model
}

#[test]
fn tictactoe_without_blocked_players_is_a_draw_too() {
    for (goal, expected) in
        [((|won| won.equals(1)) as fn(VarId) -> Expr, false), (|won| won.differs(2), true)]
    {
        let model = tictactoe_to_the_end(goal);
        for propagation in [Propagation::Auto, Propagation::Restrictor, Propagation::Fusion] {
            let config = SolveConfig { propagation, ..SolveConfig::default() };
            assert_eq!(solve(&model, &config).unwrap().verdict, expected.into());
        }
        // Declaring scopes non-blocking changes the time, not the answer.
        let mut blocking = model.clone();
        for scope in (0..9).map(ScopeId::new) {
            blocking.scope_mut(scope).is_non_blocking = false;
        }
        assert_eq!(verdict(&blocking), expected.into());
    }
}

#[test]
fn small_connect_four_boards_are_draws() {
    for (columns, rows) in [(4, 4), (4, 5), (5, 4)] {
        for (question, expected) in [(Question::Win, false), (Question::NotLose, true)] {
            let model = connect_four(columns, rows, columns * rows, question);
            for symmetry in [true, false] {
                let config = SolveConfig { symmetry, ..SolveConfig::default() };
                assert_eq!(solve(&model, &config).unwrap().verdict, expected.into());
            }
        }
    }
}

#[test]
fn deepening_stops_at_a_short_win() {
    let config = SolveConfig { deepening: true, ..SolveConfig::default() };
    let draw = tictactoe(Question::NotLose, Quantifier::Exists);
    assert_eq!(solve(&draw, &config).unwrap().verdict, Verdict::True);
    // With 5 matches, taking one leaves a multiple of 4: the win comes on the third move, long
    // before the prefix of the whole game ends.
    let report = solve(&nim(5), &config).unwrap();
    assert_eq!(report.verdict, Verdict::True);
    assert!(report.statistics.max_depth <= 4, "{}", report.statistics.max_depth);
}

#[test]
fn weights_of_the_baker() {
    let report = solve(
        &baker(13, 0),
        &SolveConfig { strategy: StrategyRequest::One, ..SolveConfig::default() },
    )
    .unwrap();
    assert_eq!(report.verdict, Verdict::True);
    check_strategy(&baker(13, 0), &report.strategy.unwrap()).unwrap();
    // Four weights weigh 40 amounts at most.
    assert_eq!(verdict(&baker(41, 40)), Verdict::False);
}

#[test]
fn a_robust_schedule() {
    let scheduling = Scheduling::three_tasks();
    assert_eq!(scheduling.shortest(), 3);
    let model = scheduling.plan_first(4, 2);
    let mut robust = first_choices(&model);
    robust.sort();
    assert_eq!(robust, [[0, 0, 3], [0, 1, 3], [1, 1, 0], [1, 2, 0]]);
    assert_eq!(verdict(&scheduling.plan_first(3, 2)), Verdict::False);
    assert_eq!(verdict(&scheduling.attack_first(4, 2)), Verdict::True);
}

/// The instances of other solvers, in both orders.
#[test]
fn random_schedules_agree_with_other_solvers() {
    for (seed, shortest, end, answers) in [(1, 11, 13, [true; 2]), (2, 14, 16, [false; 2])] {
        let scheduling = Scheduling::random(10, 40, seed);
        assert_eq!(scheduling.shortest(), shortest);
        assert_eq!(shortest * 12 / 10, end);
        for n_attacks in [1, 3] {
            let models =
                [scheduling.plan_first(end, n_attacks), scheduling.attack_first(end, n_attacks)];
            for (model, expected) in models.iter().zip(answers) {
                let config = SolveConfig { strategy: StrategyRequest::One, ..Default::default() };
                let config = if expected { config } else { SolveConfig::default() };
                let report = solve(model, &config).unwrap();
                assert_eq!(report.verdict, expected.into(), "seed {seed}, {n_attacks} attacks");
                if let Some(strategy) = report.strategy {
                    check_strategy(model, &strategy).unwrap();
                }
            }
        }
    }
}

#[test]
fn link_pricing_with_both_kinds_of_followers() {
    let small = |ties| {
        let (costs, demands, limits) = ([vec![1, 2], vec![3, 1]], [2, 1], [10, 4]);
        link_pricing_with(&costs, &demands, &limits, &[0, 1, 2, 3, 4], ties)
    };
    let value = |model: &Model| {
        let config = SolveConfig { strategy: StrategyRequest::One, ..SolveConfig::default() };
        let report = solve(model, &config).unwrap();
        assert_eq!(report.verdict, Verdict::True);
        check_strategy(model, &report.strategy.unwrap()).unwrap();
        report.value
    };
    assert_eq!(value(&small(Ties::Optimistic)), Some(11));
    assert_eq!(value(&small(Ties::Pessimistic)), Some(9));
    for (links, customers, optimistic, pessimistic) in
        [(5, 2, 260, 200), (5, 5, 484, 484), (5, 9, 985, 949), (6, 9, 1345, 1293)]
    {
        let model = |ties| link_pricing(links, customers, 1, ties);
        assert_eq!(value(&model(Ties::Optimistic)), Some(optimistic));
        assert_eq!(value(&model(Ties::Pessimistic)), Some(pessimistic));
    }
}

/// exists X min(A), exists Y min(B), exists A, exists B: constraining A to improve is wrong.
#[test]
fn a_leader_does_not_choose_for_its_follower() {
    let mut model = Model::new();
    let first = model.exists("X");
    let x = model.int("x", 0..=1);
    let second = model.exists("Y");
    let y = model.int("y", 0..=2);
    model.exists("A");
    let a = model.int("a", [3, 5, 7]);
    model.exists("B");
    let b = model.int("b", 0..=2);
    let strategies = [[0, 0, 5, 0], [1, 1, 7, 1], [1, 2, 3, 2]];
    let table = ludex_csp::propagators::table::Table::from_tuples(4, strategies).into();
    let scope = vec![x, y, a, b];
    model.goal_constraint(Constraint::Table { scope, table, is_positive: true });
    model.minimize(first, a);
    model.minimize(second, b);
    for branch_and_bound in [true, false] {
        let config = SolveConfig { branch_and_bound, ..SolveConfig::default() };
        assert_eq!(solve(&model, &config).unwrap().value, Some(5));
    }
}

/// Taxes, a factory and a farmer: three levels, compared with nested optimization.
#[test]
fn three_levels_of_decisions() {
    let mut model = Model::new();
    let state = model.exists("state");
    let tax = model.int("tax", 0..=4);
    let factory = model.exists("factory");
    let made = model.int("made", 0..=5);
    let farmer = model.exists("farmer");
    let fish = model.int("fish", 0..=5);
    let factory_gain = model.define("factory gain", made * 6 - made * tax - made * made);
    let farmer_gain = model.define("farmer gain", fish * 4 - fish * made - fish * fish);
    let harm = model.define("harm", made * 3 - fish * 2 - made * tax);
    model.minimize(state, harm);
    model.maximize(factory, factory_gain);
    model.maximize(farmer, farmer_gain);
    let fish_for = |made: Value| {
        let best = (0..=5).map(|f| f * 4 - f * made - f * f).max();
        (0..=5).filter(move |&f| Some(f * 4 - f * made - f * f) == best).collect::<Vec<_>>()
    };
    let mut best = i64::MAX;
    for tax in 0..=4 {
        let gain = |made: Value| made * 6 - made * tax - made * made;
        let most = (0..=5).map(gain).max();
        for made in (0..=5).filter(|&made| Some(gain(made)) == most) {
            for fish in fish_for(made) {
                best = best.min(i64::from(made * 3 - fish * 2 - made * tax));
            }
        }
    }
    assert_eq!(solve(&model, &SolveConfig::default()).unwrap().value, Some(best));
}

/// Two operators set prices one after the other; customers move between them.
#[test]
fn virtual_network_pricing() {
    let mut model = Model::new();
    let owner = model.exists("owner");
    let y1 = model.int("y1", 0..=6);
    let y2 = model.int("y2", 0..=6);
    let renter = model.exists("renter");
    let z1 = model.int("z1", 0..=6);
    let n1 = model.define("n1", Expr::from(12) - y1 * 2 + z1);
    let n2 = model.define("n2", y1 + 10 - z1 * 2);
    let rno = model.define("rno", y1 * n1 + y2 * n2);
    let rvno = model.define("rvno", (z1 - y2) * n2);
    model.require(n1.at_least(0) & n2.at_least(0) & rvno.at_least(0));
    model.maximize(owner, rno);
    model.maximize(renter, rvno);
    let mut best = i64::MIN;
    for (y1, y2) in (0..=6).flat_map(|y1| (0..=6).map(move |y2| (y1, y2))) {
        let answers = (0..=6).filter_map(|z1: i64| {
            let (n1, n2) = (12 - 2 * y1 + z1, 10 + y1 - 2 * z1);
            let (rno, rvno) = (y1 * n1 + y2 * n2, (z1 - y2) * n2);
            (n1 >= 0 && n2 >= 0 && rvno >= 0).then_some((rvno, rno))
        });
        // The best for the renter, and among those the best for the owner.
        best = best.max(answers.max().map_or(i64::MIN, |(_, rno)| rno));
    }
    assert_eq!(solve(&model, &SolveConfig::default()).unwrap().value, Some(best));
}

/// A universal opponent may leave no answer; an existential one that minimizes avoids that.
#[test]
fn a_universal_opponent_is_not_an_existential_one() {
    let build = |is_universal: bool| {
        let mut model = Model::new();
        let first = model.exists("x");
        let x = model.int("x", 0..=1);
        let second = if is_universal { model.forall("y") } else { model.exists("y") };
        let y = model.int("y", 0..=1);
        model.exists("z");
        let z = model.int("z", 0..=3);
        model.require(z.equals(x + y) & y.equals(0));
        if is_universal {
            let worst = model.aggregate(second, "worst", AggregateFunction::Min, z);
            model.maximize(first, worst);
        } else {
            model.minimize(second, z);
            model.maximize(first, z);
        }
        solve(&model, &SolveConfig::default()).unwrap()
    };
    assert_eq!(build(true).verdict, Verdict::False);
    assert_eq!(build(false).value, Some(1));
}

#[test]
fn matrix_games_agree_with_evaluation() {
    let mut seen = [false; 2];
    for seed in 0..20 {
        let model = matrix_game(4, 60, seed);
        let (expected, _) = by_definition(&model);
        seen[usize::from(expected)] = true;
        assert_eq!(verdict(&model), expected.into(), "seed {seed}");
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn invalid_models_are_rejected_with_reasons() {
    let mut model = Model::new();
    model.exists("wide");
    model.int("x", 0..=1_000_000_000);
    let error = solve(&model, &SolveConfig::default()).unwrap_err().to_string();
    assert!(error.contains("`x` has too many values"), "{error}");
    let mut model = Model::new();
    let first = model.exists("first");
    let x = model.int("x", 0..=1);
    model.forall("second");
    let y = model.int("y", 0..=1);
    model.scope_mut(first).restrictor.push(Constraint::Intension(x.less_than(y)));
    model.minimize(first, y);
    model.int("z", ValueSet::default());
    model.aggregate(first, "a", AggregateFunction::Sum, AggregateId::new(7));
    let errors: Vec<String> = model.check().iter().map(ToString::to_string).collect();
    let expected = [
        "variable `z` has an empty domain",
        "the restrictor of scope `first` mentions `y`, which is declared later, in scope `second`",
        "aggregate `a`: scope `first` is not universal",
        "aggregate `a`: it uses an aggregate stated after it",
        "the criterion of scope `first`: `y` has many values, one for each branch of the \
         universal scope `second`; use an aggregate of that scope",
    ];
    assert_eq!(errors, expected);
    assert!(solve(&model, &SolveConfig::default()).is_err());
}

#[test]
fn a_strategy_that_does_not_fit_leaves_the_verdict() {
    let model = connect_four(4, 4, 16, Question::NotLose);
    let config = SolveConfig {
        strategy: StrategyRequest::One,
        strategy_bytes: 10_000,
        ..SolveConfig::default()
    };
    let report = solve(&model, &config).unwrap();
    assert_eq!(report.verdict, Verdict::True);
    assert_eq!(report.strategy, None);
    let refused = report.strategy_refused.expect("the report gives the reason").to_string();
    assert!(refused.contains("does not fit in 10000 bytes"), "{refused}");
}

#[test]
fn reports_name_the_limit_that_stopped_the_search() {
    let model = connect_four(6, 6, 36, Question::Win);
    let config = SolveConfig { max_nodes: 5000, ..SolveConfig::default() };
    let report = solve(&model, &config).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown(ludex_base::StopReason::Count));
}

#[test]
fn a_tampered_strategy_is_refuted() {
    let model = black_jack(ValueSet::from([3, 15, 17, 19]));
    let whole = strategy(&model, StrategyRequest::One);
    let mut n_refuted = 0;
    for i in 0..whole.nodes.len() {
        let mut tampered = whole.clone();
        if let StrategyNode::Play { branches, .. } = &mut tampered.nodes[i] {
            branches.pop();
            n_refuted += 1;
            let has_changed = tampered != whole;
            assert_eq!(check_strategy(&model, &tampered).is_err(), has_changed, "node {i}");
        }
    }
    assert!(n_refuted > 3);
    assert!(strategy_dot(&model, &whole).contains("X1 = 3"));
}
