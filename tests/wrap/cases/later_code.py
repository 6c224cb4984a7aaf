"""The third corpus: compilers, interpreters, packages."""
from labels import (ABSENT, CHILD, DENIED, EXISTS, FILE, FUNCTION, IMPORT, LOCK, MALFORMED, NAME, NO_HOST, PATTERN, PROGRAM, PROTOCOL,
                    REFUSED, RUNTIME, STATE, STATUS, SYNTAX, TIMED, TLS, TYPES, VALUE, answer, case)
from cases.code import C, CRATE, JAVA, PROJECT
from cases.packages import APT, DPKG, LIST, OWN, PACKAGE, PIP


def python(name, code, label, **more):
    case("python-" + name, ["python3", "-c", code], label, **more)


def node(name, code, label, **more):
    case("node-" + name, ["node", "-e", code], label, **more)


case("python-print-statement", "python3 old.py", SYNTAX, setup="echo 'print \"hello\"' > old.py")
case("python-string-open", "python3 app.py", SYNTAX, setup="echo 'name = \"text' > app.py")
case("python-relative-import", "python3 app/main.py", IMPORT, setup="mkdir app; echo 'from .tools import run' > app/main.py")
case("python-circular-import", "python3 a.py", IMPORT + ("PROGRAM_ERROR",), setup="echo 'from b import two' > a.py; printf 'from a import one\\ntwo = 2\\n' > b.py")
case("python-unittest-no-module", "python3 -m unittest tests.test_app", IMPORT)
case("python-port-denied", "python3 -m http.server 80", DENIED, user=True)
case("python-argparse-int", "python3 app.py --port web", PATTERN, setup="printf 'import argparse\\np = argparse.ArgumentParser()\\np.add_argument(\"--port\", type=int)\\np.parse_args()\\n' > app.py")
python("environment-missing", "import os; os.environ['DATABASE_URL']", ("NOT_CONFIGURED", "NOT_FOUND", "UNBOUND_VARIABLE", "MISSING_ARGUMENT", *RUNTIME))
python("none-attribute", "import re; re.match('a', 'b').group(0)", TYPES + ("RUNTIME_ERROR",))
python("not-subscriptable", "x = None\nprint(x['id'])", TYPES + ("RUNTIME_ERROR",))
python("keyword", "def f(a): pass\nf(colour=1)", ("TYPE_ERROR", "ARG_ERROR", "INVALID_ARGUMENT", "UNKNOWN_OPTION", "PROGRAM_ERROR", "RUNTIME_ERROR"))
python("unpack", "a, b = 'x y z'.split()", ("VALUE_ERROR", "RUNTIME_ERROR", "PROGRAM_ERROR", "INVALID_LENGTH"))
python("local-unbound", "n = 0\ndef f():\n    n += 1\nf()", NAME + ("RUNTIME_ERROR",))
python("date-form", "import datetime; datetime.datetime.strptime('03/04', '%Y-%m-%d')", ("VALUE_ERROR", "RUNTIME_ERROR", *PATTERN))
python("file-encoding", "open('a.csv', encoding='utf-8').read()", MALFORMED + ("VALUE_ERROR",), setup="printf 'caf\\351\\n' > a.csv")
python("json-empty", "import json; json.load(open('a.json'))", MALFORMED + ("END_OF_FILE",), setup="touch a.json")
python("child-timeout", "import subprocess; subprocess.run(['sleep', '9'], timeout=0.3)", TIMED, retry=None)
python("tls-to-plain", "import urllib.request as u; u.urlopen('https://127.0.0.1:8080/')", PROTOCOL)
python("own-exception", "class PaymentError(Exception): pass\nraise PaymentError('card was declined')", RUNTIME)

