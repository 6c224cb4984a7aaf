"""Formats that real systems print, by their documentation: each text was read while rules were written, so all of them belong to the seen part.

`{hex:32}` stands for an invented key of 32 hexadecimal digits; the alphabets are in ALPHABETS. The keys depend on nothing but the name of the
text. A name whose hash would put the text into the unseen third gets `-more` until it does not.
"""
import hashlib
import random
import re
import string

import formats_code
import formats_words

LETTERS = string.ascii_letters + string.digits
ALPHABETS = {"hex": "0123456789abcdef", "HEX": "0123456789ABCDEF", "num": string.digits, "b62": LETTERS, "b64": LETTERS + "+/", "url": LETTERS + "_-",
             "up": string.ascii_uppercase + string.digits, "low": string.ascii_lowercase + string.digits, "b32": string.ascii_uppercase + "234567",
             "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"}
HIDING = "⁂"  # as in written.py: it goes when the test reads the file

# Keys and tokens with the prefix and the length that their provider documents.
CREDENTIALS = {
    "1password-account": "could not sign in with A3-{up:6}-{up:11}-{up:5}-{up:5}-{up:5}",
    "adobe-secret": "invalid_client p8e-{low:32}",
    "airtable-pat": "AUTHENTICATION_REQUIRED pat{b62:14}.{hex:64}",
    "artifactory-key": "Bad props: AKCp{b62:69}",
    "artifactory-reference": "docker login with cmVmd{b62:59} failed",
    "aws-bedrock": "expired: ABSK{b64:110}==",
    "aws-mws": "amzn.mws.{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12} has no access",
    "azure-client-secret": "AADSTS7000215: Invalid client secret provided: {b62:3}8Q~{url:34}",
    "azure-devops": "VssUnauthorizedException for {b62:76}AZDO{b62:4}",
    "azure-function-key": "https://shop.azurewebsites.net/api/orders?code={url:54}==",
    "clickhouse-cloud": "key 4b1d{b62:38} is disabled",
    "cloudflare-global": "X-Auth-Email: ops@example.com\nX-Auth-Key: {hex:37}",
    "cloudflare-origin": "v1.0-{hex:24}-{hex:146}",
    "databricks-oauth": "dose{hex:32} is not valid for this workspace",
    "datadog-app": "DD_APPLICATION_KEY={hex:40}",
    "datadog-app-prefix": "Forbidden: ddapp_{b62:34}",
    "defined-networking": "dnkey-{url:26}-{url:52} unknown",
    "digitalocean-spaces": "InvalidAccessKeyId DO00{up:16}",
    "discord-bot-alone": "login failed: MTA{b62:23}.G{b62:5}.{url:38}",
    "docker-oat": "dckr_oat_{url:32} denied",
    "doppler-service": "dp.st.prd.{b62:43} was revoked",
    "doppler-cli": "dp.ct.{b62:43} was revoked",
    "dropbox-short": "expired sl.{url:135}",
    "duffel": "duffel_test_{url:43} is not allowed here",
    "easypost": "EZAK{b62:54}",
    "facebook-app-token": "{num:15}|{url:27} was not accepted",
    "facebook-page-m": "OAuthException EAAM{b62:120}",
    "fastly": "Fastly-Key: {url:32}",
    "firebase-fcm": "AAAA{url:7}:APA91b{url:134} is not registered",
    "fly-io": "FlyV1 fm2_{b64:120}==",
    "fly-io-one": "fo1_{url:43} expired",
    "frameio": "fio-u-{url:64}",
    "gitlab-feature": "glffct-{url:20}",
    "gitlab-oauth": "gloas-{hex:64}",
    "gitlab-session": "_gitlab_session={hex:32}",
    "gocardless": "live_{url:40} is not permitted",
    "google-refresh": "invalid_grant: 1//0{url:60}",
    "google-cloud-hmac": "SignatureDoesNotMatch GOOG1E{up:55}",
    "grafana-cloud": "glc_{b62:80}",
    "grafana-old": "eyJrIjoi{b62:80}==",
    "harness": "pat.{url:22}.{hex:24}.{b62:20}",
    "huggingface-org": "api_org_{b62:34} is not authorized",
    "infracost": "ico-{b62:32}",
    "ionic": "ion_{low:42}",
    "jfrog-join": "jfrog: cmVmdGtuOjAx{b62:52}",
    "launchdarkly": "Invalid SDK key sdk-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}",
    "launchdarkly-api": "api-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12} is not a member",
    "linear-oauth": "lin_oauth_{hex:64}",
    "lob": "live_{hex:35} is not active",
    "mapbox-secret": "Not Authorized - Invalid Token sk.eyJ1Ijoic2hvcCIsImEiOiJj{b62:40}.{b62:22}",
    "maxmind": "{b62:6}_{b62:29}_mmk",
    "newrelic-ingest": "Invalid license key {hex:36}FFFFNRAL",
    "newrelic-admin": "NRAA-{hex:27}",
    "octopus": "API-{up:27}",
    "okta": "Authorization: SSWS 00{url:40}",
    "openai-session": "sess-{b62:40} has expired",
    "openshift-alone": "sha256~{url:43} is not valid",
    "openvpn-static": "-----BEGIN OpenVPN Static key V1-----\n{hex:32}\n{hex:32}\n-----END OpenVPN Static key V1-----\n",
    "pinecone": "pcsk_{b62:6}_{b62:63}",
    "plaid": "access-development-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}",
    "planetscale-password": "pscale_pw_{url:43}",
    "planetscale-oauth": "pscale_oauth_{url:43}",
    "prefect": "pnu_{b62:36}",
    "readme": "rdme_{low:70}",
    "resend": "API key is invalid: re_{b62:8}_{b62:24}",
    "scalingo": "tk-us-{url:48}",
    "sentry-dsn-region": "dsn https://{hex:32}@o{num:6}.ingest.us.sentry.io/{num:16} rejected",
    "shippo": "shippo_live_{hex:40}",
    "shopify-private": "shppa_{hex:32}",
    "shopify-partner": "shptka_{hex:32}",
    "slack-config": "xoxe.xoxp-1-{b64:160}",
    "snyk-pat": "snyk_uat.{hex:8}.{url:60}.{url:43}",
    "sourcegraph": "sgp_{hex:40}",
    "sourcegraph-new": "sgp_{hex:16}_{hex:40}",
    "splunk-hec": "Authorization: Splunk {hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}",
    "stripe-org": "Invalid API Key provided: sk_org_live_{b62:40}",
    "typeform": "tfp_{b62:44}_{b62:14}",
    "vault-batch": "permission denied: hvb.{url:140}",
    "vault-unseal": "Unseal Key 1: {b64:44}\nUnseal Key 2: {b64:44}\n",
    "yandex-iam": "t1.9{url:60}.{url:86}",
    "zoho": "1000.{hex:32}.{hex:32} is an invalid grant token",
    # -- keys that people keep in files
    "jwk-spaced": '{"kty": "OKP", "crv": "Ed25519", "d": "{url:43}", "x": "{url:43}"}',
    "ethereum": "private key: 0x{hex:64}",
    "bitcoin-xprv": "xprv9s21ZrQH143K{b58:96}",
    "mnemonic": "seed phrase: abandon ability able about above absent absorb abstract absurd abuse access accident",
    "kerberos-hash": "$krb5tgs$23$*svc_sql$CORP.LOCAL$MSSQLSvc/sql01*${hex:32}${hex:200}",
    "ntlm": "Administrator:500:aad3b435b51404eeaad3b435b51404ee:{hex:32}:::",
    "ntlm-auth": "Authorization: NTLM TlRMTVNTUAADAAAAGAAYAEAAAAAYABgAWAAAAA{b64:60}",
    "hawk": 'Authorization: Hawk id="dh37fgj492je", ts="1353832234", nonce="j4h3g2", mac="{b64:43}="',
    # -- hashes
    "shadow-des": "root:{b62:13}:19000:0:99999:7:::",
    "mysql-native": "*{HEX:40} is the hash of root",
    "mysql-show-grants": "CREATE USER 'shop'@'%' IDENTIFIED WITH 'mysql_native_password' AS '*{HEX:40}'",
    "postgres-md5": 'ALTER ROLE shop WITH PASSWORD \'md5{hex:32}\'',
    "ldap-base64": "userPassword:: e1NTSEF9{b64:40}",
    "cisco-type5": "enable secret 5 $1${b62:4}${b62:22}",
    "cisco-type7": "username ops password 7 {HEX:18}",
    "grub": "password_pbkdf2 root grub.pbkdf2.sha512.10000.{HEX:128}.{HEX:128}",
    "windows-cached": "$DCC2$10240#ada#{hex:32}",
    # -- passwords by their names
    "password-number-json": '{"user":"ada","password":12345678}',
    "password-number-yaml": "db:\n  user: shop\n  password: 12345678\n",
    "password-number-string": '{"user":"ada","password":"12345678"}',
    "password-word-json": '{"login":"ada","password":"sunshine"}',
    "password-word-yaml": "username: shop\npassword: sunshine\n",
    "password-told-colon": "The generated password is: Xk9-pq2-77z",
    "password-credentials": "credentials: shop:correct-horse-4",
    "password-userpass": "user=shop pass=correct-horse-4 host unreachable",
    "password-sshpass": "sshpass -p 'correct-horse-4' ssh root@db",
    "password-ftp": "USER shop\r\n331 Please specify the password.\r\nPASS correct-horse-4\r\n530 Login incorrect.\r\n",
    "password-pop3": "+OK ready\nUSER shop\nPASS hunter2secret\n-ERR\n",
    "password-smtp-auth": "AUTH LOGIN\n334 VXNlcm5hbWU6\nc2hvcA==\n334 UGFzc3dvcmQ6\nY29ycmVjdC1ob3JzZQ==\n535 failed",
    "password-smtp-plain": "AUTH PLAIN AHNob3AAY29ycmVjdC1ob3JzZS00",
    "password-imap": 'a1 LOGIN "shop" "correct-horse-4"',
    "password-redis-conf": "requirepass correct-horse-4\n",
    "password-xml-soap": "<wsse:Password Type=\"#PasswordText\">correct-horse-4</wsse:Password>",
    "password-python-dataclass": "Config(user='shop', password='sunshine')",
    "password-multipart": 'Content-Disposition: form-data; name="password"\r\n\r\ncorrect-horse-4\r\n',
    "password-french": "mot de passe : correct-horse-4",
    "password-spanish": "contraseña: correct-horse-4",
    "password-wifi": 'network={\n  ssid="shop"\n  psk="correct-horse-4"\n}\n',
    "password-snmp": "snmp-server community S3cr3tC0mm RW",
    "password-csv": "user,password\nada,correct-horse-4\n",
    "password-table": "| user | password |\n|---|---|\n| ada | correct-horse-4 |\n",
    "password-pgbouncer": '"shop" "md5{hex:32}"\n',
    "password-hint": "admin password set to correct-horse-4",
    # -- cookies, sessions, signed addresses
    "cookie-wordpress": "wordpress_logged_in_{hex:32}=admin%7C1712345678%7C{b62:43}%7C{hex:64}",
    "cookie-cloudfront": "CloudFront-Signature={url:200}; CloudFront-Key-Pair-Id=K2{up:12}",
    "session-json": '{"sessionId": "{hex:32}", "user": 7}',
    "saml": "SAMLResponse=PHNhbWxwOlJlc3BvbnNl{b64:200}",
    "oauth-code": "https://shop.example.com/callback?code=4/0A{url:60}&state=xyz",
    "docker-login": "docker login -u shop -p correct-horse-4 registry.example.com",
    "rclone": "[shop]\ntype = sftp\npass = {b62:30}\n",
    "fernet": "Fernet key {url:43}= must be 32 bytes",
    "wordpress-salts": "define('AUTH_KEY',         '{b62:40}|{b62:20}');",
    "recovery-codes": "recovery codes: {hex:5}-{hex:5}, {hex:5}-{hex:5}, {hex:5}-{hex:5}",
}


def key(alphabet, length, name, number):
    chance = random.Random(f"{name} {number}")
    made = "".join(chance.choice(ALPHABETS[alphabet]) for _ in range(length))
    return made[:2] + HIDING + made[2:] if length > 7 else made


def filled(text, name):
    numbers = iter(range(1000))
    return re.sub(r"\{(\w+):(\d+)\}", lambda m: key(m[1], int(m[2]), name, next(numbers)) if m[1] in ALPHABETS else m[0], text)


def seen_name(folder, name):
    while int(hashlib.sha256(f"{folder}/{name}.txt".encode()).hexdigest(), 16) % 3 == 0:
        name += "-more"
    return name


def texts():
    """(half, folder, name, text) of each text."""
    parts = {("leaks", "credential"): CREDENTIALS, **formats_words.PARTS, **formats_code.PARTS}
    for (half, folder), named in parts.items():
        for name, text in named.items():
            name = "f-" + name
            yield half, folder, seen_name(folder, name), filled(text, name)


def make(corpus, _):
    for half, folder, name, text in texts():
        corpus.put(f"{half}/{folder}/{name}", text, shorten=False)
