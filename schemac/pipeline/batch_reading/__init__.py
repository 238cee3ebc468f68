"""The batch reader: reads many records at a time with Arrow, and says of each whether it is proven to be right.

Layer: pipeline. It decides about speed only; what it does not prove is read value by value.
"""
