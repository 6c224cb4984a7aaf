/* src/incident/ring.c, compact.c, group.c: the hand-over of records, and what compact ones say. */
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "incident/compact.h"
#include "incident/drain.h"
#include "incident/group.h"
#include "incident/record.h"
#include "incident/ring.h"

enum { PROCESSES = 80 };

static int make(void **state)
{
    *state = mishap_ring_make(PROCESSES);
    return *state ? 0 : -1;
}

static int give_back(void **state)
{
    mishap_ring_free(*state);
    return 0;
}

#define WITH_RING(name) cmocka_unit_test_setup_teardown(name, make, give_back)

static bool put_number(mishap_ring *ring, uint64_t number, size_t size)
{
    char *to = mishap_ring_reserve(ring, MISHAP_RING_LINE, size);
    if (!to)
        return false;
    memset(to, 0, size);
    memcpy(to, &number, sizeof number);
    mishap_ring_publish(ring);
    return true;
}

struct seen {
    size_t count;
    uint64_t sum, last;
    bool ordered;
};

static void see(void *state, uint32_t kind, void *record, size_t size)
{
    struct seen *seen = state;
    uint64_t number;
    assert_int_equal(kind, MISHAP_RING_LINE);
    assert_true(size >= sizeof number);
    memcpy(&number, record, sizeof number);
    seen->ordered = seen->ordered && number > seen->last;
    seen->last = number;
    seen->sum += number;
    seen->count++;
}

static struct seen read_ring(mishap_ring *ring)
{
    struct seen seen = { .ordered = true };
    size_t count = mishap_ring_read(ring, see, &seen);
    assert_int_equal(count, seen.count);
    return seen;
}

static void records_are_read_until_they_are_done(void **state)
{
    mishap_ring *ring = *state;
    for (uint64_t i = 1; i <= 3; i++)
        assert_true(put_number(ring, i, 100));
    assert_int_equal(read_ring(ring).count, 3); /* the reader is killed here … */
    struct seen again = read_ring(ring);        /* … and its successor reads the same */
    assert_int_equal(again.sum, 6);
    assert_true(again.ordered);
    mishap_ring_done(ring);
    assert_int_equal(read_ring(ring).count, 0);
    assert_true(put_number(ring, 4, 8));
    assert_int_equal(read_ring(ring).sum, 4);
    mishap_ring_done(ring);
}

static void a_full_ring_takes_nothing_until_it_is_read(void **state)
{
    mishap_ring *ring = *state;
    uint64_t count = 0;
    while (put_number(ring, count + 1, 1000))
        count++;
    assert_in_range(count * 1000, 15 << 20, (16 << 20) + (256 << 10));
    assert_false(put_number(ring, 1, 8));
    assert_int_equal(read_ring(ring).count, count);
    assert_false(put_number(ring, 1, 8));
    mishap_ring_done(ring);
    for (uint64_t i = 0; i < 3 * count; i++) { /* around and around */
        assert_true(put_number(ring, i + 1, 1000));
        if (i % 1000 == 0) {
            read_ring(ring);
            mishap_ring_done(ring);
        }
    }
}

/* One that records as fast as it can, and more of them than there are loops. */
static void one_process_leaves_room_for_all_others(void **state)
{
    mishap_ring *ring = *state;
    uint64_t count = 0;
    while (put_number(ring, 1, 1000))
        count++;
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) /* its chunk stays taken until the next look of a reader */
            _exit(put_number(ring, 1, 1000) ? 0 : 1);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_int_equal(read_ring(ring).count, count + PROCESSES);
    mishap_ring_done(ring);
}

static void the_longest_record_fits_and_no_longer_one(void **state)
{
    mishap_ring *ring = *state;
    assert_true(put_number(ring, 1, MISHAP_RING_RECORD));
    assert_true(put_number(ring, 2, MISHAP_RING_RECORD));
    assert_false(put_number(ring, 3, MISHAP_RING_RECORD + 1));
    assert_int_equal(read_ring(ring).sum, 3);
    mishap_ring_done(ring);
}

