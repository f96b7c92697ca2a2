/* What is an error when, on collective channels: at creation, of their attributes, at commit, and on the data path. */
#include "collective.h"

static MPIRT_Bufiter iterator_for(MPIRT_Dataspec spec, size_t bytes)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, bytes, spec, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* An end as it should be, not created yet. */
static struct end prepared(int kind, int root)
{
    struct end end = {kind, root, rank, members, MPIRT_GROUP_WORLD, {0}, {0}, {0}, {0}, {0}};
    if (sends(&end)) {
        end.in = iterator_of(sent_count(&end), 0);
        end.out = iterator_of(sent_count(&end), 0);
    }
    if (receives(&end)) {
        end.recvin = iterator_of(received_count(&end), 0);
        end.recvout = iterator_of(received_count(&end), 0);
    }
    return end;
}

/* spec: COLLECTIVE-CREATE-04, MPIRT_Bcast_channel_create/ARGUMENT, MPIRT_Scatter_channel_create/ARGUMENT */
/* spec: MPIRT_Gather_channel_create/ARGUMENT, MPIRT_Reduce_channel_create/ARGUMENT, MPIRT_Alltoall_channel_create/ARGUMENT */
/* spec: MPIRT_Bcast_channel_create/INV_RANK, MPIRT_Scatter_channel_create/INV_RANK, MPIRT_Gather_channel_create/INV_RANK */
/* spec: MPIRT_Reduce_channel_create/INV_RANK, MPIRT_Bcast_channel_create/NOT_MEMBER, MPIRT_Scatter_channel_create/NOT_MEMBER */
/* spec: MPIRT_Gather_channel_create/NOT_MEMBER, MPIRT_Reduce_channel_create/NOT_MEMBER */
/* spec: MPIRT_Barrier_channel_create/NOT_MEMBER, MPIRT_Alltoall_channel_create/NOT_MEMBER */
/* spec: MPIRT_Bcast_channel_create/UNDEF_FOR_OBJECT, MPIRT_Scatter_channel_create/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Gather_channel_create/UNDEF_FOR_OBJECT, MPIRT_Reduce_channel_create/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Barrier_channel_create/UNDEF_FOR_OBJECT, MPIRT_Alltoall_channel_create/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Bcast_channel_create/BUFSIZE, MPIRT_Scatter_channel_create/BUFSIZE, MPIRT_Gather_channel_create/BUFSIZE */
/* spec: MPIRT_Reduce_channel_create/BUFSIZE, MPIRT_Alltoall_channel_create/BUFSIZE, MPIRT_Bcast_channel_create/DATASPEC */
/* spec: MPIRT_Scatter_channel_create/DATASPEC, MPIRT_Gather_channel_create/DATASPEC, MPIRT_Reduce_channel_create/DATASPEC */
/* spec: MPIRT_Alltoall_channel_create/DATASPEC */
static void test_creation(void)
{
    MPIRT_Group without;
    MPIRT_Qos handlers;
    int out = rank;
    OK(MPIRTX_Qos_handler_create(NULL, 5, ms, 10 * ms, &handlers));
    OK(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 1, &out, NULL, &without));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int root = 0; root < members; root++) {
            struct end end = prepared(kind, root), wrong = end;
            MPIRT_Bufiter *ends[] = {&wrong.in, &wrong.out, &wrong.recvin, &wrong.recvout};
            MPIRT_Bufiter other = iterator_for(MPIRT_INT64, COUNT * sizeof(int64_t)), none = MPIRT_BUFITER_NULL;
            MPIRT_Bufiter freed = iterator_for(MPIRT_INT64, COUNT * sizeof(int64_t)), stale = freed;
            OK(MPIRT_Bufiter_free(&freed));
            for (int place = 0; place < 4 && kind != BARRIER; place++) {
                int is_used = ends[place]->bits != 0;
                MPIRT_Bufiter before = *ends[place];
                *ends[place] = is_used ? none : other;
                EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_ARGUMENT);
                CHECK(wrong.channel.bits == 0);
                *ends[place] = stale;
                EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_STALE_OBJECT);
                *ends[place] = before;
            }
            for (int place = 0; place < 4; place++) {
                MPIRT_Bufiter before = *ends[place];
                if (before.bits == 0)
                    continue;
                *ends[place] = iterator_for(MPIRT_INT64, 64 * COUNT * sizeof(int64_t));
                EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_BUFSIZE);
                OK(MPIRT_Bufiter_free(ends[place]));
                *ends[place] = iterator_for(MPIRT_DOUBLE, place < 2 ? sent_count(&end) * sizeof(double) : received_count(&end) * sizeof(double));
                EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_DATASPEC);
                CHECK(wrong.channel.bits == 0);
                OK(MPIRT_Bufiter_free(ends[place]));
                *ends[place] = before;
            }
            wrong.group = without;
            EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_NOT_MEMBER);
            wrong.group = MPIRT_GROUP_NULL;
            EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_NULL_OBJECT);
            wrong.group = MPIRT_GROUP_WORLD;
            if (kind != BARRIER && kind != ALLTOALL) {
                wrong.root = members;
                EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_INV_RANK);
                wrong.root = -1;
                EXPECT(create(&wrong, "wrong", MPIRT_QOS_NULL), MPIRT_ERR_INV_RANK);
            }
            EXPECT(create(&end, "wrong", handlers), MPIRT_ERR_UNDEF_FOR_OBJECT);
            OK(create(&end, "right", MPIRT_QOS_NULL));
            EXPECT(MPIRT_Channel_set_qos(end.channel, handlers), MPIRT_ERR_UNDEF_FOR_OBJECT);
            free_end(&end);
            OK(MPIRT_Bufiter_free(&other));
        }
    }
    OK(MPIRT_Group_free(&without));
    OK(MPIRT_Qos_free(&handlers));
}

