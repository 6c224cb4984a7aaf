"""examples/album.c from outside: files, forms, versions, ranges, compression, headers and cookies, on every boundary.

    MISHAP_PROGRAM=… ALBUM_PROGRAM=… HEADERS_PROGRAM=… python3 tests/http/album_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/headers.c is a program that sets whatever headers its caller wants.
"""
import base64
import ctypes
import gzip
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test

ALBUM = os.path.abspath(os.environ["ALBUM_PROGRAM"])
HEADERS = os.path.abspath(os.environ["HEADERS_PROGRAM"])
CAT = bytes(range(256)) * 4 + b"\r\n--x\r\n--"


def album():
    return server.server("album", "--workers", "2", program=ALBUM)


def headers():
    return server.server("headers", "--workers", "1", program=HEADERS)


def form(*parts, boundary="x"):
    """A multipart form; a part is (name, value) or (name, bytes, file name, media type)."""
    lines = b""
    for name, value, *file in parts:
        lines += b"--%s\r\nContent-Disposition: form-data; name=\"%s\"" % (boundary.encode(), name.encode())
        if file:
            lines += b"; filename=\"%s\"\r\nContent-Type: %s" % tuple(word.encode() for word in file)
        lines += b"\r\n\r\n" + (value if isinstance(value, bytes) else value.encode()) + b"\r\n"
    return lines + b"--%s--\r\n" % boundary.encode()


def send(path, *parts, boundary="xYz", method="POST", **more):
    return album().ask(method, path, form(*parts, boundary=boundary), media_type="multipart/form-data; boundary=" + boundary, **more)


def new_photo(title="Cat", content=CAT, name="cat.png", media_type="image/png"):
    found = send("/photos", ("title", title), ("photo", content, name, media_type))
    equal(found.status, 201, found.body)
    return found["Location"], found


@test
def a_file_reaches_the_handler_over_every_boundary():
    path = os.path.join(server.FOLDER, "a cat.png")
    with open(path, "wb") as file:
        file.write(CAT)
    expected = {"name": "a cat.png", "bytes": len(CAT)}
    found = send("/measure", ("photo", CAT, "a cat.png", "image/png"))
    equal((found.status, found.json["type"]), (200, "image/png"), "HTTP")
    total = found.json["sum"]
    equal({name: found.json[name] for name in expected}, expected, "HTTP")
    for words in (["photos", "measure", path], ["photos", "measure", "--photo", path]):
        data = parsed(run_program(ALBUM, *words, "--output", "json", env={"ALBUM_LOG": ""}).out)["data"]
        equal({name: data[name] for name in expected}, expected, words)
        equal(data["sum"], total, words)
    data = parsed(run_program(ALBUM, "photos", "measure", "-", "--output", "json", stdin=CAT, env={"ALBUM_LOG": ""}).out)["data"]
    equal((data["name"], data["sum"]), (None, total), "standard input")
    text = base64.b64encode(CAT).decode()
    equal(parsed(album().ask("POST", "/measure", {"photo": text}).body)["sum"], total, "JSON")
    session = exchange.Session(album())
    answer = session.post(exchange.call("photos_measure", {"photo": text})).json["result"]
    equal((answer["structuredContent"]["sum"], answer["structuredContent"]["bytes"]), (total, len(CAT)), "MCP over HTTP")
    with talk.Server(program=ALBUM, revision="2025-11-25") as found:
        tools = {tool["name"]: tool for tool in found.result("tools/list")["tools"]}
        schema = tools["photos_measure"]["inputSchema"]["properties"]["photo"]
        equal((schema["type"], schema["contentEncoding"]), ("string", "base64"), "schema")
        equal(found.call("photos_measure", photo=text)["structuredContent"]["sum"], total, "MCP")
        refused = found.call("photos_measure", photo="no base64!")
        expect(refused["isError"] and "base64" in json.dumps(refused["content"]), "MCP:", refused)


