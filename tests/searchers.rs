//! Checks every search against its claims.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ludex_base::{BitSet, Deadline, RoleId, Seed};
use ludex_game::{Cursor, Game, StateOf};
use ludex_machine::Machine;
use ludex_macucb::registry::claims;
use ludex_macucb::{NETWORK_SEARCHES, NetworkSearch, Networks, WithNetworks};
use ludex_search::{
    Claim, GamesMeant, HiddenSearcher, OpenSearcher, SEARCHES, SearchLimits, SearchSpec, Searchable,
};
use ludex_testkit::searchers::{Candidate, Named, spec};
use ludex_tests::machine;

ludex_testkit::searcher_suite! { crate::searchers::games;
    random: "random",
    flat: "flat",
    uct: "uct",
    uct_joint: "uct-joint",
    uct_leaf: "uct-leaf:playouts=4",
    uct_lanes: "uct-lanes:leaves=8",
    uct_root: "uct-root:trees=2",
    uct_root_in_runs: "uct-root:trees=2,runs=4,merge=sum10",
    uct_tree: "uct:dag=no",
    rave: "rave",
    grave: "grave",
    grave_batched: "grave:leaves=4,playouts=2",
    mast: "mast",
    mast_gibbs: "mast:draw=gibbs",
    to_mast: "to-mast",
    nst: "nst",
    nst_grave: "grave:playout=nst,draw=gibbs",
    past: "past",
    fast: "fast",
    fast_gibbs: "fast:draw=gibbs",
    history: "history",
    history_batched: "history:leaves=4,playouts=2",
    uct_stopped: "uct:stop=4",
    mast_stopped: "mast:stop=3,proximity=1",
    minimax: "minimax",
    negamax: "negamax",
    alphabeta: "alphabeta",
    maxn: "maxn",
    cfr: "cfr",
    cfr_external: "cfr:variant=external",
    nash: "nash",
    nmcs: "nmcs",
    nmcs_flat: "nmcs:level=1",
    nrpa: "nrpa",
    uct_nested: "uct-nested",
    hyperplay: "hyperplay",
    hyperplay_ii: "hyperplay-ii",
    iss: "iss",
    ismcts: "ismcts",
    ismcts_one: "ismcts:observers=one",
}

/// Searches on networks. Machines have networks; other games do not.
mod networks {
    ludex_testkit::searcher_suite! { crate::searchers::games, crate::searchers::on_network;
        mac_ucb: "mac-ucb",
        mac_ucb_asking_often: "mac-ucb:visits=1",
        mac_ucb_faithful: "mac-ucb:faithful",
        mac_ucb_with_engine: "mac-ucb:faithful,playouts=machine,order=own",
        fc_ucb: "fc-ucb",
    }

    #[test]
    fn every_registered_search_is_tested() {
        for entry in super::NETWORK_SEARCHES {
            let is_tested = TESTED.iter().any(|text| super::on_network(text).0.name == entry.name);
            assert!(is_tested, "{} has no line in the suite", entry.name);
        }
    }

    #[test]
    fn searches_on_networks_play_by_probabilities_in_hidden_states() {
        ludex_testkit::in_parallel(TESTED, |text| {
            let spec = super::on_network(text);
            ludex_testkit::hidden::plays_by_what_is_likely(&spec, super::games());
        });
    }

    #[test]
    fn searches_on_networks_answer_legally_without_the_state() {
        ludex_testkit::in_parallel(TESTED, |text| {
            let spec = super::on_network(text);
            ludex_testkit::hidden::answers_legally_without_the_state(&spec, super::games());
        });
    }
}

/// A search on networks as the suite sees it.
struct OnNetwork(SearchSpec<NetworkSearch>);

fn on_network(text: &str) -> OnNetwork {
    let spec = SearchSpec::parse_in(NETWORK_SEARCHES, "search", text);
    OnNetwork(spec.expect("the search is registered"))
}

impl Candidate for OnNetwork {
    fn claims(&self) -> &'static [Claim] {
        claims(&self.0)
    }

    fn games(&self) -> &GamesMeant {
        &self.0.games
    }

    fn counts_nodes(&self) -> bool {
        false
    }

    fn build<G>(&self, game: &G) -> OpenSearcher<G>
    where
        G: Searchable,
    {
        self.0.build(&with_networks(game))
    }

    fn build_informed<G>(&self, game: &G) -> HiddenSearcher<G>
    where
        G: Searchable,
    {
        self.0.build_informed(&with_networks(game))
    }
}

thread_local! {
    /// The networks of games, by circuit: building one takes longer than most of its tests. Each
    /// thread has its own, because threads would wait for each other while one is built.
    static NETWORKS: RefCell<HashMap<usize, Arc<Networks<BitSet>>>> = RefCell::default();
}

