// Opens reports in Chromium, in light and in dark, and prints one line for each: {"file","wrong":[…]}.
//
//     node page.mjs NODE_MODULES CHROMIUM SHOTS-OR-EMPTY FILE…
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";

const PATIENCE = 180000; // milliseconds, however busy the machine
const [modules, executablePath, shots, ...files] = process.argv.slice(2);
const require = createRequire(modules + "/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, timeout: PATIENCE });
for (const file of files) {
  const wrong = [];
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, colorScheme, bypassCSP: false });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.on("console", (message) => wrong.push("console: " + message.text()));
    page.on("pageerror", (problem) => wrong.push("error: " + problem.message));
    page.on("request", (request) => {
      if (request.url() !== "file://" + file && !request.url().startsWith("data:")) wrong.push("asks " + request.url());
    });
    await page.goto("file://" + file);
    if (await page.evaluate(() => window.planted !== undefined)) wrong.push("planted markup was run");
    if (await page.evaluate(() => document.querySelectorAll("script, img, iframe, object").length)) wrong.push("there are elements of the target");
    if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) wrong.push("the page is wider than the window");
    if (shots) await page.screenshot({ path: `${shots}/${basename(file)}-${colorScheme}.png`, fullPage: false });
    const fresh = await browser.newContext({ colorScheme, bypassCSP: true });
    const checked = await fresh.newPage();
    await checked.goto("file://" + file);
    await checked.evaluate(axe);
    const { violations } = await checked.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    for (const { id, impact, nodes } of violations)
      if (impact === "serious" || impact === "critical") wrong.push(`axe, ${colorScheme}: ${id} ${nodes[0].html.slice(0, 200)}`);
    await fresh.close();
    await context.close();
  }
  console.log(JSON.stringify({ file, wrong }));
}
await browser.close();
