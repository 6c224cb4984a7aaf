"""Is a recorded history of invokes linearizable? That is: is there an order of all operations in which each one answers what a
ledger with one caller at a time would answer, and which keeps real time: an operation that was answered before another
one was sent comes first.

    check(start, history)                       Verdict: .holds, .why
    python3 tests/artifacts/linear.py FILE      the same for a file: a line with the start, then one for each operation

The search is that of Wing and Gong, with Lowe's memory of the configurations (operations that are in order, state) that
were tried before. Three observations keep it small:

- A history is cut where no operation is under way. Each part is searched by itself.
- If an operation fits that changes nothing, it can come next without a second try: it fits anywhere as well.
- An operation whose answer was lost may take effect at any later time or never. It is tried only right before an
  operation that could notice: any other order of the two is the same.

After too many steps it gives up, which is no success.
"""
import collections
import itertools
import json
import sys

STEPS = 2_000_000, 2_000  # of a search: so many, and for each operation so many more
LEDGER, STORE = "genesis_ledger", "genesis_store"
NEVER = float("inf")


class TooLarge(Exception):
    """The search has used up its steps."""


class Operation:
    """One invoke. `answer` is None if it was lost."""

    def __init__(self, start, end, caller, method, args=(), answer=None, key=None):
        self.start, self.caller, self.method, self.args, self.key = start, caller, method, list(args), key
        self.end, self.answer = (NEVER if answer is None else end), answer
        self.name = answer.get("principal_id") if answer and method == "spawn_principal" else None

    def prepare(self):
        self.expected = None if self.answer is None else essence(self.answer)
        self.request = (self.method, json.dumps(self.args))
        self.needs = needs_of(self.method, self.args, self.expected or {})
        self.thing = self.args[0] if self.method in ("transfer_ownership", "get") else None
        # What a transfer adds to balances.
        self.adds = {self.args[0]: -self.args[2], self.args[1]: self.args[2]} if self.method == "transfer" else {}

    def __repr__(self):
        return "%s by %s%s [%s, %s] %s" % ((self.method, *self.args), self.caller, " with key %s" % self.key if self.key else "",
                                           self.start, self.end, "no answer" if self.answer is None else json.dumps(self.answer))

    def row(self):
        return [self.start, self.end if self.answer is not None else None, self.caller, self.method, self.args, self.answer, self.key]


def essence(answer):
    """What the model tells as well: all of a success, of a failure its code and the balance."""
    if answer["success"]:
        return {"owner": answer["owner"]} if "content" in answer else {key: value for key, value in answer.items() if key != "success"}
    return {"code": answer["code"], **{key: value for key, value in answer.get("details", {}).items() if key in ("balance", "needed")}}


def needs_of(method, args, answer):
    """The balances without which an operation cannot answer that, unless it repeats an earlier answer."""
    if "from_balance" in answer:
        return {args[0]: answer["from_balance"] + args[2], args[1]: answer["to_balance"] - args[2]}
    if answer.get("code") == "insufficient_funds":
        return {args[0]: answer["balance"]}
    return answer["balances"] if "balances" in answer else {args[0]: answer["balance"]} if method == "balance" and "balance" in answer else {}


# ---- The model: a ledger with one caller at a time ------------------------------------------------


class State:
    def __init__(self, balances, owners):
        self.balance, self.owner, self.kept = dict(balances), dict(owners), {}
        self.mark = 0  # a hash of all of it

    def set(self, slot, value):
        """Change one slot; its old value, None if there was none."""
        table, key = getattr(self, slot[0]), slot[1:] if slot[0] == "kept" else slot[1]
        before = table.pop(key, None)
        if before is not None:
            self.mark ^= hash((slot, str(before)))
        if value is not None:
            table[key] = value
            self.mark ^= hash((slot, str(value)))
        return before

    def change(self, changes):
        """What takes it back."""
        return [(slot, self.set(slot, value)) for slot, value in changes][::-1]


def transfer(state, op):
    source, target, amount = op.args
    if source != op.caller:
        return {"code": "not_authorized"}, ()
    if amount <= 0 or source == target:
        return {"code": "invalid_argument"}, ()
    if target not in state.balance:
        return {"code": "not_found"}, ()
    left = state.balance[source] - amount
    if left < 0:
        return {"code": "insufficient_funds", "balance": left + amount, "needed": amount}, ()
    there = state.balance[target] + amount
    return ({"from_id": source, "to_id": target, "amount": amount, "from_balance": left, "to_balance": there},
            ((("balance", source), left), (("balance", target), there)))


