// A client of the HTTP API, as an application would write it. createUser is the documented example; the types come from
// the module that the catalog's generator makes.
//
//     node client.js http://127.0.0.1:8080
import { codes } from "./mishap-codes.js";
import type { ErrorResponse, HttpName, ValidationError } from "./mishap-codes.js";

declare const process: { argv: string[] };

interface UserData {
  name?: string;
  age?: number | string;
  email?: string;
}

// In a page the address is relative to the page; here there is none.
const fetch = (path: string, init?: RequestInit): Promise<Response> =>
  globalThis.fetch(new URL(path, process.argv[2]), init);

async function createUser(data: UserData) {
  const response = await fetch('/users', {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify(data)
  });

  if (!response.ok) {
    const error: ErrorResponse = await response.json();

    if (response.status === 422) {
      // Handle validation errors
      error.details?.forEach(err => {
        console.log(`${err.field}: ${err.error}`);
      });
    } else if (response.status === 404) {
      console.log('Resource not found');
    }
  }
}

// What the types promise beyond that: every name of the catalog is known, with its status.
async function explain(path: string): Promise<void> {
  const response = await fetch(path);
  const error: ErrorResponse = await response.json();
  const row = Object.values(codes).find(code => code.httpName === error.error);
  const same: boolean = row?.httpStatus === response.status;
  console.log(`${path}: ${error.error} ${response.status} ${same ? "as listed" : "not as listed"}: ${error.message}`);
}

function worst(details: ValidationError[]): string {
  return details.map(({ field, min, max, actual }) => `${field} ${String(actual)} is not in ${min}-${max}`).join();
}

await createUser({ name: "", age: 200, email: "invalid" });
await createUser({ name: "Ada", age: "old", email: "ada@example.com" });
await createUser({ name: "Ada", age: 36, email: "ada@example.com" });
await explain("/todos/999999999");
await explain("/premium/report");
const wanted: HttpName = "validation_error";
const response = await fetch("/users", {
  method: "POST", headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ name: "Ada", age: 200, email: "a@b.c" }),
});
const { error, details }: ErrorResponse = await response.json();
console.log(error === wanted, worst(details ?? []));