case("node-import-outside-module", "node app.js", SYNTAX + ("NOT_CONFIGURED",), setup="echo 'import fs from \"fs\"; import x from \"x\"' > app.js; echo '{\"type\": \"commonjs\"}' > package.json")
case("node-require-in-module", "node app.mjs", NAME + ("RUNTIME_ERROR", "IMPORT_ERROR"), setup="echo 'const fs = require(\"fs\")' > app.mjs")
case("node-no-export", "node app.mjs", IMPORT + ("SYNTAX_ERROR", "PROGRAM_ERROR"), setup="echo 'import { total } from \"./b.mjs\"' > app.mjs; echo 'export const sum = 1' > b.mjs")
case("node-package-json-broken", "node app.js", MALFORMED + ("SYNTAX_ERROR", "NOT_CONFIGURED"), setup="echo '{\"type\": }' > package.json; echo 'import(\"./x.js\")' > app.js")
node("undefined-property", "const data = {}; data.items.map(x => x)", TYPES + ("RUNTIME_ERROR",))
node("constant-assigned", "const a = 1; a = 2", ("TYPE_ERROR", "PROGRAM_ERROR", "SYNTAX_ERROR", "RUNTIME_ERROR"))
node("not-iterable", "const [a] = {}", TYPES + ("RUNTIME_ERROR",))
node("json-html", "JSON.parse('<!DOCTYPE html>')", MALFORMED + ("SYNTAX_ERROR",))
node("fetch-no-host", "fetch('http://nowhere.example/')", NO_HOST, retry=True)
node("argument-type", "require('fs').readFileSync(process.env.CONFIG_FILE)", TYPES + ("RUNTIME_ERROR", "INVALID_ARGUMENT", "MISSING_ARGUMENT", "NOT_CONFIGURED"))
node("remove-not-empty", "const fs = require('fs'); fs.mkdirSync('a/b', {recursive: true}); fs.rmdirSync('a')", STATE)
node("write-denied", "require('fs').writeFileSync('/etc/app.conf', 'a')", DENIED + ("OUTPUT_FAILED",), user=True)

case("npm-view-missing", "npm view nothing-here", ABSENT)
case("npm-install-private-404", "npm install", ABSENT, setup="echo '{\"name\": \"a\", \"version\": \"1.0.0\", \"dependencies\": {\"@group/tools\": \"^1.0.0\"}}' > package.json")
case("npm-workspace-protocol", "npm install", VALUE + ("NOT_IMPLEMENTED", "MALFORMED_INPUT", "PATTERN_MISMATCH"), setup="echo '{\"name\": \"a\", \"version\": \"1.0.0\", \"dependencies\": {\"b\": \"workspace:*\"}}' > package.json")
case("npm-audit-no-lock", "npm audit", FILE + ("PRECONDITION", "NOT_CONFIGURED"), setup=PACKAGE)
case("npm-start-port-used", "npm start", ("CONFLICT", "ALREADY_EXISTS", "LOCKED", "UNAVAILABLE") + CHILD, retry=None, setup=(
    "echo '{\"name\": \"a\", \"version\": \"1.0.0\", \"scripts\": {\"start\": \"node server.js\"}}' > package.json; echo 'require(\"http\").createServer().listen(8080, \"127.0.0.1\")' > server.js"))
case("npm-bad-name", ["npm", "install", "My Tools!"], PATTERN, setup=PACKAGE)
case("npm-install-502", "npm install demo --registry http://127.0.0.1:8080/status/502/", STATUS[502], retry=True, setup=PACKAGE)
case("npm-git-missing", "npm install git+file:///mnt/dir/repo", ABSENT + CHILD + ("INPUT_UNREADABLE",), setup=PACKAGE)

case("pip-wrong-platform", "pip install --target lib ./demo-1.0-cp27-none-win32.whl", ("PRECONDITION", "CONFLICT", "NOT_IMPLEMENTED", *VALUE), env=PIP, setup="touch demo-1.0-cp27-none-win32.whl")
case("pip-bad-specifier", ["pip", "install", "demo>1.0.0 <2"], PATTERN + ("SYNTAX_ERROR",), env=PIP)
case("pip-editable-no-project", "pip install -e .", ABSENT + VALUE + ("MALFORMED_INPUT", "NOT_CONFIGURED", "INPUT_UNREADABLE"), env=PIP)
case("pip-untrusted", "pip install --target lib --index-url https://localhost:8443/simple/ demo", TLS + ("NOT_FOUND",), env=PIP, retry=None)
case("pip-pyproject-broken", "pip install --target lib ./app", MALFORMED + ("SYNTAX_ERROR", "NOT_CONFIGURED"), env=PIP, setup="mkdir app; echo '[project' > app/pyproject.toml")
case("pip-download-refused", "pip download http://127.0.0.1:9/demo-1.0-py3-none-any.whl", REFUSED, env=PIP, retry=True)

ENTRY = "Version: 1\\nArchitecture: all\\nMaintainer: a <a@b.example>\\nDescription: a\\nSize: 10\\nSHA256: %064d\\n"
REPOSITORY = APT + ("mkdir repo; printf 'Package: app\\nDepends: part, absent\\nFilename: ./app.deb\\n" + ENTRY + "\\nPackage: tool\\nDepends: part\\nFilename: ./tool.deb\\n" + ENTRY +
                    "\\nPackage: part\\nFilename: ./part.deb\\n" + ENTRY + "\\nPackage: other\\nConflicts: part\\nFilename: ./other.deb\\n" + ENTRY + "' 0 0 0 0 > repo/Packages\n"
                    "echo 'deb [trusted=yes] file:/mnt/dir/repo ./' > apt/etc/sources.list; apt-get update -qq >/dev/null\n")
