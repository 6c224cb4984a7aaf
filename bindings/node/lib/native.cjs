"use strict";
// The addon, and the tables that it has: codes, dialects, categories.

const version = "0.1.0"; // of package.json, which would take a third of a millisecond to read

function load() {
    const place = `../prebuilds/${process.platform}-${process.arch}/mishap.node`;
    try {
        return require(place);
    } catch (error) {
        throw new Error(
            `mishap ${version} has no addon that runs here (${process.platform}-${process.arch}, Node ${process.versions.node}): ` +
            `it is made for Linux with glibc on x64 and arm64. ${error.message}`, { cause: error });
    }
}

const native = load();
const tables = JSON.parse(native.tables());
if (tables.version !== version)
    throw new Error(`mishap: the addon has version ${tables.version}, but the JavaScript beside it has version ${version}. Install the package again.`);

// A program needs few codes, so a row becomes an object when it is first asked for. That makes the import shorter.
const indexes = new Map(tables.codes.map(([name], index) => [name, index])), rows = new Map();

function makeRow(key) {
    const index = indexes.get(key);
    if (index === undefined) return undefined;
    const [name, title, message, suggestion, docs, category, status, exitCode, rpcCode, retry, retryAfter, masked] = tables.codes[index];
    const row = {
        index, name, title, message, status, exitCode, rpcCode, retry, masked,
        category: tables.categories[category],
        suggestion: suggestion || undefined,
        docs: docs || undefined,
        retryable: retry === "yes",
        retryAfter: retryAfter < 0 ? undefined : retryAfter / 1000,
    };
    rows.set(name, row);
    return row;
}

const codes = { get: (name) => rows.get(name) || makeRow(name), has: (name) => indexes.has(name), names: [...indexes.keys()] };

const dialects = new Map();   // name → { index, mediaType, json }
tables.dialects.forEach(([name, mediaType], index) => {
    dialects.set(name, { index, name, mediaType, json: mediaType.endsWith("/json") || mediaType.endsWith("+json") });
});

module.exports = { native, version, codes, dialects, categories: tables.categories };
