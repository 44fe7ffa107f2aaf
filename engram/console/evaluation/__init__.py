"""Evaluate the product on files, through its own services: `manage.py evaluate`.

One module per mode; `lines` reads files, `outcome` writes results, `baseline` compares runs.
"""
