//! Parameters and enumerations: values from data or defaults, checked against their types.

use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::ValueSet;

use crate::codes;
use crate::data::Datum;
use crate::eval::Evaluated;
use crate::lower::Lowering;
use crate::syntax::{Expr, Name, Param, Type};
use crate::value::{Array, Binding, Value};

impl Lowering<'_, '_> {
    pub(crate) fn param(&mut self, param: &Param) -> Evaluated<()> {
        let span = param.name.at.0;
        let name = &param.name.text;
        let value = match (self.data.values.get(name), &param.default) {
            (Some(datum), _) => {
                let value = self.datum(datum, name, span)?;
                self.fitted(value, &param.ty, name, span)?
            }
            (None, Some(default)) => {
                let value = self.evaluator.eval(default)?;
                self.fitted(value, &param.ty, name, default.at.0)?
            }
            (None, None) => {
                return self.evaluator.fail_with_help(
                    codes::MISSING_DATA,
                    span,
                    format!("the parameter `{name}` has no value"),
                    format!("give it with `-D {name}=…` or in a data file"),
                );
            }
        };
        self.evaluator.bind(name, Binding::Value(value));
        Ok(())
    }

    pub(crate) fn datum(&mut self, datum: &Datum, name: &str, span: Span) -> Evaluated {
        match datum {
            Datum::Int(number) => Ok(Value::Int(*number)),
            Datum::Bool(truth) => Ok(Value::Bool(*truth)),
            Datum::Name(member) => match self.evaluator.binding(member) {
                Some(Binding::Value(value @ Value::Int(_))) => Ok(value.clone()),
                _ => {
                    let message =
                        format!("the data gives `{name}` the value `{member}`, which is not known");
                    self.evaluator.fail(codes::DATA_TYPE, span, message)
                }
            },
            Datum::Set(ranges) => {
                let mut small = Vec::new();
                for &(low, high) in ranges {
                    small.push((
                        self.evaluator.small(low, span)?,
                        self.evaluator.small(high, span)?,
                    ));
                }
                Ok(Value::Set(Rc::new(ValueSet::from_ranges(small))))
            }
            Datum::List(list) => {
                let items = list
                    .iter()
                    .map(|item| self.datum(item, name, span))
                    .collect::<Evaluated<Vec<_>>>()?;
                Ok(Value::list(items))
            }
        }
    }

    /// Returns a value in the form of its type: arrays with their indices, all members checked.
    pub(crate) fn fitted(&mut self, value: Value, ty: &Type, name: &str, span: Span) -> Evaluated {
        match (ty, value) {
            (Type::Int, value @ Value::Int(_)) | (Type::Bool, value @ Value::Bool(_)) => Ok(value),
            (Type::Bool, Value::Int(number @ 0..=1)) => Ok(Value::Bool(number == 1)),
            (Type::Set, value @ Value::Set(_)) => Ok(value),
            (Type::Set, Value::Array(array)) => {
                // JSON has no sets.
                let mut members = Vec::new();
                for item in &array.items {
                    let Value::Int(number) = item else {
                        return self.misfit(name, "a set of numbers", item, span);
                    };
                    members.push(self.evaluator.small(*number, span)?);
                }
                Ok(Value::Set(Rc::new(members.into_iter().collect())))
            }
            (Type::Domain(domain), Value::Int(number)) => {
                let set = self.evaluator.constant_set(domain)?;
                if i32::try_from(number).is_ok_and(|number| set.contains(number)) {
                    return Ok(Value::Int(number));
                }
                let message = format!("`{name}` is {number}, which is not in {set}");
                self.evaluator.fail(codes::DATA_TYPE, span, message)
            }
            (Type::Array { dimensions, of }, Value::Array(array)) => {
                let mut dims = Vec::new();
                for dimension in dimensions {
                    dims.push(self.dimension(dimension)?);
                }
                let mut items = flat(array);
                let wanted = dims.iter().try_fold(1_usize, |n, dim| n.checked_mul(dim.1));
                if wanted != Some(items.len()) {
                    let sizes: Vec<String> = dims.iter().map(|dim| dim.1.to_string()).collect();
                    let message = format!(
                        "`{name}` has {} members, its index sets have {}",
                        items.len(),
                        sizes.join(" by ")
                    );
                    return self.evaluator.fail(codes::DATA_TYPE, span, message);
                }
                let set = match &**of {
                    Type::Domain(domain) => Some(self.evaluator.constant_set(domain)?),
                    _ => None,
                };
                for item in &mut items {
                    let is_fine = match (&**of, &*item, &set) {
                        (Type::Int, Value::Int(_), _) | (Type::Bool, Value::Bool(_), _) => true,
                        (_, Value::Int(number), Some(set)) => {
                            i32::try_from(*number).is_ok_and(|number| set.contains(number))
                        }
                        _ => false,
                    };
                    if !is_fine {
                        let value = std::mem::replace(item, Value::Bool(false));
                        *item = self.fitted(value, of, name, span)?;
                    }
                }
                Ok(Value::Array(Rc::new(Array { dims, items })))
            }
            (ty, value) => {
                let wanted = match ty {
                    Type::Int | Type::Domain(_) => "a number",
                    Type::Bool => "true or false",
                    Type::Set => "a set",
                    Type::Array { .. } => "an array",
                };
                self.misfit(name, wanted, &value, span)
            }
        }
    }

    pub(crate) fn misfit<T>(
        &mut self,
        name: &str,
        wanted: &str,
        found: &Value,
        span: Span,
    ) -> Evaluated<T> {
        let message = format!("`{name}` is {wanted}, and its value is {}", found.kind());
        self.evaluator.fail(codes::DATA_TYPE, span, message)
    }

    /// Returns the first index and the length of an index set.
    pub(crate) fn dimension(&mut self, dimension: &Expr) -> Evaluated<(i64, usize)> {
        let set = self.evaluator.constant_set(dimension)?;
        let span = dimension.at.0;
        match set.ranges() {
            [] => Ok((1, 0)),
            [(first, _)] if set.len() <= self.evaluator.limits().max_length as u64 => {
                Ok((i64::from(*first), set.len() as usize))
            }
            [_] => {
                let message = format!("an array with {} places", set.len());
                self.evaluator.too_large(span, message)
            }
            _ => self.evaluator.fail(codes::TYPE, span, "an index set has no gaps"),
        }
    }

    pub(crate) fn enumeration(&mut self, name: &Name, members: &[Name]) -> Evaluated<()> {
        for (i, member) in members.iter().enumerate() {
            self.evaluator.bind(&member.text, Binding::Value(Value::Int(i as i64 + 1)));
        }
        let labels = std::iter::once("0").chain(members.iter().map(|member| member.text.as_str()));
        self.enumerations.insert(name.text.clone(), labels.map(String::from).collect());
        let set = ValueSet::from(1..=members.len() as i32);
        self.evaluator.bind(&name.text, Binding::Value(Value::Set(Rc::new(set))));
        Ok(())
    }
}

/// Flattens an array of arrays into one list.
fn flat(array: Rc<Array>) -> Vec<Value> {
    let items = Rc::try_unwrap(array).map_or_else(|shared| shared.items.clone(), |own| own.items);
    if !items.iter().any(|item| matches!(item, Value::Array(_))) {
        return items;
    }
    let parts = items.into_iter().flat_map(|item| match item {
        Value::Array(inner) => flat(inner),
        item => vec![item],
    });
    parts.collect()
}
