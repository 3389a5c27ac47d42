//! Tests on circuits of small rulesheets.

use ludex_base::{BitSet, Deadline, FluentId, Limits, MoveId, Pace, Seed, Source, StopReason};
use ludex_ground::ground;

use crate::{Circuit, Gate, compile};

fn circuit(rules: &str) -> Circuit {
    let (sheet, diagnostics) = ludex_gdl::parse_kif(&Source::new("test", rules));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let program = ludex_gdl::lower(&sheet).0;
    compile(&ground(&program, &Limits::usual()).expect("it grounds"))
}

fn state(circuit: &Circuit, fluents: &[&str]) -> BitSet {
    let mut state = BitSet::new(circuit.vocabulary.fluents.len());
    for idx in 0..circuit.vocabulary.fluents.len() {
        if fluents.contains(&circuit.vocabulary.fluent_text(FluentId::new(idx)).as_str()) {
            state.insert(idx);
        }
    }
    assert_eq!(state.count(), fluents.len(), "some of {fluents:?} are not fluents");
    state
}

fn is_terminal(circuit: &Circuit, fluents: &[&str]) -> bool {
    let values = circuit.evaluate(&state(circuit, fluents), &[]);
    values[circuit.terminal.index()]
}

/// Cells of a ring can be owned; the game is over when the owned ones connect 0 and 3.
const RING: &str = "(role me) (init start)
    (next-to 0 1) (next-to 1 2) (next-to 2 3) (next-to 3 4) (next-to 4 5) (next-to 5 0)
    (<= (linked ?x ?y) (next-to ?x ?y)) (<= (linked ?y ?x) (next-to ?x ?y))
    (<= (cell ?x) (next-to ?x ?y))
    (<= (legal me (own ?x)) (cell ?x))
    (<= (next (owned ?x)) (does me (own ?x))) (<= (next (owned ?x)) (true (owned ?x)))
    (<= (reached 0) (true (owned 0)))
    (<= (reached ?y) (reached ?x) (linked ?x ?y) (true (owned ?y)))
    (<= terminal (reached 3)) (goal me 100)";

#[test]
fn a_loop_derives_only_what_is_founded() {
    let circuit = circuit(RING);
    assert_eq!(circuit.loops.len(), 1);
    assert!(is_terminal(&circuit, &["(owned 0)", "(owned 1)", "(owned 2)", "(owned 3)"]));
    assert!(is_terminal(&circuit, &["(owned 0)", "(owned 5)", "(owned 4)", "(owned 3)"]));
    // These support each other in a cycle, and nothing else supports them.
    assert!(!is_terminal(&circuit, &["(owned 1)", "(owned 2)", "(owned 3)", "(owned 4)"]));
}

#[test]
fn an_unrolled_circuit_says_the_same() {
    let circuit = circuit(RING);
    let unrolled = circuit.unrolled(1_000_000).expect("it is small");
    assert!(unrolled.loops.is_empty());
    assert!(unrolled.gate_ids().all(|id| unrolled.gate(id) != Gate::Feedback));
    let mut rng = Seed(5).rng();
    for _ in 0..300 {
        let mut state = BitSet::new(circuit.vocabulary.fluents.len());
        (0..circuit.vocabulary.fluents.len())
            .filter(|_| rng.below(3) > 0)
            .for_each(|fluent| state.insert(fluent));
        let (looped, layered) = (circuit.evaluate(&state, &[]), unrolled.evaluate(&state, &[]));
        for (a, b) in circuit.outputs().zip(unrolled.outputs()) {
            assert_eq!(looped[a.index()], layered[b.index()], "{state:?}");
        }
    }
}

#[test]
fn unrolling_stops_at_its_limit() {
    assert!(circuit(RING).unrolled(20).is_none());
}

