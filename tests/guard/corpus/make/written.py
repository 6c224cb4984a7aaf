"""Leaks that no program has to be run for: addresses with passwords, invented keys, paths, hosts, pieces of source code, and traces of
languages that Debian does not have, by their documented formats. Environments are those of a real `env`.

⁂ stands inside of keys. It is removed when the corpus is read (tests/guard/corpus_test.py), so that no scanner of a hosting service takes
an invented key for a real one. No key here was ever valid.
"""
import base64
import json

CONNECTION = {
    "postgresql-uri": "could not connect to postgresql://shop:Tr0ub4dor@db.internal:5432/shop?sslmode=require",
    "postgres-short": "DATABASE_URL=postgres://app:s3cr3t-pw@10.0.4.12/orders",
    "mysql-uri": "Failed to open mysql://root:hunter2@mysql:3306/app",
    "mysql-jdbc": "Cannot create PoolableConnectionFactory for jdbc:mysql://db01.corp.example:3306/shop?user=app&password=Winter2024",
    "jdbc-postgresql": "HikariPool-1 - jdbc:postgresql://10.1.2.3:5432/shop?user=shop&password=q1w2e3 is not reachable",
    "jdbc-sqlserver": "jdbc:sqlserver://sql01:1433;databaseName=Shop;user=sa;password=P4ssw0rd!;encrypt=false",
    "jdbc-oracle": "IO Error: could not establish the connection jdbc:oracle:thin:scott/tiger@//ora01.corp:1521/ORCL",
    "ado-net": "Server=tcp:sql01.corp.local,1433;Initial Catalog=Shop;User ID=shopapp;Password=Zx81!spectrum;Encrypt=True;",
    "ado-net-json": "{\"error\":\"Cannot open database\",\"connectionString\":\"Data Source=SQL01;Initial Catalog=Shop;User Id=sa;Password=Zx81spectrum;\"}",
    "odbc": "[unixODBC] Driver={PostgreSQL Unicode};Server=10.0.0.9;Port=5432;Database=shop;Uid=app;Pwd=mellon;",
    "libpq-keywords": "connection failed: host=db.internal port=5432 dbname=shop user=app password=mellon1234 sslmode=disable",
    "mongodb": "MongoServerError: bad auth at mongodb://admin:letmein99@mongo-0.mongo:27017,mongo-1.mongo:27017/shop?authSource=admin",
    "mongodb-srv": "mongodb+srv://app:Passw0rd123@cluster0.abcde.mongodb.net/shop",
    "redis": "redis.exceptions.ConnectionError: redis://:r3d1spass@cache:6379/0",
    "rediss-user": "rediss://default:AVNS-invented-pass@cache.example.com:25061",
    "amqp": "ACCESS_REFUSED for amqp://shop:carrot77@rabbit:5672/%2Forders",
    "amqps": "amqps://shop:carrot77@mq.example.com/vhost",
    "smtp": "SMTP failed: smtp://mailer:p0st4ge@mail.corp.example:587",
    "ftp": "ftp://deploy:deploy2020@files.internal/releases",
    "sftp": "sftp://backup:n1ghtly@10.9.8.7:22/var/backups",
    "http-basic": "fetch of https://ci:ghostpass1@git.corp.example/shop.git failed with 403",
    "ldap": "ldap://cn=admin,dc=corp:ldapsecret@ldap.corp.local:389",
    "clickhouse": "clickhouse://default:click1234@ch-01:9000/metrics",
    "sqlalchemy-dialect": "create_engine('mysql+pymysql://shop:pw4shop@127.0.0.1/shop') failed",
    "django-settings": "DATABASES = {'default': {'ENGINE': 'django.db.backends.postgresql', 'NAME': 'shop', 'USER': 'shop', 'PASSWORD': 'c0rrecth0rse', 'HOST': 'db', 'PORT': '5432'}}",
    "rails-yaml": "production:\n  adapter: postgresql\n  database: shop\n  username: shop\n  password: c0rrecth0rse\n  host: db.internal\n",
    "spring-properties": "spring.datasource.url=jdbc:postgresql://db:5432/shop\nspring.datasource.username=shop\nspring.datasource.password=c0rrecth0rse\n",
    "nats": "nats: no servers available for connection: nats://svc:natspass@nats-0:4222",
    "kafka-jaas": "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"shop\" password=\"kafkapass1\";",
    "azure-storage": "DefaultEndpointsProtocol=https;AccountName=shopfiles;AccountKey=" + base64.b64encode(bytes(range(64))).decode()[:40] + "⁂" + base64.b64encode(bytes(range(64))).decode()[40:]
                     + ";EndpointSuffix=core.windows.net",
}

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def invented(length, seed, letters=_LETTERS):
    """Letters and digits that look random and are the same each time."""
    state, out = seed * 7919 + 12345, ""
    for _ in range(length):
        state = (state * 1103515245 + 12345) % (1 << 31)
        out += letters[(state >> 8) % len(letters)]
    return out


