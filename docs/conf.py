"""Configuration of Sphinx. The build needs no network."""

import skuncertain

project = "skuncertain"
author = "skuncertain developers"
copyright = "2026, skuncertain developers"
version = release = skuncertain.__version__

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = False

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"skuncertain {version}"
html_theme_options = {"show_prev_next": False}
# The pages are few and stand in the header: an empty sidebar would only narrow the tables.
html_sidebars = {"**": []}
