"""The fifth corpus: everyday failures of the programs that people use most."""
from labels import (ABSENT, BEFORE, CHILD, COMMAND, CONFIG, DENIED, DROPPED, EXISTS, FILE, FULL, FUNCTION, IMPORT, KIND, LOGIN, MALFORMED, NAME, NO_HOST, NO_TARGET, NOT_ALLOWED,
                    OPERAND, OPTION, PATTERN, PROGRAM, RANGE, REFUSED, RUNTIME, STATE, STATUS, SYNTAX, TIMED, TLS, TYPES, VALUE, answer, case)
from cases.containers import KUBE
from cases.data import DB, JSON, MISSING, VIOLATED
from cases.network import HTTP
from cases.packages import PACKAGE, REGISTRY
from cases.vcs import FORK, REMOTE, REPO, WHO

# git
case("git-log-file-missing", "git log -- ", ("NOT_FOUND", "PRECONDITION", "CONFLICT"), setup=WHO + "git init -q .")
case("git-checkout-submodule", "git checkout HEAD~3", ABSENT, setup=REPO)
case("git-fetch-bad-option", "git fetch --depht 1", OPTION, setup=REPO)
case("git-remote-rename-missing", "git remote rename up origin", ABSENT, setup=REPO)
case("git-push-mirror-refused", "git push git://127.0.0.1:9/repo.git main", REFUSED, setup=REPO, retry=True)
case("git-clone-ftp", "git clone http://127.0.0.1:8080/status/405/repo.git", STATUS[405])
case("git-merge-conflict-file", "git merge side", STATE, setup=REPO + "git checkout -qb side; git rm -q a.txt; git commit -qm s; git checkout -q main; echo two > a.txt; git commit -qam m")
case("git-pull-rebase-dirty", "git pull --rebase", STATE + CONFIG, setup=REMOTE + "cd one; git branch -q -u origin/main 2>/dev/null; echo x >> a", cwd="one")
case("git-tag-delete-two", "git tag -d v1 v2", ABSENT, setup=REPO)
case("git-stash-show", "git stash show", ABSENT + BEFORE, setup=REPO)
case("git-diff-outside", "git diff --cached", ("NOT_FOUND", "PRECONDITION", "NOT_CONFIGURED", "ARG_ERROR", "UNKNOWN_OPTION"))
case("git-rm-cached-staged", "git rm a.txt", STATE, setup=REPO + "echo two > a.txt")
case("git-reset-path", "git reset --hard a.txt", ("INVALID_ARGUMENT", "ARG_ERROR", "VALUE_ERROR"), setup=REPO)
case("git-commit-all-paths", "git commit -a -m x a.txt", ("INVALID_ARGUMENT", "ARG_ERROR"), setup=REPO + "echo x > a.txt")
case("git-branch-two-names", "git branch a b c", ("ARG_ERROR", "INVALID_ARGUMENT"), setup=REPO)
case("git-show-hash", "git cat-file -p HEAD:nothing", ABSENT, setup=REPO)
case("git-archive-path", "git archive HEAD docs", ABSENT, setup=REPO)
case("git-clean-outside", "git clean -n ../..", VALUE, setup=REPO)

# curl, wget
case("curl-no-scheme-host", "curl -sS server_without_dots/x", NO_HOST, retry=True)
case("curl-404-output", "curl -f -o out.json %s/status/404/item" % HTTP, STATUS[404])
case("curl-401-basic", "curl -fsS -u user:wrong %s/status/401/item" % HTTP, STATUS[401])
case("curl-500-show", "curl -f %s/status/500/item" % HTTP, STATUS[500], retry=None)
case("curl-post-409", "curl -fsS -X POST %s/status/409/items" % HTTP, STATUS[409])
case("curl-patch-412", "curl -fsS -X PATCH %s/status/412/items/1" % HTTP, STATUS[412])
case("curl-head-503", "curl -fsSI %s/status/503/" % HTTP, STATUS[503], retry=True)
case("curl-plain-over-tls", "curl -sS http://localhost:8443/", DROPPED + STATUS[400] + MALFORMED, retry=None)
case("curl-two-urls", "curl -fsS %s/json http://127.0.0.1:9/" % HTTP, REFUSED, retry=True)
case("curl-write-folder", "curl -sS -o . %s/json" % HTTP, KIND + ("OUTPUT_FAILED",))
case("curl-max-time", "curl -sS -m 1 %s/slow" % HTTP, TIMED, retry=None)
case("wget-404-quiet", "wget -nv -t 1 %s/status/404/a" % HTTP, STATUS[404])
case("wget-no-host-two", "wget -t 1 http://mirror.nowhere.example/a.iso", NO_HOST, retry=True)
case("wget-bad-option-word", "wget --no-check-cert http://127.0.0.1:8080/json --recursve", OPTION)

