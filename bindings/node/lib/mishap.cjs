"use strict";
// The class Mishap, and the functions for documents.

const { native, version, codes, dialects, categories } = require("./native.cjs");

// What lib/values.cjs does is needed by few mishaps, so it is loaded by the first of them.
let values;
const valuesLoaded = () => values || (values = require("./values.cjs"));

// The numbers of node_part in src/taken.h.
const TELL = 0, TELL_JSON = 1, SUGGESTION = 2, DOCS = 3, REASON = 4, RETRYABLE = 5, RETRY_AFTER = 6, INCIDENT = 7, CATEGORY = 8,
    FIELD = 9, OF_FIELD = 10, OF_FIELD_JSON = 11;
const OF_FIELDS = ["expected", "actual", "min", "max"];

function unknownCode(code) {
    const name = typeof code === "string" ? code : valuesLoaded().textOf(code);
    const near = native.nearest(name);
    return new TypeError(`Unknown code ${JSON.stringify(name)}.${near ? ` Did you mean ${near}?` : ""}`);
}

function dialectOf(name) {
    const found = dialects.get(name);
    if (!found) throw new TypeError(`Unknown dialect ${JSON.stringify(String(name))}. The dialects are ${[...dialects.keys()].join(", ")}.`);
    return found;
}

function documentOf(document) {
    if (typeof document === "string" || document instanceof Uint8Array) return document;
    throw new TypeError("The document must be a string, a Buffer or a Uint8Array.");
}

function readOptions(m, row, options) {
    if (options === null || typeof options !== "object") throw new TypeError("The options of a Mishap must be an object.");
    const { context, fields, notes, cause, reason, suggestion, docs, retryable, retryAfter, incident, category } = options;
    if (context !== undefined) m.context = context;
    if (fields !== undefined) m.fields = fields;
    if (notes !== undefined) m.notes = notes;
    if (cause !== undefined) m.cause = cause;
    if (reason !== undefined) m.reason = reason;
    if (suggestion !== undefined) m.suggestion = suggestion;
    if (docs !== undefined) m.docs = docs;
    if (category !== undefined && category !== row.category) {
        if (!categories.includes(category)) throw new TypeError(`Unknown category ${JSON.stringify(String(category))}. The categories are ${categories.join(", ")}.`);
        m.category = category;
        m.retryable = false;
    }
    if (retryAfter !== undefined) {
        const seconds = Number(retryAfter); // a BigInt, too
        if (!(seconds >= 0 && seconds < Infinity)) throw new TypeError("retryAfter must be a number of seconds.");
        m.retryAfter = seconds;
        m.retryable = true;
    }
    if (retryable !== undefined) m.retryable = Boolean(retryable);
    if (incident !== undefined) m.incident = incident;
}

/*
 * It is an Error by its prototype. It is not made by Error's constructor, which walks the stack: that would take ten times as long as all the
 * rest. A masked failure, which an operator has to find, has a stack; so have all after `Mishap.captureStacks = true`.
 */
class Mishap {
    constructor(code, message, options) {
        const row = codes.get(code);
        if (row === undefined) throw unknownCode(code);
        this.code = code;
        this.message = message === undefined || message === null ? row.message
            : typeof message === "string" ? message : valuesLoaded().textOf(message);
        this.context = undefined;
        this.fields = undefined;
        this.reason = undefined;
        this.suggestion = row.suggestion;
        this.docs = row.docs;
        this.retryable = row.retryable;
        this.retryAfter = row.retryAfter;
        this.incident = undefined;
        this.category = row.category;
        this.notes = undefined;
        this.cause = undefined;
        if (options !== undefined) readOptions(this, row, options);
        if (row.masked || Mishap.captureStacks) Error.captureStackTrace(this, new.target);
    }

    get name() { return "Mishap"; }
    set name(name) { Object.defineProperty(this, "name", { value: name, writable: true, configurable: true }); }

    get stack() { return `${this.name} [${this.code}]: ${this.message}`; }
    set stack(stack) { Object.defineProperty(this, "stack", { value: stack, writable: true, configurable: true }); }

    get status() { return rowOf(this).status; }
    get exitCode() { return rowOf(this).exitCode; }
    get title() { return rowOf(this).title; }
    get masked() { return rowOf(this).masked; }

    render(dialect) {
        const chosen = dialect === undefined ? PROBLEM : dialectOf(dialect);
        return renderQuickly(this, chosen) || renderParts(this, chosen);
    }

    // The public side as an object, so that JSON.stringify shows nothing private.
    toJSON() { return JSON.parse(this.render("canonical")); }

    [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
        const shown = {};
        for (const name of ["context", "fields", "reason", "incident", "notes", "cause"])
            if (this[name] !== undefined) shown[name] = this[name];
        return Object.keys(shown).length && inspect ? `${this.stack} ${inspect(shown, options)}` : this.stack;
    }
}
Object.setPrototypeOf(Mishap.prototype, Error.prototype);
Object.setPrototypeOf(Mishap, Error);
Mishap.captureStacks = false;

