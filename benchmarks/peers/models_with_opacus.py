"""An Opacus loop as its examples write it: accuracy of a logistic model, or seconds an epoch."""

import json
import sys
import time
import warnings

import numpy as np
import torch
from opacus import PrivacyEngine

warnings.simplefilter("ignore")
torch.set_num_threads(1)
EPSILON, DELTA, EPOCHS, BATCH, RATE, CLIP = 1.0, 1e-5, 10, 256, 0.1, 1.0


def loader(terms, outcome, *, batch):
    rows = torch.utils.data.TensorDataset(
        torch.tensor(terms, dtype=torch.float32), torch.tensor(outcome, dtype=torch.float32)
    )
    return torch.utils.data.DataLoader(rows, batch_size=batch)


def epoch(model, optimizer, batches):
    loss = torch.nn.BCEWithLogitsLoss()
    for x, y in batches:
        optimizer.zero_grad()
        loss(model(x).squeeze(1), y).backward()
        optimizer.step()


def fit(terms, outcome):
    model = torch.nn.Linear(terms.shape[1], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    model, optimizer, batches = PrivacyEngine().make_private_with_epsilon(
        module=model,
        optimizer=optimizer,
        data_loader=loader(terms, outcome, batch=BATCH),
        target_epsilon=EPSILON,
        target_delta=DELTA,
        epochs=EPOCHS,
        max_grad_norm=CLIP,
    )
    for _ in range(EPOCHS):
        epoch(model, optimizer, batches)
    weight, bias = (p.detach().numpy().ravel() for p in model.parameters())
    return np.concatenate([bias, weight])


def seconds(terms, outcome, *, batch):
    """Return the least of two epochs."""
    model = torch.nn.Linear(terms.shape[1], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    model, optimizer, batches = PrivacyEngine().make_private(
        module=model,
        optimizer=optimizer,
        data_loader=loader(terms, outcome, batch=batch),
        noise_multiplier=1.0,
        max_grad_norm=CLIP,
    )
    taken = []
    for _ in range(2):
        start = time.process_time()
        epoch(model, optimizer, batches)
        taken.append(time.process_time() - start)
    return min(taken)


if sys.argv[1] == "--speed":
    given = np.load(sys.argv[2])
    found = {
        batch: seconds(given["terms"], given["outcome"], batch=batch)
        for batch in (4096, len(given["outcome"]))
    }
    print(json.dumps(found))
else:
    given = np.load(sys.argv[1])
    fits = [
        [fit(given["terms"][chosen], given["outcome"][chosen]) for _ in range(int(given["draws"]))]
        for chosen in given["fit"]
    ]
    np.save(sys.argv[2], np.array(fits))
