// The package `mishap` by itself: the class, documents, and values that are traps.
import assert from "node:assert/strict";
import { spawnSync, fork } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import util from "node:util";
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { Mishap, PACKAGE, load, main, mishap, require, test } from "./node_tap.mjs";

const { parse, translate, verify, guard, codes, dialects } = mishap;
const self = fileURLToPath(import.meta.url);
const rendered = (...parameters) => JSON.parse(new Mishap(...parameters).render());

function churn(count) {
    let length = 0;
    for (let i = 0; i < count; i++) {
        try {
            throw new Mishap("NOT_FOUND", `There is no user ${i}.`, { context: { user: i, list: [i, { deep: "x" }] }, fields: [{ field: "a", error: "invalid_type", expected: "b" }] });
        } catch (error) {
            length += error.render().length + error.render("json-api").length;
        }
        length += translate('{"error":"not_found","message":"No.","details":{"a":1}}', "http-api", "problem").length;
    }
    return length;
}

if (!isMainThread) {
    parentPort.postMessage(churn(2000));
} else if (process.send && process.env.MISHAP_FORKED) {
    process.send(churn(2000));
    process.disconnect();
} else {

// ---- The class ------------------------------------------------------------------------------------

test("a mishap is an error with a code, and renders as a problem document", () => {
    const m = new Mishap("NOT_FOUND", "There is no user 7.", { context: { user: 7 } });
    assert(m instanceof Error && m instanceof Mishap);
    assert.equal(m.render(),
        '{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no user 7.","code":"NOT_FOUND","category":"resource","retryable":false,"context":{"user":7}}');
    assert.deepEqual([m.code, m.message, m.status, m.exitCode, m.title, m.category, m.retryable, m.masked], ["NOT_FOUND", "There is no user 7.", 404, 5, "Not found", "resource", false, false]);
    assert.equal(String(m), "Mishap: There is no user 7.");
});

test("without a message it has that of the catalog, in each dialect its own", () => {
    const m = new Mishap("VALIDATION_ERROR");
    assert.equal(m.message, "One or more fields are not valid.");
    assert.equal(JSON.parse(m.render("http-api")).message, "Validation failed");
});

test("all parts are in the document, and the private ones are not", () => {
    const m = new Mishap("UNAVAILABLE", "The store does not answer.", {
        context: { store: "orders", tries: [1, 2] }, fields: [{ field: "items[2].name", error: "invalid_length", min: 1, max: 20, actual: 33, message: "It is long." }],
        reason: "Connection refused", suggestion: "Wait.", docs: "https://example.com/e", retryAfter: 1.5, incident: "i-1", category: "execution",
        notes: { host: "PRIVATE" }, cause: new Error("PRIVATE"),
    });
    assert.deepEqual(JSON.parse(m.render("canonical")), {
        code: "UNAVAILABLE", message: "The store does not answer.", category: "execution", retryable: true, retry_after_ms: 1500, cause: "Connection refused",
        suggestion: "Wait.", docs_url: "https://example.com/e", context: { store: "orders", tries: [1, 2] },
        fields: [{ field: "items[2].name", error: "invalid_length", min: 1, max: 20, actual: 33, message: "It is long." }], incident: "i-1",
    });
    for (const dialect of dialects) assert(!m.render(dialect).includes("PRIVATE"), dialect);
    assert(!JSON.stringify(m).includes("PRIVATE"));
});

test("the message of a masked code is private, and it has a stack", () => {
    const m = new Mishap("INTERNAL_ERROR", "PRIVATE");
    for (const dialect of dialects) assert(!m.render(dialect).includes("PRIVATE"), dialect);
    assert.match(m.stack, /node_values\.mjs/);
    assert.equal(new Mishap("NOT_FOUND", "No.").stack, "Mishap [NOT_FOUND]: No.");
    Mishap.captureStacks = true;
    try {
        assert.match(new Mishap("NOT_FOUND", "No.").stack, /node_values\.mjs/);
    } finally {
        Mishap.captureStacks = false;
    }
});

test("parts that are changed later are rendered as they are then", () => {
    const m = new Mishap("NOT_FOUND", "No.");
    m.message = "Nothing.";
    m.context = { a: 1 };
    m.suggestion = "Look elsewhere.";
    const { detail, context, suggestion } = JSON.parse(m.render());
    assert.deepEqual([detail, context, suggestion], ["Nothing.", { a: 1 }, "Look elsewhere."]);
});

test("a class of one's own is a mishap", () => {
    class NoUser extends Mishap {
        constructor(id) {
            super("NOT_FOUND", `There is no user ${id}.`, { context: { id } });
        }
    }
    const m = new NoUser(3);
    assert(m instanceof NoUser && m instanceof Mishap && m instanceof Error);
    assert.equal(JSON.parse(m.render()).context.id, 3);
});

test("a retry is told as it was stated", () => {
    assert.equal(rendered("UNAVAILABLE", "No.").retryable, true);
    assert.equal(rendered("UNAVAILABLE", "No.", { retryable: false }).retryable, false);
    assert.equal(rendered("NOT_FOUND", "No.", { retryable: true }).retryable, true);
    assert.deepEqual([rendered("NOT_FOUND", "No.", { retryAfter: 2 }).retry_after_ms, rendered("NOT_FOUND", "No.", { retryAfter: 2 }).retryable], [2000, true]);
    assert.equal(rendered("UNAVAILABLE", "No.", { category: "validation" }).retryable, false);
});

test("uncaught, and inspected, it says what it is", () => {
    const done = spawnSync(process.execPath, ["-e", `throw new (require(${JSON.stringify(PACKAGE)}).Mishap)("NOT_FOUND", "There is no user 7.")`], { encoding: "utf8" });
    assert.notEqual(done.status, 0);
    assert.match(done.stderr, /Mishap \[NOT_FOUND\]: There is no user 7\./);
    assert.match(util.inspect(new Mishap("NOT_FOUND", "No.", { context: { a: 1 } })), /Mishap \[NOT_FOUND\]: No\. \{ context: \{ a: 1 \} \}/);
});

// ---- Bad use --------------------------------------------------------------------------------------

test("an unknown code is a TypeError with the nearest name", () => {
    assert.throws(() => new Mishap("NOT_FUND"), { name: "TypeError", message: 'Unknown code "NOT_FUND". Did you mean NOT_FOUND?' });
    assert.throws(() => new Mishap("ZZZZZZZZZZZZZZZZ"), { name: "TypeError", message: 'Unknown code "ZZZZZZZZZZZZZZZZ".' });
    for (const code of [undefined, null, 7, {}, Symbol("x"), "__proto__", "constructor", "not_found", ""]) assert.throws(() => new Mishap(code), TypeError);
    assert.throws(() => mishap.describe("NOT_FUND"), TypeError);
});

test("wrong arguments are a TypeError", () => {
    const wrong = [
        () => new Mishap("NOT_FOUND", "No.", 7), () => new Mishap("NOT_FOUND", "No.", { category: "sadness" }), () => new Mishap("NOT_FOUND", "No.", { retryAfter: "x" }),
        () => new Mishap("NOT_FOUND", "No.", { retryAfter: -1 }), () => new Mishap("NOT_FOUND", "No.", { retryAfter: Infinity }), () => new Mishap("NOT_FOUND").render("soap"), () => parse(7), () => parse("{}", "soap"),
        () => translate("{}", "problem"), () => verify(undefined, "problem"), () => guard({}), () => mishap.setSink(7),
        () => mishap.express({ dialect: "condition-report" }),
    ];
    for (const call of wrong) assert.throws(call, TypeError, String(call));
});

test("the versions of addon and JavaScript must be the same, and are named", () => {
    const folder = mkdtempSync(join(tmpdir(), "mishap-node-"));
    try {
        cpSync(PACKAGE, folder, { recursive: true });
        const file = join(folder, "lib", "native.cjs"), text = readFileSync(file, "utf8"), other = text.replace(/^const version = "[^"]+";/m, 'const version = "99.0.1";');
        assert.notEqual(other, text);
        writeFileSync(file, other);
        const done = spawnSync(process.execPath, ["-e", `require(${JSON.stringify(folder)})`], { encoding: "utf8" });
        assert.match(done.stderr, new RegExp(`the addon has version ${mishap.version.replace(/\./g, "\\.")}, but the JavaScript beside it has version 99\\.0\\.1`));
        rmSync(join(folder, "prebuilds"), { recursive: true });
        assert.match(spawnSync(process.execPath, ["-e", `require(${JSON.stringify(folder)})`], { encoding: "utf8" }).stderr, /has no addon that runs here \(linux-/);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

// ---- Documents ------------------------------------------------------------------------------------

test("what is rendered is parsed to the same, in canonical form", () => {
    const m = new Mishap("RATE_LIMITED", "Too fast.", { context: { limit: 3 }, retryAfter: 2.5, reason: "r", incident: "i" });
    for (const dialect of ["canonical", "problem", "json-rpc", "json-api", "graphql"])
        assert.equal(parse(m.render(dialect), dialect).render("canonical"), m.render("canonical"), dialect);
    const { retryAfter, reason, context } = parse(m.render(), "problem");
    assert.deepEqual([retryAfter, reason, context], [2.5, "r", { limit: 3 }]);
});

test("a document of a code that is not in the catalog is kept", () => {
    const text = '{"code":"MY_CODE","message":"Hm.","category":"resource","retryable":false,"context":{"a":1}}';
    const m = parse(text, "canonical");
    assert.deepEqual([m.code, m.status, m.exitCode, m.title], ["MY_CODE", 404, 5, "My code"]);
    assert.equal(m.render("canonical"), text);
    assert.equal(JSON.parse(m.render()).code, "MY_CODE");
});

test("a code of another program is answered as it is, with an incident if it is a failure of the server", () => {
    const foreign = (category, message = "Hm.") => parse(JSON.stringify({ code: "MY_CODE", message, category, retryable: false, context: { a: 1 } }), "canonical");
    const resource = answered(foreign("resource"));
    assert.deepEqual([resource.status, resource.document.code, resource.document.context, resource.records.length], [404, "MY_CODE", { a: 1 }, 0]);
    const system = answered(foreign("system"));
    assert.deepEqual([system.status, system.document.code, system.document.detail, system.records.length], [500, "MY_CODE", "Hm.", 1]);
    assert.equal(system.document.instance, `urn:uuid:${system.records[0].id}`);
    const leak = answered(foreign("resource", "Error: x\n    at read (/home/ada/app/index.js:3:9)\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)"));
    assert(!leak.body.includes("/home/ada") && leak.document.instance === `urn:uuid:${leak.records[0].id}`, leak.body);
    const spoiled = answered(Object.assign(foreign("resource", "PRIVATE"), { code: "no name" }));
    assert.deepEqual([spoiled.status, spoiled.document.code, spoiled.document.instance], [500, "INTERNAL_ERROR", `urn:uuid:${spoiled.records[0].id}`]);
    assert(!spoiled.body.includes("PRIVATE"), spoiled.body);
});

test("a document that cannot be parsed has all findings", () => {
    assert.throws(() => parse('{"a":', "problem"), (error) => {
        assert(error instanceof mishap.ParseError && error instanceof Mishap && error instanceof Error);
        assert.equal(error.code, "MALFORMED_INPUT");
        assert.deepEqual(error.findings, [{ rule: "not-json", severity: "fatal", place: "line 1, column 6", sentence: "This is not JSON: unexpected end of data." }]);
        return true;
    });
    assert.throws(() => parse('{"code":7,"message":"","category":"sad","retryable":"no","more":1}', "canonical"), (error) => error.findings.length >= 5);
    assert.throws(() => translate("[]", "http-api", "problem"), (error) => error.findings.length >= 1);
    assert.throws(() => parse("", "problem"), mishap.ParseError);
});

test("verify has every finding, and a Buffer is a document, too", () => {
    assert.deepEqual(verify(new Mishap("NOT_FOUND").render(), "problem"), []);
    assert(verify('{"status":"x","title":3}', "problem").length >= 2);
    assert(verify(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), "problem").some(({ severity }) => severity === "fatal"));
    assert.equal(parse(Buffer.from(new Mishap("NOT_FOUND", "Nö.").render()), "problem").message, "Nö.");
    assert.equal(parse(new Uint8Array(Buffer.from(new Mishap("NOT_FOUND", "Nö.").render()))).message, "Nö.");
});

test("the guard replaces what leaks, but not what the caller sent", () => {
    const leak = "connect ECONNREFUSED postgres://orders:hunter2hunter2@10.1.2.3:5432/orders";
    assert.equal(guard("There is no user 7."), "There is no user 7.");
    assert(!guard(leak).includes("hunter2"));
    assert.equal(guard(leak, { known: { body: [{ text: leak }] } }), leak);
    assert.equal(guard("see /home/ada/app/secrets.txt"), "see /home/ada/app/secrets.txt");
    assert.notEqual(guard("see /home/ada/app/secrets.txt", { strict: true }), "see /home/ada/app/secrets.txt");
});

test("the document of an answer leaks nothing; a path counts if it is strict, and what the caller sent does not", () => {
    const { finish, settingsOf } = require("./lib/answer.cjs"), records = [];
    const leak = "Error: no row at Pool.query (/srv/app/node_modules/pg-pool/index.js:45:11)", path = "see /home/ada/app/secrets.txt";
    const answered = (message, options, sent) => finish(new Mishap("NOT_FOUND", message), settingsOf(options), sent);
    mishap.setSink((record) => records.push(record.replaced));
    for (const [message, options, sent, stays] of [
        [leak, {}, undefined, false], [leak, {}, () => ({ body: { text: "another" } }), false], [leak, {}, () => ({ body: { text: leak } }), true],
        [path, {}, undefined, true], [path, { strict: true }, undefined, false], [path, { strict: true }, () => ({ body: [path] }), true],
    ]) {
        const { text, incident } = answered(message, options, sent);
        assert.deepEqual([text.includes(message), incident === undefined], [stays, stays], text);
    }
    mishap.setSink(undefined);
    assert.deepEqual(records, [true, true, true]);
});

test("the tables are those of the catalog", () => {
    const types = readFileSync(join(PACKAGE, "codes.d.ts"), "utf8").match(/export type Code =([^;]*);/)[1].match(/"[A-Z_0-9]+"/g).map(JSON.parse);
    assert.deepEqual(Object.keys(codes), types);
    const declared = readFileSync(join(PACKAGE, "index.d.ts"), "utf8").match(/export type Dialect =([^;]*);/)[1].match(/"[^"]+"/g).map(JSON.parse);
    assert.deepEqual([...dialects].sort(), declared.sort());
    assert.deepEqual([codes.NOT_FOUND, mishap.describe("UNAVAILABLE").status, mishap.describe("INTERNAL_ERROR").masked], ["NOT_FOUND", 503, true]);
    for (const code of types) assert.equal(rendered(code).code, code);
    assert.match(mishap.newIncident(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
});

test("CommonJS and modules are the same package", () => {
    assert.equal(require("./index.cjs").Mishap, Mishap);
    assert.deepEqual(Object.keys(require("./index.cjs")).sort(), Object.keys(mishap).filter((name) => !["default", "module.exports"].includes(name)).sort());
});

// ---- Values that are traps ------------------------------------------------------------------------

test("%n and other formats in a message are characters", () => {
    assert.equal(rendered("NOT_FOUND", "100 %n %s %p %1000000d").detail, "100 %n %s %p %1000000d");
    assert.equal(rendered("NOT_FOUND", "No.", { context: { "%n%s": "%n" } }).context["%n%s"], "%n");
});

test("text that is not UTF-8, half of a surrogate pair and NUL become U+FFFD", () => {
    assert.equal(rendered("NOT_FOUND", Buffer.from([0x61, 0xff, 0xfe, 0x62])).detail, "a\ufffd\ufffdb");
    assert.equal(rendered("NOT_FOUND", "a\ud800b\udfffc \ud83d\ude00").detail, "a\ufffdb\ufffdc \ud83d\ude00");
    assert.equal(rendered("NOT_FOUND", "a\0b").detail, "a\ufffdb");
    assert.deepEqual(rendered("NOT_FOUND", "No.", { context: { "a\ud800": "\udc00", "b\0": "\0", c: Buffer.from([0xc3, 0x28]), d: { "e\ud800": ["\ud800"], "e\ud801": 1, "f\0": 2 } } }).context,
        { "a\ufffd": "\ufffd", "b\ufffd": "\ufffd", c: "\ufffd(", d: { "e\ufffd": ["\ufffd"], "f\ufffd": 2 } });
});

test("a hundred thousand keys do not hang", () => {
    const seconds = (count) => Math.min(...Array.from({ length: 3 }, () => {
        const context = Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i])), before = process.cpuUsage();
        const { document } = answered(new Mishap("NOT_FOUND", "No.", { context }));
        assert.equal(Object.keys(document.context).length, count);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1e6;
    }));
    const few = seconds(5000), many = seconds(100000);
    assert(many < few * 100, `${few} s and ${many} s`); // 20 times as many; if it grew with the square it would be 400 times
});

test("10 MB are rendered and read", () => {
    const long = "ä".repeat(5 * 1024 * 1024);
    const text = new Mishap("NOT_FOUND", long, { context: { long } }).render("canonical");
    const { message, context } = JSON.parse(text);
    assert(message === long && context.long === long);
    assert.equal(parse(text, "canonical").message.length, long.length);
    assert.equal(rendered("NOT_FOUND", "No.", { context: { deep: { long: "x".repeat(17 * 1024 * 1024) } } }).context.deep, "[too large]");
});

test("circles and depth in the context end", () => {
    const circle = { list: [] };
    circle.list.push(circle);
    let deep = {};
    for (let i = 0; i < 100000; i++) deep = { deep };
    const { context } = rendered("NOT_FOUND", "No.", { context: { circle, deep, twice: [circle.list, circle.list] } });
    assert.deepEqual(context.circle, { list: ["[circular]"] });
    assert.match(JSON.stringify(context.deep), /"\[too deep\]"/);
    assert.deepEqual(context.twice[0], context.twice[1]);
});

test("getters that throw, proxies and odd objects do no harm", () => {
    const trap = new Proxy({}, { get() { throw new Error("trap"); }, ownKeys() { throw new Error("trap"); }, getPrototypeOf() { throw new Error("trap"); }, has() { throw new Error("trap"); } });
    const thrower = { get a() { throw new Error("PRIVATE"); }, b: 2 };
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    assert.deepEqual(rendered("NOT_FOUND", "No.", { context: thrower }).context, { a: "[unreadable]", b: 2 });
    assert.deepEqual(rendered("NOT_FOUND", "No.", { context: { thrower, trap, revoked, bad: { toJSON() { throw trap; } } } }).context,
        { thrower: { a: "[unreadable]", b: 2 }, trap: "[unreadable]", revoked: "[unreadable]", bad: "[unreadable]" });
    for (const context of [trap, revoked, 7, "text", [1], null, () => 1, new Map([["a", 1]])]) assert.equal(rendered("NOT_FOUND", "No.", { context }).status, 404);
    for (const fields of [trap, [trap, revoked, null, 7], 7, "x", {}]) assert.equal(rendered("VALIDATION_ERROR", "No.", { fields }).status, 422);
    assert.equal(rendered("NOT_FOUND", { toString() { throw trap; } }).detail, "[unreadable]");
    assert.equal(rendered("NOT_FOUND", Symbol("s")).detail, "Symbol(s)");
    for (const part of ["reason", "suggestion", "docs", "incident"]) assert.equal(rendered("NOT_FOUND", "No.", { [part]: trap }).status, 404);
});

test("values of every kind have a form in JSON", () => {
    const context = {
        big: 2n ** 70n, long: 2n ** 63n - 1n, natural: 2n ** 64n - 1n, small: -5n, inBig: [2n ** 70n], whole: 2 ** 53, real: 0.1, huge: 1e300, minus: -0, nan: NaN, endless: [Infinity],
        yes: true, no: null, gone: undefined, call() {}, sign: Symbol("x"), date: new Date(0), url: new URL("https://example.com/a"), map: new Map([["k", 1]]), set: new Set([1]),
        error: new RangeError("r"), plain: Object.create(null), odd: new (class Odd { constructor() { this.hidden = 1; } })(), bytes: new Uint8Array([104, 105]), sparse: [, 1], // eslint-disable-line no-sparse-arrays
    };
    const text = new Mishap("NOT_FOUND", "No.", { context }).render();
    for (const part of ['"big":1180591620717411303424', '"long":9223372036854775807', '"natural":18446744073709551615', '"small":-5', '"inBig":[1180591620717411303424]', '"whole":9007199254740992',
        '"real":0.1', '"minus":0', '"nan":null', '"endless":[null]', '"yes":true', '"no":null', '"date":"1970-01-01T00:00:00.000Z"', '"url":"https://example.com/a"', '"map":{"k":1}', '"set":[1]',
        '"error":"RangeError: r"', '"plain":{}', '"bytes":"hi"', '"sparse":[null,1]'])
        assert(text.includes(part), `${part} is not in ${text}`);
    for (const name of ["gone", "call", "sign"]) assert(!(name in JSON.parse(text).context), name);
    assert.equal(JSON.parse(text).context.huge, 1e300);
});

test("the value of a secret name is redacted, also inside", () => {
    const text = new Mishap("NOT_FOUND", "No.", { context: { password: "hunter2", deep: { api_key: "hunter2" } } }).render();
    assert(!text.includes("hunter2"), text);
});

test("many members are all there, and of many fields the first hundred and the number of the others", () => {
    const context = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, i]));
    const fields = Array.from({ length: 3000 }, (_, i) => ({ field: `f${i}`, error: "field_required" }));
    const document = JSON.parse(new Mishap("VALIDATION_ERROR", "No.", { context, fields }).render("canonical"));
    assert.deepEqual(document.context, { ...context, more_fields: 2900 });
    assert.deepEqual([document.fields.length, document.fields[99].field], [100, "f99"]);
    function* endless() {
        for (;;) yield { field: "f", error: "field_required" };
    }
    for (const many of [endless(), Object.assign(new Array(4e9), { 0: fields[0] })]) // eslint-disable-line no-new-array
        assert(rendered("VALIDATION_ERROR", "No.", { fields: many }).errors.length >= 1);
});