def by_agent(session):
    """A function that calls a tool of this session."""
    return lambda tool, **arguments: session.post(exchange.call(tool, arguments)).json["result"]


def use_album(call, boundary):
    """All that an agent can do with a photo: add it, rename it, find it, and get its bytes."""
    text = "data:image/png;name=a%20cat.png;base64," + base64.b64encode(CAT).decode()
    added = call("photos_add", title="Cat", photo=text)["structuredContent"]
    equal((added["title"], added["bytes"]), ("Cat", len(CAT)), boundary)
    renamed = call("photos_rename", id=added["id"], title="Dög")["structuredContent"]
    equal(renamed, {"title": "Dög", "version": 2}, boundary)
    listed = call("photos_list")["structuredContent"]
    equal((listed["theme"], listed["photos"][added["id"] - 1]),
          ("light", {"id": added["id"], "title": "Dög", "name": "a cat.png", "type": "image/png", "bytes": len(CAT)}), boundary)
    shown = call("photos_show", id=added["id"])["content"][0]
    equal((shown["type"], shown["mimeType"], base64.b64decode(shown["data"])), ("image", "image/png", CAT), boundary)
    other = call("photos_add", title="Bytes", photo=base64.b64encode(CAT).decode())["structuredContent"]
    shown = call("photos_show", id=other["id"])["content"][0]["resource"]
    equal((shown["mimeType"], base64.b64decode(shown["blob"])), ("application/octet-stream", CAT), boundary)
    expect(not call("theme", theme="dark").get("isError"), "theme:", boundary)
    for tool, arguments, words in [("photos_show", {"id": 1000}, "There is no photo 1000."), ("photos_rename", {"id": 1000, "title": "x"}, "There is no photo 1000."),
                                   ("photos_add", {"photo": text}, "title"), ("photos_add", {"title": "x", "photo": ""}, "photo"),
                                   ("theme", {"theme": "blue"}, "light or dark")]:
        told = call(tool, **arguments)
        expect(told.get("isError") and words in json.dumps(told["content"]), boundary, tool, arguments, told)
    return added["id"]


@test
def agents_use_the_album():
    number = use_album(by_agent(exchange.Session(album())), "MCP over HTTP")
    found = album().ask("GET", "/photos/%d" % number)
    equal((found["ETag"], found.body), ('"2"', CAT), "what an agent has added, over HTTP")
    with talk.Server(program=ALBUM, revision="2025-11-25") as found:
        equal(use_album(found.call, "MCP over standard input and output"), 1, "its album is its own")


@test
def commands_use_the_album():
    """Each has an album of its own, which is empty: the photos are kept in memory."""
    path = os.path.join(server.FOLDER, "command.png")
    with open(path, "wb") as file:
        file.write(CAT)

    def run(*words, status=0):
        answer = run_program(ALBUM, *words, "--output", "json", env={"ALBUM_LOG": ""})
        equal(answer.status, status, words)
        return parsed(answer.out)["data" if status == 0 else "error"]
    equal(run("photos", "add", path, "--title", "Cat"), {"id": 1, "title": "Cat", "bytes": len(CAT)}, "add")
    equal(run("photos", "list"), {"theme": "light", "photos": []}, "list")
    equal(run("photos", "show", "1", status=5)["message"], "There is no photo 1.", "show")
    equal(run("photos", "rename", "1", "--title", "Dog", status=5)["code"], "NOT_FOUND", "rename")
    equal(run("theme", "--theme", "dark"), None, "theme")
    equal([one["param"] for one in run("photos", "add", status=2)["errors"]], ["title", "photo"], "all findings")
    expect("light or dark" in json.dumps(run("theme", "--theme", "blue", status=2)), "the choices are not told")
    with open(path, "wb") as file:
        file.write(b"x" * (512 * 1024 + 1))
    expect("524288" in json.dumps(run("photos", "add", path, "--title", "Cat", status=2)), "the limit is not told")


