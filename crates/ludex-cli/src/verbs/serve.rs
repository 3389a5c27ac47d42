//! `ludex serve`: a page to play, watch, study and write games, until interrupted.

use std::net::{IpAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use ludex_web::{App, AppConfig, Store};
use serde::Serialize;

use crate::args::{Common, ServeArgs};
use crate::failure::{DONE, Failure};
use crate::{interrupt, output};

/// Where the page is, as JSON.
#[derive(Serialize)]
struct ServeJson {
    link: String,
    database: String,
    needs_token: bool,
}

/// Serves the page.
pub fn run(args: &ServeArgs, common: &Common) -> Result<u8, Failure> {
    let database = match &args.database {
        Some(path) => path.clone(),
        None => usual_database()?,
    };
    let store = open(&database)?;
    let address: IpAddr = args.listen.parse().map_err(|_| {
        let listen = &args.listen;
        Failure::Call(format!("`{listen}` is no address; use 127.0.0.1, or 0.0.0.0 for all"))
    })?;
    let listener = TcpListener::bind((address, args.port)).map_err(|error| {
        let port = args.port;
        Failure::Call(format!("cannot listen at port {port}: {error}; choose another with --port"))
    })?;
    let failed = |error: &dyn std::fmt::Display| Failure::Call(error.to_string());
    let port = listener.local_addr().map_err(|error| failed(&error))?.port();
    let needs_token = !address.is_loopback();
    let token =
        needs_token.then(|| store.secret(16)).transpose().map_err(|error| failed(&error))?;
    let host = match address {
        IpAddr::V6(address) => format!("[{address}]"),
        IpAddr::V4(address) => address.to_string(),
    };
    let link = match &token {
        Some(token) => format!("http://{host}:{port}/?token={token}"),
        None => format!("http://{host}:{port}/"),
    };
    if common.json {
        let database = database.display().to_string();
        output::json(&ServeJson { link: link.clone(), database, needs_token })?;
    } else {
        output::text(&format!("Ludex is at {link}\n"))?;
        if needs_token {
            eprintln!(
                "ludex: whoever can reach port {port} and has this link can start matches, check \
                 rules and see every match of this database; the connection is not encrypted"
            );
        }
    }
    if !args.no_open && !needs_token {
        open_browser(&link);
    }
    let config = AppConfig { token, n_searches: common.n_threads(), ..AppConfig::local() };
    let app = Arc::new(App::new(store, config));
    ludex_web::serve(app, listener, &interrupt::flag()).map_err(|error| failed(&error))?;
    Ok(DONE)
}

fn open(path: &Path) -> Result<Store, Failure> {
    Store::open(path).map_err(|error| Failure::File {
        path: path.display().to_string(),
        code: "database",
        line: None,
        message: error.to_string(),
    })
}

/// The database in the user's data folder.
fn usual_database() -> Result<PathBuf, Failure> {
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".local/share")));
    let folder = data.map(|data| data.join("ludex")).ok_or_else(|| {
        Failure::Call(
            "there is no home folder for the database; name a file with --database".into(),
        )
    })?;
    fs::create_dir_all(&folder).map_err(|error| Failure::File {
        path: folder.display().to_string(),
        code: "unwritable",
        line: None,
        message: error.to_string(),
    })?;
    Ok(folder.join("ludex.db"))
}

/// Opens the page in the browser of the desktop, if there is one.
fn open_browser(link: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = Stdio::null;
    let command =
        Command::new(program).arg(link).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    // Without a desktop, the printed link is enough.
    if let Ok(mut browser) = command {
        std::thread::spawn(move || browser.wait());
    }
}
