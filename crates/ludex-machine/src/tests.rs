//! Tests of the machine against the plain evaluation of its circuit.

use ludex_base::{BitSet, Deadline, Limits, MoveId, Pace, RoleId, Seed, Source, StopReason};
use ludex_circuit::Circuit;
use ludex_game::{
    Children, Cursor, Expander, Game, JointMoves, Observe, OneByOneExpander, PlayoutRequest,
    PlayoutResults, PlayoutRunner, Playouts, draw_joint, play_checked,
};
use ludex_ground::ground;
use ludex_testkit::RulesFile;

use crate::lanes::tape::{Slots, Tape};
use crate::net::counters::Net;
use crate::{Machine, MachineCursor, PlayoutStyle};

pub(crate) fn circuit(rules: &str) -> Circuit {
    let (sheet, _) = ludex_gdl::parse_kif(&Source::new("test", rules));
    let program = ludex_gdl::lower(&sheet).0;
    ludex_circuit::compile(&ground(&program, &Limits::usual()).expect("it grounds"))
}

/// Returns the circuit's answers about a state: the legal moves, the goals by role, whether it is
/// terminal.
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

/// Plays random games and compares every state on the way, with jumps to earlier states.
#[track_caller]
pub(crate) fn check(name: &str, rules: &str, n_steps: usize) {
    let circuit = circuit(rules);
    let machine = Machine::new(circuit.clone());
    let pace = &Pace::unlimited();
    let factored = machine.circuit().factored(pace).expect("nothing stops it");
    let phases = factored.phases();
    let phase_circuits: Vec<Circuit> = (0..phases.n_phases())
        .map(|phase| factored.in_phase(&phases, phase, pace)?.with_selections(pace))
        .map(|circuit| circuit?.with_shared_parts(pace))
        .collect::<Result<_, StopReason>>()
        .expect("nothing stops it");
    let mut cursor = machine.cursor();
    let mut rng = Seed(11).rng();
    let mut stored = vec![cursor.state().clone()];
    for step in 0..n_steps {
        match step % 8 {
            3 => stored.push(cursor.state().clone()),
            // Return to the same state several times, as a search returns to its root.
            5 => cursor.set_state(&stored[step / 32 % stored.len()]),
            6 if step % 5 == 0 => cursor.set_state(rng.choose(&stored).expect("one is stored")),
            _ => {}
        }
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
        let phase = phases.phase_of(&state).expect("reachable states are in a phase");
        let in_phase = &phase_circuits[phase];
        let expected = (legal, goals, is_terminal);
        assert_eq!(answers(in_phase, &state), expected, "{name}: phase {phase} in {state:?}");
        if is_terminal {
            cursor = match step % 2 {
                0 => machine.cursor(),
                _ => cursor.clone(),
            };
            cursor.set_state(&stored[0]);
            continue;
        }
        let role = RoleId::new(step % machine.roles().len());
        let drawn = cursor.draw_move(role, &mut rng.clone());
        assert_eq!(drawn, rng.clone().choose(cursor.legal_moves(role)).copied(), "{name}: draws");
        let joint = draw_joint(&machine, &mut cursor, &mut rng).expect("roles can move");
        cursor.play(&joint);
        let values = circuit.evaluate(&state, &joint);
        let next: Vec<usize> =
            (0..circuit.next.len()).filter(|&idx| values[circuit.next[idx].index()]).collect();
        assert_eq!(cursor.state().iter().collect::<Vec<_>>(), next, "{name}: after {joint:?}");
        let values_in_phase = in_phase.evaluate(&state, &joint);
        let next_in_phase =
            (0..circuit.next.len()).filter(|&idx| values_in_phase[in_phase.next[idx].index()]);
        assert_eq!(next_in_phase.collect::<Vec<_>>(), next, "{name}: phase {phase}, {joint:?}");
        let seen: Vec<usize> =
            (0..circuit.sees.len()).filter(|&idx| values[circuit.sees[idx].index()]).collect();
        let found_seen: Vec<usize> = machine
            .role_ids()
            .flat_map(|role| cursor.percepts(role).iter().map(|id| id.index()).collect::<Vec<_>>())
            .collect();
        assert_eq!(found_seen, seen, "{name}: percepts of {joint:?}");
    }
}

