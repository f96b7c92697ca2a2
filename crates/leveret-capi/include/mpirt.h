/* mpirt.h: MPI/RT-style objects over Leveret.
 *
 * Made of spec/mpirt/ by `cargo xtask spec --header`; do not edit.
 *
 * Every function returns MPIRT_SUCCESS or an error code, and nothing that a caller passes ends the process. Besides the errors
 * that stand at a function, each may return MPIRT_ERR_INTERNAL. */
#ifndef MPIRT_H
#define MPIRT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
#define MPIRT_HANDLE_(type, bits) (type{bits})
#else
#define MPIRT_HANDLE_(type, bits) ((type){bits})
#endif

/* A handle as its ancestor's. */
#define MPIRT_OBJECT(handle) MPIRT_HANDLE_(MPIRT_Object, (handle).bits)
#define MPIRT_CONTAINER(handle) MPIRT_HANDLE_(MPIRT_Container, (handle).bits)

#define MPIRT_SUCCESS 0

/* --- Error codes --- */

#define MPIRT_ERR_NOT_INITIALIZED 1 /* MPIRT_Init has not succeeded yet */
#define MPIRT_ERR_INITIALIZED MPIRT_ERR_NOT_INITIALIZED /* deprecated */
#define MPIRT_ERR_OBJECT_COMMITTED 2 /* the object is committed, or objects are, and the call would change or create one */
#define MPIRT_ERR_COMMITTED_OBJECT MPIRT_ERR_OBJECT_COMMITTED /* deprecated */
#define MPIRT_ERR_UNDEF_FOR_OBJECT 3 /* the operation is not defined for this object */
#define MPIRT_ERR_ERRONEOUS_CALL MPIRT_ERR_UNDEF_FOR_OBJECT /* deprecated */
#define MPIRT_ERR_CSET_MEMBER_NOT_FOUND 4 /* the set has no such member */
#define MPIRT_ERR_INV_KEYVAL 5 /* the key was not created, or was freed */
#define MPIRT_ERR_ALREADY_INITIALIZED 6 /* MPIRT_Init has succeeded already */
#define MPIRT_ERR_FINALIZED 7 /* MPIRT_Finalize has succeeded already */
#define MPIRT_ERR_NOT_COMMITTED 8 /* the call needs a commit, and there is none */
#define MPIRT_ERR_REAL_TIME 9 /* a handler or a task may not make this call */
#define MPIRT_ERR_NULL_OBJECT 10 /* the handle is null */
#define MPIRT_ERR_STALE_OBJECT 11 /* the object of the handle was freed */
#define MPIRT_ERR_INV_OBJECT 12 /* the handle was never given out */
#define MPIRT_ERR_WRONG_CLASS 13 /* the object is of another class */
#define MPIRT_ERR_NULL_POINTER 14 /* a pointer is null */
#define MPIRT_ERR_NAME 15 /* the name is too long, has no end, or is no UTF-8 without control characters */
#define MPIRT_ERR_ARGUMENT 16 /* a value is out of its range, or two do not go together */
#define MPIRT_ERR_INDEX 17 /* the index is out of range */
#define MPIRT_ERR_INV_RANK 18 /* the rank is out of range, or named twice */
#define MPIRT_ERR_NOT_MEMBER 19 /* the caller has no part in it */
#define MPIRT_ERR_BUFSIZE 20 /* the size is out of range or does not fit */
#define MPIRT_ERR_DATASPEC 21 /* the dataspec is none or does not fit */
#define MPIRT_ERR_OPERATION 22 /* the operation of a reduction is none or does not fit */
#define MPIRT_ERR_TIME 23 /* a time or a duration is out of its range */
#define MPIRT_ERR_TIME_PAST 24 /* the instant has passed or can no longer be met */
#define MPIRT_ERR_NOT_ALLOWED 25 /* the buffer is not in the allowed set, or out of its order */
#define MPIRT_ERR_BUFFER_IN_USE 26 /* the buffer is in an iterator or in a transfer */
#define MPIRT_ERR_EMPTY 27 /* there is nothing to take */
#define MPIRT_ERR_FULL 28 /* there is no room */
#define MPIRT_ERR_SLACK 29 /* as many transfers as the slack allows are under way, or another thread uses the end */
#define MPIRT_ERR_ACTIVE 30 /* this end is activated */
#define MPIRT_ERR_NOT_STARTED 31 /* the channel is neither started nor activated */
#define MPIRT_ERR_TIMEOUT 32 /* the time has passed */
#define MPIRT_ERR_MISSED 33 /* the transfer was not performed */
#define MPIRT_ERR_PEER_LOST 34 /* another member has died or left */
#define MPIRT_ERR_COMMITTED 35 /* Commit has ended the sleep */
#define MPIRT_ERR_UNCOMMITTED 36 /* the end of what is committed has ended the wait or the sleep */
#define MPIRT_ERR_MISMATCH 37 /* what the members declare does not go together: ends of a channel, names, groups or events differ or are missing */
#define MPIRT_ERR_ADMISSION 38 /* the declarations cannot be met together */
#define MPIRT_ERR_AGENT 39 /* the agent of the job cannot be reached or refuses */
#define MPIRT_ERR_END 40 /* there is no further member */
#define MPIRT_ERR_CHANGED 41 /* the container changed under its iterator */
#define MPIRT_ERR_LIMIT 42 /* there are as many as there can be */
#define MPIRT_ERR_NO_MEMORY 43 /* out of memory */
#define MPIRT_ERR_INTERNAL 44 /* the library has failed; the detail says where */

/* --- Types --- */

/* any object */
typedef struct MPIRT_Object { uint64_t bits; } MPIRT_Object;
#define MPIRT_OBJECT_NULL MPIRT_HANDLE_(MPIRT_Object, 0)

/* a second set of objects, to switch to */
typedef struct MPIRTX_Mode { uint64_t bits; } MPIRTX_Mode;
#define MPIRTX_MODE_NULL MPIRT_HANDLE_(MPIRTX_Mode, 0)

/* a periodic or event-started computation */
typedef struct MPIRTX_Task { uint64_t bits; } MPIRTX_Task;
#define MPIRTX_TASK_NULL MPIRT_HANDLE_(MPIRTX_Task, 0)

/* storage for a message */
typedef struct MPIRT_Buffer { uint64_t bits; } MPIRT_Buffer;
#define MPIRT_BUFFER_NULL MPIRT_HANDLE_(MPIRT_Buffer, 0)

/* an ordered store of buffers at a channel end */
typedef struct MPIRT_Bufiter { uint64_t bits; } MPIRT_Bufiter;
#define MPIRT_BUFITER_NULL MPIRT_HANDLE_(MPIRT_Bufiter, 0)

/* one end of a channel of any kind */
typedef struct MPIRT_Channel { uint64_t bits; } MPIRT_Channel;
#define MPIRT_CHANNEL_NULL MPIRT_HANDLE_(MPIRT_Channel, 0)

/* a set, a vector or a group */
typedef struct MPIRT_Container { uint64_t bits; } MPIRT_Container;
#define MPIRT_CONTAINER_NULL MPIRT_HANDLE_(MPIRT_Container, 0)

/* a walk over a container */
typedef struct MPIRT_Container_iterator { uint64_t bits; } MPIRT_Container_iterator;
#define MPIRT_CONTAINER_ITERATOR_NULL MPIRT_HANDLE_(MPIRT_Container_iterator, 0)

/* an unordered set of references, of any size */
typedef struct MPIRT_Cset { uint64_t bits; } MPIRT_Cset;
#define MPIRT_CSET_NULL MPIRT_HANDLE_(MPIRT_Cset, 0)

/* an array of references; the leaf below Cvector_base */
typedef struct MPIRT_Cvector { uint64_t bits; } MPIRT_Cvector;
#define MPIRT_CVECTOR_NULL MPIRT_HANDLE_(MPIRT_Cvector, 0)

/* an ordered set of members of the job */
typedef struct MPIRT_Group { uint64_t bits; } MPIRT_Group;
#define MPIRT_GROUP_NULL MPIRT_HANDLE_(MPIRT_Group, 0)

/* what runs at a firing */
typedef struct MPIRT_Handler { uint64_t bits; } MPIRT_Handler;
#define MPIRT_HANDLER_NULL MPIRT_HANDLE_(MPIRT_Handler, 0)

/* a quality of service */
typedef struct MPIRT_Qos { uint64_t bits; } MPIRT_Qos;
#define MPIRT_QOS_NULL MPIRT_HANDLE_(MPIRT_Qos, 0)

/* what takes the firings of an event */
typedef struct MPIRT_Receptor { uint64_t bits; } MPIRT_Receptor;
#define MPIRT_RECEPTOR_NULL MPIRT_HANDLE_(MPIRT_Receptor, 0)

/* what fires an event */
typedef struct MPIRT_Trigger { uint64_t bits; } MPIRT_Trigger;
#define MPIRT_TRIGGER_NULL MPIRT_HANDLE_(MPIRT_Trigger, 0)

/* an instant since the job's base, or a duration, in nanoseconds */
typedef int64_t MPIRT_Timespec;

/* the state of a channel end */
typedef enum MPIRTX_Channel_state {
    MPIRTX_CHANNEL_IDLE, /* neither started nor active */
    MPIRTX_CHANNEL_STARTED, /* a transfer that was started is under way */
    MPIRTX_CHANNEL_ACTIVE /* it takes part in every transfer */
} MPIRTX_Channel_state;

/* the state of the clock */
typedef enum MPIRTX_Clock_state {
    MPIRTX_CLOCK_FREE,
    MPIRTX_CLOCK_LOCKED,
    MPIRTX_CLOCK_HOLDOVER
} MPIRTX_Clock_state;

/* how receptors are combined */
typedef enum MPIRTX_Combination {
    MPIRTX_ANY,
    MPIRTX_ALL
} MPIRTX_Combination;

/* what the receiver sees of a miss */
typedef enum MPIRTX_Miss_policy {
    MPIRTX_MISS_SKIP, /* nothing comes in that instance */
    MPIRTX_MISS_HOLD_LAST, /* the last message that came, again */
    MPIRTX_MISS_STOP /* the job ends */
} MPIRTX_Miss_policy;

/* how an instance of a channel ended */
typedef enum MPIRTX_Outcome {
    MPIRTX_OUTCOME_NONE, /* none has ended yet */
    MPIRTX_OUTCOME_COMPLETE, /* performed */
    MPIRTX_OUTCOME_NO_SENDER_BUFFER, /* not performed: the sender's input iterator had no buffer */
    MPIRTX_OUTCOME_NO_RECEIVER_BUFFER, /* not performed: the receiver's input iterator had no buffer, or the receiver has given back none of the channel's */
    MPIRTX_OUTCOME_LATE, /* not performed: sent after its instant */
    MPIRTX_OUTCOME_INVALID, /* not performed: what the sender's memory held was no message */
    MPIRTX_OUTCOME_PAUSED, /* not performed, as asked: the other end took no part */
    MPIRTX_OUTCOME_PEER_LOST /* not performed: the member at the other end has died */
} MPIRTX_Outcome;

/* what follows when a task needs more than its budget */
typedef enum MPIRTX_Overrun_policy {
    MPIRTX_OVERRUN_SKIP, /* a next instance that no longer fits is skipped */
    MPIRTX_OVERRUN_LATE, /* the next instance runs all the same, late */
    MPIRTX_OVERRUN_STOP /* the job ends */
} MPIRTX_Overrun_policy;

/* the kind of a QoS */
typedef enum MPIRTX_Qos_kind {
    MPIRTX_QOS_BEST_EFFORT,
    MPIRTX_QOS_TIME,
    MPIRTX_QOS_EVENT,
    MPIRTX_QOS_PRIORITY,
    MPIRTX_QOS_HANDLER
} MPIRTX_Qos_kind;

/* the order of removal, and MAPPED or ORDERED */
typedef enum MPIRT_Bufiter_policy {
    MPIRT_BUFITER_FIFO, /* in the order of insertion */
    MPIRT_BUFITER_LIFO, /* the one inserted last leaves first */
    MPIRT_BUFITER_SORTED, /* from the lowest label to the highest, equal ones in the order of insertion */
    MPIRT_BUFITER_UNORDERED, /* each once, in an order that the program may not rely on */
    MPIRT_BUFITER_FIFO_MAPPED, /* as FIFO; a transfer of the i-th buffer of the allowed Cvector here uses the i-th at the other end */
    MPIRT_BUFITER_LIFO_MAPPED, /* as LIFO; a transfer of the i-th buffer of the allowed Cvector here uses the i-th at the other end */
    MPIRT_BUFITER_SORTED_MAPPED, /* as SORTED; a transfer of the i-th buffer of the allowed Cvector here uses the i-th at the other end */
    MPIRT_BUFITER_UNORDERED_MAPPED, /* as UNORDERED; a transfer of the i-th buffer of the allowed Cvector here uses the i-th at the other end */
    MPIRT_BUFITER_FIFO_ORDERED, /* as FIFO; the program inserts the buffers of the allowed Cvector in its order, over and over */
    MPIRT_BUFITER_LIFO_ORDERED, /* as LIFO; the program inserts the buffers of the allowed Cvector in its order, over and over */
    MPIRT_BUFITER_SORTED_ORDERED, /* as SORTED; the program inserts the buffers of the allowed Cvector in its order, over and over */
    MPIRT_BUFITER_UNORDERED_ORDERED /* as UNORDERED; the program inserts the buffers of the allowed Cvector in its order, over and over */
} MPIRT_Bufiter_policy;

