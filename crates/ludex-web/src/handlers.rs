//! The answers to requests.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use futures_util::stream::{self, Stream};
use ludex_player::players;
use serde::{Deserialize, Serialize};

use crate::analysis::AnalysisView;
use crate::app::{App, NewMatch, Refusal};
use crate::assets::{ASSETS, Asset};
use crate::guard::guard;
use crate::models::{EXAMPLES, ModelView};
use crate::play::Command;
use crate::room::Room;
use crate::sheet::{MAX_SHEET, SheetView};
use crate::store::{MatchRow, SeatPlan};
use crate::study::StudyView;
use crate::view::{HintView, StateView};

/// Matches in the list of the page.
const N_LATEST: usize = 50;
/// Time between signs of life to pages that listen.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Returns what answers the requests to a server.
pub fn router(app: Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/api/games", get(list_games).post(add_game))
        .route("/api/games/{name}", get(show_game))
        .route("/api/games/{name}/remove", post(remove_game))
        .route("/api/games/{name}/board.svg", get(show_thumbnail))
        .route("/api/games/{name}/study", get(study_game))
        .route("/api/games/{name}/analysis", get(analyze_game))
        .route("/api/players", get(list_players))
        .route("/api/rules", post(check_rules))
        .route("/api/study", post(study_rules))
        .route("/api/analysis", post(analyze_rules))
        .route("/api/scramble", post(scramble_rules))
        .route("/api/models", get(list_models).post(solve_model))
        .route("/api/matches", get(list_matches).post(start_match))
        .route("/api/matches/{id}", get(show_match))
        .route("/api/matches/{id}/events", get(follow_match))
        .route("/api/matches/{id}/states/{step}", get(show_state))
        .route("/api/matches/{id}/moves", post(make_move))
        .route("/api/matches/{id}/steps", post(tell_step))
        .route("/api/matches/{id}/undo", post(undo))
        .route("/api/matches/{id}/resign", post(resign))
        .route("/api/matches/{id}/hint", post(hint))
        .route("/api/matches/{id}/seat", post(change_seat));
    for asset in ASSETS {
        router = router.route(asset.path, get(|| async { asset_response(asset) }));
    }
    router
        .fallback(|| async {
            refusal_response(StatusCode::NOT_FOUND, "there is nothing at this address")
        })
        // A rulesheet in JSON can be longer than the sheet, because of escapes.
        .layer(DefaultBodyLimit::max(2 * MAX_SHEET))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

fn asset_response(asset: &'static Asset) -> Response {
    let headers = [(header::CONTENT_TYPE, asset.mime), (header::CACHE_CONTROL, "no-cache")];
    (headers, asset.text).into_response()
}

/// The body of an answer that refuses a request.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RefusalBody {
    error: String,
}

/// Refuses a request.
pub(crate) fn refusal_response(status: StatusCode, message: impl Into<String>) -> Response {
    (status, Json(RefusalBody { error: message.into() })).into_response()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Refusal::Missing(message) => (StatusCode::NOT_FOUND, message),
            Refusal::Wrong(message) => (StatusCode::UNPROCESSABLE_ENTITY, message),
            Refusal::Busy(message) => (StatusCode::SERVICE_UNAVAILABLE, message),
            Refusal::Failed(message) => (StatusCode::INTERNAL_SERVER_ERROR, message),
        };
        refusal_response(status, message)
    }
}

/// A JSON body; a wrong one is refused in words.
struct Body<T>(T);

impl<T, S> FromRequest<S> for Body<T>
where
    Json<T>: FromRequest<S, Rejection = JsonRejection>,
    S: Send + Sync,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(error) => Err(refusal_response(error.status(), error.body_text())),
        }
    }
}

type Answer<T> = Result<Json<T>, Refusal>;

/// A game in the list of the library.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct GameRow {
    name: String,
    title: String,
    summary: String,
    kind: String,
    simultaneous: bool,
    chance: bool,
    hidden: bool,
    /// Whether a visitor added it.
    added: bool,
}

async fn list_games(State(app): State<Arc<App>>) -> Answer<Vec<GameRow>> {
    let built_in = ludex_library::games().iter().map(|game| {
        let about = game.about();
        GameRow {
            name: game.name.into(),
            title: about.title,
            summary: about.summary,
            kind: about.kind,
            simultaneous: about.simultaneous,
            chance: about.chance,
            hidden: about.hidden,
            added: false,
        }
    });
    let added = app.store().games()?.into_iter().map(|(name, title)| GameRow {
        name,
        title,
        summary: String::new(),
        kind: "added here".into(),
        simultaneous: false,
        chance: false,
        hidden: false,
        added: true,
    });
    Ok(Json(added.chain(built_in).collect()))
}