@test
def a_command_without_its_file_says_so():
    answer = run_program(ALBUM, "photos", "measure", os.path.join(server.FOLDER, "none"), "--output", "json", env={"ALBUM_LOG": ""})
    error = parsed(answer.out)["error"]
    equal((answer.status, error["code"]), (2, "ARG_ERROR"), error)
    expect("photo" in json.dumps(error), "no name:", error)
    told = run_program(ALBUM, "photos", "measure", "--help")
    expect(b"PHOTO, --photo" in told.err and b"1 to 524288 bytes" in told.err, "help:", told)


@test
def forms_are_read_as_parameters():
    location, _ = new_photo(title="Näme & more", name="../../etc/passwd")
    photo = album().ask("GET", "/photos").json["photos"][int(location.split("/")[-1]) - 1]
    equal((photo["title"], photo["name"], photo["type"], photo["bytes"]), ("Näme & more", "passwd", "image/png", len(CAT)), "photo")
    found = album().ask("PUT", location, b"title=A+title%21&id=", media_type="application/x-www-form-urlencoded")
    equal((found.status, found.json["title"]), (200, "A title!"), found.body)
    found = send(location, ("title", "Another"), method="PUT")
    equal((found.status, found.json["title"]), (200, "Another"), found.body)


@test
def what_is_wrong_with_a_form_is_told():
    for body, status, words in [
            (form(("photo", b"")), 422, "title"), (b"", 422, "title"), (b"garbage", 400, "no boundary"),
            (form(("title", "x"), ("title", "y"), ("photo", CAT)), 400, "twice"), (form(("title", b"\xff"), ("photo", CAT)), 400, "UTF-8"),
            (form(("title", "x"), ("photo", CAT))[:-9], 400, "last boundary"),
            (form(("title", "x"), ("photo", b"x" * (512 * 1024 + 1))), 413, "524288")]:
        found = album().ask("POST", "/photos", body, media_type="multipart/form-data; boundary=x")
        equal(found.status, status, found.body)
        expect(words in found.body.decode(), words, "is not in", found.body)
    equal([field["field"] for field in send("/photos", ("photo", "")).json["details"]], ["title", "photo"], "all findings at once")
    found = album().ask("POST", "/photos", form(("title", "x")), media_type="multipart/form-data")
    equal((found.status, "boundary" in found.json["message"]), (400, True), found.body)
    found = headers().ask("POST", "/header", b"a=b", media_type="application/x-www-form-urlencoded")
    equal(found.status, 405, found.body)


@test
def operations_that_declare_no_forms_take_none():
    for media_type in ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]:
        found = server.server("todo").ask("POST", "/users", b"name=Ada", media_type=media_type)
        equal((found.status, "application/json" in found.json["message"]), (400, True), found.body)


@test
def a_version_is_sent_and_asked_for():
    location, found = new_photo()
    equal(found["ETag"], '"1"', "of what was added")
    found = album().ask("GET", location)
    equal((found.status, found["ETag"], found.body), (200, '"1"', CAT), "first")
    for tags in ['"1"', 'W/"1"', '"0", "1"', "*", '"1;gzip"']:
        found = album().ask("GET", location, fields={"If-None-Match": tags})
        tag = '"1;gzip"' if "gzip" in tags else '"1"'
        equal((found.status, found["ETag"], found.body, found["Content-Type"]), (304, tag, b"", None), tags)
        equal(found["Cache-Control"], "private, no-cache", "headers of its own")
    equal(album().ask("GET", location, fields={"If-None-Match": '"2"'}).status, 200, "another one")
    equal(album().ask("HEAD", location, fields={"If-None-Match": '"1"'}).status, 304, "HEAD")


