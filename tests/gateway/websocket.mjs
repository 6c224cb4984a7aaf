// A WebSocket server that sends back what it gets, and a client that compares: node websocket.mjs serve|ask NODE_MODULES [PORT]
import { createHash } from "node:crypto";
import { createServer, get } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

const [, , role, modules, port] = process.argv;
const { WebSocketServer, WebSocket } = createRequire(path.join(modules, "x.js"))("ws");
const digest = (data) => createHash("sha256").update(data).digest("hex");
const COUNT = 1000;

// Messages of all sizes, text and bytes.
function message(number) {
    const size = [0, 1, 125, 126, 65535, 65536, 200000][number % 7] % (number % 50 === 0 ? 1e9 : 2000);
    const bytes = Buffer.alloc(size, number % 256);
    return number % 2 ? bytes : bytes.toString("latin1").replace(/[^ -~]/g, "x");
}

if (role === "serve") {
    const server = createServer((request, response) => {
        response.writeHead(426, { "Content-Type": "text/plain", Upgrade: "websocket", Connection: "Upgrade" });
        response.end("at /srv/app/secret-4711.js");
    });
    new WebSocketServer({ server }).on("connection", (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));
} else {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`);
    let next = 0;
    socket.on("open", () => {
        for (let number = 0; number < COUNT; number++) socket.send(message(number));
    });
    socket.on("message", (data, binary) => {
        const sent = message(next);
        if (binary !== (typeof sent !== "string") || digest(data) !== digest(sent)) throw new Error(`message ${next} differs`);
        if (++next === COUNT) socket.close();
    });
    socket.on("close", () => {
        console.log(`${next} messages are equal`);
        get(`http://127.0.0.1:${port}/plain`, (response) => {
            let body = "";
            response.on("data", (piece) => (body += piece));
            response.on("end", () => console.log(body.includes("4711") ? "leak" : `refused with ${response.statusCode}`));
        });
    });
}
