//! Checks beliefs and searches in games with hidden information.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::{Cursor, Describe, Game, Observe, StateOf, draw_joint};
use ludex_search::information::{Follower, Model, Observation, Patience};
use ludex_search::{Claim, Information, SearchLimits, SearchReport, SearchSpec, Searchable};

use crate::searchers::{Candidate, Named, find, in_time, players};

/// Returns what a role knows after a line of joint moves. Moves are given by their texts; `_`
/// stands for the first legal move.
pub fn information_after<G: Describe + Clone + 'static>(
    game: &G,
    me: RoleId,
    line: &[&[&str]],
) -> Information<StateOf<G>>
where
    G::Cursor: Observe,
{
    let mut cursor = game.cursor();
    let mut follower = Follower::new(game, me, Model::uniform());
    let mut rng = Seed(1).rng();
    for texts in line {
        let chosen = |(role, text): (RoleId, &&str)| match *text {
            "_" => cursor.legal_moves(role)[0],
            text => game.find_move(role, text).expect("a move of the game"),
        };
        let joint: Vec<MoveId> = game.role_ids().zip(*texts).map(chosen).collect();
        ludex_game::play_checked(&mut cursor, joint.len(), &joint).expect("a legal line");
        let observed = Observation::new(joint[me.index()], cursor.percepts(me));
        follower.follow(observed, &mut rng, &Patience::endless());
    }
    follower.information()
}

/// Game, role, line, right move, and its value if known.
type KnownChoice =
    (&'static str, usize, &'static [&'static [&'static str]], &'static str, Option<f64>);

/// Choices under hidden information that have one right answer.
const KNOWN_CHOICES: &[KnownChoice] = &[
    // The host had no choice if the car is behind the third door.
    (
        "monty-hall",
        0,
        &[&["_", "(hide 3)"], &["(choose 1)", "_"], &["_", "(open 2)"]],
        "switch",
        Some(2.0 / 3.0),
    ),
    (
        "monty-hall",
        0,
        &[&["_", "(hide 2)"], &["(choose 2)", "_"], &["_", "(open 1)"]],
        "switch",
        Some(2.0 / 3.0),
    ),
    ("hidden-matching-pennies", 0, &[&["_", "(choisit pile face)"]], "(retourne pile)", Some(0.75)),
    ("hidden-matching-pennies", 0, &[&["_", "(choisit face pile)"]], "(retourne face)", Some(0.75)),
    // The holder of the king calls, and the holder of the jack does not.
    ("kuhn-poker", 1, &[&["_", "_", "(deal jack king)"], &["bet", "_", "_"]], "bet", None),
    ("kuhn-poker", 1, &[&["_", "_", "(deal king jack)"], &["bet", "_", "_"]], "pass", None),
    (
        "kuhn-poker",
        0,
        &[&["_", "_", "(deal king queen)"], &["pass", "_", "_"], &["_", "bet", "_"]],
        "bet",
        None,
    ),
    (
        "kuhn-poker",
        0,
        &[&["_", "_", "(deal jack queen)"], &["pass", "_", "_"], &["_", "bet", "_"]],
        "pass",
        None,
    ),
];

/// Checks that a search finds the right move without knowing the state, and its value.
pub fn plays_by_what_is_likely<P, G>(spec: &P, games: &[Named<G>])
where
    P: Candidate,
    G: Searchable,
{
    if !spec.claims().contains(&Claim::HiddenInformation) {
        return;
    }
    for &(name, me, line, right, value) in KNOWN_CHOICES {
        let game = find(games, name);
        let known = information_after(game, RoleId::new(me), line);
        let report = search_informed(spec, game, &known, 3_000, Seed(1));
        let chosen = game.move_text(report.chosen.expect("the role has legal moves"));
        assert_eq!(chosen, right, "{name}: {report:?}");
        if let (Some(value), Some(reward)) = (value, report.reward) {
            assert!((reward - value).abs() < 0.06, "{name}: {reward} for {value}");
        }
    }
}

/// Searches with the knowledge of a role, using a new searcher.
pub fn search_informed<P, G>(
    spec: &P,
    game: &G,
    known: &Information<StateOf<G>>,
    n_iterations: u64,
    seed: Seed,
) -> SearchReport
where
    P: Candidate,
    G: Searchable,
{
    spec.build_informed(game).search(known, &SearchLimits::iterations(n_iterations, seed))
}