test("trees that are small in memory and large in JSON end soon", () => {
    class Growing {
        toJSON() { return [new Growing(), new Growing(), new Growing()]; }
    }
    let twice = [];
    for (let i = 0; i < 40; i++) twice = [twice, twice];
    const context = { growing: new Growing(), twice, long: new Array(4e9), small: [1] }; // eslint-disable-line no-new-array
    assert.deepEqual(rendered("NOT_FOUND", "No.", { context }).context, { growing: "[too large]", twice: "[too large]", long: "[too large]", small: "[too large]" });
    assert.equal(rendered("NOT_FOUND", "No.", { context: { list: Array.from({ length: 200000 }, (_, i) => ({ i })) } }).context.list.length, 200000);
});

// ---- Errors of others -----------------------------------------------------------------------------

test("the findings of zod are fields, also those of a validator of Hono", async () => {
    const zod = await load("zod");
    if (!zod) return "there is no zod";
    const { z } = zod;
    const schema = z.object({ a: z.string(), b: z.number().max(3), c: z.array(z.object({ d: z.string().regex(/^x/) })), e: z.enum(["f"]), g: z.string().min(2) }).strict();
    const { error } = schema.safeParse({ b: 7, c: [{ d: "x" }, { d: "y" }], e: "z", g: "", more: 1 });
    const found = mishap.toMishap(error);
    assert.deepEqual(found.fields.map((field) => `${field.field} ${field.error}`).sort(),
        ["a field_required", "b value_out_of_range", "c[1].d pattern_mismatch", "e invalid_value", "g invalid_length", "more unknown_field"]);
    assert.equal(mishap.hono.invalid({ success: true }), undefined);
    assert.throws(() => mishap.hono.invalid({ success: false, error }), (thrown) => thrown.code === "VALIDATION_ERROR" && thrown.fields.length === 6);
});

