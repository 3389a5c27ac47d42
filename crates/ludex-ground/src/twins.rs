//! Compares ground programs of one game that were made in different ways: they must play alike.

use std::collections::BTreeSet;
use std::path::Path;

use ludex_base::{FluentId, Goal, Limits, RoleId, Seed, Source};
use ludex_gdl::Program;

use crate::program::{AtomId, AtomKind, GroundProgram};
use crate::{clauses, finish, ground, instantiate, on_demand};

fn program(rules: &str) -> Program {
    let (sheet, _) = ludex_gdl::parse_kif(&Source::new("test", rules));
    ludex_gdl::lower(&sheet).0
}

/// Grounds without any of the shortcuts: no demand, and no fluent counts as rigid.
fn plainly(program: &Program) -> GroundProgram {
    let limits = Limits::usual();
    let clauses = clauses::gather(program, &clauses::ROOTS).expect("the rules are short");
    let Ok(instances) = instantiate::instantiate(clauses, &limits, u64::MAX) else {
        unreachable!("it is small enough")
    };
    finish(program, instances, &limits).expect("it has a meaning")
}

/// Grounds only what is asked for, however small the game is.
fn sparsely(program: &Program) -> GroundProgram {
    let limits = Limits::usual();
    let resolved = crate::rigid::resolve(program);
    let Ok(instances) = on_demand(&resolved, &[], &limits) else {
        unreachable!("it is small enough")
    };
    finish(program, instances, &limits).expect("it has a meaning")
}

/// A state of a ground program, evaluated rule by rule.
struct Slow<'a> {
    program: &'a GroundProgram,
    components: Vec<Vec<AtomId>>,
    is_true: Vec<bool>,
}

impl<'a> Slow<'a> {
    fn new(program: &'a GroundProgram) -> Self {
        let is_true = vec![false; program.n_atoms()];
        Self { program, components: program.components(), is_true }
    }

    /// Evaluates a state, by the texts of its fluents, with these moves.
    fn evaluate(&mut self, fluents: &BTreeSet<String>, moves: &[(usize, String)]) {
        let Self { program, components, is_true } = self;
        let vocabulary = &program.vocabulary;
        for (idx, is_true) in is_true.iter_mut().enumerate() {
            *is_true = match program.kind(AtomId::new(idx)) {
                AtomKind::Fluent(id) => fluents.contains(&vocabulary.fluent_text(id)),
                AtomKind::Move(id) => {
                    let role = vocabulary.moves[id.index()].0.index();
                    moves.contains(&(role, vocabulary.move_text(id)))
                }
                AtomKind::Derived => false,
            };
        }
        for component in components {
            loop {
                let mut has_changed = false;
                for &atom in
                    component.iter().filter(|atom| !is_true[atom.index()]).collect::<Vec<_>>()
                {
                    let fires = program.rules_of(atom).any(|rule| {
                        let holds = |it: &crate::GroundLiteral| {
                            is_true[it.atom().index()] == it.is_positive()
                        };
                        rule.body.iter().all(holds)
                    });
                    is_true[atom.index()] |= fires;
                    has_changed |= fires;
                }
                if !has_changed {
                    break;
                }
            }
        }
    }

    fn legal(&self) -> Vec<(usize, String)> {
        let vocabulary = &self.program.vocabulary;
        (self.program.legal.iter().zip(&vocabulary.moves))
            .filter(|(atom, _)| self.is_true[atom.index()])
            .map(|(_, &(role, term))| (role.index(), vocabulary.terms.display(term).to_string()))
            .collect()
    }

    fn next(&self) -> BTreeSet<String> {
        let next = self.program.next.iter().enumerate();
        let is_next = next.filter(|(_, atom)| self.is_true[atom.index()]);
        is_next.map(|(idx, _)| self.program.vocabulary.fluent_text(FluentId::new(idx))).collect()
    }

    /// What a player is told of the state: whether it is terminal, the goals, and what is seen.
    fn told(&self) -> (bool, Vec<(RoleId, Goal)>, Vec<String>) {
        let terminal = self.program.terminal.is_some_and(|atom| self.is_true[atom.index()]);
        let goals = self.program.goals.iter().filter(|(.., atom)| self.is_true[atom.index()]);
        let seen = (self.program.sees.iter().zip(&self.program.vocabulary.percepts))
            .filter(|(atom, _)| self.is_true[atom.index()])
            .map(|(_, (role, term))| {
                format!("{role:?} {}", self.program.vocabulary.terms.display(*term))
            });
        let goals = goals.map(|&(role, goal, _)| (role, goal)).collect();
        (terminal, goals, seen.collect())
    }
}

