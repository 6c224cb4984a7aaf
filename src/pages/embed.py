"""embed.py OUTPUT [--uplot FOLDER] FILE…: the files of console/ as a table in C, as they are and packed with gzip.

The four pages are made from page.html.

FOLDER is that of the npm package uPlot, which draws the plot of the console. Without it the files uplot.js and uplot.css are there, too, but
empty: the console then shows the table of the plot alone.
"""
import gzip
import hashlib
import os
import re
import sys

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".json": "application/json", ".svg": "image/svg+xml"}


# Page: title, script, class of its content, further style sheets.
PAGES = {"index.html": ("Start", "index.js", "narrow", []), "docs.html": ("API", "docs.js", "", []), "errors.html": ("Errors", "errors.js", "narrow", []),
         "console.html": ("Console", "console.js", "", ["uplot.css"])}


def imports(files, script):
    """The modules that a script imports when it begins, and those that they import."""
    found, wanted = [], [script]
    for name in wanted:
        for other in re.findall(r"^import .* from '\./([\w.]+)';$", files[name].decode(), re.M):
            if other not in wanted:
                wanted.append(other)
                found.append(other)
    return found


def pages(files):
    """The four pages. They name the modules that they need: a browser then asks for all of them at once, and not for one after the other."""
    template = files.pop("page.html").decode()
    for page, (title, script, kind, sheets) in PAGES.items():
        links = ['<link rel="stylesheet" href="/_pages/%s">' % name for name in sheets]
        links += ['<link rel="modulepreload" href="/_pages/%s">' % name for name in imports(files, script)]
        text = template
        for name, value in {"title": title, "script": script, "kind": kind, "links": "\n".join(links)}.items():
            text = text.replace("{%s}" % name, value)
        files[page] = text.encode()


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def uplot(folder):
    """The two files of uPlot. Its script becomes a module, with the licence in front."""
    if not folder or not os.path.exists(os.path.join(folder, "dist", "uPlot.iife.min.js")):
        return {"uplot.js": b"export default null;\n", "uplot.css": b"/* built without uPlot */\n"}
    licence = b"/*!\nuPlot\n" + read(folder, "LICENSE").strip().replace(b"*/", b"* /") + b"\n*/\n"
    return {"uplot.js": licence + read(folder, "dist", "uPlot.iife.min.js").strip() + b"\nexport default uPlot;\n",
            "uplot.css": licence + read(folder, "dist", "uPlot.min.css")}


def literal(data):
    """A string in C. Three octal digits each, so that no digit behind them is taken for a part of one."""
    plain = {byte: chr(byte) for byte in range(32, 127) if chr(byte) not in '"\\?'}
    lines = []
    for start in range(0, len(data), 80):
        lines.append('"' + "".join(plain.get(byte, "\\%03o" % byte) for byte in data[start:start + 80]) + '"')
    return "\n".join(lines) or '""'


def entry(number, name, data):
    packed = gzip.compress(data, 9, mtime=0)
    tag = hashlib.sha256(data).hexdigest()[:16]
    arrays = "".join("static const char %s_%d[] =\n%s;\n" % (word, number, literal(content))
                     for word, content in [("plain", data), ("packed", packed)])
    row = ('{ "%s", "%s", { plain_%d, %d }, { packed_%d, %d }, MISHAP_TEXT("\\"%s\\""), MISHAP_TEXT("\\"%s.gz\\"") },'
           % (name, TYPES[os.path.splitext(name)[1]], number, len(data), number, len(packed), tag, tag))
    return arrays, row


def main():
    output, *rest = sys.argv[1:]
    folder = None
    if rest[:1] == ["--uplot"]:
        folder, rest = rest[1], rest[2:]
    files = {os.path.basename(path): read(path) for path in rest}
    files.update(uplot(folder))
    pages(files)
    made = [entry(number, name, data) for number, (name, data) in enumerate(sorted(files.items()))]
    with open(output, "w", encoding="ascii") as file:
        file.write('/* Made by src/pages/embed.py. */\n#include "pages/pages.h"\n\n')
        file.write("".join(arrays for arrays, _ in made))
        file.write("\nconst mishap_page_asset mishap_page_assets[] = {\n%s\n{ 0 },\n};\n" % "\n".join(row for _, row in made))


main()
