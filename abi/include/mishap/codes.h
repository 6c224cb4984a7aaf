/* Generated from mishap's table of codes. Do not edit. */
#ifndef MISHAP_CODES_H
#define MISHAP_CODES_H

#include "mishap/catalog.h"

#ifdef __cplusplus
extern "C" {
#endif


#pragma GCC visibility push(default)

/* One or more fields are not valid. */
extern const mishap_code mishap_code_VALIDATION_ERROR;
#define MISHAP_CODE_VALIDATION_ERROR (&mishap_code_VALIDATION_ERROR)
/* The arguments are not valid. */
extern const mishap_code mishap_code_ARG_ERROR;
#define MISHAP_CODE_ARG_ERROR (&mishap_code_ARG_ERROR)
/* An argument is not valid. */
extern const mishap_code mishap_code_INVALID_ARGUMENT;
#define MISHAP_CODE_INVALID_ARGUMENT (&mishap_code_INVALID_ARGUMENT)
/* A required argument is missing. */
extern const mishap_code mishap_code_MISSING_ARGUMENT;
#define MISHAP_CODE_MISSING_ARGUMENT (&mishap_code_MISSING_ARGUMENT)
/* A value has the wrong type. */
extern const mishap_code mishap_code_INVALID_TYPE;
#define MISHAP_CODE_INVALID_TYPE (&mishap_code_INVALID_TYPE)
/* A required field is missing or empty. */
extern const mishap_code mishap_code_FIELD_REQUIRED;
#define MISHAP_CODE_FIELD_REQUIRED (&mishap_code_FIELD_REQUIRED)
/* A value is too short or too long. */
extern const mishap_code mishap_code_INVALID_LENGTH;
#define MISHAP_CODE_INVALID_LENGTH (&mishap_code_INVALID_LENGTH)
/* A number is too small or too large. */
extern const mishap_code mishap_code_VALUE_OUT_OF_RANGE;
#define MISHAP_CODE_VALUE_OUT_OF_RANGE (&mishap_code_VALUE_OUT_OF_RANGE)
/* A value does not have the expected form. */
extern const mishap_code mishap_code_PATTERN_MISMATCH;
#define MISHAP_CODE_PATTERN_MISMATCH (&mishap_code_PATTERN_MISMATCH)
/* A value cannot be used here. */
extern const mishap_code mishap_code_VALUE_ERROR;
#define MISHAP_CODE_VALUE_ERROR (&mishap_code_VALUE_ERROR)
/* The operation has a question before it can go on. */
extern const mishap_code mishap_code_INPUT_REQUIRED;
#define MISHAP_CODE_INPUT_REQUIRED (&mishap_code_INPUT_REQUIRED)
/* The request is malformed. */
extern const mishap_code mishap_code_BAD_REQUEST;
#define MISHAP_CODE_BAD_REQUEST (&mishap_code_BAD_REQUEST)
/* The input is malformed. */
extern const mishap_code mishap_code_MALFORMED_INPUT;
#define MISHAP_CODE_MALFORMED_INPUT (&mishap_code_MALFORMED_INPUT)
/* The command does not exist. */
extern const mishap_code mishap_code_UNKNOWN_COMMAND;
#define MISHAP_CODE_UNKNOWN_COMMAND (&mishap_code_UNKNOWN_COMMAND)
/* The method does not exist. */
extern const mishap_code mishap_code_METHOD_NOT_FOUND;
#define MISHAP_CODE_METHOD_NOT_FOUND (&mishap_code_METHOD_NOT_FOUND)
/* The option does not exist. */
extern const mishap_code mishap_code_UNKNOWN_OPTION;
#define MISHAP_CODE_UNKNOWN_OPTION (&mishap_code_UNKNOWN_OPTION)
/* The request method is not allowed for this URL. */
extern const mishap_code mishap_code_METHOD_NOT_ALLOWED;
#define MISHAP_CODE_METHOD_NOT_ALLOWED (&mishap_code_METHOD_NOT_ALLOWED)
/* No acceptable representation is available. */
extern const mishap_code mishap_code_NOT_ACCEPTABLE;
#define MISHAP_CODE_NOT_ACCEPTABLE (&mishap_code_NOT_ACCEPTABLE)
/* The Content-Length header is missing. */
extern const mishap_code mishap_code_LENGTH_REQUIRED;
#define MISHAP_CODE_LENGTH_REQUIRED (&mishap_code_LENGTH_REQUIRED)
/* The content of the request is too large. */
extern const mishap_code mishap_code_CONTENT_TOO_LARGE;
#define MISHAP_CODE_CONTENT_TOO_LARGE (&mishap_code_CONTENT_TOO_LARGE)
/* The request URL is too long. */
extern const mishap_code mishap_code_URI_TOO_LONG;
#define MISHAP_CODE_URI_TOO_LONG (&mishap_code_URI_TOO_LONG)
/* The content type is not supported. */
extern const mishap_code mishap_code_UNSUPPORTED_MEDIA_TYPE;
#define MISHAP_CODE_UNSUPPORTED_MEDIA_TYPE (&mishap_code_UNSUPPORTED_MEDIA_TYPE)
/* The requested range is not available. */
extern const mishap_code mishap_code_RANGE_NOT_SATISFIABLE;
#define MISHAP_CODE_RANGE_NOT_SATISFIABLE (&mishap_code_RANGE_NOT_SATISFIABLE)
/* The expectation cannot be met. */
extern const mishap_code mishap_code_EXPECTATION_FAILED;
#define MISHAP_CODE_EXPECTATION_FAILED (&mishap_code_EXPECTATION_FAILED)
/* This server does not answer for the requested host. */
extern const mishap_code mishap_code_MISDIRECTED_REQUEST;
#define MISHAP_CODE_MISDIRECTED_REQUEST (&mishap_code_MISDIRECTED_REQUEST)
/* The content cannot be processed. */
extern const mishap_code mishap_code_UNPROCESSABLE_CONTENT;
#define MISHAP_CODE_UNPROCESSABLE_CONTENT (&mishap_code_UNPROCESSABLE_CONTENT)
/* The server requires another protocol. */
extern const mishap_code mishap_code_UPGRADE_REQUIRED;
#define MISHAP_CODE_UPGRADE_REQUIRED (&mishap_code_UPGRADE_REQUIRED)
/* The request headers are too large. */
extern const mishap_code mishap_code_REQUEST_HEADER_FIELDS_TOO_LARGE;
#define MISHAP_CODE_REQUEST_HEADER_FIELDS_TOO_LARGE (&mishap_code_REQUEST_HEADER_FIELDS_TOO_LARGE)
/* The caller is not authorized for this operation. */
extern const mishap_code mishap_code_NOT_AUTHORIZED;
#define MISHAP_CODE_NOT_AUTHORIZED (&mishap_code_NOT_AUTHORIZED)
/* Only the owner is allowed to do this. */
extern const mishap_code mishap_code_NOT_OWNER;
#define MISHAP_CODE_NOT_OWNER (&mishap_code_NOT_OWNER)
/* Permission was denied. */
extern const mishap_code mishap_code_PERMISSION_DENIED;
#define MISHAP_CODE_PERMISSION_DENIED (&mishap_code_PERMISSION_DENIED)
/* Access is forbidden. */
extern const mishap_code mishap_code_FORBIDDEN;
#define MISHAP_CODE_FORBIDDEN (&mishap_code_FORBIDDEN)
/* The balance is not sufficient. */
extern const mishap_code mishap_code_INSUFFICIENT_FUNDS;
#define MISHAP_CODE_INSUFFICIENT_FUNDS (&mishap_code_INSUFFICIENT_FUNDS)
/* Payment is required. */
extern const mishap_code mishap_code_PAYMENT_REQUIRED;
#define MISHAP_CODE_PAYMENT_REQUIRED (&mishap_code_PAYMENT_REQUIRED)
/* Credentials are required. */
extern const mishap_code mishap_code_AUTH_REQUIRED;
#define MISHAP_CODE_AUTH_REQUIRED (&mishap_code_AUTH_REQUIRED)
/* Credentials are missing or expired. */
extern const mishap_code mishap_code_AUTH_TOKEN_EXPIRED;
#define MISHAP_CODE_AUTH_TOKEN_EXPIRED (&mishap_code_AUTH_TOKEN_EXPIRED)
/* The request lacks valid credentials. */
extern const mishap_code mishap_code_UNAUTHORIZED;
#define MISHAP_CODE_UNAUTHORIZED (&mishap_code_UNAUTHORIZED)
/* The proxy requires credentials. */
extern const mishap_code mishap_code_PROXY_AUTHENTICATION_REQUIRED;
#define MISHAP_CODE_PROXY_AUTHENTICATION_REQUIRED (&mishap_code_PROXY_AUTHENTICATION_REQUIRED)
/* The network requires credentials. */
extern const mishap_code mishap_code_NETWORK_AUTHENTICATION_REQUIRED;
#define MISHAP_CODE_NETWORK_AUTHENTICATION_REQUIRED (&mishap_code_NETWORK_AUTHENTICATION_REQUIRED)
/* The resource is not available for legal reasons. */
extern const mishap_code mishap_code_UNAVAILABLE_FOR_LEGAL_REASONS;
#define MISHAP_CODE_UNAVAILABLE_FOR_LEGAL_REASONS (&mishap_code_UNAVAILABLE_FOR_LEGAL_REASONS)
/* The requested resource was not found. */
extern const mishap_code mishap_code_NOT_FOUND;
#define MISHAP_CODE_NOT_FOUND (&mishap_code_NOT_FOUND)
/* The resource was removed permanently. */
extern const mishap_code mishap_code_GONE;
#define MISHAP_CODE_GONE (&mishap_code_GONE)
/* A resource with this name already exists. */
extern const mishap_code mishap_code_ALREADY_EXISTS;
#define MISHAP_CODE_ALREADY_EXISTS (&mishap_code_ALREADY_EXISTS)
/* The item is already listed. */
extern const mishap_code mishap_code_ALREADY_LISTED;
#define MISHAP_CODE_ALREADY_LISTED (&mishap_code_ALREADY_LISTED)
/* The request conflicts with the current state. */
extern const mishap_code mishap_code_CONFLICT;
#define MISHAP_CODE_CONFLICT (&mishap_code_CONFLICT)
/* The resource is locked. */
extern const mishap_code mishap_code_LOCKED;
#define MISHAP_CODE_LOCKED (&mishap_code_LOCKED)
/* An operation that this one depends on failed. */
extern const mishap_code mishap_code_FAILED_DEPENDENCY;
#define MISHAP_CODE_FAILED_DEPENDENCY (&mishap_code_FAILED_DEPENDENCY)
/* A precondition is not met. */
extern const mishap_code mishap_code_PRECONDITION;
#define MISHAP_CODE_PRECONDITION (&mishap_code_PRECONDITION)
/* A precondition of the request is not met. */
extern const mishap_code mishap_code_PRECONDITION_FAILED;
#define MISHAP_CODE_PRECONDITION_FAILED (&mishap_code_PRECONDITION_FAILED)
/* The request must state a precondition. */
extern const mishap_code mishap_code_PRECONDITION_REQUIRED;
#define MISHAP_CODE_PRECONDITION_REQUIRED (&mishap_code_PRECONDITION_REQUIRED)
/* The server does not accept this request before the TLS handshake is complete. */
extern const mishap_code mishap_code_TOO_EARLY;
#define MISHAP_CODE_TOO_EARLY (&mishap_code_TOO_EARLY)
/* The resource has moved. */
extern const mishap_code mishap_code_REDIRECTED;
#define MISHAP_CODE_REDIRECTED (&mishap_code_REDIRECTED)
/* The operation took too long. */
extern const mishap_code mishap_code_TIMEOUT;
#define MISHAP_CODE_TIMEOUT (&mishap_code_TIMEOUT)
/* The request took too long to arrive. */
extern const mishap_code mishap_code_REQUEST_TIMEOUT;
#define MISHAP_CODE_REQUEST_TIMEOUT (&mishap_code_REQUEST_TIMEOUT)
/* The operation failed. */
extern const mishap_code mishap_code_RUNTIME_ERROR;
#define MISHAP_CODE_RUNTIME_ERROR (&mishap_code_RUNTIME_ERROR)
/* The code cannot be parsed. */
extern const mishap_code mishap_code_SYNTAX_ERROR;
#define MISHAP_CODE_SYNTAX_ERROR (&mishap_code_SYNTAX_ERROR)
/* A module cannot be loaded. */
extern const mishap_code mishap_code_IMPORT_ERROR;
#define MISHAP_CODE_IMPORT_ERROR (&mishap_code_IMPORT_ERROR)
/* The operation failed. */
extern const mishap_code mishap_code_GENERAL_ERROR;
#define MISHAP_CODE_GENERAL_ERROR (&mishap_code_GENERAL_ERROR)
/* Only a part of the work was done. */
extern const mishap_code mishap_code_PARTIAL_FAILURE;
#define MISHAP_CODE_PARTIAL_FAILURE (&mishap_code_PARTIAL_FAILURE)
/* The operation was cancelled. */
extern const mishap_code mishap_code_CANCELLED;
#define MISHAP_CODE_CANCELLED (&mishap_code_CANCELLED)
/* The document does not conform to its format. */
extern const mishap_code mishap_code_NONCONFORMING;
#define MISHAP_CODE_NONCONFORMING (&mishap_code_NONCONFORMING)
/* A value is not of the expected type. */
extern const mishap_code mishap_code_TYPE_ERROR;
#define MISHAP_CODE_TYPE_ERROR (&mishap_code_TYPE_ERROR)
/* The function is not defined. */
extern const mishap_code mishap_code_UNDEFINED_FUNCTION;
#define MISHAP_CODE_UNDEFINED_FUNCTION (&mishap_code_UNDEFINED_FUNCTION)
/* The variable has no value. */
extern const mishap_code mishap_code_UNBOUND_VARIABLE;
#define MISHAP_CODE_UNBOUND_VARIABLE (&mishap_code_UNBOUND_VARIABLE)
/* A number was divided by zero. */
extern const mishap_code mishap_code_DIVISION_BY_ZERO;
#define MISHAP_CODE_DIVISION_BY_ZERO (&mishap_code_DIVISION_BY_ZERO)
/* The code signalled an error. */
extern const mishap_code mishap_code_SIMPLE_ERROR;
#define MISHAP_CODE_SIMPLE_ERROR (&mishap_code_SIMPLE_ERROR)
/* The program is not correct. */
extern const mishap_code mishap_code_PROGRAM_ERROR;
#define MISHAP_CODE_PROGRAM_ERROR (&mishap_code_PROGRAM_ERROR)
/* A package does not exist or cannot be used. */
extern const mishap_code mishap_code_PACKAGE_ERROR;
#define MISHAP_CODE_PACKAGE_ERROR (&mishap_code_PACKAGE_ERROR)
/* The code cannot be read. */
extern const mishap_code mishap_code_READER_ERROR;
#define MISHAP_CODE_READER_ERROR (&mishap_code_READER_ERROR)
/* The code ends too early. */
extern const mishap_code mishap_code_END_OF_FILE;
#define MISHAP_CODE_END_OF_FILE (&mishap_code_END_OF_FILE)
/* An internal error occurred. */
extern const mishap_code mishap_code_INTERNAL_ERROR;
#define MISHAP_CODE_INTERNAL_ERROR (&mishap_code_INTERNAL_ERROR)
/* A required configuration is missing or not valid. */
extern const mishap_code mishap_code_NOT_CONFIGURED;
#define MISHAP_CODE_NOT_CONFIGURED (&mishap_code_NOT_CONFIGURED)
/* The operation is not implemented. */
extern const mishap_code mishap_code_NOT_IMPLEMENTED;
#define MISHAP_CODE_NOT_IMPLEMENTED (&mishap_code_NOT_IMPLEMENTED)
/* The service is not available now. */
extern const mishap_code mishap_code_UNAVAILABLE;
#define MISHAP_CODE_UNAVAILABLE (&mishap_code_UNAVAILABLE)
/* The service is not available now. */
extern const mishap_code mishap_code_SERVICE_UNAVAILABLE;
#define MISHAP_CODE_SERVICE_UNAVAILABLE (&mishap_code_SERVICE_UNAVAILABLE)
/* There were too many requests. */
extern const mishap_code mishap_code_RATE_LIMITED;
#define MISHAP_CODE_RATE_LIMITED (&mishap_code_RATE_LIMITED)
/* There were too many requests. */
extern const mishap_code mishap_code_TOO_MANY_REQUESTS;
#define MISHAP_CODE_TOO_MANY_REQUESTS (&mishap_code_TOO_MANY_REQUESTS)
/* The connection was refused. */
extern const mishap_code mishap_code_CONNECTION_REFUSED;
#define MISHAP_CODE_CONNECTION_REFUSED (&mishap_code_CONNECTION_REFUSED)
/* The connection could not be established in time. */
extern const mishap_code mishap_code_CONNECTION_TIMEOUT;
#define MISHAP_CODE_CONNECTION_TIMEOUT (&mishap_code_CONNECTION_TIMEOUT)
/* The host name cannot be resolved. */
extern const mishap_code mishap_code_HOST_NOT_FOUND;
#define MISHAP_CODE_HOST_NOT_FOUND (&mishap_code_HOST_NOT_FOUND)
/* The host cannot be reached. */
extern const mishap_code mishap_code_HOST_UNREACHABLE;
#define MISHAP_CODE_HOST_UNREACHABLE (&mishap_code_HOST_UNREACHABLE)
/* An upstream service sent an invalid response. */
extern const mishap_code mishap_code_BAD_GATEWAY;
#define MISHAP_CODE_BAD_GATEWAY (&mishap_code_BAD_GATEWAY)
/* An upstream service did not respond in time. */
extern const mishap_code mishap_code_GATEWAY_TIMEOUT;
#define MISHAP_CODE_GATEWAY_TIMEOUT (&mishap_code_GATEWAY_TIMEOUT)
/* The input could not be read. */
extern const mishap_code mishap_code_INPUT_UNREADABLE;
#define MISHAP_CODE_INPUT_UNREADABLE (&mishap_code_INPUT_UNREADABLE)
/* The output could not be written. */
extern const mishap_code mishap_code_OUTPUT_FAILED;
#define MISHAP_CODE_OUTPUT_FAILED (&mishap_code_OUTPUT_FAILED)
/* This HTTP version is not supported. */
extern const mishap_code mishap_code_HTTP_VERSION_NOT_SUPPORTED;
#define MISHAP_CODE_HTTP_VERSION_NOT_SUPPORTED (&mishap_code_HTTP_VERSION_NOT_SUPPORTED)
/* There is no space left to store this. */
extern const mishap_code mishap_code_INSUFFICIENT_STORAGE;
#define MISHAP_CODE_INSUFFICIENT_STORAGE (&mishap_code_INSUFFICIENT_STORAGE)
/* The server detected an endless loop while it processed the request. */
extern const mishap_code mishap_code_LOOP_DETECTED;
#define MISHAP_CODE_LOOP_DETECTED (&mishap_code_LOOP_DETECTED)
/* The server is not configured correctly. */
extern const mishap_code mishap_code_VARIANT_ALSO_NEGOTIATES;
#define MISHAP_CODE_VARIANT_ALSO_NEGOTIATES (&mishap_code_VARIANT_ALSO_NEGOTIATES)

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
