//! Hidden information: what followers derive from observations, and that searches use nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ludex_base::{BitSet, Deadline, Goal, MoveId, PerceptId, RoleId, Seed, Source};
use ludex_circuit::{Circuit, Rules};
use ludex_game::{
    Belief, BeliefLimits, Cursor, Describe, Game, Learned, Observe, OneByOne, Playouts, Role,
    StateOf,
};
use ludex_machine::Machine;
use ludex_macucb::{NETWORK_SEARCHES, Networks, WithNetworks};
use ludex_pipeline::{Engine, LoadOptions, load};
use ludex_player::{AnySearch, follower};
use ludex_search::information::{Follower, Model, Observation, Patience};
use ludex_search::{Claim, SearchLimits, SearchSpec};
use ludex_testkit::hidden::{
    count_beliefs, count_doubts, information_after, random_step, search_informed,
};
use num_traits::ToPrimitive as _;

fn machine_of(name: &str, rules: &str) -> Machine {
    let loaded = load(Source::new(name, rules), &LoadOptions::default()).expect("it loads");
    let Engine::Machine(machine) = loaded.engine else { unreachable!("{name} is small") };
    machine
}

fn game(name: &str) -> Machine {
    let library = ludex_testkit::library();
    let rules = library.iter().find(|rules| rules.name == name).expect("a game of the library");
    machine_of(name, &rules.text())
}

/// Every search, and `mac-ucb:faithful`.
fn searches() -> impl Iterator<Item = SearchSpec<AnySearch>> {
    let faithful = SearchSpec::parse_in(NETWORK_SEARCHES, "search", "mac-ucb:faithful");
    ludex_player::searches().chain([faithful.expect("it is registered").of()])
}

/// A game with these rules, ready for searches on networks.
fn with_networks<G>(game: &G, rules: Arc<dyn Rules<StateOf<G>>>) -> WithNetworks<G>
where
    G: Game + Clone,
{
    let networks = Networks::new(Some(rules));
    WithNetworks { game: game.clone(), feature_finder: None, networks }
}

#[test]
fn exact_information_equals_the_belief() {
    for name in ["monty-hall", "kuhn-poker", "blind-tictactoe", "mastermind-small", "guess-dice"] {
        let game = game(name);
        let mut n_compared = 0;
        for seed in 0..6 {
            let me = RoleId::new(0);
            let mut rng = Seed(seed).rng();
            let mut cursor = game.cursor();
            let mut other = game.cursor();
            let mut follower = Follower::new(&game, me, Model::uniform());
            let mut belief = Belief::initial(&game, &[me]);
            while let Some(observation) = random_step(&game, &mut cursor, me, &mut rng) {
                let learned = Learned::going_on(&observation.percepts);
                let limits = BeliefLimits::default();
                let next = belief.follow(&mut other, &[observation.own], &learned, &limits);
                belief = next.expect("a small belief");
                follower.follow(observation, &mut rng, &Patience::endless());
                let known = follower.information();
                if !known.is_exact() {
                    break;
                }
                assert_eq!(known.possible().len(), belief.states().len(), "{name}");
                for (state, probability) in belief.states() {
                    let found = known.possible().iter().find(|it| it.state == *state);
                    let weight = found.expect("the same states").weight;
                    let exact = probability.to_f64().expect("a small fraction");
                    assert!((weight - exact).abs() < 1e-9, "{name}: {weight} for {exact}");
                }
                // A belief made from these float weights has nearly the same fractions.
                let weighted = known.possible().iter().map(|it| (it.state.clone(), it.weight));
                let read = Belief::of(&game, &[me], weighted);
                for (state, probability) in read.states() {
                    let found = belief.states().iter().find(|it| it.0 == *state);
                    let exact = &found.expect("the same states").1;
                    let off = (probability - exact).to_f64().expect("a small fraction");
                    assert!(off.abs() < 1e-9, "{name}: {probability} for {exact}");
                }
                n_compared += 1;
            }
        }
        assert!(n_compared > 0 || name == "guess-dice", "{name}");
    }
}

