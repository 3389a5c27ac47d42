//! Compares the networks of games with their machines. `cargo experiment translate-agree` does the
//! same for all rulesheets and more states.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use ludex_base::{BitSet, Deadline, MoveId, RoleId, Seed, Source};
use ludex_csp::{Goal, Network, SearchConfig, ValueSet, VarId, solve};
use ludex_encode::{EncodeConfig, Sizes, Solution, Steps, Template, encode};
use ludex_formats::xcsp3;
use ludex_game::{Cursor, Describe, Game};
use ludex_machine::{Machine, MachineCursor};
use ludex_model::{Data, ModelLimits, compile, write_network};
use ludex_scsp::{Arithmetic, SolveConfig, rational};
use ludex_testkit::command::{lines, ludex, ludex_with, stderr};
use ludex_testkit::fixtures::shared_or_skip;
use ludex_testkit::{RulesFile, assert_compared, corpus, in_parallel, library};
use ludex_tests::exactness::compare;
use ludex_tests::machine;

/// Games of the library that are slow to ground or to compare.
const LONG: &[&str] = &["amazons", "chess", "quarto", "sudoku"];

/// A sample of the public corpus that covers recursion, chance, percepts, large domains and
/// simultaneous moves.
const SAMPLE: &[&str] = &[
    "2pffa",
    "backgammon",
    "biddingTicTacToe",
    "blindtictactoe",
    "checkers",
    "connectFour",
    "eightPuzzle",
    "guess",
    "kalaha5x2x3",
    "lightsOn",
    "mastermind448",
    "pawnWhopping",
    "roshambo2",
    "seed_hiddenMatchingPennies",
    "tron_10x10",
];

/// Number of states compared per game.
const N_STATES: usize = 12;
/// Time limit per game without grounding, many times what any game takes.
const TIME: Duration = Duration::from_secs(120);

fn encoded(machine: &Machine) -> Template {
    encode(machine.circuit(), &EncodeConfig::default()).expect("the game is not too large")
}

fn library_machine(name: &str) -> Machine {
    let rules = library().into_iter().find(|it| it.name == name).expect("a game of the library");
    machine(&rules).expect("the game can be grounded")
}

/// Compares states of each game, at least `min_states` in total.
fn check(games: &[RulesFile], min_states: usize) {
    let results = in_parallel(games, |rules| {
        let Some(machine) = machine(rules) else {
            return Err(format!("{}: too large for the machine", rules.name));
        };
        let template = encoded(&machine);
        let compared = compare(&machine, &template, N_STATES, 200, &Deadline::after(TIME))
            .map_err(|words| format!("{}: {words}", rules.name))?;
        Ok(compared.n_states)
    });
    assert_compared("states by network and machine", results, min_states);
}

#[test]
fn networks_of_the_library_agree_with_the_machine() {
    let games: Vec<RulesFile> =
        library().into_iter().filter(|it| !LONG.contains(&&*it.name)).collect();
    check(&games, 720);
}

#[test]
fn networks_of_the_corpus_agree_with_the_machine() {
    let Some(shared) = shared_or_skip("networks of public rulesheets") else { return };
    let games: Vec<RulesFile> =
        corpus(&shared).into_iter().filter(|it| SAMPLE.contains(&&*it.name)).collect();
    assert_eq!(games.len(), SAMPLE.len(), "every name is a public rulesheet");
    check(&games, 180);
}

/// [000 examples 3.1 to 3.3]: two coins now and next, the end, two goals, two moves; each coin is
/// heads, tails or unknown.
#[test]
fn matching_pennies_has_the_variables_of_its_tables() {
    let template = encoded(&library_machine("matching-pennies"));
    let sizes: Vec<u64> = template.network.variables().iter().map(|x| x.domain.len()).collect();
    assert_eq!(template.n_auxiliary, 0);
    // Each move variable has one more value, for the end.
    assert_eq!(sizes, [3, 3, 2, 2, 2, 3, 3, 3, 3]);
    assert_eq!(Sizes::of(&template.network).max_domain, 3);
}