def transfer_ownership(state, op):
    name, target = op.args
    if name not in state.owner:
        return {"code": "not_found"}, ()
    if state.owner[name] != op.caller:
        return {"code": "not_owner"}, ()
    if target not in state.balance:
        return {"code": "not_found"}, ()
    return {"artifact_id": name, "from_id": op.caller, "to_id": target}, ((("owner", name), target),)


def spawn_principal(state, op):
    if op.name in state.balance:
        return {"code": "already_exists"}, ()
    return {"principal_id": op.name, "balance": 0}, ((("balance", op.name), 0),)


def balance(state, op):
    found = state.balance.get(op.args[0])
    return ({"code": "not_found"} if found is None else {"agent_id": op.args[0], "balance": found}), ()


def all_balances(state, _):
    return {"balances": state.balance}, ()


def get(state, op):
    found = state.owner.get(op.args[0])
    return ({"code": "not_found"} if found is None else {"owner": found}), ()


WRITES = {"transfer": transfer, "transfer_ownership": transfer_ownership, "spawn_principal": spawn_principal}
READS = {"balance": balance, "all_balances": all_balances, "get": get}
ARTIFACT_OF = {**dict.fromkeys([*WRITES, *READS], LEDGER), "get": STORE}


def answer_of(state, op):
    """What an operation answers now, and what it changes then."""
    if op.method in READS:
        return READS[op.method](state, op)
    slot = (op.caller, op.key)
    if op.key and slot in state.kept:
        request, answer = state.kept[slot]
        return (answer if request == op.request else {"code": "conflict"}), ()
    if op.caller not in state.balance:
        return {"code": "not_authorized"}, ()
    answer, changes = WRITES[op.method](state, op)
    if op.key and changes:
        changes += ((("kept", *slot), (op.request, answer)),)
    return answer, changes


# ---- Histories ------------------------------------------------------------------------------------


def name_lost_spawns(history):
    """Only who lists all balances sees what a spawn without an answer has made. Spawns differ only in when they were sent, so the
    name that is seen first belongs to the one that was sent first; but with a key to the one that was told the name later."""
    spawns = [op for op in history if op.method == "spawn_principal"]
    told = {op.name for op in spawns if op.name}
    keyed = {(op.caller, op.key): op.name for op in spawns if op.name and op.key}
    lost = sorted((op for op in spawns if op.answer is None), key=lambda op: op.start)
    seen = {}
    for op in sorted((op for op in history if op.method == "all_balances" and op.answer), key=lambda op: op.end):
        for name in op.answer.get("balances", ()):
            if name.startswith("principal_") and name not in told:
                seen.setdefault(name)
    names = iter(seen)
    for op in lost:
        op.name = keyed.get((op.caller, op.key)) or next(names, None)


def parts_of(history):
    """The answered operations, cut where none is under way."""
    parts, until = [], -NEVER
    for op in sorted(history, key=lambda op: op.start):
        if op.start > until:
            parts.append([])
        parts[-1].append(op)
        until = max(until, op.end)
    return parts


class Line:
    """A list of calls and returns in the order of time, out of which operations are taken and put back in (Lowe)."""

    def __init__(self, part):
        events = sorted([(op.start, 0, number) for number, op in enumerate(part)] + [(op.end, 1, number) for number, op in enumerate(part)])
        self.part, self.bits, self.after, self.before = part, 0, {}, {}
        nodes = [None, *((number, kind) for _, kind, number in events), None]
        for here, there in zip(nodes, nodes[1:]):
            self.after[here], self.before[there] = there, here

    def __bool__(self):
        return self.after[None] is not None

    def take(self, number):
        for node in ((number, 0), (number, 1)):
            self.after[self.before[node]], self.before[self.after[node]] = self.after[node], self.before[node]
        self.bits |= 1 << number

    def put_back(self, number):
        for node in ((number, 1), (number, 0)):
            self.after[self.before[node]] = self.before[self.after[node]] = node
        self.bits &= ~(1 << number)

    def next(self):
        """Those that may come next: all whose call is before the first return. And the time of that return."""
        found, node = [], self.after[None]
        while node[1] == 0:
            found.append(node[0])
            node = self.after[node]
        return found, self.part[node[0]].end


# ---- The search -----------------------------------------------------------------------------------


def subsets(of):
    """The smallest first."""
    return itertools.chain.from_iterable(itertools.combinations(of, count) for count in range(len(of) + 1))