/// The experiment `hidden` repeats this on a thousand matches, also of public rulesheets.
#[test]
fn exact_information_always_contains_the_true_state() {
    let mut n_exact = 0;
    let (mut n_games, mut n_matches) = (0, 0);
    for rules in ludex_testkit::library() {
        let text = rules.text();
        if !text.contains("(sees ") {
            continue;
        }
        let game = machine_of(&rules.name, &text);
        let count = count_beliefs(&game, 20, Seed(1), Duration::from_millis(4));
        assert_eq!((count.n_missing, count.n_lost), (0, 0), "{}: {count:?}", rules.name);
        n_exact += count.n_exact;
        n_games += 1;
        n_matches += count.n_matches;
    }
    assert!(n_games >= 13 && n_exact > n_matches, "{n_games} games, {n_exact} exact steps");
}

#[test]
fn particles_agree_with_all_observations() {
    // This game has too many possible states to keep all: 850,080 caves.
    let game = game("wumpus");
    let me = RoleId::new(0);
    let mut rng = Seed(5).rng();
    let mut n_sampled = 0;
    for _ in 0..3 {
        let mut cursor = game.cursor();
        let mut follower = Follower::new(&game, me, Model::uniform());
        let mut observations: Vec<Observation> = Vec::new();
        while let Some(observation) = random_step(&game, &mut cursor, me, &mut rng) {
            observations.push(observation);
            let patience = Patience {
                for_many: Deadline::after(Duration::from_millis(30)),
                for_one: Deadline::never(),
            };
            follower.follow(observations[observations.len() - 1].clone(), &mut rng, &patience);
            assert!(!follower.is_inconsistent());
            let known = follower.information();
            let steps: Vec<Observation> = known.steps().iter().flatten().cloned().collect();
            assert_eq!(steps, observations);
            let weights: f64 = known.possible().iter().map(|it| it.weight).sum();
            assert!((weights - 1.0).abs() < 1e-9, "{weights}");
            // The role knows where it is, so every particle agrees on that.
            let is_own = |text: &String| text.starts_with("(at ") || text.starts_with("(facing ");
            let own =
                |state| game.state_texts(state).into_iter().filter(is_own).collect::<Vec<_>>();
            let truth = own(cursor.state());
            assert!(known.possible().iter().all(|it| own(&it.state) == truth));
            n_sampled += usize::from(!known.is_exact());
        }
    }
    assert!(n_sampled > 10, "{n_sampled}");
}

/// Where the belief is small enough to be exact, the frequencies in a sample must match its probabilities.
#[test]
fn particles_are_as_frequent_as_their_states_are_probable() {
    let mut n_compared = 0;
    for name in ["kuhn-poker", "mastermind-small", "monty-hall", "blind-tictactoe"] {
        let game = game(name);
        for seed in 0..3 {
            let me = RoleId::new(0);
            let mut rng = Seed(seed).rng();
            let mut cursor = game.cursor();
            let [mut exact, mut sampled] =
                [(); 2].map(|()| Follower::new(&game, me, Model::uniform()));
            sampled.give_up_exactness();
            while let Some(observed) = random_step(&game, &mut cursor, me, &mut rng) {
                exact.follow(observed.clone(), &mut rng, &Patience::endless());
                sampled.follow(observed, &mut rng, &Patience::endless());
                assert!(
                    exact.is_exact() && !sampled.is_exact() && !sampled.is_inconsistent(),
                    "{name}"
                );
                // The total variation distance: half the sum of all differences.
                let known = exact.information();
                let off = known.possible().iter().map(|it| {
                    (it.weight - sampled.weight_of(&it.state).unwrap_or(0.0)).abs() / 2.0
                });
                let off: f64 = off.sum();
                let n_states = known.possible().len();
                // The bound is about three times the deviation that this many draws have by chance.
                let by_chance = (n_states as f64 / 2_003.0).sqrt();
                assert!(off <= 1.5 * by_chance, "{name}: {off} of {n_states} states");
                n_compared += usize::from(n_states > 1);
            }
        }
    }
    assert!(n_compared > 10, "{n_compared}");
}

