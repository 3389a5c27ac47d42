//! Networks compared with machines and exhaustive search, and worked examples of the publications.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{BitSet, Deadline, MoveId, Rng, RoleId, Seed, Source};
use ludex_circuit::Rules;
use ludex_encode::{EncodeConfig, EncodeError, LookaheadError, LookaheadLimits, Template, encode};
use ludex_game::{
    Belief, BeliefError, BeliefLimits, Cursor, Describe, Game, JointMoves, Learned, draw_joint,
};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, LoadOptions, load};
use ludex_scsp::{Distribution, StochasticNetwork, rational, solve_one_stage};
use ludex_search::duel::looks_like_duel;
use ludex_search::{Search as _, SearchLimits, SearchReport, SearchSpec};

use crate::forward::Forward;
use crate::information::{nothing, plan_moves};
use crate::outlook::Outlook;
use crate::resolve::{Mac, Resolver};
use crate::{NETWORK_SEARCHES, NetworkBounds, NetworkSearch, NetworkWork, Networks, WithNetworks};

fn machine(name: &str) -> Machine {
    let library = ludex_testkit::library();
    let file = library.iter().find(|file| file.name == name).expect("a game of the library");
    machine_of(name, std::fs::read_to_string(&file.path).expect("it can be read"))
}

fn machine_of(name: &str, text: String) -> Machine {
    let loaded = load(Source::new(name, text), &LoadOptions::default()).expect("valid rules");
    match loaded.engine {
        Engine::Machine(machine) => machine,
        Engine::Reasoner(_) => panic!("{name} needs a machine"),
    }
}

fn template(machine: &Machine) -> Arc<Template> {
    Arc::new(encode(machine.circuit(), &EncodeConfig::default()).expect("a small network"))
}

fn networks(machine: &Machine, bounds: NetworkBounds) -> Arc<Networks<BitSet>> {
    let rules: Arc<dyn Rules<BitSet>> = Arc::new(machine.circuit().clone());
    Networks::within(Some(rules), bounds)
}

fn spec(text: &str) -> SearchSpec<NetworkSearch> {
    SearchSpec::parse_in(NETWORK_SEARCHES, "search", text).expect("a registered search")
}

fn work_of(report: &SearchReport) -> Option<NetworkWork> {
    report.extension().cloned()
}

fn with_networks(machine: &Machine, bounds: NetworkBounds) -> WithNetworks<Machine> {
    let networks = networks(machine, bounds);
    WithNetworks { game: machine.clone(), feature_finder: None, networks }
}

fn search(
    machine: &Machine,
    text: &str,
    bounds: NetworkBounds,
    limits: &SearchLimits,
) -> SearchReport {
    let mut searcher = spec(text).build(&with_networks(machine, bounds));
    searcher.search(&machine.cursor(), RoleId::new(0), limits)
}

/// States of random games, terminal ones included.
fn states(machine: &Machine, n_states: usize) -> Vec<BitSet> {
    let mut rng: Rng = Seed(1).rng();
    let mut cursor = machine.cursor();
    let mut states = Vec::new();
    while states.len() < n_states {
        states.push(cursor.state().clone());
        if cursor.is_terminal() {
            cursor = machine.cursor();
            continue;
        }
        let joint = draw_joint(machine, &mut cursor, &mut rng).expect("every role has a move");
        cursor.play(&joint);
    }
    states
}

