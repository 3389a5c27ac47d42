//! Games that come apart, games that must not, and slow twins of the fast steps.

use ludex_base::{BitSet, Deadline, FluentId, Limits, MoveId, RoleId, Seed, Source};
use ludex_circuit::Circuit;

use super::*;

fn circuit(rules: &str) -> Circuit {
    let checked = ludex_gdl::check_source(&Source::new("test.kif", rules.to_string()));
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let ground = ludex_ground::ground(&program, &Limits::usual()).expect("it is small");
    ludex_circuit::compile(&ground).optimized()
}

fn library(name: &str) -> Circuit {
    let file = ludex_testkit::library().into_iter().find(|file| file.name == name);
    circuit(&file.expect("it is in the library").text())
}

fn taken_apart(circuit: &Circuit) -> Decomposition {
    decompose(circuit, &circuit.init, &DecomposeConfig::usual(), &Deadline::never())
}

/// Each subgame as its worth and its fluents, one line each.
fn lines(circuit: &Circuit, decomposition: &Decomposition) -> Vec<String> {
    let text = |it: &FluentId| circuit.vocabulary.fluent_text(*it);
    let line = |it: &Subgame| {
        let fluents: Vec<String> = it.fluents.iter().map(text).collect();
        format!("{:?}: {}", it.worth, fluents.join(" "))
    };
    decomposition.subgames.iter().map(line).collect()
}

fn fluent(circuit: &Circuit, text: &str) -> FluentId {
    let all = (0..circuit.next.len()).map(FluentId::new);
    { all }.find(|&it| circuit.vocabulary.fluent_text(it) == text).expect("there is such a fluent")
}

/// The four lamps of figure 1 of the paper.
const FOUR_LAMPS: &str = "
    (role r) (light a) (light b) (light c) (light d)
    (<= (legal r (push ?x)) (not (true (on ?x))) (light ?x))
    (<= (next (on ?x)) (does r (push ?x)))
    (<= (next (on ?x)) (true (on ?x)))
    (<= terminal (true (on a)))
    (<= (goal r 0) (not (true (on b))) (not (true (on c))))
    (<= (goal r 40) (true (on b)) (not (true (on c))))
    (<= (goal r 60) (not (true (on b))) (true (on c)))
    (<= (goal r 100) (true (on b)) (true (on c)))";

#[test]
fn four_lamps_are_four_subgames() {
    let circuit = circuit(FOUR_LAMPS);
    let found = taken_apart(&circuit);
    assert_eq!(
        lines(&circuit, &found),
        ["Ends: (on a)", "Scores: (on b)", "Scores: (on c)", "Useless: (on d)"]
    );
    assert!(found.subgames.iter().all(|it| it.is_proved), "no rule reads two lamps");
}

#[test]
fn a_lamp_that_is_lit_for_good_is_left_out() {
    let circuit = circuit(FOUR_LAMPS);
    let mut state = circuit.init.clone();
    state.insert(fluent(&circuit, "(on b)").index());
    let found = decompose(&circuit, &state, &DecomposeConfig::usual(), &Deadline::never());
    assert_eq!(found.fixed, [fluent(&circuit, "(on b)")]);
    // With b lit, lamp c alone decides between 40 and 100.
    assert_eq!(lines(&circuit, &found), ["Ends: (on a)", "Wins: (on c)", "Useless: (on d)"]);
}

/// Two boards of three cells, marked by one compound move or one of them at a time.
fn two_boards(legal: &str, effect: &str) -> String {
    format!(
        "(role x) (role o) (cell a) (cell b) (cell c) (board 1) (board 2)
        (<= (init (free ?b ?c)) (board ?b) (cell ?c))
        (init (control x))
        {legal} {effect}
        (<= (legal x noop) (true (control o)))
        (<= (legal o noop) (true (control x)))
        (<= (next (free ?b ?c)) (true (free ?b ?c)) (not (marked ?b ?c)))
        (<= (next (has ?p ?b ?c)) (mark ?p ?b ?c))
        (<= (next (has ?p ?b ?c)) (true (has ?p ?b ?c)))
        (<= (marked ?b ?c) (mark ?p ?b ?c))
        (<= (next (control x)) (true (control o)))
        (<= (next (control o)) (true (control x)))
        (<= open (true (free ?b ?c)))
        (<= terminal (not open))
        (<= (wins ?p ?b) (true (has ?p ?b ?c)) (true (has ?p ?b ?d)) (distinct ?c ?d))
        (<= (goal ?p 100) (wins ?p 1) (wins ?p 2))
        (<= (goal ?p 0) (role ?p) (not (wins ?p 1)))
        (<= (goal ?p 0) (role ?p) (not (wins ?p 2)))"
    )
}

