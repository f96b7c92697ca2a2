/* Containers: what they hold, walks over them, and one operation on all their members. */
#include "harness.h"

enum { SIZE = 8 };
static const MPIRT_Timespec ms = 1000000, enough = INT64_C(10000000000);

static MPIRT_Cset new_set(const char *name)
{
    MPIRT_Cset set;
    MUST(MPIRT_Cset_create(name, &set));
    return set;
}

static MPIRT_Cvector new_vector(int size, const MPIRT_Object *elements)
{
    MPIRT_Cvector vector;
    MUST(MPIRT_Cvector_create("vector", size, elements, &vector));
    return vector;
}

static int count_of(MPIRT_Container container)
{
    int count = -1;
    OK(MPIRT_Container_access_count(container, &count));
    return count;
}

static int is_one(MPIRT_Object first, MPIRT_Object second)
{
    int same = -1;
    OK(MPIRTX_Object_compare(first, second, &same));
    return same;
}

static MPIRT_Object element(MPIRT_Cvector vector, int index)
{
    MPIRT_Object found = MPIRT_OBJECT_NULL;
    OK(MPIRT_Cvector_get_element(vector, index, &found));
    return found;
}

/* spec: MPIRTX_Cset_contains, MPIRT_Container_free, MPIRT_Container_free/UNDEF_FOR_OBJECT */
/* spec: CONTAINER-COUNT-01, CONTAINER-COUNT-02, CONTAINER-REF-01, CONTAINER-CSET-CONTAINS-01, CONTAINER-SELF-01 */
/* spec: CONTAINER-CSET-INSERT-02, CONTAINER-CSET-INSERT-03, CONTAINER-CSET-REMOVE-01, CONTAINER-CSET-REMOVE-02 */
/* spec: CONTAINER-CSET-REMOVE-03, CONTAINER-CSET-INSERT-01, OBJECT-TREE-04, OBJECT-TREE-05, OBJECT-FREE-08 */
static void test_sets_hold_each_object_once(void)
{
    MPIRT_Cset set = new_set("set"), other = new_set("other"), member = new_set("member");
    MPIRT_Object inside = MPIRT_OBJECT(member);
    MPIRT_Cvector holder;
    MPIRT_Container either, predefined = MPIRT_CONTAINER(MPIRT_GROUP_WORLD), wrong;
    int flag = -1, size;
    CHECK(count_of(MPIRT_CONTAINER(set)) == 0);
    OK(MPIRT_Cset_insert(set, inside));
    OK(MPIRT_Cset_insert(set, inside));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT_NULL));
    OK(MPIRT_Cset_insert(other, inside));
    CHECK(count_of(MPIRT_CONTAINER(set)) == 1 && count_of(MPIRT_CONTAINER(other)) == 1);
    OK(MPIRTX_Cset_contains(set, inside, &flag));
    CHECK(flag == 1);
    OK(MPIRTX_Cset_contains(set, MPIRT_OBJECT(other), &flag));
    CHECK(flag == 0);
    OK(MPIRTX_Cset_contains(set, MPIRT_OBJECT_NULL, &flag));
    CHECK(flag == 0);
    EXPECT(MPIRTX_Cset_contains(set, inside, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Cset_contains(MPIRT_CSET_NULL, inside, &flag), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRT_Cset_insert(other, MPIRT_OBJECT(set)));
    EXPECT(MPIRT_Cset_insert(set, MPIRT_OBJECT(set)), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Cset_insert(set, MPIRT_OBJECT(other)), MPIRT_ERR_ARGUMENT);
    holder = new_vector(1, (MPIRT_Object[]){MPIRT_OBJECT(other)});
    EXPECT(MPIRT_Cset_insert(set, MPIRT_OBJECT(holder)), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Cset_remove(set, MPIRT_OBJECT(other)), MPIRT_ERR_CSET_MEMBER_NOT_FOUND);
    EXPECT(MPIRT_Cset_remove(set, MPIRT_OBJECT_NULL), MPIRT_ERR_CSET_MEMBER_NOT_FOUND);
    CHECK(count_of(MPIRT_CONTAINER(set)) == 1);
    OK(MPIRT_Cset_remove(set, inside));
    CHECK(count_of(MPIRT_CONTAINER(set)) == 0);
    OK(MPIRTX_Cset_contains(other, inside, &flag));
    CHECK(flag == 1);
    OK(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    CHECK(count_of(MPIRT_CONTAINER(MPIRT_GROUP_WORLD)) == size);
    either = MPIRT_CONTAINER(holder);
    CHECK(count_of(either) == 1);
    OK(MPIRT_Container_free(&either));
    CHECK(either.bits == MPIRT_CONTAINER_NULL.bits);
    EXPECT(MPIRT_Container_free(&either), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Container_free(NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Container_free(&predefined), MPIRT_ERR_UNDEF_FOR_OBJECT);
    wrong.bits = MPIRT_QOS_BEST_EFFORT.bits;
    EXPECT(MPIRT_Container_free(&wrong), MPIRT_ERR_WRONG_CLASS);
    either = MPIRT_CONTAINER(other);
    OK(MPIRT_Container_free(&either));
    /* None of its members went with it. */
    CHECK(count_of(MPIRT_CONTAINER(member)) == 0);
    OK(MPIRT_Cset_free(&member));
    OK(MPIRT_Cset_free(&set));
}

/* spec: MPIRT_Cvector_get_size, MPIRT_Cvector_get_element, MPIRT_Cvector_get_element/INDEX */
/* spec: MPIRT_Cvector_set_element, MPIRT_Cvector_set_element/INDEX, MPIRT_Cvector_set_element/ARGUMENT */
/* spec: CONTAINER-CVECTOR-01, CONTAINER-CVECTOR-02, CONTAINER-CVECTOR-03, CONTAINER-CVECTOR-04, CONTAINER-COUNT-02 */
/* spec: CONTAINER-SELF-01 */
static void test_vectors_hold_what_was_put_there(void)
{
    MPIRT_Cset set = new_set("set"), holder = new_set("holder");
    MPIRT_Object one = MPIRT_OBJECT(set), found = one;
    MPIRT_Cvector vector = new_vector(3, (MPIRT_Object[]){one, MPIRT_OBJECT(MPIRT_CSET_NULL), one});
    MPIRT_Cvector nothing = new_vector(2, NULL);
    int size = -1;
    OK(MPIRT_Cvector_get_size(vector, &size));
    CHECK(size == 3 && count_of(MPIRT_CONTAINER(vector)) == 3);
    CHECK(is_one(element(vector, 0), one) && is_one(element(vector, 2), one));
    CHECK(element(vector, 1).bits == MPIRT_OBJECT_NULL.bits);
    CHECK(element(nothing, 0).bits == 0 && element(nothing, 1).bits == 0);
    OK(MPIRT_Cvector_set_element(vector, 1, MPIRT_OBJECT(MPIRT_GROUP_WORLD)));
    OK(MPIRT_Cvector_set_element(vector, 0, MPIRT_OBJECT_NULL));
    CHECK(is_one(element(vector, 1), MPIRT_OBJECT(MPIRT_GROUP_WORLD)) && element(vector, 0).bits == 0);
    OK(MPIRT_Cvector_get_size(vector, &size));
    CHECK(size == 3);
    EXPECT(MPIRT_Cvector_get_element(vector, 3, &found), MPIRT_ERR_INDEX);
    CHECK(found.bits == 0);
    EXPECT(MPIRT_Cvector_get_element(vector, -1, &found), MPIRT_ERR_INDEX);
    EXPECT(MPIRT_Cvector_set_element(vector, 3, one), MPIRT_ERR_INDEX);
    EXPECT(MPIRT_Cvector_set_element(vector, INT32_MIN, one), MPIRT_ERR_INDEX);
    OK(MPIRT_Cset_insert(holder, MPIRT_OBJECT(vector)));
    EXPECT(MPIRT_Cvector_set_element(vector, 0, MPIRT_OBJECT(vector)), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Cvector_set_element(vector, 0, MPIRT_OBJECT(holder)), MPIRT_ERR_ARGUMENT);
    CHECK(element(vector, 0).bits == 0);
    EXPECT(MPIRT_Cvector_get_element(vector, 0, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Cvector_get_size(vector, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Cvector_get_size(MPIRT_CVECTOR_NULL, &size), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRT_Cset_free(&set));
    EXPECT(MPIRT_Cvector_set_element(vector, 0, one), MPIRT_ERR_STALE_OBJECT);
    OK(MPIRT_Cvector_free(&vector));
    OK(MPIRT_Cvector_free(&nothing));
    OK(MPIRT_Cset_free(&holder));
}

static MPIRT_Container_iterator walk_over(MPIRT_Container container)
{
    MPIRT_Container_iterator walk;
    MUST(MPIRT_Container_iterator_create("walk", container, &walk));
    return walk;
}

/* The next member, which is this one. */
static int gives(MPIRT_Container_iterator walk, MPIRT_Object expected)
{
    MPIRT_Object found;
    int before = failures;
    OK(MPIRT_Container_iterator_next(walk, &found));
    return failures == before && found.bits == expected.bits;
}

/* spec: MPIRT_Container_iterator_create, MPIRT_Container_iterator_create/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Container_iterator_next, MPIRT_Container_iterator_next/END, MPIRT_Container_iterator_next/CHANGED */
/* spec: MPIRT_Container_iterator_reset, MPIRT_Container_iterator_free */
/* spec: MPIRT_Container_iterator_get_name, MPIRT_Container_iterator_set_name */
/* spec: CONTAINER-ITER-01, CONTAINER-ITER-02, CONTAINER-ITER-03, CONTAINER-ITER-04, CONTAINER-ITER-05, CONTAINER-ITER-06 */
/* spec: CONTAINER-GROUP-01 */
static void test_walks(void)
{
    MPIRT_Cset set = new_set("set"), first = new_set("first"), second = new_set("second");
    MPIRT_Object one = MPIRT_OBJECT(first), two = MPIRT_OBJECT(second), found = one;
    MPIRT_Cvector vector = new_vector(4, (MPIRT_Object[]){two, MPIRT_OBJECT_NULL, one, two});
    MPIRT_Container_iterator walk, other, refused = {1};
    char name[MPIRT_NAME_MAX];
    OK(MPIRT_Cset_insert(set, two));
    OK(MPIRT_Cset_insert(set, one));
    walk = walk_over(MPIRT_CONTAINER(set));
    other = walk_over(MPIRT_CONTAINER(set));
    CHECK(gives(walk, two) && gives(other, two) && gives(walk, one));
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_END);
    CHECK(found.bits == 0);
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_END);
    CHECK(gives(other, one));
    OK(MPIRT_Container_iterator_reset(walk));
    CHECK(gives(walk, two));
    /* What changes nothing disturbs no walk. */
    OK(MPIRT_Cset_insert(set, one));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT_NULL));
    EXPECT(MPIRT_Cset_remove(set, MPIRT_OBJECT(vector)), MPIRT_ERR_CSET_MEMBER_NOT_FOUND);
    OK(MPIRT_Cset_set_name(set, "renamed"));
    CHECK(gives(walk, one));
    OK(MPIRT_Cset_remove(set, two));
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_CHANGED);
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_CHANGED);
    OK(MPIRT_Container_iterator_reset(walk));
    CHECK(gives(walk, one));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(vector)));
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_CHANGED);
    OK(MPIRT_Cset_remove(set, MPIRT_OBJECT(vector)));
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_CHANGED);
    OK(MPIRT_Container_iterator_reset(walk));
    CHECK(gives(walk, one));
    /* The walk keeps its container. */
    OK(MPIRT_Cset_free(&set));
    OK(MPIRT_Container_iterator_reset(walk));
    CHECK(gives(walk, one));
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_END);
    OK(MPIRT_Container_iterator_free(&walk));
    OK(MPIRT_Container_iterator_free(&other));
    walk = walk_over(MPIRT_CONTAINER(vector));
    CHECK(gives(walk, two) && gives(walk, MPIRT_OBJECT_NULL) && gives(walk, one) && gives(walk, two));
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_END);
    OK(MPIRT_Container_iterator_reset(walk));
    OK(MPIRT_Cvector_set_element(vector, 3, one));
    EXPECT(MPIRT_Container_iterator_next(walk, &found), MPIRT_ERR_CHANGED);
    OK(MPIRT_Container_iterator_get_name(walk, name));
    CHECK(strcmp(name, "walk") == 0);
    OK(MPIRT_Container_iterator_set_name(walk, "promenade"));
    OK(MPIRT_Container_iterator_get_name(walk, name));
    CHECK(strcmp(name, "promenade") == 0);
    EXPECT(MPIRT_Container_iterator_next(walk, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Container_iterator_create(NULL, MPIRT_CONTAINER(vector), NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Container_iterator_create(NULL, MPIRT_CONTAINER(MPIRT_GROUP_WORLD), &refused), MPIRT_ERR_UNDEF_FOR_OBJECT);
    CHECK(refused.bits == 0);
    EXPECT(MPIRT_Container_iterator_create(NULL, MPIRT_CONTAINER_NULL, &refused), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Container_iterator_next(refused, &found), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Container_iterator_reset(refused), MPIRT_ERR_NULL_OBJECT);
    other = walk;
    OK(MPIRT_Container_iterator_free(&walk));
    EXPECT(MPIRT_Container_iterator_next(other, &found), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRT_Container_iterator_reset(other), MPIRT_ERR_STALE_OBJECT);
    OK(MPIRT_Cvector_free(&vector));
    OK(MPIRT_Cset_free(&first));
    OK(MPIRT_Cset_free(&second));
}

/* spec: MPIRT_Container_flatten, MPIRT_Container_filter, MPIRT_Container_filter/ARGUMENT */
/* spec: MPIRT_Container_filter/UNDEF_FOR_OBJECT, CONTAINER-FLATTEN-01, CONTAINER-FLATTEN-02, CONTAINER-FLATTEN-03 */
/* spec: CONTAINER-FILTER-01, CONTAINER-FILTER-02, CONTAINER-FILTER-03, CONTAINER-GROUP-01, CONTAINER-GROUP-02 */
static void test_containers_of_containers(void)
{
    char byte;
    int flag, compared;
    MPIRT_Buffer buffers[3];
    MPIRT_Object all[3];
    MPIRT_Cset set = new_set("set");
    MPIRT_Cvector inner, outer, vector;
    MPIRT_Container made, refused = {1};
    MPIRT_Cset made_set;
    MPIRT_Group group;
    MPIRT_Bufiter iterator;
    MPIRT_Channel channel, barrier;
    for (int place = 0; place < 3; place++) {
        OK(MPIRT_Buffer_create(NULL, &byte, 1, MPIRT_BYTE, &buffers[place]));
        all[place] = MPIRT_OBJECT(buffers[place]);
    }
    OK(MPIRT_Cset_insert(set, all[2]));
    OK(MPIRT_Cset_insert(set, all[0]));
    inner = new_vector(3, (MPIRT_Object[]){all[1], MPIRT_OBJECT(set), MPIRT_OBJECT_NULL});
    outer = new_vector(5, (MPIRT_Object[]){MPIRT_OBJECT(inner), all[0], MPIRT_OBJECT(MPIRT_GROUP_WORLD), MPIRT_OBJECT(inner), all[2]});
    OK(MPIRT_Container_flatten(MPIRT_CONTAINER(outer), "flat", &made));
    OK(MPIRTX_Object_as_cvector(MPIRT_OBJECT(made), &vector));
    CHECK(count_of(made) == 3);
    CHECK(is_one(element(vector, 0), all[1]) && is_one(element(vector, 1), all[2]) && is_one(element(vector, 2), all[0]));
    /* Later changes of the input do not reach it, nor the other way round. */
    CHECK(count_of(MPIRT_CONTAINER(outer)) == 5);
    OK(MPIRT_Cvector_set_element(outer, 0, MPIRT_OBJECT_NULL));
    CHECK(count_of(made) == 3 && is_one(element(vector, 0), all[1]));
    OK(MPIRT_Container_free(&made));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(MPIRT_GROUP_WORLD)));
    OK(MPIRT_Container_flatten(MPIRT_CONTAINER(set), NULL, &made));
    OK(MPIRTX_Object_as_cset(MPIRT_OBJECT(made), &made_set));
    OK(MPIRTX_Cset_contains(made_set, MPIRT_OBJECT(MPIRT_GROUP_WORLD), &flag));
    CHECK(count_of(made) == 2 && flag == 0);
    OK(MPIRT_Container_free(&made));
    /* By leaf class, and by abstract class. */
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 1, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    OK(MPIRT_Ptchannel_create("filtered", iterator, iterator, rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    OK(MPIRT_Barrier_channel_create("filtered too", MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &barrier));
    OK(MPIRT_Cvector_free(&outer));
    outer = new_vector(8, (MPIRT_Object[]){all[1], MPIRT_OBJECT(inner), MPIRT_OBJECT(channel), all[0], all[1], MPIRT_OBJECT(set),
                                           MPIRT_OBJECT(barrier), MPIRT_OBJECT(MPIRT_GROUP_WORLD)});
    OK(MPIRT_Container_filter(MPIRT_CONTAINER(outer), MPIRT_TYPE_BUFFER, "kept", &made));
    OK(MPIRTX_Object_as_cvector(MPIRT_OBJECT(made), &vector));
    CHECK(count_of(made) == 2 && is_one(element(vector, 0), all[1]) && is_one(element(vector, 1), all[0]));
    OK(MPIRT_Cvector_set_element(outer, 0, MPIRT_OBJECT_NULL));
    CHECK(is_one(element(vector, 0), all[1]) && count_of(MPIRT_CONTAINER(outer)) == 8);
    OK(MPIRT_Container_free(&made));
    OK(MPIRT_Container_filter(MPIRT_CONTAINER(outer), MPIRT_TYPE_CONTAINER, NULL, &made));
    OK(MPIRTX_Object_as_cvector(MPIRT_OBJECT(made), &vector));
    CHECK(count_of(made) == 3 && is_one(element(vector, 0), MPIRT_OBJECT(inner)) && is_one(element(vector, 1), MPIRT_OBJECT(set)));
    CHECK(is_one(element(vector, 2), MPIRT_OBJECT(MPIRT_GROUP_WORLD)));
    OK(MPIRT_Container_free(&made));
    OK(MPIRT_Container_filter(MPIRT_CONTAINER(outer), MPIRT_TYPE_CHANNEL, NULL, &made));
    OK(MPIRTX_Object_as_cvector(MPIRT_OBJECT(made), &vector));
    CHECK(count_of(made) == 2 && is_one(element(vector, 0), MPIRT_OBJECT(channel)) && is_one(element(vector, 1), MPIRT_OBJECT(barrier)));
    OK(MPIRT_Container_free(&made));
    OK(MPIRT_Container_filter(MPIRT_CONTAINER(set), MPIRT_TYPE_GROUP, NULL, &made));
    OK(MPIRTX_Object_as_cset(MPIRT_OBJECT(made), &made_set));
    CHECK(count_of(made) == 1);
    OK(MPIRT_Container_free(&made));
    EXPECT(MPIRT_Container_filter(MPIRT_CONTAINER(set), MPIRT_TYPE_NULL, NULL, &refused), MPIRT_ERR_ARGUMENT);
    CHECK(refused.bits == 0);
    EXPECT(MPIRT_Container_filter(MPIRT_CONTAINER(set), (MPIRT_Object_type)99, NULL, &made), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Container_filter(MPIRT_CONTAINER(MPIRT_GROUP_WORLD), MPIRT_TYPE_BUFFER, NULL, &made), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_filter(MPIRT_CONTAINER(set), MPIRT_TYPE_BUFFER, NULL, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Container_flatten(MPIRT_CONTAINER(set), NULL, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Container_flatten(MPIRT_CONTAINER_NULL, NULL, &made), MPIRT_ERR_NULL_OBJECT);
    /* A group holds no objects: flattened it is a group of the same members. */
    OK(MPIRT_Container_flatten(MPIRT_CONTAINER(MPIRT_GROUP_WORLD), "all", &made));
    OK(MPIRTX_Object_as_group(MPIRT_OBJECT(made), &group));
    OK(MPIRT_Group_compare(group, MPIRT_GROUP_WORLD, &compared));
    CHECK(compared == MPIRT_IDENTICAL);
    OK(MPIRT_Group_free(&group));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Channel_free(&barrier));
    OK(MPIRT_Bufiter_free(&iterator));
    OK(MPIRT_Cvector_free(&outer));
    OK(MPIRT_Cvector_free(&inner));
    OK(MPIRT_Cset_free(&set));
    for (int place = 0; place < 3; place++)
        OK(MPIRT_Buffer_free(&buffers[place]));
}

/* Each container holds the one before it twice: 2^40 ways lead to the innermost. */
static void test_deep_nesting_takes_no_time(void)
{
    enum { DEPTH = 40 };
    MPIRT_Cvector levels[DEPTH];
    MPIRT_Container flat;
    char byte;
    MPIRT_Buffer buffer;
    OK(MPIRT_Buffer_create(NULL, &byte, 1, MPIRT_BYTE, &buffer));
    for (int level = 0; level < DEPTH; level++) {
        MPIRT_Object inner = level == 0 ? MPIRT_OBJECT(buffer) : MPIRT_OBJECT(levels[level - 1]);
        levels[level] = new_vector(2, (MPIRT_Object[]){inner, inner});
    }
    OK(MPIRT_Container_flatten(MPIRT_CONTAINER(levels[DEPTH - 1]), NULL, &flat));
    CHECK(count_of(flat) == 1);
    OK(MPIRT_Commit());
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(levels[DEPTH - 1])), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Container_free(&flat));
    OK(MPIRT_Buffer_free(&buffer));
    for (int level = 0; level < DEPTH; level++)
        OK(MPIRT_Cvector_free(&levels[level]));
}

