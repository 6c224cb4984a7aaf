/* Words in lines and columns: see page.h. */
#include "cli/manual/page.h"

#include "cli/words/command.h"

enum {
    COLUMNS = 80,
    WIDEST_LEFT = 30, /* a wider entry has its text on the next line */
};

mishap_text mishap_cli_page_text(mishap_cli_page *page, const mishap_buffer *aside)
{
    page->failed = page->failed || aside->failed;
    return mishap_buffer_text(aside);
}

void mishap_cli_page_finish(mishap_cli_page *page)
{
    mishap_buffer_release(&page->left);
    mishap_buffer_release(&page->right);
    page->out->failed = page->out->failed || page->failed;
}

/* -- lines ------------------------------------------------------------------------------------- */

/* The number of columns, if each character has one. */
static size_t width_of(mishap_text text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.length; i++)
        width += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return width;
}

static void put_blanks(mishap_buffer *b, size_t count)
{
    while (count--)
        mishap_buffer_put_char(b, ' ');
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void put_word(mishap_buffer *b, mishap_text word)
{
    for (size_t i = 0; i < word.length; i++)
        mishap_buffer_put_char(b, word.data[i] == MISHAP_CLI_NO_BREAK ? ' ' : word.data[i]);
}

/* Take the next word off a text; empty at its end. */
static mishap_text next_word(mishap_text *text)
{
    size_t start = 0;
    if (!text->length)
        return *text;
    while (start < text->length && is_blank(text->data[start]))
        start++;
    size_t end = start;
    while (end < text->length && !is_blank(text->data[end]))
        end++;
    mishap_text word = { text->data + start, end - start };
    text->data += end;
    text->length -= end;
    return word;
}

void mishap_cli_page_wrap(mishap_cli_page *page, mishap_text text, size_t column, size_t indent,
                          const char *mark)
{
    bool first = true;
    for (mishap_text word; (word = next_word(&text)).length; first = false) {
        size_t width = width_of(word);
        /* The mark may have to follow. */
        if (!first && column + 1 + width + strlen(mark) > COLUMNS) {
            mishap_cli_put(page->out, mark);
            mishap_buffer_put_char(page->out, '\n');
            put_blanks(page->out, indent);
            column = indent;
        } else if (!first) {
            mishap_buffer_put_char(page->out, ' ');
            column++;
        }
        put_word(page->out, word);
        column += width;
    }
    mishap_buffer_put_char(page->out, '\n');
}

void mishap_cli_page_paragraphs(mishap_cli_page *page, const char *text)
{
    while (text && *text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        mishap_buffer_put_char(page->out, '\n');
        mishap_cli_page_wrap(page, (mishap_text){ text, length }, 0, 0, "");
        text += length;
        while (*text == '\n')
            text++;
    }
}

void mishap_cli_page_bold(mishap_cli_page *page, mishap_text text)
{
    mishap_cli_put(page->out, page->color ? "\033[1m" : "");
    mishap_buffer_put_text(page->out, text);
    mishap_cli_put(page->out, page->color ? "\033[0m" : "");
}

void mishap_cli_page_heading(mishap_cli_page *page, const char *heading)
{
    mishap_buffer_put_char(page->out, '\n');
    mishap_cli_page_bold(page, mishap_text_of(heading));
    MISHAP_PUT(page->out, ":\n");
}

/* -- two columns ------------------------------------------------------------------------------- */

void mishap_cli_page_widen(mishap_cli_page *page, size_t *column)
{
    size_t width = width_of(mishap_cli_page_text(page, &page->left));
    if (width <= WIDEST_LEFT && width + 4 > *column)
        *column = width + 4;
    mishap_buffer_reset(&page->left);
}

void mishap_cli_page_entry(mishap_cli_page *page, size_t column)
{
    mishap_text left = mishap_cli_page_text(page, &page->left);
    mishap_text right = mishap_cli_page_text(page, &page->right);
    size_t width = width_of(left) + 2;
    MISHAP_PUT(page->out, "  ");
    mishap_buffer_put_text(page->out, left);
    if (right.length == 0) {
        mishap_buffer_put_char(page->out, '\n');
    } else {
        if (width + 2 > column) {
            mishap_buffer_put_char(page->out, '\n');
            width = 0;
        }
        put_blanks(page->out, column - width);
        mishap_cli_page_wrap(page, right, column, column, "");
    }
    mishap_buffer_reset(&page->left);
    mishap_buffer_reset(&page->right);
}
