//! Embeds every folder of `games/` that has a `rules.kif`. There is no list to maintain.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let games =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../games");
    println!("cargo:rerun-if-changed={}", games.display());
    let mut folders: Vec<PathBuf> = match fs::read_dir(&games) {
        Ok(entries) => entries.map(|entry| entry.expect("a readable folder").path()).collect(),
        Err(_) => Vec::new(),
    };
    folders.retain(|folder| folder.join("rules.kif").is_file());
    folders.sort();

    let mut code = String::from("&[\n");
    for folder in &folders {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a name in UTF-8");
        let rules = folder.join("rules.kif");
        let about = folder.join("about.toml");
        println!("cargo:rerun-if-changed={}", rules.display());
        println!("cargo:rerun-if-changed={}", about.display());
        let about = if about.is_file() {
            format!("include_str!({:?})", about.display().to_string())
        } else {
            String::from("\"\"")
        };
        writeln!(
            code,
            "LibraryGame {{ name: {name:?}, rules: include_str!({:?}), about: {about} }},",
            rules.display().to_string()
        )
        .expect("writing to a string");
    }
    code.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("library.rs");
    fs::write(out, code).expect("the build folder can be written");
}
