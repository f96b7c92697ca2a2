/* Exceptions that leave functions of the program which are called through C: the failure is the function's, and the process goes on. (mpirt.hpp
 * catches them itself.) */
#include "harness.h"

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>

static const MPIRT_Timespec ms = 1000000;
static int throws;

/* What the function found when it was called, and how many exceptions live. */
static std::atomic<int> under_way, alive;

struct failure : std::runtime_error {
    failure() : std::runtime_error("on purpose") { alive++; }
    failure(const failure &other) : std::runtime_error(other) { alive++; }
    ~failure() override { alive--; }
};

/* Counts the destructors that ran on the way out. */
static std::atomic<int> unwound;
struct counted {
    ~counted() { unwound++; }
};

static void handler_function(MPIRT_Receptor, const MPIRTX_Event *, void *)
{
    under_way += std::uncaught_exceptions();
    counted on_the_way;
    if (throws)
        throw failure();
}

/* spec: ERROR-PROCESS-06 */
static void test_handlers()
{
    MPIRT_Trigger trigger;
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRT_Cvector handlers;
    MPIRTX_Handler_metrics metrics;
    char name[MPIRT_NAME_MAX];
    uint64_t expected = 0;
    snprintf(name, sizeof name, "thrown-%d", rank);
    OK(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Handler_create(NULL, handler_function, NULL, MPIRT_QOS_NULL, &handler));
    MPIRT_Object object = MPIRT_OBJECT(handler);
    OK(MPIRT_Cvector_create(NULL, 1, &object, &handlers));
    OK(MPIRT_Receptor_create(name, MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
    MUST(MPIRT_Commit());
    for (uint64_t run = 0; run < 6; run++) {
        throws = run % 3 != 0;
        expected += throws != 0;
        OK(MPIRT_Trigger_fire(trigger));
        do {
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
            OK(MPIRTX_Handler_get_metrics(handler, &metrics));
        } while (metrics.compute.count < run + 1);
        CHECK(metrics.failed == expected);
        CHECK(unwound == (int)run + 1);
    }
    CHECK(under_way == 0);
    CHECK(alive == 0);
    OK(MPIRT_Uncommit());
}

static int delete_function(MPIRT_Object, int, void *, void *)
{
    if (throws)
        throw 17;
    return MPIRT_SUCCESS;
}

/* spec: ERROR-PROCESS-06 */
static void test_delete_functions()
{
    MPIRT_Cset set;
    int key, flag;
    void *value;
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Keyval_create(delete_function, NULL, &key));
    OK(MPIRT_Object_put_attr(MPIRT_OBJECT(set), key, &key));
    throws = 1;
    EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_ARGUMENT);
    CHECK(std::uncaught_exceptions() == 0 && !std::current_exception());
    CHECK(detail_says("an exception") && detail_says("delete function"));
    OK(MPIRT_Object_get_attr(MPIRT_OBJECT(set), key, &value, &flag));
    CHECK(flag == 1 && value == &key);
    throws = 0;
    OK(MPIRT_Cset_free(&set));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_handlers();
    test_delete_functions();
    return end();
}
