//! Symmetries of known games, folding, and proofs that must fail.

use std::sync::Arc;

use ludex_automorphism::SparsePermutation;
use ludex_base::{BitSet, Deadline, FluentId, Limits, MoveId, RoleId, Seed, Source};
use ludex_circuit::Circuit;
use ludex_game::{Cursor, ExploreLimits, Fold, Game, explore, perft};
use ludex_gdl::Program;
use ludex_machine::Machine;

use super::*;

fn circuit(rules: &str) -> Circuit {
    let checked = ludex_gdl::check_source(&Source::new("test.kif", rules.to_string()));
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let ground = ludex_ground::ground(&program, &Limits::usual()).expect("it is small");
    ludex_circuit::compile(&ground).optimized()
}

fn rules(name: &str) -> String {
    let file = ludex_testkit::library().into_iter().find(|file| file.name == name);
    file.expect("it is in the library").text()
}

fn find(circuit: &Circuit, exchange: RoleExchange) -> Symmetries {
    find_symmetries(circuit, exchange, None, &Deadline::never())
}

fn n_states<G: Game>(game: &G) -> usize {
    let limits = ExploreLimits {
        max_states: 200_000,
        max_transitions: 2_000_000,
        deadline: Deadline::never(),
    };
    let explored = explore(game, &limits);
    assert!(explored.stopped.is_none(), "the game is small");
    explored.n_states
}

#[test]
fn known_games_have_known_groups() {
    // Name, order with roles kept, order with roles exchanged.
    let known: [(&str, u64, u64); 14] = [
        ("tictactoe", 8, 16),
        ("connectfour", 2, 4),
        ("breakthrough", 2, 4),
        ("amazons", 8, 16),
        ("n-queens", 8, 8),
        ("lights-out", 8, 8),
        ("matching-pennies", 2, 2),
        ("rock-paper-scissors", 3, 6),
        ("three-player-nim", 1, 3),
        ("monty-hall", 6, 6),
        ("nine-mens-morris", 16, 32),
        ("chess", 1, 2),
        ("quarto", 32 * 24 * 16, 32 * 24 * 32),
        // Digits, bands and stacks, rows and columns within them, and the transposition.
        ("sudoku", 362_880 * 3_359_232, 362_880 * 3_359_232),
    ];
    for (name, kept, exchanged) in known {
        let circuit = circuit(&rules(name));
        for (exchange, order) in
            [(RoleExchange::Forbidden, kept), (RoleExchange::Allowed, exchanged)]
        {
            let found = find(&circuit, exchange);
            assert!(found.is_complete);
            assert_eq!(found.order, order.into(), "{name}, {exchange:?}");
        }
    }
}

#[test]
fn the_first_moves_of_tic_tac_toe_have_three_orbits() {
    let circuit = circuit(&rules("tictactoe"));
    let found =
        find_symmetries(&circuit, RoleExchange::Forbidden, Some(&circuit.init), &Deadline::never());
    assert_eq!(found.order, 8_u32.into());
    let machine = Machine::new(circuit.clone());
    let mut moves = machine.cursor().legal_moves(RoleId::new(0)).to_vec();
    assert_eq!(moves.len(), 9);
    found.folding().fold_moves(&circuit.init, &mut moves);
    assert_eq!(moves.len(), 3);
}

#[test]
fn tic_tac_toe_has_765_states_when_folded() {
    let circuit = circuit(&rules("tictactoe"));
    let machine = Machine::new(circuit.clone());
    let folding = find(&circuit, RoleExchange::Forbidden).folding();
    assert_eq!(n_states(&machine), 5_478);
    let folded = machine.folded_by(Arc::new(folding));
    assert_eq!(n_states(&folded), 765);
    assert_eq!(n_states(&folded.unfolded()), 5_478);
    // Three kinds of first moves; two answers to the centre, five each to the others.
    assert_eq!(perft(&folded, 2, &Deadline::never()).nodes, [3, 12]);
}

/// The move a is legal by two rules that together say what a fact says for b.
const HIDDEN: &str = "(role r) (init p) (legal r b)
    (<= (legal r a) (true p)) (<= (legal r a) (not (true p)))
    (<= (next q) (does r a)) (<= (next q) (does r b)) (<= (next p) (true p))
    (<= terminal (true q)) (goal r 100)";

fn program(rules: &str) -> Program {
    let checked = ludex_gdl::check_source(&Source::new("test.kif", rules.to_string()));
    checked.program.expect("the rules are right")
}

