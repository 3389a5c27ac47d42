//! Sheets that are almost valid: built-in games with a few changes.

use ludex_base::{Rng, Seed};

use super::parts::{self, Part};

/// Games with longer rules take too long for a fuzzer.
const MAX_RULES: usize = 5000;

/// Returns a built-in game with some changes.
pub fn sheet(seed: Seed) -> String {
    let mut rng = seed.rng();
    let games: Vec<_> =
        ludex_library::games().iter().filter(|game| game.rules.len() <= MAX_RULES).collect();
    let game = games[rng.below(games.len())];
    let mut clauses = parts::read(game.rules);
    change(&mut clauses, &mut rng);
    parts::write(&clauses)
}

/// Makes one to six changes.
pub fn change(clauses: &mut Vec<Part>, rng: &mut Rng) {
    for _ in 0..=rng.below(6) {
        if clauses.is_empty() {
            return;
        }
        match rng.below(4) {
            0 => OF_SHEETS[rng.below(OF_SHEETS.len())](clauses, rng),
            _ => OF_CLAUSES[rng.below(OF_CLAUSES.len())](clauses, rng),
        }
    }
}

/// Changes of which clauses there are.
const OF_SHEETS: [fn(&mut Vec<Part>, &mut Rng); 5] =
    [drop_clause, double_clause, add_clause, add_clause, add_roles];

/// Changes inside clauses.
const OF_CLAUSES: [fn(&mut [Part], &mut Rng); 14] = [
    drop_part,
    drop_condition,
    swap_arguments,
    add_argument,
    replace_part,
    rename_variable,
    wrap_in_function,
    negate,
    join_by_or,
    odd_number,
    join_bodies,
    swap_heads,
    replace_head_name,
    shuffle,
];

/// What is added whole. Each is hard on one part of a stage.
const CLAUSES: &[&str] = &[
    "(<= (next ?f) (true ?f))",
    "(<= (legal ?r ?m) (does ?r ?m))",
    "(<= (sees ?r ?m) (role ?r) (does ?q ?m))",
    "(<= (sees ?r ?f) (role ?r) (true ?f))",
    "(role random)",
    "(legal random noop)",
    "(<= (legal random (pick ?f)) (true ?f))",
    "(<= (legal ?r (again ?m)) (legal ?r ?m))",
    "(<= (init (f ?x)) (init ?x))",
    "(<= (next (f ?x ?x)) (true ?x))",
    "(<= (next (pair ?x ?y)) (true ?x) (true ?y))",
    "(<= (next (did ?r ?m)) (does ?r ?m))",
    "(<= (next (last ?m)) (role ?r) (legal ?r ?m))",
    "(<= terminal (not (true ?x)))",
    "(<= (goal ?r 50) (role ?r) (not terminal))",
    "(<= (goal ?r ?n) (role ?r) (true (step ?n)))",
    "(<= (role ?x) (init ?x))",
    "(<= (legal ?r (m ?x ?y)) (role ?r) (role ?x) (init ?y))",
    "(<= (q ?x) (not (q2 ?x)) (true ?x))",
    "(<= (q2 ?x) (true ?x) (not (q ?x)))",
    "(<= (r ?x ?y))",
    "(<= (next (s ?y)) (true ?x) (r ?x ?y))",
    "(<= (next odd) (not (r a b)))",
    "(<= (eq ?x ?x))",
    "(<= (next (t ?x)) (true ?x) (true ?y) (eq ?x ?y))",
    "(<= terminal (true ?x) (true ?y) (distinct ?x ?y) (not (distinct ?x ?y)))",
    "(<= (reach ?x) (true ?x))",
    "(<= (reach ?y) (reach ?x) (edge ?x ?y))",
    "(<= (edge ?x ?y) (true ?x) (true ?y) (distinct ?x ?y))",
    "(<= (next (reached ?x)) (reach ?x))",
    "(base ?x)",
    "(<= (input ?r (f ?m)) (input ?r ?m))",
];

