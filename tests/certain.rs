//! Checks what is certain by the rules on every rulesheet with hidden information: it is true, and
//! it covers most of what a role must know for its next move.

use std::time::Duration;

use ludex_base::{BitSet, Deadline, FluentId, RoleId, Seed};
use ludex_circuit::{Certain, Circuit};
use ludex_game::{Cursor, Game};
use ludex_machine::Machine;
use ludex_search::information::{Follower, Model, Patience};
use ludex_testkit::fixtures::shared_or_skip;
use ludex_testkit::hidden::random_step;
use ludex_testkit::{RulesFile, assert_compared, corpus, in_parallel, library};

/// Counts of a comparison for one role.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    /// Turns in which the role had a choice.
    n_turns: usize,
    /// Turns in which it was certain of the legality of each of its moves.
    n_decided: usize,
    /// Compared true states, and compared other states consistent with the role's observations.
    n_states: usize,
    n_others: usize,
}

/// Sheets whose legal moves depend on facts that no single fluent expresses.
const UNDECIDED: &[&str] =
    &["kriegTTT_4x4", "sheep-and-wolf", "vacuum-cleaner-random", "blind_breakthrough_5x5"];
/// Random matches per sheet, and per sheet with many gates.
const N_MATCHES: u64 = 12;
const N_LONG_MATCHES: u64 = 3;
const MANY_GATES: usize = 10_000;
/// Matches in which all consistent states are compared while they are few, and the time to find
/// them.
const N_EXACT_MATCHES: u64 = 2;
const STEP_TIME: Duration = Duration::from_millis(4);

#[test]
fn certain_facts_are_true_on_every_sheet() {
    let hides = |rules: &RulesFile| rules.text().contains("(sees ");
    let ours: Vec<RulesFile> = library().into_iter().filter(hides).collect();
    follow_matches("our games", &ours, 8_000, 100);
    if let Some(shared) = shared_or_skip("the public rulesheets with hidden information") {
        let public: Vec<RulesFile> = corpus(&shared).into_iter().filter(hides).collect();
        follow_matches("public rulesheets", &public, 3_000, 100);
    }
}

/// Follows matches of games with hidden information. Expects at least `min_states` true states and
/// `min_others` other consistent states, a low floor because they are searched for only briefly.
fn follow_matches(what: &str, games: &[RulesFile], min_states: usize, min_others: usize) {
    let counts = in_parallel(games, |rules| {
        let Some(machine) = ludex_tests::machine(rules) else {
            return Err(format!("{}: too large for the machine", rules.name));
        };
        let is_large = machine.circuit().n_gates() > MANY_GATES;
        let n_matches = if is_large { N_LONG_MATCHES } else { N_MATCHES };
        let mut count = Count::default();
        for seed in 0..n_matches {
            for me in machine.role_ids().filter(|me| !machine.roles()[me.index()].is_random) {
                follow_a_match(&machine, me, seed, &mut count);
            }
        }
        let is_decided = count.n_decided * 100 >= count.n_turns * 97;
        assert!(is_decided || UNDECIDED.contains(&&*rules.name), "{}: {count:?}", rules.name);
        Ok(count)
    });
    let of = |part: fn(&Count) -> usize| {
        counts.iter().map(move |it| it.as_ref().map(part).map_err(Clone::clone))
    };
    assert_compared(&format!("true states of {what}"), of(|it| it.n_states), min_states);
    assert_compared(&format!("other states of {what}"), of(|it| it.n_others), min_others);
}

/// Plays a random match and compares what is certain for a role after each step with the true
/// state, and in the first matches with every state consistent with its observations.
fn follow_a_match(machine: &Machine, me: RoleId, seed: u64, count: &mut Count) {
    let circuit = machine.circuit();
    let mut certain = Certain::new(circuit, me);
    let mut follower = Follower::new(machine, me, Model::uniform());
    let (mut cursor, mut rng) = (machine.cursor(), Seed(seed).rng());
    // The search for states draws more or fewer numbers depending on the time it has; the match must not
    // depend on that.
    let mut follower_rng = Seed(seed).child(1).rng();
    let mut possible = machine.cursor();
    while let Some(told) = random_step(machine, &mut cursor, me, &mut rng) {
        certain.follow(circuit, Some((told.own, &told.percepts)));
        check(&certain, circuit, &mut cursor, me);
        count.n_states += 1;
        let legal: Vec<Option<bool>> = certain.legal_moves(circuit).map(|it| it.1).collect();
        if cursor.legal_moves(me).len() > 1 {
            count.n_turns += 1;
            count.n_decided += usize::from(legal.iter().all(|it| it.is_some()));
        }
        if seed < N_EXACT_MATCHES && follower.is_exact() {
            let soon = Deadline::after(STEP_TIME);
            let patience = Patience { for_many: soon.clone(), for_one: soon };
            follower.follow(told, &mut follower_rng, &patience);
            let known = follower.information();
            let states = known.possible().iter().filter(|_| known.is_exact());
            for state in states.map(|it| &it.state) {
                possible.set_state(state);
                if !possible.is_terminal() {
                    check(&certain, circuit, &mut possible, me);
                    count.n_others += 1;
                }
            }
        }
    }
}

