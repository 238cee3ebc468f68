"""Arrow arrays in the layouts that Arrow's functions know.

Layer: rows.
Shape: an array of any layout in, the same values without extensions, dictionaries, runs and views out, at every depth; one that has none
       of them is returned as it is.
"""

import pyarrow as pa
import pyarrow.compute as pc

_PLAIN = {
    pa.string_view(): pa.large_string(),
    pa.binary_view(): pa.large_binary(),
}


def laid_out(array: pa.Array) -> pa.Array:
    """Return an array in a layout that can be filtered, compared and cast."""
    type_, is_ = array.type, pa.types
    if is_laid_out(type_):
        return array
    if isinstance(type_, pa.BaseExtensionType):
        return laid_out(array.storage)
    if is_.is_dictionary(type_):
        return laid_out(array.dictionary).take(array.indices)
    if is_.is_run_end_encoded(type_):
        return laid_out(pc.run_end_decode(array))
    if type_ in _PLAIN:
        return array.cast(_PLAIN[type_])
    if is_.is_list_view(type_) or is_.is_large_list_view(type_):
        # Arrow's cast gives lists that lack their last offset.
        return lists_of(array, laid_out(array.flatten()))
    if is_.is_struct(type_):
        children = [laid_out(child) for child in array.flatten()]
        fields = [part.with_type(child.type) for part, child in zip(type_, children, strict=True)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask_of(array))
    if is_.is_map(type_):
        lists = entries_of(array)
        keys, items = (laid_out(child) for child in lists.flatten().flatten())
        return maps_of(lists, keys, items, pa.map_(keys.type, type_.item_field.with_type(items.type)))
    return lists_of(array, laid_out(array.flatten()))


def is_laid_out(type_: pa.DataType) -> bool:
    """Whether nothing in a type has a different layout."""
    is_ = pa.types
    if isinstance(type_, pa.BaseExtensionType) or type_ in _PLAIN:
        return False
    if (
        is_.is_dictionary(type_)
        or is_.is_run_end_encoded(type_)
        or is_.is_list_view(type_)
        or is_.is_large_list_view(type_)
    ):
        return False
    if is_.is_map(type_):
        return is_laid_out(type_.key_type) and is_laid_out(type_.item_type)
    if is_.is_struct(type_):
        return all(is_laid_out(part.type) for part in type_)
    return is_laid_out(type_.value_type) if is_.is_nested(type_) else True


def lists_of(lists: pa.Array, items: pa.Array, type_: pa.DataType | None = None) -> pa.Array:
    """Return lists of other items, as many in each as there were."""
    offsets = _offsets(pc.list_value_length(lists))
    return pa.ListArray.from_arrays(offsets, items, type_, mask=mask_of(lists))


def compact(lists: pa.Array) -> pa.Array:
    """Return lists with nothing below null, for which `list_parent_indices` has as many numbers as `flatten` has items."""
    return lists_of(lists, lists.flatten()) if lists.null_count else lists


def maps_of(lists: pa.Array, keys: pa.Array, items: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return maps of other entries, as many in each as there were."""
    entries = pa.StructArray.from_arrays([keys, items], fields=[type_.key_field, type_.item_field])
    entries_lists = lists_of(lists, entries)
    return pa.Array.from_buffers(
        type_, len(entries_lists), entries_lists.buffers()[:2], entries_lists.null_count, 0, [entries]
    )


def entries_of(maps: pa.Array) -> pa.Array:
    """Return maps as lists of their entries, which is how Arrow keeps them."""
    entries = pa.StructArray.from_arrays([maps.keys, maps.items], ["key", "value"])
    buffers = maps.buffers()[:2]
    lists = pa.ListArray.from_buffers(
        pa.list_(entries.type), len(maps), buffers, offset=maps.offset, children=[entries]
    )
    return compact(lists)


def mask_of(array: pa.Array) -> pa.Array | None:
    """Return which values are null; None if none is."""
    return array.is_null() if array.null_count else None


def _offsets(lengths: pa.Array) -> pa.Array:
    """Return offsets of lists that lie close together."""
    ends = pc.cumulative_sum(pc.fill_null(lengths, 0).cast(pa.int64()))
    return pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int32())
