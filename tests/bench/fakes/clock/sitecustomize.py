"""Clocks that stand still, at FAKE_CPU and FAKE_TIME if these are set."""
import os
import time

if "FAKE_CPU" in os.environ:
    time.process_time = lambda: float(os.environ["FAKE_CPU"])
if "FAKE_TIME" in os.environ:
    time.perf_counter = lambda: float(os.environ["FAKE_TIME"])