/// Checks under hidden information that moves are legal within any time limit, that equal seeds
/// give equal reports, and that a search answers even if the belief has found no state.
pub fn answers_legally_without_the_state<P, G>(spec: &P, games: &[Named<G>])
where
    P: Candidate,
    G: Searchable,
{
    // Searches that treat a possible state as the true one all behave alike here, so two games
    // suffice for them.
    let is_meant = spec.claims().contains(&Claim::HiddenInformation);
    let is_wanted = |name: &str| is_meant || ["kuhn-poker", "monty-hall"].contains(&name);
    let mut n_repeated = 0;
    for (name, game) in games.iter().filter(|it| it.1.has_percepts() && is_wanted(&it.0)) {
        for me in players(game) {
            // The follower draws more or fewer numbers depending on its time; the match must not.
            let (mut rng, mut follower_rng) = (Seed(3).rng(), Seed(4).rng());
            let mut cursor = game.cursor();
            let mut follower = Follower::new(game, me, Model::uniform());
            let mut searcher = spec.build_informed(game);
            for (step_idx, millis) in [2, 1, 0, 1].into_iter().enumerate() {
                let known = follower.information();
                if known.legal_moves().is_empty() {
                    break;
                }
                let report = in_time(|| {
                    let deadline = Deadline::after(Duration::from_millis(millis));
                    searcher.search(&known, &SearchLimits::until(deadline, Seed(1)))
                });
                let report = report.unwrap_or_else(|| panic!("{name}: answered late"));
                let chosen = report.chosen.expect("the role has legal moves");
                assert!(known.legal_moves().contains(&chosen), "{name}: {report:?}");
                assert!(cursor.legal_moves(me).contains(&chosen), "{name}: {report:?}");
                assert!(report.reward.is_none_or(|it| (0.0..=1.0).contains(&it)), "{name}");
                if step_idx == 3 {
                    let again = || search_informed(spec, game, &known, 20, Seed(2)).without_times();
                    assert_eq!(again(), again(), "{name}");
                    n_repeated += 1;
                }
                let Some(observed) = random_step(game, &mut cursor, me, &mut rng) else { break };
                let soon = Deadline::after(Duration::from_millis(10));
                let patience = Patience { for_many: soon, for_one: Deadline::never() };
                follower.follow(observed, &mut follower_rng, &patience);
            }
        }
    }
    assert!(
        n_repeated >= if is_meant { 10 } else { 1 },
        "only {n_repeated} roles reached their fourth step"
    );
}

/// Counts how long the true state stayed in the exact belief, over some matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BeliefCount {
    /// Number of matches.
    pub n_matches: usize,
    /// Steps followed, summed over roles.
    pub n_steps: usize,
    /// Steps after which the belief was exact.
    pub n_exact: usize,
    /// Exact steps whose belief did not contain the true state: there should be none.
    pub n_missing: usize,
    /// Steps after which no consistent state was known.
    pub n_lost: usize,
}

/// Time to search for a single consistent state if enumerating all of them is too costly.
const FOR_ONE: Duration = Duration::from_secs(1);

/// Counts how often a sampled belief was inconsistent or wrong about legal moves, and how long
/// following took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DoubtCount {
    /// Steps followed, summed over roles.
    pub n_steps: usize,
    /// Steps after which the belief was a sample.
    pub n_sampled: usize,
    /// Steps after which no state of the belief was consistent with all observations.
    pub n_doubtful: usize,
    /// Steps after which the belief offered an illegal move, or none at all.
    pub n_illegal: usize,
    /// The longest time of a step.
    pub longest: Duration,
}

/// Follows random matches to their end from the observations of each role, with the given patience
/// in each step.
pub fn count_doubts<G: Game>(
    game: &G,
    follower: &dyn Fn(RoleId) -> Follower<G>,
    n_matches: usize,
    seed: Seed,
    patience: &dyn Fn() -> Patience,
) -> DoubtCount
where
    G::Cursor: Observe,
{
    let mut count = DoubtCount::default();
    for match_idx in 0..n_matches {
        let mut rng = seed.child(match_idx as u64).rng();
        let mut cursor = game.cursor();
        let mut followers: Vec<(RoleId, Follower<G>)> =
            players(game).map(|me| (me, follower(me))).collect();
        while let Some(joint) = draw_joint(game, &mut cursor, &mut rng) {
            cursor.play(&joint);
            if cursor.is_terminal() {
                break;
            }
            for (me, follower) in &mut followers {
                let observed = Observation::new(joint[me.index()], cursor.percepts(*me));
                let began = Instant::now();
                follower.follow(observed, &mut rng, &patience());
                let legal = follower.legal_moves();
                count.longest = count.longest.max(began.elapsed());
                count.n_steps += 1;
                count.n_sampled += usize::from(!follower.is_exact());
                count.n_doubtful += usize::from(follower.is_inconsistent());
                let truth = cursor.legal_moves(*me);
                let is_wrong = legal.is_empty() || legal.iter().any(|id| !truth.contains(id));
                count.n_illegal += usize::from(is_wrong);
            }
        }
    }
    count
}

