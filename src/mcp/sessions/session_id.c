/*
 * The id of a session: random characters, and a message authentication code of them, the revision
 * and the owner. The server can therefore verify an id, its revision and its owner even after it
 * has dropped the session: mishap_mcp_session_revive().
 *
 * The revision is not in the id; the few that have sessions are tried, and so are the secrets. It
 * goes in by its name, because its number may change from one version of this program to the next.
 * What the client can be asked for is in the last random character; the code then has another
 * purpose, since ids of clients that cannot be asked, and of earlier versions, say nothing there.
 *
 * The character before it may be the number of the server, for a load balancer that sends a session
 * where it began. It is authenticated like the others, and any server restores the session.
 */
#include <endian.h>

#include "mcp/sessions/shared.h"

enum {
    RANDOM = 22,                            /* characters: 132 bits, or 122 … */
    SERVER = 20,                            /* the character that names the server */
    PROOF = MISHAP_MCP_SESSION_ID - RANDOM, /* … 126 bits */
    CAPABILITIES = 15                       /* the bits of the last random character for them */
};
_Static_assert((int)PROOF <= (int)MISHAP_MAC, "a character for each byte");

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Uses six bits of each byte. */
static void spell(char *to, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = letters[bytes[i] & 63];
}

/* The inverse for one character; 0 for any that is none of them. */
static unsigned number_of(char letter)
{
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? (unsigned)(at - letters) : 0;
}

/* All parts but the last have the same length for every session. */
static void prove(const unsigned char *key, const char *random, mishap_mcp_owner owner,
                  mishap_mcp_revision revision, bool capable, char proof[PROOF])
{
    static const char plain[] = "mishap mcp session", able[] = "mishap mcp capable";
    _Static_assert(sizeof plain == sizeof able, "so that no text means two things");
    char room[sizeof plain + RANDOM + 16 + sizeof owner.key + MISHAP_MCP_CALLER];
    unsigned char mac[MISHAP_MAC];
    uint64_t number = htobe64(owner.key);
    mishap_text parts[] = { { capable ? able : plain, sizeof plain },
                            { random, RANDOM },
                            mishap_text_of(mishap_mcp_revision_name(revision)),
                            { (const char *)&number, sizeof number },
                            mishap_text_of(owner.name ? owner.name : "") };
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t left = sizeof room - used;
        size_t length = parts[i].length < left ? parts[i].length : left;
        memcpy(room + used, parts[i].data, length);
        used += length;
    }
    mishap_mac(key, (mishap_text){ room, used }, mac);
    spell(proof, mac, PROOF);
}

void mishap_mcp_id_draw(const mishap_mcp_sessions *s, char id[MISHAP_MCP_SESSION_ID + 1])
{
    unsigned char bytes[RANDOM];
    while (!mishap_system_random(bytes, sizeof bytes))
        continue; /* an id that can be guessed is worse than none */
    spell(id, bytes, RANDOM);
    if (s->server)
        id[SERVER] = letters[s->server & 63];
    memset(id + RANDOM, 0, PROOF + 1);
}

void mishap_mcp_id_prove(const mishap_mcp_sessions *s, mishap_mcp_owner owner,
                         const mishap_mcp_session *session, char id[MISHAP_MCP_SESSION_ID + 1])
{
    char *last = &id[RANDOM - 1];
    if (session->capabilities)
        *last = letters[(number_of(*last) & ~(unsigned)CAPABILITIES) |
                        (session->capabilities & CAPABILITIES)];
    prove(s->secret.keys[0], id, owner, session->revision, session->capabilities, id + RANDOM);
}

/* Was it made with this secret? */
static void check(const unsigned char *key, mishap_text id, mishap_mcp_owner owner,
                  mishap_mcp_revision *found, unsigned *capabilities)
{
    char proof[PROOF];
    for (mishap_mcp_revision r = MISHAP_MCP_NONE + 1; !mishap_mcp_is_modern(r); r++)
        for (int capable = 0; capable < 2; capable++) {
            prove(key, id.data, owner, r, capable, proof);
            if (!mishap_mcp_same_bytes(proof, id.data + RANDOM, PROOF))
                continue;
            *found = r;
            if (capabilities)
                *capabilities = capable ? number_of(id.data[RANDOM - 1]) & CAPABILITIES : 0;
        }
}

/* Takes the same time for every id. */
mishap_mcp_revision mishap_mcp_id_check(const mishap_mcp_sessions *s, mishap_text id,
                                        mishap_mcp_owner owner, unsigned *capabilities)
{
    mishap_mcp_revision found = MISHAP_MCP_NONE;
    if (id.length == MISHAP_MCP_SESSION_ID)
        for (size_t i = 0; i < s->secret.count; i++)
            check(s->secret.keys[i], id, owner, &found, capabilities);
    return found;
}