/// A request to add a game.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewGame {
    title: String,
    rules: String,
}

/// The name of a game in links.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct GameName {
    name: String,
}

async fn add_game(State(app): State<Arc<App>>, Body(body): Body<NewGame>) -> Answer<GameName> {
    let name = app.add_game(&body.title, body.rules).await?;
    Ok(Json(GameName { name }))
}

async fn remove_game(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer<Done> {
    app.remove_game(&name).await?;
    Ok(Json(Done {}))
}

/// A game of the library.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct GameView {
    name: String,
    title: String,
    summary: String,
    rules: String,
    sheet: SheetView,
    /// Whether a visitor added it.
    added: bool,
}

async fn show_game(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer<GameView> {
    let game = app.find_game(&name)?;
    let built_in = ludex_library::find(&name);
    let summary = built_in.map(|it| it.about().summary).unwrap_or_default();
    let sheet = SheetView::clone(&*app.game_sheet(&name).await?);
    let (title, rules) = (game.title, game.rules);
    Ok(Json(GameView { name: game.name, title, summary, rules, sheet, added: built_in.is_none() }))
}

async fn show_thumbnail(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let sheet = app.game_sheet(&name).await?;
    let headers =
        [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "max-age=3600")];
    Ok((headers, sheet.svg.clone()).into_response())
}

async fn study_game(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer<StudyView> {
    let game = app.find_game(&name)?;
    Ok(Json(app.study(game.rules).await?))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlayerRow {
    name: &'static str,
    summary: &'static str,
}

async fn list_players() -> Json<Vec<PlayerRow>> {
    let rows = players().into_iter();
    Json(rows.map(|it| PlayerRow { name: it.name, summary: it.summary }).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesBody {
    rules: String,
}

async fn check_rules(
    State(app): State<Arc<App>>,
    Body(body): Body<RulesBody>,
) -> Answer<SheetView> {
    Ok(Json(app.read(body.rules).await?))
}

async fn study_rules(
    State(app): State<Arc<App>>,
    Body(body): Body<RulesBody>,
) -> Answer<StudyView> {
    Ok(Json(app.study(body.rules).await?))
}

async fn analyze_game(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Answer<AnalysisView> {
    let game = app.find_game(&name)?;
    Ok(Json(app.analyze(game.rules).await?))
}

async fn analyze_rules(
    State(app): State<Arc<App>>,
    Body(body): Body<RulesBody>,
) -> Answer<AnalysisView> {
    Ok(Json(app.analyze(body.rules).await?))
}

/// A request for the same game under other names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScrambleBody {
    rules: String,
    seed: u64,
}

/// A rulesheet.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RulesView {
    rules: String,
}

async fn scramble_rules(
    State(app): State<Arc<App>>,
    Body(body): Body<ScrambleBody>,
) -> Answer<RulesView> {
    let rules = app.scramble(body.rules, body.seed).await?;
    Ok(Json(RulesView { rules }))
}

/// A model that comes with the page.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ModelRow {
    name: &'static str,
    text: &'static str,
}

async fn list_models() -> Json<Vec<ModelRow>> {
    Json(EXAMPLES.iter().map(|&(name, text)| ModelRow { name, text }).collect())
}

/// A request to solve a model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelBody {
    text: String,
    #[serde(default)]
    data: String,
}

async fn solve_model(
    State(app): State<Arc<App>>,
    Body(body): Body<ModelBody>,
) -> Answer<ModelView> {
    Ok(Json(app.solve_model(body.text, body.data).await?))
}

/// What to search for; everything if it is empty.
#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    words: String,
}