/* what a buffer holds */
typedef enum MPIRT_Dataspec {
    MPIRT_INT,
    MPIRT_FLOAT,
    MPIRT_DOUBLE,
    MPIRT_LOGICAL,
    MPIRT_CHAR,
    MPIRT_BYTE,
    MPIRT_TIME,
    MPIRT_INT8,
    MPIRT_INT16,
    MPIRT_INT32,
    MPIRT_INT64,
    MPIRT_UINT8,
    MPIRT_UINT16,
    MPIRT_UINT32,
    MPIRT_UINT64,
    MPIRT_FLOAT32,
    MPIRT_FLOAT64
} MPIRT_Dataspec;

/* on what a trigger fires */
typedef enum MPIRT_Event_kind {
    MPIRT_EVENT_CALL,
    MPIRT_EVENT_COMPLETION,
    MPIRT_EVENT_MISS,
    MPIRT_EVENT_MISSING_BUFFER,
    MPIRT_EVENT_ERROR,
    MPIRT_EVENT_TIME
} MPIRT_Event_kind;

/* the class of an object */
typedef enum MPIRT_Object_type {
    MPIRT_TYPE_NULL,
    MPIRT_TYPE_CSET,
    MPIRT_TYPE_CVECTOR,
    MPIRT_TYPE_GROUP,
    MPIRT_TYPE_CONTAINER_ITERATOR,
    MPIRT_TYPE_BUFFER,
    MPIRT_TYPE_BUFITER,
    MPIRT_TYPE_PTCHANNEL,
    MPIRT_TYPE_BCAST_CHANNEL,
    MPIRT_TYPE_SCATTER_CHANNEL,
    MPIRT_TYPE_GATHER_CHANNEL,
    MPIRT_TYPE_REDUCE_CHANNEL,
    MPIRT_TYPE_BARRIER_CHANNEL,
    MPIRT_TYPE_ALLTOALL_CHANNEL,
    MPIRT_TYPE_QOS,
    MPIRT_TYPE_TRIGGER,
    MPIRT_TYPE_RECEPTOR,
    MPIRT_TYPE_HANDLER,
    MPIRT_TYPE_TASK,
    MPIRT_TYPE_MODE,
    MPIRT_TYPE_CONTAINER,
    MPIRT_TYPE_CHANNEL
} MPIRT_Object_type;

/* the operation of a reduction */
typedef enum MPIRT_Op {
    MPIRT_OP_SUM,
    MPIRT_OP_PROD,
    MPIRT_OP_MIN,
    MPIRT_OP_MAX,
    MPIRT_OP_LAND,
    MPIRT_OP_LOR,
    MPIRT_OP_LXOR,
    MPIRT_OP_BAND,
    MPIRT_OP_BOR,
    MPIRT_OP_BXOR
} MPIRT_Op;

/* how a time is meant */
typedef enum MPIRT_Time_mode {
    MPIRT_TIME_RELATIVE,
    MPIRT_TIME_ABSOLUTE
} MPIRT_Time_mode;

/* durations that were measured */
typedef struct MPIRTX_Duration_metrics {
    uint64_t count; /* how many were measured */
    MPIRT_Timespec last; /* the latest */
    MPIRT_Timespec least; /* the shortest */
    MPIRT_Timespec greatest; /* the longest */
    MPIRT_Timespec sum; /* of all, for the mean */
} MPIRTX_Duration_metrics;

/* what was measured of a channel end */
typedef struct MPIRTX_Channel_metrics {
    MPIRTX_Duration_metrics latency; /* from a message's insertion by the sender to the output iterator, at the receiving end; of what the clock does not move, of the first 64 messages and of every 16th after them */
    uint64_t completed; /* transfers performed */
    uint64_t no_sender_buffer; /* not performed: the sender had no buffer */
    uint64_t no_receiver_buffer; /* not performed: the receiver had no buffer */
    uint64_t late; /* not performed: sent too late, or never */
    uint64_t invalid; /* not performed: nonsense, or overwritten */
    uint64_t paused; /* instances in which this end took part and the other did not */
    uint64_t late_binding_copies; /* copies that late binding cost at this end */
} MPIRTX_Channel_metrics;

/* a firing as a receptor gets it */
typedef struct MPIRTX_Event {
    int source; /* the rank of who fired, in the event's group */
    uint64_t number; /* counts the firings of its trigger, from 0 */
    MPIRT_Timespec time; /* when it was; `MPIRT_TIME_SPEC_IGNORE` when so many have come since that it is not known any more */
    uint64_t pending; /* how many more the receptor has pending */
    uint64_t lost; /* of how many firings, this one included, the receptor did not learn the time, since the commit */
} MPIRTX_Event;

/* what was measured of a handler */
typedef struct MPIRTX_Handler_metrics {
    MPIRTX_Duration_metrics compute; /* processor time of its runs; of a handler without a budget only their count */
    uint64_t overruns; /* runs that took more than the budget */
    uint64_t failed; /* runs that failed */
} MPIRTX_Handler_metrics;

/* one run of a task */
typedef struct MPIRTX_Instance {
    uint64_t number;
    MPIRT_Timespec start;
    MPIRT_Timespec deadline;
} MPIRTX_Instance;

/* the state of a channel end */
typedef struct MPIRTX_Status {
    MPIRTX_Channel_state state; /* what the end does */
    MPIRTX_Outcome outcome; /* of the last instance that ended */
    uint64_t instance; /* the last that ended */
    int under_way; /* transfers that were started and have not ended */
} MPIRTX_Status;

/* what was measured of a task */
typedef struct MPIRTX_Task_metrics {
    MPIRTX_Duration_metrics compute; /* how long the function ran */
    MPIRTX_Duration_metrics start_lateness; /* from the planned start to the actual one, or, of an instance that was skipped, to when that was decided */
    uint64_t completed; /* instances that ran */
    uint64_t missed; /* instances that ended after their window, or were skipped */
    uint64_t overruns; /* instances that used more than their budget */
    uint64_t skipped; /* instances that were not run */
} MPIRTX_Task_metrics;

/* the body of a task */
typedef void MPIRTX_Task_function(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument);

/* called when an attribute goes away */
typedef int MPIRT_Delete_function(MPIRT_Object object, int keyval, void *value, void *extra);

/* the body of a handler */
typedef void MPIRT_Handler_function(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument);

/* --- Constants --- */

#define MPIRTX_CORE_ANY -1 /* any core that the plan finds */
#define MPIRTX_NULL_INITIALIZER {0} /* initialises a handle of any class as null, also a static one: `static MPIRT_Buffer buffer = MPIRTX_NULL_INITIALIZER;` */
#define MPIRTX_VERSION_MAJOR 0 /* of this header; `MPIRTX_Get_version` gives that of the library */
#define MPIRTX_VERSION_MINOR 1 /* its second number */
#define MPIRTX_VERSION_NUMBER (MPIRTX_VERSION_MAJOR * 1000000 + MPIRTX_VERSION_MINOR * 1000 + MPIRTX_VERSION_PATCH) /* the three as one number that can be compared, also by `#if`: major * 1000000 + minor * 1000 + patch */
#define MPIRTX_VERSION_PATCH 0 /* its third number */
#define MPIRT_BUFFERS_MAX 4096 /* buffers of an allowed set */
#define MPIRT_BUFSIZE_MAX 1073741824 /* bytes of a buffer */
#define MPIRT_CONTAINER_MAX 65536 /* members of a container */
extern const MPIRT_Group mpirt_group_world;
#define MPIRT_GROUP_WORLD mpirt_group_world /* every member of the job */
#define MPIRT_IDENTICAL 0 /* same members, same order */
#define MPIRT_KEYVAL_INVALID -1 /* no key */
#define MPIRT_NAME_MAX 64 /* bytes of a name with its closing zero byte */
#define MPIRT_PENDING_MAX 1024 /* pending firings of a trigger whose times are kept */
#define MPIRT_PRIORITY_MAX 90 /* the most urgent priority */
extern const MPIRT_Qos mpirt_qos_best_effort;
#define MPIRT_QOS_BEST_EFFORT mpirt_qos_best_effort /* best effort, the QoS of channels that are given none */
#define MPIRT_RANK_UNDEFINED -1 /* no rank */
#define MPIRT_SIMILAR 1 /* same members, another order */
#define MPIRT_SLACK_MAX 64 /* transfers under way */
extern const char mpirt_system_mem_alloc;
#define MPIRT_SYSTEM_MEM_ALLOC ((void *)&mpirt_system_mem_alloc) /* as a base: Commit provides the memory */
#define MPIRT_TIME_SPEC_IGNORE INT64_MIN /* no time limit */
#define MPIRT_UNEQUAL 2 /* other members */

/* --- Buffers --- */

/* Makes a buffer over the program's own memory, or with memory that Commit provides.
 *   in    name: its name, or null for none (may be null)
 *   in    base: where its memory begins, or `MPIRT_SYSTEM_MEM_ALLOC`
 *   in    bufsize: its size in bytes
 *   in    dataspec: what it holds
 *   out   buffer: the new buffer
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_BUFSIZE: the size is 0, beyond `MPIRT_BUFSIZE_MAX`, or no multiple of the dataspec's size
 *   MPIRT_ERR_DATASPEC: the dataspec is none
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Buffer_create(const char *name, void *base, size_t bufsize, MPIRT_Dataspec dataspec, MPIRT_Buffer *buffer);

/* Gives the size in bytes.
 *   in    buffer: the buffer
 *   out   bufsize: its size
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Buffer_get_bufsize(MPIRT_Buffer buffer, size_t *bufsize);

/* Sets the size in bytes.
 *   in    buffer: the buffer
 *   in    bufsize: the new size
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: the size is 0, beyond `MPIRT_BUFSIZE_MAX`, or no multiple of the dataspec's size */
int MPIRT_Buffer_set_bufsize(MPIRT_Buffer buffer, size_t bufsize);

/* Gives where the memory begins; of system memory only while committed. Where the buffers of both ends of a channel are one (system memory, MAPPED or ORDERED at both), those of the receiving end may be read and not written: the memory is the sender's, and a store there is reported on standard error with the names of member, channel and buffer, and ends the process by SIGSEGV unless a handler that the program had installed before the commit does otherwise. `MPIRTX_Buffer_get_writable` says which buffers these are.
 *   in    buffer: the buffer
 *   out   base: its base; null for system memory outside a commit
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Buffer_get_base(MPIRT_Buffer buffer, void **base);

/* Tells whether the program may write to the buffer's memory: not while committed where it is the sender's, because the buffers of both ends of a channel are one.
 *   in    buffer: the buffer
 *   out   writable: 1 if it may, 0 if it may only read
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Buffer_get_writable(MPIRT_Buffer buffer, int *writable);

/* Sets where the memory begins.
 *   in    buffer: the buffer
 *   in    base: the new base, or `MPIRT_SYSTEM_MEM_ALLOC`
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Buffer_set_base(MPIRT_Buffer buffer, void *base);

/* Gives what the buffer holds.
 *   in    buffer: the buffer
 *   out   dataspec: its dataspec
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Buffer_get_dataspec(MPIRT_Buffer buffer, MPIRT_Dataspec *dataspec);

/* Sets what the buffer holds.
 *   in    buffer: the buffer
 *   in    dataspec: the new dataspec
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: the size is no multiple of the dataspec's size
 *   MPIRT_ERR_DATASPEC: the dataspec is none */
int MPIRT_Buffer_set_dataspec(MPIRT_Buffer buffer, MPIRT_Dataspec dataspec);

/* Gives the name of a buffer.
 *   in    buffer: the buffer
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Buffer_get_name(MPIRT_Buffer buffer, char *name);

/* Names a buffer.
 *   in    buffer: the buffer
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Buffer_set_name(MPIRT_Buffer buffer, const char *name);

/* Frees a buffer and sets the handle to null.
 *   inout buffer: the buffer; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_BUFFER_IN_USE: the buffer is in an iterator */
int MPIRT_Buffer_free(MPIRT_Buffer *buffer);

/* Gives the label that orders the buffer in SORTED iterators.
 *   in    buffer: the buffer
 *   out   label: its label
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Buffer_get_label(MPIRT_Buffer buffer, int64_t *label);

/* Sets the label that orders the buffer in SORTED iterators; also while committed.
 *   in    buffer: the buffer
 *   in    label: the new label
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the buffer is of a mode that is committed and does not run yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFFER_IN_USE: the buffer is in an iterator or in a transfer */
int MPIRT_Buffer_set_label(MPIRT_Buffer buffer, int64_t label);

