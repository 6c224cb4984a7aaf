/*
 * Makes the tables of the filter from the literals of the rules, and writes them as C to standard
 * output. It runs when the program is built (meson.build), on the machine that builds it.
 */
#include "guard/filter_tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "guard/filter.h"

enum {
    MOST_ITEMS = 24000,
    MOST_ENTRIES = UINT16_MAX, /* with those of splits, and what ends a list */
    MOST_LITERALS = 3072,
    MANY = 4, /* literals with the same four bytes: they are split by the character behind */
};

/* One reading of four bytes of a literal, in the order of the rules. */
struct item {
    uint32_t gram;
    uint16_t literal, number;
    uint8_t offset;
    char before, behind; /* the four; 0: nothing, or one of several */
};

static struct item items[MOST_ITEMS];
static const char *literal_texts[MOST_LITERALS];
static uint16_t rules[MOST_LITERALS];
static size_t item_count, literal_count;

static uint64_t bits[(1 << LEAK_BITS) / 64];
static mishap_leak_slot slots[LEAK_SLOTS];
static mishap_leak_split splits[LEAK_SPLITS];
static mishap_leak_entry entries[MOST_ENTRIES];
static size_t entry_count = 1; /* the first one is none */

static void refuse(bool wrong, const char *why)
{
    if (!wrong)
        return;
    fprintf(stderr, "make_filter: %s\n", why);
    exit(EXIT_FAILURE);
}

