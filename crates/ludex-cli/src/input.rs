//! Finds and reads the `RULES` or the `FILE` of a call.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ludex_base::{Diagnostic, Severity, Source};
use ludex_library::LibraryGame;
use sha2::{Digest, Sha256};

/// The text of a rulesheet, not yet parsed.
#[derive(Clone, Debug)]
pub struct Input {
    /// The stem of the file, the name in the library, or `stdin`.
    pub name: String,
    /// The text, with its name for messages.
    pub source: Source,
    /// Diagnostics about its encoding and size.
    pub diagnostics: Vec<Diagnostic>,
    /// SHA-256 of the bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Why the input cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// Neither a file nor a game of the library.
    #[error("`{rules}` is neither a file nor a game of the library{}", suggest(.suggestions))]
    NotFound {
        /// The argument of the call.
        rules: String,
        /// Games with similar names.
        suggestions: Vec<&'static str>,
    },
    /// The file does not exist.
    #[error("cannot read `{path}`: no such file")]
    NoFile {
        /// The argument of the call.
        path: String,
    },
    /// The file is larger than the limit.
    #[error("`{path}` is too large: the limit is {max_bytes} bytes")]
    TooLarge {
        /// The path, or `<stdin>`.
        path: String,
        /// The limit, in bytes.
        max_bytes: u64,
    },
    /// The file is not UTF-8 text.
    #[error("`{path}`, line {line}: not UTF-8")]
    NoText {
        /// The path, or `<stdin>`.
        path: String,
        /// The line of the first invalid byte, counted from 1.
        line: usize,
    },
    /// The file cannot be read.
    #[error("cannot read `{path}`: {error}")]
    Unreadable {
        /// The path, or `-`.
        path: String,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl InputError {
    /// Whether the call is wrong rather than the file that it names.
    pub fn is_usage_error(&self) -> bool {
        matches!(self, InputError::NotFound { .. } | InputError::NoFile { .. })
    }
}

fn suggest(names: &[&str]) -> String {
    match names {
        [] => String::from("; `ludex games` lists the library"),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}

/// Finds and reads `rules`: `-` for standard input, a path, or the name of a built-in game.
///
/// A file takes precedence over a game of the same name; a folder stands for its `rules.kif`.
pub fn read(rules: &str) -> Result<Input, InputError> {
    if rules == "-" {
        let bytes = read_bytes(rules, io::stdin().lock())?;
        return Ok(Input::new("stdin", "<stdin>", &bytes));
    }
    let path = Path::new(rules);
    let name = path.file_stem().map_or_else(|| rules.into(), |stem| stem.to_string_lossy());
    let within = path.join("rules.kif");
    if within.is_file() {
        return read_file(&name, &within);
    }
    if path.exists() && !path.is_dir() {
        return read_file(&name, path);
    }
    match ludex_library::find(rules) {
        Some(game) => Ok(of_library(game)),
        None => Err(InputError::NotFound {
            rules: rules.into(),
            suggestions: ludex_library::suggestions(rules),
        }),
    }
}

fn read_file(name: &str, path: &Path) -> Result<Input, InputError> {
    let text = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok(Input::new(name, &text, &read_bytes(&text, file)?)),
        Err(error) => Err(InputError::Unreadable { path: text, error }),
    }
}

/// Reads a file other than a rulesheet as UTF-8; `-` is standard input.
pub fn read_text(file: &str, max_bytes: u64) -> Result<String, InputError> {
    let path = || shown_path(file).to_string();
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => InputError::NoFile { path: path() },
        _ => InputError::Unreadable { path: path(), error },
    };
    let reader: Box<dyn Read> = match file {
        "-" => Box::new(io::stdin().lock()),
        file => Box::new(File::open(file).map_err(unreadable)?),
    };
    let mut bytes = Vec::new();
    reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > max_bytes {
        return Err(InputError::TooLarge { path: path(), max_bytes });
    }
    String::from_utf8(bytes).map_err(|error| {
        let text = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + text.iter().filter(|&&byte| byte == b'\n').count();
        InputError::NoText { path: path(), line }
    })
}

/// Returns the name of a file in messages.
pub fn shown_path(file: &str) -> &str {
    if file == "-" { "<stdin>" } else { file }
}

/// Returns the rulesheet of a built-in game.
pub fn of_library(game: &LibraryGame) -> Input {
    Input::new(game.name, &format!("games/{}/rules.kif", game.name), game.rules.as_bytes())
}

impl Input {
    /// Decodes bytes, with a name for reports and a path for messages.
    pub fn new(name: &str, path: &str, bytes: &[u8]) -> Self {
        let (source, diagnostics) = ludex_gdl::decode(path, bytes);
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { name: name.into(), source, diagnostics, sha256 }
    }

    /// Whether the bytes cannot be decoded as text.
    pub fn is_fatal(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Fatal)
    }
}

/// Reads at most one byte more than a rulesheet may have, which is enough to refuse it.
fn read_bytes(path: &str, reader: impl Read) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    reader
        .take(ludex_gdl::MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| InputError::Unreadable { path: path.into(), error })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_input_is_refused() {
        assert!(Input::new("x", "x.kif", &[0, 159, 146, 150]).is_fatal());
        assert!(!Input::new("x", "x.kif", b"(role a)\n; caf\xe9").is_fatal());
    }

    #[test]
    fn oversized_input_is_refused() {
        let bytes = read_bytes("x.kif", io::repeat(b' ')).expect("blanks can be read");
        assert!(Input::new("x", "x.kif", &bytes).is_fatal());
    }

    #[test]
    fn an_unknown_name_gets_suggestions() {
        let error = read("tictactow").unwrap_err();
        assert!(error.to_string().contains("did you mean tictactoe"), "{error}");
    }
}
