"""Values of well-known types as simpler ones, for results. Loaded in a box when a result first
holds something that is not plain data. Runs user code; a class that raises is shown as text."""
import sys

_CELLS_MAX = 100_000  # the wire's bound on nodes: beyond it only text is an answer


def simplify(value):
    """A simpler value that says the same, or NotImplemented when text says it best. The caller asks
    again for what is inside."""
    kind = type(value)
    for family in (_numpy, _pandas, _standard, _model):
        simpler = family(value, kind)
        if simpler is not NotImplemented:
            return simpler
    return NotImplemented


def _numpy(value, kind):
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return NotImplemented
    if issubclass(kind, (numpy.datetime64, numpy.timedelta64)):
        return None if numpy.isnat(value) else str(value)
    if issubclass(kind, numpy.longdouble):
        return float(value)
    if issubclass(kind, numpy.generic):
        simpler = value.item()
        return NotImplemented if type(simpler) is kind else simpler
    if issubclass(kind, numpy.ndarray) and value.size <= _CELLS_MAX:
        # Of nanoseconds tolist() would make bare numbers.
        return (value.astype(str) if value.dtype.kind in "mM" else value).tolist()
    return NotImplemented


def _pandas(value, kind):
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return NotImplemented
    if value is pandas.NA or value is pandas.NaT:
        return None
    if issubclass(kind, pandas.Timedelta):
        return str(value)
    if issubclass(kind, pandas.DataFrame):
        return _records(value, pandas)
    if issubclass(kind, pandas.Series) and value.size <= _CELLS_MAX:
        return dict(zip(value.index, value.tolist())) if value.index.is_unique else value.tolist()
    if issubclass(kind, (pandas.Index, pandas.Categorical)) and value.size <= _CELLS_MAX:
        return value.tolist()
    return NotImplemented


def _records(frame, pandas):
    if frame.size > _CELLS_MAX or not frame.columns.is_unique:
        return NotImplemented
    counted = pandas.RangeIndex(len(frame))
    if not (isinstance(frame.index, pandas.RangeIndex) and frame.index.equals(counted)):
        try:
            frame = frame.reset_index()  # row labels are data, too
        except ValueError:
            pass  # a column has the index's name already
    return frame.to_dict("records")


def _is(kind, module, *names):
    loaded = sys.modules.get(module)
    return loaded is not None and issubclass(kind, tuple(getattr(loaded, name) for name in names))


def _standard(value, kind):
    if _is(kind, "datetime", "datetime", "date", "time"):
        return value.isoformat()
    if _is(kind, "enum", "Enum"):
        return value.value
    if _is(kind, "collections.abc", "Mapping"):
        return dict(value)
    return NotImplemented


def _model(value, kind):
    """Classes of data: dataclasses, attrs, pydantic."""
    fields = getattr(kind, "__dataclass_fields__", None)
    if isinstance(fields, dict):
        return {name: getattr(value, name) for name in fields if hasattr(value, name)}
    attributes = getattr(kind, "__attrs_attrs__", None)
    if attributes is not None:
        return {field.name: getattr(value, field.name) for field in attributes}
    if hasattr(kind, "model_dump") and hasattr(kind, "model_fields"):
        return kind.model_dump(value)
    if hasattr(kind, "__fields__") and hasattr(kind, "dict") and hasattr(kind, "validate"):
        return kind.dict(value)
    return NotImplemented
