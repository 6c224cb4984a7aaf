/* The line of progress of a call. */
#include "cli/screen/progress.h"
#include "cli/screen/width.h"

#include <math.h>

enum {
    GAP = 2,
    LEAST_BAR = 8,
    MOST_BAR = 30,
    LEAST_WORDS = 4,
    SETTLED_MS = 1000, /* an estimate needs so much time to be useful */
    LONGEST_S = 360000 /* one hundred hours: longer estimates are not shown */
};

/* 0:07, 12:34, 1:02:03 */
static void put_time(mishap_buffer *b, int64_t seconds)
{
    char words[40];
    int hours = (int)(seconds / 3600), minutes = (int)(seconds / 60 % 60), s = (int)(seconds % 60);
    if (hours)
        snprintf(words, sizeof words, "%d:%02d:%02d", hours, minutes, s);
    else
        snprintf(words, sizeof words, "%d:%02d", minutes, s);
    mishap_buffer_put_text(b, mishap_text_of(words));
}

/* The seconds that are left at the present speed; -1: not known. */
static int64_t seconds_left(const mishap_cli_progress *p, int64_t now_ns)
{
    double elapsed = (double)(now_ns - p->first_ns) / 1e9, made = p->done - p->first;
    if (elapsed * 1000 < SETTLED_MS || !(made > 0))
        return -1;
    double left = elapsed / made * (p->total - p->done);
    return left >= 0 && left < LONGEST_S ? (int64_t)(left + 0.999) : -1;
}

/* A count of anything: whole numbers as they are, others with one decimal. */
static void put_count(mishap_buffer *b, double count)
{
    char words[64];
    bool large = fabs(count) >= 1e15, whole = !large && count == (double)(int64_t)count;
    if (whole)
        snprintf(words, sizeof words, "%.0f", count);
    else if (large)
        snprintf(words, sizeof words, "%.3g", count);
    else
        snprintf(words, sizeof words, "%.1f", count);
    mishap_buffer_put_text(b, mishap_text_of(words));
}

static void put_bar(mishap_buffer *b, double part, size_t columns)
{
    size_t filled = (size_t)(part * (double)columns);
    for (size_t i = 0; i < columns; i++)
        if (i < filled)
            MISHAP_PUT(b, "█");
        else
            MISHAP_PUT(b, "░");
}

/* Percent or a count, and the time. */
static void put_figures(mishap_buffer *b, const mishap_cli_progress *p, double part, int64_t now_ns,
                        bool time)
{
    char percent[16];
    int64_t left = seconds_left(p, now_ns), since = (now_ns - p->since_ns) / 1000000000;
    if (p->total > 0) {
        snprintf(percent, sizeof percent, "%3d%%", (int)(part * 100));
        mishap_buffer_put_text(b, mishap_text_of(percent));
    } else {
        put_count(b, p->done);
    }
    if (!time || (p->total > 0 && left < 0))
        return;
    MISHAP_PUT(b, "  ");
    put_time(b, p->total > 0 ? left : since);
    if (p->total > 0)
        MISHAP_PUT(b, " left");
}

/* A third of the line, so that the bar does not move when the text behind it becomes longer. */
static size_t bar_width(const mishap_cli_progress *p, size_t width)
{
    size_t third = width / 3;
    if (!(p->total > 0) || third < LEAST_BAR)
        return 0;
    return third < MOST_BAR ? third : MOST_BAR;
}

void mishap_cli_put_progress(mishap_buffer *line, const mishap_cli_progress *p, int64_t now_ns,
                             size_t width)
{
    char room[128];
    mishap_buffer figures;
    double part = p->total > 0 ? p->done / p->total : 0;
    size_t bar = bar_width(p, width), most = width ? width - 1 : 0;
    part = part > 1 ? 1 : part > 0 ? part : 0;
    most -= bar ? bar + 1 : 0;
    mishap_buffer_init(&figures, room, sizeof room);
    put_figures(&figures, p, part, now_ns, true);
    if (figures.length > most) { /* all of it is ASCII */
        mishap_buffer_reset(&figures);
        put_figures(&figures, p, part, now_ns, false);
    }
    if (figures.length <= most) {
        size_t left = most - figures.length;
        put_bar(line, part, bar);
        mishap_cli_put_blanks(line, bar ? 1 : 0);
        mishap_buffer_put_text(line, mishap_buffer_text(&figures));
        if (p->words.length && left >= LEAST_WORDS + GAP) {
            mishap_cli_put_blanks(line, GAP);
            mishap_cli_put_shown(line, p->words, left - GAP, MISHAP_CLI_ONE_LINE);
        }
    }
    line->failed = line->failed || figures.failed;
    mishap_buffer_release(&figures);
}
