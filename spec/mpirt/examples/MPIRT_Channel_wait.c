#include <mpirt.h>

/* Receives one message on a channel that no task serves; at most a second is waited for it. */
int receive(MPIRT_Channel channel, MPIRT_Bufiter received, MPIRT_Buffer *buffer)
{
    int error = MPIRT_Channel_start(channel);
    if (error == MPIRT_SUCCESS)
        error = MPIRT_Channel_wait(channel, INT64_C(1000000000));
    if (error == MPIRT_SUCCESS)
        error = MPIRT_Bufiter_remove(received, buffer);
    return error;
}
