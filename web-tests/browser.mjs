// Plays games on the page of `ludex serve` in a real browser.
//
//   node browser.mjs LUDEX CHROMIUM FOLDER
//
// LUDEX is the command, CHROMIUM the browser, and FOLDER takes the screenshots and the database.
// Nothing here waits for a fixed time: every wait is for something that the page shows.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [ludex, executablePath, folder] = process.argv.slice(2);
const database = join(folder, 'matches.db');
// A shared machine can be slow; no step needs more than a moment on its own.
const PATIENCE = 120_000;

/** A server; `link` is its address. */
class Server {
  static async start(port) {
    const server = new Server();
    const args = ['serve', '--json', '--no-open', '--port', String(port), '--database', database];
    server.process = spawn(ludex, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const text = [];
    for await (const line of createInterface({ input: server.process.stdout })) {
      text.push(line);
      try {
        server.link = JSON.parse(text.join('\n')).link;
        return server;
      } catch {
        // The report has more lines.
      }
    }
    throw new Error(`the server said only: ${text.join('\n')}`);
  }

  async kill() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }
}

/** Small steps of a generator, so that every run plays the same games. */
function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** Opens a page that must not report any mistake. */
async function open(context, mistakes) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on('pageerror', (error) => mistakes.push(String(error)));
  page.on('console', (message) => {
    // A server that is down cannot answer.
    if (message.type() === 'error' && !message.text().includes('net::ERR')) mistakes.push(message.text());
  });
  return page;
}

/** Starts a match on the page of a game; `seats` has a player for each role, '' for a person. */
async function start(page, link, game, seats) {
  // A new document: the page before may have a button of the same name.
  await page.goto('about:blank');
  await page.goto(`${link}#/game/${game}`);
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  const choices = page.locator('main select');
  for (const [at, player] of seats.entries()) await choices.nth(at).selectOption(player);
  await page.getByLabel('Seconds a move').fill('0.1');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await ready(page);
}

/** Waits until somebody on this page has to move, or the match is over. */
async function ready(page) {
  await page.waitForFunction(() => {
    const match = document.querySelector('ludex-match');
    return match?.dataset.status === 'over' || Boolean(match?.querySelector('.moves button'));
  });
}

const state = (page) => page.evaluate(() => {
  const match = document.querySelector('ludex-match');
  const mine = (match.view.pending ?? []).find((it) => match.keys[it.role]);
  return { status: match.dataset.status, step: match.view.n_steps, role: mine?.role, moves: mine?.moves ?? [], goals: match.view.goals };
});

/** Makes a move by touching its cells, or by its button if it has no place. */
async function touch(page, move, before) {
  if (move.touches.length === 0) {
    await page.locator(`[data-move="${move.text}"]`).click();
  } else {
    for (const cells of move.touches) {
      await page.locator(`[data-cell="${cells[0]}"]`).first().click();
    }
    const dialog = page.locator('dialog[open]');
    if (await dialog.count() > 0) await dialog.getByRole('button', { name: move.text, exact: true }).click();
  }
  await page.waitForFunction(({ step, role }) => {
    const match = document.querySelector('ludex-match');
    const mine = (match.view.pending ?? []).find((it) => match.keys[it.role]);
    return match.view.n_steps > step || match.dataset.status === 'over' || (mine && mine.role !== role);
  }, before);
}

/** Plays random moves to the end, or for some steps. */
async function playOn(page, seed, maxMoves = 500) {
  const draw = random(seed);
  for (let n = 0; n < maxMoves; n += 1) {
    await ready(page);
    const now = await state(page);
    if (now.status === 'over') return now;
    await touch(page, now.moves[draw(now.moves.length)], now);
  }
  return state(page);
}

