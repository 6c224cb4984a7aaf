"""Packages: npm, npx, pip, apt-get, apt-cache, dpkg."""
from labels import (ABSENT, AGAIN, CHILD, COMMAND, CONFIG, DENIED, FILE, LOCK, LOGIN, MALFORMED, NO_HOST, OPERAND, OPTION, PATTERN, REFUSED, STATUS, TIMED,
                    TLS, VALUE, case)

PACKAGE = "printf '{\"name\": \"app\", \"version\": \"1.0.0\", \"scripts\": {\"fail\": \"exit 3\", \"missing\": \"deployer\", \"test\": \"node a.test.js\"}}' > package.json\n"
REGISTRY = "http://127.0.0.1:8080"

case("npm-unknown-command", "npm biuld", COMMAND)
case("npm-no-script", "npm run deploy", ("NOT_FOUND", "UNKNOWN_COMMAND", "MISSING_ARGUMENT"), setup=PACKAGE)
case("npm-no-package-json", "npm run build", FILE)
case("npm-bad-package-json", "npm install", MALFORMED, setup="echo '{\"name\": ' > package.json")
case("npm-script-fails", "npm run fail", CHILD, setup=PACKAGE)
case("npm-script-command-missing", "npm run missing", ("UNKNOWN_COMMAND", "NOT_FOUND") + CHILD, setup=PACKAGE)
case("npm-test-throws", "npm test", CHILD + ("SIMPLE_ERROR",), setup=PACKAGE + "echo 'throw new Error(\"sum is wrong\")' > a.test.js")
case("npm-package-404", "npm install nothing-here", ABSENT, setup=PACKAGE)
case("npm-version-missing", "npm install demo@9", ABSENT, setup=PACKAGE)
case("npm-integrity", "npm install demo", ("CONFLICT", "MALFORMED_INPUT", "NONCONFORMING", "BAD_GATEWAY", "VALIDATION_ERROR"), setup=PACKAGE, retry=None)
case("npm-peer-conflict", "npm install peer demo@1", ("CONFLICT", "PRECONDITION", "FAILED_DEPENDENCY", "NOT_FOUND"), setup=PACKAGE)
for status in (401, 403, 429, 500, 503):
    case("npm-view-%d" % status, "npm view demo --registry %s/status/%d/" % (REGISTRY, status), STATUS[status], retry=AGAIN.get(status, False))
case("npm-refused", "npm install demo --registry http://127.0.0.1:9/", REFUSED, retry=True, setup=PACKAGE)
case("npm-no-host", "npm view demo --registry http://nowhere.example/", NO_HOST, retry=True)
case("npm-untrusted", "npm view demo --registry https://localhost:8443/registry/", TLS)
case("npm-slow", "npm view demo --fetch-timeout 1000 --registry http://127.0.0.1:8080/slow/", TIMED, retry=None)
case("npm-publish-login", "npm publish", LOGIN, setup=PACKAGE)
case("npm-ci-no-lock", "npm ci", FILE + ("PRECONDITION", "NOT_CONFIGURED"), setup=PACKAGE)
case("npm-ci-out-of-sync", "npm ci", ("CONFLICT", "PRECONDITION"), setup=(
    "printf '{\"name\": \"app\", \"version\": \"1.0.0\", \"dependencies\": {\"demo\": \"^1.0.0\"}}' > package.json\n"
    "printf '{\"name\": \"app\", \"version\": \"1.0.0\", \"lockfileVersion\": 3, \"packages\": {\"\": {\"name\": \"app\", \"version\": \"1.0.0\"}}}' > package-lock.json"))
case("npm-engine", "npm install", ("PRECONDITION", "NOT_CONFIGURED", "CONFLICT", "UPGRADE_REQUIRED", "NOT_IMPLEMENTED"), setup=(
    "printf '{\"name\": \"app\", \"version\": \"1.0.0\", \"engines\": {\"node\": \">=99\"}}' > package.json; echo 'engine-strict=true' > .npmrc"))
case("npx-no-package", "npx --no nothing-here", ("NOT_FOUND", "CANCELLED", "UNKNOWN_COMMAND"))
case("npx-404", "npx --yes nothing-here", ABSENT)
case("npm-whoami", "npm whoami", LOGIN)
case("npm-pack-no-json", "npm pack", FILE)

