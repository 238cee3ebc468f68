"""Python functions that compute the values of a column: an Arrow batch of rows in, an Arrow array of as many values out.

Layer: pipeline.
Shape: `features.py:language` is a function of a file, which is read on the driver and travels to the executors as text;
       `package.module:language` one of a module that the executors have themselves.
Errors: SC668 python-function, with the field.
"""

import hashlib
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.functions import arrow_udf, struct

from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.spark.sql import name
from schemac.rows.runs.plain_types import plain_type
from schemac.text.source.catalogue import PYTHON_FUNCTION
from schemac.text.source.phrases import counted

SUFFIX = ".py"
Function = Callable[[pa.RecordBatch], Any]


def digest_of_function(text: str) -> str:
    """Return the digest of a function's file; imported modules are not included."""
    module, _, name = text.rpartition(":")
    file: str | None = module
    if not module.endswith(SUFFIX):
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            spec = None
        file = None if spec is None else spec.origin
    content = Path(file).read_bytes() if file and os.path.isfile(file) else module.encode()
    return hashlib.sha256(content + b":" + name.encode()).hexdigest()


@dataclass(frozen=True)
class PythonFunction:
    """A Python function that computes a field; it travels to the tasks."""

    label: str
    module: str
    """Name of a module, or path of a file."""
    name: str
    code: str | None
    """Text of the file; None for a module."""

    @classmethod
    def of(cls, label: str, text: str) -> "PythonFunction":
        """Find the function, on the driver. Raises PipelineError if it is not there."""
        module, _, attribute = text.rpartition(":")
        code = None
        if module.endswith(SUFFIX):
            try:
                code = Path(module).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or error
                raise _function_error(label, f"`{module}` cannot be read: {reason}") from error
        python_function = cls(label, module, attribute, code)
        python_function.load()
        return python_function

    @property
    def qualified_name(self) -> str:
        """The name of the file, without folders, or of the module, and that of the function."""
        return f"{Path(self.module).name if self.code is not None else self.module}:{self.name}"

    def load(self) -> Function:
        """Return the function itself."""
        try:
            module = import_module(self.module) if self.code is None else _executed(self.module, self.code)
        except Exception as error:
            message = f"`{self.qualified_name}` cannot be loaded: {_error_text(error)}"
            raise _function_error(self.label, message) from error
        function: Function | None = getattr(module, self.name, None)
        if not callable(function):
            known = [name for name, value in vars(module).items() if callable(value) and name[0] != "_"]
            message = f"`{self.qualified_name}` is not there: the module has no function `{self.name}`"
            raise _function_error(self.label, message, did_you_mean(self.name, known))
        return function

    def __call__(self, rows: pa.RecordBatch) -> pa.Array:
        """Compute the values of some rows."""
        try:
            result = self.load()(rows)
        except PipelineError:
            raise
        except Exception as error:
            raise _function_error(
                self.label, f"`{self.qualified_name}` raised {_error_text(error)}"
            ) from error
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        if not isinstance(result, pa.Array):
            message = f"`{self.qualified_name}` returned a {type(result).__name__}, not an Arrow array"
            raise _function_error(self.label, message, "return `pa.array(values)`")
        if len(result) != rows.num_rows:
            message = f"`{self.qualified_name}` returned {counted(len(result), 'value')} for {counted(rows.num_rows, 'row')}"
            raise _function_error(self.label, message, "return one value for each row, in their order")
        return result


def computed_column(function: PythonFunction, columns: tuple[str, ...], arrow_type: pa.DataType) -> Column:
    """Return the values of a function of some columns as a column of Spark. Raises PipelineError if Spark has no type for them."""
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        spark_type = from_arrow_type(arrow_type, prefer_timestamp_ntz=True)
    except Exception as error:
        message = f"`{function.qualified_name}` returned {arrow_type}, which Spark has no type for"
        raise _function_error(function.label, message) from error

    def values(rows: pa.Array) -> pa.Array:
        # A batch comes as structs of its columns.
        if not len(rows):
            return pa.array([], arrow_type)
        result = function(pa.RecordBatch.from_arrays(rows.flatten(), names=list(columns)))
        try:
            return as_plain(result, arrow_type)
        except (pa.ArrowException, ValueError) as error:
            message = f"`{function.qualified_name}` returned {result.type} for some rows, and {arrow_type} for the first ones: {_error_text(error)}"
            raise _function_error(function.label, message, "return one type for all batches") from error

    return arrow_udf(values, returnType=spark_type)(struct(*map(name, columns)))


def type_of(function: PythonFunction, rows: pa.RecordBatch | None, declared: pa.DataType) -> pa.DataType:
    """Return the type of a function's first values; that of the field if they are all null, or if there are none."""
    if rows is not None and rows.num_rows:
        result = function(rows)
        if not pa.types.is_null(result.type):
            result_type: pa.DataType = plain_type(result.type)
            try:
                as_plain(result, result_type)
            except (pa.ArrowException, ValueError) as error:
                message = f"`{function.qualified_name}` returned {result.type}: {_error_text(error)}"
                raise _function_error(function.label, message) from error
            return result_type
    return plain_type(declared)


def as_plain(array: pa.Array, plain: pa.DataType) -> pa.Array:
    """Return an array in its plain type. Raises pa.ArrowInvalid where a value would change."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), plain)
    return array if array.type.equals(plain) else array.cast(plain)


@cache
def _executed(path: str, code: str) -> ModuleType:
    """Return a module made from the code of a file; the same code runs once in a process."""
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    exec(compile(code, path, "exec"), vars(module))  # noqa: S102  the function that the author names
    return module


def _error_text(error: BaseException) -> str:
    """Return the class of an error and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


def _function_error(label: str, message: str, help: str | None = None) -> PipelineError:
    """Return an error at the `python` setting of a field."""
    return PipelineError(PYTHON_FUNCTION, message, help, place=("fields", label, "python"))
