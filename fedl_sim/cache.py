"""Data sets, engines and realisations that a process keeps: it runs many jobs on few of them."""

from functools import lru_cache

from fedl_sim.data.datasets import DataSet, Fetch, load_data_set
from fedl_sim.data.download import download
from fedl_sim.engines.base import Engine
from fedl_sim.engines.factory import make_engine
from fedl_sim.network.realisation import Realisation, RealisationSettings, realise

__all__ = ["cached_data_set", "cached_engine", "cached_realisation"]


@lru_cache(maxsize=2)
def cached_data_set(name: str, fetch: Fetch = download) -> DataSet:
    """Return `load_data_set(name, fetch=fetch)`."""
    return load_data_set(name, fetch=fetch)


@lru_cache(maxsize=2)
def cached_engine(name: str, model: str, data: DataSet) -> Engine:
    """Return `make_engine(name, model, data)`."""
    return make_engine(name, model, data)


@lru_cache(maxsize=4)
def cached_realisation(settings: RealisationSettings, data: DataSet, seed: int) -> Realisation:
    """Return `realise(settings, data, seed)`."""
    return realise(settings, data, seed)
