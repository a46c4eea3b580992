"""The networks of deep generators: small, smooth, of fixed form; first weights from public coins.

::

    encoder        row of indicators → tanh layer → mean and log variance of latent numbers
    decoder        latent numbers → tanh layer → a logit a level: what generates, of either kind
    discriminator  row of indicators → tanh layer → one logit: of the data, or made up

The loss of a row under a VAE is −Σ ln p(level | z) + KL, at one z = m + e^{s/2}·c with coins c of
its own [KW14].  A made-up row of a GAN is a relaxed draw of its levels [JGP17]; gradients pass it.

*Privacy:* no operation here has two rows to mix; what rows pass is a :class:`RowProgram`.

References:
    [KW14] Kingma, Welling. Auto-encoding variational Bayes. ICLR 2014.
        https://arxiv.org/abs/1312.6114
    [JGP17] Jang, Gu, Poole. Categorical reparameterization with Gumbel-softmax. ICLR 2017.
        https://arxiv.org/abs/1611.01144
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.arrays import Floats
from confide.jobs.learning.row_program import RowProgram, row_program

if TYPE_CHECKING:
    Coins = np.random.Generator  # noqa: TID251

TEMPERATURE = 0.5
"""Of relaxed draws."""

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkForm:
    """Public sizes of the networks.

    Attributes:
        sizes: Number of levels of each column.
        hidden: Units of the hidden layer.
        latent: Numbers from which a row is made.
    """

    sizes: tuple[int, ...]
    hidden: int
    latent: int

    @property
    def width(self) -> int:
        """Levels of all columns."""
        return sum(self.sizes)

    @property
    def decoder(self) -> Shapes:
        """Shapes of the weights that generate."""
        return _two_layers("decoder", inputs=self.latent, hidden=self.hidden, outputs=self.width)

    @property
    def autoencoder(self) -> Shapes:
        """Shapes of the weights of a VAE."""
        encoder = _two_layers(
            "encoder", inputs=self.width, hidden=self.hidden, outputs=2 * self.latent
        )
        return {**encoder, **self.decoder}

    @property
    def discriminator(self) -> Shapes:
        """Shapes of the weights that tell made-up rows from those of the data."""
        return _two_layers("discriminator", inputs=self.width, hidden=self.hidden, outputs=1)


def _two_layers(name: str, *, inputs: int, hidden: int, outputs: int) -> Shapes:
    return {
        f"{name}.first.weight": (hidden, inputs),
        f"{name}.first.bias": (hidden,),
        f"{name}.last.weight": (outputs, hidden),
        f"{name}.last.bias": (outputs,),
    }


def starting_weights(shapes: Shapes, *, coins: "Coins") -> Floats:
    """Return weights to start from, one after another: even in ±1/√inputs; biases 0."""
    parts = [
        coins.uniform(-1, 1, shape) / np.sqrt(shape[1]) if len(shape) == 2 else np.zeros(shape)
        for shape in shapes.values()
    ]
    return np.concatenate([part.ravel() for part in parts])


def size_of(shapes: Shapes) -> int:
    """Return the number of weights."""
    return sum(int(np.prod(shape)) for shape in shapes.values())


def views(flat: Any, shapes: Shapes) -> dict[str, Any]:
    """Return the weights by name, as parts of one tensor or array; they change with it."""
    found, first = {}, 0
    for name, shape in shapes.items():
        many = int(np.prod(shape))
        found[name] = flat[first : first + many].reshape(shape)
        first += many
    return found


def one_hot(levels: Any, *, sizes: Sequence[int]) -> Floats:
    """Return indicators of the levels of rows; shape (rows, width)."""
    return np.hstack([np.eye(size)[levels[:, v]] for v, size in enumerate(sizes)])


def vae_program(form: NetworkForm) -> RowProgram:
    """Return the gradient of a row's loss under a VAE.

    A row is its indicators, then its latent coins.
    """
    return row_program(
        _module(form.autoencoder, lambda held, rows: vae_loss(form, held, rows)),
        features=form.width + form.latent,
        outputs=1,
        loss=lambda losses, _: losses.sum(),
    )


def gan_program(form: NetworkForm) -> RowProgram:
    """Return the gradient of a row's loss under a discriminator; class 1 is of the data."""
    return row_program(
        _module(form.discriminator, discriminated),
        features=form.width,
        outputs=1,
    )


def _module(shapes: Shapes, forward: Any) -> Any:
    """Return a module that computes with weights of these shapes, in their order."""
    import torch

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, shape in shapes.items():
                parameter = torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64))
                self.register_parameter(name.replace(".", "_"), parameter)

        def forward(self, rows: Any) -> Any:
            held = {name: getattr(self, name.replace(".", "_")) for name in shapes}
            return forward(held, rows)

    return Network()


def layers(held: Mapping[str, Any], name: str, rows: Any) -> Any:
    """Return what two layers with a tanh between them make of rows."""
    import torch

    inside = rows @ held[f"{name}.first.weight"].T + held[f"{name}.first.bias"]
    return torch.tanh(inside) @ held[f"{name}.last.weight"].T + held[f"{name}.last.bias"]


def discriminated(held: Mapping[str, Any], rows: Any) -> Any:
    """Return logits of rows; shape (rows, 1)."""
    return layers(held, "discriminator", rows)


def vae_loss(form: NetworkForm, held: Mapping[str, Any], rows: Any, *, weight: float = 1.0) -> Any:
    """Return each row's loss, with a weight of its distance from the prior; shape (rows, 1)."""
    import torch

    given, coins = rows[:, : form.width], rows[:, form.width :]
    told = layers(held, "encoder", given)
    mean, log_variance = told[:, : form.latent], told[:, form.latent :]
    made = layers(held, "decoder", mean + torch.exp(log_variance / 2) * coins)
    away = (mean * mean + torch.exp(log_variance) - 1 - log_variance) / 2
    loss, first = weight * away.sum(1, keepdim=True), 0
    for size in form.sizes:
        part = slice(first, first + size)
        chances = torch.nn.functional.log_softmax(made[:, part], dim=1)
        loss = loss - (chances * given[:, part]).sum(1, keepdim=True)
        first += size
    return loss


def relaxed_rows(form: NetworkForm, held: Mapping[str, Any], *, rows: int, coins: "Coins") -> Any:
    """Return made-up rows of a generator, in parts of 1 a column; shape (rows, width)."""
    import torch

    latent = torch.from_numpy(coins.standard_normal((rows, form.latent)))
    gumbel = torch.from_numpy(coins.gumbel(size=(rows, form.width)))
    made = (layers(held, "decoder", latent) + gumbel) / TEMPERATURE
    parts = torch.split(made, list(form.sizes), dim=1)
    return torch.cat([torch.softmax(part, dim=1) for part in parts], dim=1)
