from sampler.kernels.completion import refine
from sampler.kernels.coverage import covered_data
from sampler.kernels.pool import flows_along, pool
from sampler.kernels.rank import gather, layer, list_links, mix, weigh
from sampler.kernels.shared import least_values
from sampler.kernels.standing import receivers_of, renew, tangents, toggle
from sampler.warm_up import warm_up


def test_every_kernel_is_compiled_and_only_once() -> None:
    warm_up()
    ranking = (gather, layer, list_links, mix, weigh)
    sets = (covered_data, flows_along, least_values, pool, receivers_of, refine, renew, tangents, toggle)
    for kernel in (*sets, *ranking):
        assert len(getattr(kernel, "signatures")) == 1, kernel  # noqa: B009 - numba's own
