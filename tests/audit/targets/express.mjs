// Express as it comes: its own error pages, and validation by hand that stops at the first field.
import { createRequire } from "node:module";
const express = createRequire(process.argv[2] + "/")("express");

const users = new Map([[1, { id: 1, name: "Ada", email: "ada@example.com", age: 36 }]]);
const app = express();
app.use(express.json());

app.get("/users/:id", (request, response) => {
    const id = Number(request.params.id);
    if (!Number.isInteger(id)) return response.status(400).json({ error: "id must be an integer" });
    const user = users.get(id);
    if (!user) return response.status(404).json({ error: "no such user" });
    response.json(user);
});

app.post("/users", (request, response) => {
    const { name, email, age } = request.body;
    if (!name) return response.status(400).json({ error: "name is required" });
    if (!email) return response.status(400).json({ error: "email is required" });
    const user = { id: users.size + 1, name, email, age };
    users.set(user.id, user);
    response.status(201).json(user);
});

const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
