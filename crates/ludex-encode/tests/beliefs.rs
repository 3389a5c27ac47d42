//! Tests beliefs of roles with hidden information, and the stochastic networks of their decisions.
//! [`Plays`] is the slow reference: every play from the beginning, grouped by moves and
//! observations.

use std::collections::{BTreeMap, HashMap};

use ludex_base::{BitSet, Limits, MoveId, PerceptId, RoleId, Seed, Source};
use ludex_encode::{EncodeConfig, Information, LookaheadError, LookaheadLimits, Template, encode};
use ludex_game::{
    Belief, BeliefError, BeliefLimits, Cursor, Describe, Game, JointMoves, Learned, Observe,
};
use ludex_machine::{Machine, MachineCursor};
use ludex_scsp::{
    Arithmetic, Method, Policy, PolicyId, PolicyNode, Rational, SolveConfig, StochasticNetwork,
    best_by_definition, evaluate_policy, rational, solve,
};

fn library_machine(name: &str) -> Machine {
    let path = format!("{}/../../games/{name}/rules.kif", env!("CARGO_MANIFEST_DIR"));
    machine_of(&std::fs::read_to_string(path).expect("a game of the library"))
}

fn machine_of(rules: &str) -> Machine {
    let checked = ludex_gdl::check_source(&Source::new("test.kif", rules.to_string()));
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let ground = ludex_ground::ground(&program, &Limits::usual()).expect("the game is small");
    Machine::new(ludex_circuit::compile(&ground))
}

fn template(machine: &Machine) -> Template {
    encode(machine.circuit(), &EncodeConfig::default()).expect("the game is not too large")
}

fn role(machine: &Machine, name: &str) -> RoleId {
    let place = machine.roles().iter().position(|it| it.name == name);
    RoleId::new(place.expect("the game has the role"))
}

/// All roles but `random`.
fn everyone(machine: &Machine) -> Vec<RoleId> {
    machine.role_ids().filter(|it| !machine.roles()[it.index()].is_random).collect()
}

/// A game in which a coin is hidden under one of three cups. Two seekers lift cups, twice, and both
/// see what was lifted and found.
const CUPS: &str = "
    (role left) (role right) (role random) (cup a) (cup b) (cup c)
    (seeker left) (seeker right) (then hiding looking) (then looking again) (then again over)
    (init (phase hiding))
    (<= (next (phase ?q)) (true (phase ?p)) (then ?p ?q))
    (<= (legal random (hide ?c)) (true (phase hiding)) (cup ?c))
    (<= (legal random wait) (not (true (phase hiding))))
    (<= (legal ?s wait) (seeker ?s) (true (phase hiding)))
    (<= (legal ?s (lift ?c)) (seeker ?s) (cup ?c) (not (true (phase hiding))))
    (<= (next (coin ?c)) (does random (hide ?c)))
    (<= (next (coin ?c)) (true (coin ?c)))
    (<= (next (found ?s)) (does ?s (lift ?c)) (true (coin ?c)))
    (<= (next (found ?s)) (true (found ?s)))
    (<= (sees ?s (lifts ?t ?c)) (seeker ?s) (does ?t (lift ?c)))
    (<= (sees ?s (coin ?c)) (seeker ?s) (does ?t (lift ?c)) (true (coin ?c)))
    (<= terminal (true (phase over)))
    (<= (goal ?s 100) (true (found ?s)))
    (<= (goal ?s 0) (seeker ?s) (not (true (found ?s))))";

/// The moves and observations of a party, step by step.
type History = Vec<(Vec<MoveId>, Learned)>;

/// All plays of some steps by the history of the party, with their probabilities apart from the
/// moves of the party.
struct Plays<'a> {
    machine: &'a Machine,
    party: Vec<RoleId>,
}

