from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("memories", "0027_prediction_errors")]

    operations = []
