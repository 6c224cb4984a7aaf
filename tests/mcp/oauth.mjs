// The official clients for TypeScript against a server of ours that accepts tokens of an issuer:
//
//     node oauth.mjs NODE_MODULES one|two URL next|scope|refused
//
// one: 1.x, two: 2.x. They find the issuer, log in and call a tool. Then they go on with the next token when the first one has ended
// (`next`), or get another scope, or are refused for it. oauth_test.py and logins_test.py have the issuers, and run it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, which, url, then] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const info = { name: 'test', version: '1' };
const { Client } = await load(which === 'one' ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
const { StreamableHTTPClientTransport } = await load(which === 'one' ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client');

const provider = {
  redirectUrl: 'http://127.0.0.1:9/callback',
  clientMetadata: { client_name: 'test', redirect_uris: ['http://127.0.0.1:9/callback'], grant_types: ['authorization_code', 'refresh_token'] },
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

// What a browser and its user do: follow redirects, and send each form, until the client is called back. Cookies are kept.
async function browse(address) {
  const cookies = new Map();
  let body;
  for (let hops = 0; hops < 20; hops++) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(address, { redirect: 'manual', method: body ? 'POST' : 'GET', body, headers: cookie ? { cookie } : {} });
    for (const field of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field);
      cookies.set(name, value);
    }
    if (answer.headers.has('location')) {
      address = new URL(answer.headers.get('location'), address);
      body = undefined;
      if (address.href.startsWith(provider.redirectUrl)) return address.searchParams;
      continue;
    }
    const page = await answer.text();
    const [, action] = /action="([^"]+)"/.exec(page) ?? assert.fail(page);
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? assert.fail(page);
    address = new URL(action, address);
    body = new URLSearchParams({ prompt, login: 'alice', password: 'any' });
  }
  return assert.fail('there is no end');
}

// What a client asks for; that it wants to refresh its token, too, is for the issuer.
const scopes = () => provider.address?.searchParams.get('scope').split(' ').filter((scope) => scope !== 'offline_access');

const first = transport();
await step('the issuer is found', async () => {
  await assert.rejects(new Client(info).connect(first), (error) => /unauthorized/i.test(error.name + error.message) || Boolean(provider.address));
  assert.ok(provider.address, 'nobody was sent to log in');
  assert.equal(provider.address.searchParams.get('resource'), url);
  assert.deepEqual(scopes(), ['call']);
});
await step('log in', async () => {
  const back = await browse(provider.address);
  await first.finishAuth(which === 'one' ? back.get('code') : back);
  assert.ok(provider.saved.access_token);
});

const client = new Client(info);
const stepped = transport();
const who = async () => (await client.callTool({ name: 'who', arguments: {} })).structuredContent.caller;
await step('call', async () => {
  await client.connect(stepped);
  assert.equal(await who(), 'oauth:alice');
});
const change = () => client.callTool({ name: 'things_change', arguments: { id: 'known' } });
if (then === 'scope') await step('get another scope', async () => {
  provider.address = undefined;
  await assert.rejects(change());
  assert.deepEqual(scopes(), ['call', 'things:write']);
  const back = await browse(provider.address);
  await stepped.finishAuth(which === 'one' ? back.get('code') : back);
  assert.deepEqual((await change()).structuredContent, { id: 'known' });
});
// 1.x refreshes its token, if it can, and gets no other scope.
if (then === 'refused') await step('be refused', async () => {
  provider.address = undefined;
  await assert.rejects(change(), /403/);
  assert.equal(provider.address, undefined);
});
if (then === 'next') await step('go on with the next token', async () => {
  const token = provider.saved.access_token, session = stepped.sessionId;
  while (provider.saved.access_token === token) {
    assert.equal(await who(), 'oauth:alice');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(await who(), 'oauth:alice');
  assert.equal(stepped.sessionId, session);
});
await client.close();