fn pick(clauses: &[Part], rng: &mut Rng) -> usize {
    rng.below(clauses.len())
}

/// A part of a clause, perhaps the clause itself.
fn any_part<'a>(clauses: &'a mut [Part], rng: &mut Rng) -> &'a mut Part {
    let place = pick(clauses, rng);
    let clause = &mut clauses[place];
    let n = rng.below(clause.n_parts());
    clause.nth_mut(n).expect("the number is below the number of parts")
}

/// A list with at least this many parts, if one is found soon.
fn any_list<'a>(
    clauses: &'a mut [Part],
    rng: &mut Rng,
    n_parts: usize,
) -> Option<&'a mut Vec<Part>> {
    for _ in 0..20 {
        let place = pick(clauses, rng);
        let n = rng.below(clauses[place].n_parts());
        let is_wanted =
            matches!(clauses[place].nth_mut(n), Some(Part::List(parts)) if parts.len() >= n_parts);
        if is_wanted {
            return match clauses[place].nth_mut(n) {
                Some(Part::List(parts)) => Some(parts),
                _ => None,
            };
        }
    }
    None
}

/// The parts of a rule with a body, if one is found soon: the arrow, the head and the conditions.
fn any_rule<'a>(clauses: &'a mut [Part], rng: &mut Rng) -> Option<&'a mut Vec<Part>> {
    for _ in 0..20 {
        let place = pick(clauses, rng);
        if clauses[place].begins_with("<=")
            && matches!(&clauses[place], Part::List(parts) if parts.len() >= 3)
        {
            return match &mut clauses[place] {
                Part::List(parts) => Some(parts),
                Part::Word(_) => None,
            };
        }
    }
    None
}

fn drop_clause(clauses: &mut Vec<Part>, rng: &mut Rng) {
    let place = pick(clauses, rng);
    clauses.remove(place);
}

fn double_clause(clauses: &mut Vec<Part>, rng: &mut Rng) {
    let place = pick(clauses, rng);
    let copy = clauses[place].clone();
    clauses.push(copy);
}

fn drop_part(clauses: &mut [Part], rng: &mut Rng) {
    if let Some(parts) = any_list(clauses, rng, 2) {
        parts.remove(rng.below(parts.len()));
    }
}

fn drop_condition(clauses: &mut [Part], rng: &mut Rng) {
    if let Some(rule) = any_rule(clauses, rng) {
        rule.remove(2 + rng.below(rule.len() - 2));
    }
}

fn swap_arguments(clauses: &mut [Part], rng: &mut Rng) {
    if let Some(parts) = any_list(clauses, rng, 3) {
        let (a, b) = (1 + rng.below(parts.len() - 1), 1 + rng.below(parts.len() - 1));
        parts.swap(a, b);
    }
}

fn add_argument(clauses: &mut [Part], rng: &mut Rng) {
    let copy = any_part(clauses, rng).clone();
    if copy.n_parts() < 6
        && let Some(parts) = any_list(clauses, rng, 1)
    {
        parts.push(copy);
    }
}

fn replace_part(clauses: &mut [Part], rng: &mut Rng) {
    let copy = any_part(clauses, rng).clone();
    let part = any_part(clauses, rng);
    if copy.n_parts() < 12 {
        *part = copy;
    }
}

/// A variable becomes another, or one that occurs nowhere else.
fn rename_variable(clauses: &mut [Part], rng: &mut Rng) {
    let mut variables = Vec::new();
    for _ in 0..40 {
        let part = any_part(clauses, rng);
        if part.is_variable() {
            variables.push(part.clone());
        }
    }
    let other = if variables.is_empty() || rng.below(3) == 0 {
        Part::word("?fresh")
    } else {
        variables.swap_remove(rng.below(variables.len()))
    };
    for _ in 0..40 {
        let part = any_part(clauses, rng);
        if part.is_variable() {
            *part = other;
            return;
        }
    }
}

