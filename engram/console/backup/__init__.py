"""Back up and restore a whole installation: the database and the files of its home.

The application's role is subject to row-level security, as `pg_dump` would be: it refuses to read
such tables. So rows are read by COPY, workspace by workspace, in one snapshot, and the tables are
made by the migrations that the archive names. That needs no programs of PostgreSQL, works between
its versions, and runs no SQL that an archive brings along.
"""