fn with_networks<G: Game + Clone + 'static>(game: &G) -> WithNetworks<G> {
    WithNetworks { game: game.clone(), feature_finder: None, networks: networks_of(game) }
}

/// Returns the networks of a machine. Only machines have a circuit; their states are sets of
/// fluents.
fn networks_of<G: Game + 'static>(game: &G) -> Arc<Networks<StateOf<G>>> {
    let machine = (game as &dyn Any).downcast_ref::<Machine>();
    let networks = machine.map(|machine| {
        let key = std::ptr::from_ref(machine.circuit()) as usize;
        let make = || Networks::new(ludex_player::Playable::rules(machine));
        NETWORKS.with_borrow_mut(|made| Arc::clone(made.entry(key).or_insert_with(make)))
    });
    let networks: Option<Box<dyn Any>> = networks.map(|it| Box::new(it) as Box<dyn Any>);
    let networks = networks.and_then(|it| it.downcast::<Arc<Networks<StateOf<G>>>>().ok());
    networks.map_or_else(|| Networks::new(None), |it| *it)
}

/// The games of the library, loaded once.
fn games() -> &'static [Named<Machine>] {
    static GAMES: OnceLock<Vec<Named<Machine>>> = OnceLock::new();
    GAMES.get_or_init(|| {
        let library = ludex_testkit::library();
        let loaded = ludex_testkit::in_parallel(&library, machine);
        library.into_iter().zip(loaded).filter_map(|(it, game)| Some((it.name, game?))).collect()
    })
}

fn game(name: &str) -> &'static Machine {
    &games().iter().find(|it| it.0 == name).expect("the game is in the library").1
}

#[test]
fn every_registered_search_is_tested() {
    for entry in SEARCHES {
        let is_tested = TESTED.iter().any(|text| spec(text).name == entry.name);
        assert!(is_tested, "{} has no line in the suite", entry.name);
    }
}

#[test]
fn searches_play_by_probabilities_in_hidden_states() {
    ludex_testkit::in_parallel(TESTED, |text| {
        ludex_testkit::hidden::plays_by_what_is_likely(&spec(text), games());
    });
}

#[test]
fn searches_answer_legally_without_the_state() {
    ludex_testkit::in_parallel(TESTED, |text| {
        ludex_testkit::hidden::answers_legally_without_the_state(&spec(text), games());
    });
}

#[test]
fn minimax_negamax_and_alphabeta_agree_at_every_horizon() {
    for name in
        ["tictactoe", "connectfour", "breakthrough-small", "pig", "three-player-nim", "tron"]
    {
        let game = game(name);
        for depth in 1..=3 {
            let rewards: Vec<f64> = ["minimax", "negamax", "alphabeta"]
                .iter()
                .map(|rule| {
                    // Without a table, because one that remembers deeper searches knows more.
                    let text = format!("{rule}:depth={depth},table=0");
                    let mut searcher = spec(&text).build(game);
                    let limits = SearchLimits::iterations(2_000_000, Seed(1));
                    let report = searcher.search(&game.cursor(), RoleId::new(0), &limits);
                    report.reward.expect("a horizon was completed")
                })
                .collect();
            let spread = rewards.iter().map(|it| (it - rewards[0]).abs()).fold(0.0, f64::max);
            assert!(spread < 1e-4, "{name} at {depth}: {rewards:?}");
        }
    }
}

#[test]
fn a_tree_stops_after_the_iterations_of_its_option_or_of_the_limits() {
    let game = game("connectfour");
    for (text, limit, expected) in
        [("uct:iterations=300", 1_000, 300), ("grave:iterations=300", 100, 100)]
    {
        let limits = SearchLimits::iterations(limit, Seed(1));
        let report = spec(text).build(game).search(&game.cursor(), RoleId::new(0), &limits);
        assert_eq!(report.n_iterations, expected, "{text}: {:?}", report.stopped);
    }
}

#[test]
fn a_tree_in_little_memory_recycles_and_goes_on() {
    let game = game("connectfour");
    for text in ["uct", "rave", "grave", "history", "uct-lanes", "uct-joint", "uct:stop=12"] {
        let memory = 400_000;
        let limits = SearchLimits { memory, ..SearchLimits::iterations(20_000, Seed(1)) };
        let report = spec(text).build(game).search(&game.cursor(), RoleId::new(0), &limits);
        assert!(report.n_bytes <= memory as u64, "{text}: {} bytes", report.n_bytes);
        assert_eq!(report.n_iterations, 20_000, "{text}: {:?}", report.stopped);
        assert!(
            report.n_nodes < 10_000,
            "{text}: {} nodes, so nothing was recycled",
            report.n_nodes
        );
        // The middle column is the only winning first move.
        let n_most = report.moves.iter().map(|it| it.n_visits).max();
        assert_eq!(report.moves[3].n_visits, n_most.expect("moves"), "{text}: {report:?}");
    }
}

