//! The files of the page, built into the binary.

/// A file of the page.
pub(crate) struct Asset {
    /// Its path below the address of the server.
    pub(crate) path: &'static str,
    /// Its type.
    pub(crate) mime: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All files.
pub(crate) const ASSETS: &[Asset] = &[
    Asset { path: "/", mime: "text/html; charset=utf-8", text: include_str!("../page/index.html") },
    Asset {
        path: "/style.css",
        mime: "text/css; charset=utf-8",
        text: include_str!("../page/style.css"),
    },
    Asset { path: "/icon.svg", mime: "image/svg+xml", text: include_str!("../page/icon.svg") },
    Asset { path: "/app.js", mime: SCRIPT, text: include_str!("../page/app.js") },
    Asset { path: "/api.js", mime: SCRIPT, text: include_str!("../page/api.js") },
    Asset { path: "/dom.js", mime: SCRIPT, text: include_str!("../page/dom.js") },
    Asset { path: "/board.js", mime: SCRIPT, text: include_str!("../page/board.js") },
    Asset { path: "/library.js", mime: SCRIPT, text: include_str!("../page/library.js") },
    Asset { path: "/match.js", mime: SCRIPT, text: include_str!("../page/match.js") },
    Asset { path: "/model.js", mime: SCRIPT, text: include_str!("../page/model.js") },
    Asset { path: "/write.js", mime: SCRIPT, text: include_str!("../page/write.js") },
    Asset {
        path: "/api/openapi.json",
        mime: "application/json",
        text: include_str!("../openapi.json"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_weighs_less_than_300_kilobytes_and_loads_nothing_from_elsewhere() {
        let n_bytes: usize = ASSETS.iter().map(|asset| asset.text.len()).sum();
        assert!(n_bytes < 300_000, "{n_bytes} bytes");
        for asset in ASSETS {
            let text = asset.text.replace("http://www.w3.org/", "");
            assert!(!text.contains("http://") && !text.contains("https://"), "{}", asset.path);
            assert!(!text.contains("innerHTML"), "{} writes HTML", asset.path);
        }
    }
}