#[test]
fn the_rule_graph_shows_what_the_text_shows() {
    let order = |rules: &str, exchange| {
        let found =
            find_rule_symmetries(&program(rules), &circuit(rules), exchange, &Deadline::never());
        found.order.to_string()
    };
    // A number is renamed in all places at once, so that rows are not reflected without columns.
    assert_eq!(order(&rules("tictactoe"), RoleExchange::Forbidden), "4");
    assert_eq!(order(&rules("tictactoe"), RoleExchange::Allowed), "8");
    assert_eq!(order(&rules("rock-paper-scissors"), RoleExchange::Forbidden), "3");
    // Two rules that say the same as one hide the symmetry.
    assert_eq!(order(HIDDEN, RoleExchange::Forbidden), "1");
    assert_eq!(find(&circuit(HIDDEN), RoleExchange::Forbidden).order, 2_u32.into());
}

#[test]
fn the_circuit_shows_at_least_as_much_as_the_text() {
    for file in ludex_testkit::library() {
        let text = file.text();
        let circuit = circuit(&text);
        // Large loops make the search long.
        if circuit.n_gates() > 5_000 {
            continue;
        }
        let by_text = find_rule_symmetries(
            &program(&text),
            &circuit,
            RoleExchange::Allowed,
            &Deadline::never(),
        );
        let by_circuit = find(&circuit, RoleExchange::Allowed);
        let group = by_circuit.group(&Deadline::never()).expect("no deadline");
        for generator in &by_text.generators {
            let is_known = group.contains(generator.permutation());
            assert!(is_known, "{}: {}", file.name, in_words(generator, &circuit.vocabulary));
        }
    }
}

#[test]
fn after_the_centre_the_corners_are_equal() {
    let circuit = circuit(&rules("tictactoe"));
    let machine = Machine::new(circuit.clone());
    let folding = find(&circuit, RoleExchange::Forbidden).folding();
    let mut cursor = machine.cursor();
    let centre = circuit.vocabulary.find_move(RoleId::new(0), "(mark 2 2)").expect("a move");
    let wait = cursor.legal_moves(RoleId::new(1))[0];
    cursor.play(&[centre, wait]);
    let mut moves = cursor.legal_moves(RoleId::new(1)).to_vec();
    assert_eq!(moves.len(), 8);
    folding.fold_moves(cursor.state(), &mut moves);
    assert_eq!(moves.len(), 2);
}

/// Symmetric states behave alike: legal moves, ends, goals and successors are images of each other.
fn check_images(name: &str, n_games: usize) {
    let circuit = circuit(&rules(name));
    let machine = Machine::new(circuit.clone());
    let found = find(&circuit, RoleExchange::Allowed);
    assert!(!found.generators.is_empty(), "{name} has symmetries");
    let mut rng = Seed(7).rng();
    for _ in 0..n_games {
        let mut here = machine.cursor();
        for _ in 0..30 {
            let symmetry = &found.generators[rng.below(found.generators.len())];
            let mut there = machine.cursor();
            there.set_state(&symmetry.state(here.state()));
            assert_eq!(here.is_terminal(), there.is_terminal(), "{name}");
            for role in machine.role_ids() {
                let image = symmetry.role(role);
                assert_eq!(here.goals(role), there.goals(image), "{name}");
                let mut moves: Vec<MoveId> =
                    here.legal_moves(role).iter().map(|&it| symmetry.played(it)).collect();
                moves.sort_unstable();
                let mut others = there.legal_moves(image).to_vec();
                others.sort_unstable();
                assert_eq!(moves, others, "{name}");
            }
            if here.is_terminal() {
                break;
            }
            let joint: Vec<MoveId> = machine
                .role_ids()
                .map(|role| here.draw_move(role, &mut rng).expect("a legal move"))
                .collect();
            here.play(&joint);
            there.play(&symmetry.joint(&joint));
            assert_eq!(symmetry.state(here.state()), *there.state(), "{name}");
        }
    }
}

#[test]
fn symmetric_states_behave_alike() {
    for name in ["tictactoe", "connectfour", "amazons", "hex", "quarto", "tron", "sudoku", "chess"]
    {
        check_images(name, 5);
    }
}

