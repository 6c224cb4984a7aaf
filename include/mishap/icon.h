/*
 * Icons of a program and its operations, which agents show beside their names:
 *
 *     .icons = MISHAP_ICONS({ "https://example.com/todo.png", .type = "image/png",
 *                             .sizes = "48x48 96x96" })
 *
 * They are told to MCP clients of revision 2025-11-25 and later, with the server, its tools, its
 * resources and its prompts. An icon is an image at an address of its own; the server does not
 * fetch it. It is checked when the program starts.
 */
#ifndef MISHAP_ICON_H
#define MISHAP_ICON_H

/* A list ends with { 0 }. */
typedef struct mishap_icon {
    const char *source; /* its address: https://…, http://… or data:image/…;base64,… */
    const char *type;   /* its media type: "image/png"; NULL: what its address says */
    const char *sizes;  /* "48x48", several with spaces between them, or "any"; NULL: any */
    const char *theme;  /* the background that it is made for: "light" or "dark"; NULL: both */
} mishap_icon;

#endif
