/*
 * Weather stations for agents: what a client of MCP is told beside names and parameters.
 *
 *     stations mcp      a client starts it
 *     stations serve    http://127.0.0.1:8080/mcp
 *
 *     .view      clients with MCP Apps show the answers of list_stations on the page ui://stations
 *     .header    clients repeat the region in a header, by which a proxy can choose a server
 *     .schema    words of JSON Schema for the reader of a schema
 *     .icons     what clients show beside the names
 *
 * stations_test.c has its tests; tests/mcp/apps_test.py calls it as a client does.
 */
#include <mishap/main.h>

static const struct {
    const char *name, *region;
    double celsius;
} stations[] = {
    { "Alta", "north", -12.5 },
    { "Oulu", "north", -3 },
    { "Graz", "south", 9.5 },
    { "O'Brien <harbour>", "south", 14 },
};

static mishap *list_stations(mishap_call *call)
{
    const char *region = mishap_string(call, "region");
    mishap_answer_array(call, "stations");
    for (size_t i = 0; i < sizeof stations / sizeof *stations; i++) {
        if (region && strcmp(region, stations[i].region) != 0)
            continue;
        mishap_answer_object(call, NULL);
        mishap_answer_member(call, "name", stations[i].name);
        mishap_answer_member(call, "region", stations[i].region);
        mishap_answer_member(call, "celsius", stations[i].celsius);
        mishap_answer_end(call);
    }
    return mishap_answer_end(call);
}

/* -- the page ---------------------------------------------------------------------------------- */

/*
 * The page is the same for every caller, and has no data in it: the client hands it the answer of
 * the tool. It writes the answer with textContent, so a name cannot become markup. It loads nothing
 * from elsewhere, which clients would not allow it either.
 */
static const char page[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Weather stations</title>\n"
    "<style>body { font: 14px sans-serif } td { padding: 2px 12px 2px 0 }</style></head>\n"
    "<body><table id=\"rows\"></table><script>\n"
    "const send = message => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');\n"
    "function show(answer) {\n"
    "  const rows = document.getElementById('rows');\n"
    "  rows.replaceChildren();\n"
    "  for (const station of (answer && answer.stations) || []) {\n"
    "    const row = rows.insertRow();\n"
    "    row.insertCell().textContent = station.name;\n"
    "    row.insertCell().textContent = station.celsius + ' °C';\n"
    "  }\n"
    "}\n"
    "window.addEventListener('message', event => {\n"
    "  const message = event.data;\n"
    "  if (event.source !== parent || !message || message.jsonrpc !== '2.0') return;\n"
    "  if (message.id === 1 && message.result)\n"
    "    send({ method: 'ui/notifications/initialized' });\n"
    "  if (message.method === 'ui/notifications/tool-result')\n"
    "    show(message.params.structuredContent);\n"
    "});\n"
    "send({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26',\n"
    "  appInfo: { name: 'stations', version: '1.0' }, appCapabilities: {} } });\n"
    "</script></body></html>\n";

static mishap *show_page(mishap_call *call)
{
    return mishap_answer_document(call, mishap_text_of(page));
}

/* -- the program ------------------------------------------------------------------------------- */

static const char *const regions[] = { "north", "south", NULL };
static const mishap_param list_params[] = {
    { "region", MISHAP_ENUM, .choices = regions, .header = "Region",
      .schema = "{\"examples\":[\"north\"]}", .help = "Only the stations of this region" },
    { 0 },
};

static const mishap_param station[] = {
    { "name", MISHAP_STRING, .required = true },
    { "region", MISHAP_ENUM, .required = true, .choices = regions },
    { "celsius", MISHAP_NUMBER, .required = true, .schema = "{\"title\":\"Temperature in °C\"}" },
    { 0 },
};
static const mishap_param list_answers[] = {
    { "stations", MISHAP_ARRAY, .required = true,
      .items = MISHAP_ITEM(MISHAP_OBJECT, .members = station) },
    { 0 },
};

static const mishap_icon icons[] = {
    { "https://stations.example.com/sun.png", .type = "image/png", .sizes = "48x48 96x96" },
    { "https://stations.example.com/moon.svg", .type = "image/svg+xml", .theme = "dark" },
    { 0 },
};

static const mishap_operation operations[] = {
    { "list", "List weather stations", list_params, list_stations, .answers = list_answers,
      .route = "GET /stations", .tool = "list_stations", .view = "ui://stations", .icons = icons,
      .schema = "{\"$comment\":\"Without a region, all stations are listed.\"}",
      .stateless = true },
    { "page", "Show weather stations on a page", .run = show_page, .resource = "ui://stations",
      .tool = "", .quick = true },
    { 0 },
};

static const mishap_app app = { "stations", "1.0", "Weather stations", .operations = operations,
                                .icons = icons };

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &app);
}
