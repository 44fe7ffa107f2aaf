"""List the words by which plain facts that last are told from states of the moment.

Verbs of habit, conditions, relatives, what people own: what is said with them is seldom true for a
day only. No word is here because of one text.
"""

from __future__ import annotations

from typing import Final

from memories.core.frames import PEOPLE
from memories.core.function_words import PRONOUNS, words_of

# A statement with one of them is about this moment, this conversation or one case.
OF_THE_MOMENT: Final = words_of(
    "now today tonight tomorrow yesterday currently meanwhile soon later yet moment already this"
    " these here again error errors exception fails failed stuck if unless would wish lately"
    " you your yours"
)
# What is liked, used or done is named: not "it", "your draft", "the second one", "when that …".
POINTING: Final = (
    PRONOUNS | words_of("this that these those your his her its how when where what which why")
) - words_of("nobody nothing everybody everything")
CHOICES: Final = words_of(
    "one option version variant idea suggestion answer approach draft first second third former"
    " latter"
)
ADVERBS: Final = words_of(
    "always never usually generally normally mostly mainly only really also both all still often"
    " rarely seldom don't not do cannot can't just absolutely"
)
HABITS: Final = words_of(  # of one person, with or without an object
    "live reside work teach study speak prefer love like enjoy hate dislike avoid eat drink smoke"
    " drive ride own play collect sing dance paint knit sew garden cook bake brew grow wear"
    " commute volunteer coach practise practice swim cycle climb hike run use write read rent"
    " train code program"
)
TEAM_DOES: Final = words_of(
    "use run deploy host ship release write test store log bill invoice sell open close meet work"
    " live keep publish support speak serve roast bake teach archive rotate track review"
    " have employ accept"
)
DONE: Final = words_of(  # of somebody else, who is named or related
    "lives works teaches studies speaks prefers loves likes hates dislikes eats drinks drives owns"
    " plays collects sings goes runs leads manages handles approves maintains signs covers uses"
    " does starts attends decides reviews coordinates supervises"
)
RELATED: Final = PEOPLE | words_of(
    "children kid kids child spouse fiance fiancé fiancee fiancée girlfriend boyfriend parents"
    " siblings brother brothers sisters grandson granddaughter grandchild grandchildren stepson"
    " stepdaughter twins family mum mom dad roommate flatmate housemate dog dogs cat cats puppy"
    " kitten horse rabbit hamster parrot tortoise youngest eldest oldest"
) - words_of("desk support legal quality security patient finance")
OWN: Final = words_of(  # what of "my …" lasts
    "name surname nickname pronouns birthday age address postcode hometown nationality language"
    " tongue religion height weight timezone zone email phone number hobby hobbies job profession"
    " occupation employer company degree diet allergy allergies favourite favorite favourites"
    " preferred preference garden house flat apartment balcony car bike oven stove kitchen laptop"
    " size team instrument team"
)
OWN_CHOICE: Final = words_of("favourite favorite favourites favorites preferred name")
HAD: Final = RELATED | words_of(
    "allergy allergies asthma diabetes adhd dyslexia migraines epilepsy coeliac celiac eczema"
    " arthritis tinnitus garden allotment balcony greenhouse house flat apartment car bike van boat"
    " piano guitar violin cello oven stove freezer degree phd licence license subscription mac"
    " laptop thinkpad macbook iphone android"
)
CONDITIONS: Final = words_of(
    "allergic intolerant vegetarian vegan pescatarian coeliac celiac diabetic asthmatic"
    " colour-blind color-blind colourblind colorblind left-handed right-handed deaf dyslexic blind"
    " married divorced widowed retired self-employed freelance bilingual lactose-intolerant"
    " gluten-intolerant teetotal"
)
BEHIND_BE: Final = words_of("called named based born")
MADE: Final = BEHIND_BE | words_of("written hosted built made stored kept")
UNLIKE_KINDS: Final = words_of(  # "I'm a bit lost"
    "bit little tad lot touch mess wreck huge big fool idiot few while minute"
)
PLACING: Final = words_of("in on at with to for")  # "we run the tests in CI"
