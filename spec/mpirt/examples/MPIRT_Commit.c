#include <mpirt.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int error;
    if (MPIRT_Init(&argc, &argv) != MPIRT_SUCCESS)
        return EXIT_FAILURE;
    /* ... create iterators, buffers, channels and tasks here ... */
    error = MPIRT_Commit();
    if (error != MPIRT_SUCCESS) {
        const char *text, *detail;
        MPIRT_Error_string(error, &text);
        MPIRTX_Error_detail(&detail); /* which declarations conflict, and what would fit */
        fprintf(stderr, "%s\n%s\n", text, detail);
        return EXIT_FAILURE;
    }
    MPIRTX_Run(); /* to the job's horizon */
    MPIRT_Finalize();
    return EXIT_SUCCESS;
}