#[test]
fn canonical_states_are_the_same_for_all_images() {
    for name in ["tictactoe", "quarto", "sudoku-4x4", "lights-parallel", "nine-mens-morris"] {
        let circuit = circuit(&rules(name));
        let machine = Machine::new(circuit.clone());
        let found = find(&circuit, RoleExchange::Forbidden);
        let folding = found.folding();
        let mut rng = Seed(3).rng();
        let mut cursor = machine.cursor();
        for _ in 0..20 {
            let mut canonical = cursor.state().clone();
            let element = folding.canonical(cursor.state(), &mut canonical);
            let mut image = cursor.state().clone();
            folding.image(cursor.state(), &element, &mut image);
            assert_eq!(image, canonical);
            folding.image(&canonical, &folding.inverse(&element), &mut image);
            assert_eq!(image, *cursor.state());
            for (_, image) in folding.images(cursor.state(), 50) {
                let mut other = image.clone();
                folding.canonical(&image, &mut other);
                assert_eq!(other, canonical, "{name}");
            }
            if cursor.is_terminal() {
                break;
            }
            let joint: Vec<MoveId> = machine
                .role_ids()
                .map(|role| cursor.draw_move(role, &mut rng).expect("a legal move"))
                .collect();
            cursor.play(&joint);
        }
    }
}

#[test]
fn false_symmetries_are_not_proved() {
    let rules = rules("tictactoe");
    let whole = circuit(&rules);
    let symmetries = find(&whole, RoleExchange::Forbidden);
    let graph = CircuitGraph::new(&whole, RoleExchange::Forbidden, None);
    assert!(symmetries.generators.iter().all(|symmetry| graph.proves(symmetry)));

    // Any exchange of two fluents or two moves alone breaks the rules.
    let points = Points::of(&whole);
    let mut n_refuted = 0;
    for a in 0..points.n_points() as u32 {
        for b in 0..a {
            let swap = SparsePermutation::new(vec![(b, a), (a, b)]).expect("a permutation");
            if let Some(swap) = Symmetry::new(&whole, swap) {
                assert!(!graph.proves(&swap));
                n_refuted += 1;
            }
        }
    }
    assert!(n_refuted > 300, "only {n_refuted} exchanges were tried");

    // Without one diagonal, rotations are no symmetries any more. The points are the same.
    let diagonal = "(true (cell 1 3 ?mark))\n    (true (cell 2 2 ?mark))";
    assert!(rules.contains(diagonal));
    let broken = circuit(&rules.replace(diagonal, "(true (cell 1 1 ?mark))"));
    assert_eq!(Points::of(&broken), points);
    let graph = CircuitGraph::new(&broken, RoleExchange::Forbidden, None);
    let is_kept = |symmetry: &&Symmetry| {
        let same = Symmetry::new(&broken, symmetry.permutation().clone());
        graph.proves(&same.expect("the points are the same"))
    };
    let n_kept = symmetries.generators.iter().filter(is_kept).count();
    assert!(n_kept < symmetries.generators.len());
    assert!(find(&broken, RoleExchange::Forbidden).order < 8_u32.into());
}

#[test]
fn images_of_a_state_are_distinct() {
    let circuit = circuit(&rules("tictactoe"));
    let folding = find(&circuit, RoleExchange::Forbidden).folding();
    let mut state = BitSet::new(circuit.next.len());
    let fluent = |text: &str| {
        let all = (0..circuit.next.len()).map(FluentId::new);
        let mut found = all.filter(|&it| circuit.vocabulary.fluent_text(it) == text);
        found.next().expect("a fluent").index()
    };
    state.insert(fluent("(cell 1 2 x)"));
    assert_eq!(folding.images(&state, 100).len(), 4);
    state.insert(fluent("(cell 1 1 o)"));
    assert_eq!(folding.images(&state, 100).len(), 8);
}

fn step_template(circuit: &Circuit) -> ludex_encode::Template {
    ludex_encode::encode(circuit, &ludex_encode::EncodeConfig::default()).expect("it is small")
}

fn of_step(circuit: &Circuit, exchange: RoleExchange, state: Option<&BitSet>) -> StepFound {
    let template = step_template(circuit);
    find_step_symmetries(&template, circuit, exchange, state, &Deadline::never())
        .expect("the network is small")
}