@test
def a_change_of_another_version_is_refused():
    location, _ = new_photo()

    def change(title, **fields):
        return album().ask("PUT", location, {"title": title}, fields={name.replace("_", "-"): value for name, value in fields.items()})
    found = change("One", If_Match='"1"')
    equal((found.status, found["ETag"]), (200, '"2"'), found.body)
    for fields in [{"If_Match": '"1"'}, {"If_Match": 'W/"2"'}, {"If_None_Match": "*"}, {"If_None_Match": '"2"'}, {"If_Match": "2"}]:
        found = change("Two", **fields)
        equal((found.status, found.json["error"], found.json["details"]), (412, "precondition_failed", {"version": "2"}), fields)
        equal(found["ETag"], None, "a failure has no version")
    problem = album().ask("PUT", location, {"title": "Two"}, fields={"If-Match": '"1"', "Accept": "application/problem+json"})
    equal((problem.status, problem["Content-Type"]), (412, "application/problem+json"), "dialect")
    equal(change("Two", If_Match='"7", "2"').status, 200, "one of several")


@test
def parts_of_bytes_are_sent():
    location, _ = new_photo()
    size = len(CAT)

    def part(value, **fields):
        return album().ask("GET", location, fields=dict({"Range": value}, **{name.replace("_", "-"): tag for name, tag in fields.items()}))
    for value, start, end in [("bytes=0-9", 0, 9), ("bytes=-5", size - 5, size - 1), ("bytes=1000-", 1000, size - 1), ("bytes=3-99999", 3, size - 1)]:
        found = part(value)
        equal((found.status, found["Content-Range"], found.body), (206, "bytes %d-%d/%d" % (start, end, size), CAT[start:end + 1]), value)
        equal((found["Accept-Ranges"], found["ETag"]), ("bytes", '"1"'), value)
    for value in ["bytes=0-1,5-6", "bytes=9-1", "lines=1-2", "bytes=x"]:
        found = part(value)
        equal((found.status, found.body), (200, CAT), value)
    for value in ["bytes=%d-" % size, "bytes=-0"]:
        found = part(value)
        equal((found.status, found["Content-Range"], found.json["error"]), (416, "bytes */%d" % size, "range_not_satisfiable"), value)
        equal(found["Content-Disposition"], None, "headers of the answer")
    equal(part("bytes=0-9", If_Range='"1"').status, 206, "the same version")
    equal(part("bytes=0-9", If_Range='"0"').status, 200, "another version")
    equal(part("bytes=0-9", If_Range='W/"1"').status, 200, "a weak one")


@test
def long_answers_are_compressed_for_those_who_accept_it():
    plain = headers().ask("GET", "/much?count=1000")
    equal((plain["Content-Encoding"], plain["Vary"]), (None, "Accept-Encoding"), "not asked for")
    for accept in ["gzip", "gzip, deflate", "br;q=1, gzip;q=0.5", "*"]:
        found = headers().ask("GET", "/much?count=1000", fields={"Accept-Encoding": accept})
        equal((found["Content-Encoding"], gzip.decompress(found.body)), ("gzip", plain.body), accept)
        expect(len(found.body) < len(plain.body) / 2, "it is not shorter:", len(found.body))
    for accept in ["identity", "gzip;q=0", "br"]:
        equal(headers().ask("GET", "/much?count=1000", fields={"Accept-Encoding": accept}).body, plain.body, accept)
    found = headers().ask("GET", "/much?count=1000", fields={"Accept-Encoding": "gzip, zstd"})
    expect(found["Content-Encoding"] in ("zstd", "gzip"), "neither:", found)
    if found["Content-Encoding"] == "zstd":
        room = ctypes.create_string_buffer(len(plain.body))
        size = ctypes.CDLL("libzstd.so.1").ZSTD_decompress(room, len(room), found.body, len(found.body))
        equal(room.raw[:size], plain.body, "zstd")
    for path in ["/much?count=3", "/hidden?count=1000", "/fail"]:
        equal(headers().ask("GET", path, fields={"Accept-Encoding": "gzip"})["Content-Encoding"], None, path)
    with headers().connect() as connection:
        connection.send(server.request("GET", "/flow", fields={"Accept-Encoding": "gzip"}))
        expect(b"content-encoding" not in connection.take_head().lower(), "a stream is compressed")
    lengths = {count: len(headers().ask("GET", "/much?count=%d" % count).body) for count in (280, 281, 282, 283, 284, 285)}
    expect(min(lengths.values()) < 1024 <= max(lengths.values()), lengths)
    for count, length in lengths.items():
        found = headers().ask("GET", "/much?count=%d" % count, fields={"Accept-Encoding": "gzip"})
        equal(found["Content-Encoding"], "gzip" if length >= 1024 else None, "%d bytes" % length)
    found = headers().ask("HEAD", "/much?count=1000", fields={"Accept-Encoding": "gzip"})
    equal(found.status, 200, "HEAD")


