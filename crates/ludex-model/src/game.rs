//! Games: a sequence of similar rounds, each a scope that leads from one state to the next.
//!
//! State variables are functional: a round computes their values from the move and the values
//! before it. Together they are the key of the solver's memory.
//!
//! The formalism has only one way to end early: a player without a choice is blocked and loses.
//! `end when … loses` and `blocked loses` translate directly to it. The other outcomes use a
//! hidden state, the winner so far. The player who has lost is blocked. The player who has won
//! and is to move makes a move that changes nothing, after which the other is blocked. A player
//! who passes makes such a move too.

use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::Comparison::{Eq, Ge};
use ludex_csp::{Expr as Formula, ValueSet, VarId};
use ludex_qcsp::Quantifier;

use crate::draft::Owner;
use crate::eval::Evaluated;
use crate::lower::{Lowering, indices};
use crate::syntax::{Declaration, Expr, Game, GameClause, Let, Name, Outcome, Type};
use crate::value::{Array, Binding, Term, Value};
use crate::{arithmetic, codes};

/// The values of the winner.
const NOBODY: i64 = 0;
const EXISTENTIAL: i64 = 1;
const UNIVERSAL: i64 = 2;

/// The clauses of a game, by kind.
struct Rules<'g> {
    states: Vec<State<'g>>,
    /// Names defined before the move.
    before: Vec<&'g Let>,
    declarations: &'g [Declaration],
    legal: &'g [Expr],
    order: Option<&'g Expr>,
    /// Names defined after the move.
    after: Vec<&'g Let>,
    ends: Vec<(&'g Expr, Outcome)>,
    symmetries: Vec<&'g [Expr]>,
    is_non_blocking: bool,
    blocked: Outcome,
    players: Vec<Quantifier>,
    span: Span,
}

struct State<'g> {
    name: &'g Name,
    /// Shape of an array; `None` for a single variable.
    dims: Option<Vec<(i64, usize)>>,
    domain: ValueSet,
    is_bool: bool,
    next: Option<&'g Expr>,
}

/// The position before a round.
struct Position {
    states: Vec<Value>,
    winner: Value,
    /// The number of players who have passed in succession.
    n_passes: Value,
}

impl Lowering<'_, '_> {
    /// Opens one scope per round.
    pub(crate) fn game(&mut self, game: &Game) -> Evaluated<()> {
        let n_rounds = self.evaluator.constant_int(&game.rounds)?;
        if n_rounds < 0 || n_rounds > self.evaluator.limits().max_scopes as i64 {
            let max = self.evaluator.limits().max_scopes;
            let message = format!("a game of {n_rounds} rounds; it has 0 to {max}");
            return self.evaluator.too_large(game.rounds.at.0, message);
        }
        let (rules, initial) = self.rules(game)?;
        let outer: Vec<VarId> = (0..self.draft.variables.len()).map(VarId::new).collect();
        let mut position =
            Position { states: initial, winner: Value::Int(NOBODY), n_passes: Value::Int(0) };
        for round in 1..=n_rounds {
            position = self.round(&rules, position, round, &outer)?;
        }
        // The game may also be over after the last round.
        self.begin(&rules, &position, n_rounds + 1);
        for definition in &rules.before {
            self.round_name(definition, n_rounds + 1)?;
        }
        let winner = self.winner_by_ends(&rules, &position, n_rounds + 1)?;
        self.winner = Some(winner);
        for name in ["round", "player"] {
            self.evaluator.unbind(name);
        }
        for declaration in rules.declarations {
            self.evaluator.unbind(&declaration.name.text);
        }
        Ok(())
    }