/// The joint moves of a state and the states they lead to, by a resolver.
fn solutions(resolver: &mut dyn Resolver, state: &BitSet) -> Vec<(Vec<MoveId>, BitSet)> {
    let mut found = Vec::new();
    let facts = resolver.inject(state, &Deadline::never()).expect("a reachable state");
    if !facts.is_terminal {
        let is_whole = resolver.solutions(&mut |joint, next| {
            found.push((joint.to_vec(), next));
            true
        });
        assert!(is_whole);
    }
    resolver.take_back();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn consistency_and_forward_checking_agree_with_the_machine() {
    for name in ["tictactoe", "connectfour", "pig", "tron", "nim", "eight-puzzle"] {
        let machine = machine(name);
        let template = template(&machine);
        let mut mac = Mac::new(Arc::clone(&template), &Deadline::never(), u64::MAX).expect("small");
        let mut forward = Forward::new(Arc::clone(&template));
        let mut cursor = machine.cursor();
        let mut rng = Seed(2).rng();
        for state in states(&machine, 30) {
            cursor.set_state(&state);
            let mut expected = Vec::new();
            if !cursor.is_terminal() {
                let mut joints = JointMoves::of(&mut cursor, machine.roles().len());
                while let Some(joint) = joints.next_joint() {
                    let mut after = cursor.clone();
                    after.play(joint);
                    expected.push((joint.to_vec(), after.state().clone()));
                }
                expected.sort_by(|a, b| a.0.cmp(&b.0));
            }
            for resolver in [&mut mac as &mut dyn Resolver, &mut forward] {
                assert_eq!(solutions(resolver, &state), expected, "{name}");
                let facts = resolver.inject(&state, &Deadline::never()).expect("reachable");
                assert_eq!(facts.is_terminal, expected.is_empty(), "{name}");
                if facts.is_terminal {
                    let goals = machine.role_ids().map(|role| cursor.goal(role).value());
                    assert_eq!(facts.goals, goals.collect::<Vec<u8>>(), "{name}");
                } else {
                    let next = resolver.draw(&mut rng).expect("there is a solution");
                    assert!(expected.iter().any(|it| it.1 == next), "{name}");
                }
                resolver.take_back();
            }
        }
    }
}

/// Collects the goals of all plays from a state.
fn endings(machine: &Machine, state: &BitSet, found: &mut Vec<Vec<u8>>, n_left: &mut usize) {
    let mut cursor = machine.cursor();
    cursor.set_state(state);
    if cursor.is_terminal() {
        let goals: Vec<u8> = machine.role_ids().map(|role| cursor.goal(role).value()).collect();
        if !found.contains(&goals) {
            found.push(goals);
        }
        return;
    }
    let mut joints = JointMoves::of(&mut cursor, machine.roles().len());
    while let Some(joint) = joints.next_joint() {
        let Some(fewer) = n_left.checked_sub(1) else { return };
        *n_left = fewer;
        let mut after = cursor.clone();
        after.play(joint);
        endings(machine, after.state(), found, n_left);
    }
}

#[test]
fn every_play_from_a_closed_state_has_the_certain_goals() {
    let mut n_closed = 0;
    let games = ["tictactoe", "blocker", "connectfour", "n-queens", "knights-tour", "sudoku-4x4"];
    for name in games.into_iter().chain(["tron", "nim", "buttons", "breakthrough-small", "pig"]) {
        let machine = machine(name);
        let mut outlook =
            Outlook::new(template(&machine), &Deadline::never(), u64::MAX).expect("small");
        for state in states(&machine, 120) {
            let Some(goals) = outlook.certain_goals(&state, &Deadline::never()) else { continue };
            let (mut found, mut n_left) = (Vec::new(), 20_000);
            endings(&machine, &state, &mut found, &mut n_left);
            assert!(found.iter().all(|other| *other == goals), "{name}: {goals:?} of {found:?}");
            assert!(!found.is_empty(), "{name}: no play ended");
            let mut cursor = machine.cursor();
            cursor.set_state(&state);
            n_closed += usize::from(!cursor.is_terminal());
        }
    }
    assert!(n_closed > 0, "some state that is not terminal is closed");
}

#[test]
fn tictactoe_is_fully_explored_within_five_seconds() {
    let machine = machine("tictactoe");
    let deadline = Deadline::after(Duration::from_secs(5));
    let limits = SearchLimits::until(deadline, Seed(1));
    let report = search(&machine, "mac-ucb:faithful", NetworkBounds::default(), &limits);
    let work = work_of(&report).expect("the report has network work");
    assert!(report.is_proven && report.reward == Some(0.5), "{report:?}");
    assert!(report.stopped.is_none() && work.note.is_empty(), "{report:?}");
    assert!(work.n_closed > 500, "{work:?}");
    assert!(work.resolution + work.injection > 4 * work.simulation, "{work:?}");
}

#[test]
fn when_the_network_is_too_large_another_search_plays_and_says_so() {
    let machine = machine("connectfour");
    let few_gates = NetworkBounds { max_gates: 10, ..NetworkBounds::default() };
    let few_variables = NetworkBounds { max_variables: 10, ..NetworkBounds::default() };
    let few_bytes = NetworkBounds { max_bytes: 1_000, ..NetworkBounds::default() };
    for text in ["mac-ucb", "mac-ucb:faithful", "fc-ucb"] {
        for bounds in [few_gates, few_variables, few_bytes] {
            let start = Instant::now();
            let deadline = Deadline::after(Duration::from_millis(200));
            let report = search(&machine, text, bounds, &SearchLimits::until(deadline, Seed(1)));
            assert!(start.elapsed() < Duration::from_secs(20), "{text}: it waits for the network");
            let legal = machine.cursor().legal_moves(RoleId::new(0)).to_vec();
            assert!(report.chosen.is_some_and(|id| legal.contains(&id)), "{text}: {report:?}");
            assert!(report.n_playouts > 0, "{text}: {report:?}");
            let note = work_of(&report).expect("the report has network work").note;
            assert!(note.contains("too large") || note.contains("bytes"), "{text}: {note}");
        }
    }
}

#[test]
fn solved_networks_are_kept_from_move_to_move() {
    let machine = machine("tictactoe");
    let mut searcher =
        spec("mac-ucb:faithful").build(&with_networks(&machine, NetworkBounds::default()));
    let mut cursor = machine.cursor();
    let limits = SearchLimits::iterations(20_000, Seed(1));
    let first = searcher.search(&cursor, RoleId::new(0), &limits);
    assert!(first.is_proven, "{first:?}");
    first.line.iter().take(2).for_each(|joint| cursor.play(joint));
    let second = searcher.search(&cursor, RoleId::new(0), &limits);
    assert!(second.is_proven && second.n_iterations * 4 < first.n_iterations, "{second:?}");
}

/// Example 4.1 of the thesis: the chance part is solved first, its solutions become a constraint, and with
/// that constraint the hard part has one solution. (The thesis omits x₁ = 3 among the feasible ones.)
#[test]
fn example_4_1_has_one_solution() {
    let mut network = StochasticNetwork::new();
    network.stage();
    let x1 = network.decision("x1", 1..=3);
    let x2 = network.decision("x2", 0..=2);
    let y = network.chance("y", 0..=2, Distribution::Uniform);
    network.require((x1 + y).at_least(2));
    network.require((y + x2).at_least(1));
    network.require(x1.equals(x2));
    network.set_threshold(rational(3, 4));
    let found = solve_one_stage(&network, u64::MAX, &Deadline::never()).expect("one stage");
    assert_eq!(found.scope, [x1, x2]);
    assert_eq!(found.feasible, [[2, 1], [2, 2], [3, 1], [3, 2]]);
    assert_eq!(found.solutions, [[2, 2]]);
    assert_eq!(found.stopped, None);
}

/// The worked example of hidden matching pennies: turning the shown side is worth 75, the other 25, so the
/// plan is worth 75 before a side is shown.
#[test]
fn hidden_matching_pennies_is_worth_75_against_25() {
    let machine = machine("hidden-matching-pennies");
    let template = template(&machine);
    let me = RoleId::new(0);
    let plan = |belief: &Belief<BitSet>, n_steps| {
        let limits = LookaheadLimits::default();
        let late = Deadline::never();
        plan_moves(&template, &machine, belief, n_steps, &limits, &late, &mut nothing)
            .expect("a small plan")
            .expect("there is time")
    };
    let start = Belief::initial(&machine, &[me]);
    let before = plan(&start, 2);
    assert!(before.is_exact, "{before:?}");
    assert_eq!(before.moves.len(), 1);
    assert!((before.moves[0].1 - 0.75).abs() < 1e-9, "{before:?}");
    assert!(!plan(&start, 1).is_exact);

    for shown in ["pile", "face"] {
        let waits = machine.find_move(me, "noop").expect("a move of the game");
        let percept =
            machine.find_percept(me, &format!("(first {shown})")).expect("a percept of the game");
        let learned = Learned::going_on(&[percept]);
        let mut cursor = machine.cursor();
        let limits = BeliefLimits::default();
        let belief = start.follow(&mut cursor, &[waits], &learned, &limits).expect("possible");
        assert_eq!(belief.states().len(), 2);
        let planned = plan(&belief, 1);
        assert!(planned.is_exact && planned.moves.len() == 2, "{planned:?}");
        for &(id, reward) in &planned.moves {
            let is_same = machine.move_text(id) == format!("(retourne {shown})");
            let expected = if is_same { 0.75 } else { 0.25 };
            assert!((reward - expected).abs() < 1e-9, "{planned:?}");
        }
        let (best, _) = planned.best().expect("a move");
        assert_eq!(machine.move_text(best), format!("(retourne {shown})"));
    }
}

/// The report of a search on networks for the first role after a line of joint moves.
fn played(machine: &Machine, text: &str, line: &[&[&str]], limits: &SearchLimits) -> SearchReport {
    let from = with_networks(machine, NetworkBounds::default());
    let known = ludex_testkit::hidden::information_after(machine, RoleId::new(0), line);
    spec(text).build_informed(&from).search(&known, limits)
}

#[test]
fn hidden_matching_pennies_and_monty_hall_are_played_by_plans_to_the_end() {
    let pennies = machine("hidden-matching-pennies");
    let monty = machine("monty-hall");
    let shown: &[&[&str]] = &[&["_", "(choisit pile face)"]];
    let opened: &[&[&str]] = &[&["_", "(hide 3)"], &["(choose 1)", "_"], &["_", "(open 2)"]];
    for text in ["mac-ucb", "mac-ucb:faithful", "fc-ucb"] {
        for (machine, line, right, value, other) in [
            (&pennies, &[][..], "noop", 0.75, None),
            (&pennies, shown, "(retourne pile)", 0.75, Some(0.25)),
            (&monty, opened, "switch", 2.0 / 3.0, Some(1.0 / 3.0)),
        ] {
            let report = played(machine, text, line, &SearchLimits::iterations(100, Seed(1)));
            let chosen = report.chosen_move().expect("it has moves");
            assert_eq!(machine.move_text(chosen.id), right, "{text}: {report:?}");
            assert!((chosen.mean_reward.expect("planned") - value).abs() < 1e-9, "{report:?}");
            let rest = report.moves.iter().find(|it| it.id != chosen.id);
            let rest = rest.and_then(|it| it.mean_reward);
            let is_same = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
            assert!(rest.zip(other).is_none_or(is_same), "{text}: {report:?}");
            assert_eq!(rest.is_some(), other.is_some(), "{text}: {report:?}");
            let work = work_of(&report).expect("the report has network work");
            assert!(work.plan.ends_with("to the end") && work.n_solved > 0, "{work:?}");
            assert!(text != "mac-ucb" || report.is_proven, "{text}");
        }
    }
}

#[test]
fn estimates_value_the_states_that_are_not_terminal() {
    // The plan ends before the second step, so its value is the estimate.
    let machine = machine("hidden-matching-pennies");
    let template = template(&machine);
    let start = Belief::initial(&machine, &[RoleId::new(0)]);
    let late = Deadline::never();
    let limits = LookaheadLimits::default();
    let mut seen = 0;
    let mut estimate = |open: &[&BitSet]| {
        seen = open.len();
        vec![0.625; open.len()]
    };
    let planned = plan_moves(&template, &machine, &start, 1, &limits, &late, &mut estimate);
    let planned = planned.expect("small").expect("there is time");
    assert!(!planned.is_exact && seen > 1, "{planned:?}");
    assert!((planned.moves[0].1 - 0.625).abs() < 1e-6, "{planned:?}");
    // Only chance has a choice outside the party, so this restriction changes nothing.
    let alone = LookaheadLimits { others_may_choose: false, has_fluents: false, ..limits };
    let planned = plan_moves(&template, &machine, &start, 2, &alone, &late, &mut nothing);
    let planned = planned.expect("small").expect("there is time");
    assert!((planned.moves[0].1 - 0.75).abs() < 1e-9, "{planned:?}");
}

#[test]
fn exact_plans_are_refused_where_other_roles_choose() {
    let machine = machine("kuhn-poker");
    let line: &[&[&str]] = &[&["_", "_", "(deal king queen)"]];
    for (text, is_planned) in [("mac-ucb", false), ("mac-ucb:faithful", true)] {
        let report = played(&machine, text, line, &SearchLimits::iterations(1_000, Seed(1)));
        let work = work_of(&report).expect("the report has network work");
        assert_eq!(work.plan.ends_with("to the end"), is_planned, "{text}: {work:?}");
        assert!(is_planned || work.plan.contains("may have a choice"), "{work:?}");
        assert!(report.chosen.is_some() && report.reward.is_some(), "{text}: {report:?}");
        assert!(!report.is_proven, "{text}: the other role need not play at random");
    }
}

#[test]
fn hidden_games_are_played_without_a_network_too() {
    let machine = machine("kuhn-poker");
    let few = NetworkBounds { max_gates: 10, ..NetworkBounds::default() };
    let line: &[&[&str]] = &[&["_", "_", "(deal king queen)"]];
    for text in ["mac-ucb", "mac-ucb:faithful"] {
        let known = ludex_testkit::hidden::information_after(&machine, RoleId::new(0), line);
        let limits = SearchLimits::until(Deadline::after(Duration::from_millis(50)), Seed(1));
        let report =
            spec(text).build_informed(&with_networks(&machine, few)).search(&known, &limits);
        assert!(report.chosen.is_some_and(|id| known.legal_moves().contains(&id)), "{report:?}");
        let work = work_of(&report).expect("the report has network work");
        assert!(work.plan.contains("too large") && work.note.contains("too large"), "{work:?}");
    }
}

/// The hider need not hide at random, so a plan by the probabilities of its moves is no proof.
#[test]
fn a_plan_after_the_choice_of_another_role_proves_nothing() {
    let rules = "
        (role seeker) (role hider) (init (step 1)) (side left) (side right)
        (<= (legal seeker wait) (true (step 1))) (<= (legal hider wait) (true (step 2)))
        (<= (legal hider (hide ?x)) (side ?x) (true (step 1)))
        (<= (legal seeker (look ?x)) (side ?x) (true (step 2)))
        (<= (next (hidden ?x)) (does hider (hide ?x)))
        (<= (next (hidden ?x)) (true (hidden ?x)))
        (<= (next (looked ?x)) (does seeker (look ?x)))
        (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
        (<= (sees seeker begin) (true (step 1)))
        (<= found (true (hidden ?x)) (true (looked ?x)))
        (<= terminal (true (step 3)))
        (<= (goal seeker 100) found) (<= (goal seeker 0) (not found))
        (<= (goal hider 0) found) (<= (goal hider 100) (not found))";
    let machine = machine_of("hide", rules.to_string());
    let line: &[&[&str]] = &[&["_", "(hide left)"]];
    let report = played(&machine, "mac-ucb", line, &SearchLimits::iterations(100, Seed(1)));
    let work = work_of(&report).expect("the report has network work");
    assert!(work.plan.ends_with("to the end"), "{work:?}");
    assert_eq!(report.reward, Some(0.5));
    assert!(!report.is_proven && report.moves.iter().all(|it| it.proven.is_none()), "{report:?}");
}

#[test]
fn with_share_0_the_network_is_not_asked() {
    let machine = machine("kuhn-poker");
    let line: &[&[&str]] = &[&["_", "_", "(deal king queen)"]];
    for (text, is_asked) in [("mac-ucb", true), ("mac-ucb:share=0", false)] {
        let report = played(&machine, text, line, &SearchLimits::iterations(200, Seed(1)));
        let work = work_of(&report).expect("the report has network work");
        assert_eq!(work.n_solved > 0, is_asked, "{text}: {work:?}");
    }
}

/// Otherwise every turn would lose half of its time on a network that is never posted.
#[test]
fn posting_does_not_begin_again_without_more_time() {
    let networks = networks(&machine("nim"), NetworkBounds::default());
    networks.template(&Deadline::never()).expect("a small network");
    let mut n_begun = 0;
    let mut post = |deadline: &Deadline, is_slow: bool| {
        networks.post(deadline, |_, until, _| {
            n_begun += 1;
            while is_slow && !until.reached() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if is_slow {
                Err(EncodeError::TooLong { n_variables: 0, n_constraints: 0 })
            } else {
                Ok(())
            }
        })
    };
    let short = || Deadline::after(Duration::from_millis(20));
    assert!(post(&short(), true).is_err());
    let again = post(&short(), true).expect_err("it has no more time than before");
    assert!(again.contains("too little time"), "{again}");
    assert!(post(&Deadline::never(), false).is_ok());
    assert_eq!(n_begun, 2);
}

/// After a jump the robot has no legal move, although the game is not over.
const JUMP: &str = "
    (role robot) (init (step 0)) (side a) (side b) (side c)
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
    (<= (legal robot (take ?x)) (side ?x) (true (step ?n)) (succ ?n ?m))
    (<= (legal robot jump) (true (step 0)))
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m) (does robot (take ?x)))
    (<= (next (taken ?n ?x)) (true (step ?n)) (does robot (take ?x)))
    (<= (next (taken ?n ?x)) (true (taken ?n ?x)))
    (<= (next fallen) (does robot jump))
    (<= terminal (true (step 8)))
    (<= (goal robot 50) (true (step 8)))";