# npm, node
case("npm-run-typo", "npm run biuld", ABSENT + COMMAND, setup=PACKAGE)
case("npm-install-410", "npm install demo --registry %s/status/410/" % REGISTRY, STATUS[410], setup=PACKAGE)
case("npm-install-504", "npm install demo --registry %s/status/504/" % REGISTRY, STATUS[504], setup=PACKAGE, retry=True)
case("npm-view-no-host", "npm view demo --registry http://registry.nowhere.example/", NO_HOST, retry=True)
case("npm-install-version", "npm install demo@^7", ABSENT, setup=PACKAGE)
case("npm-run-node-throws", "npm run go", CHILD + TYPES, setup="echo '{\"name\":\"a\",\"version\":\"1.0.0\",\"scripts\":{\"go\":\"node -e null.x\"}}' > package.json")
case("npm-run-file-missing", "npm run go", FILE + CHILD + IMPORT, setup="echo '{\"name\":\"a\",\"version\":\"1.0.0\",\"scripts\":{\"go\":\"cat none.txt\"}}' > package.json")
case("node-json-config", "node -e \"JSON.parse(require('fs').readFileSync('a.json'))\"", MALFORMED + SYNTAX, setup="echo '{a: 1}' > a.json")
case("node-connect-refused", "node -e \"require('http').get('http://127.0.0.1:9/')\"", REFUSED, retry=True)
case("node-undefined-map", "node -e \"let users; users.map(u => u.id)\"", TYPES + RUNTIME)
case("node-missing-variable", "node -e \"console.log(total)\"", NAME)
case("node-mkdir-missing", "node -e \"require('fs').mkdirSync('a/b')\"", NO_TARGET)
case("node-listen-twice", "node -e \"require('http').createServer().listen(8080, '127.0.0.1')\"", ("CONFLICT", "ALREADY_EXISTS", "LOCKED", "UNAVAILABLE"), retry=None)
case("node-module-typo", "node -e \"require('expres')\"", IMPORT)
case("node-syntax-brace", "node a.js", SYNTAX, setup="echo 'function f() {' > a.js")
case("node-open-denied", "node -e \"require('fs').writeFileSync('/etc/a', '')\"", DENIED, user=True)

# Python, pip
for name, text, label, more in (
        ("open-json-missing", "import json; json.load(open('config.json'))", FILE, {}),
        ("int-empty", "int('')", VALUE + RUNTIME, {}),
        ("attribute-typo", "'a'.uper()", TYPES + RUNTIME, {}),
        ("name-typo", "pritn(1)", NAME + FUNCTION, {}),
        ("missing-package", "import requests_toolkit", IMPORT, {}),
        ("url-refused", "import urllib.request as u; u.urlopen('http://127.0.0.1:9/')", REFUSED, {"retry": True}),
        ("url-no-host", "import urllib.request as u; u.urlopen('http://nowhere.example/')", NO_HOST, {"retry": True}),
        ("url-400", "import urllib.request as u; u.urlopen('%s/status/400/x')" % HTTP, STATUS[400], {}),
        ("mkdir-missing", "import os; os.mkdir('a/b')", NO_TARGET, {}),
        ("remove-folder", "import os; os.remove('.')", KIND + DENIED, {}),
        ("list-of-none", "for x in None: pass", TYPES, {}),
        ("string-plus-int", "'a' + 1", TYPES, {}),
        ("tuple-index", "(1, 2)[5]", RANGE + RUNTIME, {}),
        ("subprocess-missing", "import subprocess; subprocess.run(['deploy'])", ABSENT + COMMAND, {}),
        ("sqlite-missing-table", "import sqlite3; sqlite3.connect(':memory:').execute('SELECT * FROM orders')", MISSING, {}),
        ("sqlite-unique", "import sqlite3; c = sqlite3.connect(':memory:'); c.execute('CREATE TABLE t (a UNIQUE)'); [c.execute('INSERT INTO t VALUES (1)') for _ in '12']", VIOLATED + EXISTS, {}),
        ("full-device", "f = open('/dev/full', 'w'); f.write('x' * 99999); f.close()", FULL, {}),
        ("exit-message", "raise SystemExit('cannot connect to the database: connection refused')", REFUSED + RUNTIME, {"retry": None}),
        ("assert-message", "assert 1 == 2, 'sums differ'", RUNTIME, {}),
        ("not-implemented", "raise NotImplementedError('export')", ("NOT_IMPLEMENTED",), {})):
    case("py-" + name, ["python3", "-c", text], label, **more)
