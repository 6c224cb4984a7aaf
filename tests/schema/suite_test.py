"""The test suite of JSON Schema, as far as it is installed: draft 7 (Debian's json-schema-test-suite). Nothing is fetched, so a $ref to
another document is not judged: its cases are among those that are missed."""
import glob
import json
import os
import re

from opinions import HERE, Tally, checked, of_draft  # noqa: I001 it says where blackbox is
from blackbox import Skipped, equal, expect, main, test, tests_of

FOLDERS = {"draft7": "/usr/share/json-schema-test-suite/tests/draft7"}


def cases_of(folder):
    for path in sorted(glob.glob(os.path.join(folder, "**", "*.json"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            for group in json.load(file):
                for case in group["tests"]:
                    yield "%s: %s: %s" % (os.path.relpath(path, folder), group["description"], case["description"]), group["schema"], case


@tests_of({draft: (draft,) for draft in FOLDERS})
def no_valid_value_of_the_suite_is_refused_and_invalid_ones_are_found(draft):
    if not os.path.isdir(FOLDERS[draft]):
        raise Skipped("there is no json-schema-test-suite")
    cases = list(cases_of(FOLDERS[draft]))
    answers = checked([(of_draft(schema, draft), case["data"]) for _, schema, case in cases])
    required, optional = Tally(), Tally()
    for (name, _, case), answer in zip(cases, answers):
        (optional if name.startswith("optional") else required).add(name, case["valid"], answer)
    print("# %s: %s; optional: %s" % (draft, required, optional))
    for name in required.missed:
        print("#   missed: %s" % name)
    expect(required.valid > 200 and required.invalid > 150, "few cases")
    expect(not required.refused, "valid values were refused:", required.refused)
    expect(not optional.refused, "valid values were refused:", optional.refused)
    expect(required.share() >= 95, "only %.1f %% of the invalid values were found" % required.share())


@test
def the_example_of_the_page_is_true():
    with open(os.path.join(HERE, "../../docs/schema.md"), encoding="utf-8") as file:
        schema, value, sentences = re.findall(r"```(?:json|text)\n(.*?)```", file.read(), re.S)[:3]
    found = checked([(json.loads(schema), json.loads(value))])[0]
    equal([words for _, words in found], sentences.strip().split("\n"))
    equal([place for place, _ in found], ["/title", "/titel", "/priority", "/tags/1"])


main()
