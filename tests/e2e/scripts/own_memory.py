"""Asks for a JVM of its own size, as scripts do that cannot change how they are started."""

from pyspark import SparkConf, SparkContext

context = SparkContext(conf=SparkConf().set("spark.driver.memory", "600m").setAppName("own"))
print(context._jvm.java.lang.Runtime.getRuntime().maxMemory(), context.appName)
