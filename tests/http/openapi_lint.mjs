// Is an OpenAPI document beyond reproach? It is held against the official JSON Schema of OpenAPI 3.1 and against the
// recommended rules of Redocly, whose warnings count as well.
//
//     node openapi_lint.mjs NODE_MODULES FILE…
//
// Prints one line for each flaw.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const modules = resolve(process.argv[2]);
const require = createRequire(join(modules, "x.js"));
const { Validator } = await import(pathToFileURL(require.resolve("@seriousme/openapi-schema-validator")));
let flaws = 0;

function say(file, what) {
  flaws += 1;
  console.log(`${file}: ${what}`);
}

async function checkSchema(file) {
  const outcome = await new Validator().validate(JSON.parse(readFileSync(file, "utf8")));
  if (!outcome.valid) say(file, JSON.stringify(outcome.errors));
}

function checkRules(file) {
  const program = join(modules, "@redocly/cli/bin/cli.js");
  const env = { ...process.env, CI: "true", REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const run = spawnSync(process.execPath, [program, "lint", "--format=json", file], { encoding: "utf8", env });
  const start = run.stdout.indexOf("{");
  if (start < 0) return say(file, `there is no report: ${run.stderr}`);
  for (const { severity, ruleId, message, location } of JSON.parse(run.stdout.slice(start)).problems) {
    say(file, `${severity}, ${ruleId}: ${message} (${location?.[0]?.pointer})`);
  }
}

for (const file of process.argv.slice(3)) {
  await checkSchema(file);
  checkRules(file);
}
process.exitCode = flaws ? 1 : 0;
