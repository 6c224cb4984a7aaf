/*
 * The id of a task: random characters, and a message authentication code of them and of the owner.
 * So the id of another caller is refused before any row is looked for. The secret is in the store,
 * beside the rows.
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/hex.h"
#include "base/mac.h"
#include "base/system.h"
#include "task/task.h"

_Static_assert((int)MISHAP_TASK_PROOF <= (int)MISHAP_MAC &&
                   (int)MISHAP_TASK_SECRET == (int)MISHAP_MAC_KEY,
               "a character for each byte");

const char *const mishap_task_state_words[MISHAP_TASK_STATES + 1] = {
    "queued", "running", "succeeded", "failed", "cancelled", "asking", NULL
};

/* Uses six bits of each byte. */
static void spell(char *to, const unsigned char *bytes, size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < count; i++)
        to[i] = letters[bytes[i] & 63];
}

static bool is_address(mishap_text owner)
{
    return owner.length && owner.data[0] == '-';
}

/* The key has the same length in every id, so it needs no mark of its end. A caller without a key
 * and a name may have another address tomorrow: its ids prove no owner. */
static void prove(const unsigned char secret[MISHAP_TASK_SECRET], mishap_text owner,
                  const char *key, char proof[MISHAP_TASK_PROOF])
{
    static const char purpose[] = "mishap task";
    char room[sizeof purpose + MISHAP_TASK_KEY + MISHAP_TASK_OWNER];
    unsigned char mac[MISHAP_MAC];
    size_t length = owner.length < MISHAP_TASK_OWNER ? owner.length : (size_t)MISHAP_TASK_OWNER;
    if (is_address(owner))
        length = 0;
    memcpy(room, purpose, sizeof purpose);
    memcpy(room + sizeof purpose, key, MISHAP_TASK_KEY);
    memcpy(room + sizeof purpose + MISHAP_TASK_KEY, owner.data, length);
    mishap_mac(secret, (mishap_text){ room, sizeof purpose + MISHAP_TASK_KEY + length }, mac);
    spell(proof, mac, MISHAP_TASK_PROOF);
}

void mishap_task_key_draw(char id[MISHAP_TASK_ID + 1])
{
    unsigned char bytes[MISHAP_TASK_KEY];
    while (!mishap_system_random(bytes, sizeof bytes))
        continue; /* an id that can be guessed is worse than none */
    bytes[0] &=
        31; /* a letter: a command would take an id that begins with a hyphen for an option */
    spell(id, bytes, MISHAP_TASK_KEY);
    memset(id + MISHAP_TASK_KEY, 0, MISHAP_TASK_PROOF + 1);
}

void mishap_task_id_prove(const unsigned char secret[MISHAP_TASK_SECRET], mishap_text owner,
                          char id[MISHAP_TASK_ID + 1])
{
    prove(secret, owner, id, id + MISHAP_TASK_KEY);
    id[MISHAP_TASK_ID] = '\0';
}

bool mishap_task_id_check(const unsigned char secret[MISHAP_TASK_SECRET], mishap_text owner,
                          mishap_text id)
{
    char proof[MISHAP_TASK_PROOF];
    unsigned char differs = 0;
    if (id.length != MISHAP_TASK_ID)
        return false;
    prove(secret, owner, id.data, proof);
    for (size_t i = 0; i < MISHAP_TASK_PROOF; i++)
        differs |= (unsigned char)(proof[i] ^ id.data[MISHAP_TASK_KEY + i]);
    return !differs;
}

void mishap_task_owner_write(const mishap_task_asker *asker, char owner[MISHAP_TASK_OWNER + 1])
{
    unsigned char network[8];
    char digits[2 * sizeof network + 1] = "";
    int length = (int)(asker->remote.length < 100 ? asker->remote.length : 100);
    if (asker->number) {
        snprintf(owner, MISHAP_TASK_OWNER + 1, "%016llx:%s", (unsigned long long)asker->number,
                 asker->name ? asker->name : "");
    } else if (length && mishap_hash_network(asker->remote, network)) {
        mishap_hex_write(digits, network, sizeof network);
        snprintf(owner, MISHAP_TASK_OWNER + 1, "-%s/64", digits);
    } else {
        snprintf(owner, MISHAP_TASK_OWNER + 1, "-%.*s", length, length ? asker->remote.data : "");
    }
}

bool mishap_task_owner_is(mishap_text owner, mishap_text asker)
{
    return mishap_text_equal(owner, asker) || (is_address(owner) && is_address(asker));
}