/* What the control characters in a literal stand for. */
static const char *const classes[] = {
    NULL,
    "0123456789",
    " \n\t\r\"'`([{<>=:;,/\\@|)]}*",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "abcdefghijklmnopqrstuvwxyz0123456789-_",
    "0123456789abcdefABCDEF",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.<[$(-:",
    "fsndFSND",
};

/* The character of a literal; 0: it stands for several. */
static char one_character(char c)
{
    return (unsigned char)c < LEAK_CLASSES ? 0 : c;
}

/* As a processor reads them that has the lowest byte first. */
static uint32_t gram_of(const char *bytes)
{
    uint32_t gram = 0;
    for (size_t i = LEAK_GRAM; i-- > 0;)
        gram = gram << 8 | (unsigned char)bytes[i];
    return gram;
}

/* -- four bytes of each literal ---------------------------------------------------------------- */

/* Words that most answers of APIs and most sentences have. */
static const char common[] = "\"https://api.example.com/ http://www.example.org/\" \"object\" "
                             "\"created_at\" \"updated_at\" \"id\":\"\" "
                             "\"name\" \"number\" \"currency\" \"status\" \"message\" \"error\" "
                             "\"code\" \"type\" \"value\" \"page\" \"total\" "
                             "\"price\" \"address\" \"country\" \"customer\" \"order\" \"data\" "
                             "\"description\" \"version\" \"items\":[{\" "
                             "\":{\" true, false, null, Error with from have this that will your "
                             "for not are was been their would "
                             "there could other which about please support when what more some "
                             "time line every received update "
                             "updated select selected return expires expired live try token "
                             "password shipping working failed not "
                             "found invalid request ";

/* How often a character stands in texts, in thousandths, by a rough guess. */
static double guess_often(char c)
{
    static const char often[] = "etaoinsr", less[] = "hldcum", marks[] = "/.-_\n";
    if (c == ' ' || c == '"')
        return 150;
    if (c && strchr(":,{[]}", c)) /* of JSON */
        return 80;
    if (c && strchr(often, c))
        return 65;
    if (c && strchr(less, c))
        return 30;
    if (leak_lower(c))
        return 14;
    if (c && strchr(marks, c))
        return 20;
    return leak_digit(c) ? 10 : leak_upper(c) ? 3 : 2;
}

/* What is known about texts while the tables are made. */
struct texts {
    double often[256];         /* of a character of a literal: what it stands for, as a part of 1 */
    uint32_t common[2 * 1024]; /* a hash table of the four bytes of `common` */
};

static uint32_t *common_place(struct texts *texts, const char *text)
{
    uint32_t gram;
    memcpy(&gram, text, sizeof gram);
    size_t slot = gram * 0x9E3779B1u >> 21;
    while (texts->common[slot] && texts->common[slot] != gram)
        slot = (slot + 1) % (sizeof texts->common / sizeof *texts->common);
    return &texts->common[slot];
}

static void learn_texts(struct texts *texts)
{
    memset(texts, 0, sizeof *texts);
    for (size_t i = 0; i + LEAK_GRAM < sizeof common; i++)
        memcpy(common_place(texts, common + i), common + i, LEAK_GRAM);
    for (size_t c = 0; c < 256; c++) {
        const char *set = c == 0 ? classes[2] : c < LEAK_CLASSES ? classes[c] : NULL;
        double all = set ? 0 : guess_often((char)c);
        for (; set && *set; set++)
            all += guess_often(*set);
        texts->often[c] = all / 1000;
    }
}

/* How often four characters of a literal stand together. */
static double how_often_four(struct texts *texts, const char *text)
{
    double all = 1;
    bool small = true;
    for (size_t i = 0; i < LEAK_GRAM; i++) {
        all *= texts->often[(unsigned char)text[i]];
        small = small && leak_lower(text[i]);
    }
    if (*common_place(texts, text))
        all *= 50;
    return small ? 4 * all : all; /* letters stand together in words */
}

/* From where on the eight bytes of a literal are looked up. */
static size_t rarest_place(struct texts *texts, const char *text, size_t length)
{
    size_t best = 0;
    double least = 2, now = how_often_four(texts, text);
    for (size_t i = 0; i <= MISHAP_LEAK_OFFSET && (i == 0 || i + LEAK_GRAM < length); i++) {
        double next = how_often_four(texts, text + i + 1);
        if (now + next < least) {
            least = now + next;
            best = i;
        }
        now = next;
    }
    return best;
}

/* All that four characters of a literal can stand for. Behind the end of a literal of four, any
 * character that ends a word may stand. */
static void add_items(size_t literal, size_t offset)
{
    const char *text = literal_texts[literal] + offset, *sets[LEAK_GRAM];
    char singles[LEAK_GRAM][2] = { { 0 } }, bytes[LEAK_GRAM];
    size_t sizes[LEAK_GRAM], total = 1, length = strlen(literal_texts[literal]);
    for (size_t i = 0; i < LEAK_GRAM; i++) {
        unsigned char c = (unsigned char)text[i];
        singles[i][0] = text[i];
        sets[i] = c == 0 ? classes[2] : c < LEAK_CLASSES ? classes[c] : singles[i];
        sizes[i] = strlen(sets[i]);
        total *= sizes[i];
    }
    for (size_t n = 0; n < total; n++) {
        size_t rest = n;
        for (size_t i = 0; i < LEAK_GRAM; i++) {
            bytes[i] = sets[i][rest % sizes[i]];
            rest /= sizes[i];
        }
        refuse(item_count == MOST_ITEMS, "there are too many entries");
        items[item_count] = (struct item){
            .gram = gram_of(bytes),
            .literal = (uint16_t)literal,
            .number = (uint16_t)item_count,
            .offset = (uint8_t)offset,
            .before = offset ? one_character(text[-1]) : (char)0,
            .behind = offset + LEAK_GRAM < length ? one_character(text[LEAK_GRAM]) : (char)0,
        };
        item_count++;
    }
}

static void add_literals(void)
{
    struct texts known;
    refuse(mishap_leak_rule_count > MISHAP_LEAK_MOST_RULES, "there are too many rules");
    learn_texts(&known);
    for (size_t r = 0; r < mishap_leak_rule_count; r++)
        for (size_t i = 0; i < MISHAP_LEAK_LITERALS && mishap_leak_rules[r].literals[i]; i++) {
            const char *text = mishap_leak_rules[r].literals[i];
            size_t length = strlen(text), place = rarest_place(&known, text, length);
            refuse(length < LEAK_GRAM || length >= LEAK_LONGEST, text);
            refuse(literal_count == MOST_LITERALS, "there are too many literals");
            literal_texts[literal_count] = text;
            rules[literal_count] = (uint16_t)r;
            add_items(literal_count, place);
            add_items(literal_count, place + 1);
            literal_count++;
        }
}

/* -- tables ------------------------------------------------------------------------------------ */

/* By their four bytes; those of later rules first. */
static int compare_items(const void *a, const void *b)
{
    const struct item *one = a, *other = b;
    if (one->gram != other->gram)
        return one->gram < other->gram ? -1 : 1;
    return one->number > other->number ? -1 : 1;
}

/* The rarest character of a literal that is none of the four, and stands for itself; its last one
 * if there is none. Literals with the same four often have the same characters beside them, too. */
static size_t other_place(const struct item *item)
{
    const char *text = literal_texts[item->literal];
    size_t length = strlen(text), best = length - 1;
    double least = 1000;
    for (size_t i = length; i-- > 0;) {
        bool outside = i < item->offset || i >= (size_t)item->offset + LEAK_GRAM;
        if (!outside || !one_character(text[i]) || guess_often(text[i]) >= least)
            continue;
        least = guess_often(text[i]);
        best = i;
    }
    return best;
}

/* Those of the items that may have this character behind them, as a list; 0: all of them. */
static uint16_t add_list(const struct item *from, const struct item *to, bool all, char behind)
{
    size_t first = entry_count;
    for (const struct item *item = from; item < to; item++) {
        if (!all && item->behind && item->behind != behind)
            continue;
        size_t length = strlen(literal_texts[item->literal]), other = other_place(item);
        refuse(entry_count + 1 >= MOST_ENTRIES, "there are too many entries");
        entries[entry_count++] = (mishap_leak_entry){
            .literal = item->literal,
            .length = (uint8_t)length,
            .kind = (uint8_t)mishap_leak_rules[rules[item->literal]].kind,
            .offset = item->offset,
            .other = (uint8_t)other,
            .character = one_character(literal_texts[item->literal][other]),
            .rule = (uint8_t)rules[item->literal],
        };
    }
    entry_count++; /* the end of the list */
    return (uint16_t)first;
}

static void add_split(const struct item *from, const struct item *to, char behind)
{
    uint32_t at = leak_split_of(from->gram, behind);
    while (splits[at].first) {
        if (splits[at].gram == from->gram && splits[at].behind == behind)
            return;
        at = (at + 1) % LEAK_SPLITS;
    }
    splits[at] = (mishap_leak_split){ from->gram, add_list(from, to, false, behind), behind };
}

/* All items of the same four bytes. */
static void add_slot(const struct item *from, const struct item *to)
{
    uint32_t bit = leak_bit_of(from->gram), slot = leak_slot_of(from->gram);
    bits[bit / 64] |= UINT64_C(1) << (bit % 64);
    while (slots[slot].first)
        slot = (slot + 1) % LEAK_SLOTS;
    char before = from->before, behind = from->behind;
    for (const struct item *item = from; item < to; item++) {
        before = item->before == before ? before : (char)0;
        behind = item->behind == behind ? behind : (char)0;
    }
    if (!behind && to - from >= MANY) {
        for (const struct item *item = from; item < to; item++)
            if (item->behind)
                add_split(from, to, item->behind);
        add_split(from, to, 0);
        behind = LEAK_SPLIT;
    }
    slots[slot] = (mishap_leak_slot){ from->gram, add_list(from, to, true, 0), before, behind };
}

static void make_tables(void)
{
    add_literals();
    qsort(items, item_count, sizeof *items, compare_items);
    for (size_t i = 0, next; i < item_count; i = next) {
        for (next = i + 1; next < item_count && items[next].gram == items[i].gram;)
            next++;
        add_slot(&items[i], &items[next]);
    }
}

/* -- as C -------------------------------------------------------------------------------------- */

static void write_bytes(const char *name, const char *bytes)
{
    printf(" .%s = {", name);
    for (size_t i = 0; i < LEAK_BEGINNING; i++)
        printf(" (char)%d,", bytes[i]);
    printf(" },");
}

static void write_literals(void)
{
    size_t at = 0;
    puts("const mishap_leak_literal mishap_leak_literals[] = {");
    for (size_t i = 0; i < literal_count; i++) {
        size_t length = strlen(literal_texts[i]);
        char begin[LEAK_BEGINNING] = { 0 }, mask[LEAK_BEGINNING] = { 0 };
        unsigned several = 0;
        for (size_t c = 0; c < length && c < LEAK_BEGINNING; c++) {
            begin[c] = one_character(literal_texts[i][c]);
            mask[c] = begin[c] ? (char)-1 : (char)0;
            several |= begin[c] ? 0u : 1u << c;
        }
        printf("{ .rule = %u, .text = %zu, .length = %zu, .kind = %u, .several = %u,", rules[i], at,
               length, (unsigned)mishap_leak_rules[rules[i]].kind, several);
        write_bytes("begin", begin);
        write_bytes("mask", mask);
        puts(" },");
        at += length + 1;
    }
    refuse(at > UINT16_MAX, "the literals are too long");
    puts("};\nconst char mishap_leak_texts[] = {");
    for (size_t i = 0; i < literal_count; i++) {
        for (const char *c = literal_texts[i]; *c; c++)
            printf("(char)%d,", *c);
        puts("0,");
    }
    puts("};");
}

static void write_tables(void)
{
    puts("/* Made by make_filter.c. */\n#include \"guard/filter_tables.h\"\n");
    puts("const uint64_t mishap_leak_bits[] = {");
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        printf("0x%llx,%s", (unsigned long long)bits[i], i % 8 == 7 ? "\n" : "");
    puts("};\nconst mishap_leak_slot mishap_leak_slots[LEAK_SLOTS] = {");
    for (size_t i = 0; i < LEAK_SLOTS; i++)
        if (slots[i].first)
            printf("[%zu] = { %lu, %u, (char)%d, (char)%d },\n", i, (unsigned long)slots[i].gram,
                   slots[i].first, slots[i].before, slots[i].behind);
    puts("};\nconst mishap_leak_split mishap_leak_splits[LEAK_SPLITS] = {");
    for (size_t i = 0; i < LEAK_SPLITS; i++)
        if (splits[i].first)
            printf("[%zu] = { %lu, %u, (char)%d },\n", i, (unsigned long)splits[i].gram,
                   splits[i].first, splits[i].behind);
    puts("};\nconst mishap_leak_entry mishap_leak_entries[] = {");
    for (size_t i = 0; i < entry_count; i++)
        printf("{ %u, %u, %u, %u, %u, (char)%d, %u },\n", entries[i].literal, entries[i].length,
               entries[i].kind, entries[i].offset, entries[i].other, entries[i].character,
               entries[i].rule);
    puts("};");
    write_literals();
}

int main(void)
{
    make_tables();
    write_tables();
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