/* Gives the size of the message in the buffer.
 *   in    buffer: the buffer
 *   out   length: the size in bytes
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Buffer_get_length(MPIRT_Buffer buffer, size_t *length);

/* Sets the size of the message in the buffer, up to its bufsize.
 *   in    buffer: the buffer
 *   in    length: the size in bytes
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: the length is beyond the bufsize
 *   MPIRT_ERR_BUFFER_IN_USE: the buffer is in an iterator or in a transfer */
int MPIRTX_Buffer_set_length(MPIRT_Buffer buffer, size_t length);

/* Gives which message of its channel a received buffer carries, and when it was inserted.
 *   in    buffer: the buffer
 *   out   instance: the instance of the channel
 *   out   inserted: when the sender started its transfer, or its task sent it
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the buffer was not received since the commit
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Buffer_get_instance(MPIRT_Buffer buffer, uint64_t *instance, MPIRT_Timespec *inserted);

/* Gives the bytes of one element.
 *   in    dataspec: the dataspec
 *   out   size: the bytes of one element
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_DATASPEC: the dataspec is none */
int MPIRT_Dataspec_size(MPIRT_Dataspec dataspec, size_t *size);

/* --- Buffer iterators --- */

/* Makes a buffer iterator.
 *   in    name: its name, or null for none (may be null)
 *   in    policy: the order of removal, and MAPPED or ORDERED
 *   in    bufsize: the size of its buffers in bytes
 *   in    dataspec: what its buffers hold
 *   in    allowed: the buffers that may be inserted, a vector for MAPPED and ORDERED, or null for any (may be null)
 *   out   bufiter: the new iterator
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the policy is none, the set is empty, has a null handle or a buffer twice, or MAPPED or ORDERED has no vector
 *   MPIRT_ERR_BUFSIZE: the size is 0, beyond `MPIRT_BUFSIZE_MAX`, no multiple of the dataspec's size, or not that of an allowed buffer
 *   MPIRT_ERR_DATASPEC: the dataspec is none, or not that of an allowed buffer
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Bufiter_create(const char *name, MPIRT_Bufiter_policy policy, size_t bufsize, MPIRT_Dataspec dataspec, MPIRT_Container allowed, MPIRT_Bufiter *bufiter);

/* Puts a buffer into the iterator. Never blocks, never allocates. Where a transfer of a channel with a priority waits for it, it makes one system call if the thread that serves the channel sleeps.
 *   in    bufiter: the iterator
 *   in    buffer: the buffer
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the buffer is committed and the iterator is of a mode that is being made, or the mode is committed already
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: the buffer's size is not that of the iterator
 *   MPIRT_ERR_DATASPEC: the buffer's dataspec is not that of the iterator
 *   MPIRT_ERR_NOT_ALLOWED: the buffer is not in the allowed set, or out of its order
 *   MPIRT_ERR_BUFFER_IN_USE: the buffer is in an iterator or in a transfer */
int MPIRT_Bufiter_insert(MPIRT_Bufiter bufiter, MPIRT_Buffer buffer);

/* Takes a buffer out by the policy. Never blocks, never allocates. Where messages are for certain buffers (MAPPED, or ORDERED with aliased buffers), what leaves the input iterator of the receiving end is any.
 *   in    bufiter: the iterator
 *   out   buffer: the buffer
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_EMPTY: there is none */
int MPIRT_Bufiter_remove(MPIRT_Bufiter bufiter, MPIRT_Buffer *buffer);

/* Gives how many buffers the iterator holds.
 *   in    bufiter: the iterator
 *   out   count: how many
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Bufiter_get_count(MPIRT_Bufiter bufiter, int *count);

/* Gives the policy.
 *   in    bufiter: the buffer iterator
 *   out   policy: the policy
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Bufiter_get_policy(MPIRT_Bufiter bufiter, MPIRT_Bufiter_policy *policy);

/* Gives the size of the buffers.
 *   in    bufiter: the buffer iterator
 *   out   bufsize: the size in bytes
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Bufiter_get_bufsize(MPIRT_Bufiter bufiter, size_t *bufsize);

/* Gives what the buffers hold.
 *   in    bufiter: the buffer iterator
 *   out   dataspec: the dataspec
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Bufiter_get_dataspec(MPIRT_Bufiter bufiter, MPIRT_Dataspec *dataspec);

/* Gives the allowed set. Its handle may have been freed meanwhile; then this says so, as for any stale handle.
 *   in    bufiter: the buffer iterator
 *   out   allowed: the set, null if there is none
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Bufiter_get_allowed(MPIRT_Bufiter bufiter, MPIRT_Container *allowed);

/* Gives the name of a buffer iterator.
 *   in    bufiter: the buffer iterator
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Bufiter_get_name(MPIRT_Bufiter bufiter, char *name);

/* Names a buffer iterator.
 *   in    bufiter: the buffer iterator
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Bufiter_set_name(MPIRT_Bufiter bufiter, const char *name);

/* Frees a buffer iterator and sets the handle to null.
 *   inout bufiter: the buffer iterator; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Bufiter_free(MPIRT_Bufiter *bufiter);

/* --- Channels --- */

/* Gives the iterator that buffers are taken from.
 *   in    channel: the channel
 *   out   bufiter: the iterator, null if none is set
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_get_inbufiter(MPIRT_Channel channel, MPIRT_Bufiter *bufiter);

/* Sets the iterator that buffers are taken from.
 *   in    channel: the channel
 *   in    bufiter: the iterator, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator, or this end of a collective channel does not use it
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: of a channel of a group: the size differs from that of the iterator beside it; of one between two members, commit says so
 *   MPIRT_ERR_DATASPEC: of a channel of a group: its iterators would be of two types; of one between two members, commit says so */
int MPIRT_Channel_set_inbufiter(MPIRT_Channel channel, MPIRT_Bufiter bufiter);

/* Gives the iterator that buffers are put into.
 *   in    channel: the channel
 *   out   bufiter: the iterator, null if none is set
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_get_outbufiter(MPIRT_Channel channel, MPIRT_Bufiter *bufiter);

/* Sets the iterator that buffers are put into.
 *   in    channel: the channel
 *   in    bufiter: the iterator, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator, or this end of a collective channel does not use it
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: of a channel of a group: the size differs from that of the iterator beside it; of one between two members, commit says so
 *   MPIRT_ERR_DATASPEC: of a channel of a group: its iterators would be of two types; of one between two members, commit says so */
int MPIRT_Channel_set_outbufiter(MPIRT_Channel channel, MPIRT_Bufiter bufiter);

/* Gives the iterator that buffers to receive into are taken from, of a member that also sends.
 *   in    channel: the channel
 *   out   bufiter: the iterator, null if none is set
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_get_recvinbufiter(MPIRT_Channel channel, MPIRT_Bufiter *bufiter);

/* Sets the iterator that buffers to receive into are taken from, of a member that also sends.
 *   in    channel: the channel
 *   in    bufiter: the iterator, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator, or this end of a collective channel does not use it
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: of a channel of a group: the size differs from that of the iterator beside it; of one between two members, commit says so
 *   MPIRT_ERR_DATASPEC: of a channel of a group: its iterators would be of two types; of one between two members, commit says so */
int MPIRT_Channel_set_recvinbufiter(MPIRT_Channel channel, MPIRT_Bufiter bufiter);

/* Gives the iterator that received buffers are put into, of a member that also sends.
 *   in    channel: the channel
 *   out   bufiter: the iterator, null if none is set
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_get_recvoutbufiter(MPIRT_Channel channel, MPIRT_Bufiter *bufiter);

/* Sets the iterator that received buffers are put into, of a member that also sends.
 *   in    channel: the channel
 *   in    bufiter: the iterator, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the kind of channel has no such iterator, or this end of a collective channel does not use it
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: of a channel of a group: the size differs from that of the iterator beside it; of one between two members, commit says so
 *   MPIRT_ERR_DATASPEC: of a channel of a group: its iterators would be of two types; of one between two members, commit says so */
int MPIRT_Channel_set_recvoutbufiter(MPIRT_Channel channel, MPIRT_Bufiter bufiter);

/* Gives the quality of service.
 *   in    channel: the channel
 *   out   qos: the QoS
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_get_qos(MPIRT_Channel channel, MPIRT_Qos *qos);

/* Sets the quality of service.
 *   in    channel: the channel
 *   in    qos: the new QoS, or null for best effort (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRT_Channel_set_qos(MPIRT_Channel channel, MPIRT_Qos qos);

/* Starts one transfer, and returns at once. Time-driven, it takes place in the first instance that both ends can make and in which the other end is active or has started one too; else as soon as both ends are ready and have buffers. Of a channel with a priority a thread of the library moves it, which is woken by one system call if it sleeps.
 *   in    channel: the channel
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: the buffer's length is not its bufsize, on a channel that computes or cuts; the buffer is in the output iterator then. Of a start while others are under way it is not known which buffer it will send: one of a wrong length makes its transfer `MPIRTX_OUTCOME_INVALID`
 *   MPIRT_ERR_TIME_PAST: that of a single shot can no longer be made
 *   MPIRT_ERR_SLACK: as many transfers as the slack allows are under way, or another thread uses this end at this moment
 *   MPIRT_ERR_ACTIVE: this end is activated
 *   MPIRT_ERR_PEER_LOST: the member at another end has died */
int MPIRT_Channel_start(MPIRT_Channel channel);

/* Waits until the last started transfer is complete, or at an activated end for the next instance, performed or missed, that no wait or test has reported: of a time-driven channel it reports all that are over, with the outcome of the last; of others one, missed ones first, so that there is a message for each success. What was started is reported as often as anybody asks. At a sending end a time-driven transfer is complete at its deadline. In a task, of a time-driven end that the task is bound to, it returns at once; of any other end it is `MPIRT_ERR_REAL_TIME` there.
 *   in    channel: the channel
 *   in    timeout: how long at most, from now; `MPIRT_TIME_SPEC_IGNORE` for no limit, 0 to look once
 * While committed it takes no lock, allocates nothing and makes no system call but the wait itself, and to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: the timeout is negative
 *   MPIRT_ERR_NOT_STARTED: the channel is neither started nor activated
 *   MPIRT_ERR_TIMEOUT: the time has passed; the transfer goes on; in a task, everything was reported already
 *   MPIRT_ERR_MISSED: the transfer was not performed; the status says why
 *   MPIRT_ERR_PEER_LOST: the member at another end has died
 *   MPIRT_ERR_UNCOMMITTED: Uncommit has ended the wait */
int MPIRT_Channel_wait(MPIRT_Channel channel, MPIRT_Timespec timeout);

/* Says whether wait would return at once, and then completes like it. Never blocks.
 *   in    channel: the channel
 *   out   flag: 1 if complete, else 0, as while another thread uses this end
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NOT_STARTED: the channel is neither started nor activated
 *   MPIRT_ERR_MISSED: the transfer was not performed; the status says why
 *   MPIRT_ERR_PEER_LOST: the member at another end has died */
int MPIRT_Channel_test(MPIRT_Channel channel, int *flag);

/* Gives the processor time that moving one message takes at this member's end at most, where a mover of the library's does it.
 *   in    channel: the channel
 *   out   budget: the time that was set; `MPIRT_TIME_SPEC_IGNORE` for the library's estimate, as at first
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel is collective
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_mover_budget(MPIRT_Channel channel, MPIRT_Timespec *budget);

/* Sets the processor time that moving one message takes at this member's end at most. A time-driven end that no task is bound to has a mover, a task of the library's in the plan; ends of one side and window share it. Its budget is 10 us, and for each end the time that is set here, or else 5 us and 250 ns for each KiB. The report has what movers took, and polices their budgets; in the manifest the budget of a mover as a whole can be set, as that of a task of its name.
 *   in    channel: the channel
 *   in    budget: the time, or `MPIRT_TIME_SPEC_IGNORE` for the library's estimate
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel is collective: set the budgets of its movers in the manifest
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: the budget is not positive */
int MPIRTX_Channel_set_mover_budget(MPIRT_Channel channel, MPIRT_Timespec budget);

/* Gives a descriptor for poll and epoll, which becomes readable when a wait at this end of a priority- or event-driven channel would return at once. Read its eight bytes, and then test until nothing is complete; it may be readable for nothing. It is the library's until the uncommit or the switch of a mode, which close it: take it out of epoll before, and do not close it. The first call starts a thread that sleeps until then; who does not call it pays nothing.
 *   in    channel: the channel
 *   out   descriptor: its number, the same at each call
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel is time-driven or best effort, so that no thread serves it: of a time-driven one let a trigger of the kind completion fire an event, and take the descriptor of its receptor; a best-effort one is moved by the program's own calls, and a thread that watched it would be in their way: give it a priority, or wait with `MPIRT_Channel_wait` or `MPIRTX_Container_wait_any` in a thread of the program's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Channel_get_descriptor(MPIRT_Channel channel, int *descriptor);

/* Lets transfers take place by the QoS, from the first period on that all ends can still make; without periods, whenever buffers are there, or for each firing of the start event. A local call; of a channel with a priority it makes one system call if the thread that serves it sleeps. A time-driven end that a task is bound to is active from the epoch on, every other one when it is activated. Firings of a start event before that make no transfer.
 *   in    channel: the channel
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME_PAST: the transfer of a single shot can no longer be made
 *   MPIRT_ERR_SLACK: a started transfer is under way, or another thread uses this end at this moment
 *   MPIRT_ERR_PEER_LOST: the member at another end has died */
