"""Arrow, the physical form of every schema: from meaning to layout (`to_arrow`) and back (`from_arrow`).

Layer: arrow.
Shape: keys, encodings, blobs and brain floats have no form in Arrow itself. The engine whose attributes they are brings an
`ArrowForm` (`schemac.arrow.metadata`), which says them in extension types and in the metadata of the lowered fields. Every engine
that starts from these fields sees them.
"""
