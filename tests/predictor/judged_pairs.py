"""Ends of conversations with memories, each with how relevant a person found it (0..1).

Written by hand for the offline judge. `TUNING` chose its constants, `HELD_OUT` is what it is
measured on. 1: the conversation turned on it; 0.5: related, of some use; 0: of no use.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Judged:
    """The end of a conversation, and memories with their relevance."""

    name: str
    transcript: str
    memories: tuple[tuple[str, float], ...]


TUNING = (
    Judged(
        "rollout",
        """user: The rollout of the checkout service got stuck again at 40 percent, can you look?
assistant: The new pods never become ready. The readiness probe asks /ready on port 8080 and the
container listens on 9090 since the change of last week.
user: Right, we moved it because the metrics sidecar takes 8080.
assistant: Then the probe has to follow. I will set it to 9090 in the chart, raise the initial delay
to 20 seconds because the cache warms up first, and start the canary once more.
user: Do it outside of the freeze please, not before Monday morning.
assistant: Agreed. The chart is changed, the pull request is open, the rollout is planned for Monday
at nine. If the canary shows more than one percent of errors it rolls back on its own.""",
        (
            ("The checkout service listens on port 9090; port 8080 belongs to the sidecar.", 1.0),
            ("Readiness probes of the checkout pods need 20 seconds until the cache is warm.", 0.9),
            ("A canary is rolled back automatically above an error rate of one percent.", 0.8),
            ("Nothing is deployed during the freeze from Friday noon to Monday morning.", 0.8),
            ("Helm charts live in the repository platform/charts.", 0.5),
            ("The checkout service is written in Kotlin and owned by team Lynx.", 0.3),
            ("Invoices are sent on the first working day of the month.", 0.0),
            ("Marta prefers her coffee without sugar.", 0.0),
            ("Nightly backups of the billing database are kept for thirty days.", 0.0),
            ("The office in Lisbon closes at six in the evening.", 0.0),
        ),
    ),
    Judged(
        "allergy dinner",
        """user: I need a menu for Saturday, eight people, and Jonas comes with his new girlfriend.
assistant: Any restrictions I should keep in mind?
user: Jonas cannot have hazelnuts, he ended up in hospital once. And nobody eats lamb.
assistant: Then no praline for dessert. I suggest a roasted pumpkin soup, sea bass from the oven
with fennel, and a lemon tart; all of it can be prepared before they come.
user: Sounds good, but our oven does not get hotter than 200 degrees.
assistant: The bass needs 25 minutes at 200, that is fine, and the tart bakes at 170. I leave the
nuts out of the soup's topping and use pumpkin seeds instead. Shall I write the shopping list?
user: Yes, and put a dry white wine on it, two bottles.""",
        (
            ("Jonas is severely allergic to hazelnuts.", 1.0),
            ("The oven at home reaches 200 degrees at most.", 0.9),
            ("The family does not like lamb.", 0.7),
            ("With fish we drink dry white wine, usually two bottles for eight people.", 0.7),
            ("The shop on the corner sells fresh fish on Fridays and Saturdays.", 0.5),
            ("Anna bakes a lemon cake for every birthday.", 0.3),
            ("The dishwasher was repaired in March.", 0.1),
            ("Jonas works as a surveyor in Graz.", 0.2),
            ("The insurance policy of the car runs out in October.", 0.0),
            ("Python 3.11 is the oldest version that we support.", 0.0),
        ),
    ),
    Judged(
        "slow query",
        """user: The orders page takes eleven seconds since yesterday, what happened?
assistant: The plan changed: PostgreSQL scans the whole order_items table because the statistics are
old. Autovacuum did not come round, its cost limit is far too low for a table of 90 million rows.
user: Did we not switch autovacuum off on the replica?
assistant: That setting has no effect there, a replica receives what the primary does. I ran ANALYZE
on order_items by hand, the page is back at 300 milliseconds. For good I would set
autovacuum_analyze_scale_factor to 0.01 for this table only.
user: Do that, but through a migration, nobody changes the production database by hand any more.
assistant: Understood, the migration is written and asks for no lock. I also added an index on
customer_id and created_at, built concurrently, because the page sorts by these two.""",
        (
            ("The table order_items has about 90 million rows and grows by a million a week.", 0.8),
            ("Production databases are changed by migrations only, never by hand.", 1.0),
            ("Indexes on large tables have to be built concurrently.", 0.9),
            ("Autovacuum's cost limit was lowered in spring to spare the disks.", 0.9),
            ("The orders page must answer within one second.", 0.7),
            ("The primary runs PostgreSQL 16 with one replica in Frankfurt.", 0.5),
            ("Customers may return orders within fourteen days.", 0.1),
            ("The search index is rebuilt by Elasticsearch every night.", 0.2),
            ("The vacuum cleaner in the server room needs new bags.", 0.0),
            ("The team meets on Tuesdays at ten.", 0.0),
        ),
    ),
    Judged(
        "trip",
        """user: Can we still change the train to Vienna? The meeting starts at eight now.
