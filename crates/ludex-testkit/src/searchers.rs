//! A conformance suite for every [`Searcher`](ludex_search::Searcher), driven by its claims.
//!
//! Each function takes a registered search and the games of the library, and panics if a claim does
//! not hold. The macro [`searcher_suite!`](crate::searcher_suite) defines one test per search that
//! runs them all.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::{Cursor, Game, StateOf, draw_joint};
use ludex_search::{
    Claim, GamesMeant, HiddenSearcher, OpenSearcher, SearchLimits, SearchReport, SearchSpec,
    Searchable,
};

use crate::exact::Exact;
use crate::random_game::{RandomGame, RandomGameConfig};

/// Defines tests that check registered searches against their claims.
///
/// Each line has the name of a test and the description of a search. `games` is a function that
/// returns the games of the library by name. Searches of another crate need a function that parses
/// their descriptions.
#[macro_export]
macro_rules! searcher_suite {
    ($games:path; $($name:ident: $spec:literal),* $(,)?) => {
        $crate::searcher_suite! { $games, $crate::searchers::spec; $($name: $spec),* }
    };
    ($games:path, $read:path; $($name:ident: $spec:literal),* $(,)?) => {
        /// The tested searches.
        const TESTED: &[&str] = &[$($spec),*];
        $(#[test]
        fn $name() {
            $crate::searchers::keeps_what_it_claims(&$read($spec), $games());
        })*
    };
}

/// Runs every check; the last line printed names the one that fails.
///
/// One test runs all of them, because each would load the games anew.
pub fn keeps_what_it_claims<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    let checks: [(&str, Check<P, G>); 9] = [
        ("answers legally in any time", answers_legally_in_any_time),
        ("repeats itself", repeats_itself),
        ("finds the win in one", finds_the_win_in_one),
        ("avoids the loss in one", avoids_the_loss_in_one),
        ("never loses tictactoe", never_loses_tictactoe),
        ("takes the best goal", takes_the_best_goal),
        ("proves only what is true", proves_only_what_is_true),
        ("calls won what is certain", calls_won_what_is_certain),
        ("mixes evenly where it must", mixes_evenly_where_it_must),
    ];
    for (name, check) in checks {
        println!("{name}");
        check(spec, games);
    }
}

/// A check of one claim on the games.
type Check<P, G> = fn(&P, &[Named<G>]);

/// A search as the suite sees it.
pub trait Candidate {
    /// Returns what it promises.
    fn claims(&self) -> &'static [Claim];

    /// Returns the games it is meant for.
    fn games(&self) -> &GamesMeant;

    /// Whether its iterations are nodes of a depth-first search.
    fn counts_nodes(&self) -> bool;

    /// Builds a searcher for a game.
    fn build<G>(&self, game: &G) -> OpenSearcher<G>
    where
        G: Searchable;

    /// Builds a searcher for a role that does not see the state.
    fn build_informed<G>(&self, game: &G) -> HiddenSearcher<G>
    where
        G: Searchable;
}

impl Candidate for SearchSpec {
    fn claims(&self) -> &'static [Claim] {
        self.claims
    }

    fn games(&self) -> &GamesMeant {
        &self.games
    }

    fn counts_nodes(&self) -> bool {
        self.options().iter().any(|option| option.name == "rule")
    }

    fn build<G>(&self, game: &G) -> OpenSearcher<G>
    where
        G: Searchable,
    {
        SearchSpec::build(self, game)
    }

    fn build_informed<G>(&self, game: &G) -> HiddenSearcher<G>
    where
        G: Searchable,
    {
        SearchSpec::build_informed(self, game)
    }
}

/// A game with its name.
pub type Named<G> = (String, G);

