"""A lake of Parquet files: storage, layout, scan, partial tallies."""
