#!/usr/bin/env python3
"""Creates a thousand communicators one after the other, and two hundred at once, in the same
processes, and checks that they release their resources.

    many_test.py BUILD_DIR
"""
import re

import support
from support import FAULT_RANK

# Permitted difference of the heap between two rests, for any number of communicators between: the
# contents of the allocator's caches. A thousand leaks of 64 bytes would show.
HEAP_BYTES_MAX = 64 * 1024


class Many(support.Case):
    def check(self, count, alive, size, **settings):
        holder = self.start(FAULT_RANK, "id")
        text = holder.wait_for("^ID ").split()[1]
        ranks = [self.start(FAULT_RANK, "many", text, rank, size, count, alive, **settings)
                 for rank in range(size)]
        for rank in ranks:
            left = rank.wait_for("^LEFT")
            print(f"{count} formed, {alive} at once: {rank.wait_for('^HOLDING')}; {left}", flush=True)
            descriptors, mappings, heap_bytes = map(int, re.findall(r"-?\d+", left))
            self.assertLessEqual(descriptors, 0)
            self.assertLessEqual(mappings, 0)
            self.assertLess(heap_bytes, HEAP_BYTES_MAX)
            rank.wait_for("^DONE")
        for rank in ranks:
            self.assertEqual(rank.finish(), 0, rank.text())

    def test_a_thousand_communicators_in_sequence_leave_nothing(self):
        self.check(1000, 1, 2)

    def test_two_hundred_communicators_at_once_leave_nothing(self):
        self.check(200, 200, 2)

    def test_communicators_over_links_leave_nothing(self):
        for links in ("shm", "tcp"):
            with self.subTest(links=links):
                self.check(100, 3, 3, RINGLET_LINKS=links)


if __name__ == "__main__":
    support.main()
