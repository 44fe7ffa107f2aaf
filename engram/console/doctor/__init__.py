"""`manage.py doctor`: checks of the installation, one module a group; `examine` runs them."""
