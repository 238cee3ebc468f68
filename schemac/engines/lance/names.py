"""Lance's own words in the metadata of Arrow fields, and the names of its extension types.

Layer: engines.
Source: Lance's table format and its extension types.
"""

PRIMARY_KEY_MARK = "lance-schema:unenforced-primary-key"
PRIMARY_KEY_POSITION = "lance-schema:unenforced-primary-key:position"
CLUSTERING_KEY_POSITION = "lance-schema:unenforced-clustering-key:position"
BLOB_MARK = "lance-encoding:blob"
BLOB_EXTENSION = "lance.blob.v2"
BRAIN_FLOAT = "lance.bfloat16"
JSON_EXTENSION = "lance.json"
