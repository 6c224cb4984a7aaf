"""Limits of time in tests: they are judged only where the machine gives the test its processor."""
import threading
import time

from blackbox import expect


class Pace:
    """Time in which the machine gives this test a processor. A thread sleeps for a hundredth of a second again and again, and counts. If other programs keep
    the machine busy it is woken late, and so are the servers: then less time has passed here than on the clock, and no limit of time is judged."""

    TICK = 0.01

    def __init__(self):
        self.ticks, self.stop = 0, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stop:
            time.sleep(self.TICK)
            self.ticks += 1

    def now(self):
        """In seconds, and what the clock says."""
        return self.ticks * self.TICK, time.monotonic()

    def expect_within(self, seconds, before, after, what):
        """From `before` to `after`, both of now(), so many seconds at most. If the machine gave this test less than three quarters of that time, the event alone counts."""
        took = after[1] - before[1]
        busy = after[0] - before[0] < 0.75 * took - self.TICK
        print("# %s for %.2f s (at most %d s)%s" % (what, took, seconds, "; not judged: the machine is busy" if busy else ""))
        expect(busy or took <= seconds, what, "for %.2f s, and at most %d s are allowed" % (took, seconds))
