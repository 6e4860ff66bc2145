"""Runs jobs for tests on JVMs that are used again, each job in a process forked from one that has loaded the product.

A job as a user starts it takes 5 seconds of processor time before its script begins; here it takes 1. What a job here
shares with those before it is a JVM without a SparkContext, whose system properties are as they were. So tests about
starts, signals, kills, standard error of Spark or the JVM's environment start real jobs (`tests.e2e.jobs`).
"""