#[test]
fn singleton_consistency_leaves_the_legal_moves() {
    for name in ["tictactoe", "matching-pennies", "nim", "eight-puzzle", "breakthrough-small"] {
        let machine = library_machine(name);
        let template = encoded(&machine);
        let steps = Steps::new(&template).expect("the network can be posted");
        let mut cursor = machine.cursor();
        for _ in 0..3 {
            let legal: Vec<Vec<MoveId>> =
                machine.role_ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
            assert_eq!(steps.singleton_moves(cursor.state()).as_ref(), Some(&legal), "{name}");
            let joint: Vec<MoveId> = legal.iter().map(|moves| moves[moves.len() - 1]).collect();
            cursor.play(&joint);
            if cursor.is_terminal() {
                break;
            }
        }
    }
}

/// Returns the number of plays that end within some steps.
fn n_plays(machine: &Machine, cursor: &mut MachineCursor, n_steps: usize) -> u64 {
    if cursor.is_terminal() {
        return 1;
    }
    if n_steps == 0 {
        return 0;
    }
    let mut joints: Vec<Vec<MoveId>> = vec![Vec::new()];
    for role in machine.role_ids() {
        let moves = cursor.legal_moves(role).to_vec();
        joints = (joints.iter())
            .flat_map(|joint| moves.iter().map(|&it| [&joint[..], &[it]].concat()))
            .collect();
    }
    let mut n = 0;
    for joint in joints {
        let mut after = cursor.clone();
        after.play(&joint);
        n += n_plays(machine, &mut after, n_steps - 1);
    }
    n
}

#[test]
fn solutions_of_several_steps_are_the_plays() {
    let counting = SearchConfig { goal: Goal::Count, ..SearchConfig::default() };
    for (name, n_steps) in [
        ("matching-pennies", 1),
        ("matching-pennies", 2),
        ("tictactoe-2x2", 4),
        ("buttons", 4),
        ("wolf-goat-cabbage", 7),
        ("tictactoe", 5),
    ] {
        let machine = library_machine(name);
        let unrolled = encoded(&machine).unrolled(n_steps);
        let report = solve(&unrolled.network, &counting).expect("the network can be posted");
        let expected = n_plays(&machine, &mut machine.cursor(), n_steps);
        assert_eq!(report.n_solutions, expected, "{name} in {n_steps} steps");
        // The network without redundant constraints has the same solutions.
        let plain = EncodeConfig { redundancies: false, ..EncodeConfig::default() };
        let plain =
            encoded(&machine).unrolled_within(n_steps, &plain).expect("the network is small");
        let slow = solve(&plain.network, &counting).expect("the network can be posted");
        assert_eq!(slow.n_solutions, expected, "{name} in {n_steps} steps, without redundancies");
        // If auxiliary variables cut the steps apart, the redundant constraints shorten the search.
        let is_shorter = report.statistics.n_nodes < slow.statistics.n_nodes;
        assert_eq!(is_shorter, name == "tictactoe", "{name} in {n_steps} steps");
        // The written network has the same solutions.
        let text = xcsp3::write(&unrolled.network).expect("XCSP3 can express the network");
        let instance = xcsp3::read(&text).expect("what is written can be read");
        let report = solve(&instance.network, &counting).expect("the network can be posted");
        assert_eq!(report.n_solutions, expected, "{name} in {n_steps} steps, as XCSP3");
        let text = write_network(&unrolled.network).expect("the language can express the network");
        let report = solve(&read_text(&text), &counting).expect("the network can be posted");
        assert_eq!(report.n_solutions, expected, "{name} in {n_steps} steps, as text");
    }
}

/// Parses a network from a text in the language.
fn read_text(text: &str) -> Network {
    let source = Source::new("network.qcp", text.to_string());
    let compiled = compile(&source, &Data::default(), &ModelLimits::default(), &Deadline::never());
    let problem = compiled.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).problem;
    problem.into_network().unwrap_or_else(|reason| panic!("{reason}"))
}

