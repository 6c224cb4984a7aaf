/* src/operation/channel: the bytes of a long file between two processes, and what a reader may try.
 */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operation/channel.h"

enum { ROOM = MISHAP_CHANNEL_ROOM, LONG = 8 * ROOM + 4711 };

/* A byte of the file, by its place. */
static char byte_at(uint64_t at)
{
    uint64_t mixed = (at + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (char)(mixed >> 56);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void wait_for(int file, short events)
{
    struct pollfd one = { .fd = file, .events = events };
    while (poll(&one, 1, -1) < 0 && errno == EINTR)
        continue;
}

static void open_both(mishap_channel *writer, mishap_channel *reader)
{
    *reader = (mishap_channel){ .socket = -1 };
    assert_true(mishap_channel_open(writer, &reader->socket));
}

/* Write a file from its byte `from`, as far as there is room. Returns where that ends. */
static uint64_t write_some(mishap_channel *writer, uint64_t from, uint64_t end, size_t most)
{
    static char bytes[ROOM];
    size_t count = most < sizeof bytes ? most : sizeof bytes;
    count = count < end - from ? count : (size_t)(end - from);
    for (size_t i = 0; i < count; i++)
        bytes[i] = byte_at(from + i);
    return from + mishap_channel_write(writer, (mishap_text){ bytes, count });
}

/* As a loop does that receives bytes into the memory of the channel, with a gap before them. */
static uint64_t write_lent(mishap_channel *writer, uint64_t from, uint64_t end, size_t gap)
{
    size_t size;
    char *lent = mishap_channel_lend(writer, &size);
    if (!lent)
        return write_some(writer, from, end, 1000);
    size = size - gap < end - from ? size - gap : (size_t)(end - from);
    for (size_t i = 0; i < size; i++)
        lent[gap + i] = byte_at(from + i);
    assert_int_equal(mishap_channel_write(writer, (mishap_text){ lent + gap, size }), size);
    return from + size;
}

static void write_all(mishap_channel *writer, uint32_t seed)
{
    uint64_t at = 0;
    while (at < LONG) {
        uint64_t before = at;
        size_t most = next_random(&seed) % (1 << (next_random(&seed) % 19)) + 1;
        at = next_random(&seed) % 2 ? write_lent(writer, at, LONG, next_random(&seed) % 9)
                                    : write_some(writer, at, LONG, most);
        if (at == before || mishap_channel_is_full(writer)) {
            wait_for(writer->socket, mishap_channel_events(writer));
            mishap_channel_woken(writer);
        }
    }
}

/* Returns whether all bytes came in their order. */
static bool read_all(mishap_channel *reader, uint32_t seed)
{
    static char bytes[ROOM];
    uint64_t at = 0;
    for (;;) {
        size_t size = next_random(&seed) % (1 << (next_random(&seed) % 19)) + 1;
        ssize_t count = mishap_channel_read(reader, bytes, size);
        if (count < 0 && errno == EAGAIN) {
            wait_for(reader->socket, POLLIN);
            continue;
        }
        if (count <= 0)
            return count == 0 && at == LONG;
        for (ssize_t i = 0; i < count; i++)
            if (bytes[i] != byte_at(at++))
                return false;
    }
}

static void all_bytes_arrive_in_their_order(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 8; seed++) {
        mishap_channel writer, reader;
        int status;
        open_both(&writer, &reader);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            mishap_channel_close(&writer);
            _exit(read_all(&reader, seed + 100) ? 0 : 1);
        }
        mishap_channel_close(&reader);
        write_all(&writer, seed);
        assert_non_null(writer.counts);
        mishap_channel_close(&writer);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* Bring the channel to its memory: more bytes than that are sent first. */
static uint64_t go_over(mishap_channel *writer, mishap_channel *reader)
{
    static char bytes[ROOM];
    uint64_t at = 0;
    ssize_t count;
    while (!writer->counts) {
        at = write_some(writer, at, UINT64_MAX, 32 * 1024);
        while ((count = mishap_channel_read(reader, bytes, sizeof bytes)) > 0)
            assert_int_equal(bytes[count - 1], byte_at(reader->count - 1));
        assert_int_equal(errno, EAGAIN);
    }
    assert_non_null(reader->counts);
    return at;
}

static void a_short_file_needs_no_memory(void **state)
{
    mishap_channel writer, reader;
    char bytes[100];
    (void)state;
    open_both(&writer, &reader);
    assert_int_equal(write_some(&writer, 0, 60, 100), 60);
    assert_int_equal(mishap_channel_read(&reader, bytes, sizeof bytes), 60);
    assert_int_equal(mishap_channel_read(&reader, bytes, sizeof bytes), -1);
    assert_int_equal(errno, EAGAIN);
    assert_null(writer.counts);
    mishap_channel_close(&writer);
    assert_int_equal(mishap_channel_read(&reader, bytes, sizeof bytes), 0);
    mishap_channel_close(&reader);
}

static void what_was_written_is_read_after_the_end(void **state)
{
    mishap_channel writer, reader;
    char bytes[100];
    (void)state;
    open_both(&writer, &reader);
    uint64_t at = go_over(&writer, &reader);
    assert_int_equal(write_some(&writer, at, at + 60, 60), at + 60);
    mishap_channel_end(&writer);
    assert_int_equal(mishap_channel_read(&reader, bytes, sizeof bytes), 60);
    assert_int_equal(bytes[59], byte_at(at + 59));
    assert_int_equal(mishap_channel_read(&reader, bytes, sizeof bytes), 0);
    mishap_channel_close(&writer);
    mishap_channel_close(&reader);
}

/* The counts that a reader can change are those of 64 and 72 in its memory; it says anything. */
static void counts_of_a_reader_are_not_trusted(void **state)
{
    static const uint64_t claims[] = { 1, ROOM, UINT64_C(1) << 63, 0 - UINT64_C(1) - ROOM };
    mishap_channel writer, reader;
    size_t size;
    (void)state;
    open_both(&writer, &reader);
    uint64_t at = go_over(&writer, &reader);
    at = write_some(&writer, at, at + ROOM / 2, ROOM / 2);
    uint64_t written = writer.count - writer.before;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        uint64_t claim = written + claims[i];
        memcpy((char *)reader.counts + 64, &claim, sizeof claim);
        assert_null(mishap_channel_lend(&writer, &size));
        assert_true(mishap_channel_is_full(&writer));
        assert_int_equal(mishap_channel_write(&writer, (mishap_text){ "x", 1 }), 0);
    }
    mishap_channel_close(&writer);
    mishap_channel_close(&reader);
}

static int file_of(const char *name)
{
    char path[64], target[64];
    for (int file = 0; file < 256; file++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length > 0 && (target[length] = '\0', strstr(target, name)))
            return file;
    }
    return -1;
}

