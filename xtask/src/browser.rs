//! The tests of the page in a real browser: `web-tests/browser.mjs`. The types of its scripts are checked first.
//!
//! They need Node, npm and Chromium. On a Debian machine the missing ones are installed; where that is not
//! possible the tests are skipped, and a line says so.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use ludex_testkit::workspace;

use crate::tools;

/// Runs the tests with the binary that was built last.
///
/// # Errors
/// A test fails, or a file can't be written.
pub fn run() -> Result<()> {
    let Some([node, npm, browser]) = find_all().or_else(install) else {
        eprintln!(
            "\nskipped: the tests of the page in a browser; they need `node`, `npm` and `chromium`, and \
             `apt-get install nodejs npm chromium` did not help"
        );
        return Ok(());
    };
    let own = std::env::current_exe().context("the path of this task")?;
    let ludex = own.with_file_name(format!("ludex{}", std::env::consts::EXE_SUFFIX));
    let folder = own.with_file_name("web-tests");
    fs::create_dir_all(&folder).context("the folder of the tests")?;
    // What npm installs stays out of the sources.
    for name in ["package.json", "package-lock.json", "browser.mjs"] {
        fs::copy(workspace().join("web-tests").join(name), folder.join(name)).context(name)?;
    }
    let install = ["ci", "--no-audit", "--no-fund", "--silent"];
    if tools::run(Command::new(&npm).args(install).current_dir(&folder)).is_err() {
        eprintln!(
            "\nskipped: the tests of the page in a browser; npm can't install what they need"
        );
        return Ok(());
    }
    let mut check = Command::new(&node);
    check.arg("node_modules/typescript/bin/tsc").args(TYPES).current_dir(&folder);
    check.arg(workspace().join("crates/ludex-web/page/app.js"));
    tools::run(&mut check)?;
    let pictures = folder.join("pictures");
    let mut test = Command::new(&node);
    test.arg("browser.mjs").args([&ludex, &browser, &pictures]).current_dir(&folder);
    tools::run(&mut test)
}

/// How the types of the page are checked; they are in its comments.
const TYPES: [&str; 12] = [
    "--noEmit",
    "--allowJs",
    "--checkJs",
    "--strict",
    "--target",
    "es2022",
    "--module",
    "es2022",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2022,dom,dom.iterable",
];

/// Node, npm and a browser, if all are there.
fn find_all() -> Option<[PathBuf; 3]> {
    Some([find("node")?, find("npm")?, find_browser()?])
}

fn find_browser() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(find)
}

fn find(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let paths = std::env::split_paths(&folders).map(|folder: PathBuf| folder.join(program));
    paths.into_iter().find(|path: &PathBuf| Path::is_file(path))
}

/// Installs what is missing with the package manager of Debian.
fn install() -> Option<[PathBuf; 3]> {
    find("apt-get")?;
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", OsStr::new("noninteractive"));
        tools::run(&mut command).ok()
    };
    apt(&["update"])?;
    // The package of a program that is there may conflict with where it came from.
    let mut packages = vec!["install", "-y", "--no-install-recommends", "fonts-dejavu-core"];
    packages.extend(find("node").is_none().then_some("nodejs"));
    packages.extend(find("npm").is_none().then_some("npm"));
    packages.extend(find_browser().is_none().then_some("chromium"));
    apt(&packages)?;
    find_all()
}
