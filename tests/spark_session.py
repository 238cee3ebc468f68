"""The one Spark session of the tests: whoever is first to need it starts it, and the others use it.

Shape: nearly every plan of a test is used once, and to compile Java for it takes several times as long as to interpret it, so
the session interprets. Tests with the fixture `generated_code` and those of odd sessions compile, and so do all where
`SPARK_CODE` is `generated`, as `make test-long` sets it.
"""

import os

from pyspark.sql import SparkSession

from schemac.pipeline.session import WITHOUT_CODE, start_session
from tests.java import JAVA_OF_SHORT_RUNS

IS_GENERATED = os.environ.get("SPARK_CODE") == "generated"
GENERATED_CODE = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
SETTINGS = {
    "spark.driver.extraJavaOptions": f"{JAVA_OF_SHORT_RUNS} -XX:+UseSerialGC -Xms512m -Xmn256m",
    "spark.sql.shuffle.partitions": "2",
    **(
        GENERATED_CODE
        if IS_GENERATED
        else {**WITHOUT_CODE, "spark.python.daemon.module": "tests.spark_daemon"}
    ),
}


def session_of_tests() -> SparkSession:
    """Start it, or return it; it ends with the process."""
    return start_session(master="local[2,2]", settings=SETTINGS)
