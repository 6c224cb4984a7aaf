"""embed.py OUTPUT INPUT…: the Python sources of the engine's library as a C file."""
import os
import sys

output, *inputs = sys.argv[1:]
with open(output, "w", encoding="utf-8") as out:
    out.write('#include "library/library.h"\n\nconst library_source library_sources[] = {\n')
    for name in sorted(inputs):
        with open(name, encoding="utf-8") as source:
            lines = source.read().splitlines()
        out.write('    { "%s",\n' % os.path.splitext(os.path.basename(name))[0])
        for line in lines:
            out.write('      "%s\\n"\n' % line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?"))
        out.write("    },\n")
    out.write("    { 0 },\n};\n")