assistant: The ticket you hold is a saver fare, bound to the train at 9:12; it cannot be exchanged,
but it can be cancelled for a fee of 17 euros until tonight.
user: Then take the night train, I sleep well on trains, but only in the single compartment.
assistant: A single compartment is left on the 22:40 from Zurich, arrival 6:50 at the main station.
From there it is ten minutes to the hotel, you could shower before the meeting.
user: Book it with the company card, travel above 200 has to be approved by Beate, though.
assistant: It costs 189 with your half-fare card, so no approval is needed. I cancelled the saver
ticket, the refund goes to the company card, and I told the hotel that you come early.""",
        (
            ("Travel that costs more than 200 needs Beate's approval.", 1.0),
            ("On night trains only a single compartment is acceptable.", 1.0),
            ("There is a half-fare card for Swiss trains, valid until next June.", 0.8),
            ("Saver tickets cannot be exchanged, only cancelled for a fee.", 0.8),
            ("The hotel in Vienna is the one beside the main station.", 0.7),
            ("Flights within Europe are to be avoided where there is a train.", 0.5),
            ("The customer in Vienna pays within sixty days.", 0.2),
            ("The sales deck uses the blue template.", 0.0),
            ("Beate's daughter plays the cello.", 0.1),
            ("Log files are rotated after two weeks.", 0.0),
        ),
    ),
    Judged(
        "contract",
        """user: Please check the supplier contract of Nordwind before I sign it.
assistant: Three points. The liability is not capped, our rule is the yearly fee. The notice period
is twelve months, we never accept more than three. And it names their home court in Oslo.
user: The court is all right for me, the other two are not.
assistant: I drafted a counter-proposal: liability limited to the fees of twelve months except for
intent, notice three months to the end of a quarter. The data processing annex is missing as well,
without it the security team will not release the supplier.
user: Send it to their counsel, Ms Dahl, and put our legal in copy.
assistant: Sent. She answers usually within two days; I will remind you on Thursday.""",
        (
            ("Liability in supplier contracts is capped at the fee of one year.", 1.0),
            ("We do not accept notice periods above three months.", 1.0),
            ("No supplier is released without a data processing annex.", 0.9),
            ("Counsel of Nordwind is Ms Dahl.", 0.8),
            ("Nordwind delivers the temperature sensors for the cold stores.", 0.4),
            ("The legal team wants to be copied on everything that goes to suppliers.", 0.8),
            ("Contracts with customers are governed by Austrian law.", 0.3),
            ("The cold store in Linz has four chambers.", 0.1),
            ("Unit tests run in four minutes.", 0.0),
            ("The canteen serves fish on Fridays.", 0.0),
        ),
    ),
    Judged(
        "flaky test",
        """user: test_invoice_totals failed again on main but passes when I run it.
assistant: It depends on the time zone. The fixture makes a date with datetime.now() and the runner
is on UTC while your laptop is on Berlin time, so between midnight and two the day differs.
user: We agreed to freeze the clock in tests, did we not?
assistant: Yes, with the fixed NOW constant of conftest; this test was written before. I replaced
datetime.now() by NOW and ran it two hundred times with random time zones, no failure.
user: Are there others like that?
assistant: A search finds six more calls of datetime.now() in tests/billing. I changed them all and
added a lint rule that forbids it, so nobody brings it back. The pull request is 4711.""",
        (
            ("Tests never read the clock: they use NOW from conftest.", 1.0),
            ("CI runners are set to UTC.", 0.9),
            ("test_invoice_totals is flaky; it was quarantined in April.", 0.9),
            ("Lint rules are kept in pyproject.toml under ruff.", 0.5),
            ("Everything on main must be green before a release is cut.", 0.4),
            ("Invoice totals are rounded half up to two digits.", 0.3),
            ("The customer portal is translated into five languages.", 0.0),
            ("Summer time ends on the last Sunday of October.", 0.3),
            ("Parking is free behind building C.", 0.0),
            ("The designer of the logo lives in Porto.", 0.0),
        ),
    ),
)

HELD_OUT = (
    Judged(
        "physio",
        """user: My knee hurts again after yesterday's run, should I stop training?