/// A hostile sheet with a thousand roles found a panic in a tree without room for its root.
#[test]
fn a_tree_without_room_for_its_root_still_answers() {
    let game = game("tictactoe");
    for text in ["uct", "rave", "grave", "uct-joint"] {
        let limits = SearchLimits { memory: 100, ..SearchLimits::iterations(10, Seed(1)) };
        let report = spec(text).build(game).search(&game.cursor(), RoleId::new(0), &limits);
        assert!(report.chosen.is_some(), "{text}: {report:?}");
    }
}

#[test]
fn a_search_in_little_memory_gets_better_with_time() {
    // Tic-tac-toe has 5478 states, far more than fit here.
    let game = game("tictactoe");
    let run = |n_iterations| {
        let limits =
            SearchLimits { memory: 60_000, ..SearchLimits::iterations(n_iterations, Seed(1)) };
        let report = spec("uct").build(game).search(&game.cursor(), RoleId::new(0), &limits);
        assert!(report.n_nodes < 1000, "{} nodes", report.n_nodes);
        let reward = report.reward.expect("the state was searched");
        (reward - 0.5).abs()
    };
    let [short, long] = [run(300), run(60_000)];
    assert!(long < short / 2.0, "the value of the root is 0.5, off by {short} and then {long}");
}

/// A long search leaves a tree that a short one has no time to clear.
#[test]
fn a_large_tree_does_not_stop_short_searches() {
    let game = game("connectfour");
    let me = RoleId::new(0);
    for text in ["uct", "grave", "uct-joint", "uct-lanes:leaves=8"] {
        let mut searcher = spec(text).build(game);
        let mut cursor = game.cursor();
        let mut report = searcher.search(&cursor, me, &SearchLimits::iterations(60_000, Seed(1)));
        for turn in 0..8 {
            let joint = (game.role_ids())
                .map(|role| match cursor.legal_moves(role) {
                    [only] => *only,
                    _ if role == me => report.chosen.expect("a move"),
                    moves => moves[turn % moves.len()],
                })
                .collect::<Vec<_>>();
            cursor.play(&joint);
            if cursor.is_terminal() {
                break;
            }
            if cursor.legal_moves(me).len() == 1 {
                continue;
            }
            let time = Deadline::after(Duration::from_millis(50));
            report = searcher.search(&cursor, me, &SearchLimits::until(time, Seed(turn as u64)));
            let is_known = report.is_proven || report.n_iterations > 0;
            assert!(is_known, "{text}, turn {turn}: {report:?}");
            assert!(report.chosen.is_some() && report.reward.is_some(), "{text}: {report:?}");
        }
    }
}

/// The first move of a new horizon may turn out to be lost; then another that was as good before is
/// played.
#[test]
fn alphabeta_does_not_play_a_move_just_found_lost() {
    let game = game("tictactoe");
    let mut n_judged = 0;
    for seed in 0..6 {
        let mut cursor = game.cursor();
        let mut rng = Seed(seed).rng();
        while !cursor.is_terminal() {
            let roles: Vec<RoleId> = game.role_ids().collect();
            let mover = roles.iter().copied().find(|&role| cursor.legal_moves(role).len() > 1);
            if let Some(role) = mover {
                let exact = SearchLimits::iterations(1_000_000, Seed(1));
                let exact = spec("alphabeta").build(game).search(&cursor, role, &exact);
                assert!(exact.is_proven);
                for n_nodes in (10..340).step_by(7) {
                    let limits = SearchLimits::iterations(n_nodes, Seed(1));
                    let found = spec("alphabeta").build(game).search(&cursor, role, &limits);
                    let is_lost = found.reward == Some(0.0) && exact.reward > Some(0.0);
                    assert!(!is_lost, "{n_nodes} nodes: {found:?}");
                    n_judged += 1;
                }
            }
            let joint: Vec<_> = (roles.iter())
                .map(|&role| {
                    let moves = cursor.legal_moves(role);
                    moves[rng.below(moves.len())]
                })
                .collect();
            cursor.play(&joint);
        }
    }
    assert!(n_judged > 500, "{n_judged}");
}

/// Sorting and reporting take time too, after the clock has run out.
#[test]
fn thousands_of_moves_are_reported_quickly() {
    let legal: String = (0..20_000).map(|n| format!("(option {n})\n")).collect();
    let rules = format!(
        "(role one) (role two) {legal} (init (step 1))
         (<= (legal one ?n) (option ?n)) (<= (legal two wait) (true (step ?s)))
         (<= (next done) (does one ?n)) (<= terminal (true done))
         (goal one 50) (goal two 50)"
    );
    let game = ludex_tests::machine_of("many", &rules);
    for text in ["alphabeta", "maxn"] {
        let limits = SearchLimits::iterations(50, Seed(1));
        let start = Instant::now();
        let report = spec(text).build(&game).search(&game.cursor(), RoleId::new(0), &limits);
        assert_eq!(report.moves.len(), 20_000);
        let took = start.elapsed();
        // Some milliseconds; quadratic time would be minutes.
        assert!(took < Duration::from_secs(20), "{text} took {took:?}");
    }
}