#[test]
fn a_state_without_moves_does_not_attract_the_playouts() {
    let machine = machine_of("jump", JUMP.to_string());
    let jump = machine.find_move(RoleId::new(0), "jump").expect("there is such a move");
    for text in ["mac-ucb:faithful,ratio=0.5", "fc-ucb:ratio=0.5,playouts=machine"] {
        let limits = SearchLimits::iterations(400, Seed(1));
        let report = search(&machine, text, NetworkBounds::default(), &limits);
        let work = work_of(&report).expect("the report has network work");
        // By the ratio, half of the iterations are playouts and half solve networks.
        assert!(report.n_playouts >= 150 && work.n_solved >= 150, "{text}: {report:?}");
        let jumped = report.moves.iter().find(|it| it.id == jump).expect("it is legal");
        assert!(jumped.n_visits < 100 && jumped.proven.is_none(), "{text}: {report:?}");
        assert!(report.chosen.is_some_and(|id| id != jump), "{text}: {report:?}");
    }
}

#[test]
fn without_a_legal_move_the_network_has_no_solution() {
    let machine = machine_of("jump", JUMP.to_string());
    let role = RoleId::new(0);
    let jump = machine.find_move(role, "jump").expect("there is such a move");
    let mut cursor = machine.cursor();
    cursor.play(&[jump]);
    let mut mac = Mac::new(template(&machine), &Deadline::never(), u64::MAX).expect("small");
    let facts = mac.inject(cursor.state(), &Deadline::never());
    let mut n_solutions = 0;
    if facts.is_some() {
        mac.solutions(&mut |_, _| {
            n_solutions += 1;
            true
        });
    }
    assert_eq!(n_solutions, 0);
}

