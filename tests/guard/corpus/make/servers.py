"""Servers with a handler that fails, as their frameworks come: what they answer is a leak. Each is started, asked, and ended."""
import http.client
import os
import shutil
import signal
import subprocess
import time

FLASK = """
import flask, sqlite3
app = flask.Flask(__name__)
@app.route('/orders')
def orders():
    total = {}['total']
    return str(total)
@app.route('/rows')
def rows():
    return str(sqlite3.connect(':memory:').execute('SELECT * FROM orders').fetchall())
app.run(port=8801, debug=True, use_reloader=False)
"""
DJANGO = """
import sys
from django.conf import settings
from django.http import HttpResponse
from django.urls import path
settings.configure(DEBUG=True, ROOT_URLCONF=__name__, ALLOWED_HOSTS=['*'], SECRET_KEY='x' * 50, BASE_DIR='/srv/app')
def orders(request):
    order = {'id': 7}
    return HttpResponse(order['total'])
def average(request):
    return HttpResponse(sum([]) / len([]))
urlpatterns = [path('orders', orders), path('average', average)]
from django.core.management import execute_from_command_line
execute_from_command_line(['manage.py', 'runserver', '--noreload', '127.0.0.1:8802'])
"""
FASTAPI = """
import traceback, fastapi, uvicorn
from fastapi.responses import JSONResponse, PlainTextResponse
app = fastapi.FastAPI(debug=True)
other = fastapi.FastAPI()
@app.get('/orders')
async def orders():
    return {}['total']
@app.get('/zero')
async def zero():
    return 1 / 0
@other.exception_handler(Exception)
async def failed(request, failure):
    return JSONResponse({'detail': str(failure), 'trace': traceback.format_exc()}, 500)
@other.get('/json')
async def in_json():
    return [].pop()
@other.get('/lines')
def lines():
    try:
        return int('x')
    except ValueError as failure:
        return JSONResponse({'detail': traceback.format_exception(failure)}, 500)
app.mount('/v2', other)
uvicorn.run(app, port=8803, log_level='critical')
"""
AIOHTTP = """
from aiohttp import web
async def orders(request):
    return web.Response(text={}['total'])
app = web.Application(debug=True)
app.router.add_get('/orders', orders)
import logging
logging.disable(50)
import asyncio
async def main():
    runner = web.AppRunner(app, debug=True)
    await runner.setup()
    runner.server.debug = True
    await web.TCPSite(runner, '127.0.0.1', 8804).start()
    asyncio.get_running_loop().set_debug(True)
    await asyncio.sleep(600)
asyncio.run(main(), debug=True)
"""
TORNADO = """
import tornado.web, tornado.ioloop
class Orders(tornado.web.RequestHandler):
    def get(self):
        self.write({}['total'])
app = tornado.web.Application([('/orders', Orders)], debug=True, autoreload=False)
app.listen(8805, '127.0.0.1')
tornado.ioloop.IOLoop.current().start()
"""
EXPRESS = """
const express = require('express');
const app = express();
app.use(express.json());
app.get('/orders', (req, res) => { res.send(req.user.name); });
app.get('/next', (req, res, next) => { next(new Error('The database is closed')); });
app.post('/orders', (req, res) => res.send('ok'));
app.get('/stack', (req, res) => { try { null.x; } catch (e) { res.status(500).json({ message: e.message, stack: e.stack }); } });
app.get('/lines', (req, res) => { try { [].x.y; } catch (e) { res.status(500).json({ error: { name: e.name, stack: e.stack.split('\\n') } }); } });
app.listen(8806, '127.0.0.1');
"""
SINATRA = """
require 'sinatra'
set :port, 8807
set :bind, '127.0.0.1'
set :environment, :development
set :server, :webrick
get('/orders') { {}.fetch(:total) }
get('/zero') { 1 / 0 }
"""
PHP = {"index.php": """<?php
function total(array $order) { return $order['total'] / 0; }
if ($_SERVER['REQUEST_URI'] === '/warning') { echo $missing['a']; trigger_error('cache is cold', E_USER_WARNING); }
elseif ($_SERVER['REQUEST_URI'] === '/info') { phpinfo(INFO_VARIABLES | INFO_ENVIRONMENT); }
elseif ($_SERVER['REQUEST_URI'] === '/json') {
    header('Content-Type: application/json');
    try { intdiv(1, 0); } catch (Error $e) {
        echo json_encode(['message' => $e->getMessage(), 'exception' => get_class($e), 'file' => $e->getFile(), 'line' => $e->getLine(), 'trace' => $e->getTrace()]);
    }
}
elseif ($_SERVER['REQUEST_URI'] === '/config') { $dir = opendir('/srv/app/uploads'); include 'missing.php'; }
else { total(['total' => 3]); }
"""}
MOJOLICIOUS = """
use Mojolicious::Lite -signatures;
get '/orders' => sub ($c) { my $o; $c->render(text => $o->total) };
get '/zero' => sub ($c) { $c->render(text => 1 / ($c->param('n') // 0)) };
app->start('daemon', '-m', 'development', '-l', 'http://127.0.0.1:8809');
"""
RACK = """
require 'rack'
require 'rack/show_exceptions'
require 'webrick'
app = Rack::ShowExceptions.new(proc { |env| raise ArgumentError, 'queue closed' })
Rack::Handler::WEBrick.run(app, Port: 8810, Host: '127.0.0.1')
"""
JAVA_SERVER = """
import com.sun.net.httpserver.*;
import java.io.*;
import java.net.InetSocketAddress;
public class Main {
    static void fail() { throw new IllegalStateException("The pool is exhausted"); }
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8811), 0);
        server.createContext("/", exchange -> {
            StringWriter w = new StringWriter();
            try { fail(); } catch (IllegalStateException e) { e.printStackTrace(new PrintWriter(w)); }
            boolean json = exchange.getRequestURI().getPath().equals("/json");
            String page = json ? "{\\"timestamp\\":\\"2026-03-02T10:11:12.131+00:00\\",\\"status\\":500,\\"error\\":\\"Internal Server Error\\",\\"trace\\":\\""
                + w.toString().replace("\\t", "\\\\t").replace("\\n", "\\\\r\\\\n") + "\\",\\"message\\":\\"The pool is exhausted\\",\\"path\\":\\"/orders\\"}"
                : "<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for /error, so you are seeing this as a fallback.</p>"
                + "<div>There was an unexpected error (type=Internal Server Error, status=500).</div><div>The pool is exhausted</div>"
                + "<div style='white-space:pre-wrap;'>" + w.toString().replace("<", "&lt;") + "</div></body></html>";
            exchange.sendResponseHeaders(500, page.length());
            exchange.getResponseBody().write(page.getBytes());
            exchange.close();
        });
        server.start();
    }
}
"""
GO_SERVER = """
package main

import (
	"fmt"
	"net/http"
	"runtime/debug"
)

func orders(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if e := recover(); e != nil {
			http.Error(w, fmt.Sprintf("%v\\n%s", e, debug.Stack()), 500)
		}
	}()
	var m map[string]int
	m["total"] = 1
}

func main() { http.HandleFunc("/orders", orders); http.ListenAndServe("127.0.0.1:8812", nil) }
"""

