//! Benchmark models of other solvers and of the literature, written with the builder.
#![allow(dead_code)]

use ludex_csp::{
    Constraint, Expr, Value, ValueSet, VarId, all_of, any_of, element, if_then_else, sum,
};
use ludex_qcsp::{AggregateFunction, Model, Quantifier, Symmetry, Ties};

/// The random number generator of the instances.
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Self {
        let mut draws = Self(seed);
        draws.step();
        draws
    }

    fn step(&mut self) {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }

    pub fn draw(&mut self, lo: Value, hi: Value) -> Value {
        self.step();
        lo + ((self.0 >> 33) % (hi - lo + 1) as u64) as Value
    }
}

pub fn mover(i: usize) -> Quantifier {
    if i.is_multiple_of(2) { Quantifier::Exists } else { Quantifier::Forall }
}

/// Players take 1 to 3 matches; a player who cannot take loses.
pub fn nim(n: Value) -> Model {
    let mut model = Model::new();
    let mut left = Expr::from(n);
    for i in 0..=n as usize {
        model.open(format!("move {i}"), mover(i));
        let x = model.int(format!("x{i}"), 1..=3);
        model.require(x.at_most(left.clone()));
        left = Expr::Var(model.define_in(format!("left{i}"), 0..=n, left - x));
    }
    model
}

/// Players take up to twice the previous number, at first fewer than all; a player who cannot take
/// loses.
pub fn nim_fibonacci(n: Value) -> Model {
    let mut model = Model::new();
    let (mut left, mut limit) = (Expr::from(n), Expr::from(n - 1));
    for i in 0..=n as usize {
        model.open(format!("move {i}"), mover(i));
        let x = model.int(format!("x{i}"), 1..=n);
        model.require(x.at_most(limit.clone()));
        model.require(x.at_most(left.clone()));
        let next = model.define_in(format!("left{i}"), 0..=n, left - x);
        let most = ludex_csp::minimum([x * 2, next.into()]);
        limit = Expr::Var(model.define_in(format!("limit{i}"), 0..=n, most));
        left = Expr::Var(next);
    }
    model
}

fn lines(
    columns: usize,
    rows: usize,
    n: usize,
    at: &dyn Fn(usize, usize) -> usize,
) -> Vec<Vec<usize>> {
    let mut lines = Vec::new();
    for row in 0..rows as i32 {
        for column in 0..columns as i32 {
            for (dr, dc) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let end = (row + dr * (n as i32 - 1), column + dc * (n as i32 - 1));
                if (0..rows as i32).contains(&end.0) && (0..columns as i32).contains(&end.1) {
                    lines.push(
                        (0..n as i32)
                            .map(|k| at((row + dr * k) as usize, (column + dc * k) as usize))
                            .collect(),
                    );
                }
            }
        }
    }
    lines
}

/// The question about the first player.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Question {
    Win,
    NotLose,
}

fn has_line(lines: &[Vec<usize>], board: &[Expr], player: Value) -> Expr {
    any_of(
        lines
            .iter()
            .map(|line| all_of(line.iter().map(|&cell| board[cell].clone().equals(player)))),
    )
}

/// Returns the board after a player has marked the cell `x` in move `i`.
pub fn marked(model: &mut Model, board: &[Expr], i: usize, x: VarId, player: Value) -> Vec<Expr> {
    let after = |(cell, before): (usize, &Expr)| {
        let next = if_then_else(x.equals(cell as Value), player, before.clone());
        Expr::Var(model.define_in(format!("b{i}[{cell}]"), 0..=2, next))
    };
    board.iter().enumerate().map(after).collect()
}

