/* Descriptors for epoll, of a receptor and of a channel that a thread of the library serves. The first member waits in epoll alone: an
 * event, a message or the end that does not make its descriptor readable hangs the test. */
#define _GNU_SOURCE
#include "harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 20, MESSAGES = 20 };

static MPIRT_Trigger bell, answer;
static MPIRT_Receptor heard, answered, handled;
static MPIRT_Channel sent, plain;
static MPIRT_Bufiter input, output;

static void unheard(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
}

static void make(void)
{
    MPIRT_Group world = MPIRT_GROUP_WORLD;
    int last = members - 1;
    MPIRT_Handler handler;
    MPIRT_Cvector handlers;
    MPIRT_Object object;
    MPIRT_Qos qos;
    input = iterator_of(1, MESSAGES);
    output = iterator_of(1, 0);
    MUST(MPIRT_Qos_channel_priority_create(NULL, 20, &qos));
    if (rank == last) {
        MUST(MPIRT_Trigger_create("bell", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, world, MPIRT_QOS_NULL, &bell));
        MUST(MPIRT_Receptor_create("answer", world, MPIRT_CONTAINER_NULL, &answered));
    }
    if (rank == 0) {
        MUST(MPIRT_Trigger_create("answer", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, world, MPIRT_QOS_NULL, &answer));
        MUST(MPIRT_Receptor_create("bell", world, MPIRT_CONTAINER_NULL, &heard));
        MUST(MPIRT_Handler_create(NULL, unheard, NULL, MPIRT_QOS_NULL, &handler));
        object = MPIRT_OBJECT(handler);
        MUST(MPIRT_Cvector_create(NULL, 1, &object, &handlers));
        MUST(MPIRT_Receptor_create("bell", world, MPIRT_CONTAINER(handlers), &handled));
    }
    if (rank == 0 || rank == last) {
        MUST(MPIRT_Ptchannel_create("sent", input, output, last, 0, world, qos, &sent));
        MUST(MPIRT_Ptchannel_create("plain", input, output, last, 0, world, MPIRT_QOS_NULL, &plain));
    }
}

static void watch(int epoll, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0);
}

/* Waits until one is readable, and takes that away. */
static int next_readable(int epoll)
{
    struct epoll_event event;
    uint64_t count = 0;
    while (epoll_wait(epoll, &event, 1, -1) != 1)
        continue;
    CHECK(read(event.data.fd, &count, sizeof count) == sizeof count && count > 0);
    return event.data.fd;
}

static int is_readable(int descriptor)
{
    struct pollfd polled = {.fd = descriptor, .events = POLLIN};
    return poll(&polled, 1, 0) == 1;
}

/* spec: MPIRTX_Receptor_get_descriptor/UNDEF_FOR_OBJECT, MPIRTX_Channel_get_descriptor/UNDEF_FOR_OBJECT */
static void test_what_has_none(void)
{
    int descriptor = -5;
    EXPECT(MPIRTX_Receptor_get_descriptor(handled, &descriptor), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Channel_get_descriptor(plain, &descriptor), MPIRT_ERR_UNDEF_FOR_OBJECT);
    CHECK(detail_says("MPIRTX_Container_wait_any"));
    CHECK(descriptor == -5);
}

/* spec: MPIRTX_Receptor_get_descriptor, MPIRTX_Channel_get_descriptor, EVENT-DESCRIPTOR-01 */
static void test_everything_is_seen(int epoll, int events, int messages)
{
    int taken = 0, received = 0;
    while (taken < EVENTS || received < MESSAGES) {
        int flag = 1, which = next_readable(epoll);
        CHECK(which == events || which == messages);
        if (which == events)
            for (OK(MPIRTX_Receptor_test(heard, &flag)); flag; OK(MPIRTX_Receptor_test(heard, &flag)))
                taken++;
        if (which == messages)
            for (OK(MPIRT_Channel_test(sent, &flag)); flag; OK(MPIRT_Channel_test(sent, &flag)))
                received++;
        if (failures > 0)
            return;
        /* The next one comes only now. */
        if (taken < EVENTS || received < MESSAGES)
            OK(MPIRT_Trigger_fire(answer));
    }
    CHECK(taken == EVENTS && received == MESSAGES);
}

/* A descriptor is closed by the end of the commit, and what waits for it learns of the end before. */
static void receive(void)
{
    int events = -1, messages = -1, again = -1, epoll = epoll_create1(EPOLL_CLOEXEC);
    test_what_has_none();
    OK(MPIRTX_Receptor_get_descriptor(heard, &events));
    OK(MPIRTX_Channel_get_descriptor(sent, &messages));
    OK(MPIRTX_Receptor_get_descriptor(heard, &again));
    CHECK(events >= 0 && messages >= 0 && events != messages && again == events);
    CHECK(!is_readable(events) && !is_readable(messages));
    watch(epoll, events);
    watch(epoll, messages);
    OK(MPIRT_Channel_activate(sent));
    OK(MPIRT_Trigger_fire(answer));
    test_everything_is_seen(epoll, events, messages);
    close(epoll);
    OK(MPIRT_Uncommit());
    CHECK(fcntl(events, F_GETFD) == -1 && fcntl(messages, F_GETFD) == -1);
    EXPECT(MPIRTX_Receptor_get_descriptor(heard, &events), MPIRT_ERR_NOT_COMMITTED);
}

/* An event and a message in turn, each once the one before has been seen. */
static void send(void)
{
    for (int number = 0; number < EVENTS; number++) {
        OK(MPIRT_Receptor_wait(answered, MPIRT_TIME_SPEC_IGNORE));
        OK(MPIRT_Trigger_fire(bell));
        OK(MPIRT_Receptor_wait(answered, MPIRT_TIME_SPEC_IGNORE));
        OK(MPIRT_Channel_start(sent));
        OK(MPIRT_Channel_wait(sent, MPIRT_TIME_SPEC_IGNORE));
    }
    OK(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    make();
    MUST(MPIRT_Commit());
    if (rank == 0)
        receive();
    else if (rank == members - 1)
        send();
    else
        OK(MPIRT_Uncommit());
    return end();
}