/// A template written as text is read back with the same variables and the same solutions for a
/// state.
#[test]
fn a_template_is_read_back_from_text() {
    for name in ["matching-pennies", "tictactoe", "nim", "eight-puzzle", "breakthrough-small"] {
        let machine = library_machine(name);
        let template = encoded(&machine);
        let text = write_network(&template.network).expect("the language can express the network");
        let again = read_text(&text);
        let domains = |network: &Network| -> Vec<ValueSet> {
            network.variables().iter().map(|variable| variable.domain.clone()).collect()
        };
        assert_eq!(domains(&again), domains(&template.network), "{name}");
        let mut from_text = template.clone();
        from_text.network = again;
        let mut cursor = machine.cursor();
        for _ in 0..3 {
            let [own, read] = [&template, &from_text].map(|it| solutions(it, cursor.state()));
            assert_eq!(read, own, "{name}");
            assert!(!own.is_empty(), "{name}");
            if cursor.is_terminal() {
                break;
            }
            let joint: Vec<MoveId> =
                machine.role_ids().map(|role| cursor.legal_moves(role)[0]).collect();
            cursor.play(&joint);
        }
    }
}

/// Returns all solutions for a state.
fn solutions(template: &Template, state: &BitSet) -> HashSet<Solution> {
    let mut steps = Steps::new(template).expect("the network can be posted");
    let mut found = HashSet::new();
    if steps.inject(state) {
        steps.for_each_solution(&mut |engine| found.insert(Solution::read(template, engine)));
    }
    found
}

#[test]
fn a_translation_stops_at_its_limits() {
    let machine = library_machine("tictactoe");
    let never = EncodeConfig { deadline: Deadline::after(Duration::ZERO), ..Default::default() };
    let error = encode(machine.circuit(), &never).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("translating took too long"), "{error}");
    let small = EncodeConfig { max_bytes: 10_000, ..Default::default() };
    let error = encode(machine.circuit(), &small).map(|_| ()).unwrap_err().to_string();
    assert!(error.ends_with("constraints take more than 10000 bytes"), "{error}");
    let template = encoded(&machine);
    let error = Steps::within(&template, &Deadline::after(Duration::ZERO), u64::MAX);
    assert!(error.is_err_and(|error| error.to_string().contains("limit of time")));
    let error = Steps::within(&template, &Deadline::never(), 10_000);
    assert!(error.is_err_and(|error| error.to_string().contains("limit of memory")));
    // The command exits with the code for limits, also if there are many steps.
    let call = ["translate", "nim", "--json", "--steps", "1000000000", "--memory", "20MB"];
    let output = ludex(&call);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(stderr(&output).contains("the network is too large"), "{output:?}");
}

#[test]
fn the_command_writes_networks_and_their_sizes() {
    let json = &lines(&ludex(&["translate", "tictactoe", "--json"]), 0)[0];
    let report: serde_json::Value = serde_json::from_str(json).expect("one line of JSON");
    for key in ["variables", "max_domain", "constraints", "tuples", "seconds"] {
        assert!(report[key].is_number(), "{key} in {report}");
    }
    assert_eq!(report["information"], "complete");
    let text = lines(&ludex(&["translate", "matching-pennies", "--to", "text"]), 0);
    assert!(text.iter().any(|line| line.trim() == "terminal: 0..1,"), "{text:?}");
    read_text(&text.join("\n"));
    let xml = lines(&ludex(&["translate", "matching-pennies", "--steps", "1"]), 0).join("\n");
    let instance = xcsp3::read(&xml).expect("what is written can be read");
    let counting = SearchConfig { goal: Goal::Count, ..SearchConfig::default() };
    assert_eq!(solve(&instance.network, &counting).expect("a network").n_solutions, 4);
}