PIP = {"PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_RETRIES": "0"}
LOCAL = "--target lib --index-url http://127.0.0.1:8080"
case("pip-no-package", "pip install %s/simple/ nothing-here" % LOCAL, ABSENT + ("IMPORT_ERROR", "PACKAGE_ERROR"), env=PIP)
case("pip-no-version", "pip install %s/simple/ demo==9" % LOCAL, ABSENT + ("IMPORT_ERROR", "PACKAGE_ERROR"), env=PIP)
case("pip-hash", "pip install %s/simple/ demo" % LOCAL, ("CONFLICT", "MALFORMED_INPUT", "NONCONFORMING", "BAD_GATEWAY", "VALIDATION_ERROR"), env=PIP, retry=None)
case("pip-refused", "pip install --target lib --index-url http://127.0.0.1:9/ demo", REFUSED + ("NOT_FOUND",), env=PIP, retry=None)
case("pip-no-host", "pip install --target lib --index-url http://nowhere.example/ demo", NO_HOST + ("NOT_FOUND",), env=PIP, retry=None)
case("pip-requirements-missing", "pip install -r requirements.txt", FILE, env=PIP)
case("pip-requirements-broken", "pip install -r requirements.txt", ("MALFORMED_INPUT", "SYNTAX_ERROR", "INVALID_ARGUMENT", "PATTERN_MISMATCH", "VALUE_ERROR", "ARG_ERROR"), env=PIP, setup="echo 'demo=>=1' > requirements.txt")
case("pip-unknown-command", "pip isntall demo", COMMAND)
case("pip-unknown-option", "pip install --globally demo", OPTION)
case("pip-nothing", "pip install", OPERAND, env=PIP)
case("pip-externally-managed", "pip install demo", DENIED + ("PRECONDITION", "CONFLICT", "NOT_CONFIGURED"))
case("pip-no-project", "pip install ./app", ("NOT_FOUND", "INVALID_ARGUMENT", "ARG_ERROR", "INPUT_UNREADABLE"), env=PIP)
case("pip-not-a-project", "pip install ./app", ("NOT_FOUND", "INVALID_ARGUMENT", "MALFORMED_INPUT", "NOT_CONFIGURED", "ARG_ERROR"), env=PIP, setup="mkdir app")
case("pip-bad-wheel", "pip install --target lib ./demo-1.0-py3-none-any.whl", MALFORMED, env=PIP, setup="echo text > demo-1.0-py3-none-any.whl")
case("pip-401", "pip install %s/status/401/ demo" % LOCAL, LOGIN + ("NOT_FOUND",), env=PIP)
case("pip-download-503", "pip download http://127.0.0.1:8080/status/503/demo-1.0-py3-none-any.whl", STATUS[503], env=PIP, retry=True)
case("pip-download-404", "pip download http://127.0.0.1:8080/status/404/demo-1.0-py3-none-any.whl", STATUS[404], env=PIP)
case("pip-show-missing", "pip show nothing-here", ABSENT)

APT = ("mkdir -p apt/etc/apt.conf.d apt/etc/preferences.d apt/etc/sources.list.d apt/etc/trusted.gpg.d apt/lists/partial apt/cache/archives/partial apt/dpkg; touch apt/dpkg/status apt/etc/sources.list\n"
       "printf 'Dir::Etc \"/mnt/dir/apt/etc\";\\nDir::State \"/mnt/dir/apt\";\\nDir::State::status \"/mnt/dir/apt/dpkg/status\";\\nDir::Cache \"/mnt/dir/apt/cache\";\\nDir::State::lists \"/mnt/dir/apt/lists\";\\n"
       "APT::Sandbox::User \"root\";\\nAcquire::Retries \"0\";\\n' > apt.conf\n")
LIST = APT + "echo 'deb [trusted=yes] %s stable main' > apt/etc/sources.list\n"
OWN = {"APT_CONFIG": "/mnt/dir/apt.conf"}
case("apt-get-no-package", "apt-get install -y nothing-here", ABSENT, setup=APT, env=OWN)
case("apt-get-no-version", "apt-get install -y nothing=1.0", ABSENT, setup=APT, env=OWN)
case("apt-get-unknown-command", "apt-get isntall nothing", COMMAND, setup=APT, env=OWN)
case("apt-get-unknown-option", "apt-get --quick install nothing", OPTION, setup=APT, env=OWN)
case("apt-get-not-root", "apt-get install -y hello", DENIED, user=True)
case("apt-get-update-not-root", "apt-get update", DENIED, user=True)
case("apt-get-locked", "apt-get update", LOCK, retry=True, env=OWN, setup=APT + (
    "python3 -c 'import fcntl, time; f = open(\"apt/lists/lock\", \"w\"); fcntl.lockf(f, fcntl.LOCK_EX); time.sleep(30)' >/dev/null 2>&1 &\nsleep 2"))