/* A process that is killed in the middle of a record, and one that has a chunk of its own. */
static void processes_that_die_lose_nothing_and_block_nothing(void **state)
{
    mishap_ring *ring = *state;
    enum { MANY = 100, EACH = 10 };
    uint64_t sum = 0, seen = 0;
    assert_true(put_number(ring, 1, 8)); /* its chunk is not that of the children */
    sum += 1;
    for (uint64_t i = 0; i < MANY; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (uint64_t j = 0; j < EACH; j++)
                put_number(ring, i * EACH + j, 64);
            memset(mishap_ring_reserve(ring, MISHAP_RING_LINE, 64), 0xFF, 64);
            kill(getpid(), SIGKILL);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        for (uint64_t j = 0; j < EACH; j++)
            sum += i * EACH + j;
        if (i % 20 == 19) { /* the chunks of ended processes are free a second later */
            seen += read_ring(ring).sum;
            usleep(1100000);
            mishap_ring_done(ring);
        }
    }
    seen += read_ring(ring).sum;
    mishap_ring_done(ring);
    assert_int_equal(seen, sum);
}

/* -- compact records --------------------------------------------------------------------------- */

static void gather(void *state, uint32_t kind, void *record, size_t size)
{
    (void)state;
    assert_int_equal(kind, MISHAP_RING_COMPACT);
    assert_int_equal(mishap_compact_gather(record, size), MISHAP_GATHERED);
}

static void gather_and_spoil(void *state, uint32_t kind, void *record, size_t size)
{
    gather(state, kind, record, size);
    memset(record, 0xFF, size);
}

static void gather_some(void *state, uint32_t kind, void *record, size_t size)
{
    (void)kind;
    mishap_gathered gathered = mishap_compact_gather(record, size);
    assert_int_not_equal(gathered, MISHAP_GATHERED_WRONG);
    *(size_t *)state += gathered == MISHAP_GATHERED_FULL;
}

static void put_failures(mishap_ring *ring, size_t count, const char *caller, int status)
{
    unsigned char id[16] = { 1 }, like[16] = { 2 };
    mishap *failure = mishap_raise(NOT_FOUND, "There is none.");
    for (size_t i = 0; i < count; i++) {
        memcpy(id + 8, &i, sizeof i);
        assert_true(mishap_compact_put(ring,
                                       &(mishap_incident_entry){ .program = "sample",
                                                                 .operation = "users.get",
                                                                 .service = "todo",
                                                                 .caller = caller,
                                                                 .failure = failure,
                                                                 .status = status,
                                                                 .boundary = MISHAP_INCIDENT_HTTP },
                                       0x1234, id, like, (int64_t)i * 1000));
    }
    mishap_free(failure);
}

static void failures_of_one_kind_are_one_line(void **state)
{
    mishap_ring *ring = *state;
    char *line = test_calloc(1 << 18, 1);
    size_t count, total = 0, lines = 0;
    put_failures(ring, 3, "ada", 404);
    put_failures(ring, 2, "b\"ob\xFF", 404);
    put_failures(ring, 7001, NULL, 410);
    mishap_ring_read(ring, gather, NULL);
    for (;; lines++, total += count) {
        mishap_buffer out;
        mishap_json_reader reader = MISHAP_JSON_READER;
        mishap_buffer_init(&out, line, 1 << 18);
        if (!mishap_compact_put_line(&out, "sample", 0, &count))
            break;
        assert_true(out.length <= 128 << 10);
        assert_int_equal(out.data[out.length - 1], '\n');
        if (!mishap_json_read(&reader, (mishap_text){ out.data, out.length }))
            fail_msg("no JSON: %.*s", (int)out.length, out.data);
        assert_int_equal(yyjson_get_uint(yyjson_obj_get(reader.root, "count")), count);
        assert_int_equal(yyjson_arr_size(yyjson_obj_get(reader.root, "us")), count);
        assert_int_equal(yyjson_get_len(yyjson_obj_get(reader.root, "ids")),
                         (count * 16 + 2) / 3 * 4);
        assert_string_equal(yyjson_get_str(yyjson_obj_get(reader.root, "group")),
                            "0000000000001234");
        mishap_json_reader_release(&reader);
    }
    mishap_ring_done(ring);
    assert_int_equal(total, 3 + 2 + 7001);
    assert_int_equal(lines, 2 + 3);
    test_free(line);
}

