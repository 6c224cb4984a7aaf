"use strict";
// Fastify 5: its handlers of errors and of paths that it does not have.

const { finished } = require("node:stream");
const { settingsOf, finish, recordLate, notFound } = require("./answer.cjs");

/* Options for fastify(): ajv names all fields that are wrong, not the first alone. */
function options(own = {}) {
    const ajv = own.ajv ?? {};
    return { ...own, ajv: { ...ajv, customOptions: { allErrors: true, ...ajv.customOptions } } };
}

const escaped = (text) => text.replace(/[\\^$.|?+()[\]{}]/g, "\\$&").replace(/\*+/g, ".*");

// `/users/:id/files/*` as a pattern. From its first parameter on, a segment matches any text, and its rules do not count: several repetitions in one
// segment (`/:from-:to`) would let a long path take minutes. A slash at the end is optional.
function patternOf(url) {
    const segments = url.split("/").map((segment) => {
        const parameter = segment.indexOf(":");
        return parameter < 0 ? escaped(segment) : `${escaped(segment.slice(0, parameter))}[^/]+`;
    });
    return new RegExp(`^${segments.join("/")}/?$`);
}

class Routes {
    constructor() {
        this.known = new Map();
    }

    add({ method, url }) {
        const methods = this.known.get(url)?.methods ?? new Set();
        for (const one of [method].flat()) methods.add(one);
        if (url !== "*" && url !== "/*") this.known.set(url, { pattern: patternOf(url), methods });
    }

    methodsAt(path) {
        const found = new Set();
        for (const { pattern, methods } of this.known.values())
            if (pattern.test(path)) for (const method of methods) found.add(method);
        return [...found].sort();
    }
}

/* A hook `onSend` that fails while a failure is sent: Fastify would send the text of its error. Then this response is written without hooks. */
function catchLast(reply, settings) {
    const send = reply.send;
    reply.send = (payload) => {
        if (!(payload instanceof Error)) return send.call(reply, payload);
        const { status, headers, text } = finish(payload, settings);
        reply.hijack();
        if (reply.raw.headersSent) reply.raw.destroy();
        else reply.raw.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) }).end(text);
        return reply;
    };
}

/* The same pieces; `lost` gets the error that ends them. */
function watchedPieces(source, lost) {
    const reader = source.getReader();
    return new ReadableStream({
        async pull(controller) {
            try {
                const { done, value } = await reader.read();
                if (done) controller.close();
                else controller.enqueue(value);
            } catch (error) {
                lost(error);
                throw error;
            }
        },
        cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 });
}

/* A stream that fails while it is sent: Fastify cuts the connection and calls no handler. A response that is destroyed was left by its caller. */
function watchPayload(request, reply, payload, done) {
    const lost = (error) => {
        if (reply.raw.headersSent && !reply.raw.destroyed) recordLate(error);
    };
    if (payload && typeof payload === "object") {
        if (typeof payload.pipe === "function") finished(payload, { readable: true, writable: false }, (error) => error && lost(error));
        else if (typeof payload.getReader === "function" && !payload.locked) return done(null, watchedPieces(payload, lost));
    }
    return done(null, payload);
}

function fastify(app, given) {
    const settings = settingsOf(given), routes = new Routes();
    const answer = (error, request, reply) => {
        const sent = () => ({ url: request.raw.url, query: request.query, params: request.params, body: request.body, headers: request.headers });
        const { status, headers, text } = finish(error, settings, sent);
        for (const name of ["content-encoding", "content-language", "content-range", "etag", "last-modified"]) reply.removeHeader(name);
        catchLast(reply, settings);
        return reply.code(status).headers(headers).serializer((payload) => payload).send(text);
    };
    app.addHook("onRoute", (route) => routes.add(route));
    app.addHook("onSend", watchPayload);
    app.setErrorHandler(answer);
    app.setNotFoundHandler((request, reply) => {
        const path = request.raw.url.split("?")[0], allowed = routes.methodsAt(path);
        return answer(notFound(request.method, path, allowed.includes(request.method) ? [] : allowed), request, reply);
    });
    return app;
}
fastify.options = options;

module.exports = { fastify };
