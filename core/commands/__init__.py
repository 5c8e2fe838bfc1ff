"""Layer 3: what the faces can ask for. The one room that reads the settings, picks a provider and joins rooms."""
