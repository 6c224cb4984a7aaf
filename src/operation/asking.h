/*
 * Questions of handlers, and the answers to them: the inside of mishap_ask().
 *
 * A run that ends with questions is a failure, INPUT_REQUIRED, which tells them as `questions`:
 *
 *     {"confirm":{"message":"Delete 3 todos?","schema":{…}},
 *      "roots":{"method":"roots/list","params":{}}}
 *
 * A boundary asks its caller, gives the answers to the call, and runs it again.
 */
#ifndef MISHAP_OPERATION_ASKING_H
#define MISHAP_OPERATION_ASKING_H

#include "operation/call.h"

enum {
    MISHAP_ASKING_ROUNDS = 8,          /* of one call */
    MISHAP_ASKING_QUESTIONS = 32,      /* of one operation */
    MISHAP_ASKING_MESSAGE = 4000,      /* bytes of a question */
    MISHAP_ASKING_REPLIES = 64 * 1024, /* bytes of all answers */
};

/* A question that a handler asks. */
typedef struct mishap_asked {
    const mishap_question *question;
    mishap_text message; /* for a person; of a request to a client: its parameters, as JSON */
    struct mishap_asked *next;
} mishap_asked;

/* The question of this name; NULL: the operation does not declare it. */
const mishap_question *mishap_question_find(const mishap_operation *operation, mishap_text name);

/* True for what mishap_ask() returns; the second makes the failure of it. */
bool mishap_asking_is_due(const mishap *outcome);
mishap *mishap_asking_conclude(mishap_call *call);

/* True if a call has ended with questions. */
static inline bool mishap_asking_is(const mishap_call *call, const mishap *failure)
{
    return call && call->questions && failure &&
           mishap_told(failure)->code == MISHAP_CODE_INPUT_REQUIRED;
}

/* Write a question as a member: its name, and its message and schema. */
void mishap_asking_put_question(mishap_buffer *json, const mishap_asked *asked);

/* Write the schema of an answer, in the words that forms of MCP clients have. */
void mishap_question_put_schema(mishap_buffer *json, const mishap_question *question);

/* What a caller sends beside the parameters of an operation that asks, for schemas: `_state` and
 * `_answers`. */
extern const mishap_param mishap_asking_params[];

/* Three lists in one, of which any may be NULL. mishap_release() it; NULL: no memory. */
mishap_param *mishap_params_join(const mishap_param *first, const mishap_param *second,
                                 const mishap_param *third);

/* -- answers ----------------------------------------------------------------------------------- */

/* The form in which answers come: {"confirm":{"sure":true}}, where null declines; or as clients of
 * MCP send them, {"confirm":{"action":"accept","content":{"sure":true}}}. */
typedef enum mishap_answers_form {
    MISHAP_ANSWERS_PLAIN,
    MISHAP_ANSWERS_OF_SCRIPT, /* the same, but they cannot come from a person */
    MISHAP_ANSWERS_OF_CLIENT,
} mishap_answers_form;

/*
 * Give answers to a call, an object as it came (NULL: none), in addition to those that it has. They
 * are checked; a wrong one is no answer, and what is wrong with it is told when it is asked for
 * again. The result is `call->replies`:
 *
 *     {"confirm":{"accept":{"sure":true}},"name":{"decline":true},"day":{"wrong":"…"}}
 *
 * A failure if there is no memory, or they are too long.
 */
mishap *mishap_asking_answer(mishap_call *call, yyjson_val *answers, mishap_answers_form form);

/* Answers of a program, a query or a model: an object, or JSON of one in a text, which is read into
 * `reader`. VALIDATION_ERROR if `*answers` is something else, or answers what is not declared. */
mishap *mishap_asking_check(const mishap_call *call, mishap_json_reader *reader,
                            yyjson_val **answers);

/* The same from JSON of a program or a command line; BAD_REQUEST if it is no object,
 * VALIDATION_ERROR if it answers what is not declared. */
mishap *mishap_asking_answer_text(mishap_call *call, mishap_text json, mishap_answers_form form);

/* Write the answers of a call that are kept while it asks, as an object: those that are right, and
 * not those to what is asked again. */
void mishap_asking_put_kept(mishap_buffer *out, const mishap_call *call);

/* Make a call ready to be run again, with its answers. */
void mishap_asking_again(mishap_call *call);

#endif
