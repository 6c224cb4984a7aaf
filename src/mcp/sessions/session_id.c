/*
 * The id of a session: random characters, and a message authentication code of them, the revision
 * and the owner. The server can therefore verify an id, its revision and its owner even after it
 * has dropped the session: mishap_mcp_session_revive().
 *
 * The revision is not in the id; the few that have sessions are tried. It goes in by its name,
 * because its number may change from one version of this program to the next.
 */
#include <endian.h>

#include "mcp/sessions/shared.h"

enum {
    RANDOM = 22,                           /* characters: 132 bits */
    PROOF = MISHAP_MCP_SESSION_ID - RANDOM /* … 126 bits */
};
_Static_assert((int)PROOF <= (int)MISHAP_MAC, "a character for each byte");

/* Uses six bits of each byte. */
static void spell(char *to, const unsigned char *bytes, size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < count; i++)
        to[i] = letters[bytes[i] & 63];
}

/* All parts but the last have the same length for every session. */
static void prove(const mishap_mcp_sessions *s, const char *random, mishap_mcp_owner owner,
                  mishap_mcp_revision revision, char proof[PROOF])
{
    static const char purpose[] = "mishap mcp session";
    char room[sizeof purpose + RANDOM + 16 + sizeof owner.key + MISHAP_MCP_CALLER];
    unsigned char mac[MISHAP_MAC];
    uint64_t key = htobe64(owner.key);
    mishap_text parts[] = { { purpose, sizeof purpose },
                            { random, RANDOM },
                            mishap_text_of(mishap_mcp_revision_name(revision)),
                            { (const char *)&key, sizeof key },
                            mishap_text_of(owner.name ? owner.name : "") };
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t left = sizeof room - used;
        size_t length = parts[i].length < left ? parts[i].length : left;
        memcpy(room + used, parts[i].data, length);
        used += length;
    }
    mishap_mac(s->secret, (mishap_text){ room, used }, mac);
    spell(proof, mac, PROOF);
}

void mishap_mcp_id_draw(char id[MISHAP_MCP_SESSION_ID + 1])
{
    unsigned char bytes[RANDOM];
    while (!mishap_system_random(bytes, sizeof bytes))
        continue; /* an id that can be guessed is worse than none */
    spell(id, bytes, RANDOM);
    memset(id + RANDOM, 0, PROOF + 1);
}

void mishap_mcp_id_prove(const mishap_mcp_sessions *s, mishap_mcp_owner owner,
                         mishap_mcp_revision revision, char id[MISHAP_MCP_SESSION_ID + 1])
{
    prove(s, id, owner, revision, id + RANDOM);
}

/* Takes the same time for every id. */
mishap_mcp_revision mishap_mcp_id_check(const mishap_mcp_sessions *s, mishap_text id,
                                        mishap_mcp_owner owner)
{
    mishap_mcp_revision found = MISHAP_MCP_NONE;
    char proof[PROOF];
    if (id.length != MISHAP_MCP_SESSION_ID)
        return MISHAP_MCP_NONE;
    for (mishap_mcp_revision r = MISHAP_MCP_NONE + 1; !mishap_mcp_is_modern(r); r++) {
        prove(s, id.data, owner, r, proof);
        if (mishap_mcp_same_bytes(proof, id.data + RANDOM, PROOF))
            found = r;
    }
    return found;
}