const tests = {
  async 'tic-tac-toe against a player'({ page, link }) {
    await start(page, link, 'tictactoe', ['', 'random']);
    const end = await playOn(page, 1);
    assert.equal(end.status, 'over');
    assert.equal(end.goals.length, 2);
  },

  async 'connect four by columns'({ page, link }) {
    await start(page, link, 'connectfour', ['', '']);
    assert.equal((await playOn(page, 2)).status, 'over');
  },

  async 'breakthrough by piece and target'({ page, link }) {
    await start(page, link, 'breakthrough-small', ['', '']);
    assert.equal((await playOn(page, 3)).status, 'over');
  },

  async 'hex on hexagons'({ page, link }) {
    await start(page, link, 'hex', ['', '']);
    assert.equal(await page.locator('ludex-board polygon.ground').count(), 49);
    assert.equal((await playOn(page, 4)).status, 'over');
  },

  async 'the fool’s mate in chess'({ page, link }) {
    await start(page, link, 'chess', ['', '']);
    for (const [from, to] of [['f2', 'f3'], ['e7', 'e5'], ['g2', 'g4'], ['d8', 'h4']]) {
      await ready(page);
      const before = await state(page);
      const cell = (name) => page.locator('[data-cell]').filter({ has: page.locator('title', { hasText: new RegExp(`^${name}(:|$)`) }) });
      await cell(from).click();
      await cell(to).click();
      await page.waitForFunction((step) => document.querySelector('ludex-match').view.n_steps > step, before.step);
    }
    const end = await state(page);
    assert.deepEqual([end.status, end.goals], ['over', [0, 100]]);
  },

  async 'a puzzle'({ page, link }) {
    await start(page, link, 'n-queens', ['']);
    assert.equal((await playOn(page, 6)).status, 'over');
  },

  async 'a simultaneous game'({ page, link }) {
    await start(page, link, 'rock-paper-scissors', ['', '']);
    assert.equal((await playOn(page, 7)).status, 'over');
  },

  async 'a game with hidden information'({ page, link }) {
    await start(page, link, 'mastermind-small', ['']);
    assert.equal((await state(page)).status, 'waiting');
    await page.getByText('The board shows what you can know').waitFor();
    assert.equal((await playOn(page, 8)).status, 'over');
    await page.locator('ludex-board svg').waitFor();
  },

  async 'two browsers by link'({ page, link, browser, mistakes }) {
    await start(page, link, 'tictactoe', ['', '']);
    const { id, key } = await page.evaluate(() => {
      const match = document.querySelector('ludex-match');
      const key = match.keys[1];
      // The first browser gives its second seat away.
      delete match.keys[1];
      return { id: match.match, key };
    });
    const context = await browser.newContext();
    const other = await open(context, mistakes);
    await other.goto(`${link}#/match/${id}/seat/1/${key}`);
    await other.waitForFunction(() => document.querySelector('ludex-match')?.view?.status === 'waiting');
    assert.ok(!other.url().includes(key), 'the key stays out of the address bar');
    const draw = random(9);
    for (let step = 0; ; step += 1) {
      const mover = step % 2 === 0 ? page : other;
      await mover.waitForFunction((step) => {
        const match = document.querySelector('ludex-match');
        return match.view.n_steps === step && match.dataset.status !== 'thinking';
      }, step);
      const now = await state(mover);
      if (now.status === 'over') break;
      await touch(mover, now.moves[draw(now.moves.length)], now);
    }
    await other.waitForFunction(() => document.querySelector('ludex-match').dataset.status === 'over');
    await context.close();
  },

  async 'a killed server comes back'(test) {
    const { page } = test;
    await start(page, test.link, 'connectfour', ['', '']);
    await playOn(page, 10, 3);
    const before = await page.evaluate(() => document.querySelector('ludex-match').view.history.map((it) => it.moves));
    assert.equal(before.length, 3);
    await test.server.kill();
    await page.getByText('The connection is lost').waitFor();
    test.server = await Server.start(new URL(test.link).port);
    await page.getByText('The connection is lost').waitFor({ state: 'detached' }).catch(() => {});
    await page.waitForFunction(() => document.querySelector('ludex-match .error').textContent === '');
    const after = await page.evaluate(() => document.querySelector('ludex-match').view.history.map((it) => it.moves));
    assert.deepEqual(after, before);
    assert.equal((await playOn(page, 11)).status, 'over');
  },

  async 'hint, undo and replay'({ page, link }) {
    await start(page, link, 'connectfour', ['', 'random']);
    await playOn(page, 12, 2);
    await ready(page);
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.getByText('playouts.').first().waitFor();
    const { step } = await state(page);
    await page.getByRole('button', { name: 'First step' }).click();
    await page.waitForFunction(() => document.querySelector('ludex-match').step === 0);
    await page.getByRole('button', { name: 'Latest step' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction((step) => document.querySelector('ludex-match').view.n_steps < step, step);
  },

  async 'the editor shows an error and heals'({ page, link }) {
    await page.goto(`${link}#/write/tictactoe`);
    const text = page.getByLabel('Rules');
    await page.getByText('No mistakes found.').waitFor();
    await page.locator('main svg .cell').first().waitFor();
    const rules = await text.inputValue();
    await text.fill(`${rules}\n(<= (goal ?nobody 100) terminal)`);
    await page.locator('.diagnostics .error').first().waitFor();
    await text.fill(rules);
    await page.getByText('No mistakes found.').waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await ready(page);
    assert.equal((await state(page)).moves.length, 9);
  },

  async 'keyboard only'({ page, link }) {
    await start(page, link, 'tictactoe', ['', '']);
    for (let step = 0; (await state(page)).status !== 'over'; step += 1) {
      await page.locator('.moves button').first().waitFor();
      for (let n = 0; n < 60; n += 1) {
        if (await page.evaluate(() => document.activeElement?.dataset.move !== undefined)) break;
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
      await page.waitForFunction((step) => document.querySelector('ludex-match').view.n_steps > step, step);
    }
  },

  async 'a phone'({ link, browser, mistakes, shot }) {
    const context = await browser.newContext({ viewport: { width: 375, height: 700 }, hasTouch: true, colorScheme: 'dark' });
    const page = await open(context, mistakes);
    for (const [name, address] of [['library', ''], ['game', '#/game/chess'], ['write', '#/write/hex']]) {
      await page.goto(`${link}${address}`);
      await page.locator('h1').waitFor();
      await page.locator('main svg, main img').first().waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 375, `${name} is ${width} wide`);
      await shot(`phone-${name}`, page);
    }
    await start(page, link, 'reversi', ['', '']);
    await playOn(page, 13, 4);
    await shot('phone-match', page);
    await context.close();
  },

  async 'the library and its search'({ page, link, shot }) {
    await page.goto(link);
    await page.locator('.games li').first().waitFor();
    const all = await page.locator('.games li').count();
    await page.evaluate(() => {
      for (const picture of document.images) picture.loading = 'eager';
    });
    await page.waitForFunction(() => [...document.images].every((picture) => picture.complete && picture.naturalWidth > 0));
    await shot('library', page);
    await page.getByLabel('Search games').fill('hidden');
    const some = await page.locator('.games li').count();
    assert.ok(some > 0 && some < all, `${some} of ${all}`);
    await page.goto(`${link}#/game/breakthrough`);
    await page.getByRole('button', { name: 'Count and play' }).click();
    await page.getByText('steps on average').waitFor();
    await page.locator('.histogram').waitFor();
    await page.goto(`${link}#/game/tictactoe`);
    await page.getByRole('button', { name: 'Read the rules' }).click();
    await page.getByText('8, 16 if roles may be exchanged').waitFor();
    await page.getByText('With best play').waitFor();
    await shot('study', page);
  },

  async 'a game is added and removed'({ page, link }) {
    await page.goto(link);
    const rules = await (await fetch(`${link}api/games/nim`)).json();
    await page.getByLabel('Add rulesheets').setInputFiles({
      name: 'My own game.kif', mimeType: 'text/plain', buffer: Buffer.from(rules.rules),
    });
    await page.getByRole('heading', { name: 'My own game' }).waitFor();
    await page.getByRole('button', { name: 'Remove from the library' }).click();
    await page.getByRole('heading', { name: 'Games' }).waitFor();
    await page.locator('.games li').first().waitFor();
    assert.equal(await page.getByText('My own game').count(), 0);
  },

  async 'clock and resignation'({ page, link }) {
    await page.goto('about:blank');
    await page.goto(`${link}#/game/tictactoe`);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await page.getByLabel('of people').fill('3600');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await ready(page);
    await page.getByText(/\d+:\d\d left/).waitFor();
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name: 'Resign' }).click();
    await page.getByText('resigned after 0 steps').waitFor();
    await page.goto(`${link}#/matches`);
    await page.getByLabel('Search matches').fill('tic-tac-toe');
    await page.getByText('resigned').first().waitFor();
  },

  async 'a model is solved and its strategy walked'({ page, link, shot }) {
    await page.goto(`${link}#/model`);
    await page.getByLabel('Example').selectOption('nim');
    await page.getByRole('button', { name: 'Solve' }).click();
    await page.getByText('The strategy of exists').waitFor();
    for (let depth = 0; await page.locator('.tree .moves button').count() > 0; depth += 1) {
      assert.ok(depth < 50, 'the strategy ends');
      await page.locator('.tree .moves button').first().click();
    }
    await page.getByText('Nothing follows.').waitFor();
    await shot('model', page);
  },
};

mkdirSync(folder, { recursive: true });
for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const test = { browser, mistakes: [], server: await Server.start(0) };
test.link = test.server.link;
test.shot = (name, page) => page.screenshot({ path: join(folder, `${name.replace(/[^a-z]+/g, '-')}.png`), fullPage: true });
const only = process.env.ONLY;
let nFailed = 0;
for (const [name, run] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  test.page = await open(context, test.mistakes);
  const began = Date.now();
  try {
    await run(test);
    assert.deepEqual(test.mistakes.splice(0), [], 'the page reports no mistake');
    console.log(`ok      ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    nFailed += 1;
    console.log(`FAILED  ${name}: ${error.stack}`);
    console.log(test.mistakes.splice(0).join('\n'));
  }
  await test.shot(name.toLowerCase(), test.page).catch(() => {});
  await context.close();
}
await browser.close();
await test.server.kill();
console.log(nFailed === 0 ? 'the page works in the browser' : `${nFailed} tests failed`);
process.exit(nFailed === 0 ? 0 : 1);