/// Parses the description of a search.
pub fn spec(text: &str) -> SearchSpec {
    SearchSpec::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns what a search answers with a clock of milliseconds; `None` if it takes seconds at every
/// one of several tries. A single late answer may be due to a machine that is busy otherwise.
pub(crate) fn in_time<T>(mut search: impl FnMut() -> T) -> Option<T> {
    (0..5).find_map(|_| {
        let began = Instant::now();
        let answer = search();
        (began.elapsed() < Duration::from_secs(2)).then_some(answer)
    })
}

/// Checks that moves are legal whether there are 10 ms, 1 ms or none at all, from the initial state
/// of every game and from later ones.
pub fn answers_legally_in_any_time<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    for (name, game) in games {
        let mut cursor = game.cursor();
        for (step_idx, millis) in [10, 1, 0, 1].into_iter().enumerate() {
            for role in players(game) {
                let report = in_time(|| {
                    let mut searcher = spec.build(game);
                    let deadline = Deadline::after(Duration::from_millis(millis));
                    searcher.search(&cursor, role, &SearchLimits::until(deadline, Seed(1)))
                });
                let report = report.unwrap_or_else(|| panic!("{name}: answered late"));
                let legal = cursor.legal_moves(role).to_vec();
                let listed: Vec<MoveId> = report.moves.iter().map(|it| it.id).collect();
                assert_eq!(listed, legal, "{name}: the moves of the report");
                assert!(report.chosen.is_some_and(|id| legal.contains(&id)), "{name}: {report:?}");
                assert!(report.reward.is_none_or(|it| (0.0..=1.0).contains(&it)), "{name}");
                check_line(name, game, &cursor, &report);
            }
            if !random_step(game, &mut cursor, &mut Seed(step_idx as u64).rng()) {
                break;
            }
        }
    }
}

fn check_line<G: Game>(name: &str, game: &G, root: &G::Cursor, report: &SearchReport) {
    let mut cursor = root.clone();
    for joint in &report.line {
        ludex_game::play_checked(&mut cursor, game.roles().len(), joint)
            .unwrap_or_else(|error| panic!("{name}: the line: {error}"));
    }
}

/// Checks that equal seeds and iteration limits on one thread give equal reports.
pub fn repeats_itself<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    for name in ["tictactoe", "connectfour", "pig", "tron", "three-player-nim", "eight-puzzle"] {
        let game = find(games, name);
        let run = |seed| {
            let mut searcher = spec.build(game);
            let mut cursor = game.cursor();
            let limits = SearchLimits::iterations(300, Seed(seed));
            let first = searcher.search(&cursor, RoleId::new(0), &limits);
            random_step(game, &mut cursor, &mut Seed(5).rng());
            let second = searcher.search(&cursor, RoleId::new(0), &limits);
            (first.without_times(), second.without_times())
        };
        assert_eq!(run(1), run(1), "{name}");
    }
}

/// Checks that if a move ends the game with 100, the search plays it or another certain win.
pub fn finds_the_win_in_one<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    if !spec.claims().contains(&Claim::NeverLoses) {
        return;
    }
    for name in ["tictactoe", "connectfour", "breakthrough-small", "nim"] {
        let game = find(games, name);
        for (state, role) in interesting(game, |game, state, role| {
            let wins = winning_moves(game, state, role);
            !wins.is_empty() && wins.len() < n_moves(game, state, role)
        }) {
            let report = search(spec, game, &state, role);
            let is_won = report.is_proven && report.reward == Some(1.0);
            let chosen = report.chosen.expect("the role has moves");
            let wins = winning_moves(game, &state, role);
            assert!(is_won || wins.contains(&chosen), "{name}: {report:?}");
        }
    }
}

/// Checks that if some moves let another role win at once and others do not, the search plays one
/// of the others.
pub fn avoids_the_loss_in_one<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    if !spec.claims().contains(&Claim::NeverLoses) {
        return;
    }
    for name in ["tictactoe", "connectfour", "breakthrough-small"] {
        let game = find(games, name);
        for (state, role) in interesting(game, |game, state, role| {
            let losing = losing_moves(game, state, role);
            !losing.is_empty()
                && losing.len() < n_moves(game, state, role)
                && winning_moves(game, state, role).is_empty()
                && !is_lost(game, state, role)
        }) {
            let report = search(spec, game, &state, role);
            let chosen = report.chosen.expect("the role has moves");
            assert!(!losing_moves(game, &state, role).contains(&chosen), "{name}: {report:?}");
        }
    }
}

/// Whether alpha-beta proves that every move loses, so that no move is better than another.
fn is_lost<G: Searchable>(game: &G, state: &StateOf<G>, role: RoleId) -> bool {
    let report = search(&spec("alphabeta"), game, state, role);
    report.is_proven && report.reward == Some(0.0)
}

