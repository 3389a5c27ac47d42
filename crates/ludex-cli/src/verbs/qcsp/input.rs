//! Reads a problem from the `FILE`, `--data` and `-D` of a call.

use ludex_base::{Deadline, Severity, Source};
use ludex_formats::{Format, FormatError};
use ludex_model::{Compiled, Data, Datum, ModelLimits, Problem, compile};
use ludex_pipeline::LoadOptions;
use ludex_qcsp::Model;
use ludex_scsp::StochasticNetwork;
use serde_json::Value;

use crate::args::{Common, QcspFile};
use crate::diagnostics;
use crate::failure::Failure;
use crate::input::{read_text, shown_path};

/// Reads the model of a call; the file extension decides the format.
pub fn read(args: &QcspFile, common: &Common, deadline: &Deadline) -> Result<Model, Failure> {
    let (max_memory, text) = text_of(args, common)?;
    let Some(format) = Format::of_file(&args.file) else {
        return match compiled(args, text, max_memory, deadline)?.problem {
            Problem::Quantified(model) => Ok(model),
            Problem::Stochastic(_) | Problem::Plain(_) => {
                let message = "the model has random variables; solve it with `ludex scsp solve`";
                Err(Failure::Call(message.into()))
            }
        };
    };
    no_data(args)?;
    let wrong = |line, message| wrong_file(&args.file, "malformed-instance", line, message);
    match ludex_formats::read(&text, format, deadline) {
        Ok(Problem::Quantified(model)) => Ok(model),
        Ok(Problem::Plain(_)) => {
            let message = "there is no `quantification`; solve a plain network with \
                           `ludex csp solve`";
            Err(wrong(Some(1), message.into()))
        }
        Ok(Problem::Stochastic(_)) => {
            let message = "there is no `quantification`; solve a stochastic network with \
                           `ludex scsp solve`";
            Err(wrong(Some(1), message.into()))
        }
        Err(FormatError::Stopped(_)) => Err(out_of_time("model")),
        Err(error) => Err(wrong(error.line(), error.problem())),
    }
}

/// Reads the stochastic network of a call; the file extension decides the format.
pub fn read_stochastic(
    args: &QcspFile,
    common: &Common,
    deadline: &Deadline,
) -> Result<StochasticNetwork, Failure> {
    let format = Format::of_file(&args.file);
    if format == Some(Format::Qdimacs) {
        let message = "QDIMACS cannot express chance; give a `.qcp` or `.xml` file";
        return Err(Failure::Call(message.into()));
    }
    let (max_memory, text) = text_of(args, common)?;
    // No `.qcp` text begins like this.
    if format.is_none() && !text.trim_start().starts_with('<') {
        let problem = compiled(args, text, max_memory, deadline)?.problem;
        let network = problem.into_stochastic().map_err(Failure::Call)?;
        return match network.check_by(deadline).into_iter().next() {
            None => Ok(network),
            Some(_) if deadline.reached() => Err(out_of_time("network")),
            Some(error) => {
                Err(wrong_file(&args.file, "malformed-network", None, error.to_string()))
            }
        };
    }
    no_data(args)?;
    let wrong = |line, message| wrong_file(&args.file, "malformed-network", line, message);
    match ludex_formats::read(&text, Format::Xcsp3, deadline) {
        Ok(Problem::Stochastic(network)) => Ok(network),
        Ok(Problem::Plain(_)) => {
            let message = "the framework is CSP or COP, not SCSP or SCOP; solve it with \
                           `ludex csp solve`";
            Err(wrong(Some(1), message.into()))
        }
        Ok(Problem::Quantified(_)) => {
            let message = "the framework is that of a quantified network, not SCSP or SCOP; \
                           solve it with `ludex qcsp solve`";
            Err(wrong(Some(1), message.into()))
        }
        Err(FormatError::Stopped(_)) => Err(out_of_time("network")),
        Err(error) => Err(wrong(error.line(), error.problem())),
    }
}

