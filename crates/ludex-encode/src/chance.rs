//! Networks of steps as stochastic networks, in which the move of `random` is drawn.
//!
//! All decisions know the state, so this suits games of complete information. With hidden
//! information, a [`Lookahead`](crate::Lookahead) has beliefs instead of states.

use ludex_base::RoleId;
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{Condition, Constraint, Expr, Network, Value, VarId};
use ludex_scsp::{Distribution, StochasticNetwork, StochasticVariable, rational};

use crate::template::{MoveVar, Template};
use crate::unroll::Unrolled;

impl Template {
    /// Returns one step from any state: the state and the moves of the roles are decisions, then
    /// the move of `random` is drawn, each legal move equally likely. Every other variable has a
    /// single consistent value.
    ///
    /// In a state in which `random` should move but cannot, `none` is drawn and the constraints
    /// fail.
    pub fn stochastic(&self) -> StochasticNetwork {
        let vars: Vec<VarId> = (0..self.network.variables().len()).map(VarId::new).collect();
        Stager::new(self, &self.network).stage_all(&[vars]).0
    }
}

impl Unrolled {
    /// Returns the steps from the initial state, each as in [`Template::stochastic`].
    ///
    /// The constraints may hold with any probability. With the goal of a role as utility, the best
    /// policy is the best play of someone who decides all moves except those of `random` within
    /// this many steps.
    pub fn stochastic(&self, template: &Template, role: Option<RoleId>) -> StochasticNetwork {
        let stager = Stager::new(template, &self.network);
        let (mut network, here) = stager.stage_all(&self.steps);
        network.set_threshold(rational(0, 1));
        if let (Some(role), Some(last)) = (role, self.steps.last()) {
            network.set_utility(here[last[template.goals[role.index()].index()].index()]);
        }
        network
    }
}

/// Distributes the variables of a plain network over stages.
struct Stager<'a> {
    template: &'a Template,
    plain: &'a Network,
    network: StochasticNetwork,
    /// The stochastic variable of each plain variable.
    here: Vec<Option<VarId>>,
}

impl<'a> Stager<'a> {
    fn new(template: &'a Template, plain: &'a Network) -> Self {
        let here = vec![None; plain.variables().len()];
        Self { template, plain, network: StochasticNetwork::new(), here }
    }

    /// Adds all steps. `steps` has for each step the plain variable of each variable of the
    /// template.
    fn stage_all(mut self, steps: &[Vec<VarId>]) -> (StochasticNetwork, Vec<VarId>) {
        let template = self.template;
        let drawn = |var: VarId| template.chance.iter().any(|chance| chance.var == var);
        for vars in steps {
            self.network.stage();
            let of_state = |at: &usize| template.is_of_state(VarId::new(*at));
            (0..vars.len()).filter(of_state).for_each(|at| self.decide(vars[at]));
            let (chance, decided): (Vec<&MoveVar>, Vec<&MoveVar>) =
                template.moves.iter().partition(|it| drawn(it.var));
            decided.iter().for_each(|it| self.decide(vars[it.var.index()]));
            for of_random in chance {
                self.draw(of_random, vars);
            }
            // The rest of a step follows from the decisions and draws.
            self.network.stage();
            let is_next = |at: &usize| template.next.binary_search(&VarId::new(*at)).is_ok();
            let rest = (0..vars.len()).filter(|at| !is_next(at));
            rest.for_each(|at| self.decide(vars[at]));
        }
        (0..self.here.len()).for_each(|at| self.decide(VarId::new(at)));
        let here: Vec<VarId> =
            self.here.iter().map(|var| var.expect("every variable was added")).collect();
        for constraint in self.plain.constraints() {
            let now = |var: VarId| here[var.index()];
            self.network.add(constraint.renamed(&now, &|it| Expr::Var(now(it))));
        }
        (self.network, here)
    }

    /// Adds a variable to the stage opened last, if it is new.
    fn decide(&mut self, var: VarId) {
        if self.here[var.index()].is_none() {
            self.add(var, None);
        }
    }

    fn draw(&mut self, of_random: &MoveVar, vars: &[VarId]) {
        let at = |var: VarId| {
            self.here[vars[var.index()].index()].expect("the variable was added before")
        };
        let legal: Vec<Expr> = (legal_when(self.template, of_random).iter())
            .map(|e| e.rename(&|it| Expr::Var(at(it))))
            .collect();
        let var = vars[of_random.var.index()];
        // The id of the variable added next.
        let x = VarId::new(self.network.variables().len());
        let is_over = Expr::Var(at(self.template.terminal)).equals(1);
        let none = Expr::Or(vec![is_over.clone(), !Expr::Or(legal.clone())]);
        let plays = |(value, legal): (usize, Expr)| {
            Expr::And(vec![x.equals(value as Value), !is_over.clone(), legal])
        };
        let mut cases: Vec<Expr> = legal.into_iter().enumerate().map(plays).collect();
        cases.push(Expr::And(vec![x.equals(of_random.none()), none]));
        let added = self.add(var, Some(Distribution::uniform_where(Expr::Or(cases))));
        debug_assert_eq!(added, x);
    }

    fn add(&mut self, var: VarId, distribution: Option<Distribution>) -> VarId {
        let variable = self.plain.variable(var).clone();
        let stage = self.network.n_stages() - 1;
        let added =
            self.network.variable_with(StochasticVariable { variable, stage, distribution });
        self.here[var.index()] = Some(added);
        added
    }
}

/// Returns for each move the condition of its legality on the state variables, taken from the
/// constraints of the template.
fn legal_when(template: &Template, moves: &MoveVar) -> Vec<Expr> {
    let is_known = |var: &VarId| *var == moves.var || template.is_of_state(*var);
    let of_moves: Vec<&Constraint> = (template.network.constraints().iter())
        .filter(|constraint| {
            let scope = constraint.scope();
            scope.contains(&moves.var) && scope.iter().all(is_known)
        })
        .collect();
    let part = |constraint: &Constraint, value: Value| match constraint {
        Constraint::Table { scope, table, is_positive: true } => {
            Some(row_of(scope, table, moves.var, value))
        }
        Constraint::Element { list, start, condition: Condition::Compare(op, right), .. } => {
            let member = list[(value - start) as usize].clone();
            Some(Expr::Compare(*op, Box::new(member), Box::new(right.clone())))
        }
        // This constraint says that nobody moves at the end.
        Constraint::Intension(_) => None,
        other => unreachable!("legality is stated by tables and elements, not `{}`", other.name()),
    };
    let when = |value| of_moves.iter().filter_map(|it| part(it, value)).collect();
    (0..moves.none()).map(|value| Expr::And(when(value))).collect()
}

/// Returns the tuples of a table in which a variable has a value, as a condition on the other
/// variables.
fn row_of(scope: &[VarId], table: &Table, var: VarId, value: Value) -> Expr {
    let place = scope.iter().position(|&it| it == var).expect("the scope contains the variable");
    let of_value = table.tuples().filter(|tuple| tuple[place] == value || tuple[place] == STAR);
    let case = |tuple: &[Value]| {
        let given = scope.iter().zip(tuple).filter(|(it, value)| **it != var && **value != STAR);
        Expr::And(given.map(|(&it, &value)| it.equals(value)).collect())
    };
    Expr::Or(of_value.map(case).collect())
}