/// Checks that a search loses none of 200 games of tic-tac-toe against random, strong and middling
/// opponents.
pub fn never_loses_tictactoe<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    if !spec.claims().contains(&Claim::NeverLoses) {
        return;
    }
    let game = find(games, "tictactoe");
    let opponents = ["random", "alphabeta", "uct", "flat"].map(self::spec);
    // A depth-first search uses the seed only to sample final states for its evaluation, so its
    // choice in a state stands for the other matches.
    let mut chosen_before: HashMap<(StateOf<G>, RoleId), MoveId> = HashMap::new();
    for match_idx in 0..200_u64 {
        let us = RoleId::new(match_idx as usize % 2);
        let mut ours = spec.build(game);
        let mut theirs = opponents[match_idx as usize / 2 % opponents.len()].build(game);
        let mut cursor = game.cursor();
        let mut played = Vec::new();
        while !cursor.is_terminal() {
            let joint: Vec<MoveId> = game
                .role_ids()
                .map(|role| {
                    let legal = cursor.legal_moves(role).to_vec();
                    let seed = Seed(match_idx).child(played.len() as u64);
                    match legal[..] {
                        [only] => only,
                        _ if role == us => {
                            let place = (cursor.state().clone(), role);
                            if let Some(&id) = chosen_before.get(&place) {
                                return id;
                            }
                            let report = ours.search(&cursor, role, &effort(spec, seed));
                            let chosen = report.chosen.expect("a move");
                            if spec.counts_nodes() {
                                chosen_before.insert(place, chosen);
                            }
                            chosen
                        }
                        _ => {
                            let limits = SearchLimits::iterations(300, seed);
                            theirs.search(&cursor, role, &limits).chosen.expect("a move")
                        }
                    }
                })
                .collect();
            cursor.play(&joint);
            played.push(joint);
        }
        let goal = cursor.goal(us).value();
        assert!(goal >= 50, "match {match_idx} lost: {played:?}");
    }
}

/// Checks that the move is worth the most that is possible when every role plays for its own goal,
/// in games that are not constant-sum and in puzzles.
pub fn takes_the_best_goal<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    if !spec.claims().contains(&Claim::BestGoal) {
        return;
    }
    let config = RandomGameConfig {
        n_roles: 2,
        has_chance: false,
        is_simultaneous: false,
        is_constant_sum: false,
        n_steps: 6,
        n_places: 12,
    };
    for seed in 0..20 {
        let n_roles = 2 + seed as usize % 2;
        let game = RandomGame::new(RandomGameConfig { n_roles, ..config.clone() }, Seed(seed));
        check_best(spec, &format!("random game {seed}"), &game);
    }
    // Three-player nim is missing: its values depend on how ties between other roles are broken.
    for name in ["buttons", "nim", "wolf-goat-cabbage"] {
        let game = find(games, name);
        if spec.games().min_roles <= players(game).count() {
            check_best(spec, name, game);
        }
    }
}

fn check_best<P: Candidate, G: Searchable>(spec: &P, name: &str, game: &G) {
    let cursor = game.cursor();
    let me = RoleId::new(0);
    let mut exact = Exact::new(game, me, 20_000);
    let Some(after) = exact.values_after(cursor.state(), me) else { return };
    let best = after.iter().map(|it| it.1[0]).fold(0.0, f64::max);
    let report = spec.build(game).search(&cursor, me, &effort(spec, Seed(1)));
    let chosen = after.iter().find(|it| Some(it.0) == report.chosen).expect("a legal move");
    assert!((chosen.1[0] - best).abs() < 1e-3, "{name}: {} of {best}: {report:?}", chosen.1[0]);
}

/// Checks that everything a report calls proved agrees with exhaustive search, on random games with
/// and without chance and on small games of the library.
pub fn proves_only_what_is_true<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    // Searches that treat the others as opponents compute other values if goals are not opposite.
    let is_maxn = spec.claims().contains(&Claim::BestGoal);
    for seed in 0..40_u64 {
        let config = RandomGameConfig {
            n_roles: if is_maxn { 1 + seed as usize % 3 } else { 2 },
            has_chance: seed % 4 == 3,
            is_simultaneous: false,
            is_constant_sum: !is_maxn || seed % 3 == 1,
            n_steps: 6,
            n_places: 8,
        };
        let game = RandomGame::new(config, Seed(seed));
        check_proofs(spec, &format!("random game {seed}"), &game, game.cursor().state());
    }
    for name in ["tictactoe-2x2", "nim", "tictactoe", "monty-hall"] {
        let game = find(games, name);
        for (state, _) in interesting(game, |_, _, _| true).into_iter().take(6) {
            check_proofs(spec, name, game, &state);
        }
    }
}

