//! Small games, translated and solved.

use std::time::Duration;

use ludex_base::{Deadline, Limits, Source};
use ludex_circuit::Circuit;

use crate::prove::{Finding, Prover};
use crate::{
    EncodeConfig, FoundBy, GroupEffort, Information, Steps, Template, encode, find_groups,
};

fn circuit(rules: &str) -> Circuit {
    let checked = ludex_gdl::check_source(&Source::new("test.kif", rules.to_string()));
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let ground = ludex_ground::ground(&program, &Limits::usual()).expect("the game is small");
    ludex_circuit::compile(&ground)
}

fn template(rules: &str) -> Template {
    encode(&circuit(rules), &EncodeConfig::default()).expect("there are no loops")
}

/// Returns the groups as texts, found without random walks, so that only the proof decides.
fn groups(rules: &str) -> Vec<String> {
    let circuit = circuit(rules);
    let effort = GroupEffort { walk_gates: 0, ..GroupEffort::default() };
    let text = |group: &crate::Group| {
        let fluents: Vec<String> =
            group.fluents.iter().map(|&it| circuit.vocabulary.fluent_text(it)).collect();
        let words = if group.is_exact { "one of" } else { "at most one of" };
        format!("{words} {}", fluents.join(" "))
    };
    find_groups(&circuit, &effort, &Deadline::never())
        .expect("there is time")
        .iter()
        .map(text)
        .collect()
}

const SWITCH: &str = "
    (role r) (init (lamp a)) (lamps a) (lamps b) (lamps c)
    (<= (legal r (light ?x)) (lamps ?x))
    (<= (next (lamp ?x)) (does r (light ?x)))
    (<= terminal (true (lamp c)))
    (<= (goal r 100) (true (lamp c)))";

#[test]
fn one_move_per_role_makes_a_group() {
    assert_eq!(groups(SWITCH), ["one of (lamp a) (lamp b) (lamp c)"]);
}

#[test]
fn a_group_that_may_become_empty_is_not_exact() {
    let rules = "
        (role r) (init (lamp a)) (lamps a) (lamps b)
        (<= (legal r (light ?x)) (lamps ?x)) (legal r darken)
        (<= (next (lamp ?x)) (does r (light ?x)))
        (<= terminal (true (lamp b)))
        (goal r 0)";
    assert_eq!(groups(rules), ["at most one of (lamp a) (lamp b)"]);
}

#[test]
fn fluents_that_a_later_state_combines_are_no_group() {
    // Both lamps burn in the last state, after the third step.
    let rules = "
        (role r) (legal r wait) (init (lamp a)) (init (time 1))
        (later 1 2) (later 2 3) (later 3 4)
        (<= (next (time ?y)) (true (time ?x)) (later ?x ?y))
        (<= (next (lamp a)) (true (lamp a)))
        (<= (next (lamp b)) (true (time 3)))
        (<= terminal (true (time 4)))
        (goal r 0)";
    assert_eq!(groups(rules), ["one of (time 1) (time 2) (time 3) (time 4)"]);
}

#[test]
fn proofs_use_legality_and_turns() {
    // Marks collide unless only one role may mark, and only blank cells.
    let rules = |condition: &str| {
        format!(
            "(role x) (role o) (init (cell b)) (init (control x))
             (<= (legal ?r mark) (role ?r) (true (cell b)) {condition})
             (<= (legal ?r noop) (role ?r))
             (<= (next (cell ?r)) (does ?r mark))
             (<= (next (cell b)) (true (cell b)) (not marked))
             (<= marked (does ?r mark))
             (<= (next (cell ?r)) (true (cell ?r)) (distinct ?r b))
             (<= (next (control o)) (true (control x)))
             (<= (next (control x)) (true (control o)))
             (<= terminal (not (true (cell b))))
             (<= (goal ?r 50) (role ?r))"
        )
    };
    let cell = "one of (cell b) (cell o) (cell x)".to_string();
    let control = "one of (control o) (control x)".to_string();
    assert_eq!(groups(&rules("(true (control ?r))")), [cell, control.clone()]);
    assert_eq!(groups(&rules("")), [control]);
}

