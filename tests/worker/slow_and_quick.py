"""Code that takes long and code that does not, for artifacts (BURN, QUICK) and for proofs (HARD, EASY): fair_test.py, bench/fair."""
BURN = "def run(*args):\n    while True:\n        pass\n"
QUICK = "def run(*args):\n    return 1\n"
HARD = '''def f(a: int, b: int, c: int) -> int:
    """
    pre: 2 < a < 1000000 and 2 < b < 1000000 and 2 < c < 1000000
    post: _ != 0
    """
    return a * a * a + b * b * b - c * c * c
'''
EASY = 'def f(n: int) -> int:\n    """post: _ == n + 1"""\n    return n + 1\n'
