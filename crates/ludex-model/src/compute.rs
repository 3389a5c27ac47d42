//! Fast evaluation of lists of numbers, without a tree of values for each member.
//!
//! The data of a model is often a comprehension with a hundred thousand members whose bodies
//! are plain arithmetic. Such a body is compiled once for its loop: all names except the loop
//! index become numbers. Any other case (a variable, a list, an overflow) is left to
//! [`Evaluator::eval`], which computes the same values and reports errors.

use std::cell::Cell;
use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::{Comparison, Operation};

use crate::eval::{Evaluated, Evaluator};
use crate::generator::Sequence;
use crate::syntax::{Binary, Expr, ExprKind, Generator, Unary};
use crate::value::{Array, Binding, Value};

/// Shortest loop whose body is worth compiling.
const MIN_MEMBERS: u64 = 16;

impl Evaluator<'_> {
    /// Returns the members of a list, if its body is plain arithmetic on one index.
    pub(crate) fn computed(
        &mut self,
        body: &Expr,
        generators: &[Generator],
        span: Span,
    ) -> Evaluated<Option<Vec<Value>>> {
        let [Generator { names, over, condition: None }] = generators else { return Ok(None) };
        let ([name], ExprKind::Binary(Binary::Range, ..)) = (&names[..], &over.kind) else {
            return Ok(None);
        };
        let set = self.constant_set(over)?;
        if set.len() < MIN_MEMBERS || set.len() > self.limits.max_length as u64 {
            return Ok(None);
        }
        let Some(Body { code, is_bool }) = self.compile_body(&name.text, body) else {
            return Ok(None);
        };
        let n_parts = code.n_parts();
        let mut items = Vec::with_capacity(set.len() as usize);
        for index in set.iter() {
            self.steps(n_parts, span)?;
            let Some(number) = code.eval(index.into()) else { return Ok(None) };
            items.push(if is_bool { Value::Bool(number != 0) } else { Value::Int(number) });
        }
        Ok(Some(items))
    }

    fn compile_body(&self, index: &str, expr: &Expr) -> Option<Body> {
        let one = |expr: &Expr| self.compile_body(index, expr);
        let number = |expr: &Expr| one(expr).map(|body| body.code);
        let int = |expr: &Expr| one(expr).filter(|body| !body.is_bool).map(|body| body.code);
        let truth = |expr: &Expr| one(expr).filter(|body| body.is_bool).map(|body| body.code);
        Some(match &expr.kind {
            ExprKind::Int(number) => Body::number(Code::Constant(*number)),
            ExprKind::Bool(truth) => Body::truth(Code::Constant((*truth).into())),
            ExprKind::Name(name) if name == index => Body::number(Code::Index),
            ExprKind::Name(name) => match self.known(name)? {
                Value::Int(number) => Body::number(Code::Constant(*number)),
                Value::Bool(truth) => Body::truth(Code::Constant((*truth).into())),
                _ => return None,
            },
            ExprKind::Unary(Unary::Neg, inner) => Body::number(Code::Neg(number(inner)?.into())),
            ExprKind::Unary(Unary::Not, inner) => Body::truth(Code::Not(truth(inner)?.into())),
            ExprKind::Binary(op, left, right) => match kind(*op)? {
                Kind::Sum(is_minus) => {
                    let right = number(right)?;
                    let right = if is_minus { Code::Neg(right.into()) } else { right };
                    Body::number(Code::Add(Box::new((number(left)?, right))))
                }
                Kind::Operation(op) => {
                    Body::number(Code::Operation(op, Box::new((number(left)?, number(right)?))))
                }
                Kind::Comparison(op) => {
                    Body::truth(Code::Compare(op, Box::new((number(left)?, number(right)?))))
                }
                Kind::And => Body::truth(Code::And(Box::new((truth(left)?, truth(right)?)))),
                Kind::Or => Body::truth(Code::Or(Box::new((truth(left)?, truth(right)?)))),
            },
            ExprKind::If(branches, otherwise) => {
                let mut result = one(otherwise)?;
                for (condition, value) in branches.iter().rev() {
                    let value = one(value).filter(|value| value.is_bool == result.is_bool)?;
                    result.code = Code::If(Box::new((truth(condition)?, value.code, result.code)));
                }
                result
            }
            ExprKind::Index(base, places) => {
                let ExprKind::Name(name) = &base.kind else { return None };
                let Value::Array(array) = self.known(name)? else { return None };
                let is_plain = array.items.iter().take(1).all(|item| matches!(item, Value::Int(_)));
                if name == index || !is_plain || places.len() != array.dims.len() {
                    return None;
                }
                let places = places.iter().map(number).collect::<Option<_>>()?;
                Body::number(Code::Member(Rc::clone(array), places))
            }
            ExprKind::Call(name, arguments) if !self.names.contains_key(&name.text) => {
                match (name.text.as_str(), &arguments[..]) {
                    ("bool2int", [condition]) => Body::number(truth(condition)?),
                    ("draw", [seed, place, low, high]) => {
                        let parts = [int(seed)?, int(place)?, int(low)?, int(high)?];
                        Body::number(Code::Draw(Box::new(parts), Cell::default()))
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// Returns the value of a name, if it has one.
    fn known(&self, name: &str) -> Option<&Value> {
        let locals = self.locals[self.frame..].iter().rev();
        match locals.into_iter().find(|(own, _)| own == name) {
            Some((_, value)) => Some(value),
            None => match self.names.get(name)? {
                Binding::Value(value) => Some(value),
                _ => None,
            },
        }
    }
}

/// The compiled form of an operator of the language.
enum Kind {
    /// A sum; the flag means that the right side is subtracted.
    Sum(bool),
    Operation(Operation),
    Comparison(Comparison),
    And,
    Or,
}

fn kind(op: Binary) -> Option<Kind> {
    Some(match op {
        Binary::Add => Kind::Sum(false),
        Binary::Sub => Kind::Sum(true),
        Binary::Mul => Kind::Operation(Operation::Mul),
        Binary::Div => Kind::Operation(Operation::Div),
        Binary::Mod => Kind::Operation(Operation::Mod),
        Binary::Pow => Kind::Operation(Operation::Pow),
        Binary::Eq => Kind::Comparison(Comparison::Eq),
        Binary::Ne => Kind::Comparison(Comparison::Ne),
        Binary::Lt => Kind::Comparison(Comparison::Lt),
        Binary::Le => Kind::Comparison(Comparison::Le),
        Binary::Gt => Kind::Comparison(Comparison::Gt),
        Binary::Ge => Kind::Comparison(Comparison::Ge),
        Binary::And => Kind::And,
        Binary::Or => Kind::Or,
        _ => return None,
    })
}

/// A compiled body.
struct Body {
    code: Code,
    is_bool: bool,
}

impl Body {
    fn number(code: Code) -> Self {
        Self { code: code.folded(), is_bool: false }
    }

    fn truth(code: Code) -> Self {
        Self { code: code.folded(), is_bool: true }
    }
}

/// Arithmetic on the index of a loop; truth is 1 or 0.
enum Code {
    Constant(i64),
    Index,
    Neg(Box<Code>),
    Not(Box<Code>),
    Add(Box<(Code, Code)>),
    Operation(Operation, Box<(Code, Code)>),
    Compare(Comparison, Box<(Code, Code)>),
    And(Box<(Code, Code)>),
    Or(Box<(Code, Code)>),
    If(Box<(Code, Code, Code)>),
    Member(Rc<Array>, Vec<Code>),
    Draw(Box<[Code; 4]>, Cell<Sequence>),
}

impl Code {
    /// Returns the value; `None` if it is undefined.
    fn eval(&self, index: i64) -> Option<i64> {
        Some(match self {
            Code::Constant(number) => *number,
            Code::Index => index,
            Code::Neg(e) => e.eval(index)?.checked_neg()?,
            Code::Not(e) => i64::from(e.eval(index)? == 0),
            Code::Add(pair) => pair.0.eval(index)?.checked_add(pair.1.eval(index)?)?,
            Code::Operation(op, pair) => op.apply(pair.0.eval(index)?, pair.1.eval(index)?)?,
            Code::Compare(op, pair) => op.holds(pair.0.eval(index)?, pair.1.eval(index)?).into(),
            Code::And(pair) if pair.0.eval(index)? == 0 => 0,
            Code::Or(pair) if pair.0.eval(index)? != 0 => 1,
            Code::And(pair) | Code::Or(pair) => pair.1.eval(index)?,
            Code::If(parts) => {
                let (condition, yes, no) = &**parts;
                (if condition.eval(index)? != 0 { yes } else { no }).eval(index)?
            }
            Code::Member(array, places) => {
                let mut at = 0;
                for (place, &(first, length)) in places.iter().zip(&array.dims) {
                    let offset = place.eval(index)?.checked_sub(first)?;
                    at = at * length + usize::try_from(offset).ok().filter(|&o| o < length)?;
                }
                match array.items.get(at)? {
                    Value::Int(number) => *number,
                    _ => return None,
                }
            }
            Code::Draw(parts, sequence) => {
                let [seed, place, low, high] = &**parts;
                let (low, high) = (low.eval(index)?, high.eval(index)?);
                let place = place.eval(index)?;
                if place < 1 || low > high {
                    return None;
                }
                let mut drawn = sequence.get();
                let number = drawn.draw(seed.eval(index)? as u64, place as u64, low, high);
                sequence.set(drawn);
                number
            }
        })
    }

    fn children(&self) -> Vec<&Code> {
        match self {
            Code::Constant(_) | Code::Index => Vec::new(),
            Code::Neg(e) | Code::Not(e) => vec![e],
            Code::Add(pair)
            | Code::Operation(_, pair)
            | Code::Compare(_, pair)
            | Code::And(pair)
            | Code::Or(pair) => vec![&pair.0, &pair.1],
            Code::If(parts) => vec![&parts.0, &parts.1, &parts.2],
            Code::Member(_, places) => places.iter().collect(),
            Code::Draw(parts, _) => parts.iter().collect(),
        }
    }

    /// Folds parts without the index into constants; undefined parts stay as they are.
    fn folded(self) -> Self {
        let is_constant = self.children().iter().all(|child| matches!(child, Code::Constant(_)));
        match self.eval(0) {
            Some(number) if is_constant && !matches!(self, Code::Index) => Code::Constant(number),
            _ => self,
        }
    }

    fn n_parts(&self) -> usize {
        1 + self.children().into_iter().map(Code::n_parts).sum::<usize>()
    }
}
