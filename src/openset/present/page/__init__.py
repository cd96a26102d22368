"""One self-contained HTML page that explains a result: it opens from disk, needs no network, and escapes every name."""

from openset.present.page.bench import bench_page as bench_page
from openset.present.page.detection import detection_page as detection_page
from openset.present.page.evaluation import evaluation_page as evaluation_page
from openset.present.page.gallery import FalseDetection as FalseDetection
from openset.present.page.page import write_page as write_page
from openset.present.page.training import training_section as training_section
