//! XCSP3 instances from a grammar: a few variables, some constraints and perhaps an objective.
//!
//! Most are valid, so that they reach the solvers.

use ludex_base::Rng;

/// A random instance.
pub fn instance(rng: &mut Rng) -> String {
    let writer = Writer { n_x: 3 + rng.below(4), greatest: 2 + rng.below(5) };
    let Writer { n_x, greatest } = writer;
    let n_constraints = 1 + rng.below(5);
    let constraints: String = (0..n_constraints)
        .map(|_| match rng.below(8) {
            0 => writer.group(rng),
            _ => writer.constraint(rng),
        })
        .collect();
    let objectives = if rng.below(4) == 0 { writer.objective(rng) } else { String::new() };
    let kind = if objectives.is_empty() { "CSP" } else { "COP" };
    format!(
        "<instance format=\"XCSP3\" type=\"{kind}\">\n<variables>\n\
         <array id=\"x\" size=\"[{n_x}]\"> 0..{greatest} </array>\n\
         <array id=\"b\" size=\"[{n_x}]\"> 0 1 </array>\n\
         <var id=\"z\"> 0..{} </var>\n</variables>\n\
         <constraints>\n{constraints}</constraints>\n{objectives}</instance>\n",
        n_x * greatest,
    )
}

/// Writes constraints over `x`, an array of `n_x` numbers from 0 to `greatest`, `b`, as many bits, and `z`.
struct Writer {
    n_x: usize,
    greatest: usize,
}

const COMPARISONS: [&str; 6] = ["lt", "le", "eq", "ne", "ge", "gt"];

impl Writer {
    fn constraint(&self, rng: &mut Rng) -> String {
        let condition = self.condition(rng);
        let list = self.list(rng);
        let text = match rng.below(18) {
            0 => format!("<allDifferent> {list} </allDifferent>"),
            1 => format!(
                "<allDifferent> <list> x[] </list> <except> {} </except> </allDifferent>",
                self.value(rng)
            ),
            2 => format!("<allEqual> {} {} </allEqual>", self.variable(rng), self.variable(rng)),
            3 => format!("<sum> <list> {list} </list> {condition} </sum>"),
            4 => format!(
                "<sum> <list> x[] </list> <coeffs> {} </coeffs> {condition} </sum>",
                self.numbers(self.n_x, rng)
            ),
            5 => format!(
                "<count> <list> x[] </list> <values> {} </values> {condition} </count>",
                self.value(rng)
            ),
            6 => format!("<nValues> <list> x[] </list> {condition} </nValues>"),
            7 => format!("<maximum> <list> {list} </list> {condition} </maximum>"),
            8 => format!("<minimum> <list> {list} </list> {condition} </minimum>"),
            9 => format!(
                "<element> <list> x[] </list> <index> {} </index> <value> {} </value> </element>",
                self.variable(rng),
                self.value(rng)
            ),
            10 => {
                let order = ["lt", "le", "ge", "gt"][rng.below(4)];
                format!("<ordered> <list> x[] </list> <operator> {order} </operator> </ordered>")
            }
            11 => {
                let order = ["lt", "le"][rng.below(2)];
                format!(
                    "<lex> <list> x[] </list> <list> b[] </list> <operator> {order} </operator> </lex>"
                )
            }
            12 => format!(
                "<noOverlap> <origins> x[] </origins> <lengths> {} </lengths> </noOverlap>",
                self.numbers(self.n_x, rng)
            ),
            13 => format!(
                "<cardinality> <list> x[] </list> <values> 0 1 </values> <occurs> {} 0..{} </occurs> \
                 </cardinality>",
                rng.below(self.n_x),
                rng.below(self.n_x + 1)
            ),
            14 => self.extension(rng),
            15 => format!(
                "<regular> <list> x[] </list> <transitions> (a,0,a)(a,{},b)(b,0,b)(b,1,a) </transitions> \
                 <start> a </start> <final> {} </final> </regular>",
                1 + rng.below(self.greatest),
                ["a", "b", "a b"][rng.below(3)]
            ),
            16 => format!(
                "<binPacking> <list> x[] </list> <sizes> {} </sizes> <condition> (le,{}) </condition> \
                 </binPacking>",
                self.numbers(self.n_x, rng),
                1 + rng.below(9)
            ),
            _ => format!("<intension> {} </intension>", self.formula(3, rng)),
        };
        text + "\n"
    }

