"""`manage.py evaluate`: how good is the product, on files, through its own services.

One module a mode; `lines` reads, `outcome` writes, `baseline` compares, `scratch` leaves no trace.
"""