#[test]
fn a_state_with_two_fluents_of_a_group_is_impossible() {
    let circuit = circuit(SWITCH);
    let template = encode(&circuit, &EncodeConfig::default()).expect("there are no loops");
    let mut steps = Steps::new(&template).expect("the network can be posted");
    let mut state = circuit.init.clone();
    assert!(steps.inject(&state));
    steps.take_back();
    for fluent in 0..3 {
        state.insert(fluent);
    }
    assert!(!steps.inject(&state));
    steps.take_back();
    assert!(steps.inject(&circuit.init));
}

#[test]
fn no_effort_means_no_groups() {
    let circuit = circuit(SWITCH);
    let none = GroupEffort { proof_steps: 0, walk_gates: 0 };
    assert_eq!(find_groups(&circuit, &none, &Deadline::never()), Some(Vec::new()));
    let config = EncodeConfig { groups: none, ..EncodeConfig::default() };
    let template = encode(&circuit, &config).expect("there are no loops");
    assert_eq!(template.state_vars.len(), 3);
}

/// Regression test: the search for groups used to ignore the deadline.
#[test]
fn the_search_for_groups_stops_at_the_deadline() {
    let circuit = circuit(SWITCH);
    let late = Deadline::after(Duration::ZERO);
    let effort = GroupEffort { walk_gates: 0, ..GroupEffort::default() };
    assert_eq!(find_groups(&circuit, &effort, &late), None);
    let found = find_groups(&circuit, &effort, &Deadline::never()).expect("there is time");
    // A prover past its deadline proves nothing, whatever its remaining budget.
    let mut prover = Prover::new(&circuit, found.clone(), u64::MAX, &late);
    let next: Vec<_> = found[0].fluents.iter().map(|it| (circuit.next[it.index()], true)).collect();
    assert!(!prover.is_late());
    prover.check(&next);
    assert!(prover.is_late() && prover.is_exhausted());
    let mut prover = Prover::new(&circuit, found, u64::MAX, &Deadline::never());
    assert_eq!(prover.check(&next), Finding::Contradictory);
    assert!(!prover.is_late() && !prover.is_exhausted());
}

#[test]
fn too_large_recursion_is_rejected() {
    let rules = "
        (role r) (init (at a)) (edge a b) (edge b c) (edge c a)
        (<= (legal r (cut ?x ?y)) (edge ?x ?y))
        (<= (next (at ?x)) (true (at ?x)))
        (<= (next (gone ?x ?y)) (does r (cut ?x ?y)))
        (<= (open ?x ?y) (edge ?x ?y) (not (true (gone ?x ?y))))
        (<= (reach ?x ?y) (open ?x ?y))
        (<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))
        (<= terminal (not (reach a a)))
        (goal r 0)";
    let circuit = circuit(rules);
    assert!(!circuit.loops.is_empty());
    let config = EncodeConfig { max_unrolled: 0, ..EncodeConfig::default() };
    let error = encode(&circuit, &config).err().expect("there is no room for layers");
    assert!(error.to_string().contains("recursive rules"), "{error}");
    assert!(encode(&circuit, &EncodeConfig::default()).is_ok());
}

#[test]
fn information_is_shared_if_all_roles_see_the_same() {
    let rules = |sees: &str| {
        format!(
            "(role a) (role b) (role random) (init start) (side heads) (side tails)
             (<= (legal random (toss ?s)) (side ?s))
             (legal a wait) (legal b wait)
             (<= (next (coin ?s)) (does random (toss ?s)))
             {sees}
             (<= terminal (not (true start)))
             (<= (goal ?r 50) (role ?r))"
        )
    };
    let of = |sees: &str| template(&rules(sees)).information;
    assert_eq!(of(""), Information::Complete);
    let both = "(<= (sees ?r ?s) (role ?r) (distinct ?r random) (does random (toss ?s)))";
    assert_eq!(of(both), Information::Shared);
    assert_eq!(of("(<= (sees a ?s) (does random (toss ?s)))"), Information::Private);
}

#[test]
fn chance_decides_the_move_of_random_after_the_others() {
    let rules = "
        (role random) (role a) (init start)
        (legal random heads) (legal random tails) (legal a wait)
        (<= (next (coin heads)) (does random heads))
        (<= terminal (not (true start))) (goal a 0)";
    let template = template(rules);
    let [random, a] = [template.moves[0], template.moves[1]];
    assert_eq!(template.chance.iter().map(|it| it.var).collect::<Vec<_>>(), [random.var]);
    assert!(a.var < random.var, "variables stand in the order of their stages");
}