/// Checks that with simultaneous choices, a move that a report calls won wins whatever the others
/// do.
pub fn calls_won_what_is_certain<P: Candidate, G: Searchable>(spec: &P, _games: &[Named<G>]) {
    let mut n_certain = 0;
    for seed in 0..60_u64 {
        let config = RandomGameConfig {
            n_roles: 2,
            has_chance: false,
            is_simultaneous: true,
            is_constant_sum: true,
            n_steps: 1 + seed as usize % 3,
            n_places: 6,
        };
        let game = RandomGame::new(config, Seed(seed));
        let root = game.cursor();
        for me in players(&game) {
            let report = spec.build(&game).search(&root, me, &effort(spec, Seed(1)));
            for it in &report.moves {
                let is_certain = wins_with(&game, root.state(), me, it.id);
                n_certain += usize::from(is_certain);
                let is_called_won = it.proven == Some(1.0);
                assert!(is_certain || !is_called_won, "random game {seed}: {report:?}");
            }
        }
    }
    assert!(n_certain > 0, "the games need wins to find");
}

/// Checks that if every pure move can be punished, all moves are chosen about equally often.
pub fn mixes_evenly_where_it_must<P: Candidate, G: Searchable>(spec: &P, games: &[Named<G>]) {
    if !spec.claims().contains(&Claim::Mixes) {
        return;
    }
    // The drawn moves.
    let game = find(games, "matching-pennies");
    let root = game.cursor();
    for me in players(game) {
        let mut counts: HashMap<MoveId, usize> = HashMap::new();
        for seed in 0..300 {
            let limits = SearchLimits::iterations(200, Seed(seed));
            let report = spec.build(game).search(&root, me, &limits);
            *counts.entry(report.chosen.expect("the role has moves")).or_default() += 1;
        }
        // More than four standard deviations.
        assert!(
            counts.len() == 2 && counts.values().all(|n| (110..=190).contains(n)),
            "{counts:?}"
        );
    }
    // The distribution that moves are drawn from, in a game of several steps.
    let game = find(games, "rock-paper-scissors");
    let me = players(game).next().expect("the game has players");
    let report = spec.build(game).search(&game.cursor(), me, &effort(spec, Seed(1)));
    let total: u64 = report.moves.iter().map(|it| it.n_visits).sum();
    for it in &report.moves {
        let part = it.n_visits as f64 / total as f64;
        assert!((part - 1.0 / 3.0).abs() < 0.15, "{report:?}");
    }
}

/// Whether a move leads to goal 100 whatever the others choose, now and later.
fn wins_with<G: Game>(game: &G, state: &StateOf<G>, me: RoleId, id: MoveId) -> bool {
    let mut cursor = game.cursor();
    cursor.set_state(state);
    let mut joints: Vec<Vec<MoveId>> = vec![Vec::new()];
    for role in game.role_ids() {
        let legal = if role == me { vec![id] } else { cursor.legal_moves(role).to_vec() };
        let longer = |joint: &Vec<MoveId>| {
            let joint = joint.clone();
            legal.iter().map(move |&id| [&joint[..], &[id]].concat()).collect::<Vec<_>>()
        };
        joints = joints.iter().flat_map(longer).collect();
    }
    joints.iter().all(|joint| {
        cursor.set_state(state);
        cursor.play(joint);
        if cursor.is_terminal() {
            return cursor.goal(me).value() == 100;
        }
        let after = cursor.state().clone();
        let legal = cursor.legal_moves(me).to_vec();
        legal.into_iter().any(|id| wins_with(game, &after, me, id))
    })
}

fn check_proofs<P: Candidate, G: Searchable>(spec: &P, name: &str, game: &G, state: &StateOf<G>) {
    for me in players(game) {
        let mut cursor = game.cursor();
        cursor.set_state(state);
        if game.role_ids().any(|role| role != me && cursor.legal_moves(role).len() > 1) {
            continue;
        }
        let mut exact = Exact::new(game, me, 20_000);
        let Some(after) = exact.values_after(state, me) else { return };
        let report = spec.build(game).search(&cursor, me, &effort(spec, Seed(1)));
        for (it, (id, values)) in report.moves.iter().zip(&after) {
            assert_eq!(it.id, *id);
            if let Some(proven) = it.proven {
                let value = values[me.index()] / 100.0;
                assert!((proven - value).abs() < 1e-4, "{name}: {proven} is {value}: {report:?}");
            }
        }
        if report.is_proven {
            let best = after.iter().map(|it| it.1[me.index()]).fold(0.0, f64::max) / 100.0;
            let reward = report.reward.expect("a proof has a reward");
            assert!((reward - best).abs() < 1e-4, "{name}: {reward} is {best}: {report:?}");
        }
    }
}

