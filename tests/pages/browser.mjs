// What a person does with the pages, in Chromium: browser_test.py starts the servers and reads the lines that this prints.
//
//     node browser.mjs '{"modules":…,"chromium":…,"main":{"url","key","lesser"},"marked":{"url","key","ids":{…}},"shots":DIR or null}'
//
// One line for each step: {"step":…} or {"step":…,"wrong":…}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const given = JSON.parse(process.argv[2]);
const require = createRequire(given.modules + '/');
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const PATIENCE = 180000;
const PHONE = { width: 390, height: 800 };

const browser = await chromium.launch({ executablePath: given.chromium, timeout: PATIENCE });
const expect = (condition, ...what) => {
  if (!condition) throw new Error(what.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join(' ').slice(0, 1500));
};

// ---- Pages

async function opened(which, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.problems = [];
  page.refusals = 0; // answers of 4xx that a step provokes: the browser writes a line about each
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (page.refusals && /the server responded with a status of 4\d\d/.test(message.text())) return;
    page.problems.push(message.text());
  });
  page.on('pageerror', (problem) => page.problems.push(problem.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(which.url + '/') && !request.url().startsWith('data:')) page.problems.push('asks ' + request.url());
  });
  await page.goto(which.url + path);
  return page;
}

/* What holds for every view. */
async function sound(page) {
  const text = await page.evaluate(() => document.body.innerText);
  const wrong = /\[object |(?<![\w-])(undefined|NaN)(?![\w-]| (function|variable|name))/.exec(text);
  expect(!wrong, 'on the page:', wrong && text.slice(Math.max(0, wrong.index - 80), wrong.index + 80));
  expect(page.problems.length === 0, 'in the console:', page.problems);
  expect(await page.evaluate(() => window.planted === undefined), 'planted markup was run');
  return text;
}

async function accessible(page) {
  await page.evaluate(axe);
  await judged(page, 'axe');
}

/* As it is, then as narrow as a phone, then there with the other colours. */
async function accessibleEverywhere(page) {
  const size = page.viewportSize();
  const dark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  await accessible(page);
  await page.setViewportSize(PHONE);
  await judged(page, 'axe on a phone');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide <= 0, 'the page is wider than a phone by', wide);
  await page.emulateMedia({ colorScheme: dark ? 'light' : 'dark' });
  await judged(page, 'axe on a phone, ' + (dark ? 'light' : 'dark'));
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  await page.setViewportSize(size);
}

async function judged(page, name) {
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(!serious.length, name + ':', serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]));
}

/* All failures that the plot has. */
const counted = (page) => page.evaluate(() => [...document.querySelectorAll('.legend .chip')].reduce((sum, chip) => sum + Number(chip.textContent.replace(/\D/g, '')), 0));

const done = (page) => page.context().close();
const text = (page, selector) => page.locator(selector).first().innerText();

async function shot(page, name) {
  if (given.shots) await page.screenshot({ path: given.shots + '/' + name + '.png' });
}

// ---- Steps

