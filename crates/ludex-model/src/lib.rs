//! The modeling language `.qcp`: from text to a problem.
//!
//! [`compile`] turns a text and the values of its parameters into a [`Problem`]: stochastic
//! when it uses chance, else quantified. `docs/language.md` is the reference.
//!
//! ```
//! use ludex_base::{Deadline, Source};
//! use ludex_model::{Data, ModelLimits, Problem, compile};
//!
//! let text = "exists order: 0..3; random demand: 0..2; goal order >= demand; threshold 2 of 3;";
//! let source = Source::new("shop.qcp", text);
//! let compiled = compile(&source, &Data::default(), &ModelLimits::default(), &Deadline::never());
//! let Problem::Stochastic(network) = compiled.unwrap().problem else { unreachable!() };
//! let report = ludex_scsp::solve(&network, &ludex_scsp::SolveConfig::default())?;
//! assert_eq!(report.verdict.name(), "true");
//! # Ok::<(), ludex_scsp::ScspError>(())
//! ```
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. `lexer`: text to tokens; [`syntax`]: the tree
//! 2. `parse` and `expressions`: tokens to a tree; `print`: a tree to text
//! 3. `names`: checks that every name is declared, from the text alone; `suggest`
//! 4. `data`: values of parameters
//! 5. `value`, `eval`: expressions to constants and terms; by theme `conditions`, `arithmetic`,
//!    `members`, `indexing`, `loops`, `builtins`; `compute`: long lists of numbers
//! 6. `problem`: the result; `draft`: scopes with their owners, before the kind of problem is
//!    known; `stochastic`: a draft with chance to a network
//! 7. `lower`: items to a draft; by theme `parameters`, `scopes`, `chance`, `objectives`;
//!    `game`: rounds from one state to the next; `optimum`: models inside models
//! 8. `write`: networks to text

mod arithmetic;
mod builtins;
mod chance;
pub mod codes;
mod compute;
mod conditions;
mod data;
mod draft;
mod eval;
mod expressions;
mod game;
mod generator;
mod indexing;
mod lexer;
mod limits;
mod loops;
mod lower;
mod members;
mod names;
mod objectives;
mod optimum;
mod parameters;
mod parse;
mod print;
mod problem;
mod scopes;
mod stochastic;
mod suggest;
pub mod syntax;
mod value;
mod write;

use ludex_base::{Deadline, Diagnostic, Severity, Source, Span};

pub use builtins::usages;
pub use data::{Data, Datum};
pub use limits::ModelLimits;
pub use lower::Compiled;
pub use parse::parse;
pub use print::{print, print_expression};
pub use problem::Problem;
pub use write::{WriteError, unused_name, write_network, write_stochastic};

/// Compiles a text with values for its parameters to a problem.
///
/// ```
/// use ludex_base::{Deadline, Source};
/// use ludex_csp::Verdict;
/// use ludex_model::{Data, Datum, ModelLimits, Problem, compile};
/// use ludex_qcsp::{SolveConfig, solve};
/// let text = "param n: int;
///     exists x: 0..n;
///     forall y: 0..n where y != x;
///     goal x + y <= n + 1;";
/// let mut data = Data::default();
/// data.values.insert("n".into(), Datum::Int(3));
/// let source = Source::new("example.qcp", text);
/// let compiled = compile(&source, &data, &ModelLimits::default(), &Deadline::never()).unwrap();
/// let Problem::Quantified(model) = compiled.problem else { unreachable!("nothing is drawn") };
/// let report = solve(&model, &SolveConfig::default())?;
/// assert_eq!(report.verdict, Verdict::True);
/// # Ok::<(), ludex_qcsp::ModelError>(())
/// ```
///
/// # Errors
/// Returns all mistakes in the text and in the values, with their positions and help.
pub fn compile(
    source: &Source,
    data: &Data,
    limits: &ModelLimits,
    deadline: &Deadline,
) -> Result<Compiled, Vec<Diagnostic>> {
    if source.text().len() > limits.max_bytes {
        let message = format!("a model has at most {} bytes", limits.max_bytes);
        let place = Span::new(0, 0);
        return Err(vec![Diagnostic::new(Severity::Fatal, codes::TOO_LARGE, place, message)]);
    }
    // Nested function calls need more stack than a small thread has.
    std::thread::scope(|scope| {
        let worker =
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
                let (tree, diagnostics) = parse(source.text());
                if !diagnostics.is_empty() {
                    return Err(diagnostics);
                }
                let diagnostics = names::check_names(&tree);
                if !diagnostics.is_empty() {
                    return Err(diagnostics);
                }
                lower::lower(&tree, data, limits, deadline)
            });
        match worker.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                let message = format!("no thread to read the model with: {error}");
                let place = Span::new(0, 0);
                Err(vec![Diagnostic::new(Severity::Fatal, codes::TOO_LARGE, place, message)])
            }
        }
    })
}

const STACK_BYTES: usize = 256 << 20;

#[cfg(test)]
mod tests;