/// The template draws the move of `random` among its legal moves, each equally likely.
#[test]
fn chance_draws_the_legal_moves_of_random() {
    for name in ["pig", "monty-hall", "kuhn-poker", "backgammon-small", "guess-dice", "wumpus"] {
        let machine = library_machine(name);
        let template = encoded(&machine);
        let network = template.stochastic();
        let [chance] = template.chance[..] else { panic!("{name} has one role for chance") };
        let of_random = template.moves.iter().find(|it| it.var == chance.var).expect("a role");
        let drawn = network
            .ids()
            .find(|&x| network.is_chance(x))
            .expect("the network has a chance variable");
        let name_of = |var: VarId| &*template.network.variable(var).name;
        let plain: HashMap<&str, VarId> = (0..template.network.variables().len())
            .map(|at| (name_of(VarId::new(at)), VarId::new(at)))
            .collect();
        let mut steps = Steps::new(&template).expect("the network can be posted");
        let mut rng = Seed(7).rng();
        let mut cursor = machine.cursor();
        for _ in 0..60 {
            if cursor.is_terminal() {
                cursor = machine.cursor();
            }
            assert!(steps.inject(cursor.state()), "{name}");
            let domains = steps.engine().domains();
            // The state fixes these values; the draw depends on nothing else.
            let value_of = |x: VarId| domains.min(plain[network.name(x)]);
            let mut played: Vec<MoveId> = Vec::new();
            let outcomes = network.outcomes(drawn, &value_of);
            for (value, probability) in &outcomes {
                played.push(of_random.played(*value).expect("the game goes on"));
                assert_eq!(*probability, rational(1, outcomes.len() as i64), "{name}");
            }
            assert_eq!(played, cursor.legal_moves(of_random.role), "{name}");
            steps.take_back();
            let joint: Vec<MoveId> = (machine.role_ids())
                .map(|role| {
                    let legal = cursor.legal_moves(role);
                    legal[rng.below(legal.len())]
                })
                .collect();
            cursor.play(&joint);
        }
    }
}

/// A game that throws a die up to three times and keeps the last throw: the best play is worth
/// 14/3.
const DIE: &str = "(role r) (role random) (init (throws 0)) (init (die 0))
    (eye 1) (eye 2) (eye 3) (eye 4) (eye 5) (eye 6) (later 0 1) (later 1 2) (later 2 3)
    (<= (legal random (roll ?e)) (eye ?e))
    (<= (legal r keep) (not (true (throws 0)))) (<= (legal r throw) (not (true (throws 3))))
    (<= (next (die ?e)) (does r throw) (does random (roll ?e)))
    (<= (next (die ?e)) (does r keep) (true (die ?e)))
    (<= (next (throws ?m)) (does r throw) (true (throws ?n)) (later ?n ?m))
    (<= (next (throws ?n)) (does r keep) (true (throws ?n)))
    (<= (next kept) (does r keep)) (<= terminal (true kept))
    (<= (goal r ?e) (true (die ?e)))";

/// Returns the value of a text by `scsp solve`, as an exact fraction.
fn worth(text: &str) -> serde_json::Value {
    let found = ludex_with(&["scsp", "solve", "-", "--best", "--exact", "--json"], text);
    ludex_testkit::command::json(&found, 0)["exact"].clone()
}

#[test]
fn steps_with_chance_are_written_as_stochastic_networks() {
    let die = lines(&ludex_with(&["translate", "-", "--to", "text", "--steps", "4"], DIE), 0);
    assert_eq!(die.iter().filter(|line| line.starts_with("random ")).count(), 5, "{die:?}");
    assert_eq!(worth(&die.join("\n")), "14/3");
    // A role that does not see the state learns about it step by step.
    let text = lines(&ludex(&["translate", "monty-hall", "--to", "text", "--steps", "4"]), 0);
    assert_eq!(worth(&text.join("\n")), "200/3");
    // XCSP3 cannot express it, and the command reports that.
    let xml = lines(&ludex(&["translate", "monty-hall"]), 0).join("\n");
    assert!(xml.contains("equally likely") && xcsp3::read(&xml).is_ok(), "{xml}");
    let refused = ["translate", "kuhn-poker", "--to", "text", "--steps", "3", "--json"];
    let output = ludex(&refused);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("leave out --steps"), "{output:?}");
    // Nothing is printed before that: the output is one line of JSON with the error.
    assert_eq!(ludex_testkit::command::json(&output, 2)["ok"], false);
}