/* spec: COLLECTIVE-REDUCE-02, MPIRT_Reduce_channel_create/OPERATION */
static void test_operations_fit_types(void)
{
    static const struct { MPIRT_Dataspec spec; size_t bytes; const char *allowed; } types[] = {
        {MPIRT_INT, 4, "1111111111"},    {MPIRT_FLOAT, 4, "1111000000"},  {MPIRT_DOUBLE, 8, "1111000000"},
        {MPIRT_LOGICAL, 4, "0000111000"}, {MPIRT_CHAR, 1, "0000000000"},   {MPIRT_BYTE, 1, "0000000111"},
        {MPIRT_TIME, 8, "1011000000"},   {MPIRT_UINT8, 1, "1111111111"},  {MPIRT_INT16, 2, "1111111111"},
        {MPIRT_FLOAT32, 4, "1111000000"}, {MPIRT_UINT64, 8, "1111111111"},
    };
    for (size_t type = 0; type < sizeof types / sizeof *types; type++) {
        MPIRT_Bufiter in = iterator_for(types[type].spec, types[type].bytes), out = iterator_for(types[type].spec, types[type].bytes);
        MPIRT_Bufiter none = MPIRT_BUFITER_NULL;
        int is_root = rank == 0;
        for (int op = -1; op < 11; op++) {
            int allowed = op >= 0 && op < 10 && types[type].allowed[op] == '1';
            MPIRT_Channel made;
            EXPECT(MPIRT_Reduce_channel_create("r", in, out, is_root ? in : none, is_root ? out : none, (MPIRT_Op)op, 0,
                                               MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &made),
                   allowed ? MPIRT_SUCCESS : MPIRT_ERR_OPERATION);
            CHECK((made.bits != 0) == allowed);
            if (allowed)
                OK(MPIRT_Channel_free(&made));
        }
        OK(MPIRT_Bufiter_free(&in));
        OK(MPIRT_Bufiter_free(&out));
    }
}

static void no_task(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    (void)instance;
    (void)argument;
}