const PROBLEM = dialects.get("problem");

const rowOf = (m) => codes.get(m.code) || foreignRow(m);

/* The document of a mishap that has nothing but a message and a few plain values; undefined if it has more. */
function renderQuickly(m, dialect) {
    const row = codes.get(m.code);
    if (row === undefined || m.fields !== undefined || m.reason !== undefined || m.incident !== undefined ||
        m.suggestion !== row.suggestion || m.docs !== row.docs || m.retryable !== row.retryable || m.retryAfter !== row.retryAfter ||
        m.category !== row.category)
        return undefined;
    const message = row.masked || m.message === row.message ? undefined : m.message;
    const { context } = m;
    if (context === undefined) return native.raise(dialect.index, row.index, message);
    try {
        const parent = Object.getPrototypeOf(context);
        if (parent !== Object.prototype && parent !== null) return undefined;
        const keys = Object.keys(context);
        if (keys.length > 2) return undefined;
        const [first, second] = keys;
        if (keys.length === 0) return native.raise(dialect.index, row.index, message);
        const one = context[first];
        if (!isQuick(one)) return undefined;
        if (keys.length === 1) return native.raise(dialect.index, row.index, message, first, one);
        const two = context[second];
        return isQuick(two) ? native.raise(dialect.index, row.index, message, first, one, second, two) : undefined;
    } catch {
        return undefined; // a Proxy or a getter
    }
}

const isQuick = (value) => typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null;

function putValue(parts, writer, [plain, json], key, value) {
    if (isQuick(value) || typeof value === "bigint" && BigInt.asIntN(64, value) === value) parts.push(plain, key, value);
    else {
        const text = valuesLoaded().jsonOf(value, writer);
        if (text !== undefined) parts.push(json, key, text);
    }
}

function putField(parts, writer, field) {
    const { textOf, membersOf } = valuesLoaded();
    const known = new Map(membersOf(field));
    const said = known.get("message");
    parts.push(FIELD, textOf(known.get("field") ?? ""), textOf(known.get("error") ?? "invalid_value"), said === undefined ? undefined : textOf(said));
    OF_FIELDS.forEach((name, which) => {
        if (known.get(name) !== undefined) putValue(parts, writer, [OF_FIELD, OF_FIELD_JSON], which, known.get(name));
    });
}

const MOST_FIELDS = 100, MOST_READ = 100000;

/* The first fields, and the number of those behind them. */
function fieldsOf(fields) {
    const told = [];
    let more = 0, read = 0;
    try {
        for (const field of fields) {
            if (++read > MOST_READ) break;
            if (field === null || typeof field !== "object") continue;
            if (told.length < MOST_FIELDS) told.push(field);
            else more++;
        }
    } catch { /* no list, or a trap: then these are all */ }
    return [told, more];
}

function putFields(parts, writer, fields) {
    const [told, more] = fieldsOf(fields);
    for (const field of told) putField(parts, writer, field);
    if (more) parts.push(TELL, "more_fields", more);
}

// Everything beside the message, as node_build_parts() reads it.
function partsOf(m, row) {
    const { textOf, membersOf, Writer } = valuesLoaded(), parts = [], writer = new Writer(); // one limit for all values
    const text = (part, value) => value === undefined || value === null || parts.push(part, textOf(value));
    if (m.category !== row.category) parts.push(CATEGORY, categories.indexOf(m.category));
    if (m.context !== undefined && m.context !== null)
        for (const [key, value] of membersOf(m.context)) putValue(parts, writer, [TELL, TELL_JSON], key, value);
    if (m.fields !== undefined && m.fields !== null) putFields(parts, writer, m.fields);
    text(REASON, m.reason);
    if (m.suggestion !== row.suggestion) text(SUGGESTION, m.suggestion);
    if (m.docs !== row.docs) text(DOCS, m.docs);
    if (m.retryAfter !== row.retryAfter && m.retryAfter >= 0) parts.push(RETRY_AFTER, Math.min(Math.ceil(m.retryAfter * 1000), Number.MAX_SAFE_INTEGER));
    if (m.category !== row.category || m.retryable !== (row.retryable || m.retryAfter !== row.retryAfter)) parts.push(RETRYABLE, Boolean(m.retryable));
    text(INCIDENT, m.incident);
    return parts;
}

const messageOf = (m, row) => row.masked || m.message === row.message ? undefined : valuesLoaded().textOf(m.message);

function renderParts(m, dialect) {
    const row = codes.get(m.code);
    if (row === undefined) return renderForeign(m, dialect);
    return native.render(dialect.index, row.index, messageOf(m, row), partsOf(m, row)) || native.raise(dialect.index, row.index);
}

// ---- Codes of other programs, which only documents have --------------------------------------------

// What stands for a code that is no name at all.
const UNREADABLE = { title: "Internal error", status: 500, exitCode: 1, masked: true };

