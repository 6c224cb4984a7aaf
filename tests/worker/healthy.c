/*
 * A program whose services speak in /health, for health_test.py.
 *
 *     healthy serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

static mishap *greet(mishap_call *call)
{
    return mishap_answer_member(call, "hello", (bool)true);
}

static void say_health(const mishap_setup *setup, mishap_health *health)
{
    (void)setup;
    mishap_health_member(health, "interpreter", "sbcl \"2.2\"");
    mishap_health_member(health, "sessions", 3);
    mishap_health_member(health, "nothing", mishap_value_none());
    mishap_health_json(health, "list", "[1,{\"a\":null}]");
    mishap_health_sandbox(health);
}

static const mishap_service warm = { .name = "warm", .health = say_health };
static const mishap_service mute = { .name = "mute" };

static const mishap_operation operations[] = {
    { "greet", "Greet", .run = greet, .route = "GET /greet", .service = &warm },
    { "hail", "Greet, too", .run = greet, .route = "GET /hail", .service = &mute },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv, &(mishap_app){ .name = "healthy", .version = "1.0", .operations = operations });
}