/// Tic-tac-toe in which a player is blocked once the other has a line.
pub fn tictactoe(question: Question, first: Quantifier) -> Model {
    let lines = lines(3, 3, 3, &|row, column| row * 3 + column);
    let mut model = Model::new();
    let mut board: Vec<Expr> = vec![Expr::from(0); 9];
    let mut lined = Expr::from(0);
    for i in 0..9 {
        let owner = if i % 2 == 0 { first } else { first.opponent() };
        model.open(format!("move {i}"), owner);
        let x = model.int(format!("x{i}"), 0..=8);
        let player = 1 + (i % 2) as Value;
        model.require(lined.clone().equals(0));
        model.require(element(board.clone(), x).equals(0));
        board = marked(&mut model, &board, i, x, player);
        lined = Expr::Var(model.define(format!("lined{i}"), has_line(&lines, &board, player)));
    }
    end(&mut model, question, lined, first == Quantifier::Exists);
    model
}

/// Adds the goal after nine moves or a full board: the last mover has a line, or not.
fn end(model: &mut Model, question: Question, lined: Expr, last_is_existential: bool) {
    match (question, last_is_existential) {
        (Question::Win, true) => model.goal(lined.differs(0)),
        (Question::Win, false) => model.goal(Expr::from(0)),
        (Question::NotLose, true) => {}
        (Question::NotLose, false) => model.goal(lined.equals(0)),
    }
}

/// Connect four in which a player is blocked once the other has a line.
pub fn connect_four(columns: usize, rows: usize, depth: usize, question: Question) -> Model {
    let at = |row: usize, column: usize| row * columns + column;
    let lines = lines(columns, rows, 4, &at);
    let mut model = Model::new();
    let mut board: Vec<Expr> = vec![Expr::from(0); columns * rows];
    let mut heights: Vec<Expr> = vec![Expr::from(0); columns];
    let mut lined = Expr::from(0);
    let full = Value::try_from(rows).unwrap();
    for i in 0..depth {
        model.open(format!("move {i}"), mover(i));
        if i > 1 {
            let mirror = Symmetry {
                variables: (0..columns)
                    .flat_map(|c| (0..rows).map(move |r| (r, c)).collect::<Vec<_>>())
                    .map(|(r, c)| (var(&board[at(r, c)]), var(&board[at(r, columns - 1 - c)])))
                    .chain((0..columns).map(|c| (var(&heights[c]), var(&heights[columns - 1 - c]))))
                    .collect(),
                values: Vec::new(),
            };
            model.symmetry(mirror);
        }
        let x = model.int(format!("x{i}"), 0..=columns as Value - 1);
        let player = 1 + (i % 2) as Value;
        model.require(lined.clone().equals(0));
        model.require(element(heights.clone(), x).less_than(full));
        let mut next = board.clone();
        for row in 0..rows {
            for column in 0..columns {
                let is_here =
                    x.equals(column as Value) & heights[column].clone().equals(row as Value);
                let cell = if_then_else(is_here, player, board[at(row, column)].clone());
                let name = format!("b{i}[{row},{column}]");
                next[at(row, column)] = Expr::Var(model.define_in(name, 0..=2, cell));
            }
        }
        board = next;
        heights = (0..columns)
            .map(|column| {
                let next = heights[column].clone() + x.equals(column as Value);
                Expr::Var(model.define_in(format!("h{i}[{column}]"), 0..=full, next))
            })
            .collect();
        lined = Expr::Var(model.define(format!("lined{i}"), has_line(&lines, &board, player)));
    }
    // A player to move on a full board would be blocked, but must not lose: the prefix ends there.
    end(&mut model, question, lined, depth % 2 == 1);
    model
}

fn var(e: &Expr) -> VarId {
    match e {
        Expr::Var(x) => *x,
        e => panic!("{e:?} is not a variable"),
    }
}

/// Four weights that weigh every whole amount of flour up to `most` on a pair of scales.
pub fn baker(most: Value, above: Value) -> Model {
    let mut model = Model::new();
    model.exists("weights");
    let weights = model.ints("w", 4, 1..=most);
    model.require(weights[0].greater_than(above));
    model.forall("flour");
    let flour = model.int("f", 1..=most);
    model.exists("scales");
    let sides = model.ints("c", 4, -1..=1);
    let sum = sum(weights.iter().zip(&sides).map(|(&w, &c)| w * c));
    model.goal(sum.equals(flour));
    model
}

