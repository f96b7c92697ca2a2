/* What members get of an event when the one that fires it is killed: two members, and member 1 kills itself while both wait. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>

enum { FIRINGS = 3 };
static const MPIRT_Timespec ms = INT64_C(1000000);

static void *wait_for_ever(void *receptor)
{
    MPIRT_Receptor_wait(*(MPIRT_Receptor *)receptor, MPIRT_TIME_SPEC_IGNORE);
    return NULL;
}

static MPIRT_Trigger call(const char *event)
{
    MPIRT_Trigger trigger;
    OK(MPIRT_Trigger_create(event, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    return trigger;
}

static MPIRT_Receptor receptor_of(const char *event)
{
    MPIRT_Receptor receptor;
    OK(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    return receptor;
}

static void die(void)
{
    MPIRT_Trigger from = call("from-1"), either = call("either");
    MPIRT_Receptor to = receptor_of("to-1");
    pthread_t thread;
    (void)either;
    MUST(MPIRT_Commit());
    for (int firing = 0; firing < FIRINGS; firing++)
        OK(MPIRT_Trigger_fire(from));
    pthread_create(&thread, NULL, wait_for_ever, &to);
    /* Long enough that the other sleeps too, most of the time; whatever happens first, the answers are the same. */
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 100 * ms));
    raise(SIGKILL);
}

/* spec: EVENT-RECEPTOR-WAIT-08, MPIRT_Receptor_wait/PEER_LOST */
static void test_a_wait_for_the_dead_ends(void)
{
    MPIRT_Receptor from = receptor_of("from-1"), either = receptor_of("either");
    MPIRT_Trigger to = call("to-1"), own = call("either");
    MUST(MPIRT_Commit());
    for (int firing = 0; firing < FIRINGS; firing++)
        OK(MPIRT_Receptor_wait(from, MPIRT_TIME_SPEC_IGNORE));
    EXPECT(MPIRT_Receptor_wait(from, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_PEER_LOST);
    /* This one can still be fired: by this member. */
    EXPECT(MPIRT_Receptor_wait(either, ms), MPIRT_ERR_TIMEOUT);
    OK(MPIRT_Trigger_fire(own));
    OK(MPIRT_Receptor_wait(either, MPIRT_TIME_SPEC_IGNORE));
    /* The dead one still seems to wait; that holds up nobody. */
    for (int firing = 0; firing < 1000; firing++)
        OK(MPIRT_Trigger_fire(to));
    MPIRT_Uncommit();
    MPIRT_Finalize();
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 1)
        die();
    test_a_wait_for_the_dead_ends();
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
