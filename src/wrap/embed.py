"""embed.py OUTPUT INPUT…: the rules that are compiled in, as a text in C. The files are one text, in the order in which they are named."""
import sys

text = b""
for name in sys.argv[2:]:
    with open(name, "rb") as file:
        text += file.read()
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write('#include "wrap/wrap.h"\n\nstatic const char rules[] = {\n')
    for at in range(0, len(text), 24):
        file.write("    " + " ".join("%d," % byte for byte in text[at:at + 24]) + "\n")
    file.write("};\n\nconst mishap_text mishap_wrap_builtin_rules = { rules, sizeof rules };\n")