/// When memory is short, unreachable nodes are removed if there is time. The search plays a legal move either
/// way.
#[test]
fn unreachable_nodes_are_removed_if_there_is_time() {
    let machine = machine("connectfour");
    let spec = spec("mac-ucb:faithful");
    let role = RoleId::new(0);
    let mut n_nodes = Vec::new();
    for has_time in [true, false] {
        let mut searcher = spec.build(&with_networks(&machine, NetworkBounds::default()));
        let mut cursor = machine.cursor();
        let first = searcher.search(&cursor, role, &SearchLimits::iterations(300, Seed(1)));
        let joint = first.line.first().expect("it has looked ahead");
        cursor.play(joint);
        // No more memory than the graph uses already.
        let memory = first.n_bytes as usize;
        let deadline = if has_time { Deadline::never() } else { Deadline::after(Duration::ZERO) };
        let limits = SearchLimits { memory, deadline, ..SearchLimits::iterations(1, Seed(1)) };
        let second = searcher.search(&cursor, role, &limits);
        let legal = cursor.legal_moves(role).to_vec();
        assert!(second.chosen.is_some_and(|id| legal.contains(&id)), "{second:?}");
        n_nodes.push((first.n_nodes, second.n_nodes));
    }
    let [(all, kept), (_, late)] = n_nodes[..] else { panic!("two searches") };
    assert!(kept < all / 2 && kept > 1, "{kept} of {all}");
    assert!(late >= all, "{late} of {all}");
}

