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
    #[error("`{path}` is too large: it has {}, and the limit is {max_bytes} bytes", size(.n_bytes))]
    TooLarge {
        /// The path, or `<stdin>`.
        path: String,
        /// Its size, in bytes, unless it comes from a pipe.
        n_bytes: Option<u64>,
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

fn size(n_bytes: &Option<u64>) -> String {
    n_bytes.map_or_else(|| "more".into(), |n_bytes| format!("{n_bytes} bytes"))
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
        let bytes = read_bytes("<stdin>", io::stdin().lock(), MAX_BYTES, None)?;
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
        Ok(file) => {
            let n_bytes = size_of(&file);
            Ok(Input::new(name, &text, &read_bytes(&text, file, MAX_BYTES, n_bytes)?))
        }
        Err(error) => Err(InputError::Unreadable { path: text, error }),
    }
}

/// Returns the size of a regular file.
fn size_of(file: &File) -> Option<u64> {
    file.metadata().ok().filter(|it| it.is_file()).map(|it| it.len())
}

/// Reads a file other than a rulesheet as UTF-8; `-` is standard input.
pub fn read_text(file: &str, max_bytes: u64) -> Result<String, InputError> {
    let path = || shown_path(file).to_string();
    let bytes = if file == "-" {
        read_bytes(&path(), io::stdin().lock(), max_bytes, None)?
    } else {
        let opened = File::open(file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => InputError::NoFile { path: path() },
            _ => InputError::Unreadable { path: path(), error },
        })?;
        let n_bytes = size_of(&opened);
        read_bytes(&path(), opened, max_bytes, n_bytes)?
    };
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

/// Largest rulesheet, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Reads everything, but at most one byte more than the limit, which is enough to refuse it. A file
/// of known size is refused without reading it.
fn read_bytes(
    path: &str,
    reader: impl Read,
    max_bytes: u64,
    n_bytes: Option<u64>,
) -> Result<Vec<u8>, InputError> {
    let too_large = || InputError::TooLarge { path: path.into(), n_bytes, max_bytes };
    if n_bytes.is_some_and(|n_bytes| n_bytes > max_bytes) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let n_read = reader
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| InputError::Unreadable { path: path.into(), error })?;
    if n_read as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
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
        assert_eq!(MAX_BYTES, ludex_base::Sizes::default().text_bytes as u64);
        let refused = |n_bytes| {
            let error = read_bytes("x.kif", io::repeat(b' '), 1_000, n_bytes).unwrap_err();
            error.to_string()
        };
        let text = "`x.kif` is too large: it has 7000 bytes, and the limit is 1000 bytes";
        assert_eq!(refused(Some(7_000)), text);
        assert_eq!(refused(None), text.replace("7000 bytes", "more"));
    }

    #[test]
    fn an_unknown_name_gets_suggestions() {
        let error = read("tictactow").unwrap_err();
        assert!(error.to_string().contains("did you mean tictactoe"), "{error}");
    }
}
