"""Custom visual transforms: a JSON descriptor and a Python file that gives DynamicFrame a method (docs/glue 13.4).

Glue Studio keeps both in `s3://aws-glue-assets-.../transforms/`, lists the Python files in `--extra-py-files` and lets
the script import them. Here the descriptor beside such a file is read, too, and the arguments of each call are held
against it, as Studio's forms do.
"""

from gluepot.job.custom_transforms.attach import attached
from gluepot.job.custom_transforms.descriptor import Descriptor, Parameter, parse_descriptor
from gluepot.job.custom_transforms.files import CustomTransform, fetched, in_folder

__all__ = ["CustomTransform", "Descriptor", "Parameter", "attached", "fetched", "in_folder", "parse_descriptor"]
