"""Measures: angles, temperatures, shares and other floats, with and without a planted bug."""


#: check heading = verified
#: from floats()
def heading(degrees: float) -> float:
    """
    pre: 0.0 <= degrees <= 100000.0
    post: 0 <= _ < 360
    """
    return degrees % 360


#: check compass = counterexample
#: from floats()
#: shown by -1e-20
def compass(degrees: float) -> float:
    """
    pre: -1000.0 <= degrees <= 1000.0
    post: 0 <= _ < 360
    """
    return degrees % 360.0


#: check turn_to = counterexample
#: from ints(0, 359), ints(0, 359)
#: shown by 0, 190
def turn_to(now: int, wanted: int) -> int:
    """The shortest turn, in degrees to the right; negative ones are to the left.

    pre: 0 <= now < 360 and 0 <= wanted < 360
    post: -180 <= _ <= 180 and (now + _ - wanted) % 360 == 0
    """
    turn = wanted - now
    if turn < -180:
        turn += 360
    return turn


#: check clock_hand = verified
#: from floats()
def clock_hand(hours: float) -> float:
    """
    pre: 0.0 <= hours <= 1000000.0
    post: 0 <= _ < 1
    """
    return hours % 1.0


#: check whole_hours = verified
#: from floats()
def whole_hours(hours: float) -> float:
    """
    pre: 0.0 <= hours <= 1000000.0
    post: 0 <= _ <= hours
    """
    return hours // 1


#: check quarter_hours = counterexample
#: from floats()
#: shown by 0.2
def quarter_hours(hours: float) -> float:
    """Begun quarters count.

    pre: 0.0 <= hours <= 24.0
    post: _ * 0.25 >= hours
    """
    return hours // 0.25


#: check percentage = verified
#: from floats()
def percentage(share: float) -> float:
    """
    pre: 0.0 <= share <= 100.0
    post: 0 <= _ <= 100
    """
    return round(share, 1)


#: check rounded_down = counterexample
#: from floats()
#: shown by 0.999
def rounded_down(part: float) -> float:
    """A part is less than all of it.

    pre: 0.0 <= part < 1.0
    post: _ < 1
    """
    return round(part, 2)


#: check whole_price = verified
#: from floats()
def whole_price(price: float) -> str:
    """
    pre: 0.0 <= price <= 1000.0
    post: _ in ("whole", "cents") and (_ == "whole" or price != 12.0)
    """
    if price.is_integer():
        return "whole"
    return "cents"


#: check square_error = verified
#: from floats(), floats()
def square_error(a: float, b: float) -> float:
    """
    pre: -1000.0 <= a <= 1000.0 and -1000.0 <= b <= 1000.0
    post: _ >= 0
    """
    return (a - b) ** 2


#: check in_tolerance = counterexample
#: from floats(), floats()
#: shown by 0.0, 1e-10
import math


def in_tolerance(measured: float, wanted: float) -> bool:
    """
    pre: -1000.0 <= measured <= 1000.0 and -1000.0 <= wanted <= 1000.0
    post: _ or abs(measured - wanted) > 1e-9
    """
    return math.isclose(measured, wanted)


#: check body_mass = counterexample ZeroDivisionError
#: from floats(), floats()
#: shown by 1.0, 0.0
def body_mass(weight: float, height: float) -> float:
    """
    pre: 1.0 <= weight <= 500.0 and 0.0 <= height <= 3.0
    """
    return weight / height ** 2


#: check thermostat = counterexample
#: from floats(), bools()
#: shown by 20.0, True
def thermostat(degrees: float, on: bool) -> bool:
    """It heats below 19 degrees, and once it does, up to 21.

    pre: -50.0 <= degrees <= 50.0
    post: _ == (degrees < 19 or (on and degrees < 21))
    """
    if degrees < 19:
        return True
    return on and degrees > 21


#: check average_speed = counterexample ZeroDivisionError
#: from ints(0, 100), ints(0, 100)
#: shown by 1, 0
def average_speed(km: int, minutes: int) -> float:
    """
    pre: 0 <= km <= 1000 and 0 <= minutes <= 1000
    post: _ >= 0
    """
    return km / (minutes / 60)


#: check share = counterexample
#: from ints(0, 100), ints(0, 100)
#: shown by 0, 0
def share(part: int, whole: int) -> float:
    """
    pre: 0 <= part <= whole <= 1000
    post: 0 <= _ <= 1 and (_ == 1) == (part == whole)
    """
    return part / (whole or 1)


#: check interpolate = counterexample
#: from ints(-50, 50), ints(-50, 50)
#: shown by 25, 30
SCALE = [(0, 32), (10, 50), (20, 68), (30, 86)]


def interpolate(at: int, most: int) -> int:
    """From Celsius to Fahrenheit by a table, never above `most` degrees Celsius.

    pre: 0 <= at <= 30 and 0 <= most <= 30
    post: _ == 32 + min(at, most) * 9 // 5
    """
    at = min(at, most)
    for (low, first), (high, last) in zip(SCALE, SCALE[1:]):
        if low <= at <= high:
            return first + (at - low) * ((last - first) // (high - low))
    return SCALE[-1][1]