int MPIRT_Channel_activate(MPIRT_Channel channel);

/* Activates from a named period on.
 *   in    channel: the channel
 *   in    period: the first period with a transfer
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel has no period
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME_PAST: the period can no longer be made
 *   MPIRT_ERR_SLACK: a started transfer is under way, or another thread uses this end at this moment
 *   MPIRT_ERR_PEER_LOST: the member at another end has died */
int MPIRTX_Channel_activate_at(MPIRT_Channel channel, uint64_t period);

/* Ends the activated state with the period under way.
 *   in    channel: the channel
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_SLACK: another thread uses this end at this moment; nothing has changed
 *   MPIRT_ERR_NOT_STARTED: this end is not activated */
int MPIRT_Channel_deactivate(MPIRT_Channel channel);

/* Ends the activated state at a named period.
 *   in    channel: the channel
 *   in    period: the first period without a transfer
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel has no period
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME_PAST: the period can no longer be left out
 *   MPIRT_ERR_SLACK: another thread uses this end at this moment; nothing has changed
 *   MPIRT_ERR_NOT_STARTED: this end is not activated
 *   MPIRT_ERR_LIMIT: it comes after an activation that is planned behind a pause, and that pause lies ahead or began not long ago: one of both can be kept; nothing has changed */
int MPIRTX_Channel_deactivate_at(MPIRT_Channel channel, uint64_t period);

/* Makes the caller's end of a point-to-point channel.
 *   in    name: the channel's name, equal at both ends
 *   in    inbufiter: where buffers are taken from, or null to set it later (may be null)
 *   in    outbufiter: where buffers are put, or null to set it later (may be null)
 *   in    source: the rank of the sender in the group
 *   in    target: the rank of the receiver in the group
 *   in    group: the group
 *   in    qos: the quality of service, or null for best effort (may be null)
 *   out   channel: the new end
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_INV_RANK: a rank is out of range
 *   MPIRT_ERR_NOT_MEMBER: the caller is neither source nor target
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Ptchannel_create(const char *name, MPIRT_Bufiter inbufiter, MPIRT_Bufiter outbufiter, int source, int target, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Channel *channel);

/* Gives the sender of a point-to-point channel.
 *   in    channel: the channel
 *   out   source: its rank in the channel's group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel is collective
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_source(MPIRT_Channel channel, int *source);

/* Gives the receiver of a point-to-point channel.
 *   in    channel: the channel
 *   out   target: its rank in the channel's group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel is collective
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_target(MPIRT_Channel channel, int *target);

/* Gives the root of a broadcast, scatter, gather or reduction.
 *   in    channel: the channel
 *   out   root: its rank in the channel's group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel has no root: it is point-to-point, a barrier or an all-to-all
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_root(MPIRT_Channel channel, int *root);

/* Gives the operation of a reduction.
 *   in    channel: the channel
 *   out   operation: the operation
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel is no reduction
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_operation(MPIRT_Channel channel, MPIRT_Op *operation);

/* Gives how many transfers may be under way.
 *   in    channel: the channel
 *   out   slack: the slack
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_slack(MPIRT_Channel channel, int *slack);

/* Sets how many started transfers may be under way. An activated end that is not time-driven is not bound by it: as many messages as the sender has buffers may wait at a receiver that has none for them.
 *   in    channel: the channel
 *   in    slack: 1 to `MPIRT_SLACK_MAX`
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the slack is out of range */
int MPIRTX_Channel_set_slack(MPIRT_Channel channel, int slack);

/* Tells whether a wait at this end of a best-effort channel polls for as long as it takes.
 *   in    channel: the channel
 *   out   polls: 1 if it polls, 0 if it sleeps
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_polling(MPIRT_Channel channel, int *polls);

/* Sets whether a wait at this end of a best-effort channel polls for as long as it takes: it burns a core, and makes no system call. Otherwise it polls for some microseconds and then sleeps, which is the default. The other end may do as it likes.
 *   in    channel: the channel
 *   in    polls: 1 to poll, 0 to sleep
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRTX_Channel_set_polling(MPIRT_Channel channel, int polls);

/* Tells whether this end asks for a checksum of each message's bytes.
 *   in    channel: the channel
 *   out   checksum: 1 if it does, 0 if not
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_checksum(MPIRT_Channel channel, int *checksum);

/* Sets whether each message carries a checksum of its bytes, which the sender computes and the receiver compares: a message whose bytes were changed in between counts as invalid. An end that does not call this takes what the other end or the manifest says; commit refuses ends that say different things.
 *   in    channel: the channel
 *   in    checksum: 1 for a checksum, 0 for none
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRTX_Channel_set_checksum(MPIRT_Channel channel, int checksum);

/* Gives the group.
 *   in    channel: the channel
 *   out   group: the group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_get_group(MPIRT_Channel channel, MPIRT_Group *group);

/* Gives state, last instance, its outcome, and the transfers under way. What the receiver had no buffer for, the sender's status reports one instance later. While another thread uses the end it is that from before.
 *   in    channel: the channel
 *   out   status: filled with the status
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_status(MPIRT_Channel channel, MPIRTX_Status *status);

/* Gives what was counted at this end since the commit, misses by kind, copies by late binding, and at a receiving end latencies from insertion to the output iterator (of what the clock does not move, those of the first 64 messages and of every 16th after them; `latency.count` says of how many).
 *   in    channel: the channel
 *   out   metrics: filled with the metrics
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Channel_get_metrics(MPIRT_Channel channel, MPIRTX_Channel_metrics *metrics);

/* Gives the name of a channel.
 *   in    channel: the channel
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_get_name(MPIRT_Channel channel, char *name);

/* Names a channel.
 *   in    channel: the channel
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Channel_set_name(MPIRT_Channel channel, const char *name);

/* Frees a channel and sets the handle to null.
 *   inout channel: the channel; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Channel_free(MPIRT_Channel *channel);

/* --- Collective channels --- */

/* Makes the caller's end of a broadcast: every member receives what the root sends.
 *   in    name: the channel's name, equal at all ends
 *   in    inbufiter: where buffers to send are taken from, null where the caller sends nothing (may be null)
 *   in    outbufiter: where sent buffers are put, null where the caller sends nothing (may be null)
 *   in    recvinbufiter: where buffers to receive into are taken from, null where the caller receives nothing (may be null)
 *   in    recvoutbufiter: where received buffers are put, null where the caller receives nothing (may be null)
 *   in    root: the root's rank in the group
 *   in    group: the group
 *   in    qos: the quality of service, or null for best effort (may be null)
 *   out   channel: the new end
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the quality of service is a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: an iterator is missing that the caller needs, or given that it does not
 *   MPIRT_ERR_INV_RANK: the root is out of range
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_BUFSIZE: the iterators for sending, or those for receiving, are of two sizes
 *   MPIRT_ERR_DATASPEC: the iterators are of two types
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Bcast_channel_create(const char *name, MPIRT_Bufiter inbufiter, MPIRT_Bufiter outbufiter, MPIRT_Bufiter recvinbufiter, MPIRT_Bufiter recvoutbufiter, int root, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Channel *channel);

/* Makes the caller's end of a scatter: each member receives its section of what the root sends.
 *   in    name: the channel's name, equal at all ends
 *   in    inbufiter: where buffers to send are taken from, null where the caller sends nothing (may be null)
 *   in    outbufiter: where sent buffers are put, null where the caller sends nothing (may be null)
 *   in    recvinbufiter: where buffers to receive into are taken from, null where the caller receives nothing (may be null)
 *   in    recvoutbufiter: where received buffers are put, null where the caller receives nothing (may be null)
 *   in    root: the root's rank in the group
 *   in    group: the group
 *   in    qos: the quality of service, or null for best effort (may be null)
 *   out   channel: the new end
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the quality of service is a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: an iterator is missing that the caller needs, or given that it does not
 *   MPIRT_ERR_INV_RANK: the root is out of range
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_BUFSIZE: the iterators for sending, or those for receiving, are of two sizes
 *   MPIRT_ERR_DATASPEC: the iterators are of two types
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Scatter_channel_create(const char *name, MPIRT_Bufiter inbufiter, MPIRT_Bufiter outbufiter, MPIRT_Bufiter recvinbufiter, MPIRT_Bufiter recvoutbufiter, int root, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Channel *channel);

/* Makes the caller's end of a gather: the root receives the members' data, section by section.
 *   in    name: the channel's name, equal at all ends
 *   in    inbufiter: where buffers to send are taken from, null where the caller sends nothing (may be null)
 *   in    outbufiter: where sent buffers are put, null where the caller sends nothing (may be null)
 *   in    recvinbufiter: where buffers to receive into are taken from, null where the caller receives nothing (may be null)
 *   in    recvoutbufiter: where received buffers are put, null where the caller receives nothing (may be null)
 *   in    root: the root's rank in the group
 *   in    group: the group
 *   in    qos: the quality of service, or null for best effort (may be null)
 *   out   channel: the new end
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the quality of service is a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: an iterator is missing that the caller needs, or given that it does not
 *   MPIRT_ERR_INV_RANK: the root is out of range
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_BUFSIZE: the iterators for sending, or those for receiving, are of two sizes
 *   MPIRT_ERR_DATASPEC: the iterators are of two types
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Gather_channel_create(const char *name, MPIRT_Bufiter inbufiter, MPIRT_Bufiter outbufiter, MPIRT_Bufiter recvinbufiter, MPIRT_Bufiter recvoutbufiter, int root, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Channel *channel);

/* Makes the caller's end of a reduction: the root receives the result of an operation over all members' data.
 *   in    name: the channel's name, equal at all ends
 *   in    inbufiter: where buffers to send are taken from, null where the caller sends nothing (may be null)
 *   in    outbufiter: where sent buffers are put, null where the caller sends nothing (may be null)
 *   in    recvinbufiter: where buffers to receive into are taken from, null where the caller receives nothing (may be null)
 *   in    recvoutbufiter: where received buffers are put, null where the caller receives nothing (may be null)
 *   in    op: the operation
 *   in    root: the root's rank in the group
 *   in    group: the group
 *   in    qos: the quality of service, or null for best effort (may be null)
 *   out   channel: the new end
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the quality of service is a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: an iterator is missing that the caller needs, or given that it does not
 *   MPIRT_ERR_INV_RANK: the root is out of range
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_BUFSIZE: the iterators for sending, or those for receiving, are of two sizes
 *   MPIRT_ERR_DATASPEC: the iterators are of two types
 *   MPIRT_ERR_OPERATION: the operation is none, or the dataspec does not allow it
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Reduce_channel_create(const char *name, MPIRT_Bufiter inbufiter, MPIRT_Bufiter outbufiter, MPIRT_Bufiter recvinbufiter, MPIRT_Bufiter recvoutbufiter, MPIRT_Op op, int root, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Channel *channel);

/* Makes the caller's end of a barrier.
 *   in    name: the channel's name, equal at all ends
 *   in    group: the group
 *   in    qos: the quality of service, or null for best effort (may be null)
 *   out   channel: the new end
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the quality of service is a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Barrier_channel_create(const char *name, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Channel *channel);

/* Makes the caller's end of an all-to-all: the i-th piece of each member's data goes to the i-th member.
 *   in    name: the channel's name, equal at all ends
 *   in    inbufiter: where buffers to send are taken from, null where the caller sends nothing (may be null)
 *   in    outbufiter: where sent buffers are put, null where the caller sends nothing (may be null)
 *   in    recvinbufiter: where buffers to receive into are taken from, null where the caller receives nothing (may be null)
 *   in    recvoutbufiter: where received buffers are put, null where the caller receives nothing (may be null)
 *   in    group: the group
 *   in    qos: the quality of service, or null for best effort (may be null)
 *   out   channel: the new end
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the quality of service is a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: an iterator is missing that the caller needs, or given that it does not
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_BUFSIZE: the iterators for sending, or those for receiving, are of two sizes
 *   MPIRT_ERR_DATASPEC: the iterators are of two types
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Alltoall_channel_create(const char *name, MPIRT_Bufiter inbufiter, MPIRT_Bufiter outbufiter, MPIRT_Bufiter recvinbufiter, MPIRT_Bufiter recvoutbufiter, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Channel *channel);

/* --- Containers and their iterators --- */

