//! From the `FILE`, `--data` and `-D` of a call to a model.

use std::path::Path;

use ludex_base::{Deadline, Diagnostic, Severity, Source};
use ludex_csp::CspError;
use ludex_formats::{qdimacs, xcsp3};
use ludex_model::{Compiled, Data, Datum, Limits, codes, compile, to_stochastic};
use ludex_pipeline::LoadOptions;
use ludex_qcsp::Model;
use ludex_scsp::{ScspError, StochasticNetwork};
use serde_json::Value;

use crate::args::{Common, QcspFile};
use crate::diagnostics;
use crate::failure::Failure;
use crate::input::{read_text, shown_path};

/// Reads the model of a call, in the form its name tells.
pub fn read(args: &QcspFile, common: &Common, deadline: &Deadline) -> Result<Model, Failure> {
    let max_memory = common.memory.unwrap_or(LoadOptions::default().memory);
    let max_bytes = max_memory.min(MAX_BYTES);
    let text = read_text(&args.file, max_bytes)?;
    let read = match Path::new(&args.file).extension().and_then(|end| end.to_str()) {
        Some("xml") => xcsp3::quantified::read,
        Some("qdimacs") => qdimacs::read,
        _ => {
            let compiled = compiled(args, text, max_memory, deadline)?;
            if compiled.chance.is_some() {
                let message = "the model speaks of chance; solve it with `ludex scsp solve`";
                return Err(Failure::Call(message.into()));
            }
            return Ok(compiled.model);
        }
    };
    no_data(args)?;
    read(&text).map_err(|error| wrong_file(&args.file, &error))
}

/// Reads the stochastic network of a call, in the form its name tells.
pub fn read_stochastic(
    args: &QcspFile,
    common: &Common,
    deadline: &Deadline,
) -> Result<StochasticNetwork, Failure> {
    let end = Path::new(&args.file).extension().and_then(|end| end.to_str());
    if end == Some("qdimacs") {
        let message = "QDIMACS has no chance; a stochastic network is .qcp or .xml";
        return Err(Failure::Call(message.into()));
    }
    let max_memory = common.memory.unwrap_or(LoadOptions::default().memory);
    let text = read_text(&args.file, max_memory.min(MAX_BYTES))?;
    // No text of the language begins like this.
    if end == Some("xml") || text.trim_start().starts_with('<') {
        no_data(args)?;
        return xcsp3::stochastic::read(&text, deadline)
            .map_err(|error| wrong_network(&args.file, &error, deadline));
    }
    let source = Source::new(shown_path(&args.file), text.clone());
    let compiled = compiled(args, text, max_memory, deadline)?;
    let network = to_stochastic(&compiled).map_err(|error| Failure::Call(error.to_string()))?;
    let Some(error) = network.check_by(deadline).into_iter().next() else { return Ok(network) };
    let Some(place) = compiled.place_of(&error) else {
        return Err(wrong_network(&args.file, &error, deadline));
    };
    let message = error.to_string();
    let diagnostics = vec![Diagnostic::new(Severity::Fatal, codes::CHANCE, place, message)];
    Err(Failure::Rules { source: Box::new(source), diagnostics })
}

/// A stochastic network that means nothing.
fn wrong_network(file: &str, error: &ScspError, deadline: &Deadline) -> Failure {
    let (line, message) = match error {
        ScspError::Constraint(CspError::Stopped(_)) if deadline.reached() => {
            return Failure::Limit("the time was up before the network was read".into());
        }
        ScspError::Syntax { line, problem } => (Some(*line), problem.clone()),
        other => (None, other.to_string()),
    };
    Failure::File { path: shown_path(file).into(), code: "malformed-network", line, message }
}

fn no_data(args: &QcspFile) -> Result<(), Failure> {
    if args.data.is_empty() && args.define.is_empty() {
        Ok(())
    } else {
        Err(Failure::Call("`--data` and `-D` are for `.qcp` files".into()))
    }
}

/// No text that a person or a generator writes for a solver is larger.
const MAX_BYTES: u64 = 1 << 30;

/// Reads a text in the language.
pub fn compiled(
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
    match compile(&source, &data, &Limits::within(max_memory), deadline) {
        Ok(compiled) => {
            diagnostics::report(&source, &compiled.warnings, true);
            Ok(compiled)
        }
        Err(_) if deadline.reached() => {
            Err(Failure::Limit("the time was up before the model was read".into()))
        }
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
            wrong(None, format!("`{name}` is no integer, truth value, name, set or list of these"))
        })?;
        data.values.insert(name, datum);
    }
    Ok(data)
}

/// A value of JSON; a set is `{"set": [1, 3]}`, or a list where the parameter is a set.
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

/// A file in a foreign form that can't be read.
fn wrong_file(file: &str, error: &ludex_qcsp::ModelError) -> Failure {
    let (line, message) = match error {
        ludex_qcsp::ModelError::Syntax { line, problem } => (Some(*line), problem.clone()),
        other => (None, other.to_string()),
    };
    Failure::File { path: shown_path(file).into(), code: "malformed-instance", line, message }
}
