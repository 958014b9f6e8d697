"""The studio, a page of plain files."""
