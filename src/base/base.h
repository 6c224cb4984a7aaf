/*
 * src/base: the lowest layer, which all other folders use. Memory, bytes, text, JSON, ids, time,
 * and numbers and texts as bytes for another process.
 *
 * Nothing here depends on the mishap type. A function that can fail for lack of memory says so with
 * NULL or false, or leaves the mark `failed` in a buffer.
 */
#ifndef MISHAP_BASE_H
#define MISHAP_BASE_H

#include "base/arena.h"
#include "base/base64.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/pack.h"
#include "base/printable.h"
#include "base/route.h"
#include "base/scope.h"
#include "base/sort.h"
#include "base/system.h"
#include "base/url.h"
#include "base/utf8.h"

#endif
