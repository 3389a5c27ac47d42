// The pages, by the part of the address after #.

import { h } from './dom.js';
import { game, library, matches } from './library.js';
import { match } from './match.js';
import { model } from './model.js';
import { write } from './write.js';

const main = /** @type {HTMLElement} */ (document.getElementById('main'));

async function route() {
  const [page, ...parts] = location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  document.title = 'Ludex';
  try {
    if (page === 'game') await game(main, parts[0]);
    else if (page === 'match') match(main, parts);
    else if (page === 'matches') await matches(main);
    else if (page === 'model') await model(main);
    else if (page === 'write') await write(main, parts[0]);
    else await library(main);
  } catch (error) {
    main.replaceChildren(h('p', { class: 'error', role: 'alert' }, /** @type {Error} */ (error).message));
  }
  main.focus();
}

addEventListener('hashchange', route);
route();
