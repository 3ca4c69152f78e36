"""Extensions of Sphinx for these pages."""
