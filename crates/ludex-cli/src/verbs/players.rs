//! `ludex players`: lists the players.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use serde::Serialize;

use crate::failure::{DONE, Failure};
use crate::output;

#[derive(Serialize)]
struct PlayersJson {
    players: Vec<PlayerJson>,
}

#[derive(Serialize)]
struct PlayerJson {
    name: &'static str,
    summary: &'static str,
    games: Vec<String>,
    claims: Vec<&'static str>,
    options: Vec<OptionJson>,
}

#[derive(Serialize)]
struct OptionJson {
    name: &'static str,
    default: String,
    help: &'static str,
}

/// Lists the players.
pub fn run(json: bool) -> Result<u8, Failure> {
    let players = ludex_player::players();
    if json {
        let players = players.into_iter().map(|info| PlayerJson {
            name: info.name,
            summary: info.summary,
            games: info.games,
            claims: info.claims,
            options: (info.options.into_iter())
                .map(|(name, default, help)| OptionJson { name, default, help })
                .collect(),
        });
        output::json(&PlayersJson { players: players.collect() })?;
        return Ok(DONE);
    }
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(output::width() as u16)
        .set_header(["player", "what it does", "games", "claims"]);
    for info in &players {
        table.add_row([
            info.name.to_string(),
            info.summary.to_string(),
            info.games.join(", "),
            info.claims.join(", "),
        ]);
    }
    let mut text = format!("{}\n", table.trim_fmt());
    for info in players.iter().filter(|info| !info.options.is_empty()) {
        let options = info.options.iter().map(|(name, value, _)| format!("{name}={value}"));
        text += &format!("\n{}:{}\n", info.name, options.collect::<Vec<_>>().join(","));
        for (name, _, help) in &info.options {
            text += &format!("  {name:12} {help}\n");
        }
    }
    output::text(&text)?;
    Ok(DONE)
}