fn has_two_boards(rules: &str) {
    let circuit = circuit(rules);
    let found = taken_apart(&circuit);
    assert_eq!(found.subgames.len(), 2, "{:?}", lines(&circuit, &found));
    for (subgame, board) in found.subgames.iter().zip(["1", "2"]) {
        assert_eq!(subgame.fluents.len(), 9, "three cells, free or with one of two marks");
        for &fluent in &subgame.fluents {
            let text = circuit.vocabulary.fluent_text(fluent);
            assert!(text.split(' ').any(|word| word == board), "{text} is not on board {board}");
        }
        assert_eq!(subgame.roles, [RoleId::new(0), RoleId::new(1)]);
        assert_eq!(subgame.equal_to, 0, "the boards have the same rules");
    }
    assert_eq!(found.independent_parts.len(), 1, "whose turn it is");
    assert!(found.independent_parts[0].is_proved);
}

#[test]
fn boards_marked_one_at_a_time_come_apart() {
    has_two_boards(&two_boards(
        "(<= (legal ?p (put ?b ?c)) (true (control ?p)) (true (free ?b ?c)))",
        "(<= (mark ?p ?b ?c) (does ?p (put ?b ?c)))",
    ));
}

#[test]
fn boards_marked_by_compound_moves_come_apart() {
    has_two_boards(&two_boards(
        "(<= (legal ?p (put ?c ?d)) (true (control ?p)) (true (free 1 ?c)) (true (free 2 ?d)))",
        "(<= (mark ?p 1 ?c) (does ?p (put ?c ?d))) (<= (mark ?p 2 ?d) (does ?p (put ?c ?d)))",
    ));
}

#[test]
fn boards_that_must_be_marked_alike_are_one_game() {
    let circuit = circuit(&two_boards(
        "(<= (legal ?p (put ?c)) (true (control ?p)) (true (free 1 ?c)))",
        "(<= (mark ?p 1 ?c) (does ?p (put ?c))) (<= (mark ?p 2 ?c) (does ?p (put ?c)))",
    ));
    assert_eq!(taken_apart(&circuit).subgames.len(), 1);
}

/// Lamps in groups of two that stay lit for two steps.
fn fading_lamps(goals: &str) -> String {
    format!(
        "(role r) (lamp 1 a) (lamp 1 b) (lamp 2 a) (lamp 2 b) (init (step 0))
        (<= (legal r (press ?g ?x)) (lamp ?g ?x))
        (<= (next (lit ?g ?x 2)) (does r (press ?g ?x)))
        (<= (next (lit ?g ?x 1)) (true (lit ?g ?x 2)))
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
        (<= (on ?g ?x) (true (lit ?g ?x 1)))
        (<= (on ?g ?x) (true (lit ?g ?x 2)))
        (<= (all ?g) (on ?g a) (on ?g b))
        (<= terminal (true (step 5)))
        {goals}"
    )
}

#[test]
fn groups_of_fading_lamps_come_apart_if_each_wins_alone() {
    let either =
        fading_lamps("(<= (goal r 100) (all ?g)) (<= (goal r 0) (not (all 1)) (not (all 2)))");
    let found = taken_apart(&circuit(&either));
    assert_eq!(found.subgames.len(), 2);
    assert!(found.subgames.iter().all(|it| it.worth == Worth::Wins && it.equal_to == 0));
    let both = fading_lamps(
        "(<= (goal r 100) (all 1) (all 2)) (<= (goal r 0) (not (all 1))) (<= (goal r 0) (not (all 2)))",
    );
    assert_eq!(taken_apart(&circuit(&both)).subgames.len(), 1, "the one fades during the other");
}

