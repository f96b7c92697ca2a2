/* More of something than a job can have: told to all as what the programs have made, with how many there can be; and as many go. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;
enum { CHANNELS_MAX = 2048, TRIGGERS_MAX = 4096, PRIORITIES_MAX = 40 };

static void refused(const char *words)
{
    EXPECT(MPIRT_Commit(), MPIRT_ERR_LIMIT);
    CHECK(detail_says(words));
}

static void committed(void)
{
    MUST(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

/* Channels from the first member to the last, of which each is served at both ends.
 * spec: SETUP-LIMIT-01, ERROR-DETAIL-04 */
static void test_channels_with_a_priority(void)
{
    static MPIRT_Channel channels[CHANNELS_MAX + 1];
    MPIRT_Bufiter in = iterator_of(1, 0), out = iterator_of(1, 0);
    MPIRT_Qos qos;
    char name[MPIRT_NAME_MAX];
    int is_end = rank == 0 || rank == members - 1;
    OK(MPIRT_Qos_channel_priority_create(NULL, 10, &qos));
    for (int place = 0; is_end && place <= CHANNELS_MAX; place++) {
        snprintf(name, sizeof name, "c%d", place);
        MUST(MPIRT_Ptchannel_create(name, in, out, 0, members - 1, MPIRT_GROUP_WORLD, qos, &channels[place]));
    }
    refused("2049 priority- or event-driven channels, but at most 2048 are possible: they take 4098 triggers, and there can be 4096");
    for (int place = 0; is_end && place <= CHANNELS_MAX; place++)
        OK(MPIRT_Channel_free(&channels[place]));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Bufiter_free(&out));
}

/* Each member makes its part of them. */
/* spec: SETUP-LIMIT-01, ERROR-DETAIL-04 */
static void test_triggers(void)
{
    static MPIRT_Trigger triggers[TRIGGERS_MAX + 1];
    char name[MPIRT_NAME_MAX];
    for (int place = rank; place <= TRIGGERS_MAX; place += members) {
        snprintf(name, sizeof name, "t%d", place);
        MUST(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &triggers[place]));
    }
    refused("4097 triggers, but at most 4096 are possible");
    for (int place = rank; place <= TRIGGERS_MAX; place += members)
        OK(MPIRT_Trigger_free(&triggers[place]));
}

static void handles(MPIRT_Receptor own, const MPIRTX_Event *event, void *argument)
{
    (void)own, (void)event, (void)argument;
}

/* Handlers of one event at so many priorities.
 * spec: SETUP-LIMIT-02, ERROR-DETAIL-04 */
static void test_priorities(void)
{
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    MPIRT_Cset handlers;
    MPIRT_Handler handler;
    MPIRT_Qos qos;
    OK(MPIRT_Trigger_create("all", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Cset_create(NULL, &handlers));
    for (int priority = 1; priority <= PRIORITIES_MAX; priority++) {
        OK(MPIRTX_Qos_handler_create(NULL, priority, ms / 100, 100 * ms, &qos));
        OK(MPIRT_Handler_create(NULL, handles, NULL, qos, &handler));
        OK(MPIRT_Cset_insert(handlers, MPIRT_OBJECT(handler)));
    }
    MUST(MPIRT_Receptor_create("all", MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
    committed();
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRTX_Qos_handler_create(NULL, MPIRT_PRIORITY_MAX, ms / 100, 100 * ms, &qos));
    OK(MPIRT_Handler_create(NULL, handles, NULL, qos, &handler));
    OK(MPIRT_Cset_insert(handlers, MPIRT_OBJECT(handler)));
    MUST(MPIRT_Receptor_create("all", MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
    refused("41 different priorities, but at most 40 are possible");
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Cset_free(&handlers));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (members > 1)
        test_channels_with_a_priority();
    test_triggers();
    test_priorities();
    committed();
    return end();
}
