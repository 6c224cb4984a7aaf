"use strict";
// Incidents: the private record of a failure, for the operator. Its id is all that a caller gets of it.

const { textOf, jsonOf, UNREADABLE } = require("./values.cjs");

const MOST_CAUSES = 16;

// One line of JSON on standard error.
const toConsole = (record) => console.error(JSON.stringify(record));
let sink = toConsole;

/* Hand records to another function; without one they go to standard error again. */
function setSink(next) {
    if (next !== undefined && next !== null && typeof next !== "function") throw new TypeError("The sink must be a function of a record.");
    sink = next ?? toConsole;
}

function read(object, name) {
    try {
        return object[name];
    } catch {
        return UNREADABLE;
    }
}

const optional = (value) => value === undefined || value === null ? undefined : textOf(value);
const plain = (value) => value === undefined ? undefined : JSON.parse(jsonOf(value) ?? "null");

// What an error names as its causes: `cause`, and the `errors` of an AggregateError.
function namedBy(error) {
    const named = [read(error, "cause")], errors = read(error, "errors");
    try {
        if (Array.isArray(errors)) for (let i = 0; i < Math.min(errors.length, MOST_CAUSES); i++) named.push(read(errors, i));
    } catch { /* a Proxy */ }
    return named.filter((cause) => cause !== undefined && cause !== null);
}

// What was thrown without being an error.
const MOST_SHOWN = 4096;
const shown = (value) => (jsonOf(value) ?? textOf(value)).slice(0, MOST_SHOWN);

function causesOf(error) {
    const causes = [], seen = new Set([error]), waiting = namedBy(error);
    while (waiting.length && causes.length < MOST_CAUSES) {
        const cause = waiting.shift();
        if (seen.has(cause)) continue;
        seen.add(cause);
        const isObject = typeof cause === "object" || typeof cause === "function";
        causes.push(isObject
            ? { type: optional(read(cause, "name")) ?? "Object", message: optional(read(cause, "message")) ?? shown(cause), stack: optional(read(cause, "stack")) }
            : { type: typeof cause, message: textOf(cause) });
        if (isObject) waiting.push(...namedBy(cause));
    }
    return causes;
}

// The guard may have replaced these, so the record has them as they were.
const replacedParts = (m) => ({ fields: plain(m.fields), reason: optional(m.reason), suggestion: optional(m.suggestion) });

/* The record of a failure that went out as `m`, an incident. A sink that throws does not harm the response. */
function recordIncident(m, replaced) {
    const record = {
        id: m.incident, time: new Date().toISOString(), code: m.code, message: textOf(m.message), status: m.status,
        notes: plain(m.notes), context: plain(m.context), stack: optional(read(m, "stack")), causes: causesOf(m), replaced,
        ...replaced ? replacedParts(m) : undefined,
    };
    try {
        const done = sink(record);
        if (done && typeof done.then === "function") done.then(undefined, () => {});
    } catch { /* the sink is the operator's */ }
    return record;
}

module.exports = { setSink, recordIncident };