/// Two counters, the second of which starts when the first is full.
const SERIES: &str = "
    (role r) (after 0 1) (after 1 2) (init (one 0)) (init (two 0))
    (<= full (true (one 2))) (<= full (true lock))
    (<= (legal r (up 1)) (not full)) (<= (legal r (wait 1)) (not full))
    (<= (legal r (up 2)) full) (<= (legal r (wait 2)) full)
    (<= (next (one ?n)) (does r (up 1)) (true (one ?m)) (after ?m ?n))
    (<= (next (one ?n)) (true (one ?n)) (not (does r (up 1))))
    (<= (next (two ?n)) (does r (up 2)) (true (two ?m)) (after ?m ?n))
    (<= (next (two ?n)) (true (two ?n)) (not (does r (up 2))))
    (<= (next lock) (true (one 2))) (<= (next lock) (true lock))
    (<= terminal (true (two 2)))
    (<= (goal r 100) (true (two 2))) (<= (goal r 0) (not (true (two 2))))";

#[test]
fn a_series_is_separated_by_its_crossing_points() {
    let circuit = circuit(SERIES);
    let found = taken_apart(&circuit);
    assert_eq!(
        lines(&circuit, &found),
        ["Ends: (one 0) (one 1) (one 2)", "Wins: (two 0) (two 1) (two 2)"]
    );
    let crossing = &found.crossings[0];
    assert_eq!((crossing.from, crossing.to, crossing.is_proved), (0, 1, true));
    let expected = ["(one 2)", "lock"].map(|it| vec![(fluent(&circuit, it), true)]);
    assert_eq!(crossing.points, expected);
}

#[test]
fn roles_that_play_for_one_prize_are_not_taken_apart() {
    let alone = "(role a) (role b) (pick 1) (pick 2)
        (<= (legal ?r (take ?n)) (role ?r) (pick ?n))
        (<= (next (took ?r ?n)) (does ?r (take ?n)))
        (<= some (true (took ?r ?n))) (<= terminal some)
        (<= (goal ?r 100) (true (took ?r 2))) (<= (goal ?r 0) (true (took ?r 1)))";
    assert_eq!(taken_apart(&circuit(alone)).useful().count(), 4);
    let rivals = alone.replace(
        "(<= (goal ?r 100) (true (took ?r 2)))",
        "(<= (goal a 100) (true (took a 2)) (true (took b 1)))
         (<= (goal b 100) (true (took b 2)) (true (took a 1)))",
    );
    assert_eq!(taken_apart(&circuit(&rivals)).useful().count(), 1);
}

#[test]
fn known_games_have_known_decompositions() {
    let known = [
        ("tictactoe", 1),
        ("connectfour", 1),
        ("blocker", 1),
        ("lights-out", 1),
        ("lights-on", 1),
        ("four-lights", 3),
        ("nim", 4),
        ("lights-parallel", 3),
        ("tictactoe-parallel", 2),
        ("maze-then-lights", 2),
    ];
    for (name, n_subgames) in known {
        let circuit = library(name);
        let found = taken_apart(&circuit);
        assert_eq!(found.useful().count(), n_subgames, "{name}: {:?}", lines(&circuit, &found));
    }
}

#[test]
fn other_names_give_the_same_parts() {
    for name in ["four-lights", "nim", "tictactoe-parallel", "lights-parallel"] {
        let file = ludex_testkit::library().into_iter().find(|file| file.name == name);
        let text = file.expect("it is in the library").text();
        let (sheet, _) = ludex_gdl::parse(&Source::new("test.kif", text.clone()));
        let sizes = |rules: &str| {
            let found = taken_apart(&circuit(rules));
            let mut sizes: Vec<(Worth, usize, usize)> = (found.subgames.iter())
                .map(|it| (it.worth, it.fluents.len(), it.moves.len()))
                .collect();
            sizes.sort_unstable();
            sizes
        };
        let original = sizes(&text);
        for seed in 1..=5 {
            let (scrambled, _) = ludex_gdl::scramble(&sheet, Seed(seed));
            assert_eq!(sizes(&ludex_gdl::print_kif(&scrambled)), original, "{name}, seed {seed}");
        }
    }
}

