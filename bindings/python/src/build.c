/* A mishap of the core from an exception, its document, and an exception from a mishap. */
#include "binding.h"

/* -- dialects and known texts ------------------------------------------------------------------ */

static PyObject *dialect_names(void)
{
    PyObject *list = PyList_New(0);
    for (const mishap_dialect *const *each = mishap_dialects(); list && *each; each++) {
        PyObject *name = PyUnicode_FromString(mishap_dialect_name(*each));
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    PyObject *comma = list ? PyUnicode_FromString(", ") : NULL;
    PyObject *names = comma ? PyUnicode_Join(comma, list) : NULL;
    Py_XDECREF(comma);
    Py_XDECREF(list);
    return names;
}

const mishap_dialect *dialect_take(PyObject *name)
{
    if (!name)
        return mishap_dialect_find("problem");
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "dialect must be str, not %R", Py_TYPE(name));
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const mishap_dialect *dialect = text ? mishap_dialect_find(text) : NULL;
    if (!dialect) {
        PyErr_Clear();
        PyObject *names = dialect_names();
        if (names)
            PyErr_Format(PyExc_ValueError, "Unknown dialect %R. The dialects are %U.", name, names);
        Py_XDECREF(names);
    }
    return dialect;
}

void known_release(known_texts *known)
{
    for (size_t i = 0; i < known->count; i++)
        text_release(&known->held[i]);
    PyMem_Free(known->held);
    PyMem_Free(known->texts);
    *known = (known_texts){ 0 };
}

bool known_take(PyObject *sequence, known_texts *out)
{
    *out = (known_texts){ 0 };
    PyObject *list = sequence ? PySequence_Tuple(sequence) : PyTuple_New(0);
    if (!list)
        return false;
    size_t count = (size_t)PyTuple_Size(list);
    out->texts = PyMem_Calloc(count + 1, sizeof *out->texts);
    out->held = PyMem_Calloc(count + 1, sizeof *out->held);
    bool taken = out->texts && out->held;
    if (!taken)
        PyErr_NoMemory();
    for (size_t i = 0; taken && i < count; i++) {
        taken = text_take(PyTuple_GetItem(list, (Py_ssize_t)i), "known", &out->held[i]);
        if (taken) {
            out->texts[i] = out->held[i].text;
            out->count++;
        }
    }
    Py_DECREF(list);
    if (!taken)
        known_release(out);
    return taken;
}

/* -- fields ------------------------------------------------------------------------------------ */

static PyObject *field_keys[FIELD_NAMES];

bool field_keys_make(void)
{
    static const char *const names[FIELD_NAMES] = {
        [FIELD_NAME] = "field",        [FIELD_ERROR] = "error",   [FIELD_MESSAGE] = "message",
        [FIELD_EXPECTED] = "expected", [FIELD_ACTUAL] = "actual", [FIELD_MIN] = "min",
        [FIELD_MAX] = "max",
    };
    for (int name = 0; name < FIELD_NAMES; name++)
        if (!(field_keys[name] = PyUnicode_InternFromString(names[name])))
            return false;
    return true;
}

bool field_is_valid(PyObject *field)
{
    PyObject *name = PyDict_Check(field) ? PyDict_GetItemWithError(field, field_keys[FIELD_NAME])
                                         : NULL;
    return name && PyUnicode_Check(name);
}

Py_ssize_t fields_count(PyObject *fields)
{
    return PyTuple_Check(fields) ? PyTuple_Size(fields) : PyList_Size(fields);
}

PyObject *fields_item(PyObject *fields, Py_ssize_t index)
{
    PyObject *field = PyTuple_Check(fields) ? PyTuple_GetItem(fields, index)
                                            : PyList_GetItem(fields, index);
    Py_XINCREF(field);
    return field;
}

/* -- building ---------------------------------------------------------------------------------- */

/* A mishap while it is built, and how many bytes of text it has. */
typedef struct build {
    mishap *m;
    size_t size;
    mishap_buffer json;
} build;

static bool is_large(build *b, size_t length)
{
    b->size += length;
    return length >= LARGE_TEXT;
}

static void build_message(build *b, const mishap_code *code, mishap_text message)
{
    if (is_large(b, message.length)) {
        Py_BEGIN_ALLOW_THREADS b->m = mishap_raise_text(code, message);
        Py_END_ALLOW_THREADS
    } else {
        b->m = mishap_raise_text(code, message);
    }
}