assistant: How far did you go, and was it the inner side as in spring?
user: Twelve kilometres, and yes, the inner side again, right below the kneecap.
assistant: In spring the physiotherapist told you to stay under eight kilometres until the strength
exercises are done for six weeks. You are in week four. I would pause running for five days, cycle
instead, and keep doing the step-downs every second day.
user: The half marathon is in nine weeks, is that still possible?
assistant: It is, if you build up by ten percent a week from eight kilometres. I rewrote the plan:
five days of cycling, then three short runs a week on soft ground. I would leave ibuprofen out, your
stomach did not take it well last time.""",
        (
            ("The physiotherapist allows runs of at most eight kilometres for now.", 1.0),
            ("The left knee has been a problem since spring, on its inner side.", 0.9),
            ("The goal is the half marathon in Salzburg on the second of October.", 0.9),
            ("Ibuprofen upsets the stomach; paracetamol is fine.", 0.8),
            ("Strength exercises for the legs are due every second day.", 0.9),
            ("The bicycle was serviced in May.", 0.3),
            ("Running shoes are replaced after 700 kilometres.", 0.4),
            ("Dentist appointments are made with Dr. Aigner.", 0.0),
            ("The tax return is filed by the accountant in June.", 0.0),
            ("The feature flag new_cart is on for staff only.", 0.0),
        ),
    ),
    Judged(
        "access review",
        """user: The auditor asks who can read the customer exports, what do I answer?
assistant: The bucket cust-exports is readable by the role analytics-reader and by two break-glass
accounts. Analytics-reader has fourteen members, three of whom left the company.
user: Left? They should be gone within a day.
assistant: The offboarding job removes them from the directory, but the group is managed by hand in
the cloud console. I removed the three now. For the auditor I attached the access log of the last 90
days; none of them had read anything after leaving.
user: Good. Make the group follow the directory, please.
assistant: It is synchronised every hour from now on. I also set the exports to expire after 30
days, as the data policy says, they had been lying there since January.""",
        (
            ("Exports of customer data may be kept for 30 days.", 1.0),
            ("Whoever leaves loses all access within one day.", 1.0),
            ("The role analytics-reader may read the bucket cust-exports.", 1.0),
            ("Break-glass accounts are sealed and checked every quarter.", 0.6),
            ("The external audit takes place in the second week of November.", 0.7),
            ("Access logs are stored for a year.", 0.7),
            ("Passwords must have fourteen characters.", 0.3),
            ("The analytics team builds the weekly revenue dashboard.", 0.3),
            ("The ski trip is paid by the company.", 0.0),
            ("Images are compressed to webp at build time.", 0.0),
        ),
    ),
    Judged(
        "translation",
        """user: Can you translate the product page into German? The last one sounded stiff.
assistant: Gladly. Shall I use the informal or the formal address?
user: Informal, always, we changed that this year. And never translate the product names.
assistant: Then "Cloudnest" and "Driftboard" stay as they are. I kept sentences short, used "du",
and wrote prices with a comma. "Free trial" became "kostenlos testen", as on the home page.
user: The term for workspace?
assistant: Your glossary says "Arbeitsbereich", so I used that and not "Workspace". Two phrases were
puns that do not work in German, I marked them for the copywriter.
user: Lena is on leave, send them to Tobias.
assistant: Done, with the deadline of Wednesday noon.""",
        (
            ("German texts address the reader informally, with du.", 1.0),
            ("Names of products are never translated.", 1.0),
            ("The glossary translates workspace as Arbeitsbereich.", 1.0),
            ("Lena writes the German copy; Tobias stands in for her.", 0.8),
            ("Prices in German pages use a decimal comma.", 0.8),
            ("The French pages are translated by an agency in Lyon.", 0.3),
            ("Cloudnest has a free trial of fourteen days.", 0.5),
            ("The blog is published on Thursdays.", 0.1),
            ("Sensors of type B report in Fahrenheit.", 0.0),
            ("The lift in the warehouse carries 800 kilograms.", 0.0),
        ),
    ),
    Judged(
        "model training",
        """user: The churn model got worse after the retraining, AUC fell from 0.84 to 0.77.
