/* The spellings of Appendix A of the HARE thesis, with a lower-case class: a program that has no other. */
#include "harness.h"

/* spec: LANG-ALIAS-02 */
static void test_lower_case_classes(void)
{
    MPIRT_Cset set;
    MPIRT_Object object;
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
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_lower_case_classes();
    return end();
}