#[test]
fn a_learned_model_prefers_good_moves_and_excludes_none() {
    let game = game("blind-tictactoe");
    let mut rng = Seed(1).rng();
    let me = RoleId::new(0);
    let model = Model::learned(&game, &mut rng, &Deadline::never());
    let [mut plain, mut modelled] =
        [Model::uniform(), model].map(|model| Follower::new(&game, me, model));
    let mut cursor = game.cursor();
    let mut n_unlike = 0;
    for _ in 0..4 {
        let draw = |role| *rng.choose(cursor.legal_moves(role)).expect("a move");
        let joint: Vec<MoveId> = game.role_ids().map(draw).collect();
        cursor.play(&joint);
        let observed = Observation::new(joint[0], cursor.percepts(me));
        for follower in [&mut plain, &mut modelled] {
            follower.follow(observed.clone(), &mut Seed(1).rng(), &Patience::endless());
        }
        let (plain, modelled) = (plain.information(), modelled.information());
        assert!(plain.is_exact() && modelled.is_exact());
        assert_eq!(plain.possible().len(), modelled.possible().len());
        for (plain, modelled) in plain.possible().iter().zip(modelled.possible()) {
            assert_eq!(plain.state, modelled.state);
            // The model lets others play uniformly half of the time; observations may favor other states.
            assert!(modelled.weight > plain.weight / 16.0, "{modelled:?} {plain:?}");
            n_unlike += usize::from((modelled.weight - plain.weight).abs() > 1e-3);
        }
    }
    assert!(n_unlike > 0);
}

/// Cutting the right wire is worth 100, or 90 if the agent has asked which one it is.
const BOMB: &str = "
    (role agent) (role random) (wire red) (wire blue) (init (phase arm))
    (<= (legal random (arm ?w)) (true (phase arm)) (wire ?w))
    (<= (legal random noop) (not (true (phase arm))))
    (<= (legal agent noop) (true (phase arm)))
    (<= (legal agent ask) (true (phase prepare)))
    (<= (legal agent wait) (true (phase prepare)))
    (<= (legal agent (cut ?w)) (true (phase cut)) (wire ?w))
    (<= (next (phase prepare)) (true (phase arm)))
    (<= (next (phase cut)) (true (phase prepare)))
    (<= (next (phase over)) (true (phase cut)))
    (<= (next (armed ?w)) (does random (arm ?w)))
    (<= (next (armed ?w)) (true (armed ?w)))
    (<= (next asked) (does agent ask))
    (<= (next asked) (true asked))
    (<= (next safe) (does agent (cut ?w)) (true (armed ?w)))
    (<= (sees agent (armed ?w)) (SEEN) (true (armed ?w)))
    (<= terminal (true (phase over)))
    (<= (goal agent 100) (true safe) (not (true asked)))
    (<= (goal agent 90) (true safe) (true asked))
    (<= (goal agent 0) (not (true safe)))
    (goal random 0)";

