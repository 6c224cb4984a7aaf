"""The same corpus with the rules of other programs, for the table in docs/guard.md: `corpus_test.py --others FOLDER`.

Their rules are not part of this tree. The folder has to have, taken from their repositories:

    application_errors.xml, debug-error-messages.txt, InfoPrivateAddressDisclosureScanRule.java, HashDisclosureScanRule.java,
    SourceCodeDisclosureScanRule.java      of zaproxy/zap-extensions: what its passive scan rules look for in a response
    exception_detector.rb                  of GoogleCloudPlatform/fluent-plugin-detect-exceptions; it is run by ruby

For them, a text counts as found if any of their rules matches, of whatever kind: that is more than ours gets.
"""
import ast
import glob
import json
import os
import re
import subprocess
import xml.etree.ElementTree


def patterns_of_java(path):
    """The regular expressions of a Java file: what stands in Pattern.compile(…), with the constants that are joined there."""
    with open(path, encoding="utf-8") as file:
        source = re.sub(r"(?m)^\s*//.*$", "", file.read())
    literal = r'"((?:[^"\\]|\\.)*)"'
    constants = {name: ast.literal_eval(f'"{text}"') for name, text in re.findall(r"String (\w+) =\s*" + literal + ";", source)}
    for found in re.finditer(r"Pattern\.compile\(((?:[^()\"]|" + literal + r")*)\)", source):
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|\b[A-Z_]{6,}\b', re.sub(r"Pattern\.[A-Z_]+", "", found[1]))
        text = "".join(ast.literal_eval(p) if p[0] == '"' else constants.get(p, "") for p in parts)
        flags = sum({getattr(re, name) for name in ("MULTILINE", "DOTALL") if name in found[1]} | ({re.IGNORECASE} if "CASE_INSENSITIVE" in found[1] else set()))
        try:
            yield re.compile(text, flags)
        except re.error:
            print("left out, not Python's syntax:", text[:60])


def zap(folder):
    rules = []
    for pattern in xml.etree.ElementTree.parse(os.path.join(folder, "application_errors.xml")).getroot():
        rules.append(re.compile(pattern.text if pattern.get("type") == "regex" else re.escape(pattern.text)))
    with open(os.path.join(folder, "debug-error-messages.txt"), encoding="utf-8") as file:
        rules += [re.compile(re.escape(line.strip()), re.IGNORECASE) for line in file if line.strip() and line[0] != "#"]
    for path in sorted(glob.glob(os.path.join(folder, "*.java"))):
        rules += patterns_of_java(path)
    return lambda texts: [any(rule.search(text.data.decode("utf-8", "replace")) for rule in rules) for text in texts]


RUBY = """
require 'json'
require ARGV[0]
STDIN.each_line do |sent|
  detector = Fluent::ExceptionDetector.new
  puts JSON.parse(sent).each_line.any? { |line| %i[inside_trace end_trace].include?(detector.update(line)) }
end
"""


def fluentd(folder):
    def found(texts):
        sent = "".join(json.dumps(text.data.decode("utf-8", "replace")) + "\n" for text in texts).replace('\\u2028', ' ')
        lines = subprocess.run(["ruby", "-e", RUBY, os.path.join(folder, "exception_detector.rb")], input=sent, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout.split()
        return [line == "true" for line in lines]
    return found


def tell(texts, test, folder):
    """Rows of a table: how many of each kind are found, and how many harmless texts are accused."""
    judges = {"ours": lambda all_texts: [test.is_found(t) if t.leak else test.is_accused(t) for t in all_texts], "ZAP": zap(folder), "fluentd": fluentd(folder)}
    results = {name: judge(texts) for name, judge in judges.items()}
    rows = [(kind, [i for i, t in enumerate(texts) if t.leak and t.folder.removesuffix("-hint") == kind]) for kind in sorted({t.folder.removesuffix("-hint") for t in texts if t.leak})]
    rows += [("all leaks", [i for i, t in enumerate(texts) if t.leak]), ("… in JSON or HTML", [i for i, t in enumerate(texts) if t.leak and "-in-" in t.name]),
             ("harmless texts", [i for i, t in enumerate(texts) if not t.leak])]
    print("| | texts | " + " | ".join(judges) + " |\n|---|---|" + "---|" * len(judges))
    for name, places in rows:
        print(f"| {name} | {len(places)} | " + " | ".join(f"{sum(results[judge][i] for i in places)} ({sum(results[judge][i] for i in places) / len(places):.1%})" for judge in judges) + " |")
