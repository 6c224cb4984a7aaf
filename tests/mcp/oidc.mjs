// oidc-provider from npm as an issuer on the loopback address, with the key and the login pages that it brings for development:
//
//     node oidc.mjs NODE_MODULES PORT      prints `ready`, and runs until its standard input ends
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, port] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(createRequire(modules + '/').resolve('oidc-provider')));
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const resource = (_ctx, audience) => ({ scope: 'call things:write', audience, accessTokenTTL: 600, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } });

new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys: [{ ...key, kid: 'one', use: 'sig', alg: 'ES256' }] },
  scopes: ['openid', 'offline_access', 'call', 'things:write'],
  // A client registers for the scopes of its first request; it may ask for others later.
  extraClientMetadata: { properties: ['all_scopes'], validator: (_ctx, _key, _value, metadata) => { metadata.scope = 'call things:write'; } },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  cookies: { keys: ['test'] },
  features: {
    registration: { enabled: true },
    resourceIndicators: { enabled: true, getResourceServerInfo: resource, useGrantedResource: () => true },
  },
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
process.stdin.on('end', () => process.exit(0)).resume();