/// Names and rules.
pub(crate) fn named(files: Vec<RulesFile>) -> impl Iterator<Item = (String, String)> {
    files.into_iter().map(|file| (file.name.clone(), file.text()))
}

/// The games of the library: name and rules.
pub(crate) fn library() -> Vec<(String, String)> {
    let library: Vec<_> = named(ludex_testkit::library()).collect();
    assert!(library.len() >= 65, "only {} games", library.len());
    library
}

#[test]
fn every_game_of_the_library_agrees_with_its_circuit() {
    for (name, rules) in library() {
        check(&name, &rules, 120);
    }
}

#[test]
fn moves_that_meet_in_a_fluent_are_played_together() {
    // The successor needs both moves, either, or one without the other; and nobody waits.
    check(
        "meetings",
        "(role a) (role b) (init (p 0)) (init (q 0))
        (move 0) (move 1) (move 2)
        (<= (legal ?r (m ?x)) (role ?r) (move ?x))
        (<= (next (both ?x)) (does a (m ?x)) (does b (m ?x)))
        (<= (next (either ?x)) (does ?r (m ?x)))
        (<= (next (p ?x)) (does a (m ?x)) (not (does b (m 0))))
        (<= (next (p ?x)) (true (p ?x)) (does b (m 0)))
        (<= (next (q ?x)) (true (p ?x)) (not (true (q ?x))) (does b (m ?x)))
        (<= (next (q ?x)) (true (q ?x)) (not (does b (m ?x))))
        (<= (next (done)) (true (q 2)) (does a (m 2)) (not (true (both 1))))
        (<= (sees ?r (met ?x)) (role ?r) (does a (m ?x)) (does b (m ?x)))
        (<= terminal (true (done)) (true (both 0)))
        (<= (goal ?r 100) (role ?r) (true (q 1))) (<= (goal ?r 0) (role ?r) (not (true (q 1))))",
        2_000,
    );
}

/// A goal at the end of a long chain of rules, which the cursor evaluates on demand.
#[test]
fn lazy_evaluation_may_go_deep() {
    const DEPTH: usize = 20_000;
    let mut rules = String::from(
        "(role one) (at 0) (at 1) (at 2) (at 3) (at 4) (at 5) (at 6) (init (on 0))
         (<= (legal one (flip ?x)) (at ?x))
         (<= (next (on ?x)) (does one (flip ?x)) (not (true (on ?x))))
         (<= (next (on ?x)) (true (on ?x)) (not (does one (flip ?x))))
         (<= p0 (true (on 1)) (true (on 2)))
         (<= terminal (true (on 1)) (true (on 3)) (true (on 5)))",
    );
    for idx in 0..DEPTH {
        let (next, x) = (idx + 1, idx * 5 % 7);
        rules += &format!("(<= p{next} p{idx} (true (on {x})))");
        rules += &format!("(<= p{next} (not p{idx}) (not (true (on {x}))))");
    }
    rules += &format!("(<= (goal one 100) p{DEPTH}) (<= (goal one 0) (not p{DEPTH}))");
    check("deep", &rules, 40);
}

#[test]
fn a_waiting_move_may_have_effects() {
    // The moves called `noop` look like waiting, but one of them has an effect, and both roles may
    // move.
    check(
        "waiting",
        "(role a) (role b) (init (control a)) (cell 1) (cell 2) (cell 3)
        (<= (legal a (mark ?x)) (true (control a)) (cell ?x))
        (<= (legal b (mark ?x)) (true (control b)) (cell ?x))
        (<= (legal b (mark ?x)) (true (set 3)) (cell ?x))
        (<= (legal a noop) (true (control b)))
        (<= (legal b noop) (true (control a)) (not (true (set 3))))
        (<= (next (control b)) (true (control a)))
        (<= (next (control a)) (true (control b)))
        (<= (next (set ?x)) (does a (mark ?x)) (not (does b (mark ?x))))
        (<= (next (set ?x)) (true (set ?x)) (does a noop) (not (does b (mark ?x))))
        (<= (next (set ?x)) (true (set ?x)) (does b noop) (not (does a (mark 1))))
        (<= (next (rest)) (does a noop) (true (set 1)))
        (<= terminal (true (set 1)) (true (set 2)))
        (<= (goal ?r 100) (role ?r) (true (rest))) (<= (goal ?r 0) (role ?r) (not (true (rest))))",
        2_000,
    );
}

