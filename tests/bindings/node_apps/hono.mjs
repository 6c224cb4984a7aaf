// A stock application of Hono, with zod: node hono.mjs NODE_MODULES [PACKAGE]. With the package it has two lines more.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Readable } from "node:stream";
import { pieces } from "./pieces.mjs";
const need = createRequire(process.argv[2] + "/x.js");
const load = (name) => import(pathToFileURL(need.resolve(name)));
const { Hono } = await load("hono"), { serve } = await load("@hono/node-server"), { z } = await load("zod"), { HTTPException } = await load("hono/http-exception");
const { stream, streamSSE } = await load("hono/streaming");
const mishap = process.argv[3] && await import(pathToFileURL(process.argv[3] + "/index.mjs")); // 1: import * as mishap from "mishap"

const User = z.object({ name: z.string().min(1).max(20), email: z.string(), age: z.number().int().min(0) });
const Id = z.object({ id: z.coerce.number().int().min(1) });
const users = new Map([[1, { id: 1, name: "Ada", email: "ada@example.com", age: 36 }]]);
const app = new Hono();
app.use("*", async (c, next) => next());

app.get("/users/:id", (c) => {
    const user = users.get(Id.parse(c.req.param()).id);
    if (!user) throw new HTTPException(404, { message: "There is no such user." });
    return c.json(user);
});

app.post("/users", async (c) => {
    const user = { id: users.size + 1, ...User.parse(await c.req.json()) };
    users.set(user.id, user);
    return c.json(user, 201);
});

app.get("/orders", async () => {
    throw new Error("connect ECONNREFUSED postgres://orders:hunter2hunter2@10.1.2.3:5432/orders");
});

const inner = new Hono();
inner.get("/ok", (c) => c.json({ ok: true }, 200, { etag: '"1"' }));
inner.put("/ok", (c) => c.body(null, 204));
inner.get("/odd", () => {
    JSON.parse("PRIVATE text");
});
inner.get("/stream", (c) => c.body(Readable.toWeb(pieces(c.req.query("fail"))), 200, { "content-type": "text/plain" }));
inner.get("/raw", (c) => new Response(Readable.toWeb(pieces(c.req.query("fail")))));
// A web stream that fails with null, behind two pieces; and one that fails before its first piece, of a response that Node itself has made.
const failing = (count, error) => new ReadableStream({
    async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (count-- > 0) controller.enqueue(Buffer.from("piece\n"));
        else controller.error(error);
    },
});
const { constructor: Made } = await fetch("data:,x");
inner.get("/nothing", (c) => c.body(failing(2, null)));
inner.get("/first", () => new Made(failing(0, new Error("PRIVATE stream"))));
inner.get("/said", (c) => c.text("Error: that is what was asked for"));
const written = mishap ? mishap.hono.stream : (work) => work; // for streams that a function writes: one word more
inner.get("/helper", (c) => stream(c, written(async (out) => {
    for await (const piece of pieces(c.req.query("fail"))) await out.write(piece);
})));
inner.get("/sse", (c) => streamSSE(c, written(async (out) => {
    for await (const piece of pieces(c.req.query("fail"))) await out.writeSSE({ data: String(piece) });
}), async () => {}));
inner.get("/thrown", () => {
    throw "PRIVATE value"; // eslint-disable-line no-throw-literal
});
inner.get("/later", async () => {
    throw { private: "PRIVATE value" }; // eslint-disable-line no-throw-literal
});
app.route("/inner", inner);

if (mishap) mishap.hono(app);                                                                 // 2
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) => console.log(info.port));
