from sampler.kernels.completion import refine
from sampler.kernels.coverage import covered_data
from sampler.kernels.pool import flows_along, pool
from sampler.kernels.rank import gather, layer, list_links, mix, weigh
from sampler.kernels.standing import receivers_of, renew, tangents, toggle
from sampler.warm_up import warm_up


def test_every_kernel_is_compiled_and_only_once() -> None:
    warm_up()
    ranking = (gather, layer, list_links, mix, weigh)
    for kernel in (covered_data, flows_along, pool, receivers_of, refine, renew, tangents, toggle, *ranking):
        assert len(getattr(kernel, "signatures")) == 1, kernel  # noqa: B009 - numba's own