#[test]
fn the_network_of_a_step_shows_what_the_circuit_shows() {
    for (name, kept, exchanged) in [
        ("tictactoe", 8_u32, 16_u32),
        ("connectfour", 2, 4),
        ("lights-out", 8, 8),
        ("matching-pennies", 2, 2),
        ("rock-paper-scissors", 3, 6),
        ("three-player-nim", 1, 3),
        ("monty-hall", 6, 6),
    ] {
        let circuit = circuit(&rules(name));
        let found = of_step(&circuit, RoleExchange::Forbidden, None);
        assert_eq!((found.symmetries.order, found.n_unproved), (kept.into(), 0), "{name}");
        let found = of_step(&circuit, RoleExchange::Allowed, None);
        assert_eq!((found.symmetries.order, found.n_unproved), (exchanged.into(), 0), "{name}");
    }
    // Fluents that share a variable are chosen without regard to symmetry, so the network of n queens
    // shows only a part of what the circuit shows.
    let queens = circuit(&rules("n-queens"));
    let by_circuit = find_symmetries(&queens, RoleExchange::Forbidden, None, &Deadline::never());
    let by_network = of_step(&queens, RoleExchange::Forbidden, None).symmetries.order;
    assert_eq!((by_circuit.order, by_network), (8_u32.into(), 2_u32.into()));
    // Two rules that say the same as one hide nothing from the network.
    let circuit = circuit(HIDDEN);
    assert_eq!(of_step(&circuit, RoleExchange::Forbidden, None).order, 2_u32.into());
}

#[test]
fn the_network_never_shows_what_the_circuit_refutes() {
    for file in ludex_testkit::library() {
        let circuit = circuit(&file.text());
        if circuit.n_gates() > 400 || !circuit.loops.is_empty() {
            continue;
        }
        let by_circuit = find(&circuit, RoleExchange::Forbidden);
        let group = by_circuit.group(&Deadline::never()).expect("no deadline");
        let found = of_step(&circuit, RoleExchange::Forbidden, None);
        for generator in &found.symmetries.generators {
            assert!(group.contains(generator.permutation()), "{}", file.name);
        }
    }
}

/// Tic-tac-toe on four cells: x stands in the first corner, o moves, and x is played at random.
const TWO_BY_TWO: &str = "(role oplayer) (role random)
    (symbol random x) (symbol oplayer o) (index 1) (index 2)
    (<= (base (cell ?l ?c ?s)) (index ?l) (index ?c) (symbol ?j ?s))
    (<= (base (cell ?l ?c b)) (index ?l) (index ?c))
    (<= (base (control ?j)) (role ?j))
    (<= (input ?j noop) (role ?j))
    (<= (input ?j (mark ?l ?c)) (role ?j) (index ?l) (index ?c))
    (init (cell 1 1 x)) (init (cell 1 2 b)) (init (cell 2 1 b)) (init (cell 2 2 b))
    (init (control oplayer))
    (<= (legal ?j noop) (role ?j) (not (true (control ?j))))
    (<= (legal ?j (mark ?l ?c)) (true (control ?j)) (true (cell ?l ?c b)))
    (<= (next (control ?j)) (role ?j) (not (true (control ?j))))
    (<= (next (cell ?l ?c ?s)) (does ?j (mark ?l ?c)) (symbol ?j ?s))
    (<= (next (cell ?l ?c ?s)) (true (cell ?l ?c ?s)) (does ?j (mark ?k ?d)) (distinct ?l ?k))
    (<= (next (cell ?l ?c ?s)) (true (cell ?l ?c ?s)) (does ?j (mark ?k ?d)) (distinct ?c ?d))
    (<= open (true (cell ?l ?c b)))
    (<= (line ?j) (symbol ?j ?s) (true (cell 1 ?c ?s)) (true (cell 2 ?c ?s)))
    (<= (line ?j) (symbol ?j ?s) (true (cell ?l 1 ?s)) (true (cell ?l 2 ?s)))
    (<= terminal (not open)) (<= terminal (line ?j))
    (<= (goal oplayer 100) (line oplayer))
    (<= (goal oplayer 50) (not (line oplayer)) (not (line random)))
    (<= (goal oplayer 0) (line random)) (goal random 0)";