#[test]
fn planning_stops_at_the_deadline() {
    let machine = machine("hidden-matching-pennies");
    let template = template(&machine);
    let start = Belief::initial(&machine, &[RoleId::new(0)]);
    let late = Deadline::after(Duration::ZERO);
    let never = Deadline::never();
    let limits = |deadline: &Deadline| LookaheadLimits {
        belief: BeliefLimits { deadline: deadline.clone(), ..BeliefLimits::default() },
        ..LookaheadLimits::default()
    };
    let plan = |limits: &LookaheadLimits, deadline: &Deadline, n_steps| {
        plan_moves(&template, &machine, &start, n_steps, limits, deadline, &mut nothing)
    };
    assert_eq!(plan(&limits(&late), &never, 2), Err(LookaheadError::Belief(BeliefError::Late)));
    // The plan is built in time, but its states or its moves are not evaluated.
    assert_eq!(plan(&limits(&never), &late, 1), Ok(None));
    assert_eq!(plan(&limits(&never), &late, 2), Ok(None));
    assert!(matches!(plan(&limits(&never), &never, 2), Ok(Some(_))));
}

#[test]
fn random_games_recognize_duels() {
    for (name, expected) in [
        ("tictactoe", true),
        ("connectfour", true),
        ("tron", false),
        ("pig", false),
        ("kuhn-poker", false),
        ("eight-puzzle", false),
    ] {
        let machine = machine(name);
        let found = looks_like_duel(&machine, Seed(1), &Deadline::never());
        assert_eq!(found, Some(expected), "{name}");
    }
    let late = Deadline::after(Duration::ZERO);
    assert_eq!(looks_like_duel(&machine("tictactoe"), Seed(1), &late), None);
}

