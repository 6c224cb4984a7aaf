"use strict";
// Values of any kind as JSON. A value may be a trap: a getter that throws, a Proxy, a circle, megabytes. None of them may turn one failure
// into another, so nothing here throws.

const DEEPEST = 64;
const MOST_CHARACTERS = 16 * 1024 * 1024;
const COST_OF_OBJECT = 32; // characters, so that a tree that holds itself many times, or grows while it is read, ends soon
const UNREADABLE = "[unreadable]";
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\0/g;

// Any value as text.
function textOf(value) {
    try {
        if (typeof value === "string") return value;
        if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8");
        return String(value);
    } catch {
        return UNREADABLE;
    }
}

function typeName(value) {
    try {
        const { name } = value.constructor;
        return typeof name === "string" && name ? `[${name}]` : "[Object]";
    } catch {
        return UNREADABLE;
    }
}

const isPlain = (value) => {
    const parent = Object.getPrototypeOf(value);
    return parent === Object.prototype || parent === null || Object.getPrototypeOf(parent) === null;
};

// What an object is shown as that has no members of its own to show: a Date by its time, a URL by its text.
function ownText(value) {
    if (value instanceof Uint8Array) return textOf(value);
    if (typeof value.toJSON === "function") return value.toJSON();
    if (value instanceof Map) return Object.fromEntries(Array.from(value, ([key, item]) => [textOf(key), item]));
    if (value instanceof Set) return Array.from(value);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (Array.isArray(value) || isPlain(value)) return value;
    const text = typeof value.toString === "function" && value.toString !== Object.prototype.toString ? String(value) : undefined;
    return text === undefined ? typeName(value) : text;
}

class Writer {
    constructor() {
        this.open = new Set();
        this.size = 0;
    }

    // JSON of a value; undefined where JSON has no word for it.
    write(value, depth) {
        switch (typeof value) {
        case "string":
            return this.count(JSON.stringify(value));
        case "number":
            return Number.isFinite(value) ? this.count(String(value)) : "null";
        case "bigint":
            return this.count(String(value));
        case "boolean":
            return value ? "true" : "false";
        case "object":
            return value === null ? "null" : this.writeObject(value, depth);
        default:
            return undefined;
        }
    }

    count(json) {
        this.charge(json.length);
        return json;
    }

    charge(characters) {
        this.size += characters;
        if (!(this.size <= MOST_CHARACTERS)) throw TOO_LARGE;
    }

    writeObject(value, depth) {
        if (this.open.has(value)) return '"[circular]"';
        if (depth > DEEPEST) return '"[too deep]"';
        this.charge(COST_OF_OBJECT);
        this.open.add(value);
        try {
            const shown = ownText(value);
            if (shown !== value) return this.write(shown, depth + 1);
            return Array.isArray(value) ? this.writeList(value, depth) : this.writeMembers(value, depth);
        } catch (error) {
            if (error === TOO_LARGE) throw error;
            return `"${UNREADABLE}"`;
        } finally {
            this.open.delete(value);
        }
    }

    writeList(list, depth) {
        const items = [], { length } = list;
        this.charge(length);
        for (let i = 0; i < length; i++) {
            const item = this.write(read(list, i), depth + 1);
            items.push(item === undefined ? "null" : item);
        }
        return `[${items.join(",")}]`;
    }

    writeMembers(object, depth) {
        const members = [], taken = new Set();
        for (const key of Object.keys(object)) {
            const item = this.write(read(object, key), depth + 1);
            const name = wellFormed(key);
            if (item === undefined || taken.has(name)) continue;
            taken.add(name);
            members.push(`${this.count(JSON.stringify(name))}:${item}`);
        }
        return `{${members.join(",")}}`;
    }
}

const TOO_LARGE = new RangeError("too large");

function read(object, key) {
    try {
        return object[key];
    } catch {
        return UNREADABLE;
    }
}

// A text without NUL and without half of a surrogate pair.
function wellFormed(text) {
    return text.replace(HALVES, "\ufffd");
}

// JSON of any value; undefined where JSON has no word for it. Values that are written with one writer share its limit.
function jsonOf(value, writer = new Writer()) {
    try {
        return writer.write(value, 0);
    } catch (error) {
        return error === TOO_LARGE ? '"[too large]"' : `"${UNREADABLE}"`;
    }
}

// The members of an object as [key, value] in its order. `value` is read once.
function membersOf(object) {
    const members = [];
    try {
        const source = object instanceof Map ? Object.fromEntries(object) : object;
        for (const key of Object.keys(source)) members.push([wellFormed(key), read(source, key)]);
    } catch {
        members.push(["context", UNREADABLE]);
    }
    return members;
}

// The texts of a value, for the guard: what a caller sent is no leak.
function textsOf(value, texts = [], depth = 0) {
    try {
        if (texts.length >= 512 || depth > DEEPEST) return texts;
        if (typeof value === "string") texts.push(value);
        else if (value instanceof Uint8Array) texts.push(textOf(value));
        else if (typeof value === "object" && value !== null)
            for (const key of Object.keys(value)) {
                texts.push(key);
                textsOf(read(value, key), texts, depth + 1);
            }
    } catch { /* a Proxy that throws: then more counts as a leak */ }
    return texts;
}

module.exports = { Writer, textOf, jsonOf, membersOf, textsOf, wellFormed, UNREADABLE };
