"""Programs in compiled languages: language → files, how they are built and run, and name → source."""

JAVA = {
    "null-pointer": """
public class Main {
    static class Order { String city; }
    static int length(Order order) { return order.city.length(); }
    public static void main(String[] args) { System.out.println(length(new Order())); }
}
""",
    "caused-by": """
public class Main {
    static void read() { throw new IllegalStateException("pool is closed"); }
    static void load(int id) {
        try { read(); } catch (IllegalStateException e) { throw new RuntimeException("order " + id, e); }
    }
    public static void main(String[] args) { load(7); }
}
""",
    "suppressed": """
public class Main {
    static class Link implements AutoCloseable {
        public void close() throws Exception { throw new Exception("close failed"); }
    }
    public static void main(String[] args) throws Exception {
        try (Link link = new Link()) { throw new java.io.IOException("reset by peer"); }
    }
}
""",
    "lambda-stream": """
import java.util.List;
public class Main {
    public static void main(String[] args) {
        List.of("1", "x").stream().map(Integer::parseInt).forEach(n -> System.out.print(""));
    }
}
""",
    "thread-pool": """
import java.util.concurrent.*;
public class Main {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        try { pool.submit(() -> { Object o = "x"; return (Integer) o; }).get(); } finally { pool.shutdown(); }
    }
}
""",
    "stack-overflow": """
public class Main {
    static int depth(int n) { return depth(n + 1) + 1; }
    public static void main(String[] args) {
        try { depth(0); } catch (StackOverflowError e) {
            StackTraceElement[] t = e.getStackTrace();
            System.err.println(e);
            for (int i = 0; i < 5; i++) System.err.println("\\tat " + t[i]);
        }
    }
}
""",
    "reflection": """
public class Main {
    public static void go() { int[] a = new int[1]; a[3] = 1; }
    public static void main(String[] args) throws Exception { Main.class.getMethod("go").invoke(null); }
}
""",
    "logger": """
import java.util.logging.*;
public class Main {
    public static void main(String[] args) {
        try { Integer.parseInt("abc"); } catch (NumberFormatException e) {
            Logger.getLogger("com.example.orders").log(Level.SEVERE, "request 4411 failed", e);
        }
    }
}
""",
    "stack-in-json": """
import java.io.*;
public class Main {
    public static void main(String[] args) {
        try { throw new UnsupportedOperationException(); } catch (Exception e) {
            StringWriter w = new StringWriter();
            e.printStackTrace(new PrintWriter(w));
            System.out.println("{\\"status\\":500,\\"trace\\":\\"" + w.toString().replace("\\t", "\\\\t").replace("\\n", "\\\\n") + "\\"}");
        }
    }
}
""",
    "socket": """
public class Main {
    public static void main(String[] args) throws Exception { new java.net.Socket("127.0.0.1", 9).close(); }
}
""",
}

KOTLIN = {
    "null": """
class Order(val city: String?)
fun length(order: Order): Int = order.city!!.length
fun main() { println(length(Order(null))) }
""",
    "illegal-argument": """
object Pay { fun charge(amount: Int) { require(amount > 0) { "the amount is $amount" } } }
fun main() { listOf(-1).forEach { Pay.charge(it) } }
""",
    "no-element": """
data class Row(val id: Int)
fun find(rows: List<Row>, id: Int) = rows.first { it.id == id }
fun main() { find(emptyList(), 7) }
""",
}

SCALA = {
    "match-error": """
object Main {
  def kind(x: Any): String = x match { case s: String => s }
  def main(args: Array[String]): Unit = println(kind(3))
}
""",
    "none-get": """
object Main {
  case class Order(city: Option[String])
  def city(o: Order): String = o.city.get
  def main(args: Array[String]): Unit = println(city(Order(None)))
}
""",
    "list": """
object Main {
  def main(args: Array[String]): Unit = List("1", "x").map(_.toInt).foreach(println)
}
""",
}

