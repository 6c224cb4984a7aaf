// Fastify as it comes, with a JSON Schema for its one body.
import { createRequire } from "node:module";
const { fastify } = createRequire(process.argv[2] + "/")("fastify");

const users = new Map([[1, { id: 1, name: "Ada", email: "ada@example.com", age: 36 }]]);
const app = fastify();
const body = {
    type: "object",
    required: ["name", "email", "age"],
    properties: { name: { type: "string", minLength: 1, maxLength: 20 }, email: { type: "string" }, age: { type: "integer", minimum: 0 } },
};

app.get("/users/:id", { schema: { params: { type: "object", properties: { id: { type: "integer" } } } } }, async (request, reply) => {
    const user = users.get(request.params.id);
    if (!user) throw Object.assign(new Error("no such user"), { statusCode: 404, code: "NO_SUCH_USER" });
    return user;
});

app.post("/users", { schema: { body } }, async (request, reply) => {
    const user = { ...request.body, id: users.size + 1 };
    users.set(user.id, user);
    return reply.code(201).send(user);
});

await app.listen({ port: 0, host: "127.0.0.1" });
console.log(app.server.address().port);
