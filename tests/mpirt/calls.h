/* Every function of mpirt.h as data: how to call it, its rules, the errors that it may give, its parameters.
 *
 * Made of spec/mpirt/ by `cargo xtask spec --header`; do not edit. */
#ifndef CALLS_H
#define CALLS_H

#include <mpirt.h>

union value {
    uint64_t bits;
    int64_t number;
    void *pointer;
    void (*function)(void);
};

/* A parameter: a handle that goes in, comes out or is changed; a text; a pointer to what comes out, is changed or goes in; a function;
 * a number. */
enum kind { HANDLE, OUT_HANDLE, CHANGED_HANDLE, TEXT, OUT, CHANGED, POINTER, FUNCTION, NUMBER };

struct parameter {
    enum kind kind;
    int class_of;
    int may_be_null;
};

enum { PARAMETERS_MAX = 10, ROOM = 4096, PATTERN = 0x5a };

struct call {
    const char *name;
    int (*call)(const union value *given);
    unsigned rules;
    uint64_t errors;
    int count;
    struct parameter parameters[PARAMETERS_MAX];
};

enum {
    RULE_NONE = 0,
    RULE_BLOCK = 1 << 0,
    RULE_CHANGE = 1 << 1,
    RULE_CREATE = 1 << 2,
    RULE_CREATE_ANY = 1 << 3,
    RULE_LIMIT = 1 << 4,
    RULE_LIVE = 1 << 5,
    RULE_RUNNING = 1 << 6,
    RULE_SETUP = 1 << 7,
};

enum {
    OF_NONE,
    OF_MPIRT_Object,
    OF_MPIRT_Container,
    OF_MPIRT_Cset,
    OF_MPIRT_Cvector,
    OF_MPIRT_Group,
    OF_MPIRT_Container_iterator,
    OF_MPIRT_Buffer,
    OF_MPIRT_Bufiter,
    OF_MPIRT_Qos,
    OF_MPIRT_Channel,
    OF_MPIRT_Trigger,
    OF_MPIRT_Receptor,
    OF_MPIRT_Handler,
    OF_MPIRTX_Task,
    OF_MPIRTX_Mode,
    CLASSES
};

