"""A clock of the process that stands still, at FAKE_CPU if that is set, and in a `python -c` at FAKE_IMPORT."""
import os
import sys
import time

if "FAKE_CPU" in os.environ:
    time.process_time = lambda: float(os.environ["FAKE_CPU"])
if "FAKE_IMPORT" in os.environ and "-c" in sys.orig_argv:
    time.process_time = lambda: float(os.environ["FAKE_IMPORT"])
