/* Finalize by many threads at once. A process finalizes once, so each round is one of its own: a job of one member. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 100, THREADS = 8 };

static pthread_barrier_t together;

static void *finalizes(void *answer)
{
    pthread_barrier_wait(&together);
    *(int *)answer = MPIRT_Finalize();
    return NULL;
}

static int one_succeeds(void)
{
    pthread_t threads[THREADS];
    int answers[THREADS], successes = 0, flag;
    OK(MPIRT_Init(NULL, NULL));
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (int thread = 0; thread < THREADS; thread++)
        CHECK(pthread_create(&threads[thread], NULL, finalizes, &answers[thread]) == 0);
    for (int thread = 0; thread < THREADS; thread++) {
        pthread_join(threads[thread], NULL);
        successes += answers[thread] == MPIRT_SUCCESS;
        if (answers[thread] != MPIRT_SUCCESS)
            EXPECT(answers[thread], MPIRT_ERR_FINALIZED);
    }
    CHECK(successes == 1);
    OK(MPIRT_Is_finalized(&flag));
    CHECK(flag == 1);
    return failures > 0;
}

/* spec: SETUP-FINAL-04, SETUP-INIT-02 */
static void test_one_thread_finalizes(void)
{
    for (int round = 0; round < ROUNDS && failures == 0; round++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            unsetenv("LEVERET_SOCKET");
            _exit(one_succeeds());
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
}

int main(int argc, char **argv)
{
    /* Before Init: children of a member have no part in anything. */
    test_one_thread_finalizes();
    begin(&argc, &argv);
    return end();
}
