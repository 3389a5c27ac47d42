//! Files of saved strategies.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ludex_solve::Saved;

use crate::failure::Failure;

/// Reads the strategies of a file, if one is given. They must be for rules with this text.
pub fn read(file: Option<&Path>, rules: &str) -> Result<Option<Arc<Saved>>, Failure> {
    let Some(file) = file else { return Ok(None) };
    let failure = |message: String| Failure::File {
        path: file.display().to_string(),
        code: "invalid-saved",
        line: None,
        message,
    };
    let text = fs::read_to_string(file).map_err(|error| failure(error.to_string()))?;
    let saved = Saved::read(&text).map_err(failure)?;
    if !saved.is_for(rules) {
        return Err(failure("the strategies are for other rules than those of the match".into()));
    }
    Ok(Some(Arc::new(saved)))
}
