"""The one Spark session of the tests: whoever is first to need it starts it, and the others use it."""

from pyspark.sql import SparkSession

from schemac.pipeline.session import start_session

SETTINGS = {
    # Most tests are over before more than Java's first compiler would pay.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
}


def session_of_tests() -> SparkSession:
    """Start it, or return it; it ends with the process."""
    return start_session(master="local[2,2]", settings=SETTINGS)
