"use strict";
// The addon, and the tables that it has: codes, dialects, categories.

const { version } = require("../package.json");

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

const codes = new Map();      // name → row
tables.codes.forEach(([name, title, message, suggestion, docs, category, status, exitCode, rpcCode, retry, retryAfter, masked], index) => {
    codes.set(name, {
        index, name, title, message, status, exitCode, rpcCode, retry, masked,
        category: tables.categories[category],
        suggestion: suggestion || undefined,
        docs: docs || undefined,
        retryable: retry === "yes",
        retryAfter: retryAfter < 0 ? undefined : retryAfter / 1000,
    });
});

const dialects = new Map();   // name → { index, mediaType, json }
tables.dialects.forEach(([name, mediaType], index) => {
    dialects.set(name, { index, name, mediaType, json: /[/+]json$/.test(mediaType) });
});

module.exports = { native, version, codes, dialects, categories: tables.categories };
