"""Configuration of Sphinx. The build needs no network, and neither do the pages."""

import os
import sys
from pathlib import Path

# Examples that fit many small models are faster on one thread each.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib

import skuncertain

sys.path.insert(0, str(Path(__file__).parent))  # for _ext
matplotlib.use("Agg")

project = "skuncertain"
author = "skuncertain developers"
copyright = "2026, skuncertain developers"
version = release = skuncertain.__version__

extensions = [
    "_ext.mathml",
    "_ext.short_names",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "README.md", "auto_examples/*.md5"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_math_renderer = "mathml"

# A reference that leads nowhere is an error. Other projects' pages cannot be looked up offline.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(sklearn|numpy|np|scipy|joblib|pandas|matplotlib|distributed)(\..*)?"),
]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "matplotlib_animations": False,
    "min_reported_time": 0,
    "plot_gallery": "True",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "doc_module": ("skuncertain",),
    "capture_repr": ("_repr_html_",),
    "backreferences_dir": "generated/backreferences",
    "thumbnail_size": (400, 280),
}

html_theme = "pydata_sphinx_theme"
html_title = "skuncertain"
html_show_sourcelink = False
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 1,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages that stand alone need no list of neighbours.
html_sidebars = {"index": [], "metrics": [], "changes": []}