async fn list_matches(
    State(app): State<Arc<App>>,
    Query(wanted): Query<Wanted>,
) -> Answer<Vec<MatchRow>> {
    Ok(Json(app.store().latest(&wanted.words, N_LATEST)?))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StartedMatch {
    id: String,
    /// The secret key of each seat.
    keys: Vec<String>,
}

async fn start_match(
    State(app): State<Arc<App>>,
    Body(wanted): Body<NewMatch>,
) -> Answer<StartedMatch> {
    let plan = app.start(wanted).await?;
    app.room(&plan.id)?;
    Ok(Json(StartedMatch { id: plan.id, keys: plan.keys }))
}

/// The key of a seat, if the viewer has one.
#[derive(Deserialize)]
struct Viewer {
    #[serde(default)]
    key: String,
}

async fn show_match(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(viewer): Query<Viewer>,
) -> Result<Response, Refusal> {
    let room = app.room(&id)?;
    let role = room.role_of(&viewer.key);
    let view = room.views().borrow().of(role);
    Ok(([(header::CONTENT_TYPE, "application/json")], view.to_string()).into_response())
}

async fn show_state(
    State(app): State<Arc<App>>,
    Path((id, step)): Path<(String, usize)>,
) -> Answer<StateView> {
    let room = app.room(&id)?;
    let state = room.ask(|reply| Command::Look { step, reply }).await;
    state.map(Json).map_err(Refusal::Wrong)
}

/// Sends the match to a page, and again after every change. A page that comes back and has missed
/// nothing gets nothing until the next change.
async fn follow_match(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(viewer): Query<Viewer>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let room = app.room(&id)?;
    let full = |_| Refusal::Busy("too many pages are listening; close some".into());
    let permit = Arc::clone(&app.listeners).try_acquire_owned().map_err(full)?;
    let role = room.role_of(&viewer.key);
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let seen = last.unwrap_or("").to_string();
    let views = room.views();
    let stream = stream::unfold((room, views, permit, seen), move |state| async move {
        let (room, mut views, permit, seen) = state;
        loop {
            let current = Arc::clone(&views.borrow_and_update());
            let stamp = format!("{}.{}", room.stamp(), current.version);
            if stamp != seen {
                let event = Event::default().id(&stamp).data(&*current.of(role));
                return Some((Ok(event), (room, views, permit, stamp)));
            }
            // The thread of the match has ended; the page connects again.
            views.changed().await.ok()?;
        }
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// A request of somebody who sits at the board.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeatBody {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveBody {
    key: String,
    step: usize,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeBody {
    key: String,
    seat: SeatPlan,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Done {}

fn seated(app: &App, id: &str, key: &str) -> Result<(Room, usize), Refusal> {
    let room = app.room(id)?;
    let role = room.role_of(key);
    let role = role.ok_or_else(|| Refusal::Wrong("this is not the key of a seat".into()))?;
    Ok((room, role))
}

async fn make_move(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Body(body): Body<MoveBody>,
) -> Answer<Done> {
    let (room, role) = seated(&app, &id, &body.key)?;
    let MoveBody { step, text, .. } = body;
    let done = room.ask(|reply| Command::Move { role, step, text, reply }).await;
    done.map(|()| Json(Done {})).map_err(Refusal::Wrong)
}

/// A step of a match that another program hosts; the key is that of any seat.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepBody {
    key: String,
    step: usize,
    moves: Vec<String>,
}

async fn tell_step(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Body(body): Body<StepBody>,
) -> Answer<Done> {
    let (room, _) = seated(&app, &id, &body.key)?;
    let StepBody { step, moves, .. } = body;
    let done = room.ask(|reply| Command::Tell { step, moves, reply }).await;
    done.map(|()| Json(Done {})).map_err(Refusal::Wrong)
}

async fn resign(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Body(body): Body<SeatBody>,
) -> Answer<Done> {
    let (room, role) = seated(&app, &id, &body.key)?;
    let done = room.ask(|reply| Command::Resign { role, reply }).await;
    done.map(|()| Json(Done {})).map_err(Refusal::Wrong)
}

async fn undo(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Body(body): Body<SeatBody>,
) -> Answer<Done> {
    let (room, role) = seated(&app, &id, &body.key)?;
    let done = room.ask(|reply| Command::Undo { role, reply }).await;
    done.map(|()| Json(Done {})).map_err(Refusal::Wrong)
}

async fn hint(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Body(body): Body<SeatBody>,
) -> Answer<HintView> {
    let (room, role) = seated(&app, &id, &body.key)?;
    let hint = room.ask(|reply| Command::Hint { role, reply }).await;
    hint.map(Json).map_err(Refusal::Wrong)
}

async fn change_seat(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Body(body): Body<ChangeBody>,
) -> Answer<Done> {
    let (room, role) = seated(&app, &id, &body.key)?;
    let seat = body.seat;
    let done = room.ask(|reply| Command::Seat { role, seat, reply }).await;
    done.map(|()| Json(Done {})).map_err(Refusal::Wrong)
}