/// Checks that everything certain holds in this state.
fn check(
    certain: &Certain,
    circuit: &Circuit,
    cursor: &mut impl Cursor<State = BitSet>,
    me: RoleId,
) {
    for fluent in (0..circuit.next.len()).map(FluentId::new) {
        let holds = cursor.state().contains(fluent.index());
        let is_true = certain.holds(fluent).is_none_or(|it| it == holds);
        assert!(is_true, "{}", circuit.vocabulary.fluent_text(fluent));
    }
    let legal = cursor.legal_moves(me);
    let is_true =
        |(id, is_legal): (_, Option<bool>)| is_legal.is_none_or(|it| it == legal.contains(&id));
    assert!(certain.legal_moves(circuit).all(is_true));
}

/// An unobserved step leaves certain only what it cannot have changed. Contradictory observations
/// leave nothing certain, and later observations count again.
#[test]
fn unobserved_changes_are_not_certain() {
    let rules = library().into_iter().find(|rules| rules.name == "blind-tictactoe");
    let machine =
        ludex_tests::machine(&rules.expect("the library has the game")).expect("the game is small");
    let circuit = machine.circuit();
    let (me, text) = (RoleId::new(0), |id| circuit.vocabulary.fluent_text(id));
    let all = || (0..circuit.next.len()).map(FluentId::new);
    let known = |certain: &Certain| all().filter(|&id| certain.holds(id).is_some()).count();
    let cell =
        |x: usize| circuit.vocabulary.find_move(me, &format!("(try {x} 1)")).expect("a move");
    let percept = |text: &str| {
        let found = circuit.vocabulary.find_percept(me, text);
        found.expect("a percept")
    };
    let mut certain = Certain::new(circuit, me);
    assert_eq!(known(&certain), all().count());

    // The first try of a cell marks it, and it stays marked whatever the other role does.
    certain.follow(circuit, Some((cell(1), &[percept("placed")])));
    assert_eq!(known(&certain), all().count());
    certain.follow(circuit, None);
    let marked = all().find(|&id| text(id) == "(cell 1 1 x)").expect("a fluent");
    assert_eq!(certain.holds(marked), Some(true));
    assert!(known(&certain) < all().count());

    // No role can place its mark in the same cell twice in a row, so these observations are
    // contradictory.
    let mut certain = Certain::new(circuit, me);
    certain.follow(circuit, Some((cell(1), &[percept("placed")])));
    certain.follow(circuit, Some((cell(1), &[percept("placed")])));
    assert_eq!(known(&certain), 0);
    certain.follow(circuit, Some((cell(2), &[percept("taken")])));
    let tried = all().find(|&id| text(id) == "(tried xplayer 2 1)").expect("a fluent");
    assert_eq!(certain.holds(tried), Some(true));
}

/// Recursive rules hold at their least fixpoint only; and if a role's other moves are all excluded,
/// it plays the one that no rule mentions.
#[test]
fn recursive_rules_and_unmentioned_moves_are_followed() {
    let rules = "(role me) (role other) (init (owned 0))
        (linked 0 1) (linked 1 2) (linked 2 0)
        (<= (cell ?x) (linked ?x ?y))
        (<= (reached 0) (true (owned 0)))
        (<= (reached ?y) (reached ?x) (linked ?x ?y) (true (owned ?y)))
        (<= (legal other (own ?x)) (cell ?x) (not (true (owned ?x))))
        (<= (legal other rest) (true (owned 1)))
        (<= (legal me (ask ?x)) (cell ?x) (not (reached ?x)))
        (<= (legal me wait) (reached 1))
        (<= (next (owned ?x)) (does other (own ?x)))
        (<= (next (owned ?x)) (true (owned ?x)))
        (<= (sees me (got ?x)) (does other (own ?x)) (does me (ask ?x)))
        (<= terminal (reached 2)) (goal me 100) (goal other 0)";
    let machine = ludex_tests::machine_of("circle", rules);
    let circuit = machine.circuit();
    let mut count = Count::default();
    for seed in 0..40 {
        machine.role_ids().for_each(|me| follow_a_match(&machine, me, seed, &mut count));
    }
    // The first step is known: of cells 1 and 2, the other role has taken the requested one.
    let me = RoleId::new(0);
    let id = |text: &str| circuit.vocabulary.find_move(me, text).expect("a move");
    let got = circuit.vocabulary.find_percept(me, "(got 1)").expect("a percept");
    let mut certain = Certain::new(circuit, me);
    certain.follow(circuit, Some((id("(ask 1)"), &[got])));
    let legal: Vec<_> = certain.legal_moves(circuit).collect();
    assert!(legal.contains(&(id("wait"), Some(true))), "{legal:?}");
    assert!(legal.contains(&(id("(ask 1)"), Some(false))), "{legal:?}");
}
