"""The documentation as a site: the pages of docs/, and those that are made of the tree."""
