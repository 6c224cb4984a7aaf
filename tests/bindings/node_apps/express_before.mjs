// The application of express.mjs with release 2.2 of the package router, whose layers keep what they matched. That of 2.3 returns it.
import Module from "node:module";
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => resolve.call(Module, name === "router" ? "router-2.2" : name, ...rest);
await import("./express.mjs");