@test
def caches_find_each_form_of_an_answer_again():
    def page(query="", **fields):
        return headers().ask("GET", "/page" + query, fields={name.replace("_", "-"): value for name, value in fields.items()})
    for accept, tag in [("gzip", '"7;gzip"'), ("identity", '"7"')]:
        found = page(Accept_Encoding=accept)
        equal((found.status, found["ETag"], found["Vary"]), (200, tag, "Accept-Encoding"), accept)
        for tags in [tag, '"7", "7;gzip"', "W/" + tag]:
            found = page(Accept_Encoding=accept, If_None_Match=tags)
            equal((found.status, found["ETag"], found["Vary"], found.body), (304, tag, "Accept-Encoding", b""), (accept, tags))
    found = page(Accept_Encoding="gzip", Range="bytes=0-9")
    equal((found.status, found["ETag"], found["Vary"], found["Content-Encoding"]), (206, '"7"', "Accept-Encoding", None), "a part")
    found = page("?caching=public,%20No-Transform", Accept_Encoding="gzip")
    equal((found["Content-Encoding"], len(found.body)), (None, 5000), "directives have any case")


@test
def headers_and_cookies_of_the_program_are_sent():
    for path in ["/header", "/quick"]:
        found = headers().ask("GET", path + "?name=X-Own&value=a%20b")
        equal((found["X-Own"], found["X-First"]), ("a b", "1"), path)
        equal(headers().ask("GET", path + "?name=x-first&value=2").all("X-First"), ["2"], "replaced")
    found = headers().ask("GET", "/fail")
    equal((found.status, found["X-Own"], found["Set-Cookie"]), (404, None, None), "a failure")
    with headers().connect() as connection:
        connection.send(server.request("GET", "/flow"))
        head = connection.take_head()
        expect(b"X-Own: 1\r\n" in head and b"chunked" in head, "a stream:", head)
    found = headers().ask("GET", "/cookie?name=a&value=b")
    equal(found["Set-Cookie"], "a=b; Path=/; SameSite=Lax; Secure; HttpOnly", "cookie")
    found = album().ask("POST", "/theme", b"theme=dark", media_type="application/x-www-form-urlencoded")
    equal((found.status, found["Set-Cookie"]), (204, "theme=dark; Path=/; Max-Age=31536000; SameSite=Lax; Secure"), "theme")
    equal(album().ask("GET", "/photos", fields={"Cookie": "a=b; theme=dark ;c"}).json["theme"], "dark", "it is read")
    equal(album().ask("GET", "/photos", fields={"Cookie": "xtheme=dark"}).json["theme"], "light", "another one")


@test
def a_value_of_the_program_is_no_field_of_the_server():
    others = server.server("cors", "--workers", "1", "--cors", "https://a.example", program=HEADERS)
    for value in ["1", "Access-Control-Allow-Origin: x"]:
        found = others.ask("GET", "/header?" + urllib.parse.urlencode({"name": "X-Own", "value": value}), fields={"Origin": "https://a.example"})
        equal((found["X-Own"], found.all("Access-Control-Allow-Origin"), found["Vary"]), (value, ["https://a.example"], "Origin"), value)


