"""Worker processes do not run the user's script again, but receive what it defines."""

import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from stressreel.core.errors import BuildError, InputError
from stressreel.core.workers import on_processes, worker_pool

SCRIPT = """
import operator
from stressreel.core.workers import worker_pool

class Mine(int):
    pass

def double(mine):
    return Mine(2 * mine)

print("main runs")
with worker_pool(2) as pool:
    print(sum(pool.map(operator.mul, range(5), range(5))))
    print(type(pool.submit(double, Mine(4)).result()) is Mine, pool.submit(lambda: double(Mine(4))).result())
"""


FULL = pytest.mark.full
WAYS = [
    ["script.py"],
    *(pytest.param(way, marks=FULL) for way in (["./link.py"], ["-m", "script"], ["-c", SCRIPT], ["-"])),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[0])
def test_no_worker_runs_the_main_module(way, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "link.py").symlink_to("script.py")
    command = [sys.executable, "-W", "error", *way]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, input=SCRIPT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "main runs\n30\nTrue 8\n", "")


@pytest.mark.parametrize("to_setup", [True, False])
def test_unpicklable_argument_is_refused(to_setup):
    def sending():
        with worker_pool(1, print, *[threading.Lock()] * to_setup) as pool:
            pool.submit(print, threading.Lock()).result()

    with pytest.raises(InputError, match=r"cannot pickle '_thread.lock' object\. Set workers=1"):
        sending()


def test_dead_worker_raises_build_error():
    def killing():
        with worker_pool(2) as pool:
            os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)
            pool.submit(time.sleep, 60).result()

    with pytest.raises(BuildError, match="a worker process died"):
        killing()


def test_failure_ends_only_workers():
    found = []

    def failing():
        with worker_pool(2) as pool:
            found.append(pool.submit(os.getpid).result())
            os.kill(found[0], signal.SIGINT)  # which workers leave to this process
            assert pool.submit(operator.add, 1, 2).result() == 3
            pool.submit(time.sleep, 60)
            raise KeyError

    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    child.start()
    began = time.monotonic()
    with pytest.raises(KeyError):
        failing()
    while Path(f"/proc/{found[0]}").exists():
        assert time.monotonic() - began < 30
        time.sleep(0.02)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert child.is_alive()
    child.kill()
    child.join()


@pytest.mark.parametrize("workers", [1, 2])
def test_calls_are_lazy_and_results_ordered(workers):
    calls = zip(iter(range(100)), strict=True)
    results = on_processes(operator.neg, calls, workers)
    assert [next(results) for _ in range(20)] == [-number for number in range(20)]
    assert next(calls)[0] <= 4 * workers + 20
    results.close()
