"""Names of countries and continents, which hold the towns that another statement may name."""

from __future__ import annotations

from typing import Final

_NAMES: Final = """
africa america antarctica asia australia europe oceania
england scotland wales britain holland uk usa us eu uae
afghanistan albania algeria andorra angola argentina armenia austria azerbaijan bahamas bahrain
bangladesh barbados belarus belgium belize benin bhutan bolivia botswana brazil brunei bulgaria
burundi cambodia cameroon canada chad chile china colombia comoros congo croatia cuba cyprus czechia
denmark djibouti dominica ecuador egypt eritrea estonia eswatini ethiopia fiji finland france gabon
gambia georgia germany ghana greece grenada guatemala guinea guyana haiti honduras hungary iceland
india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kiribati kosovo
kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania luxembourg
madagascar malawi malaysia maldives mali malta mauritania mauritius mexico micronesia moldova monaco
mongolia montenegro morocco mozambique myanmar namibia nauru nepal netherlands nicaragua niger
nigeria norway oman pakistan palau palestine panama paraguay peru philippines poland portugal qatar
romania russia rwanda samoa senegal serbia seychelles singapore slovakia slovenia somalia spain
sudan suriname sweden switzerland syria taiwan tajikistan tanzania thailand togo tonga tunisia
turkey türkiye turkmenistan tuvalu uganda ukraine uruguay uzbekistan vanuatu venezuela vietnam yemen
zambia zimbabwe
"""
_LONG: Final = (
    "united kingdom", "united states", "united arab emirates", "new zealand", "south africa",
    "south korea", "north korea", "saudi arabia", "sri lanka", "costa rica", "el salvador",
    "burkina faso", "sierra leone", "ivory coast", "czech republic", "north macedonia",
    "great britain", "northern ireland", "north america", "south america", "dominican republic",
    "papua new guinea", "san marino", "vatican city", "cape verde", "equatorial guinea",
    "bosnia and herzegovina",
)  # fmt: skip
COUNTRIES: Final = frozenset(_NAMES.split()).union(_LONG)