/// Plays random games on both and compares every state.
fn compare(name: &str, one: &GroundProgram, other: &GroundProgram, n_steps: usize) {
    let mut rng = Seed(7).rng();
    let (mut left, mut right) = (Slow::new(one), Slow::new(other));
    let texts = |ids: &[FluentId], program: &GroundProgram| -> BTreeSet<String> {
        ids.iter().map(|&id| program.vocabulary.fluent_text(id)).collect()
    };
    let begin = texts(&one.init, one);
    assert_eq!(begin, texts(&other.init, other), "{name}");
    let mut state = begin.clone();
    for step in 0..n_steps {
        left.evaluate(&state, &[]);
        right.evaluate(&state, &[]);
        assert_eq!(left.legal(), right.legal(), "{name}, step {step}");
        assert_eq!(left.told(), right.told(), "{name}, step {step}");
        let legal = left.legal();
        let mut joint = Vec::new();
        for role in 0..one.vocabulary.roles.len() {
            let own: Vec<&(usize, String)> = legal.iter().filter(|it| it.0 == role).collect();
            joint.extend(rng.choose(&own).map(|&it| it.clone()));
        }
        if left.told().0 || joint.len() < one.vocabulary.roles.len() {
            state = begin.clone();
            continue;
        }
        left.evaluate(&state, &joint);
        right.evaluate(&state, &joint);
        assert_eq!(left.told().2, right.told().2, "{name}, step {step}");
        assert_eq!(left.next(), right.next(), "{name}, step {step}");
        state = left.next();
    }
}

#[test]
fn all_ways_of_grounding_play_alike() {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let mut names: Vec<_> = games.read_dir().expect("the games are there").flatten().collect();
    names.sort_by_key(std::fs::DirEntry::path);
    let mut n_compared = 0;
    for entry in names {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(rules) = std::fs::read_to_string(entry.path().join("rules.kif")) else { continue };
        let program = program(&rules);
        let whole = ground(&program, &Limits::usual()).expect("it grounds");
        // The slow evaluation takes too long on the largest.
        if whole.n_rules() <= 8_000 {
            let n_steps = (200_000 / whole.n_rules().max(1)).clamp(6, 40);
            compare(&name, &plainly(&program), &sparsely(&program), n_steps);
            n_compared += 1;
        }
    }
    assert!(n_compared >= 40, "only {n_compared} games were compared");
}