/* Gives the number of members.
 *   in    container: the container
 *   out   count: how many members it has
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Container_access_count(MPIRT_Container container, int *count);

/* Gives the name of a container.
 *   in    container: the container
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Container_get_name(MPIRT_Container container, char *name);

/* Names a container.
 *   in    container: the container
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the container is predefined
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Container_set_name(MPIRT_Container container, const char *name);

/* Frees a container and sets the handle to null.
 *   inout container: the container; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the container is predefined
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Container_free(MPIRT_Container *container);

/* Makes an empty set.
 *   in    name: its name, or null for none (may be null)
 *   out   set: the new set
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Cset_create(const char *name, MPIRT_Cset *set);

/* Adds a member. A null handle, or one that is a member already, changes nothing and is no error.
 *   in    set: the set
 *   in    object: the new member (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the set would hold itself
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Cset_insert(MPIRT_Cset set, MPIRT_Object object);

/* Removes a member.
 *   in    set: the set
 *   in    object: the member (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_CSET_MEMBER_NOT_FOUND: the object is no member, or the handle is null
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRT_Cset_remove(MPIRT_Cset set, MPIRT_Object object);

/* Gives the name of a set.
 *   in    set: the set
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Cset_get_name(MPIRT_Cset set, char *name);

/* Names a set.
 *   in    set: the set
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Cset_set_name(MPIRT_Cset set, const char *name);

/* Frees a set and sets the handle to null.
 *   inout set: the set; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Cset_free(MPIRT_Cset *set);

/* Says whether an object is a member.
 *   in    set: the set
 *   in    object: the object (may be null)
 *   out   flag: 1 if it is a member, else 0
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Cset_contains(MPIRT_Cset set, MPIRT_Object object, int *flag);

/* Makes an array of references of fixed length.
 *   in    name: its name, or null for none (may be null)
 *   in    size: its length, 0 to `MPIRT_CONTAINER_MAX`
 *   in    elements: that many handles, null ones among them allowed, or a null pointer for all null (may be null)
 *   out   vector: the new vector
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the size is out of range
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Cvector_create(const char *name, int size, const MPIRT_Object *elements, MPIRT_Cvector *vector);

/* Gives the length.
 *   in    vector: the vector
 *   out   size: its length
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Cvector_get_size(MPIRT_Cvector vector, int *size);

/* Gives one element.
 *   in    vector: the vector
 *   in    index: which one, from 0
 *   out   element: its handle, which may be null
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_INDEX: the index is not below the size */
int MPIRT_Cvector_get_element(MPIRT_Cvector vector, int index, MPIRT_Object *element);

/* Replaces one element.
 *   in    vector: the vector
 *   in    index: which one, from 0
 *   in    element: the new handle, which may be null (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the vector would hold itself
 *   MPIRT_ERR_INDEX: the index is not below the size */
int MPIRT_Cvector_set_element(MPIRT_Cvector vector, int index, MPIRT_Object element);

/* Gives the name of a vector.
 *   in    vector: the vector
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Cvector_get_name(MPIRT_Cvector vector, char *name);

/* Names a vector.
 *   in    vector: the vector
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Cvector_set_name(MPIRT_Cvector vector, const char *name);

/* Frees a vector and sets the handle to null.
 *   inout vector: the vector; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Cvector_free(MPIRT_Cvector *vector);

/* Makes an iterator that stands before the first member.
 *   in    name: its name, or null for none (may be null)
 *   in    container: what it walks
 *   out   iterator: the new iterator
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the container is a group
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Container_iterator_create(const char *name, MPIRT_Container container, MPIRT_Container_iterator *iterator);

/* Gives the next member; of a vector each element, a null one as the null handle.
 *   in    iterator: the iterator
 *   out   object: the member
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_END: there is none left
 *   MPIRT_ERR_CHANGED: the container changed since the iterator began */
int MPIRT_Container_iterator_next(MPIRT_Container_iterator iterator, MPIRT_Object *object);

/* Sets the iterator before the first member.
 *   in    iterator: the iterator
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRT_Container_iterator_reset(MPIRT_Container_iterator iterator);

/* Gives the name of an iterator.
 *   in    iterator: the iterator
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Container_iterator_get_name(MPIRT_Container_iterator iterator, char *name);

/* Names an iterator, which takes part in no commit.
 *   in    iterator: the iterator
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Container_iterator_set_name(MPIRT_Container_iterator iterator, const char *name);

/* Frees an iterator, which takes part in no commit, and sets the handle to null.
 *   inout iterator: the iterator; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Container_iterator_free(MPIRT_Container_iterator *iterator);

/* --- Events --- */

/* Makes a trigger, which fires an event on a condition.
 *   in    event: the event's name; also the trigger's
 *   in    kind: on what it fires: call, completion, miss, missing buffer, error or time
 *   in    source: the channel or task that it watches; null for the kinds call and time (may be null)
 *   in    group: where the event's receptors are
 *   in    qos: a handler's, of which the priority is that of delivery: of pending firings the highest comes first; or null for best effort (may be null)
 *   out   trigger: the new trigger
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is neither a handler's nor best effort, or a source of this class cannot be watched for this kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the kind is none
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Trigger_create(const char *event, MPIRT_Event_kind kind, MPIRT_Object source, MPIRT_Group group, MPIRT_Qos qos, MPIRT_Trigger *trigger);

/* Gives on what a trigger fires.
 *   in    trigger: the trigger
 *   out   kind: the kind
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Trigger_get_kind(MPIRT_Trigger trigger, MPIRT_Event_kind *kind);

/* Gives when a trigger of the kind time fires.
 *   in    trigger: the trigger
 *   out   first: the first firing, after the epoch
 *   out   period: the time between firings, or 0 for one firing
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the trigger is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Trigger_get_time(MPIRT_Trigger trigger, MPIRT_Timespec *first, MPIRT_Timespec *period);

/* Sets when a trigger of the kind time fires. One whose times were not set fires once, at the epoch.
 *   in    trigger: the trigger
 *   in    first: the first firing, after the epoch
 *   in    period: the time between firings, or 0 for one firing
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the trigger is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: a time is negative */
int MPIRTX_Trigger_set_time(MPIRT_Trigger trigger, MPIRT_Timespec first, MPIRT_Timespec period);

/* Fires a trigger of the kind call, and returns at once. It makes one system call if somebody sleeps until it comes, else none.
 *   in    trigger: the trigger
 * Takes no lock and allocates nothing while committed; the system call that is named above is its only one.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the trigger is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRT_Trigger_fire(MPIRT_Trigger trigger);

/* Gives the name of a trigger.
 *   in    trigger: the trigger
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Trigger_get_name(MPIRT_Trigger trigger, char *name);

/* Names a trigger.
 *   in    trigger: the trigger
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Trigger_set_name(MPIRT_Trigger trigger, const char *name);

/* Frees a trigger and sets the handle to null.
 *   inout trigger: the trigger; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Trigger_free(MPIRT_Trigger *trigger);

/* Makes a handler, which runs on a library thread when its receptor's event occurs.
 *   in    name: its name, or null for none (may be null)
 *   in    function: what runs: it gets the receptor, the event and the argument
 *   in    argument: handed to the function (may be null)
 *   in    qos: its priority and budget, or null for best effort (may be null)
 *   out   handler: the new handler
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is not a handler's
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Handler_create(const char *name, MPIRT_Handler_function *function, void *argument, MPIRT_Qos qos, MPIRT_Handler *handler);

/* Gives the name of a handler.
 *   in    handler: the handler
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Handler_get_name(MPIRT_Handler handler, char *name);

/* Names a handler.
 *   in    handler: the handler
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Handler_set_name(MPIRT_Handler handler, const char *name);

/* Gives how often a handler has run since the commit, what that cost, how often it took more than its budget and how often it failed. The processor time is measured of handlers with a budget.
 *   in    handler: the handler
 *   out   metrics: filled with the metrics
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Handler_get_metrics(MPIRT_Handler handler, MPIRTX_Handler_metrics *metrics);

/* Says that the run of a handler that calls this has failed: it is counted in the handler's metrics, once, and told in the job's report, which then ends with exit code 1. The run goes on. `mpirt.hpp` calls it for an exception that leaves a handler.
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the calling thread runs no handler
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none */
int MPIRTX_Handler_fail(void);

/* Frees a handler and sets the handle to null.
 *   inout handler: the handler; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Handler_free(MPIRT_Handler *handler);

/* Makes a receptor, which takes the firings of an event.
 *   in    event: the event's name; also the receptor's
 *   in    group: the event's group
 *   in    handlers: what runs at each firing, in the container's order, as it is at this call; or null to wait for it (may be null)
 *   out   receptor: the new receptor
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member of the container is no handler
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Receptor_create(const char *event, MPIRT_Group group, MPIRT_Container handlers, MPIRT_Receptor *receptor);

/* Makes a receptor that occurs when any, or all, of its parts have occurred.
 *   in    name: its name, or null for none (may be null)
 *   in    combination: `MPIRTX_ANY` or `MPIRTX_ALL`
 *   in    parts: the receptors to combine, as they are in the container at this call; combinations nest 16 deep at most
 *   in    handlers: what runs, or null to wait for it (may be null)
 *   out   receptor: the new receptor
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a part is no receptor, or a member of the handlers no handler
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the combination is none, there are no parts, or a part has handlers or is part of another
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Receptor_combine(const char *name, MPIRTX_Combination combination, MPIRT_Container parts, MPIRT_Container handlers, MPIRT_Receptor *receptor);

/* Waits for the event, and consumes one firing.
 *   in    receptor: the receptor
 *   in    timeout: how long at most, from now; `MPIRT_TIME_SPEC_IGNORE` for no limit, 0 to look once
 * While committed it takes no lock, allocates nothing and makes no system call but the wait itself.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the receptor has handlers or is part of a combination
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: the timeout is negative
 *   MPIRT_ERR_TIMEOUT: the time has passed
 *   MPIRT_ERR_PEER_LOST: every member that could fire it has died
 *   MPIRT_ERR_UNCOMMITTED: Uncommit has ended the wait */
int MPIRT_Receptor_wait(MPIRT_Receptor receptor, MPIRT_Timespec timeout);

/* Gives a descriptor for poll and epoll, which becomes readable when a firing is pending. Read its eight bytes, and then test until nothing is pending; it may be readable for nothing. It is the library's until the uncommit or the switch of a mode, which close it: take it out of epoll before, and do not close it. The first call starts a thread that sleeps until then; who does not call it pays nothing.
 *   in    receptor: the receptor
 *   out   descriptor: its number, the same at each call
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the receptor has handlers, or is part of another
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Receptor_get_descriptor(MPIRT_Receptor receptor, int *descriptor);

/* Says whether a firing is pending, and consumes it. Never blocks.
 *   in    receptor: the receptor
 *   out   flag: 1 if one was, else 0
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the receptor has handlers or is part of a combination
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Receptor_test(MPIRT_Receptor receptor, int *flag);

/* Gives source, number and time of the firing that the last wait or test consumed, how many are pending, and of how many the time was lost.
 *   in    receptor: the receptor
 *   out   event: filled with what is known of it
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_EMPTY: none was consumed since the commit */
int MPIRTX_Receptor_get_event(MPIRT_Receptor receptor, MPIRTX_Event *event);

/* Sets the handler of the firings of a kind that no receptor takes.
 *   in    kind: the kind of event
 *   in    handler: the handler, or null for none; it lasts as long as the handler is not freed (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the kind is none */
int MPIRTX_Default_handler_set(MPIRT_Event_kind kind, MPIRT_Handler handler);

/* Gives the name of a receptor.
 *   in    receptor: the receptor
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Receptor_get_name(MPIRT_Receptor receptor, char *name);

/* Names a receptor.
 *   in    receptor: the receptor
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Receptor_set_name(MPIRT_Receptor receptor, const char *name);

/* Frees a receptor and sets the handle to null.
 *   inout receptor: the receptor; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Receptor_free(MPIRT_Receptor *receptor);

/* --- Groups --- */

/* Gives the number of members.
 *   in    group: the group
 *   out   size: how many members it has
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Group_size(MPIRT_Group group, int *size);

/* Gives the caller's rank.
 *   in    group: the group
 *   out   rank: the rank, or `MPIRT_RANK_UNDEFINED` if the caller is no member
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Group_rank(MPIRT_Group group, int *rank);

/* Makes the group of the named ranks, in the order named.
 *   in    group: the group to choose from
 *   in    count: how many ranks
 *   in    ranks: the ranks
 *   in    name: the name of the result, or null for none (may be null)
 *   out   result: the new group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the count is negative
 *   MPIRT_ERR_INV_RANK: a rank is out of range or named twice
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Group_incl(MPIRT_Group group, int count, const int *ranks, const char *name, MPIRT_Group *result);

/* Makes the group of the ranks not named, in their former order.
 *   in    group: the group to choose from
 *   in    count: how many ranks
 *   in    ranks: the ranks to leave out
 *   in    name: the name of the result, or null for none (may be null)
 *   out   result: the new group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the count is negative
 *   MPIRT_ERR_INV_RANK: a rank is out of range or named twice
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Group_excl(MPIRT_Group group, int count, const int *ranks, const char *name, MPIRT_Group *result);

/* Makes the group of all of the first, then those of the second that are not in it.
 *   in    first: one group
 *   in    second: the other
 *   in    name: the name of the result, or null for none (may be null)
 *   out   result: the new group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Group_union(MPIRT_Group first, MPIRT_Group second, const char *name, MPIRT_Group *result);

/* Makes the group of those of the first that are in the second.
 *   in    first: one group
 *   in    second: the other
 *   in    name: the name of the result, or null for none (may be null)
 *   out   result: the new group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Group_intersection(MPIRT_Group first, MPIRT_Group second, const char *name, MPIRT_Group *result);

/* Makes the group of those of the first that are not in the second.
 *   in    first: one group
 *   in    second: the other
 *   in    name: the name of the result, or null for none (may be null)
 *   out   result: the new group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Group_difference(MPIRT_Group first, MPIRT_Group second, const char *name, MPIRT_Group *result);

/* Gives for each rank of one group the rank of the same member in another.
 *   in    source: the group of the given ranks
 *   in    count: how many ranks
 *   in    ranks: the ranks
 *   in    target: the group to translate into
 *   out   translated: room for that many ranks; `MPIRT_RANK_UNDEFINED` for who is no member
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_ARGUMENT: the count is negative
 *   MPIRT_ERR_INV_RANK: a rank is out of range */
