"""A small model of the artifacts: what each invoke must answer. It knows nothing of stores, only of the rules."""
import json
import re

LEDGER, MINT, ESCROW, STORE = ("genesis_" + name for name in ("ledger", "mint", "escrow", "store"))
NAME, TEXT, WORD, INTEGER, FILTER = range(5)
# (artifact, method): its arguments as (name, type, optional), and whether it changes something.
METHODS = {
    (LEDGER, "balance"): ([("agent_id", NAME, False)], False),
    (LEDGER, "all_balances"): ([], False),
    (LEDGER, "transfer"): ([("from_id", NAME, False), ("to_id", NAME, False), ("amount", INTEGER, False)], True),
    (LEDGER, "transfer_ownership"): ([("artifact_id", NAME, False), ("to_id", NAME, False)], True),
    (LEDGER, "spawn_principal"): ([], True),
    (MINT, "status"): ([], False),
    (MINT, "bid"): ([("artifact_id", NAME, False), ("amount", INTEGER, False)], True),
    (MINT, "check"): ([("artifact_id", NAME, False)], False),
    (ESCROW, "deposit"): ([("artifact_id", NAME, False), ("price", INTEGER, False), ("buyer", NAME, True)], True),
    (ESCROW, "purchase"): ([("artifact_id", NAME, False), ("price", INTEGER, True), ("version", INTEGER, True)], True),
    (ESCROW, "cancel"): ([("artifact_id", NAME, False)], True),
    (ESCROW, "check"): ([("artifact_id", NAME, False)], False),
    (ESCROW, "list_active"): ([], False),
    (STORE, "list"): ([("filter", FILTER, True)], False),
    (STORE, "get"): ([("id", NAME, False)], False),
    (STORE, "search"): ([("query", WORD, False), ("field", WORD, True), ("limit", INTEGER, True)], False),
    (STORE, "list_by_type"): ([("type", NAME, False)], False),
    (STORE, "list_by_owner"): ([("owner", NAME, False)], False),
    (STORE, "count"): ([("filter", FILTER, True)], False),
    (STORE, "create"): ([("id", NAME, False), ("type", NAME, False), ("content", TEXT, False), ("code", TEXT, True)], True),
    (STORE, "update"): ([("id", NAME, False), ("content", TEXT, False), ("code", TEXT, True)], True),
    (STORE, "delete"): ([("id", NAME, False)], True),
}
ANY = object()  # an answer that the model cannot know


class Fail(Exception):
    def __init__(self, code, category):
        super().__init__(code)
        self.code, self.category = code, category


def invalid(code="invalid_argument"):
    return Fail(code, "validation")


def not_found():
    return Fail("not_found", "resource")


def read(value, kind):
    """An argument after its checks."""
    if kind == INTEGER:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise invalid("invalid_type")
        if isinstance(value, float):
            if abs(value) >= 2**53:
                raise invalid()
            if value != int(value):
                raise invalid("invalid_type")
            return int(value)
        if not -2**63 <= value < 2**63:
            raise invalid()
        return value
    if kind == FILTER:
        if not isinstance(value, dict):
            raise invalid("invalid_type")
        return value
    if not isinstance(value, str):
        raise invalid("invalid_type")
    if "\0" in value or (kind == NAME and not re.fullmatch("[a-z0-9][a-z0-9._-]{0,62}", value)):
        raise invalid()
    if kind == WORD and not 1 <= len(value.encode()) <= 1000:
        raise invalid()
    return value


def words_of(text):
    return {word.lower() for word in re.findall("[A-Za-z0-9]+", text)}


