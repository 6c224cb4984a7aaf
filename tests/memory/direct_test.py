#!/usr/bin/env python3
"""Every allocation goes through the table of include/mishap/memory.h: no object calls the C library's allocator by itself.

    NM=nm python3 tests/memory/direct_test.py libmishap-program.a libservices.a FOLDER-OF-OBJECTS

Speaks TAP. What an object may call all the same is in EXCEPTIONS, with the reason.
"""
import glob
import os
import re
import subprocess
import sys

# What takes memory and hands it out, and what takes some for itself behind our back.
GIVES = ["malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "aligned_alloc", "memalign", "posix_memalign",
         "valloc", "pvalloc", "strdup", "strndup", "wcsdup", "asprintf", "vasprintf", "getline", "getdelim", "open_memstream",
         "open_wmemstream", "realpath", "canonicalize_file_name", "get_current_dir_name", "mmap_alloc"]
TAKES = ["qsort", "qsort_r", "fopen", "fopen64", "fdopen", "freopen", "freopen64", "fmemopen", "popen", "tmpfile", "opendir",
         "fdopendir", "scandir", "scandir64", "glob", "glob64", "regcomp", "getaddrinfo", "setenv", "putenv", "tsearch",
         "hcreate", "newlocale", "iconv_open", "wordexp", "getpwnam", "getpwuid", "getgrnam", "ftw", "nftw", "fts_open",
         "dlopen", "backtrace_symbols", "sqlite3_malloc", "uv_default_loop"]
SPELLINGS = re.compile(r"(?:__(?:libc_|isoc\d+_|interceptor_)?)?(%s)(?:_chk)?" % "|".join(GIVES + TAKES))

EXCEPTIONS = {
    "src_base_memory.c.o": {"malloc", "realloc", "free"},  # the table's own beginning
    "yyjson.o": {"malloc", "realloc", "free", "fopen"},    # its default, which we never ask for: see memory_test.c
    "src_call_test.c.o": {"setenv"},                       # the test client is no server: what it needs for itself may come from elsewhere
    "src_call_incident.c.o": {"fopen64"},
    "src_program_test_server.c.o": {"fopen64"},
    "src_server_listen.c.o": {"getaddrinfo"},              # at the start; there is no other way to look up a name
    "src_http_serve_serve.c.o": {"getaddrinfo"},
    "src_gateway_settings.c.o": {"getaddrinfo"},
    "tool_cmd_connect.c.o": {"getaddrinfo"},
    "src_mishap_trace.c.o": {"dlopen"},                    # finds the library that backtrace() has loaded
    "src_mishap_symbols.c.o": {"dlopen"},                  # libdw, in a process that is for nothing else
    "src_store_libpq.c.o": {"dlopen"},                     # libpq, whose memory is its own in any case
    "src_client_libcurl.c.o": {"dlopen"},                  # libcurl, whose memory is its own in any case
    "src_oauth_libcrypto.c.o": {"dlopen"},                 # libcrypto, whose memory is its own in any case
    "src_http_wire_pack.c.o": {"dlopen"},                  # zlib, which gets its memory from the table, and zstd, which has its own
    "src_index_sqlite.c.o": {"dlopen"},                    # libsqlite3, whose memory is its own in any case
    "src_index_files.c.o": {"opendir"},                    # lists the files of the index
    "tool_cmd_mcp_gateway.c.o": {"setenv"},                # once, before a client is served: what processes of sessions inherit
    "tool_mathematics.c.o": {"dlopen"},                    # the loader has memory of its own
    "src_cli_run_remote.c.o": {"getaddrinfo"},
    "src_audit_process_warden.c.o": {"fdopendir"},         # counts the files of a command, in a process that is for nothing else
    "src_audit_process_orphans.c.o": {"fdopendir"},        # lists children, in that process; in the audit only if a command has killed its watchers
    "src_wrap_start.c.o": {"opendir"},                     # lists the programs of PATH, for a name that is similar to a wrong one
    "src_sandbox_remove.c.o": {"fdopendir"},               # lists the folder of a program that has ended
    "src_worker_child_threads.c.o": {"opendir"},                 # lists a worker's threads, where there are more than it should have
    "src_sandbox_place.c.o": {"opendir"},                  # lists the temporary folder, once, for what killed processes have left
    "lisp_line.c.o": {"dlopen", "newlocale"},              # libedit and the locale it reads by, once, for a person's terminal
}


def undefined(path):
    """Which functions each object of an archive wants from elsewhere."""
    lines = subprocess.run([os.environ.get("NM", "nm"), "-A", "-u", path], check=True, capture_output=True, text=True).stdout
    for line in lines.splitlines():
        place, symbol = line.rsplit(" ", 1)
        place = place.rsplit(":", 1)[0]
        yield os.path.basename(re.split(r"[:/]", place)[-1]), symbol.split("@")[0]


def main():
    found, seen, objects = [], {}, set()
    given = [sorted(glob.glob(os.path.join(path, "*.o"))) if os.path.isdir(path) else [path] for path in sys.argv[1:]]
    for path in sum(given, []):
        for name, symbol in undefined(path):
            objects.add(name)
            match = SPELLINGS.fullmatch(symbol)
            if match and match[1] not in EXCEPTIONS.get(name, ()):
                found.append("%s calls %s" % (name, match[1]))
            elif match:
                seen.setdefault(name, set()).add(match[1])
    print("1..2")
    print("%s 1 - no object takes memory but from the table" % ("not ok" if found or len(objects) < 50 else "ok"))
    for line in found or ["%d objects" % len(objects)]:
        print("#", line)
    unused = {name: symbols - seen.get(name, set()) for name, symbols in EXCEPTIONS.items() if name in objects}
    stale = {name: symbols for name, symbols in unused.items() if symbols}
    print("%s 2 - no exception is there for nothing" % ("not ok" if stale else "ok"))
    for name, symbols in stale.items():
        print("# %s does not call %s" % (name, sorted(symbols)))
    sys.exit(1 if found or stale or len(objects) < 50 else 0)


main()