test("anything that was thrown becomes a mishap, and only what is for the caller is shown", () => {
    const status = (code, more) => Object.assign(new Error("Words."), { status: code, ...more });
    const trap = new Proxy({}, { get() { throw new Error("trap"); } });
    const known = [[status(404), "NOT_FOUND", "Words."], [status(429), "TOO_MANY_REQUESTS", "Words."], [status(418), "BAD_REQUEST", "Words."], [status(503), "SERVICE_UNAVAILABLE", undefined],
        [status(403, { expose: false }), "FORBIDDEN", undefined], [Object.assign(new Error("x"), { type: "entity.parse.failed", status: 400 }), "MALFORMED_INPUT", "The body is not valid JSON."]];
    for (const [error, code, message] of known) {
        const m = mishap.toMishap(error);
        assert.deepEqual([m.code, m.message], [code, message ?? mishap.describe(code).message]);
    }
    for (const error of [new Error("PRIVATE"), "PRIVATE", 7, null, undefined, Symbol("PRIVATE"), { message: "PRIVATE" }, trap, () => "PRIVATE", status(200)]) {
        const m = mishap.toMishap(error);
        assert.equal(m.code, "INTERNAL_ERROR");
        assert(!m.render().includes("PRIVATE"));
    }
});

test("a record has the causes, and a sink that throws does no harm", () => {
    const [, fail] = mishap.express(), records = [];
    const answer = (error) => {
        let body;
        fail(error, { originalUrl: "/", query: {}, headers: {} }, { removeHeader() {}, setHeader() {}, end(text) { body = text; } }, assert.fail);
        return body;
    };
    try {
        mishap.setSink((record) => {
            records.push(record);
            throw new Error("sink");
        });
        const cause = new Error("inner");
        cause.cause = cause;
        const notes = { host: "db-1", big: 2n ** 70n };
        notes.self = notes;
        assert(!answer(new Mishap("UNAVAILABLE", "The store does not answer.", { notes, cause })).includes("inner"));
        answer(new Mishap("NOT_FOUND", "No."));
        assert(!answer(new Mishap("NOT_FOUND", "Error: x\n    at read (/home/ada/app/index.js:3:9)\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)")).includes("/home/ada"));
    } finally {
        mishap.setSink();
    }
    assert.deepEqual(records.map(({ code, replaced }) => [code, replaced]), [["UNAVAILABLE", false], ["NOT_FOUND", true]]);
    assert.deepEqual([records[0].causes.length, records[0].causes[0].message, records[0].notes.host, records[0].notes.self], [1, "inner", "db-1", "[circular]"]);
});

