// A stock application of Fastify 5, with JSON Schema: node fastify.mjs NODE_MODULES [PACKAGE]. With the package it has three lines more.
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { pieces } from "./pieces.mjs";
const need = createRequire(process.argv[2] + "/x.js");
const { fastify } = need("fastify");
const mishap = process.argv[3] && createRequire(process.argv[3] + "/x.js")("./index.cjs"); // 1: const mishap = require("mishap")

const users = new Map([[1, { id: 1, name: "Ada", email: "ada@example.com", age: 36 }]]);
const app = fastify(mishap ? mishap.fastify.options() : {});                                // 2
if (mishap) mishap.fastify(app);                                                            // 3
const body = {
    type: "object",
    required: ["name", "email", "age"],
    properties: { name: { type: "string", minLength: 1, maxLength: 20 }, email: { type: "string" }, age: { type: "integer", minimum: 0 } },
};

app.get("/users/:id", { schema: { params: { type: "object", properties: { id: { type: "integer", minimum: 1 } } } } }, async (request) => {
    const user = users.get(request.params.id);
    if (!user) throw Object.assign(new Error("There is no such user."), { statusCode: 404 });
    return user;
});

app.post("/users", { schema: { body } }, async (request, reply) => {
    const user = { ...request.body, id: users.size + 1 };
    users.set(user.id, user);
    return reply.code(201).send(user);
});

app.get("/orders", async () => {
    throw new Error("connect ECONNREFUSED postgres://orders:hunter2hunter2@10.1.2.3:5432/orders");
});

app.register(async (inner) => {
    inner.get("/ok", async (request, reply) => reply.header("etag", '"1"').send({ ok: true }));
    inner.put("/ok", async (request, reply) => reply.code(204).send());
    inner.get("/odd", async () => {
        throw Object.assign(new Error("PRIVATE text"), { statusCode: 500 });
    });
    inner.addHook("onSend", async (request) => {
        if (request.url === "/inner/unsent") throw new Error("PRIVATE hook");
    });
    inner.get("/stream", async (request, reply) => reply.type("text/plain").send(pieces(request.query.fail)));
    inner.get("/web", async (request, reply) => reply.type("text/plain").send(Readable.toWeb(pieces(request.query.fail))));
    inner.get("/thrown", async () => {
        throw "PRIVATE value"; // eslint-disable-line no-throw-literal
    });
    inner.get("/unsent", async () => ({ ok: true }));
    inner.get("/from/:a-:b-:c", async () => ({ ok: true }));
}, { prefix: "/inner" });

await app.listen({ port: 0, host: "127.0.0.1" });
console.log(app.server.address().port);
