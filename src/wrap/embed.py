"""embed.py OUTPUT INPUT…: the rules that are compiled in, as a table in C: a row for each file, in the order in which they are named."""
import os
import sys

rows = []
with open(sys.argv[1], "w", encoding="ascii") as out:
    out.write('#include "wrap/wrap.h"\n\n')
    for number, name in enumerate(sys.argv[2:]):
        with open(name, "rb") as file:
            text = file.read()
        out.write("static const char rules_%d[] = {\n" % number)
        for at in range(0, len(text), 24):
            out.write("    " + " ".join("%d," % byte for byte in text[at:at + 24]) + "\n")
        out.write("};\n\n")
        rows.append('    { "builtin/%s", { rules_%d, sizeof rules_%d } },\n' % (os.path.basename(name), number, number))
    out.write("const mishap_wrap_builtin mishap_wrap_builtins[] = {\n%s    { 0 },\n};\n" % "".join(rows))
