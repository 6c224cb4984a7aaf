# The module functools, as the engine runs it. lru_cache and cache are decorators: see library.c.


def reduce(function, iterable, /, *initial):
    if len(initial) > 1:
        raise TypeError("reduce expected at most 3 arguments")
    items = iter(iterable)
    if initial:
        value = initial[0]
    else:
        try:
            value = next(items)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value")
    for item in items:
        value = function(value, item)
    return value


def partial(func, /, *args, **keywords):
    need_callable(func)
    return lambda *more, **others: func(*args, *more, **{**keywords, **others})