/// The text of a file, and the memory limit for the problem in it.
fn text_of(args: &QcspFile, common: &Common) -> Result<(u64, String), Failure> {
    let max_memory = common.memory.unwrap_or(LoadOptions::default().memory);
    Ok((max_memory, read_text(&args.file, max_memory.min(MAX_BYTES))?))
}

/// A file that cannot be read or has no meaning.
fn wrong_file(file: &str, code: &'static str, line: Option<usize>, message: String) -> Failure {
    Failure::File { path: shown_path(file).into(), code, line, message }
}

fn out_of_time(what: &str) -> Failure {
    Failure::Limit(format!("time ran out before the {what} was read; allow more `--time`"))
}

fn no_data(args: &QcspFile) -> Result<(), Failure> {
    if args.data.is_empty() && args.define.is_empty() {
        Ok(())
    } else {
        Err(Failure::Call("`--data` and `-D` are for `.qcp` files".into()))
    }
}

/// Largest text that is read.
const MAX_BYTES: u64 = 1 << 30;

/// Reads a `.qcp` text.
fn compiled(
    args: &QcspFile,
    text: String,
    max_memory: u64,
    deadline: &Deadline,
) -> Result<Compiled, Failure> {
    let mut data = Data::default();
    for file in &args.data {
        data.extend(read_data(file, max_memory.min(MAX_BYTES))?);
    }
    for definition in &args.define {
        let (name, value) = definition
            .split_once('=')
            .ok_or_else(|| Failure::Call(format!("`-D {definition}` is not `-D name=value`")))?;
        let datum = Datum::read(value)
            .map_err(|problem| Failure::Call(format!("`-D {definition}`: {problem}")))?;
        data.values.insert(name.trim().to_string(), datum);
    }
    let source = Source::new(shown_path(&args.file), text);
    match compile(&source, &data, &ModelLimits::within(max_memory), deadline) {
        Ok(compiled) => {
            diagnostics::report(&source, &compiled.warnings, true);
            Ok(compiled)
        }
        Err(_) if deadline.reached() => Err(out_of_time("model")),
        Err(diagnostics) => {
            debug_assert!(diagnostics.iter().any(|d| d.severity == Severity::Fatal));
            Err(Failure::Rules { source: Box::new(source), diagnostics })
        }
    }
}

fn read_data(file: &str, max_bytes: u64) -> Result<Data, Failure> {
    let text = read_text(file, max_bytes)?;
    if !text.trim_start().starts_with('{') {
        let source = Source::new(shown_path(file), text);
        return Data::read(&source)
            .map_err(|diagnostics| Failure::Rules { source: Box::new(source), diagnostics });
    }
    let wrong = |line, message| Failure::File {
        path: shown_path(file).into(),
        code: "malformed-data",
        line,
        message,
    };
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| wrong(Some(error.line()), error.to_string()))?;
    let Value::Object(entries) = value else { unreachable!("it begins with a brace") };
    let mut data = Data::default();
    for (name, value) in entries {
        let datum = datum(&value).ok_or_else(|| {
            wrong(
                None,
                format!("`{name}` is not an integer, truth value, name, set or list of these"),
            )
        })?;
        data.values.insert(name, datum);
    }
    Ok(data)
}

/// A JSON value; a set is `{"set": [1, 3]}`, or a list if the parameter is a set.
fn datum(value: &Value) -> Option<Datum> {
    match value {
        Value::Number(number) => number.as_i64().map(Datum::Int),
        Value::Bool(truth) => Some(Datum::Bool(*truth)),
        Value::String(name) => Some(Datum::Name(name.clone())),
        Value::Array(list) => list.iter().map(datum).collect::<Option<Vec<_>>>().map(Datum::List),
        Value::Object(entries) if entries.len() == 1 => {
            let members = entries.get("set")?.as_array()?;
            let range = |member: &Value| match member {
                Value::Array(ends) => Some((ends.first()?.as_i64()?, ends.get(1)?.as_i64()?)),
                one => one.as_i64().map(|one| (one, one)),
            };
            members.iter().map(range).collect::<Option<Vec<_>>>().map(Datum::Set)
        }
        _ => None,
    }
}
