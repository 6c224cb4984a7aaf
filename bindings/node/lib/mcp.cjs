"use strict";
// The TypeScript SDK of the Model Context Protocol: a tool that fails answers a result with isError, and any other request a JSON-RPC error.

const { Mishap, guard, newIncident } = require("./mishap.cjs");
const { settingsOf, finish } = require("./answer.cjs");
const { toMishap } = require("./convert.cjs");
const { recordIncident } = require("./incident.cjs");
const { textOf, jsonOf } = require("./values.cjs");

const resultOf = (error, settings, sent) => {
    const { incident, text } = finish(error, settings, sent);
    const result = { content: [{ type: "text", text }], isError: true };
    if (incident !== undefined) result._meta = { "dev.mishap/incident": textOf(incident) };
    return result;
};

// The method that a schema of the SDK is for, of zod 3 and of zod 4.
function methodOf(schema) {
    const literal = schema && (schema.shape ?? schema._zod?.def?.shape ?? schema._def?.shape?.())?.method;
    return literal && (literal.value ?? literal._def?.value ?? literal._zod?.def?.values?.[0] ?? literal._def?.values?.[0]);
}

class Tools {
    constructor(server, settings) {
        Object.assign(this, { server, settings, wrapped: new WeakSet(), mark: `${newIncident()} ` });
        const make = server.createToolError;
        if (typeof make === "function") server.createToolError = (message) => make.call(server, this.mark + textOf(message));
    }

    /* The text of a result that the SDK made by itself; undefined: a tool made it. The SDK copies results, so the text has to tell. */
    saidBySdk(result) {
        const said = result && result.isError === true && Array.isArray(result.content) && result.content[0] ? result.content[0].text : undefined;
        if (typeof said !== "string") return undefined;
        if (said.startsWith(this.mark)) return said.slice(this.mark.length);
        return this.server.createToolError ? undefined : /^MCP error -32\d{3}: /.test(said) ? said : undefined;
    }

    /* A handler whose failures are results. What it returns is its own matter, but for what leaks out of an error. */
    wrap(handler) {
        if (typeof handler !== "function" || this.wrapped.has(handler)) return handler;
        const tools = this;
        async function wrapped(...parameters) {
            const sent = parameters.slice(0, -1); // behind the arguments stands what the SDK adds
            try {
                const result = await handler.apply(this, parameters);
                return result && result.isError === true ? guardResult(result, tools.settings, sent) : result;
            } catch (error) {
                if (isUrlElicitation(error)) throw error;
                return resultOf(error, tools.settings, () => ({ body: sent[0] }));
            }
        }
        this.wrapped.add(wrapped);
        return wrapped;
    }

    /* What the SDK answers by itself: unknown tools, arguments that do not fit, results that do not fit. */
    async answer(request, result) {
        const said = this.saidBySdk(result);
        if (said === undefined) return result;
        const { name, arguments: given } = request.params;
        const known = this.server._registeredTools ?? {};
        const tool = Object.hasOwn(known, name) ? known[name] : undefined, sent = () => ({ body: request.params });
        if (tool && tool.inputSchema && /Invalid arguments|Input validation/i.test(said)) {
            const parsed = await parsedBy(tool.inputSchema, given ?? {});
            if (parsed && !parsed.success) return resultOf(toMishap(parsed.error), this.settings, sent);
        }
        if (!tool || tool.enabled === false)
            return resultOf(new Mishap("METHOD_NOT_FOUND", `There is no tool ${textOf(name)}.`), this.settings, sent);
        return resultOf(toMishap(new Error(said)), this.settings, sent);
    }
}

/* The number of an error of the protocol: those that JSON-RPC reserves. Any other number, such as the exit status of a command, says nothing. */
function codeOf(error) {
    try {
        const isOfProtocol = error instanceof Error && !(error instanceof Mishap) && Number.isInteger(error.code) && error.code >= -32768 && error.code <= -32000;
        return isOfProtocol ? error.code : undefined;
    } catch {
        return undefined; // a Proxy, or a getter that throws
    }
}

const isUrlElicitation = (error) => codeOf(error) === -32042;

async function parsedBy(schema, given) {
    try {
        return await (schema.safeParseAsync ? schema.safeParseAsync(given) : schema.safeParse(given));
    } catch {
        return undefined;
    }
}

/* A value with every text in it guarded. `guarded` counts what was replaced. */
function guardTexts(value, guarded) {
    if (typeof value === "string") {
        const text = guard(value, guarded);
        if (text !== value) guarded.replaced.push(value);
        return text;
    }
    if (Array.isArray(value)) return value.map((item) => guardTexts(item, guarded));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, guardTexts(item, guarded)]));
}

const plain = (value) => value === undefined ? undefined : JSON.parse(jsonOf(value) ?? "null");