class Search:
    def __init__(self, start, lost, steps):
        self.state, self.lost = State(start["balances"], start.get("owners", {})), lost
        self.steps = self.left = steps
        self.known = {}  # sums of lost operations
        self.used = 0  # the lost ones that took effect, as bits
        self.part, self.deepest, self.stuck = 0, (-1, -1), ""

    def changes_of(self, op):
        """What it changes if it comes next; None if it cannot."""
        self.spend(1)
        if not op.key or (op.caller, op.key) not in self.state.kept:
            balances = self.state.balance
            for name in op.needs:
                if balances.get(name) != op.needs[name]:
                    return None
        answer, changes = answer_of(self.state, op)
        return changes if (changes if op.answer is None else answer == op.expected) else None

    def spend(self, steps):
        self.left -= steps
        if self.left < 0:
            raise TooLarge

    def moves(self, line):
        """What may come next, one after the other: lost operations, and one with an answer that fits after them."""
        numbers, until = line.next()
        fitting = []
        for number in numbers:
            changes = self.changes_of(line.part[number])
            if changes is not None:
                if not changes:
                    yield (), number
                    return
                fitting.append(number)
        # First those that leave alone what others still have to see, then those that were answered first.
        waiting = collections.Counter(name for number in numbers if line.part[number].method == "all_balances"
                                      for name, value in line.part[number].needs.items() if self.state.balance.get(name) == value)
        numbers.sort(key=lambda number: (sum(waiting[name] for name in line.part[number].adds), line.part[number].end))
        for number in numbers:
            if number in fitting:
                yield (), number
        there = [index for index, op in enumerate(self.lost) if op.start < until and not self.used >> index & 1]
        near = {}  # account: those of them that touch it
        for index in there:
            for name in self.lost[index].adds:
                near.setdefault(name, []).append(index)
        # Those that only look come first: what they saw may be gone after the next change.
        for number in sorted(numbers, key=lambda number: line.part[number].method in WRITES) if there else ():
            for chain in self.chains(line.part[number], there, near):
                yield chain, number

    # ---- Lost operations ----

    def chains(self, op, there, near):
        """The lost operations that make one fit that notices them, in an order that works."""
        lost = self.lost
        gifts = [index for index in there if lost[index].thing == op.thing] if op.thing else []
        same = [index for index in there if (lost[index].caller, lost[index].key) == (op.caller, op.key)] if "code" in op.expected else []
        for chosen in itertools.chain(self.sets(op.needs, there, near, ()), subsets(gifts), ((index,) for index in same)):
            found = list(self.orders(op, chosen, ())) if chosen else []
            # Their order makes a difference only for answers that are kept.
            yield from found if any(lost[index].key for index in chosen) else found[:1]
            if chosen and not found and self.lacks(chosen, there):
                payers = [index for index in there if index not in chosen and not op.needs.keys() & lost[index].adds.keys()]
                yield from (chain for more in subsets(payers) for chain in self.orders(op, (*chosen, *more), ()))

    def lacks(self, chosen, there):
        """Whether these cannot all be paid now, but perhaps if others took effect before."""
        short = False
        for index in chosen:
            name, lost = self.lost[index].caller, [self.lost[other].adds for other in there]
            now = self.state.balance.get(name, 0)
            if now + self.lost[index].adds.get(name, 0) + sum(max(adds.get(name, 0), 0) for adds in lost) < 0:
                return False
            short |= now + sum(min(self.lost[other].adds.get(name, 0), 0) for other in chosen) < 0
        return short

    def sets(self, needs, there, near, decided):
        """Sets of lost operations after which balances are what is needed. All that touch one account are decided at once."""
        if not needs:
            yield ()
            return
        name, value = next(iter(needs.items()))
        touching = tuple(index for index in near.get(name, ()) if index not in decided)
        found = self.sums(name, touching).get(value - self.state.balance.get(name, 0))
        if not found:
            return
        made = ()
        if name not in self.state.balance:
            made = tuple(index for index in there if self.lost[index].name == name)[:1]
            if not made:
                return
        for chosen in found:
            left = {other: wanted for other, wanted in needs.items() if other != name}
            for index in chosen:
                for other, amount in self.lost[index].adds.items():
                    if other in left:
                        left[other] -= amount
            for more in self.sets(left, there, near, {*decided, *touching}):
                yield (*made, *chosen, *more)

    def sums(self, name, near):
        """What these lost operations add to an account: for each sum the sets that have it."""
        self.spend(1)
        if (name, near) not in self.known:
            self.spend(1 << len(near))
            found = {0: [()]}
            for index in near:
                amount = self.lost[index].adds[name]
                for total, sets in list(found.items()):
                    found.setdefault(total + amount, [])
                    found[total + amount] = found[total + amount] + [(*chosen, index) for chosen in sets]
            self.known[name, near] = found
        return self.known[name, near]

    def orders(self, op, chosen, chain):
        """The orders in which each of these takes effect, and the operation fits then."""
        if not chosen:
            if self.changes_of(op) is not None:
                yield chain
            return
        for index in chosen:
            changes = self.changes_of(self.lost[index])
            if changes is not None:
                back = self.state.change(changes)
                found = list(self.orders(op, tuple(other for other in chosen if other != index), (*chain, index)))
                self.state.change(back)
                yield from found

    def take(self, line, move):
        """Make a move: what takes it back."""
        chain, number = move
        back = []
        for op in [*(self.lost[index] for index in chain), line.part[number]]:
            back = self.state.change(answer_of(self.state, op)[1]) + back
        for index in chain:
            self.used |= 1 << index
        line.take(number)
        return move, back

    def take_back(self, line, taken):
        (chain, number), back = taken
        line.put_back(number)
        for index in chain:
            self.used &= ~(1 << index)
        self.state.change(back)

    def ends(self, part):
        """Find one order of a part after the other. Between them the state is what it is after that order."""
        line, tried = Line(part), set()
        taken, open_moves = [], [self.moves(line)]
        while open_moves:
            move = next(open_moves[-1], None)
            if move is None:
                self.note(line, len(taken))
                open_moves.pop()
                if taken:
                    self.take_back(line, taken.pop())
                continue
            taken.append(self.take(line, move))
            configuration = (line.bits, self.used, self.state.mark)
            if configuration in tried:
                self.take_back(line, taken.pop())
                continue
            tried.add(configuration)
            if line:
                open_moves.append(self.moves(line))
                continue
            yield
            self.take_back(line, taken.pop())

    def note(self, line, depth):
        """Remember the place that it came to in the last part that it has reached, to tell it."""
        if line and (self.part, depth) > self.deepest:
            self.deepest = self.part, depth
            waiting = sorted((line.part[number] for number in line.next()[0]), key=lambda op: op.end)
            seen = {name for op in waiting for name in op.needs}
            self.stuck = "after %d of %d operations of a part, with %s, none of these can come next, the first of them not later:\n  %s" % (
                depth, len(line.part), {name: value for name, value in self.state.balance.items() if name in seen},
                "\n  ".join(map(repr, waiting[:8])))
            lost = [op for index, op in enumerate(self.lost) if not self.used >> index & 1 and op.adds.keys() & seen]
            self.stuck += "".join("\n  lost, and without effect so far: %r" % op for op in lost[:8])

    def run(self, parts):
        """Whether there is an order. What is left open after a part is only which of the lost operations took effect: all other
        changes add up to the same, whatever their order."""
        searches, done = [self.ends(parts[0])] if parts else [], 0
        while searches:
            self.part = done + len(searches) - 1
            if next(searches[-1], self) is self:
                searches.pop()
                continue
            reached = done + len(searches)
            if reached == len(parts):
                return True
            if not any(op.start < parts[reached][0].start for op in self.lost):
                done, searches = reached, []
            searches.append(self.ends(parts[reached]))
        return not parts


