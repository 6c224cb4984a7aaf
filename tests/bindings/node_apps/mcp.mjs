// A stock server of the MCP SDK, with zod: node mcp.mjs NODE_MODULES [PACKAGE]. With the package it has two lines more.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const need = createRequire(process.argv[2] + "/x.js");
const load = (name) => import(pathToFileURL(need.resolve(name)));
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = await load("zod");
const mishap = process.argv[3] && await import(pathToFileURL(process.argv[3] + "/index.mjs")); // 1: import * as mishap from "mishap"

const server = new McpServer({ name: "orders", version: "1.0" });
if (mishap) mishap.mcp(server);                                                               // 2
const customer = z.string().min(1), limit = z.number().int().max(100);
server.registerTool("list_orders", { description: "List the orders of a customer", inputSchema: { customer, limit }, annotations: { readOnlyHint: true } }, async () => {
    throw new Error("connect ECONNREFUSED postgres://orders:hunter2hunter2@10.1.2.3:5432/orders");
});
server.registerTool("count_orders", { description: "Count orders", inputSchema: { customer }, annotations: { readOnlyHint: true } },
    async () => ({ content: [{ type: "text", text: "3" }] }));
server.registerTool("own_failure", { description: "Fail in its own words", inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
    async ({ text }) => ({ content: [{ type: "text", text: text === "leak" ? "no postgres://orders:hunter2hunter2@10.1.2.3:5432/orders" : text }], isError: true }));
server.registerTool("no_fit", { description: "Return what does not fit", inputSchema: { customer }, outputSchema: { count: z.number() }, annotations: { readOnlyHint: true } },
    async () => ({ content: [], structuredContent: { count: "PRIVATE" } }));
const leak = "no postgres://orders:hunter2hunter2@10.1.2.3:5432/orders", resource = { type: "resource", resource: { uri: "orders://1", text: leak } };
server.registerTool("own_document", { description: "Fail with a document", outputSchema: { reason: z.array(z.string()) }, annotations: { readOnlyHint: true } },
    async () => ({ content: [{ type: "text", text: "It is closed." }, resource], structuredContent: { reason: ["It is closed.", leak] }, isError: true }));
for (const [name, code, message] of [["dump", 1, "PRIVATE -h db7 failed"], ["remote", 14, "PRIVATE is away"], ["refused", -32002, "It is refused."]])
    server.registerPrompt(name, { description: "Fail" }, async () => {
        throw Object.assign(new Error(message), { code, data: { trace: [leak] } });
    });
server.registerResource("orders", "orders://all", { description: "All orders" }, async () => {
    throw new Error("connect ECONNREFUSED postgres://orders:hunter2hunter2@10.1.2.3:5432/orders");
});
await server.connect(new StdioServerTransport());
