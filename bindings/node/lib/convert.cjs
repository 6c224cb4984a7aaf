"use strict";
// Errors of frameworks and validators as mishaps.

const { Mishap, forStatus } = require("./mishap.cjs");
const { textOf } = require("./values.cjs");

const get = (object, name) => {
    try {
        return object[name];
    } catch {
        return undefined;
    }
};

// ---- Paths of fields: items[2].name ----------------------------------------------------------------

function pathOf(steps) {
    let path = "";
    for (const step of steps)
        path += typeof step === "number" || /^\d+$/.test(textOf(step)) && path ? `[${String(step)}]` : (path ? "." : "") + textOf(step);
    return path;
}

const stepsOfPointer = (pointer) => textOf(pointer ?? "").split("/").slice(1).map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"));

const TYPES = { number: "number", integer: "integer", string: "string", boolean: "boolean", object: "object", array: "array", null: "null" };

function typeOf(value) {
    if (value === null) return "null";
    if (Array.isArray(value)) return "array";
    if (value === undefined) return undefined;
    return Number.isInteger(value) ? "integer" : TYPES[typeof value] ?? typeof value;
}

// ---- ajv -------------------------------------------------------------------------------------------

function ajvField({ keyword, instancePath, params = {}, message }) {
    const steps = stepsOfPointer(instancePath), here = pathOf(steps);
    const field = (error, more) => ({ field: here || "body", error, ...more });
    const sentence = message === undefined ? undefined : `${here || "The input"} ${textOf(message)}.`;
    switch (keyword) {
    case "required":
        return { field: pathOf([...steps, params.missingProperty]), error: "field_required" };
    case "additionalProperties":
    case "unevaluatedProperties":
        return { field: pathOf([...steps, params.additionalProperty ?? params.unevaluatedProperty]), error: "unknown_field" };
    case "type":
        return field("invalid_type", { expected: Array.isArray(params.type) ? params.type.join(" or ") : params.type });
    case "minLength":
    case "minItems":
        return field("invalid_length", { min: params.limit });
    case "maxLength":
    case "maxItems":
        return field("invalid_length", { max: params.limit });
    case "minimum":
        return field("value_out_of_range", { min: params.limit });
    case "maximum":
        return field("value_out_of_range", { max: params.limit });
    case "exclusiveMinimum":
    case "exclusiveMaximum":
        return field("value_out_of_range", { message: sentence });
    case "pattern":
        return field("pattern_mismatch", { expected: params.pattern });
    case "format":
        return field("pattern_mismatch", { expected: params.format });
    case "enum":
        return field("invalid_value", { expected: params.allowedValues });
    case "const":
        return field("invalid_value", { expected: params.allowedValue });
    default:
        return field("invalid_value", { message: sentence });
    }
}

// ---- zod 3 and 4 -----------------------------------------------------------------------------------

const zodSentence = (path, text) => text === undefined ? undefined : `${path}: ${textOf(text)}`;

function zodBounds(issue, path) {
    const { minimum, maximum, origin, type, exact, inclusive, message } = issue;
    const what = origin ?? type;
    const bounds = {};
    const usable = inclusive !== false && (typeof (minimum ?? maximum) === "number" || typeof (minimum ?? maximum) === "bigint");
    if (usable && minimum !== undefined) bounds.min = minimum;
    if (usable && maximum !== undefined) bounds.max = maximum;
    if (usable && exact) bounds.min = bounds.max = minimum ?? maximum;
    const counted = ["string", "array", "set", "map", "file"].includes(what);
    return { field: path, error: counted ? "invalid_length" : "value_out_of_range", ...bounds, ...(usable ? {} : { message: zodSentence(path, message) }) };
}

// zod 3 says what it received; zod 4 says so in its sentence alone, or has the input.
const isMissing = (issue) => issue.received === "undefined" ||
    (issue.received === undefined && issue.input === undefined && /received undefined/i.test(issue.message ?? ""));