class Verdict:
    def __init__(self, holds, why, search, parts):
        self.holds, self.why, self.steps, self.parts = holds, why, search.steps - search.left, len(parts)
        self.late = bin(search.used).count("1")  # lost operations that took effect

    def __repr__(self):
        return self.why or "linearizable"


def check(start, history, steps=None):
    """Holds: True, False, or None if the search was given up."""
    steps = steps or STEPS[0] + STEPS[1] * len(history)
    name_lost_spawns(history)
    for op in history:
        op.prepare()
    lost = sorted((op for op in history if op.answer is None and op.method in WRITES and (op.name or op.method != "spawn_principal")),
                  key=lambda op: op.start)
    parts = parts_of([op for op in history if op.answer is not None])
    search = Search(start, lost, steps)
    try:
        holds = search.run(parts)
    except TooLarge:
        return Verdict(None, "given up after %d steps; so far, %s" % (steps, search.stuck), search, parts)
    return Verdict(holds, "" if holds else search.stuck, search, parts)


# ---- Files ----------------------------------------------------------------------------------------


def save(path, start, history):
    with open(path, "w", encoding="utf-8") as file:
        for row in [start, *(op.row() for op in history)]:
            file.write(json.dumps(row) + "\n")


def load(path):
    with open(path, encoding="utf-8") as file:
        start, *rows = map(json.loads, file)
    return start, [Operation(*row) for row in rows]


def main():
    verdict = check(*load(sys.argv[1]))
    print(verdict)
    sys.exit(not verdict.holds)


if __name__ == "__main__":
    main()
