/*
 * Columns of the types of mishap/types.h. SQLite has text for most of them, in a form whose order
 * is that of the values, and integers for decimals. PostgreSQL converts text to the types of the
 * columns, and back.
 */
#include "base/moment.h"
#include "store/store.h"

static bool counts_units(const mishap_query *query)
{
    return query->store->engine->counts_units;
}

static void bind_copy(mishap_query *query, int place, const char *text)
{
    store_value value = { .kind = STORE_TEXT, .text = mishap_text_of(text), .copied = true };
    if (!query->failure)
        query->store->engine->bind(query, place, &value);
}

/* -- values for places ------------------------------------------------------------------------- */

void mishap_query_bind_decimal(mishap_query *query, int place, mishap_decimal value, int scale)
{
    char text[MISHAP_WRITTEN];
    mishap_decimal scaled;
    if (!mishap_decimal_rescale(value, scale, &scaled))
        query->misfit = true;
    else if (counts_units(query))
        mishap_query_bind_integer(query, place, scaled.units);
    else
        bind_copy(query, place, mishap_decimal_write(scaled, text));
}

void mishap_query_bind_timestamp(mishap_query *query, int place, mishap_timestamp value)
{
    char text[MISHAP_WRITTEN];
    bind_copy(query, place, mishap_timestamp_write_utc(value, text));
}

void mishap_query_bind_date(mishap_query *query, int place, mishap_date value)
{
    char text[MISHAP_WRITTEN];
    bind_copy(query, place, mishap_date_write(value, text));
}

void mishap_query_bind_duration(mishap_query *query, int place, mishap_duration value)
{
    char text[MISHAP_WRITTEN];
    bind_copy(query, place, mishap_duration_write(value, text));
}

void mishap_query_bind_uuid(mishap_query *query, int place, mishap_uuid value)
{
    char text[MISHAP_WRITTEN];
    bind_copy(query, place, mishap_uuid_write(value, text));
}

/* -- values of rows ---------------------------------------------------------------------------- */

/* The text of a column that is not NULL. */
static bool find_text(mishap_query *query, int column, mishap_text *text)
{
    if (mishap_query_is_null(query, column))
        return false;
    *text = mishap_query_text(query, column);
    return true;
}

mishap_decimal mishap_query_decimal(mishap_query *query, int column, int scale)
{
    mishap_decimal value = { 0, scale };
    mishap_text text;
    if (!find_text(query, column, &text))
        return (mishap_decimal){ 0, 0 };
    if (counts_units(query)) /* an integer has no point, and no more digits than a decimal */
        query->misfit |= !mishap_decimal_read(text, &value) || value.scale != 0;
    else
        query->misfit |= !mishap_decimal_read(text, &value) ||
                         !mishap_decimal_rescale(value, scale, &value);
    value.scale = scale;
    return value;
}

/* 2026-02-28 18:30:00.25+00, as PostgreSQL has it, as RFC 3339 has it. */
static mishap_text with_zone(mishap_text text, char room[MISHAP_WRITTEN])
{
    if (text.length < 14 || text.length > 40 || text.data[10] != ' ')
        return text;
    memcpy(room, text.data, text.length);
    room[10] = 'T';
    char sign = room[text.length - 3];
    if (sign != '+' && sign != '-')
        return (mishap_text){ room, text.length };
    memcpy(room + text.length, ":00", 3);
    return (mishap_text){ room, text.length + 3 };
}

mishap_timestamp mishap_query_timestamp(mishap_query *query, int column)
{
    char room[MISHAP_WRITTEN];
    mishap_timestamp value = { { 0, 0 }, 0 };
    mishap_text text;
    if (find_text(query, column, &text))
        query->misfit |= !mishap_timestamp_read(with_zone(text, room), &value);
    value.offset = 0; /* that of the session says nothing */
    return value;
}

mishap_date mishap_query_date(mishap_query *query, int column)
{
    mishap_date value = { 0, 0, 0 };
    mishap_text text;
    if (find_text(query, column, &text))
        query->misfit |= !mishap_date_read(text, &value);
    return value;
}

mishap_duration mishap_query_duration(mishap_query *query, int column)
{
    mishap_duration value = { 0, 0, 0 };
    mishap_text text;
    if (find_text(query, column, &text))
        query->misfit |= !mishap_duration_read_loosely(text, &value);
    return value;
}

mishap_uuid mishap_query_uuid(mishap_query *query, int column)
{
    mishap_uuid value = { { 0 } };
    mishap_text text;
    if (find_text(query, column, &text))
        query->misfit |= !mishap_uuid_read(text, &value);
    return value;
}
