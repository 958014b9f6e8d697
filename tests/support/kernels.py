"""Kernels are compiled before a test waits for a server or a worker, in processes that do nothing else."""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from app.worker.trainer_process import Trainer

__all__ = ["compile_kernels"]


@cache
def compile_kernels() -> None:
    """Compile what servers and workers load, unless it lies in the cache."""
    subprocess.run([sys.executable, "-m", "sampler.warm_up"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Path(folder), threads=1, timeout=1.0, data_dir=None)
        trainer.load()
        trainer.stop()