/* What the handler of Express makes of an error: the response and the records. */
function answered(error, request = {}, response = {}) {
    const [, fail] = mishap.express(), records = [], headers = {};
    let body, passed;
    const stock = { removeHeader() {}, setHeader(name, value) { headers[name] = value; }, end(text) { body = text; }, ...response };
    try {
        mishap.setSink((record) => records.push(record));
        fail(error, { originalUrl: "/", query: {}, params: {}, headers: {}, ...request }, stock, (next) => { passed = next; });
    } finally {
        mishap.setSink();
    }
    return { status: stock.statusCode, headers, body, records, passed, document: body && JSON.parse(body) };
}

test("an error that cannot be read is INTERNAL_ERROR with a record, and nothing of it goes out", () => {
    const secret = () => { throw new Error("PRIVATE"); };
    const { proxy: revoked, revoke } = Proxy.revocable(new Error("PRIVATE"), {});
    revoke();
    const withTrap = (name, code = "NOT_FOUND") => Object.defineProperty(new Mishap(code, "No."), name, { get: secret });
    const withStatus = (get) => new (class extends Mishap { get status() { return get(); } })("NOT_FOUND", "No.");
    let reads = 0;
    const late = withStatus(() => ++reads > 1 ? secret() : 404);
    const zod = (...issues) => Object.assign(new Error("PRIVATE"), { name: "ZodError", issues });
    const traps = [revoked, zod(null), zod(revoked), Object.assign(new Error("PRIVATE"), { name: "ZodError", issues: revoked }), withTrap("context"), withTrap("fields"), withTrap("incident"),
        withTrap("retryAfter"), withTrap("notes", "INTERNAL_ERROR"), withStatus(secret), withStatus(() => 700), Object.assign(new Mishap("NOT_FOUND", "No."), { retryAfter: 2n })];
    for (const [number, trap] of traps.entries()) {
        const { status, document, body, records } = answered(trap);
        assert.deepEqual([status, document.code, records.length], [500, "INTERNAL_ERROR", 1], `trap ${number}: ${body}`);
        assert(!body.includes("PRIVATE") && document.instance === `urn:uuid:${records[0].id}`, body);
    }
    assert.equal(answered(late).status, 404);
    assert.equal(mishap.toMishap(revoked).code, "INTERNAL_ERROR");
    const { status, headers, document } = answered(new Mishap("UNAVAILABLE", "No.", { retryAfter: 2n }));
    assert.deepEqual([status, headers["retry-after"], document.retry_after_ms], [503, "2", 2000]);
    assert.equal(mishap.toMishap(zod({ code: "custom", message: "No.", path: [Symbol("x"), "a"] })).fields[0].field, "Symbol(x).a");
});

