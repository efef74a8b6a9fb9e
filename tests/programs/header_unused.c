/* Includes the header and uses nothing of it. */
#include "blame.h"

int main(void)
{
    return 0;
}