/* The descriptors, as a reader gets them that takes them out of the socket itself. */
static void a_reader_cannot_change_the_memory(void **state)
{
    static char bytes[ROOM];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    mishap_channel writer, reader;
    int files[2] = { -1, -1 };
    uint64_t at = 0;
    (void)state;
    open_both(&writer, &reader);
    while (files[0] < 0) {
        struct iovec room = { bytes, sizeof bytes };
        struct msghdr message = { .msg_iov = &room,
                                  .msg_iovlen = 1,
                                  .msg_control = control.room,
                                  .msg_controllen = sizeof control.room };
        at = write_some(&writer, at, UINT64_MAX, 32 * 1024);
        assert_true(recvmsg(reader.socket, &message, 0) > 0);
        if (CMSG_FIRSTHDR(&message))
            memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof files);
    }
    assert_int_equal(ftruncate(files[0], 0), -1);
    assert_int_equal(ftruncate(files[1], 0), -1);
    if (writer.lends) {
        assert_ptr_equal(mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, files[1], 0),
                         MAP_FAILED);
        assert_int_equal(pwrite(files[1], "x", 1, 0), -1);
        void *mapped = mmap(NULL, ROOM, PROT_READ, MAP_SHARED, files[1], 0);
        assert_ptr_not_equal(mapped, MAP_FAILED);
        assert_int_equal(mprotect(mapped, ROOM, PROT_READ | PROT_WRITE), -1);
        munmap(mapped, ROOM);
    }
    close(files[0]);
    close(files[1]);
    mishap_channel_close(&writer);
    mishap_channel_close(&reader);
    assert_int_equal(file_of("mishap-bytes"), -1);
}

/* Leave no descriptor to this process. */
static void limit_files(struct rlimit *before)
{
    assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
    int next = dup(0);
    assert_true(next >= 0);
    close(next);
    struct rlimit none = { .rlim_cur = (rlim_t)next, .rlim_max = before->rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void without_descriptors_the_socket_is_used(void **state)
{
    static char bytes[ROOM];
    mishap_channel writer, reader;
    struct rlimit before;
    uint64_t at = 0;
    (void)state;
    open_both(&writer, &reader);
    limit_files(&before);
    while (at < 2 * ROOM) {
        at = write_some(&writer, at, 2 * ROOM, 32 * 1024);
        ssize_t count = mishap_channel_read(&reader, bytes, sizeof bytes);
        assert_true(count > 0);
        assert_int_equal(bytes[count - 1], byte_at(reader.count - 1));
    }
    assert_true(writer.refused);
    assert_null(writer.counts);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    mishap_channel_close(&writer);
    mishap_channel_close(&reader);
}

static void a_reader_without_descriptors_fails(void **state)
{
    static char bytes[ROOM];
    mishap_channel writer, reader;
    struct rlimit before;
    uint64_t at = 0;
    (void)state;
    open_both(&writer, &reader);
    while (!writer.counts) {
        at = write_some(&writer, at, UINT64_MAX, 32 * 1024);
        if (!writer.counts)
            assert_true(mishap_channel_read(&reader, bytes, sizeof bytes) > 0);
    }
    limit_files(&before);
    assert_int_equal(mishap_channel_read(&reader, bytes, sizeof bytes), -1);
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(reader.counts);
    mishap_channel_close(&writer);
    mishap_channel_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_bytes_arrive_in_their_order),        TEST(a_short_file_needs_no_memory),
        TEST(what_was_written_is_read_after_the_end), TEST(counts_of_a_reader_are_not_trusted),
        TEST(a_reader_cannot_change_the_memory),      TEST(without_descriptors_the_socket_is_used),
        TEST(a_reader_without_descriptors_fails),
    };
    return RUN(tests);
}