case("pip-typo-option", "pip install --upgrad x --no-index", OPTION)
case("pip-missing-local", "pip install --break-system-packages --no-index left-pad-tool", ABSENT)
case("pip-show-two", "pip show nothing-here-at-all", ABSENT)
case("pip-requirement-line", "pip install --break-system-packages --no-index -r a.txt", PATTERN + MALFORMED, setup="echo 'demo=>1' > a.txt")

# C, make, cmake
C = "cat > a.c <<'END'\n%s\nEND\n"
case("gcc-missing-semicolon", "gcc a.c", SYNTAX, setup=C % "int main(void) { int a = 1 return a; }")
case("gcc-undeclared-function", "gcc a.c", FUNCTION + NAME, setup=C % "int main(void) { return compute(1); }")
case("gcc-unknown-type", "gcc -c a.c", NAME + TYPES, setup=C % "uint3_t a;")
case("gcc-unused-werror", "gcc -Wall -Werror -c a.c", PROGRAM, setup=C % "int f(void) { int a; return 0; }")
case("gcc-two-mains", "gcc a.c b.c", EXISTS + PROGRAM + ("CONFLICT",), setup=C % "int main(void) { return 0; }" + "cp a.c b.c")
case("clang-missing-brace-end", "clang a.c", SYNTAX, setup=C % "int main(void) { return 0;")
case("clang-library", "clang a.c -lnothere", ABSENT, setup=C % "int main(void) { return 0; }")
case("clang-argument-type", "clang -Werror -c a.c", TYPES + PROGRAM, setup=C % "void g(int *p); void f(void) { g(5); }")
case("make-tabs", "make", SYNTAX, setup="printf 'a:\\n    true\\n' > Makefile")
case("make-target-typo", "make instal", ABSENT, setup="printf 'install: ; true\\n' > Makefile")
case("make-gcc-error", "make", SYNTAX + PROGRAM + CHILD, setup=C % "int main(void) { return 0 }" + "printf 'a: a.c\\n\\tgcc a.c -o a\\n' > Makefile")
case("make-tool-missing", "make", ABSENT + COMMAND + CHILD, setup="printf 'a:\\n\\tprotoc --version\\n' > Makefile")
case("make-test-exit", "make check", CHILD, setup="printf 'check:\\n\\tfalse\\n' > Makefile")
case("cmake-missing-package", "cmake -B b", ABSENT, setup="printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a C)\\nfind_package(Nothing CONFIG REQUIRED)\\n' > CMakeLists.txt")
case("cmake-typo", "cmake -B b", FUNCTION + COMMAND + SYNTAX, setup="printf 'cmake_minimum_required(VERSION 3.10)\\nprojct(a C)\\n' > CMakeLists.txt")
case("cmake-no-source-list", "cmake -B b", OPERAND + ("INVALID_ARGUMENT", "NOT_FOUND", "PROGRAM_ERROR"), setup="printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a C)\\nadd_executable(x)\\n' > CMakeLists.txt")
case("cmake-install-denied", "cmake --install b", DENIED + ("RUNTIME_ERROR",), user=True, setup="printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a NONE)\\ninstall(FILES CMakeLists.txt DESTINATION /opt/a)\\n' > CMakeLists.txt; cmake -B b >/dev/null; chmod -R a+rX .")