    /// One formula for several pairs of variables.
    fn group(&self, rng: &mut Rng) -> String {
        let args: String = (0..1 + rng.below(3))
            .map(|_| format!("<args> {} {} </args>", self.variable(rng), self.variable(rng)))
            .collect();
        let comparison = COMPARISONS[rng.below(COMPARISONS.len())];
        format!("<group> <intension> {comparison}(%0,%1) </intension> {args} </group>\n")
    }

    fn extension(&self, rng: &mut Rng) -> String {
        let tuples: String = (0..1 + rng.below(5))
            .map(|_| format!("({},{})", self.value(rng), self.value(rng)))
            .collect();
        let kind = ["supports", "conflicts"][rng.below(2)];
        format!("<extension> <list> x[0] x[1] </list> <{kind}> {tuples} </{kind}> </extension>")
    }

    fn objective(&self, rng: &mut Rng) -> String {
        let goal = ["minimize", "maximize"][rng.below(2)];
        match rng.below(3) {
            0 => format!("<objectives> <{goal}> z </{goal}> </objectives>\n"),
            _ => format!(
                "<objectives> <{goal} type=\"sum\"> <list> x[] </list> <coeffs> {} </coeffs> </{goal}> \
                 </objectives>\n",
                self.numbers(self.n_x, rng)
            ),
        }
    }

    fn condition(&self, rng: &mut Rng) -> String {
        let comparison = COMPARISONS[rng.below(COMPARISONS.len())];
        let right = match rng.below(4) {
            0 => "z".into(),
            _ => rng.below(2 * self.greatest + 1).to_string(),
        };
        format!("<condition> ({comparison},{right}) </condition>")
    }

    /// A formula that is true or false.
    fn formula(&self, depth: usize, rng: &mut Rng) -> String {
        if depth > 0 && rng.below(3) == 0 {
            let connective = ["and", "or", "xor", "iff", "imp"][rng.below(5)];
            let [left, right] = [0, 1].map(|_| self.formula(depth - 1, rng));
            return format!("{connective}({left},{right})");
        }
        if depth > 0 && rng.below(8) == 0 {
            return format!("not({})", self.formula(depth - 1, rng));
        }
        let comparison = COMPARISONS[rng.below(COMPARISONS.len())];
        format!("{comparison}({},{})", self.number(depth, rng), self.number(depth, rng))
    }

    /// An expression that is a number.
    fn number(&self, depth: usize, rng: &mut Rng) -> String {
        if depth > 0 && rng.below(3) == 0 {
            let name = ["add", "sub", "mul", "dist", "min", "max"][rng.below(6)];
            let [left, right] = [0, 1].map(|_| self.number(depth - 1, rng));
            return format!("{name}({left},{right})");
        }
        if depth > 0 && rng.below(8) == 0 {
            let name = ["div", "mod"][rng.below(2)];
            return format!("{name}({},{})", self.number(depth - 1, rng), 1 + rng.below(4));
        }
        if rng.below(3) == 0 { self.value(rng).to_string() } else { self.variable(rng) }
    }

    /// Some variables, or all of an array.
    fn list(&self, rng: &mut Rng) -> String {
        match rng.below(4) {
            0 => "b[]".into(),
            1 => format!("x[0..{}]", 1 + rng.below(self.n_x - 1)),
            _ => "x[]".into(),
        }
    }

    fn variable(&self, rng: &mut Rng) -> String {
        match rng.below(6) {
            0 => "z".into(),
            1 => format!("b[{}]", rng.below(self.n_x)),
            _ => format!("x[{}]", rng.below(self.n_x)),
        }
    }

    fn value(&self, rng: &mut Rng) -> usize {
        rng.below(self.greatest + 1)
    }

    fn numbers(&self, count: usize, rng: &mut Rng) -> String {
        let numbers: Vec<String> = (0..count).map(|_| (1 + rng.below(5)).to_string()).collect();
        numbers.join(" ")
    }
}