/// The experiment `decompose --rewritings` does the same with more games.
#[test]
fn other_forms_of_the_rules_give_the_same_parts() {
    for name in ["four-lights", "nim", "tictactoe-parallel", "maze-then-lights"] {
        let file = ludex_testkit::library().into_iter().find(|file| file.name == name);
        let text = file.expect("it is in the library").text();
        let sizes = |rules: &str| {
            let found = taken_apart(&circuit(rules));
            let mut sizes: Vec<(Worth, usize, usize)> = (found.subgames.iter())
                .map(|it| (it.worth, it.fluents.len(), it.moves.len()))
                .collect();
            sizes.sort_unstable();
            sizes
        };
        let original = sizes(&text);
        for seed in 1..=3 {
            let other = ludex_testkit::rewritten(&text, Seed(seed));
            assert_eq!(sizes(&other), original, "{name}, seed {seed}");
        }
    }
}

#[test]
fn the_seed_alone_decides_the_answer() {
    let circuit = library("tictactoe");
    let text = |found: &Decomposition| format!("{found:?}");
    assert_eq!(text(&taken_apart(&circuit)), text(&taken_apart(&circuit)));
}

#[test]
fn lanes_agree_with_the_slow_evaluation() {
    for name in ["tictactoe", "connectfour", "nine-mens-morris", "lights-out"] {
        let circuit = library(name);
        let mut rng = Seed(3).rng();
        let effort = sample::Effort { n_playouts: 70, max_states: 64, max_work: usize::MAX };
        let sample = sample::sample(&circuit, &circuit.init, effort, &mut rng, &Deadline::never());
        assert!(sample.states.len() == 64, "{name} has more states");
        let mut lanes = lanes::Lanes::new(&circuit);
        let mut joints: Vec<Vec<MoveId>> = Vec::new();
        for (lane, (state, _)) in sample.states.iter().enumerate() {
            lanes.set_state(state, 1 << lane);
            assert_eq!(lanes.state(lane), *state);
            let values = circuit.evaluate(state, &[]);
            let legal = |it: &MoveId| values[circuit.legal[it.index()].index()];
            let joint = sample::moves_by_role(&circuit).into_iter().map(|moves| {
                let legal: Vec<MoveId> = moves.into_iter().filter(legal).collect();
                *rng.choose(&legal).expect("the state is not terminal")
            });
            joints.push(joint.collect());
            joints[lane].iter().for_each(|it| lanes.moves[it.index()] |= 1 << lane);
        }
        lanes.evaluate_state();
        lanes.evaluate_moves();
        for (lane, (state, _)) in sample.states.iter().enumerate() {
            let values = circuit.evaluate(state, &joints[lane]);
            for gate in circuit.outputs() {
                assert_eq!(lanes.value(gate) >> lane & 1 == 1, values[gate.index()], "{name}");
            }
        }
    }
}

#[test]
fn what_is_known_holds_however_the_unknown_turns_out() {
    let circuit = library("tictactoe");
    let mut rng = Seed(5).rng();
    let effort = sample::Effort { n_playouts: 10, max_states: 40, max_work: usize::MAX };
    let sample = sample::sample(&circuit, &circuit.init, effort, &mut rng, &Deadline::never());
    let mut n_decided = 0;
    for (state, _) in &sample.states {
        // Half of the fluents are known, and no move.
        let mut known = known::Known::new(&circuit, &vec![true; circuit.n_gates()]);
        for idx in 0..circuit.next.len() {
            if rng.below(2) == 0 {
                known.fluents[idx] = known::Truth::of(state.contains(idx));
            }
        }
        known.evaluate(Vec::new());
        let values = circuit.evaluate(state, &[]);
        for gate in circuit.gate_ids() {
            let truth = known.value(gate);
            let value = values[gate.index()];
            assert!(value || truth.must == 0, "it must be true and is not");
            assert!(!value || truth.may != 0, "it may not be true and is");
            n_decided += usize::from(truth.must == truth.may);
        }
    }
    assert!(n_decided > 0, "something is known");
}

