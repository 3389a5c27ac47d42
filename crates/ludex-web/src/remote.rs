//! Programs elsewhere that play by the protocol of general game playing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, RoleId};
use ludex_net::{Address, RemoteMatch, RemoteSeat};
use ludex_pipeline::LoadedGame;
use ludex_player::Playable;
use ludex_protocol::Codebook;
use ludex_referee::{Clocks, Lapse, Reply, Seat as _};

use crate::store::MatchPlan;

/// The clock for a move: the protocol counts whole seconds.
pub(crate) fn clock(move_time: u64) -> Duration {
    Duration::from_secs(move_time.div_ceil(1000).max(1))
}

/// The start clock, at least.
const MIN_START: Duration = Duration::from_secs(5);

/// Invites the program at an address to play a role. It plays a match of its own name, because a
/// match that was taken up again starts anew for it.
///
/// # Errors
/// When the address leads nowhere, or the program does not answer.
pub(crate) fn seat<G: Playable>(
    game: &G,
    loaded: &LoadedGame,
    plan: &MatchPlan,
    url: &str,
    role: usize,
    n_steps: usize,
) -> Result<RemoteSeat<G>, String> {
    let address = Address::parse(url).map_err(|error| error.to_string())?;
    let sheet = ludex_gdl::parse(&loaded.source).0;
    let play = clock(plan.move_time);
    let shared = RemoteMatch {
        match_id: format!("ludex.{}.{role}.{n_steps}", plan.id),
        codebook: Codebook::plain(&sheet),
        clocks: Clocks { start: play.max(MIN_START), play },
        preview_clock: None,
        stop: Deadline::never(),
    };
    let start = shared.clocks.start;
    let mut seat = RemoteSeat::new(game.clone(), address, url.into(), Arc::new(shared));
    seat.start(RoleId::new(role), Instant::now() + start).map_err(|lapse| in_words(&lapse))?;
    Ok(seat)
}

/// What was wrong with a reply that is no legal move.
pub(crate) fn fault(reply: &Reply) -> String {
    match reply {
        Reply::Lapse(lapse) => in_words(lapse),
        Reply::Text(text) => format!("an illegal move: {text}"),
        Reply::Move(_) => "an illegal move".into(),
    }
}

fn in_words(lapse: &Lapse) -> String {
    match lapse {
        Lapse::Illegal(text) => format!("an illegal move: {text}"),
        Lapse::Late => "no answer in time".into(),
        Lapse::Failed(reason) => format!("no answer: {reason}"),
    }
}