#[test]
fn searches_pay_for_information_that_is_worth_its_price() {
    let asked = machine_of("bomb", &BOMB.replace("SEEN", "does agent ask"));
    // In this variant the agent sees the wire anyway.
    let shown = machine_of("shown-bomb", &BOMB.replace("SEEN", "true (phase prepare)"));
    let mut n_claims = 0;
    for spec in searches() {
        if !spec.claims.contains(&Claim::ValuesInformation) {
            continue;
        }
        n_claims += 1;
        for (game, right, value) in [(&asked, "ask", 0.9), (&shown, "wait", 1.0)] {
            let known = information_after(game, RoleId::new(0), &[&["_", "(arm red)"]]);
            assert_eq!(known.possible().len(), 2);
            let rules = Arc::new(game.circuit().clone());
            let limits = SearchLimits::iterations(3_000, Seed(1));
            let report = spec.build_informed(&with_networks(game, rules)).search(&known, &limits);
            let chosen = game.move_text(report.chosen.expect("it has moves"));
            assert_eq!(chosen, right, "{spec}: {report:?}");
            let reward = report.reward.expect("it was searched");
            assert!((reward - value).abs() < 0.1, "{spec}: {reward}");
        }
    }
    assert!(n_claims >= 7);
    // A search that treats possible states as known does not ask.
    let known = information_after(&asked, RoleId::new(0), &[&["_", "(arm red)"]]);
    let hyperplay = SearchSpec::parse("hyperplay").expect("a registered search");
    let report = search_informed(&hyperplay, &asked, &known, 3_000, Seed(1));
    assert_eq!(asked.move_text(report.chosen.expect("a move")), "wait", "{report:?}");
}

#[test]
fn regret_minimization_on_the_whole_game_mixes_as_in_equilibrium() {
    let game = game("kuhn-poker");
    let cfr = SearchSpec::parse("cfr").expect("a registered search");
    // In equilibrium the second player bluffs with the jack, and calls with the queen, a third of the time.
    for (deal, first, wanted) in
        [("(deal queen jack)", "pass", 1.0 / 3.0), ("(deal king queen)", "bet", 1.0 / 3.0)]
    {
        let line: [&[&str]; 2] = [&["_", "_", deal], &[first, "_", "_"]];
        let known = information_after(&game, RoleId::new(1), &line);
        let report = search_informed(&cfr, &game, &known, 5_000, Seed(1));
        let total: u64 = report.moves.iter().map(|it| it.n_visits).sum();
        let bet = report.moves.iter().find(|it| game.move_text(it.id) == "bet").expect("a move");
        let part = bet.n_visits as f64 / total as f64;
        assert!((part - wanted).abs() < 0.05, "{deal}: {part}");
    }
}

/// A machine whose true states are marked, so that it panics when a search touches one.
#[derive(Clone)]
struct Marked {
    machine: Machine,
    is_thinking: Arc<AtomicBool>,
}

#[derive(Clone)]
struct MarkedCursor {
    cursor: <Machine as Game>::Cursor,
    state: MarkedState,
    is_thinking: Arc<AtomicBool>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct MarkedState {
    state: StateOf<Machine>,
    is_true: bool,
}

impl Game for Marked {
    type Cursor = MarkedCursor;

    fn roles(&self) -> &[Role] {
        self.machine.roles()
    }

    fn cursor(&self) -> MarkedCursor {
        let cursor = self.machine.cursor();
        let state = MarkedState { state: cursor.state().clone(), is_true: false };
        MarkedCursor { cursor, state, is_thinking: Arc::clone(&self.is_thinking) }
    }

    fn has_percepts(&self) -> bool {
        self.machine.has_percepts()
    }
}

impl Playouts for Marked {
    type Runner = OneByOne<MarkedCursor>;

    fn runner(&self) -> Self::Runner {
        OneByOne::new(self)
    }
}

impl Describe for Marked {
    fn move_text(&self, id: MoveId) -> String {
        self.machine.move_text(id)
    }

    fn state_texts(&self, state: &MarkedState) -> Vec<String> {
        self.machine.state_texts(&state.state)
    }

    fn percept_text(&self, id: PerceptId) -> String {
        self.machine.percept_text(id)
    }

    fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        self.machine.find_move(role, text)
    }

    fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.machine.find_percept(role, text)
    }
}

impl Rules<MarkedState> for Marked {
    fn circuit(&self) -> &Circuit {
        self.machine.circuit()
    }

