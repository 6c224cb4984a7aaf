// Tests in JavaScript, which speak TAP.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const PACKAGE = process.env.MISHAP_NODE_PACKAGE;
export const require = createRequire(join(PACKAGE, "index.cjs"));
export const mishap = await import(pathToFileURL(join(PACKAGE, "index.mjs")));
export const { Mishap } = mishap;

const tests = [];
export const test = (name, run) => tests.push([name, run]);

// A package of npm; undefined if it is not there.
export async function load(name) {
    const need = createRequire(join(process.env.MISHAP_NODE_MODULES, "x.js"));
    try {
        return await import(pathToFileURL(need.resolve(name)));
    } catch {
        return undefined;
    }
}

export async function main() {
    const [wanted = ""] = process.argv.slice(2);
    const chosen = tests.filter(([name]) => name.includes(wanted));
    console.log(`1..${chosen.length}`);
    let failed = 0, number = 0;
    for (const [name, run] of chosen) {
        number++;
        try {
            const skipped = await run();
            console.log(`ok ${number} - ${name}${typeof skipped === "string" ? ` # SKIP ${skipped}` : ""}`);
        } catch (error) {
            failed++;
            console.log(`not ok ${number} - ${name}`);
            console.log(String(error && error.stack || error).replace(/^/gm, "# "));
        }
    }
    process.exitCode = failed ? 1 : 0;
}