const canonicalOf = (m) => valuesLoaded().jsonOf({
    code: m.code, message: m.message, category: m.category, retryable: Boolean(m.retryable),
    retry_after_ms: m.retryAfter >= 0 ? Math.ceil(m.retryAfter * 1000) : undefined, cause: m.reason, suggestion: m.suggestion,
    docs_url: m.docs, context: m.context, fields: m.fields, incident: m.incident,
});

/* What the core takes to hold for such a code, by its category. */
function foreignRow(m) {
    const row = native.derived(canonicalOf(m));
    if (row === undefined) return UNREADABLE;
    const [, title, , , , , status, exitCode] = JSON.parse(row);
    return { title, status, exitCode, masked: false };
}

// If the code is no name, the document is that of an internal error, with the id of the incident.
const incidentOf = (m) => m.incident === undefined || m.incident === null ? [] : [INCIDENT, valuesLoaded().textOf(m.incident)];

const renderForeign = (m, dialect) =>
    native.render(dialect.index, -1, undefined, canonicalOf(m)) || native.render(dialect.index, -1, undefined, incidentOf(m)) || native.raise(dialect.index, -1);

function guardForeign(m, dialect, ...judged) {
    const text = native.guarded(dialect.index, -1, undefined, canonicalOf(m), ...judged);
    return text === undefined ? native.guarded(dialect.index, -1, undefined, incidentOf(m), ...judged) : text;
}

/* The document for a caller, with the guard over it: [text, replaced]. `sent` is a function that lists what the caller sent; it is called if
 * something was found. */
function renderGuarded(m, dialect, strict, sent) {
    const row = codes.get(m.code), message = row && messageOf(m, row), parts = row && partsOf(m, row);
    const judge = (...judged) => row ? native.guarded(dialect.index, row.index, message, parts, ...judged) : guardForeign(m, dialect, ...judged);
    let text = judge(strict);
    if (Array.isArray(text) && sent) text = judge(strict, valuesLoaded().textsOf(sent()));
    if (text === undefined) return [native.raise(dialect.index, -1), true];
    return Array.isArray(text) ? [text[0], true] : [text, false];
}

// ---- Documents ------------------------------------------------------------------------------------

/* A document that cannot be read. `findings` has all that is wrong with it. */
class ParseError extends Mishap {
    constructor(code, message, options, findings) {
        super(code, message, options);
        this.findings = findings;
    }

    get name() { return "ParseError"; }
}

// A mishap from its canonical form.
function restored(canonical, Class, ...more) {
    const { code, message, context, fields, cause, suggestion, docs_url: docs, retryable, retry_after_ms: after, incident, category } = canonical;
    const known = codes.has(code);
    const m = new Class(known ? code : "INTERNAL_ERROR", message, {}, ...more);
    if (!known) {
        m.code = code;
        delete m.stack;
    }
    return Object.assign(m, {
        context, fields, reason: cause, category, retryable, incident,
        suggestion: suggestion === undefined ? m.suggestion : suggestion, docs: docs === undefined ? m.docs : docs,
        retryAfter: after === undefined ? undefined : after / 1000,
    });
}

function refuse(failure, document, dialect) {
    const findings = native.verify(dialect.index, document, false);
    return restored(JSON.parse(failure), ParseError, typeof findings === "string" ? JSON.parse(findings) : []);
}

function translated(document, from, to) {
    const text = native.translate(from.index, to.index, document);
    if (typeof text === "string") return text;
    if (text === undefined) throw new RangeError("The document is too large.");
    throw refuse(text[0], document, from);
}

const parse = (document, dialect = "problem") =>
    restored(JSON.parse(translated(documentOf(document), dialectOf(dialect), dialects.get("canonical"))), Mishap);

// Programs translate between the same two dialects again and again.
let lastFrom = PROBLEM, lastTo = PROBLEM;

function translate(document, from, to) {
    if (from !== lastFrom.name) lastFrom = dialectOf(from);
    if (to !== lastTo.name) lastTo = dialectOf(to);
    return translated(documentOf(document), lastFrom, lastTo);
}

function verify(document, dialect = "problem", { strict = false } = {}) {
    const findings = native.verify(dialectOf(dialect).index, documentOf(document), Boolean(strict));
    if (typeof findings === "string") return JSON.parse(findings);
    throw restored(JSON.parse(findings[0]), Mishap);
}

function guard(text, { strict = false, known = [] } = {}) {
    const guarded = native.guard(documentOf(text), Boolean(strict), valuesLoaded().textsOf(known));
    if (typeof guarded === "string") return guarded;
    throw restored(JSON.parse(guarded[0]), Mishap);
}

function describe(code) {
    const row = codes.get(code);
    if (!row) throw unknownCode(code);
    const { index, ...rest } = row;
    return rest;
}

module.exports = {
    Mishap, ParseError, parse, translate, verify, guard, describe, version, renderGuarded, dialectOf, textsOf: (...list) => valuesLoaded().textsOf(...list),
    newIncident: () => native.incident(),
    forStatus: (status) => native.status(status),
    codes: Object.freeze(Object.fromEntries(codes.names.map((name) => [name, name]))),
    dialects: Object.freeze([...dialects.keys()]),
};