function zodField(issue) {
    const path = pathOf(issue.path ?? []) || "body";
    const { code, expected, message } = issue;
    switch (code) {
    case "invalid_type":
        if (isMissing(issue)) return [{ field: path, error: "field_required" }];
        return [{ field: path, error: "invalid_type", expected, actual: issue.received ?? typeOf(issue.input) }];
    case "too_small":
    case "too_big":
        return [zodBounds(issue, path)];
    case "unrecognized_keys":
        return (issue.keys ?? []).map((key) => ({ field: pathOf([...issue.path ?? [], key]), error: "unknown_field" }));
    case "invalid_string":
    case "invalid_format":
        return [{ field: path, error: "pattern_mismatch", expected: issue.pattern ?? issue.format ?? textOf(issue.validation ?? "") }];
    case "invalid_enum_value":
    case "invalid_value":
    case "invalid_literal":
        return [{ field: path, error: "invalid_value", expected: issue.options ?? issue.values ?? expected }];
    default:
        return [{ field: path, error: "invalid_value", message: zodSentence(path, message) }];
    }
}

const isZod = (error) => /^\$?ZodError$/.test(textOf(get(error, "name"))) && Array.isArray(get(error, "issues"));
const isAjv = (error) => Array.isArray(get(error, "validation")) || (get(error, "ajv") === true && Array.isArray(get(error, "errors")));

const invalid = (fields, cause) => new Mishap("VALIDATION_ERROR", undefined, { fields: distinct(fields), cause });

// A union may tell of one field several times.
function distinct(fields) {
    const seen = new Set();
    return fields.filter(({ field, error }) => !seen.has(`${field} ${error}`) && seen.add(`${field} ${error}`));
}

const ofZod = (error) => invalid(error.issues.flatMap(zodField), error);
const ofAjv = (error) => invalid((error.validation ?? error.errors).filter(({ keyword }) => keyword !== "if").map(ajvField), error);

// ---- Errors of the request, and of the program's own data ---------------------------------------------

const isObject = (value) => value !== null && typeof value === "object";

// Findings about a value, which cannot be about one that is missing.
const OF_VALUES = new Set(["too_small", "too_big", "not_multiple_of", "invalid_string", "invalid_format"]);

// Where the findings of a validator lie, each with `there`: true if something has to be at this place, false if nothing may be there.
const placesOfZod = (error) => error.issues.flatMap((issue) => issue.code === "unrecognized_keys"
    ? (issue.keys ?? []).map((key) => ({ steps: [...issue.path ?? [], key], there: true }))
    : [{ steps: issue.path ?? [], there: isMissing(issue) ? false : OF_VALUES.has(issue.code) || undefined }]);

const placesOfAjv = (error) => (error.validation ?? error.errors).map(({ keyword, instancePath, params = {} }) => keyword === "required"
    ? { steps: [...stepsOfPointer(instancePath), params.missingProperty], there: false }
    : { steps: stepsOfPointer(instancePath), there: true });

// A finding fits an object that has its place, or that lacks it alone. A finding about the whole fits what the caller sent.
function fitsPlace({ value: source, isSent, isWide }, { steps, there }) {
    let value = source;
    for (const [number, step] of steps.entries()) {
        if (!isObject(value)) return false;
        if (!Object.hasOwn(value, step)) return number === steps.length - 1 && (there === false || there === undefined && !isWide);
        value = value[step];
    }
    return there === false ? value === undefined : isSent;
}

// The parts of a request that are objects. An empty query is there without being sent, and Express 4 has an empty body. Header fields are
// wide: the client adds its own, so that they lack almost any name.
function sourcesOf({ query, params, body, headers }, places) {
    const isBody = headers === undefined || Number(headers["content-length"]) > 0 || headers["transfer-encoding"] !== undefined;
    const sources = [query, params, body].map((value) => ({ value, isSent: isObject(value) && (value === body && isBody || Object.keys(value).length > 0) }));
    if (places.every(({ steps }) => steps.length > 0)) sources.push({ value: headers, isSent: true, isWide: true });
    return sources.filter(({ value }) => isObject(value));
}