test("header fields of a private cause do not go out, those of an error with a status do", () => {
    const cause = { headers: { "www-authenticate": 'Basic realm="PRIVATE"', "retry-after": "7" } };
    const { headers } = answered(new Mishap("UNAVAILABLE", "No.", { cause }));
    assert(!JSON.stringify(headers).includes("PRIVATE") && !("retry-after" in headers), JSON.stringify(headers));
    assert.equal(answered(Object.assign(new Error("No."), cause)).headers["www-authenticate"], undefined);
    assert.equal(answered(Object.assign(new Error("No."), { status: 401, headers: { "www-authenticate": "Bearer" } })).headers["www-authenticate"], "Bearer");
});

test("the status of another server is not the caller's", () => {
    for (const more of [{ isAxiosError: true }, { response: {} }, { request: {} }, { config: {} }]) {
        const { status, body, records } = answered(Object.assign(new Error("401 PRIVATE"), { status: 401, headers: { "www-authenticate": "PRIVATE" }, ...more }));
        assert.deepEqual([status, records.length, records[0].message], [500, 1, "401 PRIVATE"], body);
        assert(!body.includes("PRIVATE"));
    }
    assert.equal(answered(Object.assign(new Error("No."), { status: 404, isAxiosError: false })).status, 404);
});