    fn rules<'g>(&mut self, game: &'g Game) -> Evaluated<(Rules<'g>, Vec<Value>)> {
        let mut players = Vec::new();
        for player in &game.players {
            let Owner::Player(player) = self.owner(player, game.at.0)? else {
                let message = "no player of a game is chance";
                return self.evaluator.fail_with_help(
                    codes::UNSUPPORTED,
                    game.at.0,
                    message,
                    "write its rounds as scopes: `for (i in 1..n) { exists …; random …; }`",
                );
            };
            players.push(player);
        }
        let mut rules = Rules {
            states: Vec::new(),
            before: Vec::new(),
            declarations: &[],
            legal: &[],
            order: None,
            after: Vec::new(),
            ends: Vec::new(),
            symmetries: Vec::new(),
            is_non_blocking: false,
            blocked: Outcome::Loses,
            players,
            span: game.at.0,
        };
        let mut initial = Vec::new();
        for clause in &game.clauses {
            match clause {
                GameClause::State { name, ty, initial: first } => {
                    let (state, value) = self.state(name, ty, first)?;
                    rules.states.push(state);
                    initial.push(value);
                }
                GameClause::Let(definition) if rules.declarations.is_empty() => {
                    rules.before.push(definition);
                }
                GameClause::Let(definition) => rules.after.push(definition),
                GameClause::Move { declarations, legal, order } => {
                    if !rules.declarations.is_empty() {
                        return self.evaluator.fail_with_help(
                            codes::MISPLACED,
                            declarations[0].name.at.0,
                            "a round has one `move`",
                            "a move of several parts is `move from: …, to: …;`",
                        );
                    }
                    (rules.declarations, rules.legal) = (declarations, legal);
                    rules.order = order.as_ref();
                }
                GameClause::Next { name, value } => {
                    let state = rules.states.iter_mut().find(|state| state.name.text == name.text);
                    let Some(state) = state else {
                        let message = format!("`{}` is declared behind its `next`", name.text);
                        return self.evaluator.fail(codes::USED_BEFORE_SCOPE, name.at.0, message);
                    };
                    if state.next.replace(value).is_some() {
                        let message = format!("`{}` has two values in the next round", name.text);
                        return self.evaluator.fail(codes::DUPLICATE_NAME, name.at.0, message);
                    }
                }
                GameClause::End { condition, outcome: Outcome::Passes } => {
                    return self.evaluator.fail_with_help(
                        codes::MISPLACED,
                        condition.at.0,
                        "a game that is over can't go on by passing",
                        "an end is `loses`, `wins` or `ends`",
                    );
                }
                GameClause::End { condition, outcome } => rules.ends.push((condition, *outcome)),
                GameClause::Blocked { outcome, .. } => rules.blocked = *outcome,
                GameClause::Symmetry(equations) => rules.symmetries.push(equations),
                GameClause::NonBlocking => rules.is_non_blocking = true,
            }
        }
        if rules.declarations.is_empty() {
            return self.evaluator.fail_with_help(
                codes::SYNTAX,
                game.at.0,
                "this game has no `move`",
                "say what a player chooses: `move take: 1..3 where take <= left;`",
            );
        }
        Ok((rules, initial))
    }

    fn state<'g>(
        &mut self,
        name: &'g Name,
        ty: &Type,
        first: &Expr,
    ) -> Evaluated<(State<'g>, Value)> {
        let (dims, of) = match ty {
            Type::Array { dimensions, of } => {
                let mut dims = Vec::new();
                for dimension in dimensions {
                    dims.push(self.dimension(dimension)?);
                }
                (Some(dims), &**of)
            }
            ty => (None, ty),
        };
        let (domain, is_bool) = match of {
            Type::Bool => (ValueSet::from(0..=1), true),
            Type::Domain(expr) => ((*self.evaluator.constant_set(expr)?).clone(), false),
            _ => {
                return self.evaluator.fail_with_help(
                    codes::TYPE,
                    name.at.0,
                    format!("`{}` needs the values it can take", name.text),
                    "give a range or a set: `state left: 0..n = n;`",
                );
            }
        };
        if domain.is_empty() {
            let message = format!("`{}` has no values", name.text);
            return self.evaluator.fail(codes::EMPTY_DOMAIN, name.at.0, message);
        }
        let state = State { name, dims, domain, is_bool, next: None };
        let value = self.evaluator.eval(first)?;
        let value = self.kept(&state, &name.text, value, first.at.0)?;
        Ok((state, value))
    }

    /// Returns a value for a state variable: constants are checked, terms become functional
    /// variables.
    fn kept(&mut self, state: &State<'_>, name: &str, value: Value, span: Span) -> Evaluated {
        match (&state.dims, value) {
            (None, Value::Array(_)) => {
                let message = format!("`{}` is no array", state.name.text);
                self.evaluator.fail(codes::TYPE, span, message)
            }
            (None, value) => self.kept_one(state, name, value, span),
            (Some(dims), Value::Array(array)) => {
                if array.items.len() != dims.iter().map(|dim| dim.1).product::<usize>() {
                    let message = format!(
                        "{} values for the {} places of `{}`",
                        array.items.len(),
                        dims.iter().map(|dim| dim.1).product::<usize>(),
                        state.name.text
                    );
                    return self.evaluator.fail(codes::TYPE, span, message);
                }
                let mut items = Vec::new();
                for (index, item) in indices(dims).into_iter().zip(&array.items) {
                    let shown: Vec<String> = index.iter().map(i64::to_string).collect();
                    let full = format!("{name}[{}]", shown.join(","));
                    items.push(self.kept_one(state, &full, item.clone(), span)?);
                }
                Ok(Value::Array(Rc::new(Array { dims: dims.clone(), items })))
            }
            (Some(_), other) => {
                let message = format!("`{}` is an array, found {}", state.name.text, other.kind());
                self.evaluator.fail(codes::TYPE, span, message)
            }
        }
    }

    fn kept_one(&mut self, state: &State<'_>, name: &str, value: Value, span: Span) -> Evaluated {
        let term = match value {
            Value::Bool(truth) if state.is_bool => return Ok(Value::Bool(truth)),
            Value::Int(number) if !state.is_bool => {
                let is_inside = i32::try_from(number).is_ok_and(|n| state.domain.contains(n));
                if is_inside {
                    return Ok(Value::Int(number));
                }
                if self.draft.scopes.is_empty() {
                    let message = format!("{number} is no value of `{}`", state.name.text);
                    return self.evaluator.fail(codes::EMPTY_DOMAIN, span, message);
                }
                // The value is out of range, so the move that leads to it does not exist.
                self.restrict(Value::Bool(false), span)?;
                return Ok(Value::Int(number));
            }
            Value::Term(term) if term.is_bool == state.is_bool => *term,
            Value::Term(term) if term.is_bool => Term { is_bool: false, ..*term },
            other => {
                let message = format!("`{}` can't become {}", state.name.text, other.kind());
                return self.evaluator.fail(codes::TYPE, span, message);
            }
        };
        let (low, high) = self.evaluator.bounds_of(&term.formula);
        let end = |bound: i64| bound.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let possible = ValueSet::from(end(low)..=end(high));
        let domain = state.domain.intersection(&possible);
        if domain.is_empty() {
            self.restrict(Value::Bool(false), span)?;
            return self.named_in(name, term, &state.domain, span);
        }
        self.named_in(name, term, &domain, span)
    }

    /// Binds the names of a round.
    fn begin(&mut self, rules: &Rules<'_>, position: &Position, round: i64) {
        let player = (round - 1).rem_euclid(rules.players.len() as i64) + 1;
        self.evaluator.bind("round", Binding::Value(Value::Int(round)));
        self.evaluator.bind("player", Binding::Value(Value::Int(player)));
        for (state, value) in rules.states.iter().zip(&position.states) {
            self.evaluator.bind(&state.name.text, Binding::Value(value.clone()));
        }
    }

    fn mover(rules: &Rules<'_>, round: i64) -> Quantifier {
        rules.players[((round - 1) as usize) % rules.players.len()]
    }

    /// Opens one round: a scope with the move and the state after it.
    fn round(
        &mut self,
        rules: &Rules<'_>,
        position: Position,
        round: i64,
        outer: &[VarId],
    ) -> Evaluated<Position> {
        let span = rules.span;
        let mover = Self::mover(rules, round);
        let name = format!("{}@{round}", rules.declarations[0].name.text);
        let scope = self.open(name, Owner::Player(mover), span)?;
        self.draft.current().round = Some((round - 1) as u32);
        self.remember(&position, outer);
        self.begin(rules, &position, round);
        if rules.is_non_blocking {
            self.draft.current().is_non_blocking = true;
        }
        for equations in &rules.symmetries {
            self.symmetry(equations, scope)?;
        }

        // Step 1. Define names of the state.
        for definition in &rules.before {
            self.round_name(definition, round)?;
        }

        // Step 2. Determine who has won, who is blocked and who makes no move.
        let winner = self.winner_by_ends(rules, &position, round)?;
        let stuck = match rules.blocked {
            Outcome::Loses => Value::Bool(false),
            _ => self.stuck(rules)?,
        };
        let winner = self.winner_by_block(rules, winner, &stuck, round)?;
        let winner = self.named(&format!("winner@{round}"), winner, span)?;
        let (own, other) = match mover {
            Quantifier::Forall => (UNIVERSAL, EXISTENTIAL),
            _ => (EXISTENTIAL, UNIVERSAL),
        };
        let has_lost = self.evaluator.compare(Eq, winner.clone(), Value::Int(other), span)?;
        let may_move = self.evaluator.not(has_lost, span)?;
        self.restrict(may_move, span)?;
        let has_won = self.evaluator.compare(Eq, winner.clone(), Value::Int(own), span)?;
        let passes = match rules.blocked {
            Outcome::Passes => stuck,
            _ => Value::Bool(false),
        };
        let idle = self.evaluator.any(vec![has_won, passes.clone()], span)?;
        let idle = self.named(&format!("idle@{round}"), idle, span)?;

        // Step 3. Declare the move.
        self.moves(rules, &idle, round)?;

        // Step 4. Compute the state after the move.
        for definition in &rules.after {
            self.round_name(definition, round)?;
        }
        let states = self.successors(rules, &position, &idle, round)?;
        let n_passes = self.count_passes(rules, &position, passes, round)?;
        Ok(Position { states, winner, n_passes })
    }

    /// Declares the state as the key of the solver's memory: nothing else matters from here on.
    fn remember(&mut self, position: &Position, outer: &[VarId]) {
        let mut key = outer.to_vec();
        let hidden = [&position.winner, &position.n_passes];
        for value in position.states.iter().chain(hidden) {
            add_variables(value, &mut key);
        }
        key.sort_unstable();
        key.dedup();
        self.draft.current().memory_key = Some(key);
    }

    fn round_name(&mut self, definition: &Let, round: i64) -> Evaluated<()> {
        let value = self.evaluator.eval(&definition.value)?;
        let shown = format!("{}@{round}", definition.name.text);
        let value = self.named(&shown, value, definition.value.at.0)?;
        self.evaluator.bind(&definition.name.text, Binding::Value(value));
        Ok(())
    }

    /// Returns the winner according to the end conditions, which are checked before this round.
    fn winner_by_ends(&mut self, rules: &Rules<'_>, position: &Position, round: i64) -> Evaluated {
        let mover = Self::mover(rules, round);
        let mut cases: Vec<(Value, Value, Span)> = Vec::new();
        for &(condition, outcome) in &rules.ends {
            let holds = self.evaluator.eval(condition)?;
            let winner = self.winner_of(mover, outcome, condition.at.0)?;
            cases.push((holds, winner, condition.at.0));
        }
        if rules.blocked == Outcome::Passes {
            let all = Value::Int(rules.players.len() as i64);
            let holds = self.evaluator.compare(Ge, position.n_passes.clone(), all, rules.span)?;
            let winner = self.winner_of(mover, Outcome::Ends, rules.span)?;
            cases.push((holds, winner, rules.span));
        }
        let mut winner = Value::Int(NOBODY);
        for (holds, then, span) in cases.into_iter().rev() {
            winner = self.choose(holds, then, winner, span)?;
        }
        let span = rules.span;
        let is_open =
            self.evaluator.compare(Eq, position.winner.clone(), Value::Int(NOBODY), span)?;
        self.choose(is_open, winner, position.winner.clone(), span)
    }

    /// Returns the winner if the mover may have no move.
    fn winner_by_block(
        &mut self,
        rules: &Rules<'_>,
        winner: Value,
        stuck: &Value,
        round: i64,
    ) -> Evaluated {
        let outcome = rules.blocked;
        if matches!(outcome, Outcome::Loses | Outcome::Passes) {
            return Ok(winner);
        }
        let span = rules.span;
        let then = self.winner_of(Self::mover(rules, round), outcome, span)?;
        let is_open = self.evaluator.compare(Eq, winner.clone(), Value::Int(NOBODY), span)?;
        let holds = self.evaluator.both(is_open, stuck.clone(), span)?;
        self.choose(holds, then, winner, span)
    }

    /// Returns the winner for an outcome of the mover.
    fn winner_of(&mut self, mover: Quantifier, outcome: Outcome, span: Span) -> Evaluated {
        let is_existential = mover == Quantifier::Exists;
        match outcome {
            Outcome::Loses => Ok(Value::Int(if is_existential { UNIVERSAL } else { EXISTENTIAL })),
            Outcome::Wins => Ok(Value::Int(if is_existential { EXISTENTIAL } else { UNIVERSAL })),
            Outcome::Ends | Outcome::Passes => {
                let goals = self.later_goals.clone();
                let mut parts = Vec::new();
                for goal in &goals {
                    parts.push(self.evaluator.eval(goal)?);
                }
                let goal = self.evaluator.all(parts, span)?;
                self.choose(goal, Value::Int(EXISTENTIAL), Value::Int(UNIVERSAL), span)
            }
        }
    }

    fn choose(&mut self, condition: Value, then: Value, otherwise: Value, span: Span) -> Evaluated {
        match condition {
            Value::Bool(true) => Ok(then),
            Value::Bool(false) => Ok(otherwise),
            condition => {
                let condition = self.evaluator.truth(condition, span)?;
                arithmetic::choose(&mut self.evaluator, &condition, then, otherwise, span)
            }
        }
    }

    /// Returns the condition that no move is legal, by trying each move.
    fn stuck(&mut self, rules: &Rules<'_>) -> Evaluated {
        let mut domains = Vec::new();
        let mut n_moves = 1_u64;
        for declaration in rules.declarations {
            let domain = self.move_domain(declaration)?;
            n_moves = n_moves.saturating_mul(domain.len());
            domains.push(domain);
        }
        if n_moves > MAX_TRIED {
            let message = format!("{n_moves} moves to try before a player is known to have none");
            return self.evaluator.too_large(rules.span, message);
        }
        let mut tried: Vec<Vec<i32>> = vec![Vec::new()];
        for domain in &domains {
            let longer = |choice: &Vec<i32>| {
                let choice = choice.clone();
                domain.iter().map(move |value| [&choice[..], &[value]].concat()).collect::<Vec<_>>()
            };
            tried = tried.iter().flat_map(longer).collect();
        }
        let mut illegal = Vec::new();
        for choice in tried {
            for (declaration, value) in rules.declarations.iter().zip(&choice) {
                let value = Binding::Value(Value::Int(i64::from(*value)));
                self.evaluator.bind(&declaration.name.text, value);
            }
            let mut parts = Vec::new();
            for condition in rules.legal {
                parts.push(self.evaluator.eval(condition)?);
            }
            let legal = self.evaluator.all(parts, rules.span)?;
            illegal.push(self.evaluator.not(legal, rules.span)?);
        }
        self.evaluator.all(illegal, rules.span)
    }

    fn move_domain(&mut self, declaration: &Declaration) -> Evaluated<ValueSet> {
        let name = &declaration.name;
        match &declaration.ty {
            Type::Bool => Ok(ValueSet::from(0..=1)),
            Type::Domain(expr) => {
                let domain = self.evaluator.constant_set(expr)?;
                if domain.is_empty() {
                    let message = format!("`{}` has no values", name.text);
                    return self.evaluator.fail(codes::EMPTY_DOMAIN, expr.at.0, message);
                }
                Ok((*domain).clone())
            }
            _ => self.evaluator.fail_with_help(
                codes::TYPE,
                name.at.0,
                format!("a part of a move is one number, and `{}` is not", name.text),
                "declare each part: `move from: cells, to: cells;`",
            ),
        }
    }

    /// Declares the move and restricts it.
    fn moves(&mut self, rules: &Rules<'_>, idle: &Value, round: i64) -> Evaluated<()> {
        let span = rules.span;
        let may_be_idle = !matches!(idle, Value::Bool(false));
        let mut legal = Vec::new();
        let mut nothing = Vec::new();
        let mut variables = Vec::new();
        for declaration in rules.declarations {
            let name = &declaration.name;
            let own = self.move_domain(declaration)?;
            // The move that changes nothing has its own value, one below the others.
            let least = own.min().expect("the domain is not empty");
            let nil = i64::from(least) - 1;
            let mut domain = own.clone();
            if may_be_idle {
                let nil = self.evaluator.small(nil, name.at.0)?;
                domain = ValueSet::from_ranges(own.ranges().iter().copied().chain([(nil, nil)]));
            }
            let x = self.variable(format!("{}@{round}", name.text), domain, None, name.at.0)?;
            variables.push(x);
            let term = || Value::Term(Box::new(Term::new(Formula::Var(x), false, 1, 1)));
            if may_be_idle {
                nothing.push(self.evaluator.compare(Eq, term(), Value::Int(nil), span)?);
                legal.push(self.evaluator.compare(Ge, term(), Value::Int(nil + 1), span)?);
            }
            let is_bool = declaration.ty == Type::Bool && !may_be_idle;
            let value = Value::Term(Box::new(Term::new(Formula::Var(x), is_bool, 1, 1)));
            let value = match (&declaration.ty, is_bool) {
                (Type::Bool, false) => self.evaluator.compare(Eq, value, Value::Int(1), span)?,
                _ => value,
            };
            self.evaluator.bind(&name.text, Binding::Value(value));
        }
        for condition in rules.legal {
            legal.push(self.evaluator.eval(condition)?);
        }
        if !may_be_idle {
            for condition in legal {
                self.restrict(condition, span)?;
            }
        } else {
            let all = self.evaluator.all(nothing, span)?;
            let moving = self.evaluator.not(idle.clone(), span)?;
            let still = self.evaluator.any(vec![moving, all], span)?;
            self.restrict(still, span)?;
            for condition in legal {
                let either = self.evaluator.any(vec![idle.clone(), condition], span)?;
                self.restrict(either, span)?;
            }
        }
        match rules.order {
            Some(order) => self.value_order(&variables, order),
            None => Ok(()),
        }
    }

    /// Returns the state after a move, or the same state when there was none.
    fn successors(
        &mut self,
        rules: &Rules<'_>,
        position: &Position,
        idle: &Value,
        round: i64,
    ) -> Evaluated<Vec<Value>> {
        // All values are computed from the state before, so they are bound only when all are
        // known.
        let mut values = Vec::new();
        for (state, old) in rules.states.iter().zip(&position.states) {
            let Some(next) = state.next else {
                values.push((old.clone(), rules.span));
                continue;
            };
            let new = self.evaluator.eval(next)?;
            let new = match (&state.dims, new) {
                // A computed list has indices from 1; it takes over the indices of the state.
                (Some(dims), Value::Array(array))
                    if array.items.len() == dims.iter().map(|d| d.1).product::<usize>() =>
                {
                    Value::Array(Rc::new(Array { dims: dims.clone(), items: array.items.clone() }))
                }
                (_, new) => new,
            };
            values.push((self.choose(idle.clone(), old.clone(), new, next.at.0)?, next.at.0));
        }
        let mut states = Vec::new();
        for (state, (value, span)) in rules.states.iter().zip(values) {
            let name = format!("{}@{round}", state.name.text);
            states.push(self.kept(state, &name, value, span)?);
        }
        for (state, value) in rules.states.iter().zip(&states) {
            self.evaluator.bind(&state.name.text, Binding::Value(value.clone()));
        }
        Ok(states)
    }

    fn count_passes(
        &mut self,
        rules: &Rules<'_>,
        position: &Position,
        passes: Value,
        round: i64,
    ) -> Evaluated {
        if rules.blocked != Outcome::Passes {
            return Ok(Value::Int(0));
        }
        let span = rules.span;
        let one_more = arithmetic::add(
            &mut self.evaluator,
            vec![position.n_passes.clone(), Value::Int(1)],
            span,
        )?;
        let most = Value::Int(rules.players.len() as i64);
        let one_more = arithmetic::extreme(&mut self.evaluator, vec![one_more, most], true, span)?;
        let count = self.choose(passes, one_more, Value::Int(0), span)?;
        self.named(&format!("passes@{round}"), count, span)
    }
}

/// Largest number of moves that are tried to find out whether a move is legal.
const MAX_TRIED: u64 = 10_000;

fn add_variables(value: &Value, key: &mut Vec<VarId>) {
    match value {
        Value::Term(term) => {
            if let Formula::Var(x) = term.formula {
                key.push(x);
            }
        }
        Value::Array(array) => array.items.iter().for_each(|item| add_variables(item, key)),
        _ => {}
    }
}
