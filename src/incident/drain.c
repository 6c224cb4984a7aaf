/* Emptying the ring into the log: see drain.h. */
#include "incident/drain.h"

#include <errno.h>

#include "base/base.h"
#include "incident/compact.h"
#include "incident/fit.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "incident/record.h"
#include "mishap/trace.h"

enum {
    BATCH = 256 << 10,
    NAMED = 64 << 10, /* enough for most records with names, without more memory */
};

/* Lines that are to be written together. The memory of the process suffices for them: their records
 * are in the ring until they are written. */
static struct {
    const mishap_drain *by;
    mishap_drained drained;
    int64_t now_ms;
    size_t whole, compact; /* incidents in the batch */
    mishap_buffer lines;
    char storage[BATCH];
} d;

/* -- writing ----------------------------------------------------------------------------------- */

/* Say once why the log cannot be written. */
static void note_refusal(int error)
{
    uint64_t before = atomic_exchange(&d.by->counts->write_error,
                                      error ? (uint64_t)(unsigned)error : EIO);
    if (before == (uint64_t)(unsigned)error)
        return;
    char storage[1024];
    mishap_buffer why;
    mishap_buffer_init(&why, storage, sizeof storage);
    mishap_incident_put_why(&why, d.by->path, error);
    mishap_log_say("%s: %.*s What is lost is counted.\n", d.by->program, (int)why.length, why.data);
    mishap_buffer_release(&why);
}

static bool write_lines(mishap_text lines, size_t whole, size_t compact)
{
    if (d.by->write(lines)) {
        atomic_store(&d.by->counts->write_error, 0);
        atomic_fetch_add(&d.by->counts->written_whole, whole);
        atomic_fetch_add(&d.by->counts->written_compact, compact);
        return true;
    }
    note_refusal(errno);
    if (whole + compact)
        d.by->lose(whole + compact);
    return false;
}

static void write_batch(void)
{
    if (d.lines.length)
        write_lines(mishap_buffer_text(&d.lines), d.whole, d.compact);
    d.whole = d.compact = 0;
    mishap_buffer_release(&d.lines);
    mishap_buffer_init(&d.lines, d.storage, sizeof d.storage);
}

/* -- compact records --------------------------------------------------------------------------- */

static void put_compact_lines(void)
{
    size_t count;
    for (;;) {
        if (sizeof d.storage - d.lines.length < MISHAP_INCIDENT_LINE)
            write_batch();
        if (!mishap_compact_put_line(&d.lines, d.by->program, d.now_ms, &count))
            return;
        d.compact += count;
    }
}

static void take_compact(const void *record, size_t size)
{
    d.drained.compact++;
    mishap_gathered gathered = mishap_compact_gather(record, size);
    if (gathered == MISHAP_GATHERED_FULL) {
        put_compact_lines();
        gathered = mishap_compact_gather(record, size);
    }
    if (gathered != MISHAP_GATHERED)
        d.by->lose(1);
}

/* -- whole records ----------------------------------------------------------------------------- */

/* The text for people, with names; or the record itself. */
static void tell_person(mishap_text json, mishap_text text)
{
    mishap_buffer named = { 0 };
    if (d.by->json_errors || !text.length) {
        mishap_log_error(json);
        return;
    }
    mishap_trace_unmark(&named, text, true);
    mishap_log_error(mishap_buffer_text(&named));
    mishap_buffer_release(&named);
}

/* A record that the log cannot take is told with the reason below it. */
static void tell_instead(mishap_text json, mishap_text text, int error)
{
    char storage[1024], room[2048];
    mishap_buffer why, line;
    mishap_buffer_init(&why, storage, sizeof storage);
    mishap_buffer_init(&line, room, sizeof room);
    mishap_incident_put_why(&why, d.by->path, error);
    mishap_record_put_reason(&line, d.by->json_errors, d.by->program, NULL, NULL,
                             mishap_buffer_text(&why));
    tell_person(json, text);
    mishap_log_error(mishap_buffer_text(&line));
    mishap_buffer_release(&line);
    mishap_buffer_release(&why);
}

static void take_one_line(const mishap_ring_whole *head, mishap_text json, mishap_text text,
                          bool incident)
{
    static char storage[NAMED];
    mishap_buffer named;
    mishap_buffer_init(&named, storage, sizeof storage);
    mishap_record_name(&named, json);
    mishap_buffer_put_char(&named, '\n');
    mishap_text line = mishap_buffer_text(&named);
    if (named.failed) {
        d.by->lose(incident);
    } else if (head->serious || head->to_stderr) {
        write_batch();
        bool written = write_lines(line, incident, 0);
        if (!written && head->serious)
            tell_instead(line, text, errno);
        else if (head->to_stderr)
            tell_person(line, text);
    } else {
        if (sizeof d.storage - d.lines.length < line.length)
            write_batch();
        mishap_buffer_put_text(&d.lines, line);
        d.whole += incident;
    }
    mishap_buffer_release(&named);
}

/* It is copied before it is looked at: the process that wrote it may have gone wrong, and may still
 * write to it. */
static void take_whole(const char *record, size_t size, bool incident)
{
    static char copy[MISHAP_RING_RECORD];
    mishap_ring_whole head;
    if (size < sizeof head || size > sizeof copy) {
        d.by->lose(incident);
        return;
    }
    memcpy(&head, record, sizeof head);
    size -= sizeof head;
    memcpy(copy, record + sizeof head, size);
    if (head.json_length > size || head.text_length != size - head.json_length) {
        d.by->lose(incident);
        return;
    }
    take_one_line(&head, (mishap_text){ copy, head.json_length },
                  (mishap_text){ copy + head.json_length, head.text_length }, incident);
}

static void visit_record(void *state, uint32_t kind, void *record, size_t size)
{
    (void)state;
    if (kind == MISHAP_RING_COMPACT)
        take_compact(record, size);
    else
        take_whole(record, size, kind == MISHAP_RING_WHOLE);
}

mishap_drained mishap_drain_run(const mishap_drain *drain)
{
    d.by = drain;
    d.drained = (mishap_drained){ 0, 0 };
    d.now_ms = mishap_clock_now_ms();
    d.whole = d.compact = 0;
    mishap_buffer_init(&d.lines, d.storage, sizeof d.storage);
    d.drained.records = mishap_ring_read(drain->ring, visit_record, NULL);
    put_compact_lines();
    write_batch();
    mishap_ring_done(drain->ring);
    return d.drained;
}
