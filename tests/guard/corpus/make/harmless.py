"""The harmless half of the corpus, of prose.py and shapes.py."""
import json
import re

import harmless_more
from prose import CHANGELOGS, CODE_LIKE, LANGUAGES, LOGS, MAILS, MESSAGES, SENTENCES, STANDARDS
from shapes import HELP, PACKAGES, PAGES, READMES, SHAPES, SUCCESSES


def name_of(text, taken):
    """The first words of a text, as a name; numbered if there is such a name already."""
    words = "-".join(re.findall(r"[a-z0-9]+", text.lower())[:6])[:48] or "signs"
    name, number = words, 2
    while name in taken:
        name, number = f"{words}-{number}", number + 1
    taken.add(name)
    return name


def make(corpus, _):
    taken = set()
    for number, message in enumerate(MESSAGES):
        for step in range(5):  # every message in five of the shapes, every shape with several messages
            shape = list(SHAPES)[(number * 5 + step * 7) % len(SHAPES)]
            corpus.put(f"harmless/api/{name_of(shape + ' ' + message, taken)}", SHAPES[shape](message, 100 + number), shorten=False)
    for folder, texts in {"sentence": SENTENCES, "code-like": CODE_LIKE, "mail": MAILS, "changelog": CHANGELOGS, "standard": STANDARDS, "log": LOGS}.items():
        taken = set()
        for text in texts:
            corpus.put(f"harmless/{folder}/{name_of(text, taken)}", text)
    for language, texts in LANGUAGES.items():
        for number, text in enumerate(texts, 1):
            corpus.put(f"harmless/language/{language}-{number}", text)
            if number == 1:
                corpus.put(f"harmless/language/{language}-{number}-in-json", json.dumps({"error": {"code": "NOT_FOUND", "message": text}}))
    for name, value in SUCCESSES.items():
        corpus.put(f"harmless/success/{name}", json.dumps(value, ensure_ascii=False, indent=2 if len(name) % 2 else None))
    for folder, texts in {"package": PACKAGES, "page": PAGES, "help": HELP, "readme": READMES}.items():
        for name, text in texts.items():
            corpus.put(f"harmless/{folder}/{name}", text)
    harmless_more.make(corpus, _)
