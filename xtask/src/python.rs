//! The tests of the Python package, in an environment of their own under `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use ludex_testkit::workspace;

use crate::tools;

/// Runs the tests and the type checks of the package with the library that `cargo build` has made.
///
/// Without Python 3.10, or without its package index, it says so and tests nothing, except in CI, where that is
/// an error.
pub fn test() -> Result<()> {
    let own = std::env::current_exe().context("the path of this task")?;
    let built = own.parent().context("the folder of this task")?;
    let folder = built.with_file_name("python");
    let python = match environment(&folder) {
        Ok(python) => python,
        Err(error) if std::env::var_os("CI").is_none() => {
            println!("the Python package was not tested: {error:#}");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let package = folder.join("package");
    lay_out(&package.join("ludex"), &built.join("lib_ludex.so"))?;
    let sources = workspace().join("python");
    let in_package = |module: &str| {
        let mut command = Command::new(&python);
        command.args(["-m", module]).env("PYTHONPATH", &package).current_dir(&package);
        command
    };
    let mut types = in_package("mypy");
    tools::run(types.arg("--config-file").arg(sources.join("pyproject.toml")))?;
    let mut tests = in_package("pytest");
    tools::run(tests.args(["-q", "-p", "no:cacheprovider"]).arg(sources.join("tests")))
}

/// Makes the environment, or brings it up to date, and returns its interpreter.
fn environment(folder: &Path) -> Result<PathBuf> {
    let python = folder.join("venv/bin/python");
    if !python.exists() {
        fs::create_dir_all(folder)?;
        let mut command = Command::new("python3");
        command.args(["-m", "venv"]).arg(folder.join("venv"));
        tools::run(&mut command).context("Python 3.10 or later with `venv` is needed")?;
    }
    let mut command = Command::new(&python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
    command.arg(workspace().join("python/requirements-test.txt"));
    tools::run(&mut command).context("the packages that the tests need could not be installed")?;
    Ok(python)
}

/// Copies the modules and the compiled library to where Python finds them.
fn lay_out(to: &Path, library: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(workspace().join("python/ludex"))? {
        let path = entry?.path();
        let is_source =
            path.extension().is_some_and(|end| end == "py" || end == "pyi" || end == "typed");
        if let (true, Some(name)) = (is_source, path.file_name()) {
            fs::copy(&path, to.join(name))?;
        }
    }
    fs::copy(library, to.join("_ludex.abi3.so")).context("the compiled library is missing")?;
    Ok(())
}