# name: (files, build, command, port, {case: (method, path, body, header fields)})
GET = ("GET", None, {})
SERVERS = {
    "flask-werkzeug": ({"app.py": FLASK}, "", "python3 app.py", 8801, {"missing-key": ("GET", "/orders"), "sqlite": ("GET", "/rows")}),
    "django-debug-page": ({"manage.py": DJANGO}, "", "python3 manage.py", 8802,
                          {"missing-key": ("GET", "/orders"), "zero-division": ("GET", "/average"), "plain-text": ("GET", "/orders", None, {"X-Requested-With": "XMLHttpRequest"})}),
    "fastapi": ({"main.py": FASTAPI}, "", "python3 main.py", 8803,
                {"debug-plain": ("GET", "/orders"), "debug-html": ("GET", "/zero", None, {"Accept": "text/html"}), "json-trace": ("GET", "/v2/json"), "json-lines": ("GET", "/v2/lines")}),
    "aiohttp": ({"app.py": AIOHTTP}, "", "python3 app.py", 8804, {"html": ("GET", "/orders", None, {"Accept": "text/html"})}),
    "tornado": ({"app.py": TORNADO}, "", "python3 app.py", 8805, {"plain": ("GET", "/orders")}),
    "express": ({"server.js": EXPRESS}, "", "node server.js", 8806,
                {"undefined": ("GET", "/orders"), "next": ("GET", "/next"), "malformed-json": ("POST", "/orders", "{\"a\":", {"Content-Type": "application/json"}),
                 "json-stack": ("GET", "/stack"), "json-lines": ("GET", "/lines")}),
    "sinatra": ({"app.rb": SINATRA}, "", "ruby app.rb", 8807, {"key-error": ("GET", "/orders"), "zero-division": ("GET", "/zero")}),
    "php-server": (PHP, "", "php -d display_errors=1 -d html_errors=1 -S 127.0.0.1:8808 index.php", 8808,
                   {"division": ("GET", "/"), "warning": ("GET", "/warning"), "json": ("GET", "/json"), "include": ("GET", "/config")}),
    "mojolicious": ({"app.pl": MOJOLICIOUS}, "", "perl app.pl", 8809, {"undefined": ("GET", "/orders"), "zero-division": ("GET", "/zero")}),
    "rack": ({"app.rb": RACK}, "", "ruby app.rb", 8810, {"show-exceptions": ("GET", "/x", None, {"Accept": "text/html"}), "plain": ("GET", "/x", None, {"Accept": "text/plain"})}),
    "java-whitelabel": ({"Main.java": JAVA_SERVER}, "javac -g Main.java", "java -cp . Main", 8811, {"html": ("GET", "/"), "json": ("GET", "/json")}),
    "go-http": ({"main.go": GO_SERVER}, "go build -o app main.go", "./app", 8812, {"recovered": ("GET", "/orders")}),
}
PHPINFO = ("php-server", ("GET", "/info"))


def ask(port, method, path, body=None, fields=None):
    """The body of the response; tried until the server is up."""
    until = time.time() + 40
    while True:
        try:
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            link.request(method, path, body, fields or {})
            return link.getresponse().read().decode("utf-8", "replace")
        except OSError:
            if time.time() > until:
                return ""
            time.sleep(0.2)


def make(corpus, at):
    for name, (files, build, command, port, cases) in SERVERS.items():
        if not shutil.which((build or command).split()[0]):
            print("not installed:", command.split()[0])
            continue
        at.fresh()
        for file, source in files.items():
            at.put_file(file, source.lstrip("\n"))
        if build:
            at.out_of(build, 300)
        server = subprocess.Popen(["setpriv", "--reuid=app", "--regid=app", "--clear-groups", *at.ENVIRONMENT, "NODE_PATH=/usr/share/nodejs:/usr/lib/nodejs",
                                   "sh", "-c", "exec " + command],
                                  cwd=at.APP, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            for case, request in cases.items():
                corpus.put(f"leaks/trace/{name}-{case}", ask(port, *request))
            if name == PHPINFO[0]:
                corpus.put("leaks/environment/phpinfo-html", ask(port, *PHPINFO[1]))
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
