from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("console", "0001_squashed_0004_telling_holder")]
    operations = [migrations.DeleteModel("Telling")]
