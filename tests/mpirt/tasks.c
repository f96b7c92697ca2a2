/* Tasks that run to the job's horizon. The job has one: it is started with a number of rounds. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

/* What a task may not call, it is told; what may be called at any time answers. */
static int answers[8];

static void calls_what_it_may_not(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Cset set;
    int flag = 0;
    (void)task, (void)instance, (void)argument;
    answers[0] = MPIRT_Cset_create("set", &set);
    answers[1] = MPIRT_Commit();
    answers[2] = MPIRT_Uncommit();
    answers[3] = MPIRTX_Run();
    answers[4] = MPIRT_Sleep(MPIRT_TIME_RELATIVE, MPIRT_TIME_SPEC_IGNORE);
    answers[5] = MPIRT_Channel_wait(MPIRT_CHANNEL_NULL, MPIRT_TIME_SPEC_IGNORE);
    answers[6] = MPIRT_Init(NULL, NULL);
    answers[7] = MPIRT_Is_initialized(&flag);
}

static void test_calls_from_a_task(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "caller-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    OK(MPIRTX_Task_create(name, calls_what_it_may_not, NULL, qos, ms, &task));
    OK(MPIRT_Commit());
    OK(MPIRTX_Run());
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    for (int place = 0; place < 6; place++)
        CHECK(answers[place] == MPIRT_ERR_REAL_TIME);
    CHECK(answers[6] == MPIRT_ERR_ALREADY_INITIALIZED);
    CHECK(answers[7] == MPIRT_SUCCESS);
}

/* Getters answer in a task, of what was committed. */
static struct {
    MPIRT_Cset set;
    MPIRT_Cvector vector;
    int codes[11], own, size, count, flag, found, many;
    MPIRT_Object element;
    MPIRT_Object_type type;
    char name[MPIRT_NAME_MAX], world[MPIRT_NAME_MAX], member[MPIRT_NAME_MAX];
} asked;

static void asks(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    int *code = asked.codes;
    (void)task, (void)instance, (void)argument;
    *code++ = MPIRT_Group_rank(MPIRT_GROUP_WORLD, &asked.own);
    *code++ = MPIRT_Group_size(MPIRT_GROUP_WORLD, &asked.size);
    *code++ = MPIRT_Container_access_count(MPIRT_CONTAINER(asked.set), &asked.count);
    *code++ = MPIRT_Object_get_name(MPIRT_OBJECT(asked.set), asked.name);
    *code++ = MPIRT_Group_get_name(MPIRT_GROUP_WORLD, asked.world);
    *code++ = MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, rank, asked.member);
    *code++ = MPIRTX_Group_find_member(MPIRT_GROUP_WORLD, asked.member, &asked.found);
    *code++ = MPIRT_Cvector_get_element(asked.vector, 0, &asked.element);
    *code++ = MPIRTX_Cset_contains(asked.set, MPIRT_OBJECT(asked.vector), &asked.flag);
    *code++ = MPIRT_Cvector_get_size(asked.vector, &asked.many);
    *code++ = MPIRT_Object_get_object_type(MPIRT_OBJECT(asked.vector), &asked.type);
}

static void test_getters_answer_in_a_task(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "asker-%d", rank);
    OK(MPIRT_Cset_create("asked", &asked.set));
    OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(MPIRT_GROUP_WORLD)}, &asked.vector));
    OK(MPIRT_Cset_insert(asked.set, MPIRT_OBJECT(asked.vector)));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    OK(MPIRTX_Task_create(name, asks, NULL, qos, ms, &task));
    MUST(MPIRT_Commit());
    OK(MPIRTX_Run());
    for (int place = 0; place < 11; place++)
        OK(asked.codes[place]);
    CHECK(asked.own == rank && asked.size == members && asked.count == 1 && asked.flag == 1 && asked.many == 1);
    CHECK(strcmp(asked.name, "asked") == 0 && strlen(asked.world) > 0 && asked.found == rank);
    CHECK(asked.element.bits == MPIRT_OBJECT(MPIRT_GROUP_WORLD).bits && asked.type == MPIRT_TYPE_CVECTOR);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Cset_free(&asked.set));
    OK(MPIRT_Cvector_free(&asked.vector));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_calls_from_a_task();
    test_getters_answer_in_a_task();
    return end();
}
