"""Programs in languages that need no compiler, each of which fails in its own way: language → how it is run, and name → source. What they
print is a leak."""

PYTHON = {
    "zero-division": """
def average(values):
    return sum(values) / len(values)

def report(orders):
    return {"average": average([o["total"] for o in orders])}

report([])
""",
    "missing-key": """
def shipping(order):
    return order["address"]["city"]

shipping({"address": {}})
""",
    "chained-cause": """
import json

class ConfigError(Exception):
    pass

def load(text):
    try:
        return json.loads(text)
    except ValueError as failure:
        raise ConfigError("settings cannot be read") from failure

load("{broken")
""",
    "during-handling": """
def charge(card):
    return card.number

def refund(card):
    try:
        charge(card)
    except AttributeError:
        return {}["refund"]

refund(None)
""",
    "attribute-of-none": """
class Repository:
    def find(self, id):
        return None

def name_of(id):
    return Repository().find(id).name.upper()

print(name_of(7))
""",
    "recursion": """
def depth(node):
    return 1 + depth(node)

depth({})
""",
    "syntax-error": """
def handler(request)
    return 200
""",
    "thread": """
import threading

def work(queue):
    queue.pop()

thread = threading.Thread(target=work, args=([],), name="worker-3")
thread.start()
thread.join()
""",
    "async": """
import asyncio

async def fetch(client):
    await asyncio.sleep(0)
    return client["session"]

async def main():
    await asyncio.gather(fetch({}), fetch({"session": 1}))

asyncio.run(main())
""",
    "logged": """
import logging
logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")

def parse(value):
    return int(value)

try:
    parse("abc")
except ValueError:
    logging.getLogger("orders").exception("request 8812 failed")
""",
    "unicode-error": """
def decode(body):
    return body.decode("utf-8")

decode(b"\\xff\\xfe")
""",
    "type-error": """
from functools import partial

def total(price, amount):
    return price + amount

partial(total, 3)("4")
""",
    "import-error": """
from orders.models import Order
""",
    "file-missing": """
def settings(path):
    with open(path) as file:
        return file.read()

settings("/etc/app/settings.toml")
""",
    "exception-group": """
def check(values):
    found = []
    for value in values:
        try:
            int(value)
        except ValueError as failure:
            found.append(failure)
    raise ExceptionGroup("rows are wrong", found)

check(["a", "b"])
""",
    "only-frames": """
import sys
import traceback

def inner(value):
    return {}[value]

def outer():
    inner("x")

try:
    outer()
except KeyError:
    print("".join(traceback.format_tb(sys.exc_info()[2])), file=sys.stderr)
""",
    "warning": """
import warnings

def total(values):
    warnings.warn("total() is slow for lists")
    return sum(values)

total([])
""",
}

JAVASCRIPT = {
    "undefined-property": """
function nameOf(user) {
  return user.profile.name;
}
function render(users) {
  return users.map(nameOf);
}
render([{}]);
""",
    "custom-error-with-cause": """
class PaymentError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'PaymentError';
    this.code = 'E_PAYMENT';
  }
}
function charge() {
  try {
    JSON.parse('{broken');
  } catch (error) {
    throw new PaymentError('The card was not charged', { cause: error });
  }
}
charge();
""",
    "async-rejection": """
const fs = require('fs/promises');
async function load() {
  return await fs.readFile('/srv/app/config/production.json', 'utf8');
}
async function main() {
  await load();
}
main();
""",
    "not-a-function": """
const service = { users: {} };
async function handle() {
  await null;
  return service.users.find(7);
}
handle().catch((error) => console.error(error.stack));
""",
    "range-error": """
function walk(node) {
  return walk(node) + 1;
}
walk({});
""",
    "module-missing": """
require('./routes/orders');
""",
    "timer": """
class Poller {
  poll() {
    setTimeout(() => {
      throw new TypeError('The queue is closed');
    }, 1);
  }
}
new Poller().poll();
""",
    "eval": """
const vm = require('vm');
new vm.Script('null.x', { filename: 'template.ejs' }).runInThisContext();
""",
    "aggregate": """
Promise.any([Promise.reject(new Error('replica 1 is down')), Promise.reject(new Error('replica 2 is down'))]);
""",
    "socket": """
const net = require('net');
net.connect(9, '127.0.0.1');
""",
    "syntax-error": """
const total = (a, b => a + b;
""",
    "console-error": """
function price(item) {
  console.error(new RangeError('The price is negative'));
}
[1].forEach(price);
""",
    "assert": """
const assert = require('assert');
function settle(order) {
  assert.strictEqual(order.state, 'paid');
}
settle({ state: 'open' });
""",
    "prepared-error-object": """
const util = require('util');
function lookup(key) {
  const error = new Error('connect ECONNREFUSED');
  error.address = '10.2.0.14';
  error.port = 6379;
  return error;
}
console.log(util.inspect({ status: 500, error: lookup('a') }));
""",
}