/* Two channels from rank 0 to rank 1; the others have none. */
static MPIRT_Channel channels[2];
static MPIRT_Bufiter ins, outs;
static MPIRT_Buffer buffers[4];

static void make_channels(void)
{
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT64, MPIRT_CONTAINER_NULL, &ins));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT64, MPIRT_CONTAINER_NULL, &outs));
    OK(MPIRT_Ptchannel_create("one", ins, outs, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channels[0]));
    OK(MPIRT_Ptchannel_create("two", ins, outs, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channels[1]));
    for (int place = 0; place < 4; place++)
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_INT64, &buffers[place]));
}

static void fill(MPIRT_Buffer buffer, int64_t number)
{
    void *base;
    OK(MPIRT_Buffer_get_base(buffer, &base));
    memcpy(base, &number, sizeof number);
    OK(MPIRT_Bufiter_insert(ins, buffer));
}

static int64_t take(void)
{
    MPIRT_Buffer buffer;
    void *base;
    int64_t number;
    MUST(MPIRT_Bufiter_remove(outs, &buffer));
    OK(MPIRT_Buffer_get_base(buffer, &base));
    memcpy(&number, base, sizeof number);
    return number;
}

/* spec: MPIRT_Container_start, MPIRT_Container_start/UNDEF_FOR_OBJECT, MPIRT_Container_start/SLACK */
/* spec: MPIRT_Container_wait, MPIRT_Container_wait/UNDEF_FOR_OBJECT, MPIRT_Container_wait/NOT_STARTED */
/* spec: MPIRT_Container_wait/TIMEOUT, MPIRT_Container_wait/TIME, MPIRT_Container_test */
/* spec: MPIRT_Container_test/UNDEF_FOR_OBJECT, MPIRT_Container_test/NOT_STARTED */
/* spec: MPIRT_Container_start/ACTIVE, MPIRT_Container_activate, MPIRT_Container_activate/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Container_activate/SLACK, MPIRT_Container_deactivate, MPIRT_Container_deactivate/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Container_deactivate/NOT_STARTED, CONTAINER-APPLY-01, CONTAINER-APPLY-02 */
/* spec: CONTAINER-APPLY-03, CONTAINER-APPLY-04, CONTAINER-APPLY-05, CONTAINER-APPLY-06, CONTAINER-APPLY-07 */
/* spec: CONTAINER-APPLY-08, CONTAINER-APPLY-09, CONTAINER-APPLY-10, CONTAINER-FREEZE-01, CONTAINER-GROUP-01, CONTAINER-GROUP-02 */
static void test_one_operation_on_all_channels(void)
{
    MPIRT_Cset inner = new_set("inner"), empty = new_set("empty"), mixed = new_set("mixed");
    enum { MANY = 20 };
    MPIRT_Cvector both, twice, unborn, reversed, many;
    MPIRT_Object repeated[MANY];
    MPIRT_Timespec before, after;
    MPIRT_Container all;
    MPIRT_Container_iterator walk;
    MPIRT_Object member;
    int has_ends = members > 1 && rank < 2, flag = -1;
    if (has_ends) {
        make_channels();
        OK(MPIRT_Cset_insert(inner, MPIRT_OBJECT(channels[1])));
        OK(MPIRT_Cset_insert(mixed, MPIRT_OBJECT(channels[0])));
    }
    OK(MPIRT_Cset_insert(mixed, MPIRT_OBJECT(MPIRT_GROUP_WORLD)));
    both = new_vector(4, (MPIRT_Object[]){
        has_ends ? MPIRT_OBJECT(channels[0]) : MPIRT_OBJECT_NULL, MPIRT_OBJECT_NULL, MPIRT_OBJECT(inner), MPIRT_OBJECT(empty)});
    unborn = new_vector(2, NULL);
    twice = new_vector(3, (MPIRT_Object[]){
        has_ends ? MPIRT_OBJECT(channels[0]) : MPIRT_OBJECT_NULL, has_ends ? MPIRT_OBJECT(channels[0]) : MPIRT_OBJECT_NULL,
        MPIRT_OBJECT(inner)});
    reversed = new_vector(2, (MPIRT_Object[]){MPIRT_OBJECT(inner), has_ends ? MPIRT_OBJECT(channels[0]) : MPIRT_OBJECT_NULL});
    for (int place = 0; place < MANY; place++)
        repeated[place] = has_ends ? MPIRT_OBJECT(channels[0]) : MPIRT_OBJECT_NULL;
    many = new_vector(MANY, repeated);
    all = MPIRT_CONTAINER(both);
    OK(MPIRT_Container_set_qos(MPIRT_CONTAINER(empty), MPIRT_QOS_BEST_EFFORT));
    EXPECT(MPIRT_Container_start(all), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Container_test(all, &flag), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Container_wait(all, 0), MPIRT_ERR_NOT_COMMITTED);
    MUST(MPIRT_Commit());
    EXPECT(MPIRT_Cset_insert(empty, MPIRT_OBJECT(inner)), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Cset_remove(mixed, MPIRT_OBJECT(MPIRT_GROUP_WORLD)), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Cvector_set_element(both, 0, MPIRT_OBJECT_NULL), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Container_set_qos(all, MPIRT_QOS_NULL), MPIRT_ERR_OBJECT_COMMITTED);
    /* A walk takes part in no commit: it can be made, used and freed. */
    walk = walk_over(all);
    OK(MPIRT_Container_iterator_next(walk, &member));
    OK(MPIRT_Container_iterator_set_name(walk, "late"));
    OK(MPIRT_Container_iterator_free(&walk));
    /* An empty container has nothing to do; a group and what holds one is no container of channels. */
    OK(MPIRT_Container_start(MPIRT_CONTAINER(empty)));
    OK(MPIRT_Container_wait(MPIRT_CONTAINER(unborn), 0));
    OK(MPIRT_Container_test(MPIRT_CONTAINER(empty), &flag));
    CHECK(flag == 1);
    OK(MPIRT_Container_activate(MPIRT_CONTAINER(empty)));
    OK(MPIRT_Container_deactivate(MPIRT_CONTAINER(empty)));
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(MPIRT_GROUP_WORLD)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(mixed)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_wait(MPIRT_CONTAINER(mixed), 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_test(MPIRT_CONTAINER(mixed), &flag), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER_NULL), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Container_test(all, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Container_wait(all, -1), MPIRT_ERR_TIME);
    if (has_ends) {
        /* The channel in `mixed` was not touched. */
        EXPECT(MPIRT_Channel_test(channels[0], &flag), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Container_wait(all, 0), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Container_test(all, &flag), MPIRT_ERR_NOT_STARTED);
        OK(MPIRT_Container_start(all));
        OK(MPIRT_Container_test(all, &flag));
        CHECK(flag == 0);
        EXPECT(MPIRT_Container_wait(all, ms), MPIRT_ERR_TIMEOUT);
        /* The timeout is that of all together: one for each would come to 2 s. */
        OK(MPIRT_Get_time(&before));
        EXPECT(MPIRT_Container_wait(MPIRT_CONTAINER(many), 100 * ms), MPIRT_ERR_TIMEOUT);
        OK(MPIRT_Get_time(&after));
        CHECK(after - before >= 100 * ms && after - before < 2000 * ms);
        EXPECT(MPIRT_Container_start(all), MPIRT_ERR_SLACK);
        /* One buffer completes the first channel at most: in the order of index. */
        fill(buffers[0], 10);
        MUST(MPIRT_Channel_wait(channels[0], enough));
        OK(MPIRT_Container_test(all, &flag));
        CHECK(flag == 0);
        EXPECT(MPIRT_Channel_test(channels[1], &flag), MPIRT_SUCCESS);
        CHECK(flag == 0);
        /* One that is complete does not end the wait for all. */
        EXPECT(MPIRT_Container_wait(all, ms), MPIRT_ERR_TIMEOUT);
        fill(buffers[1], 11);
        MUST(MPIRT_Container_wait(all, enough));
        OK(MPIRT_Container_test(all, &flag));
        CHECK(flag == 1);
        CHECK(rank == 0 || (take() == 10 && take() == 11));
        OK(MPIRT_Channel_test(channels[0], &flag));
        CHECK(flag == 1);
        /* The same channel twice is started twice, and the second start is one too many; what follows still gets it. */
        EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(twice)), MPIRT_ERR_SLACK);
        fill(buffers[2], 12);
        fill(buffers[3], 13);
        MUST(MPIRT_Container_wait(all, enough));
        /* Either may have come first. */
        CHECK(rank == 0 || take() + take() == 12 + 13);
        /* Activated, deactivated; what is not in that state says so, and the others are reached all the same. */
        EXPECT(MPIRT_Container_deactivate(all), MPIRT_ERR_NOT_STARTED);
        OK(MPIRT_Container_activate(all));
        EXPECT(MPIRT_Container_start(all), MPIRT_ERR_ACTIVE);
        OK(MPIRT_Container_deactivate(all));
        OK(MPIRT_Channel_activate(channels[1]));
        EXPECT(MPIRT_Container_deactivate(all), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Channel_deactivate(channels[1]), MPIRT_ERR_NOT_STARTED);
        /* Of two errors the one of the member that comes first, depth first, is told. */
        OK(MPIRT_Channel_activate(channels[0]));
        OK(MPIRT_Channel_start(channels[1]));
        EXPECT(MPIRT_Container_start(all), MPIRT_ERR_ACTIVE);
        EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(reversed)), MPIRT_ERR_SLACK);
        OK(MPIRT_Channel_deactivate(channels[0]));
        OK(MPIRT_Channel_start(channels[0]));
        EXPECT(MPIRT_Container_activate(all), MPIRT_ERR_SLACK);
    }
    EXPECT(MPIRT_Container_activate(MPIRT_CONTAINER(mixed)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_deactivate(MPIRT_CONTAINER(mixed)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    MUST(MPIRT_Uncommit());
    OK(MPIRT_Cvector_free(&both));
    OK(MPIRT_Cvector_free(&twice));
    OK(MPIRT_Cvector_free(&unborn));
    OK(MPIRT_Cvector_free(&reversed));
    OK(MPIRT_Cvector_free(&many));
    OK(MPIRT_Cset_free(&inner));
    OK(MPIRT_Cset_free(&empty));
    OK(MPIRT_Cset_free(&mixed));
    if (has_ends) {
        OK(MPIRT_Channel_free(&channels[0]));
        OK(MPIRT_Channel_free(&channels[1]));
        OK(MPIRT_Bufiter_free(&ins));
        OK(MPIRT_Bufiter_free(&outs));
        for (int place = 0; place < 4; place++)
            OK(MPIRT_Buffer_free(&buffers[place]));
    }
}

/* spec: MPIRT_Container_set_qos, MPIRT_Container_set_qos/UNDEF_FOR_OBJECT, CONTAINER-APPLY-01, CONTAINER-APPLY-02 */
/* spec: CONTAINER-GROUP-01, CONTAINER-GROUP-02 */
static void test_one_qos_for_all_channels(void)
{
    const char *detail;
    MPIRT_Cset set = new_set("set");
    MPIRT_Qos qos;
    if (members > 1 && rank < 2) {
        make_channels();
        OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(channels[0])));
        OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(channels[1])));
    }
    if (members > 1 && rank == 0) {
        OK(MPIRT_Qos_channel_time_create(NULL, 0, 5 * ms, 10 * ms, &qos));
        OK(MPIRT_Container_set_qos(MPIRT_CONTAINER(set), qos));
        /* It holds the quality from here on. */
        OK(MPIRT_Qos_free(&qos));
    }
    if (members > 1) {
        /* The other ends are best effort still. */
        EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
        OK(MPIRTX_Error_detail(&detail));
        CHECK(strstr(detail, "one") != NULL && strstr(detail, "two") != NULL);
    }
    OK(MPIRT_Container_set_qos(MPIRT_CONTAINER(set), MPIRT_QOS_NULL));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(MPIRT_GROUP_WORLD)));
    EXPECT(MPIRT_Container_set_qos(MPIRT_CONTAINER(set), MPIRT_QOS_BEST_EFFORT), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_set_qos(MPIRT_CONTAINER(MPIRT_GROUP_WORLD), MPIRT_QOS_NULL), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Container_set_qos(MPIRT_CONTAINER_NULL, MPIRT_QOS_NULL), MPIRT_ERR_NULL_OBJECT);
    MUST(MPIRT_Commit());
    for (int place = 0; place < 2 && members > 1 && rank < 2; place++)
        EXPECT(MPIRTX_Channel_activate_at(channels[place], 1000000), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Cset_free(&set));
    if (members > 1 && rank < 2) {
        OK(MPIRT_Channel_free(&channels[0]));
        OK(MPIRT_Channel_free(&channels[1]));
        OK(MPIRT_Bufiter_free(&ins));
        OK(MPIRT_Bufiter_free(&outs));
        for (int place = 0; place < 4; place++)
            OK(MPIRT_Buffer_free(&buffers[place]));
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_sets_hold_each_object_once();
    test_vectors_hold_what_was_put_there();
    test_walks();
    test_containers_of_containers();
    test_deep_nesting_takes_no_time();
    test_one_operation_on_all_channels();
    test_one_qos_for_all_channels();
    return end();
}
