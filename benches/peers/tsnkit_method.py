"""One method of the tsnkit collection on one instance.

tsnkit_method.py METHOD TASK.csv TOPOLOGY.csv FOLDER LIMIT_S

The schedule goes to FOLDER/plan-GCL.csv and so on. The last line on stdout:

    RESULT succ|fail|unknown|error SOLVE_NS ALL_NS OWN_MS

SOLVE_NS is what its solve() takes, ALL_NS with reading, routes and model before it, OWN_MS what it reports. Whoever is not done in time is ended
by the alarm.
"""

import importlib
import os
import signal
import sys
import time

import tsnkit.core
import tsnkit.core._io


def main():
    method, task, topology, folder, limit = sys.argv[1:]
    limit = int(limit)
    module = importlib.import_module("tsnkit.algorithms." + method)
    scheduler = getattr(module, method)
    tsnkit.core.T_LIMIT = tsnkit.core._io.T_LIMIT = limit
    plain = scheduler.solve
    took = {"solve": 0, "all": 0}

    def solve(self):
        begun = time.perf_counter_ns()
        try:
            return plain(self)
        finally:
            ended = time.perf_counter_ns()
            took["solve"], took["all"] = ended - begun, ended - started

    scheduler.solve = solve
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limit)
    started = time.perf_counter_ns()
    outcome = module.benchmark("plan", task, topology, os.path.join(folder, ""), 1)
    signal.alarm(0)
    words = {1: "succ", 0: "fail", 2: "unknown", -1: "error"}
    word = words.get(getattr(outcome.result, "value", -1), "error")
    print("\nRESULT", word, took["solve"], took["all"], round(outcome.algo_time * 1000), flush=True)


if __name__ == "__main__":
    main()