case("apt-get-update-404", "apt-get update -o APT::Update::Error-Mode=any", ABSENT, setup=LIST % "http://127.0.0.1:8080/status/404", env=OWN)
case("apt-get-update-refused", "apt-get update -o APT::Update::Error-Mode=any", ("CONNECTION_REFUSED",), retry=True, setup=LIST % "http://127.0.0.1:9", env=OWN)
case("apt-get-update-no-host", "apt-get update -o APT::Update::Error-Mode=any", NO_HOST, retry=True, setup=LIST % "http://nowhere.example", env=OWN)
case("apt-get-update-503", "apt-get update -o APT::Update::Error-Mode=any", STATUS[503], retry=True, setup=LIST % "http://127.0.0.1:8080/status/503", env=OWN)
case("apt-get-sources-broken", "apt-get update", MALFORMED + ("SYNTAX_ERROR", "NOT_CONFIGURED"), setup=APT + "echo 'debb http://a.example stable' > apt/etc/sources.list", env=OWN)
case("apt-get-remove-missing", "apt-get remove -y nothing-here", ABSENT, setup=APT, env=OWN)
case("apt-get-source-no-uris", "apt-get source hello", CONFIG + ("NOT_FOUND",), setup=APT, env=OWN)
case("apt-cache-show-missing", "apt-cache show nothing-here", ABSENT, setup=APT, env=OWN)
case("apt-get-unmet", "apt-get install -y app", ("FAILED_DEPENDENCY", "CONFLICT", "PRECONDITION", "NOT_FOUND"), env=OWN, setup=APT + (
    "mkdir repo; printf 'Package: app\\nVersion: 1\\nArchitecture: all\\nMaintainer: a <a@b.example>\\nDepends: missing-part\\nDescription: a\\nFilename: ./app.deb\\nSize: 10\\nSHA256: %064d\\n' 0 > repo/Packages\n"
    "echo 'deb [trusted=yes] file:/mnt/dir/repo ./' > apt/etc/sources.list; apt-get update -qq >/dev/null"))
DPKG = "mkdir -p d/info d/updates; touch d/status d/available\n"
case("dpkg-missing-file", "dpkg -i app.deb", FILE)
case("dpkg-not-a-package", "dpkg --admindir=d -i app.deb", MALFORMED, setup=DPKG + "echo text > app.deb")
case("dpkg-not-root", "dpkg -i app.deb", DENIED, setup="echo text > app.deb", user=True)
case("dpkg-unknown-option", "dpkg --installl app.deb", OPTION)
case("dpkg-no-action", "dpkg", OPERAND)
case("dpkg-status-missing", "dpkg -s nothing-here", ABSENT)
case("dpkg-l-missing", "dpkg -l nothing-here", ABSENT)
case("dpkg-search-none", "dpkg -S /mnt/dir/none", ABSENT)
case("dpkg-truncated", "dpkg --admindir=d --unpack --no-act app.deb", MALFORMED, setup=DPKG + "printf '!<arch>\\n' > app.deb")
case("dpkg-dependency", "dpkg --admindir=d --root=root --force-not-root --force-script-chrootless -i app.deb", ("FAILED_DEPENDENCY", "CONFLICT", "PRECONDITION", "NOT_FOUND"), setup=DPKG + (
    "mkdir -p p/DEBIAN root; printf 'Package: app\\nVersion: 1\\nArchitecture: all\\nMaintainer: a <a@b.example>\\nDepends: missing-part\\nDescription: a\\n' > p/DEBIAN/control; dpkg-deb -b p app.deb"))
case("dpkg-deb-bad-control", "dpkg-deb -b p app.deb", ("MALFORMED_INPUT", "FIELD_REQUIRED", "NONCONFORMING", "VALIDATION_ERROR", "SYNTAX_ERROR"), setup="mkdir -p p/DEBIAN; echo 'Package: app' > p/DEBIAN/control")
case("dpkg-compare-versions", "dpkg --compare-versions 1.0 bigger 2.0", VALUE)