/// Returns the effort of a search that should get things right; depth-first searches count nodes.
fn effort<P: Candidate>(spec: &P, seed: Seed) -> SearchLimits {
    SearchLimits::iterations(if spec.counts_nodes() { 60_000 } else { 3_000 }, seed)
}

fn search<P: Candidate, G: Searchable>(
    spec: &P,
    game: &G,
    state: &StateOf<G>,
    role: RoleId,
) -> SearchReport {
    let mut cursor = game.cursor();
    cursor.set_state(state);
    let mut searcher: OpenSearcher<G> = spec.build(game);
    searcher.search(&cursor, role, &effort(spec, Seed(1)))
}

/// Returns a few states of random play in which a role has a choice and `is_it` holds.
fn interesting<G: Game>(
    game: &G,
    is_it: impl Fn(&G, &StateOf<G>, RoleId) -> bool,
) -> Vec<(StateOf<G>, RoleId)> {
    let mut found = Vec::new();
    for seed in 0..200 {
        let mut rng = Seed(seed).rng();
        let mut cursor = game.cursor();
        while !cursor.is_terminal() && found.len() < 6 {
            let state = cursor.state().clone();
            for role in players(game) {
                let chooses = cursor.legal_moves(role).len() > 1;
                if chooses && rng.below(3) == 0 && is_it(game, &state, role) {
                    found.push((state.clone(), role));
                }
            }
            if !random_step(game, &mut cursor, &mut rng) {
                break;
            }
        }
    }
    found
}

/// Returns the moves of the only choosing role that end the game with 100.
fn winning_moves<G: Game>(game: &G, state: &StateOf<G>, role: RoleId) -> Vec<MoveId> {
    moves_with(game, state, role, |cursor| cursor.is_terminal() && cursor.goal(role).value() == 100)
}

/// Returns the moves of a role after which another role can end the game with 100 and leave it 0.
fn losing_moves<G: Game>(game: &G, state: &StateOf<G>, role: RoleId) -> Vec<MoveId> {
    moves_with(game, state, role, |cursor| {
        let next = cursor.state().clone();
        !cursor.is_terminal()
            && players(game)
                .filter(|&other| other != role)
                .any(|other| !winning_moves(game, &next, other).is_empty())
    })
}

fn moves_with<G: Game>(
    game: &G,
    state: &StateOf<G>,
    role: RoleId,
    is_it: impl Fn(&mut G::Cursor) -> bool,
) -> Vec<MoveId> {
    let mut cursor = game.cursor();
    cursor.set_state(state);
    let legal: Vec<Vec<MoveId>> =
        game.role_ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
    legal[role.index()]
        .iter()
        .copied()
        .filter(|&id| {
            let mut joint: Vec<MoveId> = legal.iter().map(|moves| moves[0]).collect();
            joint[role.index()] = id;
            cursor.set_state(state);
            cursor.play(&joint);
            is_it(&mut cursor)
        })
        .collect()
}

fn n_moves<G: Game>(game: &G, state: &StateOf<G>, role: RoleId) -> usize {
    let mut cursor = game.cursor();
    cursor.set_state(state);
    cursor.legal_moves(role).len()
}

/// Returns the roles besides `random`.
pub(crate) fn players<G: Game>(game: &G) -> impl Iterator<Item = RoleId> + use<'_, G> {
    game.role_ids().filter(|role| !game.roles()[role.index()].is_random)
}

/// Plays a random joint move; false if the game is over afterwards.
fn random_step<G: Game>(game: &G, cursor: &mut G::Cursor, rng: &mut Rng) -> bool {
    let Some(joint) = draw_joint(game, cursor, rng) else { return false };
    cursor.play(&joint);
    !cursor.is_terminal()
}

pub(crate) fn find<'a, G>(games: &'a [Named<G>], name: &str) -> &'a G {
    let found = games.iter().find(|it| it.0 == name);
    &found.unwrap_or_else(|| panic!("{name} is not in the library")).1
}
