//! Arrays: built from lists and families, and indexed.

use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::ValueSet;

use crate::eval::{Evaluated, Evaluator};
use crate::syntax::{Expr, ExprKind};
use crate::value::{Array, Binding, Term, Value};
use crate::{codes, members};

impl Evaluator<'_> {
    /// Returns a family as an array, if its indices fill a box.
    pub(crate) fn family_as_array(
        &mut self,
        name: &str,
        family: &std::collections::BTreeMap<Vec<i64>, Value>,
        span: Span,
    ) -> Evaluated {
        let n_dims = family.keys().next().map_or(0, Vec::len);
        let dims: Vec<(i64, usize)> = (0..n_dims)
            .map(|d| {
                let least = family.keys().map(|key| key[d]).min().unwrap_or(0);
                let most = family.keys().map(|key| key[d]).max().unwrap_or(0);
                (least, most.saturating_sub(least).saturating_add(1) as usize)
            })
            .collect();
        let n_places = dims.iter().try_fold(1_usize, |n, dim| n.checked_mul(dim.1));
        if n_places != Some(family.len()) {
            return self.fail(
                codes::INDEX,
                span,
                format!("`{name}` has gaps between its indices and is no array as a whole"),
            );
        }
        let items: Vec<Value> = family.values().cloned().collect();
        for item in &items {
            self.charge(item, span)?;
        }
        Ok(Value::Array(Rc::new(Array { dims, items })))
    }

    /// Builds a list of values; a list of arrays of one shape becomes an array with one more
    /// dimension.
    pub(crate) fn same_shape(&mut self, items: Vec<Value>, span: Span) -> Evaluated {
        let Some(Value::Array(first)) = items.first() else {
            if items.iter().any(|item| matches!(item, Value::Array(_))) {
                return self.fail(
                    codes::TYPE,
                    span,
                    "a list can't hold both arrays and other things",
                );
            }
            return Ok(Value::list(items));
        };
        let inner = first.dims.clone();
        let n_inner = first.items.len();
        self.check_length(n_inner.saturating_mul(items.len()), span)?;
        let mut dims = vec![(1, items.len())];
        let mut all = Vec::with_capacity(n_inner * items.len());
        for item in items {
            match item {
                Value::Array(array) if array.dims == inner => match Rc::try_unwrap(array) {
                    Ok(own) => all.extend(own.items),
                    Err(shared) => all.extend(shared.items.iter().cloned()),
                },
                _ => return self.fail(codes::TYPE, span, "the rows of this array differ in shape"),
            }
        }
        dims.extend(inner);
        Ok(Value::Array(Rc::new(Array { dims, items: all })))
    }

    pub(crate) fn rows(&mut self, rows: &[Vec<Expr>], span: Span) -> Evaluated {
        let length = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != length) {
            return self.fail(codes::TYPE, span, "the rows of this array differ in length");
        }
        let items =
            rows.iter().flatten().map(|item| self.eval(item)).collect::<Evaluated<Vec<_>>>()?;
        Ok(Value::Array(Rc::new(Array { dims: vec![(1, rows.len()), (1, length)], items })))
    }

    pub(crate) fn index(&mut self, base: &Expr, index: &[Expr], span: Span) -> Evaluated {
        // The first indices select the member of a family; the others index into it.
        if let ExprKind::Name(name) = &base.kind
            && !self.locals[self.frame..].iter().any(|(own, _)| own == name)
            && let Some(Binding::Family(family)) = self.names.get(name).cloned()
        {
            return self.index_family(name, &family, index, span);
        }
        let value = match &base.kind {
            // Looking a name up here avoids a copy.
            ExprKind::Name(name) => self.name(name, base.at.0)?,
            _ => self.eval(base)?,
        };
        let Value::Array(array) = value else {
            return self.fail(codes::TYPE, base.at.0, format!("{} has no index", value.kind()));
        };
        self.index_array(&array, index, span)
    }

    pub(crate) fn index_family(
        &mut self,
        name: &str,
        family: &Rc<std::collections::BTreeMap<Vec<i64>, Value>>,
        index: &[Expr],
        span: Span,
    ) -> Evaluated {
        let n_key = family.keys().next().map_or(0, Vec::len);
        if index.len() < n_key {
            let message = format!("`{name}` needs {n_key} indices, found {}", index.len());
            return self.fail(codes::INDEX, span, message);
        }
        let mut key = Vec::new();
        for place in &index[..n_key] {
            if !matches!(place.kind, ExprKind::All)
                && let Value::Int(number) = self.eval(place)?
            {
                key.push(number);
            }
        }
        if key.len() < n_key {
            // With a variable among the indices, the family must be an array.
            let whole = self.family_as_array(name, family, span)?;
            let Value::Array(array) = whole else { unreachable!("a family is an array") };
            return self.index_array(&array, index, span);
        }
        let Some(value) = family.get(&key).cloned() else {
            let shown: Vec<String> = key.iter().map(i64::to_string).collect();
            return self.fail_with_help(
                codes::USED_BEFORE_SCOPE,
                span,
                format!("there is no `{name}[{}]` here", shown.join(", ")),
                "a member can be used only behind the scope or loop that declares it",
            );
        };
        match (&index[n_key..], value) {
            ([], value) => {
                self.charge(&value, span)?;
                Ok(value)
            }
            (rest, Value::Array(array)) => self.index_array(&array, rest, span),
            (_, value) => self.fail(codes::INDEX, span, format!("{} has no index", value.kind())),
        }
    }

    pub(crate) fn index_array(&mut self, array: &Array, index: &[Expr], span: Span) -> Evaluated {
        if index.len() != array.dims.len() {
            let message = format!(
                "an array with {} dimensions takes as many indices, found {}",
                array.dims.len(),
                index.len()
            );
            return self.fail(codes::INDEX, span, message);
        }
        let mut places = Vec::new();
        for (d, place) in index.iter().enumerate() {
            places.push(match &place.kind {
                ExprKind::All => Place::All,
                _ => match self.eval(place)? {
                    Value::Int(number) => {
                        let (first, length) = array.dims[d];
                        let offset =
                            number.checked_sub(first).filter(|&o| o >= 0 && (o as usize) < length);
                        match offset {
                            Some(offset) => Place::At(offset as usize),
                            None => {
                                let message =
                                    format!("index {number} is outside of {}", array.range(d));
                                return self.fail(codes::INDEX, place.at.0, message);
                            }
                        }
                    }
                    Value::Set(set) => Place::Some(set),
                    Value::Term(term) if !term.is_bool => Place::Term(*term),
                    other => {
                        let message = format!("{} is no index", other.kind());
                        return self.fail(codes::TYPE, place.at.0, message);
                    }
                },
            });
        }
        members::select(self, array, &places, span)
    }
}

/// An index of one dimension.
pub enum Place {
    /// The whole dimension.
    All,
    /// One position, counted from 0.
    At(usize),
    /// A set of indices.
    Some(Rc<ValueSet>),
    /// An index that depends on variables.
    Term(Term),
}