impl Plays<'_> {
    /// Returns all results of a step in a state in which the party plays these moves.
    fn after(&self, state: &BitSet, moves: &[MoveId]) -> Vec<(Learned, BitSet, Rational)> {
        let mut cursor = self.machine.cursor();
        cursor.set_state(state);
        let mut joints = JointMoves::of(&mut cursor, self.machine.roles().len());
        let mut found = Vec::new();
        while let Some(joint) = joints.next_joint() {
            if self.party.iter().zip(moves).any(|(role, id)| joint[role.index()] != *id) {
                continue;
            }
            cursor.set_state(state);
            cursor.play(joint);
            let seen = self.party.iter().flat_map(|&role| cursor.percepts(role).to_vec());
            let mut percepts: Vec<PerceptId> = seen.collect();
            percepts.sort();
            let learned = Learned { percepts, is_over: cursor.is_terminal() };
            found.push((learned, cursor.state().clone(), rational(1, 1)));
        }
        let share = rational(1, found.len().max(1) as i64);
        found.iter_mut().for_each(|(_, _, weight)| *weight = share.clone());
        found
    }

    fn choices(&self, state: &BitSet) -> Vec<Vec<MoveId>> {
        let mut cursor: MachineCursor = self.machine.cursor();
        cursor.set_state(state);
        let mut choices: Vec<Vec<MoveId>> = vec![Vec::new()];
        for &role in &self.party {
            let legal = cursor.legal_moves(role).to_vec();
            let extend = |choice: &Vec<MoveId>| {
                let choice = choice.clone();
                legal.iter().map(move |&id| [&choice[..], &[id]].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(extend).collect();
        }
        choices
    }

    /// Returns for each history of `n_steps` steps, or fewer if the game is over, the probability
    /// of reaching each state.
    fn by_history(&self, n_steps: usize) -> BTreeMap<History, HashMap<BitSet, Rational>> {
        let initial = self.machine.cursor().state().clone();
        let mut plays = vec![(History::new(), initial, rational(1, 1))];
        for _ in 0..n_steps {
            let mut longer = Vec::new();
            for (history, state, weight) in plays {
                if history.last().is_some_and(|(_, learned)| learned.is_over) {
                    longer.push((history, state, weight));
                    continue;
                }
                for moves in self.choices(&state) {
                    for (learned, next, share) in self.after(&state, &moves) {
                        let mut history = history.clone();
                        history.push((moves.clone(), learned));
                        longer.push((history, next, &weight * share));
                    }
                }
            }
            plays = longer;
        }
        let mut by_history: BTreeMap<History, HashMap<BitSet, Rational>> = BTreeMap::new();
        for (history, state, weight) in plays {
            *by_history.entry(history).or_default().entry(state).or_insert(rational(0, 1)) +=
                weight;
        }
        by_history
    }

    /// Returns the greatest expected goal of a role in `n_steps` steps from unseen states with
    /// weights, times the sum of the weights.
    fn best(&self, states: &[(BitSet, Rational)], role: RoleId, n_steps: usize) -> Rational {
        let mut cursor = self.machine.cursor();
        cursor.set_state(&states[0].0);
        if cursor.is_terminal() {
            let mut total = rational(0, 1);
            for (state, weight) in states {
                cursor.set_state(state);
                total += weight * rational(i64::from(cursor.goal(role).value()), 1);
            }
            return total;
        }
        if n_steps == 0 {
            return rational(0, 1);
        }
        let mut sure = self.choices(&states[0].0);
        for (state, _) in states {
            let legal = self.choices(state);
            sure.retain(|choice| legal.contains(choice));
        }
        let value = |moves: &Vec<MoveId>| {
            let mut by_learned: BTreeMap<Learned, Vec<(BitSet, Rational)>> = BTreeMap::new();
            for (state, weight) in states {
                for (learned, next, share) in self.after(state, moves) {
                    by_learned.entry(learned).or_default().push((next, weight * share));
                }
            }
            by_learned.values().map(|next| self.best(next, role, n_steps - 1)).sum::<Rational>()
        };
        sure.iter().map(value).max().expect("some move is certainly legal")
    }
}

/// Returns the exact optimum, and checks that the policy has the value that the solver reports.
fn best(network: &StochasticNetwork, method: Method) -> (Rational, Policy) {
    let arithmetic = Arithmetic::Exact;
    let config = SolveConfig { arithmetic, method, ..SolveConfig::best() };
    let report = solve(network, &config).expect("the network is valid");
    let (value, policy) = (report.exact.expect("exact"), report.policy.expect("a policy"));
    let evaluation = evaluate_policy(network, &policy).expect("the policy fits");
    assert_eq!(evaluation.utility, value);
    assert_eq!(evaluation.satisfaction, rational(1, 1));
    (value, policy)
}

fn sorted(states: impl Iterator<Item = (BitSet, Rational)>) -> Vec<(BitSet, Rational)> {
    let mut states: Vec<(BitSet, Rational)> = states.collect();
    states.sort();
    states
}

/// Checks that each belief is the conditional distribution over the consistent plays.
fn check_beliefs(machine: &Machine, party: &[RoleId], n_steps: usize) {
    let plays = Plays { machine, party: party.to_vec() };
    let mut cursor = machine.cursor();
    let histories = plays.by_history(n_steps);
    assert!(!histories.is_empty());
    for (history, states) in histories {
        let mut belief = Belief::initial(machine, party);
        for (moves, learned) in &history {
            belief = belief
                .follow(&mut cursor, moves, learned, &BeliefLimits::default())
                .expect("the play is possible");
        }
        let total: Rational = states.values().sum();
        let expected = sorted(states.into_iter().map(|(state, weight)| (state, weight / &total)));
        assert_eq!(sorted(belief.states().iter().cloned()), expected, "{history:?}");
    }
}

#[test]
fn a_belief_is_the_distribution_over_consistent_plays() {
    for (name, roles, n_steps) in [
        ("hidden-matching-pennies", &["j1"][..], 2),
        ("monty-hall", &["guest"], 4),
        ("kuhn-poker", &["first"], 4),
        ("kuhn-poker", &["second"], 4),
        ("kuhn-poker", &["second", "first"], 4),
        ("blind-tictactoe", &["xplayer"], 2),
        ("mastermind-small", &["player"], 2),
        ("tictactoe-2x2", &["oplayer"], 4),
    ] {
        let machine = library_machine(name);
        let party: Vec<RoleId> = roles.iter().map(|it| role(&machine, it)).collect();
        check_beliefs(&machine, &party, n_steps);
    }
}

/// Returns the value that the policy gives a variable if the variables before it have the values of
/// a path; it takes the first branch if the path has no value.
fn decided(policy: &Policy, variable: ludex_csp::VarId, path: &[(ludex_csp::VarId, i32)]) -> i32 {
    let mut id: PolicyId = policy.root;
    loop {
        id = match policy.node(id) {
            PolicyNode::Decide { variable: of, value, .. } if *of == variable => return *value,
            PolicyNode::Decide { next, .. } => *next,
            PolicyNode::Draw { variable, branches } => {
                let wanted = path.iter().find(|(of, _)| of == variable).map(|(_, value)| *value);
                let is_it = |(value, _): &&(i32, PolicyId)| wanted.is_none_or(|it| it == *value);
                branches.iter().find(is_it).expect("the branch is there").1
            }
            end => panic!("{end:?} before the decision"),
        };
    }
}

/// [000 examples 1.15 and 4.2]: a player that copies the coin it sees gets 75, one that does not
/// gets 25.
#[test]
fn hidden_matching_pennies_is_worth_75_against_25() {
    let machine = library_machine("hidden-matching-pennies");
    let template = template(&machine);
    let j1 = role(&machine, "j1");
    let belief = Belief::initial(&machine, &[j1]);
    let limits = LookaheadLimits::default();
    let plan = template.lookahead(&machine, &belief, j1, 2, &limits).expect("the game is small");
    assert_eq!(best_by_definition(&plan.network), rational(75, 1));
    for (_, method) in Method::ALL {
        let (value, policy) = best(&plan.network, method);
        assert_eq!(value, rational(75, 1));
        let labels = plan.network.variable(plan.learned[0]).variable.labels.clone();
        for (at, label) in labels.expect("the values have names").iter().enumerate().skip(1) {
            let turned = decided(&policy, plan.moves[1][0], &[(plan.learned[0], at as i32)]);
            let played = template.moves[j1.index()].played(turned).expect("a move");
            let side = machine.move_text(played).replace("(retourne ", "(first ");
            assert!(label.ends_with(&format!("sees {side}")), "{label}: {side}");
        }
    }
    // After the first coin was seen, the constraints of the template give the same values.
    let mut cursor = machine.cursor();
    let wait = belief.legal_moves(&mut cursor, j1);
    let outcomes = belief.outcomes(&mut cursor, &wait, &limits.belief).expect("the game is small");
    assert_eq!(outcomes.len(), 2);
    for outcome in outcomes {
        assert_eq!(outcome.probability, rational(1, 2));
        let [seen] = outcome.learned.percepts[..] else { panic!("one coin is seen") };
        for chosen in outcome.belief.legal_moves(&mut cursor, j1) {
            let side = machine.move_text(chosen).replace("(retourne ", "(first ");
            let worth = if side == machine.percept_text(seen) { 75 } else { 25 };
            assert_eq!(
                value_of(&machine, &template, &outcome.belief, j1, chosen),
                rational(worth, 1)
            );
        }
    }
}

/// Returns the value of a move in both networks of one step.
fn value_of(
    machine: &Machine,
    template: &Template,
    belief: &Belief<BitSet>,
    role: RoleId,
    chosen: MoveId,
) -> Rational {
    let of_role = template.moves[role.index()];
    let value = (chosen.index() - of_role.first.index()) as i32;
    let limits = LookaheadLimits::default();
    let mut plan =
        template.lookahead(machine, belief, role, 1, &limits).expect("one step is small");
    plan.network.require(plan.moves[0][0].equals(value));
    let by_tables = best(&plan.network, Method::ForwardChecking).0;
    let mut decision = template.decision(machine, belief, role);
    decision.network.require(decision.moves[0].equals(value));
    let by_constraints = best(&decision.network, Method::Propagation).0;
    assert_eq!(by_tables, by_constraints);
    by_tables
}

/// The seeds give every unseen fluent one half, or every constant the same probability. The host
/// knows where the car is, so the door he opens carries information about it.
#[test]
fn switching_doors_wins_two_times_out_of_three() {
    let machine = library_machine("monty-hall");
    let template = template(&machine);
    let guest = role(&machine, "guest");
    let mut cursor = machine.cursor();
    let mut belief = Belief::initial(&machine, &[guest]);
    for _ in 0..3 {
        let chosen = belief.legal_moves(&mut cursor, guest)[0];
        let outcomes = belief.outcomes(&mut cursor, &[chosen], &BeliefLimits::default());
        belief = outcomes.expect("the game is small").remove(0).belief;
    }
    // The car is behind the guest's door or behind the other one: two states, not equally likely.
    assert_eq!(belief.states().len(), 2);
    let mut worth = BTreeMap::new();
    for chosen in belief.legal_moves(&mut cursor, guest) {
        let value = value_of(&machine, &template, &belief, guest, chosen);
        worth.insert(machine.move_text(chosen), value);
    }
    assert_eq!(worth["keep"], rational(100, 3));
    assert_eq!(worth["switch"], rational(200, 3));
    let plan = template
        .lookahead(
            &machine,
            &Belief::initial(&machine, &[guest]),
            guest,
            4,
            &LookaheadLimits::default(),
        )
        .expect("the game is small");
    assert_eq!(best(&plan.network, Method::ForwardChecking).0, rational(200, 3));
}

/// Compares both networks of one step, and those of several, with all plays.
#[test]
fn networks_of_decisions_agree_with_all_plays() {
    for (name, of_role, n_steps) in [
        ("kuhn-poker", "first", 4),
        ("kuhn-poker", "second", 4),
        ("monty-hall", "guest", 4),
        ("tictactoe-2x2", "oplayer", 4),
        ("mastermind-small", "player", 2),
    ] {
        let machine = library_machine(name);
        let template = template(&machine);
        let own = role(&machine, of_role);
        let plays = Plays { machine: &machine, party: vec![own] };
        let belief = Belief::initial(&machine, &[own]);
        for n_steps in 1..=n_steps {
            let limits = LookaheadLimits::default();
            let plan = template
                .lookahead(&machine, &belief, own, n_steps, &limits)
                .expect("the game is small");
            let expected = plays.best(belief.states(), own, n_steps);
            let (value, _) = best(&plan.network, Method::ForwardChecking);
            assert_eq!(value, expected, "{name} in {n_steps} steps");
        }
        // One step from the beliefs along a random path.
        let mut rng = Seed(1).rng();
        let (mut belief, mut cursor) = (belief, machine.cursor());
        while !belief.is_over(&mut cursor) {
            let sure = belief.legal_moves(&mut cursor, own);
            for &chosen in sure.iter().take(3) {
                let outcomes = belief
                    .outcomes(&mut cursor, &[chosen], &BeliefLimits::default())
                    .expect("the game is small");
                let mut expected = rational(0, 1);
                for outcome in outcomes.iter().filter(|it| it.learned.is_over) {
                    expected +=
                        &outcome.probability * outcome.belief.expected_goal(&mut cursor, own);
                }
                let value = value_of(&machine, &template, &belief, own, chosen);
                assert_eq!(value, expected, "{name}");
            }
            let chosen = *rng.choose(&sure).expect("some move is certainly legal");
            let mut outcomes = belief
                .outcomes(&mut cursor, &[chosen], &BeliefLimits::default())
                .expect("the game is small");
            belief = outcomes.swap_remove(rng.below(outcomes.len())).belief;
        }
    }
}

/// [000 section 3.3.1]: with shared information there is a single belief, which is the state of a
/// game of complete information.
#[test]
fn shared_information_is_one_belief_that_everyone_has() {
    let machine = machine_of(CUPS);
    assert_eq!(template(&machine).information, Information::Shared);
    let party = everyone(&machine);
    assert_eq!(party.len(), 2);
    check_beliefs(&machine, &party, 3);
    let mut cursor = machine.cursor();
    let limits = BeliefLimits::default();
    let plays = Plays { machine: &machine, party: party.clone() };
    for (history, _) in plays.by_history(3) {
        let mut common = Belief::initial(&machine, &party);
        let mut own: Vec<Belief<BitSet>> =
            party.iter().map(|&role| Belief::initial(&machine, &[role])).collect();
        for (moves, learned) in &history {
            common =
                common.follow(&mut cursor, moves, learned, &limits).expect("the play is possible");
            for (place, belief) in own.iter_mut().enumerate() {
                let of_role = |it: &&PerceptId| {
                    machine.circuit().vocabulary.percepts[it.index()].0 == party[place]
                };
                let percepts = learned.percepts.iter().filter(of_role).copied().collect();
                let learned = Learned { percepts, is_over: learned.is_over };
                *belief = belief
                    .follow(&mut cursor, &[moves[place]], &learned, &limits)
                    .expect("the play is possible");
            }
        }
        let expected = sorted(common.states().iter().cloned());
        for belief in own {
            assert_eq!(sorted(belief.states().iter().cloned()), expected);
        }
    }
}

/// The game of beliefs has the plays of the original: observations have the same probabilities, and
/// final goals the same expectations. Its network has the value that all plays give.
#[test]
fn games_of_shared_information_are_played_on_beliefs() {
    let pennies = library_machine("hidden-matching-pennies");
    let doors = library_machine("monty-hall");
    for (machine, n_steps) in [(machine_of(CUPS), 3), (pennies, 2), (doors, 4)] {
        let template = template(&machine);
        assert_eq!(template.information, Information::Shared);
        let party = everyone(&machine);
        let plays = Plays { machine: &machine, party: party.clone() };
        let mut cursor = machine.cursor();
        // The probability of a history in the game of beliefs.
        let mut ways = vec![(History::new(), rational(1, 1), Belief::initial(&machine, &party))];
        for _ in 0..n_steps {
            let mut longer = Vec::new();
            for (history, probability, belief) in ways {
                for moves in plays.choices(&belief.states()[0].0) {
                    let outcomes =
                        belief.outcomes(&mut cursor, &moves, &BeliefLimits::default()).expect("ok");
                    for outcome in outcomes {
                        let mut history = history.clone();
                        history.push((moves.clone(), outcome.learned));
                        longer.push((history, &probability * outcome.probability, outcome.belief));
                    }
                }
            }
            ways = longer;
        }
        let mut expected = plays.by_history(n_steps);
        for (history, probability, belief) in ways {
            let states = expected.remove(&history).expect("the plays have the history");
            assert_eq!(states.values().sum::<Rational>(), probability);
            assert!(belief.is_over(&mut cursor));
            for &role in &party {
                let mut goal = rational(0, 1);
                for (state, weight) in &states {
                    cursor.set_state(state);
                    goal += weight * rational(i64::from(cursor.goal(role).value()), 1);
                }
                assert_eq!(belief.expected_goal(&mut cursor, role) * &probability, goal);
            }
        }
        assert!(expected.is_empty(), "the game of beliefs has all histories");
        let belief = Belief::initial(&machine, &party);
        for &role in &party {
            let limits = LookaheadLimits::default();
            let plan =
                template.lookahead(&machine, &belief, role, n_steps, &limits).expect("small");
            let (value, _) = best(&plan.network, Method::ForwardChecking);
            assert_eq!(value, plays.best(belief.states(), role, n_steps));
        }
    }
}

/// [000 example 1.6]: a coin that nobody sees. Drawing a state from the belief and showing it,
/// which is one reading of the formula in [000 section 3.3.1], would make a guess worth 100.
#[test]
fn a_guess_at_a_coin_that_is_not_seen_is_worth_50() {
    let rules = |sees: &str| {
        format!(
            "(role guesser) (role random) (side heads) (side tails) (init start)
             (<= (legal random (toss ?s)) (true start) (side ?s))
             (<= (legal random wait) (not (true start)))
             (<= (legal guesser wait) (true start))
             (<= (legal guesser (say ?s)) (side ?s) (not (true start)))
             (<= (next (coin ?s)) (does random (toss ?s)))
             (<= (next (coin ?s)) (true (coin ?s)))
             (<= (next (said ?s)) (does guesser (say ?s)))
             {sees}
             (<= said (true (said ?s)))
             (<= terminal said)
             (<= (goal guesser 100) (true (said ?s)) (true (coin ?s)))
             (<= (goal guesser 0) (true (said ?s)) (not (true (coin ?s))))"
        )
    };
    for (sees, worth) in [
        ("(<= (sees guesser start) (true start))", 50),
        ("(<= (sees guesser ?s) (does random (toss ?s)))", 100),
    ] {
        let machine = machine_of(&rules(sees));
        let guesser = role(&machine, "guesser");
        let belief = Belief::initial(&machine, &[guesser]);
        let plan = template(&machine)
            .lookahead(&machine, &belief, guesser, 2, &LookaheadLimits::default())
            .expect("the game is small");
        assert_eq!(best(&plan.network, Method::ForwardChecking).0, rational(worth, 1));
    }
}

#[test]
fn too_large_or_impossible_lookaheads_are_errors() {
    let machine = library_machine("mastermind-small");
    let player = role(&machine, "player");
    let belief = Belief::initial(&machine, &[player]);
    let mut cursor = machine.cursor();
    let wait = belief.legal_moves(&mut cursor, player);
    let few_states = BeliefLimits { max_states: 26, ..BeliefLimits::default() };
    let few_moves = BeliefLimits { max_joint_moves: 26, ..BeliefLimits::default() };
    let error = |limits: &BeliefLimits, cursor: &mut MachineCursor| {
        belief.outcomes(cursor, &wait, limits).map(|_| ()).unwrap_err()
    };
    assert_eq!(error(&few_states, &mut cursor), BeliefError::TooManyStates { limit: 26 });
    assert_eq!(error(&few_moves, &mut cursor), BeliefError::TooManyJointMoves { limit: 26 });
    let never = Learned { percepts: vec![PerceptId::new(0)], is_over: false };
    let followed = belief.follow(&mut cursor, &wait, &never, &BeliefLimits::default());
    assert_eq!(followed.map(|_| ()).unwrap_err(), BeliefError::Impossible);
    let limits = LookaheadLimits { max_beliefs: 100, ..LookaheadLimits::default() };
    let plan = template(&machine).lookahead(&machine, &belief, player, 3, &limits);
    assert!(matches!(
        plan.map(|_| ()),
        Err(LookaheadError::TooManyBeliefs { n_steps: 3, limit: 100 })
    ));
}
