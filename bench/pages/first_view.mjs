// How long pages take until they show what they are for, and how many bytes they load: in Chromium, each time with an empty cache.
//
//     node first_view.mjs '{"modules":…,"chromium":…,"url":…,"rounds":7,"pages":{"/docs":"details.op",…}}'
//
// One line for each view: {"page":…,"milliseconds":…,"assets":…,"data":…}. The time is from the begin of the navigation to the moment in which the
// selector has an element. `assets` are the bytes of the page and its files, as they were sent, with their heads; `data` those of what the page asks the server for.
import { createRequire } from 'node:module';

const given = JSON.parse(process.argv[2]);
const { chromium } = createRequire(given.modules + '/')('playwright-core');
const PATIENCE = 180000;

async function view(browser, path, selector) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const session = await context.newCDPSession(page);
  const open = new Set(); // requests that are not answered; a stream of live data never ends
  const data = new Set(); // … and those that are not for a file of the pages
  const bytes = { assets: 0, data: 0 };
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', ({ requestId }) => open.add(requestId));
  session.on('Network.responseReceived', ({ requestId, type, response }) => {
    if (type !== 'Document' && !new URL(response.url).pathname.startsWith('/_pages/')) data.add(requestId);
    if (response.mimeType === 'text/event-stream') open.delete(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes[data.has(requestId) ? 'data' : 'assets'] += encodedDataLength;
    open.delete(requestId);
  });
  session.on('Network.loadingFailed', ({ requestId }) => open.delete(requestId));
  // In the page itself, so that the way to this program costs nothing.
  await page.addInitScript((wanted) => {
    const look = () => {
      if (document.querySelector(wanted)) window.firstView = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, selector);
  await page.goto(given.url + path);
  await page.waitForFunction(() => window.firstView);
  const milliseconds = await page.evaluate(() => window.firstView);
  while (open.size) await new Promise((done) => setTimeout(done, 10));
  await context.close();
  return { page: path, milliseconds, ...bytes };
}

const browser = await chromium.launch({ executablePath: given.chromium, timeout: PATIENCE });
await view(browser, '/', 'body'); // the browser's own first page is no measurement
for (let i = 0; i < given.rounds; i++)
  for (const [path, selector] of Object.entries(given.pages)) console.log(JSON.stringify(await view(browser, path, selector)));
await browser.close();
