// The official clients for TypeScript against a server of ours that accepts tokens of an issuer:
//
//     node oauth.mjs NODE_MODULES one|two URL
//
// one: 1.x, two: 2.x. They find the issuer, log in, call a tool, and go on with the next token when the first one has ended.
// oauth_test.py has the issuer, and runs it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, which, url] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const info = { name: 'test', version: '1' };
const { Client } = await load(which === 'one' ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
const { StreamableHTTPClientTransport } = await load(which === 'one' ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client');

const provider = {
  redirectUrl: 'http://127.0.0.1:9/callback',
  clientMetadata: { client_name: 'test', redirect_uris: ['http://127.0.0.1:9/callback'] },
  client: undefined, saved: undefined, verifier: undefined, address: undefined, found: undefined,
  clientInformation() { return this.client; },
  saveClientInformation(client) { this.client = client; },
  tokens() { return this.saved; },
  saveTokens(tokens) { this.saved = tokens; },
  redirectToAuthorization(address) { this.address = address; },
  saveCodeVerifier(verifier) { this.verifier = verifier; },
  codeVerifier() { return this.verifier; },
  saveDiscoveryState(found) { this.found = found; },
  discoveryState() { return this.found; },
};
const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
const step = async (name, run) => {
  await run();
  console.log('ok: ' + name);
};

const first = transport();
await step('the issuer is found', async () => {
  await assert.rejects(new Client(info).connect(first), (error) => /unauthorized/i.test(error.name + error.message) || Boolean(provider.address));
  assert.ok(provider.address, 'nobody was sent to log in');
  assert.equal(provider.address.searchParams.get('resource'), url);
  assert.equal(provider.address.searchParams.get('scope'), 'call');
});
await step('log in', async () => {
  const answer = await fetch(provider.address, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location')).searchParams;
  await first.finishAuth(which === 'one' ? back.get('code') : back);
  assert.ok(provider.saved.access_token);
});

const client = new Client(info);
const who = async () => (await client.callTool({ name: 'who', arguments: {} })).structuredContent.caller;
await step('call', async () => {
  await client.connect(transport());
  assert.equal(await who(), 'oauth:alice');
});
await step('go on with the next token', async () => {
  const token = provider.saved.access_token;
  while (provider.saved.access_token === token) {
    assert.equal(await who(), 'oauth:alice');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(await who(), 'oauth:alice');
});
await client.close();