#[test]
fn equal_conditions_are_one_gate() {
    let circuit = circuit(
        "(role me) (init a) (init b) (legal me m) (<= terminal (true a) (true b))
        (<= (next c) (true b) (true a)) (<= (goal me 100) (true a) (true b) (true b))
        (<= (next a) (true c)) (<= (next b) (true a))",
    );
    assert_eq!(circuit.terminal, circuit.goals[0].2);
    let c = (0..circuit.vocabulary.fluents.len())
        .find(|&idx| circuit.vocabulary.fluent_text(FluentId::new(idx)) == "c")
        .expect("c is a fluent");
    assert_eq!(circuit.next[c], circuit.terminal);
}

#[test]
fn contradictions_and_tautologies_are_constants() {
    let circuit = circuit(
        "(role me) (init a) (legal me m) (<= (next a) (not (true a)))
        (<= terminal (true a) (not (true a))) (<= (goal me 100) (true a))
        (<= (goal me 100) (not (true a)))",
    );
    assert_eq!(circuit.gate(circuit.terminal), Gate::Constant(false));
    assert_eq!(circuit.gate(circuit.goals[0].2), Gate::Constant(true));
}

#[test]
fn legality_does_not_depend_on_moves_played() {
    // A rulesheet may not let `legal` depend on `does`, but some do: no move is played while moves
    // are chosen.
    let circuit = circuit(
        "(role me) (init a) (<= moved (does me m)) (<= (legal me m) (not moved))
        (<= (next b) moved) (<= terminal (true b)) (goal me 100)",
    );
    let played = [ludex_base::MoveId::new(0)];
    let values = circuit.evaluate(&circuit.init, &played);
    assert!(values[circuit.legal[0].index()], "legal is asked when nothing is played");
    let b = circuit.next.iter().any(|gate| values[gate.index()]);
    assert!(b, "next sees the move");
}

/// Four cells in a row, each with or without a piece; the game is over when all pieces share a
/// color or a shape, which the rulesheet lists case by case.
const FOUR: &str = "(role me) (role you) (init (turn me))
    (piece a) (piece b) (piece c) (piece d)
    (color a red) (color b red) (color c blue) (color d blue)
    (shape a round) (shape b square) (shape c round) (shape d square)
    (cell 1) (cell 2) (cell 3) (cell 4)
    (<= (next (turn me)) (true (turn you))) (<= (next (turn you)) (true (turn me)))
    (<= (full ?x) (true (on ?x ?p)))
    (<= (legal ?r (put ?x ?p)) (true (turn ?r)) (cell ?x) (piece ?p) (not (full ?x)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (on ?x ?p)) (true (on ?x ?p))) (<= (next (on ?x ?p)) (does ?r (put ?x ?p)))
    (<= (alike ?p ?q ?r ?s) (color ?p ?c) (color ?q ?c) (color ?r ?c) (color ?s ?c))
    (<= (alike ?p ?q ?r ?s) (shape ?p ?c) (shape ?q ?c) (shape ?r ?c) (shape ?s ?c))
    (<= line (true (on 1 ?p)) (true (on 2 ?q)) (true (on 3 ?r)) (true (on 4 ?s))
        (alike ?p ?q ?r ?s))
    (<= terminal line) (<= (goal ?r 100) (role ?r) line) (<= (goal ?r 0) (role ?r) (not line))";

#[test]
fn factors_are_taken_out_and_shared() {
    let circuit = circuit(FOUR).optimized();
    let factored = circuit.factored(&Pace::unlimited()).expect("nothing stops it");
    let n_edges = |circuit: &Circuit| {
        let is_needed = circuit.cone([circuit.terminal]);
        let needed = circuit.gate_ids().filter(|id| is_needed[id.index()]);
        needed.map(|id| circuit.inputs(id).len()).sum::<usize>()
    };
    let (before, after) = (n_edges(&circuit), n_edges(&factored));
    assert!(2 * after < before, "{after} of {before} edges");
    assert_same(&factored, &circuit);
    assert_stops(&circuit, |pace| circuit.factored(pace));
}