case("apt-get-no-candidate", "apt-get install -y absent", ABSENT, env=OWN, setup=REPOSITORY)
case("apt-get-no-answer", "apt-get install tool", ("CANCELLED", "PRECONDITION", "MISSING_ARGUMENT"), env=OWN, setup=REPOSITORY)
case("apt-get-archive-missing", "apt-get install -y tool", ABSENT + ("INPUT_UNREADABLE",), env=OWN, setup=REPOSITORY)
case("apt-get-conflicting", "apt-get install -y part other", ("CONFLICT", "FAILED_DEPENDENCY", "PRECONDITION"), env=OWN, setup=REPOSITORY)
case("apt-get-no-release", "apt-get update", ("NOT_FOUND", "NOT_CONFIGURED", "NOT_AUTHORIZED", "FORBIDDEN", "PRECONDITION"), env=OWN, setup=APT + (
    "mkdir repo; touch repo/Packages; echo 'deb file:/mnt/dir/repo ./' > apt/etc/sources.list"))
case("apt-get-untrusted", "apt-get update -o APT::Update::Error-Mode=any", TLS, env=OWN, setup=LIST % "https://localhost:8443/debian")
case("apt-get-install-locked", "apt-get install -y tool", LOCK, retry=True, env=OWN, setup=REPOSITORY + (
    "python3 -c 'import fcntl, time; f = open(\"apt/dpkg/lock-frontend\", \"w\"); fcntl.lockf(f, fcntl.LOCK_EX); time.sleep(30)' >/dev/null 2>&1 &\nsleep 2"))
DEB = ("mkdir -p {0}/DEBIAN {0}/opt root; echo {0} > {0}/opt/file; printf 'Package: {0}\\nVersion: 1\\nArchitecture: {1}\\nMaintainer: a <a@b.example>\\nDescription: a\\n{2}' > {0}/DEBIAN/control; {3}\n"
       "dpkg-deb -b {0} {0}.deb\n")
INTO = "dpkg --admindir=d --root=root --force-not-root --force-script-chrootless "
case("dpkg-architecture", INTO + "-i app.deb", ("CONFLICT", "PRECONDITION", "INVALID_ARGUMENT", "NOT_IMPLEMENTED", "VALUE_ERROR"), setup=DPKG + DEB.format("app", "s390x", "", "true"))
case("dpkg-overwrite", INTO + "-i two.deb", ("CONFLICT", "ALREADY_EXISTS"), setup=DPKG + DEB.format("one", "all", "", "true") + DEB.format("two", "all", "", "true") + INTO + "-i one.deb")
case("dpkg-remove-needed", INTO + "-r one", ("CONFLICT", "FAILED_DEPENDENCY", "PRECONDITION"), setup=DPKG + DEB.format("one", "all", "", "true") + DEB.format("two", "all", "Depends: one\\n", "mv two/opt/file two/opt/other") + INTO + "-i one.deb two.deb")
case("dpkg-list-files-missing", "dpkg -L nothing-here", ABSENT)
case("dpkg-info-missing", "dpkg-deb -I app.deb", FILE)

