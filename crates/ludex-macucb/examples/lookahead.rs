//! Measures how long it takes to find wins and losses within two steps, by the unrolled network and by the
//! machine.
//!
//! `cargo run --release -p ludex-macucb --example lookahead -- RULES.kif …`
//!
//! The questions are asked in random states of each game for the first role that has a choice: which of its
//! moves may end the game with 100 for it, and after which can the others end it with 0 in the next step?
//! Network and machine must give the same answers. The shortest of five times counts, because other
//! processes may disturb a measurement.

use std::time::{Duration, Instant};

use ludex_base::{BitSet, Deadline, MoveId, RoleId, Seed, Source};
use ludex_csp::{Engine, PostConfig, Value, ValueSet, VarId};
use ludex_encode::{EncodeConfig, Template, Unrolled, encode};
use ludex_game::{Cursor, Game, JointMoves};
use ludex_machine::Machine;
use ludex_pipeline::{Engine as Engines, LoadOptions, load};

/// States of each game.
const N_STATES: usize = 30;
/// Longest time for the network on one state.
const MAX_TIME: Duration = Duration::from_secs(20);
/// Longest time to encode the network of two steps.
const MAX_ENCODING: Duration = Duration::from_secs(120);

fn main() {
    println!(
        "| game | moves | win in one, machine | network | times | loss in two, machine | network | times |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for path in std::env::args().skip(1) {
        let name = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".kif").to_string();
        match measure(&path) {
            Ok(row) => println!("| {name} | {row} |"),
            Err(why) => println!("| {name} | {why} |"),
        }
    }
}

/// Microseconds of machine and network, summed over all states.
#[derive(Default)]
struct Sums {
    n_states: u32,
    n_moves: usize,
    machine: [f64; 2],
    network: [f64; 2],
}

fn measure(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let loaded = load(Source::new(path, text), &LoadOptions::default());
    let Engines::Machine(machine) = loaded.map_err(|error| error.to_string())?.engine else {
        return Err("the game has no machine".into());
    };
    let config =
        EncodeConfig { deadline: Deadline::after(MAX_ENCODING), ..EncodeConfig::default() };
    let template = encode(machine.circuit(), &config).map_err(|error| error.to_string())?;
    let mut lookers = [1, 2].map(|n_steps| Looker::new(&template, n_steps, &config));
    let mut sums = Sums::default();
    for (state, role, moves) in choices(&machine) {
        sums.n_states += 1;
        sums.n_moves += moves.len();
        let mut found: [Vec<Vec<MoveId>>; 2] = Default::default();
        for (n_steps, looker) in [1, 2].into_iter().zip(&mut lookers) {
            let idx = n_steps - 1;
            let looker = looker.as_mut().map_err(|error| error.clone())?;
            let (micros, answer) = shortest(|| by_machine(&machine, &state, role, &moves, n_steps));
            sums.machine[idx] += micros;
            found[0].push(answer);
            let (micros, answer) = shortest(|| looker.look(&template, &state, role, &moves));
            sums.network[idx] += micros;
            found[1].push(answer.ok_or("the network took too long")?);
        }
        assert_eq!(found[0], found[1], "{path}");
    }
    let n = f64::from(sums.n_states);
    let cell = |idx: usize| {
        let (machine, network) = (sums.machine[idx] / n, sums.network[idx] / n);
        format!("{machine:.0} µs | {network:.0} µs | {:.1}", network / machine)
    };
    Ok(format!("{:.1} | {} | {}", sums.n_moves as f64 / n, cell(0), cell(1)))
}

/// Random states in which a role has a choice, with its moves.
fn choices(machine: &Machine) -> Vec<(BitSet, RoleId, Vec<MoveId>)> {
    let mut rng = Seed(1).rng();
    let mut found = Vec::new();
    while found.len() < N_STATES {
        let mut cursor = machine.cursor();
        let mut of_game = Vec::new();
        while !cursor.is_terminal() {
            let legal: Vec<Vec<MoveId>> =
                machine.role_ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
            if let Some(role) = legal.iter().position(|moves| moves.len() > 1) {
                let state = cursor.state().clone();
                of_game.push((state, RoleId::new(role), legal[role].clone()));
            }
            let joint: Vec<MoveId> =
                legal.iter().map(|moves| *rng.choose(moves).expect("a move")).collect();
            cursor.play(&joint);
        }
        // Wins and losses are near the end, so each game gives its last choice and a random one.
        found.extend(rng.choose(&of_game).cloned());
        found.extend(of_game.last().cloned());
    }
    found.truncate(N_STATES);
    found
}

