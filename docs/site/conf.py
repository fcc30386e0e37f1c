"""Sphinx's configuration of the site; ``python -m benchmarks.site`` puts the sources beside it."""

project = "checkvalve"
author = "the checkvalve developers"
html_title = "checkvalve"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["site/*", "extra/*"]
myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline", "colon_fence"]
html_theme = "furo"
html_extra_path = ["extra"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
highlight_language = "none"
# Lexers are strict about what is shortened with "…"; that is no mistake of a page.
suppress_warnings = ["misc.highlighting_failure"]
