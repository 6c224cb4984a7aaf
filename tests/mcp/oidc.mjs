// oidc-provider from npm as an issuer on the loopback address, with the key and the login pages that it brings for development:
//
//     node oidc.mjs NODE_MODULES PORT [SETTINGS]      prints `ready`, and runs until its standard input ends
//
// SETTINGS is JSON. `refresh`: clients get refresh tokens. `short`: the first token of a login is accepted for so many seconds only,
// and those that a client gets with a refresh token for ten minutes. `clients`: clients that need not register. A line of JSON on
// standard output tells each registration and each token that was given.
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, port, settings] = process.argv.slice(2);
const { refresh = false, short = 0, clients = [] } = JSON.parse(settings ?? '{}');
const { Provider } = await import(pathToFileURL(createRequire(modules + '/').resolve('oidc-provider')));
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const scopes = 'call things:write';
const lasting = 600;

// A server accepts a token for a minute after its end, since clocks may differ. The clock of this issuer is late by almost that.
const now = Date.now, late = 55;
if (short) Date.now = () => now() - late * 1000;

const resource = (ctx, audience) => {
  const first = short && ctx.oidc.params?.grant_type === 'authorization_code';
  return { scope: scopes, audience, accessTokenTTL: first ? late - 60 + short : lasting, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } };
};
const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys: [{ ...key, kid: 'one', use: 'sig', alg: 'ES256' }] },
  scopes: ['openid', 'offline_access', ...scopes.split(' ')],
  // A client registers for the scopes of its first request; it may ask for others later.
  extraClientMetadata: { properties: ['all_scopes'], validator: (_ctx, _key, _value, metadata) => { metadata.scope = `${scopes} offline_access`; } },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  clients,
  cookies: { keys: ['test'] },
  ...refresh && { issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token') },
  features: {
    registration: { enabled: true },
    resourceIndicators: { enabled: true, getResourceServerInfo: resource, useGrantedResource: () => true },
  },
});
const say = (line) => console.log(JSON.stringify(line));
provider.on('registration_create.success', (_ctx, client) => say({ registered: client.clientId }));
provider.on('grant.success', (ctx) => say({ granted: ctx.oidc.params.grant_type, client: ctx.oidc.client.clientId, scope: ctx.body.scope,
  resource: ctx.oidc.params.resource }));
provider.on('grant.error', (ctx, error) => say({ refused: ctx.oidc.params?.grant_type, why: error.message }));
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
process.stdin.on('end', () => process.exit(0)).resume();