/// Rules in which much may be asked in odd ways; each game has `step` to tell states apart.
const ODD: [&str; 12] = [
    // A relation that is negated, and asked for with one argument bound and with the other.
    "(<= (p ?x ?y) (true (at ?x)) (e ?x ?y)) (<= (p ?x ?z) (p ?x ?y) (e ?y ?z))
     (<= (legal r (m ?y)) (p 1 ?y) (not (p ?y 1))) (<= (next (at ?y)) (does r (m ?y)))
     (<= terminal (p ?x ?x))",
    // A relation without the state that is only looked up, and one that is negated as well.
    "(<= (big ?a ?b ?c ?d) (n ?a) (n ?b) (n ?c) (n ?d) (distinct ?a ?b) (not (same ?c ?d)))
     (<= (same ?x ?x) (n ?x))
     (<= (next (at ?d)) (true (at ?a)) (does r (m ?b)) (big ?a ?b ?c ?d) (e ?a ?c))
     (<= (legal r (m ?x)) (n ?x))",
    // Negation of a relation that depends on another negated one.
    "(<= (free ?x) (n ?x) (not (held ?x))) (<= (held ?x) (true (at ?x)))
     (<= (held ?x) (e ?x ?y) (true (at ?y)) (not (odd ?y))) (<= (odd ?y) (e ?y ?z) (e ?z ?y))
     (<= (legal r (m ?x)) (free ?x)) (<= (next (at ?x)) (does r (m ?x)) (not (odd ?x)))
     (<= (next (at ?x)) (true (at ?x)) (held ?x))",
    // Facts and rules of one relation; a rule without variables.
    "(<= (q 1 2) (true (at 1))) (q 2 3) (<= (q ?x ?y) (q ?y ?z) (e ?z ?x))
     (<= (legal r (m ?x)) (q ?x ?y)) (legal r (m 1)) (<= (next (at ?x)) (does r (m ?x)) (q 2 3))",
    // A rigid fluent, one that only looks rigid, and a frame for some of its fluents.
    "(init (wall 1)) (init (wall 3)) (<= (next (wall ?x)) (true (wall ?x))) (init (door 2)) (init (door 1))
     (<= (next (door 2)) (true (door 2))) (<= (next (at ?x)) (does r (m ?x)) (not (true (wall ?x))))
     (<= (legal r (m ?x)) (n ?x)) (<= (next (lamp ?x ?x)) (true (lamp ?x ?x))) (init (lamp 1 2)) (init (lamp 1 1))
     (<= (goal r 7) (true (door 1))) (<= (goal r 8) (true (door 2))) (<= (goal r 9) (true (lamp 1 2)))",
    // A rigid fluent is derived by a rule for any fluent as well.
    "(init (wall 1)) (<= (next (wall ?x)) (true (wall ?x))) (<= (next ?f) (true (made ?f)))
     (init (made (wall 2))) (<= (legal r (m ?x)) (n ?x) (not (true (wall ?x))))
     (<= (next (at ?x)) (does r (m ?x)))",
    // Terms within terms, which an argument binds only in part.
    "(<= (has (f ?x ?y) ?z) (e ?x ?y) (true (at ?z))) (<= (has (f ?x ?y) ?z) (has (f ?y ?w) ?z) (e ?w ?x))
     (<= (legal r (m ?x)) (has (f ?x ?y) ?z)) (<= (next (at ?x)) (does r (m ?x)) (not (has (f ?x ?x) 1)))",
    // Rules to separate, to merge and to unfold, asked for by a negation and without one.
    THREATS,
    // Lookups of permutations, which become an automaton; another asks for them in an odd way.
    PERMUTATIONS,
    "(<= (one ?z ?a ?b ?c) (first ?z ?a ?b ?c)) (<= (one ?z ?a ?b ?c) (first ?z ?b ?a ?c))
     (<= (first ?z ?a ?b ?c) (same ?z ?a) (n ?b) (n ?c) (distinct ?b ?z) (not (same ?z ?c))) (one 2 4 1 5)
     (same 1 1) (same 2 2) (same 3 3) (same 4 1) (<= (one ?z 1 ?b ?b) (n ?z) (e ?b ?z))
     (<= (legal r (m ?x)) (true (at ?a)) (e ?a ?b) (n ?x) (one ?x ?a ?b ?x)) (legal r (m 4)) (legal r (m 2))
     (<= (next (at ?c)) (does r (m ?x)) (e ?x ?c) (true (at ?a)) (e ?y ?b) (one 1 ?a ?b ?x))
     (<= (next (at ?x)) (does r (m ?x)))",
    // Conditions that could be merged and say the same in other words, or of equal variables.
    "(<= (p ?x ?y) (true (at ?x)) (e ?x ?y)) (<= (q ?x ?y) (true (at ?y)) (e ?y ?x)) (<= (s ?x) (true (at ?x)))
     (<= (some ?x ?z) (p ?x ?x) (e ?x ?z)) (<= (some ?x ?z) (s ?x) (e ?x ?z)) (<= (some ?x ?z) (q 3 ?x) (e ?x ?z))
     (<= (both ?x ?y ?z) (p ?x ?y) (e ?y ?z)) (<= (both ?x ?y ?z) (q ?x ?y) (e ?y ?z))
     (<= (both ?x ?y ?z) (q ?y ?x) (e ?y ?z)) (<= (both ?x ?y ?z) (p ?x ?y) (q ?y ?z))
     (<= (legal r (m ?z)) (some ?x ?z)) (<= (legal r (m ?z)) (both ?x ?y ?z)) (legal r (m 1))
     (<= (next (at ?x)) (does r (m ?x)) (not (both ?x ?x ?x))) (<= (next (at ?z)) (both 1 ?y ?z))",
    // A relation to unfold that is asked with constants, with equal variables, and twice; it is negated elsewhere.
    "(<= (apart ?a ?b ?c) (n ?a) (n ?b) (n ?c) (distinct ?a ?b)) (<= (apart ?a ?b ?c) (n ?a) (n ?b) (n ?c) (not (e ?b ?c)))
     (<= (apart ?a ?b ?c) (n ?a) (n ?b) (n ?c) (distinct ?a 2))
     (<= (legal r (m ?x)) (true (at ?y)) (n ?x) (apart ?x 3 ?y) (apart ?y ?x 4)) (<= (legal r (m ?x)) (apart 2 2 ?x))
     (<= (next (at ?x)) (does r (m ?x)) (apart ?x ?x ?x)) (<= (next (at ?y)) (does r (m ?x)) (e ?x ?y) (not (apart 2 ?x ?y)))",
];

