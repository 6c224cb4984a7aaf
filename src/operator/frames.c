/*
 * Which frames of a stack are the program's own code. Below a handler lie the frames of the
 * library, which begin with the function that calls every handler; above it may lie those of the C
 * library, where the handler has crashed.
 */
#include "operator/inside.h"

/* "stop" of "stop+0x9 (/usr/bin/mishap)". */
static mishap_text name_of(mishap_text frame)
{
    const char *plus = frame.length ? memchr(frame.data, '+', frame.length) : NULL;
    return (mishap_text){ frame.data, plus ? (size_t)(plus - frame.data) : 0 };
}

/* "/usr/bin/mishap" of it. */
static mishap_text file_of(mishap_text frame)
{
    const char *open = frame.length ? memchr(frame.data, '(', frame.length) : NULL;
    if (!open || frame.data[frame.length - 1] != ')')
        return (mishap_text){ NULL, 0 };
    return (mishap_text){ open + 1, (size_t)(frame.data + frame.length - 2 - open) };
}

size_t mishap_operator_handler_frames(yyjson_val *stack)
{
    static const mishap_text caller = MISHAP_TEXT("run_handler"),
                             above = MISHAP_TEXT("mishap_contain");
    size_t index, count;
    yyjson_val *frame;
    MISHAP_JSON_ITEMS (stack, index, count, frame) {
        mishap_text name = name_of(mishap_json_text(frame));
        /* A handler that crashes before it has a frame of its own hides the caller's. */
        if (mishap_text_equal(name, caller) || mishap_text_equal(name, above))
            return index;
    }
    return yyjson_arr_size(stack);
}

/* The first of them in the file that has the handler, which the last of them names. */
mishap_text mishap_operator_handler_frame(yyjson_val *stack)
{
    size_t own = mishap_operator_handler_frames(stack);
    mishap_text none = { NULL, 0 };
    if (!own || own == yyjson_arr_size(stack))
        return none; /* the handler is not in it */
    mishap_text file = file_of(mishap_json_text(yyjson_arr_get(stack, own - 1)));
    for (size_t i = 0; i < own; i++) {
        mishap_text frame = mishap_json_text(yyjson_arr_get(stack, i));
        if (name_of(frame).length && mishap_text_equal(file_of(frame), file))
            return frame;
    }
    return none;
}

mishap_who_raised mishap_operator_who_raised(yyjson_val *record)
{
    yyjson_val *stack = yyjson_obj_get(record, "stack"), *frame;
    mishap_text function = mishap_operator_text(yyjson_obj_get(record, "place"), "function");
    size_t index, count;
    if (!function.length)
        return MISHAP_RAISED_BY_CODE;
    if (!yyjson_arr_size(stack))
        return yyjson_arr_size(yyjson_obj_get(record, "fields")) ? MISHAP_RAISED_BY_CHECKS
                                                                 : MISHAP_RAISED_BY_CODE;
    MISHAP_JSON_ITEMS (stack, index, count, frame)
        if (mishap_text_equal(name_of(mishap_json_text(frame)), function))
            return MISHAP_RAISED_BY_CODE;
    return mishap_operator_handler_frame(stack).length ? MISHAP_RAISED_BY_LIBRARY
                                                       : MISHAP_RAISED_BY_CODE;
}
