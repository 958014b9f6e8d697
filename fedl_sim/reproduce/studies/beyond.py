"""Beyond the paper's network: real meshes, label skew by Dirichlet's distribution, and a second architecture.

Ours is compared with each rival on the same networks. Meshes are files that a user names (`--mesh`): their links come
with a measured delivery ratio, and a lossy link takes 1/ratio tries (`fedl_sim.network.profiles`). Training under churn
is a study of its own.
"""

from dataclasses import replace
from pathlib import Path

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.compared import AGAIN, Arm, arm_named
from fedl_sim.reproduce.studies.variants import Group, Variant, variants_study
from fedl_sim.reproduce.study import Scope, Study

__all__ = ["beyond_study"]

_RIVALS = ("gcn_branch+fast", "gcn_branch_fedl+fast", "heuristic-offload", "random-offload")
CONCENTRATIONS = (0.1, 1.0)


def beyond_study(template: Cell, scope: Scope) -> Study:
    """MNIST with N = 100 and S = 5, or with a mesh's own N; digits if it is to be quick."""
    base = template.sized("digits" if scope.quick else "mnist", 40 if scope.quick else 100, 5)
    network = base.realisation
    groups = [
        *(
            Group(
                f"mesh {Path(mesh).stem}",
                replace(base, realisation=replace(network, topology=mesh, n_devices=None)),
                _variants(),
            )
            for mesh in scope.meshes
        ),
        *(
            Group(f"Dirichlet, α = {skew:g}", replace(base, realisation=replace(network, dirichlet=skew)), _variants())
            for skew in CONCENTRATIONS
        ),
        Group("multi-layer perceptron", replace(base, model="mlp"), _variants()),
    ]
    notes = (
        ("A mesh is one graph: its networks differ in devices and data.",)
        if scope.meshes
        else ("No meshes were given.",)
    )
    title = f"Beyond the paper's network, {network.budget} budgets"
    return variants_study("beyond", title, groups, scope, notes)


def _variants() -> tuple[Variant, ...]:
    """Rivals are compared with ours: a negative difference is in favour of ours."""
    ours = Arm("ours-offload", "ours w/ offload", "ours-offload")
    rivals = (Variant(arm_named(name), ours.name) for name in _RIVALS)
    return (Variant(ours), Variant(arm_named(AGAIN), ours.name, "chance"), *rivals)
