"""Views of a result document: terminal, tables for papers, plots, the HTML page. Nothing is computed here."""
