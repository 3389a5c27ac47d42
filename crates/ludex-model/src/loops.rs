//! Comprehensions and calls.

use ludex_base::Span;

use crate::eval::{Evaluated, Evaluator};
use crate::syntax::{Expr, Generator, Name};
use crate::value::{Binding, Value};
use crate::{builtins, codes};

impl Evaluator<'_> {
    /// Runs the body for every choice of the names of the generators.
    pub fn generate(
        &mut self,
        generators: &[Generator],
        run: &mut dyn FnMut(&mut Self) -> Evaluated<()>,
    ) -> Evaluated<()> {
        let Some((generator, rest)) = generators.split_first() else { return run(self) };
        let span = generator.over.at.0;
        let over: Vec<Value> = match self.eval(&generator.over)? {
            Value::Set(set) => {
                if set.len() > self.limits.max_length as u64 {
                    let message = format!("a loop over {} members", set.len());
                    return self.too_large(span, message);
                }
                set.iter().map(|value| Value::Int(value.into())).collect()
            }
            Value::Array(array) => array.items.clone(),
            other => {
                let message = format!("a loop runs over a set or an array, not {}", other.kind());
                return self.fail(codes::TYPE, span, message);
            }
        };
        self.generate_names(&generator.names, &over, generator, rest, run)
    }

    pub(crate) fn generate_names(
        &mut self,
        names: &[Name],
        over: &[Value],
        generator: &Generator,
        rest: &[Generator],
        run: &mut dyn FnMut(&mut Self) -> Evaluated<()>,
    ) -> Evaluated<()> {
        let Some((name, more)) = names.split_first() else {
            if let Some(condition) = &generator.condition
                && !self.constant_bool(condition)?
            {
                return Ok(());
            }
            return self.generate(rest, run);
        };
        for value in over {
            self.step(name.at.0)?;
            self.with_local(&name.text, value.clone(), |evaluator| {
                evaluator.generate_names(more, over, generator, rest, run)
            })?;
        }
        Ok(())
    }

    pub(crate) fn fold(
        &mut self,
        name: &Name,
        generators: &[Generator],
        body: &Expr,
        span: Span,
    ) -> Evaluated {
        let mut items = Vec::new();
        // A decided result needs no more members.
        let stop = match name.text.as_str() {
            "forall" => Some(false),
            "exists" => Some(true),
            _ => None,
        };
        let mut is_decided = false;
        self.generate(generators, &mut |evaluator| {
            if is_decided {
                return Ok(());
            }
            let item = evaluator.eval(body)?;
            is_decided =
                matches!((&item, stop), (Value::Bool(truth), Some(stop)) if *truth == stop);
            items.push(item);
            evaluator.check_length(items.len(), span)
        })?;
        let list = self.same_shape(items, span)?;
        self.apply(name, vec![list], &[span], span)
    }

    pub(crate) fn call(&mut self, name: &Name, arguments: &[Expr], span: Span) -> Evaluated {
        let places: Vec<Span> = arguments.iter().map(|argument| argument.at.0).collect();
        let values =
            arguments.iter().map(|argument| self.eval(argument)).collect::<Evaluated<Vec<_>>>()?;
        self.apply(name, values, &places, span)
    }

    pub(crate) fn apply(
        &mut self,
        name: &Name,
        values: Vec<Value>,
        places: &[Span],
        span: Span,
    ) -> Evaluated {
        let Some(Binding::Function(function)) = self.names.get(&name.text).cloned() else {
            return builtins::call(self, name, values, places, span);
        };
        if function.arguments.len() != values.len() {
            let message = format!(
                "`{}` takes {} arguments, found {}",
                name.text,
                function.arguments.len(),
                values.len()
            );
            return self.fail(codes::ARGUMENTS, span, message);
        }
        if self.n_calls >= self.limits.max_calls {
            let message = format!("calls nested deeper than {}", self.limits.max_calls);
            return self.fail_with_help(
                codes::ENDLESS,
                span,
                message,
                "a function that calls itself needs an `if` on its arguments that ends it",
            );
        }
        let (frame, n_locals) = (self.frame, self.locals.len());
        let names = function.arguments.iter().map(|argument| argument.text.clone());
        self.locals.extend(names.zip(values));
        self.frame = n_locals;
        self.n_calls += 1;
        let result = self.eval(&function.body);
        self.n_calls -= 1;
        self.frame = frame;
        self.locals.truncate(n_locals);
        result
    }

    /// Returns the names of functions, for suggestions.
    pub fn function_names(&self) -> Vec<String> {
        let own = self.names.iter().filter(|(_, binding)| matches!(binding, Binding::Function(_)));
        own.map(|(name, _)| name.clone()).collect()
    }
}