    fn fluents<'a>(&self, state: &'a MarkedState) -> &'a BitSet {
        assert!(!state.is_true, "a search must not put the true state into a network");
        &state.state
    }

    fn state(&self, fluents: &BitSet) -> MarkedState {
        MarkedState { state: fluents.clone(), is_true: false }
    }
}

impl MarkedCursor {
    fn touch(&self) {
        let is_thinking = self.is_thinking.load(Ordering::Relaxed);
        assert!(!(self.state.is_true && is_thinking), "a search must not use the true state");
    }
}

impl Cursor for MarkedCursor {
    type State = MarkedState;

    fn state(&self) -> &MarkedState {
        self.touch();
        &self.state
    }

    fn set_state(&mut self, state: &MarkedState) {
        self.state = state.clone();
        self.cursor.set_state(&state.state);
        self.touch();
    }

    fn play(&mut self, joint: &[MoveId]) {
        self.touch();
        self.cursor.play(joint);
        self.state.state = self.cursor.state().clone();
    }

    fn is_terminal(&mut self) -> bool {
        self.touch();
        self.cursor.is_terminal()
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        self.touch();
        self.cursor.legal_moves(role)
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        self.touch();
        self.cursor.goals(role)
    }
}

impl Observe for MarkedCursor {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        self.touch();
        self.cursor.percepts(role)
    }
}

/// Game, role, and two lines of play.
type Indistinguishable = (&'static str, usize, [&'static [&'static [&'static str]]; 2]);

/// Pairs of different lines of play that look the same to a role.
const INDISTINGUISHABLE: &[Indistinguishable] = &[
    (
        "monty-hall",
        0,
        [
            &[&["noop", "(hide 1)"], &["(choose 1)", "noop"], &["noop", "(open 2)"]],
            &[&["noop", "(hide 3)"], &["(choose 1)", "noop"], &["noop", "(open 2)"]],
        ],
    ),
    (
        "kuhn-poker",
        0,
        [
            &[
                &["noop", "noop", "(deal queen jack)"],
                &["pass", "noop", "noop"],
                &["noop", "bet", "noop"],
            ],
            &[
                &["noop", "noop", "(deal queen king)"],
                &["pass", "noop", "noop"],
                &["noop", "bet", "noop"],
            ],
        ],
    ),
];

#[test]
fn searches_never_see_the_true_state() {
    for (name, me, lines) in INDISTINGUISHABLE {
        let me = RoleId::new(*me);
        let machine = game(name);
        let is_thinking = Arc::new(AtomicBool::new(false));
        let marked = Marked { machine, is_thinking: Arc::clone(&is_thinking) };
        for spec in searches() {
            let [first, second] = lines.map(|line| {
                let mut truth = marked.cursor();
                truth.state.is_true = true;
                let mut follower = Follower::new(&marked, me, Model::uniform());
                let from = with_networks(&marked, Arc::new(marked.clone()));
                let mut searcher = spec.build_informed(&from);
                let mut rng = Seed(1).rng();
                let mut reports = Vec::new();
                let set_thinking = |value: bool| is_thinking.store(value, Ordering::Relaxed);
                for texts in line {
                    let find = |(role, text): (RoleId, &&str)| {
                        marked.machine.find_move(role, text).expect("a move of the game")
                    };
                    let joint: Vec<MoveId> = marked.role_ids().zip(*texts).map(find).collect();
                    ludex_game::play_checked(&mut truth, joint.len(), &joint).expect("legal");
                    let observed = Observation::new(joint[me.index()], truth.percepts(me));
                    set_thinking(true);
                    follower.follow(observed, &mut rng, &Patience::endless());
                    let known = follower.information();
                    let limits = SearchLimits::iterations(200, Seed(7));
                    let report = searcher.search(&known, &limits).without_times();
                    reports.push((known.steps().to_vec(), report));
                    set_thinking(false);
                }
                (truth.state.state.clone(), reports)
            });
            assert_ne!(first.0, second.0, "{name}: the lines must lead to different states");
            assert_eq!(first.1, second.1, "{name}: {spec} used more than its observations");
        }
    }
}

