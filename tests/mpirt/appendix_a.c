/* The spellings of Appendix A of the HARE thesis, with a lower-case class: a program that has no other. */
#include "harness.h"

/* spec: LANG-ALIAS-02 */
static void test_lower_case_classes(void)
{
    MPIRT_Cset set;
    MPIRT_Object object;
    MPIRT_Container container;
    MPIRT_Object_type type, again;
    char name[MPIRT_NAME_MAX];
    int flag, count;
    OK(MPIRT_Cset_create("set", &set));
    object = MPIRT_OBJECT(set);
    OK(MPIRT_object_is_null(MPIRT_OBJECT_NULL, &flag));
    CHECK(flag == 1);
    OK(MPIRT_object_is_null(object, &flag));
    CHECK(flag == 0);
    OK(MPIRT_object_get_object_type(object, &type));
    OK(MPIRT_Object_get_object_type(object, &again));
    CHECK(type == MPIRT_TYPE_CSET && type == again);
    OK(MPIRT_object_get_name(object, name));
    CHECK(strcmp(name, "set") == 0);
    OK(MPIRT_object_set_name(object, "other"));
    OK(MPIRT_container_get_name(MPIRT_CONTAINER(set), name));
    CHECK(strcmp(name, "other") == 0);
    OK(MPIRT_container_set_name(MPIRT_CONTAINER(set), "third"));
    OK(MPIRT_Cset_get_name(set, name));
    CHECK(strcmp(name, "third") == 0);
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(MPIRT_GROUP_WORLD)));
    OK(MPIRT_container_access_count(MPIRT_CONTAINER(set), &count));
    CHECK(count == 1);
    OK(MPIRT_object_free(&object));
    EXPECT(MPIRT_object_get_name(MPIRT_OBJECT(set), name), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRT_Object_get_name(MPIRT_OBJECT(set), name), MPIRT_ERR_STALE_OBJECT);
    OK(MPIRT_Cset_create("set", &set));
    container = MPIRT_CONTAINER(set);
    OK(MPIRT_container_free(&container));
    CHECK(container.bits == 0);
    EXPECT(MPIRT_Object_get_name(MPIRT_OBJECT(set), name), MPIRT_ERR_STALE_OBJECT);
}

/* The thesis's text has no class in these. */
/* spec: LANG-ALIAS-02 */
static void test_short_spellings(void)
{
    MPIRT_Bufiter iterator = iterator_of(1, 0);
    MPIRT_Channel channel;
    MPIRTX_Status status;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "short-%d", rank);
    OK(MPIRT_Ptchannel_create(name, iterator, iterator, rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    EXPECT(MPIRT_Start(channel), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRT_Channel_set_recvinbufiter(channel, iterator));
    OK(MPIRT_Channel_set_recvoutbufiter(channel, iterator));
    OK(MPIRT_Commit());
    OK(MPIRT_Activate(channel));
    OK(MPIRTX_Channel_get_status(channel, &status));
    CHECK(status.state == MPIRTX_CHANNEL_ACTIVE);
    OK(MPIRT_Channel_deactivate(channel));
    OK(MPIRT_Start(channel));
    OK(MPIRTX_Channel_get_status(channel, &status));
    CHECK(status.state == MPIRTX_CHANNEL_STARTED);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Channel_free(&channel));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_lower_case_classes();
    test_short_spellings();
    return end();
}
