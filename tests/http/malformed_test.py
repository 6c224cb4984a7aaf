"""Malformed requests and request smuggling: raw bytes against `mishap serve`.

    MISHAP_PROGRAM=… python3 tests/http/malformed_test.py [PART-OF-A-NAME]

A row says which bytes are sent, which responses must come back, and what becomes of the connection. Whatever follows
a request that is refused for its framing must never be taken for a request: rows put `GET /smuggled` there, and the
last tests search the access log for it. Sections are those of RFC 9112 where no other is named.
"""
import os
import random
import time

import server
from blackbox import Broken, Skipped, equal, expect, main, test, tests_of
from server import Closed, chunked, request

# ---- Rows ----------------------------------------------------------------------------------------

OPEN, CLOSED = "open", "closed"


class Row:
    """What to send, and the outcomes that are right: each a list of statuses and the fate of the connection."""

    def __init__(self, data, *outcomes):
        self.data, self.outcomes = data, outcomes


def refused(data, *statuses):
    """One refusal, after which the connection ends: the bytes that follow mean nothing."""
    return Row(data, ([set(statuses or (400,))], CLOSED))


def answered(data, *statuses):
    """Responses with these statuses, after which the connection goes on."""
    return Row(data, ([{status} for status in statuses or (200,)], OPEN))


def either(data, *statuses, accepted=200):
    """Both taking it and refusing it is right."""
    return Row(data, ([{accepted}], OPEN), ([set(statuses or (400,))], CLOSED))


def declined(data, *statuses):
    """A request whose framing is sound, and which is refused for what it says: the connection may go on or not."""
    return Row(data, ([set(statuses)], OPEN), ([set(statuses)], CLOSED))


HOST = b"Host: localhost\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n"
BODY = b'{"title":"t"}'  # 13 bytes


def line(text):
    """A request with this request line."""
    return text + b"\r\n" + HOST + b"\r\n"


def field(text, *more):
    """GET /health with these field lines, with what would be taken for a second request behind it."""
    return b"GET /health HTTP/1.1\r\n" + HOST + b"".join(item + b"\r\n" for item in (text, *more)) + b"\r\n"


def post(fields, body, version=b"HTTP/1.1"):
    return b"POST /todos " + version + b"\r\n" + HOST + b"Content-Type: application/json\r\n" + fields + b"\r\n" + body


def length(value, body=BODY):
    return post(b"Content-Length: " + value + b"\r\n", body)


def coded(value, body=None, more=b""):
    return post(b"Transfer-Encoding: " + value + b"\r\n" + more, chunked(BODY, 13) + b"0\r\n\r\n" if body is None else body)


def chunks(body):
    return coded(b"chunked", body)


# ---- Lines and white space -----------------------------------------------------------------------