/// Marks in cells, several in one cell at times, and whether some choice of them is a permutation.
const PERMUTATIONS: &str = "(<= (one ?z ?a ?b ?c) (first ?z ?a ?b ?c)) (<= (one ?z ?a ?b ?c) (first ?z ?b ?a ?c))
     (<= (one ?z ?a ?b ?c) (first ?z ?c ?a ?b)) (same 1 1) (same 2 2) (same 3 3) (same 4 4) (same 5 5)
     (<= (first ?z ?a ?b ?c) (same ?z ?a) (n ?b) (n ?c) (not (same ?z ?b)) (not (same ?z ?c)))
     (<= (good ?i) (true (mark ?i 1 ?a)) (true (mark ?i 2 ?b)) (true (mark ?i 3 ?c)) (one 1 ?a ?b ?c) (one 2 ?a ?b ?c)
         (one 3 ?a ?b ?c))
     (<= (legal r (m ?x)) (n ?x)) (<= (next (at ?x)) (does r (m ?x))) (<= (next (mark ?i ?j ?v)) (true (mark ?i ?j ?v)))
     (<= (next (mark 1 ?j ?x)) (does r (m ?x)) (true (at ?j))) (<= (next (mark 2 ?y ?x)) (does r (m ?x)) (e ?x ?y))
     (<= (goal r 10) (good 1)) (<= (goal r 20) (good 2)) (<= (goal r 30) (not (good 1)) (not (good 2)))
     (<= (next (seen ?i)) (good ?i) (not (true (at ?i))))";

/// Threats of pieces on a row of cells, with one cell ignored and one taken.
const THREATS: &str = "(<= (apart ?a ?b ?c ?d) (n ?a) (n ?b) (n ?c) (n ?d) (distinct ?a ?c))
     (<= (apart ?a ?b ?c ?d) (n ?a) (n ?b) (n ?c) (n ?d) (distinct ?b ?d))
     (<= (rook ?u ?v ?x ?i) (true (at ?u)) (n ?i) (distinct ?v ?i) (e ?u ?v) (e ?v ?x))
     (<= (queen ?u ?v ?x ?i) (true (at ?x)) (n ?i) (e ?u ?x) (e ?v ?u) (distinct ?u ?i))
     (<= (threat ?a ?b ?x ?i ?j) (rook ?u ?v ?x ?i) (apart ?a ?b ?u ?v) (n ?j))
     (<= (threat ?a ?b ?x ?i ?j) (queen ?u ?v ?x ?i) (apart ?a ?b ?u ?v) (n ?j))
     (<= (threat ?a ?b ?x ?i ?j) (true (at ?u)) (e ?u ?x) (e ?x ?v) (apart ?a ?b ?u ?v) (n ?i) (n ?j))
     (<= (legal r (m ?x)) (n ?x) (true (at ?a)) (e ?a ?b) (e ?b ?i) (n ?j) (not (threat ?a ?b ?x ?i ?j)))
     (legal r (m 1)) (<= (next (at ?x)) (does r (m ?x)))
     (<= (next (at ?y)) (does r (m ?x)) (e ?x ?y) (threat ?x ?y ?y 1 ?x))";

#[test]
fn rewritten_rules_have_fewer_instances() {
    let numbers: String = (1..10).map(|n| format!("(n {n}) (e {n} {})", n % 9 + 1)).collect();
    let program = program(&format!("(role r) {numbers} (init (at 1)) (goal r 50) {THREATS}"));
    let (plain, sparse) = (plainly(&program), sparsely(&program));
    compare("threats", &plain, &sparse, 20);
    let (many, few) = (plain.sizes.n_instances, sparse.sizes.n_instances);
    assert!(few * 4 < many, "{few} instances in place of {many}");
}

#[test]
fn odd_rules_are_played_alike() {
    for (idx, odd) in ODD.iter().enumerate() {
        let numbers: String = (1..6).map(|n| format!("(n {n})")).collect();
        let rules = format!(
            "(role r) {numbers} (e 1 2) (e 2 3) (e 3 1) (e 3 4) (e 4 5) (init (at 1)) (init (step 1))
            (<= (next (step ?y)) (true (step ?x)) (e ?x ?y)) (goal r 50) {odd}"
        );
        let program = program(&rules);
        let plain = plainly(&program);
        compare(&format!("odd {idx}"), &plain, &sparsely(&program), 60);
        compare(
            &format!("odd {idx}"),
            &plain,
            &ground(&program, &Limits::usual()).expect("fine"),
            60,
        );
    }
}
