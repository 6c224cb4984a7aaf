/*
 * Members that are not declared, at any depth. No handler ever sees one (arguments.c). A boundary
 * whose callers type names by hand also refuses them, because a misspelled name would have no
 * effect and would not be noticed.
 */
#include "base/memory.h"
#include "base/nearest.h"
#include "operation/findings.h"
#include "operation/members.h"

enum {
    SHOWN_NAME = 64,   /* bytes of such a name */
    MOST_UNKNOWN = 20, /* that are named */
};

struct hunt {
    mishap_findings *findings; /* NULL: it is only asked whether there is any */
    size_t found, most;        /* it ends when so many are found */
    mishap_name_test *known;
    const void *state;
};

/* What may be meant by the name, and was not given; or nothing. */
static mishap_value nearest_to(mishap_text name, const mishap_param *params, yyjson_val *given)
{
    mishap_guess guess = { .word = name };
    for (; params && params->name; params++) {
        mishap_guess better = guess;
        mishap_guess_weigh(&better, mishap_text_of(params->name));
        /* An object may have a million members: they are searched for what is near alone. */
        if (better.name.data != guess.name.data && !yyjson_obj_get(given, params->name))
            guess = better;
    }
    return guess.name.data ? mishap_value_of_text(guess.name) : mishap_value_none();
}

static void hunt_in_value(struct hunt *hunt, const mishap_spot *spot, const mishap_param *param,
                          yyjson_val *value);

static void hunt_in_object(struct hunt *hunt, const mishap_spot *outer, const mishap_param *params,
                           yyjson_val *object)
{
    size_t index, count;
    yyjson_val *key, *value;
    bool secret = outer && outer->secret, told = false;
    mishap_members members = mishap_members_of(params);
    size_t room = mishap_members_room(&members);
    members.table = room ? mishap_allocate(room) : NULL; /* without memory it takes longer */
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        if (hunt->found == hunt->most)
            break;
        mishap_spot spot = { .outer = outer, .name = mishap_json_text(key), .secret = secret };
        size_t at = mishap_members_find(&members, spot.name);
        if (at < members.count) {
            const mishap_param *param = &params[at];
            spot.secret = secret || param->secret;
            hunt_in_value(hunt, &spot, param, value);
        } else if ((outer || !hunt->known || !hunt->known(hunt->state, spot.name)) &&
                   !(secret && told)) {
            hunt->found++;
            told = true;
            if (!hunt->findings)
                continue;
            mishap_value meant = nearest_to(spot.name, params, object);
            spot.name.length = mishap_utf8_cut(spot.name, SHOWN_NAME);
            mishap_find_unknown(hunt->findings, &spot, meant, params);
        }
    }
    mishap_release(members.table);
}

static void hunt_in_value(struct hunt *hunt, const mishap_spot *spot, const mishap_param *param,
                          yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (param->type == MISHAP_MAP && param->items) {
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            mishap_spot place = { .outer = spot,
                                  .name = mishap_json_text(key),
                                  .secret = spot->secret || param->items->secret };
            place.name.length = mishap_utf8_cut(place.name, SHOWN_NAME);
            if (spot->secret) /* its names are not shown */
                place = (mishap_spot){ .outer = spot, .index = index, .secret = true };
            if (hunt->found < hunt->most)
                hunt_in_value(hunt, &place, param->items, item);
        }
    }
    if (param->type == MISHAP_OBJECT && param->members && yyjson_is_obj(value))
        hunt_in_object(hunt, spot, param->members, value);
    if (param->type != MISHAP_ARRAY || !param->items || !yyjson_is_arr(value))
        return;
    MISHAP_JSON_ITEMS (value, index, count, item) {
        if (hunt->found == hunt->most)
            return;
        mishap_spot place = { .outer = spot,
                              .index = index,
                              .secret = spot->secret || param->items->secret };
        hunt_in_value(hunt, &place, param->items, item);
    }
}

mishap *mishap_params_refuse_unknown(const mishap_param *params, const mishap_relation *rules,
                                     yyjson_val *named, yyjson_val *checked,
                                     mishap_name_test *known, const void *state)
{
    mishap_findings findings = { .declared = true };
    struct hunt hunt = { .most = 1, .known = known, .state = state };
    hunt_in_object(&hunt, NULL, params, named);
    if (!hunt.found)
        return NULL;
    mishap_expect_members(&findings, params, rules, checked);
    hunt.found = 0;
    hunt.most = MOST_UNKNOWN;
    hunt.findings = &findings;
    if (!findings.failure)
        hunt_in_object(&hunt, NULL, params, named);
    return mishap_findings_end(&findings);
}
