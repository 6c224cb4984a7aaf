// The npm package against what programs do by hand: node node.mjs PACKAGE NODE_MODULES. Prints one line of JSON a measure: the microseconds of
// CPU time in each round, ours and theirs. node.py makes figures of them and judges them.
import { fork, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [PACKAGE, NODE_MODULES] = process.argv.slice(2);
const self = fileURLToPath(import.meta.url), ROUNDS = Number(process.env.ROUNDS) || 7;
const mishap = createRequire(join(PACKAGE, "x.js"))("./index.cjs"), { Mishap } = mishap;

const cpu = (since) => {
    const { user, system } = process.cpuUsage(since);
    return user + system;
};

// ---- The failing request --------------------------------------------------------------------------

class ApiError extends Error {
    constructor(code, message, options) {
        super(message);
        this.name = "ApiError";
        this.code = code;
        this.context = options.context;
    }
}

const problemOf = (error) => JSON.stringify({
    type: "about:blank", title: "Not Found", status: 404, detail: error.message, code: error.code, category: "resource", retryable: false, context: error.context,
});

function serve(kind) {
    const express = createRequire(join(NODE_MODULES, "x.js"))("express"), app = express();
    const Failure = kind === "adapter" ? Mishap : ApiError;
    app.use(express.json());
    app.post("/users/:id", (request) => {
        throw new Failure("NOT_FOUND", `There is no user ${request.params.id}.`, { context: { user: request.params.id } });
    });
    if (kind === "adapter") app.use(mishap.express());
    else app.use((error, request, response, next) => response.status(404).type("application/problem+json").send(problemOf(error))); // eslint-disable-line no-unused-vars
    const server = app.listen(0, "127.0.0.1", () => process.send(server.address().port));
    let begun;
    process.on("message", (word) => {
        if (word === "begin") process.send(begun = process.cpuUsage());
        else process.send(cpu(begun));
    });
}

const told = (child) => new Promise((resolve) => child.once("message", resolve));

async function ask(port, agent, count) {
    let left = count, body;
    const one = () => new Promise((resolve, reject) => {
        const request = http.request({ port, host: "127.0.0.1", agent, method: "POST", path: "/users/7", headers: { "content-type": "application/json" } }, (response) => {
            if (response.statusCode !== 404) reject(new Error(`The answer has the status ${response.statusCode}.`));
            body = "";
            response.setEncoding("utf8").on("data", (text) => body += text).on("end", resolve);
        });
        request.on("error", reject).end('{"name":"Ada"}');
    });
    await Promise.all(Array.from({ length: 4 }, async () => {
        while (left-- > 0) await one();
    }));
    return body;
}

async function measureExpress() {
    const kinds = ["hand", "adapter"], agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
    const children = kinds.map((kind) => fork(self, [PACKAGE, NODE_MODULES, kind]));
    const ports = await Promise.all(children.map(told)), ours = [], theirs = [], bodies = [], requests = 2000;
    for (let round = 0; round <= 2 * ROUNDS; round++) {
        const used = [];
        for (const i of round % 2 ? [1, 0] : [0, 1]) {
            children[i].send("begin");
            await told(children[i]);
            bodies[i] = await ask(ports[i], agent, requests);
            children[i].send("end");
            used[i] = await told(children[i]);
        }
        if (!round) continue; // the first is for warming up
        ours.push(used[1] / requests);
        theirs.push(used[0] / requests);
    }
    children.forEach((child) => child.kill());
    agent.destroy();
    if (bodies[0] !== bodies[1]) throw new Error(`The bodies differ: ${bodies.join(" ")}`);
    return { ours, theirs };
}

// ---- In one process -------------------------------------------------------------------------------

function time(run, count = 100000) {
    const begun = process.cpuUsage();
    for (let i = 0; i < count; i++) run(i);
    return cpu(begun) / count;
}

function compare(our, their) {
    const ours = [], theirs = [];
    for (let round = 0; round <= ROUNDS; round++) {
        const pair = [time(our), time(their)];
        if (!round) continue;
        ours.push(pair[0]);
        theirs.push(pair[1]);
    }
    return { ours, theirs };
}

// The same depth of the stack for both, as in a handler.
const inside = (depth, run) => depth ? inside(depth - 1, run) : run();

function measureRaise() {
    const caught = (make, show) => (i) => {
        try {
            throw make(i);
        } catch (error) {
            return show(error);
        }
    };
    const ours = caught((i) => new Mishap("NOT_FOUND", `There is no user ${i}.`, { context: { user: i } }), (error) => error.render());
    const theirs = caught((i) => new ApiError("NOT_FOUND", `There is no user ${i}.`, { context: { user: i } }), problemOf);
    if (ours(7) !== theirs(7)) throw new Error(`${ours(7)} is not ${theirs(7)}`);
    return inside(8, () => compare(ours, theirs));
}

function measureTranslate() {
    const document = new Mishap("VALIDATION_ERROR", "Three fields are wrong.", {
        fields: [{ field: "email", error: "field_required" }, { field: "age", error: "value_out_of_range", min: 0, max: 150, actual: -3 },
            { field: "name", error: "invalid_length", min: 1, max: 20, actual: 33 }],
    }).render();
    const ours = () => mishap.translate(document, "problem", "http-api");
    const theirs = () => {
        const { detail, errors } = JSON.parse(document);
        return JSON.stringify({ error: "validation_error", message: detail, details: errors.map(({ message, ...rest }) => rest) }); // eslint-disable-line no-unused-vars
    };
    if (ours() !== theirs()) throw new Error(`${ours()} is not ${theirs()}`);
    return compare(ours, theirs);
}

// The import, and that of an empty module.
function measureImport() {
    const folder = mkdtempSync(join(tmpdir(), "mishap-bench-")), empty = join(folder, "empty.cjs");
    writeFileSync(empty, "");
    const script = "const a = process.cpuUsage(); require(process.argv[1]); const b = process.cpuUsage(a); console.log(b.user + b.system)";
    const run = (file) => Number(spawnSync(process.execPath, ["-e", script, file], { encoding: "utf8" }).stdout);
    const ours = [], empties = [];
    for (let round = 0; round < 15; round++) {
        ours.push(run(PACKAGE));
        empties.push(run(empty));
    }
    rmSync(folder, { recursive: true });
    return { ours, empties };
}

const MEASURES = [
    ["raise and render, against throw and JSON.stringify", measureRaise, 0.2],
    ["translate, against JSON.parse and JSON.stringify", measureTranslate, 0.6],
    ["a failing request of Express, against a handler by hand", measureExpress, 1.05],
    ["import, over an empty module", measureImport, 3],
];

if (process.argv[4]) serve(process.argv[4]);
else for (const [what, measure, bar] of MEASURES) console.log(JSON.stringify({ what, bar, ...await measure() }));