function guardBlock(block, guarded) {
    if (!block || typeof block !== "object") return block;
    if (typeof block.text === "string") return { ...block, text: guardTexts(block.text, guarded) };
    const { resource } = block;
    if (!resource || typeof resource.text !== "string") return block;
    return { ...block, resource: { ...resource, text: guardTexts(resource.text, guarded) } };
}

/* A failure in the words of the tool. What had to be replaced becomes an incident. */
function guardResult(result, { strict }, known) {
    const guarded = { strict, known, replaced: [] }, content = Array.isArray(result.content) ? result.content.map((block) => guardBlock(block, guarded)) : result.content;
    const structuredContent = guardTexts(plain(result.structuredContent), guarded);
    if (!guarded.replaced.length) return result;
    const m = new Mishap("RUNTIME_ERROR", guarded.replaced.join("\n"), { incident: newIncident() });
    recordIncident(m, true);
    return { ...result, content, ...structuredContent === undefined ? undefined : { structuredContent }, _meta: { "dev.mishap/incident": m.incident, ...result._meta } };
}

/* The error of any other request. One of the SDK has a number of JSON-RPC, and its text is for the caller. */
function errorOf(error, settings, sent) {
    const number = codeOf(error);
    if (number !== undefined) {
        try {
            return guardError(error, number, settings, sent);
        } catch { /* it cannot be read */ }
    }
    const known = () => ({ query: sent, params: sent && sent.params, body: sent && sent.params && sent.params.arguments });
    const { code, message, data } = JSON.parse(finish(error, { ...settings, dialect: settings.rpc }, known).text);
    return Object.assign(new Error(message), { code, data });
}

function guardError(error, code, { strict }, sent) {
    const guarded = { strict, known: sent, replaced: [] };
    const message = guardTexts(textOf(error.message), guarded), data = guardTexts(plain(error.data), guarded);
    if (!guarded.replaced.length) return error;
    const m = new Mishap("RUNTIME_ERROR", guarded.replaced.join("\n"), { incident: newIncident(), cause: error });
    recordIncident(m, true);
    const isPlain = data === undefined || typeof data === "object" && data !== null && !Array.isArray(data);
    return Object.assign(new Error(message), { code, data: isPlain ? { ...data, incident: m.incident } : data });
}

/* All handlers of requests, those that are there and those that will be. The SDK keeps them behind its check of a request, in a Map: around that
 * a request that does not fit its schema is told right, too. */
function wrapRequests(inner, wrapRequest) {
    const kept = () => inner._requestHandlers instanceof Map ? inner._requestHandlers : undefined;
    const set = inner.setRequestHandler;
    inner.setRequestHandler = function setRequestHandler(schema, handler) {
        const method = typeof schema === "string" ? schema : methodOf(schema);
        if (!kept()) return set.call(this, schema, wrapRequest(method, handler));
        set.call(this, schema, handler);
        if (kept().has(method)) kept().set(method, wrapRequest(method, kept().get(method)));
    };
    for (const [method, handler] of kept() ?? []) kept().set(method, wrapRequest(method, handler));
}

/* Over standard input and output the SDK does not answer what it cannot read; over HTTP it does. */
function answerMalformed(inner) {
    const connect = inner.connect;
    inner.connect = async function connected(transport) {
        await connect.call(this, transport);
        if (!transport || !transport._stdin || !transport._stdout) return;
        const told = transport.onerror;
        transport.onerror = (error) => {
            const isSyntax = error instanceof SyntaxError;
            if (isSyntax || error && /ZodError$/.test(textOf(error.name))) {
                const message = isSyntax ? "The message is not valid JSON." : "The message is no request of JSON-RPC 2.0.";
                const sent = transport.send({ jsonrpc: "2.0", id: null, error: { code: isSyntax ? -32700 : -32600, message } });
                if (sent && typeof sent.then === "function") sent.then(undefined, () => {});
            }
            if (told) told.call(transport, error);
        };
    };
}

function mcp(server, options) {
    const settings = { ...settingsOf({ dialect: "tool-result", ...options }), rpc: settingsOf({ dialect: "json-rpc" }).dialect };
    const tools = new Tools(server, settings), inner = server.server;
    for (const name of ["registerTool", "tool"]) {
        const register = server[name];
        if (typeof register !== "function") continue;
        server[name] = function registered(...parameters) {
            if (typeof parameters.at(-1) === "function") parameters.push(tools.wrap(parameters.pop()));
            return register.apply(this, parameters);
        };
    }
    for (const tool of Object.values(server._registeredTools ?? {}))
        for (const name of ["handler", "callback"]) if (typeof tool[name] === "function") tool[name] = tools.wrap(tool[name]);

    const wrapRequest = (method, handler) => async (request, extra) => {
        try {
            const result = await handler(request, extra);
            return method === "tools/call" ? await tools.answer(request, result) : result;
        } catch (error) {
            throw errorOf(error, settings, request);
        }
    };
    wrapRequests(inner, wrapRequest);
    answerMalformed(inner);
    return server;
}

module.exports = { mcp };