/* Copies of the record in the ring before and after another process changed it. */
static void a_record_that_changes_in_the_ring_harms_nothing(void **state)
{
    mishap_ring *ring = *state;
    char *line = test_calloc(1 << 18, 1);
    size_t count;
    mishap_buffer out;
    put_failures(ring, 2, "ada", 404);
    mishap_ring_read(ring, gather_and_spoil, NULL);
    mishap_buffer_init(&out, line, 1 << 18);
    assert_true(mishap_compact_put_line(&out, "sample", 0, &count));
    assert_int_equal(count, 2);
    assert_non_null(memmem(out.data, out.length, "\"caller\":\"ada\"", 14));
    assert_false(mishap_compact_put_line(&out, "sample", 0, &count));
    mishap_ring_done(ring);
    test_free(line);
}

/* More than fit at once are put in between. */
static void records_without_room_are_told_apart_from_malformed_ones(void **state)
{
    mishap_ring *ring = *state;
    char *line = test_calloc(1 << 18, 1);
    size_t full = 0, total = 0, count;
    mishap_buffer out;
    for (int i = 0; i < 4; i++)
        put_failures(ring, 10000, "ada", 400 + i);
    mishap_ring_read(ring, gather_some, &full);
    assert_int_equal(full, 40000 - (1 << 15));
    for (;; total += count) {
        mishap_buffer_init(&out, line, 1 << 18);
        if (!mishap_compact_put_line(&out, "sample", 0, &count))
            break;
    }
    assert_int_equal(total, 1 << 15);
    mishap_ring_done(ring);
    test_free(line);
}

static void hostile_bytes_in_the_ring_are_no_compact_record(void **state)
{
    (void)state;
    union {
        uint64_t words[64];
        char bytes[512];
    } any;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < 64; i++)
            any.words[i] = (uint64_t)rand() << 32 | (uint64_t)rand();
        for (size_t size = 0; size <= sizeof any; size += 61)
            assert_int_equal(mishap_compact_gather(any.bytes, size), MISHAP_GATHERED_WRONG);
    }
}

/* -- groups ------------------------------------------------------------------------------------ */

static uint64_t group_of(const char *operation, mishap *failure)
{
    uint64_t group = mishap_incident_group(operation, failure);
    mishap_free(failure);
    return group;
}

static __attribute__((noinline)) mishap *missing(int number)
{
    return mishap_raise(NOT_FOUND, "There is no user %d.", number);
}

static mishap *wrong(const char *field, bool range)
{
    mishap *m = mishap_raise(VALIDATION_ERROR, "It is wrong.");
    return range ? mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(field),
                                                        .error = MISHAP_TEXT("out_of_range") })
                 : mishap_field_required(m, field);
}

static mishap *invented(const char *field)
{
    return mishap_field_add(
        mishap_raise(VALIDATION_ERROR, "It is wrong."),
        &(mishap_field){ .field = mishap_text_of(field), .error = MISHAP_TEXT("unknown_field") });
}

