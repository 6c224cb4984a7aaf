"""Schemas as tools have them, and harder ones, with values that nearly fit: the same for the same seed."""
import copy
import random

NAMES = ["name", "title", "count", "limit", "tags", "status", "owner", "due", "note", "mode", "kind", "x-1"]
WORDS = ["open", "closed", "abc", "Abc-12", "", "a", "hello world", "été", "2026-02-28", "2026-02-31", "zz9", "😀😀", "A1", "line\nline"]
PATTERNS = ["^[a-z]+$", "^\\w+-\\d{2}$", "o", "^(open|closed)$", "[^a-z]", "^.{2,5}$", "\\S", "^[\\w.-]*$", "(?=a)", "^a?b*c+|z"]
MARK = object()


class Maker:
    def __init__(self, seed, draft):
        self.random, self.draft, self.definitions = random.Random("%s %s" % (draft, seed)), draft, {}

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return self.random.choice(items)

    # ---- schemas

    def string(self):
        r, schema = self.random, {"type": "string"}
        if self.chance(.3):
            schema["minLength"] = r.randint(0, 4)
        if self.chance(.3):
            schema["maxLength"] = r.randint(2, 12)
        if self.chance(.3):
            schema["pattern"] = self.pick(PATTERNS)
        if self.chance(.2) and self.draft == "draft7":
            schema["format"] = self.pick(["date", "ipv4"])
        if self.chance(.3):
            return {"enum": r.sample(WORDS, 3)} if self.chance(.5) else {"type": "string", "enum": r.sample(WORDS, 4)}
        return schema

    def number(self):
        r, schema = self.random, {"type": self.pick(["number", "integer"])}
        for keyword in ["minimum", "exclusiveMinimum"]:
            if self.chance(.25):
                schema[keyword] = self.pick([-5, 0, 1, 2.5])
        for keyword in ["maximum", "exclusiveMaximum"]:
            if self.chance(.25):
                schema[keyword] = self.pick([3, 10, 99.5, 100])
        if self.chance(.2):
            schema["multipleOf"] = self.pick([2, 5, .5, .25])
        return schema

    def array(self, depth):
        schema, later = {"type": "array"}, self.draft != "draft7"
        if self.chance(.3):
            schema["minItems"] = self.random.randint(0, 2)
        if self.chance(.3):
            schema["maxItems"] = self.random.randint(1, 4)
        if self.chance(.25):
            schema["uniqueItems"] = True
        if self.chance(.25):
            prefix = [self.schema(depth - 1) for _ in range(self.random.randint(1, 2))]
            schema["prefixItems" if later else "items"] = prefix
            if self.chance(.5):
                schema["items" if later else "additionalItems"] = False if self.chance(.5) else self.schema(depth - 1)
            elif later and self.chance(.5):
                schema["unevaluatedItems"] = False
        elif self.chance(.8):
            schema["items"] = self.schema(depth - 1)
        # Beside `contains` ajv takes all items for evaluated, not only those that were found.
        if self.chance(.15) and "unevaluatedItems" not in schema:
            schema["contains"] = self.schema(0)
            if later and self.chance(.5):
                schema["minContains"] = self.random.randint(0, 2)
                schema["maxContains"] = self.random.randint(2, 3)
        return schema

    def object(self, depth):
        r, later = self.random, self.draft != "draft7"
        names = r.sample(NAMES, r.randint(0, 5))
        schema = {"type": "object", "properties": {name: self.schema(depth - 1) for name in names}}
        if self.chance(.6):
            schema["required"] = r.sample(names, r.randint(0, len(names))) + ([self.pick(NAMES)] if self.chance(.1) else [])
            schema["required"] = sorted(set(schema["required"]))
        if self.chance(.5):
            schema["additionalProperties"] = False if self.chance(.7) else self.schema(0)
        if self.chance(.15):
            schema["patternProperties"] = {self.pick(["^x-", "e$", "^[a-d]"]): self.schema(0)}
        if self.chance(.1):
            schema["propertyNames"] = {"pattern": self.pick(["^[a-z]+$", "^.{1,5}$"])}
        if self.chance(.1):
            schema["minProperties"] = r.randint(0, 2)
        if self.chance(.1):
            schema["maxProperties"] = r.randint(2, 4)
        if self.chance(.15):
            schema["dependentRequired" if later else "dependencies"] = {self.pick(NAMES): [self.pick(NAMES)]}
        if later and self.chance(.15) and "additionalProperties" not in schema:
            schema["allOf"] = [{"properties": {self.pick(NAMES): {}}}]
            schema["unevaluatedProperties"] = False
        # ajv counts what an `if` that fails has looked at as evaluated, which the draft does not.
        if self.chance(.15) and "unevaluatedProperties" not in schema:
            schema["if"] = {"properties": {self.pick(NAMES): {"const": self.pick(WORDS)}}}
            schema["then"], schema["else"] = {"required": [self.pick(NAMES)]}, {"minProperties": 1}
        return schema

    def mixed(self, depth):
        way = self.pick(["anyOf", "oneOf", "allOf", "not", "types", "ref", "tagged", "const", "bool"])
        if way in ("anyOf", "oneOf"):
            return {way: [self.schema(depth - 1) for _ in range(self.random.randint(1, 3))]}
        if way == "allOf":
            return {"allOf": [self.number(), {"minimum": 1}] if self.chance(.5) else [self.schema(depth - 1)]}
        if way == "not":
            return {"not": self.schema(0)}
        if way == "types":
            return {"type": self.random.sample(["string", "number", "null", "boolean", "array", "object"], 2)}
        if way == "ref":
            name = "d%d" % len(self.definitions)
            self.definitions[name] = {}
            self.definitions[name] = self.schema(depth - 1)
            return {"$ref": "#/%s/%s" % ("definitions" if self.draft == "draft7" else "$defs", name)}
        if way == "tagged":
            return {"oneOf": [{"type": "object", "properties": {"kind": {"const": kind}, "note": self.schema(0)}, "required": ["kind"]} for kind in ("open", "closed")]}
        return {"const": self.pick(WORDS + [1, 0, False, None, [1], {"a": 1}])} if way == "const" else self.pick([True, {}])

    def schema(self, depth):
        ways = [self.string, self.string, self.number, lambda: {"type": "boolean"}, lambda: {"type": "null"} if self.chance(.2) else self.string()]
        if depth > 0:
            ways += [lambda: self.array(depth), lambda: self.object(depth), lambda: self.mixed(depth)]
        return self.pick(ways)()

    def root(self):
        schema = self.object(2)
        if self.definitions:
            schema["definitions" if self.draft == "draft7" else "$defs"] = self.definitions
        return schema

    # ---- values

    def any(self, depth=1):
        values = WORDS + [0, 1, 2, 2.5, 5, -7, 10, 100, 1e3, True, False, None]
        if depth and self.chance(.2):
            return self.pick([[self.any(0) for _ in range(self.random.randint(0, 3))], {self.pick(NAMES): self.any(0)}])
        return self.pick(values)

    def value(self, schema):
        """One that is meant to fit."""
        if not isinstance(schema, dict) or not schema:
            return self.any()
        if "$ref" in schema:
            return self.value(self.definitions[schema["$ref"].split("/")[-1]])
        if "const" in schema:
            return copy.deepcopy(schema["const"])
        if "enum" in schema:
            return self.pick(schema["enum"])
        for way in ("anyOf", "oneOf", "allOf"):
            if way in schema and "type" not in schema:
                return self.value(self.pick(schema[way]))
        kind = schema.get("type")
        kind = self.pick(kind) if isinstance(kind, list) else kind
        if kind == "object":
            return self.object_value(schema)
        if kind == "array":
            prefix = schema.get("prefixItems", schema["items"] if isinstance(schema.get("items"), list) else [])
            rest = schema.get("items") if isinstance(schema.get("items"), dict) else schema.get("additionalItems", True)
            count = self.random.randint(schema.get("minItems", 0), max(schema.get("maxItems", 3), schema.get("minItems", 0)))
            return [self.value(prefix[i] if i < len(prefix) else rest) for i in range(count)]
        if kind in ("number", "integer"):
            return self.pick([1, 2, 3, 4, 5, 10, 20, 2.5, .5, 3.0])
        return {"boolean": self.chance(.5), "null": None, "string": self.pick(WORDS)}.get(kind, self.any())

    def object_value(self, schema):
        value = {}
        for name, inner in schema.get("properties", {}).items():
            if name in schema.get("required", []) or self.chance(.6):
                value[name] = self.value(inner)
        for name in schema.get("required", []):
            value.setdefault(name, self.any())
        return value

    def spoiled(self, value):
        """… with one thing changed."""
        if isinstance(value, dict) and value and self.chance(.75):
            name, value = self.pick(list(value)), dict(value)
            spoiled = self.spoiled(value.pop(name))
            if spoiled is not MARK and self.chance(.8):
                value[name] = spoiled
            return value
        if isinstance(value, list) and value and self.chance(.7):
            value = list(value)
            value[self.random.randrange(len(value))] = self.any()
            return value + [value[0]] if self.chance(.2) else value
        if isinstance(value, dict):
            return dict(value, **{self.pick(NAMES + ["nmae", "stauts"]): self.any()})
        return self.any()


def groups(draft, count, values):
    """(schema, values) as ajv and we are asked for them."""
    for seed in range(count):
        maker = Maker(seed, draft)
        schema = maker.root()
        good = [maker.value(schema) for _ in range(values // 2)]
        yield schema, good + [maker.spoiled(value) for value in good]
