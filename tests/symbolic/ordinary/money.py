"""Money: prices, taxes, discounts, carts and accounts."""


#: check split_bill = verified
#: from ints(0, 10000), ints(1, 9)
def split_bill(cents: int, people: int) -> list[int]:
    """
    pre: cents >= 0
    pre: 1 <= people <= 5
    post: sum(_) == cents and max(_) - min(_) <= 1
    """
    share, rest = divmod(cents, people)
    return [share + 1 if i < rest else share for i in range(people)]


#: check split_evenly = counterexample
#: from ints(0, 10000), ints(1, 9)
#: shown by 100, 3
def split_evenly(cents: int, people: int) -> list[int]:
    """
    pre: cents >= 0
    pre: 1 <= people <= 5
    post: sum(_) == cents
    """
    return [cents // people] * people


#: check discount = verified
#: from ints(0, 100000)
def discount(total: int) -> int:
    """
    pre: total >= 0
    post: 0 <= _ <= total
    """
    if total >= 50000:
        rate = 20
    elif total >= 20000:
        rate = 10
    elif total >= 10000:
        rate = 5
    else:
        rate = 0
    return total - total * rate // 100


#: branches discount_rate = 5:TF 7:-F 9:TF
#: from ints(0, 1000)
#: reached by 50; 200; 5
def discount_rate(total: int) -> int:
    """
    pre: total >= 0
    """
    if total >= 100:
        return 5
    elif total >= 500:
        return 10
    elif total >= 10:
        return 1
    return 0


#: check income_tax = verified
#: from ints(0, 200000)
BRACKETS = [(10000, 0), (40000, 20), (150000, 40)]


def income_tax(income: int) -> int:
    """
    pre: 0 <= income <= 1000000
    post: 0 <= _ <= income
    """
    tax, lower = 0, 0
    for upper, rate in BRACKETS:
        taxed = min(income, upper) - lower
        if taxed <= 0:
            break
        tax += taxed * rate // 100
        lower = upper
    if income > lower and lower == 150000:
        tax += (income - lower) * 45 // 100
    return tax


#: check marginal_tax = counterexample
#: from ints(0, 200000)
#: shown by 10001
def marginal_tax(income: int) -> int:
    """Who earns more must not have less.

    pre: 0 <= income <= 200000
    post: income - _ >= min(income, 10000)
    """
    if income > 50000:
        return income * 40 // 100
    if income > 10000:
        return income * 20 // 100
    return 0


#: check make_change = verified
#: from ints(0, 200)
def make_change(cents: int) -> dict[int, int]:
    """
    pre: 0 <= cents <= 100
    post: sum(coin * count for coin, count in _.items()) == cents
    """
    change = {}
    for coin in (50, 20, 10, 5, 2, 1):
        count, cents = divmod(cents, coin)
        if count:
            change[coin] = count
    return change


#: check coins_for = counterexample
#: from ints(0, 99)
#: shown by 1
def coins_for(cents: int) -> list[int]:
    """
    pre: 0 <= cents <= 99
    post: sum(_) == cents
    """
    coins = []
    for coin in [50, 20, 10, 5, 2]:
        while cents >= coin:
            coins.append(coin)
            cents -= coin
    return coins


#: check fewest_coins = verified
#: from ints(0, 20)
def fewest_coins(amount: int) -> int:
    """
    pre: 0 <= amount <= 20
    post: _ * 5 >= amount
    """
    best = [0] + [amount + 1] * amount
    for value in range(1, amount + 1):
        for coin in (1, 4, 5):
            if coin <= value:
                best[value] = min(best[value], best[value - coin] + 1)
    return best[amount]


#: check round_to_five = verified
#: from ints(-1000, 1000)
def round_to_five(cents: int) -> int:
    """
    post: _ % 5 == 0 and abs(_ - cents) <= 2
    """
    return (cents + 2) // 5 * 5


#: check round_up_to_five = counterexample
#: from ints(0, 1000)
#: shown by 5
def round_up_to_five(cents: int) -> int:
    """
    pre: cents >= 0
    post: cents <= _ < cents + 5
    """
    return cents + (5 - cents % 5)


#: check format_price = verified
#: from ints(0, 100000)
def format_price(cents: int) -> str:
    """
    pre: 0 <= cents <= 99999
    post: _[-3] == "."
    """
    return f"{cents // 100}.{cents % 100:02d}"


#: check price_text = counterexample
#: from ints(0, 100000)
#: shown by 105
def price_text(cents: int) -> str:
    """
    pre: 0 <= cents <= 99999
    post: _[-3] == "."
    """
    return str(cents // 100) + "." + str(cents % 100)


#: check format_negative = counterexample
#: from ints(-9999, 9999)
#: shown by -150
def format_negative(cents: int) -> str:
    """
    pre: -9999 <= cents <= 9999
    post: not _.startswith("-2") or cents <= -200
    """
    return f"{cents // 100}.{cents % 100:02}"


#: check shipping = verified
#: from ints(0, 50), bools()
def shipping(weight: int, express: bool) -> int:
    """
    pre: weight > 0
    post: _ >= 500
    """
    cost = 500
    if weight > 10:
        cost += (weight - 10) * 25
    if express:
        cost *= 2
    return cost


#: compare shipping_cost shipping_table = equivalent
#: from ints(0, 40)
def shipping_cost(weight: int) -> int:
    """
    pre: 0 <= weight <= 1000
    """
    if weight <= 1:
        return 3
    if weight <= 5:
        return 6
    if weight <= 20:
        return 12
    return 30


def shipping_table(weight: int) -> int:
    for limit, price in ((1, 3), (5, 6), (20, 12)):
        if weight <= limit:
            return price
    return 30


#: check cart_total = verified
#: from lists(made("Item", texts("ab", 1, 2), ints(0, 100), ints(0, 5)), 0, 3)
from dataclasses import dataclass


@dataclass
class Item:
    name: str
    price: int
    quantity: int = 1

    @property
    def total(self) -> int:
        return self.price * self.quantity


def cart_total(items: list[Item]) -> int:
    """
    pre: len(items) <= 3
    pre: all(item.price >= 0 and item.quantity >= 0 for item in items)
    post: _ >= 0
    """
    return sum(item.total for item in items)


#: check cheapest = counterexample ValueError
#: from lists(made("Offer", texts("ab", 1, 2), ints(0, 100)), 0, 3)
#: shown by []
from dataclasses import dataclass


@dataclass(frozen=True)
class Offer:
    shop: str
    price: int


def cheapest(offers: list[Offer]) -> Offer:
    """
    pre: len(offers) <= 3
    post: all(_.price <= offer.price for offer in offers)
    """
    return min(offers, key=lambda offer: offer.price)


#: check best_offer = verified
#: from lists(made("Offer", texts("ab", 1, 2), ints(0, 100)), 1, 3)
from typing import NamedTuple


class Offer(NamedTuple):
    shop: str
    price: int


def best_offer(offers: list[Offer]) -> Offer:
    """
    pre: 1 <= len(offers) <= 3
    post: all(_.price <= offer.price for offer in offers)
    """
    return sorted(offers, key=lambda offer: (offer.price, offer.shop))[0]


#: check apply_coupon = counterexample
#: from ints(0, 1000), pick(["TEN", "HALF", "NONE"])
#: shown by 5, "TEN"
def apply_coupon(total: int, coupon: str) -> int:
    """
    pre: total >= 0
    post: _ >= 0
    """
    if coupon == "TEN":
        return total - 10
    if coupon == "HALF":
        return total // 2
    return total


#: check parse_cents = verified
#: from texts("0123456789.", 0, 5)
def parse_cents(text: str) -> int:
    """
    pre: len(text) <= 4
    post: _ >= 0
    raises: ValueError
    """
    whole, dot, fraction = text.partition(".")
    if not whole.isdecimal():
        raise ValueError("no amount")
    if not dot:
        return int(whole) * 100
    if len(fraction) != 2 or not fraction.isdecimal():
        raise ValueError("two digits are needed")
    return int(whole) * 100 + int(fraction)


#: check cents_of = counterexample
#: from texts("0123456789.", 0, 5)
#: shown by "1.5"
def cents_of(text: str) -> int:
    """
    pre: text in ("1", "1.05", "1.50", "1.5", "0.99")
    post: _ == {"1": 100, "1.05": 105, "1.50": 150, "1.5": 150, "0.99": 99}[text]
    """
    if "." not in text:
        return int(text) * 100
    whole, fraction = text.split(".")
    return int(whole) * 100 + int(fraction)


#: check points = verified
#: from ints(0, 10000), bools()
def points(spent: int, member: bool) -> int:
    """
    pre: spent >= 0
    post: _ <= spent // 50
    """
    earned = spent // 100
    return earned * 2 if member else earned


#: check balance_after = verified
#: not yet The time was over
#: from ints(0, 100), ints(1, 12)
def balance_after(principal: int, months: int) -> int:
    """
    pre: 0 <= principal <= 100000
    pre: 0 <= months <= 12
    post: _ >= principal
    """
    balance = principal
    for _ in range(months):
        balance += balance // 100
    return balance


#: check payoff_months = counterexample
#: from ints(0, 1000), ints(1, 100)
#: shown by 1000, 9
def payoff_months(debt: int, payment: int) -> int:
    """
    pre: debt == 1000 and payment in (9, 30, 100, 1000)
    post: _ <= 60
    """
    months = 0
    while debt > 0 and months < 61:
        debt += debt // 100
        debt -= payment
        months += 1
    return months


#: check transfer = verified
#: from dicts(pick(["a", "b"]), ints(0, 100), 0, 2), ints(0, 120)
def transfer(accounts: dict[str, int], amount: int) -> bool:
    """
    pre: "a" in accounts and "b" in accounts and len(accounts) == 2
    pre: amount > 0
    post: sum(accounts.values()) == sum(__old__.accounts.values())
    """
    if accounts["a"] < amount:
        return False
    accounts["a"] -= amount
    accounts["b"] += amount
    return True


#: check withdraw = counterexample
#: from made("Account", ints(0, 100)), ints(-50, 120)
#: shown by Account(10), -5
from dataclasses import dataclass


@dataclass
class Account:
    balance: int = 0

    def withdraw(self, amount: int) -> None:
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount


def withdraw(account: Account, amount: int) -> int:
    """
    post: _ <= __old__.account.balance
    raises: ValueError
    """
    account.withdraw(amount)
    return account.balance


#: check invoice_lines = verified
#: from lists(tuples(pick(["pen", "ink"]), ints(1, 3), ints(1, 99)), 0, 3)
def invoice_lines(rows: list[tuple[str, int, int]]) -> list[str]:
    """
    pre: len(rows) <= 2
    pre: all(0 <= quantity <= 9 and 0 <= price <= 99 for name, quantity, price in rows)
    post: len(_) == len(rows)
    """
    lines = []
    for number, (name, quantity, price) in enumerate(rows, start=1):
        lines.append(f"{number}. {name} x{quantity}: {quantity * price}")
    return lines


#: check average_price = counterexample ZeroDivisionError
#: from lists(ints(0, 50), 0, 3)
#: shown by []
def average_price(prices: list[int]) -> float:
    """
    pre: len(prices) <= 3
    pre: all(0 <= p <= 1000 for p in prices)
    """
    return sum(prices) / len(prices)


#: compare net_price net_price_floor = different
#: from ints(0, 300)
#: shown by 1
def net_price(gross: int) -> int:
    """
    pre: 0 <= gross <= 1000000
    """
    return gross - gross * 19 // 119


def net_price_floor(gross: int) -> int:
    return gross * 100 // 119


#: check exchange = verified
#: from ints(0, 1000), pick(["EUR", "USD", "GBP"])
RATES = {"EUR": 100, "USD": 108, "GBP": 86}


def exchange(amount: int, currency: str) -> int:
    """
    pre: amount >= 0
    post: _ >= 0
    raises: KeyError
    """
    return amount * RATES[currency] // 100


#: find convert KeyError = unreachable
#: from ints(0, 1000), texts("EURUSD", 3, 3)
RATES = {"EUR": 100, "USD": 108}


def convert(amount: int, currency: str) -> int:
    return amount * RATES.get(currency, 100) // 100