static int call_MPIRT_Buffer_create(const union value *given) { return MPIRT_Buffer_create(given[0].pointer, given[1].pointer, (size_t)given[2].number, (MPIRT_Dataspec)given[3].number, given[4].pointer); }
static int call_MPIRT_Buffer_get_bufsize(const union value *given) { return MPIRT_Buffer_get_bufsize((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Buffer_set_bufsize(const union value *given) { return MPIRT_Buffer_set_bufsize((MPIRT_Buffer){given[0].bits}, (size_t)given[1].number); }
static int call_MPIRT_Buffer_get_base(const union value *given) { return MPIRT_Buffer_get_base((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Buffer_get_writable(const union value *given) { return MPIRTX_Buffer_get_writable((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Buffer_set_base(const union value *given) { return MPIRT_Buffer_set_base((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Buffer_get_dataspec(const union value *given) { return MPIRT_Buffer_get_dataspec((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Buffer_set_dataspec(const union value *given) { return MPIRT_Buffer_set_dataspec((MPIRT_Buffer){given[0].bits}, (MPIRT_Dataspec)given[1].number); }
static int call_MPIRT_Buffer_get_name(const union value *given) { return MPIRT_Buffer_get_name((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Buffer_set_name(const union value *given) { return MPIRT_Buffer_set_name((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Buffer_free(const union value *given) { return MPIRT_Buffer_free(given[0].pointer); }
static int call_MPIRT_Buffer_get_label(const union value *given) { return MPIRT_Buffer_get_label((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Buffer_set_label(const union value *given) { return MPIRT_Buffer_set_label((MPIRT_Buffer){given[0].bits}, (int64_t)given[1].number); }
static int call_MPIRTX_Buffer_get_length(const union value *given) { return MPIRTX_Buffer_get_length((MPIRT_Buffer){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Buffer_set_length(const union value *given) { return MPIRTX_Buffer_set_length((MPIRT_Buffer){given[0].bits}, (size_t)given[1].number); }
static int call_MPIRTX_Buffer_get_instance(const union value *given) { return MPIRTX_Buffer_get_instance((MPIRT_Buffer){given[0].bits}, given[1].pointer, given[2].pointer); }
static int call_MPIRT_Dataspec_size(const union value *given) { return MPIRT_Dataspec_size((MPIRT_Dataspec)given[0].number, given[1].pointer); }
static int call_MPIRT_Bufiter_create(const union value *given) { return MPIRT_Bufiter_create(given[0].pointer, (MPIRT_Bufiter_policy)given[1].number, (size_t)given[2].number, (MPIRT_Dataspec)given[3].number, (MPIRT_Container){given[4].bits}, given[5].pointer); }
static int call_MPIRT_Bufiter_insert(const union value *given) { return MPIRT_Bufiter_insert((MPIRT_Bufiter){given[0].bits}, (MPIRT_Buffer){given[1].bits}); }
static int call_MPIRT_Bufiter_remove(const union value *given) { return MPIRT_Bufiter_remove((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Bufiter_get_count(const union value *given) { return MPIRTX_Bufiter_get_count((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Bufiter_get_policy(const union value *given) { return MPIRT_Bufiter_get_policy((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Bufiter_get_bufsize(const union value *given) { return MPIRT_Bufiter_get_bufsize((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Bufiter_get_dataspec(const union value *given) { return MPIRT_Bufiter_get_dataspec((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Bufiter_get_allowed(const union value *given) { return MPIRT_Bufiter_get_allowed((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Bufiter_get_name(const union value *given) { return MPIRT_Bufiter_get_name((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Bufiter_set_name(const union value *given) { return MPIRT_Bufiter_set_name((MPIRT_Bufiter){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Bufiter_free(const union value *given) { return MPIRT_Bufiter_free(given[0].pointer); }
static int call_MPIRT_Channel_get_inbufiter(const union value *given) { return MPIRT_Channel_get_inbufiter((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_set_inbufiter(const union value *given) { return MPIRT_Channel_set_inbufiter((MPIRT_Channel){given[0].bits}, (MPIRT_Bufiter){given[1].bits}); }
static int call_MPIRT_Channel_get_outbufiter(const union value *given) { return MPIRT_Channel_get_outbufiter((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_set_outbufiter(const union value *given) { return MPIRT_Channel_set_outbufiter((MPIRT_Channel){given[0].bits}, (MPIRT_Bufiter){given[1].bits}); }
static int call_MPIRT_Channel_get_recvinbufiter(const union value *given) { return MPIRT_Channel_get_recvinbufiter((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_set_recvinbufiter(const union value *given) { return MPIRT_Channel_set_recvinbufiter((MPIRT_Channel){given[0].bits}, (MPIRT_Bufiter){given[1].bits}); }
static int call_MPIRT_Channel_get_recvoutbufiter(const union value *given) { return MPIRT_Channel_get_recvoutbufiter((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_set_recvoutbufiter(const union value *given) { return MPIRT_Channel_set_recvoutbufiter((MPIRT_Channel){given[0].bits}, (MPIRT_Bufiter){given[1].bits}); }
static int call_MPIRT_Channel_get_qos(const union value *given) { return MPIRT_Channel_get_qos((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_set_qos(const union value *given) { return MPIRT_Channel_set_qos((MPIRT_Channel){given[0].bits}, (MPIRT_Qos){given[1].bits}); }
static int call_MPIRT_Channel_start(const union value *given) { return MPIRT_Channel_start((MPIRT_Channel){given[0].bits}); }
static int call_MPIRT_Channel_wait(const union value *given) { return MPIRT_Channel_wait((MPIRT_Channel){given[0].bits}, (MPIRT_Timespec)given[1].number); }
static int call_MPIRT_Channel_test(const union value *given) { return MPIRT_Channel_test((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_get_mover_budget(const union value *given) { return MPIRTX_Channel_get_mover_budget((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_set_mover_budget(const union value *given) { return MPIRTX_Channel_set_mover_budget((MPIRT_Channel){given[0].bits}, (MPIRT_Timespec)given[1].number); }
static int call_MPIRTX_Channel_get_descriptor(const union value *given) { return MPIRTX_Channel_get_descriptor((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_activate(const union value *given) { return MPIRT_Channel_activate((MPIRT_Channel){given[0].bits}); }
static int call_MPIRTX_Channel_activate_at(const union value *given) { return MPIRTX_Channel_activate_at((MPIRT_Channel){given[0].bits}, (uint64_t)given[1].number); }
static int call_MPIRT_Channel_deactivate(const union value *given) { return MPIRT_Channel_deactivate((MPIRT_Channel){given[0].bits}); }
static int call_MPIRTX_Channel_deactivate_at(const union value *given) { return MPIRTX_Channel_deactivate_at((MPIRT_Channel){given[0].bits}, (uint64_t)given[1].number); }
static int call_MPIRT_Ptchannel_create(const union value *given) { return MPIRT_Ptchannel_create(given[0].pointer, (MPIRT_Bufiter){given[1].bits}, (MPIRT_Bufiter){given[2].bits}, (int)given[3].number, (int)given[4].number, (MPIRT_Group){given[5].bits}, (MPIRT_Qos){given[6].bits}, given[7].pointer); }
static int call_MPIRTX_Channel_get_source(const union value *given) { return MPIRTX_Channel_get_source((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_get_target(const union value *given) { return MPIRTX_Channel_get_target((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_get_root(const union value *given) { return MPIRTX_Channel_get_root((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_get_operation(const union value *given) { return MPIRTX_Channel_get_operation((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_get_slack(const union value *given) { return MPIRTX_Channel_get_slack((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_set_slack(const union value *given) { return MPIRTX_Channel_set_slack((MPIRT_Channel){given[0].bits}, (int)given[1].number); }
static int call_MPIRTX_Channel_get_polling(const union value *given) { return MPIRTX_Channel_get_polling((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_set_polling(const union value *given) { return MPIRTX_Channel_set_polling((MPIRT_Channel){given[0].bits}, (int)given[1].number); }
static int call_MPIRTX_Channel_get_checksum(const union value *given) { return MPIRTX_Channel_get_checksum((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_set_checksum(const union value *given) { return MPIRTX_Channel_set_checksum((MPIRT_Channel){given[0].bits}, (int)given[1].number); }
static int call_MPIRT_Channel_get_group(const union value *given) { return MPIRT_Channel_get_group((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_get_status(const union value *given) { return MPIRTX_Channel_get_status((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Channel_get_metrics(const union value *given) { return MPIRTX_Channel_get_metrics((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_get_name(const union value *given) { return MPIRT_Channel_get_name((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_set_name(const union value *given) { return MPIRT_Channel_set_name((MPIRT_Channel){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Channel_free(const union value *given) { return MPIRT_Channel_free(given[0].pointer); }
static int call_MPIRT_Bcast_channel_create(const union value *given) { return MPIRT_Bcast_channel_create(given[0].pointer, (MPIRT_Bufiter){given[1].bits}, (MPIRT_Bufiter){given[2].bits}, (MPIRT_Bufiter){given[3].bits}, (MPIRT_Bufiter){given[4].bits}, (int)given[5].number, (MPIRT_Group){given[6].bits}, (MPIRT_Qos){given[7].bits}, given[8].pointer); }
static int call_MPIRT_Scatter_channel_create(const union value *given) { return MPIRT_Scatter_channel_create(given[0].pointer, (MPIRT_Bufiter){given[1].bits}, (MPIRT_Bufiter){given[2].bits}, (MPIRT_Bufiter){given[3].bits}, (MPIRT_Bufiter){given[4].bits}, (int)given[5].number, (MPIRT_Group){given[6].bits}, (MPIRT_Qos){given[7].bits}, given[8].pointer); }
static int call_MPIRT_Gather_channel_create(const union value *given) { return MPIRT_Gather_channel_create(given[0].pointer, (MPIRT_Bufiter){given[1].bits}, (MPIRT_Bufiter){given[2].bits}, (MPIRT_Bufiter){given[3].bits}, (MPIRT_Bufiter){given[4].bits}, (int)given[5].number, (MPIRT_Group){given[6].bits}, (MPIRT_Qos){given[7].bits}, given[8].pointer); }
static int call_MPIRT_Reduce_channel_create(const union value *given) { return MPIRT_Reduce_channel_create(given[0].pointer, (MPIRT_Bufiter){given[1].bits}, (MPIRT_Bufiter){given[2].bits}, (MPIRT_Bufiter){given[3].bits}, (MPIRT_Bufiter){given[4].bits}, (MPIRT_Op)given[5].number, (int)given[6].number, (MPIRT_Group){given[7].bits}, (MPIRT_Qos){given[8].bits}, given[9].pointer); }
static int call_MPIRT_Barrier_channel_create(const union value *given) { return MPIRT_Barrier_channel_create(given[0].pointer, (MPIRT_Group){given[1].bits}, (MPIRT_Qos){given[2].bits}, given[3].pointer); }
static int call_MPIRT_Alltoall_channel_create(const union value *given) { return MPIRT_Alltoall_channel_create(given[0].pointer, (MPIRT_Bufiter){given[1].bits}, (MPIRT_Bufiter){given[2].bits}, (MPIRT_Bufiter){given[3].bits}, (MPIRT_Bufiter){given[4].bits}, (MPIRT_Group){given[5].bits}, (MPIRT_Qos){given[6].bits}, given[7].pointer); }
static int call_MPIRT_Container_access_count(const union value *given) { return MPIRT_Container_access_count((MPIRT_Container){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Container_get_name(const union value *given) { return MPIRT_Container_get_name((MPIRT_Container){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Container_set_name(const union value *given) { return MPIRT_Container_set_name((MPIRT_Container){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Container_free(const union value *given) { return MPIRT_Container_free(given[0].pointer); }
static int call_MPIRT_Cset_create(const union value *given) { return MPIRT_Cset_create(given[0].pointer, given[1].pointer); }
static int call_MPIRT_Cset_insert(const union value *given) { return MPIRT_Cset_insert((MPIRT_Cset){given[0].bits}, (MPIRT_Object){given[1].bits}); }
static int call_MPIRT_Cset_remove(const union value *given) { return MPIRT_Cset_remove((MPIRT_Cset){given[0].bits}, (MPIRT_Object){given[1].bits}); }
static int call_MPIRT_Cset_get_name(const union value *given) { return MPIRT_Cset_get_name((MPIRT_Cset){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Cset_set_name(const union value *given) { return MPIRT_Cset_set_name((MPIRT_Cset){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Cset_free(const union value *given) { return MPIRT_Cset_free(given[0].pointer); }
static int call_MPIRTX_Cset_contains(const union value *given) { return MPIRTX_Cset_contains((MPIRT_Cset){given[0].bits}, (MPIRT_Object){given[1].bits}, given[2].pointer); }
static int call_MPIRT_Cvector_create(const union value *given) { return MPIRT_Cvector_create(given[0].pointer, (int)given[1].number, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Cvector_get_size(const union value *given) { return MPIRT_Cvector_get_size((MPIRT_Cvector){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Cvector_get_element(const union value *given) { return MPIRT_Cvector_get_element((MPIRT_Cvector){given[0].bits}, (int)given[1].number, given[2].pointer); }
static int call_MPIRT_Cvector_set_element(const union value *given) { return MPIRT_Cvector_set_element((MPIRT_Cvector){given[0].bits}, (int)given[1].number, (MPIRT_Object){given[2].bits}); }
static int call_MPIRT_Cvector_get_name(const union value *given) { return MPIRT_Cvector_get_name((MPIRT_Cvector){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Cvector_set_name(const union value *given) { return MPIRT_Cvector_set_name((MPIRT_Cvector){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Cvector_free(const union value *given) { return MPIRT_Cvector_free(given[0].pointer); }
static int call_MPIRT_Container_iterator_create(const union value *given) { return MPIRT_Container_iterator_create(given[0].pointer, (MPIRT_Container){given[1].bits}, given[2].pointer); }
static int call_MPIRT_Container_iterator_next(const union value *given) { return MPIRT_Container_iterator_next((MPIRT_Container_iterator){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Container_iterator_reset(const union value *given) { return MPIRT_Container_iterator_reset((MPIRT_Container_iterator){given[0].bits}); }
static int call_MPIRT_Container_iterator_get_name(const union value *given) { return MPIRT_Container_iterator_get_name((MPIRT_Container_iterator){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Container_iterator_set_name(const union value *given) { return MPIRT_Container_iterator_set_name((MPIRT_Container_iterator){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Container_iterator_free(const union value *given) { return MPIRT_Container_iterator_free(given[0].pointer); }
static int call_MPIRT_Trigger_create(const union value *given) { return MPIRT_Trigger_create(given[0].pointer, (MPIRT_Event_kind)given[1].number, (MPIRT_Object){given[2].bits}, (MPIRT_Group){given[3].bits}, (MPIRT_Qos){given[4].bits}, given[5].pointer); }
static int call_MPIRTX_Trigger_get_kind(const union value *given) { return MPIRTX_Trigger_get_kind((MPIRT_Trigger){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Trigger_get_time(const union value *given) { return MPIRTX_Trigger_get_time((MPIRT_Trigger){given[0].bits}, given[1].pointer, given[2].pointer); }
static int call_MPIRTX_Trigger_set_time(const union value *given) { return MPIRTX_Trigger_set_time((MPIRT_Trigger){given[0].bits}, (MPIRT_Timespec)given[1].number, (MPIRT_Timespec)given[2].number); }
static int call_MPIRT_Trigger_fire(const union value *given) { return MPIRT_Trigger_fire((MPIRT_Trigger){given[0].bits}); }
static int call_MPIRT_Trigger_get_name(const union value *given) { return MPIRT_Trigger_get_name((MPIRT_Trigger){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Trigger_set_name(const union value *given) { return MPIRT_Trigger_set_name((MPIRT_Trigger){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Trigger_free(const union value *given) { return MPIRT_Trigger_free(given[0].pointer); }
static int call_MPIRT_Handler_create(const union value *given) { return MPIRT_Handler_create(given[0].pointer, (MPIRT_Handler_function *)given[1].function, given[2].pointer, (MPIRT_Qos){given[3].bits}, given[4].pointer); }
static int call_MPIRT_Handler_get_name(const union value *given) { return MPIRT_Handler_get_name((MPIRT_Handler){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Handler_set_name(const union value *given) { return MPIRT_Handler_set_name((MPIRT_Handler){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Handler_get_metrics(const union value *given) { return MPIRTX_Handler_get_metrics((MPIRT_Handler){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Handler_fail(const union value *given) { (void)given; return MPIRTX_Handler_fail(); }
static int call_MPIRT_Handler_free(const union value *given) { return MPIRT_Handler_free(given[0].pointer); }
static int call_MPIRT_Receptor_create(const union value *given) { return MPIRT_Receptor_create(given[0].pointer, (MPIRT_Group){given[1].bits}, (MPIRT_Container){given[2].bits}, given[3].pointer); }
static int call_MPIRTX_Receptor_combine(const union value *given) { return MPIRTX_Receptor_combine(given[0].pointer, (MPIRTX_Combination)given[1].number, (MPIRT_Container){given[2].bits}, (MPIRT_Container){given[3].bits}, given[4].pointer); }
static int call_MPIRT_Receptor_wait(const union value *given) { return MPIRT_Receptor_wait((MPIRT_Receptor){given[0].bits}, (MPIRT_Timespec)given[1].number); }
static int call_MPIRTX_Receptor_get_descriptor(const union value *given) { return MPIRTX_Receptor_get_descriptor((MPIRT_Receptor){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Receptor_test(const union value *given) { return MPIRTX_Receptor_test((MPIRT_Receptor){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Receptor_get_event(const union value *given) { return MPIRTX_Receptor_get_event((MPIRT_Receptor){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Default_handler_set(const union value *given) { return MPIRTX_Default_handler_set((MPIRT_Event_kind)given[0].number, (MPIRT_Handler){given[1].bits}); }
static int call_MPIRT_Receptor_get_name(const union value *given) { return MPIRT_Receptor_get_name((MPIRT_Receptor){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Receptor_set_name(const union value *given) { return MPIRT_Receptor_set_name((MPIRT_Receptor){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Receptor_free(const union value *given) { return MPIRT_Receptor_free(given[0].pointer); }
static int call_MPIRT_Group_size(const union value *given) { return MPIRT_Group_size((MPIRT_Group){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Group_rank(const union value *given) { return MPIRT_Group_rank((MPIRT_Group){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Group_incl(const union value *given) { return MPIRT_Group_incl((MPIRT_Group){given[0].bits}, (int)given[1].number, given[2].pointer, given[3].pointer, given[4].pointer); }
static int call_MPIRT_Group_excl(const union value *given) { return MPIRT_Group_excl((MPIRT_Group){given[0].bits}, (int)given[1].number, given[2].pointer, given[3].pointer, given[4].pointer); }
static int call_MPIRT_Group_union(const union value *given) { return MPIRT_Group_union((MPIRT_Group){given[0].bits}, (MPIRT_Group){given[1].bits}, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Group_intersection(const union value *given) { return MPIRT_Group_intersection((MPIRT_Group){given[0].bits}, (MPIRT_Group){given[1].bits}, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Group_difference(const union value *given) { return MPIRT_Group_difference((MPIRT_Group){given[0].bits}, (MPIRT_Group){given[1].bits}, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Group_translate_ranks(const union value *given) { return MPIRT_Group_translate_ranks((MPIRT_Group){given[0].bits}, (int)given[1].number, given[2].pointer, (MPIRT_Group){given[3].bits}, given[4].pointer); }
static int call_MPIRT_Group_compare(const union value *given) { return MPIRT_Group_compare((MPIRT_Group){given[0].bits}, (MPIRT_Group){given[1].bits}, given[2].pointer); }
static int call_MPIRTX_Group_get_member_name(const union value *given) { return MPIRTX_Group_get_member_name((MPIRT_Group){given[0].bits}, (int)given[1].number, given[2].pointer); }
static int call_MPIRTX_Group_find_member(const union value *given) { return MPIRTX_Group_find_member((MPIRT_Group){given[0].bits}, given[1].pointer, given[2].pointer); }
static int call_MPIRT_Group_get_name(const union value *given) { return MPIRT_Group_get_name((MPIRT_Group){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Group_set_name(const union value *given) { return MPIRT_Group_set_name((MPIRT_Group){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Group_free(const union value *given) { return MPIRT_Group_free(given[0].pointer); }
static int call_MPIRTX_Mode_open(const union value *given) { return MPIRTX_Mode_open(given[0].pointer, given[1].pointer); }
static int call_MPIRTX_Mode_keep(const union value *given) { return MPIRTX_Mode_keep((MPIRTX_Mode){given[0].bits}, (MPIRT_Object){given[1].bits}); }
static int call_MPIRTX_Mode_commit(const union value *given) { return MPIRTX_Mode_commit((MPIRTX_Mode){given[0].bits}); }
static int call_MPIRTX_Mode_switch(const union value *given) { return MPIRTX_Mode_switch((MPIRTX_Mode){given[0].bits}, (MPIRT_Timespec)given[1].number, given[2].pointer); }
static int call_MPIRTX_Mode_get_current(const union value *given) { return MPIRTX_Mode_get_current(given[0].pointer); }
static int call_MPIRTX_Mode_get_name(const union value *given) { return MPIRTX_Mode_get_name((MPIRTX_Mode){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Mode_set_name(const union value *given) { return MPIRTX_Mode_set_name((MPIRTX_Mode){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Mode_free(const union value *given) { return MPIRTX_Mode_free(given[0].pointer); }
static int call_MPIRT_Object_is_null(const union value *given) { return MPIRT_Object_is_null((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Object_get_object_type(const union value *given) { return MPIRT_Object_get_object_type((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Object_get_name(const union value *given) { return MPIRT_Object_get_name((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Object_set_name(const union value *given) { return MPIRT_Object_set_name((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Object_free(const union value *given) { return MPIRT_Object_free(given[0].pointer); }
static int call_MPIRTX_Object_compare(const union value *given) { return MPIRTX_Object_compare((MPIRT_Object){given[0].bits}, (MPIRT_Object){given[1].bits}, given[2].pointer); }
static int call_MPIRTX_Object_as_container(const union value *given) { return MPIRTX_Object_as_container((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_cset(const union value *given) { return MPIRTX_Object_as_cset((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_cvector(const union value *given) { return MPIRTX_Object_as_cvector((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_group(const union value *given) { return MPIRTX_Object_as_group((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_buffer(const union value *given) { return MPIRTX_Object_as_buffer((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_bufiter(const union value *given) { return MPIRTX_Object_as_bufiter((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_channel(const union value *given) { return MPIRTX_Object_as_channel((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_qos(const union value *given) { return MPIRTX_Object_as_qos((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_trigger(const union value *given) { return MPIRTX_Object_as_trigger((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_receptor(const union value *given) { return MPIRTX_Object_as_receptor((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_handler(const union value *given) { return MPIRTX_Object_as_handler((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Object_as_task(const union value *given) { return MPIRTX_Object_as_task((MPIRT_Object){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Keyval_create(const union value *given) { return MPIRT_Keyval_create((MPIRT_Delete_function *)given[0].function, given[1].pointer, given[2].pointer); }
static int call_MPIRT_Keyval_free(const union value *given) { return MPIRT_Keyval_free(given[0].pointer); }
static int call_MPIRT_Object_put_attr(const union value *given) { return MPIRT_Object_put_attr((MPIRT_Object){given[0].bits}, (int)given[1].number, given[2].pointer); }
static int call_MPIRT_Object_get_attr(const union value *given) { return MPIRT_Object_get_attr((MPIRT_Object){given[0].bits}, (int)given[1].number, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Object_delete_attr(const union value *given) { return MPIRT_Object_delete_attr((MPIRT_Object){given[0].bits}, (int)given[1].number); }
static int call_MPIRT_Container_start(const union value *given) { return MPIRT_Container_start((MPIRT_Container){given[0].bits}); }
static int call_MPIRT_Container_wait(const union value *given) { return MPIRT_Container_wait((MPIRT_Container){given[0].bits}, (MPIRT_Timespec)given[1].number); }
static int call_MPIRT_Container_test(const union value *given) { return MPIRT_Container_test((MPIRT_Container){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Container_wait_any(const union value *given) { return MPIRTX_Container_wait_any((MPIRT_Container){given[0].bits}, (MPIRT_Timespec)given[1].number, given[2].pointer, given[3].pointer); }
static int call_MPIRTX_Container_test_any(const union value *given) { return MPIRTX_Container_test_any((MPIRT_Container){given[0].bits}, given[1].pointer, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Container_activate(const union value *given) { return MPIRT_Container_activate((MPIRT_Container){given[0].bits}); }
static int call_MPIRT_Container_deactivate(const union value *given) { return MPIRT_Container_deactivate((MPIRT_Container){given[0].bits}); }
static int call_MPIRT_Container_set_qos(const union value *given) { return MPIRT_Container_set_qos((MPIRT_Container){given[0].bits}, (MPIRT_Qos){given[1].bits}); }
static int call_MPIRT_Container_flatten(const union value *given) { return MPIRT_Container_flatten((MPIRT_Container){given[0].bits}, given[1].pointer, given[2].pointer); }
static int call_MPIRT_Container_filter(const union value *given) { return MPIRT_Container_filter((MPIRT_Container){given[0].bits}, (MPIRT_Object_type)given[1].number, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Qos_channel_time_create(const union value *given) { return MPIRT_Qos_channel_time_create(given[0].pointer, (MPIRT_Timespec)given[1].number, (MPIRT_Timespec)given[2].number, (MPIRT_Timespec)given[3].number, given[4].pointer); }
static int call_MPIRT_Qos_channel_event_create(const union value *given) { return MPIRT_Qos_channel_event_create(given[0].pointer, given[1].pointer, given[2].pointer, given[3].pointer); }
static int call_MPIRT_Qos_channel_priority_create(const union value *given) { return MPIRT_Qos_channel_priority_create(given[0].pointer, (int)given[1].number, given[2].pointer); }
static int call_MPIRTX_Qos_handler_create(const union value *given) { return MPIRTX_Qos_handler_create(given[0].pointer, (int)given[1].number, (MPIRT_Timespec)given[2].number, (MPIRT_Timespec)given[3].number, given[4].pointer); }
static int call_MPIRTX_Qos_get_kind(const union value *given) { return MPIRTX_Qos_get_kind((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Qos_get_time(const union value *given) { return MPIRTX_Qos_get_time((MPIRT_Qos){given[0].bits}, given[1].pointer, given[2].pointer, given[3].pointer); }
static int call_MPIRTX_Qos_get_events(const union value *given) { return MPIRTX_Qos_get_events((MPIRT_Qos){given[0].bits}, given[1].pointer, given[2].pointer); }
static int call_MPIRTX_Qos_get_priority(const union value *given) { return MPIRTX_Qos_get_priority((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Qos_set_priority(const union value *given) { return MPIRTX_Qos_set_priority((MPIRT_Qos){given[0].bits}, (int)given[1].number); }
static int call_MPIRTX_Qos_get_phase(const union value *given) { return MPIRTX_Qos_get_phase((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Qos_set_phase(const union value *given) { return MPIRTX_Qos_set_phase((MPIRT_Qos){given[0].bits}, (MPIRT_Timespec)given[1].number); }
static int call_MPIRTX_Qos_get_miss_policy(const union value *given) { return MPIRTX_Qos_get_miss_policy((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Qos_set_miss_policy(const union value *given) { return MPIRTX_Qos_set_miss_policy((MPIRT_Qos){given[0].bits}, (MPIRTX_Miss_policy)given[1].number); }
static int call_MPIRTX_Qos_get_deadline(const union value *given) { return MPIRTX_Qos_get_deadline((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Qos_set_deadline(const union value *given) { return MPIRTX_Qos_set_deadline((MPIRT_Qos){given[0].bits}, (MPIRT_Timespec)given[1].number); }
static int call_MPIRTX_Qos_get_interval(const union value *given) { return MPIRTX_Qos_get_interval((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Qos_set_interval(const union value *given) { return MPIRTX_Qos_set_interval((MPIRT_Qos){given[0].bits}, (MPIRT_Timespec)given[1].number); }
static int call_MPIRT_Qos_get_name(const union value *given) { return MPIRT_Qos_get_name((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Qos_set_name(const union value *given) { return MPIRT_Qos_set_name((MPIRT_Qos){given[0].bits}, given[1].pointer); }
static int call_MPIRT_Qos_free(const union value *given) { return MPIRT_Qos_free(given[0].pointer); }
static int call_MPIRT_Init(const union value *given) { return MPIRT_Init(given[0].pointer, given[1].pointer); }
static int call_MPIRT_Finalize(const union value *given) { (void)given; return MPIRT_Finalize(); }
static int call_MPIRT_Commit(const union value *given) { (void)given; return MPIRT_Commit(); }
static int call_MPIRTX_Commit_group(const union value *given) { return MPIRTX_Commit_group((MPIRT_Group){given[0].bits}); }
static int call_MPIRT_Uncommit(const union value *given) { (void)given; return MPIRT_Uncommit(); }
static int call_MPIRTX_Run(const union value *given) { (void)given; return MPIRTX_Run(); }
static int call_MPIRTX_Uncommit_group(const union value *given) { return MPIRTX_Uncommit_group((MPIRT_Group){given[0].bits}); }
static int call_MPIRTX_Abort(const union value *given) { return MPIRTX_Abort((int)given[0].number, given[1].pointer); }
static int call_MPIRTX_Fail(const union value *given) { return MPIRTX_Fail(given[0].pointer); }
static int call_MPIRT_Is_initialized(const union value *given) { return MPIRT_Is_initialized(given[0].pointer); }
static int call_MPIRT_Is_finalized(const union value *given) { return MPIRT_Is_finalized(given[0].pointer); }
static int call_MPIRT_Sleep(const union value *given) { return MPIRT_Sleep((MPIRT_Time_mode)given[0].number, (MPIRT_Timespec)given[1].number); }
static int call_MPIRT_Get_time(const union value *given) { return MPIRT_Get_time(given[0].pointer); }
static int call_MPIRT_Get_time_resolution(const union value *given) { return MPIRT_Get_time_resolution(given[0].pointer); }
static int call_MPIRTX_Get_clock(const union value *given) { return MPIRTX_Get_clock(given[0].pointer, given[1].pointer); }
static int call_MPIRTX_Get_epoch(const union value *given) { return MPIRTX_Get_epoch(given[0].pointer); }
static int call_MPIRT_Int64_export(const union value *given) { return MPIRT_Int64_export((MPIRT_Timespec)given[0].number, given[1].pointer, given[2].pointer); }
static int call_MPIRT_Error_string(const union value *given) { return MPIRT_Error_string((int)given[0].number, given[1].pointer); }
static int call_MPIRTX_Error_detail(const union value *given) { return MPIRTX_Error_detail(given[0].pointer); }
static int call_MPIRTX_Get_version(const union value *given) { return MPIRTX_Get_version(given[0].pointer, given[1].pointer, given[2].pointer); }
static int call_MPIRTX_Task_create(const union value *given) { return MPIRTX_Task_create(given[0].pointer, (MPIRTX_Task_function *)given[1].function, given[2].pointer, (MPIRT_Qos){given[3].bits}, (MPIRT_Timespec)given[4].number, given[5].pointer); }
static int call_MPIRTX_Task_bind(const union value *given) { return MPIRTX_Task_bind((MPIRTX_Task){given[0].bits}, (MPIRT_Channel){given[1].bits}); }
static int call_MPIRTX_Task_get_budget(const union value *given) { return MPIRTX_Task_get_budget((MPIRTX_Task){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Task_get_qos(const union value *given) { return MPIRTX_Task_get_qos((MPIRTX_Task){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Task_get_core(const union value *given) { return MPIRTX_Task_get_core((MPIRTX_Task){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Task_set_core(const union value *given) { return MPIRTX_Task_set_core((MPIRTX_Task){given[0].bits}, (int)given[1].number); }
static int call_MPIRTX_Task_get_overrun_policy(const union value *given) { return MPIRTX_Task_get_overrun_policy((MPIRTX_Task){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Task_set_overrun_policy(const union value *given) { return MPIRTX_Task_set_overrun_policy((MPIRTX_Task){given[0].bits}, (MPIRTX_Overrun_policy)given[1].number); }
static int call_MPIRTX_Task_get_metrics(const union value *given) { return MPIRTX_Task_get_metrics((MPIRTX_Task){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Task_get_name(const union value *given) { return MPIRTX_Task_get_name((MPIRTX_Task){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Task_set_name(const union value *given) { return MPIRTX_Task_set_name((MPIRTX_Task){given[0].bits}, given[1].pointer); }
static int call_MPIRTX_Task_free(const union value *given) { return MPIRTX_Task_free(given[0].pointer); }

static const struct call calls[] = {
    {"MPIRT_Buffer_create", call_MPIRT_Buffer_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000030c286), 5, {{TEXT, OF_NONE, 1}, {POINTER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRT_Buffer, 0}}},
    {"MPIRT_Buffer_get_bufsize", call_MPIRT_Buffer_get_bufsize, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Buffer_set_bufsize", call_MPIRT_Buffer_set_bufsize, RULE_LIVE | RULE_CHANGE, UINT64_C(0x103e86), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Buffer_get_base", call_MPIRT_Buffer_get_base, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Buffer_get_writable", call_MPIRTX_Buffer_get_writable, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Buffer_set_base", call_MPIRT_Buffer_set_base, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {POINTER, OF_NONE, 0}}},
    {"MPIRT_Buffer_get_dataspec", call_MPIRT_Buffer_get_dataspec, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Buffer_set_dataspec", call_MPIRT_Buffer_set_dataspec, RULE_LIVE | RULE_CHANGE, UINT64_C(0x303e86), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Buffer_get_name", call_MPIRT_Buffer_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Buffer_set_name", call_MPIRT_Buffer_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Buffer_free", call_MPIRT_Buffer_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x4007e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Buffer, 0}}},
    {"MPIRT_Buffer_get_label", call_MPIRT_Buffer_get_label, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Buffer_set_label", call_MPIRT_Buffer_set_label, RULE_LIVE, UINT64_C(0x4003c86), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Buffer_get_length", call_MPIRTX_Buffer_get_length, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Buffer_set_length", call_MPIRTX_Buffer_set_length, RULE_LIVE, UINT64_C(0x4103c82), 2, {{HANDLE, OF_MPIRT_Buffer, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Buffer_get_instance", call_MPIRTX_Buffer_get_instance, RULE_LIVE, UINT64_C(0x7c8a), 3, {{HANDLE, OF_MPIRT_Buffer, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Dataspec_size", call_MPIRT_Dataspec_size, RULE_LIVE, UINT64_C(0x204082), 2, {{NUMBER, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Bufiter_create", call_MPIRT_Bufiter_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000031fa86), 6, {{TEXT, OF_NONE, 1}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Container, 1}, {OUT_HANDLE, OF_MPIRT_Bufiter, 0}}},
    {"MPIRT_Bufiter_insert", call_MPIRT_Bufiter_insert, RULE_LIVE, UINT64_C(0x6303c86), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {HANDLE, OF_MPIRT_Buffer, 0}}},
    {"MPIRT_Bufiter_remove", call_MPIRT_Bufiter_remove, RULE_LIVE, UINT64_C(0x8007c82), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {OUT_HANDLE, OF_MPIRT_Buffer, 0}}},
    {"MPIRTX_Bufiter_get_count", call_MPIRTX_Bufiter_get_count, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Bufiter_get_policy", call_MPIRT_Bufiter_get_policy, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Bufiter_get_bufsize", call_MPIRT_Bufiter_get_bufsize, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Bufiter_get_dataspec", call_MPIRT_Bufiter_get_dataspec, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Bufiter_get_allowed", call_MPIRT_Bufiter_get_allowed, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {OUT_HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRT_Bufiter_get_name", call_MPIRT_Bufiter_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Bufiter_set_name", call_MPIRT_Bufiter_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Bufiter, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Bufiter_free", call_MPIRT_Bufiter_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Bufiter, 0}}},
    {"MPIRT_Channel_get_inbufiter", call_MPIRT_Channel_get_inbufiter, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT_HANDLE, OF_MPIRT_Bufiter, 0}}},
    {"MPIRT_Channel_set_inbufiter", call_MPIRT_Channel_set_inbufiter, RULE_LIVE | RULE_CHANGE, UINT64_C(0x303e8e), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}}},
    {"MPIRT_Channel_get_outbufiter", call_MPIRT_Channel_get_outbufiter, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT_HANDLE, OF_MPIRT_Bufiter, 0}}},
    {"MPIRT_Channel_set_outbufiter", call_MPIRT_Channel_set_outbufiter, RULE_LIVE | RULE_CHANGE, UINT64_C(0x303e8e), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}}},
    {"MPIRT_Channel_get_recvinbufiter", call_MPIRT_Channel_get_recvinbufiter, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT_HANDLE, OF_MPIRT_Bufiter, 0}}},
    {"MPIRT_Channel_set_recvinbufiter", call_MPIRT_Channel_set_recvinbufiter, RULE_LIVE | RULE_CHANGE, UINT64_C(0x303e8e), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}}},
    {"MPIRT_Channel_get_recvoutbufiter", call_MPIRT_Channel_get_recvoutbufiter, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT_HANDLE, OF_MPIRT_Bufiter, 0}}},
    {"MPIRT_Channel_set_recvoutbufiter", call_MPIRT_Channel_set_recvoutbufiter, RULE_LIVE | RULE_CHANGE, UINT64_C(0x303e8e), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}}},
    {"MPIRT_Channel_get_qos", call_MPIRT_Channel_get_qos, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRT_Channel_set_qos", call_MPIRT_Channel_set_qos, RULE_LIVE | RULE_CHANGE, UINT64_C(0x3e8e), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {HANDLE, OF_MPIRT_Qos, 1}}},
    {"MPIRT_Channel_start", call_MPIRT_Channel_start, RULE_LIVE | RULE_RUNNING, UINT64_C(0x461103d82), 1, {{HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Channel_wait", call_MPIRT_Channel_wait, RULE_LIVE | RULE_RUNNING | RULE_BLOCK, UINT64_C(0x1780803f82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Channel_test", call_MPIRT_Channel_test, RULE_LIVE | RULE_RUNNING, UINT64_C(0x680007d82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_mover_budget", call_MPIRTX_Channel_get_mover_budget, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_set_mover_budget", call_MPIRTX_Channel_set_mover_budget, RULE_LIVE | RULE_CHANGE, UINT64_C(0x803e8e), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_descriptor", call_MPIRTX_Channel_get_descriptor, RULE_LIVE | RULE_RUNNING | RULE_SETUP | RULE_LIMIT, UINT64_C(0xc0000007f8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Channel_activate", call_MPIRT_Channel_activate, RULE_LIVE | RULE_RUNNING, UINT64_C(0x421003d82), 1, {{HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRTX_Channel_activate_at", call_MPIRTX_Channel_activate_at, RULE_LIVE | RULE_RUNNING, UINT64_C(0x421003d8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Channel_deactivate", call_MPIRT_Channel_deactivate, RULE_LIVE | RULE_RUNNING, UINT64_C(0xa0003d82), 1, {{HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRTX_Channel_deactivate_at", call_MPIRTX_Channel_deactivate_at, RULE_LIVE | RULE_RUNNING, UINT64_C(0x400a1003d8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Ptchannel_create", call_MPIRT_Ptchannel_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc00000cfe86), 8, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRTX_Channel_get_source", call_MPIRTX_Channel_get_source, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_target", call_MPIRTX_Channel_get_target, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_root", call_MPIRTX_Channel_get_root, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_operation", call_MPIRTX_Channel_get_operation, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_slack", call_MPIRTX_Channel_get_slack, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_set_slack", call_MPIRTX_Channel_set_slack, RULE_LIVE | RULE_CHANGE, UINT64_C(0x13e86), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_polling", call_MPIRTX_Channel_get_polling, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_set_polling", call_MPIRTX_Channel_set_polling, RULE_LIVE | RULE_CHANGE, UINT64_C(0x3e86), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_checksum", call_MPIRTX_Channel_get_checksum, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_set_checksum", call_MPIRTX_Channel_set_checksum, RULE_LIVE | RULE_CHANGE, UINT64_C(0x3e86), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Channel_get_group", call_MPIRT_Channel_get_group, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRTX_Channel_get_status", call_MPIRTX_Channel_get_status, RULE_LIVE | RULE_RUNNING, UINT64_C(0x7d82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Channel_get_metrics", call_MPIRTX_Channel_get_metrics, RULE_LIVE | RULE_RUNNING, UINT64_C(0x7d82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Channel_get_name", call_MPIRT_Channel_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Channel_set_name", call_MPIRT_Channel_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Channel, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Channel_free", call_MPIRT_Channel_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Bcast_channel_create", call_MPIRT_Bcast_channel_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc00003dfe8e), 9, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Scatter_channel_create", call_MPIRT_Scatter_channel_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc00003dfe8e), 9, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Gather_channel_create", call_MPIRT_Gather_channel_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc00003dfe8e), 9, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Reduce_channel_create", call_MPIRT_Reduce_channel_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc00007dfe8e), 10, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Barrier_channel_create", call_MPIRT_Barrier_channel_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000008fe8e), 4, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Alltoall_channel_create", call_MPIRT_Alltoall_channel_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000039fe8e), 8, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Bufiter, 1}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRT_Container_access_count", call_MPIRT_Container_access_count, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Container, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Container_get_name", call_MPIRT_Container_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Container, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Container_set_name", call_MPIRT_Container_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe8e), 2, {{HANDLE, OF_MPIRT_Container, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Container_free", call_MPIRT_Container_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e8e), 1, {{CHANGED_HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRT_Cset_create", call_MPIRT_Cset_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000000c286), 2, {{TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Cset, 0}}},
    {"MPIRT_Cset_insert", call_MPIRT_Cset_insert, RULE_LIVE | RULE_CHANGE | RULE_LIMIT, UINT64_C(0xc0000013e86), 2, {{HANDLE, OF_MPIRT_Cset, 0}, {HANDLE, OF_MPIRT_Object, 1}}},
    {"MPIRT_Cset_remove", call_MPIRT_Cset_remove, RULE_LIVE | RULE_CHANGE, UINT64_C(0x3e96), 2, {{HANDLE, OF_MPIRT_Cset, 0}, {HANDLE, OF_MPIRT_Object, 1}}},
    {"MPIRT_Cset_get_name", call_MPIRT_Cset_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Cset, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Cset_set_name", call_MPIRT_Cset_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Cset, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Cset_free", call_MPIRT_Cset_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Cset, 0}}},
    {"MPIRTX_Cset_contains", call_MPIRTX_Cset_contains, RULE_LIVE, UINT64_C(0x7c82), 3, {{HANDLE, OF_MPIRT_Cset, 0}, {HANDLE, OF_MPIRT_Object, 1}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Cvector_create", call_MPIRT_Cvector_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000001fe86), 4, {{TEXT, OF_NONE, 1}, {NUMBER, OF_NONE, 0}, {POINTER, OF_MPIRT_Object, 1}, {OUT_HANDLE, OF_MPIRT_Cvector, 0}}},
    {"MPIRT_Cvector_get_size", call_MPIRT_Cvector_get_size, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Cvector, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Cvector_get_element", call_MPIRT_Cvector_get_element, RULE_LIVE, UINT64_C(0x27c82), 3, {{HANDLE, OF_MPIRT_Cvector, 0}, {NUMBER, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRT_Object, 0}}},
    {"MPIRT_Cvector_set_element", call_MPIRT_Cvector_set_element, RULE_LIVE | RULE_CHANGE, UINT64_C(0x33e86), 3, {{HANDLE, OF_MPIRT_Cvector, 0}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Object, 1}}},
    {"MPIRT_Cvector_get_name", call_MPIRT_Cvector_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Cvector, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Cvector_set_name", call_MPIRT_Cvector_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Cvector, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Cvector_free", call_MPIRT_Cvector_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Cvector, 0}}},
    {"MPIRT_Container_iterator_create", call_MPIRT_Container_iterator_create, RULE_LIVE | RULE_CREATE_ANY, UINT64_C(0xc000000fe8a), 3, {{TEXT, OF_NONE, 1}, {HANDLE, OF_MPIRT_Container, 0}, {OUT_HANDLE, OF_MPIRT_Container_iterator, 0}}},
    {"MPIRT_Container_iterator_next", call_MPIRT_Container_iterator_next, RULE_LIVE | RULE_SETUP, UINT64_C(0x30000007e82), 2, {{HANDLE, OF_MPIRT_Container_iterator, 0}, {OUT_HANDLE, OF_MPIRT_Object, 0}}},
    {"MPIRT_Container_iterator_reset", call_MPIRT_Container_iterator_reset, RULE_LIVE | RULE_SETUP, UINT64_C(0x3e82), 1, {{HANDLE, OF_MPIRT_Container_iterator, 0}}},
    {"MPIRT_Container_iterator_get_name", call_MPIRT_Container_iterator_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Container_iterator, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Container_iterator_set_name", call_MPIRT_Container_iterator_set_name, RULE_LIVE | RULE_SETUP, UINT64_C(0xbe82), 2, {{HANDLE, OF_MPIRT_Container_iterator, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Container_iterator_free", call_MPIRT_Container_iterator_free, RULE_LIVE | RULE_SETUP, UINT64_C(0x7e82), 1, {{CHANGED_HANDLE, OF_MPIRT_Container_iterator, 0}}},
    {"MPIRT_Trigger_create", call_MPIRT_Trigger_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000009fe8e), 6, {{TEXT, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Object, 1}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Trigger, 0}}},
    {"MPIRTX_Trigger_get_kind", call_MPIRTX_Trigger_get_kind, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Trigger, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Trigger_get_time", call_MPIRTX_Trigger_get_time, RULE_LIVE, UINT64_C(0x7c8a), 3, {{HANDLE, OF_MPIRT_Trigger, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Trigger_set_time", call_MPIRTX_Trigger_set_time, RULE_LIVE | RULE_CHANGE, UINT64_C(0x803e8e), 3, {{HANDLE, OF_MPIRT_Trigger, 0}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Trigger_fire", call_MPIRT_Trigger_fire, RULE_LIVE | RULE_RUNNING, UINT64_C(0x3d8a), 1, {{HANDLE, OF_MPIRT_Trigger, 0}}},
    {"MPIRT_Trigger_get_name", call_MPIRT_Trigger_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Trigger, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Trigger_set_name", call_MPIRT_Trigger_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Trigger, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Trigger_free", call_MPIRT_Trigger_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Trigger, 0}}},
    {"MPIRT_Handler_create", call_MPIRT_Handler_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000000fa8e), 5, {{TEXT, OF_NONE, 1}, {FUNCTION, OF_NONE, 0}, {POINTER, OF_NONE, 1}, {HANDLE, OF_MPIRT_Qos, 1}, {OUT_HANDLE, OF_MPIRT_Handler, 0}}},
    {"MPIRT_Handler_get_name", call_MPIRT_Handler_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Handler, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Handler_set_name", call_MPIRT_Handler_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Handler, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRTX_Handler_get_metrics", call_MPIRTX_Handler_get_metrics, RULE_LIVE | RULE_RUNNING, UINT64_C(0x7d82), 2, {{HANDLE, OF_MPIRT_Handler, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Handler_fail", call_MPIRTX_Handler_fail, RULE_LIVE | RULE_RUNNING, UINT64_C(0x18a), 0, {{NUMBER, OF_NONE, 0}}},
    {"MPIRT_Handler_free", call_MPIRT_Handler_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Handler, 0}}},
    {"MPIRT_Receptor_create", call_MPIRT_Receptor_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000008fe8e), 4, {{TEXT, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Container, 1}, {OUT_HANDLE, OF_MPIRT_Receptor, 0}}},
    {"MPIRTX_Receptor_combine", call_MPIRTX_Receptor_combine, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000001fe8e), 5, {{TEXT, OF_NONE, 1}, {NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Container, 0}, {HANDLE, OF_MPIRT_Container, 1}, {OUT_HANDLE, OF_MPIRT_Receptor, 0}}},
    {"MPIRT_Receptor_wait", call_MPIRT_Receptor_wait, RULE_LIVE | RULE_RUNNING | RULE_BLOCK, UINT64_C(0x1500803f8a), 2, {{HANDLE, OF_MPIRT_Receptor, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Receptor_get_descriptor", call_MPIRTX_Receptor_get_descriptor, RULE_LIVE | RULE_RUNNING | RULE_SETUP | RULE_LIMIT, UINT64_C(0xc0000007f8a), 2, {{HANDLE, OF_MPIRT_Receptor, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Receptor_test", call_MPIRTX_Receptor_test, RULE_LIVE | RULE_RUNNING, UINT64_C(0x7d8a), 2, {{HANDLE, OF_MPIRT_Receptor, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Receptor_get_event", call_MPIRTX_Receptor_get_event, RULE_LIVE | RULE_RUNNING, UINT64_C(0x8007d82), 2, {{HANDLE, OF_MPIRT_Receptor, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Default_handler_set", call_MPIRTX_Default_handler_set, RULE_LIVE | RULE_CHANGE, UINT64_C(0x13a86), 2, {{NUMBER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Handler, 1}}},
    {"MPIRT_Receptor_get_name", call_MPIRT_Receptor_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Receptor, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Receptor_set_name", call_MPIRT_Receptor_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRT_Receptor, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Receptor_free", call_MPIRT_Receptor_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRT_Receptor, 0}}},
    {"MPIRT_Group_size", call_MPIRT_Group_size, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Group, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Group_rank", call_MPIRT_Group_rank, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Group, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Group_incl", call_MPIRT_Group_incl, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000005fe86), 5, {{HANDLE, OF_MPIRT_Group, 0}, {NUMBER, OF_NONE, 0}, {POINTER, OF_NONE, 0}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRT_Group_excl", call_MPIRT_Group_excl, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000005fe86), 5, {{HANDLE, OF_MPIRT_Group, 0}, {NUMBER, OF_NONE, 0}, {POINTER, OF_NONE, 0}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRT_Group_union", call_MPIRT_Group_union, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000000fe86), 4, {{HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Group, 0}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRT_Group_intersection", call_MPIRT_Group_intersection, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000000fe86), 4, {{HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Group, 0}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRT_Group_difference", call_MPIRT_Group_difference, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000000fe86), 4, {{HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Group, 0}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRT_Group_translate_ranks", call_MPIRT_Group_translate_ranks, RULE_LIVE, UINT64_C(0x57c82), 5, {{HANDLE, OF_MPIRT_Group, 0}, {NUMBER, OF_NONE, 0}, {POINTER, OF_NONE, 0}, {HANDLE, OF_MPIRT_Group, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Group_compare", call_MPIRT_Group_compare, RULE_LIVE, UINT64_C(0x7c82), 3, {{HANDLE, OF_MPIRT_Group, 0}, {HANDLE, OF_MPIRT_Group, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Group_get_member_name", call_MPIRTX_Group_get_member_name, RULE_LIVE, UINT64_C(0x47c82), 3, {{HANDLE, OF_MPIRT_Group, 0}, {NUMBER, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Group_find_member", call_MPIRTX_Group_find_member, RULE_LIVE, UINT64_C(0xfc82), 3, {{HANDLE, OF_MPIRT_Group, 0}, {TEXT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Group_get_name", call_MPIRT_Group_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Group, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Group_set_name", call_MPIRT_Group_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe8e), 2, {{HANDLE, OF_MPIRT_Group, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Group_free", call_MPIRT_Group_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e8e), 1, {{CHANGED_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRTX_Mode_open", call_MPIRTX_Mode_open, RULE_LIVE | RULE_RUNNING | RULE_SETUP | RULE_LIMIT, UINT64_C(0xc000000c386), 2, {{TEXT, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRTX_Mode, 0}}},
    {"MPIRTX_Mode_keep", call_MPIRTX_Mode_keep, RULE_LIVE | RULE_RUNNING | RULE_SETUP, UINT64_C(0x13f8e), 2, {{HANDLE, OF_MPIRTX_Mode, 0}, {HANDLE, OF_MPIRT_Object, 0}}},
    {"MPIRTX_Mode_commit", call_MPIRTX_Mode_commit, RULE_LIVE | RULE_RUNNING | RULE_SETUP | RULE_LIMIT, UINT64_C(0xcf500313f86), 1, {{HANDLE, OF_MPIRTX_Mode, 0}}},
    {"MPIRTX_Mode_switch", call_MPIRTX_Mode_switch, RULE_LIVE | RULE_RUNNING | RULE_SETUP, UINT64_C(0x9501017f82), 3, {{HANDLE, OF_MPIRTX_Mode, 0}, {NUMBER, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Mode_get_current", call_MPIRTX_Mode_get_current, RULE_LIVE | RULE_RUNNING | RULE_SETUP, UINT64_C(0x4382), 1, {{OUT_HANDLE, OF_MPIRTX_Mode, 0}}},
    {"MPIRTX_Mode_get_name", call_MPIRTX_Mode_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRTX_Mode, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Mode_set_name", call_MPIRTX_Mode_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRTX_Mode, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRTX_Mode_free", call_MPIRTX_Mode_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRTX_Mode, 0}}},
    {"MPIRT_Object_is_null", call_MPIRT_Object_is_null, RULE_LIVE, UINT64_C(0x7882), 2, {{HANDLE, OF_MPIRT_Object, 1}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Object_get_object_type", call_MPIRT_Object_get_object_type, RULE_LIVE, UINT64_C(0x7882), 2, {{HANDLE, OF_MPIRT_Object, 1}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Object_get_name", call_MPIRT_Object_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Object_set_name", call_MPIRT_Object_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe8e), 2, {{HANDLE, OF_MPIRT_Object, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Object_free", call_MPIRT_Object_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x4007e8e), 1, {{CHANGED_HANDLE, OF_MPIRT_Object, 0}}},
    {"MPIRTX_Object_compare", call_MPIRTX_Object_compare, RULE_LIVE, UINT64_C(0x7882), 3, {{HANDLE, OF_MPIRT_Object, 1}, {HANDLE, OF_MPIRT_Object, 1}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Object_as_container", call_MPIRTX_Object_as_container, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRTX_Object_as_cset", call_MPIRTX_Object_as_cset, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Cset, 0}}},
    {"MPIRTX_Object_as_cvector", call_MPIRTX_Object_as_cvector, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Cvector, 0}}},
    {"MPIRTX_Object_as_group", call_MPIRTX_Object_as_group, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRTX_Object_as_buffer", call_MPIRTX_Object_as_buffer, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Buffer, 0}}},
    {"MPIRTX_Object_as_bufiter", call_MPIRTX_Object_as_bufiter, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Bufiter, 0}}},
    {"MPIRTX_Object_as_channel", call_MPIRTX_Object_as_channel, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRTX_Object_as_qos", call_MPIRTX_Object_as_qos, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRTX_Object_as_trigger", call_MPIRTX_Object_as_trigger, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Trigger, 0}}},
    {"MPIRTX_Object_as_receptor", call_MPIRTX_Object_as_receptor, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Receptor, 0}}},
    {"MPIRTX_Object_as_handler", call_MPIRTX_Object_as_handler, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRT_Handler, 0}}},
    {"MPIRTX_Object_as_task", call_MPIRTX_Object_as_task, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Object, 0}, {OUT_HANDLE, OF_MPIRTX_Task, 0}}},
    {"MPIRT_Keyval_create", call_MPIRT_Keyval_create, RULE_LIVE | RULE_SETUP | RULE_LIMIT, UINT64_C(0xc0000004282), 3, {{FUNCTION, OF_NONE, 1}, {POINTER, OF_NONE, 1}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Keyval_free", call_MPIRT_Keyval_free, RULE_LIVE | RULE_SETUP, UINT64_C(0x42a2), 1, {{CHANGED, OF_NONE, 0}}},
    {"MPIRT_Object_put_attr", call_MPIRT_Object_put_attr, RULE_LIVE | RULE_SETUP | RULE_LIMIT, UINT64_C(0xc0000003eaa), 3, {{HANDLE, OF_MPIRT_Object, 0}, {NUMBER, OF_NONE, 0}, {POINTER, OF_NONE, 1}}},
    {"MPIRT_Object_get_attr", call_MPIRT_Object_get_attr, RULE_LIVE | RULE_SETUP, UINT64_C(0x7ea2), 4, {{HANDLE, OF_MPIRT_Object, 0}, {NUMBER, OF_NONE, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Object_delete_attr", call_MPIRT_Object_delete_attr, RULE_LIVE | RULE_SETUP, UINT64_C(0x3ea2), 2, {{HANDLE, OF_MPIRT_Object, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Container_start", call_MPIRT_Container_start, RULE_LIVE | RULE_RUNNING, UINT64_C(0x40461103d8a), 1, {{HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRT_Container_wait", call_MPIRT_Container_wait, RULE_LIVE | RULE_RUNNING | RULE_BLOCK, UINT64_C(0x41780803f8a), 2, {{HANDLE, OF_MPIRT_Container, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Container_test", call_MPIRT_Container_test, RULE_LIVE | RULE_RUNNING, UINT64_C(0x40680007d8a), 2, {{HANDLE, OF_MPIRT_Container, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Container_wait_any", call_MPIRTX_Container_wait_any, RULE_LIVE | RULE_RUNNING | RULE_BLOCK, UINT64_C(0x41180807f8a), 4, {{HANDLE, OF_MPIRT_Container, 0}, {NUMBER, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Container_test_any", call_MPIRTX_Container_test_any, RULE_LIVE | RULE_RUNNING, UINT64_C(0x40080007d8a), 4, {{HANDLE, OF_MPIRT_Container, 0}, {OUT, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRT_Channel, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Container_activate", call_MPIRT_Container_activate, RULE_LIVE | RULE_RUNNING, UINT64_C(0x40421003d8a), 1, {{HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRT_Container_deactivate", call_MPIRT_Container_deactivate, RULE_LIVE | RULE_RUNNING, UINT64_C(0x400a0003d8a), 1, {{HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRT_Container_set_qos", call_MPIRT_Container_set_qos, RULE_LIVE | RULE_CHANGE, UINT64_C(0x3e8e), 2, {{HANDLE, OF_MPIRT_Container, 0}, {HANDLE, OF_MPIRT_Qos, 1}}},
    {"MPIRT_Container_flatten", call_MPIRT_Container_flatten, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000000fe86), 3, {{HANDLE, OF_MPIRT_Container, 0}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRT_Container_filter", call_MPIRT_Container_filter, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000001fe8e), 4, {{HANDLE, OF_MPIRT_Container, 0}, {NUMBER, OF_NONE, 0}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Container, 0}}},
    {"MPIRT_Qos_channel_time_create", call_MPIRT_Qos_channel_time_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000080c286), 5, {{TEXT, OF_NONE, 1}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRT_Qos_channel_event_create", call_MPIRT_Qos_channel_event_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000001c286), 4, {{TEXT, OF_NONE, 1}, {TEXT, OF_NONE, 1}, {TEXT, OF_NONE, 1}, {OUT_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRT_Qos_channel_priority_create", call_MPIRT_Qos_channel_priority_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000001c286), 3, {{TEXT, OF_NONE, 1}, {NUMBER, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRTX_Qos_handler_create", call_MPIRTX_Qos_handler_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000081c286), 5, {{TEXT, OF_NONE, 1}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRTX_Qos_get_kind", call_MPIRTX_Qos_get_kind, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_get_time", call_MPIRTX_Qos_get_time, RULE_LIVE, UINT64_C(0x7c8a), 4, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_get_events", call_MPIRTX_Qos_get_events, RULE_LIVE, UINT64_C(0x7c8a), 3, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_get_priority", call_MPIRTX_Qos_get_priority, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_set_priority", call_MPIRTX_Qos_set_priority, RULE_LIVE | RULE_CHANGE, UINT64_C(0x13e8e), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Qos_get_phase", call_MPIRTX_Qos_get_phase, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_set_phase", call_MPIRTX_Qos_set_phase, RULE_LIVE | RULE_CHANGE, UINT64_C(0x803e8e), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Qos_get_miss_policy", call_MPIRTX_Qos_get_miss_policy, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_set_miss_policy", call_MPIRTX_Qos_set_miss_policy, RULE_LIVE | RULE_CHANGE, UINT64_C(0x13e8e), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Qos_get_deadline", call_MPIRTX_Qos_get_deadline, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_set_deadline", call_MPIRTX_Qos_set_deadline, RULE_LIVE | RULE_CHANGE, UINT64_C(0x803e8e), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Qos_get_interval", call_MPIRTX_Qos_get_interval, RULE_LIVE, UINT64_C(0x7c8a), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Qos_set_interval", call_MPIRTX_Qos_set_interval, RULE_LIVE | RULE_CHANGE, UINT64_C(0x803e8e), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Qos_get_name", call_MPIRT_Qos_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Qos_set_name", call_MPIRT_Qos_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe8e), 2, {{HANDLE, OF_MPIRT_Qos, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRT_Qos_free", call_MPIRT_Qos_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e8e), 1, {{CHANGED_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRT_Init", call_MPIRT_Init, RULE_NONE, UINT64_C(0x880000000c0), 2, {{CHANGED, OF_NONE, 1}, {CHANGED, OF_NONE, 1}}},
    {"MPIRT_Finalize", call_MPIRT_Finalize, RULE_LIVE | RULE_CHANGE, UINT64_C(0x800000028e), 0, {{NUMBER, OF_NONE, 0}}},
    {"MPIRT_Commit", call_MPIRT_Commit, RULE_LIVE | RULE_CHANGE | RULE_LIMIT, UINT64_C(0xce501310286), 0, {{NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Commit_group", call_MPIRTX_Commit_group, RULE_LIVE | RULE_CHANGE | RULE_LIMIT, UINT64_C(0xce500393e86), 1, {{HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRT_Uncommit", call_MPIRT_Uncommit, RULE_LIVE | RULE_RUNNING | RULE_SETUP, UINT64_C(0x8400000382), 0, {{NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Run", call_MPIRTX_Run, RULE_LIVE | RULE_RUNNING | RULE_BLOCK, UINT64_C(0x8600000382), 0, {{NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Uncommit_group", call_MPIRTX_Uncommit_group, RULE_LIVE | RULE_RUNNING | RULE_SETUP, UINT64_C(0x8400093f82), 1, {{HANDLE, OF_MPIRT_Group, 0}}},
    {"MPIRTX_Abort", call_MPIRTX_Abort, RULE_LIVE, UINT64_C(0x10082), 2, {{NUMBER, OF_NONE, 0}, {POINTER, OF_NONE, 1}}},
    {"MPIRTX_Fail", call_MPIRTX_Fail, RULE_LIVE | RULE_RUNNING | RULE_SETUP, UINT64_C(0x382), 1, {{POINTER, OF_NONE, 1}}},
    {"MPIRT_Is_initialized", call_MPIRT_Is_initialized, RULE_NONE, UINT64_C(0x4000), 1, {{OUT, OF_NONE, 0}}},
    {"MPIRT_Is_finalized", call_MPIRT_Is_finalized, RULE_NONE, UINT64_C(0x4000), 1, {{OUT, OF_NONE, 0}}},
    {"MPIRT_Sleep", call_MPIRT_Sleep, RULE_LIVE | RULE_BLOCK, UINT64_C(0x9801810282), 2, {{NUMBER, OF_NONE, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRT_Get_time", call_MPIRT_Get_time, RULE_LIVE, UINT64_C(0x4082), 1, {{OUT, OF_NONE, 0}}},
    {"MPIRT_Get_time_resolution", call_MPIRT_Get_time_resolution, RULE_LIVE, UINT64_C(0x4082), 1, {{OUT, OF_NONE, 0}}},
    {"MPIRTX_Get_clock", call_MPIRTX_Get_clock, RULE_LIVE, UINT64_C(0x4082), 2, {{OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Get_epoch", call_MPIRTX_Get_epoch, RULE_LIVE | RULE_RUNNING, UINT64_C(0x4182), 1, {{OUT, OF_NONE, 0}}},
    {"MPIRT_Int64_export", call_MPIRT_Int64_export, RULE_NONE, UINT64_C(0x4000), 3, {{NUMBER, OF_NONE, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRT_Error_string", call_MPIRT_Error_string, RULE_NONE, UINT64_C(0x14000), 2, {{NUMBER, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Error_detail", call_MPIRTX_Error_detail, RULE_NONE, UINT64_C(0x4000), 1, {{OUT, OF_NONE, 0}}},
    {"MPIRTX_Get_version", call_MPIRTX_Get_version, RULE_NONE, UINT64_C(0x4000), 3, {{OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Task_create", call_MPIRTX_Task_create, RULE_LIVE | RULE_CREATE, UINT64_C(0xc000080fe8e), 6, {{TEXT, OF_NONE, 0}, {FUNCTION, OF_NONE, 0}, {POINTER, OF_NONE, 1}, {HANDLE, OF_MPIRT_Qos, 0}, {NUMBER, OF_NONE, 0}, {OUT_HANDLE, OF_MPIRTX_Task, 0}}},
    {"MPIRTX_Task_bind", call_MPIRTX_Task_bind, RULE_LIVE | RULE_CHANGE | RULE_LIMIT, UINT64_C(0xc0000013e8e), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {HANDLE, OF_MPIRT_Channel, 0}}},
    {"MPIRTX_Task_get_budget", call_MPIRTX_Task_get_budget, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Task_get_qos", call_MPIRTX_Task_get_qos, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {OUT_HANDLE, OF_MPIRT_Qos, 0}}},
    {"MPIRTX_Task_get_core", call_MPIRTX_Task_get_core, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Task_set_core", call_MPIRTX_Task_set_core, RULE_LIVE | RULE_CHANGE, UINT64_C(0x13e86), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Task_get_overrun_policy", call_MPIRTX_Task_get_overrun_policy, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Task_set_overrun_policy", call_MPIRTX_Task_set_overrun_policy, RULE_LIVE | RULE_CHANGE, UINT64_C(0x13e86), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {NUMBER, OF_NONE, 0}}},
    {"MPIRTX_Task_get_metrics", call_MPIRTX_Task_get_metrics, RULE_LIVE | RULE_RUNNING, UINT64_C(0x7d82), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Task_get_name", call_MPIRTX_Task_get_name, RULE_LIVE, UINT64_C(0x7c82), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {OUT, OF_NONE, 0}}},
    {"MPIRTX_Task_set_name", call_MPIRTX_Task_set_name, RULE_LIVE | RULE_CHANGE, UINT64_C(0xbe86), 2, {{HANDLE, OF_MPIRTX_Task, 0}, {TEXT, OF_NONE, 1}}},
    {"MPIRTX_Task_free", call_MPIRTX_Task_free, RULE_LIVE | RULE_CHANGE, UINT64_C(0x7e86), 1, {{CHANGED_HANDLE, OF_MPIRTX_Task, 0}}},
};

enum { CALLS = sizeof calls / sizeof *calls };

/* Whether a function may give this code. */
static inline int is_listed(const struct call *call, int code)
{
    return code == MPIRT_SUCCESS || (code > 0 && code < MPIRT_ERR_INTERNAL && (call->errors >> code & 1));
}

#endif
