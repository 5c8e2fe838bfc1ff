"""The library: documents, what they were good for, and what there is around them."""