/// Compares two circuits of the same game on random states, reachable or not, and random joint
/// moves.
#[track_caller]
fn assert_same(a: &Circuit, b: &Circuit) {
    let mut rng = Seed(6).rng();
    for _ in 0..500 {
        let mut state = BitSet::new(b.vocabulary.fluents.len());
        (0..b.next.len()).filter(|_| rng.below(2) == 0).for_each(|idx| state.insert(idx));
        let joint: Vec<MoveId> = (0..b.n_roles())
            .map(|role| {
                let of_role = |idx: &usize| b.vocabulary.moves[*idx].0.index() == role;
                let moves: Vec<usize> = (0..b.legal.len()).filter(of_role).collect();
                MoveId::new(moves[rng.below(moves.len())])
            })
            .collect();
        let values = |circuit: &Circuit| {
            let values = circuit.evaluate(&state, &joint);
            circuit.outputs().map(|id| values[id.index()]).collect::<Vec<bool>>()
        };
        assert_eq!(values(a), values(b), "{state:?} {joint:?}");
    }
}

#[test]
fn selections_separate_source_and_target() {
    // The move does not name the piece.
    let circuit = circuit(
        "(role me) (init (on a king)) (init (on b queen)) (init (on c pawn))
        (cell a) (cell b) (cell c) (cell d) (cell e) (cell f)
        (<= (full ?x) (true (on ?x ?p)))
        (<= (legal me (go ?x ?y)) (full ?x) (cell ?y) (distinct ?x ?y)) (legal me stay)
        (<= (next (on ?y ?p)) (does ?r (go ?x ?y)) (true (on ?x ?p)))
        (<= (touched ?x) (does ?r (go ?x ?y))) (<= (touched ?y) (does ?r (go ?x ?y)))
        (<= (next (on ?x ?p)) (true (on ?x ?p)) (not (touched ?x)))
        (<= terminal (true (on e king))) (<= (goal ?r 100) (role ?r))",
    )
    .optimized();
    let selected = circuit.with_selections(&Pace::unlimited()).expect("nothing stops it");
    let (before, after) = (circuit.n_edges(), selected.n_edges());
    assert!(4 * after <= 3 * before, "{after} of {before} edges");
    assert_same(&selected, &circuit);
    assert_stops(&circuit, |pace| circuit.with_selections(pace));
}

#[test]
fn gates_read_shared_parts() {
    // A move changes the cells where it begins and where it ends.
    let circuit = circuit(
        "(role me) (init (at a)) (cell a) (cell b) (cell c) (cell d) (cell e)
        (<= (legal me (go ?x ?y)) (true (at ?x)) (cell ?y) (distinct ?x ?y)) (legal me stay)
        (<= (next (at ?y)) (does me (go ?x ?y))) (<= (next (at ?x)) (true (at ?x)) (does me stay))
        (<= (touched ?x) (does me (go ?x ?y))) (<= (touched ?y) (does me (go ?x ?y)))
        (<= (next (mark ?x)) (true (mark ?x)) (not (touched ?x))) (<= (next (mark ?x)) (true (at ?x)))
        (<= terminal (true (mark e))) (goal me 100)",
    )
    .optimized();
    let shared = circuit.with_shared_parts(&Pace::unlimited()).expect("nothing stops it");
    assert!(shared.n_edges() < circuit.n_edges(), "{} edges", shared.n_edges());
    assert_same(&shared, &circuit);
    assert_stops(&circuit, |pace| circuit.with_shared_parts(pace));
}

#[test]
fn fluents_that_are_periodic_under_all_moves_define_phases() {
    let circuit = circuit(FOUR).optimized();
    let phases = circuit.phases();
    let names = |set: &BitSet| {
        let text = |idx| circuit.vocabulary.fluent_text(FluentId::new(idx));
        set.iter().map(text).collect::<Vec<String>>()
    };
    assert_eq!(names(&phases.known[0]), ["(turn me)", "(turn you)"]);
    let values: Vec<_> = phases.values.iter().map(names).collect();
    assert_eq!(values, [["(turn me)"], ["(turn you)"]]);
    let mine = circuit.in_phase(&phases, 0, &Pace::unlimited()).expect("nothing stops it");
    assert_stops(&circuit, |pace| circuit.in_phase(&phases, 0, pace));
    let is_dead = |idx: usize| mine.gate(mine.legal[idx]) == Gate::Constant(false);
    for (idx, (role, _)) in circuit.vocabulary.moves.iter().enumerate() {
        let waits = circuit.vocabulary.move_text(MoveId::new(idx)) == "wait";
        assert_eq!(is_dead(idx), waits == (role.index() == 0), "move {idx}");
    }
    assert!(mine.n_edges() < circuit.n_edges());
}