MODULES = {
    "top-level-await": """
import { readFile } from 'node:fs/promises';
export async function load(name) {
  return JSON.parse(await readFile(name, 'utf8'));
}
await load('/srv/app/plans.json');
""",
    "class-static": """
export class Cart {
  static #items = null;
  static total() {
    return Cart.#items.length;
  }
}
Cart.total();
""",
}

RUBY = {
    "no-method": """
class Order
  def total
    items.sum(&:price)
  end

  def items
    nil
  end
end

Order.new.total
""",
    "key-error": """
def city(order)
  order.fetch(:address)
end

city({})
""",
    "cause": """
require 'json'

class ConfigError < StandardError; end

def load(text)
  JSON.parse(text)
rescue JSON::ParserError
  raise ConfigError, 'settings cannot be read'
end

load('{broken')
""",
    "zero-division": """
module Report
  def self.average(values)
    values.sum / values.size
  end
end

Report.average([])
""",
    "block": """
[1, 2].each do |n|
  [n].map { |m| Integer("x#{m}") }
end
""",
    "thread": """
Thread.new { raise ArgumentError, 'the queue is closed' }.join
""",
    "full-message": """
def pay
  raise 'card declined by upstream'
end

begin
  pay
rescue => e
  puts e.full_message(highlight: false)
end
""",
    "backtrace-joined": """
def pay
  raise IOError, 'closed stream'
end

begin
  pay
rescue => e
  puts({ status: 500, exception: e.inspect }.to_s)
  puts e.backtrace.join("\\n")
end
""",
    "recursion": """
def depth(node)
  1 + depth(node)
end

begin
  depth(nil)
rescue SystemStackError => e
  puts e.message, e.backtrace.first(4)
end
""",
    "require": """
require_relative 'lib/orders'
""",
}

PERL = {
    "die-at-line": """
package Orders;
sub total { my ($self) = @_; die "no items" unless $self->{items}; }
package main;
Orders::total({});
""",
    "confess": """
use Carp;
sub settle { confess "the account is closed"; }
sub pay { settle(@_); }
pay(12, "EUR");
""",
    "cluck": """
use Carp qw(cluck);
sub cache { cluck "cache miss"; }
sub page { cache("index"); }
page();
""",
    "undefined-method": """
my $order = undef;
print $order->total;
""",
    "missing-module": """
use App::Orders;
print 1;
""",
    "warn-uninitialized": """
use warnings;
my %user = (name => undef);
print "Hello " . $user{name} . "\\n";
""",
    "division": """
sub average { my @v = @_; my $sum = 0; $sum += $_ for @v; return $sum / scalar(@v); }
print average();
""",
    "open-failed": """
open(my $file, '<', '/var/lib/app/orders.db') or die "Cannot open: $!";
""",
}

PHP = {
    "uncaught-exception": """<?php
class Repository {
    public function find(int $id): array { throw new RuntimeException("no row for $id"); }
}
function show(int $id): array { return (new Repository())->find($id); }
show(7);
""",
    "warning-undefined-key": """<?php
$order = ['id' => 7];
echo $order['total'];
""",
    "type-error": """<?php
function total(int $price, int $amount): int { return $price * $amount; }
total("abc", 2);
""",
    "division-by-zero": """<?php
function average(array $values): float { return array_sum($values) / count($values); }
average([]);
""",
    "call-on-null": """<?php
$user = null;
echo $user->name();
""",
    "parse-error": """<?php
function broken( {
""",
    "include-missing": """<?php
require 'config/database.php';
""",
    "previous": """<?php
function read() { return json_decode('{broken', false, 8, JSON_THROW_ON_ERROR); }
try { read(); } catch (JsonException $e) { throw new LogicException('settings cannot be read', 3, $e); }
""",
    "deprecated": """<?php
ini_set("error_reporting", (string) E_ALL); function f(string $a, $b) { return strlen($b); }
f("a", null);
""",
    "trace-as-string": """<?php
class Mailer { static function send(string $to) { throw new DomainException('refused'); } }
try { Mailer::send('a'); } catch (Exception $e) { echo json_encode(['error' => $e->getMessage(), 'trace' => $e->getTraceAsString()]); }
""",
    "var-dump-exception": """<?php
function fail() { throw new Exception('queue is closed'); }
try { fail(); } catch (Exception $e) { print_r($e->getTrace()); echo $e; }
""",
    "pdo": """<?php
$db = new PDO('sqlite:/srv/app/orders.db', null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$db->query('SELECT total FROM orders WHERE id = 7');
""",
}

LUA = {
    "nil-index": """
local function city(order) return order.address.city end
local function show(order) return (city(order)) end
print((show({})))
""",
    "error-table": """
local function pay(amount) error("the amount must be positive: " .. amount) end
local ok, failure = xpcall(pay, debug.traceback, -1)
print(failure)
""",
    "call-nil": """
local service = {}
function service.run() return service.missing() + 1 end
print((service.run()))
""",
    "arithmetic": """
local function sum(t) local s = 0; for _, v in ipairs(t) do s = s + v end; return s end
print(sum({ 1, {}, 3 }))
""",
    "module-missing": """
local orders = require("orders.store")
""",
    "pcall-message": """
local ok, failure = pcall(function() local t = nil; return t.x end)
print(failure)
""",
}

