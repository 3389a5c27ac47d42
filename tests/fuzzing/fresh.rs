//! New small sheets: random rules over a small vocabulary, most of which can be played.

use ludex_base::{Rng, Seed};

/// Returns a sheet of random rules.
pub fn sheet(seed: Seed) -> String {
    let mut rng = seed.rng();
    let mut writer = Writer { rng: &mut rng, text: String::new() };
    writer.write();
    writer.text
}

const CONSTANTS: [&str; 5] = ["1", "2", "3", "a", "b"];
const VARIABLES: [&str; 4] = ["?x", "?y", "?z", "?w"];

/// Relations derived from the state, with their numbers of arguments. A relation uses those before it, and
/// sometimes itself or a later one.
const DERIVED: [(&str, usize); 6] = [("p", 1), ("q", 2), ("r", 0), ("s", 1), ("t", 2), ("u", 1)];

const FLUENTS: [(&str, usize); 4] = [("at", 1), ("on", 2), ("flag", 0), ("cell", 3)];

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
}

/// What may be asked in the body of a rule.
#[derive(Clone, Copy)]
struct Allowed {
    /// The number of derived relations.
    n_derived: usize,
    does: bool,
    state: bool,
}

impl Writer<'_> {
    fn write(&mut self) {
        self.line("(role one)");
        let n_roles = 1 + usize::from(self.chance(60)) + usize::from(self.chance(15));
        let others = ["(role two)", if self.chance(50) { "(role random)" } else { "(role three)" }];
        for other in others.into_iter().take(n_roles - 1) {
            self.line(other);
        }
        for _ in 0..2 + self.rng.below(5) {
            let (a, b) = (self.constant(), self.constant());
            self.line(&format!("(succ {a} {b})"));
        }
        for constant in ["1", "2", "3"] {
            self.line(&format!("(d {constant})"));
        }
        let anything = Allowed { n_derived: DERIVED.len(), does: false, state: true };
        for _ in 0..1 + self.rng.below(5) {
            let fluent = self.fluent(&[]);
            self.line(&format!("(init {fluent})"));
        }
        self.line("(init (at 1))");
        for place in 0..DERIVED.len() {
            for _ in 0..self.rng.below(3) {
                let n_derived = if self.chance(20) { DERIVED.len() } else { place };
                self.rule(Head::Derived(place), Allowed { n_derived, ..anything });
            }
        }
        if self.chance(85) {
            self.line("(<= (legal ?r (mark ?x)) (role ?r) (d ?x))");
        }
        for _ in 0..self.rng.below(3) {
            self.rule(Head::Legal, anything);
        }
        if self.chance(70) {
            self.line("(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))");
        }
        let with_does = Allowed { does: true, ..anything };
        for _ in 0..1 + self.rng.below(5) {
            self.rule(Head::Next, with_does);
        }
        if self.chance(30) {
            for _ in 0..1 + self.rng.below(2) {
                self.rule(Head::Sees, with_does);
            }
        }
        for _ in 0..1 + self.rng.below(2) {
            self.rule(Head::Terminal, anything);
        }
        for _ in 0..1 + self.rng.below(3) {
            self.rule(Head::Goal, anything);
        }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.rng.below(100) < percent
    }

    fn constant(&mut self) -> &'static str {
        CONSTANTS[self.rng.below(CONSTANTS.len())]
    }

    /// A term whose variables are among these, most of the time.
    fn term(&mut self, variables: &[&'static str]) -> String {
        match self.rng.below(20) {
            0..=8 if !variables.is_empty() => variables[self.rng.below(variables.len())].into(),
            9 if self.chance(10) => VARIABLES[self.rng.below(VARIABLES.len())].into(),
            10 => format!("(g {})", self.term(variables)),
            11 if self.chance(30) => {
                let term = self.term(variables);
                format!("(h {term} {term})")
            }
            _ => self.constant().into(),
        }
    }

    fn atom(&mut self, (name, arity): (&str, usize), variables: &[&'static str]) -> String {
        let mut atom = name.to_string();
        for _ in 0..arity {
            atom = format!("{atom} {}", self.term(variables));
        }
        if arity == 0 { atom } else { format!("({atom})") }
    }

    fn fluent(&mut self, variables: &[&'static str]) -> String {
        let fluent = FLUENTS[self.rng.below(FLUENTS.len())];
        self.atom(fluent, variables)
    }

    fn condition(&mut self, allowed: Allowed, variables: &[&'static str]) -> String {
        loop {
            return match self.rng.below(10) {
                0..=3 if allowed.state => format!("(true {})", self.fluent(variables)),
                4 if allowed.does => {
                    let role = if self.chance(50) { "?r" } else { "one" };
                    format!("(does {role} (mark {}))", self.term(variables))
                }
                5 => format!("(succ {} {})", self.term(variables), self.term(variables)),
                6 => format!("(d {})", self.term(variables)),
                7..=9 if allowed.n_derived > 0 => {
                    let relation = DERIVED[self.rng.below(allowed.n_derived)];
                    self.atom(relation, variables)
                }
                _ => continue,
            };
        }
    }

    fn rule(&mut self, head: Head, allowed: Allowed) {
        let n_variables = self.rng.below(VARIABLES.len() + 1);
        let variables = &VARIABLES[..n_variables];
        let mut body: Vec<String> =
            (0..1 + self.rng.below(3)).map(|_| self.condition(allowed, variables)).collect();
        // Most rules are safe: a condition binds the variables that no other binds.
        if self.chance(92) {
            for variable in variables {
                if !body.iter().any(|condition| condition.contains(variable)) {
                    body.push(format!("(d {variable})"));
                }
            }
        }
        for _ in 0..self.rng.below(2) {
            let condition = self.condition(allowed, variables);
            body.push(format!("(not {condition})"));
        }
        if n_variables >= 2 && self.chance(30) {
            let second = self.term(variables);
            body.push(format!("(distinct {} {second})", variables[0]));
        }
        if self.chance(15) && body.len() >= 2 {
            let last = body.pop().unwrap_or_default();
            let before = body.pop().unwrap_or_default();
            body.push(format!("(or {before} {last})"));
        }
        if self.chance(30) {
            let place = self.rng.below(body.len());
            let end = body.len() - 1;
            body.swap(place, end);
        }
        let head = match head {
            Head::Derived(place) => self.atom(DERIVED[place], variables),
            Head::Legal => {
                if self.chance(70) {
                    body.push("(role ?r)".into());
                    format!("(legal ?r (mark {}))", self.term(variables))
                } else {
                    format!("(legal one {})", self.term(variables))
                }
            }
            Head::Next => format!("(next {})", self.fluent(variables)),
            Head::Sees => {
                body.push("(role ?s)".into());
                format!("(sees ?s {})", self.term(variables))
            }
            Head::Terminal => "terminal".into(),
            Head::Goal => {
                body.push("(role ?r)".into());
                let value = ["0", "50", "100", "100", "101"][self.rng.below(5)];
                format!("(goal ?r {value})")
            }
        };
        let rule = format!("(<= {head} {})", body.join(" "));
        self.line(&rule);
    }
}

#[derive(Clone, Copy)]
enum Head {
    /// A relation of [`DERIVED`].
    Derived(usize),
    Legal,
    Next,
    Sees,
    Terminal,
    Goal,
}
