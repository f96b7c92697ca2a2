"""Instances of the tsnkit collection, by its own generator.

tsnkit_generate.py SEED FOLDER STREAMS PERIODS DEADLINES [TOPOLOGY...]

STREAMS, PERIODS and DEADLINES are lists with commas. Of each topology FOLDER/TOPOLOGY/ has N_topo.csv and N_task.csv, and a list of
them in dataset_logs.csv.
"""

import os
import sys

import numpy
from tsnkit.data.generator import DatasetGenerator

# Bytes of a message: 100 to 500.
SIZES = 2
SWITCHES = 8


def main():
    seed, folder = int(sys.argv[1]), sys.argv[2]
    streams, periods, deadlines = ([int(one) for one in text.split(",")] for text in sys.argv[3:6])
    for topology in map(int, sys.argv[6:]):
        path = os.path.join(folder, str(topology), "")
        os.makedirs(path, exist_ok=True)
        numpy.random.seed(seed + topology)
        DatasetGenerator(1, streams, SWITCHES, periods, SIZES, deadlines, topology).run(path)


if __name__ == "__main__":
    main()
