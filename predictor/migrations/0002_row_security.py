"""Confine what is learned to its workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("predictor", "0001_initial")]
    operations = [
        force_row_security(table)
        for table in (
            "predictor_judgement",
            "predictor_label",
            "predictor_comparison",
            "predictor_predictorstate",
            "predictor_modelversion",
            "predictor_training",
            "predictor_canarysession",
            "predictor_calibrationsample",
            "predictor_calibrationitem",
        )
    ]
