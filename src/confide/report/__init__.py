"""From releases only: charts, tables, words, pages."""
