#include "operation/trial.h"

#include "base/json_read.h"
#include "base/json_write.h"
#include "operation/call.h"

mishap *mishap_trial_begin(const mishap_app *app, const mishap_service *service, int limit_ms,
                           mishap_call **out)
{
    mishap *failure = mishap_call_begin(app, service->trial->operation,
                                        mishap_text_of(service->trial->arguments), out);
    if (!failure)
        mishap_call_limit(*out, limit_ms);
    return failure;
}

mishap *mishap_trial_judge(const mishap_service *service, mishap_text answer)
{
    enum { MOST_SHOWN = 500 };
    const mishap_trial *trial = service->trial;
    char storage[MISHAP_JSON_STORAGE], room[MOST_SHOWN];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_buffer found;
    mishap *wrong = NULL;
    mishap_buffer_init(&found, room, sizeof room);
    yyjson_val *value = mishap_json_read(&reader, answer)
                            ? yyjson_obj_get(reader.root, trial->member)
                            : NULL;
    if (value)
        mishap_json_copy(&found, value);
    if (found.failed)
        wrong = mishap_out_of_memory();
    else if (!value ||
             !mishap_text_equal(mishap_buffer_text(&found), mishap_text_of(trial->expected))) {
        size_t shown = found.length < MOST_SHOWN ? found.length : MOST_SHOWN;
        wrong = mishap_raise(INTERNAL_ERROR, "The service %s answered its trial wrongly.",
                             service->name);
        wrong = mishap_note(wrong, "member", trial->member);
        wrong = mishap_note(wrong, "expected", trial->expected);
        if (value)
            wrong = mishap_note(wrong, "came", ((mishap_text){ found.data, shown }));
    }
    mishap_buffer_release(&found);
    mishap_json_reader_release(&reader);
    return wrong;
}
