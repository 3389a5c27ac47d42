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

use crate::app::{App, NewMatch, Refusal, find_game};
use crate::assets::{ASSETS, Asset};
use crate::guard::guard;
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
        .route("/api/games", get(list_games))
        .route("/api/games/{name}", get(show_game))
        .route("/api/games/{name}/board.svg", get(show_thumbnail))
        .route("/api/games/{name}/study", get(study_game))
        .route("/api/players", get(list_players))
        .route("/api/rules", post(check_rules))
        .route("/api/study", post(study_rules))
        .route("/api/matches", get(list_matches).post(start_match))
        .route("/api/matches/{id}", get(show_match))
        .route("/api/matches/{id}/events", get(follow_match))
        .route("/api/matches/{id}/states/{step}", get(show_state))
        .route("/api/matches/{id}/moves", post(make_move))
        .route("/api/matches/{id}/undo", post(undo))
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
struct RefusalBody {
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

#[derive(Serialize)]
struct GameRow {
    name: &'static str,
    title: String,
    summary: String,
    kind: String,
    simultaneous: bool,
    chance: bool,
    hidden: bool,
}

async fn list_games() -> Json<Vec<GameRow>> {
    let games = ludex_library::games().iter().map(|game| {
        let about = game.about();
        GameRow {
            name: game.name,
            title: about.title,
            summary: about.summary,
            kind: about.kind,
            simultaneous: about.simultaneous,
            chance: about.chance,
            hidden: about.hidden,
        }
    });
    Json(games.collect())
}

#[derive(Serialize)]
struct GameView {
    name: &'static str,
    title: String,
    summary: String,
    rules: &'static str,
    sheet: SheetView,
}

async fn show_game(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer<GameView> {
    let game = find_game(&name)?;
    let about = game.about();
    let (title, summary) = (about.title, about.summary);
    let sheet = SheetView::clone(&*app.game_sheet(game.name).await?);
    Ok(Json(GameView { name: game.name, title, summary, rules: game.rules, sheet }))
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
    let game = find_game(&name)?;
    Ok(Json(app.study(game.rules.into()).await?))
}

#[derive(Serialize)]
struct PlayerRow {
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

async fn list_matches(State(app): State<Arc<App>>) -> Answer<Vec<MatchRow>> {
    Ok(Json(app.store().latest(N_LATEST)?))
}

#[derive(Serialize)]
struct StartedMatch {
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
struct Done {}

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
