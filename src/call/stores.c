/* A store for each case of a test: a file of SQLite, or a schema of PostgreSQL. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json_read.h"
#include "base/json_write.h"
#include "base/system.h"
#include "call/test.h"
#include "operation/settings.h"

static const char variable[] = "MISHAP_TEST_POSTGRESQL";

const char *mishap_test_choose_store(mishap_test *test, mishap_test_store store)
{
    unsigned char random[6];
    test->address[0] = '\0';
    if (store == MISHAP_TEST_SQLITE)
        return NULL;
    const char *address = getenv(variable);
    if (!mishap_app_has_store(test->app))
        return "no service of the program has a setting `store`";
    if (!address || !*address)
        return "MISHAP_TEST_POSTGRESQL names no database";
    if (strlen(address) >= sizeof test->address || !mishap_system_random(random, sizeof random))
        mishap_test_give_up("The address in MISHAP_TEST_POSTGRESQL cannot be used.");
    snprintf(test->address, sizeof test->address, "%s", address);
    snprintf(mishap_rehearsal_page->suffix, sizeof mishap_rehearsal_page->suffix,
             "_test_%02x%02x%02x%02x%02x%02x", random[0], random[1], random[2], random[3],
             random[4], random[5]);
    return NULL;
}

/* All members of the settings that the test was given, unless they are no JSON object: then they
 * are refused when the program is opened. */
static bool put_given(mishap_buffer *config, const mishap_json_reader *given)
{
    yyjson_obj_iter all;
    yyjson_val *key;
    bool stores = false;
    yyjson_obj_iter_init(given->root, &all);
    while ((key = yyjson_obj_iter_next(&all))) {
        mishap_text name = { yyjson_get_str(key), yyjson_get_len(key) };
        stores = stores || mishap_text_equal(name, mishap_text_of("store"));
        mishap_json_key(config, name);
        mishap_json_copy(config, yyjson_obj_iter_get_val(key));
    }
    return stores;
}

void mishap_test_name_store(mishap_test *test)
{
    mishap_json_reader given = MISHAP_JSON_READER;
    mishap_buffer *config = &test->config;
    char place[64];
    const char *address = *test->address ? test->address : place;
    snprintf(place, sizeof place, "sqlite:%s/", test->folder);
    bool read = test->settings && mishap_json_read(&given, mishap_text_of(test->settings));
    if (test->settings && !(read && yyjson_is_obj(given.root))) {
        mishap_buffer_put_text(config, mishap_text_of(test->settings));
    } else {
        mishap_json_open(config, '{');
        bool stores = read && put_given(config, &given);
        if (!stores && mishap_app_has_store(test->app)) {
            mishap_value value = mishap_value_of_string(address);
            mishap_json_key(config, mishap_text_of("store"));
            mishap_json_value(config, &value);
        }
        mishap_json_close(config, '}');
    }
    mishap_json_reader_release(&given);
    mishap_buffer_put_char(config, '\0');
    if (config->failed)
        mishap_test_give_up("Not enough memory for a test.");
}