case("gcc-implicit-strict", "gcc -Werror=implicit-function-declaration -c a.c", FUNCTION, setup=C % "int main(void) { return total(1); }")
case("gcc-no-member", "gcc -c a.c", NAME + ("TYPE_ERROR",), setup=C % "struct s { int a; }; int f(struct s *p) { return p->colour; }")
case("gcc-no-main", "gcc a.c", FUNCTION + ("NOT_FOUND",), setup=C % "int f(void) { return 0; }")
case("gcc-math-library", "gcc a.c", FUNCTION + ("NOT_FOUND",), setup="printf '#include <math.h>\\nint main(int n, char **v) { (void)v; return (int)pow(n, 0.5 + n); }\\n' > a.c")
case("gcc-argument-count", "gcc -c a.c", ("ARG_ERROR", "PROGRAM_ERROR", "SYNTAX_ERROR", "INVALID_ARGUMENT", "TYPE_ERROR"), setup=C % "int f(int a); int main(void) { return f(1, 2); }")
case("clang-redefinition", "clang -c a.c", PROGRAM + ("CONFLICT", "ALREADY_EXISTS"), setup=C % "int f(void) { return 0; } int f(void) { return 1; }")
case("clang-conversion", "clang -c a.c", TYPES, setup=C % "int main(void) { int *p = 5; char c = p; struct { int a; } s = p; return c; }")
case("clang-werror", "clang -Wall -Wextra -Werror -c a.c", PROGRAM, setup=C % "int f(int a) { int b; return 0; }")
case("make-test-fails", "make test", CHILD, setup="printf 'test:\\n\\t@echo 3 tests, 1 failed\\n\\t@exit 2\\n' > Makefile")
case("make-link-fails", "make", FUNCTION + CHILD + ("NOT_FOUND",), setup=C % "int helper(void); int main(void) { return helper(); }" + "printf 'app: a.c\\n\\tgcc -o app a.c\\n' > Makefile")
case("make-other-file-missing", "make -f build.mk", FILE)
case("make-no-rule-for-c", "make app.o", ("NOT_FOUND", "UNKNOWN_COMMAND"))
case("cmake-no-compiler", "cmake -S . -B build", ABSENT + ("NOT_CONFIGURED", "PRECONDITION", "INVALID_ARGUMENT"), setup=PROJECT % "", env={"CC": "nocc"})
case("cmake-other-source-cached", "cmake -S two -B build", STATE, setup="mkdir one two; for d in one two; do printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a NONE)\\n' > $d/CMakeLists.txt; done; cmake -S one -B build")
case("cmake-build-no-target", "cmake --build build --target deploy", ("NOT_FOUND", "UNKNOWN_COMMAND"), setup="printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a NONE)\\n' > CMakeLists.txt; cmake -S . -B build")
case("cmake-subdirectory-missing", "cmake -S . -B build", FILE, setup="printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a NONE)\\nadd_subdirectory(lib)\\n' > CMakeLists.txt")
case("cargo-borrow", "cargo check --offline", PROGRAM + ("TYPE_ERROR", "CONFLICT"), setup=CRATE % ("", "fn main() { let mut v = vec![1]; let a = &v[0]; v.push(2); println!(\"{}\", a); }"))
case("cargo-unresolved-import", "cargo check --offline", IMPORT + ("UNBOUND_VARIABLE", "PROGRAM_ERROR"), setup=CRATE % ("", "use serde::Serialize; fn main() {}"))
case("cargo-unwrap-none", "cargo run -q --offline", RUNTIME + ("PROGRAM_ERROR",), setup=CRATE % ("", "fn main() { let v: Option<i32> = std::env::args().nth(5).map(|_| 1); println!(\"{}\", v.unwrap()); }"))
case("cargo-init-exists", "cargo init", EXISTS, setup=CRATE % ("", "fn main() {}"))
case("cargo-no-subcommand-installed", "cargo audit", ("UNKNOWN_COMMAND", "NOT_FOUND"), setup=CRATE % ("", "fn main() {}"))
case("java-stack-overflow", "java Main.java", RUNTIME + ("PROGRAM_ERROR", "LOOP_DETECTED"), setup=JAVA % "class Main { static int f(int n) { return f(n + 1) + 1; } public static void main(String[] a) { f(0); } }")
case("java-number-format", "java Main.java", RUNTIME + PATTERN, setup=JAVA % "class Main { public static void main(String[] a) { Integer.parseInt(\"ten\"); } }")
case("java-no-main", "java Main", ("NOT_FOUND", "UNDEFINED_FUNCTION", "PROGRAM_ERROR"), setup=JAVA % "class Main { }" + "javac Main.java")
case("java-source-error", "java Main.java", NAME + ("UNDEFINED_FUNCTION", "IMPORT_ERROR", "PACKAGE_ERROR", "NOT_FOUND"), setup=JAVA % "class Main { public static void main(String[] a) { system.out.println(1); } }")
case("java-unchecked-exception", "javac Main.java", PROGRAM, setup=JAVA % "class Main { void f() { Thread.sleep(5); } }")

answer("dpkg-compare-false", "dpkg --compare-versions 1.0 gt 2.0")
answer("npm-outdated", "npm outdated", setup="echo '{\"name\": \"a\", \"version\": \"1.0.0\", \"dependencies\": {\"demo\": \"^1.0.0\"}}' > package.json; mkdir -p node_modules/demo; echo '{\"name\": \"demo\", \"version\": \"0.9.0\"}' > node_modules/demo/package.json")