/// A game in which a role sets dials, and `go` is legal under a condition on their values.
fn dials(dials: &str, values: &str, condition: &str) -> String {
    format!(
        "(role r) {dials} {values}
         (<= (init (dial ?d 1)) (dial ?d))
         (<= (legal r (set ?d ?v)) (dial ?d) (value ?v))
         (<= (legal r go) {condition})
         (<= (next (dial ?d ?v)) (does r (set ?d ?v)))
         (<= (next (dial ?d ?v)) (true (dial ?d ?v)) (not (turned ?d)))
         (<= (turned ?d) (does r (set ?d ?v)))
         (<= (next gone) (does r go))
         (<= (apart ?d ?e) (true (dial ?d ?v)) (true (dial ?e ?w)) (distinct ?v ?w))
         (<= terminal (true gone))
         (<= (goal r 100) (true gone))"
    )
}

#[test]
fn possible_moves_report_the_method_that_found_them() {
    // `go` requires a small and a large number on one dial, in two conditions too large to be
    // joined.
    let contradiction = dials(
        "(dial a) (dial b) (dial c)",
        "(value 1) (value 2) (value 3) (value 4) (value 5) (value 6) (value 7)
         (small 1) (small 2) (small 3)
         (<= (low ?d ?e) (small ?v) (true (dial ?d ?v)) (true (dial ?e ?w)) (distinct ?v ?w))
         (<= (high ?d ?e) (value ?v) (not (small ?v)) (true (dial ?d ?v)) (true (dial ?e ?w))
             (distinct ?v ?w))",
        "(low a b) (high a c)",
    );
    // Five dials with four values cannot all differ.
    let pigeons = dials(
        "(dial a) (dial b) (dial c) (dial d) (dial e)",
        "(value 1) (value 2) (value 3) (value 4)",
        "(apart a b) (apart a c) (apart a d) (apart a e) (apart b c) (apart b d) (apart b e)
         (apart c d) (apart c e) (apart d e)",
    );
    for (rules, found_by) in
        [(contradiction, FoundBy::SingletonConsistency), (pigeons, FoundBy::Search)]
    {
        let circuit = circuit(&rules);
        let template = encode(&circuit, &EncodeConfig::default()).expect("there are no loops");
        let steps = Steps::new(&template).expect("the network can be posted");
        // Whatever the dials show, all moves except `go` are possible.
        let possible = steps.possible_moves([]);
        assert_eq!(possible.found_by, found_by);
        let n_moves = template.moves[0].n_moves;
        assert_eq!(possible.moves[0].len(), n_moves - 1);
        let is_go = |it: &ludex_base::MoveId| circuit.vocabulary.move_text(*it) == "go";
        assert!(!possible.moves[0].iter().any(is_go));
        // If the state is known, propagation is enough.
        let legal = steps.legal_moves(&circuit.init);
        assert_eq!(legal.found_by, FoundBy::Propagation);
        assert_eq!(legal.moves, possible.moves);
    }
}

/// A cell of tic-tac-toe changes only if a role marks it. No table of the template says so, because
/// auxiliary variables stand between.
#[test]
fn a_variable_stays_unless_a_move_changes_it() {
    let template = template(include_str!("../../../games/tictactoe/rules.kif"));
    let frames = template.frames(&Deadline::never(), u64::MAX);
    assert_eq!(frames.len(), 2 * 9, "a frame for each role and cell");
    for frame in frames {
        let [does, now, _] = frame.scope;
        let name = &template.network.variable(now).name;
        let cell = name.strip_prefix("(cell ").and_then(|it| it.strip_suffix(" ?)"));
        let cell = cell.unwrap_or_else(|| panic!("{name} is a cell"));
        let moves: Vec<String> =
            frame.changing.iter().map(|&value| template.network.label(does, value)).collect();
        // A `noop` leaves the choice to the other role.
        assert_eq!(moves, [format!("(mark {cell})"), "noop".to_string()]);
    }
    // Without time or memory there are no frames.
    assert!(template.frames(&Deadline::after(Duration::ZERO), u64::MAX).is_empty());
    assert!(template.frames(&Deadline::never(), 1_000).is_empty());
}
