"""Arrow, the physical form of every schema: from meaning to layout (`lower`) and back (`lift`).

Layer: arrow.
Shape: keys, encodings, blobs, JSON and brain floats have no form in Arrow itself. A lowered field carries them as metadata in
the words of Lance (`lance-schema:*`, `lance-encoding:*`, `lance.bfloat16`), which every engine that starts from the Arrow
fields sees. The domain `lance.org` is therefore a part of the core, `schemac.attributes.lance`, and not of the engine.
"""