# Rust, Java
CARGO = "mkdir src; printf '[package]\\nname = \"app\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml; cat > src/main.rs <<'END'\n%s\nEND\n"
case("cargo-typo-macro", "cargo build --offline", FUNCTION + NAME, setup=CARGO % "fn main() { printn!(\"a\"); }")
case("cargo-wrong-return", "cargo build --offline", TYPES + PROGRAM, setup=CARGO % "fn f() -> i32 { \"a\" }\nfn main() { f(); }")
case("cargo-index-panic", "cargo run -q --offline", RUNTIME + RANGE, setup=CARGO % "fn main() { let v = vec![1]; let i = v.len() + 2; println!(\"{}\", v[i]); }")
case("cargo-toml-missing-name", "cargo build --offline", MALFORMED + ("FIELD_REQUIRED", "VALIDATION_ERROR"), setup="mkdir src; echo 'fn main() {}' > src/main.rs; printf '[package]\\nversion = \"0.1.0\"\\n' > Cargo.toml")
J = "cat > A.java <<'END'\n%s\nEND\n"
case("javac-missing-return-type", "javac A.java", SYNTAX + PROGRAM, setup=J % "class A { public f() { } }")
case("javac-string-int", "javac A.java", TYPES + PROGRAM, setup=J % "class A { int a = \"x\"; }")
case("java-null-call", "java A.java", RUNTIME + TYPES, setup=J % "class A { public static void main(String[] a) { String s = null; System.out.println(s.length()); } }")
case("java-missing-file", "java A.java", FILE, setup=J % "class A { public static void main(String[] a) throws Exception { new java.io.FileInputStream(\"config.xml\"); } }")
case("java-class-path", "java -cp lib com.example.Main", IMPORT)