int MPIRT_Group_translate_ranks(MPIRT_Group source, int count, const int *ranks, MPIRT_Group target, int *translated);

/* Compares the members of two groups.
 *   in    first: one group
 *   in    second: the other
 *   out   result: `MPIRT_IDENTICAL`, `MPIRT_SIMILAR` or `MPIRT_UNEQUAL`
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Group_compare(MPIRT_Group first, MPIRT_Group second, int *result);

/* Gives the name of a member of the job.
 *   in    group: the group
 *   in    rank: the member's rank in it
 *   out   name: room for `MPIRT_NAME_MAX` bytes
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_INV_RANK: the rank is out of range */
int MPIRTX_Group_get_member_name(MPIRT_Group group, int rank, char *name);

/* Gives the rank of a member of the job by its name.
 *   in    group: the group
 *   in    name: the member's name
 *   out   rank: its rank, or `MPIRT_RANK_UNDEFINED` if the group has none of this name
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRTX_Group_find_member(MPIRT_Group group, const char *name, int *rank);

/* Gives the name of a group.
 *   in    group: the group
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Group_get_name(MPIRT_Group group, char *name);

/* Names a group.
 *   in    group: the group
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the group is predefined
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Group_set_name(MPIRT_Group group, const char *name);

/* Frees a group and sets the handle to null.
 *   inout group: the group; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the group is predefined
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Group_free(MPIRT_Group *group);

/* --- Change of mode --- */

/* Begins a second set of objects while the first runs: what this thread creates from here on belongs to it.
 *   in    name: the mode's name, equal on all members
 *   out   mode: the new mode
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: another mode is open or waits for its switch
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Mode_open(const char *name, MPIRTX_Mode *mode);

/* Takes a running channel, task, trigger or receptor over into the mode, with what it uses: a channel with its iterators and their buffers, a task with the channels that it serves, a trigger with what it watches, a receptor with its handlers and the receptors that it combines. It goes on across the switch with the same buffers, instance numbers and counters, and stays fixed: what is under way or pending stays so, a wait goes on, and handlers run on. A channel is kept by the members at both of its ends, or by neither; the triggers and receptors of an event are kept all together, by all members, or none of them is.
 *   in    mode: the mode, open
 *   in    object: a time-driven task, a time-driven, priority-driven or best-effort channel from one member to another, a trigger, or a receptor that is not part of another
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the mode is committed already, or runs
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the object is of another kind, watches one that is, or is part of a receptor: keep that; event-driven tasks and channels and those of a group are made anew in the mode
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the object is not of what runs, or the mode has been taken over from */
int MPIRTX_Mode_keep(MPIRTX_Mode mode, MPIRT_Object object);

/* Binds the mode and tests admission of it and of the switch, while the first set runs. Collective over the world, all or nothing. A time-driven channel with a period of 0 (a single shot) is refused, since the epoch is bound to what runs.
 *   in    mode: the mode
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the mode is committed already, or runs
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: an object is incomplete, does not fit the others or belongs to what runs, and the detail names it; or the mode has been taken over from
 *   MPIRT_ERR_BUFSIZE: as in `MPIRT_Commit`
 *   MPIRT_ERR_DATASPEC: as in `MPIRT_Commit`
 *   MPIRT_ERR_TIMEOUT: a member has not called within the job's limit
 *   MPIRT_ERR_PEER_LOST: a member has died or left
 *   MPIRT_ERR_UNCOMMITTED: what runs is being ended: a member has uncommitted, or the horizon is reached
 *   MPIRT_ERR_MISMATCH: ends of a channel differ or one is missing, the members' modes differ in name, or a channel or an event is kept in part; the detail names both
 *   MPIRT_ERR_ADMISSION: the mode, or the switch, cannot be met, and the detail names the smallest set that conflicts; or a channel of the mode is a single shot
 *   MPIRT_ERR_AGENT: the agent of the job is gone
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Mode_commit(MPIRTX_Mode mode);

/* Agrees on the first common period boundary, at or after an instant, at which the mode takes over, and returns when it runs. Collective over the world.
 *   in    mode: the mode
 *   in    earliest: not before this instant, or `MPIRT_TIME_SPEC_IGNORE` for as soon as possible
 *   out   at: the agreed instant, which is the epoch of the mode
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_ARGUMENT: the mode is not committed
 *   MPIRT_ERR_TIME_PAST: the instant has passed, or what runs ends before it
 *   MPIRT_ERR_TIMEOUT: a member has not called within the job's limit; the mode stays committed
 *   MPIRT_ERR_PEER_LOST: a member has died or left
 *   MPIRT_ERR_UNCOMMITTED: what runs was ended before the switch
 *   MPIRT_ERR_AGENT: the agent of the job is gone */
int MPIRTX_Mode_switch(MPIRTX_Mode mode, MPIRT_Timespec earliest, MPIRT_Timespec *at);

/* Gives the mode that runs.
 *   out   mode: the mode, null for the set that Commit made
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Mode_get_current(MPIRTX_Mode *mode);

/* Gives the name of a mode.
 *   in    mode: the mode
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Mode_get_name(MPIRTX_Mode mode, char *name);

/* Names a mode.
 *   in    mode: the mode
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRTX_Mode_set_name(MPIRTX_Mode mode, const char *name);

/* Frees a mode and sets the handle to null.
 *   inout mode: the mode; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Mode_free(MPIRTX_Mode *mode);

/* --- Objects, keys and attributes --- */

/* Says whether a handle is null.
 *   in    object: the handle to ask about (may be null)
 *   out   flag: 1 if the handle is null, else 0
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Object_is_null(MPIRT_Object object, int *flag);

/* Gives the leaf class of an object.
 *   in    object: the object (may be null)
 *   out   type: its class, `MPIRT_TYPE_NULL` for a null handle
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Object_get_object_type(MPIRT_Object object, MPIRT_Object_type *type);

/* Gives the name of an object.
 *   in    object: the object
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Object_get_name(MPIRT_Object object, char *name);

/* Names an object.
 *   in    object: the object
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the object is predefined
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Object_set_name(MPIRT_Object object, const char *name);

/* Frees an object and sets the handle to null. What others refer to lives on until they let go. Its attributes go first, each after its delete function; an error of one is given back and ends the call there: what went before it is gone, the rest and the object stay.
 *   inout object: the object; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the object is predefined, or one of its delete functions runs
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_BUFFER_IN_USE: it is a buffer, and in an iterator */
int MPIRT_Object_free(MPIRT_Object *object);

/* Says whether two handles name the same object. Two null handles are the same.
 *   in    first: one handle (may be null)
 *   in    second: the other (may be null)
 *   out   same: 1 if they name one object, else 0
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_compare(MPIRT_Object first, MPIRT_Object second, int *same);

/* Gives the handle of an object as that of a container.
 *   in    object: the object
 *   out   container: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_container(MPIRT_Object object, MPIRT_Container *container);

/* Gives the handle of an object as that of a set.
 *   in    object: the object
 *   out   set: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_cset(MPIRT_Object object, MPIRT_Cset *set);

/* Gives the handle of an object as that of a vector.
 *   in    object: the object
 *   out   vector: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_cvector(MPIRT_Object object, MPIRT_Cvector *vector);

/* Gives the handle of an object as that of a group.
 *   in    object: the object
 *   out   group: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_group(MPIRT_Object object, MPIRT_Group *group);

/* Gives the handle of an object as that of a buffer.
 *   in    object: the object
 *   out   buffer: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_buffer(MPIRT_Object object, MPIRT_Buffer *buffer);

/* Gives the handle of an object as that of a buffer iterator.
 *   in    object: the object
 *   out   bufiter: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_bufiter(MPIRT_Object object, MPIRT_Bufiter *bufiter);

/* Gives the handle of an object as that of a channel.
 *   in    object: the object
 *   out   channel: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_channel(MPIRT_Object object, MPIRT_Channel *channel);

/* Gives the handle of an object as that of a QoS.
 *   in    object: the object
 *   out   qos: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_qos(MPIRT_Object object, MPIRT_Qos *qos);

/* Gives the handle of an object as that of a trigger.
 *   in    object: the object
 *   out   trigger: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_trigger(MPIRT_Object object, MPIRT_Trigger *trigger);

/* Gives the handle of an object as that of a receptor.
 *   in    object: the object
 *   out   receptor: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_receptor(MPIRT_Object object, MPIRT_Receptor *receptor);

/* Gives the handle of an object as that of a handler.
 *   in    object: the object
 *   out   handler: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_handler(MPIRT_Object object, MPIRT_Handler *handler);

/* Gives the handle of an object as that of a task.
 *   in    object: the object
 *   out   task: the same object
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Object_as_task(MPIRT_Object object, MPIRTX_Task *task);

/* Makes a key for attributes. The delete function may call what setup may call; what it returns beside MPIRT_SUCCESS is an error code, or counts as MPIRT_ERR_ARGUMENT.
 *   in    delete_function: called when a value under the key goes away, or null (may be null)
 *   in    extra: handed to the delete function (may be null)
 *   out   keyval: the new key
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Keyval_create(MPIRT_Delete_function *delete_function, void *extra, int *keyval);

/* Frees a key and sets it to `MPIRT_KEYVAL_INVALID`.
 *   inout keyval: the key; `MPIRT_KEYVAL_INVALID` afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_INV_KEYVAL: the key was not created, or was freed
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Keyval_free(int *keyval);

/* Stores a pointer under a key at an object, in place of a former one, whose delete function runs first; an error of that is given back, and the former pointer stays.
 *   in    object: the object
 *   in    keyval: the key
 *   in    value: the pointer to store (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the object is being freed, or the library finalized
 *   MPIRT_ERR_INV_KEYVAL: the key was not created, was freed, or the delete function of the former pointer runs
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Object_put_attr(MPIRT_Object object, int keyval, void *value);

/* Gives the pointer that is stored under a key at an object.
 *   in    object: the object
 *   in    keyval: the key
 *   out   value: the pointer, unchanged if there is none
 *   out   flag: 1 if there is one, else 0
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_INV_KEYVAL: the key was not created, or was freed
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Object_get_attr(MPIRT_Object object, int keyval, void **value, int *flag);

/* Removes the pointer that is stored under a key at an object, after its delete function; an error of that is given back, and the pointer stays.
 *   in    object: the object
 *   in    keyval: the key
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_INV_KEYVAL: the key was not created or was freed, nothing is stored under it, or its delete function runs
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRT_Object_delete_attr(MPIRT_Object object, int keyval);

/* --- One operation on all members of a container --- */

/* Starts every channel of a container.
 *   in    container: the container
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_BUFSIZE: a buffer's length is not its bufsize, on a channel that computes or cuts
 *   MPIRT_ERR_TIME_PAST: that of a single shot can no longer be made
 *   MPIRT_ERR_SLACK: a channel has as many transfers under way as its slack allows, or another thread uses its end at this moment
 *   MPIRT_ERR_ACTIVE: an end is activated
 *   MPIRT_ERR_PEER_LOST: the member at another end has died
 *   MPIRT_ERR_LIMIT: the container reaches more than `MPIRT_CONTAINER_MAX` channels, or all containers together sixteen times as many */
int MPIRT_Container_start(MPIRT_Container container);

/* Waits for every channel of a container, with one timeout for all.
 *   in    container: the container
 *   in    timeout: how long at most, from now; `MPIRT_TIME_SPEC_IGNORE` for no limit, 0 to look once
 * While committed it takes no lock, allocates nothing and makes no system call but the wait itself, and to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: the timeout is negative
 *   MPIRT_ERR_NOT_STARTED: a channel is neither started nor activated
 *   MPIRT_ERR_TIMEOUT: the time has passed
 *   MPIRT_ERR_MISSED: a transfer was not performed
 *   MPIRT_ERR_PEER_LOST: the member at another end has died
 *   MPIRT_ERR_UNCOMMITTED: Uncommit has ended the wait
 *   MPIRT_ERR_LIMIT: the container reaches more than `MPIRT_CONTAINER_MAX` channels, or all containers together sixteen times as many */