test("findings about the program's own data are for the operator", async () => {
    const zod = await load("zod");
    if (!zod) return "there is no zod";
    const { z } = zod, row = z.object({ owner: z.string(), plan: z.enum(["PRIVATE"]), size: z.number().max(3) }).strict();
    const thrown = (schema, value) => schema.safeParse(value).error;
    const own = [thrown(row, { plan: "x", hash: 1 }), thrown(row, { owner: "o", plan: "PRIVATE", size: 9 }),
        thrown(z.object({}).refine(() => false, "PRIVATE"), {}), thrown(z.array(row), [{ size: 1 }])];
    for (const [number, error] of own.entries()) {
        const { status, body, records } = answered(error, {});
        assert.deepEqual([status, records.length], [500, 1], `error ${number}: ${body}`);
        assert(!body.includes("PRIVATE"), body);
    }
    const told = [[row, { owner: "o", plan: "x", size: 9, more: 1 }, "body"], [row, {}, "body"], [row, { owner: 1 }, "body"], [row, [], "body"], [row, undefined, "body"],
        [z.object({ id: z.coerce.number() }), { id: "x" }, "params"], [z.object({ q: z.string() }), {}, "query"], [z.object({ q: z.coerce.number() }), { other: "1" }, "query"],
        [z.object({ list: z.array(row) }), { list: [{ size: 4 }] }, "body"], [z.object({ "x-version": z.enum(["1"]) }), { "x-version": "2" }, "headers"]];
    for (const [schema, value, part] of told) {
        const { status, body } = answered(thrown(schema, value), { headers: { "content-length": part === "body" ? "2" : "0" }, [part]: value });
        assert.equal(status, 422, `${part} ${JSON.stringify(value)}: ${body}`);
    }
    assert.equal(answered(Object.assign(new Error("No."), { validation: [{ keyword: "required", instancePath: "/db", params: { missingProperty: "PRIVATE" } }] })).status, 500);
    assert.equal(mishap.toMishap(own[0]).code, "VALIDATION_ERROR");
    const missing = answered(thrown(row, { owner: "o", size: 1 })).document.errors; // the caller sent nothing: a name is all that is told
    assert.deepEqual(missing.map(({ field, error, expected }) => [field, error, expected]), [["plan", "field_required", undefined]]);
});

