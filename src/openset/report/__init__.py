"""One self-contained HTML page that explains a result: it opens from disk, needs no network, and escapes every name."""

from openset.report.bench import bench_page as bench_page
from openset.report.detection import detection_page as detection_page
from openset.report.evaluation import Model as Model
from openset.report.evaluation import best_of as best_of
from openset.report.evaluation import evaluation_page as evaluation_page
from openset.report.gallery import FalseDetection as FalseDetection
from openset.report.page import write_page as write_page
from openset.report.paired import Paired as Paired
from openset.report.paired import against_best as against_best
from openset.report.training import training_section as training_section
