//! Checks every `Cargo.toml` against the table of crates in `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use ludex_testkit::workspace;

/// A crate's row: how far down it stands, and what it may use, by name.
struct Row {
    place: usize,
    may_use: BTreeSet<String>,
}

#[test]
fn crates_use_only_what_the_table_allows() {
    let table = read_table();
    let mut wrong = Vec::new();
    for (name, manifest) in manifests() {
        let Some(row) = table.get(&name) else {
            wrong.push(format!("{name} is not in the table"));
            continue;
        };
        let allowed = closure(&table, row);
        for used in internal(&manifest, "dependencies") {
            if used == "ludex-testkit" {
                wrong.push(format!("{name} depends on ludex-testkit outside its tests"));
            } else if !allowed.contains(&used) {
                wrong.push(format!("{name} may not use {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn folders_are_named_for_their_crates() {
    for entry in fs::read_dir(workspace().join("crates")).expect("there are crates") {
        let folder = entry.expect("a readable folder").path();
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("every folder is a crate");
        let manifest: toml::Table = text.parse().expect("a manifest is TOML");
        let folder = folder.file_name().expect("a folder has a name").to_string_lossy();
        assert_eq!(manifest["package"]["name"].as_str(), Some(&*folder));
    }
}

#[test]
fn every_crate_has_its_invariant() {
    let text = architecture();
    for (name, _) in manifests() {
        // A crate that has only begun gets its section with the work that finishes it.
        let Some(section) = text.split(&format!("### `{name}`\n")).nth(1) else {
            assert!(PLANNED.contains(&name.as_str()), "{name} has no section in ARCHITECTURE.md");
            continue;
        };
        let section = section.split("\n## ").next().unwrap_or("");
        let section = section.split("\n### ").next().unwrap_or("");
        assert!(section.contains("**Invariant:**"), "{name} has no invariant");
    }
}

/// More than this many lines are more than one stage.
const MAX_LINES: usize = 20_000;

#[test]
fn no_crate_is_too_large() {
    for (name, _) in manifests() {
        let n_lines = lines_of_rust(&workspace().join("crates").join(&name));
        assert!(n_lines <= MAX_LINES, "{name} has {n_lines} lines");
    }
}

fn lines_of_rust(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    paths
        .map(|path| match path.extension() {
            _ if path.is_dir() => lines_of_rust(&path),
            Some(end) if end == "rs" => {
                fs::read_to_string(&path).expect("sources are text").lines().count()
            }
            _ => 0,
        })
        .sum()
}

/// Rows of the table whose crates are still being written.
const PLANNED: &[&str] = &["ludex-tournament"];

fn architecture() -> String {
    fs::read_to_string(workspace().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there")
}

fn read_table() -> BTreeMap<String, Row> {
    let mut table: BTreeMap<String, Row> = BTreeMap::new();
    for line in architecture().lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [read, name, _, _, may_use] = cells[..] else { continue };
        let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else {
            continue;
        };
        let place = read.parse().unwrap_or(usize::MAX);
        let may_use = match may_use {
            "std" => BTreeSet::new(),
            "all above" => {
                let above = table.iter().filter(|(_, row)| row.place < place);
                above.map(|(name, _)| name.clone()).collect()
            }
            names => names.split(", ").map(|name| format!("ludex-{name}")).collect(),
        };
        table.insert(name.into(), Row { place, may_use });
    }
    assert!(table.len() > 20, "the table of crates was not found");
    table
}

/// What a row allows, and what that is allowed.
fn closure(table: &BTreeMap<String, Row>, row: &Row) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    let mut open: Vec<&String> = row.may_use.iter().collect();
    while let Some(name) = open.pop() {
        if allowed.insert(name.clone()) {
            let row = table.get(name).unwrap_or_else(|| panic!("no row for {name}"));
            open.extend(&row.may_use);
        }
    }
    allowed
}

fn manifests() -> Vec<(String, toml::Table)> {
    let entries = fs::read_dir(workspace().join("crates")).expect("there are crates");
    let mut manifests: Vec<(String, toml::Table)> = entries
        .map(|entry| {
            let path = entry.expect("a readable folder").path().join("Cargo.toml");
            let text = fs::read_to_string(&path).expect("every folder is a crate");
            let manifest: toml::Table = text.parse().expect("a manifest is TOML");
            let name = manifest["package"]["name"].as_str().expect("a crate has a name");
            (name.to_string(), manifest.clone())
        })
        .collect();
    manifests.sort_by(|a, b| a.0.cmp(&b.0));
    manifests
}

fn internal(manifest: &toml::Table, section: &str) -> Vec<String> {
    let Some(section) = manifest.get(section).and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    section.keys().filter(|name| name.starts_with("ludex-")).cloned().collect()
}