test("a record has what was replaced, all errors of an AggregateError, and failures behind the beginning of a response", () => {
    const stack = "Error: x\n    at f (/srv/app/x.js:3:4)\n    at g (/srv/app/y.js:3:4)";
    const { body, records: [replaced] } = answered(new Mishap("VALIDATION_ERROR", "No.", { fields: [{ field: "x", message: stack }], reason: stack, suggestion: stack }));
    assert(!body.includes("/srv/app") && replaced.replaced, body);
    assert.deepEqual([replaced.fields[0].message, replaced.reason, replaced.suggestion], [stack, stack, stack]);
    const many = Array.from({ length: 100 }, (_, i) => new Error(`e${i}`));
    const { records: [record] } = answered(new AggregateError([new Error("one"), "two", ...many], "all"));
    assert.deepEqual([record.causes.length, record.causes[0].message, record.causes[1].message, record.causes[2].message], [16, "all", "one", "two"]);
    for (const [error, code] of [[new Error("late"), "INTERNAL_ERROR"], [new Mishap("NOT_FOUND", "late"), "NOT_FOUND"]]) {
        const { body: none, records, passed } = answered(error, {}, { headersSent: true });
        assert.deepEqual([none, passed, records.length, records[0].message, records[0].code, typeof records[0].id], [undefined, error, 1, "late", code, "string"]);
    }
});