/// An unseen coin and two roles that see the same: their shared knowledge is a game of complete
/// information.
const UNSEEN_COIN: &str = "(role a) (role b) (role random) (init start) (side heads) (side tails)
    (<= (legal random (toss ?s)) (true start) (side ?s))
    (<= (legal random noop) (not (true start)))
    (<= (legal a wait) (true start)) (legal b wait)
    (<= (legal a (say ?s)) (side ?s) (not (true start)))
    (<= (next (coin ?s)) (does random (toss ?s)))
    (<= (next (coin ?s)) (true (coin ?s)))
    (<= (next (said ?s)) (does a (say ?s)))
    (<= (sees a tossed) (true start)) (<= (sees b tossed) (true start))
    (<= terminal (true (said ?s)))
    (<= (goal a 100) (true (said ?s)) (true (coin ?s))) (<= (goal a 0) (not right))
    (<= right (true (said ?s)) (true (coin ?s)))
    (goal b 0) (goal random 0)";

#[test]
fn shared_information_is_written_as_a_game_of_complete_information() {
    let call = ["translate", "-", "--to", "text", "--steps", "2"];
    let report = ludex_testkit::command::json(
        &ludex_with(&[&call[..], &["--json"]].concat(), UNSEEN_COIN),
        0,
    );
    assert_eq!(report["information"], "shared", "{report}");
    let text = lines(&ludex_with(&call, UNSEEN_COIN), 0).join("\n");
    // Each step has two decisions and an observation, and the end has the state.
    let source = Source::new("network.qcp", text.clone());
    let compiled = compile(&source, &Data::default(), &ModelLimits::default(), &Deadline::never());
    let compiled = compiled.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let mut network = compiled.problem.into_stochastic().expect("the model has no opponent");
    assert_eq!(report["variables"], network.variables().len(), "{report}");
    let goal = network.ids().find(|&x| network.name(x).starts_with("goal_a"));
    let goal = goal.unwrap_or_else(|| panic!("no goal of a: {text}"));
    // Nobody sees the coin, so every guess is right half of the time.
    network.set_utility(goal);
    let config = SolveConfig { arithmetic: Arithmetic::Exact, ..SolveConfig::best() };
    let found = ludex_scsp::solve(&network, &config).expect("the network is valid");
    assert_eq!(found.exact, Some(rational(50, 1)));
}

/// The questions of a person: the size of the network, the information of the roles, and the
/// remaining moves.
#[test]
fn the_command_describes_the_network() {
    let file = std::env::temp_dir().join(format!("ludex-translate-{}.xml", std::process::id()));
    let path = file.display().to_string();
    let said = lines(&ludex(&["translate", "kuhn-poker", "-o", &path]), 0);
    assert!(said[0].starts_with("kuhn-poker: ") && said[0].contains(" tuples "), "{said:?}");
    assert_eq!(said[1], "information: private");
    let text = std::fs::read_to_string(&file).expect("the file was written");
    assert!(xcsp3::read(&text).is_ok());
    std::fs::remove_file(file).expect("the file exists");
    let said = lines(&ludex(&["translate", "matching-pennies", "--legal"]), 0);
    assert!(said.contains(&"found by propagation".to_string()), "{said:?}");
    let report =
        ludex_testkit::command::json(&ludex(&["translate", "nim", "--legal", "--json"]), 0);
    let machine = library_machine("nim");
    let mut cursor = machine.cursor();
    for (idx, role) in machine.roles().iter().enumerate() {
        let legal = cursor.legal_moves(RoleId::new(idx)).to_vec();
        let texts: Vec<String> = legal.iter().map(|&id| machine.move_text(id)).collect();
        assert_eq!(report["legal"]["moves"][&role.name], serde_json::json!(texts));
    }
    assert_eq!(report["legal"]["found_by"], "propagation");
}
