"""Generated schemas and values (generated.py), with ajv as the judge, for both drafts; and where we say that something is wrong."""
import json
import os
import shutil

from opinions import DRAFTS, HERE, Tally, checked, of_draft  # noqa: I001 it says where blackbox is
from blackbox import Skipped, equal, expect, main, run_program, tests_of
from generated import groups
from node import NODE_MODULES

COUNT, VALUES = int(os.environ.get("MISHAP_SCHEMAS", "300")), 8


def judged_by_ajv(draft, asked):
    if not os.path.isdir(os.path.join(NODE_MODULES, "ajv-formats")) or not shutil.which("node"):
        raise Skipped("there is no ajv")
    lines = "".join(json.dumps({"draft": draft, "schema": schema, "values": values}) + "\n" for schema, values in asked)
    done = run_program("node", os.path.join(HERE, "ajv.mjs"), NODE_MODULES, stdin=lines.encode())
    equal((done.status, done.err), (0, b""))
    return [json.loads(line) for line in done.out.decode().split("\n")[:-1]]


def misplaced(ours, places):
    """The findings of ours that stand where ajv has nothing to say. For an item too many ajv names the array, and items that are equal it
    does not look for where one of them is wrong."""
    return [place for place, words in ours
            if place != "/arguments" and place not in places and "same item twice" not in words
            and not ("not allowed" in words and place.rsplit("/", 1)[0] in places)]


@tests_of({draft: (draft,) for draft in DRAFTS})
def no_value_that_ajv_accepts_is_refused_and_others_are_found(draft):
    asked = [(of_draft(schema, draft), values) for schema, values in groups(draft, COUNT, VALUES)]
    opinions = judged_by_ajv(draft, asked)
    equal(len(opinions), len(asked))
    expect("refused" not in opinions, "ajv does not compile", [schema for (schema, _), said in zip(asked, opinions) if said == "refused"][:1])
    answers = iter(checked([(schema, value) for schema, values in asked for value in values]))
    tally, wrong = Tally(), []
    for (schema, values), said in zip(asked, opinions):
        for value, places in zip(values, said):
            ours = next(answers)
            tally.add((schema, value, places), places is None, ours)
            if places is not None and isinstance(ours, list) and misplaced(ours, places):
                wrong.append((schema, value, ours, places))
    print("# %s: %s; %d with a finding in a place where ajv has none" % (draft, tally, len(wrong)))
    expect(tally.valid > COUNT and tally.invalid > COUNT, "few cases")
    expect(not tally.refused, "valid values were refused:", json.dumps(tally.refused[:2]))
    expect(tally.share() >= 95, "only %.1f %% of the invalid values were found" % tally.share(), json.dumps(tally.missed[:3]))
    expect(not wrong, "findings are misplaced:", json.dumps(wrong[:2]))


main()
