//! The machine against the plain evaluation of its circuit.

use std::path::Path;

use ludex_base::{BitSet, MoveId, RoleId, Seed, Source};
use ludex_circuit::Circuit;
use ludex_game::{Cursor, Game, Observe};
use ludex_ground::{GroundLimits, ground};

use crate::Machine;

fn circuit(rules: &str) -> Circuit {
    let (sheet, _) = ludex_gdl::parse_kif(&Source::new("test", rules));
    let program = ludex_gdl::lower(&sheet).0;
    ludex_circuit::compile(&ground(&program, &GroundLimits::default()).expect("it grounds"))
}

/// What the circuit says of a state: the legal moves, the goals by role, whether it is over.
fn answers(circuit: &Circuit, state: &BitSet) -> (Vec<usize>, Vec<(RoleId, u8)>, bool) {
    let values = circuit.evaluate(state, &[]);
    let legal = (0..circuit.legal.len()).filter(|&idx| values[circuit.legal[idx].index()]);
    let goals = circuit.goals.iter().filter(|(_, _, gate)| values[gate.index()]);
    (
        legal.collect(),
        goals.map(|&(role, goal, _)| (role, goal.value())).collect(),
        values[circuit.terminal.index()],
    )
}

/// Plays random games and compares every state on the way.
#[track_caller]
fn check(name: &str, rules: &str, n_steps: usize) {
    let circuit = circuit(rules);
    let machine = Machine::new(circuit.clone());
    let mut cursor = machine.cursor();
    let mut rng = Seed(11).rng();
    for _ in 0..n_steps {
        let state = cursor.state().clone();
        let (legal, goals, is_terminal) = answers(&circuit, &state);
        let mut found_legal = Vec::new();
        let mut found_goals = Vec::new();
        for role in machine.role_ids() {
            found_goals.extend(cursor.goals(role).iter().map(|goal| (role, goal.value())));
            found_legal.extend(cursor.legal_moves(role).iter().map(|id| id.index()));
        }
        assert_eq!(cursor.is_terminal(), is_terminal, "{name}: terminal in {state:?}");
        assert_eq!(found_legal, legal, "{name}: legal moves in {state:?}");
        assert_eq!(found_goals, goals, "{name}: goals in {state:?}");
        if is_terminal {
            cursor = machine.cursor();
            continue;
        }
        let choose = |role| *rng.choose(cursor.legal_moves(role)).expect("a role can move");
        let joint: Vec<MoveId> = machine.role_ids().map(choose).collect();
        cursor.play(&joint);
        let values = circuit.evaluate(&state, &joint);
        let next: Vec<usize> =
            (0..circuit.next.len()).filter(|&idx| values[circuit.next[idx].index()]).collect();
        assert_eq!(cursor.state().iter().collect::<Vec<_>>(), next, "{name}: after {joint:?}");
        let seen: Vec<usize> =
            (0..circuit.sees.len()).filter(|&idx| values[circuit.sees[idx].index()]).collect();
        let found_seen: Vec<usize> = machine
            .role_ids()
            .flat_map(|role| cursor.percepts(role).iter().map(|id| id.index()).collect::<Vec<_>>())
            .collect();
        assert_eq!(found_seen, seen, "{name}: percepts of {joint:?}");
    }
}

#[test]
fn every_game_of_the_library_agrees_with_its_circuit() {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let mut n_games = 0;
    for folder in std::fs::read_dir(games).expect("the library is there") {
        let rules = folder.expect("its folders can be listed").path().join("rules.kif");
        let text = std::fs::read_to_string(&rules).expect("a game has rules");
        check(&rules.display().to_string(), &text, 60);
        n_games += 1;
    }
    assert!(n_games >= 30, "only {n_games} games");
}

#[test]
fn a_state_can_be_set_and_left_again() {
    let machine = Machine::new(circuit(
        "(role me) (init (n 0)) (succ 0 1) (succ 1 2) (legal me go) (goal me 100)
        (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= terminal (true (n 2)))
        (<= (sees me (was ?x)) (true (n ?x)))",
    ));
    let mut cursor = machine.cursor();
    let start = cursor.state().clone();
    let joint = [cursor.legal_moves(RoleId::new(0))[0]];
    cursor.play(&joint);
    assert_eq!(cursor.percepts(RoleId::new(0)).len(), 1);
    cursor.play(&joint);
    assert!(cursor.is_terminal());
    cursor.set_state(&start);
    assert!(!cursor.is_terminal());
    assert!(cursor.percepts(RoleId::new(0)).is_empty());
    assert_eq!(cursor.state(), &start);
}
