// A stock application of Express 5, with zod: node express.mjs NODE_MODULES [PACKAGE]. With the package it has three lines more.
import { createRequire } from "node:module";
import { pipeline } from "node:stream";
import { pieces } from "./pieces.mjs";
const need = createRequire(process.argv[2] + "/x.js");
const express = need("express"), { z } = need("zod");
const mishap = process.argv[3] && createRequire(process.argv[3] + "/x.js")("./index.cjs"); // 1: const mishap = require("mishap")

const User = z.object({ name: z.string().min(1).max(20), email: z.string(), age: z.number().int().min(0) });
const Id = z.object({ id: z.coerce.number().int().min(1) });
const users = new Map([[1, { id: 1, name: "Ada", email: "ada@example.com", age: 36 }]]);
const app = express();
app.use(express.json());

app.get("/users/:id", (request, response) => {
    const user = users.get(Id.parse(request.params).id);
    if (!user) throw Object.assign(new Error("There is no such user."), { status: 404 });
    response.json(user);
});

app.post("/users", (request, response) => {
    const user = { id: users.size + 1, ...User.parse(request.body ?? {}) };
    users.set(user.id, user);
    response.status(201).json(user);
});

app.get("/orders", async () => {
    throw new Error("connect ECONNREFUSED postgres://orders:hunter2hunter2@10.1.2.3:5432/orders");
});

const inner = express.Router();
inner.get("/ok", (request, response) => response.set("etag", '"1"').json({ ok: true }));
inner.put("/ok", (request, response) => response.status(204).end());
inner.get("/late", (request, response, next) => {
    response.write("{");
    next(new Error("PRIVATE"));
});
inner.get("/stream", (request, response, next) => pipeline(pieces(request.query.fail), response, (error) => error && next(error)));
inner.get("/thrown", async () => {
    throw "PRIVATE value"; // eslint-disable-line no-throw-literal
});
inner.get("/odd", () => {
    throw "PRIVATE text"; // eslint-disable-line no-throw-literal
});
app.use("/inner", inner);

if (mishap) app.use(mishap.express());                                                      // 2
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
