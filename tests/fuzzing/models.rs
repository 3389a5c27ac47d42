//! Models in the language `.qcp` from a grammar: plain, quantified, stochastic and optimizing ones, and games.
//!
//! Most are valid, so that they reach the solvers.

use ludex_base::Rng;

/// A random model.
pub fn model(rng: &mut Rng) -> String {
    let length = 2 + rng.below(3);
    let mut writer = Writer { text: String::new(), length, names: Vec::new(), arrays: Vec::new() };
    writer.text = format!(
        "param n: int = {length};\nlet half = n div 2;\nfunction double(x) = 2 * x;\n\
         predicate near(x, y) = abs(x - y) <= 1;\n"
    );
    match rng.below(5) {
        0 => writer.scopes(&["exists"], rng),
        1 => writer.scopes(&["exists", "forall"], rng),
        2 => writer.stochastic(rng),
        3 => writer.optimizing(rng),
        _ => writer.game(rng),
    }
    writer.text
}

/// Writes statements, and knows the variables so far: names of numbers from 0 to at most 5, and names of arrays
/// of them with indices from 1 to `length`.
struct Writer {
    text: String,
    length: usize,
    names: Vec<String>,
    arrays: Vec<String>,
}

const COMPARISONS: [&str; 6] = ["<", "<=", "=", "!=", ">=", ">"];

impl Writer {
    /// Some scopes and goals.
    fn scopes(&mut self, quantifiers: &[&str], rng: &mut Rng) {
        for idx in 0..1 + rng.below(4) {
            let quantifier = quantifiers[rng.below(quantifiers.len())];
            self.scope(quantifier, idx, rng);
            if rng.below(3) == 0 {
                let condition = self.formula(2, rng);
                self.text += &format!(" where {condition}");
            }
            self.text += ";\n";
        }
        self.goals(rng);
        if rng.below(2) == 0 {
            self.global(rng);
        }
    }

    /// Draws and decisions, and how likely the goals must hold.
    fn stochastic(&mut self, rng: &mut Rng) {
        for idx in 0..2 + rng.below(3) {
            if rng.below(2) == 0 {
                self.scope("exists", idx, rng);
            } else {
                let greatest = 1 + rng.below(3);
                let weight = match rng.below(4) {
                    0 => format!(" weight {greatest} + 1 - y{idx}"),
                    1 => format!(" where y{idx} <= {}", rng.below(greatest + 1)),
                    _ => String::new(),
                };
                self.text += &format!("random y{idx}: 0..{greatest}{weight}");
                self.names.push(format!("y{idx}"));
            }
            self.text += ";\n";
        }
        let formula = self.formula(2, rng);
        let threshold = match rng.below(3) {
            0 => format!(" threshold {} of 4", rng.below(5)),
            _ => String::new(),
        };
        self.text += &format!("goal {formula}{threshold};\n");
        if rng.below(2) == 0 {
            self.text += &format!("threshold {} of 3;\n", rng.below(4));
        }
        if rng.below(2) == 0 {
            let name = self.name(rng);
            self.text += &format!("utility double({name});\n");
        }
    }

    /// A choice with a criterion, and answers to it.
    fn optimizing(&mut self, rng: &mut Rng) {
        let sense = ["minimize", "maximize"][rng.below(2)];
        let ties = ["", " ties pessimistic", " ties lexicographic", " ties any"][rng.below(4)];
        self.scope("exists", 0, rng);
        if rng.below(2) == 0 {
            let criterion = self.number(2, rng);
            self.text += &format!(" {sense} {criterion}{ties};\n");
        } else {
            let aggregate = ["sum", "min", "max", "count"][rng.below(4)];
            self.text += &format!(" {sense} total;\n");
            self.scope("forall", 1, rng);
            self.text += &format!(" aggregate total = {aggregate}(income);\n");
            self.scope("exists", 2, rng);
            let income = self.number(2, rng);
            self.text += &format!(" let income = {income} {sense} income{ties};\n");
        }
        self.goals(rng);
    }

    /// Rounds with one or two numbers as the state.
    fn game(&mut self, rng: &mut Rng) {
        let (greatest, most) = (2 + rng.below(4), 1 + rng.below(3));
        self.text += &format!(
            "game {{\n  rounds {};\n  state s: 0..{greatest} = {};\n  state t: 0..3 = 0;\n",
            1 + rng.below(4),
            rng.below(greatest + 1),
        );
        self.names = vec!["s".into(), "t".into()];
        if rng.below(2) == 0 {
            let word = ["loses", "wins", "ends"][rng.below(3)];
            let condition = self.formula(1, rng);
            self.text += &format!("  end when {condition} {word};\n");
        }
        self.names.push("m".into());
        let condition = self.formula(2, rng);
        self.text += &format!("  move m: 1..{most} where {condition};\n");
        let next = self.number(2, rng);
        self.text += &format!("  next s = max(0, min({greatest}, {next}));\n");
        if rng.below(2) == 0 {
            self.text += "  next t = (t + m) mod 4;\n";
        }
        let word = ["loses", "wins", "ends", "passes"][rng.below(4)];
        self.text += &format!("  blocked {word};\n}}\n");
        self.names.truncate(2);
        self.goals(rng);
    }

