// The library, the page of a game, and the list of matches.

import { get, keepKeys, post } from './api.js';
import { h, image, sign } from './dom.js';

/** @typedef {import('./types').GameRow} GameRow */
/** @typedef {import('./types').GameView} GameView */
/** @typedef {import('./types').PlayerRow} PlayerRow */
/** @typedef {import('./types').MatchRow} MatchRow */
/** @typedef {import('./types').StudyView} StudyView */
/** @typedef {import('./types').AnalysisView} AnalysisView */
/** @typedef {import('./types').SeatPlan} SeatPlan */
/** @typedef {import('./types').StartedMatch} StartedMatch */

/** @param {HTMLElement} main */
export async function library(main) {
  /** @type {GameRow[]} */
  const games = await get('/api/games');
  const list = h('ul', { class: 'games' });
  const fill = (/** @type {string} */ wanted) => {
    const words = wanted.toLowerCase().split(/\s+/);
    const shown = games.filter((game) => {
      const text = [game.name, game.title, game.summary, game.kind, game.hidden ? 'hidden' : '',
        game.chance ? 'chance' : '', game.simultaneous ? 'simultaneous' : ''].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    list.replaceChildren(...shown.map((game) => h('li', {},
      h('a', { href: `#/game/${game.name}` },
        h('img', { src: `/api/games/${game.name}/board.svg`, alt: '', loading: 'lazy' }),
        h('b', {}, game.title), h('small', {}, game.kind)))));
  };
  const search = h('input', {
    type: 'search', placeholder: 'Search games', 'aria-label': 'Search games',
    oninput: () => fill(search.value),
  });
  const message = h('p', { class: 'error', role: 'alert' });
  const add = async (/** @type {FileList | null | undefined} */ files) => {
    for (const file of files ?? []) {
      try {
        const title = file.name.replace(/\.[^.]*$/, '');
        const added = await post('/api/games', { title, rules: await file.text() });
        location.hash = `#/game/${added.name}`;
      } catch (error) {
        message.textContent = `${file.name}: ${/** @type {Error} */ (error).message}`;
      }
    }
  };
  const open = h('input', { type: 'file', accept: '.kif,.gdl,.txt', multiple: true, 'aria-label': 'Add rulesheets',
    onchange: () => add(open.files) });
  const place = h('div', {
    ondragover: (/** @type {Event} */ event) => event.preventDefault(),
    ondrop: (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      add(event.dataTransfer?.files);
    },
  }, h('h1', {}, 'Games'), h('p', { class: 'row' }, search, h('a', { href: '#/write' }, 'Write or paste rules'),
    h('label', {}, 'Add a .kif file ', open), h('span', { class: 'soft' }, 'or drop it here')), message, list);
  main.replaceChildren(place);
  fill('');
}

/**
 * @param {HTMLElement} main
 * @param {string} name
 */
export async function game(main, name) {
  /** @type {GameView} */
  const found = await get(`/api/games/${encodeURIComponent(name)}`);
  const picture = h('div', {}, found.sheet.svg ? image(found.sheet.svg) : '');
  const remove = found.added ? h('button', { onclick: async () => {
    await post(`/api/games/${found.name}/remove`, {});
    location.hash = '#/';
  } }, 'Remove from the library') : '';
  main.replaceChildren(h('h1', {}, found.title), h('p', {}, found.summary),
    h('div', { class: 'split' }, h('section', {}, picture, h('h2', {}, 'Study'), ...studies(
      () => get(`/api/games/${found.name}/study`), () => get(`/api/games/${found.name}/analysis`))),
      h('section', {}, h('h2', {}, 'Play'), await seats(found.sheet.roles, { game: found.name }),
        h('h2', {}, 'Rules'), h('p', { class: 'row' },
          h('a', { href: `#/write/${found.name}` }, 'Read and change the rules'), remove))));
}

/**
 * The choice of seats, with a button to start.
 * @param {{name: string, is_random: boolean}[]} roles
 * @param {Record<string, string>} rules
 */
export async function seats(roles, rules) {
  /** @type {PlayerRow[]} */
  const players = await get('/api/players');
  const people = roles.findIndex((role) => !role.is_random);
  const choices = roles.map((role, at) => {
    const choice = h('select', { 'aria-label': `Who plays ${role.name}` },
      h('option', { value: '' }, 'a person'),
      ...players.map((player) =>
        h('option', { value: player.name, title: player.summary }, player.name)),
      h('option', { value: 'options' }, 'a player with options …'),
      h('option', { value: 'remote' }, 'a program elsewhere …'));
    choice.value = at === people ? '' : players[0].name;
    return choice;
  });
  // What is typed beside a choice: options of a player, or an address.
  const details = choices.map((choice, at) => {
    const detail = h('input', { hidden: true, 'aria-label': `Who plays ${roles[at].name}, in detail` });
    choice.addEventListener('change', () => {
      detail.hidden = choice.value !== 'options' && choice.value !== 'remote';
      detail.placeholder = choice.value === 'remote' ? '127.0.0.1:9147' : 'uct:c=0.7';
    });
    return detail;
  });
  const time = h('input', { type: 'number', min: '0.1', max: '60', step: '0.1', value: '1' });
  const clock = h('input', { type: 'number', min: '1', max: '86400', step: '1', placeholder: 'no limit' });
  const message = h('p', { class: 'error', role: 'alert' });
  const start = async () => {
    /** @type {SeatPlan[]} */
    const plan = choices.map((choice, at) => {
      if (roles[at].is_random) return { kind: 'player', player: 'random' };
      if (!choice.value) return { kind: 'person' };
      if (choice.value === 'remote') return { kind: 'remote', url: details[at].value };
      return { kind: 'player', player: choice.value === 'options' ? details[at].value : choice.value };
    });
    try {
      const person_time = clock.value ? Math.round(Number(clock.value) * 1000) : null;
      const body = { ...rules, seats: plan, move_time: Math.round(Number(time.value) * 1000), person_time };
      /** @type {StartedMatch} */
      const made = await post('/api/matches', body);
      const own = made.keys.map((key, at) => ({ key, at })).filter((it) => plan[it.at].kind === 'person');
      keepKeys(made.id, Object.fromEntries(own.map((it) => [it.at, it.key])));
      location.hash = `#/match/${made.id}`;
    } catch (error) {
      message.textContent = /** @type {Error} */ (error).message;
    }
  };
  const rows = roles.map((role, at) => role.is_random ? null
    : h('p', { class: 'row' }, sign(at), h('span', {}, role.name), choices[at], details[at]));
  return h('div', {}, ...rows, h('p', { class: 'row' },
    h('label', {}, 'Seconds a move of players ', time),
    h('label', {}, 'of people ', clock), h('button', { class: 'main', onclick: start }, 'Play')), message);
}

/**
 * The buttons that study a game, with the places of their answers.
 * @param {() => Promise<StudyView>} count
 * @param {() => Promise<AnalysisView>} analyze
 */
export function studies(count, analyze) {
  const place = h('div', {});
  const button = (/** @type {string} */ text, /** @type {string} */ waiting, /** @type {() => Promise<Node[]>} */ find) =>
    h('button', { onclick: async () => {
      place.replaceChildren(waiting);
      try {
        place.replaceChildren(...await find());
      } catch (error) {
        place.replaceChildren(h('p', { class: 'error', role: 'alert' }, /** @type {Error} */ (error).message));
      }
    } }, text);
  return [h('p', { class: 'row' },
    button('Count and play random games', 'Playing random games …', async () => showStudy(await count())),
    button('Read the rules', 'Looking into the rules …', async () => showAnalysis(await analyze()))), place];
}

/**
 * @param {StudyView} study
 * @returns {Node[]}
 */
function showStudy(study) {
  const sizes = study.sizes
    ? `${study.sizes.fluents} fluents, ${study.sizes.moves} moves, ${study.sizes.gates} gates`
    : `not grounded: ${study.fallback ?? ''}`;
  const lengths = study.lengths;
  const mean = lengths.reduce((a, b) => a + b, 0) / (lengths.length || 1);
  const cut = study.n_cut ? ` and ${study.n_cut} that did not end` : '';
  return [
    h('p', {}, `${study.n_rules} rules; ${sizes}.`),
    h('p', {}, `${study.n_games} random games${cut}: ${mean.toFixed(1)} steps on average, ` +
      `${study.branching?.toFixed(1) ?? 'no'} moves where there is a choice.`),
    histogram(lengths),
    h('table', {}, h('tr', {}, h('th', {}, 'role'), h('th', {}, 'mean goal'), h('th', {}, 'best')),
      ...study.goals.map((it) => h('tr', {}, h('td', {}, it.role),
        h('td', {}, it.mean.toFixed(1)), h('td', {}, bar(it.best)))))];
}

/**
 * A share as a bar with its number.
 * @param {number} share
 */
function bar(share) {
  const text = `${(100 * share).toFixed(0)} %`;
  return h('span', { class: 'bar' }, h('progress', { max: 1, value: share, 'aria-label': text }), text);
}

/**
 * @param {AnalysisView} found
 * @returns {Node[]}
 */
function showAnalysis(found) {
  const list = (/** @type {string} */ title, /** @type {string[]} */ lines) =>
    lines.length === 0 ? [] : [h('h3', {}, title), h('ul', {}, ...lines.map((line) => h('li', {}, line)))];
  const parts = [...list('Moves', found.moves), ...list('End', found.ends), ...list('Goals', found.goals),
    ...list('What roles see', found.percepts),
    ...list('Remarks', found.remarks.map((it) => `line ${it.line}: ${it.message}`))];
  if (found.missing !== null) {
    parts.push(h('p', { class: 'soft' }, `The game has no circuit, so there is no more to say: ${found.missing}`));
  }
  const same = found.symmetries;
  if (same) {
    const roles = same.order === same.order_with_roles ? '' : `, ${same.order_with_roles} if roles may be exchanged`;
    parts.push(h('h3', {}, 'Symmetries'), h('p', {}, `${same.order}${roles}${same.is_complete ? '' : ', perhaps more'}.`),
      h('ul', {}, ...same.generators.map((line) => h('li', {}, line))));
  }
  if (found.subgames.length > 1) {
    parts.push(h('h3', {}, 'Subgames'), h('ol', {}, ...found.subgames.map((it) =>
      h('li', {}, `${it.words} (${it.worth}${it.is_proved ? ', proved independent' : ''})`))));
    if (found.subgames_svg) parts.push(h('div', { class: 'small' }, image(found.subgames_svg)));
  }
  if (found.value) {
    const values = found.value.roles.map(({ role, lower, upper }) =>
      `${role}: ${lower === upper ? lower : `${lower} to ${upper}`}`);
    parts.push(h('h3', {}, found.value.is_solved ? 'Solved' : 'Not solved in two seconds'),
      h('p', {}, `With best play ${values.join(', ')}${found.value.method ? ` (${found.value.method})` : ''}.`));
    if (found.value.is_solved && found.value.line.length > 0) {
      parts.push(h('details', {}, h('summary', {}, 'A line of best play'), h('p', {}, found.value.line
        .map((joint) => joint.filter((text) => text !== 'noop').join(' ')).join(', '))));
    }
  }
  return parts;
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

/**
 * Who sits on a seat, in words.
 * @param {SeatPlan} seat
 */
export function seatName(seat) {
  if (seat.kind === 'person') return 'a person';
  if (seat.kind === 'player') return seat.player;
  return seat.kind === 'remote' ? seat.url : seat.name;
}

/** @param {HTMLElement} main */
export async function matches(main) {
  const list = h('div', {});
  const search = h('input', { type: 'search', placeholder: 'Search by game or player',
    'aria-label': 'Search matches', oninput: () => fill() });
  const fill = async () => {
    const wanted = search.value;
    /** @type {MatchRow[]} */
    const rows = await get(`/api/matches?words=${encodeURIComponent(wanted)}`);
    if (wanted !== search.value) return;
    const end = (/** @type {MatchRow} */ row) => row.goals ? row.goals.join(' : ')
      : row.resigned === null ? 'not over' : 'resigned';
    list.replaceChildren(rows.length === 0 ? h('p', {}, 'There are none.')
      : h('table', {}, ...rows.map((row) => h('tr', {},
        h('td', {}, h('a', { href: `#/match/${row.id}` }, row.title)),
        h('td', {}, row.seats.map(seatName).join(' – ')),
        h('td', {}, `${row.n_steps} steps`), h('td', {}, end(row)),
        h('td', { class: 'soft' }, new Date(1000 * row.began).toLocaleString())))));
  };
  main.replaceChildren(h('h1', {}, 'Matches'), h('p', {}, search), list);
  await fill();
}
