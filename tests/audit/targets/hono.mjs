// Hono as it comes, on Node.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const need = createRequire(process.argv[2] + "/");
const { Hono } = await import(pathToFileURL(need.resolve("hono")));
const { serve } = await import(pathToFileURL(need.resolve("@hono/node-server")));

const users = new Map([[1, { id: 1, name: "Ada", email: "ada@example.com", age: 36 }]]);
const app = new Hono();

app.get("/users/:id", (c) => {
    const user = users.get(Number(c.req.param("id")));
    return user ? c.json(user) : c.notFound();
});

app.post("/users", async (c) => {
    const { name, email, age } = await c.req.json();
    if (!name || !email || age === undefined) return c.json({ code: "missing", message: "name, email and age are required" }, 400);
    const user = { id: users.size + 1, name, email, age };
    users.set(user.id, user);
    return c.json(user, 201);
});

serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) => console.log(info.port));
