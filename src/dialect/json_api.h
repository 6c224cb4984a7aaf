/* What the two sides of json-api share: json_api.c writes and reads, json_api_check.c checks. */
#ifndef MISHAP_DIALECT_JSON_API_H
#define MISHAP_DIALECT_JSON_API_H

#include "dialect/parts.h"

/* The HTTP status of an error in a string, 0 if it is none. */
int mishap_json_api_status(yyjson_val *value);

/* Where in the request an error lies: pointer, parameter or header; NULL if that is not said. */
yyjson_val *mishap_json_api_place(yyjson_val *error);

void mishap_json_api_check(mishap_check *check, yyjson_val *root);

#endif
