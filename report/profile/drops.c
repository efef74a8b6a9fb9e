#include "cct/profile_format.h"

const char *const profile_drop_name[PROFILE_DROP_REASONS] = {
    [PROFILE_DROP_IN_TOOL] = "in tool",   [PROFILE_DROP_NO_MEMORY] = "no memory",
    [PROFILE_DROP_STOPPING] = "stopping", [PROFILE_DROP_NO_PATH] = "no path",
    [PROFILE_DROP_OVERLOAD] = "overload", [PROFILE_DROP_CUT_OFF] = "cut off",
    [PROFILE_DROP_PAUSED] = "paused",     [PROFILE_DROP_FAULT] = "fault in handler",
};
