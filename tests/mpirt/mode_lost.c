/* A member dies on the way to another mode: no other is left waiting, or in another mode than the rest. The job ends by that, so each
 * number of members shows another moment: two, before Mode_commit; three, before Mode_switch; four, between agreement and switch. */
#define _GNU_SOURCE
#include "mode_pair.h"

#include <pthread.h>
#include <unistd.h>

static void *dies_soon(void *argument)
{
    (void)argument;
    usleep(400000);
    _exit(7);
}

/* spec: MPIRTX_Mode_commit/PEER_LOST, MPIRTX_Mode_switch/PEER_LOST, MODE-SWITCH-04 */
static void test_whoever_changes_the_mode_hears_of_a_death(void)
{
    struct pair pair;
    MPIRTX_Mode current;
    MPIRT_Timespec at = 0, now;
    int dies = rank == members - 1;
    pthread_t thread;
    begin_pair(&pair, "lost", counts);
    if (dies && members == 2)
        dies_soon(NULL);
    if (members == 2) {
        EXPECT(MPIRTX_Mode_commit(pair.mode), MPIRT_ERR_PEER_LOST);
    } else {
        MUST(MPIRTX_Mode_commit(pair.mode));
        if (dies && members == 3)
            dies_soon(NULL);
        if (dies && members == 4)
            CHECK(pthread_create(&thread, NULL, dies_soon, NULL) == 0);
        OK(MPIRT_Get_time(&now));
        EXPECT(MPIRTX_Mode_switch(pair.mode, now + 3000 * ms, &at), MPIRT_ERR_PEER_LOST);
    }
    CHECK(at == 0 && pair.after == 0 && pair.before > 0);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == 0);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRTX_Mode_get_current(&current), MPIRT_ERR_NOT_COMMITTED);
    free_pair(&pair);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_whoever_changes_the_mode_hears_of_a_death();
    return end_without_commit();
}
