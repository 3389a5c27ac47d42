//! Lowers the tree to a draft and the draft to a problem: parameters get their values, loops
//! run, scopes open.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ludex_base::{Deadline, Diagnostic, Severity, Span};

use crate::data::Data;
use crate::draft::Draft;
use crate::eval::{Evaluated, Evaluator, Failed};
use crate::limits::ModelLimits;
use crate::objectives::Pending;
use crate::problem::Problem;
use crate::syntax::{self, *};
use crate::value::{Binding, Value};
use crate::{codes, optimum, suggest};

/// A problem with the warnings about its text.
#[derive(Clone)]
pub struct Compiled {
    /// The problem.
    pub problem: Problem,
    /// Remarks that are not mistakes.
    pub warnings: Vec<Diagnostic>,
}

/// Turns a tree with checked names into a problem.
pub fn lower(
    tree: &syntax::Model,
    data: &Data,
    limits: &ModelLimits,
    deadline: &Deadline,
) -> Result<Compiled, Vec<Diagnostic>> {
    let mut evaluator = Evaluator::new(limits, deadline);
    evaluator.solve_inner = Some(optimum::solve);
    let mut lowering = Lowering::new(evaluator, data);
    lowering.unknown_data(tree);
    // After a mistake in one item, the others are still checked where possible.
    let _ = lowering.items(&tree.items).and_then(|()| lowering.finish());
    let Lowering { evaluator, draft, warnings, .. } = lowering;
    if evaluator.has_failed() {
        return Err(evaluator.into_diagnostics());
    }
    let problem = draft.problem(deadline).map_err(|mistake| vec![mistake])?;
    Ok(Compiled { problem, warnings })
}

/// The draft under construction.
pub struct Lowering<'a, 'b> {
    pub(crate) evaluator: Evaluator<'a>,
    pub(crate) data: &'b Data,
    pub(crate) draft: Draft,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Objectives and aggregates whose expressions wait for their variables.
    pub(crate) pending: Vec<Pending>,
    /// The winner when the rounds of a game are over: 0 for nobody, 1 for the existential
    /// player, 2 for the universal one.
    pub(crate) winner: Option<Value>,
    /// Goals after a game, which may be over before its last round.
    pub(crate) later_goals: Vec<Expr>,
    has_goal: bool,
    /// The names of the values of enumerations; the value 0 has no name.
    pub(crate) enumerations: HashMap<String, Arc<[String]>>,
}

impl<'a, 'b> Lowering<'a, 'b> {
    /// Creates an empty draft.
    pub fn new(evaluator: Evaluator<'a>, data: &'b Data) -> Self {
        Self {
            evaluator,
            data,
            draft: Draft::default(),
            warnings: Vec::new(),
            pending: Vec::new(),
            winner: None,
            later_goals: Vec::new(),
            has_goal: false,
            enumerations: HashMap::new(),
        }
    }