// ---- Threads, processes, memory -------------------------------------------------------------------

test("worker threads render side by side", async () => {
    const expected = churn(2000);
    const workers = Array.from({ length: 4 }, () => new Promise((resolve, reject) => {
        const worker = new Worker(self);
        worker.once("message", resolve).once("error", reject);
    }));
    assert.deepEqual(await Promise.all(workers), Array(4).fill(expected));
});

test("a child process renders", async () => {
    const child = fork(self, { env: { ...process.env, MISHAP_FORKED: "1" } });
    const [length] = await new Promise((resolve, reject) => child.once("message", (...told) => resolve(told)).once("error", reject));
    assert.equal(length, churn(2000));
});

/*
 * A leak grows in every round. What V8 and the allocator keep for later grows in some rounds, and more on a busy machine. With a million failures the best
 * of the rounds may keep 2 MB, which is 10 bytes a failure: less than any block. A short run may keep more a failure, because what is kept is divided by less.
 */
test("failures leave no memory behind", () => {
    const count = Number(process.env.MISHAP_FAILURES ?? 100000), rounds = 5, grown = [], resident = () => {
        globalThis.gc?.();
        const used = process.memoryUsage();
        return used.rss - used.heapTotal + used.heapUsed;
    };
    churn(count / rounds);
    for (let round = 0; round < rounds; round++) {
        const before = resident();
        churn(count / rounds);
        grown.push(resident() - before);
    }
    const least = Math.min(...grown), most = count >= 1e6 ? 2e6 : count / rounds * 64;
    assert(least < most, `${grown} bytes more after ${count / rounds} failures each`);
});

main();
}
