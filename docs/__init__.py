"""The site of `make docs`: Markdown pages from what the code knows, and the settings of the site generator."""