class Model:
    def __init__(self, bidders, **balances):
        self.balance = dict(balances)
        self.mint, self.minted_sum, self.bidders = 0, 0, bidders  # a bid is a part of its bidder's balance
        self.artifacts = {}  # id: {type, owner, content, code}, the oldest first
        self.listings = {}  # id: {seller, price, buyer, version}, the oldest first
        self.bids = {}  # bidder: [artifact, amount], the oldest first
        self.minted = {}  # artifact: its result, the oldest first
        self.kept = {}  # (caller, key): (request, answer)
        self.events = []

    def total(self):
        return sum(self.balance.values()) + self.mint

    def balances(self):
        return {**self.balance, MINT: self.mint}

    # ---- One invoke: the answer, or Fail ------------------------------------------------------------

    def invoke(self, artifact, method, args, caller, key=None):
        if (artifact, method) not in METHODS:
            raise not_found()
        arguments, writes = METHODS[artifact, method]
        for number, (_, _, optional) in enumerate(arguments):
            if not optional and (number >= len(args) or args[number] is None):
                raise invalid("missing_argument")
        if len(args) > len(arguments):
            raise invalid()
        values = [None if value is None else read(value, kind) for value, (_, kind, _) in zip(args, arguments)]
        values += [None] * (len(arguments) - len(values))
        request = (artifact, method, json.dumps([int(value) if isinstance(value, float) and value.is_integer() else value for value in args]))
        if writes and key and (caller, key) in self.kept:
            before, answer = self.kept[caller, key]
            if before != request:
                raise Fail("conflict", "resource")
            return answer
        if writes and caller not in self.balance:
            raise Fail("not_authorized", "permission")
        saved = self.save() if writes else None
        try:
            answer = getattr(self, "%s_%s" % (artifact[8:], method))(caller, *values)
        except Fail:
            if writes:
                self.restore(saved)
            raise
        answer = {"success": True, **answer}
        if writes:
            self.events.append((caller, artifact, method, {"artifact_id": values[0]} if method == "bid" else answer))
            if key:
                self.kept[caller, key] = (request, answer)
        return answer

    def save(self):
        return json.dumps([self.balance, self.mint, self.minted_sum, self.artifacts, self.listings, self.bids, self.minted]), len(self.events)

    def restore(self, saved):
        (self.balance, self.mint, self.minted_sum, self.artifacts, self.listings, self.bids, self.minted) = json.loads(saved[0])
        del self.events[saved[1]:]

    # ---- Rules --------------------------------------------------------------------------------------

    def principal(self, name):
        if name not in self.balance:
            raise not_found()

    def own(self, caller, name):
        if name not in self.artifacts:
            raise not_found()
        if self.artifacts[name]["owner"] != caller:
            raise Fail("not_owner", "permission")

    def held(self, name):
        return self.bids[name][1] if name in self.bids else 0

    def account(self, caller, name):
        """What is held only its owner knows."""
        held = self.held(name) if caller == name else 0
        return {"balance": self.balances()[name], **({"held": held} if held else {})}

    def pay(self, caller, amount, category):
        if self.balance[caller] - self.held(caller) < amount:
            raise Fail("insufficient_funds", category)
        self.balance[caller] -= amount

    def not_bid_with(self, name):
        if any(artifact == name for artifact, _ in self.bids.values()):
            raise Fail("conflict", "resource")

    def ledger_balance(self, caller, name):
        if name not in self.balances():
            raise not_found()
        return {"agent_id": name, **self.account(caller, name)}

    def ledger_all_balances(self, _):
        return {"balances": self.balances()}

    def ledger_transfer(self, caller, source, target, amount):
        if source != caller:
            raise Fail("not_authorized", "permission")
        if amount <= 0 or source == target:
            raise invalid()
        self.principal(target)
        self.pay(source, amount, "permission")
        self.balance[target] += amount
        return {"from_id": source, "to_id": target, "amount": amount, "from_balance": self.balance[source],
                "to_balance": self.balance[target]}

    def ledger_transfer_ownership(self, caller, name, target):
        self.own(caller, name)
        self.principal(target)
        self.not_bid_with(name)
        self.artifacts[name]["owner"] = target
        return {"artifact_id": name, "from_id": caller, "to_id": target}

    def ledger_spawn_principal(self, _):
        return {"principal_id": ANY, "balance": 0}

    def escrow_deposit(self, caller, name, price, buyer):
        if price <= 0:
            raise invalid()
        if name in self.listings:
            raise Fail("already_listed", "resource")
        self.own(caller, name)
        if buyer is not None:
            self.principal(buyer)
            if buyer == caller:
                raise invalid()
        self.not_bid_with(name)
        self.artifacts[name]["owner"] = ESCROW
        self.listings[name] = {"seller": caller, "price": price, "buyer": buyer, "version": ANY}
        return {"artifact_id": name, **self.listings[name]}

    def listing(self, name):
        if name not in self.listings:
            raise not_found()
        return self.listings[name]

    def escrow_purchase(self, caller, name, price, version):
        listing = self.listing(name)
        if listing["seller"] == caller:
            raise invalid()
        if listing["buyer"] not in (None, caller):
            raise Fail("not_authorized", "permission")
        if price not in (None, listing["price"]) or version not in (None, listing["version"]):
            raise Fail("conflict", "resource")
        self.pay(caller, listing["price"], "resource")
        self.balance[listing["seller"]] += listing["price"]
        self.artifacts[name]["owner"] = caller
        del self.listings[name]
        return {"artifact_id": name, "seller": listing["seller"], "buyer": caller, "price": listing["price"], "balance": self.balance[caller]}

    def escrow_cancel(self, caller, name):
        if self.listing(name)["seller"] != caller:
            raise Fail("not_owner", "permission")
        self.artifacts[name]["owner"] = caller
        del self.listings[name]
        return {"artifact_id": name, "seller": caller}

    def escrow_check(self, _, name):
        return {"artifact_id": name, **self.listing(name)}

    def escrow_list_active(self, _):
        return {"listings": [{"artifact_id": name, **row} for name, row in reversed(self.listings.items())]}

    # ---- The mint -----------------------------------------------------------------------------------

    def mint_bid(self, caller, name, amount):
        if amount <= 0:
            raise invalid()
        self.own(caller, name)
        if name in self.minted:
            raise Fail("already_exists", "resource")
        self.bids.pop(caller, None)
        if self.balance[caller] < amount:
            raise Fail("insufficient_funds", "resource")
        self.bids[caller] = [name, amount]
        resolved = len(self.bids) >= self.bidders
        if resolved:
            self.resolve()
        return {"artifact_id": name, "amount": amount, **self.account(caller, caller), "resolved": resolved}

    def resolve(self):
        count = [(bidder, name, amount) for bidder, (name, amount) in self.bids.items()]
        count.sort(key=lambda bid: -bid[2])  # a sort that keeps the order of what is equal
        self.bids = {}
        winner, name, _ = count[0]
        price = count[1][2] if len(count) > 1 else 1
        row = self.artifacts[name]
        score = min(100, len(words_of(row["content"] + " " + (row["code"] or ""))))
        self.balance[winner] += score // 10 - price
        self.mint += price
        self.minted_sum += score // 10
        self.minted[name] = {"artifact_id": name, "winner": winner, "price": price, "score": score, "minted": score // 10}
        self.events.append(("system", MINT, "resolve", {"auction": list(self.minted.values())[-1]}))

    def mint_status(self, _):
        return {"open": bool(self.bids), "bidders": len(self.bids), "minted": self.minted_sum,
                "last": list(self.minted.values())[-1] if self.minted else None}

    def mint_check(self, _, name):
        if name in self.minted:
            return {**self.minted[name], "status": "minted"}
        if name not in self.artifacts:
            raise not_found()
        owner = self.artifacts[name]["owner"]
        return {"artifact_id": name, "status": "pending" if self.bids.get(owner, [None])[0] == name else "none"}

    # ---- Artifacts ----------------------------------------------------------------------------------

    def rows(self, **wanted):
        return [{"id": name, "type": row["type"], "owner": row["owner"]} for name, row in reversed(self.artifacts.items())
                if all(row[key] == value for key, value in wanted.items())]

    @staticmethod
    def filtered(wanted):
        for key, value in (wanted or {}).items():
            if key not in ("type", "owner"):
                raise invalid()
            if not isinstance(value, str):
                raise invalid("invalid_type")
        return wanted or {}

    def store_list(self, _, wanted):
        return {"artifacts": self.rows(**self.filtered(wanted))}

    def store_list_by_type(self, _, kind):
        return {"artifacts": self.rows(type=kind)}

    def store_list_by_owner(self, _, owner):
        return {"artifacts": self.rows(owner=owner)}

    def store_count(self, _, wanted):
        return {"count": len(self.rows(**self.filtered(wanted)))}

    def store_get(self, _, name):
        if name == MINT:
            return {"id": MINT, "type": "genesis", "owner": "system",
                    "methods": {"status": [], "bid": ["artifact_id", "amount"], "check": ["artifact_id"]}}
        if name not in self.artifacts:
            raise not_found()
        return {"id": name, **self.artifacts[name]}

    def store_search(self, _, query, field, limit):
        if field is not None and field not in ("id", "type", "content", "code"):
            raise invalid()
        if limit is not None and not 1 <= limit <= 100:
            raise invalid()
        words = words_of(query)
        if not words:
            raise invalid()
        hits = []
        for name, row in self.artifacts.items():
            texts = {"id": name, **row}
            fields = [field] if field else ["id", "type", "content", "code"]
            if words <= set().union(*(words_of(texts[one] or "") for one in fields)):
                hits.append(name)
        return {"hits": set(hits), "limit": 20 if limit is None else limit}

    def store_create(self, caller, name, kind, content, code):
        if name.startswith("genesis_") or name == "system":
            raise Fail("not_authorized", "permission")
        if name in self.artifacts:
            raise Fail("already_exists", "resource")
        self.artifacts[name] = {"type": kind, "owner": caller, "content": content, "code": code}
        return {"id": name, "type": kind, "owner": caller}

    def store_update(self, caller, name, content, code):
        self.own(caller, name)
        self.artifacts[name]["content"] = content
        if code is not None:
            self.artifacts[name]["code"] = code
        return {"id": name}

    def store_delete(self, caller, name):
        self.own(caller, name)
        self.not_bid_with(name)
        del self.artifacts[name]
        return {"id": name}
