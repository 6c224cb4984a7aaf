// Validates failures of the HTTP API, one a line on standard input, against the schema beside this file. Only its list
// of `error` names is widened, to those of a file with a JSON array.
//
//     node ajv.mjs NODE_MODULES NAMES <lines
//
// Prints one line for each that does not fit, with its number, and then how many there were.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "x.js"));
const { default: Ajv } = require("ajv");

const schema = JSON.parse(readFileSync(new URL("error.schema.json", import.meta.url), "utf8"));
const names = JSON.parse(readFileSync(process.argv[3], "utf8"));
schema.properties.error.enum = [...new Set([...schema.properties.error.enum, ...names])];
const validate = new Ajv({ strict: true, allErrors: true }).compile(schema);

const lines = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
let failures = 0;
lines.forEach((line, index) => {
  if (!validate(JSON.parse(line))) {
    failures += 1;
    console.log(`line ${index + 1}: ${JSON.stringify(validate.errors)}`);
  }
});
console.log(`${lines.length} failures, ${failures} do not fit`);
process.exitCode = failures ? 1 : 0;
