// Allocations that fail: each in turn, and all from each one on. The addon has the allocator of node_scarce.c.
import assert from "node:assert/strict";
import { Mishap, main, mishap, require, test } from "./node_tap.mjs";

let round = 0;
const DOCUMENT = new Mishap("VALIDATION_ERROR", "No.".repeat(2000), { context: { a: [1, { b: "x".repeat(3000) }] }, fields: [{ field: "f", error: "invalid_type" }] }).render();
const LEAK = "at Object.<anonymous> (/home/ada/app/index.js:3:9)\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)\n".repeat(20);

const json = (text) => assert.equal(typeof JSON.parse(text), "object");
const CALLS = {
    "a short one is rendered": () => json(new Mishap("NOT_FOUND", "No.", { context: { a: 1 } }).render()),
    "a long one is rendered": () => json(new Mishap("NOT_FOUND", "ä".repeat(5000), { context: { a: "x".repeat(9000), b: [1, 2], c: 3 }, fields: [{ field: "f", error: "e", min: 1 }], reason: "r" }).render("json-api")),
    "a document is translated": () => json(mishap.translate(DOCUMENT, "problem", "google-rpc")),
    "a document is parsed": () => json(mishap.parse(DOCUMENT, "problem").render("canonical")),
    "a document is verified": () => assert(Array.isArray(mishap.verify(DOCUMENT, "http-api"))),
    "a text is guarded": () => assert(!mishap.guard(LEAK, { known: ["abc", "x".repeat(2000)] }).includes("/home/ada")),
    "a name is looked for": () => assert.throws(() => new Mishap("NOT_FUND"), TypeError),
    "a failure is answered": () => {
        let body, headers = {};
        const [, fail] = mishap.express();
        const response = { removeHeader() {}, setHeader(name, value) { headers[name] = value; }, end(text) { body = text; } };
        fail(new Mishap("NOT_FOUND", LEAK, { context: { a: [LEAK] } }), { originalUrl: "/", query: {}, headers: {}, body: { a: "xyzw" } }, response, assert.fail);
        json(body);
        assert(!body.includes("/home/ada"), body);
    },
};

/* How many blocks of the addon are in use. A call that allocates tells it: the first of its blocks is not counted yet. */
function inUse() {
    process.env.MISHAP_SCARCE = "count";
    mishap.guard("x".repeat(100));
    process.env.MISHAP_SCARCE = "";
    return Number(process.env.MISHAP_IN_USE);
}

mishap.setSink(() => {});
for (const [name, call] of Object.entries(CALLS))
    test(`no block is left when ${name}`, () => {
        call();
        const before = inUse();
        for (let i = 0; i < 20; i++) call();
        assert.equal(inUse(), before);
    });

for (const [name, call] of Object.entries(CALLS))
    test(`while memory is scarce ${name}`, () => {
        const unused = inUse();
        for (const rest of ["", "+"])
            for (let at = 1; at <= 60; at++) {
                process.env.MISHAP_SCARCE = `${++round}:${at}${rest}`;
                try {
                    call();
                } catch (error) {
                    if (error instanceof assert.AssertionError || error instanceof SyntaxError) throw error;
                    assert(error instanceof Mishap || error instanceof RangeError, String(error && error.stack));
                }
            }
        process.env.MISHAP_SCARCE = "";
        call();
        assert.equal(inUse(), unused);
    });

/* The last allocation whose failure changes what a call gives. */
function lastNeeded(call, expected) {
    let last = 0;
    for (let at = 1; at <= 60; at++) {
        process.env.MISHAP_SCARCE = `${++round}:${at}`;
        const given = call();
        process.env.MISHAP_SCARCE = "";
        if (given !== expected) last = at;
    }
    return last;
}

test("a document that could not be judged counts as replaced, and is not sent", () => {
    const { native, dialects, codes } = require("./lib/native.cjs"), problem = dialects.get("problem").index, code = codes.get("NOT_FOUND").index;
    const message = `No ${LEAK}`, call = () => native.render(problem, code, message, []), rendering = lastNeeded(call, call());
    let unjudged = 0;
    for (const rest of ["", "+", "!"])
        for (let at = rendering + 1; at <= rendering + 40; at++) {
            process.env.MISHAP_SCARCE = `${++round}:${at}${rest}`;
            const given = native.guarded(problem, code, message, [], false, undefined);
            process.env.MISHAP_SCARCE = "";
            assert(Array.isArray(given) && !given[0].includes("/home/ada"), `allocation ${at}${rest} behind ${rendering}: ${given}`);
            unjudged += JSON.parse(given[0]).code !== "NOT_FOUND";
        }
    assert(unjudged > 0, "no allocation of the guard has failed");
});

main();
