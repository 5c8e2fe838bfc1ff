"""The harvest without a language model: what events and explicit words of a conversation tell."""