#[test]
fn fixed_fluents_never_change_in_playouts() {
    let circuit = circuit(FOUR_LAMPS);
    let mut state: BitSet = circuit.init.clone();
    state.insert(fluent(&circuit, "(on c)").index());
    let fixed = known::fixed_fluents(&circuit, &state);
    let effort = sample::Effort { n_playouts: 100, max_states: 100, max_work: usize::MAX };
    let sample = sample::sample(&circuit, &state, effort, &mut Seed(1).rng(), &Deadline::never());
    for (later, _) in &sample.states {
        assert!(fixed.iter().all(|idx| later.contains(idx) == state.contains(idx)));
    }
    assert_eq!(fixed.iter().collect::<Vec<_>>(), [fluent(&circuit, "(on c)").index()]);
}

fn public(name: &str) -> Option<Circuit> {
    let shared = ludex_testkit::fixtures::shared_or_skip(name)?;
    let file = ludex_testkit::corpus(&shared).into_iter().find(|file| file.name == name);
    Some(circuit(&file.expect("it is in the corpus").text()))
}

/// Example L6: parts that nothing reads are useless.
#[test]
fn unused_groups_of_lamps_are_useless() {
    let Some(circuit) = public("multiple_buttons_and_lights") else { return };
    let found = taken_apart(&circuit);
    let n_useless = found.subgames.iter().filter(|it| it.worth == Worth::Useless).count();
    assert_eq!((found.useful().count(), n_useless), (1, 8), "{:?}", lines(&circuit, &found));
}

/// Example L7: the 13 cells of figure 6 that are subgames of their own. The first number of a cell is
/// its column there.
#[test]
fn a_nonogram_comes_apart_as_in_the_figure() {
    let Some(circuit) = public("nonogram_5x5_1") else { return };
    let found = taken_apart(&circuit);
    let mut alone: Vec<String> = (found.useful())
        .filter(|it| it.fluents.len() == 1)
        .map(|it| circuit.vocabulary.fluent_text(it.fluents[0]))
        .collect();
    alone.sort_unstable();
    let figure = ["00110", "00110", "11111", "00110", "00110"];
    let mut expected: Vec<String> = Vec::new();
    for (row, cells) in (1..).zip(figure) {
        let cells = (1..).zip(cells.chars()).filter(|it| it.1 == '1');
        expected.extend(cells.map(|(column, _)| format!("(marked {column} {row})")));
    }
    expected.sort_unstable();
    assert_eq!(alone, expected);
    assert_eq!(found.useful().count(), 14, "the other twelve cells are one subgame");
}

/// Example L8: the games that figure 7 and section 5 name as failures of the paper's method.
#[test]
fn games_that_the_paper_takes_too_far_apart_stay_whole() {
    for name in ["queens06ug", "max_knights", "point_grab", "tron_10x10"] {
        let Some(circuit) = public(name) else { return };
        assert_eq!(taken_apart(&circuit).useful().count(), 1, "{name}");
    }
}

/// Example L9: a rule of the form `next(f) :- does(r, o), not true(f)` makes f an effect of o, and
/// `next(f) :- does(r, o), true(f)` makes it one of every other move.
#[test]
fn the_form_of_a_rule_says_which_moves_have_an_effect() {
    let moves_of = |rules: &str| -> Vec<String> {
        let circuit = circuit(&format!(
            "(role r) (legal r this) (legal r that) (legal r other) {rules}
            (<= terminal (true done)) (<= (next done) (does r other))
            (<= (goal r 100) (true f)) (<= (goal r 0) (not (true f)))"
        ));
        let found = taken_apart(&circuit);
        let wanted = fluent(&circuit, "f");
        let subgame = found.subgames.iter().find(|it| it.fluents.contains(&wanted));
        let moves = &subgame.unwrap_or_else(|| panic!("{:?}", lines(&circuit, &found))).moves;
        moves.iter().map(|&it| circuit.vocabulary.move_text(it)).collect()
    };
    let made = "(<= (next f) (does r this) (not (true f)))
        (<= (next f) (true f) (not (does r this)))";
    assert!(moves_of(made).contains(&"this".into()));
    assert!(!moves_of(made).contains(&"that".into()));
    let kept = "(init f) (<= (next f) (does r this) (true f))";
    assert!(moves_of(kept).contains(&"that".into()));
    assert!(!moves_of(kept).contains(&"this".into()));
}

