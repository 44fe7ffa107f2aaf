from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("memories", "0025_answers_by_memory")]

    operations = []