lines = {
    # 2.2: a lone LF may be taken as the end of a line.
    "every line ends with LF alone": either(b"GET /health HTTP/1.1\nHost: localhost\n\n"),
    "the request line ends with LF alone": either(b"GET /health HTTP/1.1\nHost: localhost\r\n\r\n"),
    "a field line ends with LF alone": either(b"GET /health HTTP/1.1\r\nHost: localhost\n\r\n"),
    "the head ends with LF alone": either(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\n"),
    # 2.2: a lone CR is invalid.
    "every line ends with CR alone": refused(b"GET /health HTTP/1.1\rHost: localhost\r\r" + SMUGGLED),
    "the request line ends with CR alone": refused(b"GET /health HTTP/1.1\rHost: localhost\r\n\r\n"),
    "CR inside a field value": refused(field(b"X: a\rb") + SMUGGLED),
    "CR before the end of a field line": refused(field(b"X: a\r") + SMUGGLED),
    "CR inside a field name": refused(field(b"X\rY: a") + SMUGGLED),
    "CR that hides a field": refused(field(b"X: a\rTransfer-Encoding: chunked") + SMUGGLED),
    "CR inside the request line": refused(line(b"GET /health\rx HTTP/1.1") + SMUGGLED),
    "the head ends with CR LF CR x": refused(b"GET /health HTTP/1.1\r\n" + HOST + b"\rx" + SMUGGLED),
    "the head ends with CR LF CR and a request": refused(b"GET /health HTTP/1.1\r\n" + HOST + b"\r" + SMUGGLED),
    "the head ends with CR CR LF": refused(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\r\n" + SMUGGLED),
    "the head ends with LF CR": refused(b"GET /health HTTP/1.1\r\nHost: localhost\n\rx" + SMUGGLED),
    # 2.2: an empty line in front is ignored.
    "an empty line in front": answered(b"\r\n" + field(b"X: y")),
    "two empty lines in front": either(b"\r\n\r\n" + field(b"X: y")),
    "an empty line between two requests": answered(field(b"X: y") + b"\r\n" + field(b"X: y"), 200, 200),
    "a thousand empty lines in front": either(b"\r\n" * 1000 + field(b"X: y"), 400, 431),
    "CR alone in front": refused(b"\r" + field(b"X: y")),
    "a space in front": refused(b" " + line(b"GET /health HTTP/1.1")),
    "a tab in front": refused(b"\t" + line(b"GET /health HTTP/1.1")),
    # 2.2: white space between the request line and the first field.
    "a space before the first field": refused(b"GET /health HTTP/1.1\r\n Host: localhost\r\n\r\n" + SMUGGLED),
    "a line of white space before the first field": refused(b"GET /health HTTP/1.1\r\n \r\n" + HOST + b"\r\n" + SMUGGLED),
    # 5.2: a server refuses a folded line, or reads it as one with a space.
    "a folded field": either(field(b"X: a\r\n b")),
    "a field folded with a tab": either(field(b"X: a\r\n\tb")),
    "a field folded to nothing": either(field(b"X: a\r\n ")),
    "a folded length": refused(post(b"Content-Length:\r\n 13\r\n", BODY)),
    "a folded coding": refused(coded(b"\r\n chunked")),
    "a folded host": refused(b"GET /health HTTP/1.1\r\nHost:\r\n localhost\r\n\r\n"),
    # 5.1: white space before the colon must be refused.
    "a space before the colon": refused(field(b"X : y") + SMUGGLED),
    "a tab before the colon": refused(field(b"X\t: y") + SMUGGLED),
    "a space before the colon of the length": refused(post(b"Content-Length : 13\r\n", BODY)),
    "a space before the colon of the coding": refused(post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n" + SMUGGLED)),
    "white space around a value": answered(field(b"X: \t y \t ")),
    "no white space before a value": answered(field(b"X:y")),
    "an empty value": answered(field(b"X:")),
}

# ---- Names and values of fields ------------------------------------------------------------------

fields = {
    "an empty name": refused(field(b": y") + SMUGGLED),
    "no colon": refused(field(b"nothing") + SMUGGLED),
    "only a colon": refused(field(b":") + SMUGGLED),
    "a space in a name": refused(field(b"X Y: z") + SMUGGLED),
    "a parenthesis in a name": refused(field(b"X(Y): z") + SMUGGLED),
    "a quote in a name": refused(field(b'X"Y: z') + SMUGGLED),
    "a slash in a name": refused(field(b"X/Y: z") + SMUGGLED),
    "a byte beyond ASCII in a name": refused(field(b"X\xc3\xa9: z") + SMUGGLED),
    "NUL in a name": refused(field(b"X\0Y: z") + SMUGGLED),
    "DEL in a name": refused(field(b"X\x7fY: z") + SMUGGLED),
    "every character that a name may have": answered(field(b"!#$%&'*+-.^_`|~09azAZ: z")),
    "NUL in a value": refused(field(b"X: a\0b") + SMUGGLED),  # RFC 9110, 5.5
    "NUL at the end of a value": refused(field(b"X: a\0") + SMUGGLED),
    "a control character in a value": either(field(b"X: a\x01b")),
    "DEL in a value": either(field(b"X: a\x7fb")),
    "bytes beyond ASCII in a value": answered(field(b"X: \xe4\xff\x80")),
    "the name of the length with an underscore":  # is another field, so there is no body
        Row(post(b"Content_Length: 5\r\n", b"\0\0\0\0\0" + SMUGGLED), ([{400, 411, 422}, {400}], CLOSED), ([{400, 411, 422}], CLOSED)),
    "a field of 100 KB": refused(field(b"X: " + b"y" * 100_000) + SMUGGLED, 431),
    "a name of 100 KB": refused(field(b"X" * 100_000 + b": y") + SMUGGLED, 431),
    "a field of 10 MB": refused(field(b"X: " + b"y" * 10_000_000) + SMUGGLED, 431),
    "10,000 fields": refused(field(*[b"X-%d: y" % n for n in range(10_000)]) + SMUGGLED, 431),
    "10,000 fields of one name": refused(field(*[b"X: y"] * 10_000) + SMUGGLED, 431),
    "100,000 short fields": refused(field(*[b"a:"] * 100_000) + SMUGGLED, 431),
    "50 fields": answered(field(*[b"X-%d: y" % n for n in range(50)])),
    "a field that does not end": refused(b"GET /health HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 200_000, 431),
}

# ---- Host ----------------------------------------------------------------------------------------


def hosts(*values, target=b"/health"):
    return b"GET " + target + b" HTTP/1.1\r\n" + b"".join(b"Host: " + value + b"\r\n" for value in values) + b"\r\n"


def wrong_host(*values):
    """3.2: 400. The framing is sound."""
    return declined(hosts(*values), 400)


host = {
    "missing": wrong_host(),
    "twice, different": wrong_host(b"a", b"b"),
    "twice, equal": wrong_host(b"a", b"a"),
    "three times": wrong_host(b"a", b"b", b"c"),
    "empty": Row(hosts(b""), ([{200}], OPEN), ([{400}], OPEN), ([{400}], CLOSED)),
    "with a space": wrong_host(b"a b"),
    "with a slash": wrong_host(b"a/b"),
    "with a user": wrong_host(b"user@a"),
    "with a comma": wrong_host(b"a, b"),
    "with a port that is none": wrong_host(b"a:http"),
    "with a negative port": wrong_host(b"a:-1"),
    "with two ports": wrong_host(b"a:80:80"),
    "with an open bracket": wrong_host(b"[::1"),
    "with a bracket inside": wrong_host(b"a[b]"),
    "with a question mark": wrong_host(b"a?b"),
    "with a fragment": wrong_host(b"a#b"),
    "with a backslash": wrong_host(b"a\\b"),
    "with a byte beyond ASCII": wrong_host(b"\xc3\xa4"),
    "with a quote": wrong_host(b'"a"'),
    "an IPv6 address": answered(hosts(b"[::1]:8080")),
    "with a port": answered(hosts(b"EXAMPLE.com:8080")),
    "with an empty port": answered(hosts(b"a:")),
    "of another": answered(hosts(b"elsewhere.example")),
}

# ---- Request lines -------------------------------------------------------------------------------

METHODS = (405, 501)  # RFC 9110, 9.1: unknown is 501, known and not allowed 405


def bad_line(text, *statuses):
    return refused(line(text) + SMUGGLED, *statuses)


request_lines = {
    "no target": bad_line(b"GET HTTP/1.1"),
    "no target and no version": bad_line(b"GET"),
    "no version": bad_line(b"GET /health", 400, 505),
    "no version and no fields": refused(b"GET /health\r\n\r\n" + SMUGGLED, 400, 505),
    "two spaces before the target": either(line(b"GET  /health HTTP/1.1")),
    "two spaces before the version": either(line(b"GET /health  HTTP/1.1")),
    "tabs for spaces": either(line(b"GET\t/health\tHTTP/1.1")),
    "a space at the end": either(line(b"GET /health HTTP/1.1 ")),
    "more after the version": bad_line(b"GET /health HTTP/1.1 more"),
    "version 2.0": bad_line(b"GET /health HTTP/2.0", 505),
    "version 3.0": bad_line(b"GET /health HTTP/3.0", 505),
    "version 1.2": either(line(b"GET /health HTTP/1.2"), 400, 505),  # 2.3: may be read as 1.1
    "version 0.9": bad_line(b"GET /health HTTP/0.9", 400, 505),
    "version 1": bad_line(b"GET /health HTTP/1", 400, 505),
    "version 1.": bad_line(b"GET /health HTTP/1.", 400, 505),
    "version 1.10": bad_line(b"GET /health HTTP/1.10", 400, 505),
    "version 11.1": bad_line(b"GET /health HTTP/11.1", 400, 505),
    "version of letters": bad_line(b"GET /health HTTP/x.y", 400, 505),
    "version 1,1": bad_line(b"GET /health HTTP/1,1", 400, 505),
    "version in lower case": bad_line(b"GET /health http/1.1", 400, 505),
    "HTTPS for HTTP": bad_line(b"GET /health HTTPS/1.1", 400, 505),
    "RTSP for HTTP": bad_line(b"OPTIONS * RTSP/1.0", 400, 405, 501, 505),
    "a method of RTSP": bad_line(b"DESCRIBE /health RTSP/1.0", 400, 405, 501, 505),
    "ICE for HTTP": bad_line(b"SOURCE /health ICE/1.0", 400, 405, 501, 505),
    "the preface of HTTP/2": refused(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0" + SMUGGLED, 400, 501, 505),
    "PRI with version 1.1": refused(line(b"PRI * HTTP/1.1") + SMUGGLED, 400, 405, 501, 505),
    "a method in lower case": Row(line(b"get /health HTTP/1.1"), ([set(METHODS)], OPEN), ([set(METHODS)], CLOSED)),
    "a method that nobody knows": declined(line(b"FROBNICATE /health HTTP/1.1"), *METHODS),
    "a method that begins like another": declined(line(b"GETS /health HTTP/1.1"), *METHODS),
    "a method of WebDAV": declined(line(b"PROPFIND /health HTTP/1.1"), *METHODS),
    "a method with a byte that is no token": bad_line(b"G<T /health HTTP/1.1", 400, 501),
    "a method with NUL": bad_line(b"G\0T /health HTTP/1.1", 400, 501),
    "a method of 100 KB": bad_line(b"G" * 100_000 + b" /health HTTP/1.1", 400, 414, 431, 501),
    "a version of 100 KB": bad_line(b"GET /health HTTP/1." + b"1" * 100_000, 400, 414, 431, 505),
    "CONNECT": declined(line(b"CONNECT localhost:80 HTTP/1.1"), 400, 405, 501),
    "CONNECT, and something behind it": Row(line(b"CONNECT localhost:80 HTTP/1.1") + field(b"X: y"),
                                            ([{400, 405, 501}], CLOSED), ([{400, 405, 501}, {200}], OPEN)),
    "TRACE": declined(line(b"TRACE /health HTTP/1.1"), 405, 501),
    "OPTIONS for the whole server": Row(line(b"OPTIONS * HTTP/1.1"), ([{200, 204}], OPEN)),
    "GET for the whole server": declined(line(b"GET * HTTP/1.1"), 400, 404),
    "a target without a slash": bad_line(b"GET health HTTP/1.1"),
    "a target that is a query": bad_line(b"GET ?a=b HTTP/1.1"),
    "a target with a fragment": declined(line(b"GET /health#top HTTP/1.1"), 400),
    "a target with a space": bad_line(b"GET /he alth HTTP/1.1"),
    "a target with NUL": bad_line(b"GET /he\0alth HTTP/1.1"),
    "a target with a control character": bad_line(b"GET /he\x01alth HTTP/1.1"),
    "a target with DEL": bad_line(b"GET /he\x7falth HTTP/1.1"),
    "a target with a byte beyond ASCII": bad_line(b"GET /h\xc3\xa9alth HTTP/1.1"),
    "a target with bytes that are no UTF-8": bad_line(b"GET /h\xff\xfe HTTP/1.1"),
    "a target with a line feed": bad_line(b"GET /he\nalth HTTP/1.1"),
    "a target of 100 KB": bad_line(b"GET /" + b"a" * 100_000 + b" HTTP/1.1", 414),
    "a query of 100 KB": bad_line(b"GET /health?" + b"a" * 100_000 + b" HTTP/1.1", 414),
    "a target that does not end": refused(b"GET /" + b"a" * 200_000, 414),
    "a target with backslashes": declined(line(b"GET \\health HTTP/1.1"), 400, 404),
    # 3.2.2: the absolute form must be taken, and its host counts.
    "the absolute form": answered(line(b"GET http://localhost/health HTTP/1.1")),
    "the absolute form with another host": answered(line(b"GET http://elsewhere.example:81/health HTTP/1.1")),
    "the absolute form in capitals": answered(line(b"GET HTTP://LOCALHOST/health HTTP/1.1")),
    "the absolute form without Host": declined(b"GET http://localhost/health HTTP/1.1\r\n\r\n", 400),
    "the absolute form without a path": answered(line(b"GET http://localhost HTTP/1.1"), 404),
    "the absolute form with a query": answered(line(b"GET http://localhost/health?a=b HTTP/1.1")),
    "the absolute form without a host": declined(line(b"GET http:///health HTTP/1.1"), 400),
    "the absolute form of another scheme": declined(line(b"GET ftp://localhost/health HTTP/1.1"), 400, 404, 421),
    "a target that is only a scheme": declined(line(b"GET http: HTTP/1.1"), 400),
    "two slashes in front": declined(line(b"GET //health HTTP/1.1"), 400, 404),
    "a broken escape": declined(line(b"GET /todos/%zz HTTP/1.1"), 400, 404),
    "half an escape": declined(line(b"GET /todos/% HTTP/1.1"), 400, 404),
    "an escaped NUL": declined(line(b"GET /todos/a%00b HTTP/1.1"), 400, 404, 422),
    "an escape that is no UTF-8": declined(line(b"GET /todos/%ff%fe HTTP/1.1"), 400, 404),
    "a way out of the folder": declined(line(b"GET /../../../etc/passwd HTTP/1.1"), 400, 404),
    "an escaped way out of the folder": declined(line(b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1"), 400, 404),
    "an escaped line end": declined(line(b"GET /todos/a%0d%0aX:%20y HTTP/1.1"), 400, 404),
    "a thousand segments": declined(line(b"GET " + b"/a" * 1000 + b" HTTP/1.1"), 400, 404, 414),
    "a thousand parameters": declined(line(b"GET /todos?" + b"&".join(b"a%d=b" % n for n in range(1000)) + b" HTTP/1.1"), 200, 400, 414),
}

# ---- Content-Length ------------------------------------------------------------------------------

lengths = {
    "right": answered(length(b"13"), 201),
    "with zeros in front": answered(length(b"00013"), 201),
    "in other letters": answered(post(b"cOnTeNt-LeNgTh:13\r\n", BODY), 201),
    "twice, different": refused(post(b"Content-Length: 13\r\nContent-Length: 5\r\n", BODY + SMUGGLED)),
    "twice, different, the small one first": refused(post(b"Content-Length: 0\r\nContent-Length: 13\r\n", SMUGGLED)),
    "twice, equal": refused(post(b"Content-Length: 13\r\nContent-Length: 13\r\n", BODY + SMUGGLED)),
    "a list of equal ones": refused(length(b"13, 13", BODY + SMUGGLED)),
    "a list of different ones": refused(length(b"13, 5", BODY + SMUGGLED)),
    "negative": refused(length(b"-13", BODY + SMUGGLED)),
    "negative zero": refused(length(b"-0", SMUGGLED)),
    "with a plus": refused(length(b"+13", BODY + SMUGGLED)),
    "hexadecimal": refused(length(b"0xd", BODY + SMUGGLED)),
    "hexadecimal without a mark": refused(length(b"d", BODY + SMUGGLED)),
    "with a letter behind it": refused(length(b"13a", BODY + SMUGGLED)),
    "with a semicolon": refused(length(b"13;", BODY + SMUGGLED)),
    "with a space inside": refused(length(b"1 3", BODY + SMUGGLED)),
    "a fraction": refused(length(b"13.0", BODY + SMUGGLED)),
    "with an exponent": refused(length(b"1e1", BODY + SMUGGLED)),
    "empty": refused(length(b"", BODY + SMUGGLED)),
    "white space": refused(length(b" \t ", BODY + SMUGGLED)),
    "quoted": refused(length(b'"13"', BODY + SMUGGLED)),
    "with a NUL": refused(length(b"13\0", BODY + SMUGGLED)),
    "in digits of another script": refused(length("١٣".encode(), BODY + SMUGGLED)),
    "2^31": refused(length(b"2147483648", BODY + SMUGGLED), 413),
    "2^32 + 13": refused(length(b"4294967309", BODY + SMUGGLED), 413),
    "2^63 - 1": refused(length(b"9223372036854775807", BODY + SMUGGLED), 400, 413),
    "2^63": refused(length(b"9223372036854775808", BODY + SMUGGLED), 400, 413),
    "2^64 - 1": refused(length(b"18446744073709551615", BODY + SMUGGLED), 400, 413),
    "2^64 + 13": refused(length(b"18446744073709551629", BODY + SMUGGLED), 400, 413),
    "of a thousand digits": refused(length(b"9" * 1000, BODY + SMUGGLED), 400, 413),
    "none with POST": declined(post(b"", b""), 400, 411, 422),
    "zero with POST": declined(length(b"0", b""), 400, 422),
    "too small: the rest is no request": Row(length(b"12"), ([{400}, {400, 501}], CLOSED), ([{400}], CLOSED)),
    # RFC 9110, 9.3.1: content of GET means nothing.
    "with GET": either(b"GET /health HTTP/1.1\r\n" + HOST + b"Content-Length: 13\r\n\r\n" + BODY),
    "with a request inside the body": Row(length(b"%d" % len(SMUGGLED), SMUGGLED), ([{400}], OPEN), ([{400}], CLOSED)),
}

# ---- Transfer-Encoding ---------------------------------------------------------------------------

UNKNOWN = (400, 501)  # 6.1: 501 for a coding that is not understood

codings = {
    "chunked": answered(coded(b"chunked"), 201),
    "in capitals": answered(coded(b"CHUNKED"), 201),
    "with spaces around": answered(coded(b" \t chunked  "), 201),
    "with a tab behind": either(coded(b"chunked\t"), accepted=201),  # white space, yet no sender of good will puts it there
    "with an empty element": either(coded(b"chunked,"), *UNKNOWN, accepted=201),
    "with a length": refused(coded(b"chunked", more=b"Content-Length: 13\r\n") + SMUGGLED),
    "with a length in front": refused(post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + SMUGGLED)),
    "with a length of zero": refused(post(b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + SMUGGLED)),
    "with a wrong length": refused(post(b"Content-Length: x\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + SMUGGLED)),
    "chunked twice": refused(coded(b"chunked, chunked") + SMUGGLED, *UNKNOWN),
    "chunked in two fields": refused(coded(b"chunked", more=b"Transfer-Encoding: chunked\r\n") + SMUGGLED, *UNKNOWN),
    "chunked, then another in a second field": refused(coded(b"chunked", more=b"Transfer-Encoding: x\r\n") + SMUGGLED, *UNKNOWN),
    "another in a first field": refused(post(b"Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n") + SMUGGLED, *UNKNOWN),
    "gzip, chunked": refused(coded(b"gzip, chunked") + SMUGGLED, *UNKNOWN),
    "gzip": refused(coded(b"gzip") + SMUGGLED, *UNKNOWN),
    "chunked, gzip": refused(coded(b"chunked, gzip") + SMUGGLED, *UNKNOWN),
    "identity": refused(coded(b"identity") + SMUGGLED, *UNKNOWN),
    "identity, with a length": refused(coded(b"identity", BODY + SMUGGLED, b"Content-Length: 13\r\n"), *UNKNOWN),
    "chunked, identity": refused(coded(b"chunked, identity") + SMUGGLED, *UNKNOWN),
    "identity, chunked": refused(coded(b"identity, chunked") + SMUGGLED, *UNKNOWN),
    "a name that ends like it": refused(coded(b"xchunked") + SMUGGLED, *UNKNOWN),
    "a name that begins like it": refused(coded(b"chunkedx") + SMUGGLED, *UNKNOWN),
    "two words": refused(coded(b"chunked chunked") + SMUGGLED, *UNKNOWN),
    "with a vertical tab": refused(coded(b"\x0bchunked") + SMUGGLED, *UNKNOWN),
    "with a form feed": refused(coded(b"chunked\x0c") + SMUGGLED, *UNKNOWN),
    "with a byte beyond ASCII": refused(coded(b"\xa0chunked") + SMUGGLED, *UNKNOWN),
    "with a parameter": refused(coded(b"chunked;a=b") + SMUGGLED, *UNKNOWN),
    "quoted": refused(coded(b'"chunked"') + SMUGGLED, *UNKNOWN),
    "empty": refused(coded(b"") + SMUGGLED, *UNKNOWN),
    "empty, with a length": refused(coded(b"", BODY + SMUGGLED, b"Content-Length: 13\r\n"), *UNKNOWN),
    # 6.1: with HTTP/1.0 the framing is faulty; the connection must end.
    "with HTTP/1.0": Row(post(b"Transfer-Encoding: chunked\r\n", chunked(BODY, 13) + b"0\r\n\r\n" + SMUGGLED, b"HTTP/1.0"),
                         ([{400, 201}], CLOSED)),
    "with HTTP/1.0, keep-alive and a length":
        Row(post(b"Transfer-Encoding: chunked\r\nContent-Length: 30\r\nConnection: keep-alive\r\n",
                 chunked(BODY, 13) + b"0\r\n\r\n" + SMUGGLED, b"HTTP/1.0"), ([{400, 201}], CLOSED)),
    "with GET": Row(b"GET /health HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                    ([{200}], OPEN), ([{400}], CLOSED)),
}

# ---- Chunks (7.1) --------------------------------------------------------------------------------

END = b"0\r\n\r\n"
TOO_LARGE = (400, 413)

chunk = {
    "of one byte each": answered(chunks(chunked(BODY, 1) + END), 201),
    "with an extension": answered(chunks(chunked(BODY, 5, ";a=b") + b"0;c\r\n\r\n"), 201),
    "with a quoted extension": answered(chunks(chunked(BODY, 13, ';a="b;\\"c"') + END), 201),
    "with trailers": answered(chunks(chunked(BODY, 13) + b"0\r\nX: y\r\nZ: w\r\n\r\n"), 201),
    "with a length as trailer": either(chunks(chunked(BODY, 13) + b"0\r\nContent-Length: 5\r\n\r\n"), 400, accepted=201),
    "with a coding as trailer": either(chunks(chunked(BODY, 13) + b"0\r\nTransfer-Encoding: gzip\r\n\r\n"), 400, accepted=201),
    "with a second host as trailer": either(chunks(chunked(BODY, 13) + b"0\r\nHost: other\r\n\r\n"), 400, accepted=201),
    "with a malformed trailer": refused(chunks(chunked(BODY, 13) + b"0\r\nX : y\r\n\r\n" + SMUGGLED)),
    "with a folded trailer": either(chunks(chunked(BODY, 13) + b"0\r\nX: y\r\n z\r\n\r\n"), 400, accepted=201),
    "with a trailer of 100 KB": refused(chunks(chunked(BODY, 13) + b"0\r\nX: " + b"y" * 100_000 + b"\r\n\r\n" + SMUGGLED), 400, 413, 431),
    "with 10,000 trailers": refused(chunks(chunked(BODY, 13) + b"0\r\n" + b"X: y\r\n" * 10_000 + b"\r\n" + SMUGGLED), 400, 413, 431),
    "with many zeros as the last": answered(chunks(chunked(BODY, 13) + b"0000\r\n\r\n"), 201),
    "with zeros in front of the size": either(chunks(b"00000000000000000000d\r\n" + BODY + b"\r\n" + END), accepted=201),
    "with a size in capitals": answered(chunks(b"D\r\n" + BODY + b"\r\n" + END), 201),
    "of 2^64 - 1 bytes": refused(chunks(b"FFFFFFFFFFFFFFFF\r\n" + BODY + b"\r\n" + END + SMUGGLED), *TOO_LARGE),
    "of 2^64 + 13 bytes": refused(chunks(b"1000000000000000d\r\n" + BODY + b"\r\n" + END + SMUGGLED), *TOO_LARGE),
    "of 2^63 - 1 bytes": refused(chunks(b"7fffffffffffffff\r\n" + BODY + b"\r\n" + END + SMUGGLED), *TOO_LARGE),
    "of 2^32 + 13 bytes": refused(chunks(b"10000000d\r\n" + BODY + b"\r\n" + END + SMUGGLED), *TOO_LARGE),
    "of a size of a thousand digits": refused(chunks(b"f" * 1000 + b"\r\n" + BODY + b"\r\n" + END + SMUGGLED), *TOO_LARGE),
    "of a negative size": refused(chunks(b"-d\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "of a size with a plus": refused(chunks(b"+d\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "of a size with 0x": refused(chunks(b"0xd\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "of no size": refused(chunks(b"\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "of a size that is no number": refused(chunks(b"g\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with a space before the size": refused(chunks(b" d\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with a space after the size": refused(chunks(b"d \r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with a NUL after the size": refused(chunks(b"d\0\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with an underscore in the size": refused(chunks(b"0_d\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "without CR LF after its data": refused(chunks(b"d\r\n" + BODY + END + SMUGGLED)),
    "with LF alone after its data": refused(chunks(b"d\r\n" + BODY + b"\n" + END + SMUGGLED)),
    "with CR alone after its data": refused(chunks(b"d\r\n" + BODY + b"\r" + END + SMUGGLED)),
    "with two bytes for CR LF after its data": refused(chunks(b"d\r\n" + BODY + b"XX" + END + SMUGGLED)),
    "longer than its size": refused(chunks(b"d\r\n" + BODY + b"x\r\n" + END + SMUGGLED)),
    "with LF alone after its size": refused(chunks(b"d\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with CR alone after its size": refused(chunks(b"d\r" + BODY + b"\r\n" + END + SMUGGLED)),
    "with LF inside an extension": refused(chunks(b"d;a\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with CR inside an extension": refused(chunks(b"d;a\rb\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with NUL inside an extension": refused(chunks(b"d;a\0b\r\n" + BODY + b"\r\n" + END + SMUGGLED)),
    "with an extension of 100 KB": refused(chunks(b"d;a=" + b"b" * 100_000 + b"\r\n" + BODY + b"\r\n" + END + SMUGGLED), 400, 413, 431),
    "with extensions of 16 KB on each": refused(chunks(chunked(BODY * 10, 1, ";a=" + "b" * 16_000) + END + SMUGGLED), 400, 413, 431),
    "with LF alone at the end": refused(chunks(chunked(BODY, 13) + b"0\n\n" + SMUGGLED)),
    "with CR LF CR x at the end": refused(chunks(chunked(BODY, 13) + b"0\r\n\rx" + SMUGGLED)),
    "more than the limit in total": refused(chunks(chunked(b" " * 300_000, 10_000) + END + SMUGGLED), 413),
}

# ---- What stands beside requests -----------------------------------------------------------------

GOOD = field(b"X: y")
NOISE = random.Random(3).randbytes(4096)
HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(range(32)) + b"\x20" + bytes(32) + b"\x00\x04\x13\x01\x13\x02\x01\x00" + bytes(100)

beside = {
    "TLS": refused(HELLO),
    "TLS, the oldest": refused(b"\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10" + bytes(40)),
    "a greeting of SSH": refused(b"SSH-2.0-OpenSSH_9.2\r\n", 400, 501),
    "a greeting of SMTP": refused(b"EHLO localhost\r\n", 400, 501),
    "the PROXY protocol": refused(b"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n" + SMUGGLED, 400, 501),
    "the PROXY protocol, binary": refused(b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes(12) + SMUGGLED, 400, 501),
    "a response": refused(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + SMUGGLED, 400, 501),
    "JSON": refused(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n', 400, 501),
    "NULs": refused(bytes(4096), 400, 501),
    "0xff": refused(b"\xff" * 4096, 400, 501),
    "noise": refused(NOISE, 400, 501),
    "noise after a good request": Row(GOOD + b"\0" + NOISE, ([{200}, {400, 501}], CLOSED)),
    "garbage after a good request": Row(GOOD + b"garbage\r\n\r\n" + SMUGGLED, ([{200}, {400, 501}], CLOSED)),
    "garbage after three good requests": Row(GOOD * 3 + b"\x01\x02\r\n\r\n" + SMUGGLED, ([{200}] * 3 + [{400, 501}], CLOSED)),
    "garbage after a body": Row(length(b"13") + b"}}}\r\n\r\n" + SMUGGLED, ([{201}, {400, 501}], CLOSED)),
    "a smuggling attempt after a good request":
        Row(GOOD + coded(b"chunked", more=b"Content-Length: 5\r\n") + SMUGGLED, ([{200}, {400}], CLOSED)),
    # 9.6: nothing behind a request that closes is answered.
    "a request after one that closes": Row(field(b"Connection: close") + SMUGGLED, ([{200}], CLOSED)),
    "a request after one that closes, in a list": Row(field(b"Connection: x, Close") + SMUGGLED, ([{200}], CLOSED)),
    "a request after close and keep-alive": Row(field(b"Connection: close, keep-alive") + SMUGGLED, ([{200}], CLOSED)),
    "a request after close in a second field": Row(field(b"Connection: keep-alive", b"Connection: close") + SMUGGLED, ([{200}], CLOSED)),
    "a connection option that nobody knows": answered(field(b"Connection: something")),
    "HTTP/1.0 without Host": Row(b"GET /health HTTP/1.0\r\n\r\n" + SMUGGLED, ([{200}], CLOSED)),
    "HTTP/1.0 with keep-alive": Row(b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", ([{200}], OPEN), ([{200}], CLOSED)),
    "HTTP/1.0 with two hosts": Row(b"GET /health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", ([{400}], CLOSED)),
    # RFC 9110, 7.8: an upgrade may be ignored.
    "an upgrade to h2c": answered(field(b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__")),
    "an upgrade to WebSocket": answered(field(b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13",
                                              b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")),
    "an upgrade and a second request": answered(field(b"Connection: Upgrade", b"Upgrade: h2c") + GOOD, 200, 200),
    "an upgrade with a body": answered(post(b"Content-Length: 13\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n", BODY), 201),
    "an upgrade with chunks": answered(coded(b"chunked", more=b"Connection: Upgrade\r\nUpgrade: h2c\r\n") + GOOD, 201, 200),
    "an unknown expectation": declined(post(b"Content-Length: 13\r\nExpect: miracles\r\n", BODY), 417),
    "HEAD with a body": Row(b"HEAD /health HTTP/1.1\r\n" + HOST + b"Content-Length: 13\r\n\r\n" + BODY, ([{"HEAD"}], OPEN)),
    "DELETE with a body": declined(b"DELETE /todos/none HTTP/1.1\r\n" + HOST +
                                   b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", 404),
}

# ---- Running a row -------------------------------------------------------------------------------


def the_server():
    """It waits for what does not come for longer than a test waits for an answer."""
    return server.server("malformed", "--workers", "2", "--body-limit", "100000", "--access-log", ACCESS_LOG,
                         "--head-timeout-ms", "120000", "--body-timeout-ms", "120000")


ACCESS_LOG = os.path.join(server.FOLDER, "access.log")


def outcome(connection, wanted, announced=True):
    """The statuses that came, and whether the connection is open after them. That it ends must have been announced."""
    statuses, found = [], None
    try:
        while not (found and found.closes) and (len(statuses) < len(wanted) or not connection.is_silent(0.02)):
            method = "HEAD" if wanted[len(statuses):] and wanted[len(statuses)] == {"HEAD"} else "GET"
            found = connection.response(method)
            statuses.append("HEAD" if method == "HEAD" and found.status == 200 else found.status)
    except Closed:
        pass
    if not connection.ended and not (found and found.closes) and connection.is_open():
        return statuses, OPEN
    connection.expect_closed()
    expect(found is None or found.closes or not announced, "an end without Connection: close:", found)  # 9.6
    return statuses, CLOSED


def judge(row, found):
    statuses, fate = found
    for wanted, wanted_fate in row.outcomes:
        if fate == wanted_fate and len(statuses) == len(wanted) and all(a in b for a, b in zip(statuses, wanted)):
            return
    raise Broken("statuses %s, then %s; right would be %s" % (statuses, fate, " or ".join(
        "%s, then %s" % outcome for outcome in row.outcomes)))


@tests_of({"%s, %s" % (kind, name): row for kind, table in {
    "lines": lines, "fields": fields, "host": host, "request line": request_lines, "length": lengths,
    "coding": codings, "a chunk": chunk, "beside": beside}.items() for name, row in table.items()})
def bytes_are_answered_as_they_should_be(row):
    longest = max((wanted for wanted, _ in row.outcomes), key=len)
    with the_server().connect() as connection:
        connection.send(row.data)
        judge(row, outcome(connection, longest, b"HTTP/1.0" not in row.data))


@tests_of({"%s, %s" % (kind, name): row for kind, table in {
    "lines": lines, "host": host, "length": lengths, "coding": codings, "a chunk": chunk}.items()
    for name, row in table.items() if len(row.data) < 400})
def bytes_one_at_a_time_are_answered_the_same(row):
    longest = max((wanted for wanted, _ in row.outcomes), key=len)
    with the_server().connect() as connection:
        connection.send_bytewise(row.data)
        judge(row, outcome(connection, longest, b"HTTP/1.0" not in row.data))


# ---- Early ends ----------------------------------------------------------------------------------

WHOLE = length(b"13")
CHUNKED = chunks(chunked(BODY, 6) + b"0\r\nX: y\r\n\r\n")

early = {
    "before anything": b"",
    "in an empty line": b"\r",
    "in the method": b"PO",
    "in the target": b"POST /tod",
    "in the version": b"POST /todos HTT",
    "after the request line": b"POST /todos HTTP/1.1\r\n",
    "in a name": b"POST /todos HTTP/1.1\r\nHo",
    "in a value": b"POST /todos HTTP/1.1\r\nHost: loc",
    "before the end of the head": WHOLE[:WHOLE.index(b"\r\n\r\n") + 2],
    "in the end of the head": WHOLE[:WHOLE.index(b"\r\n\r\n") + 3],
    "before the body": WHOLE[:-13],
    "in the body": WHOLE[:-5],
    "in a chunk's size": CHUNKED[:CHUNKED.index(b"\r\n\r\n") + 5],
    "in a chunk's data": CHUNKED[:CHUNKED.index(b"\r\n\r\n") + 9],
    "between two chunks": CHUNKED[:CHUNKED.index(b"\r\n\r\n") + 4 + 11],
    "before the trailers": CHUNKED[:-8],
    "in a trailer": CHUNKED[:-5],
    "before the end of the trailers": CHUNKED[:-2],
    "while 100 is waited for": post(b"Content-Length: 13\r\nExpect: 100-continue\r\n", b""),
}


@tests_of(early)
def a_sender_that_stops_early_gets_at_most_a_refusal(data):
    with the_server().connect() as connection:
        connection.send(data)
        if b"Expect" in data:
            equal(connection.interim(), 100)
        connection.finish()
        statuses, fate = outcome(connection, [{400, 408}], announced=False)
        expect(set(statuses) <= {400, 408} and fate == CLOSED, "statuses", statuses, "then", fate)


@tests_of(early)
def a_sender_that_vanishes_harms_nobody(data):
    for end in ["close", "reset"]:
        connection = the_server().connect()
        connection.send(data)
        getattr(connection, end)()
    equal(the_server().ask("GET", "/health").status, 200)


@test
def a_sender_that_stops_sending_still_gets_all_answers():
    with the_server().connect() as connection:
        connection.send(GOOD * 20).finish()
        equal([connection.response().status for _ in range(20)], [200] * 20)
        connection.expect_closed()


@test
def a_reader_that_vanishes_in_the_middle_of_answers_harms_nobody():
    for _ in range(20):
        connection = the_server().connect(receive_buffer=4096)
        connection.send(request("GET", "/openapi.json") * 50)
        connection.take(100)
        connection.reset()
    equal(the_server().ask("GET", "/health").status, 200)


@test
def a_reader_that_does_not_read_is_waited_for():
    count = 60
    with the_server().connect(receive_buffer=4096) as connection:
        connection.send(request("GET", "/openapi.json") * count)
        time.sleep(1)
        equal(the_server().ask("GET", "/health").status, 200)
        bodies = {connection.response(target="/openapi.json").body for _ in range(count)}
        equal(len(bodies), 1, "different answers")


# ---- Time ----------------------------------------------------------------------------------------


def hasty():
    return server.server("hasty", "--workers", "1", "--head-timeout-ms", "600", "--body-timeout-ms", "600",
                         "--idle-timeout-ms", "3000")


def dribble(connection, data, pause=0.1):
    """Send bytes slowly until something comes back."""
    for index in range(len(data)):
        if not connection.is_silent(pause):
            break
        connection.send(data[index:index + 1])


HEAD, BODY_TIME, IDLE = 10, 30, 60  # seconds that a server leaves to a client if it was told nothing


@tests_of({
    "in the request line": b"GET /" + b"a" * 200,
    "in the fields": b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200,
    "in many fields": b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"a:b\r\n" * 40,
    "in the body": length(b"500", b" " * 400),
    "in a chunk": chunks(b"100\r\n" + b" " * 400),
    "in many chunks": chunks(b"1\r\n \r\n" * 100),
    "in the trailers": chunks(chunked(BODY, 13) + b"0\r\n" + b"a:b\r\n" * 40),
})
def a_slow_sender_is_told_408_and_let_go(data):
    quick = data.index(b"\r\n\r\n") + 4 if b"\r\n\r\n" in data else 0

    def attempt():
        with hasty().connect() as connection:
            connection.send(data[:quick])
            dribble(connection, data[quick:])
            found = connection.response()
            equal((found.status, found.json["error"], found.closes), (408, "request_timeout", True))
            connection.expect_closed()
    server.in_time(attempt, 0.5, BODY_TIME if quick else HEAD)


@test
def a_sender_of_half_a_head_that_falls_silent_is_told_408():
    def attempt():
        with hasty().connect() as connection:
            equal(connection.send(b"GET /health HTTP/1.1\r\nHo").response().status, 408)
            connection.expect_closed()
    server.in_time(attempt, 0.5, HEAD)


@test
def a_connection_without_any_byte_is_let_go():
    def attempt():
        with hasty().connect() as connection:
            statuses, fate = outcome(connection, [{408}])
            expect(fate == CLOSED and set(statuses) <= {408}, statuses, fate)
    hasty()
    server.in_time(attempt, 0.5, HEAD)


@test
def an_idle_connection_is_let_go_in_silence():
    def attempt():
        with hasty().connect() as connection:
            equal(connection.ask("GET", "/health").status, 200)
            connection.expect_closed()
    hasty()
    server.in_time(attempt, 2.9, IDLE)


def halves_in_time(connection):
    """Four requests, each in two halves a second apart. False where we were held up ourselves, so nothing is shown."""
    for _ in range(4):
        begun = time.monotonic()
        connection.send(GOOD[:20])
        time.sleep(1)
        connection.send(GOOD[20:])
        if time.monotonic() - begun > 2:
            return False
        equal(connection.response().status, 200)
    return True


@test
def the_time_of_a_head_begins_anew_with_each_request():
    with server.Server("--workers", "1", "--head-timeout-ms", "3000") as found:
        for _ in range(10):
            with found.connect() as connection:
                if halves_in_time(connection):
                    return
    raise Skipped("the machine is too busy to send anything in time")


# ---- After all -----------------------------------------------------------------------------------


@test
def no_worker_has_crashed():
    found = the_server()
    equal(found.workers(), first_workers, "the workers")
    for name in ["malformed", "hasty"]:
        if name in server.shared:
            text = server.Server.read(server.shared[name].log).decode()
            expect("crashed" not in text and "INTERNAL_ERROR" not in text, "a crash in the log:", text[-3000:])
            errors = server.Server.read(server.shared[name].stderr)
            expect(b"Sanitizer" not in errors and b"runtime error" not in errors, errors.decode()[-3000:])


@test
def the_server_stops_in_order_after_all_this():
    equal(the_server().stop().status, 0)


@test
def nothing_that_was_smuggled_became_a_request():
    if server.shared["malformed"] in server.Server.running:
        server.shared["malformed"].stop()  # now the log has everything
    with open(ACCESS_LOG, "rb") as file:
        log = file.read()
    expect(b"/health" in log, "the access log has nothing:", log[:500])
    expect(b"smuggled" not in log, "a smuggled request:", [item for item in log.splitlines() if b"smuggled" in item][:3])


@test
def every_failure_of_the_run_fits_the_schema():
    server.fits_the_schema()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


first_workers = the_server().workers()
main()
