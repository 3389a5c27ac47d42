// The library, the page of a game, and the list of matches.

import { get, keepKeys, post } from './api.js';
import { h, image, sign } from './dom.js';

/** @param {HTMLElement} main */
export async function library(main) {
  const games = await get('/api/games');
  const list = h('ul', { class: 'games' });
  const fill = (/** @type {string} */ wanted) => {
    const words = wanted.toLowerCase().split(/\s+/);
    const shown = games.filter((/** @type {any} */ game) => {
      const text = [game.name, game.title, game.summary, game.kind, game.hidden ? 'hidden' : '',
        game.chance ? 'chance' : '', game.simultaneous ? 'simultaneous' : ''].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    list.replaceChildren(...shown.map((/** @type {any} */ game) => h('li', {},
      h('a', { href: `#/game/${game.name}` },
        h('img', { src: `/api/games/${game.name}/board.svg`, alt: '', loading: 'lazy' }),
        h('b', {}, game.title), h('small', {}, game.kind)))));
  };
  const search = h('input', {
    type: 'search', placeholder: 'Search games', 'aria-label': 'Search games',
    oninput: () => fill(search.value),
  });
  main.replaceChildren(h('h1', {}, 'Games'),
    h('p', { class: 'row' }, search, h('a', { href: '#/write' }, 'or paste rules')), list);
  fill('');
}

/**
 * @param {HTMLElement} main
 * @param {string} name
 */
export async function game(main, name) {
  const found = await get(`/api/games/${encodeURIComponent(name)}`);
  const picture = h('div', {}, found.sheet.svg ? image(found.sheet.svg) : '');
  const study = h('div', {}, h('button', {
    onclick: async () => {
      study.replaceChildren('Playing random games …');
      try {
        showStudy(study, await get(`/api/games/${found.name}/study`));
      } catch (error) {
        study.replaceChildren(String(error));
      }
    },
  }, 'Count and play random games'));
  main.replaceChildren(h('h1', {}, found.title), h('p', {}, found.summary),
    h('div', { class: 'split' }, h('section', {}, picture),
      h('section', {}, h('h2', {}, 'Play'), await seats(found.sheet.roles, { game: found.name }),
        h('h2', {}, 'Study'), study,
        h('h2', {}, 'Rules'), h('a', { href: `#/write/${found.name}` }, 'Read and change the rules'))));
}

/**
 * The choice of seats, with a button to start.
 * @param {{name: string, is_random: boolean}[]} roles
 * @param {Record<string, string>} rules
 */
export async function seats(roles, rules) {
  const players = await get('/api/players');
  const people = roles.findIndex((role) => !role.is_random);
  const choices = roles.map((role, at) => {
    const choice = h('select', { 'aria-label': `Who plays ${role.name}` },
      h('option', { value: '' }, 'a person'),
      ...players.map((/** @type {any} */ player) =>
        h('option', { value: player.name, title: player.summary }, player.name)));
    choice.value = at === people ? '' : players[0].name;
    return choice;
  });
  const time = h('input', { type: 'number', min: '0.1', max: '60', step: '0.1', value: '1' });
  const message = h('p', { class: 'error', role: 'alert' });
  const start = async () => {
    const plan = choices.map((choice, at) => {
      const player = roles[at].is_random ? 'random' : choice.value;
      return player ? { kind: 'player', player } : { kind: 'person' };
    });
    try {
      const body = { ...rules, seats: plan, move_time: Math.round(Number(time.value) * 1000) };
      const made = await post('/api/matches', body);
      const own = made.keys.map((/** @type {string} */ key, /** @type {number} */ at) => [at, key])
        .filter((/** @type {any} */ entry) => plan[entry[0]].kind === 'person');
      keepKeys(made.id, Object.fromEntries(own));
      location.hash = `#/match/${made.id}`;
    } catch (error) {
      message.textContent = /** @type {Error} */ (error).message;
    }
  };
  const rows = roles.map((role, at) => role.is_random ? null
    : h('p', { class: 'row' }, sign(at), h('span', {}, role.name), choices[at]));
  return h('div', {}, ...rows, h('p', { class: 'row' },
    h('label', {}, 'Seconds a move ', time), h('button', { class: 'main', onclick: start }, 'Play')), message);
}

/**
 * @param {HTMLElement} place
 * @param {any} study
 */
export function showStudy(place, study) {
  const sizes = study.sizes
    ? `${study.sizes.fluents} fluents, ${study.sizes.moves} moves, ${study.sizes.gates} gates`
    : `not grounded: ${study.fallback ?? ''}`;
  const lengths = study.lengths;
  const mean = lengths.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) / (lengths.length || 1);
  const cut = study.n_cut ? ` and ${study.n_cut} that did not end` : '';
  place.replaceChildren(
    h('p', {}, `${study.n_rules} rules; ${sizes}.`),
    h('p', {}, `${study.n_games} random games${cut}: ${mean.toFixed(1)} steps on average, ` +
      `${study.branching?.toFixed(1) ?? 'no'} moves where there is a choice.`),
    histogram(lengths),
    h('table', {}, h('tr', {}, h('th', {}, 'role'), h('th', {}, 'mean goal'), h('th', {}, 'best')),
      ...study.goals.map((/** @type {any} */ it) => h('tr', {}, h('td', {}, it.role),
        h('td', {}, it.mean.toFixed(1)), h('td', {}, `${(100 * it.best).toFixed(0)} %`)))));
}

/**
 * The lengths of games as bars.
 * @param {number[]} values
 */
function histogram(values) {
  const least = Math.min(...values, 0), most = Math.max(...values, 1);
  const width = Math.max(1, Math.ceil((most - least + 1) / 20));
  const counts = Array.from({ length: Math.ceil((most - least + 1) / width) }, () => 0);
  for (const value of values) counts[Math.floor((value - least) / width)] += 1;
  const highest = Math.max(...counts, 1);
  const bars = counts.map((count, at) => {
    const height = 80 * count / highest;
    return `<rect x="${at * 14}" y="${80 - height}" width="12" height="${height}"/>`;
  });
  const svg = image(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${counts.length * 14} 95">` +
    `${bars.join('')}<text x="0" y="93">${least}</text>` +
    `<text x="${counts.length * 14 - 20}" y="93">${most}</text></svg>`);
  svg.setAttribute('class', 'histogram');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `lengths of random games from ${least} to ${most} steps`);
  return svg;
}

/** @param {HTMLElement} main */
export async function matches(main) {
  const rows = await get('/api/matches');
  main.replaceChildren(h('h1', {}, 'Matches'), rows.length === 0 ? h('p', {}, 'There are none yet.')
    : h('table', {}, ...rows.map((/** @type {any} */ row) => h('tr', {},
      h('td', {}, h('a', { href: `#/match/${row.id}` }, row.title)),
      h('td', {}, `${row.n_steps} steps`),
      h('td', {}, row.goals ? row.goals.join(' : ') : 'not over'),
      h('td', { class: 'soft' }, new Date(1000 * row.began).toLocaleString())))));
}
