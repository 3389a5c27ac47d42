//! What is certain by the rules, on every rulesheet with hidden information: it is true, and most of what a
//! role has to know for its next move is.

use std::time::Duration;

use ludex_base::{Deadline, FluentId, RoleId, Seed};
use ludex_circuit::Certain;
use ludex_game::{Cursor, Game};
use ludex_machine::Machine;
use ludex_testkit::fixtures::shared_or_skip;
use ludex_testkit::hidden::random_step;
use ludex_testkit::{corpus, in_parallel, library};

/// Turns in which a role had a choice, and those of them in which it was certain of each of its moves
/// whether it is legal.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    n_turns: usize,
    n_decided: usize,
}

/// Where legal moves depend on what follows only from several steps together.
const UNDECIDED: &[&str] =
    &["kriegTTT_4x4", "sheep-and-wolf", "vacuum-cleaner-random", "blind_breakthrough_5x5"];
/// Random matches of each sheet, and the time after which no more are begun.
const N_MATCHES: u64 = 20;
const TIME: Duration = Duration::from_millis(500);

#[test]
fn what_is_certain_is_true_on_every_sheet() {
    let mut all = library();
    if let Some(shared) = shared_or_skip("the public rulesheets with hidden information") {
        all.extend(corpus(&shared));
    }
    all.retain(|rules| rules.text().contains("(sees "));
    assert!(all.len() >= 12, "{}", all.len());
    in_parallel(&all, |rules| {
        let Some(machine) = ludex_tests::machine(rules) else { return };
        let deadline = Deadline::after(TIME);
        let mut count = Count::default();
        for seed in (0..N_MATCHES).map(Seed).take_while(|_| !deadline.reached()) {
            for me in machine.role_ids().filter(|me| !machine.roles()[me.index()].is_random) {
                follow_a_match(&machine, me, seed, &mut count);
            }
        }
        let is_decided = count.n_decided * 100 >= count.n_turns * 98;
        assert!(is_decided || UNDECIDED.contains(&&*rules.name), "{}: {count:?}", rules.name);
    });
}

/// Plays a random match, and compares what is certain for a role after each step with what is true.
fn follow_a_match(machine: &Machine, me: RoleId, seed: Seed, count: &mut Count) {
    let circuit = machine.circuit();
    let mut certain = Certain::new(circuit, me);
    let (mut cursor, mut rng) = (machine.cursor(), seed.rng());
    while let Some(told) = random_step(machine, &mut cursor, me, &mut rng) {
        certain.follow(circuit, Some((told.own, &told.percepts)));
        for fluent in (0..circuit.next.len()).map(FluentId::new) {
            let holds = cursor.state().contains(fluent.index());
            let is_true = certain.holds(fluent).is_none_or(|it| it == holds);
            assert!(is_true, "{}", circuit.vocabulary.fluent_text(fluent));
        }
        let legal = cursor.legal_moves(me);
        let is_true = |(id, is_legal): (_, Option<bool>)| {
            is_legal.is_none_or(|it| it == legal.contains(&id))
        };
        assert!(certain.legal_moves(circuit).all(is_true));
        if legal.len() > 1 {
            count.n_turns += 1;
            let mut known = certain.legal_moves(circuit).map(|it| it.1);
            count.n_decided += usize::from(known.all(|it| it.is_some()));
        }
    }
}

/// A step that was not told leaves only what it can't have changed; what contradicts the rules leaves
/// nothing, and what is told after that counts again.
#[test]
fn what_was_not_told_is_not_certain() {
    let rules = library().into_iter().find(|rules| rules.name == "blind-tictactoe");
    let machine = ludex_tests::machine(&rules.expect("it is in the library")).expect("it is small");
    let circuit = machine.circuit();
    let (me, text) = (RoleId::new(0), |id| circuit.vocabulary.fluent_text(id));
    let all = || (0..circuit.next.len()).map(FluentId::new);
    let known = |certain: &Certain| all().filter(|&id| certain.holds(id).is_some()).count();
    let cell = |x: usize| circuit.vocabulary.find_move(me, &format!("(try {x} 1)")).expect("a move");
    let percept = |text: &str| {
        let found = circuit.vocabulary.find_percept(me, text);
        found.expect("a percept")
    };
    let mut certain = Certain::new(circuit, me);
    assert_eq!(known(&certain), all().count());

    // The first try of a cell marks it; whatever the other does after it, it stays marked.
    certain.follow(circuit, Some((cell(1), &[percept("placed")])));
    assert_eq!(known(&certain), all().count());
    certain.follow(circuit, None);
    let marked = all().find(|&id| text(id) == "(cell 1 1 x)").expect("a fluent");
    assert_eq!(certain.holds(marked), Some(true));
    assert!(known(&certain) < all().count());

    // Nobody is told twice in a row that it placed its mark in the same cell.
    let mut certain = Certain::new(circuit, me);
    certain.follow(circuit, Some((cell(1), &[percept("placed")])));
    certain.follow(circuit, Some((cell(1), &[percept("placed")])));
    assert_eq!(known(&certain), 0);
}
