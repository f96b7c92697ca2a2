#include <mpirt.h>
#include <stdint.h>
#include <stdio.h>

/* Sends a number: an empty buffer comes out of where sent ones go, and goes into where full ones are taken. */
int send(MPIRT_Bufiter full, MPIRT_Bufiter sent, int64_t number)
{
    MPIRT_Buffer buffer;
    void *base;
    int error = MPIRT_Bufiter_remove(sent, &buffer);
    if (error != MPIRT_SUCCESS)
        return error; /* MPIRT_ERR_EMPTY: all are on their way */
    MPIRT_Buffer_get_base(buffer, &base);
    *(int64_t *)base = number;
    return MPIRT_Bufiter_insert(full, buffer);
}