/// Plays playouts from the initial state.
fn playouts(machine: &Machine, style: PlayoutStyle, n: usize, wants_moves: bool) -> PlayoutResults {
    let request = PlayoutRequest {
        starts: &[machine.cursor().state().clone()],
        n_per_start: n,
        max_steps: 2_000,
        wants_moves,
        deadline: &Deadline::never(),
    };
    let mut results = PlayoutResults::default();
    machine.clone().with_playouts(style).runner().run(&request, &mut Seed(4).rng(), &mut results);
    results
}

#[test]
fn playouts_in_lanes_are_legal_and_end_correctly() {
    for (name, rules) in library() {
        let machine = Machine::new(circuit(&rules));
        let n_roles = machine.roles().len();
        // More playouts than lanes, so that lanes are refilled; fewer of large games.
        let n_playouts = if machine.circuit().n_gates() < 3_000 { 600 } else { 60 };
        let results = playouts(&machine, PlayoutStyle::Wide, n_playouts, true);
        assert_eq!(results.games.len(), n_playouts, "{name}");
        let mut goal_sums = vec![0; n_roles];
        let mut n_steps = 0;
        for game in &results.games {
            let mut cursor = machine.cursor();
            for joint in game.moves.chunks(n_roles) {
                assert!(!cursor.is_terminal(), "{name}: a lane continues after the end");
                play_checked(&mut cursor, n_roles, joint)
                    .unwrap_or_else(|it| panic!("{name}: {it}"));
                n_steps += 1;
            }
            assert!(cursor.is_terminal(), "{name}: a lane stops before the end");
            for role in machine.role_ids() {
                let goal = cursor.goal(role).value();
                assert_eq!(game.goals[role.index()], goal, "{name}: goal of {role:?}");
                goal_sums[role.index()] += u64::from(goal);
            }
        }
        let total = results.total();
        assert_eq!((total.goal_sums, total.n_steps), (goal_sums, n_steps), "{name}: sums");
    }
}

#[test]
fn lanes_and_cursors_play_the_same_games_on_average() {
    for name in ["tictactoe", "connectfour", "breakthrough-small", "pig", "tron", "kuhn-poker"] {
        let library = library();
        let (_, rules) = library.iter().find(|(it, _)| it == name).expect("it is in the library");
        let machine = Machine::new(circuit(rules));
        let n = 4_000;
        let wide = playouts(&machine, PlayoutStyle::Wide, 10 * n, true);
        let slow = playouts(&machine, PlayoutStyle::OneByOne, n, true);
        let compare = |what: &str, wide: Vec<f64>, slow: Vec<f64>| {
            let (a, b) = (mean_and_error(&wide), mean_and_error(&slow));
            let sigma = (a.1 * a.1 + b.1 * b.1).sqrt().max(1e-9);
            let deviation = (a.0 - b.0).abs() / sigma;
            assert!(deviation < 5.0, "{name}: {what} {:.3} in lanes, {:.3} on a cursor", a.0, b.0);
        };
        let lengths = |results: &PlayoutResults| {
            results.games.iter().map(|game| game.moves.len() as f64).collect::<Vec<f64>>()
        };
        compare("length", lengths(&wide), lengths(&slow));
        for role in 0..machine.roles().len() {
            let goals = |results: &PlayoutResults| {
                results.games.iter().map(|game| f64::from(game.goals[role])).collect::<Vec<f64>>()
            };
            compare("goal", goals(&wide), goals(&slow));
        }
    }
}

