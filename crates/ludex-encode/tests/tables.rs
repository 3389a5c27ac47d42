//! Compares networks of games with the tables of the literature, and checks which method finds the
//! legal moves in them.

use std::path::Path;

use ludex_base::{Limits, MoveId, Source};
use ludex_csp::{Constraint, Value, VarId};
use ludex_encode::{EncodeConfig, FoundBy, Steps, Template, encode};
use ludex_game::{Cursor, Game};
use ludex_machine::Machine;

/// Games of the library that cover recursion, chance, percepts and simultaneous moves.
const GAMES: &[&str] = &[
    "backgammon-small",
    "blind-tictactoe",
    "breakthrough-small",
    "buttons",
    "connectfour",
    "eight-puzzle",
    "four-player-auction",
    "hex",
    "hidden-matching-pennies",
    "kuhn-poker",
    "lights-out",
    "matching-pennies",
    "monty-hall",
    "nim",
    "pacman-small",
    "reversi",
    "rock-paper-scissors",
    "tictactoe",
    "tron",
    "wolf-goat-cabbage",
];

fn library_machine(name: &str) -> Machine {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let rules = std::fs::read_to_string(games.join(name).join("rules.kif")).expect("a game");
    let checked = ludex_gdl::check_source(&Source::new("rules.kif", rules));
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let ground = ludex_ground::ground(&program, &Limits::usual()).expect("the game is small");
    Machine::new(ludex_circuit::compile(&ground))
}

fn template(machine: &Machine) -> Template {
    encode(machine.circuit(), &EncodeConfig::default()).expect("the game is not too large")
}

/// Compares the constraints and their relations with [000 table 3.3; 001 figure 3], in the letters
/// of the tables: sides P, F and I, V at the end and W before it.
///
/// The tables hold before the end. Here the constraints on moves and next coins also cover the end,
/// where these variables are still defined. The printed relation of the end lacks (I, I, W),
/// without which the initial state has no solution.
#[test]
fn matching_pennies_has_the_constraints_of_its_tables() {
    let network = template(&library_machine("matching-pennies")).network;
    let word = |x: VarId, value: Value| {
        let label = network.label(x, value);
        let of = |(part, word): &(&str, &str)| label.contains(part).then(|| word.to_string());
        let words = [("pile", "P"), ("face", "F"), ("inconnue", "I")];
        match (&*network.variable(x).name, words.iter().find_map(of)) {
            ("terminal", _) => ["W", "V"][value as usize].to_string(),
            (_, Some(word)) => word,
            _ => label,
        }
    };
    let var = |name: &str| {
        let place = network.variables().iter().position(|x| x.name == name);
        VarId::new(place.unwrap_or_else(|| panic!("no variable {name}")))
    };
    // The relation that all constraints on these variables allow together.
    let relation = |names: &[&str]| {
        let scope: Vec<VarId> = names.iter().map(|name| var(name)).collect();
        let of_scope = |it: &&Constraint| it.scope().iter().all(|x| scope.contains(x));
        let constraints: Vec<&Constraint> = network.constraints().iter().filter(of_scope).collect();
        let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
        for &x in &scope {
            let values: Vec<Value> = network.variable(x).domain.iter().collect();
            tuples = (tuples.iter())
                .flat_map(|tuple| values.iter().map(|&it| [&tuple[..], &[it]].concat()))
                .collect();
        }
        tuples.retain(|tuple| {
            let value_of = |x: VarId| {
                let place = scope.iter().position(|&it| it == x).expect("a variable of the scope");
                i64::from(tuple[place])
            };
            constraints.iter().all(|it| it.holds(&value_of))
        });
        let text = |tuple: &Vec<Value>| {
            let words: Vec<String> =
                scope.iter().zip(tuple).map(|(&x, &value)| word(x, value)).collect();
            words.join("")
        };
        let mut texts: Vec<String> = tuples.iter().map(text).collect();
        texts.sort();
        texts
    };
    let before_the_end = |names: &[&str]| -> Vec<String> {
        let all = relation(&[&["terminal"], names].concat());
        all.iter().filter_map(|it| it.strip_prefix('W')).map(str::to_string).collect()
    };
    let (one, two) = ("(piece j1 ?)", "(piece j2 ?)");
    assert_eq!(
        relation(&["terminal", one, two]),
        ["VFF", "VFP", "VPF", "VPP", "WFI", "WIF", "WII", "WIP", "WPI"]
    );
    for (piece, does, next) in
        [(one, "does j1", "next (piece j1 ?)"), (two, "does j2", "next (piece j2 ?)")]
    {
        assert_eq!(before_the_end(&[piece, does]), ["IF", "IP"]);
        assert_eq!(before_the_end(&[piece, does, next]), ["IFF", "IPP"]);
    }
    let goal = |name: &str| relation(&["terminal", one, two, name]);
    let unknown = ["WFI0", "WIF0", "WII0", "WIP0", "WPI0"];
    assert_eq!(goal("goal j1"), [&["VFF100", "VFP0", "VPF0", "VPP100"], &unknown[..]].concat());
    assert_eq!(goal("goal j2"), [&["VFF0", "VFP100", "VPF100", "VPP0"], &unknown[..]].concat());
    // There are no other constraints.
    let tables: [&[&str]; 5] = [
        &["terminal", one, two],
        &["terminal", one, "does j1", "next (piece j1 ?)"],
        &["terminal", two, "does j2", "next (piece j2 ?)"],
        &["terminal", one, two, "goal j1"],
        &["terminal", one, two, "goal j2"],
    ];
    for constraint in network.constraints() {
        let scope = constraint.scope();
        let is_within =
            |names: &&[&str]| scope.iter().all(|&x| names.contains(&&*network.variable(x).name));
        assert!(tables.iter().any(is_within), "{:?}", constraint.name());
    }
}

/// If the state is known, propagation leaves exactly the legal moves and confirms them; so does
/// singleton consistency. The tests of the module have games that need more.
#[test]
fn the_network_finds_the_legal_moves_by_propagation() {
    for name in GAMES {
        let machine = library_machine(name);
        let template = template(&machine);
        let steps = Steps::new(&template).expect("the network can be posted");
        let mut cursor = machine.cursor();
        for _ in 0..3 {
            let legal: Vec<Vec<MoveId>> =
                machine.role_ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
            let found = steps.legal_moves(cursor.state());
            assert_eq!(found.moves, legal, "{name}");
            assert_eq!(found.found_by, FoundBy::Propagation, "{name}");
            let joint: Vec<MoveId> = legal.iter().map(|moves| moves[moves.len() - 1]).collect();
            cursor.play(&joint);
            if cursor.is_terminal() {
                break;
            }
        }
    }
}