CSHARP = {
    "null-reference": """
using System;
class Order { public string City; }
static class Program {
    static int Length(Order order) { return order.City.Length; }
    static void Main() { Console.WriteLine(Length(new Order())); }
}
""",
    "inner-exception": """
using System;
class PaymentException : Exception { public PaymentException(string m, Exception inner) : base(m, inner) { } }
static class Program {
    static void Read() { throw new InvalidOperationException("The connection pool is closed"); }
    static void Pay(int id) { try { Read(); } catch (InvalidOperationException e) { throw new PaymentException("payment " + id, e); } }
    static void Main() { Pay(7); }
}
""",
    "linq": """
using System;
using System.Collections.Generic;
static class Program {
    static void Main() { var d = new Dictionary<string, int>(); Console.WriteLine(d["total"]); }
}
""",
    "to-string": """
using System;
static class Program {
    static void Main() { try { int.Parse("x"); } catch (FormatException e) { Console.WriteLine(e.ToString()); } }
}
""",
    "async": """
using System;
using System.Threading.Tasks;
static class Program {
    static async Task<int> Load() { await Task.Yield(); throw new TimeoutException("no answer in 30 s"); }
    static void Main() { Load().Wait(); }
}
""",
}

GO = {
    "index-out-of-range": """
package main

import "fmt"

func third(values []int) int { return values[3] }

func main() { fmt.Println(third([]int{1})) }
""",
    "nil-pointer": """
package main

type order struct{ city *string }

func (o *order) length() int { return len(*o.city) }

func main() { println((&order{}).length()) }
""",
    "panic-error": """
package main

import "fmt"

func settle(id int) { panic(fmt.Errorf("settle %d: %w", id, fmt.Errorf("no row"))) }

func main() { settle(7) }
""",
    "goroutine": """
package main

import "time"

func main() {
	go func() { var m map[string]int; m["a"] = 1 }()
	time.Sleep(time.Second)
}
""",
    "deadlock": """
package main

func main() { ch := make(chan int); <-ch }
""",
    "debug-stack": """
package main

import (
	"fmt"
	"runtime/debug"
)

func handle() { defer func() { fmt.Printf("http: panic serving 10.1.4.2:51234: %v\\n%s", recover(), debug.Stack()) }(); panic("closed") }

func main() { handle() }
""",
    "division": """
package main

func average(sum, n int) int { return sum / n }

func main() { println(average(3, 0)) }
""",
}

RUST = {
    "unwrap-none": "fn city(o: Option<&str>) -> usize { o.unwrap().len() }\nfn main() { println!(\"{}\", city(None)); }\n",
    "expect-err": "fn load(p: &str) -> String { std::fs::read_to_string(p).expect(\"settings cannot be read\") }\nfn main() { load(\"/etc/app/settings.toml\"); }\n",
    "index": "fn third(v: &[i32]) -> i32 { v[v.len() + 2] }\nfn main() { println!(\"{}\", third(&[1])); }\n",
    "overflow": "fn add(a: u8, b: u8) -> u8 { a + b }\nfn main() { let n = std::env::args().count() as u8; println!(\"{}\", add(255, n)); }\n",
    "thread": "fn main() { std::thread::Builder::new().name(\"worker-2\".into()).spawn(|| { panic!(\"the queue is closed\") }).unwrap().join().unwrap(); }\n",
    "main-returns-err": "fn main() -> Result<(), Box<dyn std::error::Error>> { let n: i32 = \"x\".parse()?; println!(\"{}\", n); Ok(()) }\n",
    "refcell": "use std::cell::RefCell;\nfn main() { let c = RefCell::new(1); let _a = c.borrow_mut(); let _b = c.borrow_mut(); }\n",
}

HASKELL = {
    "head": "module Main where\ntotal :: [Int] -> Int\ntotal xs = head xs\nmain :: IO ()\nmain = print (total [])\n",
    "error-call": "module Main where\nimport GHC.Stack\npay :: HasCallStack => Int -> Int\npay n = if n > 0 then n else error \"the amount must be positive\"\n"
                  "settle :: HasCallStack => Int\nsettle = pay (-1)\nmain :: IO ()\nmain = print settle\n",
    "pattern": "module Main where\nkind :: Int -> String\nkind 1 = \"a\"\nmain :: IO ()\nmain = putStrLn (kind 3)\n",
    "file": "module Main where\nmain :: IO ()\nmain = readFile \"/etc/app/settings.dhall\" >>= putStr\n",
    "undefined": "module Main where\nlimit :: Int\nlimit = undefined\nmain :: IO ()\nmain = print limit\n",
    "from-just": "module Main where\nimport Data.Maybe\nmain :: IO ()\nmain = print (fromJust (Nothing :: Maybe Int))\n",
}