const steps = {
  async 'the first page says what this is and where to go'() {
    const page = await opened(given.main, '/');
    await page.getByRole('link', { name: /^API/ }).first().waitFor();
    const seen = await sound(page);
    expect(seen.includes('mishap') && seen.includes('Operations') && seen.includes('/mcp'), seen);
    await accessibleEverywhere(page);
    await page.locator('.cards a[href="/docs"]').click();
    await page.locator('details.op').first().waitFor();
    await sound(page);
    await done(page);
  },

  async 'an operation has parameters, answers, failures with examples, and a form that calls it'() {
    const page = await opened(given.main, '/docs#users_create');
    const entry = page.locator('#users_create');
    await entry.locator('form').waitFor();
    const seen = await entry.innerText();
    for (const word of ['name', 'required', 'integer, 0 to 150', '201', 'VALIDATION_ERROR', 'ALREADY_EXISTS']) expect(seen.includes(word), word, 'is not in', seen);
    await entry.locator('summary', { hasText: 'Validation failed' }).first().click();
    expect((await entry.innerText()).includes('value_out_of_range'), 'no example');
    await accessible(page);
    await entry.locator('input[name=name]').fill('Ada <b>Lovelace</b>');
    await entry.locator('input[name=email]').fill('ada' + Date.now() + '@example.com');
    await entry.locator('button[type=submit]').click();
    await entry.locator('.notice.good').waitFor();
    expect((await entry.innerText()).includes('Ada <b>Lovelace</b>'), 'the answer is not shown');
    page.refusals++;
    await entry.locator('input[name=age]').fill('200');
    await entry.locator('button[type=submit]').click();
    await entry.locator('.notice.bad').waitFor();
    expect((await entry.innerText()).includes('What it means: VALIDATION_ERROR'), 'no link to the code');
    await sound(page);
    page.refusals--;
    await page.locator('#filter').fill('delete user');
    await page.waitForFunction(() => document.querySelectorAll('details.op').length === 1);
    await sound(page);
    await accessibleEverywhere(page);
    await done(page);
  },

  async 'errors are found, and one is told in every dialect'() {
    const page = await opened(given.main, '/errors', { colorScheme: 'dark' });
    await page.locator('#filter').fill('not found 404');
    await page.locator('a', { hasText: /^NOT_FOUND$/ }).waitFor();
    await accessibleEverywhere(page);
    await sound(page);
    await page.locator('a', { hasText: /^NOT_FOUND$/ }).click();
    await page.locator('[role=tab]').first().waitFor();
    const seen = await sound(page);
    for (const word of ['What happened', 'What the caller can do', 'What the operator can do']) expect(seen.includes(word), word);
    expect(await page.locator('[role=tab]').count() === 11, 'dialects');
    await page.locator('[role=tab]').first().focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
    expect((await text(page, '[role=tabpanel]')).includes('"error": "not_found"'), 'the keyboard does not move tabs');
    await accessibleEverywhere(page);
    page.refusals++;
    await page.goto(given.main.url + '/errors/NO_SUCH_CODE');
    await page.locator('h1', { hasText: 'No such code' }).waitFor();
    await sound(page);
    page.refusals--;
    await done(page);
  },

  async 'the playground shows an example of the seeds, and what is wrong with another error'() {
    const page = await opened(given.main, '/console#/playground', { viewport: PHONE });
    await page.locator('#example').selectOption({ label: 'Seed 003: validation errors' });
    await page.locator('#played [role=tab]').first().waitFor();
    expect((await text(page, '#played')).includes('It conforms to http-api'), await text(page, '#played'));
    await accessibleEverywhere(page);
    await page.locator('#document').fill('{"message":"<img src=x onerror=window.planted=1>","stack":"at main (app.js:1:1)"}');
    await page.locator('#dialect').selectOption('http-api');
    await page.locator('form button[type=submit]').click();
    await page.locator('#played code', { hasText: 'missing-member' }).waitFor();
    await sound(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide <= 0, 'the page is wider than a phone by', wide);
    await done(page);
  },
};