/// A random matrix of 0 and 1 with `2^depth` rows and columns. The existential player chooses the
/// bits of the row and the universal player those of the column, in turn.
pub fn matrix_game(depth: usize, percent_ones: Value, seed: u64) -> Model {
    let mut draws = Draws::new(seed);
    let cells: Vec<Expr> = (0..1 << (2 * depth))
        .map(|_| Expr::from(Value::from(draws.draw(1, 100) <= percent_ones)))
        .collect();
    let mut model = Model::new();
    let mut place = Expr::from(0);
    for i in 0..depth {
        model.exists(format!("row {i}"));
        let row = model.bool(format!("r{i}"));
        model.forall(format!("column {i}"));
        let column = model.bool(format!("c{i}"));
        let (r, c) = (1 << (2 * depth - 1 - i), 1 << (depth - 1 - i));
        place = place + row * r + column * c;
    }
    model.goal(element(cells, place));
    model
}

/// Tariffs on links that maximize the payments of customers, who take the cheapest affordable path.
pub fn link_pricing(n_links: usize, n_customers: usize, seed: u64, ties: Ties) -> Model {
    let mut draws = Draws::new(seed);
    let (mut costs, mut demands, mut limits) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n_customers {
        costs.push((0..n_links).map(|_| draws.draw(0, 8)).collect::<Vec<_>>());
        demands.push(draws.draw(5, 20));
        limits.push(demands[demands.len() - 1] * draws.draw(8, 20));
    }
    let tariffs = [3, 7, 11, 15, 19];
    link_pricing_with(&costs, &demands, &limits, &tariffs, ties)
}

pub fn link_pricing_with(
    costs: &[Vec<Value>],
    demands: &[Value],
    limits: &[Value],
    tariffs: &[Value],
    ties: Ties,
) -> Model {
    let n_links = costs[0].len();
    let mut model = Model::new();
    let leader = model.exists("leader");
    let tariff = model.ints("t", n_links, tariffs);
    let market = model.forall("market");
    let k = model.int("k", 0..costs.len() as Value);
    let customer = model.exists("customer");
    let a = model.int("a", 0..n_links as Value);
    let own = element(costs.iter().flatten().copied(), k * n_links as Value + a);
    let price = element(tariff.clone(), a);
    let demand = element(demands.iter().copied(), k);
    let cost = model.define("cost", (own + price.clone()) * demand.clone());
    let income = model.define("income", price * demand);
    model.require(cost.at_most(element(limits.iter().copied(), k)));
    model.minimize(customer, cost);
    model.ties(customer, ties);
    let total = model.aggregate(market, "total", AggregateFunction::Sum, income);
    model.maximize(leader, total);
    model
}

/// Tasks on one machine with capacity 10: start times, needs that an adversary raises.
pub struct Scheduling {
    pub lengths: Vec<Value>,
    pub needs: Vec<Value>,
    pub raised: Vec<Value>,
    pub before: Vec<(usize, usize)>,
    pub capacity: Value,
}

impl Scheduling {
    /// Three tasks that take 3, 2 and 1 units of time.
    pub fn three_tasks() -> Self {
        Self {
            lengths: vec![3, 2, 1],
            needs: vec![1, 2, 3],
            raised: vec![2, 3, 4],
            before: Vec::new(),
            capacity: 5,
        }
    }

    pub fn random(n: usize, percent_raise: Value, seed: u64) -> Self {
        let mut draws = Draws::new(seed);
        let (mut lengths, mut needs) = (Vec::new(), Vec::new());
        for _ in 0..n {
            lengths.push(draws.draw(1, 5));
            needs.push(draws.draw(1, 6));
        }
        let mut before = Vec::new();
        for j in 1..n {
            for i in 0..j {
                if draws.draw(1, 100) <= 20 {
                    before.push((i, j));
                }
            }
        }
        let raised =
            needs.iter().map(|&need| ((need * (100 + percent_raise) + 99) / 100).min(10)).collect();
        Self { lengths, needs, raised, before, capacity: 10 }
    }

