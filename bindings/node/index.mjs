import mishap from "./index.cjs";

export const {
    Mishap, ParseError, parse, translate, verify, guard, describe, newIncident, codes, dialects, version,
    express, fastify, hono, mcp, setSink, toMishap,
} = mishap;
export default mishap;