#[test]
fn two_by_two_tic_tac_toe_has_two_kinds_of_first_moves() {
    let circuit = circuit(TWO_BY_TWO);
    let machine = Machine::new(circuit.clone());
    let me = RoleId::new(0);
    let mut cursor = machine.cursor();
    let moves = cursor.legal_moves(me).to_vec();
    let wait = cursor.legal_moves(RoleId::new(1))[0];
    let values = minimax(
        &machine,
        &circuit.init,
        me,
        usize::MAX,
        &|_| unreachable!("to the end"),
        1_000,
        &Deadline::never(),
    );
    let values = values.expect("a small game");
    let after = |played: MoveId| {
        let joint = [played, wait];
        values[0].joints.iter().find(|(it, _)| it[..] == joint).expect("a joint move").1
    };
    let named = |text: &str| circuit.vocabulary.find_move(me, text).expect("a move");
    assert_eq!(moves.len(), 3);
    assert_eq!(after(named("(mark 1 2)")), 25.0);
    assert_eq!(after(named("(mark 2 1)")), 25.0);
    assert_eq!(after(named("(mark 2 2)")), 0.0);

    // The rules in the initial state, and the rules with the values of all states: the two moves
    // beside the corner are symmetric, the third is not.
    let template = step_template(&circuit);
    let judged = Judged::of(&values, Clone::clone);
    let by_values = find_enriched_symmetries(
        &template,
        &circuit,
        &judged,
        Some(&circuit.init),
        &Deadline::never(),
    );
    let by_rules = of_step(&circuit, RoleExchange::Forbidden, Some(&circuit.init)).symmetries;
    for symmetries in [by_rules, by_values.expect("the network is small")] {
        let orbits = symmetries.orbits();
        let orbit = |text: &str| orbits.representative(symmetries.points.played(named(text)));
        assert_eq!(orbit("(mark 1 2)"), orbit("(mark 2 1)"));
        assert_ne!(orbit("(mark 1 2)"), orbit("(mark 2 2)"));
    }
    // The first corner is never empty, so that even without the state only the reflection that keeps
    // it is left.
    assert_eq!(of_step(&circuit, RoleExchange::Forbidden, None).order, 2_u32.into());
}

/// Two moves with different effects that are worth the same, and one that is worth less.
const WORTH: &str = "(role r) (init start) (init (step 1))
    (<= (legal r a) (true start)) (<= (legal r b) (true start)) (<= (legal r c) (true start))
    (<= (legal r wait) (not (true start)))
    (<= (next left) (does r a)) (<= (next right) (does r b)) (<= (next right) (true right))
    (<= (next far) (does r b)) (<= (next lost) (does r c))
    (<= terminal (true left)) (<= terminal (true right)) (<= terminal (true lost))
    (<= (goal r 100) (true left)) (<= (goal r 100) (true right)) (<= (goal r 0) (true lost))";

#[test]
fn judgments_decide_which_moves_an_enriched_network_allows() {
    let circuit = circuit(WORTH);
    let machine = Machine::new(circuit.clone());
    let template = step_template(&circuit);
    let role = RoleId::new(0);
    // Nothing is known beyond the step: the estimate decides, and no move is refuted.
    let near = minimax(&machine, &circuit.init, role, 0, &|_| 50.0, 10, &Deadline::never());
    let near = Judged::of(&near.expect("a small game"), Clone::clone);
    assert!(near.iter().all(|it| it.nogoods.is_empty()));
    let far = minimax(&machine, &circuit.init, role, 1, &|_| 50.0, 10, &Deadline::never());
    let far = Judged::of(&far.expect("a small game"), Clone::clone);
    let named = |text: &str| circuit.vocabulary.find_move(role, text).expect("a move");
    assert_eq!(far[0].nogoods, [vec![named("c")]]);
    // Nogoods that a search predicts leave the same moves.
    let predicted = vec![Judged { nogoods: vec![vec![named("c")]], ..near[0].clone() }];
    let left = |judged: &[Judged]| {
        let mut network = enriched_network(&template, judged);
        for (state_var, &now) in template.state_vars.iter().zip(&template.now) {
            let holds = |place: &usize| circuit.init.contains(state_var.fluents[*place].index());
            let place = (0..state_var.fluents.len()).find(holds);
            let value = place.map(|place| state_var.value_of(place)).or(state_var.none());
            network.require(now.equals(value.expect("every variable has a value")));
        }
        let config = ludex_csp::SearchConfig {
            goal: ludex_csp::Goal::All,
            ..ludex_csp::SearchConfig::default()
        };
        let report = ludex_csp::solve(&network, &config).expect("it can be posted");
        let var = template.moves[0].var;
        let mut moves: Vec<i32> = report.solutions.iter().map(|it| it[var.index()]).collect();
        moves.sort_unstable();
        moves.dedup();
        moves.len()
    };
    assert_eq!((left(&near), left(&far), left(&predicted)), (3, 2, 2));
}
