// The echo tool on the official TypeScript server, as its documentation shows it.
//
//     node sdk_server.mjs NODE_MODULES
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.argv[2], "x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = await load("zod");

const server = new McpServer({ name: "echo", version: "1.0" });
server.registerTool(
    "echo",
    {
        description: "Say it again",
        inputSchema: { text: z.string().min(1).max(1000) },
        outputSchema: { text: z.string() },
    },
    async ({ text }) => ({
        content: [{ type: "text", text: JSON.stringify({ text }) }],
        structuredContent: { text },
    }),
);
await server.connect(new StdioServerTransport());