    /// Declares a number or an array, and leaves the scope open for clauses.
    fn scope(&mut self, quantifier: &str, idx: usize, rng: &mut Rng) {
        let domain = match rng.below(4) {
            0 => "{0, 2, 5}".into(),
            1 => "0..half".into(),
            _ => format!("0..{}", 1 + rng.below(3)),
        };
        match rng.below(4) {
            0 => {
                self.text += &format!("{quantifier} a{idx}: array[1..n] of {domain}");
                self.arrays.push(format!("a{idx}"));
            }
            1 => {
                self.text += &format!("{quantifier} x{idx}, z{idx}: {domain}");
                self.names.extend([format!("x{idx}"), format!("z{idx}")]);
            }
            _ => {
                self.text += &format!("{quantifier} x{idx}: {domain}");
                self.names.push(format!("x{idx}"));
            }
        }
    }

    fn goals(&mut self, rng: &mut Rng) {
        for _ in 0..1 + rng.below(2) {
            let formula = self.formula(3, rng);
            self.text += &format!("goal {formula};\n");
        }
    }

    /// A goal that is a global constraint.
    fn global(&mut self, rng: &mut Rng) {
        let list = self.list(rng);
        let value = rng.below(4);
        let constraint = match rng.below(10) {
            0 => format!("all_different({list})"),
            1 => format!("all_different_except_0({list})"),
            2 => format!("nvalue({}, {list})", 1 + value),
            3 => format!("global_cardinality({list}, [0, 1], [{value}, {}])", rng.below(3)),
            4 => format!("lex_lesseq({list}, {list})"),
            5 => {
                let [x, y] = [0, 1].map(|_| self.name(rng));
                format!("table([{x}, {y}], [[0, 1], [{value}, 2], [1, {value}]])")
            }
            6 => format!("increasing({list})"),
            7 => format!("at_most({value}, {list}, 1)"),
            8 => {
                let [x, y] = [0, 1].map(|_| self.name(rng));
                format!("cumulative([{x}, {y}], [1, 2], [1, {value}], 2)")
            }
            _ => {
                let name = self.name(rng);
                format!(
                    "regular([{name} + 1], 2, 6, [[1, 2, 1, 2, 0, 0], [2, 1, 2, 1, 2, 0]], 1, {{2}})"
                )
            }
        };
        self.text += &format!("goal {constraint};\n");
    }

    /// An expression that is true or false.
    fn formula(&self, depth: usize, rng: &mut Rng) -> String {
        if depth > 0 && rng.below(3) == 0 {
            let connective = ["/\\", "\\/", "->", "<->", "xor"][rng.below(5)];
            let [left, right] = [0, 1].map(|_| self.formula(depth - 1, rng));
            return format!("({left}) {connective} ({right})");
        }
        match rng.below(12) {
            0 => format!("not ({})", self.formula(depth.saturating_sub(1), rng)),
            1 => format!("{} in {{0, {}}}", self.name(rng), 1 + rng.below(3)),
            2 => format!("near({}, {})", self.name(rng), self.name(rng)),
            3 => format!("all_different({})", self.list(rng)),
            4 => {
                let quantifier = ["forall", "exists"][rng.below(2)];
                let comparison = COMPARISONS[rng.below(COMPARISONS.len())];
                format!("{quantifier}(i in 1..n)(i {comparison} {})", self.name(rng))
            }
            _ => {
                let comparison = COMPARISONS[rng.below(COMPARISONS.len())];
                format!("{} {comparison} {}", self.number(depth, rng), self.number(depth, rng))
            }
        }
    }

    /// An expression that is a number.
    fn number(&self, depth: usize, rng: &mut Rng) -> String {
        if depth == 0 || rng.below(2) == 0 {
            return if rng.below(3) == 0 { rng.below(6).to_string() } else { self.name(rng) };
        }
        let [left, right] = [0, 1].map(|_| self.number(depth - 1, rng));
        match rng.below(10) {
            0 => format!("min({left}, {right})"),
            1 => format!("abs({left} - {right})"),
            2 => format!("({left}) * ({right})"),
            3 => format!("({left}) {} {}", ["div", "mod"][rng.below(2)], 1 + rng.below(3)),
            4 => format!("sum({})", self.list(rng)),
            5 => format!("count({}, {})", self.list(rng), rng.below(3)),
            6 => {
                let condition = self.formula(depth - 1, rng);
                format!("(if {condition} then {left} else {right} endif)")
            }
            7 => format!("double({left})"),
            8 => format!("[3, 1, 2, 0, 4, 5][{} + 1]", self.name(rng)),
            _ => format!("({left} {} {right})", ["+", "-"][rng.below(2)]),
        }
    }

    /// A number that a scope declares.
    fn name(&self, rng: &mut Rng) -> String {
        let idx = rng.below(self.names.len() + self.arrays.len());
        match self.names.get(idx) {
            Some(name) => name.clone(),
            None => {
                let array = &self.arrays[idx - self.names.len()];
                format!("{array}[{}]", 1 + rng.below(self.length))
            }
        }
    }

    fn list(&self, rng: &mut Rng) -> String {
        if !self.arrays.is_empty() && rng.below(2) == 0 {
            return self.arrays[rng.below(self.arrays.len())].clone();
        }
        let names: Vec<String> = (0..1 + rng.below(4)).map(|_| self.name(rng)).collect();
        format!("[{}]", names.join(", "))
    }
}
