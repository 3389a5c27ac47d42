//! `ludex games`: lists the built-in games.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use serde::Serialize;

use crate::failure::{DONE, Failure};
use crate::output;

#[derive(Serialize)]
struct GamesJson {
    games: Vec<GameJson>,
}

#[derive(Serialize)]
struct GameJson {
    name: &'static str,
    title: String,
    summary: String,
    kind: String,
    simultaneous: bool,
    chance: bool,
    hidden: bool,
    rules_from: String,
}

/// Lists the built-in games.
pub fn run(json: bool) -> Result<u8, Failure> {
    if json {
        let games = ludex_library::games().iter().map(|game| {
            let about = game.about();
            GameJson {
                name: game.name,
                title: about.title,
                summary: about.summary,
                kind: about.kind,
                simultaneous: about.simultaneous,
                chance: about.chance,
                hidden: about.hidden,
                rules_from: about.rules_from,
            }
        });
        output::json(&GamesJson { games: games.collect() })?;
        return Ok(DONE);
    }
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(output::width() as u16);
    for game in ludex_library::games() {
        let about = game.about();
        table.add_row([game.name.to_string(), about.kind, about.summary]);
    }
    output::text(&format!("{}\n", table.trim_fmt()))?;
    Ok(DONE)
}
