#include "dialect/implied.h"

#include "mishap/code.h"

const mishap_code *mishap_implied_by_status(int http_status)
{
    const mishap_code *row = mishap_catalog_for_status(http_status);
    if (!row)
        row = http_status && http_status < 500 ? MISHAP_CODE_BAD_REQUEST
                                               : MISHAP_CODE_GENERAL_ERROR;
    return row;
}

const mishap_code *mishap_implied(const mishap_code *code)
{
    bool known = mishap_catalog_find(MISHAP_SPELLING_NAME, code->name);
    return known ? code : mishap_implied_by_status(code->http_status);
}

bool mishap_retry_not_implied(const mishap_public *told)
{
    bool implied = mishap_implied(told->code)->retry == MISHAP_RETRY_YES;
    return told->retry_after_ms < 0 && told->retryable != implied;
}

void mishap_restore_retry(mishap *m, const bool *stated, int64_t retry_after_ms)
{
    const mishap_code *code = mishap_told(m)->code, *row = mishap_implied(code);
    if (stated)
        mishap_retryable(m, *stated);
    else if (row != code && row->retry == MISHAP_RETRY_YES)
        mishap_retryable(m, true);
    if (!stated || *stated)
        mishap_retry_after(m, retry_after_ms);
}

bool mishap_field_error_upper(mishap_text error, char *name, size_t size)
{
    if (error.length >= size)
        return false;
    for (size_t i = 0; i < error.length; i++) {
        char c = error.data[i];
        if (c >= 'A' && c <= 'Z')
            return false;
        name[i] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
    }
    name[error.length] = '\0';
    return mishap_code_name_valid((mishap_text){ name, error.length });
}

/* The name of a field error in lower_snake, from any spelling. */
static mishap_text field_error(const mishap_told_field *told, char *name, size_t size)
{
    mishap_text own = mishap_json_text(told->error);
    if (yyjson_is_str(told->error) && mishap_lower_snake(own))
        return own;
    if (!yyjson_is_str(told->name) ||
        !mishap_code_unspell(mishap_json_text(told->name), name, size))
        return (mishap_text)MISHAP_TEXT("invalid_value");
    for (char *c = name; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    return mishap_text_of(name);
}

void mishap_read_told_field(mishap *m, const mishap_told_field *told)
{
    char name[128];
    mishap_text error = field_error(told, name, sizeof name);
    /* What is wrong with no field in particular is wrong with the whole. */
    mishap_text field = mishap_blank(told->field) ? (mishap_text)MISHAP_TEXT("document")
                                                  : told->field;
    mishap_read_field(m, &(mishap_field_parts){ .field = field,
                                                .error = error,
                                                .expected = told->expected,
                                                .actual = told->actual,
                                                .min = told->min,
                                                .max = told->max,
                                                .message = told->description });
}