static void build_told(build *b, mishap_text key, mishap_value value)
{
    bool has_text = value.kind == MISHAP_KIND_TEXT || value.kind == MISHAP_KIND_JSON;
    if (is_large(b, has_text ? value.text.length : 0)) {
        Py_BEGIN_ALLOW_THREADS b->m = mishap_tell_value(b->m, key, value);
        Py_END_ALLOW_THREADS
    } else {
        b->m = mishap_tell_value(b->m, key, value);
    }
}

/* Keys are str; others are written as their text. */
static bool key_take(PyObject *key, held_text *out)
{
    if (PyUnicode_Check(key) || PyBytes_Check(key))
        return text_take(key, "key", out);
    PyObject *text = text_of_anything(key);
    bool taken = text && text_take(text, "key", out);
    Py_XDECREF(text);
    return taken;
}

static bool build_member(build *b, PyObject *key, PyObject *object)
{
    held_text name = { 0 }, held = { 0 };
    mishap_value value;
    bool taken = key_take(key, &name) && value_take(object, &b->json, &held, &value);
    if (taken)
        build_told(b, name.text, value);
    text_release(&held);
    text_release(&name);
    return taken;
}

static bool build_context(build *b, PyObject *context)
{
    Py_ssize_t position = 0;
    PyObject *key, *value;
    bool built = true;
    while (built && PyDict_Next(context, &position, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        built = build_member(b, key, value);
        Py_DECREF(key);
        Py_DECREF(value);
    }
    return built;
}

/* A member of a field, held; NULL if it is missing or None, or with an exception set. */
static PyObject *field_member(PyObject *field, field_name name)
{
    PyObject *object = PyDict_GetItemWithError(field, field_keys[name]);
    if (object == Py_None)
        return NULL;
    Py_XINCREF(object);
    return object;
}

/* A text of a field, none if it is missing or None. */
static bool field_text_take(PyObject *field, field_name name, held_text *out)
{
    PyObject *object = field_member(field, name);
    if (!object)
        return !PyErr_Occurred();
    bool taken = key_take(object, out);
    Py_DECREF(object);
    return taken;
}

typedef mishap *field_setter(mishap *m, mishap_value value);

static bool build_field_value(build *b, PyObject *field, field_name name, field_setter *set)
{
    PyObject *object = field_member(field, name);
    if (!object)
        return !PyErr_Occurred();
    held_text held = { 0 };
    mishap_value value;
    bool taken = value_take(object, &b->json, &held, &value);
    if (taken)
        b->m = set(b->m, value);
    if (taken && held.text.data)
        b->size += held.text.length;
    text_release(&held);
    Py_DECREF(object);
    return taken;
}

static bool build_field(build *b, PyObject *field)
{
    held_text name = { 0 }, error = { 0 }, message = { 0 };
    bool built = field_text_take(field, FIELD_NAME, &name) &&
                 field_text_take(field, FIELD_ERROR, &error) &&
                 field_text_take(field, FIELD_MESSAGE, &message);
    if (built) {
        static const mishap_text otherwise = MISHAP_TEXT("invalid_value");
        b->size += name.text.length + message.text.length;
        b->m = mishap_field_put(b->m, name.text, error.text.length ? error.text : otherwise,
                                message.text);
        built = build_field_value(b, field, FIELD_EXPECTED, mishap_field_put_expected) &&
                build_field_value(b, field, FIELD_ACTUAL, mishap_field_put_actual) &&
                build_field_value(b, field, FIELD_MIN, mishap_field_put_min) &&
                build_field_value(b, field, FIELD_MAX, mishap_field_put_max);
    }
    text_release(&message);
    text_release(&error);
    text_release(&name);
    return built;
}

/* What was appended after the fields were set and is no dict is left out. */
static bool build_fields(build *b, PyObject *fields)
{
    bool built = true;
    for (Py_ssize_t i = 0; built && i < fields_count(fields); i++) {
        PyObject *field = fields_item(fields, i);
        built = field && (!PyDict_Check(field) || build_field(b, field));
        Py_XDECREF(field);
    }
    return built;
}

typedef mishap *text_setter(mishap *m, mishap_text text);

static bool build_text(build *b, PyObject *part, const char *what, text_setter *set)
{
    if (!part)
        return true;
    held_text held = { 0 };
    if (!text_take(part, what, &held))
        return false;
    b->size += held.text.length;
    b->m = set(b->m, held.text);
    text_release(&held);
    return true;
}

static mishap *put_category(mishap *m, mishap_text name)
{
    mishap_category category;
    return mishap_category_find(name, &category) ? mishap_file_under(m, category) : m;
}

static bool build_retry_after(build *b, PyObject *value)
{
    double seconds;
    if (!retry_after_take(value, &seconds))
        return false;
    b->m = mishap_retry_after(b->m, (int64_t)(seconds * 1000 + 0.5));
    return true;
}

static bool build_parts(build *b, PyObject *const *parts)
{
    if (!build_text(b, parts[PART_CATEGORY], "category", put_category))
        return false;
    if (parts[PART_CONTEXT] && !build_context(b, parts[PART_CONTEXT]))
        return false;
    if (parts[PART_FIELDS] && !build_fields(b, parts[PART_FIELDS]))
        return false;
    if (parts[PART_RETRY_AFTER] && !build_retry_after(b, parts[PART_RETRY_AFTER]))
        return false;
    if (parts[PART_RETRYABLE])
        b->m = mishap_retryable(b->m, parts[PART_RETRYABLE] == Py_True);
    return build_text(b, parts[PART_SUGGESTION], "suggestion", mishap_put_suggestion) &&
           build_text(b, parts[PART_REASON], "reason", mishap_put_cause) &&
           build_text(b, parts[PART_DOCS], "docs", mishap_put_docs) &&
           build_text(b, parts[PART_INCIDENT], "incident", mishap_put_incident);
}

/* The mishap of an exception. The parts are held meanwhile: the text of an object in the context
 * is made by code that may set other parts. */
static bool build_exception(build *b, PyObject *self)
{
    exception_state *state = exception_state_of(self);
    PyObject *parts[PARTS];
    for (int part = 0; part < PARTS; part++) {
        parts[part] = state->parts[part];
        Py_XINCREF(parts[part]);
    }
    held_text message = { 0 };
    bool built = !parts[PART_MESSAGE] || text_take(parts[PART_MESSAGE], "message", &message);
    if (built) {
        build_message(b, exception_code(state), message.text);
        built = build_parts(b, parts);
    }
    text_release(&message);
    for (int part = 0; part < PARTS; part++)
        Py_XDECREF(parts[part]);
    return built;
}

/* -- rendering --------------------------------------------------------------------------------- */

/* The dialect whose documents are no JSON. */
static bool dialect_is_text(const mishap_dialect *dialect)
{
    return strcmp(mishap_dialect_name(dialect), "condition-report") == 0;
}

/* The document with what the guard finds replaced. No Python function is called. */
static mishap_text render_guarded(const render_request *request, mishap *m,
                                  const known_texts *known, mishap_buffer *buffer, bool *replaced)
{
    mishap_text document = mishap_render(request->dialect, m, buffer);
    if (document.data != buffer->data) /* the constant document: there is no memory */
        return document;
    if (dialect_is_text(request->dialect)) {
        uint64_t before = mishap_text_hash(document);
        m = mishap_guard_told(m, request->strict, known->texts, known->count);
        mishap_buffer_reset(buffer);
        document = mishap_render(request->dialect, m, buffer);
        *replaced = mishap_text_hash(document) != before;
        return document;
    }
    mishap *found = mishap_guard_json(buffer, request->strict, known->texts, known->count);
    *replaced = buffer->failed ||
                (found && mishap_has_code(
                              found, mishap_code_find((mishap_text)MISHAP_TEXT("RUNTIME_ERROR"))));
    mishap_free(found);
    if (buffer->failed) { /* no memory to judge it: what was not judged does not go out */
        mishap_buffer_release(buffer);
        return mishap_render(request->dialect, mishap_out_of_memory(), buffer);
    }
    return mishap_buffer_text(buffer);
}

static mishap_text render_built(const render_request *request, mishap *m, const known_texts *known,
                                mishap_buffer *buffer, bool *replaced)
{
    if (request->guarded)
        return render_guarded(request, m, known, buffer, replaced);
    return mishap_render(request->dialect, m, buffer);
}

bool exception_render(PyObject *self, const render_request *request, mishap_buffer *buffer,
                      mishap_text *document, bool *replaced)
{
    char storage[1024];
    build b = { 0 };
    known_texts known = { 0 };
    bool changed = false;
    mishap_buffer_init(&b.json, storage, sizeof storage);
    bool built = (!request->known || known_take(request->known, &known)) &&
                 build_exception(&b, self);
    if (built) {
        if (request->incident.text.data)
            b.m = mishap_put_incident(b.m, request->incident.text);
        for (size_t i = 0; i < known.count; i++)
            b.size += known.texts[i].length;
        if (b.size >= LARGE_TEXT) {
            Py_BEGIN_ALLOW_THREADS *document = render_built(request, b.m, &known, buffer, &changed);
            Py_END_ALLOW_THREADS
        } else {
            *document = render_built(request, b.m, &known, buffer, &changed);
        }
    }
    if (replaced)
        *replaced = changed;
    mishap_free(b.m);
    mishap_buffer_release(&b.json);
    known_release(&known);
    return built;
}

/* -- an exception from a mishap ---------------------------------------------------------------- */

static bool dict_put(PyObject *dict, const char *key, PyObject *value)
{
    bool put = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return put;
}

static bool dict_put_text(PyObject *dict, const char *key, mishap_text text)
{
    return text.length == 0 || dict_put(dict, key, text_give(text));
}

static bool dict_put_value(PyObject *dict, const char *key, const mishap_value *value)
{
    return value->kind == MISHAP_KIND_NONE || dict_put(dict, key, value_give(value));
}

static PyObject *context_give(const mishap_public *told)
{
    PyObject *context = PyDict_New();
    for (const mishap_member *each = told->context; context && each; each = each->next) {
        PyObject *key = text_give(each->key);
        PyObject *value = key ? value_give(&each->value) : NULL;
        if (!value || PyDict_SetItem(context, key, value) < 0)
            Py_CLEAR(context);
        Py_XDECREF(value);
        Py_XDECREF(key);
    }
    return context;
}

static PyObject *field_give(const mishap_field *field)
{
    PyObject *dict = PyDict_New();
    if (dict &&
        !(dict_put(dict, "field", text_give(field->field)) &&
          dict_put_text(dict, "error", field->error) &&
          dict_put_text(dict, "message", field->message) &&
          dict_put_value(dict, "expected", &field->expected) &&
          dict_put_value(dict, "actual", &field->actual) &&
          dict_put_value(dict, "min", &field->min) && dict_put_value(dict, "max", &field->max)))
        Py_CLEAR(dict);
    return dict;
}

static PyObject *fields_give(const mishap_public *told)
{
    PyObject *list = PyList_New(0);
    for (const mishap_field *each = told->fields; list && each; each = each->next) {
        PyObject *field = field_give(each);
        if (!field || PyList_Append(list, field) < 0)
            Py_CLEAR(list);
        Py_XDECREF(field);
    }
    return list;
}

/* The keywords for Mishap(). */
static PyObject *keywords_give(const mishap_public *told)
{
    PyObject *keywords = PyDict_New();
    if (!keywords)
        return NULL;
    bool put = dict_put_text(keywords, "message", told->message) &&
               dict_put_text(keywords, "suggestion", told->suggestion) &&
               dict_put_text(keywords, "reason", told->cause) &&
               dict_put_text(keywords, "docs", told->docs_url) &&
               dict_put_text(keywords, "incident", told->incident);
    if (put && told->context)
        put = dict_put(keywords, "context", context_give(told));
    if (put && told->fields)
        put = dict_put(keywords, "fields", fields_give(told));
    if (put && told->category != told->code->category)
        put = dict_put(keywords, "category",
                       PyUnicode_FromString(mishap_category_name(told->category)));
    if (put && told->retry_stated)
        put = dict_put(keywords, "retryable", PyBool_FromLong(told->retryable));
    if (put && told->retry_after_ms >= 0 && told->retry_after_ms != told->code->retry_after_ms &&
        told->retry_after_ms <= INT64_C(1000000000000))
        put = dict_put(keywords, "retry_after",
                       PyFloat_FromDouble((double)told->retry_after_ms / 1000));
    if (!put)
        Py_CLEAR(keywords);
    return keywords;
}

PyObject *exception_from(PyObject *class, const mishap *m)
{
    const mishap_public *told = mishap_told(m);
    const mishap_code *known = mishap_code_find(told->code->name);
    PyObject *keywords = keywords_give(told);
    PyObject *code = keywords ? code_give(known ? known : exception_code(&(exception_state){ 0 }))
                              : NULL;
    PyObject *args = code ? PyTuple_Pack(1, code) : NULL;
    PyObject *exception = args ? PyObject_Call(class, args, keywords) : NULL;
    if (exception && !known && !foreign_code_set(exception, told->code))
        Py_CLEAR(exception);
    Py_XDECREF(args);
    Py_XDECREF(code);
    Py_XDECREF(keywords);
    return exception;
}