/* Findings of a validator are told if they are about what the caller sent. Those about the program's own data (a row, a reply of another service)
 * are not for the caller. Where the caller sent nothing, only names of fields that are missing are told. Without `sent` the program has said so
 * itself. */
function ofFindings(error, { places, told }, sent) {
    if (sent === undefined || typeof get(error, "validationContext") === "string") return told(error); // Fastify names what it has validated
    const request = sent(), all = places(error);
    if (all.length === 0) return masked(error);
    if (all.every(({ steps, there }) => steps.length === 0 && there === false)) return request.body === undefined ? told(error) : masked(error);
    const fitting = sourcesOf(request, all).filter((source) => all.every((place) => fitsPlace(source, place)));
    if (fitting.length === 0) return masked(error);
    return fitting.some(({ isSent }) => isSent) ? told(error) : invalid(all.map(({ steps }) => ({ field: pathOf(steps), error: "field_required" })), error);
}

const ZOD = { places: placesOfZod, told: ofZod }, AJV = { places: placesOfAjv, told: ofAjv };

// ---- Errors with a status --------------------------------------------------------------------------

const MALFORMED = new Set(["entity.parse.failed", "FST_ERR_CTP_INVALID_JSON_BODY", "FST_ERR_CTP_EMPTY_JSON_BODY"]);

const malformed = (cause) => new Mishap("MALFORMED_INPUT", "The body is not valid JSON.", { cause });

function statusOf(error) {
    const status = get(error, "statusCode") ?? get(error, "status");
    return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
}

// What errors of clients for other servers have. Their status and their text are those of the other server.
const OF_CLIENTS = ["isAxiosError", "response", "request", "config", "requestID", "$metadata"];
const isOfClient = (error) => OF_CLIENTS.some((name) => (get(error, name) ?? false) !== false);

function ofStatus(error, status) {
    const code = forStatus(status) ?? (status < 500 ? "BAD_REQUEST" : "INTERNAL_ERROR");
    const said = get(error, "message");
    const shown = status < 500 && get(error, "expose") !== false && typeof said === "string" && said ? said : undefined;
    const m = new Mishap(code, shown, { cause: error }), headers = get(error, "headers");
    if (headers !== undefined) Object.defineProperty(m, "headers", { value: headers });
    return m;
}

/* The mishap for anything that was thrown. What is not known is INTERNAL_ERROR: its text is for the operator alone. `sent` is a function that
 * tells the parts of the request: { url, query, params, body, headers }. */
function toMishap(error, sent) {
    try {
        return converted(error, sent);
    } catch { // a getter that throws, a Proxy, findings of no known form
        return masked(error);
    }
}

function converted(error, sent) {
    if (error instanceof Mishap) return error;
    if (error !== null && (typeof error === "object" || typeof error === "function")) {
        if (isZod(error)) return ofFindings(error, ZOD, sent);
        if (isAjv(error)) return ofFindings(error, AJV, sent);
        if (isOfClient(error)) return masked(error);
        if (MALFORMED.has(get(error, "type")) || MALFORMED.has(get(error, "code"))) return malformed(error);
        const status = statusOf(error);
        if (status !== undefined) return ofStatus(error, status);
    }
    return masked(error);
}

function masked(error) {
    const hasMembers = error !== null && (typeof error === "object" || typeof error === "function");
    const said = hasMembers ? get(error, "message") : error;
    const m = new Mishap("INTERNAL_ERROR", said === undefined ? undefined : textOf(said), { cause: error });
    const stack = hasMembers ? get(error, "stack") : undefined;
    if (typeof stack === "string") m.stack = stack;
    return m;
}

module.exports = { toMishap, malformed };