static void a_group_is_operation_code_and_place_or_fields(void **state)
{
    (void)state;
    uint64_t groups[2];
    for (int i = 0; i < 2; i++)
        groups[i] = group_of("users.get", missing(i));
    assert_true(groups[0] == groups[1]);
    assert_true(groups[0] != group_of("todos.get", missing(1)));
    assert_true(groups[0] != group_of(NULL, missing(1)));
    assert_true(groups[0] != group_of("users.get", mishap_raise(NOT_FOUND, "Elsewhere.")));
    uint64_t name = group_of("users.create", wrong("name", false));
    assert_true(name == group_of("users.create", wrong("name", false)));
    assert_true(name != group_of("users.create", wrong("name", true)));
    assert_true(name != group_of("users.create", wrong("age", false)));
    assert_true(group_of("x", wrong("items[2].name", false)) ==
                group_of("x", wrong("items[31].name", false)));
    assert_true(group_of("x", wrong("items[2].name", false)) !=
                group_of("x", wrong("items[2].size", false)));
    assert_true(group_of("x", invented("a")) == group_of("x", invented("b")));
}

/* -- whole records of a process that has gone wrong ----------------------------------------------
 */

static mishap_buffer written;
static uint64_t lost;

static bool write_down(mishap_text text)
{
    mishap_buffer_put_text(&written, text);
    return true;
}

static void count_lost(uint64_t count)
{
    lost += count;
}

static void lengths_that_do_not_fit_are_lost_and_counted(void **state)
{
    static const struct {
        uint32_t json, text; /* what the head says of 10 bytes */
        uint64_t lost;
    } cases[] = { { 7, 3, 0 },          { 10, 0, 0 },         { 8, 3, 1 },
                  { 8, 1, 1 },          { 11, 0, 1 },         { UINT32_MAX, 11, 1 },
                  { 0, UINT32_MAX, 1 }, { 8, UINT32_MAX, 1 }, { UINT32_MAX - 1, UINT32_MAX, 1 } };
    mishap_incident_counts counts = { 0 };
    const mishap_drain drain = { .ring = *state,
                                 .program = "sample",
                                 .path = "log",
                                 .counts = &counts,
                                 .write = write_down,
                                 .lose = count_lost };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_ring_whole head = { .json_length = cases[i].json, .text_length = cases[i].text };
        char *to = mishap_ring_reserve(*state, MISHAP_RING_WHOLE, sizeof head + 10);
        assert_non_null(to);
        memcpy(to, &head, sizeof head);
        memcpy(to + sizeof head, "{\"v\":1}xyz", 10);
        mishap_ring_publish(*state);
        lost = 0;
        assert_int_equal(mishap_drain_run(&drain).records, 1);
        if (lost != cases[i].lost)
            fail_msg("case %zu: %zu are lost", i, (size_t)lost);
    }
    char *little = mishap_ring_reserve(*state, MISHAP_RING_WHOLE, sizeof(mishap_ring_whole) - 1);
    memset(little, 0, sizeof(mishap_ring_whole) - 1);
    mishap_ring_publish(*state);
    lost = 0;
    mishap_drain_run(&drain);
    assert_int_equal(lost, 1);
    assert_int_equal(written.length, strlen("{\"v\":1}\n{\"v\":1}xyz\n"));
    assert_int_equal(atomic_load(&counts.written_whole), 2);
    mishap_buffer_release(&written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RING(records_are_read_until_they_are_done),
        WITH_RING(a_full_ring_takes_nothing_until_it_is_read),
        WITH_RING(one_process_leaves_room_for_all_others),
        WITH_RING(the_longest_record_fits_and_no_longer_one),
        WITH_RING(processes_that_die_lose_nothing_and_block_nothing),
        WITH_RING(failures_of_one_kind_are_one_line),
        WITH_RING(a_record_that_changes_in_the_ring_harms_nothing),
        WITH_RING(records_without_room_are_told_apart_from_malformed_ones),
        TEST(hostile_bytes_in_the_ring_are_no_compact_record),
        WITH_RING(lengths_that_do_not_fit_are_lost_and_counted),
        TEST(a_group_is_operation_code_and_place_or_fields),
    };
    return RUN(tests);
}
