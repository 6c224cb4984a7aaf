// Validates envelopes, one a line on standard input, against the schema beside this file.
//
//     node ajv.mjs NODE_MODULES <lines
//
// Prints one line for each that does not fit, with its number, and then how many there were.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "x.js"));
const { default: Ajv } = require("ajv/dist/2020");
const { default: addFormats } = require("ajv-formats");

const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(new URL("envelope.schema.json", import.meta.url), "utf8")));

const lines = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
let failures = 0;
lines.forEach((line, index) => {
  if (!validate(JSON.parse(line))) {
    failures += 1;
    console.log(`line ${index + 1}: ${ajv.errorsText(validate.errors)}`);
  }
});
console.log(`${lines.length} envelopes, ${failures} do not fit`);
process.exitCode = failures ? 1 : 0;
