"use strict";
// The package: docs/node.md of Mishap. What an adapter needs is loaded when the adapter is used.

const { Mishap, ParseError, parse, translate, verify, guard, describe, newIncident, codes, dialects, version } = require("./lib/mishap.cjs");

const express = (options) => require("./lib/express.cjs").express(options);
const fastify = (app, options) => require("./lib/fastify.cjs").fastify(app, options);
fastify.options = (own) => require("./lib/fastify.cjs").fastify.options(own);
const hono = (app, options) => require("./lib/hono.cjs").hono(app, options);
hono.stream = (work) => require("./lib/hono.cjs").hono.stream(work);
hono.invalid = (result, c) => require("./lib/hono.cjs").hono.invalid(result, c);
const mcp = (server, options) => require("./lib/mcp.cjs").mcp(server, options);
const setSink = (sink) => require("./lib/incident.cjs").setSink(sink);
const toMishap = (error) => require("./lib/convert.cjs").toMishap(error);

module.exports = {
    Mishap, ParseError, parse, translate, verify, guard, describe, newIncident, codes, dialects, version,
    express, fastify, hono, mcp, setSink, toMishap,
};