/* spec: OBJECT-TREE-06, OBJECT-TREE-07, COLLECTIVE-BARRIER-02 */
/* spec: MPIRT_Channel_get_recvinbufiter, MPIRT_Channel_set_recvinbufiter, MPIRT_Channel_get_recvoutbufiter */
/* spec: MPIRT_Channel_set_recvoutbufiter, MPIRT_Channel_get_inbufiter/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Channel_set_inbufiter/UNDEF_FOR_OBJECT, MPIRT_Channel_get_outbufiter/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Channel_set_outbufiter/UNDEF_FOR_OBJECT, MPIRT_Channel_get_recvinbufiter/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Channel_set_recvinbufiter/UNDEF_FOR_OBJECT, MPIRT_Channel_get_recvoutbufiter/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Channel_set_recvoutbufiter/UNDEF_FOR_OBJECT, MPIRTX_Task_bind/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Channel_set_inbufiter/BUFSIZE, MPIRT_Channel_set_outbufiter/BUFSIZE, MPIRT_Channel_set_recvinbufiter/BUFSIZE */
/* spec: MPIRT_Channel_set_recvoutbufiter/BUFSIZE, MPIRT_Channel_set_inbufiter/DATASPEC, MPIRT_Channel_set_outbufiter/DATASPEC */
/* spec: MPIRT_Channel_set_recvinbufiter/DATASPEC, MPIRT_Channel_set_recvoutbufiter/DATASPEC */
static void test_attributes(void)
{
    static const MPIRT_Object_type type_of[KINDS] = {MPIRT_TYPE_BCAST_CHANNEL, MPIRT_TYPE_SCATTER_CHANNEL, MPIRT_TYPE_GATHER_CHANNEL,
                                                    MPIRT_TYPE_REDUCE_CHANNEL, MPIRT_TYPE_BARRIER_CHANNEL, MPIRT_TYPE_ALLTOALL_CHANNEL};
    MPIRT_Bufiter in = iterator_for(MPIRT_BYTE, 8), found, none = MPIRT_BUFITER_NULL;
    MPIRT_Channel channel;
    MPIRTX_Task task;
    MPIRT_Group group;
    MPIRT_Qos qos, given;
    char name[MPIRT_NAME_MAX];
    int slack;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 5 * ms, 10 * ms, &qos));
    for (int kind = 0; kind < KINDS; kind++) {
        struct end end = prepared(kind, 0);
        MPIRT_Bufiter more = none;
        MPIRT_Object_type type;
        OK(create(&end, "attributes", MPIRT_QOS_NULL));
        OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(end.channel), &type));
        CHECK(type == type_of[kind]);
        OK(MPIRT_Channel_set_name(end.channel, "renamed"));
        OK(MPIRT_Channel_get_name(end.channel, name));
        CHECK(strcmp(name, "renamed") == 0);
        OK(MPIRT_Channel_set_qos(end.channel, qos));
        OK(MPIRT_Channel_get_qos(end.channel, &given));
        CHECK(given.bits == qos.bits);
        OK(MPIRTX_Channel_set_slack(end.channel, 3));
        OK(MPIRTX_Channel_get_slack(end.channel, &slack));
        CHECK(slack == 3);
        OK(MPIRT_Channel_get_group(end.channel, &group));
        CHECK(group.bits == MPIRT_GROUP_WORLD.bits);
        if (kind == BARRIER) {
            EXPECT(MPIRT_Channel_get_inbufiter(end.channel, &found), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_set_inbufiter(end.channel, none), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_get_outbufiter(end.channel, &found), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_set_outbufiter(end.channel, in), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_get_recvinbufiter(end.channel, &found), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_set_recvinbufiter(end.channel, in), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_get_recvoutbufiter(end.channel, &found), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_set_recvoutbufiter(end.channel, none), MPIRT_ERR_UNDEF_FOR_OBJECT);
            free_end(&end);
            continue;
        }
        OK(MPIRT_Channel_get_inbufiter(end.channel, &found));
        CHECK(found.bits == end.in.bits);
        OK(MPIRT_Channel_get_outbufiter(end.channel, &found));
        CHECK(found.bits == end.out.bits);
        OK(MPIRT_Channel_get_recvinbufiter(end.channel, &found));
        CHECK(found.bits == end.recvin.bits);
        OK(MPIRT_Channel_get_recvoutbufiter(end.channel, &found));
        CHECK(found.bits == end.recvout.bits);
        if (receives(&end)) {
            MPIRT_Bufiter other = iterator_for(MPIRT_DOUBLE, received_count(&end) * sizeof(double));
            EXPECT(MPIRT_Channel_set_recvinbufiter(end.channel, in), MPIRT_ERR_BUFSIZE);
            EXPECT(MPIRT_Channel_set_recvoutbufiter(end.channel, in), MPIRT_ERR_BUFSIZE);
            EXPECT(MPIRT_Channel_set_recvinbufiter(end.channel, other), MPIRT_ERR_DATASPEC);
            EXPECT(MPIRT_Channel_set_recvoutbufiter(end.channel, other), MPIRT_ERR_DATASPEC);
            OK(MPIRT_Bufiter_free(&other));
            more = iterator_of(received_count(&end), 0);
            OK(MPIRT_Channel_set_recvinbufiter(end.channel, more));
            OK(MPIRT_Channel_set_recvoutbufiter(end.channel, none));
            OK(MPIRT_Channel_get_recvinbufiter(end.channel, &found));
            CHECK(found.bits == more.bits);
            OK(MPIRT_Channel_get_recvoutbufiter(end.channel, &found));
            CHECK(found.bits == 0);
            OK(MPIRT_Bufiter_free(&more));
        } else {
            EXPECT(MPIRT_Channel_set_recvinbufiter(end.channel, end.in), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_set_recvoutbufiter(end.channel, end.out), MPIRT_ERR_UNDEF_FOR_OBJECT);
        }
        if (sends(&end)) {
            OK(MPIRT_Channel_set_inbufiter(end.channel, end.out));
            OK(MPIRT_Channel_set_outbufiter(end.channel, end.in));
            MPIRT_Bufiter other = iterator_for(MPIRT_DOUBLE, sent_count(&end) * sizeof(double));
            EXPECT(MPIRT_Channel_set_inbufiter(end.channel, in), MPIRT_ERR_BUFSIZE);
            EXPECT(MPIRT_Channel_set_outbufiter(end.channel, in), MPIRT_ERR_BUFSIZE);
            EXPECT(MPIRT_Channel_set_inbufiter(end.channel, other), MPIRT_ERR_DATASPEC);
            EXPECT(MPIRT_Channel_set_outbufiter(end.channel, other), MPIRT_ERR_DATASPEC);
            OK(MPIRT_Bufiter_free(&other));
        } else {
            EXPECT(MPIRT_Channel_set_inbufiter(end.channel, end.recvin), MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_set_outbufiter(end.channel, end.recvout), MPIRT_ERR_UNDEF_FOR_OBJECT);
        }
        free_end(&end);
    }
    if (members > 1) {
        OK(MPIRT_Ptchannel_create("p", in, in, rank, (rank + 1) % members, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
        EXPECT(MPIRT_Channel_get_recvinbufiter(channel, &found), MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(MPIRT_Channel_set_recvoutbufiter(channel, in), MPIRT_ERR_UNDEF_FOR_OBJECT);
        OK(MPIRT_Channel_free(&channel));
    }
    OK(MPIRT_Barrier_channel_create("b", MPIRT_GROUP_WORLD, qos, &channel));
    OK(MPIRTX_Task_create("t", no_task, NULL, qos, ms, &task));
    EXPECT(MPIRTX_Task_bind(task, channel), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Qos_free(&qos));
}

static void expect_refusal(const char *part, const char *other)
{
    const char *detail;
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    OK(MPIRTX_Error_detail(&detail));
    if (strstr(detail, part) == NULL || strstr(detail, other) == NULL)
        fprintf(stderr, "member %d: '%s' and '%s' are not in: %s\n", rank, part, other, detail);
    CHECK(strstr(detail, part) != NULL && strstr(detail, other) != NULL);
    /* What carries the channel is not told of one by one. */
    CHECK(strstr(detail, "->") == NULL);
}

/* Member 0 declares otherwise than the others. */
/* spec: COLLECTIVE-CREATE-05, CHANNEL-MATCH-03 */
static void test_members_that_differ(void)
{
    int odd = rank == 0;
    MPIRT_Channel channel;
    struct end end;
    MPIRT_Qos qos;
    if (members == 1)
        return;
    if (!odd)
        OK(MPIRT_Barrier_channel_create("missing", MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    expect_refusal("collective channel \"missing\"", "member \"0\" of the group does not");
    if (!odd)
        OK(MPIRT_Channel_free(&channel));

    end = make_end(odd ? GATHER : REDUCE, "kinds", 0, MPIRT_QOS_NULL);
    expect_refusal("kind differs: member \"0\" says gather", "says reduction");
    free_end(&end);

    end = make_end(BCAST, "roots", odd ? 0 : 1, MPIRT_QOS_NULL);
    expect_refusal("root differs: member \"0\" says rank 0", "says rank 1");
    free_end(&end);

    end = prepared(REDUCE, members - 1);
    MUST(MPIRT_Reduce_channel_create("operations", end.in, end.out, end.recvin, end.recvout, odd ? MPIRT_OP_MAX : MPIRT_OP_SUM,
                                     members - 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &end.channel));
    expect_refusal("operation differs: member \"0\" says maximum", "says sum");
    free_end(&end);

    OK(MPIRT_Qos_channel_time_create(NULL, 0, (5 + odd) * ms, 10 * ms, &qos));
    OK(MPIRT_Barrier_channel_create("qualities", MPIRT_GROUP_WORLD, qos, &channel));
    expect_refusal("quality of service differs", "member \"0\" says time-driven");
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Qos_free(&qos));

    OK(MPIRT_Barrier_channel_create("slacks", MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    OK(MPIRTX_Channel_set_slack(channel, 1 + odd));
    expect_refusal("slack differs: member \"0\" says 2", "says 1");
    OK(MPIRT_Channel_free(&channel));
}

/* spec: COLLECTIVE-CREATE-05, COLLECTIVE-SIZE-01, COLLECTIVE-ALLTOALL-03, CHANNEL-MATCH-02 */
static void test_sizes_that_do_not_fit(void)
{
    int odd = rank == 0, is_root = rank == 0;
    MPIRT_Bufiter small, large, half, none = MPIRT_BUFITER_NULL;
    MPIRT_Channel channel;
    size_t size = 8 + 8 * (size_t)odd;
    if (members > 1) {
        small = iterator_for(MPIRT_INT64, size);
        OK(MPIRT_Bcast_channel_create("sizes", is_root ? small : none, is_root ? small : none, small, small, 0, MPIRT_GROUP_WORLD,
                                      MPIRT_QOS_NULL, &channel));
        expect_refusal("size of buffers differs: member \"0\" says 16 B", "says 8 B");
        OK(MPIRT_Channel_free(&channel));
        OK(MPIRT_Bufiter_free(&small));
        small = iterator_for(odd ? MPIRT_INT64 : MPIRT_DOUBLE, 8);
        OK(MPIRT_Alltoall_channel_create("types", small, small, small, small, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
        expect_refusal("dataspec differs: member \"0\" says int64", "says double");
        OK(MPIRT_Channel_free(&channel));
        OK(MPIRT_Bufiter_free(&small));
    }
    small = iterator_for(MPIRT_INT64, 8);
    /* Too large, and too small. */
    for (int by = members > 1 ? -8 : 8; by <= 8; by += 16) {
        large = iterator_for(MPIRT_INT64, (size_t)(8 * members + by));
        OK(MPIRT_Scatter_channel_create("cut", is_root ? large : none, is_root ? large : none, small, small, 0, MPIRT_GROUP_WORLD,
                                        MPIRT_QOS_NULL, &channel));
        expect_refusal("collective channel \"cut\"", "the root, member \"0\", has buffers of");
        OK(MPIRT_Channel_free(&channel));
        OK(MPIRT_Gather_channel_create("joined", small, small, is_root ? large : none, is_root ? large : none, 0, MPIRT_GROUP_WORLD,
                                       MPIRT_QOS_NULL, &channel));
        expect_refusal("collective channel \"joined\"", "for the sections of");
        OK(MPIRT_Channel_free(&channel));
        OK(MPIRT_Bufiter_free(&large));
    }
    /* What the root sends does not fit what all receive, though each pair fits itself. */
    large = iterator_for(MPIRT_INT64, 16);
    OK(MPIRT_Bcast_channel_create("one pair", is_root ? large : none, is_root ? large : none, small, small, 0, MPIRT_GROUP_WORLD,
                                  MPIRT_QOS_NULL, &channel));
    expect_refusal("collective channel \"one pair\"", "size of buffers differs");
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&large));
    large = iterator_for(MPIRT_INT64, 16 * (size_t)members);
    half = iterator_for(MPIRT_INT64, 8 * (size_t)members);
    OK(MPIRT_Alltoall_channel_create("halves", half, half, large, large, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    expect_refusal("collective channel \"halves\"", "size of buffers differs");
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&half));
    OK(MPIRT_Bufiter_free(&large));
    if (members == 3) {
        OK(MPIRT_Alltoall_channel_create("thirds", small, small, small, small, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
        expect_refusal("buffers of 8 B are not divisible by its 3 members", "\"thirds\"");
        OK(MPIRT_Channel_free(&channel));
    }
    OK(MPIRT_Bufiter_free(&small));
}

/* Each has found it by itself; all are told of all. */
static void test_iterators_that_cannot_serve(void)
{
    struct end end = prepared(GATHER, rank);
    MPIRT_Bufiter mapped;
    MPIRT_Cvector vector;
    MPIRT_Buffer buffer;
    const char *detail;
    OK(create(&end, "lacks", MPIRT_QOS_NULL));
    OK(MPIRT_Channel_set_recvoutbufiter(end.channel, MPIRT_BUFITER_NULL));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "\"lacks\" has no iterator; set one with MPIRT_Channel_set_recvoutbufiter") != NULL);
    OK(MPIRT_Channel_set_recvoutbufiter(end.channel, end.recvout));
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, COUNT * sizeof(int64_t), MPIRT_INT64, &buffer));
    OK(MPIRT_Cvector_create(NULL, 1, &(MPIRT_Object){buffer.bits}, &vector));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO_MAPPED, COUNT * sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER(vector), &mapped));
    OK(MPIRT_Channel_set_inbufiter(end.channel, mapped));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "MAPPED") != NULL);
    free_end(&end);
    OK(MPIRT_Bufiter_free(&mapped));
    OK(MPIRT_Cvector_free(&vector));
    OK(MPIRT_Buffer_free(&buffer));
}

/* The two stages of a reduction do not fit into 20 us: the refusal names who would have to serve them. */
/* spec: COLLECTIVE-QOS-01 */
static void test_a_window_that_is_too_short(void)
{
    MPIRT_Qos qos;
    struct end end;
    const char *detail;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20000, 20 * ms, &qos));
    end = make_end(REDUCE, "tight", 0, qos);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_ADMISSION);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "mover of tight ") != NULL);
    free_end(&end);
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_creation();
    test_operations_fit_types();
    test_attributes();
    test_members_that_differ();
    test_sizes_that_do_not_fit();
    test_iterators_that_cannot_serve();
    test_a_window_that_is_too_short();
    return end();
}