def _mixed(length, seed):
    return invented(length, seed, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")


def _jwt(seed):
    def part(value):
        return base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")
    return (part({"alg": "HS256", "typ": "JWT"})[:4] + "⁂" + part({"alg": "HS256", "typ": "JWT"})[4:] + "." + part({"sub": "17", "name": "Ada", "admin": True, "iat": 1760000000 + seed}) + "."
            + part(_mixed(32, seed).encode()))


def _pem(kind, lines, seed):
    body = "\n".join(_mixed(64, seed + i) for i in range(lines))
    return f"-----BEGIN⁂ {kind}-----\n{body}\n{_mixed(30, seed + 99)}==\n-----END⁂ {kind}-----\n"


_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
CREDENTIAL = {
    "aws-access-key": "The request was signed with AK⁂IA" + invented(16, 1, _UPPER) + " which is not allowed to do s3:PutObject.",
    "aws-secret": "aws_access_key_id = AK⁂IA" + invented(16, 2, _UPPER) + "\naws_secret_access_key = " + _mixed(40, 3) + "\n",
    "aws-session": "{\"AccessKeyId\":\"AS⁂IA" + invented(16, 4, _UPPER) + "\",\"SecretAccessKey\":\"" + _mixed(40, 5) + "\",\"SessionToken\":\"" + _mixed(120, 6) + "\"}",
    "github-token": "remote: Invalid credentials for gh⁂p_" + _mixed(36, 7),
    "github-fine": "Authorization failed: github⁂_pat_" + _mixed(22, 8) + "_" + _mixed(59, 9),
    "github-app": "token gh⁂s_" + _mixed(36, 10) + " has expired",
    "gitlab-token": "403 Forbidden for PRIVATE-TOKEN glp⁂at-" + _mixed(20, 11),
    "slack-bot": "slack: invalid_auth (xox⁂b-" + invented(12, 12, "0123456789") + "-" + invented(13, 13, "0123456789") + "-" + _mixed(24, 14) + ")",
    "slack-webhook": "POST https://hooks.slack⁂.com/services/T" + invented(8, 15, _UPPER) + "/B" + invented(8, 16, _UPPER) + "/" + _mixed(24, 17) + " returned 404",
    "stripe-live": "Stripe: Invalid API Key provided: sk⁂_live_" + _mixed(24, 18),
    "stripe-restricted": "rk⁂_live_" + _mixed(24, 19) + " lacks the permission",
    "stripe-webhook": "signature check failed with wh⁂sec_" + _mixed(32, 20),
    "google-api-key": "API key not valid: AI⁂za" + _mixed(35, 21),
    "google-oauth": "ya2⁂9.a0" + _mixed(80, 22) + " expired",
    "google-service-account": "{\"type\":\"service_account\",\"project_id\":\"shop\",\"private_key\":\"" + _pem("PRIVATE KEY", 3, 23).replace("\n", "\\n") + "\",\"client_email\":\"a@shop.example\"}",
    "openai-key": "Incorrect API key provided: s⁂k-" + _mixed(48, 24) + ".",
    "openai-project": "Incorrect API key provided: s⁂k-proj-" + _mixed(48, 25) + ".",
    "anthropic-key": "authentication_error for key s⁂k-ant-api03-" + _mixed(60, 26) + "-AA",
    "sendgrid": "SG⁂." + _mixed(22, 27) + "." + _mixed(43, 28) + " is not authorized to send",
    "twilio": "Authenticate: AC" + invented(32, 29, "0123456789abcdef") + " with auth token " + invented(32, 30, "0123456789abcdef"),
    "npm-token": "//registry.npmjs.org/:_authToken=np⁂m_" + _mixed(36, 31),
    "pypi-token": "403 for password pyp⁂i-AgEIcHlwaS5vcmc" + _mixed(60, 32),
    "docker-config": "{\"auths\":{\"registry.example.com\":{\"auth\":\"" + base64.b64encode(b"shop:invented-password").decode() + "\"}}}",
    "jwt": "jwt malformed: " + _jwt(1),
    "bearer-header": "upstream refused: Authorization: Bearer " + _jwt(2),
    "bearer-opaque": "request headers: { authorization: 'Bearer " + _mixed(40, 33) + "', accept: '*/*' }",
    "basic-header": "curl -H 'Authorization: Basic " + base64.b64encode(b"admin:correct-horse").decode() + "' https://api.example.com",
    "cookie-session": "Cookie: sessionid=" + invented(32, 34) + "; csrftoken=" + _mixed(32, 35),
    "set-cookie": "Set-Cookie: connect.sid=s%3A" + _mixed(32, 36) + "." + _mixed(43, 37) + "; Path=/; HttpOnly",
    "x-api-key": "x-api-key: " + _mixed(40, 38),
    "password-json": "{\"user\":\"ada\",\"password\":\"correct-horse-7\",\"role\":\"admin\"}",
    "password-query": "GET /login?user=ada&password=correct-horse-7 failed",
    "password-env-line": "DB_PASSWORD=correct-horse-7",
    "password-yaml": "smtp:\n  user: mailer\n  password: correct-horse-7\n",
    "secret-key-base": "SECRET_KEY_BASE=" + invented(128, 39, "0123456789abcdef"),
    "django-secret": "SECRET_KEY = 'django-insecure-" + invented(50, 40, _LETTERS + "!@#$%^&*(-_=+)") + "'",
    "laravel-app-key": "APP_KEY=base64:" + base64.b64encode(_mixed(32, 41).encode()).decode(),
    "rsa-private-key": _pem("RSA PRIVATE KEY", 6, 42),
    "ec-private-key": _pem("EC PRIVATE KEY", 2, 50),
    "openssh-private-key": _pem("OPENSSH PRIVATE KEY", 5, 60),
    "pkcs8-encrypted": _pem("ENCRYPTED PRIVATE KEY", 4, 70),
    "pgp-private-key": _pem("PGP PRIVATE KEY BLOCK", 4, 80),
    "private-key-in-json": json.dumps({"error": "bad key: " + _pem("RSA PRIVATE KEY", 2, 90)}, ensure_ascii=False),
    "client-secret": "client_id=shop&client_secret=" + _mixed(40, 43) + "&grant_type=client_credentials",
    "access-token-json": "{\"access_token\":\"" + _mixed(64, 44) + "\",\"token_type\":\"Bearer\",\"expires_in\":3600}",
    "azure-sas": "https://shopfiles.blob.core.windows.net/a/b?sv=2022-11-02&sp=r&sig=" + _mixed(43, 45) + "%3D",
    "vault-token": "permission denied for hv⁂s." + _mixed(90, 46),
    "heroku-key": "HEROKU_API_KEY=" + "-".join(invented(n, 47 + n, "0123456789abcdef") for n in (8, 4, 4, 4, 12)),
    "telegram-bot": "https://api.telegram.org/bot" + invented(10, 48, "123456789") + ":AA⁂" + _mixed(33, 49) + "/sendMessage failed",
    "discord-webhook": "https://discord.com/api/webhooks/" + invented(18, 51, "123456789") + "/⁂" + _mixed(68, 52),
    "digitalocean": "Unable to authenticate you: do⁂p_v1_" + invented(64, 53, "0123456789abcdef"),
    "shopify": "shp⁂at_" + invented(32, 54, "0123456789abcdef") + " is revoked",
    "huggingface": "Repository not found for token h⁂f_" + _mixed(34, 55),
    "netrc": "machine git.example.com\nlogin ci\npassword correct-horse-7\n",
    "htpasswd": "admin:$apr1$" + _mixed(8, 56) + "$" + _mixed(22, 57),
    "bcrypt": "no match for $2b$12$" + _mixed(53, 58),
    "shadow": "app:$6$" + _mixed(16, 59) + "$" + _mixed(86, 61) + ":19700:0:99999:7:::",
}

PATH = {
    "linux-home": "ENOENT: no such file or directory, open '/home/deploy/shop/config/production.json'",
    "var-www": "Template not found in /var/www/shop/templates/orders/show.html.twig",
    "srv": "cannot read /srv/app/releases/20260301/config/settings.yml",
    "opt": "Could not load library /opt/shop/lib/libpayment.so.2",
    "etc": "permission denied: /etc/shop/secrets.d/payment.key",
    "root": "mkdir /root/.cache/shop: permission denied",
    "tmp-upload": "The file /tmp/php7Xk2Qa could not be moved to /var/www/html/uploads/a.png",
    "usr-lib-python": "failed to import /usr/lib/python3/dist-packages/shop/models.py",
    "site-packages": "module loaded from /usr/local/lib/python3.11/site-packages/flask/app.py",
    "node-modules": "Cannot find package 'pg' imported from /usr/src/app/node_modules/knex/lib/index.js",
    "docker-app": "error reading /app/src/routes/orders.ts",
    "windows-inetpub": "Could not find file 'C:\\inetpub\\wwwroot\\Shop\\Web.config'.",
    "windows-users": "Access to the path 'C:\\Users\\svc-shop\\AppData\\Local\\Temp\\a.tmp' is denied.",
    "windows-source": "Compiled from D:\\agent\\_work\\12\\s\\src\\Shop.Api\\Controllers\\OrdersController.cs",
    "windows-in-json": "{\"error\":\"Could not open C:\\\\ProgramData\\\\Shop\\\\shop.db\"}",
    "unc": "The network path \\\\fs01\\shares\\invoices\\2026 was not found.",
    "macos-users": "dyld: Library not loaded: /Users/ada/dev/shop/build/libshop.dylib",
    "file-uri": "Not allowed to load file:///srv/app/public/index.html",
    "json-path": "{\"status\":500,\"message\":\"Failed to open /var/lib/shop/data/orders.sqlite3\"}",
    "json-escaped-slashes": "{\"message\":\"include(\\/var\\/www\\/html\\/config.php): failed\"}",
    "html": "<p>Cannot write to <code>/var/lib/mysql/shop/orders.ibd</code></p>",
    "proc": "read /proc/1047/environ: permission denied",
    "log-path": "see /var/log/shop/error.log for details",
    "ruby-gem": "LoadError in /usr/local/bundle/gems/pg-1.5.4/lib/pg.rb",
    "java-jar": "URL [jar:file:/opt/shop/shop-api-2.3.1.jar!/BOOT-INF/lib/hibernate-core-6.4.jar]",
    "kube-secret": "open /var/run/secrets/kubernetes.io/serviceaccount/token: no such file or directory",
    "ssh": "Load key \"/home/ci/.ssh/id_ed25519\": Permission denied",
    "lambda": "Unable to import module: /var/task/handler.py",
    "nix": "error: builder for /nix/store/x9k2-shop-2.3/bin/shop failed",
    "tilde-expanded": "config file /home/app/.config/shop/config.toml has a mistake in line 3",
}

HOST = {
    "private-10": "connect ECONNREFUSED 10.20.30.40:5432",
    "private-192": "upstream 192.168.17.4:8080 timed out",
    "private-172": "dial tcp 172.18.0.5:6379: i/o timeout",
    "link-local-metadata": "GET http://169.254.169.254/latest/meta-data/ failed",
    "kubernetes-service": "no endpoints for orders.shop.svc.cluster.local:8080",
    "kubernetes-short": "upstream request to http://payments.prod.svc:9000/charge failed",
    "internal-domain": "getaddrinfo ENOTFOUND db-primary.internal",
    "corp-domain": "could not resolve host jenkins.corp.example.lan",
    "local-domain": "ping to nas01.local failed",
    "localhost-port": "proxy error: could not proxy request to http://localhost:3000/",
    "loopback-port": "connection to server at \"127.0.0.1\", port 5432 failed",
    "aws-internal": "no route to ip-10-0-12-34.eu-west-1.compute.internal",
    "rds": "timeout for shop.c9akciq32.eu-west-1.rds.amazonaws.com:5432",
    "elasticache": "shop-cache.abc123.0001.euw1.cache.amazonaws.com:6379 is not reachable",
    "ipv6-ula": "connect to [fd12:3456:789a:1::20]:5432 failed",
    "ipv6-link-local": "bind: fe80::1ff:fe23:4567:890a%eth0 port 80",
    "docker-gateway": "dial tcp: lookup host.docker.internal on 127.0.0.11:53: no such host",
    "consul": "no healthy instances of payments.service.consul",
    "json-field": "{\"error\":\"upstream\",\"host\":\"10.4.4.17\",\"port\":8443}",
    "html": "<hr><address>Apache/2.4.57 (Debian) Server at shop-03.internal Port 8080</address>",
    "x-forwarded": "X-Forwarded-For: 203.0.113.7, 10.0.0.12, 10.0.0.3",
    "nginx-upstream": "connect() failed (111: Connection refused) while connecting to upstream, upstream: \"http://10.0.7.7:8000/orders\"",
    "zookeeper": "Session 0x0 for server zk-1.zk-headless.shop.svc.cluster.local/10.1.1.9:2181, unexpected error",
    "graphql": "{\"errors\":[{\"message\":\"request to http://users.default.svc.cluster.local:4001/graphql failed, reason: connect ECONNREFUSED\"}]}",
    "ldap-dc": "Can't contact LDAP server dc01.ad.corp.local",
    "gcp-metadata": "Get \"http://metadata.google.internal/computeMetadata/v1/\": timeout",
    "intranet": "see http://intranet/wiki/Shop for help",
    "private-range": "allowed ranges: 10.0.0.0/8, 192.168.0.0/16",
}

SOURCE = {
    "python-function": "def charge(self, order, card):\n    if order.total <= 0:\n        raise ValueError('total')\n    return self.gateway.charge(card.token, order.total)\n",
    "python-import": "import os\nfrom shop.models import Order\n\nclass OrderView(View):\n    def get(self, request, id):\n        return Order.objects.get(pk=id)\n",
    "javascript-route": "app.get('/orders/:id', async (req, res) => {\n  const order = await db.query('orders').where({ id: req.params.id }).first();\n  res.json(order);\n});\n",
    "javascript-require": "const express = require('express');\nconst { Pool } = require('pg');\nmodule.exports = new Pool();\n",
    "typescript-class": "export class OrderService {\n  constructor(private readonly repository: OrderRepository) {}\n  async find(id: number): Promise<Order> {\n    return this.repository.findOne({ where: { id } });\n  }\n}\n",
    "java-class": "package com.example.shop;\n\nimport java.util.List;\n\npublic class OrderService {\n    private final OrderRepository repository;\n    public List<Order> all() { return repository.findAll(); }\n}\n",
    "java-method": "    @GetMapping(\"/orders/{id}\")\n    public ResponseEntity<Order> get(@PathVariable Long id) {\n        return ResponseEntity.ok(service.find(id));\n    }\n",
    "kotlin": "fun Route.orders() {\n    get(\"/orders\") {\n        val id = call.parameters[\"id\"] ?: return@get\n        call.respond(store.find(id))\n    }\n}\n",
    "csharp": "using System.Linq;\nnamespace Shop.Api {\n    public class OrdersController : ControllerBase {\n        public IActionResult Get(int id) { return Ok(_db.Orders.Single(o => o.Id == id)); }\n    }\n}\n",
    "go": "package main\n\nimport \"net/http\"\n\nfunc orders(w http.ResponseWriter, r *http.Request) {\n\tif err := store.Load(r.Context()); err != nil {\n\t\treturn\n\t}\n}\n",
    "rust": "pub fn charge(order: &Order) -> Result<Receipt, PaymentError> {\n    let total = order.items.iter().map(|i| i.price).sum();\n    gateway.charge(total)\n}\n",
    "ruby": "class OrdersController < ApplicationController\n  def show\n    @order = Order.find(params[:id])\n    render json: @order\n  end\nend\n",
    "php": "<?php\nnamespace App\\Http\\Controllers;\nclass OrderController extends Controller {\n    public function show($id) { return Order::findOrFail($id); }\n}\n",
    "php-short": "<?php include 'header.php'; $db = new mysqli($host, $user, $pass); ?>\n",
    "jsp": "<%@ page import=\"java.sql.*\" %>\n<% Connection c = DriverManager.getConnection(url); %>\n",
    "erb": "<% @orders.each do |order| %>\n  <li><%= order.name %></li>\n<% end %>\n",
    "c": "#include <stdio.h>\n#include \"order.h\"\n\nint order_total(const struct order *o)\n{\n    int sum = 0;\n    for (size_t i = 0; i < o->count; i++)\n        sum += o->items[i].price;\n    return sum;\n}\n",
    "cpp": "#include <vector>\nnamespace shop {\ntemplate <typename T> class Queue {\npublic:\n    void push(const T &value) { items_.push_back(value); }\nprivate:\n    std::vector<T> items_;\n};\n}\n",
    "perl": "use strict;\nuse warnings;\nmy ($self, %args) = @_;\nmy $row = $self->{dbh}->selectrow_hashref('SELECT 1');\nreturn $row->{total};\n",
    "elixir": "defmodule Shop.Orders do\n  use Ecto.Schema\n  def get!(id), do: Repo.get!(Order, id)\nend\n",
    "sql-procedure": "CREATE OR REPLACE FUNCTION settle(id int) RETURNS void AS $$\nBEGIN\n  UPDATE accounts SET balance = balance - 1 WHERE account_id = id;\nEND;\n$$ LANGUAGE plpgsql;\n",
    "shell": "#!/bin/bash\nset -euo pipefail\nsource ./env.sh\nfor host in \"${HOSTS[@]}\"; do\n  ssh \"$host\" \"systemctl restart shop\"\ndone\n",
    "swift": "import Foundation\nstruct Order: Codable {\n    let id: Int\n    func total() throws -> Int { guard id > 0 else { throw OrderError.invalid }; return id }\n}\n",
    "scala": "package shop\nimport scala.concurrent.Future\nclass Orders(repo: Repository) {\n  def find(id: Long): Future[Option[Order]] = repo.byId(id).map(_.headOption)\n}\n",
    "haskell": "module Shop.Orders where\nimport qualified Data.Map as Map\ntotal :: Order -> Int\ntotal o = sum (map price (items o))\n",
    "javascript-in-json": json.dumps({"error": "Unexpected token", "source": "const total = (order) => {\n  return order.items.reduce((sum, i) => sum + i.price, 0);\n};\n"}),
    "python-in-html": "<pre>def total(order):\n    return sum(i.price for i in order.items)\n\nclass Cart:\n    pass</pre>",
    "lua": "local Orders = {}\nfunction Orders:new(o)\n  o = o or {}\n  setmetatable(o, self)\n  return o\nend\nreturn Orders\n",
}

TRACE = {
    "swift-fatal-error": "Shop/OrderStore.swift:42: Fatal error: Unexpectedly found nil while unwrapping an Optional value\nCurrent stack trace:\n0    libswiftCore.so                    0x00007f1c2f2a5a10 _swift_stdlib_reportFatalErrorInFile + 112\n"
                         "1    libswiftCore.so                    0x00007f1c2ef5c3c5 <unavailable> + 1442757\n4    shop                               0x0000557c1f3a1b20 <unavailable> + 7968\n5    shop                               0x0000557c1f3a1a77 OrderStore.find(id:) + 71\n",
    "swift-index": "Swift/ContiguousArrayBuffer.swift:600: Fatal error: Index out of range\n",
    "swift-crash-report": "*** Signal 4: Backtracing from 0x55f0a1c2d4e8... done ***\n\n*** Program crashed: Illegal instruction at 0x000055f0a1c2d4e8 ***\n\nThread 0 \"shop\" crashed:\n\n0 0x000055f0a1c2d4e8 OrderStore.find(id:) + 24 in shop at /srv/app/Sources/shop/OrderStore.swift:12:20\n"
                          "1 [ra] 0x000055f0a1c2d39f closure #1 in routes(_:) + 47 in shop at /srv/app/Sources/shop/routes.swift:31:9\n",
    "swift-try": "Fatal error: 'try!' expression unexpectedly raised an error: shop.OrderError.notFound: file shop/main.swift, line 9\n",
    "swift-ios-report": "Thread 0 Crashed:\n0   libswiftCore.dylib            \t0x000000018f5d1a3c 0x18f400000 + 1907260\n1   Shop                          \t0x0000000104b6e2f4 OrderView.body.getter + 220 (OrderView.swift:34)\n2   SwiftUI                       \t0x0000000193a1c8d0 0x193800000 + 2214096\n",
    "dart-unhandled": "Unhandled exception:\nRangeError (index): Invalid value: Valid value range is empty: 3\n#0      List.[] (dart:core-patch/growable_array.dart:264:36)\n#1      third (file:///srv/app/bin/server.dart:3:32)\n#2      main (file:///srv/app/bin/server.dart:6:3)\n"
                      "#3      _delayEntrypointInvocation.<anonymous closure> (dart:isolate-patch/isolate_patch.dart:297:19)\n#4      _RawReceivePort._handleMessage (dart:isolate-patch/isolate_patch.dart:184:12)\n",
    "dart-null-check": "Null check operator used on a null value\n#0      OrderStore.find (package:shop/store/order_store.dart:41:18)\n#1      OrderHandler.get (package:shop/handlers/orders.dart:17:29)\n<asynchronous suspension>\n#2      Pipeline.addHandler.<anonymous closure> (package:shelf/src/pipeline.dart:33:25)\n",
    "dart-async": "Unhandled exception:\nSocketException: Connection refused (OS Error: Connection refused, errno = 111), address = localhost, port = 41234\n#0      _NativeSocket.startConnect (dart:io-patch/socket_patch.dart:688:35)\n<asynchronous suspension>\n#1      main (file:///srv/app/bin/server.dart:9:15)\n<asynchronous suspension>\n",
    "flutter-framework": "══╡ EXCEPTION CAUGHT BY WIDGETS LIBRARY ╞═══════\nThe following _TypeError was thrown building OrderPage(dirty):\ntype 'Null' is not a subtype of type 'String'\n\nWhen the exception was thrown, this was the stack:\n#0      OrderPage.build (package:shop/pages/order_page.dart:22:31)\n#1      StatelessElement.build (package:flutter/src/widgets/framework.dart:5038:49)\n",
    "dart-format-exception": "FormatException: Unexpected character (at character 2)\n{broken\n ^\n\n#0      _ChunkedJsonParser.fail (dart:convert-patch/convert_patch.dart:1383:5)\n#1      parse (package:shop/config.dart:9:10)\n",
    "dotnet-core": "Unhandled exception. System.NullReferenceException: Object reference not set to an instance of an object.\n   at Shop.Api.OrderService.Length(Order order) in /srv/app/src/OrderService.cs:line 12\n   at Shop.Api.Program.Main(String[] args) in /srv/app/src/Program.cs:line 7\n",
    "dotnet-release": "System.InvalidOperationException: Sequence contains no elements\n   at System.Linq.ThrowHelper.ThrowNoElementsException()\n   at System.Linq.Enumerable.First[TSource](IEnumerable`1 source)\n   at Shop.Api.Controllers.OrdersController.Get(Int32 id)\n",
    "dotnet-async": "System.TimeoutException: The operation has timed out.\n   at Shop.Api.Client.LoadAsync(Int32 id) in D:\\build\\Shop\\Client.cs:line 55\n--- End of stack trace from previous location ---\n   at Microsoft.AspNetCore.Mvc.Infrastructure.ActionMethodExecutor.TaskOfIActionResultExecutor.Execute()\n",
    "aspnet-yellow-page": "<html><head><title>Object reference not set to an instance of an object.</title></head><body bgcolor=\"white\"><span><H1>Server Error in '/Shop' Application.<hr width=100% size=1></H1>"
                          "<b> Exception Details: </b>System.NullReferenceException: Object reference not set to an instance of an object.<br><br><b>Source Error:</b> <br><code><pre>Line 21:     var city = order.City.ToUpper();</pre></code>"
                          "<b> Source File: </b> c:\\inetpub\\wwwroot\\Shop\\Order.aspx.cs<b> &nbsp;&nbsp; Line: </b> 21<br><b>Stack Trace:</b> <br><code><pre>\n[NullReferenceException: Object reference not set to an instance of an object.]\n"
                          "   Shop.Order.Page_Load(Object sender, EventArgs e) in c:\\inetpub\\wwwroot\\Shop\\Order.aspx.cs:21\n   System.Web.UI.Control.OnLoad(EventArgs e) +106\n</pre></code><b>Version Information:</b>&nbsp;Microsoft .NET Framework Version:4.0.30319</body></html>",
    "aspnet-core-json": json.dumps({"type": "https://tools.ietf.org/html/rfc9110#section-15.6.1", "title": "System.FormatException", "status": 500, "detail": "The input string 'x' was not in a correct format.",
                                    "exception": {"details": "System.FormatException: The input string 'x' was not in a correct format.\n   at System.Number.ThrowFormatException[TChar](ReadOnlySpan`1 value)\n   at Shop.Api.Orders.Parse(String s) in C:\\src\\Shop\\Orders.cs:line 9\n",
                                                  "path": "/orders"}}),
    "rails-debug-page": "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\" /><title>Action Controller: Exception caught</title></head><body><header><h1>NoMethodError in OrdersController#show</h1></header>"
                        "<h2>undefined method `total' for nil:NilClass</h2><div class=\"source\"><div class=\"info\">Extracted source (around line <strong>#7</strong>):</div></div><p><code>Rails.root: /srv/app</code></p>"
                        "<div id=\"Application-Trace\"><code><a class=\"trace-frames\" href=\"#\">app/controllers/orders_controller.rb:7:in `show&#39;</a></code></div></body></html>",
    "rails-json": json.dumps({"status": 500, "error": "Internal Server Error", "exception": "#<NoMethodError: undefined method `total' for nil:NilClass>",
                              "traces": {"Application Trace": [{"exception_object_id": 14440, "id": 0, "trace": "app/controllers/orders_controller.rb:7:in `show'"}],
                                         "Framework Trace": [{"id": 1, "trace": "actionpack (7.0.4) lib/action_controller/metal/basic_implicit_render.rb:6:in `send_action'"}]}}),
    "laravel-json": json.dumps({"message": "Undefined variable $order", "exception": "ErrorException", "file": "/var/www/shop/app/Http/Controllers/OrderController.php", "line": 21,
                                "trace": [{"file": "/var/www/shop/vendor/laravel/framework/src/Illuminate/Foundation/Bootstrap/HandleExceptions.php", "line": 255,
                                           "function": "handleError", "class": "Illuminate\\Foundation\\Bootstrap\\HandleExceptions", "type": "->"}]}),
    "symfony-page": "<h2>ErrorException</h2><p>Warning: Undefined variable $order</p><ol class=\"traces\"><li>in <a title=\"/var/www/shop/src/Controller/OrderController.php line 21\">OrderController.php line 21</a></li>"
                    "<li>at ErrorHandler-&gt;handleError(2, &#039;Undefined variable $order&#039;) in <a title=\"/var/www/shop/vendor/symfony/http-kernel/HttpKernel.php line 181\">HttpKernel.php line 181</a></li></ol>",
    "kotlin-coroutine": "Exception in thread \"main\" java.lang.IllegalStateException: closed\n\tat com.example.shop.OrdersKt$load$2.invokeSuspend(Orders.kt:14)\n\tat kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith(ContinuationImpl.kt:33)\n"
                        "\tat kotlinx.coroutines.DispatchedTask.run(DispatchedTask.kt:108)\n",
    "kotlin-npe": "kotlin.KotlinNullPointerException\n\tat shop.OrderKt.length(Order.kt:2)\n\tat shop.OrderKt.main(Order.kt:3)\n\tat shop.OrderKt.main(Order.kt)\n",
    "kotlin-lateinit": "kotlin.UninitializedPropertyAccessException: lateinit property store has not been initialized\n\tat shop.Routes.getStore(Routes.kt:8)\n\tat shop.Routes$orders$1.invoke(Routes.kt:15)\n",
    "scala-match-error": "scala.MatchError: 3 (of class java.lang.Integer)\n\tat shop.Orders$.kind(Orders.scala:4)\n\tat shop.Orders$.main(Orders.scala:6)\n\tat shop.Orders.main(Orders.scala)\n",
    "scala-future": "java.util.NoSuchElementException: None.get\n\tat scala.None$.get(Option.scala:627)\n\tat shop.Orders$.$anonfun$find$1(Orders.scala:19)\n\tat scala.concurrent.Future.$anonfun$map$1(Future.scala:292)\n",
    "scala-akka-log": "[ERROR] [03/02/2026 10:11:12.131] [shop-akka.actor.default-dispatcher-5] [akka://shop/user/orders] closed\njava.lang.IllegalStateException: closed\n\tat shop.OrderActor$$anonfun$receive$1.applyOrElse(OrderActor.scala:23)\n\tat akka.actor.Actor.aroundReceive(Actor.scala:537)\n",
    "rust-new-format": "thread 'main' panicked at src/main.rs:1:39:\ncalled `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
    "rust-actix": "thread 'actix-rt|system:0|arbiter:2' panicked at src/handlers/orders.rs:44:18:\nindex out of bounds: the len is 1 but the index is 3\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/std/src/panicking.rs:665:5\n"
                  "   1: core::panicking::panic_fmt\n   2: shop::handlers::orders::third\n             at ./src/handlers/orders.rs:44:18\n",
    "browser-firefox": "TypeError: order is undefined\ntotal@https://shop.example.com/static/js/main.4f2a1c.js:2:18\nrender@https://shop.example.com/static/js/main.4f2a1c.js:14:3\n@https://shop.example.com/static/js/main.4f2a1c.js:20:1\n",
    "deno": "error: Uncaught (in promise) TypeError: Cannot read properties of undefined (reading 'name')\n    at nameOf (file:///srv/app/main.ts:2:15)\n    at file:///srv/app/main.ts:5:1\n",
    "bun": "1 | export function nameOf(user) {\n2 |   return user.profile.name;\n                          ^\nTypeError: undefined is not an object (evaluating 'user.profile.name')\n      at nameOf (/srv/app/server.ts:2:23)\n      at /srv/app/server.ts:5:1\n",
    "webpack-next": "Error: The price is negative\n    at total (webpack-internal:///(rsc)/./app/orders/page.tsx:12:11)\n    at async Page (webpack-internal:///(rsc)/./app/orders/page.tsx:20:17)\n",
    "python-celery-log": "[2026-03-02 10:11:12,131: ERROR/ForkPoolWorker-3] Task shop.tasks.settle[0b8f] raised unexpected: KeyError('total')\nTraceback (most recent call last):\n  File \"/usr/local/lib/python3.12/site-packages/celery/app/trace.py\", line 453, in trace_task\n    R = retval = fun(*args, **kwargs)\nKeyError: 'total'\n",
    "graphql-extensions": json.dumps({"errors": [{"message": "Cannot read properties of null", "path": ["order"], "extensions": {"code": "INTERNAL_SERVER_ERROR", "stacktrace": [
        "TypeError: Cannot read properties of null (reading 'total')", "    at Order.total (/srv/app/dist/resolvers.js:41:22)", "    at field.resolve (/srv/app/node_modules/graphql/execution/execute.js:481:18)"]}}], "data": None}),
    "grpc-status": "rpc error: code = Internal desc = panic: runtime error: invalid memory address or nil pointer dereference\ngoroutine 57 [running]:\nexample.com/shop/server.(*Orders).Get(0x0, {0xc0000b4000, 0x12})\n\t/srv/app/server/orders.go:41 +0x1d\n",
    "tomcat-page": "<html><head><title>HTTP Status 500 – Internal Server Error</title></head><body><h1>HTTP Status 500 – Internal Server Error</h1><p><b>Type</b> Exception Report</p><p><b>Exception</b></p><pre>java.lang.NullPointerException\n"
                   "\tcom.example.shop.OrderServlet.doGet(OrderServlet.java:33)\n\tjavax.servlet.http.HttpServlet.service(HttpServlet.java:529)\n</pre><h3>Apache Tomcat/9.0.71</h3></body></html>",
}
TRACE_HINT = {
    "java-class": "{\"status\":500,\"error\":\"java.lang.NullPointerException\"}",
    "java-class-message": "org.springframework.dao.DataIntegrityViolationException: could not execute statement",
    "java-jackson": "JSON parse error: Cannot deserialize value of type `int` from String; nested exception is com.fasterxml.jackson.databind.exc.InvalidFormatException",
    "csharp-class": "System.NullReferenceException: Object reference not set to an instance of an object.",
    "csharp-sql-class": "{\"title\":\"Microsoft.Data.SqlClient.SqlException\",\"status\":500}",
    "python-class": "sqlalchemy.exc.OperationalError",
    "python-error-line": "AttributeError: 'NoneType' object has no attribute 'name'",
    "python-key-error": "{\"detail\":\"KeyError: 'total'\"}",
    "ruby-class": "ActiveRecord::RecordNotFound: Couldn't find Order with 'id'=7",
    "ruby-nomethod": "undefined method `total' for nil:NilClass",
    "php-class": "Illuminate\\Database\\QueryException",
    "javascript-typeerror": "{\"error\":\"TypeError: Cannot read properties of undefined (reading 'name')\"}",
    "go-nil": "runtime error: invalid memory address or nil pointer dereference",
    "elixir-error": "** (KeyError) key :total not found in: %{}",
    "erlang-reason": "{badmatch,{error,enoent}}",
    "rust-unwrap": "called `Option::unwrap()` on a `None` value",
    "scala-class": "scala.MatchError: 3 (of class java.lang.Integer)",
    "segfault": "Segmentation fault (core dumped)",
    "haskell": "Prelude.head: empty list",
    "ocaml": "Fatal error: exception Not_found",
}
SQL_HINT = {
    "select-in-message": "The statement SELECT id, name FROM users WHERE email = 'a@b.example' failed.",
    "insert-in-message": "{\"error\":\"INSERT INTO orders (id, total) VALUES (1, 2) was refused\"}",
    "update-in-message": "UPDATE accounts SET balance = balance - 10 WHERE id = 7 -- timed out",
    "delete-in-message": "could not run DELETE FROM sessions WHERE user_id = 12",
    "sqlite-message": "{\"message\":\"no such table: orders\"}",
    "sqlite-unique": "UNIQUE constraint failed: users.email",
    "postgres-relation": "relation \"orders\" does not exist",
    "postgres-duplicate": "duplicate key value violates unique constraint \"users_email_key\"",
    "mysql-syntax": "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'ORDER' at line 1",
}
SQL = {
    "oracle": "ORA-00942: table or view does not exist",
    "oracle-plsql": "ORA-06550: line 1, column 7:\nPL/SQL: ORA-00904: \"PRICE\": invalid identifier",
    "sqlserver": "Msg 208, Level 16, State 1, Line 1\nInvalid object name 'dbo.Orders'.",
    "sqlserver-odbc": "[Microsoft][ODBC Driver 17 for SQL Server][SQL Server]Incorrect syntax near 'FROM'.",
    "sqlserver-class": "System.Data.SqlClient.SqlException (0x80131904): Invalid column name 'price'.",
    "sqlserver-unclosed": "Unclosed quotation mark after the character string 'O'.",
    "db2": "DB2 SQL Error: SQLCODE=-204, SQLSTATE=42704, SQLERRMC=SHOP.ORDERS, DRIVER=4.26.14",
    "jdbc-mysql": "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure",
    "jdbc-postgresql": "org.postgresql.util.PSQLException: ERROR: relation \"orders\" does not exist\n  Position: 15",
    "hibernate": "org.hibernate.exception.SQLGrammarException: could not extract ResultSet; SQL [select o1_0.id from orders o1_0 where o1_0.id=?]",
    "sequelize": "SequelizeDatabaseError: column \"price\" does not exist",
    "prisma": "Invalid `prisma.order.findUnique()` invocation in\n/srv/app/src/orders.ts:12:30\n\nThe table `public.Order` does not exist in the current database.",
    "knex": "select * from \"orders\" where \"id\" = $1 - relation \"orders\" does not exist",
    "rails": "ActiveRecord::StatementInvalid: PG::UndefinedTable: ERROR:  relation \"orders\" does not exist\nLINE 1: SELECT \"orders\".* FROM \"orders\"",
    "ecto": "** (Postgrex.Error) ERROR 42P01 (undefined_table) relation \"orders\" does not exist\n\n    query: SELECT o0.\"id\" FROM \"orders\" AS o0",
    "go-pq": "pq: duplicate key value violates unique constraint \"users_email_key\"",
    "go-mysql": "Error 1062 (23000): Duplicate entry 'a@b.example' for key 'users.email'",
    "gorm": "ERROR: relation \"orders\" does not exist (SQLSTATE 42P01)",
    "laravel": "SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.orders' doesn't exist (SQL: select * from `orders` where `id` = 7 limit 1)",
    "mysqli-warning": "Warning: mysqli_query(): (42S02/1146): Table 'shop.orders' doesn't exist in /var/www/html/orders.php on line 12",
    "access-odbc": "Microsoft OLE DB Provider for ODBC Drivers error '80040e14'",
    "mongo": "MongoServerError: E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: \"a@b.example\" }",
}

ENVIRONMENT = {
    "node-process-env": json.dumps({"env": {"NODE_ENV": "production", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/bin", "HOME": "/home/app", "PWD": "/srv/app", "DB_HOST": "db.internal", "PORT": "3000"}}, indent=2),
    "python-os-environ": "environ({'PATH': '/usr/local/bin:/usr/bin:/bin', 'LANG': 'C.UTF-8', 'HOME': '/home/app', 'PYTHON_VERSION': '3.11.2', 'GUNICORN_CMD_ARGS': '--workers=4'})",
    "docker-inspect": "\"Env\": [\n  \"PATH=/usr/local/sbin:/usr/local/bin\",\n  \"HOSTNAME=shop-7c9d\",\n  \"PGDATA=/var/lib/postgresql/data\"\n]",
    "kubernetes-service-env": "KUBERNETES_SERVICE_HOST=10.96.0.1\nKUBERNETES_SERVICE_PORT=443\nKUBERNETES_PORT=tcp://10.96.0.1:443\nHOSTNAME=shop-5d4f\nSHOP_SERVICE_HOST=10.96.14.2\n",
    "dotenv": "APP_ENV=production\nAPP_DEBUG=true\nDB_HOST=10.0.0.5\nDB_DATABASE=shop\nDB_USERNAME=shop\nMAIL_HOST=mail.internal\nREDIS_HOST=cache\n",
    "windows-set": "ALLUSERSPROFILE=C:\\ProgramData\nAPPDATA=C:\\Users\\svc\\AppData\\Roaming\nCOMPUTERNAME=WEB03\nComSpec=C:\\Windows\\system32\\cmd.exe\nPATHEXT=.COM;.EXE;.BAT\nUSERDOMAIN=CORP\n",
    "lambda": "AWS_REGION=eu-west-1\nAWS_LAMBDA_FUNCTION_NAME=shop\nAWS_EXECUTION_ENV=AWS_Lambda_nodejs20.x\nLAMBDA_TASK_ROOT=/var/task\nPATH=/var/lang/bin:/usr/local/bin\n",
    "php-server-array": "Array\n(\n    [DOCUMENT_ROOT] => /var/www/html\n    [SERVER_SOFTWARE] => nginx/1.24.0\n    [SCRIPT_FILENAME] => /var/www/html/index.php\n    [PATH] => /usr/local/bin:/usr/bin\n    [HOME] => /var/www\n    [SERVER_ADDR] => 10.0.0.4\n)\n",
    "java-properties": "java.home=/usr/lib/jvm/java-17-openjdk-amd64\njava.class.path=/opt/shop/shop.jar\nuser.dir=/opt/shop\nuser.home=/home/app\nos.name=Linux\n",
    "cgi-html": "<table><tr><td>DOCUMENT_ROOT</td><td>/var/www/html</td></tr><tr><td>PATH</td><td>/usr/local/bin:/usr/bin</td></tr><tr><td>SERVER_ADMIN</td><td>root@localhost</td></tr><tr><td>SCRIPT_FILENAME</td><td>/var/www/cgi/env.pl</td></tr></table>",
}
RUN_ENVIRONMENT = {  # commands whose output is an environment
    "env": "env DATABASE_HOST=db.internal SHOP_MODE=production env",
    "export-p": "DATABASE_HOST=db.internal; export DATABASE_HOST; export -p",
    "proc-environ": "tr '\\0' '\\n' < /proc/self/environ",
    "node": "PORT=3000 node -p process.env",
    "node-json": "PORT=3000 node -p 'JSON.stringify({error:\"boom\",env:process.env})'",
    "python": "python3 -c 'import os, pprint; pprint.pprint(dict(os.environ))'",
    "python-repr": "python3 -c 'import os; print(os.environ)'",
    "php-print-r": "php -d variables_order=EGPCS -r 'print_r($_ENV); print_r(getenv());'",
    "php-var-dump": "php -r 'var_dump(getenv());'",
    "phpinfo-text": "php -r 'phpinfo(INFO_ENVIRONMENT | INFO_VARIABLES);'",
    "ruby": "ruby -e 'p ENV.to_h'",
    "perl": "perl -e 'print \"$_ = $ENV{$_}\\n\" for sort keys %ENV'",
    "elixir": "elixir -e 'IO.inspect(System.get_env(), limit: :infinity)'",
    "sh-set": "set",
}

GROUPS = {"connection": CONNECTION, "credential": CREDENTIAL, "path": PATH, "host": HOST, "source": SOURCE, "trace": TRACE, "trace-hint": TRACE_HINT, "sql": SQL,
          "sql-hint": SQL_HINT, "environment": ENVIRONMENT}


def make(corpus, at):
    import written_more
    for group, texts in [*GROUPS.items(), *written_more.GROUPS.items()]:
        for name, text in texts.items():
            corpus.put(f"leaks/{group}/{name}", text)
    for name, command in RUN_ENVIRONMENT.items():
        at.fresh()
        corpus.put(f"leaks/environment/run-{name}", at.out_of(command)[0])
