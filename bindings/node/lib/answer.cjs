"use strict";
// A failure as the response of an HTTP server.

const { Mishap, renderGuarded, dialectOf, newIncident } = require("./mishap.cjs");
const { toMishap } = require("./convert.cjs");
const { recordIncident } = require("./incident.cjs");
const { textOf } = require("./values.cjs");

/* The options of every adapter. */
function settingsOf({ dialect = "problem", strict = false } = {}) {
    const chosen = dialectOf(dialect);
    if (!chosen.json) throw new TypeError(`The dialect ${chosen.name} is not JSON: choose another one for responses.`);
    return { dialect: chosen, strict: Boolean(strict) };
}

/* What the caller gets: status, header fields, text, and the id of the incident. A failure of ours, and one that the guard had to change, becomes
 * an incident. `sent` is a function that tells the parts of the request. An error that cannot be read (a getter that throws, a Proxy) is a
 * failure of ours, too: nothing may leave here by `throw`, because the framework would show it. */
function finish(error, settings, sent) {
    try {
        return finished(error, settings, sent);
    } catch (failure) {
        return finished(new Mishap("INTERNAL_ERROR", undefined, { cause: error, notes: { failure } }), settings);
    }
}

function finished(error, settings, sent) {
    const m = toMishap(error, sent ?? (() => ({}))), { status } = m;
    let replaced = false, text;
    if (!Number.isInteger(status) || status < 400 || status > 599) throw new RangeError(`${textOf(status)} is no status of a failure.`);
    if (status >= 500) withIncident(m);
    [text, replaced] = renderGuarded(m, settings.dialect, settings.strict, sent);
    if (replaced && m.incident === undefined) {
        withIncident(m);
        [text] = renderGuarded(m, settings.dialect, settings.strict, sent);
    }
    const headers = headersOf(m, settings), { incident } = m;
    if (status >= 500 || replaced) recordIncident(m, replaced);
    return { status, headers, text, incident };
}

/* A failure behind the beginning of a response: the caller cannot be told, but the operator can. */
function recordLate(error) {
    try {
        const m = toMishap(error);
        withIncident(m);
        recordIncident(m, false);
    } catch (failure) {
        recordIncident(new Mishap("INTERNAL_ERROR", undefined, { cause: error, notes: { failure }, incident: newIncident() }), false);
    }
}

// An error that is thrown again is still the same incident.
function withIncident(m) {
    if (m.incident === undefined) m.incident = newIncident();
}

const NAMES = /^(allow|retry-after|www-authenticate|proxy-authenticate|accept|accept-patch|accept-post|upgrade|content-range)$/i;

/* The header fields of a response, beside its length. Those of the framework's own error stay; those of a private cause do not go out. */
function headersOf(m, settings) {
    const headers = { "content-type": settings.dialect.mediaType };
    try {
        const own = m.headers;
        if (own && typeof own === "object")
            for (const [name, value] of Object.entries(own))
                if (NAMES.test(name) && typeof value === "string" && !/[^\t\x20-\x7e\x80-\xff]/.test(value)) headers[name.toLowerCase()] = value;
    } catch { /* a Proxy that throws */ }
    if (m.retryAfter >= 0 && !headers["retry-after"]) headers["retry-after"] = String(Math.min(Math.ceil(m.retryAfter), Number.MAX_SAFE_INTEGER));
    return headers;
}

/* For a method that the path does not have, or a path that nothing has. */
function notFound(method, path, allowed) {
    if (allowed.length === 0) return new Mishap("NOT_FOUND", "There is nothing at this path.", { context: { path } });
    const m = new Mishap("METHOD_NOT_ALLOWED", `The method ${method} is not allowed here.`, { context: { path, allowed } });
    Object.defineProperty(m, "headers", { value: { allow: allowed.join(", ") } });
    return m;
}

module.exports = { settingsOf, finish, recordLate, notFound };