/// Switching is the only right choice in the last step of Monty Hall.
#[test]
fn the_flagship_plays_by_probabilities() {
    use ludex_player::{Player, PlayerConfig, PlayerSpec, Seen};
    let rules = ludex_testkit::library();
    let rules = rules.iter().find(|rules| rules.name == "monty-hall").expect("a library game");
    let loaded = load(Source::new("monty-hall", rules.text()), &LoadOptions::default());
    let loaded = loaded.expect("it loads");
    let Engine::Machine(machine) = &loaded.engine else { unreachable!("it is small") };
    let spec = PlayerSpec::parse("ludex").expect("a registered player");
    let me = RoleId::new(0);
    for seed in 0..4 {
        let config = PlayerConfig { iterations: Some(2_000), ..PlayerConfig::new(Seed(seed)) };
        let program = Arc::clone(&loaded.program);
        let mut player = Player::new(&spec, machine, program, config);
        let soon = || std::time::Instant::now() + Duration::from_secs(60);
        player.start(me, soon());
        let mut rng = Seed(seed).rng();
        let mut cursor = machine.cursor();
        let mut last: Option<(MoveId, Vec<PerceptId>)> = None;
        let mut played = Vec::new();
        while !cursor.is_terminal() {
            let seen = match &last {
                None => Seen::Nothing,
                Some((own, percepts)) => Seen::Own { own: *own, percepts },
            };
            let chosen = player.choose(seen, soon()).chosen.expect("the engine is fine");
            let host = *rng.choose(cursor.legal_moves(RoleId::new(1))).expect("a move");
            cursor.play(&[chosen, host]);
            last = Some((chosen, cursor.percepts(me).to_vec()));
            played.push(machine.move_text(chosen));
        }
        assert_eq!(played[3], "switch", "{played:?}");
    }
}

/// Without time for a sample the follower keeps one state, which soon contradicts the observations. It must
/// then change the trajectory until it is consistent.
#[test]
fn an_inconsistent_trajectory_is_repaired() {
    let patience =
        Patience { for_many: Deadline::after(Duration::ZERO), for_one: Deadline::never() };
    for name in
        ["war", "tictactoe-latent-random", "wumpus", "schnappt-hubi", "vacuum-cleaner-random"]
    {
        let game = game(name);
        let plain = |me| Follower::new(&game, me, Model::uniform());
        let count = count_doubts(&game, &plain, 1, Seed(1), &|| patience.clone());
        assert!(count.n_sampled > 3, "{name}: {count:?}");
        assert_eq!((count.n_doubtful, count.n_illegal), (0, 0), "{name}: {count:?}");
    }
}

/// A busy machine may leave no time to look for states. The legal moves must be known even then.
#[test]
fn without_time_for_states_legal_moves_follow_from_the_rules() {
    let now = Deadline::after(Duration::ZERO);
    let patience = Patience { for_many: now.clone(), for_one: now };
    let mut n_illegal_without_rules = 0;
    for name in ["blind-tictactoe", "tictactoe-latent-random", "wumpus", "kuhn-poker"] {
        let game = game(name);
        let count = |follower: &dyn Fn(RoleId) -> Follower<Machine>| {
            count_doubts(&game, follower, 4, Seed(1), &|| patience.clone())
        };
        let certain = count(&|me| follower(&game, me, Model::uniform()));
        assert_eq!(certain.n_illegal, 0, "{name}: {certain:?}");
        // Kuhn poker has so few states that its belief is exact without time.
        assert!(certain.n_doubtful > 10 || name == "kuhn-poker", "{name}: {certain:?}");
        let plain = count(&|me| Follower::new(&game, me, Model::uniform()));
        n_illegal_without_rules += plain.n_illegal;
    }
    assert!(
        n_illegal_without_rules > 10,
        "{n_illegal_without_rules}: the games are too easy to test anything"
    );
}
