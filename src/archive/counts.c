/* Counts of failures over time. PostgreSQL adds up; index/stats.c makes JSON of it. */
#include "archive/archive.h"

enum { HOUR = 3600 };

static mishap *count_steps(archive *a, index_stats *stats, const index_stats_span *span)
{
    mishap_query query;
    mishap_query_begin(&query, a->store, span->step_s >= HOUR ? ARCHIVE_HOURS : ARCHIVE_MINUTES);
    mishap_query_bind_integer(&query, 1, span->from_s);
    mishap_query_bind_integer(&query, 2, span->to_s);
    mishap_query_bind_integer(&query, 3, span->step_s);
    mishap_archive_bind_filter(&query, 4, span->code);
    mishap_archive_bind_filter(&query, 5, span->category);
    mishap_archive_bind_filter(&query, 6, span->operation);
    while (mishap_query_step(&query)) {
        mishap_text category = mishap_query_text(&query, 0);
        int64_t count = mishap_query_integer(&query, 4);
        mishap_index_stats_add(stats, mishap_index_stats_category(stats, category),
                               mishap_query_integer(&query, 3), count);
        mishap_index_stats_add_names(stats, mishap_query_text(&query, 2),
                                     mishap_query_text(&query, 1), count);
    }
    return mishap_query_end(&query);
}

static mishap *count_callers(archive *a, index_stats *stats, const index_stats_span *span)
{
    mishap_query query;
    if (span->code.length || span->category.length || span->operation.length)
        return NULL;
    mishap_query_begin(&query, a->store, ARCHIVE_CALLERS);
    mishap_query_bind_integer(&query, 1, span->from_s);
    mishap_query_bind_integer(&query, 2, span->to_s);
    while (mishap_query_step(&query))
        mishap_index_stats_add_caller(stats, mishap_query_text(&query, 0),
                                      mishap_query_integer(&query, 1));
    return mishap_query_end(&query);
}

mishap *mishap_archive_stats(mishap_index *index, const mishap_index_span *span,
                             mishap_buffer *json)
{
    archive *a = (archive *)(void *)index;
    index_stats *stats = NULL;
    mishap *failure = mishap_index_stats_begin(index, span, &stats);
    if (!failure)
        failure = mishap_archive_connect(a);
    if (!failure) {
        index_stats_span asked = mishap_index_stats_span(stats);
        failure = count_steps(a, stats, &asked);
        if (!failure)
            failure = count_callers(a, stats, &asked);
    }
    return mishap_index_stats_end(stats, failure, json);
}