OCAML = {
    "not-found": "let total order = List.assoc \"total\" order\nlet show order = 1 + total order\nlet () = print_int (show [])\n",
    "failure": "let pay n = if n > 0 then n else failwith \"the amount must be positive\"\nlet settle () = 1 + pay (-1)\nlet () = print_int (settle ())\n",
    "division": "let average l = List.fold_left (+) 0 l / List.length l\nlet () = print_int (1 + average [])\n",
    "custom": "exception Payment of int * string\nlet charge id = raise (Payment (id, \"refused\"))\nlet () = print_int (1 + charge 7)\n",
    "index": "let third a = a.(3) + 1\nlet () = print_int (third [| 1 |])\n",
    "reraise": "let read () = raise Not_found\nlet load () = try 1 + read () with e -> print_string \"again \"; raise e\nlet () = print_int (load ())\n",
}

C = {
    "assert": "#include <assert.h>\nstatic int average(int sum, int n) { assert(n > 0); return sum / n; }\nint main(int argc, char **argv) { (void)argv; return average(3, argc - 1); }\n",
    "double-free": "#include <stdlib.h>\nint main(void) { char *volatile p = malloc(8); free(p); free(p); return 0; }\n",
    "invalid-pointer": "#include <stdlib.h>\nint main(void) { char b[32]; char *volatile p = b + 8; free(p); return 0; }\n",
    "stack-smashing": "#include <string.h>\n__attribute__((noinline)) void copy(const char *s) { char b[4]; char *volatile p = b; strcpy(p, s); }\n"
                      "int main(void) { copy(\"a name that is far too long for four bytes\"); return 0; }\n",
    "buffer-overflow": "#include <string.h>\n#include <stdio.h>\nint main(int argc, char **argv) { char b[4]; memset(b, 65, (size_t)argc * 8); puts(b); (void)argv; return 0; }\n",
    "backtrace-symbols": "#include <execinfo.h>\n__attribute__((noinline)) int settle(int n) { void *f[16]; backtrace_symbols_fd(f, backtrace(f, 16), 2); return n + 1; }\n"
                         "int pay(int n) { return settle(n) + 1; }\nint main(void) { return pay(1) == 0; }\n",
}
GDB = {
    "null-pointer": "struct order { const char *city; };\nstatic int length(struct order *o) { return o->city[0]; }\n"
                    "static int show(struct order *o, int depth) { return length(o) + depth; }\nint main(void) { struct order o = { 0 }; return show(&o, 2); }\n",
    "abort": "#include <stdlib.h>\nvoid settle(int id) { if (id > 3) abort(); }\nint main(void) { settle(7); return 0; }\n",
    "recursion-args": "static int depth(int n, const char *s) { if (n > 4) __builtin_trap(); return depth(n + 1, s) + 1; }\nint main(void) { return depth(0, \"orders\"); }\n",
}
ASAN = {
    "heap-overflow": "#include <stdlib.h>\nstatic int third(int *v) { return v[3]; }\nint main(void) { int *v = malloc(4); int r = third(v); free(v); return r; }\n",
    "use-after-free": "#include <stdlib.h>\nstatic char use(char *p) { return p[0]; }\nint main(void) { char *p = malloc(8); free(p); return use(p); }\n",
    "leak": "#include <stdlib.h>\nstatic void lose(void) { void *volatile p = malloc(100); (void)p; p = 0; }\nint main(void) { lose(); return 0; }\n",
    "stack-overflow": "static int at(int *v, int i) { return v[i]; }\nint main(int argc, char **a) { int v[4] = { 0 }; (void)a; return at(v, argc + 5); }\n",
    "null-pointer": "int main(void) { int *volatile p = 0; return *p; }\n",
}
UBSAN = {
    "overflow": "#include <limits.h>\nint main(int argc, char **a) { (void)a; int n = INT_MAX; n += argc; return n == 0; }\n",
    "shift": "int main(int argc, char **a) { (void)a; return 1 << (argc + 40); }\n",
    "null-member": "struct order { int id; int total; };\nint main(void) { struct order *volatile o = 0; int *p = &o->total; return p == 0; }\n",
}
VALGRIND = {
    "invalid-read": "#include <stdlib.h>\nstatic int third(int *v) { return v[3]; }\nint main(void) { int *v = malloc(4); int r = third(v); free(v); return r != 0; }\n",
}
CXX = {
    "out-of-range": "#include <vector>\nint third(const std::vector<int> &v) { return v.at(3); }\nint main() { return third({1}); }\n",
    "custom": "#include <stdexcept>\n#include <string>\nnamespace shop { struct payment_error : std::runtime_error { using std::runtime_error::runtime_error; }; }\n"
              "void pay(int id) { throw shop::payment_error(\"payment \" + std::to_string(id)); }\nint main() { pay(7); }\n",
    "int": "int main() { throw 7; }\n",
    "bad-alloc": "#include <new>\nint main() { throw std::bad_alloc(); }\n",
    "pure-virtual": "struct base { base() { run(); } void run() { go(); } virtual void go() = 0; };\nstruct order : base { void go() override {} };\nint main() { order o; }\n",
}
GDBCXX = {
    "uncaught": "#include <map>\n#include <string>\nnamespace shop {\nclass Cart {\npublic:\n  int total(const std::string &id) const { return items.at(id); }\nprivate:\n"
                "  std::map<std::string, int> items;\n};\n}\nint main() { shop::Cart c; return c.total(\"a\"); }\n",
    "template": "template <typename T> struct Box { T *value; T get() const { return *value; } };\nint main() { Box<int> b{nullptr}; return b.get(); }\n",
}