# Databases, jq
for name, sql, label in (("typo-table", "SELECT * FROM itme", MISSING), ("typo-keyword", "SELECT * FORM item", SYNTAX), ("duplicate-id", "INSERT INTO item (id, name) VALUES (1, 'x')", VIOLATED + EXISTS),
                         ("null-name", "INSERT INTO item (id) VALUES (9)", ("FIELD_REQUIRED", "VALIDATION_ERROR", "MISSING_ARGUMENT", "CONFLICT")), ("text-as-number", "INSERT INTO item VALUES ('a', 'b', 1)", PATTERN),
                         ("missing-column-update", "UPDATE item SET cost = 1", MISSING), ("unclosed-quote", "SELECT 'a", SYNTAX), ("part-without-item", "INSERT INTO part VALUES (9, 77)", VIOLATED),
                         ("create-twice", "CREATE TABLE part (id int)", EXISTS), ("missing-function", "SELECT today()", FUNCTION + MISSING)):
    case("pg-" + name, ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", "shop", "-c", sql], label, needs="database")
case("pg-database-missing", "psql -X -d warehouse -c 'SELECT 1'", MISSING, needs="database")
case("pg-dump-role", "pg_dump -U nobody shop", MISSING + LOGIN, needs="database")
for name, sql, label in (("typo-table", "SELECT * FROM itme", MISSING), ("typo-keyword", "SELCT 1", SYNTAX), ("missing-column", "SELECT colour FROM item", MISSING),
                         ("too-few-values", "INSERT INTO item VALUES (1)", ("VALIDATION_ERROR", "ARG_ERROR", "MISSING_ARGUMENT", "INVALID_ARGUMENT", "SYNTAX_ERROR"))):
    case("lite-" + name, ["sqlite3", "-bail", "a.db", sql], label, setup=DB)
case("jq-missing-dot", ["jq", "name", "a.json"], SYNTAX + FUNCTION, setup="echo '{}' > a.json")
case("jq-index-number", ["jq", ".a.b", "a.json"], TYPES, setup="echo '{\"a\": 5}' > a.json")
case("jq-trailing-comma", ["jq", ".", "a.json"], MALFORMED, setup="echo '{\"a\": 1,}' > a.json")
case("jq-file-typo", ["jq", ".", "b.json"], FILE)

# Debian
case("apt-get-typo-command", "apt-get instal curl", COMMAND)
case("apt-get-typo-package", "apt-get install -y curll", ABSENT)
case("apt-get-plain-user", "apt-get install -y curl", DENIED + ("LOCKED",), user=True)
case("apt-cache-missing", "apt-cache show curll", ABSENT)
case("dpkg-query-typo", "dpkg -s curll", ABSENT)
case("dpkg-install-missing", "dpkg -i curl.deb", FILE)
case("dpkg-plain-user", "dpkg -i a.deb", DENIED, user=True, setup="touch a.deb")

# Files, archives, the shell
case("tar-archive-typo", "tar xzf relase.tgz", FILE)
case("tar-no-gzip", "tar xzf a.tgz", MALFORMED, setup="echo text > a.tgz")
case("tar-target-missing", "tar xf a.tar -C out", NO_TARGET, setup="touch a; tar cf a.tar a")
case("unzip-archive-typo", "unzip relase.zip", FILE)
case("gzip-missing-log", "gzip -d server.log.gz", FILE)
case("cp-typo", "cp confg.json /mnt/tmp/", FILE)
case("mv-typo", "mv draft.md final.md", FILE)
case("rm-folder-plain", "rm build", KIND, setup="mkdir build")
case("cat-denied-shadow", "cat /etc/shadow", DENIED, user=True)
case("mkdir-twice", "mkdir -m 700 a", EXISTS, setup="mkdir a")
case("ls-typo", "ls -l srcc", FILE)
case("chmod-typo", "chmod +x run.sh", FILE)
case("sort-folder", "sort a", KIND, setup="mkdir a")
case("head-missing-file", "head -n 5 app.log", FILE)
case("sed-open-command", "sed 's/a/b' a", SYNTAX, setup="touch a")
case("grep-folder-missing", "grep -rn TODO srcc", FILE)
case("bash-typo", ["bash", "-c", "gti status"], COMMAND + ABSENT)
case("bash-script-syntax", "bash a.sh", SYNTAX, setup="printf 'if true; then\\necho a\\n' > a.sh")
case("bash-unset", ["bash", "-uc", "echo $HOST_NAME_OF_SERVER"], NAME + CONFIG)
case("sh-cd", ["sh", "-ec", "cd build && make"], FILE)
case("timeout-sleep", "timeout 0.3 sleep 20", ("TIMEOUT",), retry=None)
answer("grep-none", "grep -c zebra a", setup="echo lion > a")
answer("diff-two", "diff -u a b", setup="echo 1 > a; echo 2 > b")

# ssh, containers
case("ssh-refused-user", "ssh -o BatchMode=yes -p 9 deploy@localhost uptime", REFUSED, retry=True)
case("ssh-host-typo", "ssh -o BatchMode=yes deploy@serv.nowhere.example uptime", NO_HOST, retry=True)
case("ssh-identity-missing", "ssh -o BatchMode=yes -i id_deploy -p 9 localhost", REFUSED + FILE, retry=None)
case("scp-local-missing", "scp -P 9 report.pdf localhost:", REFUSED + FILE, retry=None)
case("docker-typo", "docker rnu ready", COMMAND)
case("docker-image-missing", "docker rmi group/app:1", ABSENT)
case("docker-logs-typo", "docker logs webb", ABSENT)
case("docker-port-form", "docker run -p 80:http ready", PATTERN)
case("docker-down", "docker compose ps", ("CONNECTION_REFUSED", "UNAVAILABLE", "SERVICE_UNAVAILABLE") + COMMAND + CONFIG, retry=None, env={"DOCKER_HOST": "unix:///mnt/dir/none.sock"})
case("kubectl-pod-typo", KUBE + "get pod webb", ABSENT)
case("kubectl-kind-typo", KUBE + "get podz", ABSENT + COMMAND + ("INVALID_ARGUMENT",))
case("kubectl-file-typo", KUBE + "delete -f deploy.yaml", FILE)
case("kubectl-refused-local", "kubectl --server http://localhost:9 get nodes", REFUSED, retry=True)
case("kubectl-no-name", KUBE + "logs", OPERAND)