    fn cumulative(&self, starts: &[VarId], needs: Vec<Expr>) -> Constraint {
        Constraint::Cumulative {
            origins: starts.iter().map(Expr::from).collect(),
            lengths: self.lengths.iter().map(|&length| length.into()).collect(),
            heights: needs,
            limit: self.capacity.into(),
        }
    }

    fn require_plan(&self, model: &mut Model, starts: &[VarId], end: Value) {
        for (start, length) in starts.iter().zip(&self.lengths) {
            model.require((*start + *length).at_most(end));
        }
        for &(i, j) in &self.before {
            model.require((starts[i] + self.lengths[i]).at_most(starts[j]));
        }
    }

    /// Returns the shortest time without an adversary.
    pub fn shortest(&self) -> Value {
        let horizon: Value = self.lengths.iter().sum();
        let mut network = ludex_csp::Network::new();
        let starts = network.ints("s", self.lengths.len(), 0..=horizon);
        let needs = self.needs.iter().map(|&need| need.into()).collect();
        network.add(self.cumulative(&starts, needs));
        for &(i, j) in &self.before {
            network.require((starts[i] + self.lengths[i]).at_most(starts[j]));
        }
        let ends = starts.iter().zip(&self.lengths).map(|(start, length)| *start + *length);
        network.minimize(ludex_csp::maximum(ends));
        let report = ludex_csp::solve(&network, &Default::default()).unwrap();
        report.value.unwrap() as Value
    }

    fn needs_under(&self, attacked: &[VarId]) -> Vec<Expr> {
        let raises = self.needs.iter().zip(&self.raised).zip(attacked);
        raises.map(|((need, raised), &a)| a * (raised - need) + *need).collect()
    }

    fn attacks(&self, model: &mut Model, n_attacks: Value) -> Vec<VarId> {
        let attacked = model.ints("a", self.needs.len(), 0..=1);
        model.require(sum(&attacked).at_most(n_attacks));
        attacked
    }

    /// exists plan, forall attack.
    pub fn plan_first(&self, end: Value, n_attacks: Value) -> Model {
        let mut model = Model::new();
        model.exists("plan");
        let starts = model.ints("s", self.needs.len(), 0..=end);
        self.require_plan(&mut model, &starts, end);
        model.restrict(
            self.cumulative(&starts, self.needs.iter().map(|&need| need.into()).collect()),
        );
        model.forall("attack");
        let attacked = self.attacks(&mut model, n_attacks);
        model.goal_constraint(self.cumulative(&starts, self.needs_under(&attacked)));
        model
    }

    /// forall attack, exists plan.
    pub fn attack_first(&self, end: Value, n_attacks: Value) -> Model {
        let mut model = Model::new();
        model.forall("attack");
        let attacked = self.attacks(&mut model, n_attacks);
        model.exists("plan");
        let starts = model.ints("s", self.needs.len(), 0..=end);
        self.require_plan(&mut model, &starts, end);
        model.restrict(self.cumulative(&starts, self.needs_under(&attacked)));
        model
    }
}

/// Players take turns adding a number from {3, 15, 17, 19}, the first player from `first`; whoever
/// is closer to 21 wins.
pub fn black_jack(first: ValueSet) -> Model {
    let domain = ValueSet::from([3, 15, 17, 19]);
    let mut model = Model::new();
    model.exists("X1");
    let x1 = model.int("X1", first);
    model.forall("Y1");
    let y1 = model.int("Y1", domain.clone());
    model.require(y1.differs(x1));
    model.exists("X2");
    let x2 = model.int("X2", domain.clone());
    model.require(x2.differs(x1) & x2.differs(y1) & (x1 + x2).at_most(21));
    model.forall("Y2");
    let y2 = model.int("Y2", domain);
    model.require(y2.differs(x1) & y2.differs(y1) & y2.differs(x2) & (y1 + y2).at_most(21));
    model.goal((x1 + x2).at_least(y1 + y2));
    model
}
