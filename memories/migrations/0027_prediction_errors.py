from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("memories", "0026_notes")]

    operations = []
