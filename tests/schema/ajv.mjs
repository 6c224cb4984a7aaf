// The opinion of ajv: each line of the input is {"draft":…, "schema":…, "values":[…]}, each line of the output a list, with null for a value that
// is valid, else the places at which something is wrong. A schema that ajv does not compile gives "refused".
//
//     node ajv.mjs NODE_MODULES <lines
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "x.js"));
const { default: Ajv7 } = require("ajv");
const { default: Ajv2020 } = require("ajv/dist/2020");
const { default: addFormats } = require("ajv-formats");
const options = { strict: false, allErrors: true, validateSchema: false, logger: false };
const places = (error) => {
  const { missingProperty, additionalProperty, unevaluatedProperty, propertyName } = error.params;
  const name = missingProperty ?? additionalProperty ?? unevaluatedProperty ?? error.propertyName ?? propertyName;
  return name === undefined ? [error.instancePath] : [error.instancePath, error.instancePath + "/" + name];
};

for (const line of readFileSync(0, "utf8").split("\n").filter((text) => text !== "")) {
  const { draft, schema, values } = JSON.parse(line);
  const ajv = draft === "draft7" ? addFormats(new Ajv7(options)) : new Ajv2020({ ...options, validateFormats: false });
  let validate;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    console.log(JSON.stringify("refused"));
    continue;
  }
  console.log(JSON.stringify(values.map((value) => (validate(value) ? null : validate.errors.flatMap(places)))));
}
