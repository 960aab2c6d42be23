"""Reports: one offline page, and every table as Markdown, LaTeX, CSV and Parquet."""
