#include "layers/gomp/provider.h"

struct callbacks callbacks;
bool provider_passes_on;
__thread struct thread *thread_gomp;
