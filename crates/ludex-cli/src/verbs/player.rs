//! `ludex player`: serves a player to game managers until interrupted.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ludex_base::limits::USUAL_BYTES;
use ludex_net::{Endpoint, EndpointConfig, Event, Server};
use ludex_player::{PlayerConfig, PlayerSpec, memory_of_each};

use crate::args::Common;
use crate::failure::{DONE, Failure};
use crate::guard;
use crate::interrupt;
use crate::log_writer::LogWriter;
use crate::net_args::PlayerArgs;
use crate::player_log::{MatchLogs, line, listening};

/// Serves the player.
pub fn run(args: &PlayerArgs, common: &Common) -> Result<u8, Failure> {
    let spec = PlayerSpec::parse(&args.player).map_err(|e| Failure::Call(e.to_string()))?;
    let name = args.name.clone().unwrap_or_else(|| "Ludex".into());
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "()".contains(c)) {
        return Err(Failure::Call(format!(
            "the name `{name}` is not one word; leave out blanks and parentheses"
        )));
    }
    let logs = args.log_dir.as_deref().map(MatchLogs::open).transpose()?;
    guard::give_back_regularly();
    let search_memory = memory_of_each(args.matches, args.search_memory as usize);
    // Games are loaded beside running matches.
    let load_memory = common.memory.unwrap_or(USUAL_BYTES);
    let load_memory = load_memory.saturating_sub((search_memory * args.matches) as u64);
    let config = EndpointConfig {
        name,
        spec,
        player: PlayerConfig {
            n_threads: common.n_threads(),
            memory: search_memory,
            iterations: args.iterations,
            ponders: args.ponder,
            reserve: args.reserve,
            ..PlayerConfig::new(common.seed_or_clock())
        },
        load_memory,
        max_matches: args.matches,
    };
    let logs = Mutex::new(logs);
    let as_json = common.json;
    let writer = Arc::new(LogWriter::to_stderr());
    let event_writer = Arc::clone(&writer);
    let observe = move |event: &Event| {
        event_writer.write(line(event, as_json));
        let mut logs = logs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(Err(error)) = logs.as_mut().map(|logs| logs.note(event)) {
            event_writer.write(format!("ludex: cannot write the log of a match: {error}"));
        }
    };
    let stop = interrupt::flag();
    let endpoint = Arc::new(Endpoint::new(config, Arc::new(observe)));
    let at = (args.listen.as_str(), args.port);
    let server = Server::start(at, endpoint).map_err(|error| {
        Failure::Call(format!("cannot listen at {}:{}: {error}", args.listen, args.port))
    })?;
    writer.write(listening(server.address(), as_json));
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(server);
    writer.finish();
    Ok(DONE)
}
