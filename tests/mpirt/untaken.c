/* Five messages are inserted, two are taken: the run says so at its end. Iterators are all that is called after activation. */
#include "harness.h"

enum { INSERTED = 5, TAKEN = 2 };

int main(int argc, char **argv)
{
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
    MPIRT_Buffer buffer;
    static int64_t contents[INSERTED];
    begin(&argc, &argv);
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof *contents, MPIRT_INT64, MPIRT_CONTAINER_NULL, &in));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof *contents, MPIRT_INT64, MPIRT_CONTAINER_NULL, &out));
    MUST(MPIRT_Ptchannel_create("messages", in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    for (int place = 0; place < (rank == 0 ? INSERTED : TAKEN); place++) {
        contents[place] = place;
        MUST(MPIRT_Buffer_create(NULL, &contents[place], sizeof *contents, MPIRT_INT64, &buffer));
        OK(MPIRT_Bufiter_insert(in, buffer));
    }
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(channel));
    for (int number = 0; number < TAKEN; number++)
        while (MPIRT_Bufiter_remove(out, &buffer) == MPIRT_ERR_EMPTY)
            ;
    OK(MPIRT_Uncommit());
    return end();
}