#[test]
fn a_fluent_that_is_constant_in_a_phase_is_known_there() {
    let circuit = circuit(
        "(role red) (role blue) (init (turn red)) (init (step 1))
        (succ 1 2) (succ 2 3) (succ 3 4)
        (<= (next (turn red)) (true (turn blue))) (<= (next (turn blue)) (true (turn red)))
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
        (<= (next (owner ?k ?r)) (true (step ?k)) (true (turn ?r)))
        (<= (next (owner ?k ?r)) (true (owner ?k ?r)))
        (<= (legal ?r a) (role ?r)) (<= (legal ?r b) (role ?r))
        (<= (next (taken ?k)) (does ?r a) (true (owner ?k ?r)) (true (turn ?r)))
        (<= terminal (true (step 4))) (<= (goal ?r 100) (role ?r))",
    );
    let phases = circuit.phases();
    let names = |set: &BitSet| {
        let text = |idx| circuit.vocabulary.fluent_text(FluentId::new(idx));
        set.iter().map(text).collect::<Vec<String>>()
    };
    let known = names(&phases.known[0]);
    assert!(known.contains(&"(owner 2 red)".into()) && known.contains(&"(step 2)".into()));
    assert!(!known.contains(&"(owner 1 red)".into()) && !known.contains(&"(step 1)".into()));
    assert_eq!(names(&phases.values[0]), ["(turn red)"]);
    // Blue's turn comes after red's first.
    assert_eq!(names(&phases.values[1]), ["(owner 1 red)", "(turn blue)"]);
    assert_eq!(phases.phase_of(&circuit.init), Some(0));
    // No step leads to this state, so it has no phase.
    let off = state(&circuit, &["(turn red)", "(step 1)", "(step 3)"]);
    assert_eq!(phases.phase_of(&off), None);
}

#[test]
fn a_known_loop_needs_no_rounds() {
    // Whose turn it is decides whether anything is reached.
    let circuit = circuit(
        "(role me) (init (day)) (<= (next (day)) (true (night))) (<= (next (night)) (true (day)))
        (legal me a) (legal me b)
        (<= (next (on ?x)) (does me ?x)) (<= (reached a) (true (day)))
        (<= (reached ?y) (reached ?x) (linked ?x ?y) (true (on ?y)))
        (<= (reached ?y) (reached ?x) (linked ?x ?y) (true (day)))
        (linked a b) (linked b a) (<= terminal (reached b)) (goal me 100)",
    );
    let phases = circuit.phases();
    assert_eq!(phases.values.len(), 2);
    let is_over = |phase: usize, on: &[&str]| {
        let in_phase =
            circuit.in_phase(&phases, phase, &Pace::unlimited()).expect("nothing stops it");
        let mut state = state(&circuit, on);
        phases.values[phase].iter().for_each(|idx| state.insert(idx));
        let over = in_phase.evaluate(&state, &[])[in_phase.terminal.index()];
        assert_eq!(over, circuit.evaluate(&state, &[])[circuit.terminal.index()]);
        over
    };
    assert!(is_over(0, &[]) && is_over(0, &["(on a)"]));
    assert!(!is_over(1, &[]) && !is_over(1, &["(on a)", "(on b)"]));
}

/// Checks that a change of a circuit heeds the deadline on the way.
#[track_caller]
fn assert_stops(circuit: &Circuit, change: impl Fn(&Pace<'_>) -> Result<Circuit, StopReason>) {
    let over = Deadline::after(std::time::Duration::ZERO);
    // The pace counts inputs too, so that the check is due before the last gate.
    let stopped = change(&Pace::new(&over, circuit.n_gates()));
    assert_eq!(stopped.err(), Some(StopReason::Time));
}