/// Follows random matches from the observations of each role and checks whether the belief contains
/// the true state. Each step of a role gets at most `time`.
pub fn count_beliefs<G>(game: &G, n_matches: usize, seed: Seed, time: Duration) -> BeliefCount
where
    G: Describe + Clone + 'static,
    G::Cursor: Observe,
{
    let mut count = BeliefCount::default();
    for match_idx in 0..n_matches {
        count.n_matches += 1;
        let mut rng = seed.child(match_idx as u64).rng();
        let mut cursor = game.cursor();
        let mut followers: Vec<(RoleId, Follower<G>)> =
            players(game).map(|me| (me, Follower::new(game, me, Model::uniform()))).collect();
        while !cursor.is_terminal() && followers.iter().any(|it| it.1.is_exact()) {
            let Some(joint) = draw_joint(game, &mut cursor, &mut rng) else { break };
            cursor.play(&joint);
            if cursor.is_terminal() {
                break;
            }
            for (me, follower) in followers.iter_mut().filter(|it| it.1.is_exact()) {
                let observed = Observation::new(joint[me.index()], cursor.percepts(*me));
                let patience =
                    Patience { for_many: Deadline::after(time), for_one: Deadline::after(FOR_ONE) };
                follower.follow(observed, &mut rng, &patience);
                count.n_steps += 1;
                count.n_lost += usize::from(follower.is_inconsistent());
                if follower.is_exact() {
                    count.n_exact += 1;
                    count.n_missing += usize::from(follower.weight_of(cursor.state()).is_none());
                }
            }
        }
    }
    count
}

/// Measures the value of an opponent model: the mean log ratio between the probability it gives to
/// the true state and the probability under a uniform model, over the steps in which that is not
/// certain.
///
/// Also returns the number of these steps. The roles play by a search until the deadline.
pub fn model_gain<G>(
    game: &G,
    spec: &SearchSpec,
    n_matches: usize,
    seed: Seed,
    deadline: &Deadline,
) -> (f64, usize)
where
    G: Searchable,
{
    let (mut sum, mut n_steps) = (0.0, 0);
    for match_idx in 0..n_matches {
        let seed = seed.child(match_idx as u64);
        let mut rng = seed.rng();
        let mut cursor = game.cursor();
        let model = Model::learned(game, &mut rng, deadline);
        let mut seats: Vec<_> = players(game)
            .map(|me| {
                let of = |model| Follower::new(game, me, model);
                (me, of(Model::uniform()), of(model.clone()), spec.build_informed(game))
            })
            .collect();
        while !cursor.is_terminal() && seats.iter().all(|it| it.1.is_exact()) && !deadline.reached()
        {
            let Some(mut joint) = draw_joint(game, &mut cursor, &mut rng) else { break };
            for (me, plain, _, searcher) in &mut seats {
                let limits = SearchLimits::iterations(N_MODEL_ITERATIONS, Seed(rng.next_u64()));
                let limits = SearchLimits { deadline: deadline.clone(), ..limits };
                let found = searcher.search(&plain.information(), &limits);
                let chosen = found.chosen.filter(|id| cursor.legal_moves(*me).contains(id));
                chosen.into_iter().for_each(|id| joint[me.index()] = id);
            }
            cursor.play(&joint);
            if cursor.is_terminal() {
                break;
            }
            for (me, plain, modelled, _) in &mut seats {
                let observed = Observation::new(joint[me.index()], cursor.percepts(*me));
                for follower in [&mut *plain, &mut *modelled] {
                    let soon = Deadline::after(Duration::from_millis(20));
                    let patience = Patience { for_many: soon.clone(), for_one: soon };
                    follower.follow(observed.clone(), &mut rng, &patience);
                }
                let weights = [&*plain, &*modelled].map(|it| it.weight_of(cursor.state()));
                if let [Some(plain_weight), Some(weight)] = weights
                    && plain.is_exact()
                    && modelled.is_exact()
                    && plain_weight < 1.0
                {
                    sum += (weight / plain_weight).ln();
                    n_steps += 1;
                }
            }
        }
    }
    (sum / n_steps.max(1) as f64, n_steps)
}

/// Iterations of each search with which the roles play in [`model_gain`].
const N_MODEL_ITERATIONS: u64 = 300;

/// Plays a random joint move and returns what a role observes, or `None` if the game is over.
pub fn random_step<G: Game>(
    game: &G,
    cursor: &mut G::Cursor,
    me: RoleId,
    rng: &mut Rng,
) -> Option<Observation>
where
    G::Cursor: Observe,
{
    let joint = draw_joint(game, cursor, rng)?;
    cursor.play(&joint);
    (!cursor.is_terminal()).then(|| Observation::new(joint[me.index()], cursor.percepts(me)))
}