LISP = {
    "undefined-function": "(defun total (order) (sum-of (car order)))\n(total '((1 2)))\n",
    "division": "(defun average (values) (/ (reduce #'+ values) (length values)))\n(print (average '()))\n",
    "custom": "(define-condition payment-failed (error) ((id :initarg :id)) (:report (lambda (c s) (format s \"payment ~a\" (slot-value c 'id)))))\n"
              "(defun pay (id) (error 'payment-failed :id id))\n(defun settle () (list (pay 7)))\n(settle)\n",
    "type-error": "(defun add (a b) (+ a b))\n(print (add 1 (car (list \"x\"))))\n",
    "unbound": "(defun limit () (* 2 *maximum*))\n(limit)\n",
    "file": "(with-open-file (s \"/etc/app/settings.lisp\") (read s))\n",
}

ERLANG = {
    "badmatch": "total(Order) -> {ok, T} = maps:find(total, Order), T.\nmain(_) -> io:format(\"~p~n\", [total(#{})]).\n",
    "badarith": "average(L) -> lists:sum(L) / length(L).\nmain(_) -> io:format(\"~p~n\", [average([])]).\n",
    "undef": "main(_) -> orders:total(7).\n",
    "function-clause": "pay(N) when N > 0 -> N.\nmain(_) -> erlang:display(pay(-1)).\n",
    "throw": "settle() -> throw({payment, refused}).\nmain(_) -> settle(), ok.\n",
    "process-crash": "work(X) -> 1 / X.\nmain(_) -> spawn(fun() -> work(0) end), timer:sleep(300).\n",
    "stacktrace-printed": "f(X) -> binary_to_integer(X) + 0.\nmain(_) -> try f(<<\"x\">>) catch C:R:S -> io:format(\"~p ~p~n~p~n\", [C, R, S]) end.\n",
}

ELIXIR = {
    "key-error": "defmodule Orders do\n  def total(order), do: Map.fetch!(order, :total)\nend\n\nIO.puts(Orders.total(%{}))\n",
    "function-clause": "defmodule Pay do\n  def charge(n) when n > 0, do: n\nend\n\nPay.charge(-1)\n",
    "arithmetic": "defmodule Report do\n  def average(v), do: Enum.sum(v) / length(v)\nend\n\nReport.average([])\n",
    "undefined": "Orders.Store.open(:main)\n",
    "match": "defmodule M do\n  def go(x) do\n    {:ok, v} = x\n    v\n  end\nend\n\nM.go({:error, :closed})\n",
    "raise": "defmodule PaymentError do\n  defexception [:message]\nend\n\ndefmodule Pay do\n  def run, do: raise(PaymentError, message: \"refused\")\nend\n\nPay.run()\n",
    "task": "Task.async(fn -> String.to_integer(\"x\") end) |> Task.await()\n",
    "genserver": "defmodule S do\n  use GenServer\n  def init(s), do: {:ok, s}\n  def handle_call(:get, _from, s), do: {:reply, Map.fetch!(s, :key), s}\nend\n\n"
                 "{:ok, p} = GenServer.start(S, %{})\ntry do\n  GenServer.call(p, :get)\ncatch\n  :exit, r -> IO.inspect(r)\nend\nProcess.sleep(200)\n",
    "formatted": "defmodule F do\n  def f(x), do: hd(x)\nend\n\ntry do\n  F.f([])\nrescue\n  e -> IO.puts(Exception.format(:error, e, __STACKTRACE__))\nend\n",
}

# language: (file name, command, programs)
SCRIPTED = {
    "python": ("orders.py", "python3 orders.py", PYTHON),
    "javascript": ("server.js", "node server.js", JAVASCRIPT),
    "javascript-module": ("server.mjs", "node server.mjs", MODULES),
    "ruby": ("app.rb", "ruby app.rb", RUBY),
    "perl": ("app.pl", "perl app.pl", PERL),
    "php": ("index.php", "php -d display_errors=1 -d html_errors=0 -d log_errors=0 index.php", PHP),
    "php-html": ("index.php", "php -d display_errors=1 -d html_errors=1 -d log_errors=0 index.php", PHP),
    "php-log": ("index.php", "php -d display_errors=0 -d log_errors=1 -d error_log=/dev/stderr index.php", PHP),
    "lua": ("app.lua", "lua5.4 app.lua", LUA),
    "lisp": ("app.lisp", "sbcl --script app.lisp", LISP),
    "erlang": ("app.escript", "escript app.escript", ERLANG),
    "elixir": ("app.exs", "elixir app.exs", ELIXIR),
}
# Files that begin with a line that the programs above do not have.
FIRST_LINE = {"erlang": "#!/usr/bin/env escript\n%%! -noshell\n"}
# Programs of a language that are run in this form only, to keep the corpus small.
ONLY = {"php-html": ["uncaught-exception", "warning-undefined-key", "type-error", "include-missing", "parse-error", "pdo", "deprecated"],
        "php-log": ["uncaught-exception", "warning-undefined-key", "previous"]}