/// Returns the mean and its standard error.
fn mean_and_error(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[test]
fn lanes_start_from_different_states() {
    let (_, rules) = library().into_iter().find(|(it, _)| it == "tictactoe").expect("it is there");
    let machine = Machine::new(circuit(&rules));
    // Every state of one game, including the terminal one.
    let mut cursor = machine.cursor();
    let mut rng = Seed(9).rng();
    let mut starts = vec![cursor.state().clone()];
    while !cursor.is_terminal() {
        let joint = draw_joint(&machine, &mut cursor, &mut rng).expect("roles can move");
        cursor.play(&joint);
        starts.push(cursor.state().clone());
    }
    let request = PlayoutRequest {
        starts: &starts,
        n_per_start: 100,
        max_steps: 20,
        wants_moves: true,
        deadline: &Deadline::never(),
    };
    let mut results = PlayoutResults::default();
    machine.runner().run(&request, &mut rng, &mut results);
    assert_eq!(results.n_given_up, 0);
    for (start_idx, sums) in results.starts.iter().enumerate() {
        assert_eq!(sums.n_playouts, 100, "start {start_idx}");
        assert_eq!(sums.goal_sums.iter().sum::<u64>(), 100 * 100, "goals add up to 100 a game");
    }
    let last = results.starts.last().expect("there are starts");
    assert_eq!(last.n_steps, 0, "a game that is over has no steps");
    for game in &results.games {
        let mut cursor = machine.cursor();
        cursor.set_state(&starts[game.start_idx]);
        for joint in game.moves.chunks(2) {
            play_checked(&mut cursor, 2, joint).expect("lanes play legal moves");
        }
        assert!(cursor.is_terminal());
    }
}

#[test]
fn lanes_refuse_states_outside_every_phase() {
    let machine = Machine::new(circuit(
        "(role a) (role b) (init (turn a)) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
        (<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))
        (<= (legal ?r go) (true (turn ?r))) (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
        (<= (next (n ?y)) (true (n ?x)) (does ?r go) (succ ?x ?y)) (<= terminal (true (n 3)))
        (<= (goal a 100) (true (n 3))) (goal b 0)",
    ));
    let phases = machine.circuit().phases();
    assert_eq!(phases.values.len(), 2);
    let init = machine.cursor().state().clone();
    // A state in which both roles have the turn is unreachable: playouts from there run one by one.
    let mut odd = init.clone();
    phases.known[0].iter().for_each(|fluent| odd.insert(fluent));
    assert_eq!(phases.phase_of(&odd), None);
    for start in [init, odd] {
        let request = PlayoutRequest {
            starts: std::slice::from_ref(&start),
            n_per_start: 300,
            max_steps: 20,
            wants_moves: false,
            deadline: &Deadline::never(),
        };
        let mut results = PlayoutResults::default();
        let mut runner = machine.clone().with_playouts(PlayoutStyle::Wide).runner();
        runner.run(&request, &mut Seed(3).rng(), &mut results);
        assert_eq!(results.total().n_playouts, 300);
        assert_eq!(results.total().goal_sums, [30_000, 0]);
    }
}

#[test]
fn endless_playouts_are_abandoned() {
    let machine = Machine::new(circuit(
        "(role me) (init a) (legal me go) (<= (next a) (true a)) (<= terminal (true b))
        (<= (next b) (true c)) (goal me 100)",
    ));
    let results = playouts(&machine, PlayoutStyle::Wide, 300, false);
    assert_eq!((results.n_given_up, results.total().n_playouts), (300, 0));
}

#[test]
fn a_state_takes_one_bit_a_fluent_and_nothing_more() {
    assert_eq!(size_of::<BitSet>(), 2 * size_of::<usize>(), "a pointer and a length");
    for (name, rules) in library().into_iter().step_by(5) {
        let machine = Machine::new(circuit(&rules));
        let n_fluents = machine.circuit().vocabulary.fluents.len();
        let mut cursor = machine.cursor();
        let kept: BitSet = cursor.state().clone();
        assert_eq!(size_of_val(kept.words()), n_fluents.div_ceil(64) * 8, "{name}");
        // The copy is enough to return to the state.
        cursor.set_state(&kept);
        assert_eq!(cursor.state(), &kept, "{name}");
    }
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

#[test]
fn what_grows_with_the_circuit_heeds_the_deadline() {
    let (name, rules) = library().swap_remove(0);
    let over = Limits::usual().until(Deadline::after(std::time::Duration::ZERO));
    let circuit = circuit(&rules);
    assert!(Machine::within(circuit.clone(), &Limits::usual()).is_ok(), "{name}");
    let machine = Machine::new(circuit.clone());
    assert_eq!(machine.prepare_batches(&over), Err(StopReason::Time), "{name}");
    assert_eq!(machine.prepare_batches(&Limits::usual()), Ok(()), "{name}");
    let pace = Pace::new(&over.deadline, 1);
    assert_eq!(Net::new(machine.circuit(), &pace).map(|_| ()), Err(StopReason::Time), "{name}");
    let slots = &mut Slots::new(machine.circuit());
    let tape = Tape::new(machine.circuit(), [machine.circuit().terminal], slots, &pace);
    assert_eq!(tape.err(), Some(StopReason::Time), "{name}");
}

#[test]
fn positions_side_by_side_are_those_of_cursors() {
    for (name, rules) in library() {
        let machine = Machine::new(circuit(&rules));
        let n_roles = machine.roles().len();
        let mut rng = Seed(5).rng();
        let mut positions = machine.positions(&mut rng);
        let n_lanes = positions.n_lanes();
        // Some lanes follow their cursors; the moves of the others are drawn.
        let mut cursors: Vec<_> = (0..20).map(|_| machine.cursor()).collect();
        let n_fluents = machine.circuit().vocabulary.fluents.len();
        let moves_of = |role: usize| {
            let moves = &machine.circuit().vocabulary.moves;
            (0..moves.len()).filter(|&idx| moves[idx].0.index() == role).collect::<Vec<_>>()
        };
        let width = (0..n_roles).map(|role| moves_of(role).len()).max().unwrap();
        let mut fluents = vec![7; n_lanes * n_fluents];
        let mut legal = vec![7; n_lanes * width];
        let mut goals = vec![7; n_lanes];
        for _ in 0..60 {
            positions.write_fluents(&mut fluents);
            for (lane, cursor) in cursors.iter_mut().enumerate() {
                assert_eq!(positions.state(lane), *cursor.state(), "{name}");
                let row = &fluents[lane * n_fluents..][..n_fluents];
                let is_right = |idx: usize| row[idx] == u8::from(cursor.state().contains(idx));
                assert!((0..n_fluents).all(is_right), "{name}");
                assert_eq!(positions.is_over(lane), cursor.is_terminal(), "{name}");
            }
            for role in machine.role_ids() {
                positions.write_goals(role, &mut goals);
                positions.write_legal(&vec![role.index() as u8; n_lanes], width, &mut legal);
                for (lane, cursor) in cursors.iter_mut().enumerate() {
                    assert_eq!(goals[lane], cursor.goal(role).value(), "{name}");
                    let row = &legal[lane * width..][..width];
                    let listed = cursor.legal_moves(role);
                    for (column, &idx) in moves_of(role.index()).iter().enumerate() {
                        let is_legal = listed.contains(&MoveId::new(idx));
                        assert_eq!(row[column] != 0, is_legal, "{name}");
                        assert_eq!(positions.is_legal(lane, MoveId::new(idx)), is_legal, "{name}");
                    }
                    assert!(row[moves_of(role.index()).len()..].iter().all(|&byte| byte == 0));
                }
            }
            let ended = positions.over().to_vec();
            positions.restart(&ended);
            for (lane, cursor) in cursors.iter_mut().enumerate() {
                if ended[lane / 64] >> (lane % 64) & 1 != 0 {
                    *cursor = machine.cursor();
                }
            }
            let is_stuck = |cursor: &mut MachineCursor| {
                machine.role_ids().any(|role| cursor.legal_moves(role).is_empty())
            };
            if cursors.iter_mut().any(is_stuck) {
                break;
            }
            let mut chosen = Vec::new();
            for cursor in &mut cursors {
                let joint: Vec<MoveId> = machine
                    .role_ids()
                    .map(|role| cursor.draw_move(role, &mut rng).expect("there is a move"))
                    .collect();
                cursor.play(&joint);
                chosen.extend(joint.into_iter().map(Some));
            }
            positions.play(&chosen);
        }
    }
}

#[test]
fn drawn_moves_of_positions_are_legal() {
    for (name, rules) in library().into_iter().step_by(3) {
        let machine = Machine::new(circuit(&rules));
        let mut positions = machine.positions(&mut Seed(1).rng());
        let mut cursor = machine.cursor();
        let start = cursor.state().clone();
        let mut listed = JointMoves::of(&mut cursor, machine.roles().len());
        let joints: Vec<Vec<MoveId>> =
            std::iter::from_fn(|| listed.next_joint().map(<[MoveId]>::to_vec))
                .take(5_000)
                .collect();
        if joints.is_empty() || joints.len() == 5_000 {
            continue;
        }
        let successors: Vec<BitSet> = joints
            .iter()
            .map(|joint| {
                cursor.set_state(&start);
                cursor.play(joint);
                cursor.state().clone()
            })
            .collect();
        positions.play(&[]);
        for lane in 0..positions.n_lanes() {
            assert!(successors.contains(&positions.state(lane)), "{name}");
        }
    }
}

/// Collects states of random games, terminal ones among them.
fn random_states(machine: &Machine, n: usize, rng: &mut ludex_base::Rng) -> Vec<BitSet> {
    let mut cursor = machine.cursor();
    let mut states = Vec::new();
    while states.len() < n {
        states.push(cursor.state().clone());
        let joint = if cursor.is_terminal() { None } else { draw_joint(machine, &mut cursor, rng) };
        match joint {
            Some(joint) => cursor.play(&joint),
            None => cursor = machine.cursor(),
        }
    }
    states
}

#[test]
fn children_in_lanes_are_those_of_a_cursor() {
    let deadline = Deadline::never();
    let (mut n_compared, mut n_children) = (0, 0);
    for (name, rules) in library() {
        let machine = Machine::new(circuit(&rules));
        let n_roles = machine.roles().len();
        let states = random_states(&machine, 600, &mut Seed(3).rng());
        let mut lanes = machine.expander();
        let mut one_by_one = OneByOneExpander::new(machine.cursor(), n_roles);
        let (mut found, mut expected) = (Children::new(n_roles), Children::new(n_roles));
        // Few states, several lanes for each, and more states than lanes.
        for batch in [&states[..3], &states[40..57], &states[60..200], &states[..]] {
            let result = lanes.expand(batch, &deadline, &mut found);
            let n_parents = found.n_parents();
            let wanted = &batch[..if result.is_ok() { n_parents } else { 1 }];
            assert_eq!(result, one_by_one.expand(wanted, &deadline, &mut expected), "{name}");
            if result.is_err() {
                continue;
            }
            assert!(n_parents > 0, "{name}");
            // A batch that ends early was full for both.
            assert_eq!(n_parents, expected.n_parents(), "{name}");
            assert_eq!(found.n_children(), expected.n_children(), "{name}");
            for (idx, state) in batch.iter().enumerate().take(n_parents) {
                assert_eq!(found.of(idx), expected.of(idx), "{name}: {state:?}");
                for role in machine.role_ids() {
                    let legal = found.legal_moves(idx, role);
                    assert_eq!(legal, expected.legal_moves(idx, role), "{name}");
                }
            }
            n_compared += n_parents;
            n_children += found.n_children();
        }
    }
    assert!(
        n_compared > 10_000 && n_children > 50_000,
        "{n_compared} states, {n_children} children"
    );
}
