// Validates SARIF logs, one a line on standard input, against the schema of OASIS, which an npm package has.
//
//     node sarif.mjs NODE_MODULES SCHEMA <logs
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "x.js"));
const { default: Ajv } = require("ajv-draft-04");
const { default: addFormats } = require("ajv-formats");
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(process.argv[3], "utf8")));
for (const line of readFileSync(0, "utf8").split("\n").filter((text) => text !== ""))
  if (!validate(JSON.parse(line))) {
    console.log(ajv.errorsText(validate.errors));
    process.exitCode = 1;
  }