#[test]
fn a_tree_is_kept_from_move_to_move() {
    let game = game("tictactoe");
    let mut searcher = spec("uct").build(game);
    let mut cursor = game.cursor();
    let limits = SearchLimits::iterations(30_000, Seed(1));
    let first = searcher.search(&cursor, RoleId::new(0), &limits);
    assert!(first.is_proven, "{first:?}");
    let joint = first.line.first().expect("a line").clone();
    cursor.play(&joint);
    let reply = first.line[1].clone();
    cursor.play(&reply);
    let second = searcher.search(&cursor, RoleId::new(0), &limits);
    assert!(second.is_proven && second.n_iterations < first.n_iterations / 10, "{second:?}");
}

#[test]
fn threads_share_a_tree_and_agree_with_one() {
    for text in ["uct:threads=2", "grave:threads=3", "uct-lanes:threads=2,leaves=8"] {
        let game = game("tictactoe");
        let limits = SearchLimits::iterations(60_000, Seed(1));
        let report = spec(text).build(game).search(&game.cursor(), RoleId::new(0), &limits);
        assert!(report.is_proven && report.reward == Some(0.5), "{text}: {report:?}");
    }
}

/// Nested searches do well on puzzles where the means of uct, with as many playouts, say less.
#[test]
fn nested_searches_find_lines_and_follow_them() {
    let me = RoleId::new(0);
    for (name, n_playouts, at_least) in
        [("peg", 3_000, 0.5), ("n-queens", 3_000, 1.0), ("knights-tour", 20_000, 0.5)]
    {
        let game = game(name);
        for text in ["nmcs", "nrpa", "uct-nested"] {
            let mut searcher = spec(text).build(game);
            let mut cursor = game.cursor();
            let limits = SearchLimits::iterations(n_playouts, Seed(1));
            let first = searcher.search(&cursor, me, &limits);
            assert!(first.n_iterations <= n_playouts + 100, "{name}, {text}: {first:?}");
            let mut reward = first.reward.expect("a line was found");
            assert!(reward >= at_least, "{name}, {text}: {reward}");
            // The search never gives up a line for a worse one.
            while !cursor.is_terminal() {
                let report = searcher.search(&cursor, me, &SearchLimits::iterations(60, Seed(2)));
                let found = report.reward.expect("the line goes on");
                assert!(text == "uct-nested" || found >= reward, "{name}, {text}: {found}");
                reward = found;
                cursor.play(&[report.chosen.expect("a move")]);
            }
            let goal = f64::from(cursor.goal(me).value()) / 100.0;
            assert!(goal >= reward.min(at_least), "{name}, {text}: {goal} of {reward}");
        }
    }
}

#[test]
fn a_nested_line_does_not_depend_on_the_threads() {
    for (name, text) in [("peg", "nmcs"), ("knights-tour", "nmcs:level=3"), ("peg", "nrpa")] {
        let game = game(name);
        let run = |threads: usize| {
            // Adaptation runs once per thread, so it is compared with itself.
            let option = if text == "nrpa" { 2 } else { threads };
            let join = if text.contains(':') { ',' } else { ':' };
            let mut searcher = spec(&format!("{text}{join}threads={option}")).build(game);
            searcher.search(
                &game.cursor(),
                RoleId::new(0),
                &SearchLimits::iterations(4_000, Seed(3)),
            )
        };
        let [one, two, three] = [1, 2, 3].map(run);
        assert_eq!(one, two, "{name}, {text}");
        assert_eq!(one, three, "{name}, {text}");
    }
}

#[test]
fn policies_stay_within_their_memory() {
    let game = game("connectfour");
    for text in ["nst", "past", "fast", "mast", "history"] {
        let limits = SearchLimits { memory: 4 << 20, ..SearchLimits::iterations(20_000, Seed(1)) };
        let report = spec(text).build(game).search(&game.cursor(), RoleId::new(0), &limits);
        assert_eq!(report.n_iterations, 20_000, "{text}: {:?}", report.stopped);
        assert!(report.n_bytes < 8 << 20, "{text}: {} bytes", report.n_bytes);
    }
}

#[test]
fn a_wrong_description_is_an_error() {
    assert!(SearchSpec::parse("uct:c=abc").is_err());
    assert!(SearchSpec::parse("uct:merge=sum").is_err());
}