_BT = "gdb -q -batch -nx -ex 'set debuginfod enabled off' -ex run -ex bt ./app"
# language: (file name, build, run, programs)
COMPILED = {
    "java": ("Main.java", "javac -g Main.java", "java -cp . Main", JAVA),
    "kotlin": ("Main.kt", "kotlinc Main.kt -include-runtime -d app.jar", "java -jar app.jar", KOTLIN),
    "scala": ("Main.scala", "scalac Main.scala", "scala -cp . Main", SCALA),
    "csharp": ("Program.cs", "mcs -debug Program.cs", "mono --debug Program.exe", CSHARP),
    "csharp-release": ("Program.cs", "mcs Program.cs", "mono Program.exe", {k: CSHARP[k] for k in ("null-reference", "inner-exception")}),
    "go": ("main.go", "go build -o app main.go", "./app", GO),
    "go-trimmed": ("main.go", "go build -trimpath -o app main.go", "./app", {k: GO[k] for k in ("nil-pointer", "goroutine")}),
    "rust": ("main.rs", "rustc -g -o app main.rs", "RUST_BACKTRACE=0 ./app", RUST),
    "rust-backtrace": ("main.rs", "rustc -g -o app main.rs", "RUST_BACKTRACE=1 ./app", {k: RUST[k] for k in ("unwrap-none", "thread", "index")}),
    "haskell": ("Main.hs", "ghc -v0 -o app Main.hs", "./app", HASKELL),
    "haskell-profiled": ("Main.hs", "ghc -v0 -prof -fprof-auto -o app Main.hs", "./app +RTS -xc -RTS", {k: HASKELL[k] for k in ("head", "undefined")}),
    "ocaml": ("app.ml", "ocamlopt -g -o app app.ml", "OCAMLRUNPARAM=b ./app", OCAML),
    "c": ("app.c", "gcc -g -rdynamic -O1 -D_FORTIFY_SOURCE=2 -fstack-protector-all -w -o app app.c", "./app", C),
    "c-gdb": ("app.c", "gcc -g -O0 -w -o app app.c", _BT, GDB),
    "c-gdb-no-debug": ("app.c", "gcc -O0 -w -o app app.c", _BT, {k: GDB[k] for k in ("null-pointer", "abort")}),
    "c-asan": ("app.c", "gcc -g -O0 -w -fsanitize=address -o app app.c", "./app", ASAN),
    "c-ubsan": ("app.c", "gcc -g -O0 -w -fsanitize=undefined -o app app.c", "UBSAN_OPTIONS=print_stacktrace=1 ./app", UBSAN),
    "c-valgrind": ("app.c", "gcc -g -O0 -w -o app app.c", "valgrind ./app", VALGRIND),
    "cpp": ("app.cpp", "g++ -g -w -o app app.cpp", "./app", CXX),
    "cpp-gdb": ("app.cpp", "g++ -g -O0 -w -o app app.cpp", _BT, GDBCXX),
}