#[test]
fn encoding_does_not_begin_with_too_little_time() {
    let networks = networks(&machine("connectfour"), NetworkBounds::default());
    let why = networks.template(&Deadline::after(Duration::from_millis(1))).err();
    assert!(why.is_some_and(|why| why.contains("too little time")));
    assert!(networks.template(&Deadline::never()).is_ok());
}

#[test]
fn loops_that_unroll_to_too_many_gates_are_refused() {
    let machine = machine("blocker");
    assert!(!machine.circuit().loops.is_empty(), "blocker has recursive rules");
    let n_gates = machine.circuit().n_gates();
    let bounds = NetworkBounds { max_gates: n_gates, ..NetworkBounds::default() };
    let why = networks(&machine, bounds).template(&Deadline::never()).err();
    assert!(why.is_some_and(|why| why.contains("without recursion")));
    assert!(networks(&machine, NetworkBounds::default()).template(&Deadline::never()).is_ok());
}

#[test]
fn symmetric_networks_are_solved_once_and_have_the_same_values() {
    for (name, line) in [("tictactoe", &[][..]), ("tictactoe", &[&["(mark 2 2)", "noop"][..]])] {
        let machine = machine(name);
        let mut cursor = machine.cursor();
        for joint in line {
            let joint: Vec<MoveId> = (machine.role_ids().zip(joint.iter()))
                .map(|(role, text)| machine.find_move(role, text).expect("a move"))
                .collect();
            cursor.play(&joint);
        }
        let role = machine.role_ids().find(|&role| cursor.legal_moves(role).len() > 1);
        let role = role.expect("a role chooses");
        let report = |text: &str| {
            let from = with_networks(&machine, NetworkBounds::default());
            let mut searcher = spec(text).search.build("mac-ucb", &from);
            searcher.search(&cursor, role, &SearchLimits::iterations(1_000_000, Seed(1)))
        };
        // Playouts cannot prove anything, so nearly all iterations solve networks.
        let plain = report("mac-ucb:faithful,ratio=1");
        let folded = report("mac-ucb:faithful,ratio=1,symmetry=0.25");
        assert!(plain.is_proven && folded.is_proven);
        assert_eq!(plain.reward, folded.reward);
        let [plain, folded] = [plain, folded].map(|it| work_of(&it).expect("there is a network"));
        assert_eq!(plain.n_symmetric, 0);
        assert!(folded.n_symmetric > 0);
        assert!(2 * folded.n_solved < plain.n_solved, "{folded:?} {plain:?}");
    }
}