/// The moves that may win at once, or after which the role may lose in the next step.
fn by_machine(
    machine: &Machine,
    state: &BitSet,
    role: RoleId,
    moves: &[MoveId],
    n_steps: usize,
) -> Vec<MoveId> {
    let mut cursor = machine.cursor();
    let mut found = Vec::new();
    for &own in moves {
        cursor.set_state(state);
        let mut joints = JointMoves::of(&mut cursor, machine.roles().len());
        joints.keep_only(role, own);
        let mut is_found = false;
        while let Some(joint) = joints.next_joint() {
            cursor.set_state(state);
            cursor.play(joint);
            is_found = match n_steps {
                1 => cursor.is_terminal() && cursor.goal(role).value() == 100,
                _ => can_lose(machine, &mut cursor, role),
            };
            if is_found {
                break;
            }
        }
        if is_found {
            found.push(own);
        }
    }
    found
}

/// Whether the role has lost, or can lose in one step.
fn can_lose(machine: &Machine, cursor: &mut <Machine as Game>::Cursor, role: RoleId) -> bool {
    if cursor.is_terminal() {
        return cursor.goal(role).value() == 0;
    }
    let state = cursor.state().clone();
    let mut joints = JointMoves::of(cursor, machine.roles().len());
    while let Some(joint) = joints.next_joint() {
        cursor.set_state(&state);
        cursor.play(joint);
        if cursor.is_terminal() && cursor.goal(role).value() == 0 {
            return true;
        }
    }
    false
}

/// An unrolled network, posted.
struct Looker {
    unrolled: Unrolled,
    engine: Engine,
    n_steps: usize,
}

impl Looker {
    fn new(template: &Template, n_steps: usize, config: &EncodeConfig) -> Result<Self, String> {
        let unrolled =
            template.steps_in_a_row(n_steps, config).map_err(|error| error.to_string())?;
        let posted = unrolled.network.post_by(&PostConfig::default(), &config.deadline);
        let mut engine = posted.map_err(|error| error.to_string())?.engine;
        let _ = engine.propagate();
        Ok(Self { unrolled, engine, n_steps })
    }

    /// The moves of a role with which the network has a solution that ends the game; `None` if that takes too
    /// long.
    fn look(
        &mut self,
        template: &Template,
        state: &BitSet,
        role: RoleId,
        moves: &[MoveId],
    ) -> Option<Vec<MoveId>> {
        let Self { unrolled, engine, n_steps } = self;
        engine.set_deadline(&Deadline::after(MAX_TIME));
        let last = &unrolled.steps[*n_steps];
        let set = |value: Value| ValueSet::from(vec![value]);
        let goal = set(if *n_steps == 1 { 100 } else { 0 });
        let over = set(1);
        let values: Vec<ValueSet> = template.values_of(state).into_iter().map(set).collect();
        let now = template.now.iter().map(|var| unrolled.steps[0][var.index()]);
        let ends = [
            (last[template.terminal.index()], &over),
            (last[template.goals[role.index()].index()], &goal),
        ];
        let pairs: Vec<(VarId, &ValueSet)> = now.zip(&values).chain(ends).collect();
        let of_role = template.moves[role.index()];
        let own = unrolled.steps[0][of_role.var.index()];
        let mut found = Vec::new();
        if engine.inject_sets(pairs).is_ok() {
            let chosen = unrolled.steps.iter().flat_map(|step| {
                template.moves.iter().map(move |of_role| step[of_role.var.index()])
            });
            let order: Vec<VarId> = chosen.chain(engine.domains().variables()).collect();
            for &id in moves {
                engine.push_level();
                let value = (id.index() - of_role.first.index()) as Value;
                if engine.decide(|domains| domains.fix(own, value)).is_ok()
                    && has_solution(engine, &order)
                {
                    found.push(id);
                }
                engine.pop_level();
            }
        }
        engine.pop_level();
        (!engine.is_stopped()).then_some(found)
    }
}

fn has_solution(engine: &mut Engine, order: &[VarId]) -> bool {
    let domains = engine.domains();
    let Some(at) = order.iter().position(|&var| !domains.is_fixed(var)) else { return true };
    let (var, rest) = (order[at], &order[at + 1..]);
    let values: Vec<Value> = domains.values(var).collect();
    for value in values {
        engine.push_level();
        let is_open = engine.decide(|domains| domains.fix(var, value)).is_ok();
        let is_found = is_open && has_solution(engine, rest);
        engine.pop_level();
        if is_found || engine.is_stopped() {
            return is_found;
        }
    }
    false
}

/// Asks five times. Returns the shortest time in microseconds, and the answer.
fn shortest<T>(mut ask: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let begin = Instant::now();
        let answer = ask();
        (begin.elapsed().as_secs_f64() * 1e6, answer)
    };
    let first = timed();
    (1..5).map(|_| timed()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}
