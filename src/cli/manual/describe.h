/* One parameter in words: a line that help, manifest, completion and manual have is made in one
 * place for all. */
#ifndef MISHAP_CLI_MANUAL_DESCRIBE_H
#define MISHAP_CLI_MANUAL_DESCRIBE_H

#include "cli/words/command.h"

/* The placeholder of the value: TEXT, INTEGER, text|json, @FILE. Nothing for a boolean. */
void mishap_cli_put_placeholder(mishap_buffer *buffer, const mishap_param *param);

/* Its arguments that need no flag: CODE, [FILE] if it is optional, -- COMMAND. Each has a space
 * before it. */
void mishap_cli_put_places(mishap_buffer *buffer, const mishap_operation *operation);

/* A flag with the placeholder of its value: --timeout-ms INTEGER. */
void mishap_cli_put_flag_and_value(mishap_buffer *buffer, const mishap_param *param);

/*
 * The description of a parameter and its rules: "Full name (required; 1 to 200 characters)". With
 * `rules_only` it leaves out what the manifest has members for: required, choices, default.
 * Without, it is for people: bounds that no usual value reaches, and patterns that a placeholder
 * explains, are left out.
 */
void mishap_cli_put_about(mishap_buffer *buffer, const mishap_param *param, bool rules_only);

/* The rules across the parameters of an operation: "Rules: ends must be after starts." and a NUL;
 * nothing if it has none. */
void mishap_cli_put_rules(mishap_buffer *buffer, const mishap_operation *operation);

/* A flag can be switched off with --no-FLAG: a boolean that is true by default. */
bool mishap_cli_can_be_off(const mishap_param *param);

/* JSON without the white space between its tokens. */
void mishap_cli_put_compact(mishap_buffer *buffer, const char *json);

/* True if the operation stores anything in the data folder. Operations of a service that opens a
 * state do, a session at the terminal stores its history, and servers store keys. */
bool mishap_cli_keeps_data(const mishap_operation *operation);

#endif
