/* Exceptions: Python's own classes, created when they are needed, and raising. */
#include <string.h>

#include "machine/machine.h"

static const struct {
    const char *name, *base;
} known[] = { { "BaseException", NULL },
              { "Exception", "BaseException" },
              { "SystemExit", "BaseException" },
              { "KeyboardInterrupt", "BaseException" },
              { "GeneratorExit", "BaseException" },
              { "ArithmeticError", "Exception" },
              { "FloatingPointError", "ArithmeticError" },
              { "OverflowError", "ArithmeticError" },
              { "ZeroDivisionError", "ArithmeticError" },
              { "AssertionError", "Exception" },
              { "AttributeError", "Exception" },
              { "FrozenInstanceError", "AttributeError" }, /* of dataclasses */
              { "BufferError", "Exception" },
              { "EOFError", "Exception" },
              { "ImportError", "Exception" },
              { "ModuleNotFoundError", "ImportError" },
              { "LookupError", "Exception" },
              { "IndexError", "LookupError" },
              { "KeyError", "LookupError" },
              { "MemoryError", "Exception" },
              { "NameError", "Exception" },
              { "UnboundLocalError", "NameError" },
              { "OSError", "Exception" },
              { "FileNotFoundError", "OSError" },
              { "FileExistsError", "OSError" },
              { "PermissionError", "OSError" },
              { "TimeoutError", "OSError" },
              { "ConnectionError", "OSError" },
              { "ReferenceError", "Exception" },
              { "RuntimeError", "Exception" },
              { "NotImplementedError", "RuntimeError" },
              { "RecursionError", "RuntimeError" },
              { "StopIteration", "Exception" },
              { "StopAsyncIteration", "Exception" },
              { "SyntaxError", "Exception" },
              { "SystemError", "Exception" },
              { "TypeError", "Exception" },
              { "ValueError", "Exception" },
              { "UnicodeError", "ValueError" },
              { "UnicodeDecodeError", "UnicodeError" },
              { "UnicodeEncodeError", "UnicodeError" },
              { "Warning", "Exception" },
              { "DeprecationWarning", "Warning" },
              { "UserWarning", "Warning" },
              { "RuntimeWarning", "Warning" } };

value *exception_class(machine *m, const char *name)
{
    for (size_t i = 0; i < m->exception_count; i++)
        if (strcmp(m->exceptions[i].name, name) == 0)
            return m->exceptions[i].class;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) != 0)
            continue;
        value *base = known[i].base ? exception_class(m, known[i].base) : NULL;
        value *class = value_new(m, V_CLASS);
        class->class.name = known[i].name;
        values_add(m, &class->class.mro, class);
        for (size_t j = 0; base && j < base->class.mro.count; j++)
            values_add(m, &class->class.mro, base->class.mro.at[j]);
        class->class.exception = true;
        m->exceptions[m->exception_count].name = known[i].name;
        m->exceptions[m->exception_count++].class = class;
        return class;
    }
    return NULL;
}

value *new_exception(machine *m, value *class, values given)
{
    value *made = value_new(m, V_OBJECT);
    made->object.class = class;
    made->object.arguments = given;
    return made;
}

value *throw_value(machine *m, value *exception, int line)
{
    exception->object.line = line ? line : m->line;
    m->raised = exception;
    return NULL;
}

void check_mixed(machine *m, const char *name, int line)
{
    if (m->mixed && strcmp(name, "TypeError") == 0)
        path_unsupported(m, line, "give the int, str or tuple itself",
                         "a TypeError beside an IntEnum, a str Enum or a NamedTuple");
}

value *throw(machine * m, const char *name, int line)
{
    check_mixed(m, name, line);
    value *made = new_exception(m, exception_class(m, name), (values){ 0 });
    made->object.opaque = true;
    return throw_value(m, made, line);
}

bool is_subclass(const value *class, const value *of)
{
    for (size_t i = 0; i < class->class.mro.count; i++)
        if (class->class.mro.at[i] == of)
            return true;
    return class == of;
}