const operatorSteps = {
  async 'a wrong key is refused, a key in the address is taken out of it, and leaving forgets it'() {
    const page = await opened(given.main, '/console');
    await page.locator('#key').waitFor();
    await accessibleEverywhere(page);
    page.refusals++;
    await page.locator('#key').fill('wrong');
    await page.locator('form button[type=submit]').click();
    await page.locator('.notice.bad').waitFor();
    await sound(page);
    await page.locator('#key').fill(given.main.lesser);
    await page.locator('form button[type=submit]').click();
    await page.locator('.notice.bad', { hasText: 'scope' }).waitFor();
    await sound(page);
    page.refusals--;
    await page.goto(given.main.url + '/');
    await page.goto(given.main.url + '/console#key=' + encodeURIComponent(given.main.key));
    await page.locator('#plot').waitFor();
    expect(page.url() === given.main.url + '/console', 'the address is', page.url());
    expect(!(await sound(page)).includes('has replaced'), 'nothing was replaced');
    await page.evaluate((key) => { location.hash = '#key=' + encodeURIComponent(key); }, given.main.lesser);
    page.refusals++;
    await page.locator('.notice.warn', { hasText: 'has replaced the key' }).waitFor();
    expect(!(await page.content()).includes(given.main.lesser), 'the key is on the page');
    await page.goto(given.main.url + '/');
    await page.goto(given.main.url + '/console#key=' + encodeURIComponent(given.main.key));
    await page.locator('#plot').waitFor();
    page.refusals--;
    expect(!(await page.content()).includes(given.main.key), 'the key is on the page');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.locator('#key').waitFor();
    expect(await page.evaluate(() => sessionStorage.length === 0), 'the key is kept');
    await done(page);
  },

  async 'the plot is zoomed while live data arrives'() {
    const page = await opened(given.main, '/console#key=' + encodeURIComponent(given.main.key));
    await page.locator('#live.on').waitFor();
    const canvas = page.locator('.canvas');
    await page.waitForFunction(() => document.querySelector('.canvas').dataset.from);
    const fail = async (count) => {
      const before = await counted(page);
      for (let i = 0; i < count; i++) await fetch(given.main.url + '/users/none-' + i);
      await page.waitForFunction((least) => [...document.querySelectorAll('.legend .chip')].reduce((sum, chip) => sum + Number(chip.textContent.replace(/\D/g, '')), 0) >= least, before + count);
    };
    await fail(3);
    expect(await canvas.getAttribute('data-zoomed') === 'false', 'zoomed by itself');
    const box = await page.locator('.u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => document.querySelector('.canvas').dataset.zoomed === 'true');
    const range = () => canvas.evaluate((element) => element.dataset.from + ' ' + element.dataset.to);
    const before = await range();
    await fail(3);
    expect(await range() === before, 'the zoom was', before, 'and is', await range());
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.waitForFunction(() => document.querySelector('.canvas').dataset.zoomed === 'false');
    await page.locator('summary', { hasText: 'As a table' }).click();
    await page.locator('#plot table').waitFor();
    await accessibleEverywhere(page);
    await sound(page);
    await shot(page, 'console');
    await done(page);
  },

  // The stream of a server says nothing of failures of others with the same store of incidents. Here it says nothing at all.
  async 'failures that the stream does not have are counted, too'() {
    const page = await opened(given.main, '/');
    await page.clock.install();
    await page.route('**/incidents/tail', (route) => route.fulfill({ contentType: 'text/event-stream', body: '' }));
    await page.goto(given.main.url + '/console#key=' + encodeURIComponent(given.main.key));
    const notFound = async () => Number((await page.locator('tr', { has: page.locator('th', { hasText: /^NOT_FOUND$/ }) }).locator('td.number').first().innerText()).replace(/\D/g, ''));
    await page.locator('.legend .chip').first().waitFor();
    await page.locator('th', { hasText: /^NOT_FOUND$/ }).waitFor();
    const [before, listed] = [await counted(page), await notFound()];
    for (let i = 0; i < 3; i++) await fetch(given.main.url + '/todos/999999' + i);
    for (const until = Date.now() + PATIENCE; await counted(page) < before + 3 || await notFound() < listed + 3;) {
      expect(Date.now() < until, 'counted are', await counted(page), 'and', await notFound(), 'and were', before, 'and', listed);
      await page.clock.fastForward(10000);
      await page.waitForTimeout(500);
    }
    await sound(page);
    await done(page);
  },

  async 'an id of each boundary leads to the private side, and planted markup is shown'() {
    const page = await opened(given.marked, '/console#key=' + encodeURIComponent(given.marked.key), { colorScheme: 'dark' });
    await page.locator('#plot').waitFor();
    for (const [boundary, { id, pasted, sent }] of Object.entries(given.marked.ids)) {
      await page.locator('#paste').fill(pasted);
      await page.locator('#paste').press('Enter');
      await page.locator('#incident-id', { hasText: id }).waitFor();
      const hidden = await text(page, '#private');
      for (const word of [given.marked.secret, '<img src=x', 'cause note', ...sent]) expect(hidden.includes(word), boundary + ':', word, 'is not in', hidden);
      expect(!(await text(page, '#public')).includes(given.marked.secret), 'the public side of', boundary, 'has the private text');
      const seen = await sound(page);
      expect(seen.toLowerCase().includes(boundary), boundary, 'is not in', seen.slice(0, 300));
    }
    await accessibleEverywhere(page);
    await shot(page, 'incident');
    page.refusals++;
    await page.locator('#paste').fill('01a1eb05-563d-7bfc-a327-ecde3cb82d66');
    await page.locator('#paste').press('Enter');
    await page.locator('#not-found', { hasText: '01a1eb05-563d-7bfc-a327-ecde3cb82d66' }).waitFor();
    const missing = await sound(page);
    expect(missing.match(/[0-9a-f]{8}-[0-9a-f]{4}-/g).length === 1, 'another id is shown:', missing);
    page.refusals--;
    for (const view of ['#/', '#/groups', '#/search', '#/catalog']) {
      await page.goto(given.marked.url + '/console' + view);
      await page.locator('#view table').first().waitFor();
      await sound(page);
    }
    expect(await page.locator('canvas').count() === 0, 'a plot in a build without uPlot');
    await page.goto(given.marked.url + '/docs#planted_fail');
    await page.locator('#planted_fail form').waitFor();
    expect((await sound(page)).includes('<script>window.planted=1</script>'), 'the markup is not shown');
    await page.goto(given.marked.url + '/');
    await page.locator('.cards').waitFor();
    expect((await sound(page)).includes('<img src=x'), 'the markup is not shown');
    await done(page);
  },
};

// A failure of another step would bring a group back that was resolved.
const lastSteps = {
  async 'groups are resolved and muted, and a search finds failures'() {
    const page = await opened(given.main, '/console#key=' + encodeURIComponent(given.main.key));
    await page.locator('#plot').waitFor();
    await page.goto(given.main.url + '/console#/groups');
    await page.locator('#groups tbody tr').first().waitFor();
    await sound(page);
    await accessibleEverywhere(page);
    await page.locator('#groups').getByRole('button', { name: /^Resolve/ }).first().click();
    await page.locator('#groups .chip.resolved').first().waitFor();
    await page.locator('#groups').getByRole('button', { name: /^Mute/ }).first().click();
    await page.locator('#groups .chip.muted').first().waitFor();
    await page.locator('#groups').getByRole('button', { name: /^Unmute/ }).first().click();
    await page.waitForFunction(() => !document.querySelector('#groups .chip.muted'));
    await page.goto(given.main.url + '/console#/search?code=NOT_FOUND&boundary=http&status=404&service=todo');
    await page.locator('#found tbody tr').first().waitFor();
    await sound(page);
    await accessibleEverywhere(page);
    await page.locator('#found tbody a[href^="#/incident/"]').first().click();
    await page.locator('#private').waitFor();
    await sound(page);
    await page.goto(given.main.url + '/console#/catalog');
    await page.locator('a', { hasText: /^TIMEOUT$/ }).click();
    await page.locator('[role=tab]').first().waitFor();
    await sound(page);
    await done(page);
  },
};

// ---- How fast a first view is there

async function firstViews() {
  const found = {};
  for (const [path, selector] of [['/docs', 'details.op'], ['/console', '#key'], ['/errors', 'tbody tr']]) {
    const page = await opened(given.main, path);
    await page.locator(selector).first().waitFor();
    found[path] = await page.evaluate(() => Math.round(performance.now()));
    await done(page);
  }
  console.log(JSON.stringify({ milliseconds: found }));
}

async function runSteps(chosen) {
  for (const [step, run] of Object.entries(chosen)) {
    if (given.only && !step.includes(given.only)) continue;
    if (!given.plot && step.includes('plot')) continue;
    const started = Date.now();
    try {
      await run();
      console.log(JSON.stringify({ step, seconds: (Date.now() - started) / 1000 }));
    } catch (problem) {
      console.log(JSON.stringify({ step, wrong: problem.message.slice(0, 2000) }));
    }
  }
}

// Side by side: what a page waits for costs the other no time. Each step has a browser profile of its own.
await Promise.all([runSteps(steps), runSteps(given.operator ? operatorSteps : {})]);
await runSteps(given.operator ? lastSteps : {});
await firstViews();
await browser.close();