/// The parts of a game, each as a game.
fn subgames_of(circuit: &Circuit) -> (Split, Vec<ludex_circuit::Restricted>) {
    let split = Split::prove(circuit, &circuit.init, &taken_apart(circuit));
    let never = Deadline::never();
    let subgame = |part| split.subgame(circuit, part, true, 1 << 20, &never).expect("it is small");
    let subgames = (0..split.parts.len()).map(subgame).collect();
    (split, subgames)
}

#[test]
fn proved_parts_compose_to_the_game() {
    let names = ["four-lights", "nim", "tictactoe-parallel", "lights-parallel", "nim-serial"];
    for name in names.into_iter().chain(["maze-then-lights"]) {
        let circuit = library(name);
        let (split, mut subgames) = subgames_of(&circuit);
        assert!(split.parts.len() > 1, "{name}");
        let mut rng = Seed(7).rng();
        let found = split.compare(&circuit, &subgames, 100, &mut rng, &Deadline::never());
        assert!(found.n_steps >= 30 || name == "four-lights", "{name}: {found:?}");
        assert!(found.holds(), "{name}: {found:?}");
        // A part with wrong rules is noticed.
        let largest = subgames.iter_mut().max_by_key(|it| it.fluents.len()).expect("it has parts");
        if largest.fluents.len() == 1 {
            continue;
        }
        largest.circuit.next.rotate_left(1);
        let found = split.compare(&circuit, &subgames, 100, &mut rng, &Deadline::never());
        assert!(!found.holds(), "{name}: {found:?}");
    }
}

#[test]
fn a_part_has_waiting_moves_and_names_its_own() {
    let circuit = circuit(FOUR_LAMPS);
    let (split, subgames) = subgames_of(&circuit);
    assert_eq!(split.parts.len(), 4);
    for (part, subgame) in subgames.iter().enumerate() {
        assert_eq!(subgame.fluents, split.parts[part]);
        assert_eq!(subgame.moves.len(), 2, "to push its lamp, or to wait");
        let n_waiting = subgame.is_waiting.iter().filter(|&&it| it).count();
        assert_eq!((n_waiting, subgame.is_waiting == subgame.is_still), (1, true));
    }
}

#[test]
fn views_tell_apart_what_the_goals_tell_apart() {
    let circuit = circuit(FOUR_LAMPS);
    let split = Split::prove(&circuit, &circuit.init, &taken_apart(&circuit));
    let mut views = Views::new(&circuit, &split);
    let reads: Vec<bool> = (0..4).map(|part| views.reads(part)).collect();
    assert_eq!(reads, [true, true, true, false], "nothing reads lamp d");
    let (dark, mut lit) = (BitSet::new(1), BitSet::new(1));
    lit.insert(0);
    let of: Vec<Vec<View>> =
        (0..4).map(|part| views.of(part, &split.parts[part], &[&dark, &lit])).collect();
    // Every state of all lamps, as the slow evaluation judges it.
    for number in 0..16_usize {
        let mut state = BitSet::new(circuit.next.len());
        for part in (0..4).filter(|part| number >> part & 1 == 1) {
            state.insert(split.parts[part][0].index());
        }
        let case = (0..4).map(|part| Some(&of[part][number >> part & 1])).collect();
        let outcome = views.outcomes(None, &[case]).remove(0);
        let values = circuit.evaluate(&state, &[]);
        assert_eq!(outcome.must_end, values[circuit.terminal.index()]);
        assert_eq!(outcome.may_end, values[circuit.terminal.index()]);
        for (goal, both) in circuit.goals.iter().zip(&outcome.goals) {
            assert_eq!(*both, (values[goal.2.index()], values[goal.2.index()]));
        }
    }
    let unknown = views.outcomes(None, &[vec![None; 4]]).remove(0);
    assert!(!unknown.must_end && unknown.may_end);
}
