"""Local files of Spark's driver without a process for each (docs/decisions/0056).

Hadoop sets the rights of each file that it makes. Where its native library is missing, as in pyspark, it starts `chmod`
for that: twice for each of the two files that a batch writes to a checkpoint. Java can set them itself.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from gluepot.core.logging import get_logger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAME = "gluepot.RawFiles"
# Spark brings the compiler, which it uses for its own code.
_SOURCE = """
package gluepot;

import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public class RawFiles extends RawLocalFileSystem {
    public void setPermission(Path path, FsPermission rights) throws IOException {
        Files.setAttribute(pathToFile(path).toPath(), "unix:mode", Integer.valueOf(rights.toShort()));
    }
}
"""
_HADOOP = "org.apache.hadoop.fs"

log = get_logger(__name__)


def set_rights_directly(spark: SparkSession) -> bool:
    """Let the driver's local file system set rights by itself; return whether it does so now.

    Only the innermost layer of Hadoop's own local file system is replaced, and not if a native library sets rights. A
    file system that a user has chosen stays as it is, and so do those of executors.

    Raises:
        Py4JError: this Spark has no such compiler, or this Hadoop has other layers.
    """
    jvm: Any = spark._jvm  # noqa: SLF001  the only way to Hadoop
    configuration = spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
    root = jvm.java.net.URI("file:///")
    layered = jvm.java.lang.Class.forName(f"{_HADOOP}.FilterFileSystem")
    inside = layered.getDeclaredField("fs")
    inside.setAccessible(True)
    layer, inner = None, jvm.org.apache.hadoop.fs.FileSystem.get(root, configuration)
    while layered.isInstance(inner):
        layer, inner = inner, inside.get(inner)
    name = inner.getClass().getName()
    if layer is None or name != f"{_HADOOP}.RawLocalFileSystem":
        return bool(name == _NAME)
    if jvm.org.apache.hadoop.io.nativeio.NativeIO.isAvailable():
        return False
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(configuration.getClassLoader())
    compiler.cook(_SOURCE)
    raw = compiler.getClassLoader().loadClass(_NAME).newInstance()
    raw.initialize(root, configuration)
    raw.setWorkingDirectory(inner.getWorkingDirectory())
    inside.set(layer, raw)
    return True


def begin(spark: SparkSession) -> None:
    """Do this in the background, on systems that have such rights. Without it batches take longer, and that is all."""
    if os.name != "posix":
        return

    def change() -> None:
        try:
            set_rights_directly(spark)
        except Exception as error:  # noqa: BLE001  whatever it is, Hadoop's own way works
            log.info("rights_set_by_processes", reason=str(error) or type(error).__name__)

    threading.Thread(target=change, name="gluepot-local-files", daemon=True).start()
