"use strict";
// Hono 4: its handlers of errors and of paths that it does not have, the hook of its zod validator, and failures while a response is sent.

const { settingsOf, finish, recordLate, notFound } = require("./answer.cjs");
const { toMishap, malformed } = require("./convert.cjs");

// The methods of the routes that match a path. Middleware is registered for all of them.
function allowedAt(app, path) {
    const found = new Set();
    for (const method of new Set(app.routes.map((route) => route.method))) {
        if (method === "ALL") continue;
        const [handlers] = app.router.match(method, path);
        if (handlers.some(([entry]) => Array.isArray(entry) && entry[1] && entry[1].method === method)) found.add(method);
    }
    if (found.has("GET")) found.add("HEAD");
    return [...found].sort();
}

const isException = (error) => error instanceof Error && typeof error.getResponse === "function" && Number.isInteger(error.status);

// The body that c.req.json() could not read is kept by Hono.
async function isMalformed(error, c) {
    if (isException(error) && error.status === 400 && /^Malformed JSON/.test(error.message)) return true;
    if (!(error instanceof SyntaxError) || !("text" in (c.req.bodyCache ?? {}))) return false;
    try {
        JSON.parse(await c.req.text());
        return false;
    } catch {
        return true;
    }
}

function headersOfException(error) {
    const own = error.res && error.res.headers;
    return own ? Object.fromEntries(own) : undefined;
}

async function sentTo(c) {
    const sent = {};
    try {
        Object.assign(sent, { url: c.req.url, query: c.req.query(), params: c.req.param(), headers: c.req.header() });
        const { text, parsedBody } = c.req.bodyCache ?? {};
        sent.body = await parsedBody;
        if (text !== undefined) sent.text = await c.req.text();
        sent.body ??= JSON.parse(sent.text);
    } catch { /* there is no body, or it is no JSON */ }
    return sent;
}

/* The error as the adapter takes it. */
async function taken(error, c) {
    try {
        if (await isMalformed(error, c)) return malformed(error);
        if (isException(error) && error.headers === undefined) error.headers = headersOfException(error);
    } catch { /* an error that cannot be read or changed */ }
    return error;
}

// Errors that only end a stream: what led to them has its record.
const ends = new WeakSet();

/* A body that is a stream may fail while Node's server sends it. The server then destroys the response with the error, which no handler sees. */
function watchOutgoing(outgoing) {
    if (!outgoing || typeof outgoing.once !== "function") return;
    holdBackTexts(outgoing);
    outgoing.once("close", () => {
        const error = outgoing.errored ?? (outgoing.stream && outgoing.stream.errored) ?? undefined;
        if (error !== undefined && !ends.has(error)) recordLate(error);
    });
}

/* If a stream fails before its first piece, or with null, 0 or another value that is false, Node's server writes the text of the error behind what was
 * sent, ends the response as if it were complete, and only then destroys it. So such a text waits until the server has done what it does at once: if
 * the response is destroyed by then, the text is not sent, and the response is cut. */
function holdBackTexts(outgoing) {
    const { end } = outgoing;
    outgoing.end = function ended(chunk, ...more) {
        if (typeof chunk !== "string" || !chunk.startsWith("Error: ")) return end.call(this, chunk, ...more);
        queueMicrotask(() => {
            if (!this.destroyed && !(this.stream && this.stream.destroyed)) end.call(this, chunk, ...more);
        });
        return this;
    };
}

const isThenable = (value) => value !== null && typeof value === "object" && typeof value.then === "function";

/* Hono gives errors to its handler, but not other values that are thrown: the server would answer those with an empty body. */
function serveAll(app, answer) {
    const fetch = app.fetch;
    app.fetch = (request, env, ...more) => {
        const failed = (thrown) => answer(thrown, request.method, () => ({ url: request.url, headers: Object.fromEntries(request.headers) }));
        watchOutgoing(env && env.outgoing);
        try {
            const response = fetch(request, env, ...more);
            return isThenable(response) ? response.then(undefined, failed) : response;
        } catch (thrown) {
            return failed(thrown);
        }
    };
}

function hono(app, options) {
    const settings = settingsOf(options);
    const answer = (error, method, sent) => {
        const { status, headers, text } = finish(error, settings, sent);
        return new Response(method === "HEAD" ? null : text, { status, headers });
    };
    const answerIn = async (error, c) => {
        const sent = await sentTo(c);
        return answer(error, c.req.method, () => sent);
    };
    app.onError(async (error, c) => answerIn(await taken(error, c), c));
    app.notFound((c) => {
        const allowed = allowedAt(app, c.req.path);
        return answerIn(notFound(c.req.method, c.req.path, allowed.includes(c.req.method) ? [] : allowed), c);
    });
    serveAll(app, answer);
    return app;
}

/* The function of stream(), streamText() or streamSSE(): stream(c, mishap.hono.stream(async (stream) => …)). Without it Hono prints what the function
 * throws, and ends the response as if it were complete. With it the failure has a record, and the connection is cut. */
hono.stream = (work) => async function watched(stream, ...more) {
    try {
        return await work.call(this, stream, ...more);
    } catch (error) {
        if (stream.aborted) return undefined; // the caller has gone
        recordLate(error);
        const end = new Error("The response could not be completed.");
        ends.add(end);
        await (stream.writer ?? stream.writable).abort(end);
        return undefined;
    }
};

/* The third argument of zValidator("json", schema, mishap.hono.invalid): without it the validator answers by itself. */
hono.invalid = (result) => {
    if (!result.success) throw toMishap(result.error);
};

module.exports = { hono };