assistant: The new data contain the cancellation date as a feature by accident, but only for the
training part, so the model leaned on it and found nothing in the holdout.
user: Leakage again. How did that pass our checks?
assistant: The check compares column names with a block list, and the column was renamed from
cancelled_at to end_ts in the warehouse last month. I removed it, retrained with the same seed, and
the AUC on the holdout is 0.85.
user: Promote it then, but keep the old version for a week.
assistant: Version 12 serves, version 11 stays in the registry until next Monday. I extended the
check: any feature whose correlation with the label is above 0.95 stops the pipeline.""",
        (
            ("Features that are known only after the event must not reach the churn model.", 1.0),
            ("The warehouse renamed cancelled_at to end_ts in the customer tables.", 1.0),
            ("A replaced model version is kept in the registry for one week.", 0.9),
            ("The churn model is accepted with an AUC of 0.80 or more on the holdout.", 0.9),
            ("Trainings use the seed 1234 so that they can be repeated.", 0.6),
            ("Churn scores are sent to the sales team on Mondays.", 0.4),
            ("GPU machines are shut down at night.", 0.2),
            ("Salespeople get a bonus per closed deal.", 0.1),
            ("The garden hose is in the shed.", 0.0),
            ("Visitors sign in at the front desk.", 0.0),
        ),
    ),
    Judged(
        "onboarding",
        """user: Priya starts on the first of September, what do we still have to prepare?
assistant: The laptop is ordered but takes three weeks, so it comes too late; a loan device is in
the cupboard of IT. Her accounts are requested for the 31st. A buddy is not named yet.
user: Take Samuel as the buddy, he did well with the last two.
assistant: Noted and written to him. For the first day: badge at the reception, nine o'clock welcome
with Ines, lunch with the team. The safety briefing has to happen within the first week.
user: She wanted a standing desk.
assistant: Facilities need ten days for that, I ordered it today. And since she works from Leipzig
two days a week, I asked for the headset and the second screen to be sent to her home.""",
        (
            ("New laptops take three weeks to arrive.", 1.0),
            ("Every newcomer has a buddy; Samuel likes to do it.", 0.9),
            ("The safety briefing is mandatory in the first week.", 0.9),
            ("Priya works from Leipzig on two days of the week.", 0.9),
            ("Facilities order standing desks, which takes ten days.", 0.9),
            ("IT keeps loan devices in the cupboard on the second floor.", 0.8),
            ("Probation lasts six months.", 0.4),
            ("Ines leads the data team.", 0.4),
            ("The message broker is limited to one gigabyte of memory.", 0.0),
            ("Tomatoes are watered in the morning.", 0.0),
        ),
    ),
    Judged(
        "greenhouse",
        """user: The greenhouse was at 38 degrees at noon, the roof windows did not open.
assistant: The controller opens them at 28 degrees, but the wind sensor reported gusts of 70 and it
closes everything above 60. The weather station nearby had 15, so the sensor is wrong.
user: That sensor was replaced in May, can it be the cable?
assistant: Possibly, it reads exactly 70 all the time, which is the end of its range and what it
shows when the line is broken. Until someone looks I set the controller to ignore the wind up to a
forecast of 40, and to send a message above 32 degrees.
user: Good. The cucumbers do not survive another day like that.
assistant: I also switched on the shading from eleven to four and one more
watering at two o'clock.""",
        (
            ("Roof windows of the greenhouse open at 28 degrees and close above 60 of wind.", 1.0),
            ("A broken line makes the wind sensor show 70, the end of its range.", 1.0),
            ("The wind sensor was replaced in May.", 0.8),
            ("Cucumbers suffer above 35 degrees.", 0.8),
            ("The shading can be moved by the controller or by hand.", 0.7),
            ("Watering is at six in the morning and at eight in the evening.", 0.6),
            ("Tomatoes and cucumbers stand in separate rows.", 0.3),
            ("Electricity is cheaper at night.", 0.1),
            ("The quarterly report is due on the tenth.", 0.0),
            ("Refunds are granted by the second line of support.", 0.0),
        ),
    ),
)

# Long enough, and about nothing: no memory can be told from another by it.
GENERIC = """user: hi, are you there?
assistant: Yes, I am here. What can I do for you?
user: I wanted to ask something but I forgot what it was, give me a moment.
assistant: Of course, take your time, there is no hurry at all.
user: Hm, no, it does not come back. Maybe later.
assistant: No problem. Let me know when you remember it and I will do my best to help with it.
user: Thanks, you are nice. Was it something from yesterday? I do not know.
assistant: I could not tell you, but we can go through it together whenever you like.
user: Okay, later then. Thank you, bye.
assistant: You are welcome, bye, have a good day!"""
