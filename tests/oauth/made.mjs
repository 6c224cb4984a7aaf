// Keys, key sets and access tokens of an issuer, made by node's crypto, and what each of them is worth: one JSON object on standard output.
//
//     node made.mjs [NOW]
//
// `sets` are judged by src/oauth: how many keys have which fault, or "refused". `tokens` are checked with one of the sets: the flaw.
import crypto from 'node:crypto'

const NOW = Number(process.argv[2] ?? 1_800_000_000)
const ISSUER = 'https://login.example.com', OTHER = 'https://other.example.com'
const API = 'https://api.example.com'
const b64 = (bytes) => Buffer.from(bytes).toString('base64url')
const json = (value) => b64(JSON.stringify(value))

// ---- Keys ----------------------------------------------------------------------------------------

const pairs = {
  rs: crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ps: crypto.generateKeyPairSync('rsa', { modulusLength: 3072 }),
  large: crypto.generateKeyPairSync('rsa', { modulusLength: 4096 }),
  small: crypto.generateKeyPairSync('rsa', { modulusLength: 1024 }),
  odd: crypto.generateKeyPairSync('rsa', { modulusLength: 2047 }),
  es: crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  es3: crypto.generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  es5: crypto.generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  k1: crypto.generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  ed: crypto.generateKeyPairSync('ed25519'),
  ed4: crypto.generateKeyPairSync('ed448'),
  x: crypto.generateKeyPairSync('x25519'),
  stranger: crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  strangerEd: crypto.generateKeyPairSync('ed25519'),
  strangerRs: crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
const jwk = (name, more = {}) => ({ ...pairs[name].publicKey.export({ format: 'jwk' }), kid: name, ...more })
const secret = (name, more = {}) => ({ ...pairs[name].privateKey.export({ format: 'jwk' }), kid: name, ...more })

const ALG = { rs: 'RS256', large: 'RS256', ps: 'PS256', es: 'ES256', es3: 'ES384', ed: 'EdDSA' }

function signature(alg, key, bytes) {
  switch (alg) {
    case 'RS256': return crypto.sign('sha256', bytes, key)
    case 'RS384': return crypto.sign('sha384', bytes, key)
    case 'PS256': return crypto.sign('sha256', bytes, { key, padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 })
    case 'PS256-long-salt': return crypto.sign('sha256', bytes, { key, padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 })
    case 'ES256': return crypto.sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' })
    case 'ES256-der': return crypto.sign('sha256', bytes, { key, dsaEncoding: 'der' })
    case 'ES384': return crypto.sign('sha384', bytes, { key, dsaEncoding: 'ieee-p1363' })
    case 'EdDSA': case 'Ed25519': return crypto.sign(null, bytes, key)
  }
  throw new Error(alg)
}

const SETS = {
  good: { keys: [jwk('rs'), jwk('ps', { alg: 'PS256', use: 'sig' }), jwk('large', { alg: 'RS256' }), jwk('es', { key_ops: ['verify'] }),
    jwk('es3', { alg: 'ES384' }), jwk('ed', { alg: 'EdDSA' })] },
  ed25519: { keys: [jwk('ed', { alg: 'Ed25519' })] },
  'ps key without alg': { keys: [jwk('ps')] },
  // One id, two algorithms, as issuers have it that change theirs.
  shared: { keys: [jwk('rs', { kid: 'same' }), jwk('es', { kid: 'same' })] },
}

// ---- Tokens --------------------------------------------------------------------------------------

const tokens = []
const claims = (more = {}) => ({ iss: ISSUER, sub: 'alice', aud: API, exp: NOW + 600, iat: NOW - 10, client_id: 'app', scope: 'call todos:write', ...more })
const header = (name, more = {}) => ({ alg: ALG[name], typ: 'at+jwt', kid: name, ...more })
const raw = (name, flaw, token, set = 'good') => tokens.push({ name, flaw, token: Buffer.from(token, 'latin1').toString('base64'), set })

// A token whose parts are given as text, signed by a key.
function signed(head, body, key, alg) {
  const bytes = `${b64(head)}.${b64(body)}`
  return `${bytes}.${b64(signature(alg, pairs[key].privateKey, Buffer.from(bytes)))}`
}
const made = (key, head = {}, body = {}, alg = ALG[key]) =>
  signed(JSON.stringify(header(key, head)), JSON.stringify(claims(body)), key, alg)
const add = (name, flaw, key, head, body, alg, set) => raw(name, flaw, made(key, head, body, alg), set)

for (const key of Object.keys(ALG)) add(`${ALG[key]} with ${key}`, 'sound', key)
add('EdDSA called Ed25519', 'sound', 'ed', { alg: 'Ed25519' })
add('a key called Ed25519', 'sound', 'ed', {}, {}, 'EdDSA', 'ed25519')
for (const key of ['rs', 'es']) add(`one id, two keys, ${key}`, 'sound', key, { kid: 'same' }, {}, ALG[key], 'shared')

// What the header says it is.
for (const typ of ['JWT', 'jwt', 'AT+JWT', 'application/at+jwt', 'Application/JWT']) add(`typ ${typ}`, 'sound', 'es', { typ })
for (const typ of [undefined, '', 'id+jwt', 'dpop+jwt', 'logout+jwt', 'JWE', 'at+jwt ', 'application/', 'xapplication/at+jwt', 7, null, ['JWT']])
  add(`typ ${JSON.stringify(typ)}`, 'typ', 'es', { typ })
for (const crit of [['exp'], [], ['b64'], null, 'exp', false]) add(`crit ${JSON.stringify(crit)}`, 'crit', 'es', { crit, b64: false })

// Algorithms: that of the key, never that of the header.
for (const alg of ['none', 'None', 'NONE', '', 'HS256', 'HS384', 'HS512', 'RS384', 'RS512', 'PS384', 'ES512', 'ES256K', 'Ed448', 'RSA-OAEP', 'es256',
  ' ES256', undefined, null, 5, ['ES256']])
  add(`alg ${JSON.stringify(alg)}`, 'alg', 'es', { alg })
for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA', 'Ed25519']) add(`an ES256 key with alg ${alg}`, 'alg', 'es', { alg })
add('an RS256 key with PS256', 'alg', 'rs', { alg: 'PS256' }, {}, 'PS256')
add('a PS256 key with RS256', 'alg', 'ps', { alg: 'RS256' }, {}, 'RS256')
add('a key without alg is for RS256 alone', 'alg', 'ps', {}, {}, 'PS256', 'ps key without alg')
{
  // The public key as the secret of an HMAC.
  const publicPem = pairs.rs.publicKey.export({ format: 'pem', type: 'spki' })
  for (const [name, key] of [['PEM', publicPem], ['DER', pairs.rs.publicKey.export({ format: 'der', type: 'spki' })], ['n', pairs.rs.publicKey.export({ format: 'jwk' }).n]]) {
    const bytes = `${json({ alg: 'HS256', typ: 'at+jwt', kid: 'rs' })}.${json(claims())}`
    raw(`HMAC with the public key as ${name}`, 'alg', `${bytes}.${b64(crypto.createHmac('sha256', key).update(bytes).digest())}`)
  }
  const bytes = `${json({ alg: 'none', typ: 'at+jwt', kid: 'rs' })}.${json(claims())}`
  raw('none without a signature', 'alg', `${bytes}.`)
}

// Keys.
for (const kid of [undefined, '', null, 7, ['es'], {}]) add(`kid ${JSON.stringify(kid)}`, 'no kid', 'es', { kid })
for (const kid of ['ES', 'es ', 'es\0', 'missing', '../../es', "es' OR 1=1", 'x'.repeat(3000)]) add(`kid ${JSON.stringify(kid).slice(0, 20)}`, 'key', 'es', { kid })
add('the key in the header', 'signature', 'stranger', { alg: 'ES256', kid: 'es', jwk: jwk('stranger') }, {}, 'ES256')
add('the address of a key in the header', 'signature', 'stranger', { alg: 'ES256', kid: 'es', jku: 'https://evil.example/jwks', x5u: 'https://evil.example' }, {}, 'ES256')
add('a certificate in the header', 'signature', 'stranger', { alg: 'ES256', kid: 'es', x5c: ['AAAA'] }, {}, 'ES256')

// Signatures.
for (const [name, key, of, alg] of [['ES256', 'stranger', 'es', 'ES256'], ['EdDSA', 'strangerEd', 'ed', 'EdDSA'], ['RS256', 'strangerRs', 'rs', 'RS256']])
  add(`${name} of another key`, 'signature', key, { alg, kid: of }, {}, alg)
add('ES256 in DER', 'signature', 'es', {}, {}, 'ES256-der')
add('PS256 with another salt', 'signature', 'ps', {}, {}, 'PS256-long-salt')
add('RS256 over SHA-384', 'signature', 'rs', {}, {}, 'RS384')
for (const key of Object.keys(ALG)) {
  const [head, body, mark] = made(key).split('.')
  const bytes = Buffer.from(mark, 'base64url')
  const with_ = (name, other) => raw(`${key}: ${name}`, 'signature', `${head}.${body}.${b64(other)}`)
  with_('no signature', Buffer.alloc(0))
  with_('zeros', Buffer.alloc(bytes.length))
  with_('ones', Buffer.alloc(bytes.length, 0xff))
  with_('a byte less', bytes.subarray(1))
  with_('a byte more', Buffer.concat([bytes, Buffer.from([0])]))
  with_('a zero in front', Buffer.concat([Buffer.from([0]), bytes]))
  const flipped = Buffer.from(bytes)
  flipped[bytes.length >> 1] ^= 1
  with_('a bit', flipped)
  raw(`${key}: other claims`, 'signature', `${head}.${json(claims({ sub: 'root' }))}.${mark}`)
  raw(`${key}: the same claims, spelled otherwise`, 'signature', `${head}.${b64(JSON.stringify(claims()) + ' ')}.${mark}`)
}
{
  const [head, body, mark] = made('es').split('.')
  const bytes = Buffer.from(mark, 'base64url')
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const number = (value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
  const r = bytes.subarray(0, 32), s = BigInt('0x' + bytes.subarray(32).toString('hex'))
  for (const [name, first, second] of [['r is 0', Buffer.alloc(32), bytes.subarray(32)], ['s is 0', r, Buffer.alloc(32)], ['r is n', number(n), bytes.subarray(32)],
    ['s is n', r, number(n)], ['swapped', bytes.subarray(32), r]])
    raw(`ES256: ${name}`, 'signature', `${head}.${body}.${b64(Buffer.concat([first, second]))}`)
  raw('ES256: s + n does not fit, n - s is another signature of the same', 'sound', `${head}.${body}.${b64(Buffer.concat([r, number(n - s)]))}`)
}

// Form: three parts, one spelling each.
{
  const good = made('ed')
  const [head, body, mark] = good.split('.')
  const forms = { empty: '', dot: '.', 'two parts': `${head}.${body}`, 'four parts': `${good}.${mark}`, 'five parts': `${good}.a.b`,
    'space before': ` ${good}`, 'space after': `${good} `, 'line feed': `${good}\n`, NUL: `${good}\0`, 'padding': `${good}==`,
    'plus': good.replace(/.$/, '+'), 'slash': `${head}.${body}.${mark.replace(/.$/, '/')}`, 'a byte above 127': `${head}.${body}.\xe9${mark.slice(1)}`,
    'one character': `${head}.${body}.A`, 'one character more': `${head}.${body}.${mark}AAA`, 'quotes': `"${good}"`, 'comma': `${good},${good}`,
    'header of one character': `A.${body}.${mark}` }
  for (const [name, token] of Object.entries(forms)) raw(`form: ${name}`, 'form', token)
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const slack = last[last.indexOf(mark.at(-1)) ^ 1]
  raw('slack bits in the signature', 'form', `${head}.${body}.${mark.slice(0, -1)}${slack}`)
  const odd = b64('{"a":1}')
  raw('slack bits in the header', 'form', `${odd.slice(0, -1)}${last[last.indexOf(odd.at(-1)) ^ 1]}.${body}.${mark}`)
  raw('two dots', 'header', '..')
  raw('empty header', 'header', `.${body}.${mark}`)
  raw('empty claims', 'claims', `${head}..${mark}`)
  raw('longer than 8 KB', 'length', made('ed', {}, { more: 'x'.repeat(6200) }))
  raw('almost 8 KB', 'sound', made('ed', {}, { more: 'x'.repeat(5600) }))
  raw('a megabyte', 'length', 'x'.repeat(1 << 20))
}
const heads = { text: 'no', array: '[]', number: '1', null: 'null', string: '"x"', 'cut off': '{"alg":"EdDSA"', 'behind it': '{"alg":"EdDSA"}{}',
  'alg twice': '{"alg":"EdDSA","alg":"none","typ":"at+jwt","kid":"ed"}', 'kid twice': '{"alg":"EdDSA","typ":"at+jwt","kid":"ed","kid":"rs"}',
  'a member twice, escaped': '{"alg":"EdDSA","typ":"at+jwt","kid":"ed","k\\u0069d":"rs"}', 'a NUL in a name': '{"alg":"EdDSA","typ":"at+jwt","kid":"ed","a\\u0000":1}',
  'a comment': '{"alg":"EdDSA"/**/}', 'deep': '['.repeat(500), 'not UTF-8': Buffer.from('7b2261223a22ff227d', 'hex'),
  'half a pair': '{"alg":"EdDSA","typ":"at+jwt","kid":"ed","a":"\\ud800"}', 'a mark in front': Buffer.from('efbbbf7b7d', 'hex'), 'twice, deep': '{"alg":"EdDSA","typ":"at+jwt","kid":"ed","a":{"b":1,"b":2}}' }
for (const [name, head] of Object.entries(heads)) raw(`header: ${name}`, 'header', signed(head, JSON.stringify(claims()), 'ed', 'EdDSA'))
const plain = JSON.stringify(claims()).slice(0, -1)
const bodies = { text: 'no', array: '[]', 'cut off': plain, 'sub twice': `${plain},"sub":"root"}`, 'aud twice': `${plain},"aud":"x"}`,
  'exp twice': `${plain},"exp":99999999999}`, 'a member twice, deep': `${plain},"act":{"sub":1,"sub":2}}`, 'a NUL in a name': `${plain},"a\\u0000b":1}`,
  'half a pair': `${plain},"a":"\\udc00"}`, NaN: `${plain},"nbf":NaN}` }
for (const [name, body] of Object.entries(bodies)) raw(`claims: ${name}`, 'claims', signed(JSON.stringify(header('ed')), body, 'ed', 'EdDSA'))

// Claims.
for (const iss of [undefined, '', null, 7, [ISSUER], OTHER, `${ISSUER}/`, ISSUER.toUpperCase(), `${ISSUER}\0`, ISSUER.replace('https', 'http'), `${ISSUER}.evil.example`])
  add(`iss ${JSON.stringify(iss)}`, 'issuer', 'es', {}, { iss })
for (const aud of [API, `${API}/`, `${API}/mcp`, `${API}/mcp/`, 'named-by-the-operator', [API], ['x', `${API}/mcp`]]) add(`aud ${JSON.stringify(aud)}`, 'sound', 'es', {}, { aud })
for (const aud of [undefined, '', null, 7, [], {}, 'app', ['x'], `${API}//`, `${API}/mcp//`, API.toUpperCase(), `${API}.evil.example`, `${API}/todos`, '*', 'named-by-the-operator/', { [API]: API }])
  add(`aud ${JSON.stringify(aud)}`, 'audience', 'es', {}, { aud })
for (const aud of [[API, 7], [[API]], [null]]) add(`aud ${JSON.stringify(aud)}`, 'claims', 'es', {}, { aud })
add('exp a minute ago, almost', 'sound', 'es', {}, { exp: NOW - 59 })
for (const exp of [NOW - 60, NOW - 3600, 0, 1, undefined]) add(`exp ${exp}`, 'expired', 'es', {}, { exp })
for (const exp of [`${NOW + 600}`, null, -1, (NOW + 600) * 1000, 1e300, [], true]) add(`exp ${JSON.stringify(exp)}`, 'claims', 'es', {}, { exp })
add('exp with a fraction', 'sound', 'es', {}, { exp: NOW + 0.5 })
for (const name of ['nbf', 'iat']) {
  add(`${name} a minute ahead`, 'sound', 'es', {}, { [name]: NOW + 60 })
  add(`${name} more than a minute ahead`, 'not yet', 'es', {}, { [name]: NOW + 61 })
  for (const value of ['x', null, -5, 1e18]) add(`${name} ${JSON.stringify(value)}`, 'claims', 'es', {}, { [name]: value })
}
add('without iat', 'sound', 'es', {}, { iat: undefined })
for (const sub of [undefined, '', null, 7, ['alice'], 'x'.repeat(256), 'a\u0000b', 'a\nb', 'a\u007fb']) add(`sub ${JSON.stringify(sub)?.slice(0, 20)}`, 'subject', 'es', {}, { sub })
for (const sub of ['x'.repeat(255), 'auth0|123', 'ä', 'a b', '"']) add(`sub ${sub.slice(0, 20)}`, 'sound', 'es', {}, { sub })
add('client_id of 256 characters', 'subject', 'es', {}, { client_id: 'x'.repeat(256) })
for (const name of ['azp', 'cid', 'appid']) add(`${name} for client_id`, 'sound', 'es', {}, { client_id: undefined, [name]: 'app' })
for (const name of ['cid', 'appid']) add(`${name} of 256 characters`, 'subject', 'es', {}, { client_id: undefined, [name]: 'x'.repeat(256) })
for (const scope of [undefined, '', 'call', ['call', 'x']]) add(`scope ${JSON.stringify(scope)}`, 'sound', 'es', {}, { scope })
for (const scope of [7, null, {}, [7], true]) add(`scope ${JSON.stringify(scope)}`, 'claims', 'es', {}, { scope })
add('scp for scope', 'sound', 'es', {}, { scope: undefined, scp: ['call'] })

// Tokens that are for a client, not for a server.
for (const name of ['nonce', 'at_hash', 'c_hash', 's_hash']) add(`an id token with ${name}`, 'id token', 'es', { typ: 'JWT' }, { [name]: 'x' })
for (const [name, value] of [['typ', 'ID'], ['typ', 'Refresh'], ['token_use', 'id'], ['events', {}], ['typ', 7]])
  add(`${name} ${JSON.stringify(value)}`, 'id token', 'es', { typ: 'JWT' }, { [name]: value })
for (const cnf of [{ jkt: 'x' }, { 'x5t#S256': 'x' }, {}, null, '']) add(`cnf ${JSON.stringify(cnf)}`, 'cnf', 'es', {}, { cnf })
add('an access token of Keycloak with nonce', 'sound', 'es', { typ: 'JWT' }, { typ: 'Bearer', nonce: 'x' })
add('an access token of Cognito', 'sound', 'es', { typ: 'JWT' }, { token_use: 'access' })

// ---- Key sets ------------------------------------------------------------------------------------

const sets = Object.entries(SETS).map(([name, set]) => ({ name, text: JSON.stringify(set), faults: { used: set.keys.length } }))
const beside = jwk('es', { kid: 'beside' })
const key = (name, fault, value) => sets.push({ name, text: JSON.stringify({ keys: [beside, value] }), faults: { used: 1, [fault]: 1 } })
const fine = (name, value) => sets.push({ name, text: JSON.stringify({ keys: [beside, value] }), faults: { used: 2 } })
const refused = (name, text) => sets.push({ name, text: typeof text === 'string' ? text : JSON.stringify(text), faults: 'refused' })

for (const value of [null, 7, 'x', [], true]) key(`a key that is ${JSON.stringify(value)}`, 'no object', value)
for (const kid of [undefined, '', null, 7, 'x'.repeat(256)]) key(`kid ${JSON.stringify(kid)?.slice(0, 20)}`, 'no kid', jwk('rs', { kid }))
key('the same id', 'same kid', jwk('stranger', { kid: 'beside' }))
for (const kty of [undefined, 'oct', 'rsa', 'EC2', 7]) key(`kty ${JSON.stringify(kty)}`, 'other type', jwk('rs', { kty }))
key('oct', 'other type', { kty: 'oct', kid: 'oct', k: 'c2VjcmV0', alg: 'HS256' })
for (const name of ['es5', 'k1', 'ed4', 'x']) key(`a key of ${name}`, 'other type', jwk(name))
key('crv of another curve', 'other type', jwk('es', { crv: 'P-521' }))
for (const use of ['enc', 'SIG', '', null, 7]) key(`use ${JSON.stringify(use)}`, 'other use', jwk('rs', { use }))
for (const key_ops of [[], ['sign'], ['encrypt'], 'verify', null, [7]]) key(`key_ops ${JSON.stringify(key_ops)}`, 'other use', jwk('rs', { key_ops }))
for (const alg of ['HS256', 'none', 'RS512', 'ES256', 'RSA-OAEP', '', null, 7]) key(`an RSA key with alg ${JSON.stringify(alg)}`, 'other alg', jwk('rs', { alg }))
for (const alg of ['RS256', 'ES384', 'ES256K', 'EdDSA']) key(`a P-256 key with alg ${alg}`, 'other alg', jwk('es', { alg }))
for (const name of ['rs', 'es', 'ed']) key(`the private key of ${name}`, 'private', secret(name))
for (const n of [undefined, '', null, 7, '*', 'AA==', 'A', ' ', 'AB']) key(`n ${JSON.stringify(n)}`, 'bad number', jwk('rs', { n }))
key('RSA of 1024 bits', 'wrong size', jwk('small'))
key('RSA of 2047 bits', 'wrong size', jwk('odd'))
key('RSA of 4097 bits', 'bad number', jwk('rs', { n: b64(Buffer.concat([Buffer.from([1]), Buffer.alloc(512, 0xff), Buffer.from([1])])) }))
key('RSA of 4104 bits', 'wrong size', jwk('rs', { n: b64(Buffer.alloc(513, 0xff)) }))
key('an even modulus', 'wrong size', jwk('rs', { n: b64(Buffer.concat([Buffer.alloc(255, 0xff), Buffer.from([2])])) }))
for (const e of ['AQ', 'Ag', 'AA', 'BA', b64(Buffer.alloc(8, 0xff)), b64(Buffer.alloc(256, 0xff))]) key(`e ${e.slice(0, 12)}`, 'wrong size', jwk('rs', { e }))
fine('e is 3', jwk('rs', { e: 'Aw' }))
fine('zeros in front of n', jwk('rs', { n: b64(Buffer.concat([Buffer.alloc(4), Buffer.from(jwk('rs').n, 'base64url')])) }))
const es = jwk('es')
key('a point that is not on the curve', 'not on curve', { ...es, x: b64(Buffer.alloc(32, 7)) })
key('x and y swapped', 'not on curve', { ...es, x: es.y, y: es.x })
key('the point 0, 0', 'not on curve', { ...es, x: b64(Buffer.alloc(32)), y: b64(Buffer.alloc(32)) })
key('x beyond the prime', 'not on curve', { ...es, x: b64(Buffer.alloc(32, 0xff)) })
key('x of 31 bytes', 'bad number', { ...es, x: b64(Buffer.alloc(31, 1)) })
key('x of 33 bytes', 'bad number', { ...es, x: b64(Buffer.alloc(33, 1)) })
key('a P-256 point on P-384', 'bad number', { ...es, crv: 'P-384' })
key('no y', 'bad number', { ...es, y: undefined })
const ed = jwk('ed')
const little = (value) => b64(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse())
const p = 2n ** 255n - 19n
for (const [name, value] of [['0', 0n], ['1', 1n], ['p - 1', p - 1n], ['p', p], ['p + 1', p + 1n], ['2^255 - 1', 2n ** 255n - 1n], ['1 with a sign', 1n + 2n ** 255n],
  ['of order 8', 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n], ['of order 8, too', 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n],
  ['2, which has no x', 2n]])
  key(`Ed25519: y is ${name}`, 'not on curve', { ...ed, x: little(value) })
key('Ed25519 of 31 bytes', 'bad number', { ...ed, x: b64(Buffer.alloc(31, 9)) })
key('Ed25519 of 64 bytes', 'bad number', { ...ed, x: b64(Buffer.alloc(64, 9)) })
fine('y 4 has an x', { ...ed, x: little(4n) })

for (const [name, text] of Object.entries({ empty: '', text: 'no', array: '[]', string: '"keys"', null: 'null', 'no keys': '{}', 'keys is an object': '{"keys":{}}',
  'keys twice': '{"keys":[],"keys":[]}', 'cut off': '{"keys":[', deep: '['.repeat(100000), HTML: '<!doctype html><title>Sign in</title>',
  'half a pair': '{"keys":[],"a":"\\ud800"}' }))
  refused(name, text)
sets.push({ name: 'no key', text: '{"keys":[]}', faults: {} })
refused('a member of a key twice', `{"keys":[${JSON.stringify(beside)},${JSON.stringify(jwk('rs')).slice(0, -1)},"kid":"x"}]}`)
refused('33 keys', { keys: Array.from({ length: 33 }, (_, i) => ({ ...beside, kid: `${i}` })) })
sets.push({ name: '32 keys', text: JSON.stringify({ keys: Array.from({ length: 32 }, (_, i) => ({ ...beside, kid: `${i}` })) }), faults: { used: 32 } })
refused('larger than 256 KB', { keys: [beside], more: 'x'.repeat(256 * 1024) })
refused('only keys that cannot be used', { keys: [{ kty: 'oct', kid: 'a', k: 'AA' }, jwk('small')] })

console.log(JSON.stringify({ now: NOW, sets, tokens }))
