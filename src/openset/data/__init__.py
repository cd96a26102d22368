"""Data sources: embedded digits, data sets by hub name, local Parquet, image folders, CSV lists, feature vectors."""

from openset.data.catalog import CATALOG, Card
from openset.data.dataset import Dataset
from openset.data.opening import classes_here, open_dataset, parts_here, splits_of
from openset.data.place import data_root

__all__ = ["CATALOG", "Card", "Dataset", "classes_here", "data_root", "open_dataset", "parts_here", "splits_of"]