int MPIRT_Container_wait(MPIRT_Container container, MPIRT_Timespec timeout);

/* Says whether every channel of a container is complete, and then completes all like wait; otherwise, and with an error, what was missed is reported and what is complete stays so. A channel that is there twice is complete when two tests of it in a row would say so. Never blocks.
 *   in    container: the container
 *   out   flag: 1 if all are complete, else 0
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NOT_STARTED: a channel is neither started nor activated
 *   MPIRT_ERR_MISSED: a transfer was not performed
 *   MPIRT_ERR_PEER_LOST: the member at another end has died
 *   MPIRT_ERR_LIMIT: the container reaches more than `MPIRT_CONTAINER_MAX` channels, or all containers together sixteen times as many */
int MPIRT_Container_test(MPIRT_Container container, int *flag);

/* Waits until one channel of a container is complete, gives it with how its instance ended, performed or not, and leaves the others as they are. The search begins behind the channel that was found last, so that none is passed over for ever. A start counts once: a channel that was given is no longer started. Ends that are neither started nor activated are left out; one whose peer is lost is given only when no other is complete, and then each time until the commit ends: deactivate it. All are looked at for 50 us without a pause, or for as long as it takes where one of them polls (`MPIRTX_Channel_set_polling`), and then the wait sleeps until something changes at one of them.
 *   in    container: the container
 *   in    timeout: how long at most, from now; `MPIRT_TIME_SPEC_IGNORE` for no limit, 0 to look once
 *   out   channel: the channel
 *   out   outcome: how its instance ended; `MPIRTX_OUTCOME_PEER_LOST` if the member at another end has died
 * While committed it takes no lock, allocates nothing and makes no system call but the wait itself, and to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_TIME: the timeout is negative
 *   MPIRT_ERR_NOT_STARTED: no channel is started or activated
 *   MPIRT_ERR_TIMEOUT: the time has passed
 *   MPIRT_ERR_UNCOMMITTED: Uncommit has ended the wait
 *   MPIRT_ERR_LIMIT: the container reaches more than `MPIRT_CONTAINER_MAX` channels, or all containers together sixteen times as many */
int MPIRTX_Container_wait_any(MPIRT_Container container, MPIRT_Timespec timeout, MPIRT_Channel *channel, MPIRTX_Outcome *outcome);

/* As `MPIRTX_Container_wait_any`, and never blocks.
 *   in    container: the container
 *   out   flag: 1 if one is complete, else 0
 *   out   channel: the channel, or null if none is complete
 *   out   outcome: how its instance ended, or `MPIRTX_OUTCOME_NONE`
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NOT_STARTED: no channel is started or activated
 *   MPIRT_ERR_LIMIT: the container reaches more than `MPIRT_CONTAINER_MAX` channels, or all containers together sixteen times as many */
int MPIRTX_Container_test_any(MPIRT_Container container, int *flag, MPIRT_Channel *channel, MPIRTX_Outcome *outcome);

/* Activates every channel of a container.
 *   in    container: the container
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME_PAST: the transfer of a single shot can no longer be made
 *   MPIRT_ERR_SLACK: a started transfer is under way, or another thread uses an end at this moment
 *   MPIRT_ERR_PEER_LOST: the member at another end has died
 *   MPIRT_ERR_LIMIT: the container reaches more than `MPIRT_CONTAINER_MAX` channels, or all containers together sixteen times as many */
int MPIRT_Container_activate(MPIRT_Container container);

/* Deactivates every channel of a container.
 *   in    container: the container
 * While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_SLACK: another thread uses an end at this moment; that one stays activated
 *   MPIRT_ERR_NOT_STARTED: an end is not activated
 *   MPIRT_ERR_LIMIT: the container reaches more than `MPIRT_CONTAINER_MAX` channels, or all containers together sixteen times as many */
int MPIRT_Container_deactivate(MPIRT_Container container);

/* Sets the quality of service of every channel of a container.
 *   in    container: the container
 *   in    qos: the new QoS, or null for best effort (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a member is no channel, or the container is a group; none was touched
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class */
int MPIRT_Container_set_qos(MPIRT_Container container, MPIRT_Qos qos);

/* Makes a container of the same class that holds the members of contained containers in their place, each once, without groups and null elements.
 *   in    container: the container
 *   in    name: the name of the result, or null for none (may be null)
 *   out   result: the new container
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Container_flatten(MPIRT_Container container, const char *name, MPIRT_Container *result);

/* Makes a container of the same class that holds the members of one type, each once.
 *   in    container: the container
 *   in    type: the class to keep, leaf or abstract
 *   in    name: the name of the result, or null for none (may be null)
 *   out   result: the new container
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the container is a group
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the type is none
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Container_filter(MPIRT_Container container, MPIRT_Object_type type, const char *name, MPIRT_Container *result);

/* --- Quality of service --- */

/* Makes a time-driven QoS: a window in each period, or one window at an absolute time, for a channel from one member to another. The place of a single window is kept in every round of the plan, the one that matters being at that time; where the window is longer than a round, in its last part. Modes and commits of a group cannot have a single window.
 *   in    name: its name, or null for none (may be null)
 *   in    start: where the window begins, from the period's beginning; without a period on the clock of `MPIRT_Get_time`
 *   in    deadline: where the window ends, likewise
 *   in    period: the period, or 0 for a single shot
 *   out   qos: the new QoS
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_TIME: a time is negative, or the deadline does not lie after the start, or not within the period; the detail has the values
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Qos_channel_time_create(const char *name, MPIRT_Timespec start, MPIRT_Timespec deadline, MPIRT_Timespec period, MPIRT_Qos *qos);

/* Makes an event-driven QoS, for channels and tasks: a transfer for each start event, a completion event for each transfer. Its priority is 1, the least urgent, unless set. Firings count from the activation of the end that sends on, not before; each waits for a message to send, and that for a buffer to be received into. The member that receives fires the completion event, once the message is in its output iterator; of a task, the member that has run it. The library makes what takes and fires these events: a program needs a trigger only for what it fires itself, and a receptor only for what it waits for.
 *   in    name: its name, or null for none (may be null)
 *   in    start_event: the event, in the channel's group, or for a task in the world, each firing of which starts a transfer or a run; or null: the sender's program starts each (may be null)
 *   in    completion_event: the event, likewise, that each completed transfer or run fires, or null for none (may be null)
 *   out   qos: the new QoS
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: both events are null
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Qos_channel_event_create(const char *name, const char *start_event, const char *completion_event, MPIRT_Qos *qos);

/* Makes a priority-driven QoS.
 *   in    name: its name, or null for none (may be null)
 *   in    priority: 1 to `MPIRT_PRIORITY_MAX`, higher is more urgent; what is committed together has at most 40 different ones
 *   out   qos: the new QoS
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the priority is out of range
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Qos_channel_priority_create(const char *name, int priority, MPIRT_Qos *qos);

/* Makes the QoS of a handler.
 *   in    name: its name, or null for none (may be null)
 *   in    priority: 1 to `MPIRT_PRIORITY_MAX`, higher is more urgent; what is committed together has at most 40 different ones
 *   in    budget: processor time of one run at most
 *   in    interval: the smallest time between two runs, for admission
 *   out   qos: the new QoS
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_ARGUMENT: the priority is out of range
 *   MPIRT_ERR_TIME: budget or interval is not positive
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Qos_handler_create(const char *name, int priority, MPIRT_Timespec budget, MPIRT_Timespec interval, MPIRT_Qos *qos);

/* Gives the kind.
 *   in    qos: the QoS
 *   out   kind: time, event, priority, handler or best effort
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_kind(MPIRT_Qos qos, MPIRTX_Qos_kind *kind);

/* Gives the times of a time-driven QoS.
 *   in    qos: the QoS
 *   out   start: where the window begins
 *   out   deadline: where it ends
 *   out   period: the period, 0 for a single shot
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_time(MPIRT_Qos qos, MPIRT_Timespec *start, MPIRT_Timespec *deadline, MPIRT_Timespec *period);

/* Gives the events of an event-driven QoS.
 *   in    qos: the QoS
 *   out   start_event: room for `MPIRT_NAME_MAX` bytes
 *   out   completion_event: room for `MPIRT_NAME_MAX` bytes
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_events(MPIRT_Qos qos, char *start_event, char *completion_event);

/* Gives the priority of an event-driven, priority-driven or handler's QoS.
 *   in    qos: the QoS
 *   out   priority: the priority
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_priority(MPIRT_Qos qos, int *priority);

/* Sets the priority of an event-driven QoS. That of another kind is given when it is made.
 *   in    qos: the QoS
 *   in    priority: 1 to `MPIRT_PRIORITY_MAX`, higher is more urgent; what is committed together has at most 40 different ones
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the priority is out of range */
int MPIRTX_Qos_set_priority(MPIRT_Qos qos, int priority);

/* Gives how long after the epoch the periods begin, of a time-driven QoS.
 *   in    qos: the QoS
 *   out   phase: how long after the epoch the periods begin
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_phase(MPIRT_Qos qos, MPIRT_Timespec *phase);

/* Sets how long after the epoch the periods begin, of a time-driven QoS.
 *   in    qos: the QoS
 *   in    phase: how long after the epoch the periods begin
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: the phase is negative or not below the period */
int MPIRTX_Qos_set_phase(MPIRT_Qos qos, MPIRT_Timespec phase);

/* Gives what the receiver sees of a miss (skip, hold-last or stop), of a time-driven QoS.
 *   in    qos: the QoS
 *   out   policy: what the receiver sees of a miss (skip, hold-last or stop)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_miss_policy(MPIRT_Qos qos, MPIRTX_Miss_policy *policy);

/* Sets what the receiver sees of a miss (skip, hold-last or stop), of a time-driven QoS.
 *   in    qos: the QoS
 *   in    policy: what the receiver sees of a miss (skip, hold-last or stop)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the policy is none */
int MPIRTX_Qos_set_miss_policy(MPIRT_Qos qos, MPIRTX_Miss_policy policy);

/* Gives the longest time from start to completion that admission grants, of an event-driven or priority-driven QoS.
 *   in    qos: the QoS
 *   out   deadline: the longest time from start to completion that admission grants; `MPIRT_TIME_SPEC_IGNORE` for none, as at first
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_deadline(MPIRT_Qos qos, MPIRT_Timespec *deadline);

/* Sets the longest time from start to completion that admission grants, of an event-driven or priority-driven QoS.
 *   in    qos: the QoS
 *   in    deadline: the longest time from start to completion that admission grants, or `MPIRT_TIME_SPEC_IGNORE` for none
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: the deadline is not positive */
int MPIRTX_Qos_set_deadline(MPIRT_Qos qos, MPIRT_Timespec deadline);

/* Gives the smallest time between two transfers that admission counts on, of an event-driven or priority-driven QoS.
 *   in    qos: the QoS
 *   out   interval: the smallest time between two transfers that admission counts on; `MPIRT_TIME_SPEC_IGNORE` for none, as at first
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Qos_get_interval(MPIRT_Qos qos, MPIRT_Timespec *interval);

/* Sets the smallest time between two transfers that admission counts on, of an event-driven or priority-driven QoS. A transfer that is asked for sooner is made as if it were asked for then.
 *   in    qos: the QoS
 *   in    interval: the smallest time between two transfers that admission counts on, or `MPIRT_TIME_SPEC_IGNORE` for none
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_TIME: the interval is not positive */
int MPIRTX_Qos_set_interval(MPIRT_Qos qos, MPIRT_Timespec interval);

/* Gives the name of a QoS.
 *   in    qos: the QoS
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Qos_get_name(MPIRT_Qos qos, char *name);

/* Names a QoS.
 *   in    qos: the QoS
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is predefined
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRT_Qos_set_name(MPIRT_Qos qos, const char *name);

/* Frees a QoS and sets the handle to null.
 *   inout qos: the QoS; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is predefined
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Qos_free(MPIRT_Qos *qos);

/* --- Setup and time --- */

/* Begins the use of the layer and joins the job. A program that `leveret run` has not started is a job of its own, of one member named 0, which nobody watches: it has no record, no report and no horizon. Its plan assumes a guard of 50 us (less if that does not fit) instead of measuring one, and no warnings are printed, so starts may be late unnoticed.
 *   inout argc: the program's, or null (may be null)
 *   inout argv: the program's, or null (may be null)
 *   MPIRT_ERR_ALREADY_INITIALIZED: Init was called before
 *   MPIRT_ERR_FINALIZED: Finalize was called before
 *   MPIRT_ERR_AGENT: the agent of the job cannot be reached or refuses, or this process is a child of a member
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Init(int *argc, char ***argv);

/* Ends the use of the layer, and frees all that is left, after the delete functions of its attributes; an error of one of these is given back, and the layer stays. Collective over the world, but for a member that has failed: it waits for nobody.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: a delete function runs
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_AGENT: a task of this member has failed, so that to the others it has died and the agent is about to end it; `MPIRTX_Error_detail` says how */
int MPIRT_Finalize(void);