/// A term becomes the argument of a function, perhaps twice.
fn wrap_in_function(clauses: &mut [Part], rng: &mut Rng) {
    for _ in 0..40 {
        let is_double = rng.below(2) == 0;
        let part = any_part(clauses, rng);
        if part.is_variable() {
            let mut parts = vec![Part::word("f"), part.clone()];
            if is_double {
                parts.push(part.clone());
            }
            *part = Part::List(parts);
            return;
        }
    }
}

fn negate(clauses: &mut [Part], rng: &mut Rng) {
    let Some(rule) = any_rule(clauses, rng) else { return };
    let condition = 2 + rng.below(rule.len() - 2);
    rule[condition] = match &rule[condition] {
        Part::List(parts) if parts.len() == 2 && rule[condition].begins_with("not") => {
            parts[1].clone()
        }
        other => Part::List(vec![Part::word("not"), other.clone()]),
    };
}

fn join_by_or(clauses: &mut [Part], rng: &mut Rng) {
    let Some(rule) = any_rule(clauses, rng) else { return };
    let first = rule.remove(2 + rng.below(rule.len() - 2));
    if rule.len() > 2 {
        let second = 2 + rng.below(rule.len() - 2);
        rule[second] = Part::List(vec![Part::word("or"), rule[second].clone(), first]);
    }
}

fn odd_number(clauses: &mut [Part], rng: &mut Rng) {
    const NUMBERS: [&str; 14] = [
        "-1",
        "0",
        "1",
        "2",
        "99",
        "100",
        "101",
        "255",
        "256",
        "65536",
        "4294967296",
        "0.5",
        "007",
        "99999999999999999999999999",
    ];
    for _ in 0..60 {
        let number = NUMBERS[rng.below(NUMBERS.len())];
        let part = any_part(clauses, rng);
        if matches!(part, Part::Word(word) if word.parse::<i64>().is_ok()) {
            *part = Part::word(number);
            return;
        }
    }
}

/// A rule gets the conditions of another in addition.
fn join_bodies(clauses: &mut [Part], rng: &mut Rng) {
    let Some(body) = any_rule(clauses, rng).map(|rule| rule[2..].to_vec()) else { return };
    if let Some(rule) = any_rule(clauses, rng) {
        rule.extend(body);
    }
}

fn swap_heads(clauses: &mut [Part], rng: &mut Rng) {
    let Some(head) = any_rule(clauses, rng).map(|rule| rule[1].clone()) else { return };
    if let Some(rule) = any_rule(clauses, rng) {
        rule[1] = head;
    }
}

fn replace_head_name(clauses: &mut [Part], rng: &mut Rng) {
    const NAMES: [&str; 10] =
        ["next", "legal", "goal", "init", "sees", "role", "true", "does", "base", "input"];
    let name = NAMES[rng.below(NAMES.len())];
    if let Some(rule) = any_rule(clauses, rng)
        && let Part::List(head) = &mut rule[1]
        && let Some(first) = head.first_mut()
    {
        *first = Part::word(name);
    }
}

fn add_clause(clauses: &mut Vec<Part>, rng: &mut Rng) {
    clauses.extend(parts::read(CLAUSES[rng.below(CLAUSES.len())]));
}

fn add_roles(clauses: &mut Vec<Part>, rng: &mut Rng) {
    let n_roles = [1, 2, 5, 40][rng.below(4)];
    let has_moves = rng.below(3) > 0;
    for n in 0..n_roles {
        clauses.extend(parts::read(&format!("(role extra{n}) (goal extra{n} 50)")));
        if has_moves {
            clauses.extend(parts::read(&format!("(legal extra{n} a) (legal extra{n} b)")));
        }
    }
}

fn shuffle(clauses: &mut [Part], rng: &mut Rng) {
    for place in (1..clauses.len()).rev() {
        clauses.swap(place, rng.below(place + 1));
    }
}
