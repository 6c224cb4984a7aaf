/*
 * A directory of users: each operation is declared once, and is a command and an HTTP endpoint.
 *
 *     directory users create --name "Ada Lovelace" --age 36 --email ada@example.com
 *     directory users get ada@example.com
 *     directory serve
 *     curl localhost:8080/users/ada@example.com
 *
 * The users are kept in the file that DIRECTORY_FILE names, else in users.txt: a line for each,
 * with the e-mail, a tab and the user. Both are JSON, which has neither tabs nor line feeds.
 */
#include <mishap/main.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static const mishap_param user_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 200 }, .help = "Full name" },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "email", MISHAP_STRING, .required = true, .pattern = ".*@.*\\..*" },
    { 0 }
};

static const mishap_param email_params[] = {
    { "email", MISHAP_STRING, .required = true, .positional = true, .help = "Whose e-mail" }, { 0 }
};

/* All lines of the file, in memory of the call. The file stays locked until it is closed. */
static char *read_users(mishap_call *call, FILE *file)
{
    flock(fileno(file), LOCK_EX);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *users = mishap_call_take(call, size + 1);
    rewind(file);
    users[fread(users, 1, size, file)] = '\0';
    return users;
}

/* The user with the e-mail of the call, as JSON; NULL if there is none. */
static const char *find_user(mishap_call *call, char *users)
{
    const char *email = mishap_json(call, "email");
    size_t length = strlen(email);
    for (char *line = strtok(users, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, email, length) == 0 && line[length] == '\t')
            return line + length + 1;
    return NULL;
}

static mishap *create_user(mishap_call *call)
{
    FILE *file = fopen(mishap_state(call), "a+");
    if (!file)
        return mishap_raise(UNAVAILABLE, "The directory cannot be opened.");
    const char *user = mishap_json(call, "");
    bool exists = find_user(call, read_users(call, file));
    bool written = exists || fprintf(file, "%s\t%s\n", mishap_json(call, "email"), user) > 0;
    if (fclose(file) != 0 || !written)
        return mishap_raise(UNAVAILABLE, "The user could not be written to the directory.");
    if (exists)
        return mishap_tell(mishap_raise(ALREADY_EXISTS, "A user with this e-mail already exists."),
                           "email", mishap_string(call, "email"));
    return mishap_created(call, user, NULL);
}

static mishap *get_user(mishap_call *call)
{
    FILE *file = fopen(mishap_state(call), "r");
    const char *user = file ? find_user(call, read_users(call, file)) : NULL;
    if (file)
        fclose(file);
    return user ? mishap_answer(call, user) : mishap_not_found("User not found");
}

static mishap *list_users(mishap_call *call)
{
    FILE *file = fopen(mishap_state(call), "r");
    char *users = file ? read_users(call, file) : NULL;
    if (file)
        fclose(file);
    mishap_answer_array(call, NULL);
    for (char *line = users ? strtok(users, "\n") : NULL; line; line = strtok(NULL, "\n"))
        mishap_answer_json(call, NULL, strchr(line, '\t'));
    return NULL;
}

static const mishap_operation operations[] = {
    { "users.create", "Create a user", user_params, create_user, .route = "POST /users",
      .raises = MISHAP_RAISES(ALREADY_EXISTS, UNAVAILABLE), .danger = MISHAP_MUTATING,
      .answers = user_params, .status = 201 },
    { "users.get", "Show a user", email_params, get_user, .route = "GET /users/:email",
      .raises = MISHAP_RAISES(NOT_FOUND), .answers = user_params },
    { "users.list", "List all users", NULL, list_users, .route = "GET /users" },
    { 0 }
};

int main(int argc, char **argv)
{
    char usual[] = "users.txt", *file = getenv("DIRECTORY_FILE");
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "directory",
                                      .version = "1.0",
                                      .operations = operations,
                                      .state = file ? file : usual });
}