    /// Reports data for parameters that the model does not have.
    pub(crate) fn unknown_data(&mut self, tree: &syntax::Model) {
        let names: Vec<&str> = tree
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Param(param) => Some(param.name.text.as_str()),
                _ => None,
            })
            .collect();
        for name in self.data.values.keys().filter(|name| !names.contains(&name.as_str())) {
            let message = format!("the model has no parameter `{name}`");
            let help = match suggest::closest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "it has no parameters at all".into(),
                None => format!("its parameters are {}", names.join(", ")),
            };
            let place = Span::new(0, 0);
            self.evaluator.report(
                Diagnostic::new(Severity::Fatal, codes::UNKNOWN_PARAMETER, place, message)
                    .with_help(help),
            );
        }
    }

    /// Lowers items in order.
    pub fn items(&mut self, items: &[Item]) -> Evaluated<()> {
        // Functions may be called before their definition in the text.
        for item in items {
            if let Item::Function(function) = item {
                let binding = Binding::Function(Rc::new(function.clone()));
                self.evaluator.bind(&function.name.text, binding);
            }
        }
        let mut result = Ok(());
        for (i, item) in items.iter().enumerate() {
            if let Item::Game(_) = item {
                let goals = items[i + 1..].iter().filter_map(|item| match item {
                    Item::Goal(goal) => Some(goal.clone()),
                    _ => None,
                });
                self.later_goals = goals.collect();
            }
            if self.item(item).is_err() {
                result = Err(Failed);
                // Errors after a broken declaration would mostly be consequences of it.
                if !matches!(item, Item::Goal(_) | Item::Assert { .. }) {
                    return result;
                }
            }
        }
        result
    }

    pub(crate) fn item(&mut self, item: &Item) -> Evaluated<()> {
        match item {
            Item::Param(param) => self.param(param),
            Item::Enum { name, members } => self.enumeration(name, members),
            Item::Let(definition) => self.definition(definition),
            Item::Function(_) => Ok(()),
            Item::Assert { condition, message } => {
                if self.evaluator.constant_bool(condition)? {
                    return Ok(());
                }
                let message = message.clone().unwrap_or_else(|| "this does not hold".into());
                self.evaluator.fail(codes::ASSERTION, condition.at.0, message)
            }
            Item::Scope(scope) => self.scope(scope),
            Item::For { generators, body } => self.repetition(generators, body),
            Item::If { condition, then, otherwise } => {
                let is_taken = self.evaluator.constant_bool(condition)?;
                self.items(if is_taken { then } else { otherwise })
            }
            Item::Game(game) => self.game(game),
            Item::Goal(goal) => self.goal(goal),
            Item::LikelyGoal { goal, threshold } => self.likely_goal(goal, threshold),
            Item::Threshold(threshold) => self.threshold(threshold),
            Item::Utility(utility) => self.utility(utility),
        }
    }

    pub(crate) fn repetition(&mut self, generators: &[Generator], body: &[Item]) -> Evaluated<()> {
        // The choices are computed first, because running the body borrows all of `self`.
        let names: Vec<String> = generators
            .iter()
            .flat_map(|generator| generator.names.iter().map(|name| name.text.clone()))
            .collect();
        let mut choices: Vec<Vec<Value>> = Vec::new();
        let name_exprs: Vec<Expr> = generators
            .iter()
            .flat_map(|generator| &generator.names)
            .map(|name| Expr { kind: ExprKind::Name(name.text.clone()), at: name.at })
            .collect();
        self.evaluator.generate(generators, &mut |evaluator| {
            choices.push(
                name_exprs.iter().map(|name| evaluator.eval(name)).collect::<Evaluated<_>>()?,
            );
            Ok(())
        })?;
        let mut result = Ok(());
        for choice in choices {
            // Loop names are bound like others, so that definitions inside can see them.
            let mut hidden = Vec::new();
            for (name, value) in names.iter().zip(choice) {
                hidden.push((name.clone(), self.evaluator.unbind(name)));
                self.evaluator.bind(name, Binding::Value(value));
            }
            result = self.items(body);
            for (name, binding) in hidden {
                self.evaluator.unbind(&name);
                if let Some(binding) = binding {
                    self.evaluator.bind(&name, binding);
                }
            }
            if result.is_err() {
                break;
            }
        }
        result
    }

    pub(crate) fn goal(&mut self, goal: &Expr) -> Evaluated<()> {
        self.has_goal = true;
        let span = goal.at.0;
        let mut value = self.evaluator.eval(goal)?;
        if let Some(winner) = self.winner.clone() {
            value = self.decided_or(winner, value, span)?;
        }
        for constraint in self.constraints(value, span)? {
            self.draft.goal(constraint, span);
        }
        Ok(())
    }

    /// Builds the goal of a game that may be over: the player has won, or nobody has and the
    /// goal holds.
    pub(crate) fn decided_or(&mut self, winner: Value, goal: Value, span: Span) -> Evaluated {
        use ludex_csp::Comparison::Eq;
        let won = self.evaluator.compare(Eq, winner.clone(), Value::Int(1), span)?;
        let open = self.evaluator.compare(Eq, winner, Value::Int(0), span)?;
        let holds = self.evaluator.both(open, goal, span)?;
        self.evaluator.any(vec![won, holds], span)
    }

    /// Completes the parts that need all scopes.
    pub(crate) fn finish(&mut self) -> Evaluated<()> {
        if let Some(winner) = self.winner.clone()
            && !self.has_goal
        {
            let place = Span::new(0, 0);
            let value = self.decided_or(winner, Value::Bool(true), place)?;
            for constraint in self.constraints(value, place)? {
                self.draft.goal(constraint, place);
            }
        }
        self.settle_pending()?;
        self.measures()
    }
}

/// Returns all index tuples of an array, the last index running fastest.
pub(crate) fn indices(dims: &[(i64, usize)]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &(first, length) in dims {
        all = all
            .into_iter()
            .flat_map(|index| {
                (0..length as i64).map(move |offset| {
                    let mut index = index.clone();
                    index.push(first + offset);
                    index
                })
            })
            .collect();
    }
    all
}
