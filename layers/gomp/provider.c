#include "layers/gomp/provider.h"

struct callbacks callbacks;
__thread struct thread *thread_gomp;
