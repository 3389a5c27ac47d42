//! The description of the interface in `openapi.json`, held against the handlers.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use ludex_web::{App, AppConfig, Store, router};
use serde_json::{Map, Value, json};
use tower::ServiceExt as _;

fn description() -> Value {
    serde_json::from_str(include_str!("../openapi.json")).expect("JSON")
}

/// Whether a value is as a schema says; the error says where it is not.
fn conforms(all: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/components/schemas/");
        let found = &all["components"]["schemas"][name];
        assert!(found.is_object(), "there is no schema `{name}`");
        return conforms(all, found, value).map_err(|error| format!("{name}: {error}"));
    }
    for alternatives in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema[alternatives].as_array() {
            let fits = schemas.iter().any(|schema| conforms(all, schema, value).is_ok());
            return fits.then_some(()).ok_or_else(|| format!("nothing fits {value}"));
        }
    }
    if !schema["const"].is_null() {
        let fits = schema["const"] == *value;
        return fits.then_some(()).ok_or_else(|| format!("{value} is another constant"));
    }
    if let Some(values) = schema["enum"].as_array() {
        let fits = values.contains(value);
        return fits.then_some(()).ok_or_else(|| format!("{value} is not in the list"));
    }
    let is_of_type = match schema["type"].as_str().expect("a type") {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type `{other}`"),
    };
    if !is_of_type {
        return Err(format!("{value} is no {}", schema["type"]));
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        conforms(all, &schema["items"], item).map_err(|error| format!("{number}: {error}"))?;
    }
    let (Some(fields), Some(known)) = (value.as_object(), schema["properties"].as_object()) else {
        return Ok(());
    };
    fields_conform(all, schema, fields, known)
}

