/* Store text and values in a mishap: copy them, make them valid UTF-8 and redact secrets. If
 * there is no memory, a flag is set. */
#include "base/base.h"
#include "guard/guard.h"
#include "mishap/inside.h"

/* A clean copy without passwords. Without memory, no text and a mark. */
mishap_text mishap_keep(mishap *m, mishap_text text)
{
    if (text.length == 0)
        return (mishap_text){ "", 0 };
    /* An address has a colon; few texts do. It is looked for before the copy is made, while that is
     * still in flight. */
    bool address = text.length > 5 && memchr(text.data, ':', text.length);
    mishap_text kept = mishap_utf8_clean(&m->arena, text);
    if (kept.data && address)
        kept = mishap_guard_redact(&m->arena, kept);
    if (!kept.data) {
        m->incomplete = true;
        kept = (mishap_text){ "", 0 };
    }
    return kept;
}

/* A value is told inside of a document, which needs some levels of its own. */
enum { DEEPEST_VALUE = MISHAP_JSON_MAX_DEPTH - 8 };

static bool too_deep(yyjson_val *value, size_t depth)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (!yyjson_is_ctn(value))
        return false;
    if (depth == DEEPEST_VALUE)
        return true;
    MISHAP_JSON_MEMBERS (value, index, count, key, item) {
        if (too_deep(item, depth + 1))
            return true;
    }
    MISHAP_JSON_ITEMS (value, index, count, item) {
        if (too_deep(item, depth + 1))
            return true;
    }
    return false;
}

static void refuse_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    (void)path;
    *(mishap_json_flaw *)state = flaw;
}

/* JSON is read and written anew, so that what is kept is sound, compact and free of secrets. */
static mishap_value keep_json(mishap *m, mishap_text json)
{
    mishap_value kept = mishap_value_none();
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer compact;
    mishap_json_flaw flaw = MISHAP_JSON_SOUND;
    mishap_buffer_init(&compact, NULL, 0);
    if (mishap_json_read(&reader, json))
        mishap_json_inspect(&reader, &(mishap_json_visitor){ .flaw = refuse_flaw, .state = &flaw });
    else
        flaw = reader.flaw;
    if (flaw == MISHAP_JSON_NO_MEMORY) {
        m->incomplete = true;
    } else if (flaw != MISHAP_JSON_SOUND || too_deep(reader.root, 0)) {
        kept = mishap_value_of_text(mishap_keep(m, json));
    } else {
        mishap_guard_copy_json(&compact, reader.root);
        kept.text = compact.failed ? (mishap_text){ NULL, 0 }
                                   : mishap_utf8_clean(&m->arena, mishap_buffer_text(&compact));
        if (kept.text.data)
            kept.kind = MISHAP_KIND_JSON;
        else
            m->incomplete = true;
    }
    mishap_buffer_release(&compact);
    mishap_json_reader_release(&reader);
    return kept;
}

void mishap_keep_text_value(mishap *m, mishap_value *value)
{
    if (value->kind == MISHAP_KIND_TEXT)
        value->text = mishap_keep(m, value->text);
    else if (value->kind == MISHAP_KIND_JSON)
        *value = keep_json(m, value->text);
}

/* Text that says nothing is no text. */
mishap_text mishap_keep_words(mishap *m, mishap_text text)
{
    return mishap_blank(text) ? (mishap_text){ "", 0 } : mishap_keep(m, text);
}
