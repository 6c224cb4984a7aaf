#include "operation/members.h"

mishap_members mishap_members_of(const mishap_param *params)
{
    mishap_members members = { .params = params, .count = mishap_param_count(params) };
    if (members.count > MISHAP_MEMBERS_FEW)
        for (members.mask = 4 * MISHAP_MEMBERS_FEW - 1; members.mask < 2 * members.count;)
            members.mask = members.mask * 2 + 1;
    return members;
}

size_t mishap_members_room(const mishap_members *members)
{
    return members->mask ? (members->mask + 1) * sizeof *members->table : 0;
}

static void make_index(mishap_members *members)
{
    memset(members->table, 0, (members->mask + 1) * sizeof *members->table);
    for (size_t i = 0; i < members->count; i++) {
        size_t slot = mishap_text_hash(mishap_text_of(members->params[i].name)) & members->mask;
        while (members->table[slot])
            slot = (slot + 1) & members->mask;
        members->table[slot] = (uint32_t)(i + 1);
    }
    members->indexed = true;
}

static size_t look_up(mishap_members *members, mishap_text name)
{
    size_t i = 0;
    if (!members->table) {
        while (i < members->count && !mishap_param_is_named(&members->params[i], name))
            i++;
        return i;
    }
    if (!members->indexed)
        make_index(members);
    for (size_t slot = mishap_text_hash(name) & members->mask; (i = members->table[slot]);
         slot = (slot + 1) & members->mask)
        if (mishap_param_is_named(&members->params[i - 1], name))
            return i - 1;
    return members->count;
}

size_t mishap_members_find(mishap_members *members, mishap_text name)
{
    size_t i = members->next;
    if (i >= members->count || !mishap_param_is_named(&members->params[i], name))
        i = look_up(members, name);
    members->next = i < members->count ? i + 1 : members->next;
    return i;
}

void mishap_members_values(mishap_members *members, yyjson_val *object, yyjson_val **values)
{
    size_t index, count;
    yyjson_val *key, *value;
    memset(values, 0, members->count * sizeof *values);
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_text name = { unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key) };
        size_t i = mishap_members_find(members, name);
        if (i < members->count && !values[i])
            values[i] = value;
    }
}
