// Types of the package `mishap`. codes.d.ts, which the build makes, is generated from the table of codes.
import type { Code, Category, FieldErrorName } from "./codes";

export type { Code, Category };
export type Dialect =
    "artifact" | "canonical" | "cli-envelope" | "condition-report" | "google-rpc" | "graphql" | "http-api" | "json-api" | "json-rpc" | "problem" | "tool-result";

/** What is wrong with one field of the input. */
export interface Field {
    /** Where it is: `items[2].name`. */
    field: string;
    error: FieldErrorName | "invalid_value" | (string & {});
    message?: string;
    expected?: unknown;
    actual?: unknown;
    min?: number | bigint;
    max?: number | bigint;
}

export interface MishapOptions {
    /** Named values for the caller. The value of a name such as `password` is redacted. */
    context?: Record<string, unknown>;
    fields?: readonly Field[];
    /** One line about the cause, for the caller. */
    reason?: string;
    suggestion?: string;
    /** The address of a page about this failure. */
    docs?: string;
    retryable?: boolean;
    /** Seconds. */
    retryAfter?: number;
    incident?: string;
    category?: Category;
    /** Named values for the operator. No caller gets them. */
    notes?: Record<string, unknown>;
    /** What led to it, for the operator. No caller gets it. */
    cause?: unknown;
}

/** One failure, with a side for the caller and one for the operator. */
export class Mishap extends Error {
    /** An unknown code throws a TypeError that names the nearest one. */
    constructor(code: Code, message?: string | Uint8Array | null, options?: MishapOptions);
    /** Whether every mishap gets a stack. Otherwise only those of a masked code get one. */
    static captureStacks: boolean;
    code: Code | (string & {});
    message: string;
    context: Record<string, unknown> | undefined;
    fields: readonly Field[] | undefined;
    reason: string | undefined;
    suggestion: string | undefined;
    docs: string | undefined;
    retryable: boolean;
    /** Seconds. */
    retryAfter: number | undefined;
    incident: string | undefined;
    category: Category;
    notes: Record<string, unknown> | undefined;
    cause: unknown;
    /** The HTTP status of the code. */
    readonly status: number;
    readonly exitCode: number;
    readonly title: string;
    /** Whether the message is for the operator alone. */
    readonly masked: boolean;
    /** The document for a caller; `problem` (RFC 9457) unless another dialect is named. */
    render(dialect?: Dialect): string;
    /** The public side, in canonical form. */
    toJSON(): Record<string, unknown>;
}

export interface Finding {
    rule: string;
    severity: "warning" | "error" | "fatal";
    /** A JSON pointer, or `line 3, column 7`. */
    place: string;
    sentence: string;
}

/** A document that cannot be read, with all that is wrong with it. */
export class ParseError extends Mishap {
    findings: Finding[];
}

export interface CodeRow {
    name: Code;
    title: string;
    message: string;
    suggestion: string | undefined;
    docs: string | undefined;
    category: Category;
    status: number;
    exitCode: number;
    rpcCode: number;
    retry: "never" | "fix" | "yes";
    retryable: boolean;
    retryAfter: number | undefined;
    masked: boolean;
}

type Document = string | Uint8Array;

/** Read a document; the dialect is `problem` unless another one is named. */
export function parse(document: Document, dialect?: Dialect): Mishap;
/** Read a document in one dialect, and write it in another. */
export function translate(document: Document, from: Dialect, to: Dialect): string;
/** All that breaks the rules of a dialect, `problem` unless another one is named. */
export function verify(document: Document, dialect?: Dialect, options?: { strict?: boolean }): Finding[];
/** The text, or a sentence in its place if it shows the inside of a program. What is in `known`, any value, is no leak. */
export function guard(text: Document, options?: { strict?: boolean; known?: unknown }): string;
/** The row of the catalog. */
export function describe(code: Code): CodeRow;
/** A new id of an incident. */
export function newIncident(): string;

export const codes: { readonly [Name in Code]: Name };
export const dialects: readonly Dialect[];
export const version: string;

/** The private record of a failure. */
export interface IncidentRecord {
    id: string;
    /** ISO 8601. */
    time: string;
    code: Code | (string & {});
    message: string;
    status: number;
    notes?: unknown;
    context?: unknown;
    stack?: string;
    causes: { type: string; message: string; stack?: string }[];
    /** Whether the guard has replaced something; then the record also has these as they were. */
    replaced: boolean;
    fields?: unknown;
    reason?: string;
    suggestion?: string;
}

/** Hand records to a function. Without one, each is a line of JSON on standard error. */
export function setSink(sink?: ((record: IncidentRecord) => unknown) | null): void;
/** The mishap for anything that was thrown. */
export function toMishap(error: unknown): Mishap;

export interface AdapterOptions {
    /** A dialect that is JSON; `problem` over HTTP and `tool-result` over MCP unless another one is named. */
    dialect?: Dialect;
    /** Whether paths, internal addresses and source code are replaced, too. */
    strict?: boolean;
}

/** The last handlers of an Express application: `app.use(mishap.express())`. */
export function express(options?: AdapterOptions): any[];
/** The handlers of a Fastify application. Call it before the routes are declared. */
export const fastify: {
    <App>(app: App, options?: AdapterOptions): App;
    /** Options for `fastify()`, with which ajv names all fields that are wrong. */
    options<Options extends object>(own?: Options): Options & { ajv: any };
};
/** The handlers of a Hono application. */
export const hono: {
    <App>(app: App, options?: AdapterOptions): App;
    /** The hook of zValidator: `zValidator("json", schema, mishap.hono.invalid)`. */
    invalid(result: any, c?: any): undefined;
    /** The function of stream(), streamText() or streamSSE(), whose failure then cuts the response and leaves a record. */
    stream<Stream>(work: (stream: Stream) => unknown): (stream: Stream) => Promise<void>;
};
/** An McpServer whose tools fail with results that a model can act on. */
export function mcp<Server>(server: Server, options?: AdapterOptions): Server;