fn fields_conform(
    all: &Value,
    schema: &Value,
    fields: &Map<String, Value>,
    known: &Map<String, Value>,
) -> Result<(), String> {
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        if !fields.contains_key(name) {
            return Err(format!("`{name}` is missing"));
        }
    }
    for (name, value) in fields {
        let schema = known.get(name).ok_or_else(|| format!("`{name}` is not described"))?;
        conforms(all, schema, value).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// A server with the description of its interface.
struct Described {
    server: Router,
    all: Value,
    asked: BTreeSet<(String, String)>,
}

impl Described {
    /// Asks, and compares what is sent and what comes back with the description.
    async fn ask(&mut self, verb: &str, template: &str, path: &str, body: Option<Value>) -> Value {
        let operation = &self.all["paths"][template][verb];
        assert!(operation.is_object(), "{verb} {template} is not described");
        if let Some(body) = &body {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            conforms(&self.all, schema, body).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        let request = Request::builder()
            .method(verb.to_uppercase().as_str())
            .uri(path)
            .header("host", "localhost")
            .header("x-ludex", "1")
            .header("content-type", "application/json")
            .body(Body::from(body.map_or_else(String::new, |body| body.to_string())))
            .expect("a request");
        let response = self.server.clone().oneshot(request).await.expect("the server never fails");
        let status = response.status();
        let mime = response.headers()["content-type"].to_str().expect("text").to_string();
        self.asked.insert((verb.into(), template.into()));
        if mime == "text/event-stream" {
            assert!(operation["responses"]["200"]["content"][&mime].is_object());
            return Value::Null;
        }
        let bytes = to_bytes(response.into_body(), 1 << 24).await.expect("a body");
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        let answer = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let which = if status == StatusCode::OK { "200" } else { "default" };
        let schema = &operation["responses"][which]["content"][&mime]["schema"];
        assert!(schema.is_object(), "{path} answers with {status} and {mime}");
        conforms(&self.all, schema, &answer)
            .unwrap_or_else(|error| panic!("{verb} {path}, {status}: {error}"));
        answer
    }

    /// Asks for a match until somebody can move, or it is over.
    async fn match_view(&mut self, id: &str) -> Value {
        loop {
            let path = format!("/api/matches/{id}");
            let view = self.ask("get", "/api/matches/{id}", &path, None).await;
            if view["status"] == "waiting" || view["status"] == "over" {
                return view;
            }
            tokio::task::yield_now().await;
        }
    }
}

#[test]
fn every_answer_is_as_described() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = Store::in_memory().expect("a database");
        let server = router(Arc::new(App::new(store, AppConfig::local())));
        let mut page = Described { server, all: description(), asked: BTreeSet::new() };
        page.ask("get", "/api/openapi.json", "/api/openapi.json", None).await;
        page.ask("get", "/api/games", "/api/games", None).await;
        page.ask("get", "/api/players", "/api/players", None).await;
        for name in ["tictactoe", "wumpus", "no-such-game"] {
            let path = format!("/api/games/{name}");
            page.ask("get", "/api/games/{name}", &path, None).await;
            let path = format!("/api/games/{name}/board.svg");
            page.ask("get", "/api/games/{name}/board.svg", &path, None).await;
        }
        page.ask("get", "/api/games/{name}/study", "/api/games/nim/study", None).await;
        for rules in ["(role me)\n(init (at 1)\n", ludex_library::find("nim").expect("it").rules] {
            let body = json!({ "rules": rules });
            page.ask("post", "/api/rules", "/api/rules", Some(body.clone())).await;
            page.ask("post", "/api/study", "/api/study", Some(body)).await;
        }
        page.ask("get", "/api/games/{name}/analysis", "/api/games/nim/analysis", None).await;
        let nim = ludex_library::find("nim").expect("it").rules;
        let body = json!({ "rules": nim });
        page.ask("post", "/api/analysis", "/api/analysis", Some(body)).await;
        let body = json!({ "rules": nim, "seed": 5 });
        page.ask("post", "/api/scramble", "/api/scramble", Some(body)).await;
        let body = json!({ "title": "My Nim", "rules": nim });
        let added = page.ask("post", "/api/games", "/api/games", Some(body)).await;
        assert_eq!(added["name"], "my-nim");
        page.ask("get", "/api/games", "/api/games", None).await;
        page.ask("get", "/api/games/{name}", "/api/games/my-nim", None).await;
        let remove = "/api/games/{name}/remove";
        page.ask("post", remove, "/api/games/my-nim/remove", None).await;
        page.ask("post", remove, "/api/games/nim/remove", None).await;
        let models = page.ask("get", "/api/models", "/api/models", None).await;
        for text in [models[0]["text"].clone(), models[4]["text"].clone(), json!("nonsense")] {
            page.ask("post", "/api/models", "/api/models", Some(json!({ "text": text }))).await;
        }
        let elsewhere = json!({ "kind": "elsewhere", "name": "somebody" });
        let body = json!({ "game": "tictactoe", "seats": [elsewhere, elsewhere], "move_time": 20 });
        let told = page.ask("post", "/api/matches", "/api/matches", Some(body)).await;
        let told_id = told["id"].as_str().expect("a name");
        let step = json!({ "key": told["keys"][0], "step": 0, "moves": ["(mark 1 1)", "noop"] });
        let path = format!("/api/matches/{told_id}/steps");
        page.ask("post", "/api/matches/{id}/steps", &path, Some(step)).await;
        let seats = json!([{ "kind": "person" }, { "kind": "player", "player": "uct" }]);
        let body = json!({ "game": "tictactoe", "seats": seats, "move_time": 20 });
        let made = page.ask("post", "/api/matches", "/api/matches", Some(body)).await;
        let too_few = json!({ "game": "tictactoe", "seats": [], "move_time": 20 });
        page.ask("post", "/api/matches", "/api/matches", Some(too_few)).await;
        let id = made["id"].as_str().expect("a name").to_string();
        let key = &made["keys"][0];
        let of = |what: &str| {
            (format!("/api/matches/{{id}}/{what}"), format!("/api/matches/{id}/{what}"))
        };
        let view = page.match_view(&id).await;
        let (template, path) = of("moves");
        let text = &view["pending"][0]["moves"][0]["text"];
        let body = json!({ "key": key, "step": 0, "text": text });
        page.ask("post", &template, &path, Some(body.clone())).await;
        while page.match_view(&id).await["n_steps"].as_u64() < Some(2) {}
        // The step is over, so the same move is refused.
        page.ask("post", &template, &path, Some(body)).await;
        let (template, path) = of("hint");
        page.ask("post", &template, &path, Some(json!({ "key": key }))).await;
        let (template, path) = of("undo");
        page.ask("post", &template, &path, Some(json!({ "key": key }))).await;
        let (template, path) = of("resign");
        page.ask("post", &template, &path, Some(json!({ "key": key }))).await;
        let (template, path) = of("seat");
        let seat = json!({ "kind": "player", "player": "random" });
        page.ask("post", &template, &path, Some(json!({ "key": key, "seat": seat }))).await;
        page.ask("get", "/api/matches/{id}/states/{step}", &of("states/0").1, None).await;
        page.ask("get", "/api/matches", "/api/matches", None).await;
        let (template, path) = of("events");
        page.ask("get", &template, &path, None).await;
        let described: BTreeSet<(String, String)> = (page.all["paths"].as_object().expect("paths"))
            .iter()
            .flat_map(|(path, verbs)| {
                let verbs = verbs.as_object().expect("verbs").keys();
                verbs.map(move |verb| (verb.clone(), path.clone()))
            })
            .collect();
        assert_eq!(page.asked, described);
    });
}

/// Reads the routes from the source, since a router does not list them.
#[test]
fn every_route_is_described() {
    let source = include_str!("../src/handlers.rs");
    let routes: BTreeSet<&str> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".route(\""))
        .filter_map(|line| line.split('"').next())
        .collect();
    assert!(routes.len() > 10, "{routes:?}");
    let all = description();
    for route in routes {
        assert!(all["paths"][route].is_object(), "{route} is not described");
    }
}