/* Binds all declarations, tests admission, and creates what transfers need. Collective over the world, all or nothing: on refusal every member gets the same error and detail, that of a member whose own objects cannot be committed, or that has not the memory for it, included. What it returns is an error code; the epoch, which HARE returned here, comes from `MPIRTX_Get_epoch`.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_ARGUMENT: an object is incomplete or does not fit the others; the detail names it
 *   MPIRT_ERR_BUFSIZE: an allowed buffer has been given another size than its iterator's; the detail names it
 *   MPIRT_ERR_DATASPEC: an allowed buffer has been given another dataspec than its iterator's; the detail names it
 *   MPIRT_ERR_TIME_PAST: the window of a single shot has passed, or can no longer be met, or comes after the end of the run; the detail has its instants
 *   MPIRT_ERR_TIMEOUT: a member has not called within the job's limit
 *   MPIRT_ERR_PEER_LOST: a member has died or left
 *   MPIRT_ERR_MISMATCH: ends of a channel differ, or one is missing; the detail names both
 *   MPIRT_ERR_ADMISSION: the declarations cannot be met together; the detail names the smallest set that conflicts
 *   MPIRT_ERR_AGENT: the job has ended, or its agent is gone
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRT_Commit(void);

/* Commits the objects of a group's members, beside what others have committed. Collective over the group, all or nothing; each such commit has its epoch, a multiple of its round on the job's clock. With the group of all it is `MPIRT_Commit`; it has no modes. A time-driven channel with a period of 0 (a single shot) is refused, since the epoch is bound to what else runs.
 *   in    group: the group; who gives the same members in another order commits with it
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: an object is incomplete or does not fit the others; the detail names it
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_BUFSIZE: as in `MPIRT_Commit`
 *   MPIRT_ERR_DATASPEC: as in `MPIRT_Commit`
 *   MPIRT_ERR_TIMEOUT: a member has not called within the job's limit; it is not ended for that
 *   MPIRT_ERR_PEER_LOST: a member has died or left
 *   MPIRT_ERR_MISMATCH: ends of a channel differ, one is missing, or the group of a channel or an event reaches beyond the group; the detail names it
 *   MPIRT_ERR_ADMISSION: the declarations cannot be met together, or not beside what other groups have committed, and the detail names the smallest set that conflicts; or a channel is a single shot
 *   MPIRT_ERR_AGENT: the job has ended, or its agent is gone
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Commit_group(MPIRT_Group group);

/* Ends all transfers at a common period boundary and releases what Commit made. Collective over those who committed together: who calls it first waits, and what runs goes on until all have.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_PEER_LOST: a member has died or left; the objects are released all the same
 *   MPIRT_ERR_AGENT: the agent of the job is gone; the objects are released all the same */
int MPIRT_Uncommit(void);

/* Waits until the job's horizon, or until it is stopped, and uncommits.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_MISSED: a member has stopped the job, as a missed message does under `MPIRTX_MISS_STOP`; `MPIRTX_Error_detail` says why, and the objects are released all the same
 *   MPIRT_ERR_PEER_LOST: a member has died or left; the objects are released all the same
 *   MPIRT_ERR_AGENT: the agent of the job is gone; the objects are released all the same */
int MPIRTX_Run(void);

/* Ends the commit of a group, as `MPIRT_Uncommit`. Collective over the group.
 *   in    group: the group
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: other members than these have committed together
 *   MPIRT_ERR_NOT_MEMBER: the caller is not in the group
 *   MPIRT_ERR_PEER_LOST: a member has died or left; the objects are released all the same
 *   MPIRT_ERR_AGENT: the agent of the job is gone; the objects are released all the same */
int MPIRTX_Uncommit_group(MPIRT_Group group);

/* Ends the whole job and this process, and does not return: the message is printed to standard error under the member's name, the other members stop whatever the job's death policy is, none is started again, and `leveret run` reports and exits with the code. From any thread, also of a task or a handler, and while another thread waits in Commit. What the C library still holds for standard output is printed; nothing that `atexit` knows runs. It returns on errors only.
 *   in    code: what the job ends with, from 1 to 255
 *   in    message: why, for people, of any bytes up to a zero byte, cut after 1024; or null (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_ARGUMENT: the code is not from 1 to 255 */
int MPIRTX_Abort(int code, const char *message);

/* Says that this member has failed, and comes back at once: its tasks and handlers begin no further run, and nothing is waited for, so that the program can say why, put its files in order and end. To the others the member has died when its process ends; the job's death policy decides what follows, and the run is a failed one. A process that has not ended after 5 s is ended. Uncommit and Run give `MPIRT_ERR_AGENT` afterwards. The destructor of a committed session in C++ calls it when an exception passes.
 *   in    reason: why, for the report, of any bytes up to a zero byte, cut after 1024; or null (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call */
int MPIRTX_Fail(const char *reason);

/* Says whether Init has succeeded. Can be called at any time.
 *   out   flag: 1 from Init on, else 0
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Is_initialized(int *flag);

/* Says whether Finalize has succeeded. Can be called at any time.
 *   out   flag: 1 after Finalize, else 0
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Is_finalized(int *flag);

/* Sleeps until an absolute time or for a relative time, or until Commit or Uncommit is called.
 *   in    mode: `MPIRT_TIME_ABSOLUTE` or `MPIRT_TIME_RELATIVE`
 *   in    time: the time, or `MPIRT_TIME_SPEC_IGNORE` for no limit
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_ARGUMENT: the mode is none
 *   MPIRT_ERR_TIME: the relative time is negative
 *   MPIRT_ERR_TIME_PAST: the absolute time has passed; of one before the epoch of what is committed, which is likely reckoned from what Commit returned, the detail says so, and the first one in a process is a warning on standard error
 *   MPIRT_ERR_COMMITTED: Commit was called
 *   MPIRT_ERR_UNCOMMITTED: Uncommit was called, or the commit has ended
 *   MPIRT_ERR_AGENT: the job has ended while nothing was committed */
int MPIRT_Sleep(MPIRT_Time_mode mode, MPIRT_Timespec time);

/* Gives the job's time.
 *   out   time: nanoseconds since the job's base
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Get_time(MPIRT_Timespec *time);

/* Gives the clock's resolution.
 *   out   resolution: nanoseconds between two readings that differ
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Get_time_resolution(MPIRT_Timespec *resolution);

/* Gives the bound of the clock's error, and its state.
 *   out   error: the true time differs by at most this
 *   out   state: free, locked or holdover
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Get_clock(MPIRT_Timespec *error, MPIRTX_Clock_state *state);

/* Gives the instant at which the periods begin, the same on every member.
 *   out   epoch: the instant
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Get_epoch(MPIRT_Timespec *epoch);

/* Splits a time into two halves of 32 bits. Can be called at any time.
 *   in    time: the time
 *   out   high: its upper half
 *   out   low: its lower half
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRT_Int64_export(MPIRT_Timespec time, uint32_t *high, uint32_t *low);

/* Gives the constant text of an error code, which the caller neither changes nor frees. Can be called at any time.
 *   in    error: the code
 *   out   string: its text
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_ARGUMENT: the number is no code; the text says so */
int MPIRT_Error_string(int error, const char **string);

/* Gives what the calling thread's last error was about, with place and remedy; at any time. Valid until the thread's next call that returns an error.
 *   out   string: the text, empty if there was none
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Error_detail(const char **string);

/* Gives the library's version. Can be called at any time.
 *   out   major: the first number
 *   out   minor: the second
 *   out   patch: the third
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Get_version(int *major, int *minor, int *patch);

/* --- Tasks --- */

/* Makes a task: a function that runs once in each period, or once for each firing of its start event, at the priority of its QoS, from the epoch to the end of the commit. It takes and inserts buffers as any thread does.
 *   in    name: its name
 *   in    function: what runs: it gets the task, the instance and the argument
 *   in    argument: handed to the function (may be null)
 *   in    qos: when it runs: a time-driven QoS, or an event-driven one, whose events are in the world
 *   in    budget: processor time of one run at most
 *   out   task: the new task
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the QoS is of another kind
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters
 *   MPIRT_ERR_TIME: the budget is not positive or beyond the window, or the QoS has neither period nor start event
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Task_create(const char *name, MPIRTX_Task_function *function, void *argument, MPIRT_Qos qos, MPIRT_Timespec budget, MPIRTX_Task *task);

/* Says that the task uses the caller's end of a channel, so that both are planned together. A time-driven end is served by the task's window, and is active from the epoch on; a best-effort one stays the program's to start and test.
 *   in    task: the task
 *   in    channel: the channel
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_UNDEF_FOR_OBJECT: the channel is collective: its steps lie at several instants; one that is a single shot is refused by Commit
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: another task is bound to this end
 *   MPIRT_ERR_LIMIT: there are as many as there can be
 *   MPIRT_ERR_NO_MEMORY: out of memory */
int MPIRTX_Task_bind(MPIRTX_Task task, MPIRT_Channel channel);

/* Gives the processor time of one run at most.
 *   in    task: the task
 *   out   budget: the budget
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Task_get_budget(MPIRTX_Task task, MPIRT_Timespec *budget);

/* Gives the QoS that says when the task runs.
 *   in    task: the task
 *   out   qos: the QoS
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Task_get_qos(MPIRTX_Task task, MPIRT_Qos *qos);

/* Gives the processor core that the task is pinned to.
 *   in    task: the task
 *   out   core: the core's number, or `MPIRTX_CORE_ANY`: any that the plan finds
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Task_get_core(MPIRTX_Task task, int *core);

/* Pins the task to a processor core.
 *   in    task: the task
 *   in    core: the core's number, or `MPIRTX_CORE_ANY`
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: there is no such core */
int MPIRTX_Task_set_core(MPIRTX_Task task, int core);

/* Gives what the program has said that follows when the task needs more than its budget. Of a task of which it has said nothing that is `MPIRTX_OVERRUN_SKIP`, unless the manifest says otherwise.
 *   in    task: the task
 *   out   policy: skip, late or stop
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Task_get_overrun_policy(MPIRTX_Task task, MPIRTX_Overrun_policy *policy);

/* Sets what follows when the task needs more than its budget.
 *   in    task: the task
 *   in    policy: skip, late or stop
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_ARGUMENT: the policy is none */
int MPIRTX_Task_set_overrun_policy(MPIRTX_Task task, MPIRTX_Overrun_policy policy);

/* Gives compute times, start lateness, misses, overruns and skipped instances since the commit. The start of a task that runs for an event is due at the firing; none of its runs is skipped.
 *   in    task: the task
 *   out   metrics: filled with the metrics
 * Takes no lock, allocates nothing and makes no system call while committed.
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NOT_COMMITTED: the call needs a commit, and there is none
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Task_get_metrics(MPIRTX_Task task, MPIRTX_Task_metrics *metrics);

/* Gives the name of a task.
 *   in    task: the task
 *   out   name: room for `MPIRT_NAME_MAX` bytes, filled with the name and its closing zero byte
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Task_get_name(MPIRTX_Task task, char *name);

/* Names a task.
 *   in    task: the task
 *   in    name: the new name, or null for none (may be null)
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NAME: the name is too long, has no end, or is no UTF-8 without control characters */
int MPIRTX_Task_set_name(MPIRTX_Task task, const char *name);

/* Frees a task and sets the handle to null.
 *   inout task: the task; null afterwards
 *   MPIRT_ERR_NOT_INITIALIZED: MPIRT_Init has not succeeded yet
 *   MPIRT_ERR_OBJECT_COMMITTED: the object is committed, or objects are, and the call would change or create one
 *   MPIRT_ERR_FINALIZED: MPIRT_Finalize has succeeded already
 *   MPIRT_ERR_REAL_TIME: a handler or a task may not make this call
 *   MPIRT_ERR_NULL_OBJECT: the handle is null
 *   MPIRT_ERR_STALE_OBJECT: the object of the handle was freed
 *   MPIRT_ERR_INV_OBJECT: the handle was never given out
 *   MPIRT_ERR_WRONG_CLASS: the object is of another class
 *   MPIRT_ERR_NULL_POINTER: a pointer is null */
int MPIRTX_Task_free(MPIRTX_Task *task);

/* --- Spellings of the HARE thesis, in Appendix A and in its text --- */

#define MPIRT_Start MPIRT_Channel_start
#define MPIRT_Activate MPIRT_Channel_activate
#define MPIRT_container_access_count MPIRT_Container_access_count
#define MPIRT_container_get_name MPIRT_Container_get_name
#define MPIRT_container_set_name MPIRT_Container_set_name
#define MPIRT_container_free MPIRT_Container_free
#define MPIRT_object_is_null MPIRT_Object_is_null
#define MPIRT_object_get_object_type MPIRT_Object_get_object_type
#define MPIRT_object_get_name MPIRT_Object_get_name
#define MPIRT_object_set_name MPIRT_Object_set_name
#define MPIRT_object_free MPIRT_Object_free

#ifdef __cplusplus
}
#endif

#endif
