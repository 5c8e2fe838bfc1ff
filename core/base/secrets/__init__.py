"""Finds passwords, keys and tokens in text: the shapes of vendors, names that give one away, what hides them.

`redact` replaces what `nets` finds. Where a rule stands: the shape of a vendor's key in `shapes`; the words that name a
secret, and what counts as one beside them, in `names` (`_RULES`); the forms in which a value stands beside a name in
`forms` (`FORMS`); what a password or a key is made of in `values`; tables in `tables`; what sentences, answers and
commands tell in `said`; seeds, licences and codes in `near`.
"""
