"""`--additional-python-modules`: installs a job's modules once, and puts them on the path of its processes."""
