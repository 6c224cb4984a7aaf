"use strict";
// Express 5 (and 4): the last two handlers of an application, for paths that it does not have and for errors.

const { settingsOf, finish, recordLate, notFound } = require("./answer.cjs");

const STALE = ["content-encoding", "content-language", "content-range", "content-length", "etag", "last-modified", "transfer-encoding"];

function send(response, { status, headers, text }) {
    for (const name of STALE) response.removeHeader(name);
    for (const name in headers) response.setHeader(name, headers[name]);
    response.setHeader("content-length", Buffer.byteLength(text));
    response.statusCode = status;
    response.statusMessage = undefined;
    response.end(text);
}

const DEEPEST = 16;

// The methods and parameters of all routes that match a path, also those of routers inside.
function readRoutes(stack, path, found, depth) {
    if (!Array.isArray(stack) || depth > DEEPEST) return;
    for (const layer of stack) {
        if (!layer || typeof layer.match !== "function") continue;
        const inside = !layer.route && layer.handle && layer.handle.stack;
        if (!layer.route && !inside) continue;
        const before = [layer.params, layer.path, layer.keys];
        try {
            const matched = layer.match(path);
            if (!matched) continue;
            const { params, path: start } = matched === true ? layer : matched; // the layer keeps them up to 2.2 of the package router
            Object.assign(found.params, params);
            if (layer.route) for (const method of Object.keys(layer.route.methods)) found.methods.add(method === "_all" ? "*" : method.toUpperCase());
            else readRoutes(inside, path.slice((start ?? "").length) || "/", found, depth + 1);
        } catch { /* a path that cannot be decoded */ } finally {
            [layer.params, layer.path, layer.keys] = before;
        }
    }
}

function routesAt(request) {
    const found = { methods: new Set(), params: {} };
    const router = request.app && (request.app.router ?? request.app._router);
    readRoutes(router && router.stack, `${request.baseUrl}${request.path}` || "/", found, 0);
    return found;
}

function allowedAt(request, method) {
    const { methods: found } = routesAt(request);
    if (found.has("GET")) found.add("HEAD");
    if (found.has("*") || found.has(method)) return []; // a handler has passed the request on: nothing is there
    return [...found].sort();
}

// The caller has gone while a stream was sent: that is no failure. A pipeline that ends a response itself does so with its error.
const isOfCaller = (error, request, response) => request.aborted === true && !response.errored && (error && error.code) === "ERR_STREAM_PREMATURE_CLOSE";

function express(options) {
    const settings = settingsOf(options);
    const sent = (request) => () => {
        const { originalUrl: url, query, body, headers } = request;
        return { url, query, params: { ...routesAt(request).params, ...request.params }, body, headers }; // Express has taken the parameters away
    };
    function fail(error, request, response, next) {
        if (response.headersSent) {
            if (!isOfCaller(error, request, response)) recordLate(error);
            return next(error);
        }
        send(response, finish(error, settings, sent(request)));
    }
    function mishapNotFound(request, response, next) {
        const allowed = allowedAt(request, request.method);
        if (request.method === "OPTIONS" && allowed.length) return next(); // Express has an answer of its own
        fail(notFound(request.method, request.path, allowed), request, response, next);
    }
    // eslint-disable-next-line max-params -- Express knows the handler of errors by its four parameters
    const mishapError = (error, request, response, next) => fail(error, request, response, next);
    return [mishapNotFound, mishapError];
}

module.exports = { express };