@test
def what_would_break_a_response_ends_the_call():
    def ask(target, **values):
        return headers().ask("GET", target + "?" + urllib.parse.urlencode(values))
    broken = [("/header", dict(name=name, value=value)) for name, value in [
        ("X-Own", "a\r\nSet-Cookie: x=y"), ("X-Own", "a\nb"), ("X-Own", "a\rb"), ("X-Own", ""), ("X-Own", " a"), ("X-Own", "é"),
        ("X Own", "a"), ("X-Own:", "a"), ("X-Own\r\nA", "a"), ("", "a"), ("Content-Length", "0"), ("transfer-encoding", "chunked"),
        ("Connection", "close"), ("Set-Cookie", "a=b"), ("Access-Control-Allow-Origin", "*"), ("X-Request-Id", "1"), ("ETag", "1"),
        ("Location", "/"), ("Content-Type", "text/html"), ("X-Content-Type-Options", "x")]]
    broken += [("/quick", dict(name="X-Own", value="a\r\nb"))]
    broken += [("/cookie", values) for values in [
        dict(name="a", value="b; Path=/x"), dict(name="a", value="b\r\nX: y"), dict(name="a=", value="b"), dict(name="", value="b"),
        dict(name="a", value="b", path="/;x"), dict(name="a", value="b", path="x"), dict(name="__Host-a", value="b", path="/x"),
        dict(name="__Secure-a", value="b", insecure="true"), dict(name="a", value="b c"), dict(name="a", value='"')]]
    broken += [("/version", dict(value=value)) for value in ["", "a b", 'a"b', "x" * 81, "a\r\nb"]]
    for path, values in broken:
        found = ask(path, **values)
        equal((found.status, found.json["error"]), (500, "internal_server_error"), (path, values))
        equal((found["Set-Cookie"], found["X-Own"], found["X-First"]), (None, None, None), (path, values))
    equal(ask("/version", value="a;b'c").status, 200, "a version")
    for media_type in ["text/plain\nSet-Cookie: a=b\r\n", "text/plain\nX-Own: 1\r\n", "text/plain\r\nX-Own: 1", "\nX-Own: 1\r\n"]:
        with headers().connect() as connection:
            connection.send(server.request("GET", "/flow_as?" + urllib.parse.urlencode({"type": media_type})))
            head = connection.take_head()
            expect(b"Set-Cookie" not in head and b"X-Own" not in head, "a line of the media type:", head)
            expect(b"Content-Type: application/octet-stream\r\n" in head, "media type:", head)


@test
def the_api_is_described():
    document = parsed(album().ask("GET", "/openapi.json").body)
    content = document["paths"]["/photos"]["post"]["requestBody"]["content"]
    equal(sorted(content), ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"], "types")
    equal(content["multipart/form-data"]["schema"]["properties"]["photo"]["contentMediaType"], "application/octet-stream", "bytes")
    equal(content["application/json"]["schema"]["properties"]["photo"]["contentEncoding"], "base64", "text")
    expect("412" in document["paths"]["/photos/{id}"]["put"]["responses"], "no 412")
    equal(sorted(document["paths"]["/photos/{id}"]["put"]["requestBody"]["content"]),
          ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"], "forms")


@test
def chunks_and_pieces_make_no_difference():
    body = form(("title", "Slow"), ("photo", CAT, "a", "image/gif"), boundary="-" * 70)
    head = b"POST /photos HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=\"%s\"\r\n" % (b"-" * 70)
    with album().connect() as connection:
        connection.send(head + b"Transfer-Encoding: chunked\r\n\r\n" + server.chunked(body, 7) + b"0\r\n\r\n")
        equal(connection.response("POST").status, 201, "chunks")
        connection.send(head + b"Content-Length: %d\r\n\r\n" % len(body))
        for start in range(0, len(body), 100):
            connection.send(body[start:start + 100])
        equal(connection.response("POST").json["bytes"], len(CAT), "pieces")


@test
def every_failure_fits_the_schema():
    server.fits_the_schema()


@test
def every_server_ends_in_order():
    server.all_ended_in_order()


main()
