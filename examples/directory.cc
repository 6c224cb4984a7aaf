// examples/directory.c in C++20: the same operations, with results and owners instead of pointers.
//
//     directory users create --name "Ada Lovelace" --age 36 --email ada@example.com
//     directory users get ada@example.com
//     directory serve
//     curl localhost:8080/users/ada@example.com
//
// The users are kept in the file that DIRECTORY_FILE names, else in users.txt: a line for each,
// with the e-mail, a tab and the user. Both are JSON, which has neither tabs nor line feeds.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <mishap/mishap.hpp>

#include <fstream>
#include <map>

static const mishap_param user_params[] = {
    { .name = "name",
      .type = MISHAP_STRING,
      .required = true,
      .length = { 1, 200 },
      .help = "Full name" },
    { .name = "age", .type = MISHAP_INTEGER, .range = { 0, 150 } },
    { .name = "email", .type = MISHAP_STRING, .required = true, .pattern = ".*@.*\\..*" },
    {}
};

static const mishap_param email_params[] = { { .name = "email",
                                               .type = MISHAP_STRING,
                                               .required = true,
                                               .positional = true,
                                               .help = "Whose e-mail" },
                                             {} };

// The file, locked for as long as this lives.
class lock
{
  public:
    explicit lock(const char *name) : file(open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600))
    {
        if (file < 0 || flock(file, LOCK_EX) != 0)
            throw mishaps::thrown(mishap_raise(UNAVAILABLE, "The directory cannot be opened."));
    }
    lock(const lock &) = delete;
    lock &operator=(const lock &) = delete;
    ~lock()
    {
        close(file);
    }

  private:
    int file;
};

using users = std::map<std::string, std::string, std::less<>>; // by e-mail, as JSON

static const char *file_of(mishaps::call call)
{
    return static_cast<const char *>(mishap_state(call));
}

static users read_users(mishaps::call call)
{
    users found;
    std::ifstream file(file_of(call));
    for (std::string line; std::getline(file, line);) {
        size_t tab = line.find('\t');
        if (tab != std::string::npos)
            found.emplace(line.substr(0, tab), line.substr(tab + 1));
    }
    return found;
}

static mishaps::result<std::string> find_user(mishaps::call call)
{
    users all = read_users(call);
    auto found = all.find(call.json("email"));
    if (found == all.end())
        return mishap_not_found("User not found");
    return found->second;
}

static mishaps::result<void> create_user(mishaps::call call)
{
    lock held(file_of(call));
    if (find_user(call))
        return mishap_tell(mishap_raise(ALREADY_EXISTS, "A user with this e-mail already exists."),
                           "email", call.string("email"));
    std::ofstream file(file_of(call), std::ios::app);
    file << call.json("email") << '\t' << call.json("") << '\n' << std::flush;
    if (!file)
        return mishap_raise(UNAVAILABLE, "The user could not be written to the directory.");
    return mishap_created(call, call.json("").data(), nullptr);
}

static mishaps::result<void> get_user(mishaps::call call)
{
    return find_user(call).and_then([&](const std::string &user) {
        return mishaps::result<void>(mishap_answer(call, user.c_str()));
    });
}

static mishaps::result<void> list_users(mishaps::call call)
{
    mishap_answer_array(call, nullptr);
    for (const auto &[email, user] : read_users(call))
        mishap_answer_json(call, nullptr, user.c_str());
    return {};
}

static const mishap_operation operations[] = { { .name = "users.create",
                                                 .summary = "Create a user",
                                                 .params = user_params,
                                                 .run = mishaps::handler<create_user>,
                                                 .answers = user_params,
                                                 .raises = MISHAP_RAISES(ALREADY_EXISTS,
                                                                         UNAVAILABLE),
                                                 .danger = MISHAP_MUTATING,
                                                 .route = "POST /users",
                                                 .status = 201 },
                                               { .name = "users.get",
                                                 .summary = "Show a user",
                                                 .params = email_params,
                                                 .run = mishaps::handler<get_user>,
                                                 .answers = user_params,
                                                 .raises = MISHAP_RAISES(NOT_FOUND),
                                                 .route = "GET /users/:email" },
                                               { .name = "users.list",
                                                 .summary = "List all users",
                                                 .run = mishaps::handler<list_users>,
                                                 .route = "GET /users" },
                                               {} };

int main(int argc, char **argv)
{
    const char *file = std::getenv("DIRECTORY_FILE");
    std::string usual = file ? file : "users.txt";
    const mishap_app app = {
        .name = "directory", .version = "1.0", .operations = operations, .state = usual.data()
    };
    return mishap_main(argc, argv, &app);
}
