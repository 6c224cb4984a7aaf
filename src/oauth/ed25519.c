/*
 * Public keys of Ed25519. libcrypto takes any 32 bytes for one, and finds out when a signature is
 * checked. Of the points it accepts, eight have a small order.
 *
 * The bytes are y, little-endian, and the sign of x. There is an x if (y² - 1) / (d·y² + 1) is a
 * square, which is the case if (y² - 1)·(d·y² + 1) is one: then its power of (p - 1) / 2 is 1.
 */
#include <string.h>

#include "oauth/inside.h"

static const char prime[] = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed";
static const char curve_d[] = "52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3";

/* The y of points of order 8. Those of order 1, 2 and 4 are 1, -1 and 0. */
static const char *const order_eight[] = {
    "05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",
    "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7",
};

static bool is_small(const big_number *y, const big_number *less, big_number *other)
{
    bool small = mishap_libcrypto.BN_is_zero(y) || mishap_libcrypto.BN_is_one(y) ||
                 mishap_libcrypto.BN_cmp(y, less) == 0; /* p - 1 */
    for (size_t i = 0; i < sizeof order_eight / sizeof *order_eight; i++)
        small = small || !mishap_libcrypto.BN_hex2bn(&other, order_eight[i]) ||
                mishap_libcrypto.BN_cmp(y, other) == 0;
    return small;
}

/* True if y, which is no root of y² - 1, belongs to a point. */
static bool has_x(big_number *y, const big_number *p, big_number *half, big_context *context)
{
    big_number *d = mishap_libcrypto.BN_CTX_get(context);
    big_number *square = mishap_libcrypto.BN_CTX_get(context);
    if (!square || !mishap_libcrypto.BN_hex2bn(&d, curve_d) ||
        !mishap_libcrypto.BN_mod_mul(square, y, y, p, context) ||
        !mishap_libcrypto.BN_mod_mul(d, d, square, p, context) ||
        !mishap_libcrypto.BN_add_word(d, 1) ||      /* at most p */
        !mishap_libcrypto.BN_sub_word(square, 1) || /* y is not 0 */
        !mishap_libcrypto.BN_mod_mul(square, square, d, p, context) ||
        !mishap_libcrypto.BN_rshift1(half, p) || /* (p - 1) / 2, since p is odd */
        !mishap_libcrypto.BN_mod_exp(d, square, half, p, context))
        return false;
    return mishap_libcrypto.BN_is_one(d);
}

static bool is_sound(const unsigned char bytes[32], big_context *context)
{
    unsigned char plain[32];
    big_number *y = mishap_libcrypto.BN_CTX_get(context);
    big_number *p = mishap_libcrypto.BN_CTX_get(context);
    big_number *less = mishap_libcrypto.BN_CTX_get(context);
    big_number *other = mishap_libcrypto.BN_CTX_get(context);
    memcpy(plain, bytes, sizeof plain);
    plain[31] &= 0x7F;
    if (!other || !mishap_libcrypto.BN_lebin2bn(plain, sizeof plain, y) ||
        !mishap_libcrypto.BN_hex2bn(&p, prime) || !mishap_libcrypto.BN_hex2bn(&less, prime) ||
        !mishap_libcrypto.BN_sub_word(less, 1))
        return false;
    return mishap_libcrypto.BN_cmp(y, p) < 0 && !is_small(y, less, other) &&
           has_x(y, p, other, context);
}

bool mishap_ed25519_is_sound(const unsigned char bytes[32])
{
    big_context *context = mishap_libcrypto.BN_CTX_new();
    if (!context)
        return false;
    mishap_libcrypto.BN_CTX_start(context);
    bool sound = is_sound(bytes, context);
    mishap_libcrypto.BN_CTX_end(context);
    mishap_libcrypto.BN_CTX_free(context);
    return sound;
}
